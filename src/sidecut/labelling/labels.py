"""Rows of an embedding to labels: k-means, also of chunks, rotation, pivoted QR, the sign, the maximum."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial, reduce
from operator import add
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.linalg import polar, qr, svd
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement

from sidecut.checks import BoolArray, FloatArray, IntArray, check_count, check_n_clusters, to_points
from sidecut.constraints import Constraints
from sidecut.constraints.groups import number_by_appearance
from sidecut.exceptions import LabellingWarning, warn
from sidecut.running import limit_threads

#: From this many distances per iteration on, k-means uses threads; below, they cost more than they give.
THREADED_DISTANCES = 1_000_000
#: From this many clusters on, such k-means runs in single precision if rows are of like size.
SINGLE_CLUSTERS = 32

LabellingMethod = Literal["kmeans", "sign", "argmax", "rotation", "qr"]
Seed = int | np.random.RandomState | None

#: Up to this many rows are clustered at once; of more, a sample of this size decides where the search begins.
SAMPLE_ROWS = 20_000
#: The most steps over all rows after that. From the centres of a sample few are needed.
MAX_STEPS = 20


def assign_labels(
    embedding: ArrayLike,
    n_clusters: int,
    *,
    method: LabellingMethod = "kmeans",
    n_init: int = 10,
    unit_rows: bool = False,
    random_state: Seed = None,
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
    if method == "kmeans":
        return kmeans_labels(
            embedding, n_clusters, n_init=n_init, unit_rows=unit_rows, random_state=random_state
        )
    rows = _unit_rows(embedding) if unit_rows else check_embedding(embedding)
    n_clusters = check_n_clusters(n_clusters, len(rows))
    if method == "rotation":
        return rotation_labels(rows, n_clusters, n_init=n_init, random_state=random_state)
    if method == "sign":
        if n_clusters != 2:
            raise ValueError(f"'sign' makes two clusters, not n_clusters={n_clusters}; use 'kmeans'")
        labels, reason = sign_labels(rows), "every entry lies on the same side of zero"
    else:
        check_one_column_each(rows, n_clusters, method)
        if method == "qr":
            return qr_labels(rows)
        labels, reason = argmax_labels(rows), "some columns are never the largest"
    warn_if_clusters_are_missing(labels, n_clusters, method, reason)
    return labels


def kmeans_labels(
    embedding: ArrayLike,
    n_clusters: int,
    *,
    n_init: int = 10,
    unit_rows: bool = False,
    fit_rows: ArrayLike | None = None,
    random_state: Seed = None,
) -> IntArray:
    """Cluster the rows of an embedding by k-means.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_components)
        One row per point.
    n_clusters : int
        The number of clusters, which may differ from the number of columns.
    n_init : int, default=10
        Number of k-means++ starts; the one with the smallest sum of squares is kept.
    unit_rows : bool, default=False
        Scale each row to length one first, so that only directions count.
    fit_rows : array-like of bool, shape (n_samples,), optional
        Which rows decide where the centres are; the others join the nearest. By default the rows that are
        not all zero, or every row if those have too few different values to make `n_clusters` clusters.
    random_state : int, RandomState instance or None
        Seed of the starts.

    Returns
    -------
    ndarray of intp, shape (n_samples,)
        Labels numbered in order of first appearance.

    Raises
    ------
    ValueError
        If the embedding is refused by `check_embedding`, there are fewer points than clusters, `n_init` is
        not a whole number of at least 1, or `fit_rows` is not a mask of the points with at least `n_clusters`
        of them.

    Warns
    -----
    LabellingWarning
        If the rows have fewer different values than there should be clusters.

    Examples
    --------
    >>> from sidecut.labelling import kmeans_labels
    >>> kmeans_labels([[0.0, 2.0], [0.1, 2.1], [5.0, 0.0], [5.1, 0.2]], 2, random_state=0)
    array([0, 0, 1, 1])

    With `unit_rows` the length of a row does not matter, and a zero row joins the nearest centre:

    >>> kmeans_labels([[1, 0], [9, 0], [0, 1], [0, 7], [0, 0]], 2, unit_rows=True, random_state=0)[:4]
    array([0, 0, 1, 1])
    """
    # Scaled exactly, by a power of two, so that squared distances neither over- nor underflow.
    rows = _unit_rows(embedding) if unit_rows else check_embedding(embedding)
    if not unit_rows:
        rows = np.ldexp(rows, -np.frexp(np.abs(rows).max())[1])
    n_clusters = check_n_clusters(n_clusters, len(rows))
    model, placed = _fit_rows(rows, n_clusters, n_init, random_state, fit_rows)
    labels = model.labels_.astype(np.intp)
    if len(np.unique(labels)) < n_clusters:
        n_distinct = len(np.unique(rows[placed], axis=0))
        reason = (
            f"the embedding has only {n_distinct} distinct rows; ask for fewer clusters or look at the graph"
        )
        warn_if_clusters_are_missing(labels, n_clusters, "kmeans", reason)
    return rename_by_first_appearance(join_nearest_cluster(rows, labels, placed))


def rough_labels(embedding: FloatArray, n_clusters: int, n_init: int = 3) -> IntArray:
    """Cluster rows roughly, by k-means of 2,000 of them: enough to compare embeddings.

    Parameters
    ----------
    embedding : array of shape (n_samples, n_components)
        One row per point.
    n_clusters : int
        The number of clusters.
    n_init : int, default=3
        The number of starts of k-means.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.labelling import rough_labels
    >>> rough_labels(np.repeat([[0.0], [5.0]], 4_000, axis=0), 2)[[0, 3_999, 4_000, 7_999]]
    array([0, 0, 1, 1])
    """
    rng = np.random.RandomState(0)
    seen = np.zeros(len(embedding), dtype=bool)
    seen[rng.choice(len(embedding), min(max(2_000, n_clusters), len(embedding)), replace=False)] = True
    return kmeans_labels(embedding, n_clusters, n_init=n_init, fit_rows=seen, random_state=rng)


def seed_centers(rows: FloatArray, constraints: Constraints, n_clusters: int) -> FloatArray | None:
    """Return the means of the known classes as starts of k-means, completed by the rows furthest away."""
    points = constraints.constrained_points
    group = np.unique(constraints.must_link_components()[points], return_inverse=True)[1]
    n_groups = int(group.max(initial=-1)) + 1
    if not 0 < n_groups <= n_clusters:
        return None
    centers = [rows[points[group == number]].mean(axis=0) for number in range(n_groups)]
    distance = np.min([np.square(rows - center).sum(axis=1) for center in centers], axis=0)
    while len(centers) < n_clusters:
        centers.append(rows[distance.argmax()])
        distance = np.minimum(distance, np.square(rows - centers[-1]).sum(axis=1))
    return np.array(centers)


def kmeans_from(embedding: FloatArray, centers: FloatArray) -> IntArray:
    """Cluster rows by k-means from given centres."""
    found = _fit(embedding, len(centers), 1, None, init=centers).labels_
    return rename_by_first_appearance(found.astype(np.intp))


def kmeans_centers(
    embedding: ArrayLike, n_clusters: int, *, n_init: int = 10, random_state: Seed = None
) -> FloatArray:
    """Return the centres of the clusters k-means finds among the rows of an embedding.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_components)
        One row per point. Rows of zeros do not count, unless the others have too few different values.
    n_clusters : int
        The number of clusters.
    n_init : int, default=10
        Number of k-means++ starts; the one with the smallest sum of squares is kept.
    random_state : int, RandomState instance or None
        Seed of the starts.

    Returns
    -------
    ndarray of shape (n_found, n_components)
        One centre per cluster; fewer than `n_clusters` where there are fewer different rows.

    Examples
    --------
    >>> from sidecut.labelling import kmeans_centers
    >>> kmeans_centers([[1.0], [1.2], [5.0]], 2, random_state=0)
    array([[1.1],
           [5. ]])
    """
    rows = check_embedding(embedding)
    n_clusters = check_n_clusters(n_clusters, len(rows))
    model, _ = _fit_rows(rows, n_clusters, n_init, random_state)
    return model.cluster_centers_[np.unique(model.labels_)]


def _fit_rows(
    rows: FloatArray, n_clusters: int, n_init: int, random_state: Seed, fit_rows: ArrayLike | None = None
) -> tuple[KMeans, BoolArray]:
    """Return k-means of the rows of a mask, by default those that are not zero, and the mask."""
    if fit_rows is not None:
        placed = _check_mask(fit_rows, len(rows), n_clusters)
        return _fit(rows[placed], n_clusters, n_init, random_state), placed
    everyone, placed = np.ones(len(rows), dtype=bool), informative_rows(rows)
    if placed.sum() < n_clusters:
        placed = everyone
    model = _fit(rows[placed], n_clusters, n_init, random_state)
    if placed.all() or len(np.unique(model.labels_)) == n_clusters:
        return model, placed
    # The origin is then a position like any other, and needed to make n_clusters of them.
    return _fit(rows, n_clusters, n_init, random_state), everyone


def _check_mask(fit_rows: ArrayLike, n_rows: int, n_clusters: int) -> BoolArray:
    mask = np.asarray(fit_rows)
    if mask.dtype != bool or mask.shape != (n_rows,):
        raise ValueError(
            f"fit_rows has dtype {mask.dtype} and shape {mask.shape};"
            f" it must be a mask of bool, shape ({n_rows},)"
        )
    if mask.sum() < n_clusters:
        raise ValueError(
            f"fit_rows keeps {mask.sum()} rows, too few for n_clusters={n_clusters}; keep more rows"
        )
    return mask


def _fit(
    rows: FloatArray, n_clusters: int, n_init: int, random_state: Seed, init: str | FloatArray = "k-means++"
) -> KMeans:
    is_large = len(rows) * n_clusters >= THREADED_DISTANCES
    if is_large and n_clusters >= SINGLE_CLUSTERS:
        # Two thirds of the time. Where rows are of like size, as unit rows are, the sum of squares is the
        # same to a thousandth (benchmarks/choices/single_precision.py).
        sizes = np.abs(rows).max(axis=1)
        if np.median(sizes) > 0.01 * sizes.max():
            rows = rows.astype(np.float32)
    model = KMeans(n_clusters, init=init, n_init=check_count("n_init", n_init), random_state=random_state)
    with limit_threads(None if is_large else 1), warnings.catch_warnings():
        # Missing clusters are reported by the caller, in terms of the embedding.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(rows)


def rotation_labels(
    embedding: ArrayLike, n_clusters: int, *, n_init: int = 10, max_iter: int = 100, random_state: Seed = None
) -> IntArray:
    """Cluster by the rotation that brings the unit rows closest to an indicator matrix.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_clusters)
        One column per cluster, known up to a rotation. The rows are scaled to length one, as in the paper.
    n_clusters : int
        The number of clusters.
    n_init : int, default=10
        Number of starting rotations; the one with the largest tr(XᵀV̄R) is kept.
    max_iter : int, default=100
        Bound on the alternations of each start. A few usually suffice.
    random_state : int, RandomState instance or None
        Seed of the starting rotations.

    Returns
    -------
    ndarray of intp, shape (n_samples,)
        Labels numbered in order of first appearance. A zero row joins the cluster with the nearest mean.

    Raises
    ------
    ValueError
        If the embedding is refused by `check_embedding`, the number of columns is not `n_clusters`, or
        `n_init` or `max_iter` is below 1.

    Warns
    -----
    LabellingWarning
        If fewer than `n_clusters` clusters remain.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.labelling import rotation_labels
    >>> turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    >>> indicator = np.array([[1, 0], [1, 0], [0, 1], [1, 0]])
    >>> rotation_labels(indicator @ turn, 2, random_state=0)
    array([0, 0, 1, 0])
    """
    everyone = check_embedding(embedding)
    n_clusters = check_n_clusters(n_clusters, len(everyone))
    check_one_column_each(everyone, n_clusters, method="rotation")
    if n_init < 1 or max_iter < 1:
        raise ValueError(f"n_init={n_init} and max_iter={max_iter} must both be at least 1")
    everyone = unit_rows(everyone)
    placed = informative_rows(everyone)
    rows, rng = everyone[placed], check_random_state(random_state)
    best = -np.inf
    for _ in range(n_init):
        start = starting_rotation(rows, first=rng.randint(len(rows)))
        found, objectives = alternate(rows, start, max_iter)
        if objectives[-1] > best:
            best, labels = objectives[-1], found
    reason = "no rotation fills every column; the rows may have too few directions, try 'kmeans'"
    warn_if_clusters_are_missing(labels, n_clusters, "rotation", reason)
    return rename_by_first_appearance(join_nearest_cluster(everyone, labels, placed))


def starting_rotation(rows: FloatArray, first: int) -> FloatArray:
    """Build a rotation from rows as orthogonal to one another as possible, beginning with a given one."""
    n_clusters = rows.shape[1]
    chosen = [first]
    overlap = np.zeros(len(rows))
    for _ in range(n_clusters - 1):
        overlap += np.abs(rows @ rows[chosen[-1]])
        chosen.append(int(np.argmin(overlap)))
    return polar(rows[chosen].T)[0]


def alternate(rows: FloatArray, rotation: FloatArray, max_iter: int) -> tuple[IntArray, list[float]]:
    """Alternate the best labels for a rotation with the best rotation for the labels."""
    objectives: list[float] = []
    labels = np.full(len(rows), -1, dtype=np.intp)
    for _ in range(max_iter):
        previous, labels = labels, np.argmax(rows @ rotation, axis=1)
        if np.array_equal(labels, previous):
            break
        rotation, objective = procrustes_rotation(rows, labels)
        objectives.append(objective)
    return labels, objectives


def procrustes_rotation(rows: FloatArray, labels: IntArray) -> tuple[FloatArray, float]:
    """Find the orthogonal R that maximises tr(XᵀV̄R) for the indicator matrix X of the labels."""
    # With the SVD XᵀV̄ = U Ω Ṽᵀ it is R = Ṽ Uᵀ, and the maximum is tr Ω.
    left, omega, right = svd(cluster_sums(rows, labels, rows.shape[1]))
    return right.T @ left.T, float(omega.sum())


def qr_labels(embedding: ArrayLike) -> IntArray:
    """Cluster by column-pivoted QR into as many clusters as there are columns.

    Pivoted QR of Vᵀ picks K points, as orthogonal to one another as it can: one representative per cluster.
    The orthogonal polar factor U of their K×K block is the rotation that aligns V with them, and each point
    takes the largest |entry| of its row of VU (Damle, Minden & Ying, 2019). There is no starting point and no
    iteration.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_clusters)
        The leading eigenvectors, linearly independent columns known up to a rotation.

    Returns
    -------
    ndarray of intp, shape (n_samples,)
        Labels numbered in order of first appearance. A zero row joins the cluster with the nearest mean.

    Raises
    ------
    ValueError
        If the embedding is refused by `check_embedding`, has more columns than rows, or its columns are
        linearly dependent.

    Warns
    -----
    LabellingWarning
        If fewer clusters than columns remain.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.labelling import qr_labels
    >>> turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    >>> indicator = np.array([[1, 0], [1, 0], [0, 1], [1, 0]])
    >>> qr_labels(indicator @ turn)
    array([0, 0, 1, 0])
    """
    everyone = check_embedding(embedding)
    n_clusters = check_n_clusters(everyone.shape[1], len(everyone))
    placed = informative_rows(everyone)
    rows = everyone[placed]
    rotation, _ = polar(rows[representatives(rows)].T)
    labels = np.argmax(np.abs(rows @ rotation), axis=1)
    reason = "a representative was outvoted in its own column; try 'kmeans'"
    warn_if_clusters_are_missing(labels, n_clusters, "qr", reason)
    return rename_by_first_appearance(join_nearest_cluster(everyone, labels, placed))


def representatives(rows: FloatArray) -> IntArray:
    """Pick one point per column by pivoted QR of the transposed embedding."""
    n_clusters = rows.shape[1]
    triangle, pivots = qr(rows.T, mode="r", pivoting=True)
    diagonal = np.abs(np.diag(triangle))
    rank = int(np.sum(diagonal > np.finfo(np.float64).eps * max(rows.shape) * diagonal[0]))
    if rank < n_clusters:
        raise ValueError(
            f"the {n_clusters} columns of the embedding span only {rank} dimensions, and 'qr' needs them"
            " linearly independent; drop the superfluous columns, or use 'kmeans'"
        )
    return pivots[:n_clusters].astype(np.intp)


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


def rename_by_first_appearance(labels: ArrayLike) -> IntArray:
    """Number the clusters 0, 1, 2, ... in the order in which the points meet them.

    Two label vectors describe the same partition exactly when their renamed versions are equal, whatever
    order a solver happened to find the clusters in.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        One label per point, of any type that can be sorted or hashed.

    Returns
    -------
    ndarray of intp, shape (n_samples,)
        The same partition; point 0 is in cluster 0, and no number is left out.

    Raises
    ------
    ValueError
        If `labels` is not one-dimensional.

    Examples
    --------
    >>> from sidecut.labelling import rename_by_first_appearance
    >>> rename_by_first_appearance([7, 7, 2, 7, 5])
    array([0, 0, 1, 0, 2])
    """
    values = np.asarray(labels)
    if values.ndim != 1:
        raise ValueError(
            f"labels have shape {values.shape}; expected one label per point, shape (n_samples,)"
        )
    return number_by_appearance(values)


def warn_if_clusters_are_missing(labels: IntArray, n_clusters: int, method: str, reason: str) -> None:
    """Emit a `LabellingWarning` if the labels have fewer than `n_clusters` values."""
    found = len(np.unique(labels))
    if found < n_clusters:
        warn(
            f"'{method}' found {found} clusters where n_clusters={n_clusters} were asked for: {reason}",
            LabellingWarning,
        )


def check_embedding(embedding: ArrayLike) -> FloatArray:
    """Return the embedding as a float64 array, or raise an error that says why it cannot be labelled."""
    rows = np.asarray(to_points(embedding))
    if rows.ndim != 2 or 0 in rows.shape:
        raise ValueError(
            f"the embedding has shape {rows.shape}; it must have one row per point and at least one column"
            " (use reshape(-1, 1) for a single vector)"
        )
    if np.iscomplexobj(rows):
        raise ValueError("the embedding is complex; hand over real eigenvectors")
    rows = rows.astype(np.float64, copy=False)
    finite = np.isfinite(rows)
    if not finite.all():
        bad = np.argwhere(~finite)
        row, column = bad[0]
        raise ValueError(
            f"embedding[{row}, {column}] is {rows[row, column]}; every entry must be finite"
            f" ({len(bad)} of {rows.size} are not). Look for points of degree zero,"
            " or an eigensolver that diverged"
        )
    if not rows.any():
        raise ValueError(
            f"all {len(rows)} rows of the embedding are zero, so it separates no points;"
            " look at the graph: does it have any edges?"
        )
    return rows


def check_one_column_each(rows: FloatArray, n_clusters: int, method: str) -> None:
    """Refuse an embedding whose columns cannot stand for the clusters one by one."""
    if rows.shape[1] != n_clusters:
        raise ValueError(
            f"'{method}' needs one column per cluster, but the embedding has {rows.shape[1]} columns and"
            f" n_clusters={n_clusters}; keep that many eigenvectors, or use 'kmeans'"
        )


def unit_rows(embedding: ArrayLike) -> FloatArray:
    """Scale every row to Euclidean length one; rows of zeros stay zeros.

    A row of zeros has no direction. Leaving it alone, rather than dividing by a small number, keeps such
    points recognisable to the labelling that follows.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_components)
        One row per point.

    Returns
    -------
    ndarray of shape (n_samples, n_components)
        A new array.

    Raises
    ------
    ValueError
        If the embedding is refused by `check_embedding`.

    Examples
    --------
    >>> from sidecut.labelling import unit_rows
    >>> unit_rows([[3.0, 4.0], [0.0, 0.0]])
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    rows = check_embedding(embedding)
    # Dividing by the largest entry first keeps the squares below from over- or underflowing.
    largest = np.abs(rows).max(axis=1, keepdims=True)
    largest[largest == 0] = 1.0
    scaled = rows / largest
    length = np.linalg.norm(scaled, axis=1, keepdims=True)
    length[length == 0] = 1.0
    return scaled / length


