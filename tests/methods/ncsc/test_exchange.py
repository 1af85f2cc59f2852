"""Exchanges of nodes: their bounds are those of trial vectors, and what they end in is a minimum of eq. 6."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecut import Constraints
from sidecut.graphs import DenseGraph, Gaussian, GaussianGraph, as_graph
from sidecut.methods.ncsc import PenalizedCut
from sidecut.methods.ncsc.descents import Moves, descend_by_exchange, descend_projected, exchange, own_weights
from sidecut.methods.ncsc.objective import best_indicators

N, K = 40, 3


def problem(seed, gamma_must=2.0, gamma_cannot=1.0, n=N):
    """Three clouds that overlap, some labels, and a start that is partly wrong."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % K
    X = rng.normal(size=(n, 2)) + 2.0 * np.array([[0, 0], [1, 0], [0, 1.0]])[y]
    known = Constraints.from_labels(np.where(rng.random(n) < 0.3, y, -1))
    cut = PenalizedCut(Gaussian(0.7).build(X), known, gamma_must, gamma_cannot)
    wrong = np.where(rng.random(n) < 0.3, rng.integers(0, K, n), y)
    return cut, wrong[np.unique(cut.sets, return_index=True)[1]]


def dense(cut):
    """Ḡ by its definition."""
    scale = 1.0 / np.sqrt(cut.degrees)
    return scale[:, None] * cut.apply(np.eye(cut.n_nodes)) * scale


def quotient(G, v):
    return v @ G @ v / (v @ v)


def settled(cut, labels, tol=1e-13):
    return best_indicators(cut, labels, np.sqrt(cut.degrees), K, tol)


def solve(cut, labels, tol=1e-6, max_iter=500):
    return descend_by_exchange(cut, cut.indicators(labels, K), tol=tol, max_iter=max_iter)


# The bounds


@pytest.mark.parametrize("gamma_must", [2.0, np.inf])
def test_the_diagonal_is_that_of_the_normalised_matrix(gamma_must):
    cut, _ = problem(0, gamma_must)
    np.testing.assert_allclose(own_weights(cut), dense(cut).diagonal())


@pytest.mark.parametrize("gamma_must", [2.0, np.inf])
@pytest.mark.parametrize("seed", range(3))
def test_gains_and_losses_are_those_of_trial_vectors(seed, gamma_must):
    cut, labels = problem(seed, gamma_must)
    state = settled(cut, labels)
    moves, G, V = Moves(cut, state), dense(cut), state.block()
    for i in range(cut.n_nodes):
        left = V[:, labels[i]].copy()
        left[i] = 0.0
        assert quotient(G, left) == pytest.approx(state.rates[labels[i]] + moves.losses[i], abs=1e-5)
        for j in np.flatnonzero(moves.gains[i]):
            joined = V[:, j].copy()
            joined[i] = moves.apply(np.array([i]), np.array([j]))[1][i]
            assert quotient(G, joined) == pytest.approx(state.rates[j] - moves.gains[i, j], abs=1e-9)
            # The trial vector is the best of its kind: another entry is no better.
            for other in (0.9, 1.1):
                joined[i] *= other
                assert quotient(G, joined) >= state.rates[j] - moves.gains[i, j] - 1e-12
                joined[i] /= other


@given(seed=st.integers(0, 500), gamma_must=st.sampled_from([1.0, np.inf]))
@settings(max_examples=30, deadline=None)
def test_every_worthwhile_move_lowers_the_objective_by_what_it_promises(seed, gamma_must):
    cut, labels = problem(seed, gamma_must)
    state = settled(cut, labels)
    moves = Moves(cut, state)
    for i, j in zip(*moves.worthwhile(), strict=True):
        after = best_indicators(cut, *moves.apply(np.array([i]), np.array([j])), K, 1e-10)
        promised = moves.gains[i, j] - moves.losses[i]
        assert after.objective <= state.objective - promised + 1e-6


def test_a_node_that_is_all_of_its_cluster_stays():
    cut, _ = problem(1)
    labels = np.zeros(N, dtype=int)
    labels[:2] = [1, 2]
    moves = Moves(cut, settled(cut, labels))
    assert np.isinf(moves.losses[:2]).all()
    assert not np.isin([0, 1], moves.worthwhile()[0]).any()


# The descent


