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


def held_back_gains(
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
