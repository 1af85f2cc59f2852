"""Poisson learning with sizes: diffusion and thresholding of labels, pairs and sizes in one energy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.graphs import Graph, GraphRecipe
from sidecut.methods.poisson.anchors import Anchors, find_anchors
from sidecut.methods.poisson.base import PoissonClusterer
from sidecut.methods.poisson.descent import Descent, descend, suitable_times
from sidecut.methods.poisson.equation import spread_labels
from sidecut.methods.poisson.signed_graph import SignedGraph
from sidecut.methods.poisson.sizes import SizeRule, assign_within_sizes, check_sizes, size_rule
from sidecut.parameters import check_count, check_not_negative

#: The penalties of "auto": from nearly even sizes down, and from the sizes that the labels give.
SCHEDULES = ((1.6, 0.4, 0.1), (0.1,))
#: The energy per point by which uneven sizes must be better, where the two paths end in different sizes.
WORTH = 0.004
#: Even sizes may let so many times as much heat out as others; smaller differences are none.
ADMITTED_LEAK = 1.15
ROUNDING = 1e-3
#: All penalties but the last are left when so many times as many labels still change.
ROUGHLY = 5.0
#: The score of the cluster in which a spectral clustering puts a point: no penalty of "auto" undoes it.
NAMED = 100.0


class PoissonMBO(PoissonClusterer):
    """Labels, pairs and sizes in one energy, lowered by diffusion and thresholding.

    Sizes of clusters are worth as much as many labels. They may be given, bounded, or unknown; unknown sizes
    are estimated from the fit: uneven ones have a price, and the data decide whether to pay it.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    sizes : None, "labels", array of shape (n_clusters,) or (n_clusters, 2), default=None
        None: unknown. "labels": the labels were drawn at random, so that their numbers tell the sizes. One
        number for each cluster: the sizes, as numbers of points or as shares. A pair for each: the least
        and the most. Clusters with labels come first, as the labelled points meet them, then the others
        from large to small.
    size_penalty : "auto" or float, default="auto"
        τ, the price of uneven sizes: a cluster e times larger than another gives way at a boundary by so much
        of the score, which lies between 0 and 1. "auto" goes from 1.6 over 0.4 to 0.1, starts again
        with 0.1 alone, and keeps the first unless the second ends with much less energy.
    link_weight : float, default=2.0
        γ, the weight of a link of strength 1, relative to the degree of its points.
    label_weight : float, default=1.0
        μ, the strength of a label as a source.
    times : sequence of float, default=(10, 3)
        How long labels diffuse before they are thresholded: first far, then near. Where so much heat would
        leave its cluster that little is left to see, all are shortened alike.
    max_iter : int, default=30
        The most steps for each time.
    tol : float, default=1e-3
        Go on to the next time when a smaller share of labels changes.
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
        Finish with labels that satisfy all must-links and as many cannot-links as possible, even if sizes
        change; `repair_` tells what it took.
    safe : bool, default=True
        Where little is known, keep the answer without constraints if that satisfies all of it, or if what is
        known speaks too weakly for another. False follows the constraints whatever it costs.
    n_jobs : int or None, default=None
        How many threads a fit may use. None: all cores that OMP_NUM_THREADS allows, but one in a worker of
        joblib or Dask. -1: all cores.
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
    sizes_ : array of shape (n_clusters,)
        The sizes of the clusters, before any repair.
    size_range_ : array of shape (n_clusters, 2)
        The least and the largest size at the ends of both ways down: where they differ, sizes are in doubt.
    energies_ : list of arrays
        For every time the energy before the first step and after each, under the last penalty; it never
        rises.
    n_iter_ : int
        How many steps were taken.
    embedding_ : array of shape (n_samples, n_clusters)
        The scores of the clusters, less their prices.
    affinity_matrix_ : Graph
        The graph.
    n_features_in_ : int
        Number of features seen in fit.

    See Also
    --------
    PoissonLearning : potentials of the labels alone; faster.

    References
    ----------
    J. Calder, B. Cook, M. Thorpe, D. Slepčev: Poisson learning: graph based semi-supervised learning at very
    low label rates. ICML 2020.

    Examples
    --------
    One label per digit, without and with the sizes:

    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from sidecut import Constraints, PoissonMBO
    >>> X, y = load_digits(return_X_y=True)
    >>> known = np.full(len(y), -1)
    >>> known[10:20] = y[10:20]
    >>> constraints = Constraints.from_labels(known)
    >>> for sizes in (None, np.bincount(y)):
    ...     model = PoissonMBO(n_clusters=10, sizes=sizes).fit(X, constraints=constraints)
    ...     print(f"{np.mean(model.labels_ == y):.2f}")
    0.94
    0.95
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        sizes: Any = None,
        size_penalty: float | str = "auto",
        link_weight: float = 2.0,
        label_weight: float = 1.0,
        times: Sequence[float] = (10.0, 3.0),
        max_iter: int = 30,
        tol: float = 1e-3,
        affinity: str | GraphRecipe = "knn",
        n_neighbors: int = 20,
        n_init: int = 10,
        eigen_solver: str = "auto",
        hard: bool = False,
        safe: bool = True,
        n_jobs: int | None = None,
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
            random_state,
        )
        self.sizes = sizes
        self.size_penalty = size_penalty
        self.label_weight = label_weight
        self.times = times
        self.max_iter = max_iter
        self.tol = tol

    @property
    def _is_guarded(self) -> bool:
        # Sizes are knowledge too.
        return self.safe and (self.sizes is None or isinstance(self.sizes, str))

    def _knows_all_clusters(self, constraints: Constraints) -> bool:
        return find_anchors(constraints, self.n_clusters).n_anchored == self.n_clusters

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.size_penalty != "auto":
            check_not_negative("size_penalty", self.size_penalty)
        for name in ("label_weight", "tol"):
            check_not_negative(name, getattr(self, name))
        check_count("max_iter", self.max_iter)
        check_sizes(self.sizes, self.n_clusters)
        if not len(self.times):
            raise ValueError(f"times={self.times!r}: give at least one time of diffusion, such as (10, 3).")
        for time in self.times:
            check_not_negative("each of times", time)

    def _embed(self, graph: Graph, constraints: Constraints, rng: np.random.RandomState) -> FloatArray:
        signed, anchors = self._pose(graph, constraints)
        sources = anchors.indicator(graph.n_nodes, self.n_clusters)
        counts = np.bincount(anchors.cluster, minlength=self.n_clusters)
        rule = size_rule(self.sizes, graph.n_nodes, self.n_clusters, 1.0, counts)
        scores = self._first_scores(signed, anchors, sources, rule, rng)
        paths = [
            self._descend(
                signed, scores, self.label_weight * sources, [rule.scaled(tau) for tau in penalties]
            )
            for penalties in self._schedules(rule)
        ]
        self._remember_sizes(paths)
        return self._chosen.scores

    def _schedules(self, rule: SizeRule) -> tuple[tuple[float, ...], ...]:
        """Return the penalties to go through, once or twice; a single one if sizes are given."""
        if (rule.lower == rule.upper).all() or self.n_clusters == 1:
            return ((0.0,),)
        return SCHEDULES if isinstance(self.size_penalty, str) else ((float(self.size_penalty),),)

    def _first_scores(
        self,
        signed: SignedGraph,
        anchors: Anchors,
        sources: FloatArray,
        rule: SizeRule,
        rng: np.random.RandomState,
    ) -> FloatArray:
        """Return shares of clusters in points: of labels that were spread, or of a spectral clustering."""
        if anchors.n_anchored == self.n_clusters:
            return spread_labels(signed, sources)
        first = self._first_clusters(signed, anchors, rng)
        return NAMED * np.eye(self.n_clusters)[by_size(first, anchors.n_anchored, rule)]

    def _descend(
        self, signed: SignedGraph, scores: FloatArray, sources: FloatArray, rules: list[SizeRule]
    ) -> Descent:
        """Lower the energy under each penalty in turn, from where the one before ended."""
        labels = assign_within_sizes(scores, rules[0])[0]
        times = suitable_times(signed, labels, self.n_clusters, tuple(self.times))
        for rule in rules[:-1]:
            labels = descend(signed, labels, sources, rule, times, self.max_iter, ROUGHLY * self.tol).labels
        return descend(signed, labels, sources, rules[-1], times, self.max_iter, self.tol)

    def _remember_sizes(self, paths: list[Descent]) -> None:
        self._chosen = choose(paths)
        counts = [np.bincount(path.labels, minlength=self.n_clusters) for path in paths]
        self.sizes_ = np.bincount(self._chosen.labels, minlength=self.n_clusters)
        self.size_range_ = np.column_stack([np.min(counts, axis=0), np.max(counts, axis=0)])
        self.energies_, self.n_iter_ = self._chosen.energies, self._chosen.n_iter

    def _assign_labels(self, embedding: FloatArray, rng: np.random.RandomState) -> IntArray:
        chosen: Descent = self.__dict__.pop("_chosen")
        return chosen.labels


