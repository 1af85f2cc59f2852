import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sidecut.graphs import (
    DenseGraph,
    FactorGraph,
    GaussianGraph,
    Graph,
    HeatGraph,
    Neighbors,
    SparseGraph,
    columns_of,
    rows_of,
)
from sidecut.methods.csap.graph import ConditionedGraph, largest_products

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
W = GaussianGraph(X, 1.0, self_loops=True).materialized().matrix
FACTOR = 0.3 * RNG.normal(size=(30, 4))
RIVALS = 0.5 * RNG.normal(size=(30, 6))

FORMS = {
    "dense": DenseGraph(W),
    "sparse": SparseGraph(sp.csr_array(W)),
    "tiled": GaussianGraph(X, 1.0, self_loops=True),
    "applied": HeatGraph(Neighbors(5).build(X), 2.0),
    "factor": FactorGraph(np.abs(X)),
}

numbers = st.floats(-3, 3, allow_nan=False, width=32)


def literal(weights, factor, rivals):
    """The definition, with the stack of matrices that is never formed."""
    left = weights - factor @ factor.T
    stack = np.array([left - np.outer(u, u) for u in rivals.T]) if rivals.size else left[None]
    return np.maximum(stack.min(axis=0), 0.0)


@pytest.mark.parametrize("rivals", [RIVALS, RIVALS[:, :1], RIVALS[:, :0]], ids=["six", "one", "none"])
@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_the_definition(form, rivals):
    graph = FORMS[form]
    expected = literal(rows_of(graph, slice(0, 30)), FACTOR, rivals)
    assert 0.1 < np.mean(expected > 0) < 0.96
    lazy = ConditionedGraph(graph, FACTOR, rivals)
    np.testing.assert_allclose(lazy.toarray(), expected, atol=1e-14)
    np.testing.assert_allclose(lazy.materialized().matrix, expected, atol=1e-14)


@pytest.mark.parametrize("tile_bytes", [1, 7 * 30 * 8, 10**9], ids=["one row", "seven rows", "all rows"])
def test_tiles_of_any_height(monkeypatch, tile_bytes):
    monkeypatch.setattr("sidecut.graphs.graph.TILE_BYTES", tile_bytes)
    expected = literal(W, FACTOR, RIVALS)
    lazy = ConditionedGraph(FORMS["tiled"], FACTOR, RIVALS)
    dense = lazy.materialized().matrix
    np.testing.assert_allclose(dense, expected, atol=1e-14)
    np.testing.assert_array_equal(dense, dense.T)
    block = RNG.normal(size=(30, 3))
    np.testing.assert_allclose(lazy.apply(block), expected @ block, atol=1e-12)


def test_pairs_of_a_sparse_graph():
    graph = Neighbors(4).build(X)
    reach = (np.arange(30) < 12)[:, None]
    lazy = ConditionedGraph(graph, FACTOR * reach, RIVALS * reach)
    rows, columns = np.nonzero(np.ones((30, 30)))
    np.testing.assert_allclose(lazy.weights_at(rows, columns), lazy.materialized().matrix.ravel(), atol=1e-15)
    nodes = np.array([3, 0, 20, 11])
    np.testing.assert_allclose(
        lazy.restricted(nodes).toarray(), lazy.materialized().matrix[np.ix_(nodes, nodes)], atol=1e-15
    )


def test_what_rounding_leaves_is_no_edge():
    # Two points of a kernel that is used up: 1 - Σ u² is zero in theory and 1e-16 or so in floating point.
    u = np.full((2, 7), np.sqrt(1 / 7))
    residue = np.abs(1.0 - u @ u.T).max()
    assert 0 < residue < 1e-15
    graph = ConditionedGraph(DenseGraph(np.ones((2, 2))), u)
    assert graph.isolated.size == 2


def test_small_weights_of_points_no_link_reaches_are_kept():
    faint = DenseGraph(np.full((3, 3), 1e-200))
    factor = np.array([[0.0], [0.0], [0.1]])
    expected = np.array([[1e-200, 1e-200, 1e-200], [1e-200, 1e-200, 1e-200], [1e-200, 1e-200, 0.0]])
    np.testing.assert_array_equal(ConditionedGraph(faint, factor).toarray(), expected)


@given(data=st.data())
@settings(max_examples=50, deadline=None)
def test_largest_products_are_the_largest_of_the_stack(data):
    m, n, k = (data.draw(st.integers(1, 6)) for _ in range(3))
    left, right = (data.draw(hnp.arrays(np.float64, (size, k), elements=numbers)) for size in (m, n))
    stack = left[:, None, :] * right[None, :, :]
    np.testing.assert_array_equal(largest_products(left, right), stack.max(axis=2))


def test_largest_products_in_blocks():
    left, right = RNG.normal(size=(37, 5)), RNG.normal(size=(9_000, 5))
    stack = left[:, None, :] * right[None, :, :]
    np.testing.assert_array_equal(largest_products(left, right), stack.max(axis=2))


@pytest.mark.parametrize("form", FORMS)
def test_rows_and_columns_of_every_form(form):
    graph: Graph = FORMS[form]
    whole = graph.apply(np.eye(30))
    np.testing.assert_allclose(rows_of(graph, slice(3, 9)), whole[3:9], atol=1e-14)
    np.testing.assert_allclose(columns_of(graph, np.array([7, 2, 29])), whole[:, [7, 2, 29]], atol=1e-14)
