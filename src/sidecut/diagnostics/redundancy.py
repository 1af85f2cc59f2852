"""Links that follow from others: they cost nothing and add nothing."""

from __future__ import annotations

import numpy as np

from sidecut.arrays import BoolArray, IntArray
from sidecut.constraints import Constraints


def find_redundant(constraints: Constraints) -> BoolArray:
    """Tell for each pair of `constraints.pairs` whether it follows from the pairs before it.

    A must-link is redundant if its ends are joined already; a cannot-link if the sets its ends belong to are
    apart already. What is left, the others, says all that the constraints say.

    Parameters
    ----------
    constraints : Constraints
        What is known.

    Returns
    -------
    array of bool, shape (n_pairs,)
        In the order of `constraints.pairs`.

    Examples
    --------
    >>> from sidecut import Constraints
    >>> from sidecut.diagnostics import find_redundant
    >>> known = Constraints.from_pairs(4, must_link=[(0, 1), (1, 2), (0, 2)], cannot_link=[(0, 3), (2, 3)])
    >>> known.pairs[find_redundant(known)].tolist()
    [[1, 2], [2, 3]]
    """
    pairs, is_must = constraints.pairs, constraints.strengths > 0
    redundant = np.zeros(len(pairs), dtype=bool)
    redundant[is_must] = _find_closing_edges(pairs[is_must], constraints.n_samples)
    sets = constraints.must_link_components()
    between = np.sort(sets[pairs[~is_must]], axis=1)
    first = np.unique(between, axis=0, return_index=True)[1]
    repeated = np.ones(len(between), dtype=bool)
    repeated[first] = False
    redundant[~is_must] = repeated
    return redundant


def _find_closing_edges(pairs: IntArray, n_samples: int) -> BoolArray:
    """Tell which edges join points that earlier edges have joined."""
    root = np.arange(n_samples)

    def find(point: int) -> int:
        while root[point] != point:
            root[point] = root[root[point]]
            point = int(root[point])
        return point

    closing = np.zeros(len(pairs), dtype=bool)
    for place, (one, other) in enumerate(pairs):
        here, there = find(int(one)), find(int(other))
        closing[place] = here == there
        root[here] = there
    return closing
