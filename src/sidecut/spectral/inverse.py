"""Lanczos iteration on the inverse of the Laplacian, for eigenvalues crowded near zero; what it takes."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lu_factor, lu_solve
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.sparse.linalg import LinearOperator, SuperLU, cg, splu

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
from sidecut.spectral.lanczos import Projection, complete, largest_eigenvectors

if TYPE_CHECKING:
    from sidecut.spectral.laplacian import LaplacianProblem

#: L̄ is shifted by this before it is inverted, so that its null space does no harm.
SHIFT = 1e-8
#: The relative residual of a solve that a certificate accepts: it loosens the bound by as much.
CERTIFICATE_TOLERANCE = 1e-5
#: Conjugate gradients give up after this many steps.
MAX_STEPS = 5_000


@dataclass(frozen=True)
class FactorForecast:
    """The expected cost of a sparse factorisation: entries per row, bytes, multiplications."""

    fill: float
    memory: float
    work: float


def forecast(matrix: sp.csr_array, most_work: float = np.inf) -> FactorForecast:
    """Forecast the cost of factorising a sparse symmetric matrix, by factorising small pieces of it."""
    # Fill-in grows like n^p per row, with p near 0 for graphs of points in the plane, near 1 for the
    # expander-like graphs of points in many dimensions. Breadth-first balls of growing size show p, unless
    # they are trees, as in random graphs. There the wave front of the search shows it: it separates the nodes
    # seen from the rest, and the nodes of a separator end up linked to one another. Where that front alone
    # takes more than `most_work`, no piece is factorised.
    n = matrix.shape[0]
    pattern = sp.csr_array(matrix)
    # From the node of largest degree in the largest component, which lies away from dangling ends.
    component = connected_components(pattern, directed=False)[1]
    is_largest = component == np.bincount(component).argmax()
    middle = int(np.argmax(np.where(is_largest, np.diff(pattern.indptr), -1)))
    order = breadth_first_order(pattern, middle, directed=False, return_predecessors=False)
    at_least = _separator_fill(pattern, order)
    if work_of(n, at_least) > most_work:
        return forecast_of(n, at_least)
    sizes, fills = _probe(pattern, order)
    # The exponent p of fill ∝ n^p, by least squares on logarithms of the last three pieces.
    exponent = 0.0
    if len(sizes) > 1:
        exponent = float(np.clip(np.polyfit(np.log(sizes[-3:]), np.log(fills[-3:]), 1)[0], 0.0, 1.0))
    reach = max(order.size / sizes[-1], 1.0)
    # The pieces have no far side to couple with, so they understate the fill of the whole.
    from_pieces = 1.5 * fills[-1] * reach**exponent
    return forecast_of(n, min(max(from_pieces, at_least), n / 2))


def forecast_of(n: int, fill: float) -> FactorForecast:
    """Return the cost of a factorisation with some fill-in per row."""
    return FactorForecast(fill=fill, memory=24.0 * n * fill, work=work_of(n, fill))


def factorize(matrix: sp.csc_array) -> SuperLU:
    """Factorise a sparse symmetric matrix without pivoting: A = L D Lᵀ, stored as SuperLU stores L U."""
    return splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})


class UpdatedFactor:
    """Solves with A - B diag(m) Bᵀ by factorising A, which is sparse (Sherman, Morrison and Woodbury)."""

    def __init__(self, matrix: sp.csc_array, columns: FloatArray, levels: FloatArray) -> None:
        self._factor = factorize(matrix)
        self._columns = columns
        self._images = self._factor.solve(columns)
        self._small = lu_factor(np.diag(1.0 / levels) - columns.T @ self._images)

    def solve(self, right: FloatArray) -> FloatArray:
        """Return (A - B diag(m) Bᵀ)⁻¹ right."""
        image = self._factor.solve(right)
        return image + self._images @ lu_solve(self._small, self._columns.T @ image)


def count_below(matrix: sp.csc_array, shift: float) -> int | None:
    """Count the eigenvalues of A below a shift, by Sylvester's inertia; None if rounding forbids it."""
    # A - τI = L D Lᵀ has as many negative pivots as A has eigenvalues below τ.
    shifted = sp.csc_array(matrix - shift * sp.eye_array(matrix.shape[0]))
    try:
        factor = factorize(shifted)
    except RuntimeError:
        return None
    if not np.array_equal(factor.perm_r, factor.perm_c) or not _is_accurate(factor, shifted):
        return None
    return int(np.count_nonzero(factor.U.diagonal() < 0))


