"""The cheapest clusters for nodes of which some should be apart, where not all of that may be possible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from sidecut.arrays import FloatArray, IntArray
from sidecut.labelling.coloring.assignment import Assigner, exchange_chains
from sidecut.labelling.coloring.conflict_graph import NOBODY, ConflictGraph, find_colouring, peel

#: Islands up to this size are searched for the cheapest among the compromises, within a budget.
EXACT_NODES = 24
#: Larger cores are not searched for a smaller violation.
CORE_NODES = 240
#: How often nodes and chains are tried in turn, at most.
MAX_ROUNDS = 10
#: How many colours may be tried to find out whether an island can be satisfied.
MAX_STEPS = 100_000


@dataclass(frozen=True, eq=False)
class Compromise:
    """A cluster for every node.

    Parameters
    ----------
    clusters : ndarray of shape (m,)
        The cluster of each node.
    violated : float
        The total strength of the edges whose ends share a cluster.
    is_least : bool
        Whether it is proved that no assignment violates less.
    blame : ndarray
        Nodes that alone cannot be kept apart; empty where nothing is violated or that is not proved.
    """

    clusters: IntArray
    violated: float
    is_least: bool
    blame: IntArray


def violate_least(costs: FloatArray, graph: ConflictGraph, strengths: FloatArray) -> Compromise:
    """Assign nodes so that edges of least total strength are violated and, among those ways, at least cost.

    Parameters
    ----------
    costs : ndarray of shape (m, k)
        What each cluster costs each node.
    graph : ConflictGraph
        Which nodes should be apart.
    strengths : ndarray of shape (r,)
        How much it matters for each edge of the graph.

    Returns
    -------
    Compromise
        Islands that can be satisfied are, see `Assigner`. Elsewhere the violation is least where `is_least`
        says so, and nodes were moved, and two clusters exchanged along chains, as long as that was better.

    Examples
    --------
    Both would rather be 0, but must differ; it costs node 1 less to give way.

    >>> import numpy as np
    >>> from sidecut.labelling.coloring import ConflictGraph, violate_least
    >>> graph = ConflictGraph(2, np.array([[0, 1]]))
    >>> violate_least(np.array([[0.0, 5.0], [0.0, 1.0]]), graph, np.ones(1)).clusters
    array([0, 1])
    """
    clusters = np.argmin(costs, axis=1).astype(np.int64)
    linked = np.flatnonzero(graph.degrees)
    inner = graph.induced(linked)
    verdict = find_colouring(inner, costs.shape[1], MAX_STEPS)
    if verdict.colours is not None:
        clusters[linked] = Assigner(inner, verdict.colours).assign_best(costs[linked])
        return Compromise(clusters, 0.0, True, NOBODY)
    clusters[linked], is_least = _solve_islands(costs[linked], inner, strengths)
    same = clusters[graph.edges[:, 0]] == clusters[graph.edges[:, 1]]
    return Compromise(clusters, float(strengths[same].sum()), is_least, linked[verdict.blame])


def _solve_islands(costs: FloatArray, graph: ConflictGraph, strengths: FloatArray) -> tuple[IntArray, bool]:
    """Settle island by island; some of them cannot be satisfied."""
    clusters, is_least = np.empty(graph.n_nodes, dtype=np.int64), True
    for nodes in graph.islands():
        island = graph.induced(nodes)
        verdict = find_colouring(island, costs.shape[1], MAX_STEPS)
        if verdict.colours is not None:
            clusters[nodes] = Assigner(island, verdict.colours).assign_best(costs[nodes])
            continue
        inside = np.isin(graph.edges[:, 0], nodes)
        clusters[nodes], is_proved = _Island(costs[nodes], island, strengths[inside]).solve()
        is_least &= is_proved
    return clusters, is_least


class _Island:
    """A connected part of the graph that cannot be satisfied as a whole."""

    def __init__(self, costs: FloatArray, graph: ConflictGraph, strengths: FloatArray) -> None:
        self.costs, self.graph, self.strengths = costs, graph, strengths
        first, second = graph.edges[:, 0], graph.edges[:, 1]
        ends = (np.concatenate([first, second]), np.concatenate([second, first]))
        shape = (graph.n_nodes, graph.n_nodes)
        self.matrix = sparse.coo_array((np.tile(strengths, 2), ends), shape=shape).tocsr()

    def solve(self) -> tuple[IntArray, bool]:
        """Return clusters, and whether their violation is proved to be least."""
        peeled, core = peel(self.graph, self.costs.shape[1])
        first = core[np.argsort(-self.graph.degrees[core], kind="stable")].tolist()
        start = np.full(self.graph.n_nodes, -1, dtype=np.int64)
        clusters, is_least = self.polish(self.extend(start, [*first, *reversed(peeled)])), False
        if len(core) <= CORE_NODES:
            clusters, is_least = self._with_core_searched(clusters, core, peeled)
        if self.graph.n_nodes <= EXACT_NODES:
            clusters, is_cheapest = branch_and_bound(self.costs, self.matrix.toarray(), clusters)
            is_least |= is_cheapest
        return clusters, is_least

    def _with_core_searched(
        self, clusters: IntArray, core: IntArray, peeled: list[int]
    ) -> tuple[IntArray, bool]:
        """Search the core for a smaller violation, and assign the rest, which always fits, around it.

        Without costs clusters are interchangeable, which makes this search far shorter than one with costs.
        """
        inner = self.matrix[core][:, core].toarray()
        searched, is_proved = branch_and_bound(np.zeros_like(self.costs[core]), inner, clusters[core])
        again: IntArray = np.full(self.graph.n_nodes, -1)
        again[core] = searched
        again = self.polish(self.extend(again, list(reversed(peeled))))
        return (again if self.violated(again) <= self.violated(clusters) else clusters), is_proved

    def violated(self, clusters: IntArray) -> float:
        same = clusters[self.graph.edges[:, 0]] == clusters[self.graph.edges[:, 1]]
        return float(self.strengths[same].sum())

    def penalties(self, clusters: IntArray) -> FloatArray:
        """The strength each node would violate in each cluster; nodes without one (-1) count nothing."""
        known = np.flatnonzero(clusters >= 0)
        chosen = sparse.coo_array((np.ones(len(known)), (known, clusters[known])), shape=self.costs.shape)
        return np.asarray((self.matrix @ chosen.tocsr()).toarray())

    def extend(self, clusters: IntArray, order: list[int]) -> IntArray:
        """Give the nodes of `order`, one after the other, the cluster of least violation, then least cost."""
        penalties = self.penalties(clusters)
        for node in order:
            clusters[node] = np.lexsort((self.costs[node], penalties[node]))[0]
            self._shift(penalties, node, None, int(clusters[node]))
        return clusters

    def polish(self, clusters: IntArray) -> IntArray:
        """Move single nodes, and exchange two clusters along chains, as long as that makes things better."""
        for _ in range(MAX_ROUNDS):
            moved = self._move_nodes(clusters)
            exchanged = exchange_chains(self.graph, self.costs, clusters)
            if not moved and np.array_equal(exchanged, clusters):
                break
            clusters = exchanged
        return clusters

    def _move_nodes(self, clusters: IntArray) -> bool:
        penalties, moved = self.penalties(clusters), False
        while len(restless := self._restless(penalties, clusters)):
            for node in restless.tolist():
                old, new = int(clusters[node]), int(np.lexsort((self.costs[node], penalties[node]))[0])
                before = (penalties[node, old], self.costs[node, old])
                if (penalties[node, new], self.costs[node, new]) < before:
                    self._shift(penalties, node, old, new)
                    clusters[node] = new
                    moved = True
        return moved

    def _restless(self, penalties: FloatArray, clusters: IntArray) -> IntArray:
        """The nodes that would be better off in another cluster."""
        nodes = np.arange(self.graph.n_nodes)
        penalty, cost = penalties[nodes, clusters, None], self.costs[nodes, clusters, None]
        better = (penalties < penalty) | ((penalties == penalty) & (self.costs < cost))
        return np.flatnonzero(better.any(axis=1))

    def _shift(self, penalties: FloatArray, node: int, old: int | None, new: int) -> None:
        """Tell the neighbours of a node that it moved."""
        span = slice(self.matrix.indptr[node], self.matrix.indptr[node + 1])
        around, strengths = self.matrix.indices[span], self.matrix.data[span]
        if old is not None:
            penalties[around, old] -= strengths
        penalties[around, new] += strengths


# Colouring a few nodes exactly: depth first, cutting off what cannot be better.


#: Nodes of the search tree looked at, at most.
BUDGET = 20_000


def branch_and_bound(
    costs: FloatArray, weights: FloatArray, incumbent: IntArray, budget: int = BUDGET
) -> tuple[IntArray, bool]:
    """Return the colouring of least violation and, among those, least cost, if the budget lasts.

    Parameters
    ----------
    costs : ndarray of shape (m, k)
        What each colour costs each node.
    weights : ndarray of shape (m, m)
        Symmetric strengths of the edges.
    incumbent : ndarray of shape (m,)
        A colouring to improve on.
    budget : int
        How many nodes of the search tree are looked at, at most.

    Returns
    -------
    colours : ndarray of shape (m,)
        The best found.
    is_proved : bool
        Whether the search was exhausted.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.labelling.coloring.violation import branch_and_bound
    >>> triangle = np.ones((3, 3)) - np.eye(3)
    >>> branch_and_bound(np.arange(9.0).reshape(3, 3), triangle, np.zeros(3, dtype=np.int64))[1]
    True
    """
    order = np.argsort(-weights.sum(axis=1), kind="stable")
    search = _Search(costs[order], weights[order][:, order], incumbent[order], budget)
    proved = search.descend(0, 0.0, 0.0, np.zeros_like(costs))
    colours = np.empty_like(incumbent)
    colours[order] = search.best
    return colours, proved


class _Search:
    """Depth first through the colours of one node after the other."""

    def __init__(self, costs: FloatArray, weights: FloatArray, incumbent: IntArray, budget: int) -> None:
        self.costs, self.weights, self.budget = costs, weights, budget
        self.best = incumbent.copy()
        self.current = incumbent.copy()
        nodes = np.arange(len(costs))
        same = incumbent[:, None] == incumbent
        self.best_violated = float((weights * same).sum()) / 2
        self.best_cost = float(costs[nodes, incumbent].sum())
        # What the nodes still to come cost at the least.
        self.cheapest = np.append(np.cumsum(costs.min(axis=1)[::-1])[::-1], 0.0)
        self.is_symmetric = bool((costs == costs[:, :1]).all())

    def descend(self, node: int, violated: float, cost: float, penalties: FloatArray) -> bool:
        """Complete the colouring from `node` on; False if the budget ran out."""
        bound = violated + penalties[node:].min(axis=1).sum()
        if not self._beats(bound, cost + self.cheapest[node]):
            return True
        if node == len(self.costs):
            self.best, self.best_violated, self.best_cost = self.current.copy(), violated, cost
            return True
        self.budget -= 1
        if self.budget < 0:
            return False
        for colour_ in self._choices(node, penalties[node]):
            self.current[node] = colour_
            below = penalties.copy()
            below[:, colour_] += self.weights[node]
            more = violated + penalties[node, colour_]
            if not self.descend(node + 1, more, cost + self.costs[node, colour_], below):
                return False
        return True

    def _choices(self, node: int, penalties: FloatArray) -> IntArray:
        choices = np.lexsort((self.costs[node], penalties))
        if self.is_symmetric:
            # Colours not used yet are interchangeable: one of them is enough.
            n_used = int(self.current[:node].max(initial=-1)) + 1
            choices = choices[choices <= n_used]
        return choices

    def _beats(self, violated: float, cost: float) -> bool:
        slack = 1e-12 * max(self.best_violated, 1.0)
        if abs(violated - self.best_violated) > slack:
            return violated < self.best_violated
        return cost < self.best_cost - 1e-12 * abs(self.best_cost)
