"""What the methods of the Poisson family share: seeds, the signed graph, new points, confidence."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from sidecut.checks import FloatArray, IntArray, Rule, check_not_negative
from sidecut.constraints import Constraints
from sidecut.constraints.closure import Seeds, find_seeds
from sidecut.exceptions import GraphWarning, warn
from sidecut.graphs import Graph, warn_about_graph
from sidecut.labelling import assign_labels
from sidecut.labelling.confidence import majority_of_neighbors
from sidecut.methods.base import EigenClusterer, TakesConstraints
from sidecut.methods.cut import weighted_means
from sidecut.methods.poisson.equation import SignedGraph, diffusion_filter
from sidecut.methods.poisson.seeds import number_by_seeds, seeded_clusters, signed_embedding
from sidecut.methods.poisson.starts import different, find_pieces, join_pieces, predict_links
from sidecut.methods.task import Answer, Task


@dataclass(eq=False, repr=False)
class PoissonClusterer(TakesConstraints, EigenClusterer):
    """The base of PoissonLearning and PoissonMBO: scores of clusters are the embedding."""

    _: KW_ONLY
    link_weight: float = 2.0
    rules: ClassVar[dict[str, Rule]] = {"link_weight": check_not_negative}

    # How the cut without constraints is labelled is no parameter here.
    unit_rows = True
    assign_labels = "kmeans"
    numbers_by_seeds = True

    def _pose(self, task: Task) -> tuple[SignedGraph, Seeds]:
        """Return the graph with its links, and the seeds; warn about components without a label."""
        warn_about_graph(task.graph, task.n_clusters)
        seeds = find_seeds(task.constraints, task.n_clusters)
        signed = SignedGraph(task.graph, task.constraints, seeds.points, self.link_weight)
        if seeds.n_seeded == task.n_clusters:
            _warn_about_unlabelled_components(signed, seeds)
        return signed, seeds

    def _first_clusters(
        self, signed: SignedGraph, seeds: Seeds, k: int, rng: np.random.RandomState
    ) -> IntArray:
        """Return a spectral clustering of the signed graph in which seeded clusters hold their seeds."""
        rows = signed_embedding(signed, k, self.eigen_solver, rng)
        if not seeds.n_seeded:
            return assign_labels(rows, k, method="kmeans", n_init=self.n_init, random_state=rng)
        return seeded_clusters(rows, seeds, k, self.n_init, rng)

    def _start_clusters(
        self, task: Task, signed: SignedGraph, seeds: Seeds, rng: np.random.RandomState
    ) -> list[IntArray]:
        """Return clusterings of the graph, where some clusters have no label.

        They are joinings of pieces, and the clusters without links: pieces of small clusters are not pure.
        A joining that does not predict links held out is left out.
        """
        graph, known, k = task.graph, task.constraints, task.n_clusters
        found: list[IntArray] = []
        if signed.has_links or seeds.n_seeded:
            pieces = find_pieces(graph, k, known.n_independent_pairs, self.eigen_solver, rng)
            found = join_pieces(pieces, known, k, rng)
        if signed.has_links:
            plain = self._first_clusters(SignedGraph(graph), seeds, k, rng)
            if not seeds.n_seeded:
                predicts = predict_links(pieces, known, k, plain)
                found = [labels for labels, keep in zip(found, predicts, strict=True) if keep]
            found.append(plain)
        found = [number_by_seeds(labels, seeds, k) for labels in different(found)]
        for labels in found:
            labels[seeds.points] = seeds.cluster
        if not found or task.graph.n_components > 1:
            # Links hold parts of a graph together that its own eigenvectors do not.
            found.append(self._first_clusters(signed, seeds, k, rng))
        return found

    def _is_guarded(self, task: Task) -> bool:
        # Labels of all clusters are what these methods are made for; of more than a few of them some can be
        # held out, for methods that need it.
        k, seeds = task.n_clusters, find_seeds(task.constraints, task.n_clusters)
        are_labels = len(seeds.points) == len(task.constraints.constrained_points)
        is_followed = are_labels and seeds.name_all(k) and (not self.caution or seeds.are_few(k))
        return not is_followed and super()._is_guarded(task)

    def _finish(self, task: Task, answer: Answer) -> Answer:
        """Number the clusters of an unconstrained answer by the labelled points."""
        if answer.decision is not None and answer.decision.kept == "unconstrained":
            seeds = find_seeds(task.constraints, task.n_clusters)
            labels = number_by_seeds(answer.labels, seeds, task.n_clusters)
            answer = replace(answer, labels=labels, extend=None)
        return super()._finish(task, answer)

    def _measure_confidence(self) -> FloatArray:
        """Return the chance that a random walk from each point ends in the cluster of the point.

        The walk D^{-1/2} e^{-tA} D^{1/2} takes a Poisson number of steps, 3 on average. A point without
        neighbours has 1 / n_clusters.
        """
        signed, labels = SignedGraph(self.affinity_matrix_), self.labels_
        members = np.eye(self.n_clusters)[labels]
        start = np.sqrt(signed.degrees)[:, None] * members
        ends = signed.scale[:, None] * diffusion_filter(3.0)(signed, start)
        shares = np.clip(ends[np.arange(len(labels)), labels], 0.0, 1.0)
        return np.where(signed.degrees > 0, shares, 1.0 / self.n_clusters)


@dataclass(frozen=True, eq=False)
class ScoreExtension:
    """Labels of new points: their scores are the weighted means of the scores of their neighbours.

    The Poisson equation says the same at a point without a label.
    """

    labels: IntArray
    scores: FloatArray

    def __call__(self, edges: sp.csr_array) -> IntArray:
        """Return the labels of new points, given their weights to the old ones."""
        nearest = self.labels[edges.indices[edges.indptr[:-1]]]
        has_weight = np.asarray(edges.sum(axis=1)).ravel() > 0
        scores = weighted_means(edges, self.scores)
        return np.where(has_weight, scores.argmax(axis=1), nearest).astype(np.intp)


def agreement_of_neighbors(
    graph: Graph, labels: IntArray, constraints: Constraints, n_clusters: int
) -> float:
    """Return how well the clusters of most neighbours of linked points agree with the constraints.

    The labels of the linked points themselves show little: links are what moved them.
    """
    return constraints.agreement(majority_of_neighbors(graph, labels, n_clusters))


def _warn_about_unlabelled_components(signed: SignedGraph, seeds: Seeds) -> None:
    """Warn about components without a seed where every cluster has one."""
    sizes = np.bincount(signed.components)
    is_labelled = np.isin(np.arange(len(sizes)), signed.components[seeds.points])
    unlabelled = np.sort(sizes[~is_labelled & (sizes > 1)])[::-1]
    if len(unlabelled):
        shown = ", ".join(map(str, unlabelled[:5])) + (", ..." if len(unlabelled) > 5 else "")
        warn(
            f"{len(unlabelled)} connected components of the graph (of {shown} points) hold no label: each is "
            "kept whole and put into the smallest cluster, which is arbitrary. Label a point of each, use "
            "more neighbours, or more clusters.",
            GraphWarning,
        )
