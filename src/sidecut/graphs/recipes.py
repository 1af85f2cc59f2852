"""Recipes: how data become a graph, as small objects with scikit-learn parameters.

An estimator takes `affinity="knn"`, the name of a recipe with its usual settings, or a recipe itself where
one wants to choose: `affinity=Neighbors(15, weights="gaussian", sigma="median")`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from sidecut.checks import BoolArray, FloatArray, IntArray
from sidecut.exceptions import GraphWarning, warn
from sidecut.graphs.graph import Graph, Grown, SparseGraph, tile_rows
from sidecut.graphs.kernels import (
    GaussianGraph,
    HeatGraph,
    ResolventGraph,
    SelfTuningGraph,
    bandwidth,
    scale_features,
    width_of_distances,
)
from sidecut.graphs.lazy import FactorGraph, TiledGraph
from sidecut.graphs.search import (
    KeptCells,
    NearestNeighborLists,
    feasible_count,
    finite_matrix,
    nearest_neighbors,
    neighbors_of_new,
    unit_rows,
)


@dataclass(frozen=True, eq=False)
class NeighborExtension:
    """What a neighbour graph has to remember of its points to link new ones to them."""

    n_neighbors: int
    weights: str
    symmetrize: str
    reach: FloatArray
    scales: FloatArray
    cells: KeptCells | None = None

    def edges(self, X: Any, X_new: Any) -> tuple[sp.csr_array, IntArray]:
        """Return the weights from new points to old ones, and for each new point an old one it equals."""
        metric = "cosine" if self.weights == "cosine" else "euclidean"
        indices, distances = neighbors_of_new(X, X_new, self.n_neighbors, metric, self.cells)
        weight = self._weights_alone(indices, distances)
        exact_matches = np.where(distances[:, 0] <= 0, indices[:, 0], -1)
        return as_rows_of_edges(indices, weight, self.reach.size), exact_matches

    def _weights_alone(self, indices: IntArray, distances: FloatArray) -> FloatArray:
        """Return the weights of new points to their nearest old ones, (m, k), as if each came alone."""
        own = local_scales(distances) if self.weights == "self_tuning" else self.scales
        weights = edge_weights(self.weights, distances, indices, own, self.scales)
        return self._as_asked(weights, distances <= self.reach[indices])

    def _as_asked(self, weights: FloatArray, mutual: BoolArray) -> FloatArray:
        """Return symmetrised weights: an old point asks, too, if a new one is within its reach."""
        alone = {"mean": 0.5, "union": 1.0, "mutual": 0.0}[self.symmetrize]
        return np.where(mutual, weights, alone * weights)

    def grow(self, graph: SparseGraph, X: Any, X_new: Any) -> Grown:
        """Return the graph of old and new points."""
        # New points look for their neighbours among all points; the edges between old points stay. What takes
        # long in making a graph anew, the search for the neighbours of old points, is left out.
        n, m = graph.n_nodes, X_new.shape[0]
        metric = "cosine" if self.weights == "cosine" else "euclidean"
        indices, distances = neighbors_of_new(X, X_new, min(self.n_neighbors, n), metric, self.cells)
        exact_matches = np.where(distances[:, 0] <= 0, indices[:, 0], -1)
        alone = self._weights_alone(indices, distances).sum(axis=1)
        if m > 1:
            among = nearest_neighbors(X_new, min(self.n_neighbors, m - 1), metric=metric)
            indices = np.hstack([indices, among.indices + n])
            distances = np.hstack([distances, among.distances])
            order = np.argsort(distances, axis=1, kind="stable")[:, : self.n_neighbors]
            indices = np.take_along_axis(indices, order, axis=1)
            distances = np.take_along_axis(distances, order, axis=1)
        own = local_scales(distances) if self.weights == "self_tuning" else np.full(m, self.scales[0])
        scales, reach = np.append(self.scales, own), np.append(self.reach, distances[:, -1])
        weights = edge_weights(self.weights, distances, indices, own, scales)
        is_old = indices < n
        to_old = np.where(is_old, self._as_asked(weights, distances <= reach[indices]), 0.0)
        outward = as_rows_of_edges(indices, to_old, n + m)[:, :n]
        directed = as_rows_of_edges(indices, np.where(is_old, 0.0, weights), n + m)[:, n:]
        inner = symmetrize(sp.csr_array(directed), self.symmetrize)
        whole = sp.block_array([[graph.matrix, outward.T], [outward, inner]], format="csr")
        cells = None if self.cells is None else self.cells.with_points(X_new)
        grown = replace(self, reach=reach, scales=scales, cells=cells)
        return Grown(SparseGraph(whole, extension=grown), exact_matches, alone, (X, X_new))


def edge_weights(
    kind: str, distances: FloatArray, indices: IntArray, own: FloatArray, scales: FloatArray
) -> FloatArray:
    """Return the weights of edges to neighbours; `own` are the widths of the points, `scales` of all."""
    if kind == "cosine":
        return np.maximum(1.0 - distances, 0.0)
    if kind == "binary":
        return np.ones_like(distances)
    # Distances are divided by widths before they are squared: neither square need be a finite number.
    with np.errstate(over="ignore"):
        if kind == "gaussian":
            return np.exp(-0.5 * (distances / scales[indices]) ** 2)
        return np.exp(-((distances / (np.sqrt(own)[:, None] * np.sqrt(scales)[indices])) ** 2))


def as_rows_of_edges(indices: IntArray, weights: FloatArray, n_columns: int) -> sp.csr_array:
    """Return the sparse matrix that holds `weights` (n, k) in the columns `indices` (n, k)."""
    n_rows, k = indices.shape
    starts = np.arange(0, n_rows * k + 1, k)
    rows = sp.csr_array((weights.ravel(), indices.ravel(), starts), shape=(n_rows, n_columns))
    rows.sort_indices()
    return rows


def local_scales(distances: npt.NDArray, neighbor: int = 7) -> FloatArray:
    """Return σ_i, the distance of every point to its `neighbor`-th nearest neighbour.

    Parameters
    ----------
    distances : array of shape (n, k)
        Distances to the nearest neighbours in ascending order, the point itself left out.
    neighbor : int, default=7
        Which neighbour sets the scale; the last one where fewer are given.

    Returns
    -------
    array of shape (n,)
        Positive scales. A point whose distance is zero, because of duplicates, takes its first
        positive distance instead, or the smallest scale of all points if it has none.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import local_scales
    >>> local_scales(np.array([[1.0, 2.0], [0.0, 0.5], [0.0, 0.0]]), neighbor=1)
    array([1. , 0.5, 0.5])
    """
    if int(neighbor) != neighbor or neighbor < 1:
        raise ValueError(f"neighbor={neighbor!r} must be a whole number, at least 1.")
    column = min(int(neighbor), distances.shape[1]) - 1
    scales = np.asarray(distances[:, column], dtype=np.float64).copy()
    stuck = np.flatnonzero(scales <= 0)
    later = np.where(distances[stuck] > 0, distances[stuck], np.inf).min(axis=1, initial=np.inf)
    scales[stuck] = later
    smallest = scales[np.isfinite(scales) & (scales > 0)].min(initial=np.inf)
    scales[~np.isfinite(scales)] = smallest if np.isfinite(smallest) else 1.0
    return scales


#: A full affinity of up to this many points is kept in memory (128 MB); beyond, it is evaluated in tiles.
IN_MEMORY = 4_000


class GraphRecipe(BaseEstimator, ABC):
    """How data become a graph. `build(X)` returns the Graph; the recipe itself never changes."""

    @abstractmethod
    def build(self, X: npt.NDArray) -> Graph:
        """Return the graph of the points X."""


@dataclass(eq=False, repr=False)
class Neighbors(GraphRecipe):
    """The k-nearest-neighbour graph, weighted.

    Where distances tie, coordinates decide (see `nearest_neighbors`): the graph does not depend on the order
    of the points, the number of threads or the unit.

    Parameters
    ----------
    n_neighbors : int, default=20
        How many neighbours each point keeps.
    weights : {"self_tuning", "gaussian", "cosine", "binary"}, default="self_tuning"
        exp(-d²/(σ_i σ_j)) with σ_i the distance to the seventh neighbour; exp(-d²/(2σ²)); the cosine, where
        negative ones count as no edge; or 1.
    sigma : float, "mean" or "median", default="median"
        The width for Gaussian weights; the rules look at the distances between neighbours.
    symmetrize : {"mean", "union", "mutual"}, default="mean"
        How the directed edges become undirected, see `symmetrize`.
    search : {"auto", "exact", "approximate"}, default="auto"
        "auto" is exact where that takes at most a few seconds, and otherwise finds 98 % of the true
        neighbours or more; `graph.recall` is the share it found. See `nearest_neighbors`.
    random_state : int, RandomState or None
        For the approximate search; None is always the same draw.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import Neighbors
    >>> line = np.arange(5.0)[:, None]
    >>> Neighbors(2, weights="binary", symmetrize="union").build(line)
    SparseGraph(n_nodes=5, n_edges=6)
    """

    n_neighbors: int = 20
    _: KW_ONLY
    weights: str = "self_tuning"
    sigma: float | str = "median"
    symmetrize: str = "mean"
    search: str = "auto"
    random_state: int | np.random.RandomState | None = None

    def build(self, X: npt.NDArray) -> SparseGraph:
        """Return the neighbour graph of the points X."""
        lists = nearest_neighbors(
            X,
            self.n_neighbors,
            metric="cosine" if self.weights == "cosine" else "euclidean",
            search=self.search,
            random_state=self.random_state,
        )
        return self._weigh(lists)

    @classmethod
    def from_knn(cls, indices: npt.ArrayLike, distances: npt.ArrayLike, **settings: Any) -> SparseGraph:
        """Return the graph of neighbours that were searched elsewhere, for example on a GPU.

        Fit it with ``affinity="precomputed"``.

        Parameters
        ----------
        indices : array of shape (n, k)
            The neighbours of every point. Where all rows contain the point itself, it is left out.
        distances : array of shape (n, k)
            Their distances; with ``weights="cosine"`` one minus the cosine.
        settings
            Parameters of `Neighbors` about weights: `weights`, `sigma`, `symmetrize`.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.neighbors import NearestNeighbors
        >>> from sidecut import CSP
        >>> from sidecut.graphs import Neighbors
        >>> X, _ = load_iris(return_X_y=True)
        >>> distances, indices = NearestNeighbors(n_neighbors=21).fit(X).kneighbors(X)
        >>> graph = Neighbors.from_knn(indices, distances)
        >>> CSP(3, affinity="precomputed", random_state=0).fit(graph).labels_.shape
        (150,)
        """
        return cls(**settings)._weigh(_read_lists(indices, distances))

    def _weigh(self, lists: NearestNeighborLists) -> SparseGraph:
        """Return the graph of lists of neighbours."""
        distances = lists.distances
        scales, width = np.ones(len(distances)), ""
        if self.weights == "self_tuning":
            scales, width = local_scales(distances), "local scales"
        elif self.weights == "gaussian":
            sigma = width_of_distances(distances, self.sigma)
            scales, width = np.full(len(distances), sigma), f"sigma={sigma:.3g}"
        elif self.weights not in ("cosine", "binary"):
            choices = "choose 'self_tuning', 'gaussian', 'cosine' or 'binary'"
            raise ValueError(f"weights={self.weights!r}: {choices}.")
        directed = edge_weights(self.weights, distances, lists.indices, scales, scales)
        if width:
            _warn_about_lost_edges(directed, width)
        weights = symmetrize(as_rows_of_edges(lists.indices, directed, len(directed)), self.symmetrize)
        reach = np.ascontiguousarray(distances[:, -1])
        extension = NeighborExtension(
            distances.shape[1], self.weights, self.symmetrize, reach, scales, lists.cells
        )
        return SparseGraph(weights, recall=lists.recall, extension=extension)


def _read_lists(indices: npt.ArrayLike, distances: npt.ArrayLike) -> NearestNeighborLists:
    """Check neighbours that were searched elsewhere, put the nearest first, and leave out the points."""
    near, far = np.asarray(indices), np.asarray(distances, dtype=float)
    if near.ndim != 2 or near.shape != far.shape or near.dtype.kind not in "iu":
        raise ValueError(
            f"indices has shape {near.shape} of {near.dtype} and distances {far.shape}: give whole numbers "
            "and distances of the same shape, (n_points, n_neighbors)."
        )
    n = len(near)
    bad = (near < 0) | (near >= n) | ~(np.isfinite(far) & (far >= 0))
    if bad.any():
        row, column = np.argwhere(bad)[0].tolist()
        raise ValueError(
            f"Neighbour {column} of point {row} is {near[row, column]} at distance {far[row, column]}: "
            f"points are numbered from 0 to {n - 1}, and distances are finite and not negative."
        )
    is_self = near == np.arange(n)[:, None]
    # A point may lack itself where others are equal to it; then its farthest neighbour goes.
    gone = np.where(is_self.any(axis=1), is_self.argmax(axis=1), near.shape[1] - 1)
    if is_self.any():
        kept = np.arange(near.shape[1]) != gone[:, None]
        near, far = (one[kept].reshape(n, -1) for one in (near, far))
    ordered = np.sort(near, axis=1)
    if (
        not near.shape[1]
        or (ordered[:, 1:] == ordered[:, :-1]).any()
        or (near == np.arange(n)[:, None]).any()
    ):
        raise ValueError("indices must name at least one other point in each row, and none of them twice.")
    order = np.argsort(far, axis=1, kind="stable")
    near, far = (np.take_along_axis(one, order, axis=1) for one in (near, far))
    return NearestNeighborLists(near.astype(np.intp), far, 1.0)


@dataclass(eq=False, repr=False)
class Gaussian(GraphRecipe):
    """The full Gaussian affinity exp(-‖x_i - x_j‖² / (2σ²)).

    Up to 4,000 points it is kept in memory; beyond, it is evaluated in tiles whenever it is applied.

    Parameters
    ----------
    sigma : float, "mean", "median", "feature_std" or array of shape (n_features,), default="median"
        One width, a rule over the distances between points, or one width per feature.
    self_loops : bool, default=False
        Keep the ones on the diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import Gaussian
    >>> X = np.array([[0.0, 0.0], [1.0, 10.0]])
    >>> Gaussian(sigma=[1.0, 10.0]).build(X).toarray().round(4)
    array([[0.    , 0.3679],
           [0.3679, 0.    ]])
    """

    sigma: float | str | npt.ArrayLike = "median"
    _: KW_ONLY
    self_loops: bool = False

    def build(self, X: npt.NDArray) -> Graph:
        """Return the Gaussian affinity of the points X."""
        sigma: Any = self.sigma
        if np.ndim(sigma) >= 1 or (isinstance(sigma, str) and sigma == "feature_std"):
            X, sigma = scale_features(X, sigma), 1.0
        return _in_memory_if_small(GaussianGraph(X, bandwidth(X, sigma), self.self_loops))


@dataclass(eq=False, repr=False)
class SelfTuning(GraphRecipe):
    """The full locally scaled affinity exp(-d²/(σ_i σ_j)) of Zelnik-Manor and Perona (2004).

    Parameters
    ----------
    neighbor : int, default=7
        σ_i is the distance to this neighbour.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import SelfTuning
    >>> SelfTuning(neighbor=1).build(np.array([[0.0], [1.0], [3.0]])).toarray().round(4)
    array([[0.    , 0.3679, 0.0111],
           [0.3679, 0.    , 0.1353],
           [0.0111, 0.1353, 0.    ]])
    """

    neighbor: int = 7

    def build(self, X: npt.NDArray) -> Graph:
        """Return the self-tuning affinity of the points X."""
        X = finite_matrix(X)
        # At least one, so that a lone point is refused for what it is.
        n_neighbors = max(1, min(self.neighbor, X.shape[0] - 1))
        scales = local_scales(nearest_neighbors(X, n_neighbors).distances, self.neighbor)
        return _in_memory_if_small(SelfTuningGraph(X, scales))


@dataclass(eq=False, repr=False)
class Heat(GraphRecipe):
    """The heat diffusion kernel exp(-tΔ) on a neighbour graph, applied and never formed.

    Parameters
    ----------
    time : float, default=20.0
        The diffusion time t.
    neighbors : Neighbors or None, default=None
        The graph heat flows on; None is the ten-nearest-neighbour graph with cosine weights for sparse
        data and self-tuning ones otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import Heat, Neighbors
    >>> line = np.arange(6.0)[:, None]
    >>> heat = Heat(time=1.0, neighbors=Neighbors(2, weights="binary")).build(line)
    >>> heat.apply(np.eye(6)[0]).round(2)  # how much heat has come from the first point
    array([0.45, 0.26, 0.16, 0.03, 0.  , 0.  ])
    """

    time: float = 20.0
    _: KW_ONLY
    neighbors: Neighbors | None = None

    def build(self, X: npt.NDArray) -> HeatGraph:
        """Return the diffusion graph of the points X."""
        usual = Neighbors(10, weights="cosine" if sp.issparse(X) else "self_tuning")
        return HeatGraph((usual if self.neighbors is None else self.neighbors).build(X), self.time)


@dataclass(eq=False, repr=False)
class Resolvent(GraphRecipe):
    """The kernel (Δ + σI)⁻¹ on a neighbour graph, applied and never formed.

    Parameters
    ----------
    sigma : float, default=0.3
        σ; the smaller, the further the kernel reaches.
    neighbors : Neighbors or None, default=None
        The graph; None is the twenty-nearest-neighbour graph with cosine weights for sparse data and
        self-tuning ones otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import Neighbors
    >>> from sidecut.graphs import Resolvent
    >>> line = np.arange(6.0)[:, None]
    >>> kernel = Resolvent(0.5, neighbors=Neighbors(2, weights="binary")).build(line)
    >>> kernel.apply(np.eye(6)[0]).round(2)
    array([0.89, 0.43, 0.31, 0.1 , 0.04, 0.03])
    """

    sigma: float = 0.3
    _: KW_ONLY
    neighbors: Neighbors | None = None

    def build(self, X: npt.NDArray) -> ResolventGraph:
        """Return the kernel of the points X."""
        usual = Neighbors(20, weights="cosine" if sp.issparse(X) else "self_tuning")
        return ResolventGraph((usual if self.neighbors is None else self.neighbors).build(X), self.sigma)


class Cosine(GraphRecipe):
    """The full cosine affinity of nonnegative features such as word counts, applied through its factor.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import Cosine
    >>> words = np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 3.0]])
    >>> Cosine().build(words).toarray().round(3)
    array([[0.   , 0.707, 0.   ],
           [0.707, 0.   , 0.707],
           [0.   , 0.707, 0.   ]])
    """

    def build(self, X: npt.NDArray) -> FactorGraph:
        """Return the graph of cosines between the rows of X."""
        X = finite_matrix(X)
        smallest = X.min() if X.size else 0.0
        if smallest < 0:
            raise ValueError(
                f"The cosine affinity needs nonnegative features; the smallest value is {smallest:.3g}. Use "
                "Neighbors(weights='cosine'), which leaves negative cosines out."
            )
        return FactorGraph(unit_rows(X))


def recipe(affinity: str | GraphRecipe, n_neighbors: int = 20) -> GraphRecipe:
    """Return the recipe an estimator's `affinity` stands for.

    Parameters
    ----------
    affinity : str or GraphRecipe
        "knn", "gaussian", "self_tuning", "heat", "cosine", or a recipe, returned unchanged. scikit-learn's
        words "nearest_neighbors" and "rbf" mean "knn" and "gaussian".
    n_neighbors : int, default=20
        For "knn" only.

    Examples
    --------
    >>> from sidecut.graphs import recipe
    >>> recipe("knn", n_neighbors=5)
    Neighbors(n_neighbors=5)
    """
    if isinstance(affinity, GraphRecipe):
        return affinity
    if affinity in ("knn", "nearest_neighbors"):
        return Neighbors(n_neighbors)
    named = {"gaussian": Gaussian, "self_tuning": SelfTuning, "heat": Heat, "cosine": Cosine}
    if isinstance(affinity, str) and affinity in (*named, "rbf"):
        return named.get(affinity, Gaussian)()
    names = ", ".join(repr(name) for name in ("knn", *named, "precomputed"))
    raise ValueError(f"affinity={affinity!r}: choose {names}, or a recipe such as Neighbors(15).")


def _warn_about_lost_edges(weights: FloatArray, width: str) -> None:
    # A width far below the distances lets exp underflow: an edge that is there in theory is lost.
    lost = int(np.count_nonzero(weights == 0))
    if lost:
        warn(
            f"{lost} of {weights.size} edges underflow to weight zero with {width}: their points may fall "
            "out of the graph. Use a larger sigma or weights='self_tuning'.",
            GraphWarning,
        )


def _in_memory_if_small(graph: TiledGraph) -> Graph:
    return graph.materialized() if graph.n_nodes <= IN_MEMORY else graph


def nearest_by_affinity(affinity: npt.NDArray | sp.sparray, n_neighbors: int) -> sp.csr_array:
    """Keep, in every row, the k largest normalised affinities A_ij / √(A_ii A_jj), j ≠ i.

    This is step 1 of E2CP (Lu & Ip, 2010) for any kernel; ties go to the lower index. The result is
    directed: see `symmetrize`.

    Parameters
    ----------
    affinity : dense or sparse array of shape (n, n)
        A kernel with a positive diagonal; a zero diagonal is taken as one.
    n_neighbors : int
        How many neighbours each point keeps.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import nearest_by_affinity
    >>> kernel = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.5], [0.2, 0.5, 1.0]])
    >>> nearest_by_affinity(kernel, 1).toarray()
    array([[0. , 0.9, 0. ],
           [0.9, 0. , 0. ],
           [0. , 0.5, 0. ]])
    """
    n_points = affinity.shape[0]
    if affinity.shape != (n_points, n_points):
        raise ValueError(f"affinity has shape {affinity.shape}; a kernel is square.")
    k = feasible_count(n_neighbors, n_points)
    diagonal = np.asarray(affinity.diagonal(), dtype=np.float64)
    roots = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    parts = []
    for rows in tile_rows(n_points):
        edges = sp.csr_array(affinity[rows], dtype=np.float64).tocoo()
        edges.sum_duplicates()
        row, col = edges.row + rows.start, edges.col
        weight = edges.data / (roots[row] * roots[col])
        order = np.lexsort((col, -weight, row))
        order = order[(row != col)[order] & (weight > 0)[order]]
        row, col, weight = row[order], col[order], weight[order]
        kept = np.arange(row.size) - np.searchsorted(row, row) < k
        parts.append((row[kept], col[kept], weight[kept]))
    row, col, weight = (np.concatenate(part) for part in zip(*parts, strict=True))
    return sp.csr_array((weight, (row, col)), shape=affinity.shape)


def symmetrize(directed: sp.csr_array, rule: str = "mean") -> sp.csr_array:
    """Make a directed graph undirected.

    Parameters
    ----------
    directed : sparse array of shape (n, n)
        Nonnegative weights.
    rule : {"mean", "union", "mutual"}, default="mean"
        (W + Wᵀ)/2, so that a one-sided edge has half its weight; the larger of the two; or the smaller,
        so that only mutual neighbours stay linked.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from sidecut.graphs import symmetrize
    >>> one_way = sp.csr_array([[0.0, 1.0], [0.0, 0.0]])
    >>> symmetrize(one_way).toarray()
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    transposed = sp.csr_array(directed.T)
    if rule == "mean":
        result = 0.5 * (directed + transposed)
    elif rule == "union":
        result = directed.maximum(transposed)
    elif rule == "mutual":
        result = directed.minimum(transposed)
    else:
        raise ValueError(f"symmetrize={rule!r}: choose 'mean', 'union' or 'mutual'.")
    return sp.csr_array(result)
