"""Neighbour graphs: the largest affinities of every point, and directed edges made undirected."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sidecut.arrays import FloatArray
from sidecut.graphs.search import feasible_count


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
