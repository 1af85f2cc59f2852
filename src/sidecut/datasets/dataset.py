"""What a data set is to sidecut: points, their classes, and where they come from."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.feature_extraction.text import TfidfTransformer

from sidecut.arrays import IntArray

Scaling = Literal["none", "standard", "range", "tfidf"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Points with known classes.

    Parameters
    ----------
    name : str
        A short name.
    X : ndarray or csr_array of float, shape (n_samples, n_features)
        The points; word counts are sparse.
    y : ndarray of intp, shape (n_samples,)
        The class of each point, 0..n_classes-1.
    description : str
        One sentence: what the points are and where they come from.

    Examples
    --------
    >>> from sidecut.datasets import make_example
    >>> make_example("iris")
    Dataset('iris', 150 points, 4 features, 3 classes)
    """

    name: str
    X: Any
    y: IntArray
    description: str

    def __post_init__(self) -> None:
        if self.X.ndim != 2 or self.y.shape != (self.X.shape[0],):
            raise ValueError(
                f"data set '{self.name}': X has shape {self.X.shape} and y {self.y.shape};"
                " X must have one row, and y one entry, per point"
            )

    @property
    def n_samples(self) -> int:
        """The number of points."""
        return self.X.shape[0]

    @property
    def n_classes(self) -> int:
        """The number of different classes."""
        return len(np.unique(self.y))

    @property
    def checksum(self) -> str:
        """The first 16 digits of the SHA-256 of all numbers in X and y, whatever types they are kept in."""
        digest = hashlib.sha256()
        for part in (*_parts(self.X), self.y.astype(np.int64)):
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()[:16]

    def subset(self, points: ArrayLike, name: str, description: str) -> Dataset:
        """Return some of the points, their classes numbered anew from 0 in the old order.

        Parameters
        ----------
        points : array-like of bool or int
            Which points.
        name, description : str
            Of the subset.

        Examples
        --------
        >>> from sidecut.datasets import make_example
        >>> iris = make_example("iris")
        >>> iris.subset(iris.y != 0, "iris-2", "Without setosa.").y.max()
        np.int64(1)
        """
        chosen = np.asarray(points)
        _, y = np.unique(self.y[chosen], return_inverse=True)
        return Dataset(name, self.X[chosen], y.astype(np.intp), description)

    def scaled(self, how: Scaling) -> Dataset:
        """Return the same points with features scaled.

        Parameters
        ----------
        how : {"none", "standard", "range", "tfidf"}
            As they are; each feature to mean 0 and variance 1; each to [-1, 1]; or counts of words to tf-idf
            weights. Constant features become 0.

        Examples
        --------
        >>> from sidecut.datasets import make_example
        >>> wine = make_example("wine").scaled("range")
        >>> round(float(wine.X.min()), 9), round(float(wine.X.max()), 9)
        (-1.0, 1.0)
        """
        return self if how == "none" else replace(self, X=_scaled(self.X, how, self.name))

    def __repr__(self) -> str:
        counts = f"{self.n_samples} points, {self.X.shape[1]} features, {self.n_classes} classes"
        return f"Dataset({self.name!r}, {counts})"


def _parts(X: Any) -> tuple[NDArray, ...]:
    if not sp.issparse(X):
        return (np.asarray(X, dtype=np.float64),)
    rows = sp.csr_array(X)
    rows.sort_indices()
    return rows.data.astype(np.float64), rows.indices.astype(np.int64), rows.indptr.astype(np.int64)


def _scaled(X: Any, how: Scaling, name: str) -> Any:
    if how == "tfidf":
        return sp.csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(sp.csr_matrix(X)))
    if sp.issparse(X):
        raise ValueError(
            f"data set '{name}' is sparse, and scaling={how!r} would fill it; use 'tfidf' or 'none'"
        )
    if how == "standard":
        middle, width = X.mean(axis=0), X.std(axis=0)
    elif how == "range":
        low, high = X.min(axis=0), X.max(axis=0)
        middle, width = (low + high) / 2, (high - low) / 2
    else:
        raise ValueError(f"scaling={how!r}: choose 'none', 'standard', 'range' or 'tfidf'")
    return (X - middle) / np.where(width > 0, width, 1.0)
