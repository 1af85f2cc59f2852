"""A stopping rule with a meaning: clusters are checked by points drawn at random, until a statement holds.

No model of the data enters. In a round the clusters stay as they are. From every cluster n points are drawn
at random and compared with its middle, and the middles of any two clusters are compared. A cluster of N
points with f of them foreign passes with the chance

    Π_{i<n} (N - f - i) / (N - i),

so that n is the smallest number for which this is at most α / 2k for k clusters. A run that asks sets
compares eight points with a middle at once, and nine middles with each other.

Where answers are wrong with chance ε, a comparison is repeated, with other points of the cluster, and each
answer moves its log odds by log (1 - ε) / ε (Wald's sequential test). Two middles must reach log 2m / α for m
comparisons in all. A foreign point may be missed with a chance β, as others may be found: j of them pass with
chance β^j, so that n is the smallest number for which Σ_j P(j of the f are drawn) β^j is at most α / 2k. A
point belongs to its cluster from log odds of log 1 / β on, and is foreign from -log d / .05 on for d points
that are drawn, so that right clusters fail with a chance of 5 %.

If a comparison fails, the answers go into the run, which asks on, and another round begins; round j has
α = (1 - confidence) / j(j + 1), which adds up to 1 - confidence over all rounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.stats import hypergeom

from sidecut.active.clustering import ActiveClustering
from sidecut.active.oracles import Oracle
from sidecut.active.precomputed import check_costs
from sidecut.active.records import MAX_SET, Answer, Question, SetAnswer
from sidecut.checks import IntArray, check_count, is_number


@dataclass(frozen=True)
class Certificate:
    """What is sure of the clusters.

    Attributes
    ----------
    holds : bool
        Whether all checks passed before the budget was spent.
    labels : array of shape (n_samples,)
        The clusters it is about.
    n_questions : int
        Questions that were asked, for checks and between them.
    n_rounds : int
        Rounds of checks.
    words : str
        The statement.
    """

    holds: bool
    labels: IntArray
    n_questions: int
    n_rounds: int
    words: str


#: The chance that a foreign point is missed, at most, and that right clusters fail a round.
MISSED, FAILED = 0.2, 0.05


def chance_missed(size: int, foreign: float, level: float) -> float:
    """Return β: `MISSED`, or less where a cluster has so few foreign points that all may be missed."""
    return float(min(MISSED, (level / 2.0) ** (1.0 / np.ceil(foreign * size - 1e-9))))


def n_to_draw(size: int, foreign: float, level: float, missed: float = 0.0) -> int:
    """Return how many points to draw, so that foreign ones stay unseen with chance `level` at most.

    A foreign point that is drawn is missed with the chance `missed`.

    Examples
    --------
    >>> from sidecut.active.certificate import n_to_draw
    >>> n_to_draw(1_000, 0.1, 0.01), n_to_draw(20, 0.1, 0.01)
    (43, 18)
    """
    n_foreign = int(np.ceil(foreign * size - 1e-9))
    seen = np.arange(n_foreign + 1)
    for drawn in range(1, size):
        if hypergeom.pmf(seen, size, n_foreign, drawn) @ missed**seen <= level:
            return drawn
    return size


def certify(
    run: ActiveClustering,
    oracle: Oracle,
    *,
    confidence: float = 0.95,
    foreign: float = 0.1,
    min_size: int = 10,
    budget: int = 1_000,
    between: int = 10,
) -> Certificate:
    """Ask until it is sure that no two clusters should be one, and that no cluster is mixed.

    A cluster is mixed if a share `foreign` of its points, or more, are of another class than its middle.

    Parameters
    ----------
    run : ActiveClustering
        Started; with answers or without. With a reliability below 1, or None, comparisons are repeated.
    oracle : Oracle
        Answers pairs, and the questions that the run asks between rounds.
    confidence : float, default=0.95
        The chance that the statement is right.
    foreign : float, default=0.1
        The share of foreign points from which on a cluster is mixed.
    min_size : int, default=10
        Smaller clusters may be mixed.
    budget : int, default=1000
        The number of questions at most.
    between : int, default=10
        Questions of the run after a round that failed.

    Returns
    -------
    Certificate
        The statement, and the clusters it is about.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sidecut.active import SimulatedOracle, ask, certify
    >>> X, y = load_iris(return_X_y=True)
    >>> person = SimulatedOracle(y)
    >>> run = ask(X, person, budget=30, random_state=0)
    >>> certify(run, person).words
    'With a chance of 95% no two of the 3 clusters should be one, and none with 10 points or more is mixed...'
    """
    for name, share in (("confidence", confidence), ("foreign", foreign)):
        if not is_number(share) or not 0.0 < share < 1.0:
            raise ValueError(f"{name}={share!r} must be between 0 and 1.")
    check_count("budget", budget)
    checks = _Checks(run, oracle, budget)
    n_rounds, labels = 0, run.labels_
    while checks.n_asked < budget:
        n_rounds += 1
        labels = run.labels_.copy()
        level = (1.0 - confidence) / (n_rounds * (n_rounds + 1))
        if checks.passes(labels, level, foreign, min_size):
            return Certificate(
                True, labels, checks.n_asked, n_rounds, _words(labels, confidence, foreign, min_size)
            )
        for _ in range(between):
            question = run.question()
            if question is None or checks.n_asked >= budget:
                break
            checks.n_asked += 1
            run.answer(*oracle.answer(question), question=question)
    words = f"Nothing is certain after {checks.n_asked} questions; more questions are needed."
    return Certificate(False, labels, checks.n_asked, n_rounds, words)


def _words(labels: IntArray, confidence: float, foreign: float, min_size: int) -> str:
    return (
        f"With a chance of {confidence:.0%} no two of the {labels.max() + 1} clusters should be one, and "
        f"none with {min_size} points or more is mixed (a share of {foreign:.0%} foreign points)."
    )


class _Checks:
    """Comparisons of single points with the middles of clusters, and what they showed."""

    def __init__(self, run: ActiveClustering, oracle: Oracle, budget: int) -> None:
        self.run, self.oracle, self.budget, self.n_asked = run, oracle, budget, 0
        self.asks_sets = "set" in check_costs(run.costs) and run.reliability == 1.0
        self.answered: dict[frozenset[int], bool] = {}
        self.news: list[Answer] = []
        self.rng = np.random.RandomState(run._seed)
        micro = run.precomputed_.micro_clusters
        # The run takes only answers about points that stand for their micro-cluster: others may differ.
        self.stands_for: IntArray = micro.points[micro.index_of]

    def passes(self, labels: IntArray, level: float, foreign: float, min_size: int) -> bool:
        """Return whether every comparison of a round comes out as the clusters say."""
        middles = [self._middle(labels, cluster) for cluster in range(int(labels.max()) + 1)]
        clusters = np.flatnonzero(np.bincount(labels) >= min_size)
        may_miss = self.run.reliability != 1.0
        drawn = []
        for cluster in clusters:
            inside = np.flatnonzero(labels == cluster)
            share = level / 2.0 / len(clusters)
            missed = chance_missed(len(inside), foreign, share) if may_miss else 0.0
            n = n_to_draw(len(inside), foreign, share, missed)
            drawn += [(int(x), middles[cluster], missed) for x in self.rng.permutation(inside)[:n]]
        apart = list(combinations(middles, 2))
        if self.asks_sets:
            self._ask_sets(middles, [(x, middle) for x, middle, _ in drawn])
        sure = np.log(2.0 * (len(drawn) + len(apart)) / level)
        no = np.log(len(drawn) / FAILED) if may_miss and drawn else sure
        came = all(self._compare(i, j, sure, sure, labels) is False for i, j in apart)
        # All points are compared, so that the run learns of every foreign one.
        passed = [
            self._compare(x, middle, -np.log(missed) if missed else sure, no, labels)
            for x, middle, missed in drawn
            if came
        ]
        for (x, middle, _), same in zip(drawn, passed, strict=False):
            if same is False and self.stands_for[x] != x:
                # The run learns of the micro-cluster instead.
                self._compare(int(self.stands_for[x]), middle, sure, sure, labels)
        self._tell()
        return came and all(passed)

    def _ask_sets(self, middles: list[int], drawn: list[tuple[int, int]]) -> None:
        """Ask for what is open as sets: up to nine middles, and each middle with up to eight points."""
        sets = [middles[start : start + MAX_SET] for start in range(0, len(middles), MAX_SET)]
        for middle in middles:
            points = [x for x, other in drawn if other == middle and self._known(x, middle) is None]
            step = MAX_SET - 1
            sets += [[middle, *points[start : start + step]] for start in range(0, len(points), step)]
        for points in sets:
            is_open = any(self._known(*pair) is None for pair in combinations(points, 2))
            if len(points) < 3 or not is_open or self.n_asked >= self.budget:
                continue
            self.n_asked += 1
            said, confidence = self.oracle.answer(Question(tuple(points), "a check of the clusters", "set"))
            if said is not None and confidence == 1.0:
                for (i, one), (j, other) in combinations(zip(points, said, strict=True), 2):
                    if one is not None and other is not None:
                        self.answered[frozenset((i, j))] = bool(one == other)
                told = [(x, own) for x, own in zip(points, said, strict=True) if self.stands_for[x] == x]
                if len(told) > 1:
                    inside, groups = zip(*told, strict=True)
                    self.run.tell([SetAnswer(inside, groups, strategy="check")])

    def _tell(self) -> None:
        """Let the run take the answers of comparisons."""
        if self.news:
            self.run.tell(self.news)
        self.news = []

    def _middle(self, labels: IntArray, cluster: int) -> int:
        stands = self.stands_for == np.arange(len(labels))
        inside = np.flatnonzero((labels == cluster) & stands)
        return int(inside[np.argmax(self.run.confidence_[inside])])

    def _compare(self, i: int, j: int, yes: float, no: float, labels: IntArray) -> bool | None:
        """Return whether two points belong together, by log odds of `yes` or -`no`; None: the budget ends."""
        known = self._known(i, j)
        if known is not None:
            return known
        odds = 0.0
        for a, b in self._pairs(i, j, labels):
            if self.n_asked >= self.budget:
                return None
            self.n_asked += 1
            said, confidence = self.oracle.answer(Question((a, b), "a check of the clusters"))
            if said is None:
                continue
            right = np.clip((1.0 - self.run.error_rate_.mean) * confidence, 0.5, 1.0 - 1e-12)
            odds += np.log(right / (1.0 - right)) * (1.0 if said else -1.0)
            if np.array_equal(self.stands_for[[a, b]], [a, b]):
                self.news.append(Answer(a, b, bool(said), confidence, strategy="check"))
            if self.run.reliability == 1.0:
                self._tell()
            if odds >= yes or odds <= -no:
                return bool(odds > 0)
        return None

    def _known(self, i: int, j: int) -> bool | None:
        """Return whether two points belong together by certain answers; None: open."""
        if i == j:
            return True
        if frozenset((i, j)) in self.answered:
            return self.answered[frozenset((i, j))]
        groups = self.run._belief.groups
        index_of = self.run.precomputed_.micro_clusters.index_of
        if not groups.is_certain or not np.array_equal(self.stands_for[[i, j]], [i, j]):
            return None
        one, other = (groups.group_of(int(index_of[point])) for point in (i, j))
        if one is None or other is None:
            return None
        return True if one == other else False if groups.apart[one, other] else None

    def _pairs(self, i: int, j: int, labels: IntArray) -> Iterator[tuple[int, int]]:
        """Yield pairs for one comparison: the point with the middle, then with the surest of that cluster."""
        if i != j:
            yield i, j
        inside = np.flatnonzero(labels == labels[j])
        for other in inside[np.argsort(-self.run.confidence_[inside], kind="stable")][:50]:
            if other not in (i, j):
                yield i, int(other)
