"""What an embedding must be before it may turn into labels, and the projection of its rows on the sphere."""

import operator
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray


def check_embedding(embedding: ArrayLike) -> NDArray[np.float64]:
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


def _refuse_nonfinite(rows: NDArray[np.float64]) -> None:
    finite = np.isfinite(rows)
    if not finite.all():
        bad = np.argwhere(~finite)
        row, column = bad[0]
        raise ValueError(
            f"embedding[{row}, {column}] is {rows[row, column]}; every entry must be finite"
            f" ({len(bad)} of {rows.size} are not). Look for points of degree zero,"
            " or an eigensolver that diverged"
        )


def check_n_clusters(n_clusters: SupportsIndex, n_samples: int) -> int:
    """Return the number of clusters as an int between 1 and the number of points.

    Parameters
    ----------
    n_clusters : int
        Any integer type; floats are refused, also whole ones.
    n_samples : int
        The number of points there are to share out.

    Returns
    -------
    int
        The number of clusters.

    Raises
    ------
    TypeError
        If `n_clusters` is not an integer.
    ValueError
        If it is below 1 or above `n_samples`.

    Examples
    --------
    >>> check_n_clusters(3, n_samples=10)
    3
    >>> check_n_clusters(11, n_samples=10)
    Traceback (most recent call last):
    ...
    ValueError: n_clusters=11 clusters cannot be made of 10 points; choose 1 <= n_clusters <= 10
    """
    try:
        count = operator.index(n_clusters)
    except TypeError:
        raise TypeError(f"n_clusters={n_clusters!r} must be an integer") from None
    if not 1 <= count <= n_samples:
        raise ValueError(
            f"n_clusters={count} clusters cannot be made of {n_samples} points;"
            f" choose 1 <= n_clusters <= {n_samples}"
        )
    return count


def check_one_column_each(rows: NDArray[np.float64], n_clusters: int, method: str) -> None:
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


def unit_rows(embedding: ArrayLike) -> NDArray[np.float64]:
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
