"""Lanczos iteration on the inverse of the Laplacian: for eigenvalues crowded near zero."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh

from sidecut.exceptions import SpectralError
from sidecut.spectral.certificate import bound_complement
from sidecut.spectral.factorization import count_below, factorized
from sidecut.spectral.lanczos import random_start_certificate
from sidecut.spectral.multigrid import inverse_by_gradients
from sidecut.spectral.problem import LaplacianProblem
from sidecut.spectral.result import Certificate, Eigenpairs, FloatArray, oriented

#: L̄ is shifted by this before it is inverted, so that its null space does no harm.
SHIFT = 1e-8
#: Relative accuracy of the eigenvalues of the inverse.
TOLERANCE = 1e-10
#: Solves that may be spent on a certificate from a random start.
CERTIFICATE_BUDGET = 150

Inverse = Callable[[FloatArray], FloatArray]


def solve_factorized(
    problem: LaplacianProblem, wanted: int, guards: int, rng: np.random.RandomState
) -> Eigenpairs:
    """Return the smallest eigenpairs of L̄ outside its null space by shift-invert, counted by inertia.

    Parameters
    ----------
    problem : LaplacianProblem
        A sparse problem whose factors fit in memory.
    wanted, guards : int
        How many pairs are asked for, and how many more to compute so that a gap can be found.
    rng : RandomState
        The starting vector.
    """
    factor = factorized(_shifted(problem))
    pairs = _solve(problem, lambda b: problem.project(factor.solve(problem.project(b))), wanted + guards, rng)
    certificate = certify_by_inertia(problem, pairs[0], wanted)
    return _packed(pairs, "shift-invert (sparse factorisation)", certificate)


def solve_iterated(
    problem: LaplacianProblem, wanted: int, guards: int, rng: np.random.RandomState
) -> Eigenpairs:
    """Return the smallest eigenpairs of L̄ by Lanczos on its inverse, applied by conjugate gradients.

    Parameters
    ----------
    problem : LaplacianProblem
        Any problem; a sparse one gets a multigrid preconditioner.
    wanted, guards : int
        How many pairs are asked for, and how many more to compute.
    rng : RandomState
        Starting vectors.
    """
    inverse = inverse_by_gradients(problem, SHIFT)
    values, vectors, residuals = _solve(problem, inverse, wanted + guards, rng)
    certificate = _certify_by_inverse(problem, inverse, values, vectors, wanted, rng)
    how = "multigrid" if problem.is_sparse else "conjugate gradients"
    return _packed((values, vectors, residuals), f"shift-invert ({how})", certificate)


def certify_by_inertia(problem: LaplacianProblem, values: FloatArray, wanted: int) -> Certificate:
    """Count the eigenvalues of L̄ below a shift in a gap of `values`, and compare with what was found.

    Parameters
    ----------
    problem : LaplacianProblem
        A sparse problem.
    values : array of shape (k,)
        Nonzero eigenvalues found, ascending.
    wanted : int
        How many of them the certificate must cover.
    """
    below, shift = _widest_gap(values, wanted)
    counted = count_below(problem.laplacian, shift)
    expected = below + problem.n_null
    if counted is None:
        return Certificate("inertia", 0.0, 1.0, False, "The factorisation at the shift was not accurate.")
    if counted != expected:
        detail = f"L̄ has {counted} eigenvalues below {shift:.3g}, but {expected} were found."
        return Certificate("inertia", 0.0, 1.0, False, detail)
    detail = (
        f"L̄ has exactly {counted} eigenvalues below {shift:.3g} (Sylvester's inertia), all of them found."
    )
    if below < wanted:
        detail += (
            f" Eigenvalues {below + 1} to {wanted} coincide with others: the graph does not single them out."
        )
    return Certificate("inertia", shift, 0.0, True, detail)


def _widest_gap(values: FloatArray, wanted: int) -> tuple[int, float]:
    """Return how many values lie below the shift, and the shift, in the widest gap past the wanted ones.

    Where the last wanted value is as good as equal to all that follow, the gap before it must do.
    """
    gaps = np.diff(values)
    past = gaps[wanted - 1 :]
    if past.size and past.max() > 1e-6 * values[wanted - 1]:
        below = wanted + int(np.argmax(past))
        return below, float(0.5 * (values[below - 1] + values[below]))
    apart = np.flatnonzero(gaps[: wanted - 1] > 1e-6 * values[wanted - 1])
    below = int(apart[-1]) + 1 if apart.size else 0
    lower = values[below - 1] if below else 0.0
    return below, float(0.5 * (lower + values[below]))


def _certify_by_inverse(
    problem: LaplacianProblem,
    inverse: Inverse,
    values: FloatArray,
    vectors: FloatArray,
    wanted: int,
    rng: np.random.RandomState,
) -> Certificate:
    """Bound what may hide near zero: a missed eigenvalue λ of L̄ is 1/(λ + shift) of the inverse."""

    def project(vector: FloatArray) -> FloatArray:
        vector = problem.project(vector)
        return vector - vectors @ (vectors.T @ vector)

    last = float(values[wanted - 1])
    bound = bound_complement(
        inverse,
        project,
        rng.standard_normal(problem.n),
        threshold=1.0 / (last + SHIFT),
        max_steps=min(CERTIFICATE_BUDGET, problem.n),
    )
    return random_start_certificate(bound, 1.0 / bound.upper - SHIFT, 1.0 / bound.lower - SHIFT, last)


def _shifted(problem: LaplacianProblem) -> FloatArray:
    shifted = problem.laplacian.copy()
    shifted.setdiag(shifted.diagonal() + SHIFT)
    return shifted


def _solve(
    problem: LaplacianProblem, inverse: Inverse, count: int, rng: np.random.RandomState
) -> tuple[FloatArray, FloatArray, FloatArray]:
    operator = LinearOperator((problem.n, problem.n), matvec=inverse, dtype=np.float64)
    start = problem.project(rng.standard_normal(problem.n))
    width = min(problem.n - 1, max(2 * count + 1, count + 20))
    try:
        _, basis = eigsh(operator, count, which="LA", v0=start, ncv=width, tol=TOLERANCE)
    except (ArpackNoConvergence, ArpackError) as error:
        raise SpectralError("Lanczos iteration on the inverse did not converge.") from error
    return problem.refine(basis)


def _packed(
    pairs: tuple[FloatArray, FloatArray, FloatArray], solver: str, certificate: Certificate
) -> Eigenpairs:
    values, vectors, residuals = pairs
    return Eigenpairs(values, oriented(vectors), residuals, solver, certificate)
