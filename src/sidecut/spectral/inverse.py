"""Lanczos iteration on the inverse of the Laplacian, for eigenvalues crowded near zero."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, SuperLU, cg

from sidecut.checks import FloatArray
from sidecut.exceptions import SpectralError
from sidecut.spectral.certificate import NEARLY, bound_complement, random_start_certificate
from sidecut.spectral.factorization import UpdatedFactor, count_below, factorize, separating_shift
from sidecut.spectral.lanczos import largest_eigenvectors
from sidecut.spectral.problem import Certificate, Eigenpairs, LaplacianProblem, RitzPairs, column_dots, orient


def solve_shifted(
    apply: Callable[[FloatArray], FloatArray],
    right: FloatArray,
    shifts: Sequence[float],
    tolerance: float,
    max_steps: int,
) -> list[FloatArray]:
    """Solve (A + s I) X = B for several shifts s, A symmetric and positive semi-definite."""
    smallest = shifts[0]
    others = [_Other(shift - smallest, right) for shift in shifts[1:]]
    solution, residual, direction = np.zeros_like(right), right.copy(), right.copy()
    squared = column_dots(right, right)
    goal = tolerance**2 * squared
    for _ in range(max_steps):
        if (squared <= goal).all():
            break
        image = apply(direction)
        image += smallest * direction
        # Columns that are solved, or zero, stay as they are.
        going = squared > goal
        step = np.divide(squared, column_dots(direction, image), out=np.zeros_like(squared), where=going)
        solution += step * direction
        residual -= step * image
        before, squared = squared, column_dots(residual, residual)
        turn = np.divide(squared, before, out=np.zeros_like(squared), where=going)
        direction *= turn
        direction += residual
        for other in others:
            other.follow(step, turn, residual, squared, goal)
    return [solution, *(other.solution for other in others)]


class _Other:
    """A system with a larger shift, which follows the steps of the first."""

    def __init__(self, gap: float, right: FloatArray) -> None:
        self.gap = gap
        self.solution, self.direction = np.zeros_like(right), right.copy()
        ones = np.ones(right.shape[1])
        self._zetas, self._last_step, self._last_turn = (ones, ones), ones, 0.0 * ones
        self._is_solved = False

    def follow(
        self, step: FloatArray, turn: FloatArray, residual: FloatArray, squared: FloatArray, goal: FloatArray
    ) -> None:
        """Take the step that belongs to a step of the first system."""
        if self._is_solved:
            return
        before, now = self._zetas
        spread = self._last_step * before * (1.0 + step * self.gap)
        spread += step * self._last_turn * (before - now)
        following = np.divide(
            now * before * self._last_step, spread, out=np.zeros_like(spread), where=spread > 0
        )
        ratio = np.divide(following, now, out=np.zeros_like(now), where=now > 0)
        self.solution += step * ratio * self.direction
        self.direction *= turn * ratio**2
        self.direction += following * residual
        self._zetas, self._last_step, self._last_turn = (now, following), step, turn
        self._is_solved = bool((following**2 * squared <= goal).all())


#: L̄ is shifted by this before it is inverted, so that its null space does no harm.
SHIFT = 1e-8
#: Relative accuracy of the eigenvalues of the inverse.
TOLERANCE = 1e-9
#: Systems are solved to this relative residual where they are not factorised.
SOLVE_TOLERANCE = 1e-10
#: For a certificate less is enough: the residual of a system loosens the bound by the same relative amount.
CERTIFICATE_TOLERANCE = 1e-5
#: Solves that may be spent on a certificate from a random start.
CERTIFICATE_BUDGET = 150
#: Where eigenvectors were missed, this many more are searched for in the complement, this many times.
REPAIR = 3
MAX_REPAIRS = 3

Inverse = Callable[[FloatArray], FloatArray]


def solve_factorized(
    problem: LaplacianProblem, wanted: int, guards: int, rng: np.random.RandomState
) -> Eigenpairs:
    """Return the smallest eigenpairs of L̄ outside its null space by shift-invert.

    Those of a sparse graph are counted by inertia. Where the graph is sparse but for a matrix of low rank,
    the sparse part is factorised, and a random start certifies that none is missed.
    """
    inverse = _invert_by_factors(problem)

    def certify(found: RitzPairs) -> Certificate:
        if problem.is_sparse:
            return certify_by_inertia(problem, found, wanted)
        return certify_by_inverse(problem, inverse, found, wanted, rng, inaccuracy)

    inaccuracy = 0.0 if problem.is_sparse else _solve_error(problem, inverse)
    pairs = _solve(problem, inverse, wanted + guards, rng)
    return _complete(problem, inverse, pairs, certify, "shift-invert (sparse factorisation)", rng)


def solve_factorized_roughly(
    problem: LaplacianProblem, wanted: int, guards: int, rng: np.random.RandomState
) -> Eigenpairs:
    """Return eigenvectors for a descent to start from by shift-invert, not certified.

    They are as exact as certified ones, but nothing tells whether one was missed: that would take another
    factorisation, and guards to find a gap.
    """
    pairs = _solve(problem, _invert_by_factors(problem), wanted, rng)
    detail = "Not certified: these eigenvectors are only where a descent starts."
    certificate = Certificate("none", 0.0, 1.0, False, detail)
    solver = "shift-invert (sparse factorisation), rough"
    return Eigenpairs(pairs.values, orient(pairs.vectors), pairs.residuals, solver, certificate)


def _invert_by_factors(problem: LaplacianProblem) -> Inverse:
    """Return b -> (L̄ + shift)⁻¹ b on the complement of the null space, by a sparse factorisation."""
    if problem.sparse_part is None:
        raise SpectralError("Only sparse graphs can be factorised; this one has no sparse matrix.")
    try:
        factor = _factorize_shifted(problem)
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
        return solve(right, SOLVE_TOLERANCE)

    pairs = _solve(problem, inverse, wanted + guards, rng)
    return _complete(problem, inverse, pairs, certify, f"shift-invert ({solve.preconditioning})", rng)


def certify_by_inertia(problem: LaplacianProblem, pairs: RitzPairs, wanted: int) -> Certificate:
    """Count the eigenvalues of L̄ below a shift in a gap of those found, and compare with what was found.

    Orthonormal vectors with residuals R have as many eigenvalues within ‖R‖ of their Ritz values (Kahan), so
    where the gap is wider than that, equal counts mean that all were found.
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
        acceptable=1.0 / (NEARLY * last + SHIFT),
        max_steps=min(CERTIFICATE_BUDGET, problem.n),
        residual=relative / (NEARLY * last + SHIFT),
    )
    return random_start_certificate(bound, _uninvert(bound.upper), _uninvert(bound.lower), last)


