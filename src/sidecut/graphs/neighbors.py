"""Nearest neighbours: exact by default, approximate with the recall measured, made symmetric."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_random_state

from sidecut.exceptions import GraphWarning
from sidecut.graphs.graph import FloatArray

#: How many points the recall of an approximate search is measured on.
RECALL_SAMPLE = 300
#: An approximate search that finds less than this share of the true neighbours is warned about.
LOW_RECALL = 0.9


@dataclass(frozen=True)
class NearestNeighborLists:
    """The nearest neighbours of every point, the point itself left out.

    Attributes
    ----------
    indices, distances : arrays of shape (n, k)
        Neighbours in order of distance.
    recall : float
        The share of true neighbours found: 1 for an exact search, measured on a sample otherwise.
    """

    indices: npt.NDArray[np.intp]
    distances: FloatArray
    recall: float

    @property
    def n_neighbors(self) -> int:
        """How many neighbours each point has."""
        return int(self.indices.shape[1])

    def with_weights(self, weights: FloatArray) -> sp.csr_array:
        """Return the directed graph that holds `weights` (n, k) on the edges i -> neighbour."""
        n_points, k = self.indices.shape
        starts = np.arange(0, n_points * k + 1, k)
        graph = sp.csr_array((weights.ravel(), self.indices.ravel(), starts), shape=(n_points, n_points))
        graph.sort_indices()
        return graph


def nearest_neighbors(
    X: npt.NDArray,
    n_neighbors: int,
    *,
    metric: str = "euclidean",
    search: str = "exact",
    random_state: int | np.random.RandomState | None = None,
) -> NearestNeighborLists:
    """Find the nearest neighbours of every row of X.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        The points.
    n_neighbors : int
        How many; with fewer than `n_neighbors` other points, all of them are taken and a warning says so.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Which distance.
    search : {"exact", "approximate"}, default="exact"
        "approximate" uses NN-descent from pynndescent and measures its recall on 300 points.
    random_state : int, RandomState or None
        For the approximate search only.

    Returns
    -------
    NearestNeighborLists
        Indices, distances and recall.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import nearest_neighbors
    >>> nearest_neighbors(np.array([[0.0], [1.0], [3.0]]), 1).indices.ravel()
    array([1, 0, 1])
    """
    k = _feasible_count(n_neighbors, X.shape[0])
    if search == "exact":
        return _exact(X, k, metric)
    if search == "approximate":
        return _approximate(X, k, metric, random_state)
    raise ValueError(f"search={search!r}: choose 'exact' or 'approximate'.")


def nearest_by_affinity(affinity: npt.NDArray | sp.sparray, n_neighbors: int) -> sp.csr_array:
    """Keep, in every row, the k largest normalised affinities A_ij / √(A_ii A_jj), j ≠ i.

    This is step 1 of E2CP (Lu & Ip, 2010) for any kernel; ties go to the lower index. The result is
    directed: see `symmetrized`.

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
    matrix = sp.csr_array(affinity, dtype=np.float64)
    n_points = matrix.shape[0]
    k = _feasible_count(n_neighbors, n_points)
    diagonal = matrix.diagonal()
    scaling = sp.diags_array(1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0)))
    edges = sp.coo_array(scaling @ matrix @ scaling)
    off = (edges.row != edges.col) & (edges.data > 0)
    row, col, weight = edges.row[off], edges.col[off], edges.data[off]
    order = np.lexsort((col, -weight, row))
    row, col, weight = row[order], col[order], weight[order]
    starts = np.searchsorted(row, np.arange(n_points))
    kept = np.arange(row.size) - starts[row] < k
    return sp.csr_array((weight[kept], (row[kept], col[kept])), shape=matrix.shape)


def symmetrized(directed: sp.csr_array, rule: str = "mean") -> sp.csr_array:
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
    >>> from sidecut.graphs import symmetrized
    >>> one_way = sp.csr_array([[0.0, 1.0], [0.0, 0.0]])
    >>> symmetrized(one_way).toarray()
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


def _feasible_count(n_neighbors: int, n_points: int) -> int:
    if isinstance(n_neighbors, bool) or int(n_neighbors) != n_neighbors or n_neighbors < 1:
        raise ValueError(f"n_neighbors={n_neighbors!r} must be a whole number, at least 1.")
    if n_points < 2:
        raise ValueError(f"n_samples={n_points}: a neighbour graph needs at least 2 points.")
    if n_neighbors > n_points - 1:
        warnings.warn(
            f"n_neighbors={n_neighbors} but each of the {n_points} points has only {n_points - 1} others; "
            f"using {n_points - 1}.",
            GraphWarning,
            stacklevel=2,
        )
    return int(min(n_neighbors, n_points - 1))


def _exact(X: npt.NDArray, k: int, metric: str) -> NearestNeighborLists:
    algorithm = "brute" if metric == "cosine" else "auto"
    searcher = NearestNeighbors(n_neighbors=k, metric=metric, algorithm=algorithm, n_jobs=-1).fit(X)
    distances, indices = searcher.kneighbors()
    return NearestNeighborLists(indices.astype(np.intp), distances.astype(np.float64), recall=1.0)


def _approximate(
    X: npt.NDArray, k: int, metric: str, random_state: int | np.random.RandomState | None
) -> NearestNeighborLists:
    try:
        from pynndescent import NNDescent
    except ImportError as error:
        raise ImportError(
            "search='approximate' needs pynndescent: pip install \"sidecut[approximate]\", "
            "or use search='exact'."
        ) from error
    rng = check_random_state(random_state)
    # One neighbour more, because the lists of NN-descent hold the point itself.
    index = NNDescent(X, metric=metric, n_neighbors=k + 1, random_state=rng)
    found, lengths = index.neighbor_graph
    indices, distances = _without_self(found, lengths, np.arange(X.shape[0]), k)
    recall = _measured_recall(X, indices, k, metric, rng)
    if recall < LOW_RECALL:
        warnings.warn(
            f"The approximate search found {recall:.1%} of the true neighbours; use search='exact' or more "
            "neighbours.",
            GraphWarning,
            stacklevel=2,
        )
    return NearestNeighborLists(indices, distances, recall)


def _without_self(
    indices: npt.NDArray, distances: npt.NDArray, points: npt.NDArray, k: int
) -> tuple[npt.NDArray[np.intp], FloatArray]:
    """Drop each point from its own list; where duplicates pushed it out, drop the farthest entry."""
    own = indices == points[:, None]
    own[~own.any(axis=1), -1] = True
    shape = (points.size, k)
    return indices[~own].reshape(shape).astype(np.intp), distances[~own].reshape(shape).astype(np.float64)


def _measured_recall(
    X: npt.NDArray, indices: npt.NDArray, k: int, metric: str, rng: np.random.RandomState
) -> float:
    """Return the share of true neighbours in the lists of a random sample of points."""
    sample = rng.choice(X.shape[0], size=min(RECALL_SAMPLE, X.shape[0]), replace=False)
    searcher = NearestNeighbors(n_neighbors=k + 1, metric=metric, algorithm="brute").fit(X)
    distances, truth = searcher.kneighbors(X[sample])
    truth, _ = _without_self(truth, distances, sample, k)
    found = [np.isin(indices[i], t).sum() for i, t in zip(sample, truth, strict=True)]
    return float(np.sum(found) / (k * sample.size))
