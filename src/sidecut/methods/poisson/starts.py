"""Which cluster a label names: walks from the labels as evidence about clusters that the graph suggests.

One label of each class says little about where a class ends, and much about which cluster it is. A walk from
label j, for a time t, ends in cluster c with the chance p_jc; labels themselves are left out as ends. Names
are right with the likelihood Π_j p_{j, c_j}, so that the likeliest names are a matching of clusters to
classes. The same likelihood takes the place of pairs where pieces of the graph are joined to clusters that
have names:

    F(z) = λ N Σ_j w_j log p_{j, c_j} + Σ_c g(A_c, n_c),      p_jc = Σ_a h_ja [z_a = c],

h_ja the chance that the walk of label j ends in piece a.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import gammaln

from sidecut.checks import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import SidecutWarning
from sidecut.graphs import Graph
from sidecut.labelling import kmeans_labels, unit_rows
from sidecut.labelling.labels import cluster_sums, informative_rows
from sidecut.methods.poisson.anchors import Anchors
from sidecut.methods.poisson.equation import SignedGraph, heat_filter, heat_precision
from sidecut.spectral import laplacian_eigenpairs

#: Eigenvectors for each cluster, and the most of them where clusters are fewer. All constants of this file
#: were set on digits, pendigits and USPS, as it is and thinned out, in draws that no table of accuracy shows.
VECTORS, MOST_VECTORS = 3, 100
#: The fewest and the most pieces for each cluster, between them one for so many facts; and the points that a
#: piece has at least, on average.
FEWEST_PIECES, MOST_PIECES, FACTS_PER_PIECE, POINTS_PER_PIECE = 5, 10, 10, 5
#: So many rows for each piece decide where the centres of k-means are.
ROWS_PER_PIECE = 200
#: λ: what a fact is worth, as a share of the heat of all points.
PAIR_WEIGHT = 0.004
#: t, how long heat flows between pieces, and the τ that belongs to it.
EXCHANGE_TIME, SIZE_PENALTY = 4.0, 0.4
#: The heat of so many pieces flows at a time.
BLOCK = 32
#: How often two clusters are joined and a third is cut.
CHANGES = 20
#: Smaller gains are rounding, relative to the number of points.
GAIN = 1e-9

Worth = Callable[[FloatArray, FloatArray], FloatArray]


class Pieces(NamedTuple):
    """A graph in pieces: the piece of every point, the heat G that pieces exchange, and D^{-1/2} V."""

    piece: IntArray
    heat: FloatArray
    vectors: FloatArray


def join_pieces(
    graph: Graph,
    constraints: Constraints,
    n_clusters: int,
    eigen_solver: str,
    rng: np.random.RandomState,
) -> list[IntArray]:
    """Return one or two clusterings of the graph: the best joinings of its pieces."""
    n_facts = constraints.n_independent_pairs
    pieces, heat, _ = find_pieces(graph, n_clusters, n_facts, eigen_solver, rng)
    if len(heat) < n_clusters:
        return []
    sizes = np.bincount(pieces).astype(np.float64)
    pull = PAIR_WEIGHT * graph.n_nodes * n_facts * _pull(pieces, constraints)
    joinings = [Joining(pull, heat, sizes, n_clusters, worth) for worth in worths(graph.n_nodes, n_clusters)]
    return best_clusterings(joinings, pieces, rng)


def find_pieces(
    graph: Graph, n_clusters: int, n_facts: int, eigen_solver: str, rng: np.random.RandomState
) -> Pieces:
    """Cut the graph into pieces, and find the heat that they exchange."""
    n_wanted = _number_of_pieces(graph.n_nodes, n_clusters, n_facts)
    n_vectors = max(n_clusters, min(VECTORS * n_clusters, MOST_VECTORS, graph.n_nodes))
    vectors = piece_vectors(graph, n_vectors, eigen_solver, rng)
    pieces = cut_into_pieces(vectors, n_wanted, rng)
    return Pieces(pieces, exchanged_heat(graph, pieces), vectors)


def best_clusterings(
    joinings: Sequence[Joining], pieces: IntArray, rng: np.random.RandomState
) -> list[IntArray]:
    """Return the clusters of points by the best joining of each kind, those that differ."""
    found: list[IntArray] = []
    for joining in joinings:
        joined = joining.best(rng)[pieces]
        if not any(np.array_equal(joined, other) for other in found):
            found.append(joined)
    return found


def _number_of_pieces(n_points: int, n_clusters: int, n_facts: int) -> int:
    """Return between five and ten for each cluster, more where more is known; fewer where points are few."""
    number = np.clip(n_facts // FACTS_PER_PIECE, FEWEST_PIECES * n_clusters, MOST_PIECES * n_clusters)
    return int(max(min(number, n_points // POINTS_PER_PIECE), n_clusters))


def piece_vectors(graph: Graph, n_vectors: int, eigen_solver: str, rng: np.random.RandomState) -> FloatArray:
    """Return D^{-1/2} V, V the eigenvectors of the graph, more of them than there are clusters."""
    found = laplacian_eigenpairs(graph, n_vectors, solver=eigen_solver, accuracy="rough", random_state=rng)
    return SignedGraph(graph).scale[:, None] * found.vectors


def cut_into_pieces(vectors: FloatArray, n_pieces: int, rng: np.random.RandomState) -> IntArray:
    """Return the piece of every point: k-means in eigenvectors.

    There may be fewer pieces than asked for, if points look alike.
    """
    rows = unit_rows(vectors)
    fitted = _some_rows(rows, ROWS_PER_PIECE * n_pieces, rng)
    with warnings.catch_warnings(action="ignore", category=SidecutWarning):
        return kmeans_labels(rows, n_pieces, n_init=1, fit_rows=fitted, random_state=rng)


def _some_rows(rows: FloatArray, number: int, rng: np.random.RandomState) -> np.ndarray | None:
    """Return a mask of some rows, at random, or None for all."""
    telling = np.flatnonzero(informative_rows(rows))
    if len(telling) <= number:
        return None
    mask = np.zeros(len(rows), dtype=bool)
    mask[rng.choice(telling, number, replace=False)] = True
    return mask


def exchanged_heat(graph: Graph, pieces: IntArray) -> FloatArray:
    """Return G_ab = <u_a, e^{-tA} u_b>."""
    n_pieces = int(pieces.max()) + 1
    flow, laplacian = heat_filter(EXCHANGE_TIME), SignedGraph(graph).laplacian
    heat = np.empty((n_pieces, n_pieces))
    for first in range(0, n_pieces, BLOCK):
        some = np.arange(first, min(first + BLOCK, n_pieces))
        arrived = flow(laplacian, (pieces[:, None] == some).astype(heat_precision(graph.n_nodes)))
        heat[:, some] = cluster_sums(arrived, pieces, n_pieces)
    return 0.5 * (heat + heat.T)


def _pull(pieces: IntArray, constraints: Constraints) -> FloatArray:
    """Return Σ Q_ij / Σ |Q_ij| over the known pairs between two pieces, each pair once, in both triangles."""
    known, points = constraints.with_diagonal(0.0).restricted()
    members = np.eye(int(pieces.max()) + 1)[pieces[points]]
    strengths = known.must_part().total() - 0.5 * known.total()
    return members.T @ known.apply(members) / (strengths or 1.0)


def worths(n_points: int, n_clusters: int) -> tuple[Worth, Worth]:
    """Return what a cluster is worth by its heat and size: with a price of uneven sizes, and without."""
    return _less_energy(n_points, n_clusters), _association(n_points, n_clusters)


def _less_energy(n_points: int, n_clusters: int) -> Worth:
    def worth(heat: FloatArray, size: FloatArray) -> FloatArray:
        return 0.5 * heat - SIZE_PENALTY * (gammaln(size + 1.0) - size * np.log(n_points / n_clusters))

    return worth


def _association(n_points: int, n_clusters: int) -> Worth:
    def worth(heat: FloatArray, size: FloatArray) -> FloatArray:
        return 0.5 * n_points / n_clusters * heat / np.maximum(size, 1.0)

    return worth


@dataclass(frozen=True, eq=False)
class Joining:
    """The joining of pieces to clusters of greatest worth F, as far as steps of one piece find it."""

    pull: FloatArray
    heat: FloatArray
    sizes: FloatArray
    n_clusters: int
    worth: Worth

    def value(self, cluster: IntArray) -> float:
        """Return F of a joining."""
        members = np.eye(self.n_clusters)[cluster]
        within = np.einsum("ac,ab,bc->c", members, self.heat, members)
        pull = np.einsum("ac,ab,bc->", members, self.pull, members)
        return float(0.5 * pull + self.worth(within, self.sizes @ members).sum())

    def best(self, rng: np.random.RandomState) -> IntArray:
        """Return the best joining that was found; every cluster has a piece."""
        best = self.raised(self.greedy())
        value = self.value(best)
        for _ in range(CHANGES if len(self.sizes) > self.n_clusters > 1 else 0):
            other = self.raised(self._changed(best, rng))
            if (gained := self.value(other)) > value + GAIN * self.sizes.sum():
                best, value = other, gained
        return best

    def greedy(self) -> IntArray:
        """Join the two groups that gain most, or lose least, until there are as many as clusters."""
        pull, heat, sizes = self.pull.copy(), self.heat.copy(), self.sizes.copy()
        group = np.arange(len(sizes))
        left = np.arange(len(sizes))
        while len(left) > self.n_clusters:
            within = np.diag(heat)
            alone = self.worth(within, sizes)
            both = self.worth(within[:, None] + within + 2.0 * heat, sizes[:, None] + sizes)
            gain = pull + both - alone[:, None] - alone
            np.fill_diagonal(gain, -np.inf)
            kept, gone = sorted(np.unravel_index(np.argmax(gain), gain.shape))
            group[group == left[gone]] = left[kept]
            for matrix in (pull, heat):
                matrix[kept] += matrix[gone]
                matrix[:, kept] += matrix[:, gone]
            sizes[kept] += sizes[gone]
            rest = np.delete(np.arange(len(left)), gone)
            pull, heat = pull[np.ix_(rest, rest)], heat[np.ix_(rest, rest)]
            sizes, left = sizes[rest], left[rest]
        return np.searchsorted(left, group)

    def raised(self, cluster: IntArray) -> IntArray:
        """Move the piece that gains most by it, until none gains; no cluster is emptied."""
        cluster = cluster.copy()
        while True:
            gains = self.gains(cluster)
            piece, target = np.unravel_index(np.argmax(gains), gains.shape)
            if not gains[piece, target] > GAIN * self.sizes.sum():
                return cluster
            cluster[piece] = target

    def gains(self, cluster: IntArray) -> FloatArray:
        """Return what F gains if one piece moves, for every piece and cluster; -inf where one is emptied."""
        pieces = np.arange(len(cluster))
        members = np.eye(self.n_clusters)[cluster]
        # What a piece has to do with the others of every cluster, itself apart.
        pull = self.pull @ members - np.diag(self.pull)[:, None] * members
        heat = self.heat @ members - np.diag(self.heat)[:, None] * members
        within, sizes = np.einsum("ac,ac->c", members, self.heat @ members), self.sizes @ members
        own, own_size = np.diag(self.heat), self.sizes
        joined = self.worth(within + 2.0 * heat + own[:, None], sizes + own_size[:, None])
        gained = pull + joined - self.worth(within, sizes)
        left = within[cluster] - 2.0 * heat[pieces, cluster] - own
        lost = self.worth(within, sizes)[cluster] - self.worth(left, sizes[cluster] - own_size)
        gains = gained - (pull[pieces, cluster] + lost)[:, None]
        gains[pieces, cluster] = 0.0
        gains[members.sum(axis=0)[cluster] == 1] = -np.inf
        return gains

    def _changed(self, cluster: IntArray, rng: np.random.RandomState) -> IntArray:
        """Join two clusters, and cut a third between two of its pieces."""
        kept, gone = rng.choice(self.n_clusters, 2, replace=False)
        changed = np.where(cluster == gone, kept, cluster)
        counts = np.bincount(changed, minlength=self.n_clusters)
        cut = rng.choice(np.flatnonzero(counts > 1))
        members = np.flatnonzero(changed == cut)
        stays, leaves = rng.choice(members, 2, replace=False)
        affinity = self.pull + self.heat
        changed[members[affinity[members, leaves] > affinity[members, stays]]] = gone
        changed[leaves], changed[stays] = gone, cut
        return changed


#: How long walks from labels last.
NAMING_TIME = 10.0
#: The chance that a label is where it is for no reason that the graph knows.
BY_CHANCE = 1e-3
#: λ: what a label is worth in the joining of pieces, as a share of the heat of all points.
LABEL_WEIGHT = 0.004


@dataclass(frozen=True, eq=False)
class LabelWalks:
    """Where walks from the labels end."""

    ends: FloatArray
    cluster: IntArray
    weight: FloatArray

    def shares(self, groups: IntArray, n_groups: int) -> FloatArray:
        """Return p of shape (n_labels, n_groups): the chance that the walk of a label ends in a group."""
        return np.asarray(cluster_sums(self.ends, groups, n_groups)).T

    def likelihood(self, labels: IntArray, n_clusters: int) -> float:
        """Return Σ_j w_j log p_{j, c_j}."""
        return self.likelihood_of(self.shares(labels, n_clusters)[np.arange(len(self.cluster)), self.cluster])

    def likelihood_of(self, reached: FloatArray) -> float:
        """Return the same, where the chance p_{j, c_j} of every label is known."""
        return float(self.weight @ np.log(reached + BY_CHANCE))

    def named(self, labels: IntArray, n_clusters: int) -> IntArray:
        """Return the same clusters under their likeliest names."""
        return likeliest_names(self, self.shares(labels, n_clusters), n_clusters)[labels]


def walks_from_labels(signed: SignedGraph, anchors: Anchors) -> LabelWalks:
    """Return where walks from the anchors end."""
    starts = np.zeros((signed.n_nodes, len(anchors.points)))
    starts[anchors.points, np.arange(len(anchors.points))] = 1.0
    # D^{-1/2} K D^{1/2}, read from its rows.
    ends = heat_filter(NAMING_TIME)(signed.laplacian, signed.scale[:, None] * starts)
    ends *= np.sqrt(signed.degrees)[:, None]
    ends[anchors.points] = 0.0
    return LabelWalks(np.maximum(ends, 0.0), anchors.cluster, anchors.weight / anchors.weight.max())


def likeliest_names(walks: LabelWalks, shares: FloatArray, n_clusters: int) -> IntArray:
    """Return the name of every cluster: the matching of clusters to classes of greatest likelihood."""
    evidence = np.zeros((n_clusters, n_clusters))
    np.add.at(evidence, walks.cluster, walks.weight[:, None] * np.log(shares + BY_CHANCE))
    name, found = linear_sum_assignment(evidence, maximize=True)
    names = np.empty(n_clusters, dtype=np.intp)
    names[found] = name
    return names


@dataclass(frozen=True, eq=False)
class NamedJoining(Joining):
    """The joining of pieces to clusters that have names, as far as steps of one piece find it."""

    walks: LabelWalks
    ends: FloatArray
    weight: float

    def value(self, cluster: IntArray) -> float:
        """Return F of a joining."""
        return super().value(cluster) + self.weight * self.walks.likelihood_of(self._reached(cluster))

    def raised(self, cluster: IntArray) -> IntArray:
        """Name the clusters, then move the piece that gains most by it, until none gains."""
        members = np.eye(self.n_clusters)[cluster]
        return super().raised(likeliest_names(self.walks, self.ends @ members, self.n_clusters)[cluster])

    def gains(self, cluster: IntArray) -> FloatArray:
        """Return what F gains if one piece moves, for every piece and cluster; -inf where one is emptied."""
        reached = self._reached(cluster) + BY_CHANCE
        strength = self.weight * self.walks.weight[:, None]
        of_class = np.eye(self.n_clusters)[self.walks.cluster]
        joined = (strength * np.log1p(self.ends / reached[:, None])).T @ of_class
        is_left = self.walks.cluster[:, None] == cluster
        rest = np.where(is_left, reached[:, None] - self.ends, reached[:, None])
        left = (strength * np.log(np.maximum(rest, BY_CHANCE) / reached[:, None])).sum(axis=0)
        told = joined + left[:, None]
        told[np.arange(len(cluster)), cluster] = 0.0
        return np.asarray(super().gains(cluster) + told)

    def _reached(self, cluster: IntArray) -> FloatArray:
        """Return p_{j, c_j}."""
        return np.asarray((self.ends * (cluster == self.walks.cluster[:, None])).sum(axis=1))


def join_named_pieces(
    pieces: Pieces, walks: LabelWalks, n_clusters: int, rng: np.random.RandomState
) -> list[IntArray]:
    """Return up to two clusterings whose clusters have the names of labels, with and without price of sizes.

    See `sidecut.methods.poisson.starts.join_pieces`, which takes pairs.
    """
    n_points, n_pieces = len(pieces.piece), len(pieces.heat)
    if n_pieces < n_clusters:
        return []
    sizes = np.bincount(pieces.piece).astype(np.float64)
    ends, weight = walks.shares(pieces.piece, n_pieces), LABEL_WEIGHT * n_points
    pull = np.zeros_like(pieces.heat)
    joinings = [
        NamedJoining(pull, pieces.heat, sizes, n_clusters, worth, walks, ends, weight)
        for worth in worths(n_points, n_clusters)
    ]
    return best_clusterings(joinings, pieces.piece, rng)