#: The same function, where an argument is called `unit_rows`.
_unit_rows = unit_rows


def informative_rows(rows: FloatArray) -> BoolArray:
    """Tell which rows are not entirely zero."""
    return np.any(rows != 0, axis=1)


def join_nearest_cluster(rows: FloatArray, labels: IntArray, placed: BoolArray) -> IntArray:
    """Label the rows not yet placed by the nearest of the means of the placed ones."""
    if placed.all():
        return labels
    names, member = np.unique(labels, return_inverse=True)
    sums = cluster_sums(rows[placed], member, len(names))
    means = sums / np.bincount(member, minlength=len(names))[:, np.newaxis]
    everyone = np.empty(len(rows), dtype=np.intp)
    everyone[placed] = labels
    everyone[~placed] = names[np.argmin(cdist(rows[~placed], means), axis=1)]
    return everyone


def cluster_sums(rows: FloatArray, labels: IntArray, n_clusters: int) -> FloatArray:
    """Add up the rows of each cluster: XᵀV for the indicator matrix X of the labels."""
    columns = [np.bincount(labels, weights=column, minlength=n_clusters) for column in rows.T]
    return np.column_stack(columns)


Rows = FloatArray
#: Applies a function to every chunk of rows, in one thread or in many; results in the order of the chunks.
Each = Callable[[Callable[[Rows], Any]], Iterable[Any]]


