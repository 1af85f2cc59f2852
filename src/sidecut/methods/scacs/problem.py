"""The p x p problem that landmarks leave of the n x n one: Ŝ, its range, and eigenvectors that span it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.linalg

from sidecut.arrays import FloatArray
from sidecut.exceptions import SpectralError
from sidecut.graphs import LandmarkSums, landmark_components
from sidecut.spectral.problem import orient

#: Directions in which Ŝ is smaller than this are outside its range: v = Ẑᵀu would be nothing but rounding.
RANK_TOLERANCE = 1e-10
#: A cut that costs less than this counts as free while the others are computed: 1/cost would drown them in
#: rounding, and to leave it out changes them by no more than the cost itself.
CHEAP = 1e-8


@dataclass(frozen=True)
class LandmarkBasis:
    """Vectors u for which v = Ẑᵀu are orthonormal singular vectors of Ẑ, hence eigenvectors of L = I - Ĝ.

    Attributes
    ----------
    vectors : array of shape (p, m)
        T with TᵀŜT = I. The first `n_null` are D^{1/2} 1_C scaled, one for every component C of the graph.
    costs : array of shape (m,)
        vᵀLv = uᵀAu, ascending: 1 minus the eigenvalues of Ŝ, exactly zero for the first `n_null`.
    trivial : array of shape (n_null,)
        The constant vector 1/√n in terms of the first vectors; empty where it has been taken out.
    n_null : int
        How many components the graph has.
    """

    vectors: FloatArray
    costs: FloatArray
    trivial: FloatArray
    n_null: int
    solver: ClassVar[str] = "dense (LAPACK)"

    @property
    def rank(self) -> int:
        """How many dimensions the cuts have."""
        return int(self.costs.size)

    @property
    def n_cheap(self) -> int:
        """How many of the vectors cost nothing, or next to nothing; the first ones."""
        return int(np.count_nonzero(self.costs < CHEAP))

    def coordinates(self, block: FloatArray) -> FloatArray:
        """Return Tᵀ @ block."""
        return self.vectors.T @ block

    def combine(self, y: FloatArray) -> FloatArray:
        """Return u = T @ y."""
        return self.vectors @ y

    def laplacian(self, y: FloatArray) -> FloatArray:
        """Return TᵀAT @ y."""
        return self.costs[:, None] * y

    def without_trivial(self) -> LandmarkBasis:
        """Return the basis of the cuts v that are orthogonal to the constant one."""
        across = scipy.linalg.null_space(self.trivial[None, :])
        vectors = np.hstack([self.vectors[:, : self.n_null] @ across, self.vectors[:, self.n_null :]])
        return LandmarkBasis(vectors, self.costs[1:], np.empty(0), self.n_null - 1)

    def positive_pairs(
        self, factor: FloatArray, form: FloatArray, level: float, count: int
    ) -> tuple[FloatArray, FloatArray]:
        """Return the positive eigenpairs of (W G Wᵀ - level) w = μ TᵀAT w among vectors with a cost.

        Parameters
        ----------
        factor : array of shape (m - n_cheap, r)
            W.
        form : array of shape (r, r)
            G.
        level : float
            What beliefs must exceed.
        count : int
            How many there are.

        Returns
        -------
        mu, w : arrays of shape (count,) and (m - n_cheap, count)
            The largest first.

        Raises
        ------
        SpectralError
            If there are fewer.
        """
        costs = self.costs[self.n_cheap :]
        m, scale = costs.size, 1.0 / np.sqrt(costs)
        if count > m:
            raise SpectralError(f"{count} feasible cuts were counted, but only {m} directions have a cost.")
        scaled = scale[:, None] * factor
        surplus = scaled @ form @ scaled.T
        surplus[np.diag_indices_from(surplus)] -= level / costs
        mu, w = scipy.linalg.eigh(surplus, subset_by_index=(m - count, m - 1))
        if not mu[0] > 0:
            raise SpectralError(
                f"{count} feasible cuts were counted, but eq. 16 has only {np.count_nonzero(mu > 0)} "
                "positive eigenvalues: beta is within rounding of an eigenvalue γ. Choose a slightly "
                "different beta."
            )
        return mu[::-1], scale[:, None] * w[:, ::-1]


def normalize_gram(sums: LandmarkSums, gram: FloatArray | None = None) -> FloatArray:
    """Return D^{-1/2} M D^{-1/2}: Ŝ for M = Z Zᵀ, the default, and Q̂ for M = Z Q Zᵀ (step 4).

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from sidecut.graphs import landmark_sums
    >>> from sidecut.methods.scacs.problem import normalize_gram
    >>> normalize_gram(landmark_sums(sp.csr_array([[1.0, 0.0], [0.0, 1.0]])))
    array([[1., 0.],
           [0., 1.]])
    """
    scale = 1.0 / np.sqrt(sums.degrees)
    return scale[:, None] * (sums.gram if gram is None else gram) * scale


def landmark_basis(sums: LandmarkSums, n_vectors: int | None = None) -> LandmarkBasis:
    """Return the singular vectors of Ẑ through the eigenvectors of Ŝ, those of least cost first.

    The null space of L is known beforehand: for a component C, Ŝ D^{1/2} 1_C = D^{1/2} 1_C. It is taken out,
    so that cuts which cost nothing are told from cuts which cost little however near the eigenvalues are.

    Parameters
    ----------
    sums : LandmarkSums
        Degrees and gram matrix of the landmarks.
    n_vectors : int, optional
        At least how many, if there are so many; the whole range of Ŝ by default. There is always one for
        every component.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from sidecut.graphs import landmark_sums
    >>> from sidecut.methods.scacs.problem import landmark_basis
    >>> basis = landmark_basis(landmark_sums(sp.csr_array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])))
    >>> basis.costs.round(4), basis.vectors.shape
    (array([0.    , 0.3333]), (2, 2))
    """
    null, trivial = null_vectors(sums)
    p, n_null = null.shape
    n_more = p - n_null if n_vectors is None else min(max(n_vectors - n_null, 0), p - n_null)
    # The null vectors move to eigenvalue -1, away from small ones, with which they would mix at 0.
    deflated = normalize_gram(sums) - 2.0 * null @ null.T
    whole = n_more > p // 4
    chosen = None if whole else (p - n_more, p - 1)
    if n_more == 0:
        values, vectors = np.empty(0), np.empty((p, 0))
    else:
        values, vectors = scipy.linalg.eigh(
            deflated, subset_by_index=chosen, driver="evd" if whole else "evr"
        )
    order = np.argsort(-values, kind="stable")[:n_more]
    order = order[values[order] > RANK_TOLERANCE]
    scaled = orient(vectors[:, order]) / np.sqrt(values[order])
    # No cut across a component costs nothing, however little is left of it in floating point.
    least = np.finfo(np.float64).eps
    costs = np.concatenate([np.zeros(n_null), np.maximum(1.0 - values[order], least)])
    return LandmarkBasis(np.hstack([null, scaled]), costs, trivial, n_null)


def null_vectors(sums: LandmarkSums) -> tuple[FloatArray, FloatArray]:
    """Return D^{1/2} 1_C / √|C| for every component C, largest first, and 1/√n in terms of them.

    The landmarks of a component have as much degree together as it has points, since every code sums to one.
    """
    component = landmark_components(sums)
    sizes = np.bincount(component, weights=sums.degrees)
    order = np.argsort(-sizes, kind="stable")
    place = np.empty(order.size, dtype=np.intp)
    place[order] = np.arange(order.size)
    null = np.zeros((component.size, order.size))
    null[np.arange(component.size), place[component]] = np.sqrt(sums.degrees / sizes[component])
    return null, np.sqrt(sizes[order] / sums.n_rows)
