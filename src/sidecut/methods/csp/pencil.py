"""Cuts that satisfy constraints: the positive eigenvalues of B v = μ L̄ v with B = Q̄ - b I.

This is eq. 13 of Wang, Qian and Davidson (2014), L̄ v = λ (Q̄ - (β/vol) I) v, read with μ = 1/λ and
b = β/vol. The null space N of L̄ is eliminated by its Schur complement: with w ⊥ N,

    v = w - N (NᵀBN)⁻¹ NᵀB w      and      B' = B - B N (NᵀBN)⁻¹ NᵀB,

so that B' w = μ L̄ w is a symmetric pencil, definite because L̄ is positive on N⊥. Cuts with positive
"surplus" vᵀBv are those with μ > 0. How many there are follows from Sylvester's law of inertia and is known
beforehand, which makes the certificate: Ritz values never exceed eigenvalues, so as many positive ones, each
with a small residual, are all there are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from sidecut.checks import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import SpectralError
from sidecut.graphs import Graph
from sidecut.spectral.conjugate_gradients import solve_columns
from sidecut.spectral.laplacian import LaplacianProblem

#: Below this a cut costs nothing but rounding: residuals of eq. 13 are told relative to no less.
CHEAP = 1e-8
#: Columns of the null space that are made dense at a time.
CHUNK = 64
#: Equations with μ L̄ + b I are solved in so many steps at the most.
INNER_STEPS = 60
#: Cuts that are there to be compared with, and not used, are found to this relative residual.
SPARE_TOLERANCE = 0.1
#: Directions that a block adds to a basis only by rounding are dropped.
NEW = 1e-10
#: Squares of lengths in a basis below this share of the largest are next to rounding.
FAINT = 1e-12


@dataclass(frozen=True)
class SurplusPairs:
    """The feasible eigenpairs outside the null space of L̄."""

    mu: FloatArray
    vectors: FloatArray
    residuals: FloatArray
    rounds: int
    products: int
    solver: str


class SurplusPencil:
    """The pencil (Q̄ - b I, L̄) with the null space of L̄ eliminated."""

    def __init__(
        self,
        problem: LaplacianProblem,
        apply_Q: Callable[[FloatArray], FloatArray],
        b: float,
        touched: IntArray | None = None,
    ) -> None:
        self.problem = problem
        self.apply_Q = apply_Q
        self.b = b
        self.n = problem.n
        self.null = problem.null if touched is None else _find_touched_null(problem.graph, touched)
        self.n_products = 0

    @cached_property
    def null_image(self) -> sp.csr_array:
        """B N, sparse: Q̄ reaches few nodes, and a graph may have many components."""
        chunks = [self.null[:, k : k + CHUNK] for k in range(0, self.null.shape[1], CHUNK)]
        image = sp.hstack([sp.csr_array(self.apply_Q(chunk.toarray())) for chunk in chunks], format="csr")
        return sp.csr_array(image - self.b * self.null)

    @cached_property
    def _null_image_rows(self) -> sp.csr_array:
        """NᵀB: to transpose a sparse matrix takes as long as a product with it, and rounds need many."""
        return sp.csr_array(self.null_image.T)

    @cached_property
    def null_form(self) -> FloatArray:
        """NᵀBN, which has to be regular for the pencil to be."""
        return symmetric((self.null.T @ self.null_image).toarray())

    def apply_laplacian(self, block: FloatArray) -> FloatArray:
        """Return L̄ @ block, and count the products."""
        self.n_products += 1 if block.ndim == 1 else block.shape[1]
        return self.problem.apply_laplacian(block)

    def apply_surplus(self, block: FloatArray) -> FloatArray:
        """Return B @ block."""
        return self.apply_Q(block) - self.b * block

    def meet_null(self, block: FloatArray) -> FloatArray:
        """Return NᵀB w for a block of w."""
        return np.asarray(self._null_image_rows @ block)

    def along_null(self, block: FloatArray) -> FloatArray:
        """Return (NᵀBN)⁻¹ NᵀB w, how far each column is completed along the null space."""
        return np.asarray(np.linalg.solve(self.null_form, self.meet_null(block)), dtype=np.float64)

    def complete(self, block: FloatArray) -> FloatArray:
        """Return v = w - N (NᵀBN)⁻¹ NᵀB w for a block of w ⊥ N."""
        return block - self.null @ self.along_null(block)

    def residuals(self, mu: FloatArray, vectors: FloatArray) -> FloatArray:
        """Return ‖B v - μ L̄ v‖ relative to ‖Q̄ v‖ + b + 1e-8 μ, for unit v.

        In terms of eq. 13 that is ‖L̄ v - λ B v‖ relative to λ (‖Q̄ v‖ + b) + 1e-8.
        """
        image = self.apply_Q(vectors)
        residual = image - self.b * vectors - self.problem.apply_laplacian(vectors) * mu
        size = np.linalg.norm(image, axis=0) + self.b + CHEAP * np.abs(mu)
        return np.linalg.norm(residual, axis=0) / size

    def respond(self, block: FloatArray, mu: float) -> FloatArray:
        """Return (μ L̄ + b I)⁻¹ Q̄ @ block, roughly: what beliefs make of some cuts, spread over the graph.

        A feasible cut answers to itself, at its own μ.
        """

        def apply(columns: FloatArray, _: IntArray) -> FloatArray:
            return mu * self.apply_laplacian(columns) + self.b * columns

        return solve_columns(apply, self.apply_Q(block), SPARE_TOLERANCE, INNER_STEPS)

    def with_bound(self, b: float) -> SurplusPencil:
        """Return the pencil of the same beliefs with another b."""
        other = SurplusPencil(self.problem, self.apply_Q, b)
        other.null = self.null
        return other

    def zero_cost_cuts(self) -> tuple[FloatArray, FloatArray]:
        """Return the cuts along components that satisfy the constraints: their surplus, and unit vectors.

        They are B-orthogonal to the trivial D^{1/2} 1 and have vᵀBv > 0; their cost is zero (λ = 0).
        """
        trivial = self.null.T @ np.sqrt(self.problem.graph.degrees)
        orthogonal = scipy.linalg.null_space((self.null_form @ trivial)[None, :])
        surplus, rotation = np.linalg.eigh(symmetric(orthogonal.T @ self.null_form @ orthogonal))
        order = np.argsort(-surplus)
        order = order[surplus[order] > 0]
        return surplus[order], self.null @ (orthogonal @ rotation[:, order])


class PencilOnBasis:
    """The pencil on the span of a few vectors, for any b: another bound costs nothing."""

    def __init__(self, pencil: SurplusPencil, vectors: FloatArray) -> None:
        problem, self._null = pencil.problem, pencil.null
        self._basis = problem.project(span(problem.project(unit(vectors))))
        null_image = pencil.null_image + pencil.b * pencil.null
        self._laplacian = symmetric(self._basis.T @ pencil.apply_laplacian(self._basis))
        self._beliefs = symmetric(self._basis.T @ pencil.apply_Q(self._basis))
        self._coupling = null_image.T @ self._basis
        self._null_beliefs = symmetric((pencil.null.T @ null_image).toarray())

    def cuts(self, b: float, count: int) -> tuple[FloatArray, FloatArray]:
        """Return unit vectors v of the `count` largest positive μ, or fewer, and their costs vᵀL̄v."""
        along = np.linalg.solve(self._null_beliefs - b * np.eye(len(self._null_beliefs)), self._coupling)
        surplus = self._beliefs - b * np.eye(len(self._beliefs)) - self._coupling.T @ along
        mu, coordinates = largest_of_pencil(symmetric(surplus), self._laplacian, count)
        coordinates = coordinates[:, mu > 0]
        vectors = self._basis @ coordinates - self._null @ (along @ coordinates)
        lengths = np.linalg.norm(vectors, axis=0)
        # Coordinates are L̄-orthonormal.
        return vectors / lengths, lengths**-2.0


def scale_beliefs(constraints: Constraints, scale: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Return the map block -> S Q S @ block."""

    def apply(block: FloatArray) -> FloatArray:
        factor = scale if block.ndim == 1 else scale[:, None]
        return factor * constraints.apply(factor * block)

    return apply