@dataclass(frozen=True)
class CenterSums:
    """The sums and the number of the rows nearest to each centre."""

    sums: Rows
    counts: Rows

    def __add__(self, other: CenterSums) -> CenterSums:
        return CenterSums(self.sums + other.sums, self.counts + other.counts)

    def moved(self, centers: Rows) -> Rows:
        """Return every centre at the mean of the rows nearest to it; a centre without such rows stays."""
        there = self.counts > 0
        moved = centers.copy()
        moved[there] = self.sums[there] / self.counts[there, None]
        return moved


def chunked_kmeans(
    each: Each,
    n_rows: int,
    n_clusters: int,
    *,
    n_init: int = 10,
    random_state: int | np.random.RandomState | None = None,
) -> Rows:
    """Return the centres k-means finds for rows that come in chunks.

    Up to 20,000 rows are clustered at once. Of more, 20,000 are drawn and clustered with all starts, and
    the best centres move on by Lloyd's steps over all rows. Sums are made chunk by chunk in their order, so
    that the result is the same to the last bit whether chunks lie in memory or are made again every time.

    Parameters
    ----------
    each : callable
        Takes a function, applies it to every chunk, an array of shape (any, m), and returns an iterable over
        the results in the order of the chunks. The chunks must be the same each time.
    n_rows : int
        How many rows there are in all.
    n_clusters : int
        The number of clusters.
    n_init : int, default=10
        Number of k-means++ starts.
    random_state : int, RandomState or None
        Seed of the sample and of the starts.

    Returns
    -------
    array of shape (n_clusters, m)
        The centres; fewer where there are fewer different rows. Rows of zeros do not count.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.labelling import chunked_kmeans
    >>> rows = np.array([[0.0, 2.0], [0.2, 2.0], [5.0, 0.0], [5.2, 0.0]])
    >>> each = lambda function: map(function, [rows[:1], rows[1:]])
    >>> centers = chunked_kmeans(each, 4, 2, random_state=0)
    >>> centers[np.argsort(centers[:, 0])].round(3)
    array([[0.1, 2. ],
           [5.1, 0. ]])
    """
    return reduced_kmeans(
        lambda chosen: _rows_at(each, chosen),
        lambda centers: reduce(add, each(partial(center_sums, centers=centers))),
        n_rows,
        n_clusters,
        n_init=n_init,
        random_state=random_state,
    )


