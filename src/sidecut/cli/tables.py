"""Tables (CSV, TSV, Parquet) to points: which columns are features, and which are not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sidecut.cli.errors import UsageError, require
from sidecut.cli.points import Points, checked_names
from sidecut.constraints.labels import labels_from_text
from sidecut.constraints.tables import COMPRESSED, PARQUET, guess_separator, open_text
from sidecut.exceptions import ConstraintError

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "TABLE_SUFFIXES",
    "ColumnRoles",
    "TextFormat",
    "class_codes",
    "feature_columns",
    "kind_suffix",
    "points_from_table",
    "read_lines",
    "read_table",
    "text_options",
]

_MISSING = {"NA", "N/A", "<NA>", "NULL", "NONE", "?", "-"}

TABLE_SUFFIXES = (".csv", ".tsv", ".txt", *PARQUET)


@dataclass(frozen=True)
class ColumnRoles:
    """Which columns of a table mean what.

    Parameters
    ----------
    label, truth, identity : str, optional
        Columns with partial labels, with true classes, and with names of the points.
    keep, drop : tuple of str
        Columns to use as features (all the others by default), and columns to leave out.
    """

    label: str | None = None
    truth: str | None = None
    identity: str | None = None
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()

    @property
    def special(self) -> tuple[str, ...]:
        """The columns that are no features."""
        return tuple(column for column in (self.label, self.truth, self.identity) if column is not None)


@dataclass(frozen=True)
class TextFormat:
    """How a text file is written.

    Parameters
    ----------
    has_heading : bool, optional
        Whether the first line names the columns. If not given, it does unless it is all numbers; columns
        without names are called 0, 1, ...
    encoding : str, optional
        UTF-8 if not given.
    decimal : str
        The decimal point.
    """

    has_heading: bool | None = None
    encoding: str | None = None
    decimal: str = "."


def kind_suffix(path: Path) -> str:
    """Return the suffix that tells what a file holds, compressed or not.

    Examples
    --------
    >>> kind_suffix(Path("points.csv.gz")), kind_suffix(Path("POINTS.CSV"))
    ('.csv', '.csv')
    """
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix in COMPRESSED else suffix


def read_lines(path: Path, encoding: str | None = None) -> Iterator[str]:
    """Yield the lines of a text file, compressed or not."""
    try:
        yield from open_text(path, encoding)
    except ConstraintError as error:
        raise UsageError(
            str(error).replace("name its encoding", "name its encoding with --encoding")
        ) from error


def read_table(path: Path, text: TextFormat | None = None, as_text: Sequence[str] = ()) -> pd.DataFrame:
    """Read a CSV, TSV or Parquet file.

    Parameters
    ----------
    path : Path
        File to read.
    text : TextFormat, optional
        How a text file is written.
    as_text : sequence of str
        Columns that are names or classes, in which 007 is not 7.

    Returns
    -------
    pandas.DataFrame
        The table, with column names as text.

    Raises
    ------
    UsageError
        If the file is empty or not a table, or its first line could be a heading as well as a point.
    """
    pandas = require("pandas", "Reading tables")
    try:
        if kind_suffix(path) in PARQUET:
            require("pyarrow", "Reading Parquet")
            frame = _with_index(pandas.read_parquet(path))
        else:
            frame = pandas.read_csv(path, **text_options(path, text or TextFormat(), as_text))
    except (ValueError, OSError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        reason = " ".join(str(error).split())
        raise UsageError(f"{path} could not be read as a table: {reason}") from error
    frame.columns = [str(column) for column in frame.columns]
    if not len(frame):
        raise UsageError(f"{path} has no rows; one row per point is expected.")
    return frame


def text_options(path: Path, text: TextFormat, as_text: Sequence[str] = ()) -> dict[str, Any]:
    """Return what ``read_csv`` must be told of a text file, from its first line.

    Parameters
    ----------
    path, text, as_text
        As in `read_table`.

    Returns
    -------
    dict
        Keyword arguments.
    """
    first_line = next((line for line in read_lines(path, text.encoding) if line.strip()), "").strip("\r\n")
    # One column may have blanks in its heading; only plain text separates by them.
    separator = guess_separator(first_line, text.decimal) or (r"\s+" if kind_suffix(path) == ".txt" else ",")
    has_heading = text.has_heading
    if has_heading is None:
        has_heading = _looks_like_heading(re.split(separator, first_line.strip()), path, text.decimal)
    return {
        "sep": separator,
        "header": "infer" if has_heading else None,
        "encoding": text.encoding or "utf-8-sig",
        "decimal": text.decimal,
        "dtype": dict.fromkeys(as_text, str),
        # A class called NA is a class; only nothing and NaN are missing.
        "keep_default_na": False,
        "na_values": ["", "nan", "NaN"],
    }


def _looks_like_heading(cells: Sequence[str], path: Path, decimal: str) -> bool:
    if not _is_all_numbers([cell.replace(decimal, ".") for cell in cells]):
        return True
    # pandas calls nameless columns 0, 1, 2, ... and writes that as a heading.
    if [cell.strip() for cell in cells] == [str(column) for column in range(len(cells))]:
        raise UsageError(
            f"The first line of {path} ({','.join(cells[:4])}{', ...' * (len(cells) > 4)}) may number the "
            "columns or be "
            "the first row; say which with --header or --no-header."
        )
    return False


def _is_all_numbers(cells: Sequence[str]) -> bool:
    try:
        return bool([float(cell) for cell in cells])
    except ValueError:
        return False


def _with_index(frame: pd.DataFrame) -> pd.DataFrame:
    # A named index holds data (often the names of the points), so it becomes a column again.
    return frame.reset_index() if frame.index.name is not None else frame


def points_from_table(
    frame: pd.DataFrame, source: Path, roles: ColumnRoles | None = None, *, is_graph: bool = False
) -> Points:
    """Turn a table into points: numbers from its feature columns, the rest by its role.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row per point.
    source : Path
        Where it came from, for messages.
    roles : ColumnRoles, optional
        What the columns mean; all are features by default.
    is_graph : bool
        Whether the numbers are weights between the points.

    Returns
    -------
    Points
        The points.

    Raises
    ------
    UsageError
        If a column is missing or not a number, or a value is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"x": [1, 2], "y": [0.5, 1.5], "name": ["a", "b"], "seen": [None, "cat"]})
    >>> roles = ColumnRoles(label="seen", identity="name")
    >>> points = points_from_table(frame, Path("points.csv"), roles)
    >>> points.X.tolist(), points.names, points.known_labels.tolist()
    ([[1.0, 0.5], [2.0, 1.5]], ('a', 'b'), [-1, 0])
    """
    roles = ColumnRoles() if roles is None else roles
    columns = feature_columns(frame, source, roles)
    names = None
    if roles.identity is not None:
        names = checked_names(frame[roles.identity].tolist(), roles.identity, source)
    return Points(
        X=_numbers(frame, columns, source),
        source=source,
        is_graph=is_graph,
        names=names,
        name_column=roles.identity or "index",
        columns=tuple(columns),
        known_labels=None if roles.label is None else class_codes(frame[roles.label].tolist()),
        truth=None if roles.truth is None else class_codes(frame[roles.truth].tolist()),
    )


def feature_columns(frame: pd.DataFrame, source: Path, roles: ColumnRoles) -> list[str]:
    """Return the columns that are features, all of them numbers.

    Raises
    ------
    UsageError
        If a column is missing or not a number, or none is left.
    """
    available = list(frame.columns)
    _must_exist((*roles.special, *roles.keep, *roles.drop), available, source)
    wanted = list(roles.keep) or [column for column in available if column not in roles.special]
    features = [column for column in wanted if column not in roles.drop]
    if not features:
        raise UsageError(f"No feature column is left of {source}; its columns are {_listed(available)}.")
    _refuse_row_numbers(features, roles, source)
    _refuse_text(frame, features, source)
    return features


def _must_exist(asked: Iterable[str], available: Sequence[str], source: Path) -> None:
    for column in asked:
        if column not in available:
            raise UsageError(f"{source} has no column {column!r}; its columns are {_listed(available)}.")


def _refuse_row_numbers(features: Sequence[str], roles: ColumnRoles, source: Path) -> None:
    # pandas writes its row numbers under an empty heading. Clustered as a feature they decide the result.
    for column in features:
        if column.startswith("Unnamed: ") and column not in roles.keep:
            raise UsageError(
                f"A column of {source} has no heading and looks like saved row numbers ({column!r}); leave "
                "it out "
                f"with --drop '{column}', make it the names of the points with --id-column '{column}', or "
                "name the "
                "features with --columns."
            )


def _refuse_text(frame: pd.DataFrame, features: Sequence[str], source: Path) -> None:
    pandas = require("pandas", "Reading tables")
    text = [column for column in features if not pandas.api.types.is_numeric_dtype(frame[column])]
    if not text:
        return
    column = text[0]
    row, value = _first_text(pandas, frame[column])
    if str(value).strip().upper() in _MISSING:
        raise UsageError(
            f"The value in row {row}, column {column!r} of {source} is {value!r}, which is no number. Fill "
            "the gap, "
            f"remove the row, or leave the column out with --drop {_quoted(column)}."
        )
    others = f" (nor are {_listed(text[1:])})" if text[1:] else ""
    drop = f"--drop {','.join(_quoted(name) for name in text)}"
    raise UsageError(
        f"Column {column!r} of {source} is not a number{others}: row {row} holds {value!r}. Leave it out "
        f"with {drop}, "
        "or say what it is with --id-column, --label-column or --truth-column."
    )


def _first_text(pandas: Any, series: pd.Series) -> tuple[int, Any]:
    unreadable = pandas.to_numeric(series, errors="coerce").isna() & series.notna()
    row = int(np.argmax(unreadable.to_numpy())) if unreadable.any() else 0
    return row, series.iloc[row]


def _numbers(frame: pd.DataFrame, columns: Sequence[str], source: Path) -> NDArray[np.float64]:
    values = frame[list(columns)].to_numpy(dtype=float, na_value=np.nan)
    bad = np.argwhere(~np.isfinite(values))
    if bad.size:
        row, column = bad[0]
        what = "is missing" if np.isnan(values[row, column]) else "is infinite"
        more = f" ({len(bad):,} such values in all)" if len(bad) > 1 else ""
        raise UsageError(
            f"The value in row {row}, column {columns[column]!r} of {source} {what}{more}; rows count from 0 "
            "after "
            "the heading. Fill the gap, remove the row, or leave the column out with "
            f"--drop {_quoted(columns[column])}."
        )
    return values


def class_codes(values: Sequence[Any]) -> NDArray[np.intp]:
    """Number the classes of a label column; nothing, NaN and, among numbers, -1 mean unknown.

    Parameters
    ----------
    values : sequence
        Numbers or text.

    Returns
    -------
    array of shape (n,)
        Classes numbered from 0 in sorted order, -1 where unknown.

    Examples
    --------
    >>> class_codes(["dog", "", None, "cat", float("nan"), "dog"]).tolist()
    [1, -1, -1, 0, -1, 1]
    >>> class_codes([-1, 7.0, 3.0]).tolist()
    [-1, 1, 0]
    """
    labels = labels_from_text(["" if value is None or value != value else str(value) for value in values])
    # 2 comes before 10, and numbers before text.
    classes = sorted({label for label in labels if label is not None}, key=_natural)
    codes: dict[str | None, int] = {name: code for code, name in enumerate(classes)}
    return np.array([codes.get(label, -1) for label in labels], dtype=np.intp)


def _natural(cell: str) -> tuple[int, float, str]:
    try:
        return (0, float(cell), cell)
    except ValueError:
        return (1, 0.0, cell)


def _listed(names: Sequence[str], limit: int = 12) -> str:
    shown = ", ".join(repr(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def _quoted(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() else f"'{name}'"
