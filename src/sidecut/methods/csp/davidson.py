"""The feasible pairs of a pencil: of a small graph all at once, of a large one by Davidson's iteration."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from sidecut.arrays import FloatArray, IntArray
from sidecut.exceptions import SpectralError
from sidecut.methods.csp.pencil import (
    CHEAP,
    INNER_STEPS,
    NEW,
    SPARE_TOLERANCE,
    SurplusPairs,
    SurplusPencil,
    largest_of_pencil,
    solve_whole,
    symmetric,
    unit,
)
from sidecut.spectral.problem import solve_columns

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

    Parameters
    ----------
    pencil : SurplusPencil
        The problem.
    seeds : array of shape (n, s)
        Vectors to start from: the leading eigenvectors of Q̄, and the answer to a similar problem if known.
    count : int
        How many positive eigenvalues there are, or how many of the largest are wanted.
    tolerance : float, default=1e-6
        The relative residual to reach.
    n_exact : int, optional
        So many of least cost have to reach it on a large graph, the others a tenth; all by default.

    Raises
    ------
    SpectralError
        If the iteration does not converge, or fewer than `count` are positive.
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

    Parameters
    ----------
    pencil : SurplusPencil
        The problem.
    seeds : array of shape (n, s)
        Vectors to start from.
    count : int
        How many.
    tolerance : float
        The relative residual to reach.
    n_exact : int, optional
        So many of least cost have to reach it, the others a tenth; all by default.

    Returns
    -------
    mu, vectors, residuals, rounds
        Eigenvalues in descending order, unit vectors v, their relative residuals, and the rounds it took.

    Raises
    ------
    SpectralError
        If the iteration does not converge.
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
