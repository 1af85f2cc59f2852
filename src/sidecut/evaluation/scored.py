"""Which points are scored, and how their labels are counted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array

from sidecut.arrays import IntArray
from sidecut.constraints import Constraints
from sidecut.constraints.labels import encode_labels


def encode_scored(
    labels_true: ArrayLike, labels: ArrayLike, constraints: Constraints | None = None
) -> tuple[IntArray, IntArray]:
    """Number the classes and the clusters of the points that are to be scored.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        The class of each point; none may be unknown.
    labels : array-like of shape (n_samples,)
        The cluster of each point; -1 is a cluster like any other.
    constraints : Constraints, optional
        Leave out the points that these constraints speak about.

    Returns
    -------
    classes, clusters : ndarray of int64, shape (n_scored,)
        Non-negative numbers for the two labels of each scored point.

    Raises
    ------
    ValueError
        If a label is missing, the lengths differ, or fewer than two points are left.

    Examples
    --------
    >>> encode_scored(["cat", "dog", "cat"], [2, 0, 0])
    (array([0, 1, 0]), array([0, 1, 1]))
    """
    classes, clusters = encode_labels(labels_true, "labels_true"), encode_labels(labels, "labels")
    if len(classes) != len(clusters):
        raise ValueError(
            f"labels_true has {len(classes)} entries and labels has {len(clusters)};"
            " both must have one per point, in the same order"
        )
    _refuse_unknown_classes(labels_true, classes)
    _refuse_missing_clusters(labels, clusters)
    kept = find_scored_points(len(classes), constraints)
    return classes[kept], clusters[kept] - clusters.min()


def find_scored_points(n_samples: int, constraints: Constraints | None = None) -> IntArray:
    """Tell which points are scored: all, or those the constraints say nothing about.

    Parameters
    ----------
    n_samples : int
        The number of points.
    constraints : Constraints, optional
        Leave out the points that these constraints speak about.

    Returns
    -------
    ndarray of intp
        The points, increasing.

    Raises
    ------
    ValueError
        If the constraints are about another number of points, or fewer than two points are left.

    Examples
    --------
    >>> from sidecut.constraints import Constraints
    >>> constraints = Constraints.from_pairs(5, must_link=[(0, 3)])
    >>> find_scored_points(5, constraints)
    array([1, 2, 4])
    """
    kept = np.ones(n_samples, dtype=bool)
    if constraints is not None:
        if constraints.n_samples != n_samples:
            raise ValueError(
                f"the constraints are about {constraints.n_samples} points, but there are {n_samples} labels"
            )
        kept[constraints.constrained_points] = False
    if kept.sum() < 2:
        left_out = f", {n_samples - kept.sum()} of {n_samples} being constrained" if n_samples > 1 else ""
        raise ValueError(
            f"only {kept.sum()} points are left to score{left_out}; agreement needs at least 2."
            " Score all points (constraints=None), or constrain fewer"
        )
    return np.flatnonzero(kept)


def _refuse_unknown_classes(labels_true: ArrayLike, codes: IntArray) -> None:
    unknown = np.flatnonzero(codes < 0)
    if len(unknown):
        first = unknown[0]
        raise ValueError(
            f"labels_true[{first}] is {_entries(labels_true)[first]!r}, which means unknown"
            f" ({len(unknown)} of {len(codes)} are)."
            " Score only points of known class; if -1 is the name of a class, rename it"
        )


def _refuse_missing_clusters(labels: ArrayLike, codes: IntArray) -> None:
    values = _entries(labels)
    for position in np.flatnonzero(codes < 0):
        # -1 and missing values share a code, but -1 is what some clusterers call their noise.
        if values[position] is None or not np.isscalar(values[position]) or values[position] != -1:
            raise ValueError(f"labels[{position}] is {values[position]!r}; every point must have a cluster")


def _entries(labels: ArrayLike) -> NDArray[Any]:
    return np.asarray(labels, dtype=object)


def contingency_table(classes: IntArray, clusters: IntArray) -> csr_array:
    """Count the points of each class in each cluster.

    Parameters
    ----------
    classes, clusters : ndarray of int64, shape (n_samples,)
        Non-negative numbers.

    Returns
    -------
    csr_array of int64, shape (n_classes, n_clusters)
        The counts, without rows or columns for numbers that do not occur.

    Examples
    --------
    >>> import numpy as np
    >>> contingency_table(np.array([0, 0, 1]), np.array([5, 7, 7])).toarray()
    array([[1, 1],
           [0, 1]])
    """
    class_names, rows = np.unique(classes, return_inverse=True)
    cluster_names, columns = np.unique(clusters, return_inverse=True)
    ones = np.ones(len(classes), dtype=np.int64)
    return csr_array(coo_array((ones, (rows, columns)), shape=(len(class_names), len(cluster_names))))
