"""Graphs that never exist in memory: evaluated tile by tile, or known by a factor."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from sidecut.checks import FloatArray, IntArray
from sidecut.constraints.groups import number_by_appearance
from sidecut.graphs.chunks import each_chunk
from sidecut.graphs.graph import DenseGraph, Graph, SparseGraph, drop_isolated, tile_rows
from sidecut.graphs.search import squared_rows
from sidecut.running import limit_threads

#: A degree below this share of the sum it comes from is rounding error.
ROUNDING = 1e-13


class TiledGraph(Graph):
    """A graph whose weights are computed again, a tile of rows at a time, whenever it is applied.

    It costs O(n) memory and O(n²) time a product. Subclasses provide `tile`.
    """

    @abstractmethod
    def tile(self, rows: slice) -> FloatArray:
        """Return the weights W[rows, :]."""

    def tiles(self) -> Iterator[slice]:
        """Slices of rows that cover the graph, each a tile of about 64 MB."""
        return tile_rows(self.n_nodes)

    def apply(self, block: FloatArray) -> FloatArray:
        """Return W @ block, tile by tile."""
        result = np.empty(block.shape)
        for rows in self.tiles():
            result[rows] = self.tile(rows) @ block
        return result

    def row(self, node: int) -> FloatArray:
        """Return the weights of one node."""
        return self.tile(slice(node, node + 1))[0]

    def materialized(self) -> DenseGraph:
        """The same graph with its weights in memory."""
        weights = np.empty((self.n_nodes, self.n_nodes))
        for rows in self.tiles():
            weights[rows] = self.tile(rows)
            # A tile and its mirror image differ by rounding, as they come from different products.
            weights[rows, : rows.start] = weights[: rows.start, rows].T
            corner = weights[rows, rows]
            weights[rows, rows] = 0.5 * (corner + corner.T)
        return DenseGraph(weights)


class FactorGraph(Graph):
    """The graph W = F Fᵀ without its diagonal, known by its factor F.

    Parameters
    ----------
    factor : dense or sparse array of shape (n, rank)
        Rows with nonnegative inner products. Where all entries are nonnegative, connected components are
        found exactly; otherwise the graph is taken as connected.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import FactorGraph
    >>> graph = FactorGraph(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]))
    >>> graph.toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """

    def __init__(self, factor: npt.NDArray | sp.sparray) -> None:
        self.factor: Any = (
            sp.csr_array(factor, dtype=np.float64)
            if sp.issparse(factor)
            else np.asarray(factor, dtype=np.float64)
        )
        self.n_nodes = int(self.factor.shape[0])

    @cached_property
    def _loops(self) -> FloatArray:
        return squared_rows(self.factor)

    @cached_property
    def degrees(self) -> FloatArray:
        """The weighted degree of every node, zero where it is lost in the rounding of F Fᵀ 1."""
        with_loops = np.asarray(self.factor @ np.asarray(self.factor.sum(axis=0)).ravel())
        degrees = with_loops - self._loops
        return np.where(degrees > ROUNDING * with_loops, degrees, 0.0)

    @cached_property
    def components(self) -> IntArray:
        """The connected component of every node; nodes that share a column of F are linked."""
        if self.factor.min() < 0:
            return super().components
        pattern = sp.csr_array(self.factor)
        bipartite = sp.block_array([[None, pattern], [pattern.T, None]])
        labels = connected_components(bipartite, directed=False)[1][: self.n_nodes]
        return drop_isolated(labels, self.isolated)

    def toarray(self) -> FloatArray:
        """Return F Fᵀ with a zero diagonal; for small graphs only."""
        weights = super().toarray()
        np.fill_diagonal(weights, 0.0)
        return 0.5 * (weights + weights.T)

    def apply(self, block: FloatArray) -> FloatArray:
        """Return (F Fᵀ - diag) @ block in O(nnz(F)) per column."""
        loops = self._loops if block.ndim == 1 else self._loops[:, None]
        return np.asarray(self.factor @ (self.factor.T @ block)) - loops * block


#: Entries are kept up to this many bytes: all of a full matrix in double precision up to 21,000 nodes.
KEPT_BYTES = 7 * 2**28

#: A dense array or, where it has few entries, a csr_array.
Strip: TypeAlias = Any
MakeStrip = Callable[[slice], Strip]


class KeptStrips:
    """The map X -> A X of a symmetric matrix that can be made a strip of rows at a time."""

    # Making entries often costs far more than using them. So every strip is made once, and kept if it fits;
    # only what does not fit is made again in every product. The strips are shared out among threads; whatever
    # their number, the result is the same to the last bit.

    def __init__(self, n_nodes: int, strips: Sequence[slice], make: MakeStrip) -> None:
        self.n_nodes = n_nodes
        self.strips = strips
        self.make = make
        self.kept: dict[int, Strip] = {}
        self.kept_bytes = 0
        self._lock = Lock()

    def __call__(self, block: FloatArray) -> FloatArray:
        """Return A @ block for a vector or a block of vectors."""
        columns = block.reshape(self.n_nodes, -1)
        result = np.zeros(columns.shape)
        # The cores are left to the threads over strips: more threads inside each only get in their way.
        with limit_threads(only_blas=True):
            products = each_chunk(partial(self._products, columns), self.strips)
            for rows, (ahead, back) in zip(self.strips, products, strict=True):
                result[rows] += ahead
                result[rows.start :] += back
        return result.reshape(block.shape)

    def _products(self, block: FloatArray, rows: slice) -> tuple[FloatArray, FloatArray]:
        """Return what a strip contributes to its rows, and by symmetry to the rows from its first on."""
        strip = self._strip(rows)
        if sp.issparse(strip) and strip.dtype != np.float64:
            # In double precision at once, or each of the two products would convert it.
            entries = (strip.data.astype(np.float64), strip.indices, strip.indptr)
            strip = sp.csr_array(entries, shape=strip.shape)
        return strip @ block[rows.start :], strip.T @ block[rows]

    def _strip(self, rows: slice) -> Strip:
        if rows.start in self.kept:
            return self.kept[rows.start]
        strip = self.make(rows)
        # A sparse entry takes half as much memory again as a dense one.
        if not sp.issparse(strip) and 3 * np.count_nonzero(strip) < 2 * strip.size:
            strip = sp.csr_array(strip)
        size = n_bytes(strip)
        with self._lock:
            if self.kept_bytes + size <= KEPT_BYTES:
                self.kept[rows.start] = strip
                self.kept_bytes += size
        return strip


class KeptTiledGraph(TiledGraph):
    """A graph evaluated tile by tile whose weights, one half of them, are kept as far as they fit."""

    def apply(self, block: FloatArray) -> FloatArray:
        """Return W @ block."""
        return self._strips(block)

    @cached_property
    def _strips(self) -> KeptStrips:
        return KeptStrips(
            self.n_nodes, list(self.tiles()), lambda rows: halve(self.tile(rows)[:, rows.start :])
        )

    def __getstate__(self) -> dict[str, Any]:
        # What can be made again is not worth gigabytes of a file, and threads cannot be written to one.
        return {name: value for name, value in super().__getstate__().items() if name != "_strips"}


def halve(strip: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a strip A[rows, rows.start:] without what its corner has below the diagonal, which is halved."""
    # Its product and that of its transpose then add up to that of the whole matrix.
    upper = np.triu(strip)
    corner = np.arange(strip.shape[0])
    upper[corner, corner] *= 0.5
    return upper