def reduced_kmeans(
    rows_at: Callable[[IntArray], Rows],
    total: Callable[[Rows], CenterSums],
    n_rows: int,
    n_clusters: int,
    *,
    n_init: int = 10,
    random_state: int | np.random.RandomState | None = None,
) -> Rows:
    """Return the centres k-means finds for rows that lie anywhere, see `chunked_kmeans`."""
    rng = check_random_state(random_state)
    chosen = np.arange(n_rows)
    if n_rows > SAMPLE_ROWS:
        chosen = np.sort(sample_without_replacement(n_rows, SAMPLE_ROWS, random_state=rng))
    sample = rows_at(chosen)
    centers = kmeans_centers(sample, n_clusters, n_init=n_init, random_state=rng)
    if n_rows <= SAMPLE_ROWS:
        return centers
    # As in scikit-learn.
    enough = 1e-4 * float(sample.var(axis=0).mean())
    for _ in range(MAX_STEPS):
        moved = total(centers).moved(centers)
        shift = float(((moved - centers) ** 2).sum())
        centers = moved
        if shift <= enough:
            break
    return centers


def nearest_centers(rows: Rows, centers: Rows) -> IntArray:
    """Return for every row the nearest centre, ties to the first.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.labelling import nearest_centers
    >>> nearest_centers(np.array([[0.1], [0.9], [0.5]]), np.array([[0.0], [1.0]]))
    array([0, 1, 0])
    """
    # ‖x‖² is the same for all centres. One centre at a time: argmin along short rows is many times slower.
    distances = (centers**2).sum(axis=1)[:, None] - 2.0 * (centers @ rows.T)
    best, labels = distances[0].copy(), np.zeros(len(rows), dtype=np.intp)
    for k in range(1, len(centers)):
        nearer = distances[k] < best
        labels[nearer] = k
        np.minimum(best, distances[k], out=best)
    return labels


