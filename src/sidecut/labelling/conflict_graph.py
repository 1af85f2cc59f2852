"""The graph of what must be apart: nodes are must-link components, edges the cannot-links between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from sidecut.checks import FloatArray, IntArray

NO_NODES = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class ConflictGraph:
    """Which nodes may not share a cluster."""

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

    def components(self) -> list[IntArray]:
        """Return the connected components, each sorted."""
        n_components, component = connected_components(self.matrix, directed=False)
        order = np.argsort(component, kind="stable")
        ends = np.cumsum(np.bincount(component, minlength=n_components))[:-1]
        return [np.asarray(part, dtype=np.int64) for part in np.split(order, ends)]


@dataclass(frozen=True)
class Found:
    """The result of a search."""

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
    """Look for the cheapest colouring in which neighbours differ."""
    # The next node is the one with the fewest colours left, which for two colours never needs to turn back
    # (DSATUR, Brélaz 1979); its colours are tried from the cheapest on, and a branch ends when its cost, plus
    # the cheapest colour left for every node to come, is no better than the best colouring known.
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
        # How many neighbours of a node have a colour, and how many colours none of them has.
        self.blocked = np.zeros(cost.shape, dtype=np.int32)
        self.urgency = cost.shape[1] - graph.degrees / (graph.degrees.max(initial=0) + 1.0)
        self.n_open = graph.n_nodes

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
            if self.n_open == 0:
                spent = self._spent()
                if spent < self.best_cost:
                    self.best, self.best_cost = self.colours.copy(), spent
                if self.first_only:
                    return Found(self.best, False, steps)
            else:
                stack.append(self._choices())
        return Found(self.best, True, steps)

    def _choices(self) -> tuple[int, list[int]]:
        """Return the next node and its colours, the cheapest last; none if no better colouring can follow."""
        node = int(np.argmin(np.where(self.colours < 0, self.urgency, np.inf)))
        free = np.flatnonzero(self.blocked[node] == 0)
        if self.interchangeable:
            free = free[free <= self.colours.max(initial=-1) + 1]
        order = free[np.argsort(-self.cost[node, free], kind="stable")]
        limit = self._limit(node) if np.isfinite(self.best_cost) else np.inf
        return node, [int(colour) for colour in order if self.cost[node, colour] < limit]

    def _limit(self, node: int) -> float:
        """What the colour of a node may cost at most, if the others cost what they must, to beat the best."""
        others = np.flatnonzero(self.colours < 0)
        others = others[others != node]
        left = np.where(self.blocked[others] > 0, np.inf, self.cost[others])
        return self.best_cost - self._spent() - float(left.min(axis=1).sum())

    def _spent(self) -> float:
        done = np.flatnonzero(self.colours >= 0)
        return float(self.cost[done, self.colours[done]].sum())

    def _colour(self, node: int, colour: int) -> None:
        around = self.graph.neighbours(node)
        self.colours[node] = colour
        self.urgency[around[self.blocked[around, colour] == 0]] -= 1
        self.blocked[around, colour] += 1
        self.n_open -= 1

    def _uncolour(self, node: int) -> None:
        colour = int(self.colours[node])
        if colour < 0:
            return
        around = self.graph.neighbours(node)
        self.colours[node] = -1
        self.blocked[around, colour] -= 1
        self.urgency[around[self.blocked[around, colour] == 0]] += 1
        self.n_open += 1


@dataclass(frozen=True)
class Verdict:
    """A colouring of a graph, or nodes that prove that there is none, or neither."""

    colours: IntArray | None
    infeasible_nodes: IntArray
    n_steps: int = 0

    @property
    def impossible(self) -> bool:
        """Whether it is proved that there is no colouring."""
        return len(self.infeasible_nodes) > 0


def find_colouring(graph: ConflictGraph, n_colours: int, max_steps: int) -> Verdict:
    """Colour a graph so that neighbours differ, or prove that it cannot be done."""
    # A node with fewer than `n_colours` neighbours can always be coloured last. The core that is left when no
    # more such node can be removed is searched component by component, exhaustively unless it takes more than
    # `max_steps`.
    removed, core = remove_low_degree(graph, n_colours)
    colours = np.full(graph.n_nodes, -1, dtype=np.int64)
    n_steps = 0
    inner = graph.induced(core)
    for component in inner.components() if len(core) else []:
        part = inner.induced(component)
        clique = greedy_clique(part, n_colours + 1)
        if len(clique) > n_colours:
            return Verdict(None, core[component[np.sort(clique)]], n_steps)
        nothing = np.zeros((part.n_nodes, n_colours))
        found = search(part, nothing, max_steps - n_steps, first_only=True, interchangeable=True)
        n_steps += found.n_steps
        if found.colours is None:
            if not found.complete:
                return Verdict(None, NO_NODES, n_steps)
            return Verdict(None, core[component[shrink_infeasible(part, n_colours, max_steps)]], n_steps)
        colours[core[component]] = found.colours
    for node in reversed(removed):
        taken = colours[graph.neighbours(node)]
        colours[node] = np.flatnonzero(~np.isin(np.arange(n_colours), taken))[0]
    return Verdict(colours, NO_NODES, n_steps)


def remove_low_degree(graph: ConflictGraph, n_colours: int) -> tuple[list[int], IntArray]:
    """Take away nodes with fewer than `n_colours` neighbours, again and again."""
    degrees = graph.degrees.copy()
    waiting = np.flatnonzero(degrees < n_colours).tolist()
    gone = degrees < n_colours
    removed = []
    while waiting:
        node = waiting.pop()
        removed.append(node)
        around = graph.neighbours(node)
        degrees[around] -= 1
        loose = around[(degrees[around] < n_colours) & ~gone[around]]
        gone[loose] = True
        waiting += loose.tolist()
    return removed, np.flatnonzero(~gone)


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


def shrink_infeasible(graph: ConflictGraph, n_colours: int, max_steps: int) -> IntArray:
    """Leave out nodes of a graph that has no colouring as long as there is still none."""
    # Pieces are tried from large to small. The result has no colouring in any case, and none of its nodes can
    # be spared unless the steps ran out.
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
    _, core = remove_low_degree(graph, n_colours)
    if len(core) == 0:
        return False, 1
    inner = graph.induced(core)
    nothing = np.zeros((len(core), n_colours))
    found = search(inner, nothing, max_steps, first_only=True, interchangeable=True)
    return found.complete and found.colours is None, found.n_steps + 1
