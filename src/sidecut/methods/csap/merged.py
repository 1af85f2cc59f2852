"""Must-linked points as one: the affinity of CSAP on a large sparse graph, in linear time.

A hard must-link makes f equal at its ends, so that f has one value g_S on every must-linked set S; in
Algorithm A, where cannot-links are observed too, one value up to a sign. The covariance of these values is
computed to the first order in the affinities K between different linked points:

- cov(g_S, g_T) is the mean of K between the members of S and of T;
- two nodes a, b near S change by -Σ_l (K_al - K_aS)(K_bl - K_bS) / K_ll, which is eq. 6 for a pair; K_aS is
  the mean over the members l of S. Only the largest K_al of every l, and of every S, are looked at;
- of the cannot-links of Algorithm B those of the nodes a and b themselves lower their affinity.

What is left out is of second order: a covariance times a covariance, divided by a variance. All members of a
set have the same affinities, so that the graph is kept, and cut, with one node for every set.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from sidecut.checks import BoolArray, FloatArray, IntArray
from sidecut.graphs import Graph, SparseGraph
from sidecut.methods.csap.graph import ObservedLinks
from sidecut.spectral import Eigenpairs

#: Nodes near each member of a must-linked set that gain affinity through it; set on 900 points of USPS, Image
#: Segmentation and MNIST.
MAX_NEAREST = 16


class MergedGraph(Graph):
    """A graph in which all points of a node have the same affinities, none with itself."""

    def __init__(self, nodes: SparseGraph, group: IntArray) -> None:
        self.nodes, self.group = nodes, group
        self.n_nodes = int(group.size)
        self.sizes = np.bincount(group, minlength=nodes.n_nodes).astype(np.float64)
        #: Affinity between two points of one node.
        self.within = nodes.matrix.diagonal() / np.maximum(self.sizes * (self.sizes - 1.0), 1.0)

    @cached_property
    def _members(self) -> sp.csr_array:
        places = (self.group, np.arange(self.n_nodes))
        return sp.csr_array((np.ones(self.n_nodes), places), shape=(self.sizes.size, self.n_nodes))

    @cached_property
    def _means(self) -> sp.csr_array:
        """The affinity between a point of one node and a point of another, or of the same."""
        between = sp.coo_array(self.nodes.matrix)
        means = between.data / (self.sizes[between.row] * self.sizes[between.col])
        means = np.where(between.row == between.col, self.within[between.row], means)
        return sp.csr_array((means, (between.row, between.col)), shape=between.shape)

    def apply(self, block: FloatArray) -> FloatArray:
        """Return A @ block."""
        own = self.within[self.group]
        product = (self._means @ (self._members @ block))[self.group]
        return np.asarray(product - (own if block.ndim == 1 else own[:, None]) * block)

    @cached_property
    def degrees(self) -> FloatArray:
        """The degree of every point: its share of that of its node."""
        return (self.nodes.degrees / self.sizes)[self.group]

    def weights_at(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the affinities of some pairs of points."""
        if len(rows) == 0:
            return np.empty(0)
        found = np.asarray(self._means[self.group[rows], self.group[columns]], dtype=np.float64).ravel()
        return np.where(np.asarray(rows) == np.asarray(columns), 0.0, found)

    @cached_property
    def components(self) -> IntArray:
        """The connected component of every point."""
        return self.nodes.components[self.group]

    def expand(self, pairs: Eigenpairs) -> Eigenpairs:
        """Return eigenpairs of the points, given those of the nodes: no others have as small eigenvalues."""
        return replace(pairs, vectors=(pairs.vectors / np.sqrt(self.sizes)[:, None])[self.group])


@dataclass(frozen=True)
class _Nodes:
    """Sets of points with one value of f each, up to a sign: their covariances and variances."""

    group: IntArray
    sizes: FloatArray
    affinities: sp.csr_array
    variances: FloatArray


