"""CSAP on large sparse graphs: must-linked sets as one node, beside the exact affinity."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs, make_moons

from sidecut import CSAP, Constraints, NormalizedCut
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.evaluation import adjusted_rand_index
from sidecut.graphs import Neighbors, SparseGraph
from sidecut.methods.csap import condition_kernel, equivalent_kernel, estimator
from sidecut.methods.csap.graph import ObservedLinks
from sidecut.methods.csap.merged import MergedGraph, _losses, merge_links

# The methods themselves are tested here; the guard has tests of its own.
CSAP = partial(CSAP, safe=False)


def links_of(n, must=(), cannot=()):
    return ObservedLinks.of(Constraints.from_pairs(n, must_link=must, cannot_link=cannot), 1e-5, 1e-5)


@pytest.fixture
def weak():
    """A graph whose affinities are small beside the variances, and the second order far below the first."""
    rng = np.random.default_rng(0)
    weights = np.triu(0.02 * rng.random((9, 9)), 1)
    return weights + weights.T


def merged(weights, must=(), cannot=(), algorithm="B"):
    graph = SparseGraph(sp.csr_array(weights))
    return merge_links(graph, np.ones(len(weights)), links_of(len(weights), must, cannot), algorithm, 64)


def without_diagonal(kernel):
    return np.maximum(kernel - np.diag(np.diagonal(kernel)), 0.0)


def test_a_must_link_alone_is_eq_6_to_the_first_order(weak):
    exact = equivalent_kernel(weak + np.eye(9), (2, 5), "must")
    found = merged(weak, must=[(2, 5)]).toarray()
    # Affinities of the pair change by half of their size; what is left out is a hundred times less.
    np.testing.assert_allclose(found, without_diagonal(exact), atol=2e-4)
    assert np.abs(weak - without_diagonal(exact)).max() > 0.4


def test_a_cannot_link_lowers_the_affinities_of_its_ends_by_eq_8(weak):
    exact = without_diagonal(equivalent_kernel(weak + np.eye(9), (2, 5), "cannot"))
    found = merged(weak, cannot=[(2, 5)]).toarray()
    np.testing.assert_allclose(found, exact, atol=4e-4)
    np.testing.assert_allclose(found[2], exact[2], atol=1e-12)
    np.testing.assert_allclose(found[5], exact[5], atol=1e-12)
    assert found[2, 5] == 0


def test_algorithm_b_keeps_the_smallest_of_all_cannot_links(weak):
    one, other, both = (merged(weak, cannot=pairs) for pairs in ([(2, 5)], [(2, 7)], [(2, 5), (2, 7)]))
    np.testing.assert_allclose(both.toarray(), np.minimum(one.toarray(), other.toarray()), atol=1e-15)


def test_algorithm_a_observes_all_links_together(weak):
    must, cannot = [(0, 1)], [(1, 2), (2, 3)]
    exact = condition_kernel(weak + np.eye(9), must, cannot)
    found = merged(weak, must, cannot, "A").toarray()
    # Points 0, 1 and 3 are on one side, 2 on the other: without affinity, so that it keeps its own.
    others = np.delete(np.arange(9), 2)
    np.testing.assert_allclose(
        found[np.ix_(others, others)], without_diagonal(exact)[np.ix_(others, others)], atol=2e-4
    )
    np.testing.assert_allclose(found[2, 4:], weak[2, 4:])
    assert found[0, 3] > 0.2
    assert found[0, 2] == found[2, 3] == 0


def test_contradictions_are_not_merged(weak):
    triangle = Constraints.from_pairs(9, cannot_link=[(0, 1), (1, 2), (0, 2)])
    links = ObservedLinks.of(triangle, 1e-5, 1e-5)
    graph = SparseGraph(sp.csr_array(weak))
    assert merge_links(graph, np.ones(9), links, "A", 64) is None
    assert merge_links(graph, np.ones(9), links, "B", 64) is not None


def test_what_only_a_cannot_link_joined_stays_apart():
    lonely = merged(np.array([[0, 0.5, 0], [0.5, 0, 0], [0, 0, 0.0]]), cannot=[(0, 1)])
    assert not lonely.degrees.any()


def test_merged_graph_is_its_array():
    rng = np.random.default_rng(1)
    sums = sp.random(5, 5, 0.6, random_state=2)
    nodes = SparseGraph(sp.csr_array(sums + sums.T + 2 * sp.eye(5)))
    graph = MergedGraph(nodes, np.array([0, 1, 1, 2, 3, 3, 3, 4]))
    dense, block = graph.toarray(), rng.random((8, 3))
    np.testing.assert_allclose(dense, dense.T)
    assert not np.diagonal(dense).any()
    np.testing.assert_allclose(graph.apply(block), dense @ block)
    rows, columns = np.array([0, 1, 4, 4]), np.array([3, 2, 6, 4])
    np.testing.assert_allclose(graph.weights_at(rows, columns), dense[rows, columns])
    single = graph.sizes > 1
    inside = nodes.matrix.diagonal()[single].sum()
    # The loops of nodes of one point are no affinity between points.
    assert dense.sum() == pytest.approx(nodes.matrix.sum() - nodes.matrix.diagonal().sum() + inside)


def test_eigenvectors_of_nodes_are_those_of_points():
    X, y = make_blobs(2_200, 5, centers=4, cluster_std=3.0, random_state=0)
    known = sample_pairs(y, 300, random_state=0)
    model = CSAP(4, approximate=True, random_state=0).fit(X, constraints=known)
    graph = model.affinity_matrix_
    assert isinstance(graph, MergedGraph)
    scaled = graph.scale[:, None] * graph.apply(graph.scale[:, None] * model.eigenvectors_)
    np.testing.assert_allclose(scaled, model.eigenvectors_ * (1 - model.eigenvalues_), atol=1e-5)
    np.testing.assert_allclose(model.eigenvectors_.T @ model.eigenvectors_, np.eye(4), atol=1e-8)


@pytest.mark.parametrize("n_pairs", [200, 800])
def test_clusters_are_those_of_the_exact_affinity(n_pairs):
    X, y = make_blobs(2_200, 8, centers=5, cluster_std=4.0, random_state=1)
    known, graph = sample_pairs(y, n_pairs, random_state=0), Neighbors(20).build(X)
    given = {"n_clusters": 5, "affinity": "precomputed", "random_state": 0}
    quick = CSAP(**given, approximate=True).fit(graph, constraints=known)
    exact = CSAP(safe=False, **given, approximate=False).fit(graph, constraints=known)
    assert isinstance(quick.affinity_matrix_, MergedGraph)
    assert not isinstance(exact.affinity_matrix_, MergedGraph)
    truth = adjusted_rand_index(y, exact.labels_)
    assert adjusted_rand_index(y, quick.labels_) > truth - 0.03
    if n_pairs > 200:
        return
    weights = exact.affinity_matrix_.toarray()
    differ = np.abs(quick.affinity_matrix_.toarray() - weights).sum(axis=0) / weights.sum(axis=0)
    assert quick.approximation_error_ == pytest.approx(differ.mean(), rel=1e-6)
    assert 0 < quick.approximation_error_ < 0.6
    assert exact.approximation_error_ == 0


def test_moons_are_told_apart_by_algorithm_a():
    X, y = make_moons(2_400, noise=0.15, random_state=0)
    alone = NormalizedCut(2, random_state=0).fit(X)
    known = sample_pairs(y, 480, random_state=0)
    told = CSAP(2, approximate=True, random_state=0).fit(X, constraints=known)
    assert isinstance(told.affinity_matrix_, MergedGraph)
    assert adjusted_rand_index(y, alone.labels_) < 0.5 < 0.9 < adjusted_rand_index(y, told.labels_)


def test_soft_links_loops_and_small_graphs_are_exact():
    X, y = make_blobs(2_100, 5, centers=3, cluster_std=3.0, random_state=0)
    known, graph = sample_labels(y, 40, random_state=0), Neighbors(10).build(X)
    given = {"n_clusters": 3, "affinity": "precomputed", "random_state": 0}
    looped = SparseGraph(graph.matrix + sp.eye_array(2_100))
    for model, data in (
        (CSAP(**given, eps_must=0.1, approximate=True), graph),
        (CSAP(**given, approximate=False), graph),
        (CSAP(**given, approximate=True), looped),
    ):
        assert not isinstance(model.fit(data, constraints=known).affinity_matrix_, MergedGraph)
    with pytest.raises(ValueError, match="approximate='often'"):
        CSAP(safe=False, **given, approximate="often").fit(graph, constraints=known)


def test_links_are_merged_where_the_exact_affinity_takes_long(monkeypatch):
    X, y = make_blobs(2_100, 5, centers=3, cluster_std=3.0, random_state=0)
    graph, labels = Neighbors(10).build(X), sample_labels(y, 100, random_state=0)
    given = {"n_clusters": 3, "affinity": "precomputed", "random_state": 0}
    quick = CSAP(**given).fit(graph, constraints=labels)
    assert not isinstance(quick.affinity_matrix_, MergedGraph)
    cost = ObservedLinks.of(labels, 1e-5, 1e-5).count_products(graph, "B")
    monkeypatch.setattr(estimator, "MAX_EXACT_PRODUCTS", 0.9 * cost)
    assert isinstance(CSAP(**given).fit(graph, constraints=labels).affinity_matrix_, MergedGraph)
    monkeypatch.setattr(estimator, "MAX_EXACT_PRODUCTS", 1.1 * cost)
    again = CSAP(**given).fit(graph, constraints=labels)
    np.testing.assert_array_equal(again.labels_, quick.labels_)


def test_products_are_counted_for_edges_neighbourhoods_and_links():
    path = sp.diags_array(np.ones(9), offsets=1, shape=(10, 10))
    graph = SparseGraph(sp.csr_array(path + path.T))
    # Points 0 to 3 are near the set {1, 2}; 6 and 8 are no set. Two pairs of sets cannot be together.
    links = links_of(10, must=[(1, 2)], cannot=[(1, 6), (2, 6), (6, 8)])
    assert links.count_products(graph, "B") == (9 + 4**2) * (2 + 1 / 16)
    assert links.count_products(graph, "A") == (9 + 4**2) * 4 / 16


@pytest.mark.parametrize("seed", range(30))
def test_losses_are_those_of_every_link_and_neighbour(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 14))
    A = np.triu(rng.random((n, n)) * (rng.random((n, n)) < rng.uniform(0.1, 0.9)), 1)
    A, variances = A + A.T, rng.random(n) + 1.0
    pairs = np.argwhere(np.triu(rng.random((n, n)) < 0.2, 1))
    own, other = np.concatenate([pairs, pairs[:, ::-1]]).T
    shares = rng.random(own.size)
    expected = np.zeros((n, n))
    for s, t, share in zip(own, other, shares, strict=True):
        theirs = np.where(np.arange(n) == t, variances[t], A[t])
        expected[s] = np.maximum(expected[s], np.where(A[s] > 0, share * (A[s] + theirs), 0.0))
    found = sp.csr_array(A)
    found.data = _losses(found, variances, own, other, shares)
    np.testing.assert_allclose(found.toarray(), expected)
