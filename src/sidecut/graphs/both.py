"""Points and a graph of the same things: features averaged along the graph, and two graphs summed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sidecut.checks import FloatArray, IntArray
from sidecut.graphs.graph import Extension, Graph, Grown, SparseGraph, as_graph
from sidecut.graphs.search import neighbors_of_new

#: Steps along the graph over which features are averaged.
N_STEPS = 2


def read_graph_of_points(graph: Any, n_samples: int) -> Graph:
    """Return the graph of `n_samples` points, or say why it cannot be one."""
    found = as_graph(graph)
    if found.n_nodes != n_samples:
        raise ValueError(
            f"graph has {found.n_nodes} nodes, but X has {n_samples} points: node i of the graph must be row "
            "i of X. Leave out, or add, the nodes and rows that differ."
        )
    if not (found.degrees > 0).any():
        raise ValueError(f"graph has no edge between its {found.n_nodes} nodes: leave graph=... out.")
    return found


def average_along(graph: Graph, X: npt.NDArray, n_steps: int = N_STEPS) -> Any:
    """Return features averaged over steps along a graph, (D + wI)⁻¹(W + wI) X for each step.

    w is the mean weight of an edge, so a node counts as much as one of its neighbours.

    Parameters
    ----------
    graph : Graph
        The graph of the points.
    X : array or sparse matrix of shape (n, d)
        The points.
    n_steps : int, default=2
        How many steps.

    Returns
    -------
    array or sparse matrix of shape (n, d)
        The averages; a node without neighbours keeps its features.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import as_graph, average_along
    >>> path = as_graph(np.diag(np.ones(2), 1) + np.diag(np.ones(2), -1))
    >>> average_along(path, np.array([[0.0], [3.0], [6.0]]), n_steps=1)
    array([[1.5],
           [3. ],
           [4.5]])
    """
    own = _mean_weight(graph)
    share = 1.0 / (graph.degrees + own)
    for _ in range(n_steps):
        if sp.issparse(X):
            X = sp.csr_array(sp.diags_array(share) @ (graph.tosparse() @ X + own * X))
        else:
            X = share[:, None] * (graph.apply(np.asarray(X, dtype=np.float64)) + own * X)
    return X


def _mean_weight(graph: Graph) -> float:
    """Return the mean weight of an edge; of a graph that is only applied, the mean degree."""
    weights = graph.matrix
    if weights is None:
        return graph.volume / graph.n_nodes
    entries: Any = weights[weights > 0] if isinstance(weights, np.ndarray) else weights.data
    return float(np.mean(entries))


def node_features(graph: Any, attributes: Sequence[str] | None = None) -> FloatArray:
    """Return attributes of the nodes of a networkx graph as points, in the order of the nodes.

    Parameters
    ----------
    graph : networkx.Graph
        A graph whose nodes have attributes that are numbers or lists of numbers.
    attributes : sequence of str, optional
        Which; by default all that the first node has.

    Returns
    -------
    array of shape (n_nodes, d)
        Fit a method with ``fit(node_features(graph), graph=graph)``.

    Raises
    ------
    ValueError
        If a node lacks an attribute, or has one that is no number.

    Examples
    --------
    >>> import networkx as nx
    >>> from sidecut.graphs import node_features
    >>> graph = nx.path_graph(2)
    >>> nx.set_node_attributes(graph, {0: 31, 1: 40}, "age")
    >>> nx.set_node_attributes(graph, {0: [0.5, 2.0], 1: [1.0, 3.0]}, "place")
    >>> node_features(graph)
    array([[31. ,  0.5,  2. ],
           [40. ,  1. ,  3. ]])
    """
    nodes = dict(graph.nodes(data=True))
    if attributes is None:
        attributes = list(next(iter(nodes.values()), {}))
    if not attributes:
        raise ValueError("the nodes have no attributes: set some, or fit the graph alone as 'precomputed'.")
    rows = []
    for name, held in nodes.items():
        missing = [each for each in attributes if each not in held]
        if missing:
            raise ValueError(f"node {name!r} has no attribute {missing[0]!r}: set it, or name others.")
        try:
            rows.append(
                np.concatenate([np.ravel(np.asarray(held[each], dtype=float)) for each in attributes])
            )
        except (TypeError, ValueError):
            words = {each: held[each] for each in attributes}
            raise ValueError(
                f"node {name!r} has attributes that are not all numbers, {words}: encode the others, or "
                "leave them out."
            ) from None
    if len({len(row) for row in rows}) > 1:
        raise ValueError("some nodes have longer lists as attributes than others: make them equal.")
    return np.array(rows)


class SummedGraph(Graph):
    """The sum of two graphs of the same nodes, each scaled to a mean degree of one."""

    def __init__(self, first: Graph, second: Graph) -> None:
        self._terms = [(graph.n_nodes / graph.volume, graph) for graph in (first, second)]
        self.n_nodes = first.n_nodes

    def apply(self, block: FloatArray) -> FloatArray:
        """Return W @ block."""
        (one, first), (other, second) = self._terms
        return np.asarray(one * first.apply(block) + other * second.apply(block))


def sum_graphs(first: Graph, second: Graph) -> Graph:
    """Return the sum of two graphs of the same nodes, each scaled to a mean degree of one.

    Parameters
    ----------
    first, second : Graph
        The graphs. New points are linked to the sum as they are to the first.

    Returns
    -------
    Graph
        Sparse where both are.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import as_graph, sum_graphs
    >>> pair = as_graph(np.array([[0.0, 5.0], [5.0, 0.0]]))
    >>> sum_graphs(pair, pair).toarray()
    array([[0., 2.],
           [2., 0.]])
    """
    if not (sp.issparse(first.matrix) and sp.issparse(second.matrix)):
        return SummedGraph(first, second)
    weights = [graph.tosparse() * (graph.n_nodes / graph.volume) for graph in (first, second)]
    return SparseGraph(
        weights[0] + weights[1], recall=first.recall, extension=getattr(first, "extension", None)
    )


@dataclass(frozen=True)
class AveragedExtension:
    """What links new points, which have no edges, to old ones by the averages of these."""

    extension: Extension
    averages: Any

    def edges(self, X: Any, X_new: Any) -> tuple[sp.csr_array, IntArray]:
        """Return the weights from new points to old ones, and for each new point an old one it equals."""
        indices, distances = neighbors_of_new(X, X_new, 1, "euclidean")
        exact_matches = np.where(distances[:, 0] <= 0, indices[:, 0], -1)
        return self.extension.edges(self.averages, X_new)[0], exact_matches

    def grow(self, graph: SparseGraph, X: Any, X_new: Any) -> Grown:
        """Return the graph of old and new points."""
        grown = self.extension.grow(graph, self.averages, X_new).graph
        exact_matches = self.edges(X, X_new)[1]
        both = sp.vstack if sp.issparse(self.averages) else np.concatenate
        if grown.extension is not None:
            grown.extension = replace(self, extension=grown.extension, averages=both([self.averages, X_new]))
        # They are not averaged, so that how they differ from old ones says nothing.
        return Grown(grown, exact_matches, np.full(len(exact_matches), np.inf), None)
