"""Is what is known enough to leave the cut of the graph? The knowledge itself is asked, by holding some back.

A constrained cut can satisfy a few labels by cutting off the labelled points, and be far worse everywhere
else than the cut of the graph alone. That shows as soon as part of the knowledge is held back: told the rest,
does the method get the pairs it was not told right more often than the graph does by itself? Agreement is
corrected for chance, as the adjusted Rand index is. Only a gain that so little knowledge does not show by
luck counts. Where the cut of the graph satisfies all that is known there is nothing to gain: it is the least
cut, and feasible.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import adjusted_rand_score

from sidecut.arrays import BoolArray, FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.constraints.satisfaction import PairCounts
from sidecut.exceptions import ConstraintWarning, warn

#: Of so many parts one is held back at a time.
N_FOLDS = 4
#: Fewer facts than this decide nothing. All numbers here were set on data that the pages do not report on,
#: see benchmarks/choices/few_labels_safety.py.
FEWEST_FACTS = 15
#: The gain in held-back agreement that counts is the first number plus the second over the root of the number
#: of facts.
LEAST_GAIN, LUCK = 0.05, 0.25
#: With so many facts, and so many for each cluster, nothing is held back.
AMPLE, AMPLE_PER_CLUSTER = 100, 20
#: Then agreement above the first number is enough, and below it a gain of the second over the graph.
AGREED, AMPLE_GAIN = 0.9, 0.2
#: More pairs than this are not listed; those among some of the points are.
MOST_PAIRS, SOME_POINTS = 2_000_000, 1_000
#: A start of k-means must improve agreement by more than this to be preferred to the usual one.
NOTEWORTHY = 0.02

#: The name of the answer that uses nothing that is known, and of one that uses it all.
GRAPH, TOLD = "graph", "told"
#: `weigh` looks at answers to fewer facts than this, or than this for each cluster.
LITTLE, LITTLE_PER_CLUSTER = 50, 5
#: Fewer facts than the first number, or than the second where all are must-links, decide nothing.
FEWEST_TOLD, FEWEST_MUST_LINKS = 3, 15
#: An answer to labels of all clusters that agrees more than this with the one without may refine it.
REFINED = 0.6
#: An answer that agrees less than this with the one without constraints needs more to speak for it.
ALIKE = 0.8

Refit = Callable[[Constraints], Mapping[str, IntArray] | None]


@dataclass(frozen=True)
class Judgement:
    """Which answer was kept, and why.

    Attributes
    ----------
    choice : str
        "graph", the cut that uses nothing that is known, or the constrained cut by its labelling: "kmeans",
        "sign", or "seeded" where k-means starts from the known classes.
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
        """Return a fold for every point; sets of points that no pair joins to others stay whole."""
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
) -> Judgement:
    """Choose between constrained answers and the cut of the graph by what is known.

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
        Told a part of the constraints, returns answers of the same names, or None where it can say nothing.
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
    if is_ample:
        gains, needed = scores, known.agreement(graph) + AMPLE_GAIN
        measured = "agreement with what is known"
    else:
        gains, needed = _held_back_gains(constraints, known, answers, graph, refit, rng)
        measured = "gain in agreement with pairs that were held back"
    best = _best(gains)
    detail = f"The {measured} is {gains[best]:.2f}; {needed:.2f} is asked for."
    return Judgement(best, detail) if gains[best] > needed else Judgement(GRAPH, detail, is_sure=False)


def is_little(constraints: Constraints, n_clusters: int) -> bool:
    """Tell whether so little is known that the answer without it has to be looked at."""
    # Every set of points that hang together has two points at least, and one fact less than points.
    return 0 < constraints.constrained_points.size < 2 * max(LITTLE, LITTLE_PER_CLUSTER * n_clusters)


def weigh(
    constraints: Constraints, n_clusters: int, told: IntArray, alone: IntArray, *, refines: bool = False
) -> Judgement:
    """Choose between the answer to little knowledge and the method's own answer without any.

    benchmarks/choices/caution.py shows on which sets its constants were set.

    Parameters
    ----------
    constraints : Constraints
        What is known.
    n_clusters : int
        K.
    told, alone : arrays of shape (n_samples,)
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
    'told'
    """
    known = KnownPairs(constraints, np.random.RandomState(0))
    if known.n_facts >= max(LITTLE, LITTLE_PER_CLUSTER * n_clusters):
        return Judgement(TOLD, f"{known.n_facts} facts are enough to follow.")
    before, after = known.agreement(alone), known.agreement(told)
    gain, alike = after - before, adjusted_rand_score(told, alone)
    if before == 1.0 and not (refines and gain == 0 and alike > REFINED and known.n_facts >= FEWEST_TOLD):
        return Judgement(GRAPH, "The answer without constraints satisfies all that is known.")
    if before == 1.0:
        return Judgement(TOLD, "Both answers satisfy all that is known, and they are much alike.")
    are_must_links = bool(known.together.all())
    fewest = FEWEST_MUST_LINKS if are_must_links else FEWEST_TOLD
    if known.n_facts < fewest:
        kind = "must-links" if are_must_links else "facts"
        detail = f"{known.n_facts} {kind} decide nothing, {fewest} might."
        return Judgement(GRAPH, detail, is_sure=False)
    detail = f"Agreement with what is known is {before:.2f} without constraints and {after:.2f} with them."
    is_better = gain > 0 and (alike > ALIKE or gain * np.sqrt(known.n_facts) > 1)
    return Judgement(TOLD, detail) if is_better else Judgement(GRAPH, detail, is_sure=False)


def _held_back_gains(
    constraints: Constraints,
    known: KnownPairs,
    answers: Mapping[str, IntArray],
    graph: IntArray,
    refit: Refit,
    rng: np.random.RandomState,
) -> tuple[dict[str, float], float]:
    """Return how much better than the graph each answer gets pairs it was not told, and what is asked for."""
    counts = {name: np.zeros(4) for name in (*answers, GRAPH)}
    fold_of = known.deal(N_FOLDS, rng)
    for fold in np.unique(fold_of):
        told = fold_of != fold
        if not told.any():
            continue
        counted = ~(told[known.first] & told[known.second])
        found = refit(constraints.among(known.points[told])) or {}
        for name in counts:
            counts[name] += known.counts(found.get(name, graph), counted)
    base = chance_corrected(counts.pop(GRAPH))
    gains = {name: chance_corrected(count) - base for name, count in counts.items()}
    return gains, LEAST_GAIN + LUCK / np.sqrt(known.n_facts)


def _best(scores: Mapping[str, float]) -> str:
    """Return the name with the largest score; a later one has to be noteworthily better than the first."""
    first = next(iter(scores))
    return max(scores, key=lambda name: scores[name] - NOTEWORTHY * (name != first))


def warn_if_unsure(judgement: Judgement, constraints: Constraints, labels: IntArray) -> None:
    """Warn where the answer without constraints is kept although it does not satisfy all that is known."""
    if judgement.is_sure:
        return
    share = constraints.satisfaction(labels)
    warn(
        f"what is known about {constraints.constrained_points.size} points is too little to improve on the "
        f"answer without it: that is kept, and satisfies {share:.0%} of the constraints. {judgement.detail} "
        "Tell more; or use safe=False, which follows the constraints whatever it costs.",
        ConstraintWarning,
    )
