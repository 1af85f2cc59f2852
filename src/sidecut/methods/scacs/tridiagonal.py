"""Feasible cuts where the Laplacian is tridiagonal and beliefs have a low rank, to rounding.

With W G Wᵀ the beliefs, an eigenvector of (W G Wᵀ - b I) y = μ L y satisfies

    y = (μ L + b I)⁻¹ W s,        s = G Wᵀ y,

and where L is tridiagonal such a solution costs no more than reading W. So the space that a few μ span is
searched first, all s at once, and corrected at the μ it yields (Rayleigh and Ritz; compare `davidson`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import scipy.linalg
from scipy.linalg import lapack

from sidecut.arrays import FloatArray
from sidecut.exceptions import SpectralError
from sidecut.graphs import LandmarkSums
from sidecut.methods.csp.davidson import few_positive
from sidecut.methods.csp.pencil import largest_of_pencil, symmetric, unit
from sidecut.methods.scacs.problem import CHEAP, normalize_gram, null_vectors

#: The first μ, in units of b. L lies between 0 and 1: below one unit it hardly matters.
FIRST_SHIFTS = (5.0, 30.0, 200.0, 2000.0)
#: A residual of so much of the forms' sizes is rounding. It is reached in two to four rounds, or not at all:
#: rounding grows to b over the least eigenvalue of L.
ROUNDING = 1e-12
MAX_ROUNDS = 8
#: LAPACK works on so many columns at a time, if it has room.
BLOCK = 64


@dataclass(frozen=True)
class Tridiagonal:
    """A symmetric matrix H T Hᵀ with orthogonal H and tridiagonal T.

    Attributes
    ----------
    diagonal : array of shape (p,)
        The diagonal of T.
    beside : array of shape (p - 1,)
        The entries beside it.
    reflectors : array of shape (p - 1, p - 1)
        H as the reflections LAPACK has found, each in the lower part of a column.
    scales : array of shape (p - 1,)
        How far each reflects.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.scacs.tridiagonal import tridiagonalize
    >>> matrix = np.array([[2.0, 3.0, 4.0], [3.0, 2.0, 0.0], [4.0, 0.0, 2.0]])
    >>> form = tridiagonalize(matrix)
    >>> form.diagonal, np.abs(form.beside).round(12)
    (array([2., 2., 2.]), array([5., 0.]))
    >>> form.turn(matrix @ form.turn_back(np.eye(3))).round(12)[0, :2]
    array([ 2., -5.])
    """

    diagonal: FloatArray
    beside: FloatArray
    reflectors: FloatArray
    scales: FloatArray

    def turn(self, block: FloatArray) -> FloatArray:
        """Return Hᵀ @ block."""
        return self._reflect(block, "T")

    def turn_back(self, block: FloatArray) -> FloatArray:
        """Return H @ block."""
        return self._reflect(block, "N")

    def _reflect(self, block: FloatArray, trans: str) -> FloatArray:
        # H leaves the first coordinate alone.
        room = BLOCK * (block.shape[1] + BLOCK + 1)
        rest, _, _ = lapack.dormqr("L", trans, self.reflectors, self.scales, block[1:], lwork=room)
        return np.concatenate([block[:1], rest])


def tridiagonalize(matrix: FloatArray) -> Tridiagonal:
    """Return a symmetric matrix of two rows or more in tridiagonal form, see `Tridiagonal`."""
    reflectors, diagonal, beside, scales, _ = lapack.dsytrd(matrix, lower=1, lwork=BLOCK * len(matrix))
    return Tridiagonal(diagonal, beside, np.asfortranarray(reflectors[1:, :-1]), scales)


def banded_product(band: FloatArray, block: FloatArray) -> FloatArray:
    """Return the product of a symmetric tridiagonal matrix and a block.

    Parameters
    ----------
    band : array of shape (2, p)
        Its diagonal, and below the entries beside it with something at the end.
    block : array of shape (p, m)
        The block.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.scacs.tridiagonal import banded_product
    >>> banded_product(np.array([[2.0, 2.0, 2.0], [1.0, 5.0, 0.0]]), np.eye(3))
    array([[2., 1., 0.],
           [1., 2., 5.],
           [0., 5., 2.]])
    """
    product = band[0, :, None] * block
    beside = band[1, :-1, None]
    product[:-1] += beside * block[1:]
    product[1:] += beside * block[:-1]
    return product


def low_rank_pairs(
    laplacian: FloatArray, factor: FloatArray, form: FloatArray, b: float, count: int
) -> tuple[FloatArray, FloatArray]:
    """Return the positive eigenpairs of (W G Wᵀ - b I) y = μ L y for a tridiagonal L.

    Parameters
    ----------
    laplacian : array of shape (2, p)
        L as in `banded_product`; positive definite, and at most one.
    factor : array of shape (p, r)
        W.
    form : array of shape (r, r)
        G, symmetric.
    b : float
        Positive.
    count : int
        How many there are.

    Returns
    -------
    mu : array of shape (count,)
        Descending.
    vectors : array of shape (p, count)
        yᵀLy = 1.

    Raises
    ------
    SpectralError
        If fewer are positive, or the residuals do not come down to rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.scacs.tridiagonal import low_rank_pairs
    >>> laplacian, beliefs = np.array([[0.5, 1.0], [0.0, 0.0]]), np.diag([3.0, 2.0])
    >>> low_rank_pairs(laplacian, np.eye(2), beliefs, b=1.0, count=2)[0].round(12)
    array([4., 1.])
    """
    basis = _orthonormal(*(_solve(laplacian, b * shift, b, factor) for shift in FIRST_SHIFTS))
    size = np.linalg.norm(form @ (factor.T @ factor)) + b
    for _ in range(MAX_ROUNDS):
        mu, vectors, residual = _ritz_pairs(basis, laplacian, factor, form, b, count)
        relative = np.linalg.norm(residual, axis=0) / np.linalg.norm(vectors, axis=0) / (size + np.abs(mu))
        worse = relative > ROUNDING
        if not worse.any() and mu[-1] > 0:
            return mu, vectors
        basis = _orthonormal(
            basis, *_corrections(laplacian, np.maximum(mu[worse], 0.0), b, residual[:, worse])
        )
    if not mu[-1] > 0:
        raise SpectralError(few_positive(mu, count))
    raise SpectralError(f"Feasible cuts were found to a relative residual of {relative.max():.1e} only.")


def _corrections(laplacian: FloatArray, mu: FloatArray, b: float, residual: FloatArray) -> list[FloatArray]:
    """Return (μ_j L + b I)⁻¹ r_j for every column."""
    return [_solve(laplacian, mu[j], b, residual[:, [j]]) for j in range(mu.size)]


def _solve(laplacian: FloatArray, mu: float, b: float, block: FloatArray) -> FloatArray:
    """Return (μ L + b I)⁻¹ @ block."""
    shifted = mu * laplacian
    shifted[0] += b
    return scipy.linalg.solveh_banded(shifted, block, lower=True, check_finite=False)


def _orthonormal(*blocks: FloatArray) -> FloatArray:
    return np.linalg.qr(np.hstack([unit(block) for block in blocks]))[0]


def _ritz_pairs(
    basis: FloatArray, laplacian: FloatArray, factor: FloatArray, form: FloatArray, b: float, count: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the largest μ in a space, their vectors with yᵀLy = 1, and W G Wᵀy - b y - μ L y."""
    image, rows = banded_product(laplacian, basis), factor.T @ basis
    surplus = symmetric(rows.T @ form @ rows)
    surplus[np.diag_indices_from(surplus)] -= b
    mu, weights = largest_of_pencil(surplus, symmetric(basis.T @ image), count)
    vectors = basis @ weights
    residual = factor @ (form @ (rows @ weights)) - b * vectors - mu * (image @ weights)
    return mu, vectors, residual


