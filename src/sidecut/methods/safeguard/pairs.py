"""What is known, as a list of pairs: how well a clustering agrees with them, and how much they say."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from sidecut.arrays import BoolArray, FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.constraints.satisfaction import PairCounts

#: More pairs than this are not listed; those among some of the points are.
MOST_PAIRS, SOME_POINTS = 2_000_000, 1_000


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
