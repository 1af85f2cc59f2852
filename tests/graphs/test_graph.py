import copy
import pickle

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.linalg import LinearOperator, eigsh

from sidecut.graphs import DenseGraph, FactorGraph, GaussianGraph, SparseGraph

FORMS = {"dense": DenseGraph, "sparse": lambda weights: SparseGraph(sp.csr_array(weights))}


@st.composite
def weighted_graphs(draw):
    n = draw(st.integers(1, 12))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    upper = np.triu(rng.random((n, n)) * (rng.random((n, n)) < draw(st.floats(0, 0.4))))
    return upper + np.triu(upper, 1).T


@pytest.mark.parametrize("form", FORMS)
@given(weights=weighted_graphs())
def test_components_are_those_of_networkx(form, weights):
    graph = FORMS[form](weights)
    loners = {node for node in range(len(weights)) if not weights[node].any()}
    expected = [c for c in nx.connected_components(nx.from_numpy_array(weights)) if not c <= loners]
    found = [set(np.flatnonzero(graph.components == c)) for c in range(graph.n_components)]
    assert sorted(map(sorted, found)) == sorted(map(sorted, expected))
    assert set(graph.isolated) == loners == set(np.flatnonzero(graph.components == -1))


@pytest.mark.parametrize("form", FORMS)
@given(weights=weighted_graphs())
def test_degrees_and_volume_are_row_sums_self_loops_once(form, weights):
    graph = FORMS[form](weights)
    np.testing.assert_allclose(graph.degrees, weights.sum(axis=1), rtol=1e-13)
    assert graph.volume == pytest.approx(weights.sum())
    np.testing.assert_array_equal(graph.toarray(), weights)


@given(weights=weighted_graphs())
def test_edges_are_counted_once(weights):
    graph = SparseGraph(sp.csr_array(weights))
    assert graph.n_edges == nx.from_numpy_array(weights).number_of_edges()


@pytest.mark.parametrize("form", FORMS)
def test_matmul_takes_lists(form):
    graph = FORMS[form](np.array([[0.0, 2.0], [2.0, 0.0]]))
    np.testing.assert_array_equal(graph @ [1, 3], [6.0, 2.0])


def test_sparse_graphs_leave_the_callers_arrays_alone():
    weights = sp.csr_array((np.array([0.0, 1.0, 1.0]), np.array([0, 1, 0]), np.array([0, 2, 3])))
    graph = SparseGraph(weights)
    assert graph.matrix.nnz == 2
    assert weights.nnz == 3
    np.testing.assert_array_equal(weights.data, [0.0, 1.0, 1.0])


def test_the_copy_of_a_dense_graph_is_a_copy():
    graph = DenseGraph(np.ones((2, 2)))
    graph.toarray()[0, 0] = 7.0
    assert graph.matrix[0, 0] == 1.0


@pytest.mark.parametrize("graph", [GaussianGraph(np.zeros((4, 1)), 1.0), FactorGraph(np.ones((4, 1)))])
def test_to_dense_refuses_what_would_not_fit(graph, monkeypatch):
    monkeypatch.setattr("sidecut.graphs.graph.DENSE_LIMIT", 3)
    with pytest.raises(MemoryError, match=r"graph with 4 nodes.*up to 3 nodes.*use apply"):
        graph.toarray()


def test_a_graph_prints_its_size():
    assert repr(FactorGraph(np.ones((4, 1)))) == "FactorGraph(n_nodes=4)"
    assert repr(SparseGraph(sp.eye_array(3))) == "SparseGraph(n_nodes=3, n_edges=3)"


@pytest.mark.parametrize("form", ["sparse", "dense", "tiled"])
def test_a_graph_is_a_linear_operator(form):
    X = np.random.default_rng(0).normal(size=(30, 2))
    lazy = GaussianGraph(X, 1.0)
    weights = lazy.toarray()
    graph = {"sparse": SparseGraph(sp.csr_array(weights)), "dense": DenseGraph(weights), "tiled": lazy}[form]
    block = np.random.default_rng(1).normal(size=(30, 3))
    assert isinstance(graph, LinearOperator)
    assert graph.shape == (30, 30)
    assert graph.dtype == np.float64
    np.testing.assert_allclose(graph @ block, weights @ block, atol=1e-12)
    np.testing.assert_allclose(graph @ block[:, 0], weights @ block[:, 0], atol=1e-12)
    np.testing.assert_allclose(graph.T @ block, weights @ block, atol=1e-12)
    np.testing.assert_allclose(graph.toarray(), weights, atol=1e-14)
    np.testing.assert_allclose(graph.tosparse().toarray(), weights, atol=1e-14)
    largest = eigsh(graph, k=2, return_eigenvectors=False)
    np.testing.assert_allclose(np.sort(largest), np.linalg.eigvalsh(weights)[-2:], rtol=1e-10)


def test_a_stored_graph_holds_nothing_of_scipys_own():
    # So that a model of one version of SciPy can be read by another.
    graph = SparseGraph(sp.csr_array([[0, 2.0], [2.0, 0]]))
    graph.degrees
    state = graph.__getstate__()
    theirs = {*vars(LinearOperator((1, 1), matvec=lambda x: x, dtype=float))}
    assert not theirs & {*state}
    again = pickle.loads(pickle.dumps(graph))
    assert again.n_nodes == 2
    np.testing.assert_array_equal(again @ [1.0, 0.0], [0.0, 2.0])
    np.testing.assert_array_equal(copy.copy(graph).degrees, [2.0, 2.0])
