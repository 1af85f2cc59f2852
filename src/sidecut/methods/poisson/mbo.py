"""Poisson learning with sizes: diffusion and thresholding of labels, pairs and sizes in one energy."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import SidecutWarning
from sidecut.graphs import Graph, GraphRecipe
from sidecut.labelling import kmeans_labels, unit_rows
from sidecut.labelling.labels import warn_if_clusters_are_missing, what_neighbors_say
from sidecut.methods.poisson.anchors import Anchors, find_anchors, number_by_anchors, signed_embedding
from sidecut.methods.poisson.base import PoissonClusterer
from sidecut.methods.poisson.descent import Descent, Diffusion, descend, one_hot, suitable_times
from sidecut.methods.poisson.equation import FAR, NEAR, spread_labels
from sidecut.methods.poisson.names import LabelWalks, join_named_pieces, walks_from_labels
from sidecut.methods.poisson.pieces import find_pieces, join_pieces
from sidecut.methods.poisson.signed_graph import SignedGraph
from sidecut.methods.poisson.sizes import SizeRule, assign_within_sizes, check_sizes, size_rule
from sidecut.methods.safeguard import CONSTRAINED, Judgement, KnownPairs, is_little, weigh
from sidecut.parameters import check_count, check_not_negative

#: The penalty of "auto", and how unlike even ones (as relative entropy) sizes from one label per cluster are
#: by chance. Both were set on digits and USPS, as they are and with classes thinned out.
PENALTY, NOISE = 0.8, 0.03
#: As evidence of sizes, what labels reach counts as much as so many labels drawn at random (set on the same).
REACHED_COUNTS = 300.0
#: With so many labels of every cluster, and so much of what they say satisfied, they are followed. With fewer
#: for each cluster, on average, the energy is lowered from several starts.
ENOUGH_LABELS, SATISFIED = 3, 0.95
#: So many steps from each start, and what unlike sizes and the likelihood of labels are worth where starts
#: are compared, for each point. Set on digits, pendigits and USPS, as they are and thinned out.
TRIAL_STEPS, SIZE_WORTH, LABEL_WORTH = 3, 0.6, 0.001
#: The score of the cluster in which a spectral clustering puts a point: no penalty undoes it.
NAMED = 100.0


class First(NamedTuple):
    """Where a descent begins: the shares of clusters in points, and the sizes that labels reach.

    Labels reach so far over short ways; a clustering of the graph has its own sizes.
    """

    scores: FloatArray
    reached: IntArray


class PoissonMBO(PoissonClusterer):
    """Labels, pairs and sizes in one energy, lowered by diffusion and thresholding.

    Sizes of clusters are worth as much as many labels. They may be given, bounded, or unknown; unknown sizes
    are estimated from what the labels reach, and other sizes have a price.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    sizes : None, "labels", array of shape (n_clusters,) or (n_clusters, 2), default=None
        None: unknown. "labels": the labels were drawn at random, so that their numbers tell of the sizes as
        well as what they reach. One number for each cluster: the sizes, as numbers of points or as shares. A
        pair for each: the least and the most. Clusters with labels come first, as the labelled points meet
        them, then the others from large to small.
    size_penalty : "auto" or float, default="auto"
        τ, the price of sizes unlike the estimate: a cluster e times larger than estimated gives way at a
        boundary by so much of the score, which lies between 0 and 1. "auto" is 0.8.
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
        How many starts k-means has, where nothing is known or the graph is not connected.
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
    verbose : int or bool, default=0
        1: write the stages of the fit and their seconds to standard error, with a bar for long ones on a
        terminal. 2: also the stages within them.
    random_state : int, RandomState or None, default=None
        An int makes the result reproducible; three labels of every cluster leave nothing to chance.

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
        The least and the largest of three estimates: the sizes that labels reach, the estimate that the
        penalty refers to, and `sizes_`. Where they differ, sizes are in doubt.
    energies_ : list of arrays
        For every time the energy before the first step and after each; it never rises. Where sizes are not
        given, some times come twice: once more with the sizes found.
    n_iter_ : int
        How many steps were taken, those of starts that were only tried left out.
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
        self.sizes = sizes
        self.size_penalty = size_penalty
        self.label_weight = label_weight
        self.times = times
        self.max_iter = max_iter
        self.tol = tol

    #: All of them are satisfied here, whatever becomes of the other points: only held-back ones can tell.
    _tries_labels = True

    @property
    def _few_facts(self) -> int:
        # With fewer, classes would be held back as a whole.
        return max(10, 2 * self.n_clusters)

    @property
    def _is_guarded(self) -> bool:
        # Sizes are knowledge too.
        return self.safe and (self.sizes is None or isinstance(self.sizes, str))

    def _safeguard(self, X: Any, constraints: Constraints | None) -> None:
        vectors: FloatArray | None = self.__dict__.pop("_vectors", None)
        if constraints is None or not self._is_guarded or self._is_tried(constraints):
            super()._safeguard(X, constraints)
        elif self._is_well_told(constraints):
            detail = f"Every cluster has {ENOUGH_LABELS} labels or more, and they are satisfied."
            self.judgement_ = Judgement(CONSTRAINED, detail)
        elif self._is_better_than_cut(constraints, vectors):
            detail = "Labels of all clusters ask for more than the cut of the graph."
            self.judgement_ = Judgement(CONSTRAINED, detail)
        else:
            super()._safeguard(X, constraints)

    def _is_better_than_cut(self, constraints: Constraints, vectors: FloatArray | None) -> bool:
        """Tell whether labels of all clusters would be followed against the cut of the graph.

        The answer without constraints starts from that cut, and takes twice as long as this one: then it is
        not needed.
        """
        if not is_little(constraints, self.n_clusters) or not self._knows_all_clusters(constraints):
            return False
        rng = check_random_state(self.random_state)
        with warnings.catch_warnings(action="ignore", category=SidecutWarning):
            if vectors is None:
                signed = SignedGraph(self._seen[1])
                vectors = signed_embedding(signed, self.n_clusters, self.eigen_solver, rng)
            cut = kmeans_labels(unit_rows(vectors), self.n_clusters, n_init=self.n_init, random_state=rng)
        judgement = weigh(constraints, self.n_clusters, self.labels_, cut, refines=True)
        return judgement.choice == CONSTRAINED

    def _is_well_told(self, constraints: Constraints) -> bool:
        """Tell whether the answer without constraints, which takes longer than this one, is not needed."""
        counts = np.bincount(find_anchors(constraints, self.n_clusters).cluster, minlength=self.n_clusters)
        return bool(counts.min() >= ENOUGH_LABELS and constraints.satisfaction(self.labels_) >= SATISFIED)

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
        sources = self.label_weight * anchors.indicator(graph.n_nodes, self.n_clusters)
        diffusion = Diffusion(signed, sources)
        rule = size_rule(self.sizes, graph.n_nodes, self.n_clusters, 1.0)
        named = anchors.n_anchored == self.n_clusters > 1
        few = named and len(anchors.points) < ENOUGH_LABELS * self.n_clusters
        firsts = self._first_scores(signed, anchors, constraints, rule, rng)
        if few:
            firsts = [self._best_start(diffusion, anchors, first, rule, rng) for first in firsts]
        paths = self._descend(diffusion, firsts, rule)
        self._path = paths[0] if len(paths) == 1 else self._most_agreed(paths, graph, constraints)
        if named and self._penalty(rule) > 0:
            self._path = self._once_more(diffusion, self._path, rule, few)
        self._remember_sizes()
        return self._path.scores

    def _best_start(
        self,
        diffusion: Diffusion,
        anchors: Anchors,
        first: First,
        rule: SizeRule,
        rng: np.random.RandomState,
    ) -> First:
        """Return where the energy is best lowered from.

        Where labels are few, each start may end with clusters joined, cut, or under wrong names.
        """
        rule = self._expected(rule, diffusion.sources, first.reached)
        walks = walks_from_labels(diffusion.signed, anchors)
        tried = self._try_starts(diffusion, walks, first.scores, rule, rng)
        best = max(tried, key=lambda path: merit(path, rule, walks))
        return First(NAMED * one_hot(best.labels, self.n_clusters), first.reached)

    def _try_starts(
        self,
        diffusion: Diffusion,
        walks: LabelWalks,
        scores: FloatArray,
        rule: SizeRule,
        rng: np.random.RandomState,
    ) -> list[Descent]:
        """Take some steps from labels spread, and from pieces joined to clusters with names.

        Once more from where other names are likelier then.
        """
        pieces = find_pieces(diffusion.signed.graph, self.n_clusters, 0, self.eigen_solver, rng)
        # The guard looks at the cut of the graph.
        self._vectors = pieces.vectors[:, : self.n_clusters]
        joined = join_named_pieces(pieces, walks, self.n_clusters, rng)
        starts = [assign_within_sizes(scores, rule)[0], *(self._within(labels, rule) for labels in joined)]
        times = suitable_times(diffusion, starts[:1], tuple(self.times))[:1]
        tried = descend(diffusion, starts, [rule] * len(starts), times, TRIAL_STEPS, self.tol)
        named = [walks.named(path.labels, self.n_clusters) for path in tried]
        renamed = [at for at, path in enumerate(tried) if not np.array_equal(named[at], path.labels)]
        starts = [self._within(named[at], rule) for at in renamed]
        again = descend(diffusion, starts, [rule] * len(starts), times, TRIAL_STEPS, self.tol)
        for at, path in zip(renamed, again, strict=True):
            tried[at] = path
        return tried

    def _within(self, labels: IntArray, rule: SizeRule) -> IntArray:
        """Return labels within the bounds of sizes, as few of them changed as possible."""
        return assign_within_sizes(NAMED * one_hot(labels, self.n_clusters), rule)[0]

    def _penalty(self, rule: SizeRule) -> float:
        if (rule.lower == rule.upper).all():
            return 0.0
        return PENALTY if isinstance(self.size_penalty, str) else float(self.size_penalty)

    def _first_scores(
        self,
        signed: SignedGraph,
        anchors: Anchors,
        constraints: Constraints,
        rule: SizeRule,
        rng: np.random.RandomState,
    ) -> list[First]:
        """Return what labels that were spread say, or clusterings of the graph."""
        if anchors.n_anchored == self.n_clusters:
            ways = (FAR,) if np.ndim(self.sizes) == 1 else (FAR, NEAR)
            spread = spread_labels(signed, anchors.indicator(signed.n_nodes, self.n_clusters), *ways)
            return [First(spread[0], self._sizes_of(spread[-1]))]
        starts: list[IntArray] = []
        if signed.has_links or anchors.n_anchored:
            joined = join_pieces(signed.graph, constraints, self.n_clusters, self.eigen_solver, rng)
            starts += [self._with_anchors(labels, anchors) for labels in joined]
        if not starts or signed.graph.n_components > 1:
            # Links hold parts of a graph together that its own eigenvectors do not.
            starts.append(self._first_clusters(signed, anchors, rng))
        starts = [by_size(labels, anchors.n_anchored, rule) for labels in starts]
        scores = [NAMED * one_hot(labels, self.n_clusters) for labels in starts]
        return [First(score, self._sizes_of(score)) for score in scores]

    def _sizes_of(self, scores: FloatArray) -> IntArray:
        return np.bincount(scores.argmax(axis=1), minlength=self.n_clusters)

    def _with_anchors(self, labels: IntArray, anchors: Anchors) -> IntArray:
        labels = number_by_anchors(labels, anchors, self.n_clusters)
        labels[anchors.points] = anchors.cluster
        return labels

    def _most_agreed(self, paths: list[Descent], graph: Graph, constraints: Constraints) -> Descent:
        """Return the end that agrees best with what is known; of equals the one that cuts less."""
        known = KnownPairs(constraints, np.random.RandomState(0))

        def merit(path: Descent) -> tuple[float, float]:
            said = what_neighbors_say(graph, path.labels, self.n_clusters)
            return known.agreement(said), -path.tension

        return max(paths, key=merit)

    def _descend(self, diffusion: Diffusion, firsts: list[First], rule: SizeRule) -> list[Descent]:
        """Lower the energy, from the labels that scores and sizes ask for."""
        rules = [self._expected(rule, diffusion.sources, first.reached) for first in firsts]
        starts = [assign_within_sizes(first.scores, own)[0] for first, own in zip(firsts, rules, strict=True)]
        times = suitable_times(diffusion, starts, tuple(self.times))
        paths = descend(diffusion, starts, rules, times, self.max_iter, self.tol)
        for path, first, own in zip(paths, firsts, rules, strict=True):
            expected = np.rint(own.n_points * own.shares).astype(np.intp)
            path.estimates = [np.clip(sizes, own.lower, own.upper) for sizes in (first.reached, expected)]
        return paths

    def _once_more(self, diffusion: Diffusion, path: Descent, rule: SizeRule, few: bool) -> Descent:
        """Lower the energy again from its end, the sizes found being expected now.

        Sizes expected from few labels are rough: then also far. Else only the boundaries move a little.
        """
        found = np.bincount(path.labels, minlength=self.n_clusters) / len(path.labels)
        rule = rule.with_shares(found).scaled(self._penalty(rule))
        times = path.times if few else path.times[-1:]
        last = descend(diffusion, [path.labels], [rule], times, self.max_iter, self.tol)[0]
        last.energies, last.penalties = path.energies + last.energies, path.penalties + last.penalties
        last.estimates = path.estimates
        return last

    def _expected(self, rule: SizeRule, sources: FloatArray, reached: IntArray) -> SizeRule:
        """Return the rule with the shares that are expected, and its penalty."""
        counts = np.count_nonzero(sources, axis=0)
        shares = shrink(reached, counts.mean())
        if isinstance(self.sizes, str):
            shares = (counts + REACHED_COUNTS * shares) / (counts.sum() + REACHED_COUNTS)
        return rule.with_shares(shares).scaled(self._penalty(rule))

    def _remember_sizes(self) -> None:
        path = self._path
        self.sizes_ = np.bincount(path.labels, minlength=self.n_clusters)
        estimates = [*path.estimates, self.sizes_]
        self.size_range_ = np.column_stack([np.min(estimates, axis=0), np.max(estimates, axis=0)])
        self.energies_, self.n_iter_ = path.energies, path.n_iter

    def _assign_labels(self, embedding: FloatArray, rng: np.random.RandomState) -> IntArray:
        path: Descent = self.__dict__.pop("_path")
        reason = "the energy is lower without some. Label more points, give sizes, or ask for fewer clusters."
        warn_if_clusters_are_missing(path.labels, self.n_clusters, "PoissonMBO", reason)
        return path.labels


