"""Whether cannot-links leave any way to make so many clusters, and if not, which of them are to blame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidecut.arrays import IntArray
from sidecut.labelling.coloring.conflict_graph import ConflictGraph, search


@dataclass(frozen=True)
class Verdict:
    """What is known about colouring a graph.

    Parameters
    ----------
    colours : ndarray of shape (n_nodes,) or None
        A colouring, None if none was found.
    blame : ndarray
        Nodes that alone cannot be coloured, empty unless that is proved.
    n_steps : int
        How many colours were tried.
    """

    colours: IntArray | None
    blame: IntArray
    n_steps: int = 0

    @property
    def impossible(self) -> bool:
        """Whether it is proved that there is no colouring."""
        return len(self.blame) > 0


NOBODY = np.empty(0, dtype=np.int64)


def find_colouring(graph: ConflictGraph, n_colours: int, max_steps: int) -> Verdict:
    """Colour a graph so that neighbours differ, or prove that it cannot be done.

    A node with fewer than `n_colours` neighbours can always be coloured last. What is left when no more such
    node can be taken away (the core) is searched island by island, exhaustively unless it takes more than
    `max_steps`.

    Parameters
    ----------
    graph : ConflictGraph
        Which nodes must differ.
    n_colours : int
        How many colours there are.
    max_steps : int
        How many colours may be tried in all.

    Returns
    -------
    Verdict
        A colouring, or nodes to blame, or neither where the steps ran out.

    Examples
    --------
    >>> import numpy as np
    >>> pentagon = ConflictGraph(5, np.array([[0, 1], [1, 2], [2, 3], [3, 4], [0, 4]]))
    >>> find_colouring(pentagon, 2, 1000).blame
    array([0, 1, 2, 3, 4])
    >>> find_colouring(pentagon, 3, 1000).colours
    array([0, 1, 0, 1, 2])
    """
    peeled, core = peel(graph, n_colours)
    colours = np.full(graph.n_nodes, -1, dtype=np.int64)
    n_steps = 0
    inner = graph.induced(core)
    for island in inner.islands() if len(core) else []:
        part = inner.induced(island)
        clique = greedy_clique(part, n_colours + 1)
        if len(clique) > n_colours:
            return Verdict(None, core[island[np.sort(clique)]], n_steps)
        nothing = np.zeros((part.n_nodes, n_colours))
        found = search(part, nothing, max_steps - n_steps, first_only=True, interchangeable=True)
        n_steps += found.n_steps
        if found.colours is None:
            if not found.complete:
                return Verdict(None, NOBODY, n_steps)
            return Verdict(None, core[island[shrink_blame(part, n_colours, max_steps)]], n_steps)
        colours[core[island]] = found.colours
    for node in reversed(peeled):
        taken = colours[graph.neighbours(node)]
        colours[node] = np.flatnonzero(~np.isin(np.arange(n_colours), taken))[0]
    return Verdict(colours, NOBODY, n_steps)


def peel(graph: ConflictGraph, n_colours: int) -> tuple[list[int], IntArray]:
    """Take away nodes with fewer than `n_colours` neighbours, again and again.

    Returns
    -------
    peeled : list of int
        The nodes taken away, in that order.
    core : ndarray
        The nodes left, sorted.
    """
    degrees = graph.degrees.copy()
    waiting = np.flatnonzero(degrees < n_colours).tolist()
    gone = degrees < n_colours
    peeled = []
    while waiting:
        node = waiting.pop()
        peeled.append(node)
        around = graph.neighbours(node)
        degrees[around] -= 1
        loose = around[(degrees[around] < n_colours) & ~gone[around]]
        gone[loose] = True
        waiting += loose.tolist()
    return peeled, np.flatnonzero(~gone)


def greedy_clique(graph: ConflictGraph, enough: int, n_starts: int = 50) -> IntArray:
    """Return up to `enough` nodes all apart, grown from each of the nodes of highest degree."""
    best: list[int] = []
    for start in np.argsort(-graph.degrees, kind="stable")[:n_starts]:
        clique, candidates = [int(start)], graph.neighbours(int(start))
        while len(candidates) and len(clique) < enough:
            node = int(candidates[np.argmax(graph.degrees[candidates])])
            clique.append(node)
            candidates = np.intersect1d(candidates, graph.neighbours(node), assume_unique=True)
        if len(clique) > len(best):
            best = clique
        if len(best) == enough:
            break
    return np.array(best, dtype=np.int64)


def shrink_blame(graph: ConflictGraph, n_colours: int, max_steps: int) -> IntArray:
    """Leave out nodes of a graph that has no colouring as long as there is still none.

    Pieces are tried from large to small. The result has no colouring in any case, and none of its nodes can
    be spared unless the steps ran out.
    """
    kept = np.arange(graph.n_nodes)
    length = max(len(kept) // 2, 1)
    while True:
        start = 0
        while start < len(kept) and max_steps > 0:
            fewer = np.delete(kept, np.s_[start : start + length])
            impossible, n_steps = _has_no_colouring(graph.induced(fewer), n_colours, max_steps)
            max_steps -= n_steps
            if impossible:
                kept = fewer
            else:
                start += length
        if length == 1 or max_steps <= 0:
            return kept
        length //= 2


def _has_no_colouring(graph: ConflictGraph, n_colours: int, max_steps: int) -> tuple[bool, int]:
    _, core = peel(graph, n_colours)
    if len(core) == 0:
        return False, 1
    inner = graph.induced(core)
    nothing = np.zeros((len(core), n_colours))
    found = search(inner, nothing, max_steps, first_only=True, interchangeable=True)
    return found.complete and found.colours is None, found.n_steps + 1
