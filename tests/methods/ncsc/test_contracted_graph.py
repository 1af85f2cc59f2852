"""Sets of points as nodes: CᵀWC in every form of a graph."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecut.graphs import DenseGraph, GaussianGraph, SparseGraph
from sidecut.methods.ncsc.lcsc import ContractedGraph, contract_graph, membership


def random_weights(n, seed):
    half = np.random.default_rng(seed).random((n, n))
    half[half < 0.5] = 0.0
    return half + half.T


@st.composite
def partitions(draw):
    """The set of each of some points, numbered without gaps."""
    raw = draw(st.lists(st.integers(0, 4), min_size=2, max_size=12))
    return np.unique(raw, return_inverse=True)[1]


@given(sets=partitions(), seed=st.integers(0, 100))
@settings(max_examples=40, deadline=None)
def test_all_forms_are_the_textbook_product(sets, seed):
    weights = random_weights(len(sets), seed)
    C = np.eye(sets.max() + 1)[sets]
    expected = C.T @ weights @ C
    for graph in (DenseGraph(weights), SparseGraph(sp.csr_array(weights))):
        small = contract_graph(graph, sets)
        np.testing.assert_allclose(small.toarray(), expected, atol=1e-12)
        np.testing.assert_array_equal(small.toarray(), small.toarray().T)
        np.testing.assert_allclose(small.degrees, C.T @ weights.sum(axis=1), atol=1e-12)
    np.testing.assert_array_equal(membership(sets).toarray(), C)


def test_a_graph_that_is_only_applied_stays_so():
    lazy = GaussianGraph(np.random.default_rng(0).normal(size=(20, 2)), 1.0)
    sets = np.arange(20) // 2
    small = contract_graph(lazy, sets)
    assert isinstance(small, ContractedGraph)
    assert small.matrix is None
    C = np.eye(10)[sets]
    np.testing.assert_allclose(small.toarray(), C.T @ lazy.toarray() @ C, atol=1e-12)
    assert small.volume == pytest.approx(lazy.volume)


def test_nothing_joined_is_the_graph_itself():
    graph = DenseGraph(random_weights(5, 0))
    assert contract_graph(graph, np.arange(5)) is graph
