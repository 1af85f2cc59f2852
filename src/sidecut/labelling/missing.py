"""Saying so when fewer clusters came out than were asked for."""

import warnings

import numpy as np
from numpy.typing import NDArray

from sidecut.exceptions import LabellingWarning


def warn_if_clusters_are_missing(labels: NDArray[np.intp], n_clusters: int, method: str, reason: str) -> None:
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
        warnings.warn(
            f"'{method}' found {found} clusters where n_clusters={n_clusters} were asked for: {reason}",
            LabellingWarning,
            stacklevel=3,
        )
