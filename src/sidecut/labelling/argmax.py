"""Clusters from a matrix of memberships: the column with the largest entry."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sidecut.labelling.embedding import check_embedding


def argmax_labels(memberships: ArrayLike) -> NDArray[np.intp]:
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