def n_bytes(strip: Strip) -> int:
    """Return how much memory a strip takes."""
    if isinstance(strip, np.ndarray):
        return strip.nbytes
    return int(strip.data.nbytes + strip.indices.nbytes + strip.indptr.nbytes)


def rows_of(graph: Graph, rows: slice) -> FloatArray:
    """Return the weights W[rows, :] of a graph in any form.

    Parameters
    ----------
    graph : Graph
        A graph that is only applied is multiplied with one unit vector per row.
    rows : slice
        From start to stop.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import as_graph, rows_of
    >>> rows_of(as_graph(np.array([[0.0, 2.0], [2.0, 1.0]])), slice(1, 2))
    array([[2., 1.]])
    """
    weights = graph.matrix
    if isinstance(weights, np.ndarray):
        return weights[rows]
    if weights is not None:
        return np.asarray(weights[rows].toarray())
    if isinstance(graph, TiledGraph):
        return graph.tile(rows)
    return _apply_to_units(graph, np.arange(rows.start, rows.stop)).T


def columns_of(graph: Graph, nodes: IntArray) -> FloatArray:
    """Return the weights W[:, nodes] of a graph in any form.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import as_graph, columns_of
    >>> columns_of(as_graph(np.array([[0.0, 2.0], [2.0, 1.0]])), np.array([1]))
    array([[2.],
           [1.]])
    """
    weights = graph.matrix
    if isinstance(weights, np.ndarray):
        return weights[:, nodes]
    if sp.issparse(weights):
        return np.asarray(sp.csc_array(weights)[:, nodes].toarray())
    if not isinstance(graph, TiledGraph):
        return _apply_to_units(graph, nodes)
    return np.array([graph.row(node) for node in nodes]).reshape(-1, graph.n_nodes).T


