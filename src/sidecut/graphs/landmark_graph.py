"""The graph Ĝ = ẐᵀẐ in which points are as near as their codes over landmarks (SCACS, section 2.2)."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from sidecut.graphs.chunks import RowChunks
from sidecut.graphs.graph import FloatArray, Graph
from sidecut.graphs.landmark_codes import LandmarkCoder, LandmarkSums, landmark_sums
from sidecut.graphs.landmark_rows import code_rows
from sidecut.graphs.landmarks import choose_landmarks
from sidecut.graphs.points import finite_matrix
from sidecut.graphs.products import SparseProduct
from sidecut.graphs.recipes import GraphRecipe
from sidecut.graphs.threads import limited_threads


class LandmarkGraph(Graph):
    """The graph Ĝ = ẐᵀẐ, Ẑ = D^{-1/2} Z, known by its codes; every degree is one.

    Points are linked when they share a landmark. Self-loops are part of it. A product costs as much as two
    with the codes.

    Parameters
    ----------
    codes : sparse array of shape (n, p)
        Zᵀ: nonnegative, each row summing to one, and no column without entries.
    sums : LandmarkSums, optional
        What the codes add up to, where it is already known.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from sidecut.graphs import LandmarkGraph
    >>> graph = LandmarkGraph(sp.csr_array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]))
    >>> graph.to_dense().round(3)
    array([[0.667, 0.333, 0.   ],
           [0.333, 0.333, 0.333],
           [0.   , 0.333, 0.667]])
    """

    def __init__(self, codes: sp.csr_array, sums: LandmarkSums | None = None) -> None:
        self.codes = codes
        self.sums = landmark_sums(codes) if sums is None else sums
        self.n_nodes = int(codes.shape[0])

    @property
    def n_landmarks(self) -> int:
        """How many landmarks there are."""
        return int(self.codes.shape[1])

    @cached_property
    def factor(self) -> sp.csr_array:
        """Ẑᵀ = Zᵀ D^{-1/2}."""
        scale = 1.0 / np.sqrt(self.sums.degrees)
        data = self.codes.data * scale[self.codes.indices]
        return sp.csr_array((data, self.codes.indices, self.codes.indptr), shape=self.codes.shape)

    @cached_property
    def _products(self) -> tuple[SparseProduct, SparseProduct]:
        return SparseProduct(self.factor), SparseProduct(sp.csr_array(self.factor.T))

    @cached_property
    def degrees(self) -> FloatArray:
        """One for every node: ẐᵀẐ 1 = Zᵀ D⁻¹ D 1 = 1."""
        return np.ones(self.n_nodes)

    def apply(self, block: FloatArray) -> FloatArray:
        """Return Ĝ @ block."""
        points, landmarks = self._products
        return points(landmarks(block))

    def weights_at(self, rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp]) -> FloatArray:
        """Return the weights of some pairs of nodes, from the codes of both."""
        products = self.factor[rows].multiply(self.factor[columns])
        return np.asarray(products.sum(axis=1), dtype=np.float64).ravel()

    @cached_property
    def components(self) -> npt.NDArray[np.intp]:
        """The connected component of every node, through the landmarks that points share."""
        of_landmark = landmark_components(self.sums)
        # Any landmark of a point will do, except one whose weight vanished in floating point.
        firm = sp.csr_array(self.codes)
        firm.eliminate_zeros()
        return of_landmark[firm.indices[firm.indptr[:-1]]]


def landmark_components(sums: LandmarkSums) -> npt.NDArray[np.intp]:
    """Return the connected component of every landmark: those that code a common point are linked.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from sidecut.graphs import landmark_sums
    >>> from sidecut.graphs.landmark_graph import landmark_components
    >>> landmark_components(landmark_sums(sp.csr_array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])))
    array([0, 0, 1])
    """
    return connected_components(sp.csr_array(sums.gram > 0), directed=False)[1].astype(np.intp)


def component_sizes(sums: LandmarkSums) -> npt.NDArray[np.intp]:
    """Return how many points each component has: as many as its landmarks have degree, codes summing to one.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from sidecut.graphs import landmark_sums
    >>> from sidecut.graphs.landmark_graph import component_sizes
    >>> component_sizes(landmark_sums(sp.csr_array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])))
    array([2, 1])
    """
    return np.rint(np.bincount(landmark_components(sums), weights=sums.degrees)).astype(np.intp)


class Landmarks(GraphRecipe):
    """The landmark graph: every point coded over its nearest landmarks, in time and memory linear in n.

    Parameters
    ----------
    n_landmarks : int, default=500
        p, how many landmarks are chosen; no more than half as many as there are points.
    n_nearest : int, default=3
        r, how many landmarks code a point.
    landmarks : {"kmeans", "random", "kmeans++"}, row numbers or array of shape (p, d), default="kmeans"
        How landmarks are chosen, see `choose_landmarks`, or which they are.
    sigma : float or "mean", default="mean"
        The width of the Gaussian weights; "mean" is the mean distance between all points and landmarks.
    random_state : int, RandomState or None
        For the choice.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import Landmarks
    >>> line = np.arange(100.0)[:, None]
    >>> graph = Landmarks(10, random_state=0).build(line)
    >>> graph.n_landmarks, graph.n_components, float(graph.volume)
    (10, 1, 100.0)
    """

    def __init__(
        self,
        n_landmarks: int = 500,
        n_nearest: int = 3,
        *,
        landmarks: str | npt.ArrayLike = "kmeans",
        sigma: float | str = "mean",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.n_nearest = n_nearest
        self.landmarks = landmarks
        self.sigma = sigma
        self.random_state = random_state

    def build(self, X: npt.NDArray) -> LandmarkGraph:
        """Return the landmark graph of the points X."""
        rows = RowChunks(finite_matrix(X))
        with limited_threads():
            chosen = choose_landmarks(rows, self.landmarks, self.n_landmarks, self.random_state)
            codes = code_rows(rows, LandmarkCoder(chosen, self.n_nearest), sigma=self.sigma)
            return LandmarkGraph(codes.matrix, codes.sums)
