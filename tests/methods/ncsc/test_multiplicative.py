"""Eq. 11: its parts, its auxiliary function (Theorem 1 as corrected), its fixed points, its guards."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecut import NCSC, Constraints
from sidecut.graphs import DenseGraph, GaussianGraph, SparseGraph
from sidecut.methods.ncsc import PenalizedCut
from sidecut.methods.ncsc.descents import (
    SignedParts,
    descend_multiplicatively,
    largest_eigenvalue,
    multiplicative_step,
)

N, K = 12, 3
RNG = np.random.RandomState


def problem(seed, form="dense"):
    """A small problem with links of both kinds, some of them on edges, and a positive Y."""
    rng = np.random.default_rng(seed)
    lazy = GaussianGraph(rng.normal(size=(N, 2)), 1.0)
    half = np.triu(rng.normal(size=(N, N)) * (rng.random((N, N)) < 0.3), k=1)
    known = Constraints.from_matrix(half + half.T)
    graph = {"dense": DenseGraph, "sparse": lambda w: SparseGraph(sp.csr_array(w))}.get(form, lambda w: lazy)
    cut = PenalizedCut(graph(lazy.toarray()), known, gamma_must=2.0, gamma_cannot=0.5)
    return cut, SignedParts(cut, largest_eigenvalue(cut, RNG(0))), rng.random((N, K)) + 0.05


def dense_H(cut, parts):
    return cut.apply(np.eye(N)) - parts.shift * np.diag(cut.degrees)


def frozen(cut, H, Lambda, Y):
    """J(Y) of Theorem 1, with Λ held fixed."""
    return np.trace(Y.T @ H @ Y) + np.trace(Lambda @ Y.T @ (cut.degrees[:, None] * Y))


def auxiliary(cut, H, Lambda, Y, Z):
    """Z(Y, Y') of Theorem 1, with H⁺Y' for the misprinted Y'H⁺ and the fourth term's indices put right."""
    plus, minus = np.maximum(H, 0.0), np.maximum(-H, 0.0)
    up, down = np.maximum(Lambda, 0.0), np.maximum(-Lambda, 0.0)
    D = np.diag(cut.degrees)
    value = np.sum((plus @ Z) * Y**2 / Z) + np.sum((D @ Z @ up) * Y**2 / Z)
    for i in range(K):
        logs = 1.0 + np.log(np.outer(Y[:, i], Y[:, i]) / np.outer(Z[:, i], Z[:, i]))
        value -= np.sum(minus * np.outer(Z[:, i], Z[:, i]) * logs)
        for k in range(K):
            logs = 1.0 + np.log(Y[:, i] * Y[:, k] / (Z[:, i] * Z[:, k]))
            value -= down[i, k] * np.sum(cut.degrees * Z[:, i] * Z[:, k] * logs)
    return value


@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("seed", range(5))
def test_the_parts_are_those_of_the_paper(seed, form):
    cut, parts, Y = problem(seed, form)
    H = dense_H(cut, parts)
    assert parts.shared is not None
    np.testing.assert_allclose(parts.apply(Y).plus, np.maximum(H, 0.0) @ Y, atol=1e-9)
    np.testing.assert_allclose(parts.apply(Y).minus, np.maximum(-H, 0.0) @ Y, rtol=1e-9)


@pytest.mark.parametrize("form", ["dense", "sparse", "lazy"])
def test_the_parts_add_up_in_any_form(form):
    cut, parts, Y = problem(3, form)
    at = parts.apply(Y)
    np.testing.assert_allclose(at.plus - at.minus, dense_H(cut, parts) @ Y, atol=1e-9)
    assert at.objective == pytest.approx(cut.objective(Y), rel=1e-12)
    columns = parts.apply(np.eye(N))
    assert (columns.plus >= 0).all()
    assert (columns.minus >= 0).all()


def test_sigma_makes_h_negative_and_is_no_larger_than_needed():
    for n in (12, 150):
        rng = np.random.default_rng(0)
        graph = GaussianGraph(rng.normal(size=(n, 2)), 1.0)
        cut = PenalizedCut(graph, Constraints.from_labels(rng.integers(-1, 2, n)), 2.0, 0.5)
        top = np.linalg.eigvalsh(cut.apply(np.eye(n)))[-1]
        assert top * (1 - 1e-9) <= largest_eigenvalue(cut, RNG(0)) <= top * 1.001


@given(seed=st.integers(0, 300), runs=st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_a_step_lowers_the_objective_with_the_multiplier_frozen(seed, runs):
    """Theorem 2, as far as it holds: Λ is that of the step."""
    cut, parts, Y = problem(seed)
    for _ in range(runs):
        Y = multiplicative_step(parts, parts.apply(Y))
    H, Lambda = dense_H(cut, parts), parts.apply(Y).multiplier
    np.testing.assert_allclose(Lambda, -Y.T @ H @ Y, rtol=1e-8, atol=1e-8)
    before, after = (frozen(cut, H, Lambda, y) for y in (Y, multiplicative_step(parts, parts.apply(Y))))
    assert after <= before + 1e-11 * abs(before)


@given(seed=st.integers(0, 300))
@settings(max_examples=40, deadline=None)
def test_the_auxiliary_function_of_theorem_1(seed):
    cut, parts, Y = problem(seed)
    H, Lambda = dense_H(cut, parts), parts.apply(Y).multiplier
    scale = abs(frozen(cut, H, Lambda, Y)) + np.sum(np.abs(H))
    assert auxiliary(cut, H, Lambda, Y, Y) == pytest.approx(frozen(cut, H, Lambda, Y), abs=1e-9 * scale)
    rng = np.random.default_rng(seed)
    for _ in range(5):
        other = Y * np.exp(rng.normal(size=Y.shape))
        assert auxiliary(cut, H, Lambda, other, Y) >= frozen(cut, H, Lambda, other) - 1e-9 * scale
    least = multiplicative_step(parts, parts.apply(Y))
    lowest = auxiliary(cut, H, Lambda, least, Y)
    for _ in range(5):
        assert auxiliary(cut, H, Lambda, least * np.exp(0.1 * rng.normal(size=Y.shape)), Y) >= lowest


def two_clouds(n=40, gamma_must=0.0):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(n // 2, 2)), rng.normal(size=(n // 2, 2)) + 3.0])
    known = Constraints.from_pairs(n, must_link=[(0, 1)], cannot_link=[(0, n - 1)])
    return PenalizedCut(DenseGraph(GaussianGraph(X, 1.0).toarray()), known, gamma_must, 1.0)


def start_for(cut):
    labels = np.repeat([0, 1], cut.n_nodes // 2)
    Y = cut.indicators(labels, 2)
    return Y + 0.2 * Y.max()


def test_where_it_settles_the_conditions_of_kkt_hold():
    """Eq. 10: (HY + DYΛ) Y = 0 entry by entry, and HY + DYΛ >= 0 where Y = 0."""
    cut = two_clouds()
    found = descend_multiplicatively(cut, start_for(cut), tol=1e-9, max_iter=60_000, rng=RNG(0))
    assert found.converged
    Y, parts = found.indicators, SignedParts(cut, largest_eigenvalue(cut, RNG(0)))
    slope = (
        parts.apply(Y).plus - parts.apply(Y).minus + cut.degrees[:, None] * (Y @ parts.apply(Y).multiplier)
    )
    scale = np.abs(parts.apply(Y).minus).max()
    assert np.abs(slope * Y).max() < 1e-6 * scale * Y.max()
    vanished = Y.max() * 1e-9
    assert slope[vanished > Y].min(initial=0.0) > -1e-6 * scale
    fixed = multiplicative_step(parts, parts.apply(Y))
    np.testing.assert_allclose(fixed, Y, atol=1e-7 * Y.max())


def test_nothing_becomes_nan():
    """Underflow made 0 / 0 of the raw formula."""
    cut = two_clouds()
    Y = start_for(cut)
    Y[:5] = 1e-200
    Y[5:8] = 0.0
    parts = SignedParts(cut, largest_eigenvalue(cut, RNG(0)))
    with np.errstate(all="raise", under="ignore"):
        for _ in range(50):
            Y = multiplicative_step(parts, parts.apply(Y))
    assert np.isfinite(Y).all()
    assert (Y[5:8] == 0.0).all()
    assert (Y[:5].max(axis=1) > 1e-3).sum() >= 4


def test_at_the_price_of_the_paper_it_does_not_move():
    """γ_m = 1e4: one update is d_min/σ of the way, and the stopping rule knows it."""
    cut = two_clouds(gamma_must=1e4)
    start = start_for(cut)
    found = descend_multiplicatively(cut, start, tol=1e-4, max_iter=200, rng=RNG(0))
    assert not found.converged
    assert found.step_scale < 1e-3
    assert np.abs(found.indicators - start).max() < 0.3 * start.max()
    np.testing.assert_array_equal(found.indicators.argmax(axis=1), start.argmax(axis=1))


def test_nodes_with_nothing_but_loops_stay_where_they_are():
    everything_joined = Constraints.from_labels(np.zeros(20, dtype=int))
    cut = PenalizedCut(DenseGraph(np.ones((20, 20))), everything_joined, np.inf)
    start = cut.indicators(np.zeros(1, dtype=int), 2)
    found = descend_multiplicatively(cut, start, tol=1e-4, max_iter=10, rng=np.random.RandomState(0))
    assert found.converged
    np.testing.assert_allclose(found.indicators, start)


def test_linked_points_that_share_no_edge():
    path = np.diag([1.0, 1.0, 1.0], 1)
    known = Constraints.from_pairs(4, must_link=[(0, 3)])
    model = NCSC(2, solver="multiplicative", gamma_must=1.0, affinity="precomputed", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = model.fit(path + path.T, constraints=known).labels_
    assert set(labels) == {0, 1}
