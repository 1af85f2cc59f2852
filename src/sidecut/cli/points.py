"""The points to cluster, as they were read: values, names and what is known of their classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidecut.cli.errors import UsageError

__all__ = ["Points"]


@dataclass(frozen=True)
class Points:
    """Points read from a file.

    Parameters
    ----------
    X : array or sparse array
        Features of the points (n, d), or weights between them (n, n) if `is_graph`.
    source : Path
        The file they came from.
    is_graph : bool
        Whether `X` holds weights between points.
    names : tuple of str, optional
        Names of the points, from the id column or the nodes of an edge list.
    name_column : str
        What the names are called in output files.
    columns : tuple of str, optional
        Names of the features.
    known_labels : tuple of str, optional
        Classes of the points labelled beforehand, empty where unknown.
    truth : array of shape (n,), optional
        Classes to score against, -1 where unknown; never shown to a method.
    preparation : Preparation, optional
        How the features came from a table, for points that come later.

    Examples
    --------
    >>> points = Points(np.zeros((2, 1)), Path("points.csv"), names=("ann", "bob"))
    >>> points.n_samples, points.name(1)
    (2, 'bob')
    """

    X: Any
    source: Path
    is_graph: bool = False
    names: tuple[str, ...] | None = None
    name_column: str = "index"
    columns: tuple[str, ...] | None = None
    known_labels: tuple[str, ...] | None = None
    truth: NDArray[np.intp] | None = None
    preparation: Any = None

    @property
    def n_samples(self) -> int:
        """How many points there are."""
        return int(self.X.shape[0])

    def name(self, position: int) -> str:
        """Return what a point is called: its name, or its row number."""
        return str(position) if self.names is None else self.names[position]


def checked_names(values: Sequence[Any], column: str, source: Path) -> tuple[str, ...]:
    """Turn an id column into names, which must be there and must differ.

    Examples
    --------
    >>> checked_names([3, 1], "id", Path("points.csv"))
    ('3', '1')
    >>> checked_names(["a", "a"], "id", Path("points.csv"))
    Traceback (most recent call last):
    ...
    sidecut.cli.errors.UsageError: The id column 'id' of points.csv calls rows 0 and 1 both 'a'; names must...
    """
    names = tuple(str(value) for value in values)
    seen: dict[str, int] = {}
    for row, name in enumerate(names):
        if name in seen:
            rule = "names must differ; choose another --id-column or leave it out"
            raise UsageError(
                f"The id column {column!r} of {source} calls rows {seen[name]} and {row} both {name!r}; "
                f"{rule}."
            )
        seen[name] = row
    return names
