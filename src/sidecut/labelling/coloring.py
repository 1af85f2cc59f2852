"""The cheapest clusters for nodes of which some must be apart."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linear_sum_assignment, milp
from scipy.sparse.csgraph import connected_components, dijkstra

from sidecut.checks import FloatArray, IntArray
from sidecut.labelling.conflict_graph import (
    NO_NODES,
    ConflictGraph,
    find_colouring,
    remove_low_degree,
    search,
)

#: Cyclic components of up to this many nodes are searched for the cheapest assignment.
MAX_SEARCHED_NODES = 20
#: With more edges times clusters a cyclic component is not solved as an integer programme: the first
#: relaxation alone takes seconds (benchmarks/choices/coloring_solver.py).
PROGRAMME_SIZE = 10_000
#: The most colours that are tried to find out whether a component can be satisfied.
MAX_STEPS = 100_000


class Assigner:
    """Assigns nodes to clusters so that none shares a cluster with a node it is apart from."""

    # In a connected component whose nodes are all apart from each other (the classes of labels) the cheapest
    # assignment is a matching; in one without a cycle it follows from the leaves inwards. Both are exact. Any
    # other component, called cyclic, is improved from the last assignment by exchanging two clusters along
    # chains (Kempe chains), and searched exhaustively if it is small. The cost never exceeds that of the last
    # assignment.

    def __init__(self, graph: ConflictGraph, feasible: IntArray) -> None:
        self.graph = graph
        self.feasible = feasible
        self.cliques: list[IntArray] = []
        trees: list[IntArray] = []
        cyclic: list[IntArray] = []
        for component in graph.components():
            n_edges = int(graph.degrees[component].sum()) // 2
            if n_edges == len(component) * (len(component) - 1) // 2:
                self.cliques.append(component)
            else:
                (trees if n_edges == len(component) - 1 else cyclic).append(component)
        self.forest = _Forest(graph, trees) if trees else None
        self.cyclic = [(component, graph.induced(component)) for component in cyclic]

    def assign(self, cost: FloatArray, previous: IntArray | None = None) -> IntArray:
        """Return a cheap assignment."""
        clusters = (self.feasible if previous is None else previous).copy()
        for clique in self.cliques:
            clusters[clique] = linear_sum_assignment(cost[clique])[1]
        if self.forest is not None:
            clusters[self.forest.nodes] = self.forest.assign(cost[self.forest.nodes])
        for component, graph in self.cyclic:
            clusters[component] = _improve(
                graph, cost[component], clusters[component], is_first=previous is None
            )
        return clusters

    def assign_best(self, cost: FloatArray) -> IntArray:
        """Return the cheapest assignment that can be found where it is needed only once."""
        # Sparse cyclic components are solved by an integer programme, in ten times the time of `assign`.
        clusters = self.assign(cost)
        for component, graph in self.cyclic:
            programmed = solve_programme(graph, cost[component])
            clusters[component] = _cheaper(cost[component], clusters[component], programmed)
        return clusters


class _Forest:
    """Components without cycles: dynamic programming, all trees at once, level by level."""

    def __init__(self, graph: ConflictGraph, trees: list[IntArray]) -> None:
        self.nodes = np.concatenate(trees)
        inner = graph.induced(self.nodes)
        roots = np.cumsum([0, *(len(tree) for tree in trees[:-1])])
        # The depth and the parent of each node, by a search from all roots at once.
        depth, parent, _ = dijkstra(
            inner.matrix,
            directed=False,
            indices=roots,
            unweighted=True,
            min_only=True,
            return_predecessors=True,
        )
        self.parent = parent.astype(np.int64)
        self.levels = [np.flatnonzero(depth == level) for level in range(int(depth.max()) + 1)]

    def assign(self, cost: FloatArray) -> IntArray:
        """Return the cheapest assignment in which no node has the cluster of its parent."""
        total = cost.copy()
        for level in self.levels[:0:-1]:
            np.add.at(total, self.parent[level], _least_of_others(total[level]))
        clusters = np.empty(len(cost), dtype=np.int64)
        clusters[self.levels[0]] = total[self.levels[0]].argmin(axis=1)
        for level in self.levels[1:]:
            allowed = total[level]
            allowed[np.arange(len(level)), clusters[self.parent[level]]] = np.inf
            clusters[level] = allowed.argmin(axis=1)
        return clusters


def _least_of_others(cost: FloatArray) -> FloatArray:
    """For each row and column the least of the other entries of that row."""
    rows = np.arange(len(cost))
    best = cost.argmin(axis=1)
    least = np.repeat(cost[rows, best][:, None], cost.shape[1], axis=1)
    others = cost.copy()
    others[rows, best] = np.inf
    least[rows, best] = others.min(axis=1)
    return least


def _improve(graph: ConflictGraph, cost: FloatArray, clusters: IntArray, *, is_first: bool) -> IntArray:
    """Improve the assignment of a cyclic component."""
    if is_first:
        clusters = _cheaper(cost, clusters, begin_cheaply(graph, cost, clusters))
    clusters = exchange_chains(graph, cost, clusters)
    if graph.n_nodes > MAX_SEARCHED_NODES:
        return clusters
    return _cheaper(cost, clusters, search(graph, cost, 2_000, incumbent=clusters).colours)


def solve_programme(graph: ConflictGraph, cost: FloatArray) -> IntArray | None:
    """Return the cheapest assignment of a sparse component by an integer programme."""
    # x_ic says that node i is in cluster c: minimise Σ cost_ic x_ic with Σ_c x_ic = 1 and x_ic + x_jc <= 1
    # for nodes that are apart.
    (n, k), m = cost.shape, len(graph.edges)
    if m > 2.5 * n or m * k > PROGRAMME_SIZE:
        return None
    ends = sparse.csr_array((np.ones(2 * m), graph.edges.ravel(), np.arange(0, 2 * m + 1, 2)), shape=(m, n))
    one_cluster = LinearConstraint(sparse.kron(sparse.eye_array(n), np.ones((1, k))), 1, 1)
    apart = LinearConstraint(sparse.kron(ends, sparse.eye_array(k)), -np.inf, 1)
    found = milp(
        cost.ravel(),
        integrality=np.ones(n * k),
        bounds=Bounds(0, 1),
        constraints=[one_cluster, apart],
        options={"node_limit": 1},
    )
    if found.x is None:
        return None
    clusters = found.x.reshape(n, k).argmax(axis=1).astype(np.int64)
    is_proper = (clusters[graph.edges[:, 0]] != clusters[graph.edges[:, 1]]).all()
    return clusters if is_proper else None


def begin_cheaply(graph: ConflictGraph, cost: FloatArray, feasible: IntArray) -> IntArray:
    """Turn an assignment that ignores costs into one that does not, in one pass."""
    n_clusters = cost.shape[1]
    removed, core = remove_low_degree(graph, n_clusters)
    clusters = np.full(graph.n_nodes, -1, dtype=np.int64)
    if len(core):
        totals = np.stack([cost[core[feasible[core] == c]].sum(axis=0) for c in range(n_clusters)])
        clusters[core] = linear_sum_assignment(totals)[1][feasible[core]]
    for node in reversed(removed):
        left = cost[node].copy()
        taken = clusters[graph.neighbours(node)]
        left[taken[taken >= 0]] = np.inf
        clusters[node] = np.argmin(left)
    return clusters


def _cheaper(cost: FloatArray, one: IntArray, other: IntArray | None) -> IntArray:
    nodes = np.arange(len(cost))
    if other is None or cost[nodes, one].sum() <= cost[nodes, other].sum():
        return one
    return other


def exchange_chains(graph: ConflictGraph, cost: FloatArray, clusters: IntArray) -> IntArray:
    """Exchange two clusters along chains as long as that makes an assignment cheaper."""
    # Of the nodes in clusters a and b, take a set connected by cannot-links: exchanging a and b within it
    # breaks no cannot-link. Sets that are not connected do not disturb each other, so all that gain are
    # exchanged at once.
    clusters = clusters.copy()
    n_clusters = cost.shape[1]
    pairs = [(a, b) for a in range(n_clusters) for b in range(a + 1, n_clusters)]
    # Gains below the rounding of a sum of costs would let the exchanges go round in circles.
    threshold = 1e-12 * float(np.abs(cost).sum(axis=0).max(initial=0.0))
    idle = 0
    for a, b in cycle(pairs):
        idle = 0 if _exchange(graph, cost, clusters, a, b, threshold) else idle + 1
        if idle >= len(pairs):
            break
    return clusters


def _exchange(
    graph: ConflictGraph, cost: FloatArray, clusters: IntArray, a: int, b: int, threshold: float
) -> bool:
    other = np.full(cost.shape[1], -1)
    other[[a, b]] = b, a
    partner = other[clusters]
    nodes = np.flatnonzero(partner >= 0)
    gain = np.zeros(graph.n_nodes)
    gain[nodes] = cost[nodes, clusters[nodes]] - cost[nodes, partner[nodes]]
    if not (gain > threshold).any():
        return False
    first, second = graph.edges[(partner[graph.edges] >= 0).all(axis=1)].T
    between = sparse.coo_array((np.ones(len(first)), (first, second)), shape=(graph.n_nodes,) * 2)
    _, chain = connected_components(between, directed=False)
    better = (np.bincount(chain, weights=gain)[chain] > threshold) & (partner >= 0)
    clusters[better] = partner[better]
    return bool(better.any())


@dataclass(frozen=True, eq=False)
class Assignment:
    """A cluster for every node."""

    clusters: IntArray
    violated: float
    is_least: bool
    infeasible_nodes: IntArray


def violate_least(costs: FloatArray, graph: ConflictGraph, strengths: FloatArray) -> Assignment:
    """Assign nodes so that edges of least total strength are violated and, among those, at least cost."""
    clusters = np.argmin(costs, axis=1).astype(np.int64)
    linked = np.flatnonzero(graph.degrees)
    inner = graph.induced(linked)
    verdict = find_colouring(inner, costs.shape[1], MAX_STEPS)
    if verdict.colours is not None:
        clusters[linked] = Assigner(inner, verdict.colours).assign_best(costs[linked])
        return Assignment(clusters, 0.0, True, NO_NODES)
    clusters[linked], is_least = _solve_components(costs[linked], inner, strengths)
    same = clusters[graph.edges[:, 0]] == clusters[graph.edges[:, 1]]
    return Assignment(clusters, float(strengths[same].sum()), is_least, linked[verdict.infeasible_nodes])


def _solve_components(
    costs: FloatArray, graph: ConflictGraph, strengths: FloatArray
) -> tuple[IntArray, bool]:
    """Assign component by component; some of them cannot be satisfied."""
    clusters, is_least = np.empty(graph.n_nodes, dtype=np.int64), True
    for nodes in graph.components():
        component = graph.induced(nodes)
        verdict = find_colouring(component, costs.shape[1], MAX_STEPS)
        if verdict.colours is not None:
            clusters[nodes] = Assigner(component, verdict.colours).assign_best(costs[nodes])
            continue
        inside = np.isin(graph.edges[:, 0], nodes)
        clusters[nodes], is_proved = _InfeasibleComponent(costs[nodes], component, strengths[inside]).solve()
        is_least &= is_proved
    return clusters, is_least


class _InfeasibleComponent:
    """A connected part of the graph that cannot be satisfied as a whole."""

    def __init__(self, costs: FloatArray, graph: ConflictGraph, strengths: FloatArray) -> None:
        self.costs, self.graph, self.strengths = costs, graph, strengths
        first, second = graph.edges[:, 0], graph.edges[:, 1]
        ends = (np.concatenate([first, second]), np.concatenate([second, first]))
        shape = (graph.n_nodes, graph.n_nodes)
        self.matrix = sparse.coo_array((np.tile(strengths, 2), ends), shape=shape).tocsr()

    def solve(self) -> tuple[IntArray, bool]:
        """Return clusters, and whether their violation is proved to be least."""
        removed, core = remove_low_degree(self.graph, self.costs.shape[1])
        first = core[np.argsort(-self.graph.degrees[core], kind="stable")].tolist()
        start = np.full(self.graph.n_nodes, -1, dtype=np.int64)
        clusters, is_least = self.polish(self.extend(start, [*first, *reversed(removed)])), False
        if len(core) <= 240:
            clusters, is_least = self._with_core_searched(clusters, core, removed)
        if self.graph.n_nodes <= 24:
            clusters, is_cheapest = branch_and_bound(self.costs, self.matrix.toarray(), clusters)
            is_least |= is_cheapest
        return clusters, is_least

    def _with_core_searched(
        self, clusters: IntArray, core: IntArray, removed: list[int]
    ) -> tuple[IntArray, bool]:
        """Search the core for a smaller violation, and assign the rest, which always fits, around it."""
        # Without costs clusters are interchangeable, which makes this search far shorter than one with costs.
        inner = self.matrix[core][:, core].toarray()
        searched, is_proved = branch_and_bound(np.zeros_like(self.costs[core]), inner, clusters[core])
        again: IntArray = np.full(self.graph.n_nodes, -1)
        again[core] = searched
        again = self.polish(self.extend(again, list(reversed(removed))))
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
        """Move single nodes, and exchange two clusters along chains, while that improves the assignment."""
        for _ in range(10):
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
        """Update the penalties of the neighbours of a node that moved."""
        span = slice(self.matrix.indptr[node], self.matrix.indptr[node + 1])
        around, strengths = self.matrix.indices[span], self.matrix.data[span]
        if old is not None:
            penalties[around, old] -= strengths
        penalties[around, new] += strengths


def branch_and_bound(
    costs: FloatArray, weights: FloatArray, incumbent: IntArray, budget: int = 20_000
) -> tuple[IntArray, bool]:
    """Return the colouring of least violation and, among those, least cost, if the budget lasts."""
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
