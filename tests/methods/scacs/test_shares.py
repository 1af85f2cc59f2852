"""β₀ of the default: a rule for labels, a comparison for pairs; and a guard that keeps ample labels."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs, make_moons

from sidecut import LSC, SCACS, Constraints
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.evaluation import adjusted_rand_index
from sidecut.exceptions import ConstraintError
from sidecut.graphs import Landmarks
from sidecut.methods.scacs.cuts import labelled_share, pose_problem, shares_to_try, usual_share
from sidecut.methods.scacs.scacs import contrast, shares_of_neighbors


@pytest.fixture(scope="module")
def graph():
    X = np.random.default_rng(0).normal(size=(200, 3))
    return Landmarks(60, n_nearest=3, random_state=0).build(X)


def posed(graph, known):
    restricted, points = known.restricted()
    return pose_problem(graph.sums, graph.codes[points], restricted)


def test_labels_leave_one_share_and_pairs_five(graph):
    y = np.arange(200) % 2
    labels = posed(graph, sample_labels(y, 40, random_state=0))
    assert shares_to_try(labels) == (usual_share(labels),) == pytest.approx((40 / (40 + 60),))
    pairs = posed(graph, sample_pairs(y, 200, random_state=0))
    shares = shares_to_try(pairs)
    assert len(shares) == 5
    assert shares[0] == usual_share(pairs) < 0.3
    assert 0.5 in shares
    assert shares[-1] == labelled_share(pairs) > 0.8


def test_the_clusters_around_a_point_are_those_of_the_others(graph):
    labels = np.random.default_rng(1).integers(0, 3, 200)
    weights, members = graph.toarray() - np.diag(graph.toarray().diagonal()), np.eye(3)[labels]
    around = weights.sum(axis=1, keepdims=True)
    expected = np.where(around > 1e-12, weights @ members / np.maximum(around, 1e-12), members)
    found = shares_of_neighbors(graph.codes, graph.sums, labels, 3)
    np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("kinds", [(True, True), (True, False), (False, True)])
def test_the_contrast_is_that_of_the_mean_products_of_all_pairs(kinds):
    shares = np.random.default_rng(0).dirichlet(np.ones(4), 60)
    pairs = sample_pairs(np.arange(60) % 3, 50, random_state=0)
    links = [pairs.must_link if kinds[0] else None, pairs.cannot_link if kinds[1] else None]
    by_chance = (shares @ shares.T).mean()
    alike, apart = (
        by_chance if some is None else (shares[some[:, 0]] * shares[some[:, 1]]).sum(axis=1).mean()
        for some in links
    )
    assert contrast(Constraints.from_pairs(60, *links), shares) == pytest.approx(alike - apart)


def test_pairs_count_in_two_clusters_that_the_graph_does_not_show():
    """The paper's β₀ is large enough; that for labels, with √nnz(Q) in place of their number, is not."""
    X, y = make_moons(500, noise=0.15, random_state=1)
    known = sample_pairs(y, 500, random_state=0)
    model = SCACS(2, n_landmarks=200, random_state=0).fit(X, constraints=known)
    assert adjusted_rand_index(y, model.labels_) > 0.9


def test_pairs_do_not_leave_cuts_around_a_few_points_of_many_clusters():
    """Here the paper's β₀ is too large."""
    X, y = make_blobs(600, n_features=8, centers=8, cluster_std=3.0, random_state=0)
    known = sample_pairs(y, 600, random_state=0)
    chosen, printed = (
        adjusted_rand_index(
            y, SCACS(8, beta0=beta0, n_landmarks=200, random_state=0).fit(X, constraints=known).labels_
        )
        for beta0 in ("auto", "labelled_share")
    )
    assert printed < 0.7
    assert chosen > 0.9


def test_chunks_choose_the_same_share():
    X, y = make_moons(500, noise=0.15, random_state=1)
    known = sample_pairs(y, 500, random_state=0)
    whole, chunks = (SCACS(2, n_landmarks=100, random_state=0) for _ in range(2))
    whole.fit(X, constraints=known)
    chunks.fit_chunks(np.array_split(X, 7), constraints=known)
    assert chunks.beta_ == whole.beta_
    np.testing.assert_array_equal(chunks.labels_, whole.labels_)


@pytest.mark.parametrize("draw", [0, 1, 2])
def test_ample_labels_are_followed(draw):
    """A fifth of the digits, on landmarks whose unconstrained cut agrees with most of the labels already."""
    X, y = load_digits(return_X_y=True)
    known = sample_labels(y, 359, random_state=draw)
    settings = {"landmarks": "random", "n_landmarks": 200, "random_state": draw, "n_init": 3}
    plain = LSC(10, **settings).fit(X)
    assert known.agreement(plain.labels_) > 0.7
    model = SCACS(10, **settings).fit(X, constraints=known)
    assert model.decision_.kept == "constrained"
    gain = [adjusted_rand_index(y, labels, constraints=known) for labels in (model.labels_, plain.labels_)]
    assert gain[0] > gain[1] + 0.03


def test_beliefs_that_no_share_can_satisfy_are_refused():
    X = np.random.default_rng(0).normal(size=(60, 2))
    apart = Constraints.from_matrix(-np.eye(60))
    with pytest.raises(ConstraintError, match="no positive eigenvalue"):
        SCACS(2, safe=False, diagonal="given", n_landmarks=20, random_state=0).fit(X, constraints=apart)
