"""A graph after links have taken affinity away: max(0, W - F Fᵀ - max_k g_k g_kᵀ), evaluated in tiles."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sidecut.arrays import FloatArray, IntArray
from sidecut.graphs.graph import DenseGraph, Graph, SparseGraph
from sidecut.graphs.lazy import ROUNDING, KeptTiledGraph, halve, rows_of

#: The running maximum works on blocks of this many entries, so that they stay in the cache.
BLOCK_ENTRIES = 2**15
#: Pairs of nodes are looked up so many bytes of their factors at a time.
PAIR_BYTES = 64 * 2**20


class ConditionedGraph(KeptTiledGraph):
    """The graph max(0, W - F Fᵀ - max_k g_k g_kᵀ), computed when it is applied and kept as far as it fits.

    It costs O(n² (rank + n_rivals)) time to make: once, or beyond 21,000 nodes in part in every product. What
    a subtraction leaves below its own rounding error counts as zero: otherwise parts without any affinity
    between them would seem connected.

    Parameters
    ----------
    graph : Graph
        W, in any form; its rows are read, a tile at a time.
    factor : array of shape (n, rank)
        F, what is taken away in sum.
    rivals : array of shape (n, n_rivals), optional
        The columns g_k, of whose products only the largest is taken away at every entry.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.csap.conditioned_graph import ConditionedGraph
    >>> from sidecut.graphs import as_graph
    >>> graph = as_graph(np.ones((2, 2)))
    >>> ConditionedGraph(graph, np.array([[0.5], [1.0]])).toarray()
    array([[0.75, 0.5 ],
           [0.5 , 0.  ]])
    """

    def __init__(self, graph: Graph, factor: FloatArray, rivals: FloatArray | None = None) -> None:
        self.graph = graph
        self.factor = np.asarray(factor, dtype=np.float64)
        self.rivals = np.empty((graph.n_nodes, 0)) if rivals is None else np.asarray(rivals, dtype=np.float64)
        self.n_nodes = graph.n_nodes
        most = np.square(self.rivals).max(axis=1, initial=0.0)
        #: How much links take from each node; zero where they do not reach.
        self.sizes = np.sqrt(np.square(self.factor).sum(axis=1) + most)

    def tile(self, rows: slice) -> FloatArray:
        """Return the weights of some rows."""
        return self._block(rows, slice(0, self.n_nodes))

    def _upper_strip(self, rows: slice) -> FloatArray:
        return halve(self._block(rows, slice(rows.start, self.n_nodes)))

    def materialized(self) -> DenseGraph:
        """The same graph with its weights in memory; only one half of them is computed."""
        weights = np.zeros((self.n_nodes, self.n_nodes))
        for rows in self.tiles():
            right = slice(rows.start, self.n_nodes)
            weights[rows, right] = self._block(rows, right)
            corner = weights[rows, rows]
            weights[rows, rows] = 0.5 * (corner + corner.T)
            below = slice(rows.stop, self.n_nodes)
            weights[below, rows] = weights[rows, below].T
        return DenseGraph(weights)

    def restricted(self, nodes: IntArray) -> ConditionedGraph:
        """The same among some nodes, where W is sparse."""
        among = SparseGraph(sp.csr_array(self.graph.matrix)[nodes][:, nodes])
        return ConditionedGraph(among, self.factor[nodes], self.rivals[nodes])

    def weights_at(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the weights of some pairs of nodes, where W is sparse."""
        weights = self.graph.weights_at(rows, columns)
        touched = np.flatnonzero((self.sizes[rows] > 0) & (self.sizes[columns] > 0))
        step = max(1, PAIR_BYTES // (8 * max(1, self.factor.shape[1], self.rivals.shape[1])))
        for start in range(0, touched.size, step):
            part = touched[start : start + step]
            weights[part] = self._at(weights[part], rows[part], columns[part])
        return weights

    def _at(self, weights: FloatArray, rows: IntArray, columns: IntArray) -> FloatArray:
        left = weights - np.einsum("pk,pk->p", self.factor[rows], self.factor[columns])
        if self.rivals.shape[1]:
            left -= (self.rivals[rows] * self.rivals[columns]).max(axis=1)
        return np.where(left > ROUNDING * self.sizes[rows] * self.sizes[columns], left, 0.0)

    def _block(self, rows: slice, columns: slice) -> FloatArray:
        weights = rows_of(self.graph, rows)[:, columns]
        weights = weights - self.factor[rows] @ self.factor[columns].T
        if self.rivals.shape[1]:
            weights -= largest_products(self.rivals[rows], self.rivals[columns])
        noise = ROUNDING * self.sizes[rows, None] * self.sizes[None, columns]
        return np.where(weights > noise, weights, 0.0)


def largest_products(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return max_k left[i, k] right[j, k] for all i and j, without the stack of products.

    Parameters
    ----------
    left, right : arrays of shape (m, n_factors) and (n, n_factors)
        With at least one factor.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.csap.conditioned_graph import largest_products
    >>> largest_products(np.array([[1.0, -2.0]]), np.array([[3.0, 1.0], [1.0, -4.0]]))
    array([[3., 8.]])
    """
    largest = np.empty((left.shape[0], right.shape[0]))
    ours, theirs = np.ascontiguousarray(left.T), np.ascontiguousarray(right.T)
    width = min(max(right.shape[0], 1), BLOCK_ENTRIES // 8)
    height = max(1, BLOCK_ENTRIES // width)
    for top in range(0, left.shape[0], height):
        for start in range(0, right.shape[0], width):
            rows, columns = slice(top, top + height), slice(start, start + width)
            largest[rows, columns] = _running_maximum(ours[:, rows], theirs[:, columns])
    return largest


def _running_maximum(ours: FloatArray, theirs: FloatArray) -> FloatArray:
    largest = np.multiply.outer(ours[0], theirs[0])
    product = np.empty_like(largest)
    for mine, other in zip(ours[1:], theirs[1:], strict=True):
        np.multiply(mine[:, None], other[None, :], out=product)
        np.maximum(largest, product, out=largest)
    return largest
