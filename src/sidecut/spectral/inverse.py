"""Lanczos iteration on the inverse of the Laplacian: for eigenvalues crowded near zero."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from sidecut.exceptions import SpectralError
from sidecut.spectral.arpack import largest_eigenvectors
from sidecut.spectral.certificate import NEARLY, bound_complement, random_start_certificate
from sidecut.spectral.factorization import count_below, factorized
from sidecut.spectral.inertia import separating_shift
from sidecut.spectral.multigrid import LaplacianInverse
from sidecut.spectral.problem import LaplacianProblem
from sidecut.spectral.result import Certificate, Eigenpairs, FloatArray, RitzPairs, oriented

#: L̄ is shifted by this before it is inverted, so that its null space does no harm.
SHIFT = 1e-8
#: Relative accuracy of the eigenvalues of the inverse.
TOLERANCE = 1e-9
#: Systems are solved to this relative residual where they are not factorised.
SOLVE_TOLERANCE = 1e-10
#: A certificate can live with less: what is left of a system loosens it by as much, relative to itself.
CERTIFICATE_TOLERANCE = 1e-5
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

    Raises
    ------
    SpectralError
        If the problem is not sparse, the factors do not fit, or the iteration does not converge.
    """
    if not problem.is_sparse:
        raise SpectralError("Only sparse graphs can be factorised; this one has no sparse matrix.")
    try:
        factor = factorized(_shifted(problem))
    except (RuntimeError, MemoryError) as error:
        raise SpectralError(f"The sparse factorisation failed: {error}.") from error
    pairs = _solve(problem, lambda b: problem.project(factor.solve(problem.project(b))), wanted + guards, rng)
    certificate = certify_by_inertia(problem, pairs, wanted)
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
    inverse = LaplacianInverse(problem, SHIFT)
    pairs = _solve(problem, lambda b: inverse(b, SOLVE_TOLERANCE), wanted + guards, rng)
    certificate = certify_by_inverse(
        problem, lambda b: inverse(b, CERTIFICATE_TOLERANCE), pairs, wanted, rng, CERTIFICATE_TOLERANCE
    )
    return _packed(pairs, f"shift-invert ({inverse.preconditioning})", certificate)


def certify_by_inertia(problem: LaplacianProblem, pairs: RitzPairs, wanted: int) -> Certificate:
    """Count the eigenvalues of L̄ below a shift in a gap of those found, and compare with what was found.

    Orthonormal vectors with residuals R have as many eigenvalues within ‖R‖ of their Ritz values (Kahan), so
    where the gap is wider than that, equal counts mean that all were found.

    Parameters
    ----------
    problem : LaplacianProblem
        A sparse problem.
    pairs : RitzPairs
        What was found outside the null space, values ascending.
    wanted : int
        How many of the pairs the certificate must cover.
    """
    error = float(np.linalg.norm(pairs.residuals))
    below, shift = separating_shift(pairs.values, wanted, error=error, bottom=0.0)
    counted = count_below(problem.laplacian, shift)
    expected = below + problem.n_null
    if counted is None:
        detail = f"The factorisation at {shift:.3g} was not accurate enough to count eigenvalues."
        return Certificate("inertia", 0.0, 1.0, False, detail)
    if counted != expected:
        detail = f"L̄ has {counted} eigenvalues below {shift:.3g}, but {expected} were found."
        return Certificate("inertia", 0.0, 1.0, False, detail)
    detail = (
        f"L̄ has exactly {counted} eigenvalues below {shift:.3g} (Sylvester's inertia), all of them found."
    )
    if below < wanted:
        detail += (
            f" Eigenvalues {expected + 1} to {wanted + problem.n_null} coincide with others: the graph does "
            "not single them out."
        )
    return Certificate("inertia", shift, 0.0, True, detail)


def certify_by_inverse(
    problem: LaplacianProblem,
    inverse: Inverse,
    pairs: RitzPairs,
    wanted: int,
    rng: np.random.RandomState,
    tolerance: float = 0.0,
) -> Certificate:
    """Bound what may hide near zero: a missed eigenvalue λ of L̄ is 1/(λ + shift) of the inverse.

    Parameters
    ----------
    problem : LaplacianProblem
        The problem.
    inverse : callable
        b -> (L̄ + shift)⁻¹ b on the complement of the null space.
    pairs : RitzPairs
        What was found outside the null space, values ascending.
    wanted : int
        How many of the pairs the certificate must cover.
    rng : RandomState
        The random start.
    tolerance : float, default=0.0
        The relative residual to which `inverse` solves.
    """
    last = float(pairs.values[wanted - 1])
    # With M the inverse, P the projection and R the residuals, P M V = -P M R / (Θ + shift): the residuals of
    # M are at most ‖P M P‖ times this, and the question is whether ‖P M P‖ exceeds 1/(last + shift).
    relative = float(np.linalg.norm(pairs.residuals / (pairs.values + SHIFT))) + 10.0 * tolerance
    bound = bound_complement(
        inverse,
        problem.without(pairs.vectors),
        rng.standard_normal(problem.n),
        threshold=1.0 / (last + SHIFT),
        acceptable=1.0 / (NEARLY * last + SHIFT),
        max_steps=min(CERTIFICATE_BUDGET, problem.n),
        residual=relative / (NEARLY * last + SHIFT),
    )
    return random_start_certificate(bound, _uninverted(bound.upper), _uninverted(bound.lower), last)


def _uninverted(value: float) -> float:
    """Return the eigenvalue of L̄ that belongs to one of its inverse."""
    return 1.0 / value - SHIFT if value > 0 else np.inf


def _shifted(problem: LaplacianProblem) -> sp.csc_array:
    return sp.csc_array(problem.laplacian + SHIFT * sp.eye_array(problem.n))


def _solve(problem: LaplacianProblem, inverse: Inverse, count: int, rng: np.random.RandomState) -> RitzPairs:
    operator = LinearOperator((problem.n, problem.n), matvec=inverse, dtype=np.float64)
    start = problem.project(rng.standard_normal(problem.n))
    return problem.refine(largest_eigenvectors(operator, count, start, rng, tolerance=TOLERANCE))


def _packed(pairs: RitzPairs, solver: str, certificate: Certificate) -> Eigenpairs:
    return Eigenpairs(pairs.values, oriented(pairs.vectors), pairs.residuals, solver, certificate)
