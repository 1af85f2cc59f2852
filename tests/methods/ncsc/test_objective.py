"""Eq. 6 against dense matrices, its gradient against difference quotients, contraction against its limit."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecut import Constraints
from sidecut.graphs import DenseGraph, Gaussian, GaussianGraph, SparseGraph
from sidecut.methods.ncsc import PenalizedCut
from sidecut.methods.ncsc.objective import NodeLinks

N = 14


def dense_terms(constraints):
    """Qᵐ and Qᶜ with every entry, diagonals zero."""
    Q = constraints.as_matrix().toarray()
    np.fill_diagonal(Q, 0.0)
    return np.maximum(Q, 0.0), np.maximum(-Q, 0.0)


def dense_G(weights, constraints, gamma_must, gamma_cannot):
    must, cannot = dense_terms(constraints)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    return laplacian + gamma_must * (np.diag(must.sum(axis=1)) - must) + gamma_cannot * cannot


@st.composite
def knowledge(draw):
    """Soft pairs, labels, or both."""
    seed = draw(st.integers(0, 1000))
    rng = np.random.default_rng(seed)
    half = np.triu(rng.normal(size=(N, N)) * (rng.random((N, N)) < 0.15), k=1)
    beliefs = Constraints.from_matrix(half + half.T)
    labels = Constraints.from_labels(rng.integers(-1, 3, size=N))
    return draw(st.sampled_from([beliefs, labels, Constraints.none(N)]))


@given(known=knowledge(), seed=st.integers(0, 50))
@settings(max_examples=60, deadline=None)
def test_the_pieces_are_the_textbook_matrices(known, seed):
    rng = np.random.default_rng(seed)
    lazy = GaussianGraph(rng.normal(size=(N, 2)), 1.0)
    weights, Y = lazy.toarray(), rng.random((N, 3))
    G = dense_G(weights, known, 3.0, 0.7)
    degrees = weights.sum(axis=1)
    for graph in (lazy, DenseGraph(weights), SparseGraph(sp.csr_array(weights))):
        cut = PenalizedCut(graph, known, gamma_must=3.0, gamma_cannot=0.7)
        np.testing.assert_allclose(cut.apply(Y), G @ Y, atol=1e-10)
        assert cut.objective(Y) == pytest.approx(np.trace(Y.T @ G @ Y))
        np.testing.assert_allclose(
            cut.apply_normalized(Y), G / np.sqrt(np.outer(degrees, degrees)) @ Y, atol=1e-10
        )


def test_the_gradient_is_the_difference_quotient():
    rng = np.random.default_rng(0)
    known = Constraints.from_labels(rng.integers(-1, 2, size=N))
    cut = PenalizedCut(Gaussian(1.0).build(rng.normal(size=(N, 2))), known, 2.0, 0.5)
    Y, step = rng.random((N, 2)), 1e-6
    for direction in rng.normal(size=(5, N, 2)):
        change = cut.objective(Y + step * direction) - cut.objective(Y - step * direction)
        assert change / (2 * step) == pytest.approx(np.sum(2.0 * cut.apply(Y) * direction), rel=1e-6)


def test_equal_indicators_of_must_linked_points_cost_nothing():
    known = Constraints.from_pairs(4, must_link=[(0, 1)], must_weight=2.5)
    cut = PenalizedCut(DenseGraph(np.ones((4, 4))), known, gamma_must=3.0)
    Y = np.array([[1.0], [0.0], [0.0], [0.0]])
    plain = PenalizedCut(DenseGraph(np.ones((4, 4))), Constraints.none(4)).objective(Y)
    assert cut.objective(Y) - plain == pytest.approx(3.0 * 2.5)
    assert cut.objective(np.ones((4, 1))) == pytest.approx(0.0)


def test_a_cannot_link_costs_twice_the_product_of_its_rows():
    known = Constraints.from_pairs(4, cannot_link=[(0, 1)], cannot_weight=0.5)
    cut = PenalizedCut(DenseGraph(np.ones((4, 4))), known, gamma_cannot=3.0)
    Y = np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 0.0], [0.0, 0.0]])
    plain = PenalizedCut(DenseGraph(np.ones((4, 4))), known, gamma_cannot=0.0).objective(Y)
    assert cut.objective(Y) - plain == pytest.approx(2 * 3.0 * 0.5 * (1 * 3 + 2 * 4))


@given(known=knowledge(), seed=st.integers(0, 50))
@settings(max_examples=40, deadline=None)
def test_contracted_is_the_same_objective_where_must_links_hold(known, seed):
    rng = np.random.default_rng(seed)
    graph = Gaussian(1.0).build(rng.normal(size=(N, 2)))
    cut = PenalizedCut(graph, known, np.inf, 0.7)
    small = rng.random((cut.n_nodes, 3))
    full = PenalizedCut(graph, known, 1e3, 0.7)
    assert cut.objective(small) == pytest.approx(full.objective(cut.on_points(small)), rel=1e-8)
    np.testing.assert_allclose(cut.on_nodes(cut.on_points(small)), small)
    np.testing.assert_allclose(
        small.T @ (cut.degrees[:, None] * small),
        cut.on_points(small).T @ (graph.degrees[:, None] * cut.on_points(small)),
    )


def test_indicators_are_orthonormal_and_cost_the_cut():
    """Eqs. 1 to 3."""
    weights = Gaussian(1.0).build(np.random.default_rng(0).normal(size=(N, 2))).toarray()
    labels = np.arange(N) % 3
    cut = PenalizedCut(DenseGraph(weights), Constraints.none(N))
    Y = cut.indicators(labels, 3)
    np.testing.assert_allclose(Y.T @ (weights.sum(axis=1)[:, None] * Y), np.eye(3), atol=1e-12)
    ncut = sum(weights[labels == c][:, labels != c].sum() / weights[labels == c].sum() for c in range(3))
    assert cut.objective(Y) == pytest.approx(ncut)


def test_violated_counts_what_labels_violate():
    known = Constraints.from_pairs(5, must_link=[(0, 1), (1, 2)], cannot_link=[(3, 4)], cannot_weight=0.5)
    links = NodeLinks(known, np.arange(5))
    assert links.violated(np.array([0, 0, 1, 1, 1])) == pytest.approx(2 * (1.0 + 0.5))
    assert links.violated(np.array([0, 0, 0, 0, 1])) == pytest.approx(0.0)


def test_labels_are_never_expanded_to_pairs():
    """200,000 labels are 2e10 pairs; applied, they are three sums."""
    n = 200_000
    path = sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1], format="csr")
    known = Constraints.from_labels(np.arange(n) % 3)
    cut = PenalizedCut(SparseGraph(path), known, gamma_must=1.0, gamma_cannot=1.0)
    Y = np.zeros((n, 1))
    Y[0] = 1.0
    assert cut.objective(Y) == pytest.approx(1.0 + known.labels[known.labels == 0].size - 1)
