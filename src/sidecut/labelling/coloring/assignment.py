"""The cheapest clusters for nodes of which some must be apart, found again and again for changing costs."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linear_sum_assignment, milp
from scipy.sparse.csgraph import connected_components, dijkstra

from sidecut.arrays import FloatArray, IntArray
from sidecut.labelling.coloring.conflict_graph import ConflictGraph, peel, search

#: Knots of at most so many nodes are searched for the best assignment, in at most so many steps each.
SMALL_KNOT = 20
KNOT_STEPS = 2_000
#: Knots with more edges per node, or more edges times clusters, are not handed to an integer programme: there
#: its first relaxation alone takes seconds (benchmarks/choices/coloring_solver.py).
EDGES_PER_NODE, PROGRAMME_SIZE = 2.5, 10_000


class Assigner:
    """Assigns nodes to clusters so that none shares a cluster with a node it is apart from.

    The graph falls into islands. Where all nodes of an island are apart from each other (the classes of
    labels) the cheapest assignment is a matching; where the island has no cycle it follows from the leaves
    inwards. Both are exact. An island of any other form, a knot, is improved from the last assignment by
    exchanging two clusters along chains (Kempe chains), and searched exhaustively where it is small. The cost
    never exceeds that of the last assignment.

    Parameters
    ----------
    graph : ConflictGraph
        Which nodes must be apart; every node has at least one edge.
    feasible : ndarray of shape (n_nodes,)
        One assignment that respects it, to begin with.

    Examples
    --------
    >>> import numpy as np
    >>> graph = ConflictGraph(3, np.array([[0, 1], [1, 2]]))
    >>> Assigner(graph, np.array([0, 1, 0])).assign(np.array([[0, 1], [0, 5], [0, 1.0]]))
    array([1, 0, 1])
    """

    def __init__(self, graph: ConflictGraph, feasible: IntArray) -> None:
        self.graph = graph
        self.feasible = feasible
        self.cliques: list[IntArray] = []
        trees: list[IntArray] = []
        knots: list[IntArray] = []
        for island in graph.islands():
            n_edges = int(graph.degrees[island].sum()) // 2
            if n_edges == len(island) * (len(island) - 1) // 2:
                self.cliques.append(island)
            else:
                (trees if n_edges == len(island) - 1 else knots).append(island)
        self.forest = _Forest(graph, trees) if trees else None
        self.knots = [(island, graph.induced(island)) for island in knots]

    def assign(self, cost: FloatArray, previous: IntArray | None = None) -> IntArray:
        """Return a cheap assignment.

        Parameters
        ----------
        cost : ndarray of shape (n_nodes, n_clusters)
            What it costs to put each node into each cluster.
        previous : ndarray of shape (n_nodes,), optional
            The assignment that must not be made worse.

        Returns
        -------
        ndarray of shape (n_nodes,)
            The cluster of each node.
        """
        clusters = (self.feasible if previous is None else previous).copy()
        for clique in self.cliques:
            clusters[clique] = linear_sum_assignment(cost[clique])[1]
        if self.forest is not None:
            clusters[self.forest.nodes] = self.forest.assign(cost[self.forest.nodes])
        for island, graph in self.knots:
            clusters[island] = _untie(graph, cost[island], clusters[island], is_first=previous is None)
        return clusters

    def assign_best(self, cost: FloatArray) -> IntArray:
        """Return the cheapest assignment that can be found where it is needed only once.

        Sparse knots are solved by an integer programme, which takes ten times as long as `assign`.

        Parameters
        ----------
        cost : ndarray of shape (n_nodes, n_clusters)
            What it costs to put each node into each cluster.
        """
        clusters = self.assign(cost)
        for island, graph in self.knots:
            programmed = solve_programme(graph, cost[island])
            clusters[island] = _cheaper(cost[island], clusters[island], programmed)
        return clusters


class _Forest:
    """Islands without cycles: dynamic programming, all trees at once, level by level."""

    def __init__(self, graph: ConflictGraph, trees: list[IntArray]) -> None:
        self.nodes = np.concatenate(trees)
        inner = graph.induced(self.nodes)
        roots = np.cumsum([0, *(len(tree) for tree in trees[:-1])])
        depth, parent = _find_parents(inner, roots)
        self.parent = parent
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


def _find_parents(graph: ConflictGraph, roots: IntArray) -> tuple[IntArray, IntArray]:
    """The depth and the parent of each node, by a search from all roots at once."""
    depth, parent, _ = dijkstra(
        graph.matrix, directed=False, indices=roots, unweighted=True, min_only=True, return_predecessors=True
    )
    return depth.astype(np.int64), parent.astype(np.int64)


def _least_of_others(cost: FloatArray) -> FloatArray:
    """For each row and column the least of the other entries of that row."""
    rows = np.arange(len(cost))
    best = cost.argmin(axis=1)
    least = np.repeat(cost[rows, best][:, None], cost.shape[1], axis=1)
    others = cost.copy()
    others[rows, best] = np.inf
    least[rows, best] = others.min(axis=1)
    return least


def _untie(graph: ConflictGraph, cost: FloatArray, clusters: IntArray, *, is_first: bool) -> IntArray:
    """Improve the assignment of a knot."""
    if is_first:
        clusters = _cheaper(cost, clusters, begin_cheaply(graph, cost, clusters))
    clusters = exchange_chains(graph, cost, clusters)
    if graph.n_nodes > SMALL_KNOT:
        return clusters
    return _cheaper(cost, clusters, search(graph, cost, KNOT_STEPS, incumbent=clusters).colours)


def solve_programme(graph: ConflictGraph, cost: FloatArray) -> IntArray | None:
    """Return the cheapest assignment of a sparse knot by an integer programme.

    x_ic says that node i is in cluster c: minimise Σ cost_ic x_ic with Σ_c x_ic = 1 and x_ic + x_jc <= 1 for
    nodes that are apart.

    Parameters
    ----------
    graph : ConflictGraph
        Which nodes are apart.
    cost : ndarray of shape (n_nodes, n_clusters)
        What each cluster costs at each node.

    Returns
    -------
    ndarray of shape (n_nodes,) or None
        None where the knot is too dense or too large, or no assignment was found at the root of the search.

    Examples
    --------
    >>> import numpy as np
    >>> square = ConflictGraph(4, np.array([[0, 1], [1, 2], [2, 3], [0, 3]]))
    >>> solve_programme(square, np.array([[0, 1], [0, 1], [0, 1], [0, 5.0]]))
    array([1, 0, 1, 0])
    """
    (n, k), m = cost.shape, len(graph.edges)
    if m > EDGES_PER_NODE * n or m * k > PROGRAMME_SIZE:
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
    """Turn an assignment that knows nothing of costs into one that does, in one pass.

    Parameters
    ----------
    graph : ConflictGraph
        Which nodes are apart.
    cost : ndarray of shape (n_nodes, n_clusters)
        What each cluster costs at each node.
    feasible : ndarray of shape (n_nodes,)
        An assignment that respects the graph.

    Returns
    -------
    ndarray of shape (n_nodes,)
        In the core, the same with clusters renamed in the cheapest way; all other nodes, which have fewer
        neighbours than there are clusters when it is their turn, in the cheapest cluster left.

    Examples
    --------
    >>> import numpy as np
    >>> graph = ConflictGraph(3, np.array([[0, 1]]))
    >>> begin_cheaply(graph, np.array([[9, 0], [5, 1], [0, 2.0]]), np.array([0, 1, 1]))
    array([1, 0, 0])
    """
    n_clusters = cost.shape[1]
    peeled, core = peel(graph, n_clusters)
    clusters = np.full(graph.n_nodes, -1, dtype=np.int64)
    if len(core):
        totals = np.stack([cost[core[feasible[core] == c]].sum(axis=0) for c in range(n_clusters)])
        clusters[core] = linear_sum_assignment(totals)[1][feasible[core]]
    for node in reversed(peeled):
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
    """Exchange two clusters along chains as long as that makes an assignment cheaper.

    Of the nodes in clusters a and b, take a set connected by cannot-links: exchanging a and b within it
    breaks no cannot-link. Sets that are not connected do not disturb each other, so all that gain are
    exchanged at once.

    Parameters
    ----------
    graph : ConflictGraph
        Which nodes are apart.
    cost : ndarray of shape (n_nodes, n_clusters)
        What each cluster costs at each node.
    clusters : ndarray of shape (n_nodes,)
        An assignment that respects the cannot-links.

    Returns
    -------
    ndarray of shape (n_nodes,)
        One that respects them too, and that no exchange along a chain makes cheaper.

    Examples
    --------
    >>> import numpy as np
    >>> graph = ConflictGraph(3, np.array([[0, 1]]))
    >>> exchange_chains(graph, np.array([[9, 0], [0, 1], [0, 2.0]]), np.array([0, 1, 0]))
    array([1, 0, 0])
    """
    clusters = clusters.copy()
    n_clusters = cost.shape[1]
    pairs = [(a, b) for a in range(n_clusters) for b in range(a + 1, n_clusters)]
    # Gains below the rounding of a sum of costs would let the exchanges go round in circles.
    threshold = 1e-12 * float(np.abs(cost).sum(axis=0).max(initial=0.0))
    idle = 0
    while idle < len(pairs):
        for a, b in pairs:
            if _exchange(graph, cost, clusters, a, b, threshold):
                idle = 0
            else:
                idle += 1
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
