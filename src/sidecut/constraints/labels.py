"""Labels, some of them unknown, as whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidecut.constraints.links import IntArray
from sidecut.exceptions import ConstraintError

UNKNOWN = -1


def encode_labels(y: Any, name: str = "y") -> IntArray:
    """Number the classes of partial labels by first appearance.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels of any hashable kind; -1, None or NaN where unknown.
    name : str
        What the user calls them, for the error message.

    Returns
    -------
    ndarray of shape (n_samples,)
        Class numbers from 0, and -1 where the label is unknown.

    Raises
    ------
    ConstraintError
        If `y` is not one label per sample, or holds missing labels that numpy turned into text.

    Examples
    --------
    >>> encode_labels(["cat", None, "dog", "cat"])
    array([ 0, -1,  1,  0])
    """
    labels = _one_per_sample(y, name)
    if labels.dtype.kind in "OV":
        return _encode_objects(labels, name)
    unknown = _unknown(labels, name)
    codes = np.full(len(labels), UNKNOWN, dtype=np.int64)
    codes[~unknown] = number_by_appearance(labels[~unknown])
    return codes


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
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse.reshape(-1)]


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


def _unknown(labels: NDArray[Any], name: str) -> NDArray[np.bool_]:
    if labels.dtype.kind in "US":
        _refuse_missing_as_text(labels, name)
        return np.zeros(len(labels), dtype=bool)
    if labels.dtype.kind == "f":
        return np.isnan(labels) | (labels == UNKNOWN)
    if labels.dtype.kind in "iu":
        return labels == UNKNOWN
    return np.zeros(len(labels), dtype=bool)


def _refuse_missing_as_text(labels: NDArray[Any], name: str) -> None:
    bad = np.flatnonzero(np.isin(labels.astype(str), ["nan", "None", "-1"]))
    if len(bad):
        raise ConstraintError(
            f"{name}[{bad[0]}] = {str(labels[bad[0]])!r} is text: if the label is unknown, pass a list or an "
            "array of dtype object with None there"
        )


def _encode_objects(labels: NDArray[Any], name: str) -> IntArray:
    numbers: dict[Any, int] = {}
    codes = np.full(len(labels), UNKNOWN, dtype=np.int64)
    for position, value in enumerate(labels):
        if not _is_missing(value):
            try:
                codes[position] = numbers.setdefault(value, len(numbers))
            except TypeError as error:
                raise ConstraintError(f"{name}[{position}] = {value!r} cannot be a label") from error
    return codes


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value) or bool(value == UNKNOWN)
    except TypeError:  # pandas.NA refuses to be compared
        return True
