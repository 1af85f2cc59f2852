"""Names of clusters: the numbers are arbitrary, so choose them by a rule."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def rename_by_first_appearance(labels: ArrayLike) -> NDArray[np.intp]:
    """Number the clusters 0, 1, 2, ... in the order in which the points meet them.

    Two label vectors describe the same partition exactly when their renamed versions are equal, whatever
    order a solver happened to find the clusters in.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        One label per point, of any type that can be sorted.

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
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]
