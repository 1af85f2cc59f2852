"""What an embedding must be before it may turn into labels, and the projection of its rows on the sphere."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from sidecut.arrays import BoolArray, FloatArray, IntArray


def check_embedding(embedding: ArrayLike) -> FloatArray:
    """Return the embedding as a float64 array, or say why no labels can come from it.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_components)
        One row per point.

    Returns
    -------
    ndarray of shape (n_samples, n_components)
        The same numbers in float64; no copy is made if they are already.

    Raises
    ------
    ValueError
        If the array is not two-dimensional, is empty or complex, has an entry that is not finite, or
        has nothing but zeros.

    Examples
    --------
    >>> check_embedding([[1, 0], [0, 1]])
    array([[1., 0.],
           [0., 1.]])
    >>> check_embedding([[1.0, 0.0], [0.0, float("nan")]])
    Traceback (most recent call last):
    ...
    ValueError: embedding[1, 1] is nan; every entry must be finite ...
    """
    rows = np.asarray(embedding)
    if rows.ndim != 2 or 0 in rows.shape:
        raise ValueError(
            f"the embedding has shape {rows.shape}; it must have one row per point and at least one column"
            " (use reshape(-1, 1) for a single vector)"
        )
    if np.iscomplexobj(rows):
        raise ValueError("the embedding is complex; hand over real eigenvectors")
    rows = rows.astype(np.float64, copy=False)
    _refuse_nonfinite(rows)
    if not rows.any():
        raise ValueError(
            f"all {len(rows)} rows of the embedding are zero, so it tells no point from another;"
            " look at the graph: does it have any edges?"
        )
    return rows


def _refuse_nonfinite(rows: FloatArray) -> None:
    finite = np.isfinite(rows)
    if not finite.all():
        bad = np.argwhere(~finite)
        row, column = bad[0]
        raise ValueError(
            f"embedding[{row}, {column}] is {rows[row, column]}; every entry must be finite"
            f" ({len(bad)} of {rows.size} are not). Look for points of degree zero,"
            " or an eigensolver that diverged"
        )


def check_one_column_each(rows: FloatArray, n_clusters: int, method: str) -> None:
    """Refuse an embedding whose columns cannot stand for the clusters one by one.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_components)
        The embedding.
    n_clusters : int
        The number of clusters asked for.
    method : str
        The name of the labelling that needs one column per cluster.

    Raises
    ------
    ValueError
        If `n_components` differs from `n_clusters`.

    Examples
    --------
    >>> import numpy as np
    >>> check_one_column_each(np.eye(4)[:, :2], 3, method="rotation")
    Traceback (most recent call last):
    ...
    ValueError: 'rotation' needs one column per cluster, but the embedding has 2 columns and n_clusters=3; ...
    """
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


# Points the embedding says nothing about, and the cluster they get in the end.


def informative_rows(rows: FloatArray) -> BoolArray:
    """Tell which rows are not entirely zero.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_components)
        The embedding.

    Returns
    -------
    ndarray of bool, shape (n_samples,)
        False where every entry of the row is exactly zero.

    Examples
    --------
    >>> import numpy as np
    >>> informative_rows(np.array([[0.0, 1.0], [0.0, 0.0]]))
    array([ True, False])
    """
    return np.any(rows != 0, axis=1)


def join_nearest_cluster(rows: FloatArray, labels: IntArray, placed: BoolArray) -> IntArray:
    """Label the rows not yet placed by the nearest of the means of the placed ones.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_components)
        The embedding.
    labels : ndarray of intp, shape (n_placed,)
        The labels of the placed rows, in their order.
    placed : ndarray of bool, shape (n_samples,)
        Which rows these are; at least one.

    Returns
    -------
    ndarray of intp, shape (n_samples,)
        `labels` where `placed`, the nearest cluster elsewhere; ties go to the lower label.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[1.0], [0.0], [-3.0]])
    >>> join_nearest_cluster(rows, np.array([0, 1]), np.array([True, False, True]))
    array([0, 0, 1])
    """
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
    """Add up the rows of each cluster: XᵀV for the indicator matrix X of the labels.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_components)
        The embedding V.
    labels : ndarray of intp, shape (n_samples,)
        Labels in 0..n_clusters-1.
    n_clusters : int
        The number of sums; clusters without points sum to zero.

    Returns
    -------
    ndarray of shape (n_clusters, n_components)
        The sums.

    Examples
    --------
    >>> import numpy as np
    >>> cluster_sums(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([0, 1, 0]), 2)
    array([[6., 8.],
           [3., 4.]])
    """
    columns = [np.bincount(labels, weights=column, minlength=n_clusters) for column in rows.T]
    return np.column_stack(columns)
