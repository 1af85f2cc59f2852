"""A first clustering around seeds, where some clusters have none."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse.linalg import LinearOperator
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from sidecut.checks import FloatArray, IntArray
from sidecut.constraints.closure import Seeds
from sidecut.labelling import unit_rows
from sidecut.methods.poisson.equation import DENSE_NODES, SignedGraph, diffusion_filter
from sidecut.spectral import laplacian_eigenpairs
from sidecut.spectral.lanczos import largest_eigenvectors

#: Time of the diffusion that finds the most typical point of a cluster, and of walks from labels.
WALK_TIME = 10.0


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
