"""The feasible cuts of a pencil: all of a small graph at once, those of a large one by Davidson's iteration.

An eigenvector of B v = μ L̄ v with B = Q̄ - b I satisfies (μ L̄ + b I) v = Q̄ v. The operator on the left is
well conditioned, and Q̄ acts on few points, so that (μ L̄ + b I)⁻¹, applied by a few conjugate gradient steps,
turns a residual into a correction that converges in a handful of rounds.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from sidecut.arrays import FloatArray, IntArray
from sidecut.exceptions import SpectralError
from sidecut.methods.csp.pencil import (
    CHEAP,
    SurplusPairs,
    SurplusPencil,
    largest_of_pencil,
    solve_whole,
    symmetric,
    unit,
)
from sidecut.spectral.conjugate_gradients import solve_columns

#: Up to this many nodes the whole pencil is decomposed.
DENSE_NODES = 600
#: The correction equations are solved to this relative residual. More exact corrections saved fewer rounds
#: than they took products (set on generated moons and blobs; benchmarks/choices/csp_solver.py).
INNER_TOLERANCE = 0.3
INNER_STEPS = 60
MAX_ROUNDS = 100
#: The basis has at most this many times as many columns as there are wanted vectors, or `ROOM` more than
#: three times as many if that is less; then it is restarted.
BASIS_FACTOR = 8
ROOM = 250
#: The rounding error of L̄ v, with a margin.
UNIT_ROUNDING = 1e-14
#: The least tolerance; what is asked for beyond, `tol=0` too, is as much as rounding leaves.
LEAST_TOLERANCE = 1e-12
#: Directions that a block adds to the basis only by rounding are dropped.
NEW = 1e-10


def feasible_pairs(
    pencil: SurplusPencil, seeds: FloatArray, count: int, tolerance: float = 1e-6
) -> SurplusPairs:
    """Return the `count` largest eigenpairs of B' w = μ L̄ w; all of them must be positive.

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
    mu, vectors, residuals, rounds = solve_davidson(pencil, seeds, count, tolerance)
    return SurplusPairs(mu, vectors, residuals, rounds, pencil.n_products, solver)


