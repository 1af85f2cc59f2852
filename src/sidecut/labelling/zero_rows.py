"""Points the embedding says nothing about, and the cluster they get in the end.

A point without edges has an all-zero row. It has no say in where the clusters are, yet it needs a label:
the clusters are found from the other points, and it then joins the one whose centre is nearest.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist


def informative_rows(rows: NDArray[np.float64]) -> NDArray[np.bool_]:
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


def join_nearest_cluster(
    rows: NDArray[np.float64], labels: NDArray[np.intp], placed: NDArray[np.bool_]
) -> NDArray[np.intp]:
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


def cluster_sums(rows: NDArray[np.float64], labels: NDArray[np.intp], n_clusters: int) -> NDArray[np.float64]:
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
