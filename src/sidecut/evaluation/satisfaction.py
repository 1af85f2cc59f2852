"""Agreement with what the user said: how much of it the labels honour."""

from __future__ import annotations

from numpy.typing import ArrayLike

from sidecut.constraints import Constraints


def constraint_satisfaction(constraints: Constraints, labels: ArrayLike, *, weighted: bool = False) -> float:
    """Share of the constrained pairs that the labels satisfy.

    A must-link is satisfied by equal labels, a cannot-link by different ones. Pairs implied by partial
    labels are counted, not listed.

    Parameters
    ----------
    constraints : Constraints
        What the user knows.
    labels : array-like of shape (n_samples,)
        The cluster of each point.
    weighted : bool, default=False
        Count each pair by the size of its strength instead of by one.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    ValueError
        If there is not one label per point.

    Examples
    --------
    >>> from sidecut.constraints import Constraints
    >>> from sidecut.evaluation import constraint_satisfaction
    >>> constraints = Constraints.from_pairs(4, must_link=[(0, 1)], cannot_link=[(1, 2), (2, 3)])
    >>> round(constraint_satisfaction(constraints, [0, 0, 1, 1]), 4)
    0.6667
    """
    return float(constraints.satisfaction(labels, weighted=weighted))
