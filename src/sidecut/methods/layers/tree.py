"""The density tree of a layout: which clusters there are, whatever the smallest that counts.

The mutual reachability of two points is the largest of their distance and of their distances to their m-th
neighbours (Campello, Moulavi & Sander, 2013). Kruskal's algorithm joins points by the edges of its minimum
spanning tree, the shortest first. An edge joins two sets of points; the size of the smaller one is its
*size*. Without the edges of size s or more the tree falls into the clusters that exist where fewer than s
points are no cluster. So K clusters are cut by the K - 1 edges of largest size, and one more splits one of
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial import cKDTree
from sklearn.metrics import adjusted_rand_score

from sidecut.checks import FloatArray, IntArray
from sidecut.constraints.groups import number_by_appearance
from sidecut.graphs import Graph
from sidecut.methods.layers.layout import MANY, lay_out
from sidecut.running import stage

#: m, the neighbour whose distance says how dense it is around a point; of fewer points, one in this many.
REACH_NEIGHBOR, POINTS_PER_NEIGHBOR = 5, 20
#: Neighbours among which the minimum spanning tree is looked for; parts of that graph are then joined.
N_NEIGHBORS = 15
#: Points to which the distances of a part bound its distance to the nearest other part.
N_BOUNDING = 500
#: Layouts whose trees are compared, where points are not many.
N_LAYOUTS = 3
#: The most layers, and the least ratio of the numbers of clusters of two of them.
MAX_LAYERS, MIN_RATIO = 10, 1.5


@dataclass(frozen=True, eq=False)
class SpanningTree:
    """A minimum spanning tree: its edges, the shortest first."""

    ends: IntArray
    lengths: FloatArray

    @property
    def n_points(self) -> int:
        """The number of points."""
        return len(self.ends) + 1

    @cached_property
    def sizes(self) -> IntArray:
        """The size of every edge: of the smaller of the two sets that it joins."""
        parent, size, found = list(range(self.n_points)), [1] * self.n_points, []
        for one, other in self.ends.tolist():
            one, other = _root(parent, one), _root(parent, other)
            if size[one] < size[other]:
                one, other = other, one
            found.append(size[other])
            parent[other] = one
            size[one] += size[other]
        return np.array(found, dtype=np.int64)

    @cached_property
    def order(self) -> IntArray:
        """The edges in the order in which they are cut: the largest first, of equal ones the longest."""
        return np.lexsort((-self.lengths, -self.sizes))

    def labels(self, n_clusters: int) -> IntArray:
        """Return that many clusters, numbered in order of first appearance."""
        kept = self.ends[self.order[n_clusters - 1 :]]
        return number_by_appearance(_parts(kept, self.n_points))

    def noise(self, labels: IntArray, n_clusters: int) -> IntArray:
        """Return the points outside the largest part of their cluster that is denser than its borders."""
        is_cut = labels[self.ends[:, 0]] != labels[self.ends[:, 1]]
        cut, kept = np.flatnonzero(is_cut), np.flatnonzero(~is_cut)
        reach = np.full(n_clusters, np.inf)
        np.minimum.at(reach, labels[self.ends[cut]], self.lengths[cut][:, None])
        near = kept[self.lengths[kept] <= reach[labels[self.ends[kept, 0]]]]
        part = _parts(self.ends[near], self.n_points)
        sizes = np.bincount(part)
        core = np.zeros(n_clusters, dtype=np.int64)
        # The last assignment to a place remains: the largest part of the cluster.
        by_size = np.argsort(sizes[part], kind="stable")
        core[labels[by_size]] = part[by_size]
        return np.flatnonzero(core[labels] != part)


def spanning_tree(places: FloatArray) -> SpanningTree:
    """Return the minimum spanning tree of places, by mutual reachability."""
    # It is looked for among the edges to `N_NEIGHBORS` neighbours. Between the parts of that graph mutual
    # reachability is the distance, and the nearest pairs join them (Borůvka).
    n_points = len(places)
    # Equal places have equal neighbours, among which a point need not be the first of its own.
    count = min(N_NEIGHBORS + 1, n_points)
    distances, neighbors = cKDTree(places).query(places, count)
    reach = distances[:, int(np.clip(n_points // POINTS_PER_NEIGHBOR, 1, REACH_NEIGHBOR))]
    one, other = np.repeat(np.arange(n_points), count), neighbors.ravel()
    lengths = np.maximum(distances.ravel(), np.maximum(reach[one], reach[other]))
    # An edge of length zero would be no edge.
    lengths = np.maximum(lengths, np.finfo(np.float64).tiny)
    low, high = np.minimum(one, other), np.maximum(one, other)
    first = np.unique(low * np.int64(n_points) + high, return_index=True)[1]
    first = first[low[first] < high[first]]
    graph = sp.csr_array((lengths[first], (low[first], high[first])), shape=(n_points, n_points))
    forest = minimum_spanning_tree(graph).tocoo()
    ends, found = np.column_stack([forest.row, forest.col]).astype(np.int64), forest.data
    while len(ends) < n_points - 1:
        bridges, widths = _nearest_pairs(places, _parts(ends, n_points))
        ends, found = np.concatenate([ends, bridges]), np.concatenate([found, widths])
    order = np.argsort(found, kind="stable")
    return SpanningTree(ends[order], found[order])


def _nearest_pairs(places: FloatArray, part: IntArray) -> tuple[IntArray, FloatArray]:
    """Return for every part but the largest its nearest pair of points, without pairs that close a circle."""
    sizes = np.bincount(part)
    members = np.split(np.argsort(part, kind="stable"), np.cumsum(sizes)[:-1])
    sample = np.unique(np.linspace(0, len(places) - 1, N_BOUNDING).astype(np.intp))
    pairs = []
    for number in np.argsort(sizes, kind="stable")[:-1]:
        own = members[number]
        search = cKDTree(places[own])
        some = np.concatenate([sample[part[sample] != number], [members[number - 1][0]]])
        bound = search.query(places[some])[0].min()
        inside = (places >= places[own].min(axis=0) - bound) & (places <= places[own].max(axis=0) + bound)
        others = np.flatnonzero(inside.all(axis=1) & (part != number))
        distances, nearest = search.query(places[others], distance_upper_bound=np.nextafter(bound, np.inf))
        best = int(distances.argmin())
        pairs.append((float(distances[best]), int(own[nearest[best]]), int(others[best])))
    parent, ends, widths = list(range(len(sizes))), [], []
    for distance, own_point, other_point in sorted(pairs):
        one, another = _root(parent, int(part[own_point])), _root(parent, int(part[other_point]))
        if one != another:
            parent[one] = another
            ends.append((own_point, other_point))
            widths.append(max(distance, float(np.finfo(np.float64).tiny)))
    return np.array(ends, dtype=np.int64).reshape(-1, 2), np.array(widths)


def _parts(ends: IntArray, n_points: int) -> IntArray:
    """Return the part of every point in the graph of some edges."""
    graph = sp.coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n_points, n_points))
    return np.asarray(connected_components(graph, directed=False)[1])


def _root(parent: list[int], node: int) -> int:
    """Return the root of a node, and halve the way to it."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@dataclass(frozen=True, eq=False)
