"""What a data set is to sidecut: points, their classes, and where they come from."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.feature_extraction.text import TfidfTransformer

from sidecut.checks import BoolArray, IntArray

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
        parts = [self.X]
        if sp.issparse(self.X):
            rows = sp.csr_array(self.X)
            rows.sort_indices()
            parts = [rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)]
        parts[0] = parts[0].astype(np.float64)
        for part in (*parts, self.y.astype(np.int64)):
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
        >>> int(iris.subset(iris.y != 0, "iris-2", "Without setosa.").y.max())
        1
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


def first_of_each(y: IntArray, count: int) -> BoolArray:
    """Return which points are among the first `count` of their class."""
    order = np.argsort(y, kind="stable")
    starts = np.searchsorted(y[order], y[order])
    chosen = np.empty(len(y), dtype=bool)
    chosen[order] = np.arange(len(y)) - starts < count
    return chosen


#: What the papers leave out or put together.
NAMED: dict[str, Callable[[Dataset], Dataset]] = {
    "iris/without-setosa": lambda data: data.subset(
        data.y != 0, "", "Without setosa, which is well separated (CSP, section 7.3)."
    ),
    "wine/without-class-3": lambda data: data.subset(
        data.y != 2, "", "Without class 3, which is well separated (CSP, section 7.3)."
    ),
    # Windows are types 1 to 3, other things types 5 to 7.
    "glass/windows": lambda data: Dataset(
        "", data.X, (data.y >= 3).astype(np.intp), "Two classes: glass of windows, and of other things."
    ),
    "yaleb_32x32/last-10": lambda data: data.subset(
        data.y >= 28, "", "The last ten people (NCSC, section 5)."
    ),
}


def variant(data: Dataset, which: str) -> Dataset:
    """Return a subset of a data set by the name after the slash, such as "without-setosa" or "first-300"."""
    name = f"{data.name}/{which}"
    if name in NAMED:
        part = NAMED[name](data)
        return Dataset(name, part.X, part.y, f"{data.description} {part.description}")
    rule = re.fullmatch(r"(first|classes|even|\d+)-(\d+)", which)
    if rule is None:
        known = [other.partition("/")[2] for other in NAMED if other.startswith(f"{data.name}/")]
        offers = ", ".join([*known, "first-300", "classes-5", "even-1000", "3-8"])
        raise ValueError(f"{data.name!r} has no subset {which!r}; choose one such as {offers}")
    return _by_rule(data, name, rule[1], int(rule[2]))


def _by_rule(data: Dataset, name: str, rule: str, number: int) -> Dataset:
    k = data.n_classes
    if rule == "classes":
        return data.subset(data.y < number, name, f"{data.description} The first {number} classes.")
    if rule == "first":
        words = f"{data.description} The first {number} of each class."
        return data.subset(first_of_each(data.y, number), name, words)
    if rule == "even":
        chosen = np.flatnonzero(first_of_each(data.y, -(-number // k)))
        surplus = len(chosen) - number
        # Where the number cannot be shared evenly, the last classes have one point less.
        lasts = [chosen[data.y[chosen] == c][-1] for c in range(k - surplus, k)] if 0 < surplus < k else []
        words = f"{data.description} The first {number}, evenly from all classes."
        return data.subset(np.setdiff1d(chosen, lasts), name, words)
    pair = [int(rule), number]
    if not set(pair) <= set(data.y.tolist()) or pair[0] == number:
        raise ValueError(f"{name!r} names classes {pair}, but there are the classes 0 to {k - 1}")
    return data.subset(np.isin(data.y, pair), name, f"{data.description} Classes {rule} and {number} only.")
