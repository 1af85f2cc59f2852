"""PoissonMBO: diffusion and thresholding of labels, pairs and sizes in one energy."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sidecut.checks import FloatArray, IntArray, Rule, check_count, check_not_negative
from sidecut.constraints import Constraints
from sidecut.constraints.closure import Seeds
from sidecut.graphs import Graph
from sidecut.labelling.labels import warn_if_clusters_are_missing
from sidecut.methods.base import documented
from sidecut.methods.poisson.base import PoissonClusterer, ScoreExtension, agreement_of_neighbors
from sidecut.methods.poisson.descent import (
    Diffusion,
    EnergyPath,
    SizeRule,
    assign_within_sizes,
    check_sizes,
    descend,
    size_rule,
    suitable_times,
)
from sidecut.methods.poisson.equation import SignedGraph, spread_labels
from sidecut.methods.poisson.starts import LabelWalks, find_pieces, join_named_pieces, walks_from_labels
from sidecut.methods.task import Answer, Task
from sidecut.running import stage

#: Times of diffusion before labels are thresholded: first far, then near.
TIMES = (10.0, 3.0)
#: α of the walks that spread labels: far, for the start, and near, for the sizes.
SPREAD_ALPHAS = (0.99, 0.95)
#: Unevenness, as relative entropy, that sizes from one label per cluster have by chance. Set on digits and
#: USPS, as they are and with classes thinned out.
SIZE_NOISE = 0.03
#: Number of random labels that say as much about sizes as the reach of all labels (set on the same).
REACH_COUNT = 300.0
#: With fewer labels per cluster, on average, several starts are tried.
MIN_LABELS_FOR_ONE_START = 3
#: Weights of uneven sizes and of the likelihood of labels in the score of a start, per point. Set on digits,
#: pendigits and USPS, as they are and thinned out.
SIZE_WEIGHT, LABEL_WEIGHT = 0.6, 0.001
#: Score of the cluster of a point in a first clustering: no penalty on sizes changes it.
FIXED_SCORE = 100.0


class Start(NamedTuple):
    """Where a descent begins: the scores of clusters at points, and the cluster sizes that labels reach."""

    scores: FloatArray
    reached: IntArray


@documented
@dataclass(eq=False, repr=False)
class PoissonMBO(PoissonClusterer):
    """Labels, pairs and sizes in one energy, lowered by diffusion and thresholding.

    Sizes of clusters are worth as much as many labels. They may be given, bounded, or unknown. Unknown sizes
    are estimated from the points that labels reach, and a penalty keeps sizes near the estimate.

    Parameters
    ----------
    {n_clusters}
    sizes : None, "labels", array of shape (n_clusters,) or (n_clusters, 2), default=None
        None: unknown. "labels": the labels were drawn at random, so that their counts say something about the
        sizes. One number for each cluster: the sizes, as numbers of points or as shares. A pair for each: the
        least and the most. Clusters with labels come first, in the order of the labelled points, then the
        others from large to small.
    size_penalty : float, default=0.8
        τ, penalty on the log ratio of a cluster's size to its estimate, in units of the score, which lies
        between 0 and 1.
    link_weight : float, default=2.0
        γ, the weight of a link of strength 1, relative to the degree of its points.
    max_iter : int, default=30
        The most steps for each time of diffusion.
    tol : float, default=1e-3
        The share of changed labels below which the next time of diffusion begins.
    {graph}
    {constraints}
    {all}

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of every point. Clusters with labels are numbered in the order of the labelled points.
    sizes_ : array of shape (n_clusters,)
        The sizes of the clusters, before any repair.
    size_range_ : array of shape (n_clusters, 2)
        The least and the largest of three estimates: the sizes that labels reach, the estimate that the
        penalty refers to, and `sizes_`. Where they differ, sizes are uncertain.
    energies_ : list of arrays
        For every time of diffusion the energy before the first step and after each; it never rises. Where
        sizes are not given, some times occur twice, the second time with the sizes found.
    n_iter_ : int
        The number of steps, without those of starts that were only tried.
    embedding_ : array of shape (n_samples, n_clusters)
        The scores of the clusters, less the multipliers of their sizes.
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
    size_penalty: float = 0.8
    max_iter: int = 30
    tol: float = 1e-3
    rules: ClassVar[dict[str, Rule]] = {
        "size_penalty": check_not_negative,
        "tol": check_not_negative,
        "max_iter": check_count,
    }

    caution = 0.0

    @property
    def _must_follow(self) -> bool:
        # Given sizes must hold.
        return self.sizes is not None and not isinstance(self.sizes, str)

    def _build(self, data: Any, seed: int) -> tuple[Any, Graph | None]:
        check_sizes(self.sizes, self.n_clusters)
        return super()._build(data, seed)

    def _solve(self, task: Task) -> Answer:
        signed, seeds = self._pose(task)
        with stage("embedding"):
            path = self._lower_energy(task, signed, seeds)
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

    def _finish(self, task: Task, answer: Answer) -> Answer:
        """Count all clusters, where the graph was solved part by part."""
        if answer.unsure is not None and "sizes_" in answer.results:
            sizes = np.bincount(answer.labels, minlength=task.n_clusters)
            attached = np.bincount(answer.labels[~np.isnan(answer.unsure)], minlength=task.n_clusters)
            answer = answer.with_results(sizes_=sizes, size_range_=np.column_stack([sizes - attached, sizes]))
        return super()._finish(task, answer)

    def _lower_energy(self, task: Task, signed: SignedGraph, seeds: Seeds) -> EnergyPath:
        """Return the path of lowest energy, from one start or several."""
        graph, k, rng = task.graph, task.n_clusters, task.rng()
        diffusion = Diffusion(signed, seeds.indicator(graph.n_nodes, k))
        rule = self._size_rule(graph.n_nodes, k)
        is_named = seeds.n_seeded == k > 1
        few = is_named and len(seeds.points) < MIN_LABELS_FOR_ONE_START * k
        if seeds.n_seeded == k:
            start = self._spread_start(signed, seeds, k)
            starts = [self._best_start(diffusion, seeds, start, rule, rng) if few else start]
        else:
            starts = self._clustering_starts(task, signed, seeds, rule, rng)
        paths = self._descend(diffusion, starts, rule)
        path = paths[0] if len(paths) == 1 else _most_consistent(paths, graph, task.constraints, k)
        return self._descend_again(diffusion, path, rule, few) if is_named and rule.strength > 0 else path

    def _size_rule(self, n_points: int, k: int) -> SizeRule:
        """Return the rule for the sizes; exact sizes need no penalty."""
        rule = size_rule(self.sizes, n_points, k, float(self.size_penalty))
        return replace(rule, strength=0.0) if (rule.lower == rule.upper).all() else rule

    def _spread_start(self, signed: SignedGraph, seeds: Seeds, k: int) -> Start:
        """Return the labels spread far, and the sizes that they reach when spread near."""
        alphas = SPREAD_ALPHAS[:1] if np.ndim(self.sizes) == 1 else SPREAD_ALPHAS
        spread = spread_labels(signed, seeds.indicator(signed.n_nodes, k), *alphas)
        return Start(spread[0], np.bincount(spread[-1].argmax(axis=1), minlength=k))

    def _clustering_starts(
        self, task: Task, signed: SignedGraph, seeds: Seeds, rule: SizeRule, rng: np.random.RandomState
    ) -> list[Start]:
        """Return clusterings of the graph, where some clusters have no label."""
        starts, k = [], task.n_clusters
        for joined in self._start_clusters(task, signed, seeds, rng):
            labels = number_by_size(joined, seeds.n_seeded, rule)
            scores = FIXED_SCORE * np.eye(k)[labels]
            starts.append(Start(scores, np.bincount(labels, minlength=k)))
        return starts

    def _best_start(
        self, diffusion: Diffusion, seeds: Seeds, first: Start, rule: SizeRule, rng: np.random.RandomState
    ) -> Start:
        """Return the best of several starts: with few labels each may merge, cut or misname clusters."""
        rule = self._expected(rule, diffusion.sources, first.reached)
        walks = walks_from_labels(diffusion.signed, seeds)
        tried = self._try_starts(diffusion, walks, first.scores, rule, rng)
        best = max(tried, key=lambda path: score_start(path, rule, walks))
        return Start(FIXED_SCORE * np.eye(diffusion.n_clusters)[best.labels], first.reached)

    def _try_starts(
        self,
        diffusion: Diffusion,
        walks: LabelWalks,
        scores: FloatArray,
        rule: SizeRule,
        rng: np.random.RandomState,
    ) -> list[EnergyPath]:
        """Take three steps from spread labels and from joined pieces; again where other names fit better."""
        k = diffusion.n_clusters
        pieces = find_pieces(diffusion.signed.graph, k, 0, self.eigen_solver, rng)
        joined = [FIXED_SCORE * np.eye(k)[labels] for labels in join_named_pieces(pieces, walks, k, rng)]
        starts = [assign_within_sizes(each, rule)[0] for each in (scores, *joined)]
        times = suitable_times(diffusion, starts[:1], TIMES)[:1]
        tried = descend(diffusion, starts, [rule] * len(starts), times, 3, self.tol)
        named = [walks.names(walks.shares(path.labels, k))[path.labels] for path in tried]
        renamed = [at for at, path in enumerate(tried) if not np.array_equal(named[at], path.labels)]
        starts = [assign_within_sizes(FIXED_SCORE * np.eye(k)[named[at]], rule)[0] for at in renamed]
        again = descend(diffusion, starts, [rule] * len(starts), times, 3, self.tol)
        for at, path in zip(renamed, again, strict=True):
            tried[at] = path
        return tried

    def _descend(self, diffusion: Diffusion, starts: list[Start], rule: SizeRule) -> list[EnergyPath]:
        """Lower the energy from the labels of each start that fit the sizes."""
        rules = [self._expected(rule, diffusion.sources, start.reached) for start in starts]
        labels = [assign_within_sizes(start.scores, own)[0] for start, own in zip(starts, rules, strict=True)]
        times = suitable_times(diffusion, labels, TIMES)
        paths = descend(diffusion, labels, rules, times, self.max_iter, self.tol)
        for path, start, own in zip(paths, starts, rules, strict=True):
            expected = np.rint(own.n_points * own.shares).astype(np.intp)
            path.estimates = [np.clip(sizes, own.lower, own.upper) for sizes in (start.reached, expected)]
        return paths

    def _descend_again(self, diffusion: Diffusion, path: EnergyPath, rule: SizeRule, few: bool) -> EnergyPath:
        """Lower the energy again from its end, with the sizes found in place of the expected ones."""
        # Sizes expected from few labels are rough: then far and near. Otherwise near only.
        found = np.bincount(path.labels, minlength=diffusion.n_clusters) / len(path.labels)
        times = path.times if few else path.times[-1:]
        rules = [replace(rule, shares=found)]
        last = descend(diffusion, [path.labels], rules, times, self.max_iter, self.tol)[0]
        last.energies, last.penalties = path.energies + last.energies, path.penalties + last.penalties
        last.estimates = path.estimates
        return last

    def _expected(self, rule: SizeRule, sources: FloatArray, reached: IntArray) -> SizeRule:
        """Return the rule with the shares that are expected from the reach of labels, and their counts."""
        counts = np.count_nonzero(sources, axis=0)
        shares = shrink(reached, counts.mean())
        if isinstance(self.sizes, str):
            shares = (counts + REACH_COUNT * shares) / (counts.sum() + REACH_COUNT)
        return replace(rule, shares=shares)


