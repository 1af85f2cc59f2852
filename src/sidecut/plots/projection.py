"""Two coordinates to look at, from data or an embedding of any width."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.decomposition import PCA

__all__ = ["project_for_picture"]


def project_for_picture(X: Any) -> NDArray[np.float64]:
    """Turn data or an embedding into two coordinates for a picture.

    Two columns are shown as they are and one column gets a second coordinate of zero. Wider data is
    turned by principal components, which drops directions in which nothing varies, such as the
    constant eigenvector of a Laplacian. The same data always gives the same picture.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Rows are points.

    Returns
    -------
    array of shape (n, 2)
        Coordinates of the points.

    Raises
    ------
    ValueError
        If `X` does not have two dimensions, or has no columns.

    Examples
    --------
    >>> project_for_picture([[1, 2], [3, 4]]).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    >>> project_for_picture([[1], [3]]).tolist()
    [[1.0, 0.0], [3.0, 0.0]]
    >>> wide = [[0, 0, 5], [3, 0, 5], [0, 1, 5], [3, 1, 5]]
    >>> np.abs(project_for_picture(wide)).round(6).tolist()
    [[1.5, 0.5], [1.5, 0.5], [1.5, 0.5], [1.5, 0.5]]
    """
    values = X if sparse.issparse(X) else np.asarray(X, dtype=float)
    if values.ndim != 2 or values.shape[1] == 0:
        raise ValueError(f"A picture needs an array (points, columns); this one has shape {values.shape}.")
    if values.shape[1] <= 2:
        return _pad_to_two(values)
    return _principal_components(values)


def _pad_to_two(values: Any) -> NDArray[np.float64]:
    dense = values.toarray() if sparse.issparse(values) else values
    missing = 2 - dense.shape[1]
    return np.asarray(np.pad(dense, ((0, 0), (0, missing))), dtype=float)


def _principal_components(values: Any) -> NDArray[np.float64]:
    n_components = min(2, values.shape[0])
    # arpack centres a sparse matrix implicitly; the dense solvers are exact and need no start vector.
    solver = "arpack" if sparse.issparse(values) and min(values.shape) > n_components else "auto"
    dense = values if solver == "arpack" or not sparse.issparse(values) else values.toarray()
    # Points that are all alike have no variance to explain; their coordinates are zero all the same.
    with np.errstate(invalid="ignore"):
        return _pad_to_two(PCA(n_components, svd_solver=solver, random_state=0).fit_transform(dense))
