"""The papers' subsets, by the names that follow the slash: ``iris/without-setosa``, ``usps/first-300``."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from sidecut.arrays import BoolArray, IntArray
from sidecut.datasets.dataset import Dataset


def first_of_each(y: IntArray, count: int) -> BoolArray:
    """Tell which points are among the first `count` of their class.

    Examples
    --------
    >>> import numpy as np
    >>> first_of_each(np.array([0, 1, 0, 0, 1]), 2)
    array([ True,  True,  True, False,  True])
    """
    order = np.argsort(y, kind="stable")
    starts = np.searchsorted(y[order], y[order])
    chosen = np.empty(len(y), dtype=bool)
    chosen[order] = np.arange(len(y)) - starts < count
    return chosen


def _without(number: int, words: str) -> Callable[[Dataset], Dataset]:
    return lambda data: data.subset(data.y != number, "", words)


def _window_glass(data: Dataset) -> Dataset:
    """Glass as two classes, windows (types 1 to 3) and other things (5 to 7)."""
    y = (data.y >= 3).astype(np.intp)
    return Dataset("", data.X, y, "Two classes: glass of windows, and of other things.")


def _last_people(data: Dataset) -> Dataset:
    return data.subset(data.y >= 28, "", "The last ten people (NCSC, section 5).")


#: What the papers leave out or put together.
NAMED: dict[str, Callable[[Dataset], Dataset]] = {
    "iris/without-setosa": _without(0, "Without setosa, which is well separated (CSP, section 7.3)."),
    "wine/without-class-3": _without(2, "Without class 3, which is well separated (CSP, section 7.3)."),
    "glass/windows": _window_glass,
    "yaleb_32x32/last-10": _last_people,
}


def variant(data: Dataset, which: str) -> Dataset:
    """Return a subset of a data set by its name.

    Parameters
    ----------
    data : Dataset
        The whole.
    which : str
        One of the papers' subsets ("without-setosa", "without-class-3", "windows", "last-10"), "first-300"
        for the first 300 points of each class, "classes-5" for the first five classes, "even-1000" for 1,000
        points shared evenly among the classes, the first of each, or "3-8" for two classes.

    Returns
    -------
    Dataset
        Named ``<whole>/<which>``.

    Raises
    ------
    ValueError
        If there is no such subset.

    Examples
    --------
    >>> from sidecut.datasets import make_example
    >>> variant(make_example("iris"), "without-setosa")
    Dataset('iris/without-setosa', 100 points, 4 features, 2 classes)
    >>> variant(make_example("digits"), "3-8").n_classes
    2
    """
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
