import numpy as np
import pytest
import scipy.sparse as sp

from sidecut.exceptions import ConstraintError
from sidecut.graphs import Neighbors, SparseGraph
from sidecut.methods.csap import graph as kept
from sidecut.methods.csap.graph import ConditionedGraph, largest_affinities

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
FACTOR = 0.3 * RNG.normal(size=(30, 4))
RIVALS = 0.5 * RNG.normal(size=(30, 6))
NEAR = [np.array([0, 1, 2, 3, 4, 5, 6]), np.array([5, 6, 7, 8, 9, 10])]


def a_case():
    graph = Neighbors(4).build(X)
    reach = (np.arange(30) < 12)[:, None]
    return graph, ConditionedGraph(graph, FACTOR * reach, RIVALS[:, :1] * reach)


def test_all_of_them_are_the_definition():
    graph, lazy = a_case()
    changed = largest_affinities(lazy, NEAR, n_kept=None)
    np.testing.assert_allclose(changed.toarray(), lazy.materialized().matrix, atol=1e-15)
    np.testing.assert_array_equal(changed.toarray()[12:], graph.toarray()[12:])
    assert (changed.matrix != changed.matrix.T).nnz == 0


def test_a_sparse_graph_that_nothing_is_taken_from():
    graph = Neighbors(4).build(X)
    lazy = ConditionedGraph(graph, np.zeros((30, 2)), np.zeros((30, 1)))
    for n_kept in (None, 3):
        np.testing.assert_array_equal(largest_affinities(lazy, NEAR, n_kept).toarray(), graph.toarray())


@pytest.mark.parametrize("n_kept", [1, 2, 5, 100])
def test_edges_and_the_largest_of_each_set(n_kept):
    graph, lazy = a_case()
    whole = lazy.materialized().matrix
    wanted = graph.toarray() > 0
    for nodes in NEAR:
        for i in nodes:
            best = nodes[np.argsort(-whole[i, nodes], kind="stable")[:n_kept]]
            wanted[i, best] = wanted[best, i] = True
    got = largest_affinities(lazy, NEAR, n_kept)
    np.testing.assert_allclose(got.toarray(), np.where(wanted, whole, 0.0), atol=1e-15)
    assert (got.matrix != got.matrix.T).nnz == 0


def test_too_many_to_keep(monkeypatch):
    monkeypatch.setattr(kept, "MAX_BYTES", 100)
    _, lazy = a_case()
    with pytest.raises(ConstraintError, match=r"144 affinities between the 12 points.*such as 256"):
        largest_affinities(lazy, NEAR, n_kept=None)
    assert isinstance(largest_affinities(lazy, NEAR, n_kept=2), SparseGraph)
    assert sp.issparse(largest_affinities(lazy, [], n_kept=2).matrix)
