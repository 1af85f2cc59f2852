"""PoissonLearning, and what it shares with PoissonMBO: seeds, the signed graph, new points, confidence."""

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
from sidecut.labelling.labels import warn_if_clusters_are_missing
from sidecut.methods.base import EigenClusterer, TakesConstraints, documented
from sidecut.methods.cut import cut, weighted_means
from sidecut.methods.poisson.equation import Potentials, SignedGraph, diffusion_filter, solve_poisson
from sidecut.methods.poisson.starts import (
    add_typical_points,
    different,
    find_pieces,
    join_pieces,
    number_by_seeds,
    predict_links,
    seeded_clusters,
    signed_embedding,
)
from sidecut.methods.task import Answer, Task
from sidecut.running import stage


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
        """Return clusterings of the graph, where some clusters have no label."""
        # They are joinings of pieces, and the clusters without links: pieces of small clusters are not pure.
        # A joining that does not predict links held out is left out.
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
        """Return the chance that a random walk from each point ends in the cluster of the point."""
        # The walk D^{-1/2} e^{-tA} D^{1/2} takes a Poisson number of steps, 3 on average. A point without
        # neighbours has 1 / n_clusters.
        signed, labels = SignedGraph(self.affinity_matrix_), self.labels_
        members = np.eye(self.n_clusters)[labels]
        start = np.sqrt(signed.degrees)[:, None] * members
        ends = signed.scale[:, None] * diffusion_filter(3.0)(signed, start)
        shares = np.clip(ends[np.arange(len(labels)), labels], 0.0, 1.0)
        return np.where(signed.degrees > 0, shares, 1.0 / self.n_clusters)


@dataclass(frozen=True, eq=False)
class ScoreExtension:
    """Labels of new points: their scores are the weighted means of the scores of their neighbours."""

    # The Poisson equation says the same at a point without a label.

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
    """Return how well the clusters of most neighbours of linked points agree with the constraints."""
    # The labels of the linked points themselves show little: links are what moved them.
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