def _uninvert(value: float) -> float:
    """Return the eigenvalue of L̄ that belongs to one of its inverse."""
    return 1.0 / value - SHIFT if value > 0 else np.inf


def _factorize_shifted(problem: LaplacianProblem) -> SuperLU | UpdatedFactor:
    """Factorise L̄ + shift, or what of it is sparse."""
    shifted = sp.csc_array((1.0 + SHIFT) * sp.eye_array(problem.n) - sp.csc_array(problem.sparse_part))
    if problem.split is None:
        return factorize(shifted)
    return UpdatedFactor(shifted, problem.split.factor, problem.split.core)


def _solve_error(problem: LaplacianProblem, inverse: Inverse) -> float:
    """Return the relative residual of one solve, on a rough right-hand side."""
    rough = problem.project(np.cos(np.arange(problem.n) * 0.7390851332151607))
    solved = inverse(rough)
    left = problem.apply_laplacian(solved) + SHIFT * solved - rough
    error = float(np.linalg.norm(left) / np.linalg.norm(rough))
    if not error <= CERTIFICATE_TOLERANCE:
        raise SpectralError(f"The factors solve only to a residual of {error:.1g}.")
    return error


def _solve(problem: LaplacianProblem, inverse: Inverse, count: int, rng: np.random.RandomState) -> RitzPairs:
    return problem.refine(_krylov_eigenvectors(problem, inverse, count, rng))