@given(
    seed=st.integers(0, 500),
    gamma_must=st.sampled_from([0.5, 50.0, np.inf]),
    gamma_cannot=st.sampled_from([0.0, 1.0, 50.0]),
)
@settings(max_examples=30, deadline=None)
def test_eq_6_falls_all_the_way_at_feasible_indicators(seed, gamma_must, gamma_cannot):
    cut, labels = problem(seed, gamma_must, gamma_cannot)
    found = solve(cut, labels)
    assert found.converged
    # Where no exchange lowers it, or the projected steps ended lower, two equal values are all there is.
    assert (np.diff(found.trace) < 0).all() or (len(found.trace) == 2 and found.trace[0] == found.trace[1])
    Y = found.indicators
    assert (Y >= 0).all()
    np.testing.assert_allclose(Y.T @ (cut.degrees[:, None] * Y), np.eye(K), atol=1e-10)
    assert cut.objective(Y) == pytest.approx(found.trace[-1], abs=1e-9)


@given(seed=st.integers(0, 500), gamma_must=st.sampled_from([2.0, np.inf]))
@settings(max_examples=30, deadline=None)
def test_it_ends_below_its_start_and_below_the_projected_steps(seed, gamma_must):
    cut, labels = problem(seed, gamma_must)
    end = cut.objective(solve(cut, labels).indicators)
    projected = descend_projected(cut, cut.indicators(labels, K), tol=1e-6, max_iter=500)
    assert end <= settled(cut, labels).objective + 1e-9
    assert end <= cut.objective(projected.indicators) + 1e-6


def test_it_ends_no_higher_than_the_multiplicative_updates_in_any_draw(printed_updates):
    for seed in range(4):
        slow = printed_updates(seed)
        fast = solve(slow.cut, slow.labels)
        assert fast.trace[-1] <= slow.objective * (1 + 1e-6)
        assert fast.n_iter < slow.n_iter / 50


def test_too_few_iterations_are_told():
    cut, labels = problem(4)
    state = settled(cut, np.roll(labels, 1))
    _, trace, converged = exchange(cut, state, tol=1e-9, max_iter=100)
    assert converged
    assert len(trace) > 2
    _, short, converged = exchange(cut, state, tol=1e-9, max_iter=1)
    assert not converged
    assert short == trace[:2]


def test_it_counts_no_more_iterations_than_it_may_have():
    ends = []
    for seed in range(10):
        cut, labels = problem(seed)
        ends.append(solve(cut, np.roll(labels, 1), tol=1e-9, max_iter=1))
    assert max(end.n_iter for end in ends) == 1
    assert not any(end.converged for end in ends)


# What it ends in


def least_rates(G):
    """λ_min of Ḡ within every set of nodes, by the bits of its number."""
    n = len(G)
    sets = (np.arange(2**n)[:, None] >> np.arange(n)) & 1 == 1
    return sets, np.array([np.linalg.eigvalsh(G[np.ix_(s, s)])[0] if s.any() else np.inf for s in sets])


def brute_force(rates, n, k):
    """Σ λ_min of every partition into k sets, by labels."""
    labels = np.array(np.unravel_index(np.arange(k**n), (k,) * n)).T
    bits = 1 << np.arange(n)
    return labels, sum(rates[(labels == j) @ bits] for j in range(k))


@given(seed=st.integers(0, 2000), k=st.sampled_from([2, 3]), gamma_must=st.sampled_from([0.3, np.inf]))
@settings(max_examples=40, deadline=None)
def test_on_small_graphs_no_single_move_lowers_it(seed, k, gamma_must):
    rng = np.random.default_rng(seed)
    n = 8
    weights = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.7), 1) + np.diag(np.full(n - 1, 0.1), 1)
    known = Constraints.from_pairs(n, must_link=[(0, 4)])
    cut = PenalizedCut(DenseGraph(weights + weights.T), known, gamma_must, 0.0)
    start = cut.indicators(np.arange(cut.n_nodes) % k, k)
    found = descend_by_exchange(cut, start, tol=1e-9, max_iter=500)
    labels, rates = found.soft.argmax(axis=1), least_rates(dense(cut))[1]
    every, values = brute_force(rates, cut.n_nodes, k)
    here = values[(every == labels).all(axis=1)][0]
    assert found.trace[-1] == pytest.approx(here, rel=1e-5)
    neighbours = np.sum(every != labels, axis=1) == 1
    assert values[neighbours].min() >= here * (1 - 1e-5)
    assert values.min() <= here * (1 + 1e-9)


