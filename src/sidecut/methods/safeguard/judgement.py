"""Three ways to choose between an answer that follows constraints and one that does not.

`judge` is for methods that satisfy all they are told, CSP and SCACS above all: it asks the pairs that were
held back, and where much is known the neighbours of known points. `weigh` is for all other methods where
little is known: it asks how much better an answer agrees with what it was told, and how unlike the other it
is. `try_out` is for the same methods where a little more is known: again pairs are held back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import adjusted_rand_score

from sidecut.arrays import IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintWarning, warn
from sidecut.methods.safeguard.held_back import (
    CONSTRAINED,
    GRAPH,
    Refit,
    count_decided,
    gain_beyond_chance,
    held_back_gains,
)
from sidecut.methods.safeguard.pairs import KnownPairs

#: Fewer facts than this decide nothing for `judge`. All numbers here were set on data that the pages do not
#: report on, see benchmarks/choices/few_labels_safety.py.
FEWEST_FACTS = 15
#: With so many facts, and so many for each cluster, nothing is held back.
AMPLE, AMPLE_PER_CLUSTER = 100, 20
#: Then agreement above the first number is enough. Below it neighbours are asked; where there are none, as
#: with landmarks, the gain over the graph must be the second.
AGREED, AMPLE_GAIN = 0.9, 0.2
#: A start of k-means must improve agreement by more than this to be preferred to the usual one.
NOTEWORTHY = 0.02
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
FEW_FACTS, SOME_FACTS, TRIED_POINTS, MOST_KNOWN = 4, 100, 2_000, 0.75
#: Answers that agree more than this are not tried.
MUCH_ALIKE = 0.9


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


def judge(
    constraints: Constraints,
    n_clusters: int,
    answers: Mapping[str, IntArray],
    cut_graph: Callable[[], IntArray],
    refit: Refit,
    ask_neighbors: Callable[[IntArray], IntArray] | None = None,
    is_doubtful: Callable[[IntArray], bool] | None = None,
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
    is_doubtful : callable, optional
        Tells of labels that agree with much knowledge whether the cut of the graph might be better even so.
        Then it is, if neighbours agree more with it.
    """
    # The choice has a generator of its own, so that labels do not depend on how it came about.
    rng = np.random.RandomState(0)
    known = KnownPairs(constraints, rng)
    scores = {name: known.agreement(labels) for name, labels in answers.items()}
    is_ample = is_enough(known, n_clusters)
    best = _best(scores)
    agrees = is_ample and scores[best] >= AGREED
    if agrees and not (is_doubtful is not None and is_doubtful(answers[best])):
        return Judgement(best, f"The constrained cut agrees with what is known ({scores[best]:.2f}).")
    graph = cut_graph()
    settled = settle_by_graph(known, graph)
    if settled is not None:
        return settled
    if is_ample and ask_neighbors is not None:
        base = known.agreement(ask_neighbors(graph))
        gains = {name: known.agreement(ask_neighbors(labels)) - base for name, labels in answers.items()}
        # Not less is enough where points agree by themselves.
        needed = -np.finfo(np.float64).eps if agrees else gain_beyond_chance(known)
        measured = "gain in how far neighbours agree with what is known"
    elif is_ample:
        gains, needed = scores, known.agreement(graph) + AMPLE_GAIN
        measured = "agreement with what is known"
    else:
        gains, needed = held_back_gains(constraints, known, answers, graph, refit, rng)
        measured = "gain in agreement with pairs that were held back"
    best = _best(gains)
    # Not "-0.000".
    gain, least = (round(value, 3) + 0.0 for value in (gains[best], needed))
    if gains[best] > needed:
        return Judgement(best, f"The {measured} is {gain:.3f}, and at least {least:.3f} is needed.")
    detail = (
        f"The {measured} is {gain:.3f}, and more than {least:.3f} is needed to leave the cut of the graph."
    )
    return Judgement(GRAPH, detail, is_sure=False)


