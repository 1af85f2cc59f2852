"""Folds over constraints: some points are held out, and no training constraint is about them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from sidecut.checks import IntArray, check_count
from sidecut.constraints.closure import Components
from sidecut.constraints.groups import PairCounts
from sidecut.constraints.value import Constraints
from sidecut.exceptions import ConstraintWarning


@dataclass(frozen=True, eq=False)
class Fold:
    """One split of constraints.

    Parameters
    ----------
    train : Constraints
        The training constraints: none of them is about a held-out point.
    held_out : array of shape (h,)
        The held-out points.
    knowledge : Components
        All that follows from all constraints.
    """

    train: Constraints
    held_out: IntArray
    knowledge: Components

    def count(self, labels: npt.ArrayLike) -> PairCounts:
        """Count how many pairs with a held-out point a clustering gets right.

        The other point of a pair may be held out or not: a training constraint on it says nothing about the
        held-out one.

        Parameters
        ----------
        labels : array-like of shape (n_samples,)
            The cluster of each sample.
        """
        in_training = ~np.isin(self.knowledge.points, self.held_out)
        return self.knowledge.count_pairs(labels) - self.knowledge.count_pairs(labels, in_training)


class ConstraintFolds:
    """Splits of constraints for cross-validation, made so that nothing leaks.

    Constraints are closed first, then *points* are held out: a method is given the constraints among the
    other points, and scored by all pairs that have a held-out point. Folds over pairs would leak: of three
    pairs among three points, two give away the third. Where constraints form small independent sets, as
    random pairs do, whole sets are held out, and no pair is lost to the split; points with labels are dealt
    out class by class.

    Parameters
    ----------
    n_splits : int, default=5
        How many folds; fewer where fewer points or sets are known.
    random_state : int, RandomState or None, default=None
        For the order in which points are dealt.

    Examples
    --------
    >>> from sidecut import Constraints
    >>> from sidecut.constraints import ConstraintFolds
    >>> known = Constraints.from_labels([0, 0, 0, 1, 1, 1, -1])
    >>> for fold in ConstraintFolds(3, random_state=0).split(known):
    ...     print(fold.train, fold.held_out)
    Constraints(n_samples=7, 2 must-links, 4 cannot-links) [2 5]
    Constraints(n_samples=7, 2 must-links, 4 cannot-links) [1 3]
    Constraints(n_samples=7, 2 must-links, 4 cannot-links) [0 4]
    """

    def __init__(self, n_splits: int = 5, *, random_state: int | np.random.RandomState | None = None) -> None:
        self.n_splits = n_splits
        self.random_state = random_state

    def split(self, constraints: Constraints) -> Iterator[Fold]:
        """Yield the folds.

        Parameters
        ----------
        constraints : Constraints
            Where they contradict each other, the weaker ones do not count.

        Yields
        ------
        Fold
            Neither its held-out points nor its training points are empty.
        """
        knowledge = consistent(constraints).components
        fold_of = deal(knowledge, check_count("n_splits", self.n_splits), self.random_state)
        points = knowledge.points
        for number in range(int(fold_of.max(initial=-1)) + 1):
            held_out = fold_of == number
            if held_out.any() and not held_out.all():
                yield Fold(constraints.among(points[~held_out]), points[held_out], knowledge)

    def get_n_splits(self, constraints: Constraints) -> int:
        """Return how many folds `split` yields.

        Parameters
        ----------
        constraints : Constraints
            As for `split`.
        """
        return sum(1 for _ in self.split(constraints))


def held_out_agreement(folds: Sequence[Fold], labels: Sequence[IntArray]) -> float:
    """Return how far labels, found without what each fold holds out, agree with that beyond chance."""
    counts = [fold.count(found) for fold, found in zip(folds, labels, strict=True)]
    total = sum(counts, PairCounts(0, 0, 0, 0))
    if total.together and total.apart:
        return total.rand_beyond_chance
    each = [count.beyond_chance(found) for count, found in zip(counts, labels, strict=True)]
    return float(np.mean(each)) if each else 0.0


def hold_everything_out(constraints: Constraints) -> list[Fold]:
    """Return one split that holds out all constraints, for answers that use none."""
    knowledge = consistent(constraints).components
    return [Fold(Constraints.none(constraints.n_samples), knowledge.points, knowledge)]


def deal(knowledge: Components, n_splits: int, random_state: int | np.random.RandomState | None) -> IntArray:
    """Return the fold of each constrained point."""
    rng = check_random_state(random_state)
    part = independent_parts(knowledge)[knowledge.component]
    sizes = np.bincount(part, minlength=1)
    # A set that would fill more than one fold is dealt point by point.
    whole = sizes * n_splits <= len(part)
    fold_of = np.empty(len(part), dtype=np.intp)
    load = np.zeros(n_splits)
    for number in rng.permutation(len(sizes)):
        members = np.flatnonzero(part == number)
        if whole[number]:
            fold_of[members] = lightest = int(load.argmin())
            load[lightest] += len(members)
            continue
        members = rng.permutation(members)
        members = members[np.argsort(knowledge.component[members], kind="stable")]
        order = np.argsort(load, kind="stable")
        fold_of[members] = order[np.arange(len(members)) % n_splits]
        load += np.bincount(fold_of[members], minlength=n_splits)
    return fold_of


def independent_parts(knowledge: Components) -> IntArray:
    """Return for each component the number of the set of components that cannot-links join it to."""
    return knowledge.parts.astype(np.intp)


def consistent(constraints: Constraints) -> Constraints:
    """Return the constraints without those that contradict stronger ones."""
    # No warning: only the score leaves them out, the method gets all constraints.
    if not constraints.n_conflicts:
        return constraints
    with warnings.catch_warnings(action="ignore", category=ConstraintWarning):
        return constraints.without_conflicts()
