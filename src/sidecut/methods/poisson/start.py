"""A first clustering where not every cluster has an anchor: k-means in the leading eigenvectors, seeded."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse.linalg import LinearOperator
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from sidecut.arrays import FloatArray, IntArray
from sidecut.labelling import unit_rows
from sidecut.methods.poisson.anchors import Anchors
from sidecut.methods.poisson.heat import heat_filter
from sidecut.methods.poisson.signed_graph import SignedGraph
from sidecut.spectral import laplacian_eigenpairs
from sidecut.spectral.lanczos import largest_eigenvectors

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

    Returns
    -------
    array of shape (n,)
        Anchors have the cluster they stand for.
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
        labels = _number_by_anchors(labels, anchors, n_clusters)
        cost = (float(np.count_nonzero(labels[anchors.points] != anchors.cluster)), float(model.inertia_))
        if cost < least:
            best, least = labels, cost
    best[anchors.points] = anchors.cluster
    return best


def _number_by_anchors(labels: IntArray, anchors: Anchors, n_clusters: int) -> IntArray:
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
