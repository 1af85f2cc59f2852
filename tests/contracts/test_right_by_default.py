"""What the defaults once got wrong: shortcuts and safeguards that no test of an equation sees.

Each test uses what the package offers, as a user would, and records the figure it is about.
`python -m benchmarks.choices.faults OTHER` runs them with the code of another checkout and with today's. At
commit d52370a, which the faults were found in, all fail but
`test_cannot_links_alone_do_not_make_many_clusters`: that is a fault of a first mend.
"""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, make_blobs, make_moons

from sidecut import (
    CSAP,
    CSP,
    E2CP,
    NCSC,
    SCACS,
    AutoCut,
    Constraints,
    PoissonLearning,
    PoissonMBO,
    SpectralLearning,
)
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.evaluation import adjusted_rand_index
from sidecut.exceptions import ConvergenceWarning, GraphWarning
from sidecut.graphs import Neighbors, as_graph
from sidecut.spectral import laplacian_eigenpairs


@pytest.fixture
def record_property(record_property):
    """Record a number of NumPy as one of Python: pytest-xdist passes on no others."""

    def record(name, value):
        record_property(name, value.item() if isinstance(value, np.generic) else value)

    return record


@pytest.fixture
def moons():
    return make_moons(600, noise=0.15, random_state=0)


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


def test_cannot_links_alone_are_followed(moons, record_property):
    X, y = moons
    known = Constraints.from_pairs(600, None, sample_pairs(y, 7200, random_state=0).cannot_link[:600])
    found = adjusted_rand_index(y, CSP(2, random_state=0).fit(X, constraints=known).labels_)
    record_property("ARI of `CSP`, moons, 600 cannot-links", found)
    assert found > 0.9


def test_poisson_learning_gains_with_pairs(digits, record_property):
    X, y = digits
    known = sample_pairs(y, 1800, random_state=0)
    found = adjusted_rand_index(y, PoissonLearning(10, random_state=0).fit(X, constraints=known).labels_)
    record_property("ARI, digits, 1,800 pairs", found)
    assert found > 0.9


def test_csap_keeps_the_affinities_that_its_labels_need(record_property):
    """Each class is four blobs: next to its labels it has hundreds of points."""
    X, blob = make_blobs(1800, 8, centers=8, cluster_std=3.0, random_state=0)
    y = blob % 2
    known = sample_labels(y, 360, random_state=0)
    found = [
        CSAP(2, random_state=0, **settings).fit(X, constraints=known).labels_
        for settings in ({}, {"n_affinities": None, "approximate": False})
    ]
    default, exact = (adjusted_rand_index(y, labels, constraints=known) for labels in found)
    record_property("ARI less than with all affinities, blobs", exact - default)
    assert exact - default < 0.02


def test_scacs_takes_pairs_seriously(moons, record_property):
    X, y = moons
    model = SCACS(2, random_state=0).fit(X, constraints=sample_pairs(y, 600, random_state=0))
    found = adjusted_rand_index(y, model.labels_)
    record_property("ARI, moons, 600 pairs", found)
    assert found > 0.9


def test_e2cp_in_groups_has_the_components_of_eq_4(record_property):
    """On a long path next to nothing of the labels reaches the far end; other pieces are reached by none."""
    rng = np.random.default_rng(0)
    path = np.arange(1600) + 0.1 * rng.normal(size=1600)
    X = np.concatenate([path, *[1e5 * piece + np.arange(60) for piece in range(1, 11)]])[:, None]
    labels = np.full(len(X), -1)
    labels[:20] = np.arange(20) % 2
    graph, known = Neighbors(6).build(X), Constraints.from_labels(labels)
    found = []
    for how in (True, False):
        model = E2CP(2, affinity="precomputed", approximate=how, safe=False, random_state=0)
        with warnings.catch_warnings(action="ignore", category=GraphWarning):
            found.append(model.fit(graph, constraints=known).affinity_matrix_.n_components)
    record_property("pieces of a graph in 11 pieces", found[0])
    assert found == [11, 11]


