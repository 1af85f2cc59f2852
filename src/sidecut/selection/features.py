"""Features made comparable: columns of one category weigh as one, and a metric learned from must-links."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.linalg import svd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import StandardScaler

from sidecut.checks import FloatArray, IntArray
from sidecut.constraints import Constraints

#: Share of the rows above which columns encode a category: pixels at the border of pictures are mostly 0.
MIN_FILLED = 0.5


def find_categories(X: npt.NDArray) -> list[IntArray]:
    """Return the columns that encode one category each, an array of columns per category.

    They stand side by side, hold 0 and one other value, and never more than one of them is not 0. In most
    rows one is. A single column of two values is no such encoding: it is a feature like others.
    """
    is_binary = np.array([len(np.unique(column[:200])) <= 2 for column in X.T], dtype=bool)
    is_binary[is_binary] = [_is_indicator(column) for column in X.T[is_binary]]
    found: list[list[int]] = []
    taken = np.ones(len(X), dtype=bool)
    for column in np.flatnonzero(is_binary).tolist():
        here = X[:, column] != 0
        if found and found[-1][-1] == column - 1 and not (taken & here).any():
            found[-1].append(column)
            taken |= here
        else:
            found.append([column])
            taken = here.copy()
    several = [np.array(columns) for columns in found if len(columns) > 1]
    return [columns for columns in several if np.count_nonzero(X[:, columns]) > MIN_FILLED * len(X)]


def _is_indicator(column: npt.NDArray) -> bool:
    values = np.unique(column)
    return len(values) == 2 and bool(values[0] == 0)


class ScaledColumns(TransformerMixin, BaseEstimator):
    """Features scaled to variance one, where all columns that encode one category share a variance of one.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.selection.features import ScaledColumns
    >>> X = np.array([[20.0, 1, 0, 0], [40.0, 0, 1, 0], [20.0, 0, 0, 1], [40.0, 1, 0, 0]])
    >>> ScaledColumns().fit_transform(X).var(axis=0).round(2)
    array([1. , 0.4, 0.3, 0.3])
    """

    def fit(self, X: npt.NDArray, y: Any = None) -> Self:
        """Measure the columns."""
        variances = StandardScaler().fit(X).var_
        for columns in find_categories(X):
            variances[columns] = variances[columns].sum()
        self.scale_ = 1.0 / np.sqrt(np.where(variances > 0, variances, 1.0))
        return self

    def transform(self, X: npt.NDArray) -> npt.NDArray:
        """Scale the columns."""
        return X * self.scale_


class NumericColumns(ScaledColumns):
    """The scaled features that do not encode a category."""

    def fit(self, X: npt.NDArray, y: Any = None) -> Self:
        """Find the columns that encode categories."""
        super().fit(X)
        encoded = find_categories(X)
        self.kept_ = np.setdiff1d(np.arange(X.shape[1]), np.concatenate([*encoded, []]))
        return self

    def transform(self, X: npt.NDArray) -> npt.NDArray:
        """Scale the columns that are kept."""
        return super().transform(X)[:, self.kept_]


class MustLinkMetric(TransformerMixin, BaseEstimator):
    """Relevant component analysis (Bar-Hillel, Hertz, Shental & Weinshall, 2005), drawn towards no change.

    Directions in which must-linked points differ count less: with S = Σ (x - m)(x - m)ᵀ over sets of linked
    points with means m, points become (S + d v I)^{-1/2} x, up to scale, for d features of mean variance v.
    """

    def __init__(self, constraints: Constraints) -> None:
        self.constraints = constraints

    def fit(self, X: npt.NDArray, y: Any = None) -> Self:
        """Measure how far linked points differ."""
        components = self.constraints.must_link_components()
        sizes = np.bincount(components)
        linked = np.flatnonzero(sizes[components] > 1)
        names = np.unique(components[linked], return_inverse=True)[1]
        rows = X[linked].astype(np.float64)
        sums = np.zeros((names.max(initial=-1) + 1, X.shape[1]))
        np.add.at(sums, names, rows)
        rows -= (sums / np.bincount(names)[:, None])[names] if len(names) else 0.0
        shrunk = X.shape[1] * float(np.var(X, axis=0, dtype=np.float64).mean())
        _, lengths, directions = (
            svd(rows, full_matrices=False) if len(rows) else (0, np.empty(0), np.empty((0, X.shape[1])))
        )
        self.directions_ = directions
        self.loss_ = 1.0 - np.sqrt(shrunk / (lengths**2 + shrunk)) if shrunk > 0 else 0.0 * lengths
        return self

    def transform(self, X: npt.NDArray) -> FloatArray:
        """Shorten the directions in which linked points differ."""
        return X - ((X @ self.directions_.T) * self.loss_) @ self.directions_