# The p x p problem in tridiagonal form, which takes a quarter of the time of all eigenvectors of Ŝ.

#: Where Ŝ has a smaller eigenvalue, its eigenvectors tell better what is in its range.
REGULAR = 1e-8
#: The null vectors of A are moved here, away from both ends of the spectrum of Ŝ.
APART = 0.5


@dataclass(frozen=True)
class TridiagonalBasis:
    """Vectors u for which v = Ẑᵀu are orthonormal and vᵀLv is tridiagonal, where Ŝ is regular.

    With N the null vectors of A and Ŝ - N Nᵀ/2 = H R Rᵀ Hᵀ, R bidiagonal, they are N and H R⁻ᵀ, of which the
    former have no part in the latter: TᵀŜT = I, and TᵀAT = I - RᵀR is tridiagonal.

    Attributes
    ----------
    deflated : array of shape (p, c)
        N, one vector for every component.
    null : array of shape (p, n_null)
        N, or what is left of it where the constant cut has been taken out.
    trivial : array of shape (n_null,)
        The constant vector 1/√n in terms of N; empty where it has been taken out.
    rotation : Tridiagonal
        H.
    root : array of shape (2, p)
        R, its diagonal and what lies below.
    """

    deflated: FloatArray
    null: FloatArray
    trivial: FloatArray
    rotation: Tridiagonal
    root: FloatArray
    solver: ClassVar[str] = "tridiagonal (LAPACK) and rational subspace"

    @property
    def n_null(self) -> int:
        """How many of the vectors cost nothing."""
        return int(self.null.shape[1])

    @property
    def n_cheap(self) -> int:
        """As many: where others cost next to nothing there is no tridiagonal form."""
        return self.n_null

    @property
    def rank(self) -> int:
        """How many dimensions the cuts have; one less where the constant cut has been taken out."""
        return int(self.null.shape[0]) - self.deflated.shape[1] + self.n_null

    @property
    def band(self) -> FloatArray:
        """I - RᵀR, its diagonal and what lies below."""
        diagonal, below = self.root
        beside = np.append(below[:-1] * diagonal[1:], 0.0)
        return np.array([1.0 - diagonal**2 - below**2, -beside])

    def coordinates(self, block: FloatArray) -> FloatArray:
        """Return Tᵀ @ block."""
        rest = self.rotation.turn(block - self.deflated @ (self.deflated.T @ block))
        rest = scipy.linalg.solve_banded((1, 0), self.root, rest, check_finite=False)
        return np.vstack([self.null.T @ block, rest])

    def combine(self, y: FloatArray) -> FloatArray:
        """Return u = T @ y."""
        upper = np.array([np.append(0.0, self.root[1, :-1]), self.root[0]])
        rest = scipy.linalg.solve_banded((0, 1), upper, y[self.n_null :], check_finite=False)
        return self.null @ y[: self.n_null] + self.rotation.turn_back(rest)

    def laplacian(self, y: FloatArray) -> FloatArray:
        """Return TᵀAT @ y."""
        return np.vstack([np.zeros((self.n_null, y.shape[1])), banded_product(self.band, y[self.n_null :])])

    def without_trivial(self) -> TridiagonalBasis:
        """Return the basis of the cuts v that are orthogonal to the constant one."""
        across = scipy.linalg.null_space(self.trivial[None, :])
        return replace(self, null=self.null @ across, trivial=np.empty(0))

    def positive_pairs(
        self, factor: FloatArray, form: FloatArray, level: float, count: int
    ) -> tuple[FloatArray, FloatArray]:
        """Return the positive eigenpairs of (W G Wᵀ - level) w = μ TᵀAT w among vectors with a cost.

        See `LandmarkBasis.positive_pairs`; a SpectralError may also say that they were not found to rounding.
        """
        return low_rank_pairs(self.band, factor, form, level, count)


