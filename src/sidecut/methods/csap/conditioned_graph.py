"""A graph after links have taken affinity away: max(0, W - F Fᵀ - max_k g_k g_kᵀ), evaluated in tiles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import scipy.sparse as sp

from sidecut.arrays import FloatArray, IntArray
from sidecut.exceptions import ConstraintError
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


# The largest affinities that links leave on a sparse graph: a graph as sparse as the one before.
#
# On a sparse graph K̄ is not sparse. Two points near one must-linked set gain affinity, rightly; and
# conditioning leaves a small affinity, half of the time positive, between nearly all points that links
# reach. Clipping keeps the positive half. Each is next to nothing, but there are n² of them, and they can
# outweigh the graph. So a point keeps its edges, and the largest affinities to points near the same must-
# linked set.


#: Keeping all affinities is refused where they would take more than this.
MOST_BYTES = 4 * 2**30
#: Bytes of an affinity that is kept, in the making: value and place, twice.
BYTES_PER_AFFINITY = 48


def largest_affinities(
    conditioned: ConditionedGraph, sets: Iterable[IntArray], n_kept: int | None
) -> SparseGraph:
    """Return the edges of a sparse W with what links left of them, and the largest affinities of each point.

    Parameters
    ----------
    conditioned : ConditionedGraph
        max(0, W - F Fᵀ - max_k g_k g_kᵀ), of a sparse W.
    sets : iterable of arrays of ints
        The points near each must-linked set. Only there do points gain affinities that say something.
    n_kept : int or None
        How many affinities each point keeps in each of its sets; None keeps all there are, between whatever
        points.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.methods.csap.conditioned_graph import ConditionedGraph
    >>> from sidecut.methods.csap.conditioned_graph import largest_affinities
    >>> path = as_graph(sp.csr_array(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.2], [0.0, 0.2, 0.0]])))
    >>> linked = ConditionedGraph(path, np.array([[0.5], [0.0], [-0.5]]))
    >>> largest_affinities(linked, [np.array([0, 2])], n_kept=2).toarray()
    array([[0.  , 1.  , 0.25],
           [1.  , 0.  , 0.2 ],
           [0.25, 0.2 , 0.  ]])
    """
    W = sp.csr_array(conditioned.graph.matrix)
    reached = np.flatnonzero(conditioned.sizes > 0)
    if n_kept is None:
        _refuse_too_many(reached.size)
        sets = [reached]
    edges = sp.coo_array(sp.triu(W))
    own = conditioned.weights_at(edges.row, edges.col)
    found = [(edges.row, edges.col, own)]
    for nodes in sets:
        found.extend(_largest_within(conditioned, nodes, n_kept))
    rows, columns, weights = (np.concatenate(part) for part in zip(*found, strict=True))
    return SparseGraph(_symmetric(rows, columns, weights, W.shape[0]))


def _refuse_too_many(n_reached: int) -> None:
    needed = n_reached**2 / 2 * BYTES_PER_AFFINITY
    if needed > MOST_BYTES:
        raise ConstraintError(
            f"n_affinities=None keeps up to {n_reached**2:,} affinities between the {n_reached:,} points "
            f"that links reach, about {needed / 2**30:.0f} GB in the making. Give n_affinities a number, "
            "such as 64."
        )


def _largest_within(
    conditioned: ConditionedGraph, nodes: IntArray, n_kept: int | None
) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
    """Yield the affinities to keep among some nodes, as rows, columns and weights."""
    among = conditioned.restricted(nodes)
    for strip in among.tiles():
        weights = among.tile(strip)
        if n_kept is not None and n_kept < len(nodes):
            least = np.partition(weights, len(nodes) - n_kept, axis=1)[:, len(nodes) - n_kept]
            weights[weights < least[:, None]] = 0.0
        rows, columns = np.nonzero(weights)
        yield nodes[rows + strip.start], nodes[columns], weights[rows, columns]


def _symmetric(rows: IntArray, columns: IntArray, weights: FloatArray, n: int) -> sp.csr_array:
    """Return the symmetric matrix of entries that may be listed twice, from either side."""
    positive = weights > 0
    low, high = np.minimum(rows, columns)[positive], np.maximum(rows, columns)[positive]
    place, first = np.unique(low.astype(np.int64) * n + high, return_index=True)
    upper = sp.csr_array((weights[positive][first], (place // n, place % n)), shape=(n, n))
    return sp.csr_array(upper + sp.triu(upper, 1).T)
