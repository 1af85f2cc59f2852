"""Names of clusters: the numbers are arbitrary, so choose them by a rule."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sidecut.arrays import IntArray
from sidecut.exceptions import LabellingWarning, warn


def rename_by_first_appearance(labels: ArrayLike) -> IntArray:
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
    first, numbers = _first_places(values)
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[numbers]


def _first_places(values: NDArray) -> tuple[IntArray, IntArray]:
    """Return where each label comes first, and the labels as numbers into that."""
    n = values.size
    if not n or values.dtype.kind not in "iu" or values.min() < 0 or values.max() >= n:
        _, first, numbers = np.unique(values, return_index=True, return_inverse=True)
        return first, numbers
    # Numbers from 0 on need no sorting. Of places given to one label the last remains: the first, backwards.
    first = np.full(int(values.max()) + 1, n, dtype=np.intp)
    first[values[::-1]] = np.arange(n - 1, -1, -1)
    return first, values


# Saying so when fewer clusters came out than were asked for.


def warn_if_clusters_are_missing(labels: IntArray, n_clusters: int, method: str, reason: str) -> None:
    """Emit a `LabellingWarning` if the labels have fewer than `n_clusters` values.

    Parameters
    ----------
    labels : ndarray of intp, shape (n_samples,)
        The labels found.
    n_clusters : int
        How many clusters were asked for.
    method : str
        The name of the labelling, for the message.
    reason : str
        Why it happened and what to do about it, for the message.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_if_clusters_are_missing(np.array([0, 0, 1]), 3, "argmax", "column 2 never wins")
    >>> str(caught[0].message)
    "'argmax' found 2 clusters where n_clusters=3 were asked for: column 2 never wins"
    """
    found = len(np.unique(labels))
    if found < n_clusters:
        warn(
            f"'{method}' found {found} clusters where n_clusters={n_clusters} were asked for: {reason}",
            LabellingWarning,
        )
