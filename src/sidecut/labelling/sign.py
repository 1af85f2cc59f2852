"""Two clusters from one vector: which side of zero each entry lies on."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sidecut.labelling.embedding import check_embedding


def sign_labels(indicator: ArrayLike) -> NDArray[np.intp]:
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