def _most_consistent(
    paths: list[EnergyPath], graph: Graph, constraints: Constraints, n_clusters: int
) -> EnergyPath:
    """Return the path whose neighbours' labels agree best with the constraints, then that of least energy."""

    def key(path: EnergyPath) -> tuple[float, float]:
        return agreement_of_neighbors(graph, path.labels, constraints, n_clusters), -path.energy_without_sizes

    return max(paths, key=key)


def shrink(sizes: IntArray, per_cluster: float) -> FloatArray:
    """Return shares between those of some sizes and even ones (James & Stein)."""
    # Unevenness is the relative entropy of the sizes to even ones. The part that chance explains is removed;
    # it falls with the root of the number of labels per cluster.
    shares = sizes / sizes.sum()
    unevenness = float(np.sum(shares * np.log(np.maximum(shares, 1e-300) * len(shares))))
    noise = SIZE_NOISE / np.sqrt(max(per_cluster, 1.0))
    trust = 1.0 - noise / unevenness if unevenness > noise else 0.0
    return trust * shares + (1.0 - trust) / len(shares)


def score_start(path: EnergyPath, rule: SizeRule, walks: LabelWalks) -> float:
    """Return -E₀/N - `SIZE_WEIGHT` Σ_c (n_c/N) log(n_c / (N q_c)) + `LABEL_WEIGHT` Σ_j w_j log p_{j, c_j}."""
    # E₀ is the energy without sizes. The middle term is left out where sizes are given.
    n_clusters = rule.n_clusters
    found = np.bincount(path.labels, minlength=n_clusters) / rule.n_points
    unlike = float(np.sum(found * np.log(np.maximum(found, 1e-300) / rule.shares)))
    by_labels = LABEL_WEIGHT * walks.likelihood(path.labels, n_clusters)
    by_sizes = SIZE_WEIGHT * unlike * (rule.strength > 0)
    return by_labels - path.energy_without_sizes / rule.n_points - by_sizes


def number_by_size(labels: IntArray, n_seeded: int, rule: SizeRule) -> IntArray:
    """Number the clusters that have no seed by size, so that the largest gets the largest bound."""
    counts = np.bincount(labels, minlength=rule.n_clusters)[n_seeded:]
    room = (rule.lower + rule.upper)[n_seeded:]
    number = np.arange(rule.n_clusters)
    number[n_seeded + np.argsort(-counts, kind="stable")] = n_seeded + np.argsort(-room, kind="stable")
    return number[labels]
