"""Davidson's iteration for the feasible cuts of large graphs.

An eigenvector of B v = μ L̄ v with B = Q̄ - b I satisfies (μ L̄ + b I) v = Q̄ v. The operator on the left is
well conditioned, and Q̄ acts on few points, so that (μ L̄ + b I)⁻¹, applied by a few conjugate gradient steps,
turns a residual into a correction that converges in a handful of rounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg

from sidecut.arrays import FloatArray, IntArray
from sidecut.exceptions import SpectralError
from sidecut.spectral.conjugate_gradients import solve_columns

if TYPE_CHECKING:
    from sidecut.methods.csp.pencil import SurplusPencil

#: The correction equations are solved to this relative residual; the outer iteration does the rest.
INNER_TOLERANCE = 0.03
INNER_STEPS = 60
MAX_ROUNDS = 100
#: The basis has at most this many times as many columns as there are wanted vectors, or `ROOM` more than
#: three times as many if that is less; then it is restarted.
BASIS_FACTOR = 8
ROOM = 250
#: The rounding error of L̄ v, with a margin.
UNIT_ROUNDING = 1e-14
#: Below this a cut costs nothing but rounding: residuals of eq. 13 are told relative to no less.
CHEAP = 1e-8
#: The least tolerance; what is asked for beyond, `tol=0` too, is as much as rounding leaves.
LEAST_TOLERANCE = 1e-12
#: Directions that a block adds to the basis only by rounding are dropped.
NEW = 1e-10


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


def largest_of_pencil(A: FloatArray, B: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the `count` largest eigenvalues of A x = μ B x, descending, and B-orthonormal vectors.

    Parameters
    ----------
    A, B : arrays of shape (k, k)
        Symmetric; B positive definite.
    count : int
        How many; all if there are fewer.

    Raises
    ------
    SpectralError
        If B is not positive definite in floating point.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.csp.davidson import largest_of_pencil
    >>> largest_of_pencil(np.diag([1.0, -4.0, 9.0]), np.diag([1.0, 1.0, 3.0]), 2)[0]
    array([3., 1.])
    """
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


def unit(block: FloatArray) -> FloatArray:
    """Scale every column to length one, zero columns left as they are."""
    lengths = np.linalg.norm(block, axis=0)
    return block / np.where(lengths > 0, lengths, 1.0)


def symmetric(matrix: FloatArray) -> FloatArray:
    """Return the symmetric part of a matrix."""
    return 0.5 * (matrix + matrix.T)
