"""First clusterings where labels are missing or few: pieces of the graph, joined to clusters.

The graph is cut into pieces a of n_a points. G_ab = <u_a, e^{-tA} u_b> is what pieces exchange by diffusion.
Pieces are joined to clusters z so that the objective is large:

    F(z) = λ N M Σ Q_ij [z_i = z_j] / Σ |Q_ij| + Σ_c g(A_c, n_c)             for M independent pairs,
    F(z) = λ N Σ_j w_j log p_{j, c_j} + Σ_c g(A_c, n_c)                      for labels c_j,

where A_c and n_c are the sums of G and of points within cluster c. A random walk from label j ends in cluster
c with the chance p_jc = Σ_a h_ja [z_a = c]; labelled points are left out as ends. So one label of each class
need not say where a class ends, only which cluster it is: the likeliest names of clusters are a matching.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse.linalg import LinearOperator
from scipy.special import gammaln
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from sidecut.checks import FloatArray, IntArray
from sidecut.constraints import ConstraintFolds, Constraints
from sidecut.constraints.closure import Seeds
from sidecut.constraints.folds import held_out_agreement
from sidecut.exceptions import SidecutWarning
from sidecut.graphs import Graph
from sidecut.labelling import kmeans_labels, unit_rows
from sidecut.labelling.labels import cluster_sums, informative_rows
from sidecut.methods.poisson.equation import (
    DENSE_NODES,
    MAX_COLUMNS,
    SignedGraph,
    diffusion_dtype,
    diffusion_filter,
)
from sidecut.spectral import laplacian_eigenpairs
from sidecut.spectral.lanczos import largest_eigenvectors

#: λ: weight of a pair or label, as a share of the diffusion of all points. This and all numbers of this file
#: were set on digits, pendigits and USPS, as it is and thinned out, in draws that no table of accuracy shows.
LINK_SHARE = 0.004
#: t: time of the diffusion between pieces.
EXCHANGE_TIME = 4.0
#: τ: penalty on uneven sizes in the first objective.
SIZE_PENALTY = 0.4
#: A graph in more components than this is cut into pieces by eigenvectors: joining takes long with many.
MAX_PARTS = 1_000
#: Smallest gain of a move, relative to the number of points; smaller ones are rounding.
MIN_GAIN = 1e-9
#: Chance that a label is where it is for a reason that the graph does not show.
MIN_WALK_CHANCE = 1e-3

Objective = Callable[[FloatArray, FloatArray], FloatArray]
#: Time of the diffusion that finds the most typical point of a cluster, and of walks from labels.
WALK_TIME = 10.0


class Pieces(NamedTuple):
    """A graph in pieces: the piece of every point, and G, what pieces exchange."""

    piece: IntArray
    exchange: FloatArray


def join_pieces(
    pieces: Pieces, constraints: Constraints, n_clusters: int, rng: np.random.RandomState
) -> list[IntArray]:
    """Return two clusterings of the graph: the best joinings of its pieces by pairs, even and of any size."""
    return [joining.best(rng)[pieces.piece] for joining in _joinings(pieces, constraints, n_clusters)]


def predict_links(pieces: Pieces, constraints: Constraints, n_clusters: int, plain: IntArray) -> list[bool]:
    """Tell for each joining whether it agrees with links held out as clusters without links do."""
    # Where links are few for the pieces they join pieces that have nothing else in common: then they agree
    # with those that joined them, and with no others. A joining may be worse by the root of 1 / (number of
    # pairs).
    folds = list(ConstraintFolds(4, random_state=0).split(constraints))
    joined = [
        [
            joining.raised(joining.greedy())[pieces.piece]
            for joining in _joinings(pieces, fold.train, n_clusters)
        ]
        for fold in folds
    ]
    by_graph = held_out_agreement(folds, [plain] * len(folds))
    allowed = 1.0 / np.sqrt(max(constraints.n_independent_pairs, 1))
    return [held_out_agreement(folds, found) + allowed >= by_graph for found in zip(*joined, strict=True)]


def _joinings(pieces: Pieces, constraints: Constraints, n_clusters: int) -> list[Joining]:
    """Return one joining of pieces by pairs for each objective; none of fewer pieces than clusters."""
    piece, exchange = pieces
    if len(exchange) < n_clusters:
        return []
    sizes = np.bincount(piece).astype(np.float64)
    pull = LINK_SHARE * len(piece) * constraints.n_independent_pairs * pull_of_links(piece, constraints)
    return [
        Joining(pull, exchange, sizes, n_clusters, objective)
        for objective in objectives(len(piece), n_clusters)
    ]


def join_named_pieces(
    pieces: Pieces, walks: LabelWalks, n_clusters: int, rng: np.random.RandomState
) -> list[IntArray]:
    """Return up to two clusterings whose clusters have the names of labels: joinings of pieces by labels."""
    n_points, n_pieces = len(pieces.piece), len(pieces.exchange)
    if n_pieces < n_clusters:
        return []
    sizes = np.bincount(pieces.piece).astype(np.float64)
    ends, weight = walks.shares(pieces.piece, n_pieces), LINK_SHARE * n_points
    pull = np.zeros_like(pieces.exchange)
    joinings = [
        NamedJoining(pull, pieces.exchange, sizes, n_clusters, objective, walks, ends, weight)
        for objective in objectives(n_points, n_clusters)
    ]
    return different(joining.best(rng)[pieces.piece] for joining in joinings)


def find_pieces(
    graph: Graph, n_clusters: int, n_pairs: int, eigen_solver: str, rng: np.random.RandomState
) -> Pieces:
    """Cut the graph into pieces by k-means in D^{-1/2} V, V up to three eigenvectors per cluster."""
    # There may be fewer pieces than wanted, if points look alike. A graph in more components is in pieces.
    n_wanted = number_of_pieces(graph.n_nodes, n_clusters, n_pairs)
    if n_wanted <= graph.n_components <= MAX_PARTS and not graph.isolated.size:
        return Pieces(graph.components, np.diag(diffusion_within(graph)))
    n_vectors = max(n_clusters, min(3 * n_clusters, 100, graph.n_nodes))
    found = laplacian_eigenpairs(graph, n_vectors, solver=eigen_solver, accuracy="rough", random_state=rng)
    rows = unit_rows(SignedGraph(graph).scale[:, None] * found.vectors)
    # 200 rows per piece are enough to find the centres.
    fit_rows, usable = None, np.flatnonzero(informative_rows(rows))
    if len(usable) > 200 * n_wanted:
        fit_rows = np.zeros(len(rows), dtype=bool)
        fit_rows[rng.choice(usable, 200 * n_wanted, replace=False)] = True
    with warnings.catch_warnings(action="ignore", category=SidecutWarning):
        piece = kmeans_labels(rows, n_wanted, n_init=1, fit_rows=fit_rows, random_state=rng)
    return Pieces(piece, diffusion_between(graph, piece))


def number_of_pieces(n_points: int, n_clusters: int, n_pairs: int) -> int:
    """Return one piece per ten pairs, five to ten per cluster, of five points or more on average."""
    number = np.clip(n_pairs // 10, 5 * n_clusters, 10 * n_clusters)
    return int(max(min(number, n_points // 5), n_clusters))


def diffusion_between(graph: Graph, piece: IntArray) -> FloatArray:
    """Return G_ab = <u_a, e^{-tA} u_b>."""
    n_pieces = int(piece.max()) + 1
    diffuse, signed = diffusion_filter(EXCHANGE_TIME), SignedGraph(graph)
    exchange = np.empty((n_pieces, n_pieces))
    for first in range(0, n_pieces, MAX_COLUMNS):
        some = np.arange(first, min(first + MAX_COLUMNS, n_pieces))
        arrived = diffuse(signed, (piece[:, None] == some).astype(diffusion_dtype(graph.n_nodes)))
        exchange[:, some] = cluster_sums(arrived, piece, n_pieces)
    return 0.5 * (exchange + exchange.T)


def diffusion_within(graph: Graph) -> FloatArray:
    """Return G_aa = <u_a, e^{-tA} u_a> of the components, which exchange nothing: of all at once."""
    ones = np.ones((graph.n_nodes, 1), dtype=diffusion_dtype(graph.n_nodes))
    arrived = diffusion_filter(EXCHANGE_TIME)(SignedGraph(graph), ones)
    return np.bincount(graph.components, weights=arrived[:, 0]).astype(np.float64)


def pull_of_links(piece: IntArray, constraints: Constraints) -> FloatArray:
    """Return Σ Q_ij / Σ |Q_ij| over the pairs between two pieces, each pair once, in both triangles."""
    links, points = constraints.with_diagonal(0.0).restricted()
    own, n_pieces = piece[points], int(piece.max()) + 1
    strengths = links.must_part().total() - 0.5 * links.total()
    # Some columns at a time: of a thousand pieces all would take too much memory.
    pull = [
        cluster_sums(links.apply((own[:, None] == some).astype(np.float64)), own, n_pieces)
        for some in np.array_split(np.arange(n_pieces), -(-n_pieces // MAX_COLUMNS))
    ]
    return np.hstack(pull) / (strengths or 1.0)


def objectives(n_points: int, n_clusters: int) -> tuple[Objective, Objective]:
    """Return two functions g(A, n) of the diffusion within a cluster and its size."""
    # ½ A - τ log(n! / (N/k)^n) is minus the energy of `descent` at even shares. (N / 2k) A / n, the
    # normalised association, does not penalise uneven sizes. At even sizes they agree up to a constant.
    even = n_points / n_clusters

    def less_energy(within: FloatArray, size: FloatArray) -> FloatArray:
        return 0.5 * within - SIZE_PENALTY * (gammaln(size + 1.0) - size * np.log(even))

    def association(within: FloatArray, size: FloatArray) -> FloatArray:
        return 0.5 * even * within / np.maximum(size, 1.0)

    return less_energy, association


def different(clusterings: Iterable[IntArray]) -> list[IntArray]:
    """Return the clusterings without repetitions."""
    return list({labels.tobytes(): labels for labels in clusterings}.values())


@dataclass(frozen=True, eq=False)
class Joining:
    """The joining of pieces to clusters that maximises F by pairs, found by steps of one piece."""

    pull: FloatArray
    exchange: FloatArray
    sizes: FloatArray
    n_clusters: int
    objective: Objective

    def value(self, cluster: IntArray) -> float:
        """Return F of a joining."""
        members = np.eye(self.n_clusters)[cluster]
        within = np.einsum("ac,ab,bc->c", members, self.exchange, members)
        pull = np.einsum("ac,ab,bc->", members, self.pull, members)
        return float(0.5 * pull + self.objective(within, self.sizes @ members).sum())

    def best(self, rng: np.random.RandomState) -> IntArray:
        """Return the best joining of local searches from 21 starts; every cluster has a piece."""
        best = self.raised(self.greedy())
        value = self.value(best)
        for _ in range(20 if len(self.sizes) > self.n_clusters > 1 else 0):
            other = self.raised(self._changed(best, rng))
            if (gained := self.value(other)) > value + MIN_GAIN * self.sizes.sum():
                best, value = other, gained
        return best

    def greedy(self) -> IntArray:
        """Join the two groups with the largest gain until there are as many as clusters."""
        pull, exchange, sizes = self.pull.copy(), self.exchange.copy(), self.sizes.copy()
        group, left = np.arange(len(sizes)), np.ones(len(sizes), dtype=bool)

        def gains(some: Any) -> FloatArray:
            within = np.diag(exchange)
            both = self.objective(
                within[some, None] + within + 2.0 * exchange[some], sizes[some, None] + sizes
            )
            alone = self.objective(within, sizes)
            return np.asarray(pull[some] + both - alone[some, None] - alone)

        gain = gains(slice(None))
        np.fill_diagonal(gain, -np.inf)
        for _ in range(len(sizes) - self.n_clusters):
            kept, gone = sorted(np.unravel_index(np.argmax(gain), gain.shape))
            group[group == gone] = kept
            for matrix in (pull, exchange):
                matrix[kept] += matrix[gone]
                matrix[:, kept] += matrix[:, gone]
            sizes[kept] += sizes[gone]
            left[gone] = False
            gain[gone] = gain[:, gone] = -np.inf
            # Only the gains of the new group have changed.
            others = left & (group != kept)
            gain[kept, others] = gain[others, kept] = gains([kept])[0, others]
        return np.unique(group, return_inverse=True)[1]

    def raised(self, cluster: IntArray) -> IntArray:
        """Move the piece with the largest gain until no move gains; no cluster is emptied."""
        cluster = cluster.copy()
        while True:
            gains = self.gains(cluster)
            piece, target = np.unravel_index(np.argmax(gains), gains.shape)
            if not gains[piece, target] > MIN_GAIN * self.sizes.sum():
                return cluster
            cluster[piece] = target

    def gains(self, cluster: IntArray) -> FloatArray:
        """Return the gain of F if one piece moves, for every piece and cluster; -inf where one is emptied."""
        pieces = np.arange(len(cluster))
        members = np.eye(self.n_clusters)[cluster]
        # Sums over the other pieces of every cluster.
        pull = self.pull @ members - np.diag(self.pull)[:, None] * members
        exchange = self.exchange @ members - np.diag(self.exchange)[:, None] * members
        within, sizes = np.einsum("ac,ac->c", members, self.exchange @ members), self.sizes @ members
        own, own_size = np.diag(self.exchange), self.sizes
        joined = self.objective(within + 2.0 * exchange + own[:, None], sizes + own_size[:, None])
        gained = pull + joined - self.objective(within, sizes)
        left = within[cluster] - 2.0 * exchange[pieces, cluster] - own
        lost = self.objective(within, sizes)[cluster] - self.objective(left, sizes[cluster] - own_size)
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
        affinity = self.pull + self.exchange
        changed[members[affinity[members, leaves] > affinity[members, stays]]] = gone
        changed[leaves], changed[stays] = gone, cut
        return changed


@dataclass(frozen=True, eq=False)
class LabelWalks:
    """The ends of random walks from the labels: one column per label."""

    ends: FloatArray
    cluster: IntArray
    weight: FloatArray

    def shares(self, groups: IntArray, n_groups: int) -> FloatArray:
        """Return p of shape (n_labels, n_groups): the chance that the walk of a label ends in a group."""
        return np.asarray(cluster_sums(self.ends, groups, n_groups)).T

    def likelihood(self, labels: IntArray, n_clusters: int) -> float:
        """Return Σ_j w_j log p_{j, c_j}."""
        own = self.shares(labels, n_clusters)[np.arange(len(self.cluster)), self.cluster]
        return float(self.weight @ np.log(own + MIN_WALK_CHANCE))

    def names(self, shares: FloatArray) -> IntArray:
        """Return the name of every cluster: the matching of clusters to classes of greatest likelihood."""
        n_clusters = shares.shape[1]
        evidence = np.zeros((n_clusters, n_clusters))
        np.add.at(evidence, self.cluster, self.weight[:, None] * np.log(shares + MIN_WALK_CHANCE))
        name, found = linear_sum_assignment(evidence, maximize=True)
        names = np.empty(n_clusters, dtype=np.intp)
        names[found] = name
        return names


def walks_from_labels(signed: SignedGraph, seeds: Seeds) -> LabelWalks:
    """Return the ends of walks from the seeds: columns of D^{1/2} e^{-tA} D^{-1/2}, 0 at seeds."""
    starts = np.zeros((signed.n_nodes, len(seeds.points)))
    starts[seeds.points, np.arange(len(seeds.points))] = 1.0
    ends = diffusion_filter(WALK_TIME)(signed, signed.scale[:, None] * starts)
    ends *= np.sqrt(signed.degrees)[:, None]
    ends[seeds.points] = 0.0
    return LabelWalks(np.maximum(ends, 0.0), seeds.cluster, seeds.weight / seeds.weight.max())


@dataclass(frozen=True, eq=False)
class NamedJoining(Joining):
    """The joining of pieces to clusters with names that maximises F by labels."""

    walks: LabelWalks
    ends: FloatArray
    weight: float

    def value(self, cluster: IntArray) -> float:
        """Return F of a joining."""
        log_chances = np.log(self._reached(cluster) + MIN_WALK_CHANCE)
        return super().value(cluster) + self.weight * float(self.walks.weight @ log_chances)

    def raised(self, cluster: IntArray) -> IntArray:
        """Name the clusters, then move the piece with the largest gain until no move gains."""
        members = np.eye(self.n_clusters)[cluster]
        return super().raised(self.walks.names(self.ends @ members)[cluster])

    def gains(self, cluster: IntArray) -> FloatArray:
        """Return the gain of F if one piece moves, for every piece and cluster; -inf where one is emptied."""
        reached = self._reached(cluster) + MIN_WALK_CHANCE
        strength = self.weight * self.walks.weight[:, None]
        of_class = np.eye(self.n_clusters)[self.walks.cluster]
        joined = (strength * np.log1p(self.ends / reached[:, None])).T @ of_class
        is_left = self.walks.cluster[:, None] == cluster
        rest = np.where(is_left, reached[:, None] - self.ends, reached[:, None])
        left = (strength * np.log(np.maximum(rest, MIN_WALK_CHANCE) / reached[:, None])).sum(axis=0)
        by_labels = joined + left[:, None]
        by_labels[np.arange(len(cluster)), cluster] = 0.0
        return np.asarray(super().gains(cluster) + by_labels)

    def _reached(self, cluster: IntArray) -> FloatArray:
        """Return p_{j, c_j}."""
        return np.asarray((self.ends * (cluster == self.walks.cluster[:, None])).sum(axis=1))


def signed_embedding(
    signed: SignedGraph, n_vectors: int, eigen_solver: str, rng: np.random.RandomState
) -> FloatArray:
    """Return rows of D^{-1/2} V of length one, V the eigenvectors of the smallest eigenvalues of A."""
    n_nodes = signed.n_nodes
    if not signed.has_links:
        pairs = laplacian_eigenpairs(signed.graph, n_vectors, solver=eigen_solver, random_state=rng)
        vectors = pairs.vectors
    elif n_nodes <= max(DENSE_NODES, 2 * n_vectors):
        vectors = np.linalg.eigh(signed.affinity(np.eye(n_nodes)))[1][:, ::-1][:, :n_vectors]
    else:
        operator = LinearOperator(
            (n_nodes, n_nodes), lambda vector: signed.affinity(vector.reshape(-1, 1))[:, 0], dtype=np.float64
        )
        start = rng.uniform(-1.0, 1.0, n_nodes)
        # Eigenvectors of a start need not be exact.
        vectors = largest_eigenvectors(operator, n_vectors, start, rng, tolerance=1e-4)
    return unit_rows(signed.scale[:, None] * vectors)


def seeded_clusters(
    rows: FloatArray, seeds: Seeds, n_clusters: int, n_init: int, rng: np.random.RandomState
) -> IntArray:
    """Cluster rows by k-means; seeded clusters start at their seeds, the others far from all."""
    # Of all starts the one is kept in which most seeds lie in their own cluster, then the one of least
    # inertia.
    best: IntArray = np.zeros(len(rows), dtype=np.intp)
    least = (np.inf, np.inf)
    for _ in range(n_init if seeds.n_seeded < n_clusters else 1):
        centres = _first_centres(rows, seeds, n_clusters, rng)
        model = KMeans(n_clusters, init=centres, n_init=1, random_state=rng.randint(2**31))
        with warnings.catch_warnings():
            # A warning about the data or the graph has named fewer different rows than clusters already.
            warnings.simplefilter("ignore", ConvergenceWarning)
            labels = model.fit_predict(rows)
        labels = number_by_seeds(labels, seeds, n_clusters)
        cost = (float(np.count_nonzero(labels[seeds.points] != seeds.cluster)), float(model.inertia_))
        if cost < least:
            best, least = labels, cost
    best[seeds.points] = seeds.cluster
    return best


def number_by_seeds(labels: IntArray, seeds: Seeds, n_clusters: int) -> IntArray:
    """Number clusters so that as many seeds as possible lie in their own cluster."""
    # k-means may carry a centre away from the seeds it started at.
    held = np.zeros((n_clusters, n_clusters))
    np.add.at(held, (labels[seeds.points], seeds.cluster), 1.0)
    found, number = linear_sum_assignment(held, maximize=True)
    renumbered = np.empty(n_clusters, dtype=np.intp)
    renumbered[found] = number
    return renumbered[labels]


def _first_centres(rows: FloatArray, seeds: Seeds, n_clusters: int, rng: np.random.RandomState) -> FloatArray:
    """Return the means of seeds, then rows drawn by their squared distance to the nearest (k-means++)."""
    centres = [rows[seeds.points[seeds.cluster == c]].mean(axis=0) for c in range(seeds.n_seeded)]
    while len(centres) < n_clusters:
        squared = np.ones(len(rows))
        if centres:
            squared = np.min([np.square(rows - centre).sum(axis=1) for centre in centres], axis=0)
        total = squared.sum()
        chance = squared / total if total > 0 else np.full(len(rows), 1.0 / len(rows))
        centres.append(rows[rng.choice(len(rows), p=chance)])
    return np.stack(centres)


def add_typical_points(signed: SignedGraph, labels: IntArray, seeds: Seeds, n_clusters: int) -> Seeds:
    """Return the seeds, and for clusters without any the points where most of their diffusion stays."""
    missing = np.arange(seeds.n_seeded, n_clusters)
    per_cluster = np.bincount(seeds.cluster, minlength=1).max() if len(seeds.points) else 1
    member = (labels[:, None] == missing).astype(np.float64)
    diffused = np.where(member > 0, diffusion_filter(WALK_TIME)(signed, member), -np.inf)
    points, clusters, weights = [seeds.points], [seeds.cluster], [seeds.weight]
    for column, cluster in enumerate(missing):
        size = np.count_nonzero(member[:, column])
        typical = np.argsort(-diffused[:, column], kind="stable")[: min(per_cluster, size)]
        points.append(typical)
        clusters.append(np.full(len(typical), cluster))
        weights.append(np.ones(len(typical)))
    order = np.argsort(np.concatenate(points), kind="stable")
    return Seeds(
        np.concatenate(points)[order], np.concatenate(clusters)[order], np.concatenate(weights)[order]
    )
