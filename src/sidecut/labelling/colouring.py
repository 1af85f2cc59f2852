"""Clusters for nodes that cost something in each cluster, some of which must be apart.

This is graph colouring with costs. In general it is hard, but constraints people give are seldom: a node with
fewer than k neighbours can always be coloured after the others, so only the k-core needs a search.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components

from sidecut.labelling.branching import branch_and_bound

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

#: Parts up to this size are solved exactly, within the budget.
EXACT_NODES = 24
#: Longer chains are not exchanged: they cost more to look at than they are likely to gain.
MAX_CHAIN = 64
#: How often nodes and chains are tried in turn, at most.
MAX_ROUNDS = 10


@dataclass(frozen=True, eq=False)
class Colouring:
    """A colour for every node.

    Parameters
    ----------
    colours : ndarray of shape (m,)
        The colour of each node.
    violated : float
        The total strength of the edges whose ends have the same colour.
    is_least : bool
        Whether it is proved that no colouring violates less.
    """

    colours: IntArray
    violated: float
    is_least: bool


def colour(costs: FloatArray, edges: IntArray, strengths: FloatArray) -> Colouring:
    """Colour nodes so that as few edges as possible join equal colours and, among those ways, at least cost.

    Parameters
    ----------
    costs : ndarray of shape (m, k)
        What each colour costs each node.
    edges : ndarray of shape (r, 2)
        Pairs of nodes that should differ, each once.
    strengths : ndarray of shape (r,)
        How much it matters that they do.

    Returns
    -------
    Colouring
        Of least violation wherever `is_least` says so; it always does if nothing is violated. Of least cost
        for parts of up to 24 nodes, while the search is affordable, and for cliques; elsewhere single nodes
        were moved and two colours exchanged along chains as long as that made it cheaper.

    Examples
    --------
    Both would rather be 0, but must differ; it costs node 1 less to give way.

    >>> import numpy as np
    >>> from sidecut.labelling.colouring import colour
    >>> colour(np.array([[0.0, 5.0], [0.0, 1.0]]), np.array([[0, 1]]), np.ones(1)).colours
    array([0, 1])
    """
    colours = np.argmin(costs, axis=1).astype(np.int64)
    graph = _symmetric(edges, strengths, len(costs))
    is_least = True
    for nodes in _parts(graph, edges, colours):
        part = _Part(costs[nodes], sparse.csr_array(graph[nodes][:, nodes]))
        colours[nodes], proved = part.solve()
        is_least &= proved
    violated = strengths[colours[edges[:, 0]] == colours[edges[:, 1]]].sum()
    return Colouring(colours, float(violated), is_least)


def _symmetric(edges: IntArray, strengths: FloatArray, n_nodes: int) -> sparse.csr_array:
    ends = (np.concatenate([edges[:, 0], edges[:, 1]]), np.concatenate([edges[:, 1], edges[:, 0]]))
    return sparse.coo_array((np.tile(strengths, 2), ends), shape=(n_nodes, n_nodes)).tocsr()


def _parts(graph: sparse.csr_array, edges: IntArray, colours: IntArray) -> list[IntArray]:
    """The connected sets of nodes in which an edge is violated; elsewhere the cheapest colours will do."""
    _, part = connected_components(graph, directed=False)
    bad = np.unique(part[edges[colours[edges[:, 0]] == colours[edges[:, 1]], 0]])
    nodes = np.flatnonzero(np.isin(part, bad))
    nodes = nodes[np.argsort(part[nodes], kind="stable")]
    return np.split(nodes, np.flatnonzero(np.diff(part[nodes])) + 1) if len(nodes) else []


class _Part:
    """A connected part of the graph, with its costs."""

    def __init__(self, costs: FloatArray, graph: sparse.csr_array) -> None:
        self.costs = costs
        self.graph = graph
        self.n_nodes, self.n_colours = costs.shape

    def neighbours(self, node: int) -> tuple[IntArray, FloatArray]:
        span = slice(self.graph.indptr[node], self.graph.indptr[node + 1])
        return self.graph.indices[span], self.graph.data[span]

    def solve(self) -> tuple[IntArray, bool]:
        """Return colours, and whether their violation is proved to be least."""
        is_clique = self.graph.nnz == self.n_nodes * (self.n_nodes - 1)
        if is_clique and self.n_nodes <= self.n_colours:
            # All different: the assignment problem.
            return linear_sum_assignment(self.costs)[1].astype(np.int64), True
        colours, is_least = self.polished(self.greedy()), True
        if self.violated(colours) > 0:
            colours, is_least = self.with_core_searched(colours)
        if self.n_nodes <= EXACT_NODES:
            colours, is_cheapest = branch_and_bound(self.costs, self.graph.toarray(), colours)
            is_least |= is_cheapest
        return colours, is_least

    def violated(self, colours: IntArray) -> float:
        rows = np.repeat(np.arange(self.n_nodes), np.diff(self.graph.indptr))
        return float(self.graph.data[colours[rows] == colours[self.graph.indices]].sum()) / 2

    def penalties(self, colours: IntArray) -> FloatArray:
        """The strength each node would violate in each colour; nodes without a colour (-1) count nothing."""
        known = np.flatnonzero(colours >= 0)
        shape = (self.n_nodes, self.n_colours)
        chosen = sparse.coo_array((np.ones(len(known)), (known, colours[known])), shape=shape)
        return np.asarray((self.graph @ chosen.tocsr()).toarray())

    def greedy(self) -> IntArray:
        """Colour the k-core first, most neighbours first, then the peeled nodes, last peeled first."""
        core, peeled = peel(self.graph, self.n_colours)
        degrees = np.diff(self.graph.indptr)
        order = [*core[np.argsort(-degrees[core], kind="stable")].tolist(), *reversed(peeled)]
        return self.extended(np.full(self.n_nodes, -1, dtype=np.int64), order)

    def extended(self, colours: IntArray, order: list[int]) -> IntArray:
        """Give the nodes of `order`, one after the other, the colour of least violation, then least cost."""
        penalties = self.penalties(colours)
        for node in order:
            colours[node] = np.lexsort((self.costs[node], penalties[node]))[0]
            around, strengths = self.neighbours(node)
            penalties[around, colours[node]] += strengths
        return colours

    def polished(self, colours: IntArray) -> IntArray:
        """Move single nodes, and exchange two colours along chains, as long as that makes things better."""
        for _ in range(MAX_ROUNDS):
            better = self._move_nodes(colours)
            better |= self._exchange_chains(colours)
            if not better:
                break
        return colours

    def _move_nodes(self, colours: IntArray) -> bool:
        penalties, moved = self.penalties(colours), False
        while len(restless := self._restless(penalties, colours)):
            for node in restless.tolist():
                old, new = colours[node], np.lexsort((self.costs[node], penalties[node]))[0]
                if _improves(penalties[node], self.costs[node], old, new):
                    around, strengths = self.neighbours(node)
                    penalties[around, old] -= strengths
                    penalties[around, new] += strengths
                    colours[node] = new
                    moved = True
        return moved

    def _restless(self, penalties: FloatArray, colours: IntArray) -> IntArray:
        """The nodes that would be better off in another colour."""
        nodes = np.arange(self.n_nodes)
        penalty, cost = penalties[nodes, colours, None], self.costs[nodes, colours, None]
        better = (penalties < penalty) | ((penalties == penalty) & (self.costs < cost))
        return np.flatnonzero(better.any(axis=1))

    def _exchange_chains(self, colours: IntArray) -> bool:
        """Kempe chains: exchanging two colours on a connected set of them violates nothing anew."""
        moved = False
        for node in range(self.n_nodes):
            cheaper = np.flatnonzero(self.costs[node] < self.costs[node, colours[node]])
            for other in cheaper[np.argsort(self.costs[node, cheaper], kind="stable")]:
                chain, exchanged = self._chain(colours, node, int(other))
                if (
                    len(chain)
                    and self._gain(chain, colours[chain], exchanged) > 1e-12 * np.abs(self.costs[chain]).max()
                ):
                    colours[chain] = exchanged
                    moved = True
                    break
        return moved

    def _chain(self, colours: IntArray, node: int, other: int) -> tuple[IntArray, IntArray]:
        pair = (int(colours[node]), other)
        chain, front = {node}, [node]
        while front:
            if len(chain) > MAX_CHAIN:
                return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
            around = self.neighbours(front.pop())[0]
            alike = (colours[around] == pair[0]) | (colours[around] == pair[1])
            fresh = set(around[alike].tolist()) - chain
            chain |= fresh
            front.extend(fresh)
        nodes = np.array(sorted(chain), dtype=np.int64)
        return nodes, np.where(colours[nodes] == pair[0], pair[1], pair[0])

    def _gain(self, nodes: IntArray, old: IntArray, new: IntArray) -> float:
        return float(self.costs[nodes, old].sum() - self.costs[nodes, new].sum())

    def with_core_searched(self, colours: IntArray) -> tuple[IntArray, bool]:
        """Search the k-core for a colouring of less violation, and colour the rest around it.

        Without costs colours are interchangeable, which makes this search far shorter than one with costs.
        """
        core, peeled = peel(self.graph, self.n_colours)
        if len(core) > 10 * EXACT_NODES:
            return colours, False
        inner = self.graph[core][:, core].toarray()
        searched, proved = branch_and_bound(np.zeros_like(self.costs[core]), inner, colours[core])
        again = np.full(self.n_nodes, -1, dtype=np.int64)
        again[core] = searched
        again = self.polished(self.extended(again, list(reversed(peeled))))
        return (again if self.violated(again) <= self.violated(colours) else colours), proved


def _improves(penalties: FloatArray, costs: FloatArray, old: int, new: int) -> bool:
    if penalties[new] != penalties[old]:
        return bool(penalties[new] < penalties[old])
    return bool(costs[new] < costs[old])


def peel(graph: sparse.csr_array, n_colours: int) -> tuple[IntArray, list[int]]:
    """Take away nodes with fewer than `n_colours` neighbours left, again and again.

    Returns
    -------
    core : ndarray
        What remains: every node there has at least `n_colours` neighbours in it.
    peeled : list of int
        The others, in the order they were taken; coloured in the reverse order each finds a free colour.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from sidecut.labelling.colouring import peel
    >>> triangle_with_tail = np.array([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]])
    >>> peel(sparse.csr_array(triangle_with_tail), 2)
    (array([0, 1, 2]), [3])
    """
    left = np.diff(graph.indptr).astype(np.int64)
    peeled, waiting = [], np.flatnonzero(left < n_colours).tolist()
    gone = np.zeros(len(left), dtype=bool)
    gone[waiting] = True
    while waiting:
        node = waiting.pop()
        peeled.append(node)
        around = graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
        left[around] -= 1
        free = around[(left[around] < n_colours) & ~gone[around]]
        gone[free] = True
        waiting.extend(free.tolist())
    return np.flatnonzero(~gone), peeled
