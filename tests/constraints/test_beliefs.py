import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintError

Q = np.array([[0.5, 1.0, 0.0], [1.0, 0.0, -2.0], [0.0, -2.0, 3.0]])


@pytest.mark.parametrize(
    "form",
    [np.array, np.ndarray.tolist, sparse.csr_array, sparse.coo_matrix, sparse.csc_matrix, sparse.lil_array],
)
def test_a_matrix_comes_back_as_given(form):
    c = Constraints.from_matrix(form(Q))
    np.testing.assert_array_equal(c.as_matrix().toarray(), Q)
    assert sparse.issparse(c.as_matrix())
    assert c.as_matrix().format == "csr"


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0, 1], [2, 0]], r"Q\[[01], [01]\] = .* but Q\[[01], [01]\] = .*symmetric"),
        ([[0, np.nan], [np.nan, 0]], r"Q\[0, 1\] = nan"),
        ([[0, 0], [0, np.inf]], r"Q\[1, 1\] = inf"),
        ([[0, 1j], [-1j, 0]], "complex128"),
        ([[0, 1, 0], [1, 0, 0]], r"shape \(2, 3\)"),
        ([1, 2], r"shape \(2,\)"),
        ([["a", "b"], ["b", "a"]], "real numbers"),
        (np.empty((0, 0)), r"shape \(0, 0\)"),
    ],
)
def test_wrong_matrices_are_refused_by_entry(matrix, message):
    with pytest.raises(ConstraintError, match=message):
        Constraints.from_matrix(matrix)
    if np.ndim(matrix) == 2 and np.asarray(matrix).dtype.kind in "if":
        with pytest.raises(ConstraintError, match=message):
            Constraints.from_matrix(sparse.csr_array(np.asarray(matrix, dtype=float)))


def test_the_most_asymmetric_entry_is_named():
    wrong = Q.copy()
    wrong[0, 1] += 0.1
    wrong[2, 1] += 5
    with pytest.raises(ConstraintError, match=r"Q\[(1, 2|2, 1)\] = "):
        Constraints.from_matrix(wrong)


def test_rounding_is_not_asymmetry():
    almost = Q.copy()
    almost[0, 1] += 1e-15
    c = Constraints.from_matrix(almost)
    matrix = c.as_matrix().toarray()
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_allclose(matrix, Q, atol=1e-14)


def test_beliefs_may_contradict_each_other_and_say_so():
    c = Constraints.from_matrix([[0, 1, -1], [1, 0, 1], [-1, 1, 0]])
    assert c.n_conflicts == 1


def test_a_graph_becomes_soft_must_links_with_its_diagonal():
    A = np.abs(Q)
    c = Constraints.from_graph(A)
    np.testing.assert_array_equal(c.as_matrix().toarray(), A)
    assert (c.n_must_link, c.n_cannot_link) == (2, 0)


def test_a_networkx_graph_is_read_in_the_order_of_its_nodes():
    graph = nx.Graph()
    graph.add_nodes_from(["z", "a", "m"])
    graph.add_edge("m", "z", weight=2.5)
    graph.add_edge("a", "m")
    c = Constraints.from_graph(graph)
    np.testing.assert_array_equal(c.as_matrix().toarray(), [[0, 0, 2.5], [0, 0, 1], [2.5, 1, 0]])


def test_graphs_that_cannot_be_must_links_are_refused():
    with pytest.raises(ConstraintError, match=r"A\[1, 2\] = -2\.0: .*from_matrix"):
        Constraints.from_graph(Q)
    with pytest.raises(ConstraintError, match="symmetric"):
        Constraints.from_graph(nx.DiGraph([(0, 1)]))
    with pytest.raises(ConstraintError, match="without nodes"):
        Constraints.from_graph(nx.Graph())