def merge_links(
    graph: Graph, added: FloatArray, links: ObservedLinks, algorithm: str, n_affinities: int
) -> MergedGraph | None:
    """Return the affinity of Algorithm A or B with one node for every must-linked set, to the first order."""
    W = sp.csr_array(graph.matrix)
    sets, sign = _signed_sets(links) if algorithm == "A" else (links.groups, np.ones(links.points.size))
    if sets is None:
        return None
    nodes, signs = _contract(W, added, links.points, sets, sign)
    nodes = replace(nodes, affinities=_pass_on(W, added, nodes, signs, n_affinities))
    if algorithm == "A":
        merged = _split_by_sign(nodes, signs)
    else:
        ends = nodes.group[links.points[links.cannot]].reshape(-1, 2)
        if np.any(ends[:, 0] == ends[:, 1]):
            return None
        merged = _lower_by_rivals(nodes, np.unique(np.sort(ends, axis=1), axis=0))
    return _reconnect_isolated(merged, W, links)


def _signed_sets(links: ObservedLinks) -> tuple[IntArray | None, FloatArray]:
    """Return the set of every linked point and its sign, where all links are observed; None if they clash."""
    # Every point has a copy of each sign: must-links join copies of like sign, cannot-links of unlike.
    count = links.points.size
    must, cannot = links.must.reshape(-1, 2), links.cannot.reshape(-1, 2)
    first = np.concatenate([must[:, 0], must[:, 0] + count, cannot[:, 0], cannot[:, 0] + count])
    second = np.concatenate([must[:, 1], must[:, 1] + count, cannot[:, 1] + count, cannot[:, 1]])
    copies = sp.coo_array((np.ones(first.size), (first, second)), shape=(2 * count, 2 * count))
    found = connected_components(copies, directed=False)[1]
    plus, minus = found[:count], found[count:]
    if np.any(plus == minus):
        return None, np.ones(count)
    return np.unique(np.minimum(plus, minus), return_inverse=True)[1], np.where(plus < minus, 1.0, -1.0)


def _contract(
    W: sp.csr_array, added: FloatArray, points: IntArray, sets: IntArray, sign: FloatArray
) -> tuple[_Nodes, FloatArray]:
    """Return the nodes of given sets and of all other points, and the sign of every point in its node."""
    n, n_sets = W.shape[0], int(sets.max(initial=-1)) + 1
    group, signs = np.full(n, -1), np.ones(n)
    group[points], signs[points] = sets, sign
    free = np.flatnonzero(group < 0)
    group[free] = n_sets + np.arange(free.size)
    members = sp.csr_array((signs, (np.arange(n), group)), shape=(n, n_sets + free.size))
    sizes = np.bincount(group).astype(np.float64)
    sums = sp.csr_array(members.T @ W @ members)
    variances = (sums.diagonal() + np.bincount(group, weights=added)) / sizes**2
    between = sp.coo_array(sums)
    apart = between.row != between.col
    row, column = between.row[apart], between.col[apart]
    means = between.data[apart] / (sizes[row] * sizes[column])
    return _Nodes(group, sizes, sp.csr_array((means, (row, column)), shape=sums.shape), variances), signs


def _pass_on(
    W: sp.csr_array, added: FloatArray, nodes: _Nodes, signs: FloatArray, n_affinities: int
) -> sp.csr_array:
    """Return the affinities between nodes with what sets of several points pass on to the nodes near them."""
    linked = np.flatnonzero(nodes.sizes[nodes.group] > 1)
    if linked.size == 0:
        return nodes.affinities
    means = signs / nodes.sizes[nodes.group]
    members = sp.csr_array(
        (means, nodes.group, np.arange(W.shape[0] + 1)), shape=(W.shape[0], nodes.sizes.size)
    )
    # W is symmetric, and its rows are at hand: what is near every linked point, row by row.
    around = sp.csr_array(W[linked] @ members)
    point = np.repeat(np.arange(linked.size), np.diff(around.indptr))
    around.data *= signs[linked][point]
    around.data[around.indices == nodes.group[linked][point]] = 0.0
    around.eliminate_zeros()
    near = around.T
    near = _largest_of_columns(near, _bound_pairs(W.nnz, linked.size, MAX_NEAREST))
    sets, place = np.unique(nodes.group[linked], return_inverse=True)
    joined = sp.csr_array((np.ones(linked.size), (np.arange(linked.size), place)))
    reached = _largest_of_columns(sp.csc_array(near @ joined), _bound_pairs(W.nnz, sets.size, n_affinities))
    variance = np.bincount(place, weights=added[linked]) / nodes.sizes[sets]
    gained = reached @ sp.diags_array(1.0 / (nodes.sizes[sets] * variance)) @ reached.T
    lost = near @ sp.diags_array(1.0 / variance[place]) @ near.T
    whole = sp.coo_array(nodes.affinities + gained - lost)
    # One half and its mirror image: mirrored entries are sums in different orders.
    above = whole.row < whole.col
    half = sp.csr_array((whole.data[above], (whole.row[above], whole.col[above])), shape=whole.shape)
    return sp.csr_array(half + half.T)


