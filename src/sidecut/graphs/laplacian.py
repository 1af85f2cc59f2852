"""The normalised affinity D^{-1/2} W D^{-1/2} of a graph, and the null space of its Laplacian."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sidecut.graphs.graph import FloatArray, Graph
from sidecut.graphs.products import SparseProduct


class NormalizedAffinity:
    """The operator Ā = D^{-1/2} W D^{-1/2}; the normalised Laplacian is L̄ = I - Ā.

    An isolated node has no degree to divide by: its row of Ā is zero, so L̄ has a one there and the node
    takes no part in any eigenvector below 1.

    Parameters
    ----------
    graph : Graph
        The graph to normalise.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import NormalizedAffinity, as_graph
    >>> affinity = NormalizedAffinity(as_graph(np.array([[0.0, 4.0], [4.0, 0.0]])))
    >>> affinity.apply(np.array([1.0, 0.0]))
    array([0., 1.])
    >>> affinity.null_vectors.toarray().round(4).ravel()
    array([0.7071, 0.7071])
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.n_nodes = graph.n_nodes

    @cached_property
    def scale(self) -> FloatArray:
        """D^{-1/2} as a vector, zero at isolated nodes."""
        degrees = self.graph.degrees
        scale = np.zeros(self.n_nodes)
        np.divide(1.0, np.sqrt(degrees), out=scale, where=degrees > 0)
        return scale

    @cached_property
    def matrix(self) -> sp.csr_array | FloatArray | None:
        """Ā as an explicit matrix where the graph has one."""
        weights = self.graph.matrix
        if weights is None:
            return None
        if isinstance(weights, np.ndarray):
            normalized = self.scale[:, None] * weights
            normalized *= self.scale[None, :]
            return normalized
        scaling = sp.diags_array(self.scale)
        return sp.csr_array(scaling @ weights @ scaling)

    @cached_property
    def null_vectors(self) -> sp.csr_array:
        """An orthonormal basis of the null space of L̄: D^{1/2} 1_C for every component C, one per column."""
        component = self.graph.components
        members = np.flatnonzero(component >= 0)
        roots = np.sqrt(self.graph.degrees[members])
        columns = component[members]
        volumes = np.bincount(columns, weights=roots**2, minlength=self.graph.n_components)
        values = roots / np.sqrt(volumes[columns])
        shape = (self.n_nodes, self.graph.n_components)
        return sp.csr_array((values, (members, columns)), shape=shape)

    @cached_property
    def _product(self) -> SparseProduct:
        return SparseProduct(self.matrix)

    def apply(self, block: FloatArray) -> FloatArray:
        """Return Ā @ block."""
        # Only a sparse Ā is worth a copy: a dense graph is not doubled in memory just to be applied.
        if sp.issparse(self.graph.matrix):
            return self._product(block)
        scale = self.scale if block.ndim == 1 else self.scale[:, None]
        return scale * self.graph.apply(scale * block)