@documented
@dataclass(eq=False, repr=False)
class PoissonLearning(PoissonClusterer):
    """Poisson learning (Calder, Cook, Thorpe & Slepčev, 2020), with pairs as well as labels.

    A known label is a point charge. The potentials of the charges of all classes are computed on the graph,
    and a point joins the class whose potential is largest. With few labels this is better than label
    propagation. Must-links are edges, and cannot-links are edges that repel; with them all points of a first
    clustering have charges. A cluster without a label gets its most typical point as one. Without
    constraints the method is the normalised cut.

    Parameters
    ----------
    {n_clusters}
    link_weight : float, default=2.0
        The weight of a link of strength 1, relative to the degree of its points.
    tol : float, default=1e-8
        The relative residual of the Poisson equation.
    {graph}
    {constraints}
    {all}

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of every point. Clusters with labels are numbered in the order of the labelled points.
    embedding_ : array of shape (n_samples, n_clusters)
        The potentials.
    residual_ : float
        The relative residual of the Poisson equation, computed from the solution.
    affinity_matrix_ : Graph
        The graph.
    {results}

    See Also
    --------
    PoissonMBO : also uses the sizes of clusters; more accurate, and slower.

    References
    ----------
    J. Calder, B. Cook, M. Thorpe, D. Slepčev: Poisson learning: graph based semi-supervised learning at very
    low label rates. ICML 2020.

    Examples
    --------
    One label per digit, as in the paper:

    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from sidecut import Constraints, PoissonLearning
    >>> X, y = load_digits(return_X_y=True)
    >>> known = np.full(len(y), -1)
    >>> known[10:20] = y[10:20]
    >>> model = PoissonLearning(n_clusters=10, safe=False).fit(X, constraints=Constraints.from_labels(known))
    >>> print(f"{np.mean(model.labels_ == y):.2f}")
    0.89
    """

    _: KW_ONLY
    tol: float = 1e-8
    rules: ClassVar[dict[str, Rule]] = {"tol": check_not_negative}

    def _solve(self, task: Task) -> Answer:
        if task.constraints.is_empty:
            return cut(task.graph, task, self)
        k = task.n_clusters
        signed, seeds = self._pose(task)
        with stage("embedding"):
            signed, charged = self._place_charges(task, signed, seeds)
            values, residual = self._find_potentials(signed, charged, k)
        labels = values.argmax(axis=1)
        reason = "some have the largest potential nowhere. Label more points, or ask for fewer clusters."
        warn_if_clusters_are_missing(labels, k, "PoissonLearning", reason)
        extend = ScoreExtension(labels, values)
        return Answer(labels, values, task.graph, extend=extend, results={"residual_": residual})

    def _place_charges(self, task: Task, signed: SignedGraph, seeds: Seeds) -> tuple[SignedGraph, Seeds]:
        """Return the graph and the charges on it: the labels or, where links repel, all points."""
        # A cannot-link pulls the potentials of its points to opposite signs, which more than two clusters
        # cannot have: the potential of a distant charge fades with every link on the way. Where every point
        # of a first clustering has a charge none is distant, and links act on the differences between
        # clusters.
        if seeds.n_seeded == task.n_clusters and not signed.has_cannot_links:
            return signed, seeds
        if not signed.has_links:
            first = self._first_clusters(signed, seeds, task.n_clusters, task.rng())
            return signed, add_typical_points(signed, first, seeds, task.n_clusters)
        linked = SignedGraph(task.graph, task.constraints, link_weight=self.link_weight)
        labels = self._cluster_by_links(task, linked, seeds)
        labels[seeds.points] = seeds.cluster
        return linked, Seeds(np.arange(len(labels)), labels, np.ones(len(labels)))

    def _cluster_by_links(self, task: Task, linked: SignedGraph, seeds: Seeds) -> IntArray:
        """Return a first clustering of a graph with links."""
        graph, known, k = task.graph, task.constraints, task.n_clusters
        if k == 2:
            # Two clusters have signs: the first eigenvectors of the signed graph separate them.
            return self._first_clusters(linked, seeds, k, task.rng())
        if seeds.n_seeded == k:
            attracting = SignedGraph(graph, known.must_part(), seeds.points, self.link_weight)
            return self._find_potentials(attracting, seeds, k).values.argmax(axis=1)
        found = self._start_clusters(task, linked, seeds, task.rng())
        return max(found, key=lambda labels: agreement_of_neighbors(graph, labels, known, k))

    def _find_potentials(self, signed: SignedGraph, charged: Seeds, n_clusters: int) -> Potentials:
        """Return the potentials of the charges, comparable at all points."""
        sources = charged.indicator(signed.n_nodes, n_clusters)
        found = solve_poisson(signed, sources, self.tol)
        _exclude_absent(found.values, sources, signed.components)
        _assign_unlabelled(found.values, signed, charged)
        return found


def _exclude_absent(values: FloatArray, sources: FloatArray, component: IntArray) -> None:
    """Put clusters without a source in a component below those that have one there, in place."""
    # Their potential there is zero because they have no charge, not because they are as likely as others.
    n_components = int(component.max()) + 1
    present = np.stack([np.bincount(component, column, n_components) > 0 for column in sources.T], axis=1)
    is_labelled = present.sum(axis=1) > 0
    absent = ~present[component] & is_labelled[component][:, None]
    values[absent] = values.min() - 1.0


def _assign_unlabelled(values: FloatArray, signed: SignedGraph, seeds: Seeds) -> None:
    """Put every component without a seed into the smallest cluster, the largest component first, in place."""
    is_labelled = np.isin(signed.components, signed.components[seeds.points])
    counts = np.bincount(values[is_labelled].argmax(axis=1), minlength=values.shape[1])
    parts, sizes = np.unique(signed.components[~is_labelled], return_counts=True)
    target = np.zeros(int(signed.components.max()) + 1, dtype=np.intp)
    for part, size in sorted(zip(parts, sizes, strict=True), key=lambda item: (-item[1], item[0])):
        target[part] = counts.argmin()
        counts[target[part]] += size
    values[~is_labelled, target[signed.components[~is_labelled]]] = 1.0
