"""Seeds: points whose cluster the constraints determine, and a first clustering where clusters have none."""

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
from sidecut.methods.poisson.equation import DENSE_NODES, SignedGraph, contract_links, diffusion_filter
from sidecut.spectral import laplacian_eigenpairs
from sidecut.spectral.lanczos import largest_eigenvectors

#: Time of the diffusion that finds the most typical point of a cluster, and of walks from labels.
WALK_TIME = 10.0


@dataclass(frozen=True, eq=False)
class Seeds:
    """Points whose cluster is known."""

    points: IntArray
    cluster: IntArray
    weight: FloatArray

    @property
    def n_seeded(self) -> int:
        """The number of clusters that have a seed."""
        return int(self.cluster.max(initial=-1)) + 1

    def indicator(self, n_points: int, n_clusters: int) -> FloatArray:
        """Return the sources Y: the weight of every seed in the column of its cluster."""
        sources = np.zeros((n_points, n_clusters))
        sources[self.points, self.cluster] = self.weight
        return sources


def find_seeds(constraints: Constraints, n_clusters: int) -> Seeds:
    """Return the seeds that the constraints name, or none where these are pairs rather than labels.

    Labels say that the points of a class are together and that classes are apart. In any form this shows as
    must-linked sets that are pairwise apart (`_sets_apart`). The numbers of their clusters are arbitrary. If
    they are less than half of the clusters, and hold less than half of the constrained points, the
    constraints are pairs, and there are no seeds.
    """
    sets = contract_links(constraints)
    chosen = _sets_apart(sets, constraints, n_clusters)
    if len(chosen) > n_clusters:
        warn(
            f"The constraints name {len(chosen)} or more sets of points that are all apart, but "
            f"n_clusters={n_clusters}: they cannot all have a cluster of their own and are used as pairs. "
            f"Choose n_clusters >= {len(chosen)}.",
            ConstraintWarning,
        )
    held = np.count_nonzero(np.isin(sets.component, chosen))
    are_pairs = 2 * len(chosen) < n_clusters and 2 * held < len(sets.points)
    if are_pairs or len(chosen) > n_clusters:
        chosen = []
    # A set is numbered by its first point, so clusters are numbered in the order of the points.
    number = np.full(sets.n_components, -1, dtype=np.int64)
    number[np.sort(np.array(chosen, dtype=np.intp))] = np.arange(len(chosen))
    cluster = number[sets.component]
    points, cluster = sets.points[cluster >= 0], cluster[cluster >= 0]
    return Seeds(points, cluster, _seed_weights(constraints, points, cluster))


def _sets_apart(sets: Components, constraints: Constraints, n_clusters: int) -> list[int]:
    """Return sets that are pairwise apart, labels first, at most one more than there are clusters."""
    sizes = np.bincount(sets.component, minlength=sets.n_components)
    ends = np.concatenate([sets.apart, sets.apart[:, ::-1]])
    order = np.argsort(ends[:, 0], kind="stable")
    starts = np.searchsorted(ends[order, 0], np.arange(sets.n_components + 1))
    labels = constraints.labels
    is_labelled = np.zeros(sets.n_components, dtype=bool)
    if labels is not None:
        is_labelled[sets.component[labels[sets.points] >= 0]] = True
    # Greedily: labels, then the sets that are apart from most others, then the largest.
    left = np.lexsort((-sizes, -np.diff(starts), ~is_labelled))
    chosen: list[int] = []
    while len(left) and len(chosen) <= n_clusters:
        one = int(left[0])
        chosen.append(one)
        is_apart = np.zeros(sets.n_components, dtype=bool)
        is_apart[ends[order[starts[one] : starts[one + 1]], 1]] = True
        left = left[is_apart[left]]
    return chosen


def _seed_weights(constraints: Constraints, points: IntArray, cluster: IntArray) -> FloatArray:
    """Return the strength of each seed: the strongest of its relations to the first seed of any cluster."""
    strength = np.zeros(len(points))
    for first in np.unique(cluster, return_index=True)[1]:
        there = np.full(len(points), points[first])
        strength = np.maximum(strength, np.abs(constraints.entries(points, there)) * (points != there))
    # A single label, or a point joined to a seed by links to others of its set, has no such relation.
    largest = constraints.largest_strength()
    return np.where(strength > 0, strength, largest if largest > 0 else 1.0)


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
    """Cluster rows by k-means; seeded clusters start at their seeds, the others far from all.

    Of all starts the one is kept in which most seeds lie in their own cluster, then the one of least inertia.
    """
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
    """Number clusters so that as many seeds as possible lie in their own cluster.

    k-means may carry a centre away from the seeds it started at.
    """
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
    diffused = np.where(member > 0, diffusion_filter(WALK_TIME)(signed.laplacian, member), -np.inf)
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
