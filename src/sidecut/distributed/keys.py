"""Constraints for rows on a cluster: what is known under their keys, or in one of their columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import numpy.typing as npt
import pandas as pd

from sidecut.arrays import IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintError

#: So many offending keys are named in a message.
NAMED = 5

Pairs = Iterable[tuple[Any, Any]]


def constraints_by_key(
    keys: Any,
    *,
    must_link: Pairs = (),
    cannot_link: Pairs = (),
    labels: Mapping[Any, Any] | pd.Series | None = None,
    must_weight: Any = 1.0,
    cannot_weight: Any = 1.0,
    on_conflict: str = "raise",
) -> Constraints:
    """Make constraints of what is known about rows by their keys.

    Partitions are searched where they are; only the rows that something is known about come back.

    Parameters
    ----------
    keys : dask Series or dask array of shape (n_samples,)
        The key of every row, such as ``frame["id"]``, in the order of the rows to be clustered.
    must_link, cannot_link : iterable of pairs of keys
        Pairs that belong together, and pairs that do not.
    labels : mapping or Series from keys to classes, optional
        Known classes; -1, None and NaN say nothing.
    must_weight, cannot_weight : float or sequence
        How firmly the pairs are believed, see `Constraints.from_pairs`.
    on_conflict : {"raise", "drop", "weigh"}, default="raise"
        What to do where they contradict each other, see `Constraints.from_pairs`.

    Returns
    -------
    Constraints
        About the rows, numbered through all partitions. They contain every pair and label.

    Raises
    ------
    ConstraintError
        If a key is not there, or there more than once.

    Examples
    --------
    >>> import dask.dataframe as dd, pandas as pd
    >>> from sidecut.distributed import constraints_by_key
    >>> frame = dd.from_pandas(pd.DataFrame({"id": ["d", "a", "c", "b"], "x": range(4)}), npartitions=2)
    >>> known = constraints_by_key(frame["id"], must_link=[("a", "b")], cannot_link=[("a", "d")])
    >>> known.pairs.tolist(), known.strengths.tolist()
    ([[0, 1], [1, 3]], [-1.0, 1.0])
    >>> constraints_by_key(frame["id"], must_link=[("a", "z")])
    Traceback (most recent call last):
    ...
    sidecut.exceptions.ConstraintError: no row has the key 'z' (1 of 2 keys); keys are of dtype string.
    """
    must, cannot = _pairs(must_link, "must_link"), _pairs(cannot_link, "cannot_link")
    classes = {} if labels is None else dict(labels.items())
    wanted = list(dict.fromkeys([key for pair in (*must, *cannot) for key in pair] + list(classes)))
    places, n_rows = _places(keys, wanted)
    known = Constraints.from_pairs(
        n_rows,
        must_link=[(places[i], places[j]) for i, j in must],
        cannot_link=[(places[i], places[j]) for i, j in cannot],
        must_weight=must_weight,
        cannot_weight=cannot_weight,
        on_conflict=on_conflict,
    )
    if not classes:
        return known
    y = np.full(n_rows, None, dtype=object)
    for key, name in classes.items():
        y[places[key]] = name
    labelled = Constraints.from_labels(y)
    return labelled if known.is_empty else known.merged_with(labelled, on_conflict)


def constraints_by_label(labels: Any) -> Constraints:
    """Make constraints of a column that holds the classes of some rows.

    Parameters
    ----------
    labels : dask Series or dask array of shape (n_samples,)
        Classes of any kind; -1, None or NaN where unknown. Only known ones come back from the workers.

    Returns
    -------
    Constraints
        About the rows, numbered through all partitions.

    Examples
    --------
    >>> import dask.array as da
    >>> from sidecut.distributed import constraints_by_label
    >>> constraints_by_label(da.from_array([7, -1, -1, 7, 2], chunks=2)).pairs.tolist()
    [[0, 3], [0, 4], [3, 4]]
    """
    found = dask.compute(*[dask.delayed(labelled_rows)(block) for block in _blocks(labels, "labels")])
    starts, n_rows = _starts([size for size, _, _ in found])
    # Whatever kinds of class there are, a list of objects keeps them as they are.
    y = np.full(n_rows, None, dtype=object)
    for start, (_, rows, classes) in zip(starts, found, strict=True):
        y[start + rows] = classes
    return Constraints.from_labels(y)


def rows_with_keys(keys: Any, wanted: list[Any]) -> tuple[int, IntArray, list[Any]]:
    """Return the size of a partition, which of its rows have a wanted key, and these keys."""
    series = pd.Series(np.asarray(keys)) if not isinstance(keys, pd.Series) else keys
    rows = np.flatnonzero(series.isin(wanted).to_numpy())
    return len(series), rows, series.iloc[rows].tolist()


def labelled_rows(labels: Any) -> tuple[int, IntArray, npt.NDArray[np.object_]]:
    """Return the size of a partition, which of its rows have a known class, and these classes."""
    series = pd.Series(np.asarray(labels)) if not isinstance(labels, pd.Series) else labels
    rows = np.flatnonzero((series.notna() & ~series.isin([-1])).to_numpy())
    return len(series), rows, series.iloc[rows].to_numpy(dtype=object)


def _places(keys: Any, wanted: list[Any]) -> tuple[dict[Any, int], int]:
    """Return the row of every wanted key, and how many rows there are."""
    find = dask.delayed(rows_with_keys)
    found = dask.compute(*[find(block, wanted) for block in _blocks(keys, "keys")])
    starts, n_rows = _starts([size for size, _, _ in found])
    places: dict[Any, int] = {}
    for start, (_, rows, names) in zip(starts, found, strict=True):
        for row, name in zip((start + rows).tolist(), names, strict=True):
            if name in places:
                raise ConstraintError(
                    f"rows {places[name]} and {row} both have the key {name!r}; keys of constrained rows "
                    "must differ. Number the rows and use Constraints.from_pairs, or choose another key."
                )
            places[name] = row
    missing = [key for key in wanted if key not in places]
    if missing:
        named = ", ".join(map(repr, missing[:NAMED])) + (", ..." if len(missing) > NAMED else "")
        raise ConstraintError(
            f"no row has the key {named} ({len(missing)} of {len(wanted)} keys); keys are of dtype "
            f"{keys.dtype}."
        )
    return places, n_rows


def _starts(sizes: list[int]) -> tuple[list[int], int]:
    ends = np.cumsum(sizes)
    return (ends - sizes).tolist(), int(ends[-1])


def _blocks(column: Any, name: str) -> list[Any]:
    if isinstance(column, dd.Series):
        return column.to_delayed()
    if isinstance(column, da.Array) and column.ndim == 1:
        return list(column.to_delayed().ravel())
    told = f"shape {column.shape}" if hasattr(column, "shape") else type(column).__name__
    raise TypeError(f"{name} must be a dask Series or a dask array of one dimension, not {told}.")


def _pairs(pairs: Pairs, name: str) -> list[tuple[Any, Any]]:
    listed: list[tuple[Any, Any]] = [tuple(pair) for pair in pairs]
    wrong = next((pair for pair in listed if len(pair) != 2), None)
    if wrong is not None:
        raise ConstraintError(f"{name} holds {wrong!r}; give pairs of keys.")
    return listed
