"""Lanczos iteration on the inverse of the Laplacian, for eigenvalues crowded near zero."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, SuperLU, cg

from sidecut.checks import FloatArray
from sidecut.exceptions import SpectralError
from sidecut.spectral.certificate import (
    MIN_COVERAGE,
    NOT_CERTIFIED,
    PENDING,
    Certificate,
    Eigenpairs,
    RitzPairs,
    bound_complement,
    random_start_certificate,
)
from sidecut.spectral.factorization import (
    UpdatedFactor,
    count_below,
    factorize,
    rough_vector,
    separating_shift,
)
from sidecut.spectral.lanczos import Projection, complete, largest_eigenvectors

if TYPE_CHECKING:
    from sidecut.spectral.laplacian import LaplacianProblem

#: L̄ is shifted by this before it is inverted, so that its null space does no harm.
SHIFT = 1e-8
#: The relative residual of a solve that a certificate accepts: it loosens the bound by as much.
CERTIFICATE_TOLERANCE = 1e-5
#: Conjugate gradients give up after this many steps.
MAX_STEPS = 5_000

Inverse = Callable[[FloatArray], FloatArray]


def solve_factorized(
    problem: LaplacianProblem, wanted: int, guards: int, rng: np.random.RandomState, is_pending: bool = False
) -> Eigenpairs:
    """Return the smallest eigenpairs of L̄ outside its null space by shift-invert.

    Those of a sparse graph are counted by inertia. Where the graph is sparse but for a matrix of low rank,
    the sparse part is factorised, and a random start certifies that none is missed.
    """
    inverse = _invert_by_factors(problem)
    inaccuracy = 0.0 if problem.is_sparse else _solve_error(problem, inverse)

    def certify(found: RitzPairs, rng: np.random.RandomState = rng) -> Certificate:
        if problem.is_sparse:
            return certify_by_inertia(problem, found, wanted)
        return certify_by_inverse(problem, inverse, found, wanted, rng, inaccuracy)

    pairs, solver = _solve(problem, inverse, wanted + guards, rng), "shift-invert (sparse factorisation)"
    if is_pending:
        later = deepcopy(rng)
        # As in `solve_lanczos`.
        if not problem.is_sparse:
            rng.standard_normal(problem.n)
        return Eigenpairs(*pairs, solver, PENDING, partial(certify, pairs, later))
    return _complete(problem, inverse, pairs, certify, solver, rng)


def solve_factorized_roughly(
    problem: LaplacianProblem, wanted: int, guards: int, rng: np.random.RandomState
) -> Eigenpairs:
    """Return eigenvectors for a descent to start from by shift-invert, not certified.

    They are as exact as certified ones, but one may be missing: to exclude that would take another
    factorisation, and guards to find a gap.
    """
    pairs = _solve(problem, _invert_by_factors(problem), wanted, rng)
    return Eigenpairs(*pairs, "shift-invert (sparse factorisation), rough", NOT_CERTIFIED)


def _invert_by_factors(problem: LaplacianProblem) -> Inverse:
    """Return b -> (L̄ + shift)⁻¹ b on the complement of the null space, by a sparse factorisation."""
    if problem.sparse_part is None:
        raise SpectralError("Only sparse graphs can be factorised; this one has no sparse matrix.")
    shifted = sp.csc_array((1.0 + SHIFT) * sp.eye_array(problem.n) - sp.csc_array(problem.sparse_part))
    factor: SuperLU | UpdatedFactor
    try:
        if problem.split is None:
            factor = factorize(shifted)
        else:
            factor = UpdatedFactor(shifted, problem.split.factor, problem.split.core)
    except (RuntimeError, MemoryError) as error:
        raise SpectralError(f"The sparse factorisation failed: {error}.") from error
    return lambda right: problem.project(factor.solve(problem.project(right)))


def solve_iterated(
    problem: LaplacianProblem, wanted: int, guards: int, rng: np.random.RandomState
) -> Eigenpairs:
    """Return the smallest eigenpairs of L̄ by Lanczos on its inverse, applied by conjugate gradients."""
    solve = LaplacianInverse(problem, SHIFT)

    def certify(found: RitzPairs) -> Certificate:
        tolerance = CERTIFICATE_TOLERANCE
        return certify_by_inverse(problem, lambda b: solve(b, tolerance), found, wanted, rng, tolerance)

    def inverse(right: FloatArray) -> FloatArray:
        return solve(right, 1e-10)

    pairs = _solve(problem, inverse, wanted + guards, rng)
    return _complete(problem, inverse, pairs, certify, f"shift-invert ({solve.acceleration})", rng)


def certify_by_inertia(problem: LaplacianProblem, pairs: RitzPairs, wanted: int) -> Certificate:
    """Count the eigenvalues of L̄ below a shift in a gap of those found, and compare with what was found.

    Orthonormal vectors with residuals R have as many eigenvalues within ‖R‖ of their Ritz values (Kahan), so
    where the gap is wider than that, equal counts mean that all were found.
    """
    error = float(np.linalg.norm(pairs.residuals))
    below, shift = separating_shift(pairs.values, wanted, error=error, bottom=0.0)
    counted = count_below(problem.laplacian, shift)
    expected = below + problem.n_null
    if counted != expected:
        detail = f"L̄ has {counted} eigenvalues below {shift:.3g}, but {expected} were found."
        if counted is None:
            detail = f"The factorisation at {shift:.3g} was not accurate enough to count eigenvalues."
        return Certificate("inertia", 0.0, 1.0, False, detail)
    detail = (
        f"L̄ has exactly {counted} eigenvalues below {shift:.3g} (Sylvester's inertia), all of them found."
    )
    if below < wanted:
        detail += (
            f" Eigenvalues {expected + 1} to {wanted + problem.n_null} coincide with others: the vectors of "
            "any of them have as good a claim."
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
    """Bound what may hide near zero: a missed eigenvalue λ of L̄ is 1/(λ + shift) of the inverse."""
    last = float(pairs.values[wanted - 1])
    # With M the inverse, P the projection and R the residuals, P M V = -P M R / (Θ + shift): the residuals of
    # M are at most ‖P M P‖ times this, and the question is whether ‖P M P‖ exceeds 1/(last + shift).
    relative = float(np.linalg.norm(pairs.residuals / (pairs.values + SHIFT))) + 10.0 * tolerance
    bound = bound_complement(
        inverse,
        problem.without(pairs.vectors),
        rng.standard_normal(problem.n),
        threshold=1.0 / (last + SHIFT),
        acceptable=1.0 / (MIN_COVERAGE * last + SHIFT),
        max_steps=min(150, problem.n),
        residual=relative / (MIN_COVERAGE * last + SHIFT),
    )
    # The eigenvalues of L̄ that belong to those of its inverse.
    below, seen = (1.0 / value - SHIFT if value > 0 else np.inf for value in (bound.upper, bound.lower))
    return random_start_certificate(bound, below, seen, last)


def _solve_error(problem: LaplacianProblem, inverse: Inverse) -> float:
    """Return the relative residual of one solve, on a rough right-hand side."""
    rough = problem.project(rough_vector(problem.n))
    solved = inverse(rough)
    left = problem.apply_laplacian(solved) + SHIFT * solved - rough
    error = float(np.linalg.norm(left) / np.linalg.norm(rough))
    if not error <= CERTIFICATE_TOLERANCE:
        raise SpectralError(f"The factors solve only to a residual of {error:.1g}.")
    return error


def _solve(problem: LaplacianProblem, inverse: Inverse, count: int, rng: np.random.RandomState) -> RitzPairs:
    """Return the pairs of the largest eigenvalues of the inverse."""
    return problem.refine(_krylov_eigenvectors(problem, inverse, count, rng))


def _complete(
    problem: LaplacianProblem,
    inverse: Inverse,
    pairs: RitzPairs,
    certify: Callable[[RitzPairs], Certificate],
    solver: str,
    rng: np.random.RandomState,
) -> Eigenpairs:
    """Certify; where eigenvectors were missed, look for up to three more."""

    def find(clear: Projection, count: int) -> FloatArray:
        return _krylov_eigenvectors(problem, lambda right: clear(inverse(clear(right))), count, rng)

    pairs, certificate = complete(problem, pairs, certify, find, 3)
    return Eigenpairs(*pairs, solver, certificate)


def _krylov_eigenvectors(
    problem: LaplacianProblem, inverse: Inverse, count: int, rng: np.random.RandomState
) -> FloatArray:
    operator = LinearOperator((problem.n, problem.n), matvec=inverse, dtype=np.float64)
    start = problem.project(rng.standard_normal(problem.n))
    return largest_eigenvectors(operator, count, start, rng, tolerance=1e-9)


def multigrid_preconditioner(matrix: sp.csr_array, near_null: FloatArray) -> LinearOperator:
    """Return an algebraic multigrid cycle for a symmetric positive (semi)definite matrix."""
    # Imported here: it takes as long as the rest of the library together, and few graphs need it.
    from pyamg import smoothed_aggregation_solver

    # "local" weighting needs no estimate of a spectral radius, so nothing here draws random numbers.
    hierarchy = smoothed_aggregation_solver(
        sp.csr_matrix(matrix),
        B=np.asarray(near_null, dtype=np.float64).reshape(-1, 1),
        smooth=("jacobi", {"omega": 4.0 / 3.0, "weighting": "local"}),
        max_coarse=300,
    )
    return hierarchy.aspreconditioner(cycle="V")


class LaplacianInverse:
    """The map b -> (L̄ + shift I)⁻¹ b on the complement of the null space."""

    def __init__(self, problem: LaplacianProblem, shift: float) -> None:
        self.problem = problem
        self.system = LinearOperator(
            (problem.n, problem.n), matvec=lambda v: problem.apply_laplacian(v) + shift * v, dtype=np.float64
        )
        self.preconditioner: LinearOperator | None = None
        self.acceleration = "conjugate gradients"
        # A multigrid cycle costs about 15 products. Conjugate gradients alone need few steps on expanders.
        rough = problem.project(rough_vector(problem.n))
        if problem.is_sparse and cg(self.system, rough, rtol=1e-5, maxiter=200)[1] != 0:
            self.acceleration = "multigrid"
            shifted = sp.csr_array(problem.laplacian + shift * sp.eye_array(problem.n))
            degrees = problem.graph.degrees
            # Only the direction matters; scaled so that no square overflows.
            near_null = np.sqrt(np.where(degrees > 0, degrees / degrees.max(), 1.0))
            self.preconditioner = multigrid_preconditioner(shifted, near_null)

    def __call__(self, right: FloatArray, tolerance: float) -> FloatArray:
        """Solve to a residual of `tolerance` relative to the right-hand side."""
        right = self.problem.project(right)
        solution, status = cg(self.system, right, rtol=tolerance, maxiter=MAX_STEPS, M=self.preconditioner)
        if status != 0:
            raise SpectralError(f"Conjugate gradients did not converge in {MAX_STEPS} steps.")
        return self.problem.project(solution)
