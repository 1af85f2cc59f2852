"""Projected steps: they never raise the energy, and end feasible, stationary and below those of eq. 11."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecut import Constraints
from sidecut.graphs import DenseGraph, Gaussian, Neighbors, SparseGraph
from sidecut.methods.ncsc import PenalizedCut
from sidecut.methods.ncsc import descents as projected
from sidecut.methods.ncsc.descents import (
    OverlapEnergy,
    descend,
    descend_projected,
    usual_overlap_price,
)
from sidecut.methods.ncsc.objective import best_indicators

N, K = 40, 3


def problem(seed, gamma_must=2.0, gamma_cannot=1.0):
    """Three clouds that overlap, some labels, and a start that is partly wrong."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, N)
    X = rng.normal(size=(N, 2)) + 2.0 * np.array([[0, 0], [1, 0], [0, 1.0]])[y]
    known = Constraints.from_labels(np.where(rng.random(N) < 0.3, y, -1))
    cut = PenalizedCut(Gaussian(0.7).build(X), known, gamma_must, gamma_cannot)
    wrong = np.where(rng.random(N) < 0.3, rng.integers(0, K, N), y)
    first = np.unique(cut.sets, return_index=True)[1]
    return cut, wrong[first], rng


def dense_energy(cut, V, labels, alpha):
    """E(φ, V) by its definition."""
    V = V / np.linalg.norm(V, axis=0)
    scale = 1.0 / np.sqrt(cut.degrees)
    G = scale[:, None] * cut.apply(np.eye(cut.n_nodes)) * scale
    outside = np.arange(V.shape[1]) != labels[:, None]
    return np.trace(V.T @ G @ V) + alpha * np.sum(np.where(outside, V, 0.0) ** 2)


@pytest.mark.parametrize("gamma_must", [2.0, np.inf])
def test_the_energy_is_its_definition_and_argmax_the_best_assignment(gamma_must):
    cut, _, rng = problem(0, gamma_must)
    V = rng.random((cut.n_nodes, K))
    state = OverlapEnergy(cut, 0.4).at(V)
    assert state.energy == pytest.approx(dense_energy(cut, V, state.labels, 0.4))
    for _ in range(20):
        others = rng.integers(0, K, cut.n_nodes)
        assert dense_energy(cut, V, others, 0.4) >= state.energy - 1e-12


@given(seed=st.integers(0, 500), gamma=st.sampled_from([0.0, 1.0, 100.0]), alpha=st.sampled_from([0.01, 1.0]))
@settings(max_examples=60, deadline=None)
def test_a_safe_step_never_raises_the_energy(seed, gamma, alpha):
    cut, _, rng = problem(seed, gamma_must=gamma, gamma_cannot=gamma)
    energy = OverlapEnergy(cut, alpha)
    state = energy.at(rng.random((cut.n_nodes, K)) * (rng.random((cut.n_nodes, K)) < 0.7))
    after = energy.at(energy.step(state, safe=True))
    assert after.energy <= state.energy * (1 + 1e-12)
    assert (after.V >= 0).all()


@given(seed=st.integers(0, 500), gamma_must=st.sampled_from([0.5, 50.0, np.inf]))
@settings(max_examples=30, deadline=None)
def test_the_trace_never_grows(seed, gamma_must):
    cut, labels, _ = problem(seed, gamma_must, 5.0)
    start = np.sqrt(cut.degrees)[:, None] * cut.indicators(labels, K)
    _, trace, _ = descend(OverlapEnergy(cut, 0.1), start, tol=1e-6, max_iter=300)
    assert (np.diff(trace) <= 0).all()
    assert trace[-1] < trace[0]


@given(seed=st.integers(0, 500), gamma_must=st.sampled_from([2.0, np.inf]))
@settings(max_examples=30, deadline=None)
def test_indicators_are_feasible(seed, gamma_must):
    """YᵀDY = I and Y >= 0, which the multiplicative updates reach only nearly."""
    cut, labels, _ = problem(seed, gamma_must)
    found = descend_projected(cut, cut.indicators(labels, K), tol=1e-5, max_iter=500)
    Y = found.indicators
    assert (Y >= 0).all()
    np.testing.assert_allclose(Y.T @ (cut.degrees[:, None] * Y), np.eye(K), atol=1e-12)
    assert set(found.soft.argmax(axis=1)) == set(labels)


def test_settled_columns_satisfy_the_conditions_of_kkt():
    """With φ fixed, the slope of the Rayleigh quotient vanishes where v > 0, and is no less where v = 0."""
    cut, labels, _ = problem(1)
    energy = OverlapEnergy(cut, 0.2)
    start = np.sqrt(cut.degrees)[:, None] * cut.indicators(labels, K)
    state, _, converged = descend(energy, start, tol=1e-14, max_iter=20_000)
    assert converged
    slope = state.image + 0.2 * np.where(np.arange(K) != state.labels[:, None], state.V, 0.0)
    slope -= np.sum(state.V * slope, axis=0) * state.V
    assert np.abs(slope[state.V > 1e-6]).max() < 1e-4
    assert slope[state.V == 0].min(initial=0.0) > -1e-4