def solve_davidson(
    pencil: SurplusPencil, seeds: FloatArray, count: int, tolerance: float
) -> tuple[FloatArray, FloatArray, FloatArray, int]:
    """Return the `count` largest eigenpairs of B' w = μ L̄ w, all of them positive.

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

    Returns
    -------
    mu, vectors, residuals, rounds
        Eigenvalues in descending order, unit vectors v, their relative residuals, and the rounds it took.

    Raises
    ------
    SpectralError
        If the iteration does not converge.
    """
    basis = _Basis(pencil)
    basis.extend(seeds)
    widest = max(min(BASIS_FACTOR * count, 3 * count + ROOM), seeds.shape[1] + 2 * count)
    for rounds in range(MAX_ROUNDS):
        mu, coordinates = largest_of_pencil(basis.surplus_form, basis.laplacian_form, count + 1 + count // 2)
        vectors, residual, sizes = basis.ritz_vectors(mu[:count], coordinates[:, :count])
        worst = (sizes > tolerance + unavoidable(pencil, mu[:count])) | (mu[:count] <= 0)
        if not worst.any() and sizes.size == count:
            return mu[:count], vectors, sizes, rounds
        corrections = _corrections(pencil, mu[:count][worst], residual[:, worst])
        if basis.width + corrections.shape[1] > widest:
            basis.rotate(coordinates)
        if not basis.extend(corrections):
            break
    raise SpectralError(_failure(mu[:count], sizes, count, rounds + 1, tolerance))


class _Basis:
    """A growing orthonormal basis S of N⊥ with its images, and the pencil restricted to it."""

    def __init__(self, pencil: SurplusPencil) -> None:
        self.pencil = pencil
        empty = np.empty((pencil.n, 0))
        self.vectors, self.laplacian_image, self.surplus_image = empty, empty, empty
        self.laplacian_form = np.empty((0, 0))
        self.surplus_form = np.empty((0, 0))

    @property
    def width(self) -> int:
        return self.vectors.shape[1]

    def extend(self, block: FloatArray) -> bool:
        """Add what is new in a block; tell whether anything was."""
        fresh = self._new_directions(block)
        if fresh.shape[1] == 0:
            return False
        laplacian_image = self.pencil.apply_laplacian(fresh)
        surplus_image = self.pencil.apply_surplus(fresh)
        old_width = self.width
        self.vectors = np.hstack([self.vectors, fresh])
        self.laplacian_image = np.hstack([self.laplacian_image, laplacian_image])
        self.surplus_image = np.hstack([self.surplus_image, surplus_image])
        coupling = (self.pencil.null_image.T @ self.vectors).T @ self.pencil.along_null(fresh)
        self.laplacian_form = _border(self.laplacian_form, self.vectors.T @ laplacian_image, old_width)
        self.surplus_form = _border(self.surplus_form, self.vectors.T @ surplus_image - coupling, old_width)
        return True

    def _new_directions(self, block: FloatArray) -> FloatArray:
        block = self.pencil.problem.project(unit(block))
        for _ in range(2):
            block = block - self.vectors @ (self.vectors.T @ block)
        fresh, triangle, _ = scipy.linalg.qr(block, mode="economic", pivoting=True)
        fresh = fresh[:, np.abs(np.diag(triangle)) > NEW]
        # Orthogonal to rounding after a second pass; the null space stays out as well.
        return self.pencil.problem.project(fresh - self.vectors @ (self.vectors.T @ fresh))

    def ritz_vectors(
        self, mu: FloatArray, coordinates: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return unit v, B v - μ L̄ v, and its relative size, all from the stored images."""
        pencil = self.pencil
        blocks = self.vectors @ coordinates
        along = pencil.along_null(blocks)
        vectors = blocks - pencil.null @ along
        surplus = self.surplus_image @ coordinates - pencil.null_image @ along
        residual = surplus - (self.laplacian_image @ coordinates) * mu
        lengths = np.linalg.norm(vectors, axis=0)
        # Q̄ v = B v + b v.
        beliefs = np.linalg.norm(surplus + pencil.b * vectors, axis=0)
        scale = beliefs + (pencil.b + CHEAP * np.abs(mu)) * lengths
        return vectors / lengths, residual / lengths, np.linalg.norm(residual, axis=0) / scale

    def rotate(self, coordinates: FloatArray) -> None:
        """Shrink the basis to the span of some Ritz vectors."""
        rotation, _ = np.linalg.qr(coordinates)
        self.vectors = self.vectors @ rotation
        self.laplacian_image = self.laplacian_image @ rotation
        self.surplus_image = self.surplus_image @ rotation
        self.laplacian_form = symmetric(rotation.T @ self.laplacian_form @ rotation)
        self.surplus_form = symmetric(rotation.T @ self.surplus_form @ rotation)


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


def _corrections(pencil: SurplusPencil, mu: FloatArray, residual: FloatArray) -> FloatArray:
    """Return (μ L̄ + b I)⁻¹ r; a Ritz value that is not positive yet borrows the size of the others."""
    positive = mu[mu > 0]
    borrowed = positive.min() if positive.size else pencil.b
    shifts = np.where(mu > 0, mu, borrowed)

    def apply(block: FloatArray, columns: IntArray) -> FloatArray:
        return shifts[columns] * pencil.apply_laplacian(block) + pencil.b * block

    return solve_columns(apply, residual, INNER_TOLERANCE, INNER_STEPS)


def _border(form: FloatArray, columns: FloatArray, old_width: int) -> FloatArray:
    """Return a symmetric form with further columns; `columns` reach down to the new diagonal."""
    width = columns.shape[0]
    bordered = np.empty((width, width))
    bordered[:old_width, :old_width] = form
    bordered[:, old_width:] = columns
    bordered[old_width:, :old_width] = columns[:old_width].T
    bordered[old_width:, old_width:] = symmetric(columns[old_width:])
    return bordered
