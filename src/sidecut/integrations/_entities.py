"""Correlation clustering of records: the partition whose pairs inside clusters are most likely matches.

A connected part of the graph of records is divided in three steps: join, cut, move.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from sidecut.checks import BoolArray, FloatArray, IntArray

#: Gains below this are rounding errors.
ROUNDING = 1e-9

#: Neighbours of a node, with the sum of their log-odds and the number of compared records.
Sums = dict[int, tuple[float, int]]


@dataclass(eq=False)
class Part:
    """A connected part while it is clustered: at first every node is a cluster of its own."""

    #: The log-odds of two records that were not compared.
    absent: float
    #: Of every node: the number of records, their sources, compared nodes, and nodes it must not join.
    sizes: dict[int, int]
    sources: dict[int, frozenset[int]]
    links: dict[int, Sums]
    apart: dict[int, set[int]]

    def __post_init__(self) -> None:
        # The nodes of every cluster, and the cluster of every node.
        self.members = {node: {node} for node in self.sizes}
        self.cluster = {node: node for node in self.sizes}

    def join(self) -> None:
        """Join clusters from the largest gain down while there is one."""
        sizes, sources = dict(self.sizes), dict(self.sources)
        apart = {node: set(others) for node, others in self.apart.items()}
        links = {node: dict(others) for node, others in self.links.items()}

        def gain(a: int, b: int) -> float:
            weight, count = links[a][b]
            return weight + (sizes[a] * sizes[b] - count) * self.absent

        def offers(a: int, others: Iterable[int]) -> Iterator[tuple[float, int, int]]:
            for b in others:
                worth = gain(a, b)
                if worth > ROUNDING and b not in apart.get(a, ()) and sources[a].isdisjoint(sources[b]):
                    yield -worth, min(a, b), max(a, b)

        heap = [offer for a, others in links.items() for offer in offers(a, (b for b in others if a < b))]
        heapq.heapify(heap)
        while heap:
            cost, a, b = heapq.heappop(heap)
            # Skip an offer that was made before one of the two grew.
            if a not in links or b not in links[a] or gain(a, b) != -cost:
                continue
            _absorb(a, b, links)
            sizes[a] += sizes.pop(b)
            sources[a] |= sources.pop(b)
            for c in apart.pop(b, set()):
                apart[c].discard(b)
                apart[c].add(a)
                apart.setdefault(a, set()).add(c)
            self.members[a] |= self.members.pop(b)
            for offer in offers(a, links[a]):
                heapq.heappush(heap, offer)
        self.cluster = {node: number for number, nodes in self.members.items() for node in nodes}

    def cut(self) -> None:
        """Cut clusters in two where the sum of the pairs across the cut is negative."""
        waiting = [number for number, nodes in self.members.items() if len(nodes) > 3]
        while waiting:
            number = waiting.pop()
            nodes = sorted(self.members[number])
            away = find_cut(self._pair_weights(nodes))
            if away.any():
                leaving = {node for node, leaves in zip(nodes, away, strict=True) if leaves}
                self.members[number] -= leaving
                new = self._free_number(min(leaving))
                self.members[new] = leaving
                self.cluster.update(dict.fromkeys(leaving, new))
                waiting += [number, new]

    def _pair_weights(self, nodes: list[int]) -> FloatArray:
        """Return what every pair of nodes adds to the score."""
        sizes = np.array([self.sizes[node] for node in nodes], dtype=float)
        weights = np.outer(sizes, sizes) * self.absent
        places = {node: place for place, node in enumerate(nodes)}
        for node, row in places.items():
            for other, (weight, count) in self.links[node].items():
                if other in places:
                    weights[row, places[other]] += weight - count * self.absent
        np.fill_diagonal(weights, 0.0)
        return weights

    def move(self) -> None:
        """Move single nodes to where they add most, until none moves."""
        # Few parts need more than two sweeps.
        for _ in range(20):
            if not sum(self._moved(node) for node in self.links):
                return

    def _moved(self, node: int) -> bool:
        """Move a node if that raises the score, and return whether it did."""
        own, values = self.cluster[node], self._values(node)
        best = max(values, key=lambda number: (values[number], number == own))
        if values[best] <= values[own] + ROUNDING:
            return False
        self.members[own].remove(node)
        if not self.members[own]:
            del self.members[own]
        number = best if best >= 0 else self._free_number(node)
        self.members.setdefault(number, set()).add(node)
        self.cluster[node] = number
        return True

    def _free_number(self, node: int) -> int:
        """Return a number for a cluster of this node alone."""
        return node if node not in self.members else max(*self.members, *self.links) + 1

    def _values(self, node: int) -> dict[int, float]:
        """Return what the node adds to its own cluster, to those next to it, and to none (-1)."""
        sums: dict[int, list[float]] = defaultdict(lambda: [0.0, 0.0])
        for other, (weight, count) in self.links[node].items():
            entry = sums[self.cluster[other]]
            entry[0] += weight
            entry[1] += count
        own = self.cluster[node]
        values = {own: self._value(node, own, sums.pop(own, [0.0, 0.0])), -1: 0.0}
        for number, entry in sums.items():
            if self._may_join(node, number):
                values[number] = self._value(node, number, entry)
        return values

    def _value(self, node: int, number: int, entry: list[float]) -> float:
        n_records = sum(self.sizes[member] for member in self.members[number] if member != node)
        return entry[0] + (self.sizes[node] * n_records - entry[1]) * self.absent

    def _may_join(self, node: int, number: int) -> bool:
        members = self.members[number]
        if not self.apart.get(node, set()).isdisjoint(members):
            return False
        return all(self.sources[node].isdisjoint(self.sources[member]) for member in members)


def find_cut(weights: FloatArray) -> BoolArray:
    """Return one side of a cut whose pairs have a negative sum; an empty side if none is found."""
    # The sum of a cut is x'Lx / 4 for x = -1 and 1 on its sides and L the signed Laplacian D - W: where L has
    # no negative eigenvalue there is no such cut. Otherwise all cuts along the lowest eigenvector are tried.
    nothing = np.zeros(len(weights), dtype=bool)
    if weights.min(initial=0.0) >= 0:
        return nothing
    laplacian = np.diag(weights.sum(axis=1)) - weights
    values, vectors = scipy.linalg.eigh(laplacian, subset_by_index=[0, 0])
    if values[0] >= -ROUNDING:
        return nothing
    order = np.argsort(vectors[:, 0], kind="stable")
    ordered = weights[np.ix_(order, order)]
    sums = np.cumsum(ordered.sum(axis=1) - 2 * np.tril(ordered).sum(axis=1))[:-1]
    best = int(np.argmin(sums))
    if sums[best] < -ROUNDING:
        nothing[order[: best + 1]] = True
    return nothing


def _absorb(a: int, b: int, links: dict[int, Sums]) -> None:
    """Give the links of b to a."""
    del links[a][b]
    for c, (weight, count) in links.pop(b).items():
        if c == a:
            continue
        before = links[a].get(c, (0.0, 0))
        links[a][c] = links[c][a] = (before[0] + weight, before[1] + count)
        del links[c][b]


@dataclass(frozen=True, eq=False)
class Evidence:
    """Compared pairs of nodes, each a must-linked set of records."""

    #: How many records a node holds.
    sizes: IntArray
    #: Different nodes with compared records, each pair once.
    pairs: IntArray
    #: The sum of the log-odds of the compared records of a pair, and how many were compared.
    weights: FloatArray
    counts: IntArray
    #: The log-odds of two records that were not compared, negative.
    absent: float
    #: Pairs of nodes with a cannot-link.
    apart: IntArray
    #: For every node, the sources of which a cluster may hold one record each.
    sources: list[frozenset[int]]

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return len(self.sizes)

    def score(self, labels: IntArray) -> float:
        """Return the sum of the log-odds of all pairs of records of different nodes in the same cluster."""
        inside = labels[self.pairs[:, 0]] == labels[self.pairs[:, 1]]
        records = np.bincount(labels, self.sizes)
        same_node = np.bincount(labels, self.sizes**2)
        n_pairs = float(np.sum(records**2 - same_node)) / 2
        return float(self.weights[inside].sum()) + (n_pairs - self.counts[inside].sum()) * self.absent


def find_clusters(evidence: Evidence) -> IntArray:
    """Return the cluster of every node, named by its first node, one connected part after another."""
    likely, n = evidence.pairs[evidence.weights > 0], evidence.n_nodes
    graph = sp.coo_array((np.ones(len(likely)), (likely[:, 0], likely[:, 1])), shape=(n, n))
    parts = connected_components(graph, directed=False)[1].astype(np.int64)
    labels = np.unique(parts, return_index=True)[1][parts].astype(np.int64)
    difficult = _difficult_parts(evidence, parts, likely)
    for part in _split(evidence, parts, difficult):
        part.join()
        part.cut()
        part.move()
        for cluster in part.members.values():
            labels[list(cluster)] = min(cluster)
    return labels


def _difficult_parts(evidence: Evidence, parts: IntArray, likely: IntArray) -> BoolArray:
    """Return which parts may have to be cut: not all pairs are likely matches, or some must not be joined."""
    sizes = np.bincount(parts)
    n_likely = np.bincount(parts[likely[:, 0]], minlength=len(sizes))
    difficult = n_likely < sizes * (sizes - 1) // 2
    # Records that were not compared can make the gain of a pair of nodes negative.
    n_possible = evidence.sizes[evidence.pairs[:, 0]] * evidence.sizes[evidence.pairs[:, 1]]
    gains = evidence.weights + (n_possible - evidence.counts) * evidence.absent
    losing = (evidence.weights > 0) & (gains <= 0)
    difficult[parts[evidence.pairs[losing, 0]]] = True
    difficult[parts[evidence.apart[:, 0]]] = True
    if any(evidence.sources):
        difficult[sizes > 1] = True
    return difficult & (sizes > 1)


def _split(evidence: Evidence, parts: IntArray, wanted: BoolArray) -> Iterator[Part]:
    """Make a `Part` of each wanted part."""
    nodes = _group(np.flatnonzero(wanted[parts]), parts)
    left, right = parts[evidence.pairs].T
    edges = _group(np.flatnonzero((left == right) & wanted[left]), left)
    left, right = parts[evidence.apart].T
    apart = _group(np.flatnonzero((left == right) & wanted[left]), left)
    nothing = np.empty(0, dtype=np.int64)
    for number, members in nodes.items():
        links: dict[int, Sums] = {node: {} for node in members.tolist()}
        here = edges.get(number, nothing)
        pairs, weights, counts = evidence.pairs[here], evidence.weights[here], evidence.counts[here]
        for (a, b), weight, count in zip(pairs.tolist(), weights.tolist(), counts.tolist(), strict=True):
            links[a][b] = links[b][a] = (weight, count)
        banned: dict[int, set[int]] = defaultdict(set)
        for a, b in evidence.apart[apart.get(number, nothing)].tolist():
            banned[a].add(b)
            banned[b].add(a)
        sizes = {node: int(evidence.sizes[node]) for node in links}
        yield Part(evidence.absent, sizes, {node: evidence.sources[node] for node in links}, links, banned)


def _group(rows: IntArray, numbers: IntArray) -> dict[int, IntArray]:
    """Return the rows of each number."""
    order = rows[np.argsort(numbers[rows], kind="stable")]
    found, starts = np.unique(numbers[order], return_index=True)
    return dict(zip(found.tolist(), np.split(order, starts[1:]), strict=False)) if len(rows) else {}


def measure_confidence(evidence: Evidence, labels: IntArray) -> FloatArray:
    """Return, for every node, the probability of its cluster against the next best one.

    The next best is another cluster it has been compared with, or none at all. The probability is
    1 / (1 + e^-m) with m the difference of the two sums of log-odds: at least 1/2 where no single move helps.
    """
    nodes = np.concatenate([evidence.pairs[:, 0], evidence.pairs[:, 1]])
    others = np.concatenate([evidence.pairs[:, 1], evidence.pairs[:, 0]])
    n = evidence.n_nodes
    keys, inverse = np.unique(nodes * n + labels[others], return_inverse=True)
    weights = np.bincount(inverse, np.tile(evidence.weights, 2), len(keys))
    counts = np.bincount(inverse, np.tile(evidence.counts, 2), len(keys))
    node, cluster = keys // n, keys % n
    records = np.bincount(labels, evidence.sizes, n)
    is_own = labels[node] == cluster
    possible = evidence.sizes[node] * (records[cluster] - np.where(is_own, evidence.sizes[node], 0))
    values = weights + (possible - counts) * evidence.absent
    # Leaving is worth nothing; a node alone can at best join records it was not compared with.
    is_alone = records[labels] == evidence.sizes
    own = evidence.sizes * (records[labels] - evidence.sizes) * evidence.absent
    best = np.where(is_alone, evidence.absent * evidence.sizes, 0.0)
    own[node[is_own]] = values[is_own]
    is_open = ~is_own & ~_are_closed(evidence, labels, node, cluster)
    np.maximum.at(best, node[is_open], values[is_open])
    return 1.0 / (1.0 + np.exp(best - own))


def _are_closed(evidence: Evidence, labels: IntArray, node: IntArray, cluster: IntArray) -> BoolArray:
    """Return which pairs of a node and a cluster must not be joined."""
    n = evidence.n_nodes
    a, b = evidence.apart.T
    banned = np.concatenate([a * n + labels[b], b * n + labels[a]])
    closed = np.isin(node * n + cluster, banned)
    if any(evidence.sources):
        held: dict[int, set[int]] = defaultdict(set)
        for number, sources in zip(labels.tolist(), evidence.sources, strict=True):
            held[number] |= sources
        there = zip(node.tolist(), cluster.tolist(), strict=True)
        closed |= np.array([not held[c].isdisjoint(evidence.sources[v]) for v, c in there], dtype=bool)
    return closed
