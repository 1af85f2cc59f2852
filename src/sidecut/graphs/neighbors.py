"""Neighbour graphs: the largest affinities of every point, and directed edges made undirected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.extmath import row_norms

from sidecut.arrays import FloatArray, IntArray
from sidecut.graphs.kernels import local_scales
from sidecut.graphs.points import unit_rows
from sidecut.graphs.search import TREE_FEATURES, feasible_count


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
    if affinity.shape != (affinity.shape[0],) * 2:
        raise ValueError(f"affinity has shape {affinity.shape}; a kernel is square.")
    k = feasible_count(n_neighbors, affinity.shape[0])
    diagonal = np.asarray(affinity.diagonal(), dtype=np.float64)
    roots = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    kept = _largest_sparse if sp.issparse(affinity) else _largest_dense
    row, col, weight = kept(affinity, roots, k)
    return sp.csr_array((weight, (row, col)), shape=affinity.shape)


def _largest_sparse(affinity: Any, roots: FloatArray, k: int) -> tuple[npt.NDArray, npt.NDArray, npt.NDArray]:
    """Return rows, columns and values of the k largest entries of A_ij / (r_i r_j) in every row."""
    edges = sp.coo_array(sp.csr_array(affinity, dtype=np.float64))
    edges.sum_duplicates()
    off = (edges.row != edges.col) & (edges.data > 0)
    row, col = edges.row[off], edges.col[off]
    weight = edges.data[off] / (roots[row] * roots[col])
    order = np.lexsort((col, -weight, row))
    row, col, weight = row[order], col[order], weight[order]
    starts = np.searchsorted(row, np.arange(roots.size))
    kept = np.arange(row.size) - starts[row] < k
    return row[kept], col[kept], weight[kept]


def _largest_dense(affinity: Any, roots: FloatArray, k: int) -> tuple[npt.NDArray, npt.NDArray, npt.NDArray]:
    """Return the same for a dense array, a row at a time: it is never copied as a whole."""
    n_points = roots.size
    columns = np.empty((n_points, k), dtype=np.intp)
    weights = np.empty((n_points, k))
    for point in range(n_points):
        row = np.asarray(affinity[point], dtype=np.float64) / (roots[point] * roots)
        row[point] = -np.inf
        smallest = np.partition(row, n_points - k)[n_points - k]
        above, level = np.flatnonzero(row > smallest), np.flatnonzero(row == smallest)
        columns[point] = np.concatenate([above, level[: k - above.size]])
        weights[point] = row[columns[point]]
    rows = np.repeat(np.arange(n_points), k)
    positive = weights.ravel() > 0
    return rows[positive], columns.ravel()[positive], weights.ravel()[positive]


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


# Edges from new points to the points of a neighbour graph, weighed as the graph itself is.


@dataclass(frozen=True, eq=False)
class NeighborExtension:
    """What a neighbour graph has to remember of its points to link new ones to them.

    Parameters
    ----------
    n_neighbors : int
        How many neighbours each point has.
    weights : {"self_tuning", "gaussian", "cosine", "binary"}
        How edges are weighed.
    symmetrize : {"mean", "union", "mutual"}
        What becomes of an edge that only one end asks for.
    reach : array of shape (n,)
        The distance of every point to its last neighbour.
    scales : array of shape (n,)
        The local scales of self-tuning weights; elsewhere the one width, repeated, or ones.
    """

    n_neighbors: int
    weights: str
    symmetrize: str
    reach: FloatArray
    scales: FloatArray

    def edges(self, X: Any, X_new: Any) -> tuple[sp.csr_array, IntArray]:
        """Return the weights from new points to old ones, and for each new point an old one it equals.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            The points of the graph.
        X_new : array or sparse matrix of shape (m, d)
            New points.

        Returns
        -------
        weights : csr_array of shape (m, n)
            What the graph would hold if the point were one of its own; other edges would stay as they are.
        twins : array of shape (m,)
            The nearest old point where it lies at distance zero, else -1.
        """
        distances, indices = self._nearest(X, X_new)
        weight = self._weight(distances, indices)
        # An old point asks for the edge, too, if the new one is nearer than its last neighbour.
        mutual = distances <= self.reach[indices]
        if self.symmetrize == "mean":
            weight = np.where(mutual, weight, 0.5 * weight)
        elif self.symmetrize == "mutual":
            weight = np.where(mutual, weight, 0.0)
        m, k = indices.shape
        shape = (m, self.reach.size)
        edges = sp.csr_array((weight.ravel(), indices.ravel(), np.arange(0, m * k + 1, k)), shape=shape)
        twins = np.where(distances[:, 0] <= 0, indices[:, 0], -1)
        return edges, twins

    def _nearest(self, X: Any, X_new: Any) -> tuple[FloatArray, IntArray]:
        metric = "cosine" if self.weights == "cosine" else "euclidean"
        if sp.issparse(X) != sp.issparse(X_new):
            X_new = sp.csr_array(X_new) if sp.issparse(X) else X_new.toarray()
        if metric == "cosine":
            X, X_new = unit_rows(X), unit_rows(X_new)
        in_tree = metric == "euclidean" and not sp.issparse(X) and X.shape[1] <= TREE_FEATURES
        searcher = NearestNeighbors(
            n_neighbors=min(self.n_neighbors, self.reach.size),
            metric=metric,
            algorithm="kd_tree" if in_tree else "brute",
            n_jobs=-1,
        ).fit(X)
        distances, indices = searcher.kneighbors(X_new)
        # Matrix products leave equal points a little apart; of points of unit length so do cosines.
        apart = row_norms(X[indices[:, 0]] - X_new)
        distances[:, 0] = apart if metric == "euclidean" else np.where(apart > 0, distances[:, 0], 0.0)
        return np.maximum(distances, 0.0), indices

    def _weight(self, distances: FloatArray, indices: IntArray) -> FloatArray:
        if self.weights == "self_tuning":
            own = local_scales(distances)
            return np.exp(-(distances**2) / (own[:, None] * self.scales[indices]))
        if self.weights == "gaussian":
            return np.exp(-0.5 * (distances / self.scales[indices]) ** 2)
        if self.weights == "cosine":
            return np.maximum(1.0 - distances, 0.0)
        return np.ones_like(distances)
