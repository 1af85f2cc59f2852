"""The front door: labels from an embedding, by the rule the caller names."""

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from sidecut.arrays import FloatArray, IntArray
from sidecut.labelling.embedding import check_embedding, check_n_clusters, check_one_column_each
from sidecut.labelling.embedding import unit_rows as to_unit_rows
from sidecut.labelling.kmeans import kmeans_labels
from sidecut.labelling.names import warn_if_clusters_are_missing
from sidecut.labelling.qr import qr_labels
from sidecut.labelling.rotation import rotation_labels

LabellingMethod = Literal["kmeans", "sign", "argmax", "rotation", "qr"]


def assign_labels(
    embedding: ArrayLike,
    n_clusters: int,
    *,
    method: LabellingMethod = "kmeans",
    n_init: int = 10,
    unit_rows: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> IntArray:
    """Turn an embedding into labels 0..n_clusters-1.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_components)
        One row per point.
    n_clusters : int
        The number of clusters.
    method : {"kmeans", "sign", "argmax", "rotation", "qr"}, default="kmeans"
        "kmeans" takes any number of columns; "sign" one column and two clusters; "argmax", "rotation" and
        "qr" one column per cluster.
    n_init : int, default=10
        Number of starts of "kmeans" and "rotation"; the others need none.
    unit_rows : bool, default=False
        Scale each row to length one first; "rotation" does so in any case.
    random_state : int, RandomState instance or None
        Seed of the starts.

    Returns
    -------
    ndarray of intp, shape (n_samples,)
        The labels. "sign" and "argmax" keep the meaning of their numbers (the side, the column); the others
        number clusters in order of first appearance.

    Raises
    ------
    ValueError
        If the method is unknown, does not suit the shape of the embedding, or the embedding is refused by
        `check_embedding`.

    Warns
    -----
    LabellingWarning
        If fewer than `n_clusters` clusters come out.

    Examples
    --------
    >>> from sidecut.labelling import assign_labels
    >>> embedding = [[1.0, 0.1], [0.9, 0.0], [0.0, 0.8], [0.1, 0.9]]
    >>> assign_labels(embedding, 2, random_state=0)
    array([0, 0, 1, 1])
    >>> assign_labels(embedding, 2, method="qr")
    array([0, 0, 1, 1])
    >>> assign_labels(embedding, 2, method="guess")
    Traceback (most recent call last):
    ...
    ValueError: method='guess' is not a labelling; choose one of 'kmeans', 'sign', 'argmax', 'rotation', 'qr'
    """
    if method not in get_args(LabellingMethod):
        known = ", ".join(repr(name) for name in get_args(LabellingMethod))
        raise ValueError(f"method={method!r} is not a labelling; choose one of {known}")
    rows = to_unit_rows(embedding) if unit_rows else check_embedding(embedding)
    n_clusters = check_n_clusters(n_clusters, len(rows))
    if method == "kmeans":
        return kmeans_labels(rows, n_clusters, n_init=n_init, random_state=random_state)
    if method == "rotation":
        return rotation_labels(rows, n_clusters, n_init=n_init, random_state=random_state)
    if method == "sign":
        return _two_sides(rows, n_clusters)
    check_one_column_each(rows, n_clusters, method)
    return qr_labels(rows) if method == "qr" else _largest_column(rows, n_clusters)


def _two_sides(rows: FloatArray, n_clusters: int) -> IntArray:
    if n_clusters != 2:
        raise ValueError(f"'sign' makes two clusters, not n_clusters={n_clusters}; use 'kmeans'")
    labels = sign_labels(rows)
    warn_if_clusters_are_missing(labels, 2, "sign", "every entry lies on the same side of zero")
    return labels


def _largest_column(rows: FloatArray, n_clusters: int) -> IntArray:
    labels = argmax_labels(rows)
    warn_if_clusters_are_missing(labels, n_clusters, "argmax", "some columns are never the largest")
    return labels


# Clusters from a matrix of memberships: the column with the largest entry.


def argmax_labels(memberships: ArrayLike) -> IntArray:
    """Give each point the column in which its row is largest; ties go to the first such column.

    Parameters
    ----------
    memberships : array-like of shape (n_samples, n_clusters)
        Column k says how much each point belongs to cluster k.

    Returns
    -------
    ndarray of intp, shape (n_samples,)
        Column numbers. They are not rearranged: label k means column k.

    Raises
    ------
    ValueError
        If the matrix is refused by `check_embedding`.

    Examples
    --------
    >>> from sidecut.labelling import argmax_labels
    >>> argmax_labels([[0.9, 0.1], [0.2, 0.3], [0.5, 0.5]])
    array([0, 1, 0])
    """
    return np.argmax(check_embedding(memberships), axis=1)


# Two clusters from one vector: which side of zero each entry lies on.


def sign_labels(indicator: ArrayLike) -> IntArray:
    """Put positive entries in cluster 1 and all others, zero included, in cluster 0.

    Parameters
    ----------
    indicator : array-like of shape (n_samples,) or (n_samples, 1)
        The relaxed cluster indicator u of a two-way cut.

    Returns
    -------
    ndarray of intp, shape (n_samples,)
        1 where u > 0, else 0. The numbers are not rearranged: they carry the sign.

    Raises
    ------
    ValueError
        If there is more than one column, or the numbers are refused by `check_embedding`.

    Examples
    --------
    >>> from sidecut.labelling import sign_labels
    >>> sign_labels([1.5, 0.4, 0.0, -0.2])
    array([1, 1, 0, 0])
    """
    values = np.asarray(indicator)
    column = check_embedding(values.reshape(-1, 1) if values.ndim == 1 else values)
    if column.shape[1] != 1:
        raise ValueError(
            f"'sign' reads one vector, but the embedding has {column.shape[1]} columns;"
            " select one of them, or use 'kmeans'"
        )
    return (column[:, 0] > 0).astype(np.intp)
