"""Poisson learning with sizes: diffusion and thresholding of labels, pairs and sizes in one energy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sidecut.checks import FloatArray, IntArray, Rule, check_count, check_not_negative, unless
from sidecut.constraints import Constraints
from sidecut.graphs import Graph
from sidecut.labelling.labels import warn_if_clusters_are_missing, what_neighbors_say
from sidecut.methods.base import documented
from sidecut.methods.poisson.anchors import Anchors, find_anchors, number_by_anchors
from sidecut.methods.poisson.base import PoissonClusterer, ScoreExtension
from sidecut.methods.poisson.descent import (
    Descent,
    Diffusion,
    SizeRule,
    assign_within_sizes,
    check_sizes,
    descend,
    one_hot,
    size_rule,
    suitable_times,
)
from sidecut.methods.poisson.equation import FAR, NEAR, SignedGraph, spread_labels
from sidecut.methods.poisson.starts import (
    LabelWalks,
    find_pieces,
    join_named_pieces,
    join_pieces,
    walks_from_labels,
)
from sidecut.methods.task import Answer, Task
from sidecut.progress import stage

#: The penalty of "auto", and how unlike even ones (as relative entropy) sizes from one label per cluster are
#: by chance. Both were set on digits and USPS, as they are and with classes thinned out.
PENALTY, NOISE = 0.8, 0.03
#: As evidence of sizes, what labels reach counts as much as so many labels drawn at random (set on the same).
REACHED_COUNTS = 300.0
#: With fewer labels for each cluster, on average, the energy is lowered from several starts.
ENOUGH_LABELS = 3
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


@documented
@dataclass(eq=False, repr=False)
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
    {graph}
    {constraints}
    {all}

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of every point. Clusters with labels are numbered as the labelled points meet them.
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
    {results}

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

    _: KW_ONLY
    sizes: Any = None
    size_penalty: float | str = "auto"
    label_weight: float = 1.0
    times: Sequence[float] = (10.0, 3.0)
    max_iter: int = 30
    tol: float = 1e-3
    rules: ClassVar[dict[str, Rule]] = {
        "size_penalty": unless("auto", check_not_negative),
        "label_weight": check_not_negative,
        "tol": check_not_negative,
        "max_iter": check_count,
        "times": lambda _, value: check_times(value),
    }

    caution = 0.0

    def _is_guarded(self, task: Task) -> bool:
        # Given sizes are to be kept, and labels of all clusters are what the method is for.
        is_free = self.sizes is None or isinstance(self.sizes, str)
        n_anchored = find_anchors(task.constraints, task.n_clusters).n_anchored
        return super()._is_guarded(task) and is_free and n_anchored < task.n_clusters

    def _build(self, data: Any, seed: int) -> tuple[Any, Graph | None]:
        check_sizes(self.sizes, self.n_clusters)
        return super()._build(data, seed)

    def _solve(self, task: Task) -> Answer:
        signed, anchors = self._pose(task)
        with stage("embedding"):
            path = self._lower_energy(task, signed, anchors)
        reason = "the energy is lower without some. Label more points, give sizes, or ask for fewer clusters."
        warn_if_clusters_are_missing(path.labels, task.n_clusters, "PoissonMBO", reason)
        sizes = np.bincount(path.labels, minlength=task.n_clusters)
        estimates = [*path.estimates, sizes]
        results = {
            "sizes_": sizes,
            "size_range_": np.column_stack([np.min(estimates, axis=0), np.max(estimates, axis=0)]),
            "energies_": path.energies,
            "n_iter_": path.n_iter,
        }
        extend = ScoreExtension(path.labels, path.scores)
        return Answer(path.labels, path.scores, task.graph, extend=extend, results=results)

    def _lower_energy(self, task: Task, signed: SignedGraph, anchors: Anchors) -> Descent:
        """Return where the energy is lowest, from one start or several."""
        graph, known, k, rng = task.graph, task.constraints, task.n_clusters, task.rng()
        sources = self.label_weight * anchors.indicator(graph.n_nodes, k)
        diffusion = Diffusion(signed, sources)
        rule = size_rule(self.sizes, graph.n_nodes, k, 1.0)
        named = anchors.n_anchored == k > 1
        few = named and len(anchors.points) < ENOUGH_LABELS * k
        firsts = self._first_scores(signed, anchors, known, rule, rng)
        if few:
            firsts = [self._best_start(diffusion, anchors, first, rule, rng) for first in firsts]
        paths = self._descend(diffusion, firsts, rule)
        path = paths[0] if len(paths) == 1 else self._most_agreed(paths, graph, known)
        if named and self._penalty(rule) > 0:
            return self._once_more(diffusion, path, rule, few)
        return path

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

        def merit(path: Descent) -> tuple[float, float]:
            said = what_neighbors_say(graph, path.labels, self.n_clusters)
            return constraints.agreement(said), -path.tension

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


def check_times(times: Any) -> None:
    """Refuse times of diffusion that are none, or negative."""
    if not len(times):
        raise ValueError(f"times={times!r}: give at least one time of diffusion, such as (10, 3).")
    for time in times:
        check_not_negative("each of times", time)


def shrink(sizes: IntArray, per_cluster: float) -> FloatArray:
    """Return shares between those of some sizes and even ones: even if the sizes may differ by chance.

    As James and Stein shrink means: the part of the unevenness that chance explains is taken away. Unevenness
    is the relative entropy of the sizes to even ones; what chance explains falls with the root of the number
    of labels.
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
    """Number the clusters that have no anchor by size, so that the largest gets the largest bound."""
    counts = np.bincount(labels, minlength=rule.n_clusters)[n_anchored:]
    room = (rule.lower + rule.upper)[n_anchored:]
    number = np.arange(rule.n_clusters)
    number[n_anchored + np.argsort(-counts, kind="stable")] = n_anchored + np.argsort(-room, kind="stable")
    return number[labels]
