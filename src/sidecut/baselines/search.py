"""Give every node a colour unlike its neighbours', at least cost, by branch and bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sidecut.baselines.conflict_graph import ConflictGraph, IntArray

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Found:
    """What a search found.

    Parameters
    ----------
    colours : ndarray of shape (n_nodes,) or None
        The best colouring seen, None if none was.
    complete : bool
        Whether the search came to its end: the colouring is then the best there is, and None means that there
        is none.
    n_steps : int
        How many colours were tried.
    """

    colours: IntArray | None
    complete: bool
    n_steps: int


def search(
    graph: ConflictGraph,
    cost: FloatArray,
    max_steps: int,
    *,
    incumbent: IntArray | None = None,
    first_only: bool = False,
    interchangeable: bool = False,
) -> Found:
    """Look for the cheapest colouring in which neighbours differ.

    The next node is the one with the fewest colours left, which for two colours never needs to turn back
    (DSATUR, Brélaz 1979); its colours are tried from the cheapest on, and a branch ends when its cost, plus
    the cheapest colour left for every node to come, is no better than the best colouring known.

    Parameters
    ----------
    graph : ConflictGraph
        Which nodes must differ.
    cost : ndarray of shape (n_nodes, n_colours)
        What each colour costs at each node.
    max_steps : int
        Give up after trying so many colours.
    incumbent : ndarray of shape (n_nodes,), optional
        A colouring to improve on.
    first_only : bool
        Stop at the first colouring.
    interchangeable : bool
        All costs are equal, so that of all colours not used so far it suffices to try one.

    Returns
    -------
    Found
        Never worse than the incumbent.

    Examples
    --------
    >>> import numpy as np
    >>> square = ConflictGraph(4, np.array([[0, 1], [1, 2], [2, 3], [0, 3]]))
    >>> search(square, np.array([[0, 1], [0, 1], [0, 1], [0, 5.0]]), 100).colours
    array([1, 0, 1, 0])
    """
    return _Search(graph, cost, max_steps, incumbent, first_only, interchangeable).run()


class _Search:
    """A depth-first search with its own stack, since chains of cannot-links may be long."""

    def __init__(
        self,
        graph: ConflictGraph,
        cost: FloatArray,
        max_steps: int,
        incumbent: IntArray | None,
        first_only: bool,
        interchangeable: bool,
    ) -> None:
        self.graph, self.cost, self.max_steps = graph, cost, max_steps
        self.first_only, self.interchangeable = first_only, interchangeable
        self.best = None if incumbent is None else incumbent.copy()
        everyone = np.arange(graph.n_nodes)
        self.best_cost = np.inf if incumbent is None else float(cost[everyone, incumbent].sum())
        self.colours = np.full(graph.n_nodes, -1, dtype=np.int64)
        # How many neighbours of a node have a colour.
        self.blocked = np.zeros(cost.shape, dtype=np.int64)
        self.tie_break = graph.degrees / (graph.degrees.max(initial=0) + 1.0)

    def run(self) -> Found:
        steps = 0
        stack = [self._choices()]
        while stack:
            node, choices = stack[-1]
            self._uncolour(node)
            if not choices:
                stack.pop()
                continue
            if steps >= self.max_steps:
                return Found(self.best, False, steps)
            steps += 1
            self._colour(node, choices.pop())
            if (self.colours >= 0).all():
                self._keep()
                if self.first_only:
                    return Found(self.best, False, steps)
            else:
                stack.append(self._choices())
        return Found(self.best, True, steps)

    def _choices(self) -> tuple[int, list[int]]:
        """The next node, and its colours, the cheapest last; no colours where this branch is hopeless."""
        open_nodes = np.flatnonzero(self.colours < 0)
        left = np.where(self.blocked[open_nodes] > 0, np.inf, self.cost[open_nodes])
        n_left = np.isfinite(left).sum(axis=1)
        place = int(np.argmin(n_left - self.tie_break[open_nodes]))
        node = int(open_nodes[place])
        if n_left[place] == 0:
            return node, []
        cheapest = left.min(axis=1)
        others = self._spent() + float(cheapest.sum()) - float(cheapest[place])
        options = left[place]
        order = np.argsort(options, kind="stable")[: n_left[place]]
        if self.interchangeable:
            order = order[order <= self.colours.max(initial=-1) + 1]
        return node, [int(colour) for colour in order[::-1] if others + options[colour] < self.best_cost]

    def _spent(self) -> float:
        done = np.flatnonzero(self.colours >= 0)
        return float(self.cost[done, self.colours[done]].sum())

    def _colour(self, node: int, colour: int) -> None:
        self.colours[node] = colour
        self.blocked[self.graph.neighbours(node), colour] += 1

    def _uncolour(self, node: int) -> None:
        if self.colours[node] >= 0:
            self.blocked[self.graph.neighbours(node), self.colours[node]] -= 1
            self.colours[node] = -1

    def _keep(self) -> None:
        spent = self._spent()
        if spent < self.best_cost:
            self.best, self.best_cost = self.colours.copy(), spent