def center_sums(rows: Rows, centers: Rows) -> CenterSums:
    """Return the sums of the rows nearest to each centre."""
    labels = nearest_centers(rows, centers)
    counted = np.any(rows != 0, axis=1).astype(np.float64)
    shape = (len(rows), len(centers))
    member = sparse.csr_array((counted, labels, np.arange(len(rows) + 1)), shape=shape)
    counts = np.bincount(labels, weights=counted, minlength=len(centers)).astype(np.float64, copy=False)
    return CenterSums(member.T @ rows, counts)


def fill_empty(
    labels: IntArray, distances: FloatArray, n_clusters: int, farther_than: float = -np.inf
) -> IntArray:
    """Give every empty cluster the farthest point of a cluster that has more than one."""
    counts = np.bincount(labels, minlength=n_clusters)
    empty = np.flatnonzero(counts == 0)
    if len(empty) == 0:
        return labels
    labels = labels.copy()
    for point in np.argsort(-distances, kind="stable"):
        if len(empty) == 0 or distances[point] <= farther_than:
            break
        if counts[labels[point]] > 1:
            counts[labels[point]] -= 1
            labels[point], empty = empty[0], empty[1:]
    return labels


def _rows_at(each: Each, chosen: IntArray) -> Rows:
    parts, start = [], 0
    for rows in each(np.asarray):
        first, last = np.searchsorted(chosen, [start, start + len(rows)])
        parts.append(rows[chosen[first:last] - start])
        start += len(rows)
    return np.concatenate(parts)
