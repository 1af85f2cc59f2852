"""Cuts that satisfy constraints: the positive eigenvalues of B v = μ L̄ v with B = Q̄ - b I.

This is eq. 13 of Wang, Qian and Davidson (2014), L̄ v = λ (Q̄ - (β/vol) I) v, read with μ = 1/λ and
b = β/vol. The null space N of L̄ is eliminated by its Schur complement: with w ⊥ N,

    v = w - N (NᵀBN)⁻¹ NᵀB w      and      B' = B - B N (NᵀBN)⁻¹ NᵀB,

so that B' w = μ L̄ w is a symmetric pencil, definite because L̄ is positive on N⊥. Feasible cuts, with
vᵀBv > 0, are those with μ > 0. How many there are follows from Sylvester's law of inertia and is known
beforehand, which makes the certificate: Ritz values never exceed eigenvalues, so as many positive ones, each
with a small residual, are all there are.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from sidecut.checks import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import SpectralError
from sidecut.graphs import Graph
from sidecut.spectral.certificate import Certificate, Eigenpairs
from sidecut.spectral.conjugate_gradients import solve_columns
from sidecut.spectral.laplacian import LaplacianProblem, orient

#: Up to this many nodes the whole pencil is decomposed.
DENSE_NODES = 600
#: Below this the cost of a cut is rounding: residuals of eq. 13 are relative to no less.
MIN_COST = 1e-8
#: The correction equations are solved to this relative residual. More exact corrections saved fewer rounds
#: than they took products (set on generated moons and blobs; benchmarks/choices/csp_solver.py).
INNER_TOLERANCE = 0.3
#: The most steps of conjugate gradients for equations with μ L̄ + b I.
INNER_STEPS = 60
#: The relative residual of cuts that are compared by cost and not used.
SPARE_TOLERANCE = 0.1
#: The most rounds of Davidson's iteration.
MAX_ROUNDS = 100
#: The basis has up to five times as many columns as there are wanted vectors, but no more than this many
#: beyond three times as many; then it is restarted.
SPARE_COLUMNS = 250


@dataclass(frozen=True)
class FeasibleCuts:
    """The feasible cuts of eq. 13, those of least cost first."""

    eigenvalues: FloatArray
    costs: FloatArray
    satisfactions: FloatArray
    vectors: FloatArray
    n_feasible: int
    beta: float
    residuals: FloatArray
    solver: str
    count_is_exact: bool = True

    @property
    def complete(self) -> bool:
        """Whether all feasible cuts were computed."""
        return self.costs.size == self.n_feasible

    def __str__(self) -> str:
        lines = [f"{self.n_feasible} feasible cuts, beta = {self.beta:.6g}", "    λ          cost       vᵀQ̄v"]
        for row in zip(self.eigenvalues, self.costs, self.satisfactions, strict=True):
            lines.append("  ".join(f"{value:10.4g}" for value in row))
        return "\n".join(lines)

    __repr__ = __str__

    def first(self, count: int) -> FeasibleCuts:
        """Return the `count` cuts of least cost."""
        return replace(
            self,
            eigenvalues=self.eigenvalues[:count],
            costs=self.costs[:count],
            satisfactions=self.satisfactions[:count],
            vectors=np.ascontiguousarray(self.vectors[:, :count]),
            residuals=self.residuals[:count],
        )

    def certify(self, best: FeasibleCuts) -> Eigenpairs:
        """Return some of these cuts as eigenpairs, certified by the count of all."""
        furthest = float(self.eigenvalues.max())
        if not self.complete:
            total = f"{'' if self.count_is_exact else 'at least '}{self.n_feasible}"
            detail = f"{self.costs.size} of {total} feasible cuts were computed, those of smallest λ."
            certificate = Certificate("count", furthest, 1.0, False, detail)
        elif not self.count_is_exact:
            detail = (
                f"{self.n_feasible} feasible cuts were found, as many as Lanczos finds eigenvalues of Q̄ "
                "above beta/vol; for constraints that connect this many points that count is not proved."
            )
            certificate = Certificate("none", furthest, 1.0, False, detail)
        else:
            detail = (
                f"All {self.n_feasible} feasible cuts were found: Sylvester's law counts as many positive "
                "eigenvalues, and as many Ritz values are positive with small residuals."
            )
            certificate = Certificate("count", furthest, 0.0, True, detail)
        return Eigenpairs(best.eigenvalues, best.vectors, best.residuals, self.solver, certificate)


class ConstrainedPairs(NamedTuple):
    """The feasible eigenpairs outside the null space of L̄."""

    mu: FloatArray
    vectors: FloatArray
    residuals: FloatArray
    solver: str


@dataclass(eq=False)
class ConstrainedPencil:
    """The pencil (Q̄ - b I, L̄) with the null space N of L̄ eliminated."""

    problem: LaplacianProblem
    apply_Q: Callable[[FloatArray], FloatArray]
    b: float
    null: sp.csr_array

    @cached_property
    def null_image(self) -> sp.csr_array:
        """B N, sparse: Q̄ reaches few nodes, and a graph may have many components."""
        # 64 columns at a time are made dense.
        chunks = [self.null[:, k : k + 64] for k in range(0, self.null.shape[1], 64)]
        image = sp.hstack([sp.csr_array(self.apply_Q(chunk.toarray())) for chunk in chunks], format="csr")
        return sp.csr_array(image - self.b * self.null)

    @cached_property
    def null_image_rows(self) -> sp.csr_array:
        """NᵀB: to transpose a sparse matrix takes as long as a product with it, and rounds need many."""
        return sp.csr_array(self.null_image.T)

    @cached_property
    def null_form(self) -> FloatArray:
        """NᵀBN, which has to be regular for the pencil to be."""
        return symmetric((self.null.T @ self.null_image).toarray())

    def apply_B(self, block: FloatArray) -> FloatArray:
        """Return B @ block."""
        return self.apply_Q(block) - self.b * block

    def null_coefficients(self, block: FloatArray) -> FloatArray:
        """Return (NᵀBN)⁻¹ NᵀB w, how far each column is completed along the null space."""
        return np.asarray(np.linalg.solve(self.null_form, self.null_image_rows @ block), dtype=np.float64)

    def complete(self, block: FloatArray) -> FloatArray:
        """Return v = w - N (NᵀBN)⁻¹ NᵀB w for a block of w ⊥ N."""
        return block - self.null @ self.null_coefficients(block)

    def residuals(self, mu: FloatArray, vectors: FloatArray) -> FloatArray:
        """Return ‖B v - μ L̄ v‖ relative to ‖Q̄ v‖ + b + 1e-8 μ, for unit v."""
        # In terms of eq. 13 that is ‖L̄ v - λ B v‖ relative to λ (‖Q̄ v‖ + b) + 1e-8.
        image = self.apply_Q(vectors)
        residual = image - self.b * vectors - self.problem.apply_laplacian(vectors) * mu
        size = np.linalg.norm(image, axis=0) + self.b + MIN_COST * np.abs(mu)
        return np.linalg.norm(residual, axis=0) / size

    def precondition(self, right: FloatArray, mu: FloatArray, tolerance: float) -> FloatArray:
        """Return (μ L̄ + b I)⁻¹ @ right, roughly, with one μ for each column."""
        # A feasible cut v, with its own μ, is the solution for Q̄ v on the right.

        def apply(block: FloatArray, columns: IntArray) -> FloatArray:
            return mu[columns] * self.problem.apply_laplacian(block) + self.b * block

        run = self.problem.graph.run
        return run(lambda right: solve_columns(apply, right, tolerance, INNER_STEPS), right)

    def component_cuts(self) -> tuple[FloatArray, FloatArray]:
        """Return vᵀBv of the feasible cuts along components, and these cuts as unit vectors."""
        # They are B-orthogonal to the trivial D^{1/2} 1 and have vᵀBv > 0; their cost is zero (λ = 0).
        trivial = self.null.T @ np.sqrt(self.problem.graph.degrees)
        orthogonal = scipy.linalg.null_space((self.null_form @ trivial)[None, :])
        values, rotation = np.linalg.eigh(symmetric(orthogonal.T @ self.null_form @ orthogonal))
        order = np.argsort(-values)
        order = order[values[order] > 0]
        return values[order], self.null @ (orthogonal @ rotation[:, order])


def pose_pencil(
    graph: Graph, constraints: Constraints, scale: FloatArray, beta: float, total: float
) -> ConstrainedPencil:
    """Return the pencil of a graph, Q̄ = S Q S and β; the trivial cut satisfies the constraints to `total`."""

    def apply_Q(block: FloatArray) -> FloatArray:
        factor = scale if block.ndim == 1 else scale[:, None]
        return factor * constraints.apply(factor * block)

    null, b = reached_null(graph, constraints.constrained_points), beta / float(graph.degrees.sum())
    pencil = ConstrainedPencil(LaplacianProblem(graph), apply_Q, b, null)
    if not is_regular(pencil.null_form, b):
        raise SpectralError(
            f"beta={beta:.6g} makes eq. 13 singular: a cut that costs nothing satisfies the constraints to "
            f"exactly beta (the trivial one to 1ᵀQ1={total:.6g}). Choose a slightly different beta."
        )
    return pencil


def reached_null(graph: Graph, points: IntArray) -> sp.csr_array:
    """Return D^{1/2} 1_C of the components with constrained points, a column each, and all others as one."""
    # B is -b on every direction among the others, so that they take no part except in the trivial vector.
    component = graph.components
    members = np.flatnonzero(component >= 0)
    reached = np.zeros(component.max(initial=-1) + 1, dtype=bool)
    reached[component[points][component[points] >= 0]] = True
    place = np.where(reached, np.cumsum(reached) - 1, np.count_nonzero(reached))
    column = place[component[members]]
    roots = np.sqrt(graph.degrees[members])
    lengths = np.sqrt(np.bincount(column, weights=roots**2))
    return sp.csr_array((roots / lengths[column], (members, column)), shape=(component.size, lengths.size))


def with_faint_cuts(pencil: ConstrainedPencil) -> ConstrainedPencil | None:
    """Return a pencil in which cuts that cost less than 1e-8 cost nothing, or None if there are none."""
    # L̄ then has eigenvalues θ so small that the pencil has μ of the size of 1/θ, whose rounding drowns all
    # others. With their eigenvectors counted to N, the Schur complement eliminates them; others change by θ.
    problem = copy(pencil.problem)
    laplacian = (
        symmetric(problem.apply_laplacian(np.eye(problem.n))) + (problem.null @ problem.null.T).toarray()
    )
    faint = scipy.linalg.eigh(laplacian, subset_by_value=(-np.inf, MIN_COST))[1]
    if faint.shape[1] == 0:
        return None
    columns = sp.csr_array(scipy.linalg.qr(problem.project(faint), mode="economic")[0])
    problem.null = sp.hstack([problem.null, columns], format="csr")
    problem.null_rows = sp.csr_array(problem.null.T)
    wider = replace(pencil, problem=problem, null=sp.hstack([pencil.null, columns], format="csr"))
    return wider if is_regular(wider.null_form, wider.b) else None


def solve_pencil(
    pencil: ConstrainedPencil,
    n_feasible: int,
    max_cuts: int,
    seeds: FloatArray,
    tolerance: float,
    n_exact: int | None,
    beta: float,
) -> FeasibleCuts:
    """Return the feasible cuts, `max_cuts` of smallest λ if there are more."""
    # On a small graph that nearly falls apart, cuts that cost less than 1e-8 may count as free (λ = 0).
    try:
        return _solve(pencil, n_feasible, max_cuts, seeds, tolerance, n_exact, beta)
    except SpectralError:
        wider = with_faint_cuts(pencil) if pencil.problem.n <= DENSE_NODES else None
        if wider is None:
            raise
    return _solve(wider, n_feasible, max_cuts, seeds, tolerance, n_exact, beta)


def _solve(
    pencil: ConstrainedPencil,
    n_feasible: int,
    max_cuts: int,
    seeds: FloatArray,
    tolerance: float,
    n_exact: int | None,
    beta: float,
) -> FeasibleCuts:
    """Return the feasible cuts along the null space, and those of `feasible_pairs`."""
    free, vectors = pencil.component_cuts()
    wanted = min(n_feasible, max_cuts) - free.size
    lam, residuals, solver = np.zeros(free.size), np.zeros(free.size), "connected components"
    if wanted > 0:
        pairs = feasible_pairs(pencil, seeds, wanted, tolerance, n_exact)
        lam = np.concatenate([lam, 1.0 / pairs.mu])
        vectors = np.hstack([vectors, pairs.vectors])
        residuals = np.concatenate([residuals, pairs.residuals])
        solver = pairs.solver
    vectors = orient(vectors)
    costs = np.maximum(np.einsum("ij,ij->j", vectors, pencil.problem.apply_laplacian(vectors)), 0.0)
    costs[: free.size] = 0.0
    satisfaction = np.einsum("ij,ij->j", vectors, pencil.apply_Q(vectors))
    # Cuts along components all cost nothing; the one that satisfies most goes first.
    order = np.lexsort((-satisfaction, costs))
    volume = float(pencil.problem.graph.degrees.sum())
    return FeasibleCuts(
        lam[order],
        costs[order],
        volume * satisfaction[order],
        np.sqrt(volume) * vectors[:, order],
        n_feasible,
        beta,
        residuals[order],
        solver,
    )


def feasible_pairs(
    pencil: ConstrainedPencil,
    seeds: FloatArray,
    count: int,
    tolerance: float = 1e-6,
    n_exact: int | None = None,
) -> ConstrainedPairs:
    """Return the `count` largest eigenpairs of B' w = μ L̄ w; all of them must be positive."""
    # A small pencil is decomposed as a whole, a large one is left to Davidson's iteration.
    solver, n = "Davidson iteration", pencil.problem.n
    if n <= DENSE_NODES or 4 * count >= n:
        pairs = solve_whole(pencil, count)
        is_positive = pairs.mu[-1] > np.finfo(np.float64).eps * n * np.abs(pairs.mu).max()
        if is_positive and np.all(pairs.residuals <= tolerance + unavoidable(pencil, pairs.mu)):
            return pairs
        # On a nearly disconnected graph 1/cost drowns the other cuts in rounding; the iteration, which never
        # divides by it, mends them.
        seeds, solver = np.hstack([pairs.vectors, seeds]), f"{pairs.solver}, then {solver}"
    return ConstrainedPairs(*solve_davidson(pencil, seeds, count, tolerance, n_exact), solver)


