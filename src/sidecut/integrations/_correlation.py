"""Correlation clustering of records: the partition whose pairs inside clusters are most likely matches.

The score of a partition is the sum, over all pairs of records in the same cluster, of the log-odds that the
two are one (Bansal, Blum & Chawla, 2004). To find the best one is hard; as is usual, clusters are joined from
the largest gain down (greedy additive edge contraction, Keuper et al., 2015). Then each cluster is cut in two
where that helps, by the lowest eigenvector of its signed Laplacian, and single nodes are moved while that
helps. Parts of the graph that no likely match connects cannot gain from each other: each is treated alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from sidecut.arrays import BoolArray, FloatArray, IntArray
from sidecut.integrations._entities import Part


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known about nodes, each a set of records that are one for certain.

    Parameters
    ----------
    sizes : array of shape (n_nodes,)
        How many records a node holds.
    pairs : array of shape (m, 2)
        Different nodes with compared records, each pair once.
    weights, counts : arrays of shape (m,)
        The sum of the log-odds of the compared records of a pair, and how many were compared.
    absent : float
        The log-odds of two records that were not compared, negative.
    apart : array of shape (l, 2)
        Nodes that are not one for certain.
    sources : list of frozenset
        For every node, the sources of which a cluster may hold one record each.
    """

    sizes: IntArray
    pairs: IntArray
    weights: FloatArray
    counts: IntArray
    absent: float
    apart: IntArray
    sources: list[frozenset[int]]

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return len(self.sizes)

    def gains(self) -> FloatArray:
        """Return what joining the two nodes of every pair would add to the score."""
        possible = self.sizes[self.pairs[:, 0]] * self.sizes[self.pairs[:, 1]]
        return self.weights + (possible - self.counts) * self.absent

    def score(self, labels: IntArray) -> float:
        """Return the sum of the log-odds of all pairs of records of different nodes in the same cluster."""
        inside = labels[self.pairs[:, 0]] == labels[self.pairs[:, 1]]
        records = np.bincount(labels, self.sizes)
        same_node = np.bincount(labels, self.sizes**2)
        n_pairs = float(np.sum(records**2 - same_node)) / 2
        return float(self.weights[inside].sum()) + (n_pairs - self.counts[inside].sum()) * self.absent


def find_clusters(evidence: Evidence) -> IntArray:
    """Return the cluster of every node, one connected part after another.

    Examples
    --------
    A chain of likely matches whose ends were never compared is cut at its weakest link:

    >>> import numpy as np
    >>> from sidecut.integrations._correlation import Evidence, find_clusters
    >>> evidence = Evidence(
    ...     np.ones(4, int), np.array([[0, 1], [1, 2], [2, 3]]), np.array([3.0, 1.0, 3.0]), np.ones(3, int),
    ...     -2.0, np.empty((0, 2), int), [frozenset()] * 4
    ... )
    >>> find_clusters(evidence)
    array([0, 0, 2, 2])
    """
    likely = evidence.pairs[evidence.weights > 0]
    parts = _parts(evidence.n_nodes, likely)
    labels = _first_of_each(parts)
    difficult = _difficult_parts(evidence, parts, likely)
    for part in _split(evidence, parts, difficult):
        part.join()
        part.cut()
        part.move()
        for cluster in part.members.values():
            labels[list(cluster)] = min(cluster)
    return labels


def _parts(n_nodes: int, edges: IntArray) -> IntArray:
    """Number the connected parts of a graph."""
    graph = sp.coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n_nodes, n_nodes))
    return connected_components(graph, directed=False)[1].astype(np.int64)


def _first_of_each(parts: IntArray) -> IntArray:
    """Return for every node the first node of its part."""
    _, first, inverse = np.unique(parts, return_index=True, return_inverse=True)
    return first[inverse].astype(np.int64)


def _difficult_parts(evidence: Evidence, parts: IntArray, likely: IntArray) -> BoolArray:
    """Tell the parts that may have to be cut: not all pairs are likely matches, or some may not be joined."""
    sizes = np.bincount(parts)
    n_likely = np.bincount(parts[likely[:, 0]], minlength=len(sizes))
    difficult = n_likely < sizes * (sizes - 1) // 2
    # A pair of nodes of several records can lose by the records that were not compared.
    losing = (evidence.weights > 0) & (evidence.gains() <= 0)
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
    for number, members in nodes.items():
        part = Part(evidence.absent)
        for node in members.tolist():
            part.add(node, int(evidence.sizes[node]), evidence.sources[node])
        here = edges.get(number, np.empty(0, dtype=np.int64))
        known = zip(evidence.pairs[here].tolist(), evidence.weights[here], evidence.counts[here], strict=True)
        for (a, b), weight, count in known:
            part.connect(a, b, float(weight), int(count))
        for a, b in evidence.apart[apart.get(number, np.empty(0, dtype=np.int64))].tolist():
            part.separate(a, b)
        yield part


def _group(rows: IntArray, numbers: IntArray) -> dict[int, IntArray]:
    """Return the rows of each number."""
    order = rows[np.argsort(numbers[rows], kind="stable")]
    found, starts = np.unique(numbers[order], return_index=True)
    return dict(zip(found.tolist(), np.split(order, starts[1:]), strict=False)) if len(rows) else {}


def measure_confidence(evidence: Evidence, labels: IntArray) -> FloatArray:
    """Return, for every node, the chance that it is in the right cluster rather than the next best one.

    The next best is another cluster it has been compared with, or none at all. The chance is 1 / (1 + e^-m)
    with m the difference of the two sums of log-odds: at least 1/2 where single moves cannot help.
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
    """Tell which pairs of a node and a cluster may not be joined."""
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