def _apply_to_units(graph: Graph, nodes: IntArray) -> FloatArray:
    units = np.zeros((graph.n_nodes, len(nodes)))
    units[nodes, np.arange(len(nodes))] = 1.0
    return graph.apply(units)


class CorrectedGraph(Graph):
    """The graph W + C, where C is only applied.

    Parameters
    ----------
    graph : Graph
        W.
    apply_correction : callable
        Block -> C @ block.
    skeleton : sparse array, optional
        A sparse graph with the same components as C, so that those of the sum can be found. Without one,
        the sum is taken as connected.
    """

    def __init__(
        self,
        graph: Graph,
        apply_correction: Callable[[FloatArray], FloatArray],
        skeleton: sp.csr_array | None = None,
    ) -> None:
        self.graph = graph
        self.apply_correction = apply_correction
        self.skeleton = skeleton
        self.n_nodes = graph.n_nodes

    def apply(self, block: FloatArray) -> FloatArray:
        """Return (W + C) @ block."""
        return self.graph.apply(block) + self.apply_correction(block)

    @cached_property
    def degrees(self) -> FloatArray:
        """The weighted degrees; what rounding leaves where a correction cuts a node off counts as zero."""
        degrees = self.apply(np.ones(self.n_nodes))
        return np.where(degrees > ROUNDING * self.graph.degrees, degrees, 0.0)

    @cached_property
    def components(self) -> IntArray:
        """The connected component of every node; isolated nodes are -1."""
        if self.skeleton is None or not self.graph.is_sparse:
            return super().components
        # Components of W, each isolated node one of its own, joined by the edges of the skeleton.
        number = self.graph.components.copy()
        alone = np.flatnonzero(number < 0)
        number[alone] = self.graph.n_components + np.arange(alone.size)
        edges = sp.coo_array(self.skeleton)
        shape = (int(number.max()) + 1,) * 2
        joints = sp.coo_array((np.ones(edges.nnz), (number[edges.row], number[edges.col])), shape=shape)
        joined = connected_components(joints, directed=False)[1][number]
        return drop_isolated(number_by_appearance(joined), self.isolated)


def correct_weights(graph: Graph, correction: sp.csr_array) -> Graph:
    """Return the graph W + C for a sparse symmetric correction C that leaves no weight negative.

    Parameters
    ----------
    graph : Graph
        W, in any form.
    correction : sparse array of shape (n, n)
        C.

    Returns
    -------
    Graph
        Sparse or dense where W is, otherwise a `CorrectedGraph`.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from sidecut.graphs import as_graph, correct_weights
    >>> pair = as_graph(np.array([[0.0, 0.5], [0.5, 0.0]]))
    >>> correct_weights(pair, sp.csr_array([[0.0, 0.5], [0.5, 0.0]])).toarray()
    array([[0., 1.],
           [1., 0.]])
    """
    weights = graph.matrix
    if weights is None:
        return CorrectedGraph(graph, correction.__matmul__, correction if graph.is_sparse else None)
    if isinstance(weights, np.ndarray):
        changed = weights.copy()
        entries = sp.coo_array(correction)
        np.add.at(changed, (entries.row, entries.col), entries.data)
        return DenseGraph(changed)
    return SparseGraph(weights + correction)