def test_the_guard_of_scacs_lets_ample_labels_through(digits, record_property):
    X, y = digits
    known = sample_labels(y, 359, random_state=1)
    landmarks = np.random.default_rng(1).choice(len(y), 200, replace=False)
    model = SCACS(10, landmarks=landmarks, random_state=0).fit(X, constraints=known)
    found = adjusted_rand_index(y, model.labels_, constraints=known)
    record_property("ARI, digits, 359 labels", found)
    assert found > 0.85


def test_csp_looks_at_exact_cuts_before_it_takes_a_smaller_beta(record_property):
    X, y = load_iris(return_X_y=True)
    model = CSP(3, random_state=0).fit(X, constraints=sample_pairs(y, 150, random_state=0))
    found = adjusted_rand_index(y, model.labels_)
    record_property("ARI, iris, 150 pairs", found)
    assert found > 0.9


def test_labels_do_not_depend_on_the_number_of_threads(digits, record_property):
    X, y = digits
    known = sample_pairs(y, 400, random_state=0)
    one, two = (CSAP(10, random_state=0, n_jobs=n).fit(X, constraints=known).labels_ for n in (1, 2))
    record_property("digits of 1,797 with another label, `CSAP`", int((one != two).sum()))
    np.testing.assert_array_equal(one, two)


def test_no_neighbor_depends_on_the_order_of_the_points(digits, record_property):
    X, _ = digits
    order = np.random.default_rng(0).permutation(len(X))
    straight, mixed = (Neighbors(20).build(rows).matrix.astype(bool) for rows in (X, X[order]))
    changed = int((straight[order][:, order] != mixed).sum()) // 2
    record_property("edges of digits that change with the order of points", changed)
    assert changed == 0


def test_e2cp_is_accurate_up_to_eight_thousand_points(record_property):
    X, y = make_blobs(2200, 16, centers=7, cluster_std=5.0, random_state=0)
    model = E2CP(7, random_state=0).fit(X, constraints=sample_pairs(y, 2200, random_state=0))
    record_property("error of the approximation, blobs", model.approximation_error_)
    assert model.approximation_error_ < 0.1


def test_scacs_is_not_sure_of_every_point_of_two_clusters(moons, record_property):
    X, y = moons
    model = SCACS(2, random_state=0).fit(X, constraints=sample_labels(y, 60, random_state=0))
    found = len(np.unique(model.confidence_))
    record_property("different confidences of 600 moons", found)
    assert found > 100


def test_scacs_finds_two_clusters_from_labels_of_one_class(moons, record_property):
    X, y = moons
    known = Constraints.from_labels(np.where((y == 0) & (np.arange(600) % 3 == 0), 0, -1))
    found = len(np.unique(SCACS(2, safe=False, random_state=0).fit(X, constraints=known).labels_))
    record_property("clusters of two moons", found)
    assert found == 2


def test_a_certificate_speaks_of_the_tie_behind_the_last_wanted_value(record_property):
    block = np.triu(np.random.default_rng(0).random((5, 5)), 1)
    A = np.kron(np.eye(3), block + block.T)
    for i, j in ((0, 5), (5, 10), (10, 0)):
        A[i, j] = A[j, i] = 1e-3
    certificate = str(laplacian_eigenpairs(as_graph(A), 2).certificate)
    record_property("the tie is mentioned", "as good a claim" in certificate)
    assert "2" in certificate.split(".")[0]
    assert "as good a claim" in certificate


def test_more_clusters_are_tried_while_ample_pairs_agree_better(record_property):
    """Of thirteen clusters of unlike widths, the widest gaps of the spectrum show nine."""
    widths = np.random.RandomState(3).uniform(1, 6, 13)
    X, y = make_blobs(480, 5, centers=13, cluster_std=list(widths), random_state=3)
    model = AutoCut(budget=4, random_state=0).fit(X, constraints=sample_pairs(y, 1920, random_state=0))
    record_property("clusters of 13 blobs, 1,920 pairs", model.n_clusters_)
    assert model.n_clusters_ >= 12


