"""Folds over what is known: some points are held out, and nothing about them is told."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.utils import check_random_state

from sidecut.checks import IntArray, check_count
from sidecut.constraints.closure import Components
from sidecut.constraints.satisfaction import PairCounts, count_pairs
from sidecut.constraints.value import Constraints
from sidecut.exceptions import ConstraintWarning


@dataclass(frozen=True, eq=False)
class Fold:
    """One split of what is known.

    Parameters
    ----------
    train : Constraints
        What a method may be told: nothing in it is about a held-out point.
    held_out : array of shape (h,)
        The points nothing was told about.
    knowledge : Components
        All that follows from all that is known.
    """

    train: Constraints
    held_out: IntArray
    knowledge: Components

    @cached_property
    def _told(self) -> npt.NDArray[np.bool_]:
        return ~np.isin(self.knowledge.points, self.held_out)

    def count(self, labels: npt.ArrayLike) -> PairCounts:
        """Count how many pairs with a held-out point a clustering gets right.

        The other point of a pair may be held out or not: where a point has been told about, that says
        nothing about the held-out one.

        Parameters
        ----------
        labels : array-like of shape (n_samples,)
            The cluster of each sample.
        """
        everything = np.ones(len(self.knowledge.points), dtype=bool)
        return count_pairs(self.knowledge, labels, everything) - count_pairs(
            self.knowledge, labels, self._told
        )


class ConstraintFolds:
    """Splits of constraints for cross-validation, made so that nothing leaks.

    Constraints are closed first, then *points* are held out: a method is told what is known among the other
    points, and judged by all pairs that have a held-out point. Folds over pairs would leak: of three pairs
    among three points, two give away the third. Where what is known falls into small sets that do not speak
    of each other, as random pairs do, whole sets are held out, and no pair is lost to the split; points with
    labels are dealt out class by class.

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
            What is known. Where it contradicts itself, the weaker side does not count.

        Yields
        ------
        Fold
            In every fold something is held out and something is told.
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
            What is known.
        """
        return sum(1 for _ in self.split(constraints))


def hold_everything_out(constraints: Constraints) -> list[Fold]:
    """Return one split that holds out all that is known: for answers that are told nothing."""
    knowledge = consistent(constraints).components
    return [Fold(Constraints.none(constraints.n_samples), knowledge.points, knowledge)]


def deal(knowledge: Components, n_splits: int, random_state: int | np.random.RandomState | None) -> IntArray:
    """Return the fold of each point that something is known about."""
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
    return connected_components(_apart(knowledge), directed=False)[1].astype(np.intp)


def _apart(knowledge: Components) -> sparse.csr_array:
    """Return the symmetric matrix that is one where two components are known to be apart."""
    n = knowledge.n_components
    ends = np.concatenate([knowledge.apart, knowledge.apart[:, ::-1]])
    links = sparse.coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n)).tocsr()
    links.data[:] = 1.0
    return links


# What is known, in the form that folds and scores need.


def consistent(constraints: Constraints) -> Constraints:
    """Return the constraints without those that contradict stronger ones.

    No warning: only what is scored is left out. The method is told everything, and has its own say.
    """
    if not constraints.n_conflicts:
        return constraints
    with warnings.catch_warnings(action="ignore", category=ConstraintWarning):
        return constraints.without_conflicts()
