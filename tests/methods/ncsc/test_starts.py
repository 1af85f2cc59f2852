"""Where NCSC starts: tied graphs against dense matrices, seeds that cannot-links hold apart."""

import numpy as np
import pytest
import scipy.sparse as sp

from sidecut import Constraints
from sidecut.graphs import DenseGraph, Gaussian, Neighbors, SparseGraph
from sidecut.methods.ncsc import PenalizedCut
from sidecut.methods.ncsc import ncsc as starts
from sidecut.methods.ncsc.ncsc import TiedGraph, apart_nodes, best_start, start_indicators
from sidecut.methods.ncsc.objective import NodeLinks


def tied(seed=0, gamma=3.0, n=15):
    rng = np.random.default_rng(seed)
    known = Constraints.from_labels(rng.integers(-1, 3, n))
    weights = Gaussian(1.0).build(rng.normal(size=(n, 2))).toarray()
    must = np.maximum(known.with_diagonal(0.0).as_matrix().toarray(), 0.0)
    expected = weights + gamma * (must - np.diag(must.sum(axis=1)))
    return known, weights, expected


@pytest.mark.parametrize("listed", [0, 100_000])
def test_a_tied_graph_has_the_degrees_of_the_graph_and_the_laplacian_of_eq_6(listed, monkeypatch):
    monkeypatch.setattr(starts, "MAX_LISTED_LINKS", listed)
    known, weights, expected = tied()
    for graph in (DenseGraph(weights), SparseGraph(sp.csr_array(weights))):
        bound = TiedGraph(PenalizedCut(graph, known, gamma_must=3.0))
        np.testing.assert_allclose(bound.apply(np.eye(15)), expected, atol=1e-12)
        np.testing.assert_allclose(bound.apply(np.ones(15)), graph.degrees, atol=1e-10)
        np.testing.assert_allclose(bound.degrees, graph.degrees)
        if bound.matrix is not None:
            np.testing.assert_allclose(bound.matrix.toarray(), expected, atol=1e-12)
    assert bound.matrix is not None


def test_must_links_join_the_components_of_a_tied_graph():
    weights = np.kron(np.eye(3), np.ones((2, 2)))
    weights = np.pad(weights, (0, 1))
    known = Constraints.from_pairs(7, must_link=[(0, 2)])
    bound = TiedGraph(PenalizedCut(DenseGraph(weights), known, gamma_must=1.0))
    np.testing.assert_array_equal(bound.components, [0, 0, 0, 0, 1, 1, -1])


def test_seeds_are_pairwise_apart_and_the_most_linked_come_first():
    known = Constraints.from_pairs(6, cannot_link=[(0, 1), (1, 2), (0, 2), (2, 3), (4, 5)])
    assert apart_nodes(NodeLinks(known, np.arange(6)), 5) == [2, 0, 1]
    assert apart_nodes(NodeLinks(known, np.arange(6)), 2) == [2, 0]
    assert apart_nodes(NodeLinks(Constraints.none(6), np.arange(6)), 2) == []
    labels = Constraints.from_labels([0, 0, 1, 2, -1, 2])
    sets = labels.must_link_components()
    assert len(apart_nodes(NodeLinks(labels, sets), 5)) == 3


def test_the_start_that_violates_fewer_links_is_taken():
    """Four rows in two heaps: k-means joins each heap, the links say otherwise."""
    rows = np.array([[0.0, 0.0], [0.0, 1.0], [9.0, 0.0], [9.0, 1.0]])
    graph = DenseGraph(np.ones((4, 4)))
    known = Constraints.from_pairs(4, cannot_link=[(0, 1)])
    cut = PenalizedCut(graph, known)
    options = {"n_init": 3, "rng": np.random.RandomState(0)}
    plain = best_start(cut, rows, 2, seeded=False, **options)
    assert plain[0] == plain[1] != plain[2] == plain[3]
    seeded = best_start(cut, rows, 2, seeded=True, **options)
    assert seeded[0] != seeded[1]
    silent = PenalizedCut(graph, Constraints.none(4))
    np.testing.assert_array_equal(best_start(silent, rows, 2, seeded=True, **options), plain)


def test_the_offset_leaves_no_zeros():
    cut = PenalizedCut(
        Neighbors(5).build(np.random.default_rng(0).normal(size=(20, 2))), Constraints.none(20)
    )
    labels = np.arange(20) % 3
    Y = start_indicators(cut, labels, 3)
    np.testing.assert_allclose(Y - Y.min(), cut.indicators(labels, 3), atol=1e-15)
    assert Y.min() == pytest.approx(0.2 * cut.indicators(labels, 3).max())
