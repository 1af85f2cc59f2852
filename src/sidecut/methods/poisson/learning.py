"""Poisson learning: labels as point charges on the graph."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np

from sidecut.checks import FloatArray, IntArray, Rule, check_not_negative
from sidecut.constraints.closure import Seeds
from sidecut.labelling.labels import warn_if_clusters_are_missing
from sidecut.methods.base import documented
from sidecut.methods.cut import cut
from sidecut.methods.poisson.base import PoissonClusterer, ScoreExtension, agreement_of_neighbors
from sidecut.methods.poisson.equation import Potentials, SignedGraph, solve_poisson
from sidecut.methods.poisson.seeds import add_typical_points
from sidecut.methods.task import Answer, Task
from sidecut.progress import stage


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
    n_clusters : int, default=8
        The number of clusters.
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
        """Return the graph and the charges on it: the labels or, where links repel, all points.

        A cannot-link pulls the potentials of its points to opposite signs, which more than two clusters
        cannot have: the potential of a distant charge fades with every link on the way. Where every point of
        a first clustering has a charge none is distant, and links act on the differences between clusters.
        """
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
    """Put clusters without a source in a component below those that have one there, in place.

    Their potential there is zero because they have no charge, not because they are as likely as others.
    """
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