class Branches:
    """The tree of clusters: which cluster exists for which smallest sizes."""

    # Branches are numbered so that a parent comes before its two children; branch 0 is all points. The branch
    # exists where the smallest size that counts is in (birth, death]: `death` is the size of the edge that
    # splits it from its sibling, `birth` that of the edge that splits itself.

    tree: SpanningTree
    parent: IntArray
    size: IntArray
    birth: IntArray
    death: IntArray
    leaf: IntArray

    @property
    def persistence(self) -> FloatArray:
        """The share of all points by which death exceeds birth."""
        return (self.death - self.birth) / self.tree.n_points

    def table(self) -> dict[str, NDArray[Any]]:
        """Return one row per branch."""
        return {
            "cluster": np.arange(len(self.parent)),
            "parent": self.parent,
            "size": self.size,
            "birth": self.birth,
            "death": self.death,
            "persistence": self.persistence,
        }

    @cached_property
    def split(self) -> IntArray:
        """The number of the split of every branch into two, -1 where it is not split."""
        found = np.full(len(self.parent), -1, dtype=np.int64)
        found[self.parent[1::2]] = np.arange(len(self.parent) // 2)
        return found

    @cached_property
    def intervals(self) -> tuple[IntArray, IntArray]:
        """The first leaf of every branch and the one after its last, in an order that keeps them whole."""
        counts, first = np.ones(len(self.parent), dtype=np.int64), np.zeros(len(self.parent), dtype=np.int64)
        for split in range(len(self.parent) // 2 - 1, -1, -1):
            counts[self.parent[2 * split + 1]] = counts[2 * split + 1] + counts[2 * split + 2]
        for split in range(len(self.parent) // 2):
            above = first[self.parent[2 * split + 1]]
            first[2 * split + 1], first[2 * split + 2] = above, above + counts[2 * split + 1]
        return first, first + counts

    def in_layers(self, values: FloatArray) -> FloatArray:
        """Return the sums of values of the branches after 0, 1, 2, ... splits."""
        gains = values[1::2] + values[2::2] - values[self.parent[1::2]]
        return values[0] + np.concatenate([[0.0], np.cumsum(gains)])

    def layer(self, n_clusters: int) -> IntArray:
        """Return the branches of the layer with that many clusters."""
        early = np.arange(2 * n_clusters - 1)
        split = self.split[early]
        return early[(split < 0) | (split >= n_clusters - 1)]

    def pieces(self, ends: IntArray) -> IntArray:
        """Return the place in `ends` of the branch that holds each point; each is in one."""
        first = self.intervals[0]
        order = np.argsort(first[ends])
        return order[np.searchsorted(first[ends][order], first[self.leaf], side="right") - 1]

    @cached_property
    def layer_counts(self) -> IntArray:
        """The numbers of clusters, from 2 on, of some smallest size; equal splits come at once."""
        deaths = np.append(self.death[1::2], 0)
        return np.flatnonzero(deaths[:-1] > deaths[1:]) + 2

    @cached_property
    def layer_persistence(self) -> FloatArray:
        """The sum of the persistence of the branches after 0, 1, 2, ... splits."""
        return self.in_layers(self.persistence)


def grow_branches(tree: SpanningTree, min_size: int) -> Branches:
    """Return the tree of clusters of at least `min_size` points."""
    n_splits = int(np.count_nonzero(tree.sizes >= min_size))
    leaf = tree.labels(n_splits + 1)
    n_branches = 2 * n_splits + 1
    parent, size = np.full(n_branches, -1), np.zeros(n_branches, dtype=np.int64)
    birth, death = np.full(n_branches, min_size), np.full(n_branches, tree.n_points)
    held, leaf_branch = np.bincount(leaf).tolist(), np.zeros(n_splits + 1, dtype=np.int64)
    group, formed = list(range(n_splits + 1)), [-1] * (n_splits + 1)

    def name(side: int, branch: int) -> None:
        size[branch], split = held[side], formed[side]
        if split < 0:
            leaf_branch[side] = branch
        else:
            parent[2 * split + 1 : 2 * split + 3] = branch
            birth[branch] = tree.sizes[tree.order[split]]

    # Split number j makes the branches 2j + 1 and 2j + 2. From the smallest split up, it joins them.
    for split in range(n_splits - 1, -1, -1):
        edge = tree.order[split]
        one, other = (_root(group, int(leaf[end])) for end in tree.ends[edge])
        for side, branch in ((one, 2 * split + 1), (other, 2 * split + 2)):
            name(side, branch)
            death[branch] = tree.sizes[edge]
        group[other], formed[one] = one, split
        held[one] += held[other]
    name(_root(group, 0), 0)
    return Branches(tree, parent, size, birth, death, leaf_branch[leaf])


def find_branches(
    graph: Graph, min_size: int, seed: int, n_clusters: int = 0
) -> tuple[FloatArray, list[Branches], dict[int, float]]:
    """Return a layout of a graph, its tree and those of other layouts, and the layers of its tree.

    A layout depends on chance. The tree comes first in which the layer with that many clusters, or else the
    most persistent layer of all, is most persistent.
    """
    found = []
    for number in range(N_LAYOUTS if graph.n_nodes <= MANY else 1):
        with stage("layout"):
            places = lay_out(graph, [seed, number]).astype(np.float64)
        with stage("tree"):
            found.append((places, grow_branches(spanning_tree(places), min(min_size, graph.n_nodes))))
    with stage("layers"):
        kept, layers = persistent_layers([branches for _, branches in found], n_clusters)
    first = found.pop(kept)
    return first[0], [first[1], *(branches for _, branches in found)], layers


def persistent_layers(trees: Sequence[Branches], n_clusters: int = 0) -> tuple[int, dict[int, float]]:
    """Return which tree has the most persistent layer, and its layers: numbers of clusters and persistence.

    A layer is one where the sum of the persistence of its clusters is a local maximum in the tree. One that
    has nearly as many clusters as a more persistent one is left out.
    """
    peaks = [[count for count in _peaks(one) if persistence(trees, count) > 0.0] for one in trees]
    values = {count: persistence(trees, count) for some in peaks for count in some}
    wanted = n_clusters or max(values, key=lambda count: values[count], default=1)

    def rank(number: int) -> tuple[bool, float]:
        return wanted in peaks[number], float(trees[number].layer_persistence[:wanted][-1])

    kept = max(range(len(trees)), key=rank)
    return kept, {count: values[count] for count in _without_similar({k: values[k] for k in peaks[kept]})}


def persistence(trees: Sequence[Branches], n_clusters: int) -> float:
    """Return the persistence of a layer: the sum over its clusters, as a mean over trees, times agreement."""
    # The agreement is the largest adjusted Rand index of the clusters of two trees, 1 for a single tree: of
    # three layouts, one may go wrong by chance.
    if any(len(one.layer_persistence) < n_clusters for one in trees):
        return 0.0
    labels = [one.tree.labels(n_clusters) for one in trees]
    pairs = [adjusted_rand_score(one, other) for one, other in combinations(labels, 2)]
    mean = np.mean([one.layer_persistence[n_clusters - 1] for one in trees])
    return float(mean * max(pairs, default=1.0))


def _peaks(branches: Branches) -> list[int]:
    """Return the numbers of clusters at local maxima of the persistence, without similar ones."""
    counts = branches.layer_counts
    values = branches.layer_persistence[counts - 1]
    padded = np.concatenate([[-np.inf], values, [-np.inf]])
    peaks = np.flatnonzero((values >= padded[:-2]) & (values >= padded[2:]))
    return _without_similar(dict(zip(counts[peaks].tolist(), values[peaks].tolist(), strict=True)))


def _without_similar(values: dict[int, float]) -> list[int]:
    """Return numbers of clusters, the most persistent first; none is near to one before it."""
    found: list[int] = []
    for count in sorted(values, key=lambda count: -values[count]):
        if all(max(count, other) >= MIN_RATIO * min(count, other) for other in found):
            found.append(count)
    return found[:MAX_LAYERS]
