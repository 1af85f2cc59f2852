"""Poisson learning: labels as point charges on the graph."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np

from sidecut.checks import FloatArray, IntArray, Rule, check_not_negative
from sidecut.labelling.labels import warn_if_clusters_are_missing
from sidecut.methods.base import documented
from sidecut.methods.cut import cut
from sidecut.methods.poisson.anchors import Anchors, add_typical_points
from sidecut.methods.poisson.base import PoissonClusterer, ScoreExtension, fill_silent
from sidecut.methods.poisson.equation import SignedGraph, solve_poisson
from sidecut.methods.task import Answer, Task
from sidecut.progress import stage


@documented
@dataclass(eq=False, repr=False)
class PoissonLearning(PoissonClusterer):
    """Poisson learning (Calder, Cook, Thorpe & Slepčev, 2020), with pairs as well as labels.

    A known label is a point charge. The potentials of the charges of all classes are computed on the graph,
    and a point joins the class whose potential is largest. Where labels are few this is better than spreading
    them. Must-links are edges and cannot-links edges that repel; clusters without a label get their most
    typical point as one. Where nothing is known it is the normalised cut.

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
        The cluster of every point. Clusters with labels are numbered as the labelled points meet them.
    embedding_ : array of shape (n_samples, n_clusters)
        The potentials.
    residual_ : float
        The relative residual of the Poisson equation, computed anew from the solution.
    affinity_matrix_ : Graph
        The graph.
    {results}

    See Also
    --------
    PoissonMBO : the same labels with sizes of clusters; more accurate, and slower.

    References
    ----------
    J. Calder, B. Cook, M. Thorpe, D. Slepčev: Poisson learning: graph based semi-supervised learning at very
    low label rates. ICML 2020.

    Examples
    --------
    One label per digit, followed as in the paper:

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
        k, rng = task.n_clusters, task.rng()
        signed, anchors = self._pose(task)
        with stage("embedding"):
            if anchors.n_anchored < k:
                start = self._first_clusters(signed, anchors, rng)
                anchors = add_typical_points(signed, start, anchors, k)
            values, residual = self._potentials(signed, anchors)
        labels = values.argmax(axis=1)
        reason = "some have the largest potential nowhere. Label more points, or ask for fewer clusters."
        warn_if_clusters_are_missing(labels, k, "PoissonLearning", reason)
        extend = ScoreExtension(labels, values)
        return Answer(labels, values, task.graph, extend=extend, results={"residual_": residual})

    def _potentials(self, signed: SignedGraph, anchors: Anchors) -> tuple[FloatArray, float]:
        sources = anchors.indicator(signed.n_nodes, self.n_clusters)
        values, residual = solve_poisson(signed, sources, self.tol)
        _rule_out_absent(values, sources, signed.components)
        labels = values.argmax(axis=1)
        is_heard = np.isin(signed.components, signed.components[anchors.points])
        fill_silent(signed, labels, is_heard, self.n_clusters)
        values[~is_heard, labels[~is_heard]] = 1.0
        return values, residual


def _rule_out_absent(values: FloatArray, sources: FloatArray, component: IntArray) -> None:
    """Put clusters without a source in a component below those that have one there, in place.

    Their potential there is zero for want of any charge, not because they are as likely as others.
    """
    n_components = int(component.max()) + 1
    present = np.stack([np.bincount(component, column, n_components) > 0 for column in sources.T], axis=1)
    is_heard = present.sum(axis=1) > 0
    absent = ~present[component] & is_heard[component][:, None]
    values[absent] = values.min() - 1.0
