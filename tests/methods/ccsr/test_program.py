"""The semidefinite programme: its vectors, its optimality, an independent way to its minimum."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecut.exceptions import SolverError, SolverWarning
from sidecut.methods import ccsr as ccsr_programme
from sidecut.methods.ccsr import (
    KernelProgramme,
    nearest_semidefinite,
    smat,
    svec,
    upper_triangle,
)


def random_symmetric(rng, size):
    matrix = rng.normal(size=(size, size))
    return matrix + matrix.T


def sum_of_squares(matrices, targets):
    """Σ (⟨A, M⟩ - t)² as a programme."""
    rows = np.array([svec(matrix) for matrix in matrices])
    return KernelProgramme(rows.T @ rows, rows.T @ targets, float(targets @ targets))


def random_programme(rng, size, n_squares=None):
    n_squares = n_squares or size * (size + 1)
    matrices = [random_symmetric(rng, size) for _ in range(n_squares)]
    return sum_of_squares(matrices, rng.normal(size=n_squares))


def by_projected_gradient(programme, n_steps=20_000):
    """Another way to the minimum: steps against the gradient, negative eigenvalues clipped (FISTA)."""
    step = 0.5 / np.linalg.eigvalsh(programme.hessian)[-1]
    matrix = ahead = np.zeros((programme.size, programme.size))
    momentum = 1.0
    for _ in range(n_steps):
        values, vectors = np.linalg.eigh(ahead - step * programme.gradient(ahead))
        new = (vectors * np.clip(values, 0, None)) @ vectors.T
        next_momentum = 0.5 * (1 + np.sqrt(1 + 4 * momentum**2))
        ahead = new + (momentum - 1) / next_momentum * (new - matrix)
        matrix, momentum = new, next_momentum
    return matrix


sizes = st.integers(1, 5)
seeds = st.integers(0, 1000)


@given(size=sizes, seed=seeds)
def test_svec_is_an_isometry_with_inverse_smat(size, seed):
    rng = np.random.default_rng(seed)
    one, other = random_symmetric(rng, size), random_symmetric(rng, size)
    np.testing.assert_allclose(svec(one) @ svec(other), np.trace(one @ other), atol=1e-12)
    np.testing.assert_allclose(smat(svec(one)), one, atol=1e-15)


def test_the_triangle_goes_column_by_column():
    assert list(zip(*upper_triangle(3), strict=True)) == [(0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)]


@given(size=sizes, seed=seeds)
@settings(deadline=None)
def test_objective_and_gradient_are_those_of_the_squares(size, seed):
    rng = np.random.default_rng(seed)
    matrices = [random_symmetric(rng, size) for _ in range(4)]
    targets = rng.normal(size=4)
    programme = sum_of_squares(matrices, targets)
    point, direction = random_symmetric(rng, size), random_symmetric(rng, size)
    misses = np.array([np.trace(A @ point) for A in matrices]) - targets
    assert programme.objective(point) == pytest.approx(misses @ misses)
    # The objective is quadratic, so a central difference is exact.
    slope = (programme.objective(point + direction) - programme.objective(point - direction)) / 2
    assert np.trace(programme.gradient(point) @ direction) == pytest.approx(slope, abs=1e-8)


def test_programmes_add_and_scale():
    rng = np.random.default_rng(0)
    one, other = random_programme(rng, 3), random_programme(rng, 3)
    point = random_symmetric(rng, 3)
    expected = 2 * one.objective(point) + 3 * other.objective(point)
    assert (one.scaled(2) + other.scaled(3)).objective(point) == pytest.approx(expected)


def test_the_ridge_is_one_more_square():
    rng = np.random.default_rng(1)
    programme, target, point = random_programme(rng, 3), random_symmetric(rng, 3), random_symmetric(rng, 3)
    added = programme.with_ridge(0.7, target).objective(point) - programme.objective(point)
    curvature = np.trace(programme.hessian) / 6
    assert added == pytest.approx(0.7 * curvature * np.linalg.norm(point - target) ** 2)


@given(size=sizes, seed=seeds)
@settings(max_examples=40, deadline=None)
def test_the_solution_satisfies_the_conditions_of_the_minimum(size, seed):
    """M ⪰ 0, ∇J ⪰ 0 and ⟨M, ∇J⟩ = 0 are necessary and, the programme being convex, sufficient."""
    programme = random_programme(np.random.default_rng(seed), size)
    solution = programme.solve()
    gradient = programme.gradient(solution.matrix)
    scale = 1 + np.abs(gradient).max() + np.abs(solution.matrix).max()
    assert np.linalg.eigvalsh(solution.matrix)[0] >= -1e-12
    assert np.linalg.eigvalsh(gradient)[0] >= -1e-5 * scale
    assert abs(np.trace(gradient @ solution.matrix)) <= 1e-5 * scale
    assert solution.stationarity == programme.stationarity(solution.matrix) <= 1e-5 * scale
    assert solution.objective == programme.objective(solution.matrix)


@pytest.mark.parametrize("seed", range(4))
def test_projected_gradient_finds_the_same(seed):
    programme = random_programme(np.random.default_rng(seed), 4)
    solution = programme.solve()
    other = by_projected_gradient(programme)
    np.testing.assert_allclose(solution.matrix, other, atol=1e-5)
    assert solution.objective <= programme.objective(other) + 1e-8
    # The edge of the cone is where the two could differ.
    assert np.linalg.eigvalsh(solution.matrix)[0] < 1e-6


def test_inside_the_cone_it_is_least_squares():
    rng = np.random.default_rng(3)
    inside = np.eye(3) + 0.1 * random_symmetric(rng, 3)
    matrices = [random_symmetric(rng, 3) for _ in range(9)]
    programme = sum_of_squares(matrices, np.array([np.trace(A @ inside) for A in matrices]))
    np.testing.assert_allclose(programme.solve().matrix, inside, atol=1e-6)


def test_stationarity_is_zero_at_the_minimum_only():
    """(M - I)² has its minimum at I."""
    programme = KernelProgramme(np.eye(3), svec(np.eye(2)), 2.0)
    assert programme.stationarity(np.eye(2)) == pytest.approx(0.0, abs=1e-15)
    assert programme.stationarity(2 * np.eye(2)) > 1


def test_nearest_semidefinite_matrix():
    np.testing.assert_allclose(nearest_semidefinite(np.diag([2.0, -1.0])), np.diag([2.0, 0.0]))


def test_a_solver_that_gives_up_is_an_error():
    hopeless = KernelProgramme(np.zeros((1, 1)), np.array([1.0]), 0.0)  # -2 M has no minimum
    with pytest.raises(SolverError, match=r"a matrix of 1 rows ended as \w+ after \d+ steps; use fewer"):
        hopeless.solve()


def test_an_inexact_answer_is_a_warning():
    programme = random_programme(np.random.default_rng(0), 2)
    with pytest.warns(SolverWarning, match="projected gradient of .*: its answer may be inexact"):
        programme._checked(np.ones(3), "AlmostSolved", 1)


@pytest.mark.parametrize("ridge", [0.5, 0.01])
def test_gradients_and_the_interior_point_agree(monkeypatch, ridge):
    """Two ways to one minimum, on the edge of the cone: some eigenvalues of M are zero."""
    rng = np.random.default_rng(3)
    squares = rng.normal(size=(30, 21))
    programme = KernelProgramme(squares.T @ squares / 30, rng.normal(size=21), 1.0).with_ridge(
        ridge, np.eye(6)
    )
    exact = programme.solve()
    monkeypatch.setattr(ccsr_programme, "MAX_INTERIOR_POINT_ROWS", 0)
    steps = programme.solve()
    assert steps.status == "Solved"
    assert np.linalg.eigvalsh(steps.matrix)[0] < 1e-6 < np.linalg.eigvalsh(steps.matrix)[-1]
    assert steps.objective == pytest.approx(exact.objective, abs=1e-7)
    np.testing.assert_allclose(steps.matrix, exact.matrix, atol=1e-3)
    assert steps.stationarity < 1e-8
