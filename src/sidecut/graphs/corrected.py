"""A graph with some of its weights changed, in whatever form the graph has."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from sidecut.arrays import FloatArray, IntArray
from sidecut.graphs.graph import DenseGraph, Graph, SparseGraph, drop_isolated
from sidecut.graphs.lazy import ROUNDING


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
        base = self.graph.matrix
        if self.skeleton is None or not sp.issparse(base):
            return super().components
        joined = sp.csr_array(base + self.skeleton)
        return drop_isolated(connected_components(joined, directed=False)[1], self.isolated)


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
        return CorrectedGraph(graph, correction.__matmul__)
    if isinstance(weights, np.ndarray):
        changed = weights.copy()
        entries = sp.coo_array(correction)
        np.add.at(changed, (entries.row, entries.col), entries.data)
        return DenseGraph(changed)
    return SparseGraph(weights + correction)
