"""Labels, some of them unknown, as whole numbers; and what the classes are called."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidecut.arrays import BoolArray, IntArray, to_native
from sidecut.exceptions import ConstraintError, ConstraintWarning, warn

UNKNOWN = -1
#: Text that may mean unknown as well as a class, whatever its case.
ASKED_ABOUT = frozenset(
    (
        "?",
        "-",
        "-1",
        "-1.0",
        "nan",
        "none",
        "null",
        "na",
        "n/a",
        "<na>",
        "nat",
        "unknown",
        "unlabeled",
        "unlabelled",
    )
)


def encode_labels(y: Any, name: str = "y") -> IntArray:
    """Number the classes of partial labels by first appearance.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels of any hashable kind; see `read_labels` for what is unknown.
    name : str
        What the user calls them, for the error message.

    Returns
    -------
    ndarray of shape (n_samples,)
        Class numbers from 0, and -1 where the label is unknown.

    Examples
    --------
    >>> encode_labels(["cat", None, "dog", "cat"])
    array([ 0, -1,  1,  0])
    """
    return read_labels(y, name)[0]


def read_labels(y: Any, name: str = "y", unknown: Any = None) -> tuple[IntArray, tuple[Any, ...]]:
    """Number the classes of partial labels by first appearance, and keep their names.

    Unknown are None, NaN, NaT, pandas.NA, masked entries, the empty text and the number -1. What may mean
    unknown or be a class ("?", "unknown", "nan", "-1" as text, the largest number of an unsigned type, which
    is what -1 becomes there) is asked about.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels of any hashable kind.
    name : str
        What the user calls them, for the error message.
    unknown : value or collection of values, optional
        Further values that mean unknown. An empty collection says that every other value is a class.

    Returns
    -------
    codes : ndarray of shape (n_samples,)
        Class numbers from 0, and -1 where the label is unknown.
    classes : tuple
        What each class is called.

    Raises
    ------
    ConstraintError
        If `y` is not one label per sample, or holds what may mean unknown.

    Examples
    --------
    >>> read_labels(["cat", "", "dog", "cat", "?"], unknown="?")
    (array([ 0, -1,  1,  0, -1]), ('cat', 'dog'))
    """
    labels, is_unknown = _one_per_sample(y, name), _masked(y)
    codes = np.full(len(labels), UNKNOWN, dtype=np.int64)
    if labels.dtype.kind in "iufb":
        # The usual case, and perhaps of millions: all at once.
        is_unknown |= (labels != labels) | (labels == UNKNOWN) | np.isin(labels, _values(unknown))
        known = labels[~is_unknown]
        codes[~is_unknown] = numbers = number_by_appearance(known)
        values = known[np.unique(numbers, return_index=True)[1]].tolist()
    else:
        values, codes[~is_unknown] = _number_objects(labels[~is_unknown], name, _values(unknown))
    if unknown is None:
        for number, value in enumerate(values):
            _ask_about(value, labels.dtype, name, int(np.argmax(codes == number)))
    return codes, tuple(values)


def labels_from_text(cells: Sequence[str]) -> list[str | None]:
    """Return labels read from a text file, None for empty cells and, where all are numbers, for -1.

    Examples
    --------
    >>> labels_from_text(["0", "", "-1", "7"]), labels_from_text(["cat", "-1"])
    (['0', None, None, '7'], ['cat', '-1'])
    """
    stripped = [cell.strip() for cell in cells]
    numeric = all(_is_number(cell) for cell in stripped if cell)
    return [None if not cell or (numeric and float(cell) == UNKNOWN) else cell for cell in stripped]


def encode_clustering(labels: Any, n_samples: int) -> IntArray:
    """Number the clusters of a complete clustering; every value, -1 too, is a cluster of its own."""
    values = _one_per_sample(labels, "labels")
    if len(values) != n_samples:
        raise ConstraintError(
            f"labels has {len(values)} entries for constraints on {n_samples} samples: "
            "pass the labels of all samples"
        )
    return number_by_appearance(values)


def number_by_appearance(values: NDArray[Any]) -> IntArray:
    """Replace each distinct value by 0, 1, 2, ... in order of first appearance."""
    if values.dtype.kind == "O":
        numbers: dict[Any, int] = {}
        return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int64)
    first, place = _first_places(values)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[place]


def _first_places(values: NDArray[Any]) -> tuple[IntArray, IntArray]:
    """Return where each value comes first, and the values as numbers into that."""
    n = values.size
    if not n or values.dtype.kind not in "iu" or values.min() < 0 or values.max() >= n:
        _, first, numbers = np.unique(values, return_index=True, return_inverse=True)
        return first, numbers.reshape(-1)
    # Numbers from 0 on need no sorting. Of places given to one value the last remains: the first, backwards.
    first = np.full(int(values.max()) + 1, n, dtype=np.int64)
    first[values[::-1]] = np.arange(n - 1, -1, -1)
    return first, values


def _number_objects(labels: NDArray[Any], name: str, unknown: tuple[Any, ...]) -> tuple[list[Any], IntArray]:
    numbers: dict[Any, int] = {}
    codes = np.full(len(labels), UNKNOWN, dtype=np.int64)
    for position, value in enumerate(labels):
        try:
            if not (is_missing(value) or value in unknown):
                codes[position] = numbers.setdefault(value, len(numbers))
        except TypeError as error:
            raise ConstraintError(f"{name}[{position}] = {value!r} cannot be a label") from error
    return list(numbers), codes


def _one_per_sample(y: Any, name: str) -> NDArray[Any]:
    if isinstance(y, list | tuple) and not any(isinstance(value, list | tuple | np.ndarray) for value in y):
        # np.asarray would turn ["a", None, nan] into text and the unknowns into classes.
        labels: NDArray[Any] = np.empty(len(y), dtype=object)
        labels[:] = y
    else:
        labels = np.asarray(to_native(y))
    if labels.ndim != 1 or len(labels) == 0:
        raise ConstraintError(
            f"{name} has shape {labels.shape}: give one label per sample, an array of shape (n_samples,)"
        )
    return labels


def _masked(y: Any) -> BoolArray:
    return np.ma.getmaskarray(y) if isinstance(y, np.ma.MaskedArray) else np.zeros(len(y), dtype=bool)


def _values(unknown: Any) -> tuple[Any, ...]:
    if unknown is None:
        return ()
    if isinstance(unknown, str | bytes) or not isinstance(unknown, Iterable):
        return (unknown,)
    return tuple(unknown)


def _ask_about(value: Any, dtype: np.dtype, name: str, position: int) -> None:
    """Refuse a value that may mean unknown as well as a class."""
    if isinstance(value, str) and value.strip().lower() in ASKED_ABOUT:
        said = f"{name}[{position}] = {str(value)!r} is text"
    elif dtype.kind == "u" and value == np.iinfo(dtype).max:
        said = f"{name}[{position}] = {value} is what -1 becomes in {dtype}, a number"
    else:
        return
    raise ConstraintError(
        f"{said} that may mean unknown or be a class: put None there or say unknown={value!r} if it means "
        "unknown, or say unknown=() if it is a class"
    )


def is_missing(value: Any) -> bool:
    """Tell whether a value means that nothing is known, whatever its type."""
    try:
        if isinstance(value, str):
            return not value.strip()
        return value is None or bool(value != value) or bool(value == UNKNOWN)
    except (TypeError, ValueError):  # pandas.NA refuses to be compared
        return type(value).__name__ == "NAType"


def _is_number(cell: str) -> bool:
    try:
        return np.isfinite(float(cell))
    except ValueError:
        return False


# What people call the classes they know, and which cluster each class is in.


@dataclass(frozen=True, eq=False)
class Classes:
    """The points whose class is known by name.

    Parameters
    ----------
    points : ndarray of shape (c,)
        Sorted points.
    codes : ndarray of shape (c,)
        The class of each, as a place in `names`.
    names : tuple
        What the classes are called.
    """

    points: IntArray
    codes: IntArray
    names: tuple[Any, ...]

    def restricted_to(self, rows: IntArray) -> Classes | None:
        """Return the same for some rows, renumbered."""
        place = {int(row): number for number, row in enumerate(rows)}
        kept = [
            (place[p], c)
            for p, c in zip(self.points.tolist(), self.codes.tolist(), strict=True)
            if p in place
        ]
        if not kept:
            return None
        points, codes = np.array(sorted(kept), dtype=np.int64).T
        return Classes(points, codes, self.names)

    def merged_with(self, other: Classes | None) -> Classes:
        """Return the points of both; what is called by both keeps the name it has here."""
        if other is None:
            return self
        number = {name: code for code, name in enumerate(dict.fromkeys((*self.names, *other.names)))}
        known = {p: number[other.names[c]] for p, c in zip(other.points.tolist(), other.codes, strict=True)}
        known |= {p: number[self.names[c]] for p, c in zip(self.points.tolist(), self.codes, strict=True)}
        points, codes = np.array(sorted(known.items()), dtype=np.int64).T
        return Classes(points, codes, tuple(number))

    def of_samples(self, n_samples: int) -> NDArray[np.object_]:
        """Return the name of the class of each sample, None where it has none."""
        found: NDArray[np.object_] = np.full(n_samples, None, dtype=object)
        names = np.empty(len(self.names), dtype=object)
        names[:] = self.names
        found[self.points] = names[self.codes]
        return found


def merge_classes(first: Classes | None, second: Classes | None) -> Classes | None:
    """Unite what two sets of constraints know of names."""
    return second if first is None else first.merged_with(second)


def name_clusters(
    labels: NDArray[Any], classes: Classes | None, n_clusters: int | None = None
) -> dict[int, Any]:
    """Tell which cluster is which class: the one most of its known points are of.

    Parameters
    ----------
    labels : array of shape (n_samples,)
        The cluster of each sample.
    classes : Classes or None
        The points whose class is known.
    n_clusters : int, optional
        Where there are fewer clusters than classes, that some share a cluster is no news.

    Returns
    -------
    dict
        The class of each cluster that holds a known point; other clusters are not in it.

    Examples
    --------
    >>> known = Classes(np.array([0, 1, 3]), np.array([0, 0, 1]), ("cat", "dog"))
    >>> name_clusters(np.array([2, 2, 0, 1]), known)
    {1: 'dog', 2: 'cat'}
    """
    if classes is None:
        return {}
    clusters, place = np.unique(labels[classes.points], return_inverse=True)
    counts = np.zeros((len(clusters), len(classes.names)), dtype=np.int64)
    np.add.at(counts, (place, classes.codes), 1)
    claims = {int(c): classes.names[counts[row].argmax()] for row, c in enumerate(clusters)}
    if n_clusters is None or n_clusters >= np.count_nonzero(counts.any(axis=0)):
        _warn_about_shared(counts, clusters, classes.names, set(claims.values()))
    return claims


def _warn_about_shared(
    counts: IntArray, clusters: IntArray, names: tuple[Any, ...], claimed: set[Any]
) -> None:
    totals = counts.sum(axis=0)
    lost = [code for code, name in enumerate(names) if totals[code] and name not in claimed]
    if not lost:
        return
    told = []
    for code in lost[:3]:
        row = int(counts[:, code].argmax())
        told.append(
            f"{names[code]!r} shares cluster {clusters[row]} with {names[counts[row].argmax()]!r} "
            f"({counts[row, code]} of its {totals[code]} known points are there)"
        )
    more = f" and {len(lost) - 3} more" if len(lost) > 3 else ""
    one = len(lost) == 1
    who = "A class has no cluster of its own" if one else f"{len(lost)} classes have no cluster of their own"
    warn(
        f"{who}: {'; '.join(told)}{more}. Look at these labels, ask for more clusters or try another method.",
        ConstraintWarning,
    )