def _complete(
    problem: LaplacianProblem,
    inverse: Inverse,
    pairs: RitzPairs,
    certify: Callable[[RitzPairs], Certificate],
    solver: str,
    rng: np.random.RandomState,
) -> Eigenpairs:
    """Certify; where eigenvectors were missed, look for them in the complement of those found.

    A Krylov space holds one vector of each eigenspace, and rounding has to bring the others in; without those
    that are there already, they come first.
    """
    certificate = certify(pairs)
    for _ in range(MAX_REPAIRS):
        more = min(REPAIR, problem.n - problem.n_null - pairs.values.size - 1)
        if certificate.failure_probability < 1.0 or more < 1:
            break
        found = _krylov_eigenvectors(problem, _outside(problem, pairs.vectors, inverse), more, rng)
        pairs = problem.refine(np.hstack([pairs.vectors, found]))
        certificate = certify(pairs)
    return Eigenpairs(pairs.values, orient(pairs.vectors), pairs.residuals, solver, certificate)


def _outside(problem: LaplacianProblem, vectors: FloatArray, inverse: Inverse) -> Inverse:
    clear = problem.without(vectors)
    return lambda right: clear(inverse(clear(right)))


def _krylov_eigenvectors(
    problem: LaplacianProblem, inverse: Inverse, count: int, rng: np.random.RandomState
) -> FloatArray:
    operator = LinearOperator((problem.n, problem.n), matvec=inverse, dtype=np.float64)
    start = problem.project(rng.standard_normal(problem.n))
    return largest_eigenvectors(operator, count, start, rng, tolerance=TOLERANCE)


# Solving with the Laplacian by conjugate gradients, with algebraic multigrid where it helps.


#: Conjugate gradients give up after this many steps.
MAX_STEPS = 5_000
#: A multigrid cycle costs about 15 products: where so many plain steps solve a system, they are cheaper.
PLAIN_STEPS = 200


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
            (problem.n, problem.n),
            matvec=lambda v: problem.apply_laplacian(v) + shift * v,
            dtype=np.float64,
        )
        self.preconditioner: LinearOperator | None = None
        if problem.is_sparse and not self._does_without():
            shifted = sp.csr_array(problem.laplacian + shift * sp.eye_array(problem.n))
            degrees = problem.graph.degrees
            # Only the direction matters; scaled so that no square overflows.
            near_null = np.sqrt(np.where(degrees > 0, degrees / degrees.max(), 1.0))
            self.preconditioner = multigrid_preconditioner(shifted, near_null)

    def _does_without(self) -> bool:
        """Try conjugate gradients alone on a rough right-hand side; expanders need few steps, grids many."""
        rough = self.problem.project(np.cos(np.arange(self.problem.n) * 0.7390851332151607))
        return bool(cg(self.system, rough, rtol=1e-5, maxiter=PLAIN_STEPS)[1] == 0)

    @property
    def preconditioning(self) -> str:
        """What speeds up the solves, in words."""
        return "conjugate gradients" if self.preconditioner is None else "multigrid"

    def __call__(self, right: FloatArray, tolerance: float) -> FloatArray:
        """Solve to a residual of `tolerance` relative to the right-hand side."""
        right = self.problem.project(right)
        solution, status = cg(self.system, right, rtol=tolerance, maxiter=MAX_STEPS, M=self.preconditioner)
        if status != 0:
            raise SpectralError(f"Conjugate gradients did not converge in {MAX_STEPS} steps.")
        return self.problem.project(solution)
