"""Labels, some of them unknown, as whole numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidecut.arrays import BoolArray, IntArray
from sidecut.exceptions import ConstraintError

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
        values, codes[~is_unknown] = _by_appearance(labels[~is_unknown])
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
    return _by_appearance(values)[1]


def _by_appearance(values: NDArray[Any]) -> tuple[list[Any], IntArray]:
    found, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(first), dtype=np.int64)
    rank[order] = np.arange(len(first))
    return found[order].tolist(), rank[inverse.reshape(-1)]


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
        labels = np.asarray(y)
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