def _bound_pairs(n_edges: int, n_columns: int, most: int) -> int:
    """Return how many nodes of every column are paired: no more pairs than edges, but at least six nodes."""
    return min(most, max(6, int(np.sqrt(n_edges / n_columns))))


def _largest_of_columns(matrix: sp.csc_array, count: int) -> sp.csc_array:
    """Return a matrix with the entries of largest size in every column only."""
    if np.diff(matrix.indptr).max(initial=0) <= count:
        return matrix
    column = np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr))
    sizes = np.abs(matrix.data)
    # One key, the column and less than one for the size: half the time of sorting by two.
    order = np.argsort(column - sizes / max(2.0 * sizes.max(), np.finfo(np.float64).tiny))
    kept = order[np.arange(order.size) - matrix.indptr[column] < count]
    return sp.csc_array((matrix.data[kept], (matrix.indices[kept], column[kept])), shape=matrix.shape)


def _lower_by_rivals(nodes: _Nodes, pairs: IntArray) -> MergedGraph:
    """Return Algorithm B's affinities: of every cannot-link alone, the smallest."""
    # Of a negative affinity no cannot-link makes a positive one.
    affinities = nodes.affinities.copy()
    np.maximum(affinities.data, 0.0, out=affinities.data)
    affinities.eliminate_zeros()
    affinities.sort_indices()
    variances = nodes.variances
    within = np.zeros(nodes.sizes.size)
    own, other = np.concatenate([pairs, pairs[:, ::-1]]).T
    both = np.asarray(affinities[own, other], dtype=np.float64).ravel() if own.size else np.zeros(0)
    shares = (variances[own] + both) / (variances[own] + variances[other] + 2.0 * both)
    np.maximum.at(within, own, (variances[own] + both) * shares)
    losses = _losses(affinities, variances, own, other, shares)
    left = sp.coo_array(affinities)
    # The matrix is symmetric: its entries by columns are those by rows, mirrored.
    mirrored = sp.csc_array(
        sp.csr_array((np.arange(left.nnz), affinities.indices, affinities.indptr), shape=affinities.shape)
    ).data
    left.data = left.data - np.maximum(losses, losses[mirrored])
    # What a subtraction leaves below this share of the variances is rounding.
    rounding = 1e-12
    kept = left.data > rounding * np.sqrt(variances[left.row] * variances[left.col])
    inner = variances - within
    return _merged(
        nodes.group,
        nodes.sizes,
        left.row[kept],
        left.col[kept],
        left.data[kept],
        np.where(inner > rounding * variances, inner, 0.0),
    )


