"""Graphs that never exist in memory: evaluated tile by tile, or known by a factor."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from sidecut.graphs.graph import DenseGraph, FloatArray, Graph, without_isolated

#: One tile of weights takes about this many bytes.
TILE_BYTES = 64 * 2**20
#: A degree below this share of the sum it is the difference of is rounding error.
ROUNDING = 1e-13


def tile_rows(n_nodes: int) -> Iterator[slice]:
    """Yield slices of rows that cover a graph, each a tile of about 64 MB.

    Examples
    --------
    >>> from sidecut.graphs.lazy import tile_rows
    >>> [(rows.start, rows.stop) for rows in tile_rows(4_000)]
    [(0, 2097), (2097, 4000)]
    """
    height = max(1, TILE_BYTES // (8 * max(n_nodes, 1)))
    for start in range(0, n_nodes, height):
        yield slice(start, min(start + height, n_nodes))


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

    def weights_at(self, rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp]) -> FloatArray:
        """Return the weights of some pairs of nodes; one row of W for every distinct row."""
        weights = np.empty(len(rows))
        for node in np.unique(rows):
            here = rows == node
            weights[here] = self.tile(slice(node, node + 1))[0, columns[here]]
        return weights

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
    >>> graph.to_dense()
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
        squares = self.factor.multiply(self.factor) if sp.issparse(self.factor) else self.factor**2
        return np.asarray(squares.sum(axis=1), dtype=np.float64).ravel()

    @cached_property
    def degrees(self) -> FloatArray:
        """The weighted degree of every node, zero where it is lost in the rounding of F Fᵀ 1."""
        with_loops = np.asarray(self.factor @ np.asarray(self.factor.sum(axis=0)).ravel())
        degrees = with_loops - self._loops
        return np.where(degrees > ROUNDING * with_loops, degrees, 0.0)

    @cached_property
    def components(self) -> npt.NDArray[np.intp]:
        """The connected component of every node; nodes that share a column of F are linked."""
        if self.factor.min() < 0:
            return super().components
        pattern = sp.csr_array(self.factor)
        bipartite = sp.block_array([[None, pattern], [pattern.T, None]])
        labels = connected_components(bipartite, directed=False)[1][: self.n_nodes]
        return without_isolated(labels, self.isolated)

    def to_dense(self) -> FloatArray:
        """Return F Fᵀ with a zero diagonal; for small graphs only."""
        weights = super().to_dense()
        np.fill_diagonal(weights, 0.0)
        return 0.5 * (weights + weights.T)

    def apply(self, block: FloatArray) -> FloatArray:
        """Return (F Fᵀ - diag) @ block in O(nnz(F)) per column."""
        loops = self._loops if block.ndim == 1 else self._loops[:, None]
        return np.asarray(self.factor @ (self.factor.T @ block)) - loops * block