def test_cannot_links_alone_do_not_make_two_clusters(record_property):
    X, y = make_blobs(240, 2, centers=6, cluster_std=0.6, random_state=1)
    links = sample_pairs(y, 1200, random_state=0).cannot_link
    model = AutoCut(budget=4, random_state=0).fit(X, constraints=Constraints.from_pairs(240, None, links))
    record_property("clusters of 6 blobs, cannot-links alone", model.n_clusters_)
    assert model.n_clusters_ >= 5


def test_cannot_links_alone_do_not_make_many_clusters(record_property):
    """More clusters than classes satisfy them, too."""
    X, y = load_iris(return_X_y=True)
    links = sample_pairs(y, 300, random_state=0).cannot_link
    model = AutoCut(random_state=0).fit(X, constraints=Constraints.from_pairs(150, None, links))
    record_property("clusters of iris, cannot-links alone", model.n_clusters_)
    assert model.n_clusters_ == 3


@pytest.mark.parametrize("weight", [1e-10, 1e-12, 1e-15])
def test_csp_answers_on_a_graph_with_a_faint_bridge(weight, record_property):
    block = np.repeat([0, 1], 8)
    A = np.triu(np.random.default_rng(5).random((16, 16)) * (block[:, None] == block), 1)
    A[7, 8] = weight
    must, cannot = [(0, 2), (3, 5), (1, 4), (8, 11)], [(0, 1), (2, 9), (9, 10), (0, 15), (3, 14)]
    model = CSP(3, safe=False, beta=("fraction", 0.1), affinity="precomputed", random_state=0)
    model.fit(A + A.T, constraints=Constraints.from_pairs(16, must, cannot))
    off = np.abs(model.costs_ - [0, 0.21962352]).max()
    record_property(f"error of the costs, bridge of {weight:.0e}", off)
    assert off < 1e-6


def test_results_belong_to_the_parameters_of_the_fit(record_property):
    X, y = make_blobs(300, 4, centers=5, cluster_std=4.0, random_state=1)
    known = sample_labels(y, 30, random_state=0)
    changed, same = (NCSC(5, safe=False, random_state=0).fit(X, constraints=known) for _ in range(2))
    changed.set_params(tol=0.9)
    off = float(np.abs(changed.indicators_ - same.indicators_).max())
    record_property("change of `NCSC.indicators_` with `tol` after the fit", off)
    assert off == 0.0


def test_a_must_link_is_not_weaker_than_the_edges(record_property):
    W = 5.0 * (np.ones((6, 6)) - np.eye(6))
    model = SpectralLearning(2, safe=False, affinity="precomputed", random_state=0)
    model.fit(W, constraints=Constraints.from_pairs(6, [(0, 1)]))
    found = float(model.affinity_matrix_.toarray()[0, 1])
    record_property("weight of a must-link among edges of 5", found)
    assert found == 5.0


def test_poisson_learning_does_not_diverge_where_parts_nearly_fall_apart(record_property):
    part = np.repeat(np.arange(6), 100)
    rng = np.random.default_rng(0)
    A = np.triu((rng.random((600, 600)) < 0.1) * rng.random((600, 600)) * (part[:, None] == part), 1)
    ends = np.arange(99, 599, 100)
    A[ends, ends + 1] = 1e-10
    model = PoissonLearning(3, safe=False, affinity="precomputed", random_state=0)
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        model.fit(A + A.T, constraints=sample_labels(part % 3, 30, random_state=0))
    record_property("residual of Poisson's equation", model.residual_)
    assert model.residual_ < 1


def test_three_sizes_of_one_point_are_sizes(record_property):
    X = np.array([[0.0], [1.0], [10.0]])
    model = PoissonMBO(3, sizes=[1, 1, 1], affinity="rbf", random_state=0).fit(X)
    found = np.bincount(model.labels_).tolist()
    record_property("sizes of three points, `sizes=[1, 1, 1]`", ", ".join(map(str, found)))
    assert found == [1, 1, 1]