def _is_accurate(factor: SuperLU, matrix: sp.csc_array) -> bool:
    """Check that the error of the factors cannot have moved an eigenvalue of the matrix across zero."""
    # The factors are exact for a matrix S + E. A few steps of inverse iteration turn to the eigenvectors
    # nearest zero: on the last vector they show how near those are, and how large E is there.
    scale = float(abs(matrix).sum(axis=1).max())
    vector = rough_vector(matrix.shape[0])
    for _ in range(4):
        vector /= np.linalg.norm(vector)
        image = factor.solve(vector)
        size = float(np.linalg.norm(image))
        if not np.isfinite(size) or size == 0:
            return False
        error = float(np.linalg.norm(matrix @ image - vector)) / size
        vector = image
    # The nearest eigenvalue must be thirty times the error away.
    return 1.0 / size > 30.0 * max(error, np.finfo(np.float64).eps * scale)


def _probe(pattern: sp.csr_array, order: np.ndarray) -> tuple[list[int], list[float]]:
    """Return the sizes of growing balls and their fill per row, until the next one would take too long."""
    sizes, fills = [], []
    size = min(250, order.size)
    while True:
        sizes.append(size)
        nodes = np.sort(order[:size])
        piece = abs(pattern[nodes][:, nodes])
        dominant = sp.diags_array(np.asarray(piece.sum(axis=1)).ravel() + 1.0)
        fills.append(factorize(sp.csc_array(dominant - piece)).nnz / (2.0 * size))
        size *= 2
        # At least three pieces, and more of them while one costs less than twenty products.
        is_costly = work_of(size, 2 * fills[-1]) > 20.0 * pattern.nnz
        if size > order.size // 2 or (is_costly and len(sizes) >= 3):
            return sizes, fills


def work_of(n: int, fill: float) -> float:
    """Return the cost of a factorisation in multiplications, scattered access to its nonzeros counted in."""
    return n * fill**2 + 150.0 * n * fill


def rough_vector(n: int) -> FloatArray:
    """Return a vector with a part in every eigenvector, as a random one has, but the same every time."""
    return np.cos(np.arange(n) * 0.7390851332151607)


def _separator_fill(pattern: sp.csr_array, order: np.ndarray) -> float:
    """Return the fill per row that the widest front of a breadth-first search implies."""
    place = np.full(pattern.shape[0], -1, dtype=np.intp)
    place[order] = np.arange(order.size)
    # A node belongs to the front from when it is seen until its last neighbour is.
    occupied = order[np.diff(pattern.indptr)[order] > 0]
    if occupied.size == 0:
        return 0.0
    rows = pattern[occupied]
    left = np.maximum.reduceat(place[rows.indices], rows.indptr[:-1])
    entered = place[occupied]
    front = np.bincount(entered, minlength=order.size) - np.bincount(
        np.maximum(left, entered), minlength=order.size
    )
    # A graph with few more edges than a tree fills in no more than those, however wide it branches.
    independent_cycles = max(rows.nnz / 2 - order.size + 1, 0.0)
    # The factor 0.6 was measured on random regular graphs.
    return float(min(0.6 * np.cumsum(front).max() ** 2 / order.size, 2.0 + independent_cycles))


def separating_shift(
    values: FloatArray, wanted: int, *, error: float = 0.0, bottom: float = -np.inf
) -> tuple[int, float]:
    """Return how many values lie below a shift, and the shift, in the widest gap past the wanted values."""
    # Where the last wanted value coincides with all that follow it, the problem does not single it out: the
    # shift is put right before that value.
    resolution = max(1e-6 * abs(values[wanted - 1]), 4 * error)
    gaps = np.diff(values)
    past = gaps[wanted - 1 :]
    if past.size and past.max() > resolution:
        below = wanted + int(np.argmax(past))
        # Not in the middle: in a symmetric spectrum that is often 1, where every pivot of L̄ - 1 is zero.
        return below, float(0.55 * values[below - 1] + 0.45 * values[below])
    apart = np.flatnonzero(gaps[: wanted - 1] > resolution)
    below = int(apart[-1]) + 1 if apart.size else 0
    lower = values[below - 1] if below else bottom
    # The shared value may be zero up to rounding; the others say what is close to it.
    scale = max(abs(values[below]), 1e-3 * float(np.abs(values).max())) or 1.0
    return below, float(values[below] - min(1e-3 * scale, 0.5 * (values[below] - lower)))


Inverse = Callable[[FloatArray], FloatArray]


def solve_factorized(
    problem: LaplacianProblem, wanted: int, guards: int, rng: np.random.RandomState, is_pending: bool = False
) -> Eigenpairs:
    """Return the smallest eigenpairs of L̄ outside its null space by shift-invert."""
    # Those of a sparse graph are counted by inertia. Where the graph is sparse but for a matrix of low rank,
    # the sparse part is factorised, and a random start certifies that none is missed.
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
    """Return eigenvectors for a descent to start from by shift-invert, not certified."""
    # They are as exact as certified ones, but one may be missing: to exclude that would take another
    # factorisation, and guards to find a gap.
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
    """Count the eigenvalues of L̄ below a shift in a gap of those found, and compare with what was found."""
    # Orthonormal vectors with residuals R have as many eigenvalues within ‖R‖ of their Ritz values (Kahan),
    # so where the gap is wider than that, equal counts mean that all were found.
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