def shrink(sizes: IntArray, per_cluster: float) -> FloatArray:
    """Return shares between those of some sizes and even ones: even if the sizes may differ by chance.

    As James and Stein shrink means: the part of the unevenness that chance explains is taken away. Unevenness
    is the relative entropy of the sizes to even ones; what chance explains falls with the root of the number
    of labels.

    Parameters
    ----------
    sizes : array of shape (n_clusters,)
        Sizes that labels reached.
    per_cluster : float
        How many labels each cluster has.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.poisson.mbo import shrink
    >>> shrink(np.array([30, 35, 35]), 1.0).round(2)
    array([0.33, 0.33, 0.33])
    >>> shrink(np.array([80, 10, 10]), 1.0).round(2)
    array([0.77, 0.12, 0.12])
    """
    shares = sizes / sizes.sum()
    unevenness = float(np.sum(shares * np.log(np.maximum(shares, 1e-300) * len(shares))))
    noise = NOISE / np.sqrt(max(per_cluster, 1.0))
    trust = 1.0 - noise / unevenness if unevenness > noise else 0.0
    return trust * shares + (1.0 - trust) / len(shares)


def merit(path: Descent, rule: SizeRule, walks: LabelWalks) -> float:
    """Return how good an end is: little cut, sizes as expected unless they are given, labels where they fit.

    -E/N without prices, less `SIZE_WORTH` times the relative entropy of the sizes to the shares expected, and
    `LABEL_WORTH` times the log-likelihood of the labels.
    """
    n_clusters = rule.n_clusters
    found = np.bincount(path.labels, minlength=n_clusters) / rule.n_points
    unlike = float(np.sum(found * np.log(np.maximum(found, 1e-300) / rule.shares)))
    told = LABEL_WORTH * walks.likelihood(path.labels, n_clusters)
    return told - path.tension / rule.n_points - SIZE_WORTH * unlike * (rule.strength > 0)


def by_size(labels: IntArray, n_anchored: int, rule: SizeRule) -> IntArray:
    """Number the clusters that have no anchor by size, so that the largest gets the largest bound.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.poisson.mbo import by_size
    >>> from sidecut.methods.poisson.sizes import size_rule
    >>> rule = size_rule([1, 1, 3], 5, 3, 0.2)
    >>> by_size(np.array([0, 1, 1, 1, 2]), 1, rule)
    array([0, 2, 2, 2, 1])
    """
    counts = np.bincount(labels, minlength=rule.n_clusters)[n_anchored:]
    room = (rule.lower + rule.upper)[n_anchored:]
    number = np.arange(rule.n_clusters)
    number[n_anchored + np.argsort(-counts, kind="stable")] = n_anchored + np.argsort(-room, kind="stable")
    return number[labels]
