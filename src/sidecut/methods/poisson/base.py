"""What the methods of the Poisson family share: anchors, the signed graph, new points, confidence."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from sidecut.checks import BoolArray, FloatArray, IntArray, Rule, check_not_negative
from sidecut.exceptions import GraphWarning, warn
from sidecut.graphs import warn_about_graph
from sidecut.labelling import assign_labels
from sidecut.methods.base import GraphClusterer, TakesConstraints
from sidecut.methods.cut import weighted_means
from sidecut.methods.poisson.anchors import (
    Anchors,
    find_anchors,
    number_by_anchors,
    seeded_clusters,
    signed_embedding,
)
from sidecut.methods.poisson.equation import SignedGraph, heat_filter
from sidecut.methods.task import Answer, Task

#: How long a walk lasts of which `confidence_` asks whether it ends in the same cluster.
WALK_TIME = 3.0


@dataclass(eq=False, repr=False)
class PoissonClusterer(TakesConstraints, GraphClusterer):
    """The base of PoissonLearning and PoissonMBO: scores of clusters are the embedding."""

    _: KW_ONLY
    link_weight: float = 2.0
    rules: ClassVar[dict[str, Rule]] = {"link_weight": check_not_negative}

    # How the cut without constraints is labelled is no parameter here.
    unit_rows = True
    assign_labels = "kmeans"

    def _pose(self, task: Task) -> tuple[SignedGraph, Anchors]:
        """Return the graph with its links, and the anchors; say which parts of it hold no label."""
        warn_about_graph(task.graph, task.n_clusters)
        anchors = find_anchors(task.constraints, task.n_clusters)
        signed = SignedGraph(task.graph, task.constraints, anchors.points, self.link_weight)
        if anchors.n_anchored == task.n_clusters:
            _warn_about_silent_components(signed, anchors)
        return signed, anchors

    def _first_clusters(self, signed: SignedGraph, anchors: Anchors, rng: np.random.RandomState) -> IntArray:
        """Return a spectral clustering of the signed graph in which anchored clusters hold their anchors."""
        rows = signed_embedding(signed, self.n_clusters, self.eigen_solver, rng)
        if not anchors.n_anchored:
            return assign_labels(rows, self.n_clusters, method="kmeans", n_init=self.n_init, random_state=rng)
        return seeded_clusters(rows, anchors, self.n_clusters, self.n_init, rng)

    def _finish(self, task: Task, answer: Answer) -> Answer:
        """Number clusters as the labelled points meet them, where the answer without constraints is kept."""
        if answer.decision is not None and answer.decision.kept == "unconstrained":
            anchors = find_anchors(task.constraints, task.n_clusters)
            labels = number_by_anchors(answer.labels, anchors, task.n_clusters)
            answer = replace(answer, labels=labels, extend=None)
        return super()._finish(task, answer)

    def _measure_confidence(self) -> FloatArray:
        """Return for every point the chance that a walk from it ends in its cluster."""
        return walk_shares(SignedGraph(self.affinity_matrix_), self.labels_, self.n_clusters)


@dataclass(frozen=True, eq=False)
class ScoreExtension:
    """Labels of new points: their scores are the means of those of their neighbours.

    So the Poisson equation has it where there is no label.
    """

    labels: IntArray
    scores: FloatArray

    def __call__(self, edges: sp.csr_array) -> IntArray:
        """Return the labels of new points, given their weights to the old ones."""
        nearest = self.labels[edges.indices[edges.indptr[:-1]]]
        is_reached = np.asarray(edges.sum(axis=1)).ravel() > 0
        scores = weighted_means(edges, self.scores)
        return np.where(is_reached, scores.argmax(axis=1), nearest).astype(np.intp)


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
    """Put every component that nothing is known of into the smallest cluster, the largest first, in place."""
    silent = np.flatnonzero(~is_known)
    counts = np.bincount(labels[is_known], minlength=n_clusters)
    parts, sizes = np.unique(signed.components[silent], return_counts=True)
    target = np.zeros(int(signed.components.max()) + 1, dtype=np.intp)
    for part, size in sorted(zip(parts, sizes, strict=True), key=lambda item: (-item[1], item[0])):
        target[part] = counts.argmin()
        counts[target[part]] += size
    labels[silent] = target[signed.components[silent]]
