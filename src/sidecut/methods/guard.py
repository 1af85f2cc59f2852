"""The guard: whether constraints are followed, or the answer without them is kept.

A few constraints can move a cut to another place and make every other point worse. So the method answers with
constraints and without, and the constrained answer must agree with the constraints better. A cautious method
must also show that it gains on constraints it was not given: some are held out, and it answers without them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from sidecut.checks import IntArray
from sidecut.constraints import ConstraintFolds, Constraints
from sidecut.constraints.folds import Fold, held_out_agreement
from sidecut.exceptions import ConstraintWarning, InfeasibleError, SidecutWarning, SpectralError, warn
from sidecut.methods.task import Answer, Decision, Task
from sidecut.running import stage
from sidecut.spectral.laplacian import certified

#: With this many independent pairs, and this many for each cluster, nothing is held out; and an answer that
#: agrees with them to this degree is not compared with any other.
AMPLE_PAIRS, AMPLE_PAIRS_PER_CLUSTER, AMPLE_AGREEMENT = 100, 20, 0.9
#: With fewer independent pairs no method is followed.
MIN_PAIRS = 3
#: The gain in agreement with held-out constraints that a cautious method needs: this over the root of their
#: number, times the caution of the method.
MIN_GAIN = 0.25
#: Half of the parts are enough where they gain this many times what is needed, or nothing.
CLEAR_GAIN = 3.0

Solve = Callable[[Task], Answer]


def guard(task: Task, solve: Solve, caution: float, is_ample: bool) -> Answer:
    """Return the constrained answer, or the unconstrained one where the constraints do not favour it."""
    # `is_ample` says that the constraints are enough for the method: then nothing is held out.
    known, answer = task.constraints, None
    is_ample = is_ample and not is_of_one_class(known)
    if is_ample:
        answer = solve(task)
        if known.agreement(answer.labels) >= AMPLE_AGREEMENT:
            return answer.because(Decision("constrained", "The answer agrees with many constraints."))
    trial, plain_task = replace(task, is_trial=True), task.without_constraints()
    with stage("answer without constraints"), warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        plain = solve(replace(plain_task, is_trial=True))
    keep_plain = partial(_keep, plain_task, solve, plain, heard)
    if known.satisfaction(plain.labels) == 1.0:
        reason = "the clusters found without them agree with all of them"
        return keep_plain(Decision("unconstrained", reason))
    try:
        answer = answer or solve(trial.given(known, plain=plain))
    except (InfeasibleError, SpectralError) as error:
        if not caution:
            raise
        reason = f"no clusters could be found with them: {error}"
    else:
        reason = _why_not(trial.given(known, plain=plain, start=answer), solve, caution, is_ample)
    if answer is not None and not reason:
        answer = _certified(task.given(known, plain=plain), solve, answer)
        return answer.because(Decision("constrained", "The answer agrees with the constraints better."))
    warn(
        f"Your {describe(known)} not used because {reason}. The clusters found without them agree with "
        f"{known.satisfaction(plain.labels):.0%} of what you gave. Give more, or use these with safe=False.",
        ConstraintWarning,
    )
    return keep_plain(Decision("unconstrained", reason))


def are_ample(known: Constraints, n_clusters: int) -> bool:
    """Tell whether there are enough constraints for any method to follow them."""
    return known.n_independent_pairs >= max(AMPLE_PAIRS, AMPLE_PAIRS_PER_CLUSTER * n_clusters)


def describe(known: Constraints) -> str:
    """Return what was given in words, such as "15 labels were"."""
    if known.labels is not None:
        counts = {"label": int(np.count_nonzero(known.labels >= 0))}
    else:
        counts = {"must-link": known.n_must_link, "cannot-link": known.n_cannot_link}
    said = [f"{count:,} {name}{'s' * (count > 1)}" for name, count in counts.items() if count]
    return (" and ".join(said) or "constraints") + (" was" if sum(counts.values()) == 1 else " were")


def held_out_gain(task: Task, solve: Solve, needed: float | None = None) -> float:
    """Return how much better than the plain answer the method agrees with constraints held out."""
    # Two parts of four are held out where they show clearly that it is more than needed, or less.
    sample = draw_sample(task) if task.sample is None else task.sample
    folds, plain, found, gain = [], task.plain.labels, [], 0.0
    for fold in ConstraintFolds(4, random_state=0).split(task.constraints):
        folds.append(fold)
        try:
            found.append(solve(task.given(fold.train, sample=sample)).labels)
        except (InfeasibleError, SpectralError):
            found.append(plain)
        gain = _gain(task.constraints, folds, found, [plain] * len(folds))
        if len(folds) == 2 and needed is not None and not 0.0 < gain < CLEAR_GAIN * needed:
            break
    return gain


def _gain(known: Constraints, folds: Sequence[Fold], found: list[IntArray], plain: list[IntArray]) -> float:
    """Return how much better labels agree with what each fold holds out than the plain ones."""
    if not is_of_one_class(known):
        return held_out_agreement(folds, found) - held_out_agreement(folds, plain)
    before, after = (held_out_capture(folds, labels) for labels in (plain, found))
    return (after - before) / (max(before, after) or 1.0)


def needed_gain(known: Constraints, n_clusters: int, caution: float) -> float:
    """Return the gain in agreement with held-out constraints with which a method is followed."""
    # K clusters leave a K-th of cannot-links to gain: chance moves agreement with them K times as far. Labels
    # of one class say nothing of K - 1 clusters.
    times = n_clusters if is_of_one_class(known) or not known.n_must_link else 1
    return caution * times * MIN_GAIN / np.sqrt(known.n_independent_pairs)


def is_of_one_class(known: Constraints) -> bool:
    """Tell whether the constraints join points of one class, and say nothing of any other."""
    return not known.n_cannot_link and known.components.n_components == 1


def held_out_capture(folds: Sequence[Fold], labels: Sequence[IntArray]) -> float:
    """Return recall²/share of the cluster that holds most of one class, by its points held out."""
    # Up to a factor this is precision times recall (Lee & Liu, 2003): a cluster that grows over other classes
    # has a recall of one, and gains nothing.
    if not folds:
        return 0.0
    n_held_out, n_captured, share = 0, 0, 0.0
    for fold, found in zip(folds, labels, strict=True):
        cluster = np.bincount(found[fold.knowledge.points]).argmax()
        n_held_out += len(fold.held_out)
        n_captured += int(np.count_nonzero(found[fold.held_out] == cluster))
        share += float(np.mean(found[found >= 0] == cluster)) / len(folds)
    return (n_captured / n_held_out) ** 2 / share


def draw_sample(task: Task) -> IntArray:
    """Return the points on which answers are compared: 5,000, and all that have constraints."""
    some = np.random.RandomState(0).permutation(task.n_points)[:5_000]
    return np.union1d(some, task.constraints.constrained_points)


def _why_not(task: Task, solve: Solve, caution: float, is_ample: bool) -> str:
    """Return why the answer `task.start` is not kept, or nothing if it is."""
    known = task.constraints
    if known.agreement(task.start.labels) <= known.agreement(task.plain.labels):
        return "clusters found with them agree with them no better"
    if is_ample:
        return ""
    if known.n_independent_pairs < MIN_PAIRS:
        return "they are too few to show that they help"
    if is_of_one_class(known):
        caution = max(caution, 1.0)
    if not caution:
        return ""
    needed = needed_gain(known, task.n_clusters, caution)
    with stage("held-out constraints"), warnings.catch_warnings(action="ignore", category=SidecutWarning):
        # Two parts of the labels of one class say too little.
        if held_out_gain(task, solve, None if is_of_one_class(known) else needed) > needed:
            return ""
    return "they do not help to predict one another: some were held out, and the others did not find them"


def _keep(
    task: Task, solve: Solve, plain: Answer, heard: list[warnings.WarningMessage], decision: Decision
) -> Answer:
    """Keep the answer without constraints, and repeat its warnings."""
    for warning in heard:
        warn(str(warning.message), warning.category)
    return _certified(task, solve, plain).because(decision)


def _certified(task: Task, solve: Solve, answer: Answer) -> Answer:
    """Return an answer that is kept with its certificate; where others may be missing, solve again."""
    if answer.solution is None:
        return answer
    with stage("certificate"):
        solution = certified(answer.solution)
    return solve(task) if solution is None else replace(answer, solution=solution)
