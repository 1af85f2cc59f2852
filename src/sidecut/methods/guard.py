"""The guard: whether constraints are followed, or the answer without them is kept.

A few constraints can move a cut to another place and make every other point worse. Where there are few, the
method answers with constraints and without, and points that constraints speak of are held out: if answers
that were not given these agree with them no better than the answer without constraints, that one is kept.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from sklearn.metrics import adjusted_rand_score

from sidecut.checks import IntArray
from sidecut.constraints import ConstraintFolds, Constraints, Fold
from sidecut.constraints.groups import PairCounts
from sidecut.exceptions import ConstraintWarning, InfeasibleError, SidecutWarning, SpectralError, warn
from sidecut.methods.task import Answer, Decision, Task
from sidecut.progress import stage

#: With this many facts, and this many for each cluster, nothing is held out if the constrained answer agrees
#: with them to this degree.
ENOUGH, ENOUGH_PER_CLUSTER, AGREES = 100, 20, 0.9
#: Two answers that agree more than this cannot differ much in quality: the constrained one is kept.
ALIKE = 0.95
#: Constraints are held out in this many parts, one at a time.
N_FOLDS = 4
#: With fewer facts, or fewer links of one kind alone, nothing is held out.
FEWEST, FEWEST_OF_ONE_KIND = 3, 15
#: The gain in agreement with held-out labels that is needed: this over the root of their number, times the
#: caution of the method.
GAIN = 0.25
#: Methods without caution are followed on more points than this: to hold constraints out would take too long.
MANY_POINTS = 2_000
#: Answers are compared on this many points, and on all that constraints speak of.
SAMPLE = 5_000

Solve = Callable[[Task], Answer]


def guard(task: Task, solve: Solve, caution: float = 1.0) -> Answer:
    """Return the constrained answer, or the unconstrained one where held-out constraints do not favour it."""
    known, answer = task.constraints, None
    if is_enough(known, task.n_clusters):
        answer = solve(task)
        if known.agreement(answer.labels) >= AGREES and (known.labels is not None or caution == 0):
            return _follow(answer, "There are many constraints, and the answer agrees with them.")
    with stage("answer without constraints"), warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        plain = solve(task.without_constraints())
    before = known.agreement(plain.labels)
    if before == 1.0:
        return _keep(plain, heard, "The answer without constraints satisfies all of them.")
    try:
        answer = answer or solve(task.given(known, plain=plain))
    except (InfeasibleError, SpectralError) as error:
        if caution == 0:
            raise
        return _keep_unsure(plain, heard, known, f"No constrained answer was found. {error}")
    after = known.agreement(answer.labels)
    change = f"Agreement with the constraints is {before:.2f} without them and {after:.2f} with them."
    if adjusted_rand_score(answer.labels, plain.labels) > ALIKE:
        return _follow(answer, f"{change} The two answers are much alike.")
    if after <= before:
        return _keep_unsure(plain, heard, known, change)
    if caution == 0 and task.n_points > MANY_POINTS:
        return _follow(answer, change)
    fewest = FEWEST if known.n_must_link and known.n_cannot_link else FEWEST_OF_ONE_KIND
    if known.n_independent_pairs < fewest:
        n_pairs = known.n_independent_pairs
        reason = f"{change} That rests on {n_pairs} independent labels or links; {fewest} are needed."
        return _keep_unsure(plain, heard, known, reason)
    with stage("held-out constraints"), warnings.catch_warnings(action="ignore", category=SidecutWarning):
        is_better, reason = ask_held_out(task.given(known, plain=plain, start=answer), solve, caution)
    return _follow(answer, reason) if is_better else _keep_unsure(plain, heard, known, reason)


def draw_sample(task: Task) -> IntArray:
    """Return the points on which answers are compared: some, and all that constraints speak of."""
    some = np.random.RandomState(0).permutation(task.n_points)[:SAMPLE]
    return np.union1d(some, task.constraints.constrained_points)


def is_enough(known: Constraints, n_clusters: int) -> bool:
    """Tell whether there are so many constraints that nothing need be held out."""
    return known.n_independent_pairs >= max(ENOUGH, ENOUGH_PER_CLUSTER * n_clusters)


def ask_held_out(task: Task, solve: Solve, caution: float) -> tuple[bool, str]:
    """Tell whether constraints held out favour the constrained answer, and why."""
    if task.constraints.labels is None:
        won, lost = count_held_out_pairs(task, solve)
        reason = f"Of held-out pairs, {won} are right only with the other constraints, {lost} only without."
        # A sign test: the root is the standard deviation of the difference if neither answer is better.
        return won - lost > np.sqrt(won + lost), reason
    gain, needed = held_out_gain(task, solve), caution * GAIN / np.sqrt(task.constraints.n_independent_pairs)
    return gain > needed, f"Agreement with held-out labels gains {gain:.3f}; it must gain {needed:.3f}."


def count_held_out_pairs(task: Task, solve: Solve) -> tuple[int, int]:
    """Count the pairs held out that only the method gets right, and those that only the plain answer does.

    Both points of a pair are held out: with one point given, the pair may follow from a chain of others.
    """
    won = lost = 0
    for fold, found in _answers_to_folds(task, solve):
        pairs = task.constraints.among(fold.held_out)
        right, right_without = pairs.satisfied_by(found), pairs.satisfied_by(task.plain.labels)
        won += int(np.count_nonzero(right & ~right_without))
        lost += int(np.count_nonzero(right_without & ~right))
    return won, lost


def held_out_gain(task: Task, solve: Solve) -> float:
    """Return how much better than the plain answer the method agrees with labels held out."""
    answers = list(_answers_to_folds(task, solve))
    counts = [(fold.count(found), found) for fold, found in answers]
    plain = [(fold.count(task.plain.labels), task.plain.labels) for fold, _ in answers]
    return _agreement(counts) - _agreement(plain)


def _answers_to_folds(task: Task, solve: Solve) -> Iterator[tuple[Fold, IntArray]]:
    """Yield the labels where a part of the constraints is held out."""
    sample = draw_sample(task) if task.sample is None else task.sample
    for fold in ConstraintFolds(N_FOLDS, random_state=0).split(task.constraints):
        try:
            yield fold, solve(task.given(fold.train, sample=sample)).labels
        except (InfeasibleError, SpectralError):
            yield fold, task.plain.labels


def _agreement(answers: list[tuple[PairCounts, IntArray]]) -> float:
    """Return the agreement beyond chance of the answers to all folds together."""
    total = sum((counts for counts, _ in answers), start=PairCounts(0, 0, 0, 0))
    if total.together and total.apart:
        return total.rand_beyond_chance
    return float(np.mean([counts.beyond_chance(labels) for counts, labels in answers])) if answers else 0.0


def _follow(answer: Answer, reason: str) -> Answer:
    return answer.because(Decision("constrained", reason))


def _keep(plain: Answer, heard: list[warnings.WarningMessage], reason: str) -> Answer:
    """Keep the answer without constraints, and say what it warned of."""
    for warning in heard:
        warn(str(warning.message), warning.category)
    return plain.because(Decision("unconstrained", reason))


def _keep_unsure(
    plain: Answer, heard: list[warnings.WarningMessage], known: Constraints, reason: str
) -> Answer:
    """Keep the answer without constraints although it breaks some, and warn."""
    warn(
        f"The answer without constraints is kept; it satisfies {known.satisfaction(plain.labels):.0%} of the "
        f"constraints on {known.constrained_points.size} points. {reason} Give more constraints, or follow "
        "these with safe=False.",
        ConstraintWarning,
    )
    return replace(_keep(plain, heard, reason), decision=Decision("unconstrained", reason, is_sure=False))
