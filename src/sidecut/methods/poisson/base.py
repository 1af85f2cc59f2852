"""What the methods of the Poisson family share: anchors, the signed graph, new points, confidence."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from sidecut.arrays import BoolArray, FloatArray, IntArray, to_native
from sidecut.constraints import Constraints
from sidecut.exceptions import GraphWarning, warn
from sidecut.graphs import Graph, GraphRecipe
from sidecut.labelling import assign_labels
from sidecut.methods.base import SpectralClusterer
from sidecut.methods.extension import OutOfSample, is_on_neighbors, vote_of_neighbors, weighted_means
from sidecut.methods.poisson.anchors import (
    Anchors,
    find_anchors,
    number_by_anchors,
    seeded_clusters,
    signed_embedding,
)
from sidecut.methods.poisson.equation import heat_filter
from sidecut.methods.poisson.signed_graph import SignedGraph
from sidecut.methods.safeguard import Safeguarded, is_unconstrained
from sidecut.parameters import check_not_negative

#: How long a walk lasts of which `confidence_` asks whether it ends in the same cluster.
WALK_TIME = 3.0


class PoissonClusterer(Safeguarded, OutOfSample, SpectralClusterer):
    """The base of PoissonLearning and PoissonMBO: the walk with scores of clusters as the embedding."""

    # How an unconstrained start is labelled is no parameter here.
    labelling = "kmeans"
    assign_labels = None
    unit_rows = True

    def __init__(
        self,
        n_clusters: int,
        link_weight: float,
        affinity: str | GraphRecipe,
        n_neighbors: int,
        n_init: int,
        eigen_solver: str,
        hard: bool,
        safe: bool,
        n_jobs: int | None,
        verbose: int,
        random_state: int | np.random.RandomState | None,
    ) -> None:
        self.n_clusters = n_clusters
        self.link_weight = link_weight
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.eigen_solver = eigen_solver
        self.hard = hard
        self.safe = safe
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _fit(self, X: Any, constraints: Constraints | None) -> None:
        for name in ("eigenvalues_", "eigenvectors_", "solution_"):
            self.__dict__.pop(name, None)
        super()._fit(X, constraints)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_not_negative("link_weight", self.link_weight)

    def _pose(self, graph: Graph, constraints: Constraints) -> tuple[SignedGraph, Anchors]:
        """Return the graph with its links, and the anchors; say which parts of it nobody knows."""
        anchors = find_anchors(constraints, self.n_clusters)
        signed = SignedGraph(graph, constraints, anchors.points, self.link_weight)
        if anchors.n_anchored == self.n_clusters:
            _warn_about_silent_components(signed, anchors)
        return signed, anchors

    def _knows_all_clusters(self, constraints: Constraints) -> bool:
        return find_anchors(constraints, self.n_clusters).n_anchored == self.n_clusters

    def _first_clusters(self, signed: SignedGraph, anchors: Anchors, rng: np.random.RandomState) -> IntArray:
        """Return a spectral clustering of the signed graph in which anchored clusters hold their anchors."""
        rows = signed_embedding(signed, self.n_clusters, self.eigen_solver, rng)
        if not anchors.n_anchored:
            return assign_labels(rows, self.n_clusters, method="kmeans", n_init=self.n_init, random_state=rng)
        return seeded_clusters(rows, anchors, self.n_clusters, self.n_init, rng)

    def _hold_links(self, constraints: Constraints) -> None:
        """Number clusters as the labelled points meet them."""
        anchors = find_anchors(constraints, self.n_clusters)
        self.labels_ = number_by_anchors(self.labels_, anchors, self.n_clusters)

    def _measure_confidence(self) -> FloatArray:
        """Return for every point the chance that a walk from it ends in its cluster."""
        return walk_shares(SignedGraph(self.affinity_matrix_), self.labels_, self.n_clusters)

    @available_if(is_on_neighbors)
    def predict(self, X: Any) -> IntArray:
        """Put new points into the clusters that were found.

        A new point is linked to its nearest neighbours among the old ones; its scores are the means of
        theirs, as the Poisson equation has it where nothing is known. A point equal to an old one gets its
        label.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_new, n_features)
            New points. Only with ``affinity="knn"`` or a `Neighbors` recipe.

        Returns
        -------
        array of shape (n_new,)
            Their clusters.
        """
        check_is_fitted(self, "labels_")
        if hasattr(self, "eigenvectors_"):
            return super().predict(X)
        X = to_native(X)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        old, graph = self._seen
        edges, twins = graph.extension.edges(old, X)
        if is_unconstrained(self):
            return vote_of_neighbors(edges, twins, self.labels_)
        nearest = self.labels_[edges.indices[edges.indptr[:-1]]]
        reached = np.asarray(edges.sum(axis=1)).ravel() > 0
        labels = np.where(reached, weighted_means(edges, self.embedding_).argmax(axis=1), nearest)
        return np.where(twins >= 0, self.labels_[twins], labels).astype(np.intp)


def walk_shares(signed: SignedGraph, labels: IntArray, n_clusters: int) -> FloatArray:
    """Return the chance that a random walk from a point, of random length, ends in the point's own cluster.

    The walk D^{-1/2} e^{-tA} D^{1/2} takes a Poisson number of steps, `WALK_TIME` on average. Points without
    neighbours stay where they are, but nothing supports them: their share is 1 / n_clusters.
    """
    roots = np.sqrt(signed.degrees)[:, None]
    members = np.eye(n_clusters)[labels]
    ends = signed.scale[:, None] * heat_filter(WALK_TIME)(signed.laplacian, roots * members)
    shares = np.clip(ends[np.arange(len(labels)), labels], 0.0, 1.0)
    return np.where(signed.degrees > 0, shares, 1.0 / n_clusters)


def _warn_about_silent_components(signed: SignedGraph, anchors: Anchors) -> None:
    """Warn where every cluster has an anchor, but parts of the graph hold none."""
    sizes = np.bincount(signed.components)
    heard = np.isin(np.arange(len(sizes)), signed.components[anchors.points])
    silent = np.sort(sizes[~heard & (sizes > 1)])[::-1]
    if len(silent):
        shown = ", ".join(map(str, silent[:5])) + (", ..." if len(silent) > 5 else "")
        warn(
            f"{len(silent)} connected components of the graph (of {shown} points) hold no label: each is "
            "kept whole and put into the cluster that is shortest of points, which is arbitrary. Label a "
            "point of each, use more neighbours, or more clusters.",
            GraphWarning,
        )


def fill_silent(signed: SignedGraph, labels: IntArray, is_known: BoolArray, n_clusters: int) -> None:
    """Put every component that nothing is known of into the smallest cluster, the largest first, in place.

    Parameters
    ----------
    signed : SignedGraph
        The graph with its links.
    labels : array of shape (n,)
        Labels, right where `is_known`.
    is_known : array of bool of shape (n,)
        The points of components that hold an anchor.
    n_clusters : int
        The number of clusters.
    """
    silent = np.flatnonzero(~is_known)
    counts = np.bincount(labels[is_known], minlength=n_clusters)
    parts, sizes = np.unique(signed.components[silent], return_counts=True)
    target = np.zeros(int(signed.components.max()) + 1, dtype=np.intp)
    for part, size in sorted(zip(parts, sizes, strict=True), key=lambda item: (-item[1], item[0])):
        target[part] = counts.argmin()
        counts[target[part]] += size
    labels[silent] = target[signed.components[silent]]