def settle_by_graph(known: KnownPairs, graph: IntArray) -> Judgement | None:
    """Keep the cut of the graph where no constrained cut has to be looked at; return None otherwise.

    Parameters
    ----------
    known : KnownPairs
        What is known.
    graph : array of shape (n_samples,)
        Labels without constraints.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut import Constraints
    >>> from sidecut.methods.safeguard import KnownPairs, settle_by_graph
    >>> known = KnownPairs(Constraints.from_labels([0, 0, 1, -1]), np.random.RandomState(0))
    >>> print(settle_by_graph(known, np.array([1, 1, 0, 0])))
    The cut of the graph alone satisfies all that is known.
    """
    if known.agreement(graph) == 1.0:
        return Judgement(GRAPH, "The cut of the graph alone satisfies all that is known.")
    if known.n_facts < FEWEST_FACTS:
        return Judgement(GRAPH, _too_little(known, FEWEST_FACTS), is_sure=False)
    return None


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


def is_enough(known: KnownPairs, n_clusters: int) -> bool:
    """Tell whether so much is known that nothing is held back."""
    return known.n_facts >= max(AMPLE, AMPLE_PER_CLUSTER * n_clusters)


def agrees_amply(constraints: Constraints, n_clusters: int, labels: IntArray) -> bool:
    """Tell whether so much is known, and labels agree with it so well, that no other answer is looked at."""
    known = KnownPairs(constraints, np.random.RandomState(0))
    return is_enough(known, n_clusters) and known.agreement(labels) >= AGREED


def weigh(
    constraints: Constraints,
    n_clusters: int,
    constrained: IntArray,
    unconstrained: IntArray,
    *,
    refines: bool = False,
    fewest: int = FEWEST_FOR_GAIN,
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
    fewest : int, default=3
        Fewer facts than this decide nothing.

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
    fewest = FEWEST_MUST_LINKS if are_must_links else fewest
    if known.n_facts < fewest:
        return Judgement(GRAPH, _too_little(known, fewest), is_sure=False)
    detail = f"Agreement with what is known is {before:.2f} without constraints and {after:.2f} with them."
    is_better = gain > 0 and (alike > ALIKE or gain * np.sqrt(known.n_facts) > 1)
    if is_better:
        return Judgement(CONSTRAINED, detail)
    if gain > 0:
        detail += (
            f" The two answers are very different, so with {known.n_facts} facts the gain must be more than "
            f"{1 / np.sqrt(known.n_facts):.2f}."
        )
    return Judgement(GRAPH, detail, is_sure=False)


def _too_little(known: KnownPairs, fewest: int) -> str:
    """Say that there are too few facts, and how many it takes."""
    if known.together.all():
        return f"Too little to decide by: {known.n_facts} of at least {fewest} must-links."
    return f"Too little to decide by: {known.n_facts} of at least {fewest} labels beyond the first, or pairs."


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
) -> Judgement:
    """Choose between an answer and the one without constraints by what was held back.

    A sign test: what both answers get right, or both wrong, says nothing. Of the other pairs, those that only
    the told answer gets right must be more than those that only the other does, by more than the root of
    their number, which is the standard deviation of the difference if neither answer is better. Labels are
    counted one by one, and more of them right is enough. Answers that are much alike are not tried: neither
    can be much worse.

    Parameters
    ----------
    constraints : Constraints
        What is known.
    constrained, unconstrained : arrays of shape (n_samples,)
        Labels with constraints and without.
    refit : callable
        Given a part of the constraints, returns labels.
    """
    known = KnownPairs(constraints, np.random.RandomState(0))
    before = known.agreement(unconstrained)
    if known.agreement(constrained) <= before:
        detail = "The answer without constraints agrees with them as well as the one that is told them."
        return Judgement(GRAPH, detail, is_sure=before == 1.0)
    if adjusted_rand_score(constrained, unconstrained) > MUCH_ALIKE:
        return Judgement(CONSTRAINED, "The answers with constraints and without are much alike.")
    only_told, only_alone = count_decided(constraints, known, unconstrained, refit)
    kind, luck = ("pairs", 1.0) if constraints.labels is None else ("labels", 0.0)
    detail = (
        f"Of {kind} that were held back, {only_told} are right only with the others told, "
        f"{only_alone} only without."
    )
    is_better = only_told - only_alone > luck * np.sqrt(only_told + only_alone)
    return Judgement(CONSTRAINED, detail) if is_better else Judgement(GRAPH, detail, is_sure=False)


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
