"""Agreement counted in pairs of points: together in both, or apart in both.

Pairs are i < j, each once; a point is not paired with itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sidecut.constraints import Constraints
from sidecut.evaluation.scored import contingency_table, scored_codes


class PairCounts(NamedTuple):
    """How many pairs i < j there are, and how many are together.

    Parameters
    ----------
    total : int
        All pairs.
    in_both : int
        Pairs in the same class and in the same cluster.
    in_class : int
        Pairs in the same class.
    in_cluster : int
        Pairs in the same cluster.

    Examples
    --------
    >>> PairCounts(total=3, in_both=0, in_class=1, in_cluster=1).in_class
    1
    """

    total: int
    in_both: int
    in_class: int
    in_cluster: int


def count_pairs(classes: NDArray[np.int64], clusters: NDArray[np.int64]) -> PairCounts:
    """Count pairs from the contingency table, without listing them.

    Parameters
    ----------
    classes, clusters : ndarray of int64, shape (n_samples,)
        Non-negative numbers.

    Returns
    -------
    PairCounts
        Exact integers.

    Examples
    --------
    >>> import numpy as np
    >>> count_pairs(np.array([0, 0, 1]), np.array([0, 1, 1]))
    PairCounts(total=3, in_both=0, in_class=1, in_cluster=1)
    """
    table = contingency_table(classes, clusters)
    n_samples = len(classes)
    return PairCounts(
        total=n_samples * (n_samples - 1) // 2,
        in_both=_pairs_within(table.data),
        in_class=_pairs_within(table.sum(axis=1)),
        in_cluster=_pairs_within(table.sum(axis=0)),
    )


def _pairs_within(sizes: NDArray[np.int64]) -> int:
    return int(np.sum(sizes * (sizes - 1)) // 2)


def rand_index(labels_true: ArrayLike, labels: ArrayLike, *, constraints: Constraints | None = None) -> float:
    """Share of the pairs i < j on which classes and clusters agree.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The class of each point.
    labels : array-like of shape (n_samples,)
        The cluster of each point.
    constraints : Constraints, optional
        Score only the points these constraints say nothing about.

    Returns
    -------
    float
        Between 0 and 1. A random clustering may come close to 1 when there are many clusters.

    Raises
    ------
    ValueError
        If the labels do not fit each other, or fewer than two points are scored.

    Examples
    --------
    One of the three pairs is apart in both; each of the others is together in one only:

    >>> from sidecut.evaluation import rand_index
    >>> rand_index([0, 0, 1], [0, 1, 1])
    0.3333333333333333
    """
    pairs = count_pairs(*scored_codes(labels_true, labels, constraints))
    disagreements = pairs.in_class + pairs.in_cluster - 2 * pairs.in_both
    return (pairs.total - disagreements) / pairs.total


def adjusted_rand_index(
    labels_true: ArrayLike, labels: ArrayLike, *, constraints: Constraints | None = None
) -> float:
    """Rand index corrected for chance (Hubert and Arabie, 1985).

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The class of each point.
    labels : array-like of shape (n_samples,)
        The cluster of each point.
    constraints : Constraints, optional
        Score only the points these constraints say nothing about.

    Returns
    -------
    float
        1 for the same partition, 0 on average for clusters of these sizes drawn at random, and below 0
        for worse than that.

    Raises
    ------
    ValueError
        If the labels do not fit each other, or fewer than two points are scored.

    Examples
    --------
    >>> from sidecut.evaluation import adjusted_rand_index
    >>> adjusted_rand_index([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    >>> adjusted_rand_index([0, 0, 1, 1], [0, 1, 0, 1])
    -0.5
    """
    pairs = count_pairs(*scored_codes(labels_true, labels, constraints))
    if pairs.in_both == pairs.in_class == pairs.in_cluster:
        return 1.0  # the same partition; for one cluster, or all single points, the formula is 0/0
    # (both - E) / (max - E) with E = class·cluster/total and max = (class + cluster)/2, times 2·total: whole
    # numbers up to the division, so nothing is rounded twice.
    product = pairs.in_class * pairs.in_cluster
    above_chance = 2 * (pairs.in_both * pairs.total - product)
    return above_chance / ((pairs.in_class + pairs.in_cluster) * pairs.total - 2 * product)
