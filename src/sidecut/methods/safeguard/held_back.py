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
#: So many times that gain is clear after half of the parts.
CLEARLY = 2.0
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
    """Return how much better than the graph each answer gets held-back pairs, and the gain it needs.

    Not all parts are held back where that is clear before: where no answer can reach the gain any more,
    whatever it gets right of the rest, the most that each can reach is returned; where one has far more after
    half of the parts, what each has gained there.
    """
    needed = gain_beyond_chance(known)
    folds = _deal_pairs(known, rng)
    of_graph = [known.counts(graph, counted) for _, counted in folds]
    all_right = [_all_right(known, counted) for _, counted in folds]
    base = chance_corrected(np.sum(of_graph, axis=0))
    asked = {name: np.zeros(4) for name in answers}
    most = dict.fromkeys(answers, 1.0 - base)
    for k, (given, counted) in enumerate(folds, start=1):
        if max(most.values()) <= needed:
            break
        found = refit(constraints.among(known.points[given])) or {}
        for name in answers:
            asked[name] += known.counts(found.get(name, graph), counted)
        base_so_far = chance_corrected(np.sum(of_graph[:k], axis=0))
        so_far = {name: chance_corrected(count) - base_so_far for name, count in asked.items()}
        if 2 * k >= len(folds) and max(so_far.values()) > CLEARLY * needed:
            return so_far, needed
        # What has not been asked yet may all be right.
        rest = np.sum(all_right[k:], axis=0)
        most = {name: chance_corrected(count + rest) - base for name, count in asked.items()}
    return most, needed


def gain_beyond_chance(known: KnownPairs) -> float:
    """Return the gain in agreement with what an answer was not told that counts."""
    return float(LEAST_GAIN + GAIN_BY_CHANCE / np.sqrt(known.n_facts))


def _deal_pairs(known: KnownPairs, rng: np.random.RandomState) -> list[tuple[BoolArray, BoolArray]]:
    """Return for every part held back the points that are given, and the pairs with one that is not."""
    fold_of = known.deal(N_FOLDS, rng)
    told = [fold_of != fold for fold in np.unique(fold_of)]
    return [(given, ~(given[known.first] & given[known.second])) for given in told if given.any()]


def _all_right(known: KnownPairs, counted: BoolArray) -> FloatArray:
    """Return the counts of an answer that gets some pairs right."""
    together = np.count_nonzero(known.together & counted)
    apart = np.count_nonzero(counted) - together
    return np.array([together, apart, together, apart], dtype=np.float64)