def _losses(
    affinities: sp.csr_array, variances: FloatArray, own: IntArray, other: IntArray, shares: FloatArray
) -> FloatArray:
    """Return the largest loss of every affinity by a cannot-link of its first node."""
    # By a cannot-link with t, a node loses the share f of A_a + A_ta. Where A_ta is zero, the link of the
    # largest share takes most; so only nodes near both ends are compared link by link, along the shorter row.
    # For a set with thousands of links and neighbours, that is their sum and not their product.
    counts = np.diff(affinities.indptr)
    largest = np.zeros(counts.size)
    np.maximum.at(largest, own, shares)
    losses = affinities.data * np.repeat(largest, counts)
    # Where an entry is stored, counted from 1; 0 where there is none.
    stored = np.arange(1, affinities.nnz + 1)
    places = sp.csr_array((stored, affinities.indices, affinities.indptr), shape=affinities.shape)
    is_shorter = counts[own] <= counts[other]
    # Where the entries of the shorter rows are stored, row after row, and which link each belongs to.
    rows = np.where(is_shorter, own, other)
    link = np.repeat(np.arange(rows.size), counts[rows])
    starts = np.cumsum(counts[rows]) - counts[rows]
    here = affinities.indptr[rows][link] + np.arange(link.size) - starts[link]
    there = _values_at(places, np.where(is_shorter, other, own)[link], affinities.indices[here])
    near = np.flatnonzero(there)
    here, there, link = here[near], there[near] - 1, link[near]
    update = shares[link] * (affinities.data[here] + affinities.data[there])
    np.maximum.at(losses, np.where(is_shorter[link], here, there), update)
    # Of t itself, A_tt is the variance.
    there = _values_at(places, own, other)
    near = np.flatnonzero(there)
    there = there[near] - 1
    np.maximum.at(losses, there, shares[near] * (affinities.data[there] + variances[other[near]]))
    return losses


def _values_at(matrix: sp.csr_array, rows: IntArray, columns: IntArray) -> IntArray:
    return np.asarray(matrix[rows, columns]).ravel() if rows.size else np.zeros(0, dtype=np.intp)


def _split_by_sign(nodes: _Nodes, signs: FloatArray) -> MergedGraph:
    """Return Algorithm A's affinities: the points of either sign are a node, what is negative is clipped."""
    numbers, group = np.unique(2 * nodes.group + (signs < 0), return_inverse=True)
    place = np.full(2 * nodes.sizes.size, -1)
    place[numbers] = np.arange(numbers.size)
    between = sp.coo_array(nodes.affinities)
    unlike = between.data < 0
    first = np.concatenate([place[2 * between.row], place[2 * between.row + 1]])
    second = np.concatenate([place[2 * between.col + unlike], place[2 * between.col + 1 - unlike]])
    exist = (first >= 0) & (second >= 0)
    sizes = np.bincount(group).astype(np.float64)
    affinities = np.abs(np.tile(between.data, 2))[exist]
    return _merged(group, sizes, first[exist], second[exist], affinities, nodes.variances[numbers // 2])


def _merged(
    group: IntArray,
    sizes: FloatArray,
    rows: IntArray,
    columns: IntArray,
    affinities: FloatArray,
    within: FloatArray,
) -> MergedGraph:
    sums = sp.csr_array((affinities * sizes[rows] * sizes[columns], (rows, columns)), shape=(sizes.size,) * 2)
    return MergedGraph(SparseGraph(sums + sp.diags_array(sizes * (sizes - 1.0) * within)), group)


def _reconnect_isolated(merged: MergedGraph, W: sp.csr_array, links: ObservedLinks) -> MergedGraph:
    """Return to nodes that links left without any affinity their rows of W, without their cannot-links."""
    isolated: BoolArray = merged.nodes.degrees <= 0
    if not isolated.any():
        return merged
    group, sizes = merged.group, merged.sizes
    members = sp.csr_array((np.ones(group.size), (np.arange(group.size), group)))
    before = sp.coo_array(members.T @ W @ members)
    ends = group[links.points[links.cannot]].reshape(-1, 2)
    cannot = np.concatenate([ends, ends[:, ::-1]]) @ np.array([sizes.size, 1])
    here = (isolated[before.row] | isolated[before.col]) & ~np.isin(
        before.row.astype(np.int64) * sizes.size + before.col, cannot
    )
    restored = sp.csr_array((before.data[here], (before.row[here], before.col[here])), shape=before.shape)
    return MergedGraph(SparseGraph(merged.nodes.matrix + restored), group)
