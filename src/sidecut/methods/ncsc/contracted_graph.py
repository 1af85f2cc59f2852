"""A graph whose nodes are sets of points: points that belong together, taken as one."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sidecut.arrays import FloatArray, IntArray
from sidecut.graphs.graph import DenseGraph, Graph, SparseGraph


class ContractedGraph(Graph):
    """The graph CᵀWC of sets of points, where W is only ever applied; C has one column of ones per set.

    The degree of a set is the sum of the degrees of its points, and the weights inside it are a self-loop, so
    that the normalised cut of the sets is the normalised cut of the points that keeps every set whole.

    Parameters
    ----------
    graph : Graph
        W, in any form.
    sets : array of shape (n_points,)
        The set of every point, numbered from 0 without gaps.
    """

    def __init__(self, graph: Graph, sets: IntArray) -> None:
        self.graph = graph
        self.membership = membership(sets)
        self.n_nodes = int(self.membership.shape[1])

    def apply(self, block: FloatArray) -> FloatArray:
        """Return CᵀWC @ block."""
        return np.asarray(self.membership.T @ self.graph.apply(self.membership @ block))


def membership(sets: IntArray) -> sp.csr_array:
    """Return C: one row per point, with a one in the column of its set.

    Examples
    --------
    >>> from sidecut.methods.ncsc.contracted_graph import membership
    >>> import numpy as np
    >>> membership(np.array([0, 1, 0])).toarray()
    array([[1., 0.],
           [0., 1.],
           [1., 0.]])
    """
    n_points = len(sets)
    shape = (n_points, int(np.max(sets)) + 1)
    return sp.csr_array((np.ones(n_points), sets, np.arange(n_points + 1)), shape=shape)


def contract_graph(graph: Graph, sets: IntArray) -> Graph:
    """Return the graph of sets of points, in the form the graph of the points has.

    Parameters
    ----------
    graph : Graph
        The graph of the points.
    sets : array of shape (n_points,)
        The set of every point, numbered from 0 without gaps.

    Returns
    -------
    Graph
        With a weight between two sets that is the sum of the weights between their points.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.methods.ncsc.contracted_graph import contract_graph
    >>> path = as_graph(np.array([[0, 2, 0], [2, 0, 1], [0, 1, 0.0]]))
    >>> contract_graph(path, np.array([0, 1, 0])).toarray()
    array([[0., 3.],
           [3., 0.]])
    """
    if np.array_equal(sets, np.arange(graph.n_nodes)):
        return graph
    weights = graph.matrix
    if weights is None:
        return ContractedGraph(graph, sets)
    C = membership(sets)
    if sp.issparse(weights):
        return SparseGraph(_symmetric(C.T @ weights @ C))
    return DenseGraph(_symmetric(C.T @ (C.T @ weights).T))


def _symmetric(weights: sp.csr_array | FloatArray) -> sp.csr_array | FloatArray:
    """Mirrored sums are added up in different orders; a graph is symmetric to the last bit."""
    return 0.5 * (weights + weights.T)