def definite_laplacian(problem: LaplacianProblem) -> FloatArray:
    """Return L̄ + N Nᵀ, dense."""
    laplacian = symmetric(problem.apply_laplacian(np.eye(problem.n)))
    return np.asarray(laplacian + (problem.null @ problem.null.T).toarray())


def solve_whole(pencil: ConstrainedPencil, count: int) -> ConstrainedPairs:
    """Decompose the whole pencil; L̄ + N Nᵀ in place of L̄ leaves μ > 0 alone, as B' N = 0."""
    problem, image = pencil.problem, pencil.null_image.toarray()
    B = symmetric(pencil.apply_B(np.eye(problem.n))) - image @ np.linalg.solve(pencil.null_form, image.T)
    mu, blocks = largest_of_pencil(symmetric(B), definite_laplacian(problem), count)
    vectors = unit(pencil.complete(problem.project(blocks)))
    return ConstrainedPairs(mu, vectors, pencil.residuals(mu, vectors), "dense (LAPACK)")


def solve_davidson(
    pencil: ConstrainedPencil, seeds: FloatArray, count: int, tolerance: float, n_exact: int | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return μ, vectors and residuals of the `count` largest μ > 0, by Davidson's iteration."""
    # An eigenvector satisfies (μ L̄ + b I) v = Q̄ v. The operator on the left is well conditioned, and Q̄
    # acts on few points, so that (μ L̄ + b I)⁻¹, applied by a few conjugate gradient steps, turns a residual
    # into a correction that converges in a handful of rounds.
    # With scattered pairs, where few cuts of many are wanted, a round costs more than its products.
    inner = INNER_TOLERANCE if n_exact is None else 0.5 * INNER_TOLERANCE
    widest = max(3 * count + min(2 * count, SPARE_COLUMNS), seeds.shape[1] + 2 * count)
    basis = _Basis(pencil, widest + count)
    basis.extend(seeds)
    rounds = 0
    while rounds < MAX_ROUNDS:
        rounds += 1
        mu, coordinates = largest_of_pencil(basis.B_form, basis.laplacian_form, count + 1 + count // 2)
        vectors, residual, sizes, costs = basis.ritz_vectors(mu[:count], coordinates[:, :count])
        reach = np.full(costs.size, max(tolerance, SPARE_TOLERANCE))
        reach[np.argsort(costs)[:n_exact]] = tolerance
        worst = (sizes > reach + unavoidable(pencil, mu[:count])) | (mu[:count] <= 0)
        if not worst.any() and sizes.size == count:
            return mu[:count], vectors, sizes
        # A Ritz value that is not positive yet borrows the size of the others.
        found = mu[:count][worst]
        shifts = np.where(found > 0, found, min(found[found > 0], default=pencil.b))
        corrections = pencil.precondition(residual[:, worst], shifts, inner)
        if basis.width + corrections.shape[1] > widest:
            basis.rotate(coordinates)
        if not basis.extend(corrections):
            break
    if np.count_nonzero(mu[:count] > 0) < count:
        raise SpectralError(few_positive(mu[:count], count))
    raise SpectralError(
        f"The constrained cut did not converge in {rounds} rounds: the worst relative residual is "
        f"{sizes.max():.1e}, asked for {tolerance:.1e}. Raise tol, or choose a larger beta."
    )


class _Basis:
    """A growing orthonormal basis S of N⊥ with its images, and the pencil restricted to it."""

    # Columns are written to memory that is set aside: to copy the basis in every round took as long as the
    # products with the graph.

    def __init__(self, pencil: ConstrainedPencil, widest: int) -> None:
        self.pencil = pencil
        self.width = 0
        self._columns = [np.empty((pencil.problem.n, widest), order="F") for _ in range(3)]
        self.laplacian_form = np.empty((0, 0))
        self.B_form = np.empty((0, 0))

    @property
    def blocks(self) -> list[FloatArray]:
        """S, L̄ S and B S."""
        return [columns[:, : self.width] for columns in self._columns]

    def extend(self, block: FloatArray) -> bool:
        """Add the new directions of a block; return whether there are any."""
        pencil, problem, old, old_width = self.pencil, self.pencil.problem, self.blocks[0], self.width
        block = problem.project(unit(block))
        block = block - combine(old, old.T @ block)
        fresh, triangle, _ = scipy.linalg.qr(block, mode="economic", pivoting=True)
        # Directions that a block adds only by rounding are dropped.
        fresh = fresh[:, np.abs(np.diag(triangle)) > 1e-10]
        # Orthogonal to rounding after a second pass; the null space stays out as well.
        fresh = problem.project(fresh - combine(old, old.T @ fresh))
        if fresh.shape[1] == 0:
            return False
        laplacian_image, B_image = problem.apply_laplacian(fresh), pencil.apply_B(fresh)
        self._write(old_width, fresh, laplacian_image, B_image)
        vectors = self.blocks[0]
        coupling = (pencil.null_image_rows @ vectors).T @ pencil.null_coefficients(fresh)
        self.laplacian_form = _border(self.laplacian_form, vectors.T @ laplacian_image, old_width)
        self.B_form = _border(self.B_form, vectors.T @ B_image - coupling, old_width)
        return True

    def _write(self, start: int, *blocks: FloatArray) -> None:
        self.width = start + blocks[0].shape[1]
        for columns, block in zip(self._columns, blocks, strict=True):
            columns[:, start : self.width] = block

    def ritz_vectors(
        self, mu: FloatArray, coordinates: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return unit v, B v - μ L̄ v, its relative size, and the cost vᵀL̄v, all from the stored images."""
        pencil = self.pencil
        blocks, laplacian_image, B_image = (combine(image, coordinates) for image in self.blocks)
        along = pencil.null_coefficients(blocks)
        vectors = blocks - pencil.null @ along
        B_image = B_image - pencil.null_image @ along
        residual = B_image - laplacian_image * mu
        lengths = np.linalg.norm(vectors, axis=0)
        # Q̄ v = B v + b v.
        image = np.linalg.norm(B_image + pencil.b * vectors, axis=0)
        scale = image + (pencil.b + MIN_COST * np.abs(mu)) * lengths
        sizes = np.linalg.norm(residual, axis=0) / scale
        # Coordinates are L̄-orthonormal.
        return vectors / lengths, residual / lengths, sizes, lengths**-2.0

    def rotate(self, coordinates: FloatArray) -> None:
        """Shrink the basis to the span of some Ritz vectors."""
        rotation, _ = np.linalg.qr(coordinates)
        self._write(0, *[combine(image, rotation) for image in self.blocks])
        self.laplacian_form = symmetric(rotation.T @ self.laplacian_form @ rotation)
        self.B_form = symmetric(rotation.T @ self.B_form @ rotation)


def _border(form: FloatArray, columns: FloatArray, old_width: int) -> FloatArray:
    """Return a symmetric form with further columns; `columns` reach down to the new diagonal."""
    width = columns.shape[0]
    bordered = np.empty((width, width))
    bordered[:old_width, :old_width] = form
    bordered[:, old_width:] = columns
    bordered[old_width:, :old_width] = columns[:old_width].T
    bordered[old_width:, old_width:] = symmetric(columns[old_width:])
    return bordered


def largest_of_pencil(A: FloatArray, B: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the `count` largest eigenvalues of A x = μ B x, descending, and B-orthonormal vectors."""
    # Through the Cholesky factor, because only the standard problem has a driver that is both fast and
    # accurate for a part of the spectrum.
    try:
        factor = scipy.linalg.cholesky(B, lower=True)
    except scipy.linalg.LinAlgError as error:
        raise SpectralError(
            "Some cuts cost nothing but rounding, though the graph is connected: its degrees differ by too "
            "many orders of magnitude to weigh constraints. A graph of nearest neighbours "
            "(affinity='knn'), or a larger width of the kernel, has more even degrees."
        ) from error
    size = A.shape[0]
    half = scipy.linalg.solve_triangular(factor, A, lower=True)
    standard = symmetric(scipy.linalg.solve_triangular(factor, half.T, lower=True))
    wanted = [max(size - count, 0), size - 1]
    values, vectors = scipy.linalg.eigh(standard, subset_by_index=wanted, driver="evr")
    return values[::-1], scipy.linalg.solve_triangular(factor, vectors[:, ::-1], lower=True, trans="T")


def is_regular(form: FloatArray, b: float) -> bool:
    """Return whether no eigenvalue of NᵀBN is zero up to rounding."""
    sizes = np.abs(np.linalg.eigvalsh(form))
    return bool(np.all(sizes > 1e-12 * max(sizes.max(initial=0.0), b)))


def unavoidable(pencil: ConstrainedPencil, mu: FloatArray) -> FloatArray:
    """Return the relative residuals that rounding leaves: 1e-12, and that of L̄ v, times μ; at most 1e-6."""
    return 1e-12 + 1e-14 * np.abs(mu) / (pencil.b + MIN_COST * np.abs(mu))


def few_positive(mu: FloatArray, count: int) -> str:
    """Say that fewer eigenvalues are positive, beyond rounding, than there must be."""
    found = np.count_nonzero(mu > np.finfo(np.float64).eps * np.abs(mu).max(initial=0.0))
    missing = f"only {found} were found" if found < count else "the last one satisfies beta to rounding only"
    return (
        f"There must be {count} feasible cuts, but {missing}: an eigenvalue of Q̄ may coincide with "
        "beta/vol up to rounding. Choose a slightly different beta."
    )


def unit(block: FloatArray) -> FloatArray:
    """Scale every column to length one, zero columns left as they are."""
    lengths = np.linalg.norm(block, axis=0)
    return block / np.where(lengths > 0, lengths, 1.0)


def symmetric(matrix: FloatArray) -> FloatArray:
    """Return the symmetric part of a matrix."""
    return 0.5 * (matrix + matrix.T)


def combine(columns: FloatArray, weights: FloatArray) -> FloatArray:
    """Return columns @ weights, for columns that lie one after another in memory: three times as fast."""
    return (weights.T @ columns.T).T
