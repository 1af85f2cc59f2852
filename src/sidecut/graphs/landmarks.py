"""Choosing landmarks: a few points that stand for all (SCACS, step 2; Chen & Cai, 2011)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.cluster import kmeans_plusplus
from sklearn.utils import check_random_state

from sidecut.checks import FloatArray, IntArray, check_count, refuse_nonfinite
from sidecut.graphs.chunks import Chunk, RowChunks, RowSource, each_chunk
from sidecut.graphs.graph import Graph, SparseProduct
from sidecut.graphs.landmark_codes import TILE_ROWS, LandmarkCoder, LandmarkSums, code_rows, landmark_sums
from sidecut.graphs.recipes import GraphRecipe
from sidecut.graphs.search import finite_matrix
from sidecut.running import limit_threads

#: Lloyd steps of the rule "kmeans". Landmarks need not be optimal, only well spread.
KMEANS_STEPS = 3

RULES = ("random", "kmeans", "kmeans++")


def choose_landmarks(
    rows: RowSource,
    landmarks: str | npt.ArrayLike = "kmeans",
    n_landmarks: int = 500,
    random_state: int | np.random.RandomState | None = None,
) -> Any:
    """Return the landmarks, one per row, each different from the others.

    Parameters
    ----------
    rows : RowSource
        The points, such as `RowChunks`; read once, or not at all if the landmarks are given.
    landmarks : {"kmeans", "random", "kmeans++"}, row numbers, or array of shape (p, d), default="kmeans"
        "random" draws points, as the paper does; "kmeans" takes the centres of a few steps of k-means on a
        sample of the points; "kmeans++" draws points far from each other out of such a sample. Row numbers or
        the landmarks themselves may be given instead.
    n_landmarks : int, default=500
        p, for the rules; no more than half as many as there are points, so that a landmark joins some.
    random_state : int, RandomState or None
        For the rules. The same seed draws the same rows whatever the form of the source.

    Returns
    -------
    array or csr_array of shape (p, d)
        In float64.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import RowChunks, choose_landmarks
    >>> rows = RowChunks(np.arange(10.0)[:, None])
    >>> choose_landmarks(rows, [7, 2]).ravel()
    array([7., 2.])
    >>> choose_landmarks(rows, "random", 3, random_state=0).shape
    (3, 1)
    """
    if isinstance(landmarks, str):
        if landmarks not in RULES:
            raise ValueError(
                f"landmarks={landmarks!r}: choose {', '.join(map(repr, RULES))}, row numbers, or an array of "
                "landmarks."
            )
        return _by_rule(rows, landmarks, check_count("n_landmarks", n_landmarks), random_state)
    given = sp.csr_array(landmarks) if sp.issparse(landmarks) else np.asarray(landmarks)
    if given.ndim == 1 and given.size and given.dtype.kind in "iu":
        if given.min() < 0 or (rows.n_rows is not None and given.max() >= rows.n_rows):
            outside = given.min() if given.min() < 0 else given.max()
            raise ValueError(f"landmarks names row {outside}; rows are numbered from 0 to n_samples - 1.")
        return distinct(rows.take(given.astype(np.intp)))
    if given.ndim != 2 or 0 in given.shape or given.dtype.kind not in "fiub":
        raise ValueError(
            f"landmarks has shape {given.shape} and dtype {given.dtype}; give row numbers, shape (p,), or "
            "points, shape (p, d)."
        )
    refuse_nonfinite(given, 0, "landmarks")
    return distinct(given)


def distinct(points: Chunk) -> Any:
    """Return the different rows in float64, each where it first appears."""
    # Duplicate landmarks would fill a point's list of nearest ones, or be nearest to no point.
    points = points.astype(np.float64, copy=False)
    # Adding zero turns -0.0 into 0.0, which is equal but has other bytes.
    if sp.issparse(points):
        keys = np.array(
            [(points[[i]].toarray() + 0.0).tobytes() for i in range(points.shape[0])], dtype=object
        )
    else:
        rows = np.ascontiguousarray(points + 0.0)
        keys = rows.view(np.dtype((np.void, 8 * rows.shape[1]))).ravel()
    return points[np.sort(np.unique(keys, return_index=True)[1])]


def _by_rule(
    rows: RowSource, rule: str, n_landmarks: int, random_state: int | np.random.RandomState | None
) -> Any:
    rng = check_random_state(random_state)
    # More than 10 rows per landmark change the landmarks little and cost much.
    size = n_landmarks if rule == "random" else 10 * n_landmarks
    sample, n_rows = rows.sampled(size, rng)
    sample = distinct(sample)
    n_landmarks = min(n_landmarks, max(n_rows // 2, 1))
    if sample.shape[0] <= n_landmarks:
        return sample
    if rule == "random":
        return sample[np.sort(rng.choice(sample.shape[0], n_landmarks, replace=False))]
    if rule == "kmeans++":
        return sample[kmeans_plusplus(_shrink(sample)[0], n_landmarks, random_state=rng)[1]]
    start = np.sort(rng.choice(sample.shape[0], n_landmarks, replace=False))
    shrunk, exponent = _shrink(sample)
    return distinct(np.ldexp(_lloyd(shrunk, start), exponent))


def _shrink(sample: Chunk) -> tuple[Chunk, int]:
    """Return points beyond 2^500 divided by a power of two, so that sums are finite, and its exponent."""
    numbers = sample.data if sp.issparse(sample) else sample
    exponent = int(np.frexp(np.abs(numbers).max(initial=0.0))[1])
    if exponent < 500:
        return sample, 0
    return sample * np.ldexp(1.0, -exponent), exponent


def _lloyd(sample: Chunk, start: IntArray) -> FloatArray:
    """Return the centres after a few steps of k-means from some of the points."""
    # Sums are made tile by tile in their order, so that threads do not change the last digits.
    # Moved and scaled, squares neither overflow nor lose the digits in which points differ.
    middle = np.zeros(sample.shape[1]) if sp.issparse(sample) else sample.mean(axis=0)
    points = sample if sp.issparse(sample) else sample - middle
    numbers = points.data if sp.issparse(points) else points
    largest = float(max(numbers.max(initial=0.0), -numbers.min(initial=0.0))) or 1.0
    points = points / largest
    centers = points[start].toarray() if sp.issparse(points) else points[start]
    tiles = [points[first : first + TILE_ROWS] for first in range(0, points.shape[0], TILE_ROWS)]
    for _ in range(KMEANS_STEPS):
        found = list(each_chunk(partial(_nearest_sums, centers), tiles))
        counts = np.sum([count for _, count in found], axis=0)
        there = counts > 0
        centers[there] = np.sum([more for more, _ in found], axis=0)[there] / counts[there, None]
    return largest * centers + middle


def _nearest_sums(centers: FloatArray, points: Chunk) -> tuple[FloatArray, FloatArray]:
    """Return the sum of the points nearest to each centre, and how many they are."""
    nearest = (np.einsum("ij,ij->i", centers, centers) - 2.0 * (points @ centers.T)).argmin(axis=1)
    n_points = points.shape[0]
    shape = (n_points, centers.shape[0])
    member = sp.csr_array((np.ones(n_points), nearest, np.arange(n_points + 1)), shape=shape)
    sums = member.T @ points
    return (sums.toarray() if sp.issparse(sums) else sums), np.asarray(member.sum(axis=0), dtype=np.float64)


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
    >>> graph.toarray().round(3)
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

    def weights_at(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the weights of some pairs of nodes, from the codes of both."""
        products = self.factor[rows].multiply(self.factor[columns])
        return np.asarray(products.sum(axis=1), dtype=np.float64).ravel()

    @cached_property
    def components(self) -> IntArray:
        """The connected component of every node, through the landmarks that points share."""
        of_landmark = landmark_components(self.sums)
        # Any landmark of a point will do, except one whose weight vanished in floating point.
        firm = sp.csr_array(self.codes)
        firm.eliminate_zeros()
        return of_landmark[firm.indices[firm.indptr[:-1]]]


