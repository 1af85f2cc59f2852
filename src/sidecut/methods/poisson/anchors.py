"""Which points stand for which cluster: sets of must-linked points that are all apart from one another."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse.linalg import LinearOperator
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from sidecut.checks import FloatArray, IntArray
from sidecut.constraints import Components, Constraints
from sidecut.exceptions import ConstraintWarning, warn
from sidecut.labelling import unit_rows
from sidecut.methods.poisson.equation import SignedGraph, contract_beliefs, heat_filter
from sidecut.spectral import laplacian_eigenpairs
from sidecut.spectral.lanczos import largest_eigenvectors


@dataclass(frozen=True, eq=False)
class Anchors:
    """Points whose cluster is known."""

    points: IntArray
    cluster: IntArray
    weight: FloatArray

    @property
    def n_anchored(self) -> int:
        """How many clusters have an anchor."""
        return int(self.cluster.max(initial=-1)) + 1

    def indicator(self, n_points: int, n_clusters: int) -> FloatArray:
        """Return the sources Y: the weight of every anchor in the column of its cluster."""
        sources = np.zeros((n_points, n_clusters))
        sources[self.points, self.cluster] = self.weight
        return sources

    def and_also(self, points: IntArray, cluster: IntArray) -> Anchors:
        """Return these and further anchors of weight 1."""
        everyone = np.concatenate([self.points, points])
        order = np.argsort(everyone, kind="stable")
        clusters = np.concatenate([self.cluster, cluster])
        weights = np.concatenate([self.weight, np.ones(len(points))])
        return Anchors(everyone[order], clusters[order], weights[order])


def find_anchors(constraints: Constraints, n_clusters: int) -> Anchors:
    """Return the anchors that constraints name, or none where they are pairs rather than labels.

    Labels say that the points of a class are together and that classes are apart. Whatever form such
    knowledge has, it shows as must-linked sets that are pairwise apart. Labels are taken first, then the sets
    that are apart from most others, and
    a set joins if it is apart from all before it. Naming the clusters of such sets takes nothing away, since
    names are arbitrary. Where they are less than half of the clusters and hold less than half of the points
    about which something is known, the knowledge is pairs, and there are no anchors.
    """
    sets = contract_beliefs(constraints)
    chosen = _sets_apart(sets, constraints, n_clusters)
    if len(chosen) > n_clusters:
        warn(
            f"the constraints name {len(chosen)} or more sets of points that are all apart, but "
            f"n_clusters={n_clusters}: they cannot all have a cluster of their own and are taken as pairs. "
            f"Choose n_clusters >= {len(chosen)}.",
            ConstraintWarning,
        )
    held = np.count_nonzero(np.isin(sets.component, chosen))
    are_pairs = 2 * len(chosen) < n_clusters and 2 * held < len(sets.points)
    if are_pairs or len(chosen) > n_clusters:
        chosen = []
    return _anchors_of(sets, chosen, constraints)


def _sets_apart(sets: Components, constraints: Constraints, n_clusters: int) -> list[int]:
    """Return sets that are pairwise apart, labels first, at most one more than there are clusters."""
    sizes = np.bincount(sets.component, minlength=sets.n_components)
    ends = np.concatenate([sets.apart, sets.apart[:, ::-1]])
    order = np.argsort(ends[:, 0], kind="stable")
    starts = np.searchsorted(ends[order, 0], np.arange(sets.n_components + 1))
    labels = constraints.labels
    is_grouped = np.zeros(sets.n_components, dtype=bool)
    if labels is not None:
        is_grouped[sets.component[labels[sets.points] >= 0]] = True
    # What is apart from most others fits best; a class of labels is apart from all other classes.
    left = np.lexsort((-sizes, -np.diff(starts), ~is_grouped))
    chosen: list[int] = []
    while len(left) and len(chosen) <= n_clusters:
        one = int(left[0])
        chosen.append(one)
        is_enemy = np.zeros(sets.n_components, dtype=bool)
        is_enemy[ends[order[starts[one] : starts[one + 1]], 1]] = True
        left = left[is_enemy[left]]
    return chosen


def _anchors_of(sets: Components, chosen: list[int], constraints: Constraints) -> Anchors:
    # A set's number counts from its first point, so clusters are numbered as the points meet them.
    number = np.full(sets.n_components, -1, dtype=np.int64)
    number[np.sort(np.array(chosen, dtype=np.intp))] = np.arange(len(chosen))
    cluster = number[sets.component]
    points = sets.points[cluster >= 0]
    cluster = cluster[cluster >= 0]
    return Anchors(points, cluster, _beliefs(constraints, points, cluster))


def _beliefs(constraints: Constraints, points: IntArray, cluster: IntArray) -> FloatArray:
    """Return how firmly each anchor is believed: the strongest relation to the first of any cluster."""
    strength = np.zeros(len(points))
    for first in np.unique(cluster, return_index=True)[1]:
        there = np.full(len(points), points[first])
        strength = np.maximum(strength, np.abs(constraints.entries(points, there)) * (points != there))
    # The only label of all, or points joined to an anchor by links to others of its set.
    largest = constraints.largest_strength()
    return np.where(strength > 0, strength, largest if largest > 0 else 1.0)


# A first clustering where not every cluster has an anchor: k-means in the leading eigenvectors, seeded.


#: Up to so many points all eigenvectors are computed.
DENSE_NODES = 500
#: Eigenvectors of a start need not be exact.
TOLERANCE = 1e-4
#: How long heat flows to find the middle of a cluster.
TYPICAL_TIME = 10.0


def signed_embedding(
    signed: SignedGraph, n_vectors: int, eigen_solver: str, rng: np.random.RandomState
) -> FloatArray:
    """Return rows of D^{-1/2} V of length one, V the eigenvectors of the smallest eigenvalues of A."""
    if not signed.has_links:
        pairs = laplacian_eigenpairs(signed.graph, n_vectors, solver=eigen_solver, random_state=rng)
        vectors = pairs.vectors
    elif signed.n_nodes <= max(DENSE_NODES, 2 * n_vectors):
        vectors = np.linalg.eigh(signed.affinity(np.eye(signed.n_nodes)))[1][:, ::-1][:, :n_vectors]
    else:
        vectors = _leading_vectors(signed, n_vectors, rng)
    return unit_rows(signed.scale[:, None] * vectors)


def _leading_vectors(signed: SignedGraph, n_vectors: int, rng: np.random.RandomState) -> FloatArray:
    def apply(vector: FloatArray) -> FloatArray:
        return signed.affinity(vector.reshape(-1, 1))[:, 0]

    shape = (signed.n_nodes, signed.n_nodes)
    operator = LinearOperator(shape, matvec=apply, dtype=np.float64)
    start = rng.uniform(-1.0, 1.0, signed.n_nodes)
    return largest_eigenvectors(operator, n_vectors, start, rng, tolerance=TOLERANCE)


def seeded_clusters(
    rows: FloatArray, anchors: Anchors, n_clusters: int, n_init: int, rng: np.random.RandomState
) -> IntArray:
    """Cluster rows by k-means; anchored clusters start at their anchors, the others far from all.

    Of all starts the one counts in which most anchors lie in their own cluster, and of these the one of
    least inertia.
    """
    best: IntArray = np.zeros(len(rows), dtype=np.intp)
    least = (np.inf, np.inf)
    for _ in range(n_init if anchors.n_anchored < n_clusters else 1):
        centres = _first_centres(rows, anchors, n_clusters, rng)
        model = KMeans(n_clusters, init=centres, n_init=1, random_state=rng.randint(2**31))
        with warnings.catch_warnings():
            # Fewer different rows than clusters: said already, of the points or of the graph.
            warnings.simplefilter("ignore", ConvergenceWarning)
            labels = model.fit_predict(rows)
        labels = number_by_anchors(labels, anchors, n_clusters)
        cost = (float(np.count_nonzero(labels[anchors.points] != anchors.cluster)), float(model.inertia_))
        if cost < least:
            best, least = labels, cost
    best[anchors.points] = anchors.cluster
    return best


def number_by_anchors(labels: IntArray, anchors: Anchors, n_clusters: int) -> IntArray:
    """Number clusters so that as many anchors as possible lie in the cluster they stand for.

    k-means may carry a centre away from the anchors it started at.
    """
    held = np.zeros((n_clusters, n_clusters))
    np.add.at(held, (labels[anchors.points], anchors.cluster), 1.0)
    found, number = linear_sum_assignment(held, maximize=True)
    renumbered = np.empty(n_clusters, dtype=np.intp)
    renumbered[found] = number
    return renumbered[labels]


def _first_centres(
    rows: FloatArray, anchors: Anchors, n_clusters: int, rng: np.random.RandomState
) -> FloatArray:
    """Return the means of anchors, then rows drawn by their squared distance to the nearest (k-means++)."""
    centres = [rows[anchors.points[anchors.cluster == c]].mean(axis=0) for c in range(anchors.n_anchored)]
    while len(centres) < n_clusters:
        squared = np.ones(len(rows))
        if centres:
            gaps = [np.square(rows - centre).sum(axis=1) for centre in centres]
            squared = np.min(gaps, axis=0)
        total = squared.sum()
        chance = squared / total if total > 0 else np.full(len(rows), 1.0 / len(rows))
        centres.append(rows[rng.choice(len(rows), p=chance)])
    return np.stack(centres)


def add_typical_points(signed: SignedGraph, labels: IntArray, anchors: Anchors, n_clusters: int) -> Anchors:
    """Return the anchors, and for clusters without any the points that are most surrounded by their own."""
    missing = np.arange(anchors.n_anchored, n_clusters)
    per_cluster = np.bincount(anchors.cluster, minlength=1).max() if len(anchors.points) else 1
    member = (labels[:, None] == missing).astype(np.float64)
    warmth = np.where(member > 0, heat_filter(TYPICAL_TIME)(signed.laplacian, member), -np.inf)
    points, clusters = [], []
    for column, cluster in enumerate(missing):
        size = np.count_nonzero(member[:, column])
        warmest = np.argsort(-warmth[:, column], kind="stable")[: min(per_cluster, size)]
        points.append(warmest)
        clusters.append(np.full(len(warmest), cluster))
    return anchors.and_also(np.concatenate(points), np.concatenate(clusters)) if len(missing) else anchors
