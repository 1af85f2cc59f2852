"""Which cannot-links cannot all be satisfied with so few clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from sidecut.labelling.branching import branch_and_bound
from sidecut.labelling.colouring import peel

IntArray = NDArray[np.int64]

#: More edges than this are not searched: the proof would help nobody.
MAX_EDGES = 400


def infeasible_core(edges: IntArray, n_nodes: int, n_colours: int) -> IntArray | None:
    """Return edges that no `n_colours` colours satisfy, none of which could be left out, as indices.

    Parameters
    ----------
    edges : ndarray of shape (r, 2)
        Pairs of nodes that must differ, each once.
    n_nodes : int
        Number of nodes.
    n_colours : int
        Number of colours.

    Returns
    -------
    ndarray of int or None
        Positions in `edges`: with two colours an odd cycle, otherwise often a clique. None where no proof of
        infeasibility was found, be it that the edges can be satisfied or that the search gave up.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.labelling.infeasible import infeasible_core
    >>> infeasible_core(np.array([[0, 1], [1, 2], [2, 3], [0, 2]]), 4, 2)
    array([0, 1, 3])
    """
    for kept in _stubborn_parts(edges, np.arange(len(edges)), n_nodes, n_colours):
        if len(kept) <= MAX_EDGES and _is_infeasible(edges[kept], n_nodes, n_colours):
            return _reduced(edges, kept, n_nodes, n_colours)
    return None


def _reduced(edges: IntArray, kept: IntArray, n_nodes: int, n_colours: int) -> IntArray:
    """Leave out one edge after the other as long as what remains is infeasible."""
    for edge in kept[::-1].tolist():
        without = kept[kept != edge]
        if edge in kept and _is_infeasible(edges[without], n_nodes, n_colours):
            parts = _stubborn_parts(edges, without, n_nodes, n_colours)
            bad = (part for part in parts if _is_infeasible(edges[part], n_nodes, n_colours))
            kept = next(bad)
    return kept


def _stubborn_parts(edges: IntArray, kept: IntArray, n_nodes: int, n_colours: int) -> list[IntArray]:
    """The edges of the k-core, by connected part, smallest part first; all others can be satisfied."""
    ones = np.ones(2 * len(kept))
    ends = np.concatenate([edges[kept], edges[kept][:, ::-1]])
    graph = sparse.coo_array((ones, (ends[:, 0], ends[:, 1])), shape=(n_nodes, n_nodes)).tocsr()
    in_core = np.zeros(n_nodes, dtype=bool)
    in_core[peel(graph, n_colours)[0]] = True
    inside = kept[in_core[edges[kept]].all(axis=1)]
    _, part = connected_components(graph[in_core][:, in_core], directed=False)
    number = np.full(n_nodes, -1)
    number[in_core] = part
    of_edge = number[edges[inside, 0]]
    return sorted((inside[of_edge == n] for n in np.unique(of_edge)), key=len)


def _is_infeasible(edges: IntArray, n_nodes: int, n_colours: int) -> bool:
    """Whether it is proved that the colours do not suffice."""
    if len(edges) == 0:
        return False
    nodes, ends = np.unique(edges, return_inverse=True)
    ends = ends.reshape(edges.shape)
    weights = np.zeros((len(nodes), len(nodes)))
    weights[ends[:, 0], ends[:, 1]] = weights[ends[:, 1], ends[:, 0]] = 1.0
    colours, is_proved = branch_and_bound(
        np.zeros((len(nodes), n_colours)), weights, np.zeros(len(nodes), dtype=np.int64)
    )
    return is_proved and bool((colours[ends[:, 0]] == colours[ends[:, 1]]).any())
