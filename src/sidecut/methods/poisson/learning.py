"""Poisson learning: labels as point charges on the graph."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.metrics import adjusted_rand_score

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.graphs import Graph, GraphRecipe
from sidecut.labelling.labels import warn_if_clusters_are_missing
from sidecut.methods.poisson.anchors import Anchors, add_typical_points
from sidecut.methods.poisson.base import PoissonClusterer, fill_silent
from sidecut.methods.poisson.equation import solve_poisson
from sidecut.methods.poisson.signed_graph import SignedGraph
from sidecut.methods.safeguard import ALIKE, CONSTRAINED, FEWEST_FACTS, Judgement
from sidecut.parameters import check_not_negative


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
    affinity : str or GraphRecipe, default="knn"
        How data become a graph: "knn", "gaussian", "self_tuning", "heat", "cosine", a recipe, or
        "precomputed".
    n_neighbors : int, default=20
        How many neighbours each point has in the graph of ``affinity="knn"``.
    n_init : int, default=10
        How many starts k-means has, where clusters have no label.
    eigen_solver : {"auto", "dense", "lanczos", "factorized", "iterated"}, default="auto"
        See `sidecut.spectral.laplacian_eigenpairs`; used where clusters have no label.
    hard : bool, default=False
        Finish with labels that satisfy all must-links and as many cannot-links as possible; `repair_` tells
        what it took.
    safe : bool, default=True
        Where little is known, keep the answer without constraints if that satisfies all of it, or if what is
        known speaks too weakly for another. False follows the constraints whatever it costs.
    n_jobs : int or None, default=None
        How many threads a fit may use. None: all cores that OMP_NUM_THREADS allows, but one in a worker of
        joblib or Dask. -1: all cores.
    verbose : int or bool, default=0
        1: write the stages of the fit and their seconds to standard error, with a bar for long ones on a
        terminal. 2: also the stages within them.
    random_state : int, RandomState or None, default=None
        An int makes the result reproducible; labels of all clusters leave nothing to chance.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of every point. Clusters with labels are numbered as the labelled points meet them.
    confidence_ : array of shape (n_samples,)
        The chance, from 0 to 1, that a short random walk from a point ends in its own cluster.
    judgement_ : Judgement
        With `safe`, where little is known: which answer was kept, and why.
    embedding_ : array of shape (n_samples, n_clusters)
        The potentials.
    residual_ : float
        The relative residual of the Poisson equation, computed anew from the solution.
    affinity_matrix_ : Graph
        The graph.
    n_features_in_ : int
        Number of features seen in fit.

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

    _holds_pairs_back = True

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        link_weight: float = 2.0,
        tol: float = 1e-8,
        affinity: str | GraphRecipe = "knn",
        n_neighbors: int = 20,
        n_init: int = 10,
        eigen_solver: str = "auto",
        hard: bool = False,
        safe: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(
            n_clusters,
            link_weight,
            affinity,
            n_neighbors,
            n_init,
            eigen_solver,
            hard,
            safe,
            n_jobs,
            verbose,
            random_state,
        )
        self.tol = tol

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_not_negative("tol", self.tol)

    def _judge(self, X: Any, constraints: Constraints, unconstrained: Self) -> Judgement:
        """Follow few labels too where they correct the cut: it joins classes, and is right otherwise."""
        judgement = super()._judge(X, constraints, unconstrained)
        n_labels = constraints.constrained_points.size
        if judgement.is_sure or n_labels > FEWEST_FACTS or not self._knows_all_clusters(constraints):
            return judgement
        if adjusted_rand_score(self.labels_, unconstrained.labels_) <= ALIKE:
            return judgement
        detail = (
            "The answer without constraints joins classes that are apart, and is much the same otherwise."
        )
        return Judgement(CONSTRAINED, detail)

    def _embed(self, graph: Graph, constraints: Constraints, rng: np.random.RandomState) -> FloatArray:
        self.__dict__.pop("residual_", None)
        if constraints.is_empty:
            return super()._embed(graph, constraints, rng)
        signed, anchors = self._pose(graph, constraints)
        if anchors.n_anchored < self.n_clusters:
            start = self._first_clusters(signed, anchors, rng)
            anchors = add_typical_points(signed, start, anchors, self.n_clusters)
        return self._potentials(signed, anchors)

    def _potentials(self, signed: SignedGraph, anchors: Anchors) -> FloatArray:
        sources = anchors.indicator(signed.n_nodes, self.n_clusters)
        values, self.residual_ = solve_poisson(signed, sources, self.tol)
        _rule_out_absent(values, sources, signed.components)
        labels = values.argmax(axis=1)
        is_heard = np.isin(signed.components, signed.components[anchors.points])
        fill_silent(signed, labels, is_heard, self.n_clusters)
        values[~is_heard, labels[~is_heard]] = 1.0
        return values

    def _assign_labels(self, embedding: FloatArray, rng: np.random.RandomState) -> IntArray:
        if hasattr(self, "residual_"):
            labels = embedding.argmax(axis=1)
            reason = "some have the largest potential nowhere. Label more points, or ask for fewer clusters."
            warn_if_clusters_are_missing(labels, self.n_clusters, "PoissonLearning", reason)
            return labels
        return super()._assign_labels(embedding, rng)


def _rule_out_absent(values: FloatArray, sources: FloatArray, component: IntArray) -> None:
    """Put clusters without a source in a component below those that have one there, in place.

    Their potential there is zero for want of any charge, not because they are as likely as others.
    """
    n_components = int(component.max()) + 1
    present = np.stack([np.bincount(component, column, n_components) > 0 for column in sources.T], axis=1)
    is_heard = present.sum(axis=1) > 0
    absent = ~present[component] & is_heard[component][:, None]
    values[absent] = values.min() - 1.0