def tridiagonal_basis(sums: LandmarkSums) -> TridiagonalBasis | None:
    """Return the tridiagonal form of Ŝ, or None where Ŝ is not regular or a cut costs next to nothing.

    Parameters
    ----------
    sums : LandmarkSums
        Degrees and gram matrix of two landmarks or more.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from sidecut.graphs import landmark_sums
    >>> from sidecut.methods.scacs.tridiagonal import tridiagonal_basis
    >>> sums = landmark_sums(sp.csr_array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]))
    >>> basis = tridiagonal_basis(sums)
    >>> T = basis.combine(np.eye(3))
    >>> basis.coordinates(T).shape
    (3, 3)
    """
    null, trivial = null_vectors(sums)
    rotation = tridiagonalize(normalize_gram(sums) - APART * null @ null.T)
    band = np.array([rotation.diagonal, np.append(rotation.beside, 0.0)])
    try:
        # Sylvester's law of inertia: T - εI has a Cholesky factor if and only if all eigenvalues exceed ε.
        scipy.linalg.cholesky_banded(band - [[REGULAR], [0.0]], lower=True)
        root = scipy.linalg.cholesky_banded(band, lower=True)
        basis = TridiagonalBasis(null, null, trivial, rotation, root)
        # The same for I - RᵀR: no cut outside the null space is cheaper than this.
        scipy.linalg.cholesky_banded(basis.band - [[CHEAP], [0.0]], lower=True)
    except scipy.linalg.LinAlgError:
        return None
    return basis
