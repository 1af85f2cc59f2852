"""Layers: clusters from coarse to fine, by the density of a layout of the graph."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sidecut.checks import FloatArray, IntArray, Rule, check_count, check_flag, check_n_clusters, unless
from sidecut.constraints import Constraints
from sidecut.constraints.closure import find_seeds
from sidecut.graphs import warn_about_graph
from sidecut.labelling import measure_confidence
from sidecut.methods.base import GraphClusterer, TakesConstraints, documented
from sidecut.methods.layers.knowledge import CONFLICT_COST, cluster_by_knowledge, conflicts_within
from sidecut.methods.layers.tree import find_branches, persistence
from sidecut.methods.poisson.mbo import PoissonMBO
from sidecut.methods.poisson.seeds import number_by_seeds
from sidecut.methods.task import Answer, Task, check_constraints
from sidecut.progress import stage
from sidecut.threads import use_threads

#: Where labels name all clusters, and no layer of as many or more has a larger persistence less λ K, labels
#: are spread on the graph.
MIN_PERSISTENCE = 0.5


@documented
@dataclass(eq=False, repr=False)
class Layers(TakesConstraints, GraphClusterer):
    """Clusters from coarse to fine, and how many there are, from a layout of the graph and its density.

    The graph is laid out in four dimensions: neighbours attract, random points repel. A tree of clusters is
    read off the density of the layout. Each layer of it has the clusters that exist where fewer points than
    some smallest size are no cluster. Layers are persistent that exist over a wide range of smallest sizes
    and, up to 10,000 points, alike in three layouts. The most persistent one gives the labels, or the one
    with the number of clusters that is asked for.

    What is known chooses another layer where that agrees with it better, splits its clusters further, joins
    them and names them. Where labels name all clusters, and no layer of as many or more stands out, classes
    overlap: then labels are spread as by `PoissonMBO`. Every point has a cluster, unless ``noise=True`` asks
    for those that lie outside.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        The number of clusters. "auto": as many as the layer that is chosen has.
    min_size : int, default=5
        The size of the smallest cluster of any layer.
    noise : bool, default=False
        Give points outside the dense parts of clusters the label -1: those that the tree joins to their
        cluster only at distances where the cluster itself is joined to another. Points with
        constraints keep their cluster.
    {affinity}
    {constraints}
    {all}

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of every point; -1 for noise.
    n_clusters_ : int
        The number of clusters.
    layers_ : list of arrays of shape (n_samples,)
        The labels of each persistent layer, from coarse to fine. They do not depend on what is known. Each
        cluster lies within one of the layer before.
    persistence_ : array of shape (n_layers,)
        The persistence of each layer: the sum over its clusters of the range of smallest sizes for which
        they exist, as a share of all points. Up to 10,000 points it is the mean over three layouts, times the
        mean adjusted Rand index of the clusters of two of them.
    tree_ : dict of str to array
        The tree as a table, for `pandas.DataFrame`. Each row is a cluster: its number, its parent, how many
        points it has, and the smallest sizes `birth` and `death` between which it exists. Cluster 0 is all
        points.
    embedding_ : array of shape (n_samples, 4)
        The layout.
    affinity_matrix_ : Graph
        The graph.
    {results}

    See Also
    --------
    PoissonMBO : where classes overlap and labels are known.
    sidecut.plots.plot_layers : a picture of the layers.

    References
    ----------
    L. McInnes, J. Healy, J. Melville: UMAP: uniform manifold approximation and projection for dimension
    reduction. arXiv:1802.03426, 2018.
    R. Campello, D. Moulavi, J. Sander: Density-based clustering based on hierarchical density estimates.
    PAKDD 2013.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from sidecut import Layers
    >>> X, y = make_blobs(600, centers=6, cluster_std=0.5, random_state=4)
    >>> model = Layers(random_state=0).fit(X)
    >>> model.n_clusters_
    6
    """

    n_clusters: int | str = "auto"  # type: ignore[assignment]
    _: KW_ONLY
    min_size: int = 5
    noise: bool = False
    rules: ClassVar[dict[str, Rule]] = {
        "n_clusters": unless("auto", check_count),
        "min_size": check_count,
        "noise": check_flag,
    }
    caution = 1.0

    def _solve(self, task: Task) -> Answer:
        warn_about_graph(task.graph, task.n_points)
        if task.plain is not None:
            # The layout and the tree do not depend on what is known.
            places, results = task.plain.embedding, task.plain.results
        else:
            places, trees, layers = find_branches(task.graph, self.min_size, task.seed, task.n_clusters)
            branches = trees[0]
            results = {
                "trees": trees,
                "layers_": [branches.tree.labels(count) for count in sorted(layers)],
                "persistence_": np.array([layers[count] for count in sorted(layers)]),
                "tree_": branches.table(),
            }
        labels = self._choose(task, results)
        results = results | {"n_clusters_": task.n_clusters or int(labels.max()) + 1}
        return Answer(labels, places, task.graph, results=results)

    def _choose(self, task: Task, results: dict[str, Any]) -> IntArray:
        """Return the clusters."""
        trees, k = results["trees"], task.n_clusters
        branches = trees[0]
        with stage("clusters"):
            if not task.constraints.is_empty and k != 1:
                if k and find_seeds(task.constraints, k).n_seeded == k and _overlap(results, task):
                    return PoissonMBO(k)._solve_parts(task).labels
                return cluster_by_knowledge(task.graph, branches, task.constraints, k, task.rng())
            if k or not results["layers_"]:
                return branches.tree.labels(k or 1)
            return results["layers_"][int(results["persistence_"].argmax())]

    def choose(self, constraints: Constraints, n_clusters: int | str = "auto") -> IntArray:
        """Choose clusters by other knowledge from the tree that was found, without another layout.

        Labels at two levels, such as domain and topic, choose two layers of one tree: fit with one, choose
        with the other. What the fit keeps does not change.

        Parameters
        ----------
        constraints : Constraints
            What is known about the points of the fit.
        n_clusters : int or "auto", default="auto"
            The number of clusters.

        Returns
        -------
        array of shape (n_samples,)
            The cluster of every point; none is noise.

        Examples
        --------
        >>> from sklearn.datasets import make_blobs
        >>> from sidecut import Constraints, Layers
        >>> centers = [[0, 0], [2, 0], [20, 0], [22, 0]]
        >>> X, y = make_blobs(400, centers=centers, cluster_std=0.4, random_state=0)
        >>> topics, domains = [list(y[:40]) + [-1] * 360, list(y[:40] // 2) + [-1] * 360]
        >>> model = Layers(random_state=0).fit(X, constraints=Constraints.from_labels(topics))
        >>> model.n_clusters_, len(set(model.choose(Constraints.from_labels(domains))))
        (4, 2)
        """
        check_is_fitted(self, "labels_")
        self.rules["n_clusters"]("n_clusters", n_clusters)
        known = check_constraints(constraints, len(self.labels_), n_clusters)
        count = 0 if n_clusters == "auto" else check_n_clusters(n_clusters, len(self.labels_))
        with use_threads(self.n_jobs):
            task = replace(self._task, constraints=known, n_clusters=count)
            return self._choose(task, self._answer.results)

    def _has_ample_constraints(self, task: Task) -> bool:
        k, seeds = task.n_clusters, find_seeds(task.constraints, task.n_clusters)
        return (seeds.name_all(k) and seeds.are_few(k)) or super()._has_ample_constraints(task)

    def _finish(self, task: Task, answer: Answer) -> Answer:
        """Number an unconstrained answer by the labelled points, repair it where asked, mark the noise."""
        n_clusters = answer.results["n_clusters_"]
        if answer.decision is not None and answer.decision.kept == "unconstrained":
            seeds = find_seeds(task.constraints, n_clusters)
            answer = replace(answer, labels=number_by_seeds(answer.labels, seeds, n_clusters))
        answer = super()._finish(replace(task, n_clusters=n_clusters), answer)
        if not self.noise:
            return answer
        outside = answer.results["trees"][0].tree.noise(answer.labels, n_clusters)
        labels = answer.labels.copy()
        labels[np.setdiff1d(outside, task.constraints.constrained_points)] = -1
        return replace(answer, labels=labels)

    def _measure_confidence(self) -> FloatArray:
        """Return how sure each label is, and 0 for noise."""
        sure = measure_confidence(self.labels_, self._answer.embedding, self._answer.graph)
        return np.where(self.labels_ >= 0, sure, 0.0)


def _overlap(results: dict[str, Any], task: Task) -> bool:
    """Return whether no layer of as many clusters or more stands out, less what is known against it."""
    trees, k = results["trees"], task.n_clusters
    within = trees[0].in_layers(conflicts_within(trees[0], task.constraints))
    values = {
        int(labels.max()) + 1: value
        for labels, value in zip(results["layers_"], results["persistence_"], strict=True)
    }
    values[k] = persistence(trees, k)
    worth = [
        values[count] - CONFLICT_COST * within[count - 1] for count in values if k <= count <= len(within)
    ]
    return max(worth, default=0.0) < MIN_PERSISTENCE