def solve_whole(pencil: SurplusPencil, count: int) -> SurplusPairs:
    """Decompose the whole pencil; adding N Nᵀ to L̄ makes it definite and leaves μ > 0 alone, as B' N = 0."""
    identity = np.eye(pencil.n)
    null = pencil.problem.null
    laplacian = symmetric(pencil.apply_laplacian(identity)) + (null @ null.T).toarray()
    image = pencil.null_image.toarray()
    surplus = symmetric(pencil.apply_surplus(identity)) - image @ np.linalg.solve(pencil.null_form, image.T)
    mu, blocks = largest_of_pencil(symmetric(surplus), laplacian, count)
    vectors = unit(pencil.complete(pencil.problem.project(blocks)))
    residuals = pencil.residuals(mu, vectors)
    return SurplusPairs(mu, vectors, residuals, 0, pencil.n_products, "dense (LAPACK)")


def _find_touched_null(graph: Graph, touched: IntArray) -> sp.csr_array:
    """Return D^{1/2} 1_C for the components Q̄ reaches, one per column, and for all others together.

    B is -b on every direction among the others, so that they take no part except in the trivial vector.
    """
    component = graph.components
    members = np.flatnonzero(component >= 0)
    reached = np.zeros(graph.n_components, dtype=bool)
    reached[component[touched][component[touched] >= 0]] = True
    place = np.where(reached, np.cumsum(reached) - 1, np.count_nonzero(reached))
    column = place[component[members]]
    roots = np.sqrt(graph.degrees[members])
    lengths = np.sqrt(np.bincount(column, weights=roots**2))
    return sp.csr_array((roots / lengths[column], (members, column)), shape=(graph.n_nodes, lengths.size))


