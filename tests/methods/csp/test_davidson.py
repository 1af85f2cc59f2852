"""The iteration for feasible cuts, and the solves inside it."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecut.exceptions import SpectralError
from sidecut.graphs import Neighbors
from sidecut.methods.csp import pencil as davidson
from sidecut.methods.csp.pencil import ConstrainedPencil, feasible_pairs, largest_of_pencil
from sidecut.spectral.laplacian import LaplacianProblem


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(1, 12))
def test_the_largest_of_a_pencil(seed, size, count):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(size, size))
    A = A + A.T
    factor = rng.normal(size=(size, size))
    B = factor @ factor.T + np.eye(size)
    values, vectors = largest_of_pencil(A, B, count)
    np.testing.assert_allclose(values, scipy.linalg.eigh(A, B, eigvals_only=True)[::-1][:count], atol=1e-9)
    np.testing.assert_allclose(A @ vectors, B @ vectors * values, atol=1e-8)
    np.testing.assert_allclose(vectors.T @ B @ vectors, np.eye(values.size), atol=1e-8)


@pytest.fixture
def pencil():
    """A graph of 400 points, beliefs of rank 6 on 12 of them."""
    rng = np.random.default_rng(0)
    problem = LaplacianProblem(Neighbors(8).build(rng.normal(size=(400, 2))))
    factor = np.zeros((400, 6))
    points = rng.choice(400, 12, replace=False)
    factor[points] = rng.normal(size=(12, 6))
    return lambda: ConstrainedPencil(problem, lambda x: factor @ (factor.T @ x), 0.1, problem.null), factor


def count_of(pencil, factor):
    """How many μ are positive, by dense algebra on the complement of the null space."""
    basis = scipy.linalg.null_space(pencil.problem.null.toarray().T)
    whole = basis.T @ pencil.apply_B(basis)
    coupling = pencil.null_image.T @ basis
    schur = whole - coupling.T @ np.linalg.solve(pencil.null_form, coupling)
    return np.count_nonzero(np.linalg.eigvalsh(schur) > 0)


def test_the_iteration_finds_what_dense_algebra_finds(pencil, monkeypatch):
    make, factor = pencil
    count = count_of(make(), factor)
    exact = feasible_pairs(make(), factor, count)
    monkeypatch.setattr(davidson, "DENSE_NODES", 0)
    found = feasible_pairs(make(), factor, count, 1e-9)
    assert (exact.solver, found.solver) == ("dense (LAPACK)", "Davidson iteration")
    np.testing.assert_allclose(found.mu, exact.mu, rtol=1e-9)
    assert scipy.linalg.subspace_angles(found.vectors, exact.vectors).max() < 1e-6
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=0), 1)
    assert found.residuals.max() < 1e-9


def test_restarts_lose_nothing(pencil, monkeypatch):
    make, factor = pencil
    count = count_of(make(), factor)
    exact = feasible_pairs(make(), factor, count)
    monkeypatch.setattr(davidson, "DENSE_NODES", 0)
    monkeypatch.setattr(davidson, "SPARE_COLUMNS", 0)
    found = feasible_pairs(make(), factor, count, 1e-8)
    np.testing.assert_allclose(found.mu, exact.mu, rtol=1e-8)


def test_too_few_rounds_are_an_error_and_not_an_answer(pencil, monkeypatch):
    make, factor = pencil
    monkeypatch.setattr(davidson, "DENSE_NODES", 0)
    monkeypatch.setattr(davidson, "MAX_ROUNDS", 1)
    with pytest.raises(SpectralError, match=r"did not converge in 1 rounds.*Raise tol"):
        feasible_pairs(make(), factor, count_of(make(), factor), 1e-9)


def test_a_count_that_is_too_large_is_an_error_and_not_an_answer(pencil, monkeypatch):
    make, factor = pencil
    monkeypatch.setattr(davidson, "DENSE_NODES", 0)
    with pytest.raises(SpectralError, match="only"):
        feasible_pairs(make(), factor, count_of(make(), factor) + 1, 1e-6)


def test_a_form_that_is_singular_in_floating_point_is_explained():
    with pytest.raises(SpectralError, match="orders of magnitude"):
        largest_of_pencil(np.eye(2), np.diag([1.0, -1e-17]), 1)
