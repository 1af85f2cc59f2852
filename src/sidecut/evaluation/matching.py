"""Agreement under the best pairing of clusters with classes, found by the Kuhn-Munkres algorithm."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from sidecut.constraints import Constraints
from sidecut.evaluation.scored import contingency_table, scored_codes, scored_points


def best_matching(
    labels_true: ArrayLike, labels: ArrayLike, *, constraints: Constraints | None = None
) -> dict[Any, Any]:
    """Pair clusters with classes, one to one, so that the most points agree.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The class of each point.
    labels : array-like of shape (n_samples,)
        The cluster of each point.
    constraints : Constraints, optional
        Count only the points these constraints say nothing about.

    Returns
    -------
    dict
        From cluster to class. If there are more clusters than classes, some clusters have no partner and
        are not in it; if there are fewer, some classes are not.

    Raises
    ------
    ValueError
        If the labels do not fit each other, or fewer than two points are counted.

    Examples
    --------
    >>> from sidecut.evaluation import best_matching
    >>> best_matching(["cat", "cat", "dog", "dog"], [1, 1, 0, 2])
    {1: 'cat', 0: 'dog'}
    """
    classes, clusters = scored_codes(labels_true, labels, constraints)
    kept = scored_points(len(np.asarray(labels)), constraints)
    _, matched_classes, matched_clusters = _match(classes, clusters)
    class_names, cluster_names = _names(labels_true, kept, classes), _names(labels, kept, clusters)
    return dict(zip(cluster_names[matched_clusters], class_names[matched_classes], strict=True))


def clustering_accuracy(
    labels_true: ArrayLike, labels: ArrayLike, *, constraints: Constraints | None = None
) -> float:
    """Share of the points whose cluster is paired with their class by the best matching (ACC).

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The class of each point.
    labels : array-like of shape (n_samples,)
        The cluster of each point. There may be more or fewer clusters than classes.
    constraints : Constraints, optional
        Score only the points these constraints say nothing about.

    Returns
    -------
    float
        Above 0, at most 1.

    Raises
    ------
    ValueError
        If the labels do not fit each other, or fewer than two points are scored.

    Examples
    --------
    >>> from sidecut.evaluation import clustering_accuracy
    >>> clustering_accuracy([0, 0, 0, 1, 1], [1, 1, 0, 0, 0])
    0.8
    """
    classes, clusters = scored_codes(labels_true, labels, constraints)
    return _n_matched(classes, clusters) / len(classes)


def error_rate(labels_true: ArrayLike, labels: ArrayLike, *, constraints: Constraints | None = None) -> float:
    """Share of the points that the best matching gets wrong: one minus `clustering_accuracy`.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The class of each point.
    labels : array-like of shape (n_samples,)
        The cluster of each point. There may be more or fewer clusters than classes.
    constraints : Constraints, optional
        Score only the points these constraints say nothing about.

    Returns
    -------
    float
        At least 0, below 1.

    Raises
    ------
    ValueError
        If the labels do not fit each other, or fewer than two points are scored.

    Examples
    --------
    >>> from sidecut.evaluation import error_rate
    >>> error_rate([0, 0, 0, 1, 1], [1, 1, 0, 0, 0])
    0.2
    """
    classes, clusters = scored_codes(labels_true, labels, constraints)
    # Counting the mistakes, rather than subtracting from one, keeps 1/5 exactly 0.2.
    return (len(classes) - _n_matched(classes, clusters)) / len(classes)


def _match(
    classes: NDArray[np.int64], clusters: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.intp], NDArray[np.intp]]:
    """Return the contingency table and the rows and columns of it that the matching pairs."""
    table = contingency_table(classes, clusters).toarray()
    return table, *linear_sum_assignment(table, maximize=True)


def _n_matched(classes: NDArray[np.int64], clusters: NDArray[np.int64]) -> int:
    table, rows, columns = _match(classes, clusters)
    return int(table[rows, columns].sum())


def _names(labels: ArrayLike, kept: NDArray[np.intp], codes: NDArray[np.int64]) -> NDArray[np.object_]:
    """Look up what the caller calls each row or column of the contingency table."""
    _, first = np.unique(codes, return_index=True)
    return np.asarray(labels, dtype=object)[kept[first]]
