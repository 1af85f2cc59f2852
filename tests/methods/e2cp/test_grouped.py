import pickle
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import make_blobs

from sidecut.constraints import Constraints, sample_pairs
from sidecut.graphs import Neighbors, SparseGraph
from sidecut.methods.e2cp import adjustment as module
from sidecut.methods.e2cp.adjustment import (
    GroupedGraph,
    adjust_graph,
    adjust_smoothly,
    adjust_weights,
    measure_error,
    propagated_columns,
)
from sidecut.methods.e2cp.propagation import (
    leading_basis,
    propagate,
    propagate_labels,
    propagate_smoothly,
    smooth_labels,
)
from sidecut.spectral import laplacian_eigenpairs

RNG = np.random.default_rng(0)
X, Y = make_blobs(150, n_features=3, centers=3, cluster_std=2.0, random_state=0)
GRAPH = Neighbors(8).build(X)
PAIRS = sample_pairs(Y, 80, random_state=0)


def random_state():
    return np.random.RandomState(0)


def beliefs(n_vectors=6):
    return propagate_smoothly(GRAPH, PAIRS, 0.8, laplacian_eigenpairs(GRAPH, n_vectors).vectors).scaled(0.06)


def some_graph(n=12, n_groups=4):
    edges = sp.random_array((n, n), density=0.2, rng=RNG)
    block_weights = np.maximum(RNG.normal(size=(n_groups, n_groups)), 0)
    return GroupedGraph(
        SparseGraph(edges + edges.T), RNG.integers(n_groups, size=n), block_weights + block_weights.T
    )


def test_every_view_of_the_graph_is_the_same_matrix():
    graph = some_graph()
    W = graph.edges.tosparse().toarray() + graph.block_weights[graph.group][:, graph.group]
    np.testing.assert_allclose(graph.toarray(), W)
    np.testing.assert_allclose(graph.apply(np.eye(12)), W, atol=1e-14)
    np.testing.assert_allclose(graph.apply(np.arange(12.0)), W @ np.arange(12.0))
    np.testing.assert_allclose(graph.degrees, W.sum(axis=1))
    rows, columns = RNG.integers(12, size=(2, 30))
    np.testing.assert_allclose(graph.weights_at(rows, columns), W[rows, columns])
    again = pickle.loads(pickle.dumps(graph))
    np.testing.assert_array_equal(again.toarray(), graph.toarray())


def test_the_split_is_the_graph(monkeypatch):
    graph = some_graph()
    S, B, m = graph.split
    np.testing.assert_allclose(S.toarray() + B @ np.diag(m) @ B.T, graph.toarray(), atol=1e-12)
    normalized = graph.scale[:, None] * B
    np.testing.assert_allclose(normalized.T @ normalized, np.eye(m.size), atol=1e-12)
    monkeypatch.setattr(module, "MAX_SPLIT_RANK", m.size - 1)
    assert graph.split is None


def test_the_split_has_the_rank_of_the_block_weights():
    block_weights = np.zeros((5, 5))
    block_weights[1:, 1:] = np.outer([1, 2, 0, 1], [1, 2, 0, 1])
    # The first group has isolated nodes only, the third only edges.
    group = np.repeat(np.arange(5), 4)
    edges = sp.csr_array(np.kron(np.diag([0, 0, 0, 1.0, 0]), np.ones((4, 4))))
    graph = GroupedGraph(SparseGraph(edges), group, block_weights)
    S, B, m = graph.split
    assert m.size == 1
    np.testing.assert_allclose(S.toarray() + B @ np.diag(m) @ B.T, graph.toarray(), atol=1e-12)


@pytest.mark.parametrize("n_chained", [2, 5, 6])
@pytest.mark.parametrize("seed", range(6))
def test_components_are_those_of_the_matrix(seed, n_chained):
    rng = np.random.default_rng(seed)
    edges = sp.random_array((20, 20), density=0.02, rng=rng)
    block_weights = np.diag(rng.integers(2, size=6)).astype(float)
    # Groups that hang together; with six, all of them.
    chain = np.arange(n_chained - 1)
    block_weights[chain, chain + 1] = block_weights[chain + 1, chain] = 0.5
    graph = GroupedGraph(SparseGraph(edges + edges.T), np.arange(20) % 6, block_weights)
    expected = connected_components(sp.csr_array(graph.toarray()), directed=False)[1]
    linked = np.flatnonzero(graph.degrees > 0)
    same = expected[linked][:, None] == expected[linked]
    np.testing.assert_array_equal(graph.components[linked][:, None] == graph.components[linked], same)
    assert (np.delete(graph.components, linked) == -1).all()


@pytest.mark.parametrize("unit", [1.0, 3.0])
def test_with_a_group_for_every_point_it_is_eq4(unit):
    F = beliefs()
    graph = adjust_smoothly(GRAPH, F, unit, random_state())
    expected = adjust_weights(GRAPH.toarray(), F.apply(np.eye(150)), unit)
    np.testing.assert_allclose(graph.toarray(), expected, atol=1e-12)


