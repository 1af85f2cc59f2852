import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from sidecut.graphs import DenseGraph, SparseGraph, as_graph

FORMS = {"dense": np.asarray, "list": np.ndarray.tolist, "csr": sp.csr_array, "coo": sp.coo_matrix}


def symmetric(n=6, seed=0):
    weights = np.random.default_rng(seed).random((n, n))
    return weights + weights.T


@pytest.mark.parametrize("form", FORMS)
def test_weights_are_taken_as_they_are(form):
    graph = as_graph(FORMS[form](symmetric()))
    assert isinstance(graph, SparseGraph if form in ("csr", "coo") else DenseGraph)
    np.testing.assert_array_equal(graph.toarray(), symmetric())


def test_a_graph_is_returned_unchanged():
    graph = as_graph(symmetric())
    assert as_graph(graph) is graph


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float32])
def test_other_number_types_become_floats(dtype):
    weights = np.array([[0, 1], [1, 0]], dtype=dtype)
    for form in (np.asarray, sp.csr_array):
        found = as_graph(form(weights)).toarray()
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found, weights.astype(float))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("value", "rule"), [(np.nan, "finite"), (np.inf, "finite"), (-np.inf, "finite"), (-0.5, "nonnegative")]
)
@given(row=st.integers(0, 5), col=st.integers(0, 5))
def test_a_bad_entry_is_named(form, value, rule, row, col):
    weights = symmetric()
    weights[row, col] = value
    with pytest.raises(ValueError, match=rf"affinity\[{row}, {col}\] = {value}: weights must be {rule}"):
        as_graph(FORMS[form](weights))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("block_bytes", [1, 10**6])
@given(st.lists(st.integers(0, 5), min_size=2, max_size=2, unique=True).map(sorted))
def test_the_worst_asymmetry_is_named(form, block_bytes, pair):
    i, j = pair
    weights = symmetric()
    weights[i, j] += 2.0
    weights[5 if i != 5 else 4, 0] += 0.0 if 0 in pair else 0.1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sidecut.graphs.graph.TILE_BYTES", block_bytes)
        with pytest.raises(
            ValueError, match=rf"affinity\[({i}, {j}|{j}, {i})\].* differ by 2: .*\(A \+ A\.T\)"
        ):
            as_graph(FORMS[form](weights))


@pytest.mark.parametrize("form", FORMS)
def test_rounding_is_mirrored_away_without_touching_the_input(form):
    weights = symmetric()
    weights[1, 2] *= 1 + 1e-12
    given_weights = FORMS[form](weights)
    found = as_graph(given_weights).toarray()
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_allclose(found, weights, rtol=1e-11)
    kept = given_weights.toarray() if sp.issparse(given_weights) else np.asarray(given_weights)
    np.testing.assert_array_equal(kept, weights)


@pytest.mark.parametrize("shape", [(2, 3), (4,), (2, 2, 2)])
def test_a_precomputed_affinity_is_square(shape):
    with pytest.raises(ValueError, match="must be a square matrix"):
        as_graph(np.ones(shape))


def test_complex_weights_are_refused():
    for form in (np.asarray, sp.csr_array):
        with pytest.raises(ValueError, match="complex"):
            as_graph(form(np.eye(2) * 1j))


def test_weights_whose_sum_overflows_are_refused():
    for form in (np.asarray, sp.csr_array):
        with pytest.raises(ValueError, match="their sum overflows"):
            as_graph(form(np.full((3, 3), 1e308)))


def test_duplicate_entries_of_a_sparse_matrix_add_up_and_stay_the_callers():
    weights = sp.csr_array((np.ones(4), np.array([1, 1, 0, 0]), np.array([0, 2, 4])), shape=(2, 2))
    np.testing.assert_array_equal(as_graph(weights).toarray(), [[0, 2], [2, 0]])
    assert weights.nnz == 4


def test_networkx_weights_loops_and_parallel_edges():
    graph = nx.MultiGraph()
    graph.add_nodes_from("dabc")  # the order of the nodes is the order of the rows
    graph.add_edge("a", "b", weight=2.5)
    graph.add_edge("a", "b", weight=0.5)
    graph.add_edge("b", "c")
    graph.add_edge("c", "c", weight=4.0)
    found = as_graph(graph)
    np.testing.assert_array_equal(found.toarray(), [[0, 0, 0, 0], [0, 0, 3, 0], [0, 3, 0, 1], [0, 0, 1, 4]])
    np.testing.assert_array_equal(found.isolated, [0])


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiDiGraph])
def test_directed_networkx_graphs_are_refused(kind):
    with pytest.raises(ValueError, match=r"directed networkx graph.*to_undirected"):
        as_graph(kind([(0, 1)]))


def test_bad_networkx_weights_are_named():
    graph = nx.Graph()
    graph.add_edge(0, 1, weight=-2.0)
    with pytest.raises(ValueError, match=r"affinity\[0, 1\] = -2\.0: weights must be nonnegative"):
        as_graph(graph)