def choose(paths: list[Descent]) -> Descent:
    """Return the path from even sizes, unless the other ended much lower or lets much less heat out.

    Parameters
    ----------
    paths : list of Descent
        One, or two of which the first went through the strongest penalty; both ended with the same.
    """
    even, other = paths[0], paths[-1]
    saved = even.energies[-1][-1] - other.energies[-1][-1]
    is_lower = saved > WORTH * len(other.labels)
    return other if is_lower or even.leak > ADMITTED_LEAK * other.leak + ROUNDING else even


def by_size(labels: IntArray, n_anchored: int, rule: SizeRule) -> IntArray:
    """Number the clusters that have no anchor by size, so that the largest gets the largest bound.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.poisson.mbo import by_size
    >>> from sidecut.methods.poisson.sizes import size_rule
    >>> rule = size_rule([1, 1, 3], 5, 3, 0.2, np.zeros(3))
    >>> by_size(np.array([0, 1, 1, 1, 2]), 1, rule)
    array([0, 2, 2, 2, 1])
    """
    counts = np.bincount(labels, minlength=rule.n_clusters)[n_anchored:]
    room = (rule.lower + rule.upper)[n_anchored:]
    number = np.arange(rule.n_clusters)
    number[n_anchored + np.argsort(-counts, kind="stable")] = n_anchored + np.argsort(-room, kind="stable")
    return number[labels]