def test_fewer_groups_keep_the_edges_and_the_pairs_and_come_close():
    F = beliefs()
    graph = adjust_smoothly(GRAPH, F, 1.0, random_state(), n_groups=25)
    expected = adjust_weights(GRAPH.toarray(), F.apply(np.eye(150)))
    at = PAIRS.as_matrix().toarray() != 0
    np.testing.assert_allclose(graph.toarray()[at], expected[at], atol=1e-12)
    assert graph.toarray().min() >= -1e-15
    np.testing.assert_array_equal(graph.toarray(), graph.toarray().T)
    assert np.abs(graph.toarray() - expected).sum() < 0.3 * expected.sum()


def test_cannot_links_alone_leave_the_graph_sparse():
    known = sample_pairs(Y, 80, random_state=0)
    apart = type(known).from_pairs(150, cannot_link=known.cannot_link)
    F = propagate_smoothly(GRAPH, apart, 0.8, laplacian_eigenpairs(GRAPH, 6).vectors).scaled(0.06)
    graph = adjust_smoothly(GRAPH, F, 1.0, random_state())
    assert isinstance(graph, SparseGraph)
    expected = GRAPH.toarray() * (1 - np.clip(np.abs(F.apply(np.eye(150))), 0, 1))
    np.testing.assert_allclose(graph.toarray(), expected, atol=1e-12)


def in_pieces(seed):
    """Blobs far apart, some of one point, of which links and labels reach a part."""
    rng = np.random.default_rng(seed)
    home = np.concatenate([np.repeat(np.arange(9), 30), 9 + np.arange(4)])
    points = rng.normal(size=(home.size, 2)) + 100.0 * home[:, None]
    near = np.linalg.norm(points[:, None] - points, axis=2)
    weights = np.where((near < 2.5) & (near > 0), np.exp(-(np.minimum(near, 30.0) ** 2)), 0.0)
    known = rng.choice(np.flatnonzero(np.isin(home, [0, 1, 2, 3, 4, 9])), 25, replace=False)
    return SparseGraph(sp.csr_array(weights)), home, known, rng


@pytest.mark.parametrize("n_groups", [5, 40])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["labels", "pairs"])
def test_the_grouped_graph_has_the_components_of_the_exact_one(kind, seed, n_groups):
    graph, home, known, rng = in_pieces(seed)
    if kind == "labels":
        # One blob has labels of two classes.
        labels = np.full(home.size, -1)
        labels[known] = np.where(home[known] == 0, rng.integers(2, size=25), home[known] % 3)
        constraints = Constraints.from_labels(labels)
        agreement = propagate_labels(graph, constraints, 0.8, 1e-5)
        F = smooth_labels(graph, agreement.scaled(agreement.largest()), constraints.labels)
    else:
        pairs = known[:24].reshape(-1, 2)
        constraints = Constraints.from_pairs(home.size, pairs[:5], pairs[5:])
        basis = leading_basis(graph, 12, 3, random_state())
        F = propagate_smoothly(graph, constraints, 0.8, basis)
        F = F.scaled(np.abs(F.at_pairs()).max())
    exact = propagate(graph, constraints, 0.8).matrix
    exact = adjust_graph(graph, exact.scaled(exact.largest()))
    found = adjust_smoothly(graph, F, 1.0, random_state(), n_groups)
    assert isinstance(found, GroupedGraph)
    assert 1 < exact.n_components < graph.n_components + 1
    linked = exact.components >= 0
    same = [g.components[linked][:, None] == g.components[linked] for g in (exact, found)]
    np.testing.assert_array_equal(*same)
    np.testing.assert_array_equal(found.isolated, exact.isolated)


def test_the_error_is_measured_against_eq4(monkeypatch):
    monkeypatch.setattr(module, "N_MEASURED_POINTS", 150)
    F, scale = propagate(GRAPH, PAIRS, 0.8).toarray(), 0.06
    changed = adjust_smoothly(GRAPH, beliefs(), 1.0, random_state())
    expected = adjust_weights(GRAPH.toarray(), F / scale)
    shares = np.abs(changed.toarray() - expected).sum(axis=0) / expected.sum(axis=0)
    columns = partial(propagated_columns, GRAPH, PAIRS, 0.8)
    error = measure_error(GRAPH, changed, lambda points: columns(points) / scale, 1.0, random_state())
    assert error == pytest.approx(shares.mean(), rel=0.01)
    assert 0.01 < error < 0.5


def test_a_block_in_single_precision_is_multiplied_in_it():
    graph = some_graph()
    block = np.random.default_rng(5).standard_normal((12, 3))
    single = graph.apply(block.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, graph.toarray() @ block, atol=1e-5)
