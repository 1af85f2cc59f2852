"""Columns of a table that name or number its rows, and are no features."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sidecut.cli.errors import UsageError
from sidecut.cli.preparation import can_name_points, quoted

if TYPE_CHECKING:
    import pandas as pd

#: A column of whole numbers that is called id holds ids if more than this share of them is distinct.
MOSTLY = 0.75


def is_called_id(column: str) -> bool:
    """Tell whether the heading of a column says that it holds ids.

    Examples
    --------
    >>> [is_called_id(name) for name in ("id", "Customer_ID", "row", "width", "idle")]
    [True, True, True, False, False]
    """
    return re.fullmatch(r"(?i)(.*[_ -])?(id|ids|key|index|uid|row)", column) is not None


def looks_like_ids(values: pd.Series, column: str) -> bool:
    """Tell whether a column numbers the rows: by its heading, or because it counts on by one.

    Examples
    --------
    >>> import pandas as pd
    >>> looks_like_ids(pd.Series([7, 9, 7, 12, 31]), "customer_id")
    True
    >>> looks_like_ids(pd.Series([1, 2, 1, 2, 1]), "shop_id")
    False
    """
    is_saved_index = column.startswith("Unnamed: ")
    return is_saved_index or _numbers_rows(values) or (is_called_id(column) and _is_mostly_distinct(values))


def ask_about_ids(values: pd.Series, column: str, source: Path) -> None:
    """Refuse a column that numbers the rows: clustered as a feature it decides the result."""
    if not looks_like_ids(values, column):
        return
    if column.startswith("Unnamed: "):
        # pandas writes its row numbers under an empty heading.
        said = f"A column of {source} has no heading and looks like saved row numbers ({column!r})"
    else:
        first = ", ".join(f"{value:g}" for value in values[:3])
        said = f"Column {column!r} of {source} looks like ids, not like a feature ({first}, ...)"
    name = quoted(column)
    naming = f", make it the names of the points with --id-column {name}" if can_name_points(values) else ""
    raise UsageError(
        f"{said}; leave it out with --drop {name}{naming}, or say that it is a feature with --feature {name}."
    )


def _is_mostly_distinct(values: pd.Series) -> bool:
    return len(values) > 2 and values.dtype.kind in "iu" and values.nunique() > MOSTLY * len(values)


def _numbers_rows(values: pd.Series) -> bool:
    return len(values) >= 10 and values.dtype.kind in "iu" and bool((np.diff(values.to_numpy()) == 1).all())
