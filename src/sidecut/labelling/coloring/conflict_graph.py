"""The graph of what must be apart: nodes are must-link components, edges the cannot-links between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from sidecut.arrays import IntArray


@dataclass(frozen=True, eq=False)
class ConflictGraph:
    """Which nodes may not share a cluster.

    Parameters
    ----------
    n_nodes : int
        How many nodes there are.
    edges : ndarray of shape (r, 2)
        Pairs of different nodes that are apart, each once.
    """

    n_nodes: int
    edges: IntArray

    @cached_property
    def matrix(self) -> sparse.csr_array:
        """The symmetric adjacency matrix, of ones."""
        first, second = self.edges[:, 0], self.edges[:, 1]
        ends = (np.concatenate([first, second]), np.concatenate([second, first]))
        return sparse.coo_array((np.ones(len(ends[0])), ends), shape=(self.n_nodes, self.n_nodes)).tocsr()

    @cached_property
    def degrees(self) -> IntArray:
        """How many nodes each node is apart from."""
        return np.diff(self.matrix.indptr).astype(np.int64)

    def neighbours(self, node: int) -> IntArray:
        """Return the nodes that one node is apart from."""
        return self.matrix.indices[self.matrix.indptr[node] : self.matrix.indptr[node + 1]]

    def induced(self, nodes: IntArray) -> ConflictGraph:
        """Return the graph among some nodes, which become 0, 1, 2, ... in the order given."""
        place = np.full(self.n_nodes, -1, dtype=np.int64)
        place[nodes] = np.arange(len(nodes))
        ends = place[self.edges]
        return ConflictGraph(len(nodes), ends[(ends >= 0).all(axis=1)])

    def islands(self) -> list[IntArray]:
        """Return the connected sets of nodes, each sorted."""
        n_islands, island = connected_components(self.matrix, directed=False)
        order = np.argsort(island, kind="stable")
        ends = np.cumsum(np.bincount(island, minlength=n_islands))[:-1]
        return [np.asarray(part, dtype=np.int64) for part in np.split(order, ends)]
