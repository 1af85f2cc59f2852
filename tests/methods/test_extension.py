"""New points: the equation of an eigenvector, solved for one more entry."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from sidecut import CSP, E2CP, Constraints, NormalizedCut
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.graphs import Gaussian, Neighbors
from sidecut.methods.csp.estimator import CutsExtension
from sidecut.methods.cut import extend_cut
from sidecut.methods.e2cp.adjustment import extend_rows, propagate_to_new

# The methods themselves are tested here; the guard has tests of its own.
E2CP = partial(E2CP, safe=False)
CSP = partial(CSP, safe=False)


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(500, noise=0.1, random_state=0)
    return X[:400], y[:400], X[400:], y[400:]


def test_an_old_point_with_its_own_weights_gets_its_own_row(moons):
    X = moons[0]
    model = NormalizedCut(4, n_neighbors=10, random_state=0).fit(X)
    relaxed = model.affinity_matrix_.scale[:, None] * model.eigenvectors_
    rows = extend_cut(relaxed, model.eigenvalues_, False, model.affinity_matrix_.matrix)
    assert np.allclose(rows, relaxed, atol=1e-8 * np.abs(relaxed).max())


@pytest.mark.parametrize("n_clusters", [2, 3])
def test_of_csp_too_where_nothing_is_known_of_the_point(n_clusters):
    X, y = make_blobs(300, centers=3, cluster_std=2.0, random_state=1)
    known = sample_labels(y % n_clusters, 30, random_state=0)
    model = CSP(n_clusters, safe=False, n_neighbors=10, unit_rows=False, tol=1e-10, random_state=0)
    model.fit(X, constraints=known)
    graph, best = model.affinity_matrix_, model.cuts_.first(n_clusters - 1)
    assert best.costs.size == n_clusters - 1
    how = (n_clusters, "none", False)
    rows = CutsExtension(graph, best, None, model.beta_, how)(sp.csr_array(graph.matrix))
    free = np.setdiff1d(np.arange(300), known.constrained_points)
    assert np.allclose(rows[free], model.embedding_[free], atol=1e-7 * np.abs(model.embedding_).max())
    # Where something is known, eq. 13 has another term.
    assert not np.allclose(rows, model.embedding_, atol=1e-3 * np.abs(model.embedding_).max())


@pytest.mark.parametrize("kind", ["labels", "pairs"])
def test_what_e2cp_believes_of_a_free_point_follows_from_its_neighbours(moons, kind):
    X, y = moons[0][:150], moons[1][:150]
    known = sample_labels(y, 20, random_state=0) if kind == "labels" else sample_pairs(y, 15, random_state=0)
    model = E2CP(2, safe=False, n_neighbors=8, alpha=0.7, rescale=False, random_state=0).fit(
        X, constraints=known
    )
    graph = Neighbors(8).build(X)
    free = np.setdiff1d(np.arange(150), known.constrained_points)
    F = model.propagated_constraints_
    arrived = propagate_to_new(graph.matrix[free], graph, F.matrix, 0.7)
    assert np.allclose(arrived, F.toarray()[free], atol=1e-9 * F.max_abs)


def test_e2cp_gives_a_free_point_the_row_it_has(moons):
    X, y = moons[0][:150], moons[1][:150]
    known = sample_labels(y, 20, random_state=0)
    model = E2CP(2, safe=False, n_neighbors=8, rescale=False, random_state=0).fit(X, constraints=known)
    graph = Neighbors(8).build(X)
    relaxed = model.affinity_matrix_.scale[:, None] * model.eigenvectors_
    F, others = model.propagated_constraints_.matrix, np.arange(150)
    for point in np.setdiff1d(others, known.constrained_points)[:10]:
        # Its own entry does not count among those of the others.
        without = np.where(others[:, None] == point, 0.0, relaxed)
        edges = graph.matrix[[point]]
        row = extend_rows(edges, graph, F, 0.8, 1.0, without, model.eigenvalues_)
        # The old graph holds the point twice then: once as itself, with the weight of its self-loop.
        twice = model.affinity_matrix_.weights_at(np.array([point]), np.array([point]))[0]
        degree = model.affinity_matrix_.degrees[point]
        factor = 1.0 - model.eigenvalues_
        exact = row * ((degree + twice) * factor - twice) / (degree * factor - twice)
        assert np.allclose(exact, relaxed[point], atol=1e-8 * np.abs(relaxed).max())


@pytest.mark.parametrize("symmetrize", ["mean", "union", "mutual"])
@pytest.mark.parametrize("weights", ["gaussian", "binary", "cosine"])
def test_the_edges_are_those_of_a_graph_with_the_new_point_in_it(weights, symmetrize):
    X = np.abs(np.random.default_rng(0).normal(size=(40, 3)))
    how = Neighbors(6, weights=weights, sigma=1.0, symmetrize=symmetrize)
    old, new = X[:-1], X[-1:]
    edges, exact_matches = how.build(old).extension.edges(old, new)
    whole = how.build(X).toarray()[-1, :-1]
    asked = edges.indices
    assert asked.size == 6
    assert np.allclose(edges.toarray()[0, asked], whole[asked])
    assert exact_matches.tolist() == [-1]


def test_self_tuning_scales_are_those_of_the_old_graph():
    X = np.random.default_rng(1).normal(size=(30, 2))
    graph = Neighbors(8).build(X)
    new = np.array([[0.1, 0.2]])
    edges, _ = graph.extension.edges(X, new)
    distances = np.sort(np.linalg.norm(X - new, axis=1))
    between = np.linalg.norm(X[:, None] - X, axis=2)
    scales = np.sort(between, axis=1)[:, 7]  # the point itself comes first
    for j in edges.indices:
        d = np.linalg.norm(X[j] - new[0])
        mutual = d <= np.sort(between[j])[8]
        expected = np.exp(-(d**2) / (distances[6] * scales[j])) * (1.0 if mutual else 0.5)
        assert edges[0, j] == pytest.approx(expected)


@pytest.mark.parametrize("method", [NormalizedCut, CSP, E2CP])
def test_new_points_join_the_right_moon(method, moons):
    X, y, X_new, y_new = moons
    known = None if method is NormalizedCut else sample_labels(y, 40, random_state=0)
    model = method(2, n_neighbors=10, random_state=0).fit(X, constraints=known)
    expected = adjusted_rand_score(y, model.labels_)
    assert adjusted_rand_score(y_new, model.predict(X_new)) > expected - 0.1
    # The numbers of the clusters are those of labels_, too.
    nearest = np.linalg.norm(X[None] - X_new[:, None], axis=2).argmin(axis=1)
    assert np.mean(model.predict(X_new) == model.labels_[nearest]) > 0.95


@pytest.mark.parametrize("method", [NormalizedCut, CSP, E2CP])
def test_old_points_keep_their_labels(method, moons):
    X, y = moons[:2]
    known = None if method is NormalizedCut else sample_labels(y, 20, random_state=0)
    model = method(2, n_neighbors=10, random_state=0).fit(X, constraints=known)
    assert np.array_equal(model.predict(X), model.labels_)


def test_a_point_far_from_all_others_goes_with_its_nearest():
    X, y = make_blobs(60, centers=[[0.0, 0.0], [9.0, 9.0]], random_state=0)
    model = NormalizedCut(2, affinity=Neighbors(5, weights="gaussian", sigma=0.5), random_state=0).fit(X)
    far = np.array([[1e4, 1e4], [-1e4, -1e4]])
    assert model.predict(far).tolist() == [model.labels_[y == 1][0], model.labels_[y == 0][0]]


def test_predict_is_there_for_every_graph_of_points():
    assert hasattr(CSP(2), "predict")
    assert hasattr(CSP(2, affinity=Neighbors(5)), "predict")
    assert hasattr(CSP(2, affinity=Gaussian()), "predict")
    assert not hasattr(CSP(2, affinity="precomputed"), "predict")


def test_csp_without_constraints_extends_the_normalised_cut(moons):
    X, X_new = moons[0], moons[2]
    plain = NormalizedCut(2, n_neighbors=10, random_state=0).fit(X).predict(X_new)
    csp = CSP(2, n_neighbors=10, random_state=0).fit(X, constraints=Constraints.none(len(X)))
    assert np.array_equal(csp.predict(X_new), plain)


@pytest.mark.parametrize("weights", ["self_tuning", "cosine"])
@pytest.mark.parametrize("new_form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("old_form", [np.asarray, sp.csr_array])
def test_equal_points_are_known_in_any_form(weights, old_form, new_form):
    rng = np.random.default_rng(0)
    X = rng.random((60, 30)) * (rng.random((60, 30)) < 0.5)
    graph = Neighbors(8, weights=weights).build(old_form(X))
    _, exact_matches = graph.extension.edges(old_form(X), new_form(X))
    assert np.array_equal(exact_matches, np.arange(60))


def test_new_points_need_not_be_stored_as_the_old_ones_are(moons):
    X, _, new, _ = moons
    model = NormalizedCut(2, n_neighbors=10, random_state=0).fit(X)
    assert np.array_equal(model.predict(sp.csr_array(new)), model.predict(new))


@pytest.mark.filterwarnings("ignore::sidecut.exceptions.GraphWarning")
def test_a_new_point_in_a_piece_no_eigenvector_speaks_of_goes_with_its_nearest():
    X, _ = make_blobs(160, centers=4, cluster_std=0.3, random_state=0)
    model = NormalizedCut(2, n_neighbors=8, random_state=0).fit(X)
    assert not model.eigenvectors_.any(axis=1).all()
    one_by_one = [int(model.predict(row[None])[0]) for row in X + 1e-3]
    assert one_by_one == model.labels_.tolist()
