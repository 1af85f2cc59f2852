"""What is held back from a method, and whether it gets that right: points in folds, with all their pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from scipy.optimize import linear_sum_assignment

from sidecut.arrays import BoolArray, FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.methods.safeguard.pairs import KnownPairs, chance_corrected

#: Of so many parts one is held back at a time.
N_FOLDS = 4
#: The gain in held-back agreement that counts is the first number plus the second over the root of the number
#: of facts. On what they were set: benchmarks/choices/few_labels_safety.py.
LEAST_GAIN, GAIN_BY_CHANCE = 0.05, 0.25
#: The name of the answer that uses nothing that is known, and of one that uses it all.
GRAPH, CONSTRAINED = "graph", "constrained"

Refit = Callable[[Constraints], Mapping[str, IntArray] | None]


def count_decided(
    constraints: Constraints,
    known: KnownPairs,
    unconstrained: IntArray,
    refit: Callable[[Constraints], IntArray],
) -> tuple[int, int]:
    """Count what is held back that only the told answer gets right, and what only the other does.

    Of pairs both points are held back: with one point told a pair is half right already, and the told answer
    would look better than it is. Of labels every point is counted by itself.

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
    find = _right_pairs if constraints.labels is None else _right_points
    alone = find(constraints, known, unconstrained)
    fold_of = known.deal(N_FOLDS, np.random.RandomState(0))
    only_told = only_alone = 0
    for fold in np.unique(fold_of):
        held_back = fold_of == fold
        told = find(constraints, known, refit(constraints.among(known.points[~held_back])))
        counted = (
            held_back if constraints.labels is not None else held_back[known.first] & held_back[known.second]
        )
        only_told += int(np.count_nonzero(told & ~alone & counted))
        only_alone += int(np.count_nonzero(alone & ~told & counted))
    return only_told, only_alone


def _right_pairs(constraints: Constraints, known: KnownPairs, labels: IntArray) -> BoolArray:
    found = labels[known.points]
    return (found[known.first] == found[known.second]) == known.together


def _right_points(constraints: Constraints, known: KnownPairs, labels: IntArray) -> BoolArray:
    classes = np.unique(np.asarray(constraints.labels)[known.points], return_inverse=True)[1]
    return find_right(labels[known.points], classes)


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


def held_back_gains(
    constraints: Constraints,
    known: KnownPairs,
    answers: Mapping[str, IntArray],
    graph: IntArray,
    refit: Refit,
    rng: np.random.RandomState,
) -> tuple[dict[str, float], float]:
    """Return how much better than the graph each answer gets held-back pairs, and the gain it needs."""
    counts = _count_held_back(constraints, known, graph, refit, list(answers), rng)
    base = chance_corrected(counts.pop(GRAPH))
    gains = {name: chance_corrected(count) - base for name, count in counts.items()}
    return gains, gain_beyond_chance(known)


def gain_beyond_chance(known: KnownPairs) -> float:
    """Return the gain in agreement with what an answer was not told that counts."""
    return float(LEAST_GAIN + GAIN_BY_CHANCE / np.sqrt(known.n_facts))


def _count_held_back(
    constraints: Constraints,
    known: KnownPairs,
    graph: IntArray,
    refit: Refit,
    names: list[str],
    rng: np.random.RandomState,
) -> dict[str, FloatArray]:
    """Count pairs of which at least one point was held back, as each answer and the graph places them."""
    counts = {name: np.zeros(4) for name in (*names, GRAPH)}
    fold_of = known.deal(N_FOLDS, rng)
    for fold in np.unique(fold_of):
        given = fold_of != fold
        if not given.any():
            continue
        counted = ~(given[known.first] & given[known.second])
        found = refit(constraints.among(known.points[given])) or {}
        for name in counts:
            counts[name] += known.counts(found.get(name, graph), counted)
    return counts