def largest_of_pencil(A: FloatArray, B: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the `count` largest eigenvalues of A x = μ B x, descending, and B-orthonormal vectors."""
    # Through the Cholesky factor, because only the standard problem has a driver that is both fast and
    # accurate for a part of the spectrum.
    size = A.shape[0]
    factor = _cholesky(B)
    half = scipy.linalg.solve_triangular(factor, A, lower=True)
    standard = symmetric(scipy.linalg.solve_triangular(factor, half.T, lower=True))
    wanted = [max(size - count, 0), size - 1]
    values, vectors = scipy.linalg.eigh(standard, subset_by_index=wanted, driver="evr")
    return values[::-1], scipy.linalg.solve_triangular(factor, vectors[:, ::-1], lower=True, trans="T")


def _cholesky(B: FloatArray) -> FloatArray:
    try:
        return scipy.linalg.cholesky(B, lower=True)
    except scipy.linalg.LinAlgError as error:
        raise SpectralError(
            "Some cuts cost nothing but rounding, though the graph is connected: its degrees differ by too "
            "many orders of magnitude for constraints to be weighed. A graph of nearest neighbours "
            "(affinity='knn'), or a larger width of the kernel, has more even degrees."
        ) from error


def span(block: FloatArray) -> FloatArray:
    """Return an orthonormal basis of the span of some columns, but for directions they hardly have.

    By the eigenvectors of BᵀB, twice: for long columns a third of the time of an orthogonal factorisation.
    """
    for _ in range(2):
        squares, rotation = np.linalg.eigh(block.T @ block)
        kept = squares > FAINT * squares.max(initial=0.0)
        block = block @ (rotation[:, kept] / np.sqrt(squares[kept]))
    return block


def unit(block: FloatArray) -> FloatArray:
    """Scale every column to length one, zero columns left as they are."""
    lengths = np.linalg.norm(block, axis=0)
    return block / np.where(lengths > 0, lengths, 1.0)


def symmetric(matrix: FloatArray) -> FloatArray:
    """Return the symmetric part of a matrix."""
    return 0.5 * (matrix + matrix.T)


#: Up to this many nodes the whole pencil is decomposed.
DENSE_NODES = 600
#: The correction equations are solved to this relative residual. More exact corrections saved fewer rounds
#: than they took products (set on generated moons and blobs; benchmarks/choices/csp_solver.py).
INNER_TOLERANCE = 0.3
#: With scattered pairs, where few cuts of many are wanted, a round costs more than its products: there this
#: is enough (set on MNIST, blobs and moons, where it took the fewest seconds).
SCATTERED_INNER = 0.15
MAX_ROUNDS = 100
#: The basis has at most this many times as many columns as there are wanted vectors, or `ROOM` more than
#: three times as many if that is less; then it is restarted.
BASIS_FACTOR = 5
ROOM = 250
#: The rounding error of L̄ v, with a margin.
UNIT_ROUNDING = 1e-14
#: The least tolerance; what is asked for beyond, `tol=0` too, is as much as rounding leaves.
LEAST_TOLERANCE = 1e-12


def feasible_pairs(
    pencil: SurplusPencil,
    seeds: FloatArray,
    count: int,
    tolerance: float = 1e-6,
    n_exact: int | None = None,
) -> SurplusPairs:
    """Return the `count` largest eigenpairs of B' w = μ L̄ w; all of them must be positive.

    A small pencil is decomposed as a whole, a large one is left to Davidson's iteration.
    """
    solver = "Davidson iteration"
    if pencil.n <= DENSE_NODES or 4 * count >= pencil.n:
        pairs = solve_whole(pencil, count)
        is_positive = pairs.mu[-1] > np.finfo(np.float64).eps * pencil.n * np.abs(pairs.mu).max()
        if is_positive and np.all(pairs.residuals <= tolerance + unavoidable(pencil, pairs.mu)):
            return pairs
        # On a graph that all but falls apart 1/cost drowns the other cuts in rounding; the iteration, which
        # never divides by it, mends them.
        seeds, solver = np.hstack([pairs.vectors, seeds]), f"{pairs.solver}, then {solver}"
    mu, vectors, residuals, rounds = solve_davidson(pencil, seeds, count, tolerance, n_exact)
    return SurplusPairs(mu, vectors, residuals, rounds, pencil.n_products, solver)


def solve_davidson(
    pencil: SurplusPencil, seeds: FloatArray, count: int, tolerance: float, n_exact: int | None = None
) -> tuple[FloatArray, FloatArray, FloatArray, int]:
    """Return the `count` largest eigenpairs of B' w = μ L̄ w, all of them positive, by Davidson's iteration.

    An eigenvector satisfies (μ L̄ + b I) v = Q̄ v. The operator on the left is well conditioned, and Q̄ acts on
    few points, so that (μ L̄ + b I)⁻¹, applied by a few conjugate gradient steps, turns a residual into a
    correction that converges in a handful of rounds.
    """
    inner = INNER_TOLERANCE if n_exact is None else SCATTERED_INNER
    widest = max(min(BASIS_FACTOR * count, 3 * count + ROOM), seeds.shape[1] + 2 * count)
    basis = _Basis(pencil, widest + count)
    basis.extend(seeds)
    for rounds in range(MAX_ROUNDS):
        mu, coordinates = largest_of_pencil(basis.surplus_form, basis.laplacian_form, count + 1 + count // 2)
        vectors, residual, sizes, costs = basis.ritz_vectors(mu[:count], coordinates[:, :count])
        reach = np.full(costs.size, max(tolerance, SPARE_TOLERANCE))
        reach[np.argsort(costs)[:n_exact]] = tolerance
        worst = (sizes > reach + unavoidable(pencil, mu[:count])) | (mu[:count] <= 0)
        if not worst.any() and sizes.size == count:
            return mu[:count], vectors, sizes, rounds
        corrections = _corrections(pencil, mu[:count][worst], residual[:, worst], inner)
        if basis.width + corrections.shape[1] > widest:
            basis.rotate(coordinates)
        if not basis.extend(corrections):
            break
    raise SpectralError(_failure(mu[:count], sizes, count, rounds + 1, tolerance))


class _Basis:
    """A growing orthonormal basis S of N⊥ with its images, and the pencil restricted to it.

    Columns are written to room that is set aside: to copy the basis in every round took as long as the
    products with the graph.
    """

    def __init__(self, pencil: SurplusPencil, widest: int) -> None:
        self.pencil = pencil
        self.width = 0
        # S, L̄ S and B S.
        self._columns = [np.empty((pencil.n, widest), order="F") for _ in range(3)]
        self.laplacian_form = np.empty((0, 0))
        self.surplus_form = np.empty((0, 0))

    @property
    def vectors(self) -> FloatArray:
        return self._columns[0][:, : self.width]

    @property
    def laplacian_image(self) -> FloatArray:
        return self._columns[1][:, : self.width]

    @property
    def surplus_image(self) -> FloatArray:
        return self._columns[2][:, : self.width]

    def extend(self, block: FloatArray) -> bool:
        """Add what is new in a block; tell whether anything was."""
        fresh = self._new_directions(block)
        if fresh.shape[1] == 0:
            return False
        laplacian_image = self.pencil.apply_laplacian(fresh)
        surplus_image = self.pencil.apply_surplus(fresh)
        old_width = self.width
        self._write(old_width, fresh, laplacian_image, surplus_image)
        coupling = self.pencil.meet_null(self.vectors).T @ self.pencil.along_null(fresh)
        self.laplacian_form = _border(self.laplacian_form, self.vectors.T @ laplacian_image, old_width)
        self.surplus_form = _border(self.surplus_form, self.vectors.T @ surplus_image - coupling, old_width)
        return True

    def _write(self, start: int, *blocks: FloatArray) -> None:
        self.width = start + blocks[0].shape[1]
        for columns, block in zip(self._columns, blocks, strict=True):
            columns[:, start : self.width] = block

    def _new_directions(self, block: FloatArray) -> FloatArray:
        block = self.pencil.problem.project(unit(block))
        block = block - combine(self.vectors, self.vectors.T @ block)
        fresh, triangle, _ = scipy.linalg.qr(block, mode="economic", pivoting=True)
        fresh = fresh[:, np.abs(np.diag(triangle)) > NEW]
        # Orthogonal to rounding after a second pass; the null space stays out as well.
        return self.pencil.problem.project(fresh - combine(self.vectors, self.vectors.T @ fresh))

    def ritz_vectors(
        self, mu: FloatArray, coordinates: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return unit v, B v - μ L̄ v, its relative size, and the cost vᵀL̄v, all from the stored images."""
        pencil = self.pencil
        blocks = combine(self.vectors, coordinates)
        along = pencil.along_null(blocks)
        vectors = blocks - pencil.null @ along
        surplus = combine(self.surplus_image, coordinates) - pencil.null_image @ along
        residual = surplus - combine(self.laplacian_image, coordinates) * mu
        lengths = np.linalg.norm(vectors, axis=0)
        # Q̄ v = B v + b v.
        beliefs = np.linalg.norm(surplus + pencil.b * vectors, axis=0)
        scale = beliefs + (pencil.b + CHEAP * np.abs(mu)) * lengths
        sizes = np.linalg.norm(residual, axis=0) / scale
        # Coordinates are L̄-orthonormal.
        return vectors / lengths, residual / lengths, sizes, lengths**-2.0

    def rotate(self, coordinates: FloatArray) -> None:
        """Shrink the basis to the span of some Ritz vectors."""
        rotation, _ = np.linalg.qr(coordinates)
        images = self.vectors, self.laplacian_image, self.surplus_image
        self._write(0, *[combine(image, rotation) for image in images])
        self.laplacian_form = symmetric(rotation.T @ self.laplacian_form @ rotation)
        self.surplus_form = symmetric(rotation.T @ self.surplus_form @ rotation)


def combine(columns: FloatArray, weights: FloatArray) -> FloatArray:
    """Return columns @ weights, for columns that lie one after another in memory: three times as fast."""
    return (weights.T @ columns.T).T


def unavoidable(pencil: SurplusPencil, mu: FloatArray) -> FloatArray:
    """Return the relative residuals that rounding leaves: that of L̄ v, times μ; at most 1e-6."""
    return LEAST_TOLERANCE + UNIT_ROUNDING * np.abs(mu) / (pencil.b + CHEAP * np.abs(mu))


def few_positive(mu: FloatArray, count: int) -> str:
    """Say that fewer eigenvalues are positive, beyond rounding, than there must be."""
    found = np.count_nonzero(mu > np.finfo(np.float64).eps * np.abs(mu).max(initial=0.0))
    missing = f"only {found} were found" if found < count else "the last one satisfies beta to rounding only"
    return (
        f"There must be {count} feasible cuts, but {missing}: an eigenvalue of Q̄ may coincide with "
        "beta/vol up to rounding. Choose a slightly different beta."
    )


def _failure(mu: FloatArray, sizes: FloatArray, count: int, rounds: int, tolerance: float) -> str:
    if np.count_nonzero(mu > 0) < count:
        return few_positive(mu, count)
    return (
        f"The constrained cut did not converge in {rounds} rounds: the worst relative residual is "
        f"{sizes.max():.1e}, asked for {tolerance:.1e}. Raise tol, or choose a larger beta."
    )


def _corrections(pencil: SurplusPencil, mu: FloatArray, residual: FloatArray, tolerance: float) -> FloatArray:
    """Return (μ L̄ + b I)⁻¹ r; a Ritz value that is not positive yet borrows the size of the others."""
    positive = mu[mu > 0]
    borrowed = positive.min() if positive.size else pencil.b
    shifts = np.where(mu > 0, mu, borrowed)

    def apply(block: FloatArray, columns: IntArray) -> FloatArray:
        return shifts[columns] * pencil.apply_laplacian(block) + pencil.b * block

    return solve_columns(apply, residual, tolerance, INNER_STEPS)


def _border(form: FloatArray, columns: FloatArray, old_width: int) -> FloatArray:
    """Return a symmetric form with further columns; `columns` reach down to the new diagonal."""
    width = columns.shape[0]
    bordered = np.empty((width, width))
    bordered[:old_width, :old_width] = form
    bordered[:, old_width:] = columns
    bordered[old_width:, :old_width] = columns[:old_width].T
    bordered[old_width:, old_width:] = symmetric(columns[old_width:])
    return bordered
