"""Points as the search for neighbours sees them: finite, shifted, with squared distances to each other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from sidecut.arrays import FloatArray, IntArray, to_points

#: Below this share of ‖x‖² + ‖y‖² the expansion ‖x‖² - 2xᵀy + ‖y‖² has lost its digits to cancellation.
CLOSE = 1e-6
#: How many bytes of coordinate differences are held at a time: what a processor's cache holds.
DIFFERENCE_BYTES = 2 * 2**20


@dataclass(frozen=True)
class Points:
    """Coordinates of moderate size, and the unit their distances are measured in.

    Attributes
    ----------
    coordinates : array or csr_array of shape (n, d)
        The data divided by `unit`; dense features far from the origin are moved to it, which changes no
        distance and keeps digits that the squares of large coordinates would swallow.
    unit : float
        A power of two: a distance in the data is `unit` times the distance between coordinates.
    """

    coordinates: Any
    unit: float

    @property
    def n_points(self) -> int:
        """How many points there are."""
        return int(self.coordinates.shape[0])

    @cached_property
    def squared_norms(self) -> FloatArray:
        """‖x_i‖² of the coordinates."""
        return squared_rows(self.coordinates)

    def squared_distances(self, rows: slice) -> FloatArray:
        """Return the squared distances between the coordinates of some rows and of all points.

        The matrix product is fast but loses close pairs to cancellation; those are computed again from
        their differences, so that duplicates are at distance zero exactly.
        """
        products = self.coordinates[rows] @ self.coordinates.T
        squared = products.toarray() if sp.issparse(products) else products
        norms = self.squared_norms
        squared *= -2.0
        squared += norms[rows, None]
        squared += norms[None, :]
        row, col = np.nonzero(squared < CLOSE * np.add.outer(norms[rows], norms))
        squared[row, col] = self.squared_differences(row + rows.start, col)
        return squared

    def squared_lengths(self, points: IntArray, others: IntArray) -> FloatArray:
        """Return ‖x_i - x_j‖² for some points i (q,) and for each several others j (q, m).

        It is `squared_differences` of all these pairs, but no point is fetched more than once for its own.
        """
        n_points, n_others = others.shape
        if sp.issparse(self.coordinates):
            left = np.repeat(points, n_others)
            return self.squared_differences(left, others.ravel()).reshape(others.shape)
        result = np.empty(others.shape)
        step = max(1, DIFFERENCE_BYTES // (8 * max(1, self.coordinates.shape[1] * n_others)))
        for start in range(0, n_points, step):
            part = slice(start, start + step)
            apart = self.coordinates[others[part]]
            apart -= self.coordinates[points[part], None, :]
            np.einsum("ijk,ijk->ij", apart, apart, out=result[part])
        return result

    def squared_differences(self, left: IntArray, right: IntArray) -> FloatArray:
        """Return ‖x_left - x_right‖² of the coordinates for each pair, from the differences themselves."""
        result = np.empty(left.size)
        chunk = max(1, DIFFERENCE_BYTES // (8 * max(1, self.coordinates.shape[1])))
        for start in range(0, left.size, chunk):
            part = slice(start, start + chunk)
            result[part] = squared_rows(self.coordinates[left[part]] - self.coordinates[right[part]])
        return result


def as_points(X: Any) -> Points:
    """Return the rows of a data matrix as points of moderate size.

    Parameters
    ----------
    X : array, data frame or sparse matrix of shape (n, d)
        The data.

    Returns
    -------
    Points
        Their coordinates and unit.

    Raises
    ------
    ValueError
        If X is not a matrix of finite real numbers, or so large that distances overflow.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs.points import as_points
    >>> points = as_points(np.array([[0.0], [3e200]]))
    >>> float(points.unit * np.sqrt(points.squared_distances(slice(0, 1))[0, 1]))
    3e+200
    """
    X = finite_matrix(X)
    exponent = int(np.frexp(_largest(X))[1]) - 1
    if sp.issparse(X):
        coordinates = sp.csr_array((np.ldexp(X.data, -exponent), X.indices, X.indptr), shape=X.shape)
    else:
        coordinates = _scaled(X, -exponent)
        shift = _exact_shift(coordinates)
        if shift.any():
            coordinates -= shift
    points = Points(coordinates, unit=float(np.ldexp(1.0, exponent)))
    with np.errstate(over="ignore"):
        farthest = 2 * points.unit * np.sqrt(points.squared_norms.max(initial=0.0))
    if not np.isfinite(farthest):
        raise ValueError(
            f"X has values up to {_largest(X):.3g}: distances between its rows overflow. Rescale X."
        )
    return points


def finite_matrix(X: Any) -> Any:
    """Return X as a float64 array or csr_array; refuse what is not a matrix of finite real numbers."""
    X = to_points(X)
    X = sp.csr_array(X) if sp.issparse(X) else np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X has shape {X.shape}; give a matrix with one row per point.")
    if np.iscomplexobj(X):
        raise ValueError("X is complex; distances and weights here are of real numbers.")
    X = X.astype(np.float64, copy=False)
    # A sum of finite numbers can overflow, but one that is finite has no other terms.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(X.sum()):
            return X
    entries = sp.coo_array(X) if sp.issparse(X) else X
    bad = np.flatnonzero(~np.isfinite(entries.data if sp.issparse(X) else entries))[:1]
    if bad.size:
        row, col = (entries.row[bad], entries.col[bad]) if sp.issparse(X) else np.unravel_index(bad, X.shape)
        raise ValueError(
            f"X[{row[0]}, {col[0]}] = {X[int(row[0]), int(col[0])]}: every value must be finite. Impute "
            "missing values or leave the row out."
        )
    return X


def unit_rows(X: Any) -> Any:
    """Return X with rows of length one, zero rows left as they are; safe at any scale.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs.points import unit_rows
    >>> unit_rows(np.array([[3e200, 4e200], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    X = finite_matrix(X)
    # The largest entry first: the squares of the Euclidean norm may overflow or vanish where it does not.
    largest = abs(X).max(axis=1)
    X = _divided_rows(X, np.asarray(largest.todense() if sp.issparse(largest) else largest).ravel())
    return _divided_rows(X, np.sqrt(squared_rows(X)))


def _divided_rows(X: Any, lengths: FloatArray) -> Any:
    """Divide every row by its length, zero rows by one."""
    lengths = np.where(lengths > 0, lengths, 1.0)
    if not sp.issparse(X):
        return X / lengths[:, None]
    return sp.csr_array((X.data / np.repeat(lengths, np.diff(X.indptr)), X.indices, X.indptr), shape=X.shape)


def _scaled(X: FloatArray, exponent: int) -> FloatArray:
    """Return X times a power of two: by a product where the power is a number, which is much faster."""
    return X * np.ldexp(1.0, exponent) if abs(exponent) < 1000 else np.ldexp(X, exponent)


def _exact_shift(X: FloatArray) -> FloatArray:
    """Return the mean of each feature that lies within [mean/2, 2 mean], zero for the others.

    There the subtraction is exact in floating point (Sterbenz), and elsewhere the offset is no larger than
    the spread, so that moving the points would gain nothing.
    """
    means = X.mean(axis=0) if X.size else np.zeros(X.shape[1])
    safe = np.where(means == 0, 1.0, means)
    ends = np.stack([X.min(axis=0, initial=np.inf) / safe, X.max(axis=0, initial=-np.inf) / safe])
    return np.where((ends.min(axis=0) >= 0.5) & (ends.max(axis=0) <= 2.0), means, 0.0)


def _largest(X: Any) -> float:
    values = X.data if sp.issparse(X) else X
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))


def squared_rows(rows: Any) -> FloatArray:
    """Return ‖x‖² of every row, dense or sparse."""
    if sp.issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", rows, rows)
