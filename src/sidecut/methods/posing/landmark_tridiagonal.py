"""The p x p problem in tridiagonal form, which takes a quarter of the time of all eigenvectors of Ŝ."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import scipy.linalg

from sidecut.graphs import LandmarkSums
from sidecut.methods.posing.landmark_problem import normalized_gram, null_vectors
from sidecut.spectral.result import FloatArray
from sidecut.spectral.tridiagonal import Tridiagonal, banded_product, low_rank_pairs, tridiagonalized

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
        rest = self.rotation.turned(block - self.deflated @ (self.deflated.T @ block))
        rest = scipy.linalg.solve_banded((1, 0), self.root, rest, check_finite=False)
        return np.vstack([self.null.T @ block, rest])

    def combined(self, y: FloatArray) -> FloatArray:
        """Return u = T @ y."""
        upper = np.array([np.append(0.0, self.root[1, :-1]), self.root[0]])
        rest = scipy.linalg.solve_banded((0, 1), upper, y[self.n_null :], check_finite=False)
        return self.null @ y[: self.n_null] + self.rotation.turned_back(rest)

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
        """Return the positive eigenpairs of (W G Wᵀ - level) w = μ TᵀAT w outside the null space.

        See `LandmarkBasis.positive_pairs`; a SpectralError may also say that they were not found to rounding.
        """
        return low_rank_pairs(self.band, factor, form, level, count)


def tridiagonal_basis(sums: LandmarkSums) -> TridiagonalBasis | None:
    """Return the tridiagonal form of Ŝ, or None where Ŝ is not regular.

    Parameters
    ----------
    sums : LandmarkSums
        Degrees and gram matrix of two landmarks or more.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from sidecut.graphs import landmark_sums
    >>> from sidecut.methods.posing.landmark_tridiagonal import tridiagonal_basis
    >>> sums = landmark_sums(sp.csr_array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]))
    >>> basis = tridiagonal_basis(sums)
    >>> T = basis.combined(np.eye(3))
    >>> basis.coordinates(T).shape
    (3, 3)
    """
    null, trivial = null_vectors(sums)
    rotation = tridiagonalized(normalized_gram(sums) - APART * null @ null.T)
    band = np.array([rotation.diagonal, np.append(rotation.beside, 0.0)])
    try:
        # Sylvester's law of inertia: T - εI has a Cholesky factor if and only if all eigenvalues exceed ε.
        scipy.linalg.cholesky_banded(band - [[REGULAR], [0.0]], lower=True)
        root = scipy.linalg.cholesky_banded(band, lower=True)
    except scipy.linalg.LinAlgError:
        return None
    return TridiagonalBasis(null, null, trivial, rotation, root)