def landmark_components(sums: LandmarkSums) -> IntArray:
    """Return the connected component of every landmark: those that code a common point are linked.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from sidecut.graphs import landmark_sums
    >>> from sidecut.graphs.landmarks import landmark_components
    >>> landmark_components(landmark_sums(sp.csr_array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])))
    array([0, 0, 1])
    """
    return connected_components(sp.csr_array(sums.gram > 0), directed=False)[1].astype(np.intp)


def component_sizes(sums: LandmarkSums) -> IntArray:
    """Return how many points each component has: the degree of its landmarks, since codes sum to one."""
    return np.rint(np.bincount(landmark_components(sums), weights=sums.degrees)).astype(np.intp)


@dataclass(eq=False, repr=False)
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

    n_landmarks: int = 500
    n_nearest: int = 3
    _: KW_ONLY
    landmarks: str | npt.ArrayLike = "kmeans"
    sigma: float | str = "mean"
    random_state: int | np.random.RandomState | None = None

    def build(self, X: npt.NDArray) -> LandmarkGraph:
        """Return the landmark graph of the points X."""
        rows = RowChunks(finite_matrix(X))
        with limit_threads():
            chosen = choose_landmarks(rows, self.landmarks, self.n_landmarks, self.random_state)
            codes = code_rows(rows, LandmarkCoder(chosen, self.n_nearest), sigma=self.sigma)
            return LandmarkGraph(codes.matrix, codes.sums)
