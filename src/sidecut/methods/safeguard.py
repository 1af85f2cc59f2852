"""What `safe=True` means: constraints are followed only where they are enough to improve on the graph.

A constrained cut can satisfy a few labels by cutting off the labelled points, and be far worse everywhere
else than the cut of the graph. That shows when part of the knowledge is held back: does the method, given the
rest, get the held-back pairs right more often than the graph does without any? Agreement is corrected for
chance, as the adjusted Rand index is, and a gain counts only if so little knowledge would not show it by
chance. Where the cut of the graph satisfies all that is known there is nothing to gain: it is the least cut,
and feasible.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import adjusted_rand_score

from sidecut.arrays import BoolArray, FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.constraints.satisfaction import PairCounts
from sidecut.exceptions import ConstraintWarning, SidecutWarning, warn
from sidecut.methods.inputs import check_points
from sidecut.progress import stage

if TYPE_CHECKING:
    from sidecut.methods.base import ConstrainedClusterer as _Clusterer
else:
    _Clusterer = object

#: Of so many parts one is held back at a time.
N_FOLDS = 4
#: Fewer facts than this decide nothing. All numbers here were set on data that the pages do not report on,
#: see benchmarks/choices/few_labels_safety.py.
FEWEST_FACTS = 15
#: The gain in held-back agreement that counts is the first number plus the second over the root of the number
#: of facts.
LEAST_GAIN, GAIN_BY_CHANCE = 0.05, 0.25
#: With so many facts, and so many for each cluster, nothing is held back.
AMPLE, AMPLE_PER_CLUSTER = 100, 20
#: Then agreement above the first number is enough. Below it neighbours are asked; where there are none, as
#: with landmarks, the gain over the graph must be the second.
AGREED, AMPLE_GAIN = 0.9, 0.2
#: More pairs than this are not listed; those among some of the points are.
MOST_PAIRS, SOME_POINTS = 2_000_000, 1_000
#: A start of k-means must improve agreement by more than this to be preferred to the usual one.
NOTEWORTHY = 0.02

#: The name of the answer that uses nothing that is known, and of one that uses it all.
GRAPH, CONSTRAINED = "graph", "constrained"
#: `weigh` looks at answers to fewer facts than this, or than this for each cluster.
LITTLE, LITTLE_PER_CLUSTER = 50, 5
#: Fewer facts than the first number, or than the second where all are must-links, decide nothing.
FEWEST_FOR_GAIN, FEWEST_MUST_LINKS = 3, 15
#: An answer to labels of all clusters that agrees more than this with the one without may refine it.
REFINED = 0.6
#: An answer that agrees less than this with the one without constraints needs more to speak for it.
ALIKE = 0.8
#: From more facts than the first number up to the second, and among no more points than the third, pairs are
#: held back, see `try_out` and benchmarks/choices/held_back.py; unless more than this share of the points is
#: constrained: then there are few others that could be harmed.
FEW_FACTS, SOME_FACTS, TRIED_POINTS, MOST_KNOWN = 30, 100, 2_000, 0.75
#: A graph is all but in pieces, as many as clusters, if the last of as many eigenvalues is below this.
IN_PIECES = 1e-6

Refit = Callable[[Constraints], Mapping[str, IntArray] | None]


@dataclass(frozen=True)
class Judgement:
    """Which answer was kept, and why.

    Attributes
    ----------
    choice : str
        "graph", the cut that uses nothing that is known, or the constrained cut by its labelling: "kmeans",
        "sign", "seeded" where k-means starts from the known classes, or "constrained" where there is one.
    detail : str
        The reason in words.
    is_sure : bool
        Whether nothing known is left unsatisfied for want of evidence.

    Examples
    --------
    >>> from sidecut.methods.safeguard import Judgement
    >>> print(Judgement("graph", "The cut of the graph satisfies all that is known."))
    The cut of the graph satisfies all that is known.
    """

    choice: str
    detail: str
    is_sure: bool = True

    def __str__(self) -> str:
        return self.detail


class KnownPairs:
    """The pairs something is known about, listed.

    Parameters
    ----------
    constraints : Constraints
        What is known.
    rng : RandomState
        Chooses among points where there are too many pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut import Constraints
    >>> from sidecut.methods.safeguard import KnownPairs
    >>> known = KnownPairs(Constraints.from_labels([0, 0, 1, 1, -1]), np.random.RandomState(0))
    >>> known.agreement(np.array([5, 5, 7, 7, 7])), known.agreement(np.array([5, 7, 7, 5, 5]))
    (1.0, -0.5)
    """

    def __init__(self, constraints: Constraints, rng: np.random.RandomState) -> None:
        points = constraints.constrained_points
        if constraints.n_entries() > 2 * MOST_PAIRS and points.size > SOME_POINTS:
            points = np.sort(rng.choice(points, SOME_POINTS, replace=False))
        self.points = points
        matrix = sp.triu(constraints.restricted_to(points).as_matrix(), k=1).tocoo()
        self.first, self.second = matrix.row, matrix.col
        self.together: BoolArray = matrix.data > 0

    def counts(self, labels: IntArray, counted: BoolArray | None = None) -> FloatArray:
        """Return how many pairs are together, apart, rightly joined and rightly parted."""
        found = labels[self.points]
        same = found[self.first] == found[self.second]
        pairs = [self.together, ~self.together, self.together & same, ~self.together & ~same]
        return np.array([np.count_nonzero(kind if counted is None else kind & counted) for kind in pairs])

    def agreement(self, labels: IntArray) -> float:
        """Return the agreement of a clustering with all pairs, corrected for chance."""
        return chance_corrected(self.counts(labels))

    @cached_property
    def n_facts(self) -> int:
        """How many pairs do not follow from others: one less than labels, as many as scattered pairs."""
        return self.points.size - int(self._parts.max(initial=-1)) - 1

    @cached_property
    def _parts(self) -> IntArray:
        return self._components(np.ones(self.first.size, dtype=bool))

    @cached_property
    def groups(self) -> IntArray:
        """The number of the set of each point that must-links join."""
        return self._components(self.together)

    def _components(self, chosen: BoolArray) -> IntArray:
        size = self.points.size
        ends = (self.first[chosen], self.second[chosen])
        links = sp.coo_array((np.ones(ends[0].size), ends), shape=(size, size))
        return connected_components(links, directed=False)[1]

    def deal(self, n_folds: int, rng: np.random.RandomState) -> IntArray:
        """Return a fold for every point; points that pairs join stay in one fold if they can."""
        part = self._parts
        if np.bincount(part).max() * 2 > self.points.size:
            # All hang together, as labels do: point by point, class after class.
            part = np.arange(self.points.size)
        order = rng.permutation(part.max() + 1)
        group = np.zeros(part.max() + 1, dtype=np.intp)
        group[part] = self.groups
        order = order[np.argsort(group[order], kind="stable")]
        fold = np.empty(order.size, dtype=np.intp)
        fold[order] = np.arange(order.size) % n_folds
        return fold[part]


def chance_corrected(counts: FloatArray) -> float:
    """Return the Rand index of some pairs beyond chance, 0 for chance and 1 for all pairs right.

    Parameters
    ----------
    counts : array of shape (4,)
        Pairs together, apart, rightly joined, rightly parted.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.safeguard import chance_corrected
    >>> round(chance_corrected(np.array([10, 90, 5, 81])), 3)
    0.34
    """
    return PairCounts(*counts.tolist()).rand_beyond_chance


def judge(
    constraints: Constraints,
    n_clusters: int,
    answers: Mapping[str, IntArray],
    cut_graph: Callable[[], IntArray],
    refit: Refit,
    ask_neighbors: Callable[[IntArray], IntArray] | None = None,
) -> Judgement:
    """Choose between constrained answers and the cut of the graph by what is known.

    Where much is known nothing is held back. A cut can then satisfy what it was told at the points it was
    told about, and be worse elsewhere: what their neighbours say shows that.

    Parameters
    ----------
    constraints : Constraints
        What is known.
    n_clusters : int
        K.
    answers : mapping from names to arrays of shape (n_samples,)
        Constrained labels, the usual first; they are looked at where something is known only.
    cut_graph : callable
        Returns labels without constraints; called only if they are needed.
    refit : callable
        Given a part of the constraints, returns answers of the same names, or None where it finds none.
    ask_neighbors : callable, optional
        Given labels, returns those that the neighbours of every point have. Without, points speak for
        themselves.
    """
    # The choice has a generator of its own, so that labels do not depend on how it came about.
    rng = np.random.RandomState(0)
    known = KnownPairs(constraints, rng)
    scores = {name: known.agreement(labels) for name, labels in answers.items()}
    is_ample = known.n_facts >= max(AMPLE, AMPLE_PER_CLUSTER * n_clusters)
    best = _best(scores)
    if is_ample and scores[best] >= AGREED:
        return Judgement(best, f"The constrained cut agrees with what is known ({scores[best]:.2f}).")
    graph = cut_graph()
    if known.agreement(graph) == 1.0:
        return Judgement(GRAPH, "The cut of the graph alone satisfies all that is known.")
    if known.n_facts < FEWEST_FACTS:
        detail = f"{known.n_facts} facts decide nothing, {FEWEST_FACTS} might."
        return Judgement(GRAPH, detail, is_sure=False)
    if is_ample and ask_neighbors is not None:
        base = known.agreement(ask_neighbors(graph))
        gains = {name: known.agreement(ask_neighbors(labels)) - base for name, labels in answers.items()}
        needed, measured = _gain_beyond_chance(known), "gain in how far neighbours agree with what is known"
    elif is_ample:
        gains, needed = scores, known.agreement(graph) + AMPLE_GAIN
        measured = "agreement with what is known"
    else:
        gains, needed = _held_back_gains(constraints, known, answers, graph, refit, rng)
        measured = "gain in agreement with pairs that were held back"
    best = _best(gains)
    detail = f"The {measured} is {gains[best]:.2f}; {needed:.2f} is asked for."
    return Judgement(best, detail) if gains[best] > needed else Judgement(GRAPH, detail, is_sure=False)


def is_little(constraints: Constraints, n_clusters: int, *, tries_labels: bool = False) -> bool:
    """Tell whether so little is known that the answer without it has to be looked at."""
    enough = _enough(n_clusters)
    if constraints.n_samples <= TRIED_POINTS and (tries_labels or constraints.labels is None):
        enough = max(enough, SOME_FACTS + 1)
    # Every set of points that hang together has two points at least, and one fact less than points.
    if not 0 < constraints.constrained_points.size < 2 * enough:
        return False
    return KnownPairs(constraints, np.random.RandomState(0)).n_facts < enough


def _enough(n_clusters: int) -> int:
    return max(LITTLE, LITTLE_PER_CLUSTER * n_clusters)


def agrees_amply(constraints: Constraints, n_clusters: int, labels: IntArray) -> bool:
    """Tell whether so much is known, and labels agree with it so well, that no other answer is looked at."""
    known = KnownPairs(constraints, np.random.RandomState(0))
    is_ample = known.n_facts >= max(AMPLE, AMPLE_PER_CLUSTER * n_clusters)
    return is_ample and known.agreement(labels) >= AGREED


def weigh(
    constraints: Constraints,
    n_clusters: int,
    constrained: IntArray,
    unconstrained: IntArray,
    *,
    refines: bool = False,
) -> Judgement:
    """Choose between the answer to little knowledge and the method's own answer without any.

    benchmarks/choices/caution.py shows on which sets its constants were set.

    Parameters
    ----------
    constraints : Constraints
        What is known.
    n_clusters : int
        K.
    constrained, unconstrained : arrays of shape (n_samples,)
        Labels with constraints and without.
    refines : bool, default=False
        Whether the method is known to refine an answer that satisfies everything.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut import Constraints
    >>> from sidecut.methods.safeguard import weigh
    >>> known = Constraints.from_labels([0, 0, -1, 1, 1, -1])
    >>> weigh(known, 2, np.array([0, 0, 1, 1, 1, 0]), np.array([0, 0, 0, 1, 1, 1])).choice
    'graph'
    >>> weigh(known, 2, np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 0, 0, 1])).choice
    'constrained'
    """
    known = KnownPairs(constraints, np.random.RandomState(0))
    if known.n_facts >= _enough(n_clusters):
        return Judgement(CONSTRAINED, f"{known.n_facts} facts are enough to follow.")
    before, after = known.agreement(unconstrained), known.agreement(constrained)
    gain, alike = after - before, adjusted_rand_score(constrained, unconstrained)
    if before == 1.0 and not (refines and gain == 0 and alike > REFINED and known.n_facts >= FEWEST_FOR_GAIN):
        return Judgement(GRAPH, "The answer without constraints satisfies all that is known.")
    if before == 1.0:
        return Judgement(CONSTRAINED, "Both answers satisfy all that is known, and they are much alike.")
    are_must_links = bool(known.together.all())
    fewest = FEWEST_MUST_LINKS if are_must_links else FEWEST_FOR_GAIN
    if known.n_facts < fewest:
        kind = "must-links" if are_must_links else "facts"
        detail = f"{known.n_facts} {kind} decide nothing, {fewest} might."
        return Judgement(GRAPH, detail, is_sure=False)
    detail = f"Agreement with what is known is {before:.2f} without constraints and {after:.2f} with them."
    is_better = gain > 0 and (alike > ALIKE or gain * np.sqrt(known.n_facts) > 1)
    return Judgement(CONSTRAINED, detail) if is_better else Judgement(GRAPH, detail, is_sure=False)


def is_tried(constraints: Constraints, few: int = FEW_FACTS) -> bool:
    """Tell whether pairs are held back to see whether the others do good: of some facts, among few points."""
    n_points = constraints.n_samples
    if (
        constraints.is_empty
        or n_points > TRIED_POINTS
        or constraints.constrained_points.size > MOST_KNOWN * n_points
    ):
        return False
    return few < KnownPairs(constraints, np.random.RandomState(0)).n_facts <= SOME_FACTS


def try_out(
    constraints: Constraints,
    constrained: IntArray,
    unconstrained: IntArray,
    refit: Callable[[Constraints], IntArray],
    luck: float,
) -> Judgement:
    """Choose between an answer and the one without constraints by pairs that were held back.

    Answers that are much alike are not tried: neither can be much worse.

    Parameters
    ----------
    constraints : Constraints
        What is known.
    constrained, unconstrained : arrays of shape (n_samples,)
        Labels with constraints and without.
    refit : callable
        Given a part of the constraints, returns labels.
    luck : float
        The gain in agreement with held-back pairs that is asked for, times the root of the number of facts.
        Labels are counted one by one, and more of them right is enough.
    """
    known = KnownPairs(constraints, np.random.RandomState(0))
    before = known.agreement(unconstrained)
    if known.agreement(constrained) <= before:
        detail = "The answer without constraints agrees with them as well as the one that is told them."
        return Judgement(GRAPH, detail, is_sure=before == 1.0)
    if adjusted_rand_score(constrained, unconstrained) > ALIKE:
        return Judgement(CONSTRAINED, "The answers with constraints and without are much alike.")
    gain = held_back_gain(constraints, known, unconstrained, refit)
    needed, measured = luck / np.sqrt(known.n_facts), "agreement with pairs that were held back"
    if constraints.labels is not None:
        needed, measured = 0.0, "labels that were held back and found"
    detail = f"The gain in {measured} is {gain:.2f}; more than {needed:.2f} is asked for."
    return Judgement(CONSTRAINED, detail) if gain > needed else Judgement(GRAPH, detail, is_sure=False)


def held_back_gain(
    constraints: Constraints,
    known: KnownPairs,
    unconstrained: IntArray,
    refit: Callable[[Constraints], IntArray],
) -> float:
    """Return how much better an answer gets what is held back from it than the one without constraints.

    Parameters
    ----------
    constraints : Constraints
        What is known.
    known : KnownPairs
        The same, listed.
    unconstrained : array of shape (n_samples,)
        Labels without constraints.
    refit : callable
        Given a part of the constraints, returns labels.
    """
    measure = _gain_in_pairs if constraints.labels is None else _gain_in_labels
    return measure(constraints, known, unconstrained, refit, np.random.RandomState(0))


def _gain_in_pairs(
    constraints: Constraints,
    known: KnownPairs,
    alone: IntArray,
    refit: Callable[[Constraints], IntArray],
    rng: np.random.RandomState,
) -> float:
    """Return the gain in agreement with pairs of which both points were held back.

    With one point told a pair is half right already, and the gain would look larger than it is.
    """
    counts = _count_held_back(
        constraints, known, alone, lambda part: {CONSTRAINED: refit(part)}, [CONSTRAINED], rng, both=True
    )
    return chance_corrected(counts[CONSTRAINED]) - chance_corrected(counts[GRAPH])


def _gain_in_labels(
    constraints: Constraints,
    known: KnownPairs,
    alone: IntArray,
    refit: Callable[[Constraints], IntArray],
    rng: np.random.RandomState,
) -> float:
    """Return by how much the share of held-back points in the cluster of their class rises."""
    classes = np.unique(np.asarray(constraints.labels)[known.points], return_inverse=True)[1]
    fold_of = known.deal(N_FOLDS, rng)
    found = 0
    for fold in np.unique(fold_of):
        held_back = fold_of == fold
        labels = refit(constraints.among(known.points[~held_back]))
        found += int(np.count_nonzero(find_right(labels[known.points], classes)[held_back]))
    return (found - np.count_nonzero(find_right(alone[known.points], classes))) / known.points.size


def find_right(labels: IntArray, classes: IntArray) -> BoolArray:
    """Tell which points are in the cluster of their class, each class having one cluster at most.

    Parameters
    ----------
    labels, classes : arrays of shape (n,)
        Clusters, and classes.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.safeguard import find_right
    >>> find_right(np.array([2, 2, 2, 0, 0]), np.array([0, 0, 1, 1, 1]))
    array([ True,  True, False,  True,  True])
    """
    table = np.zeros((labels.max() + 1, classes.max() + 1))
    np.add.at(table, (labels, classes), 1)
    cluster, named = linear_sum_assignment(table, maximize=True)
    class_of = np.full(table.shape[0], -1)
    class_of[cluster] = named
    return class_of[labels] == classes


def _held_back_gains(
    constraints: Constraints,
    known: KnownPairs,
    answers: Mapping[str, IntArray],
    graph: IntArray,
    refit: Refit,
    rng: np.random.RandomState,
) -> tuple[dict[str, float], float]:
    """Return how much better than the graph each answer gets held-back pairs, and the gain it needs."""
    counts = _count_held_back(constraints, known, graph, refit, list(answers), rng, both=False)
    base = chance_corrected(counts.pop(GRAPH))
    gains = {name: chance_corrected(count) - base for name, count in counts.items()}
    return gains, _gain_beyond_chance(known)


def _gain_beyond_chance(known: KnownPairs) -> float:
    """Return the gain in agreement with what an answer was not told that counts."""
    return float(LEAST_GAIN + GAIN_BY_CHANCE / np.sqrt(known.n_facts))


def _count_held_back(
    constraints: Constraints,
    known: KnownPairs,
    graph: IntArray,
    refit: Refit,
    names: list[str],
    rng: np.random.RandomState,
    *,
    both: bool,
) -> dict[str, FloatArray]:
    """Count pairs of which one point was held back, or both, as each answer and the graph places them."""
    counts = {name: np.zeros(4) for name in (*names, GRAPH)}
    fold_of = known.deal(N_FOLDS, rng)
    for fold in np.unique(fold_of):
        given = fold_of != fold
        if not given.any():
            continue
        told = given[known.first], given[known.second]
        counted = ~(told[0] | told[1]) if both else ~(told[0] & told[1])
        found = refit(constraints.among(known.points[given])) or {}
        for name in counts:
            counts[name] += known.counts(found.get(name, graph), counted)
    return counts


def _best(scores: Mapping[str, float]) -> str:
    """Return the name with the largest score; a later one must be clearly better than the first."""
    first = next(iter(scores))
    return max(scores, key=lambda name: scores[name] - NOTEWORTHY * (name != first))


def warn_if_unsure(judgement: Judgement, constraints: Constraints, labels: IntArray) -> None:
    """Warn where the answer without constraints is kept although it does not satisfy all that is known."""
    if judgement.is_sure:
        return
    share = constraints.satisfaction(labels)
    warn(
        f"what is known about {constraints.constrained_points.size} points does not improve on the answer "
        f"without it, as far as can be told: that is kept, and satisfies {share:.0%} of the constraints. "
        f"{judgement.detail} "
        "Tell more; or use safe=False, which follows the constraints whatever it costs.",
        ConstraintWarning,
    )


def is_unconstrained(model: Any) -> bool:
    """Tell whether a method without a trial of its own kept its answer without constraints."""
    judgement = getattr(model, "judgement_", None)
    return isinstance(model, Safeguarded) and judgement is not None and judgement.choice == GRAPH


class Safeguarded(_Clusterer):
    """Gives a method `safe`: where little is known, its own answer without constraints may be kept.

    What the method computed stays as it is; `labels_` and `confidence_` are those of the answer kept, and
    `judgement_` says why.
    """

    safe: bool
    judgement_: Judgement
    #: What else is taken from the fit without constraints if that is kept.
    _taken: tuple[str, ...] = ()
    #: Whether an answer is judged by pairs held back. It must be where a method satisfies all it is given.
    _holds_pairs_back = False
    #: How much better it must be with pairs that are held back, see `try_out`.
    _luck = 0.5

    #: Whether labels are held back too. Most methods lose more by that than they are spared.
    _tries_labels = False

    @property
    def _few_facts(self) -> int:
        """So few facts are not held back."""
        return FEW_FACTS

    def _is_tried(self, constraints: Constraints) -> bool:
        is_of_a_kind = self._tries_labels or constraints.labels is None
        return is_of_a_kind and is_tried(constraints, self._few_facts)

    @property
    def _is_guarded(self) -> bool:
        """Whether the answer without constraints may be kept, with these parameters."""
        return self.safe

    def _safeguard(self, X: Any, constraints: Constraints | None) -> None:
        self._forget("judgement_")
        if constraints is None or not self._is_guarded:
            return
        if not is_little(constraints, self.n_clusters, tries_labels=self._tries_labels):
            return
        with (
            warnings.catch_warnings(action="ignore", category=SidecutWarning),
            stage("answer without constraints"),
        ):
            unconstrained = self._refit(X, None)
            self.judgement_ = self._judge(X, constraints, unconstrained)
        if self.judgement_.choice != GRAPH:
            return
        reason = "" if self.judgement_.is_sure else self._must_follow(constraints, unconstrained)
        if reason:
            self.judgement_ = Judgement(CONSTRAINED, f"The constraints are followed: {reason}.")
            return
        self._confidence = unconstrained.confidence_
        for name in ("labels_", *self._taken):
            setattr(self, name, getattr(unconstrained, name))
        self._hold_links(constraints)
        if hasattr(self, "repair_"):
            # It tells of the answer that is not kept. This one satisfies everything as it is.
            rows = getattr(unconstrained, "embedding_", None)
            self._repair(_dense(check_points(self, X, reset=False)) if rows is None else rows, constraints)
        warn_if_unsure(self.judgement_, constraints, self.labels_)

    def _must_follow(self, constraints: Constraints, unconstrained: Self) -> str:
        """Return why constraints are followed whatever speaks against them, or nothing."""
        if getattr(self, "hard", False):
            return "they are hard"
        if self._is_graph_in_pieces(constraints, unconstrained):
            return "the graph is in pieces, and cannot tell how these belong together"
        return ""

    def _hold_links(self, constraints: Constraints) -> None:
        """Hook: change labels so that links hold which the method promises to keep."""

    def _is_graph_in_pieces(self, constraints: Constraints, unconstrained: Self) -> bool:
        """Tell whether constrained points lie in different components, or the graph all but falls apart."""
        graph = self._seen[1]
        if graph is None:
            return False
        are_apart = np.ptp(graph.components[constraints.constrained_points]) > 0
        smallest = getattr(unconstrained, "eigenvalues_", np.ones(1))
        return bool(are_apart or smallest[-1] < IN_PIECES)

    def _judge(self, X: Any, constraints: Constraints, unconstrained: Self) -> Judgement:
        if not self._holds_pairs_back:
            refines = self._knows_all_clusters(constraints)
            alone = unconstrained.labels_
            judgement = weigh(constraints, self.n_clusters, self.labels_, alone, refines=refines)
            if judgement.choice == GRAPH or not self._is_tried(constraints):
                return judgement
            if self._must_follow(constraints, unconstrained):
                return judgement
            return try_out(
                constraints, self.labels_, alone, lambda part: self._refit(X, part).labels_, self._luck
            )
        return judge(
            constraints,
            self.n_clusters,
            {CONSTRAINED: self.labels_},
            lambda: unconstrained.labels_,
            lambda part: {CONSTRAINED: self._refit(X, part).labels_},
        )

    def _knows_all_clusters(self, constraints: Constraints) -> bool:
        """Hook: whether so few labels are all the method needs, if no two clusters lack one."""
        return False

    def _refit(self, X: Any, constraints: Constraints | None) -> Self:
        """Return the same method, fitted on the same graph with other constraints."""
        # Not a clone: that would copy a graph that is shared.
        settings = {**self.get_params(deep=False), "safe": False}
        graph = self._seen[1]
        if graph is None:
            return type(self)(**settings).fit(X, constraints=constraints)
        return type(self)(**{**settings, "affinity": "precomputed"}).fit(graph, constraints=constraints)


def _dense(points: Any) -> FloatArray:
    return np.asarray(points.toarray() if sp.issparse(points) else points, dtype=np.float64)