def test_on_large_graphs_it_ends_when_the_clusters_have_settled(monkeypatch):
    cut, labels, _ = problem(1)
    start = np.sqrt(cut.degrees)[:, None] * cut.indicators(labels, K)
    energy = OverlapEnergy(cut, 0.2)
    whole, trace, _ = descend(energy, start, tol=1e-12, max_iter=2_000)
    monkeypatch.setattr(projected, "SETTLING_NODES", 10)
    settled, shorter, converged = descend(energy, start, tol=1e-12, max_iter=2_000)
    assert converged
    assert projected.SETTLING_STEPS < len(shorter) < len(trace)
    # It is the same way, left early.
    assert shorter == trace[: len(shorter)]
    np.testing.assert_array_equal(settled.labels, whole.labels)


def test_nodes_that_still_move_keep_it_going(monkeypatch):
    monkeypatch.setattr(projected, "SETTLING_NODES", 10)
    state = OverlapEnergy(problem(1)[0], 0.2).at(np.random.default_rng(0).random((problem(1)[0].n_nodes, K)))
    still = [0] * projected.SETTLING_STEPS
    assert projected._have_settled(still, state)
    assert projected._have_settled([5, *still], state)
    assert not projected._have_settled([*still[1:], 1], state)
    assert not projected._have_settled(still[1:], state)


def test_it_ends_no_higher_than_the_multiplicative_updates(printed_updates):
    ratios = []
    for seed in range(8):
        slow = printed_updates(seed)
        start = slow.cut.indicators(slow.labels, K)
        fast = descend_projected(slow.cut, start, tol=1e-6, max_iter=3000)
        assert fast.n_iter < slow.n_iter / 5
        ratios.append(slow.cut.objective(fast.indicators) / slow.objective)
    assert np.mean(ratios) <= 1.0 + 1e-4
    assert max(ratios) < 1.03


@pytest.mark.parametrize("gamma_must", [2.0, np.inf])
@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_inside_clusters_lies_the_smallest_eigenvector_of_each(gamma_must, form):
    cut, labels, rng = problem(3, gamma_must, gamma_cannot=0.0)
    if form == "sparse":
        weights = np.where(cut.graph.toarray() > 0.1, cut.graph.toarray(), 0.0)
        labels = np.arange(cut.n_nodes) % 2
        cut = PenalizedCut(SparseGraph(sp.csr_array(weights)), Constraints.none(cut.n_nodes), gamma_must)
    V = best_indicators(cut, labels, rng.random(cut.n_nodes), K, 1e-13, max_steps=5000).block()
    scale = 1.0 / np.sqrt(cut.degrees)
    G = scale[:, None] * cut.apply(np.eye(cut.n_nodes)) * scale
    for j in np.unique(labels):
        inside = labels == j
        least = np.linalg.eigvalsh(G[np.ix_(inside, inside)])[0]
        assert V[:, j] @ G @ V[:, j] == pytest.approx(least, abs=1e-4)
        assert (V[~inside, j] == 0).all()


def test_a_price_too_low_to_keep_every_cluster_is_raised():
    cut, labels, _ = problem(2)
    found = descend_projected(cut, cut.indicators(labels, K), overlap=1e-9, tol=1e-6, max_iter=500)
    assert len(np.unique(found.soft.argmax(axis=1))) == K
    assert found.overlap >= 1e-9


def test_the_usual_price_is_half_the_mean_cut():
    weights = np.kron(np.eye(2), np.ones((3, 3))) + 0.1
    cut = PenalizedCut(DenseGraph(weights), Constraints.none(6))
    ratio = 0.9 / (3 * (3 + 0.6))
    assert usual_overlap_price(cut, np.repeat(np.eye(2), 3, axis=0)) == pytest.approx(0.5 * ratio)


@pytest.mark.parametrize("n_clusters", [1, 2])
@pytest.mark.parametrize("seed", range(5))
def test_no_column_vanishes_where_links_ask_for_more_clusters_than_there_are(n_clusters, seed):
    # A column of zeros has no energy: it would be the best of all if it were allowed.
    rng = np.random.default_rng(seed)
    cut = PenalizedCut(
        Neighbors(10).build(rng.normal(size=(30, 2))),
        Constraints.from_labels(np.arange(30) % 5),
        np.inf,
        50.0,
    )
    start = cut.indicators(np.arange(cut.n_nodes) % n_clusters, n_clusters)
    Y = descend_projected(cut, start, tol=1e-4, max_iter=500).indicators
    assert Y.T @ (cut.degrees[:, None] * Y) == pytest.approx(np.eye(n_clusters), abs=1e-10)