@pytest.mark.parametrize("gamma_must", [2.0, np.inf])
@pytest.mark.parametrize("seed", range(4))
def test_the_conditions_of_kkt_hold(seed, gamma_must):
    """GY - DYΛ >= 0, and zero where Y > 0, for a symmetric Λ: the multipliers of YᵀDY = I."""
    cut, labels = problem(seed, gamma_must, gamma_cannot=20.0)
    Y = solve(cut, labels, tol=1e-10).indicators
    slope = cut.apply(Y)
    own = Y.argmax(axis=1)
    inside = Y.max(axis=1) > 0
    # Orthogonality may be apply_penalties as high as need be: Λ_aj is at most the least (GY)_ij / (d_i Y_ia).
    Lambda = np.zeros((K, K))
    for a in range(K):
        here = (own == a) & inside
        Lambda[a] = np.min(slope[here] / (cut.degrees * Y[:, a])[here, None], axis=0)
    Lambda = np.minimum(Lambda, Lambda.T)
    np.fill_diagonal(Lambda, np.sum(Y * slope, axis=0))
    left = slope - cut.degrees[:, None] * (Y @ Lambda)
    unit = np.abs(slope).max()
    assert np.abs(left[Y > 0]).max() < 1e-3 * unit
    assert left.min() > -1e-3 * unit


def test_a_zero_row_costs_nothing_only_where_nothing_pulls():
    """A node held apart from its cluster costs too much in it, and joins the next that has a use for it."""
    weights = np.kron(np.eye(2), np.ones((4, 4))) + 0.05
    np.fill_diagonal(weights, 0.0)
    known = Constraints.from_pairs(8, cannot_link=[(0, 1), (0, 2), (0, 3)])
    cut = PenalizedCut(DenseGraph(weights), known, np.inf, 100.0)
    state = best_indicators(cut, np.repeat([0, 1], 4), np.sqrt(cut.degrees), 2, 1e-10)
    assert state.entries[0] == 0.0
    end, trace, converged = exchange(cut, state, tol=1e-8, max_iter=50)
    assert converged
    assert end.labels[0] == 1
    assert end.entries[0] > 0
    assert trace[-1] < trace[0]


def test_sparse_dense_and_applied_agree():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(25, 2)), rng.normal(size=(25, 2)) + 2.5])
    known = Constraints.from_labels(np.where(np.arange(50) % 5 == 0, np.arange(50) // 25, -1))
    lazy = GaussianGraph(X, 1.0)
    start = np.eye(2)[np.where(rng.random(50) < 0.2, rng.integers(0, 2, 50), np.arange(50) // 25)]
    ends = []
    for graph in (lazy, DenseGraph(lazy.toarray())):
        cut = PenalizedCut(graph, known, np.inf, 1.0)
        ends.append(descend_by_exchange(cut, cut.on_nodes(start), tol=1e-8, max_iter=100))
    np.testing.assert_array_equal(ends[0].soft.argmax(axis=1), ends[1].soft.argmax(axis=1))
    assert ends[0].trace[-1] == pytest.approx(ends[1].trace[-1], rel=1e-6)


def test_never_above_the_projected_steps():
    """Random graphs and links, contradictory ones too; 20 of 705 ended above, by up to a tenth."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(8, 25))
        weights = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.3), 1)
        weights[np.arange(n - 1), np.arange(1, n)] += 0.1
        pairs = rng.permutation([(i, j) for i in range(n) for j in range(i)])[:8]
        known = Constraints.from_pairs(n, must_link=pairs[:3], cannot_link=pairs[3:], on_conflict="weigh")
        cut = PenalizedCut(
            as_graph(weights + weights.T), known, gamma_must=2.0, gamma_cannot=rng.uniform(0.1, 3)
        )
        start = cut.indicators(rng.integers(0, 3, n), 3)
        settings = {"tol": 1e-4, "max_iter": 500}
        moved, projected = (
            descend_by_exchange(cut, start, **settings),
            descend_projected(cut, start, **settings),
        )
        if moved.indicators.any(axis=0).sum() == projected.indicators.any(axis=0).sum():
            assert cut.objective(moved.indicators) <= cut.objective(projected.indicators) * (1 + 1e-9)
