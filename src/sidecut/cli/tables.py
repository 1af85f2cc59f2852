"""Tables (CSV, TSV, Parquet) to points: which columns are features, and which are not."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sidecut.cli.console import UsageError, did_you_mean, in_options, require
from sidecut.cli.preparation import (
    Points,
    PreparationOptions,
    can_name_points,
    checked_names,
    count_too_many_texts,
    has_decimal_commas,
    learn_preparation,
    listed,
    quoted,
    text_columns,
)
from sidecut.constraints.files import COMPRESSED, PARQUET, guess_separator, open_text
from sidecut.constraints.inputs import ASKED_ABOUT, UNKNOWN, is_missing, labels_from_text, read_labels
from sidecut.exceptions import ConstraintError

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "TABLE_SUFFIXES",
    "ColumnRoles",
    "TextFormat",
    "class_codes",
    "class_names",
    "feature_columns",
    "kind_suffix",
    "must_exist",
    "named_parts",
    "points_from_table",
    "read_lines",
    "read_table",
    "text_options",
]


def is_called_id(column: str) -> bool:
    """Return whether the heading of a column says that it holds ids."""
    return re.fullmatch(r"(?i)(.*[_ -])?(id|ids|key|index|uid|row)", column) is not None


def looks_like_ids(values: pd.Series, column: str) -> bool:
    """Return whether a column numbers the rows: by its heading, or because it counts on by one."""
    if column.startswith("Unnamed: "):
        return True
    if values.dtype.kind not in "iu":
        return False
    counts_on = len(values) >= 10 and bool((np.diff(values.to_numpy()) == 1).all())
    # Ids may occur twice; a column that is called id and has many doubles is a feature.
    is_mostly_distinct = len(values) > 2 and values.nunique() > 0.75 * len(values)
    return counts_on or (is_called_id(column) and is_mostly_distinct)


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


JSON_LINES = (".jsonl", ".ndjson")
TABLE_SUFFIXES = (".csv", ".tsv", ".txt", *JSON_LINES, *PARQUET)


@dataclass(frozen=True)
class ColumnRoles:
    """Which columns of a table mean what."""

    label: str | None = None
    truth: str | None = None
    identity: str | None = None
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    unknown: tuple[str, ...] | None = None

    @property
    def special(self) -> tuple[str, ...]:
        """The columns that are no features."""
        return tuple(column for column in (self.label, self.truth, self.identity) if column is not None)


@dataclass(frozen=True)
class TextFormat:
    """How a text file is written."""

    has_heading: bool | None = None
    encoding: str | None = None
    decimal: str = "."


def kind_suffix(path: Path) -> str:
    """Return the suffix of a file without that of its compression."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix in COMPRESSED else suffix


def read_lines(path: Path, encoding: str | None = None) -> Iterator[str]:
    """Yield the lines of a text file, compressed or not."""
    try:
        yield from open_text(path, encoding)
    except ConstraintError as error:
        raise UsageError(in_options(str(error))) from error


def read_table(path: Path, text: TextFormat | None = None, as_text: Sequence[str] = ()) -> pd.DataFrame:
    """Read a CSV, TSV or Parquet file."""
    pandas = require("pandas", "Reading tables")
    try:
        if kind_suffix(path) in PARQUET:
            require("pyarrow", "Reading Parquet")
            frame = pandas.read_parquet(path)
            # A named index holds data, often the names of the points, so it becomes a column again.
            frame = frame.reset_index() if frame.index.name is not None else frame
        elif kind_suffix(path) in JSON_LINES:
            options = text or TextFormat()
            frame = pandas.read_json(path, lines=True, encoding=options.encoding or "utf-8-sig", dtype=False)
        else:
            frame = pandas.read_csv(path, **text_options(path, text or TextFormat(), as_text))
    except (ValueError, OSError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        if isinstance(error, pandas.errors.EmptyDataError):
            raise UsageError(
                f"{path} is empty; a line of column names and one row per point are expected."
            ) from error
        reason = _first_broken_line(path, text) or " ".join(str(error).split())
        raise UsageError(f"{path} could not be read as a table: {reason}") from error
    frame.columns = [str(column) for column in frame.columns]
    if not len(frame):
        raise UsageError(f"{path} has no rows; one row per point is expected.")
    return frame


def _first_broken_line(path: Path, text: TextFormat | None) -> str:
    """Say which line of a file of JSON lines is no JSON object; nothing of other files."""
    if kind_suffix(path) not in JSON_LINES:
        return ""
    for number, line in enumerate(read_lines(path, text.encoding if text else None), 1):
        try:
            is_object = not line.strip() or isinstance(json.loads(line), dict)
        except ValueError:
            is_object = False
        if not is_object:
            return f"line {number} is no JSON object ({' '.join(line.split())[:40]!r})"
    return ""


def text_options(path: Path, text: TextFormat, as_text: Sequence[str] = ()) -> dict[str, Any]:
    """Return the arguments of ``read_csv`` for a text file, guessed from its first line."""
    first_line = next((line for line in read_lines(path, text.encoding) if line.strip()), "").strip("\r\n")
    # One column may have blanks in its heading; only plain text separates by them.
    separator = guess_separator(first_line, text.decimal) or (r"\s+" if kind_suffix(path) == ".txt" else ",")
    has_heading = text.has_heading
    if has_heading is None:
        has_heading = _looks_like_heading(re.split(separator, first_line.strip()), path, text.decimal)
    version = tuple(int(part) for part in require("pandas", "Reading tables").__version__.split(".")[:2])
    # pandas 3.1 and later read numbers exactly by default, and warn of this option.
    exact = {"float_precision": "round_trip"} if version < (3, 1) else {}
    return {
        "sep": separator,
        "header": "infer" if has_heading else None,
        "encoding": text.encoding or "utf-8-sig",
        "decimal": text.decimal,
        "dtype": dict.fromkeys(as_text, str),
        **exact,
        # A class called NA is a class; only nothing and NaN are missing.
        "keep_default_na": False,
        "na_values": ["", "nan", "NaN"],
    }


def _looks_like_heading(cells: Sequence[str], path: Path, decimal: str) -> bool:
    try:
        numbers = [float(cell.replace(decimal, ".")) for cell in cells]
    except ValueError:
        return True
    # pandas calls nameless columns 0, 1, 2, ... and writes that as a heading.
    if numbers and [cell.strip() for cell in cells] == [str(column) for column in range(len(cells))]:
        raise UsageError(
            f"The first line of {path} ({','.join(cells[:4])}{', ...' * (len(cells) > 4)}) may number the "
            "columns or be the first row; say which with --header or --no-header."
        )
    return not numbers


def points_from_table(
    frame: pd.DataFrame,
    source: Path,
    roles: ColumnRoles | None = None,
    *,
    is_graph: bool = False,
    wanted: PreparationOptions | None = None,
) -> Points:
    """Turn a table into points: numbers from its feature columns, the rest by its role."""
    roles, wanted = roles or ColumnRoles(), wanted or PreparationOptions()
    columns = feature_columns(frame, source, roles)
    try:
        preparation, X = learn_preparation(frame, columns, source, wanted)
    except UsageError as error:
        raise UsageError(f"{error}{_all_it_takes(frame, columns, roles, wanted)}") from error
    return Points(
        X=X,
        source=source,
        is_graph=is_graph,
        columns=tuple(columns),
        preparation=preparation,
        **named_parts({column: frame[column].tolist() for column in roles.special}, roles, source),
    )


def _all_it_takes(
    frame: pd.DataFrame, columns: Sequence[str], roles: ColumnRoles, wanted: PreparationOptions
) -> str:
    """Name all options a table needs, if there are several: one refusal is enough."""
    text = text_columns(frame, columns)
    commas = [column for column in text if has_decimal_commas(frame[column])]
    words = [column for column in text if column not in commas]
    names = [column for column in words if is_called_id(column) or count_too_many_texts(frame[column])]
    partly = {column: _label_options(frame[column]) for column in words if roles.label is None}
    known = [column for column, said in partly.items() if said and column not in names][:1]
    can_name = [column for column in names if roles.identity is None and can_name_points(frame[column])]
    identity = can_name[:1]
    dropped = [column for column in names if column not in identity]
    options = ["--decimal ,"] if commas else []
    options += [f"--id-column {quoted(name)}" for name in identity]
    options += [partly[name] for name in known]
    options += [f"--drop {','.join(quoted(name) for name in dropped)}"] if dropped else []
    if not wanted.encode and set(words) - set(names) - set(known):
        options.append("--encode")
    features = [column for column in columns if column not in (*known, *identity, *dropped)]
    if not wanted.impute and frame[features].isna().any(axis=None):
        options.append("--impute")
    is_new = len(options) > 1 or known
    return f" All that this table seems to need: {' '.join(options)}." if is_new else ""


def _label_options(values: pd.Series) -> str:
    """Return the options for a column that looks like labels known in part, or nothing.

    More than half of such a column is empty, or one text that may mean unknown.
    """
    option = f"--label-column {quoted(str(values.name))}"
    if 2 * int(values.isna().sum()) > len(values):
        return option
    value, count = next(iter(values.dropna().astype(str).value_counts().items()), ("", 0))
    is_marker = str(value).strip().lower() in ASKED_ABOUT
    return f"{option} --unknown {quoted(str(value))}" if is_marker and 2 * count > len(values) else ""


def named_parts(values: dict[str, list[Any]], roles: ColumnRoles, source: Path) -> dict[str, Any]:
    """Return what the columns that are no features say, as keywords of `Points`."""
    names, label, truth = roles.identity, roles.label, roles.truth
    return {
        "names": None if names is None else checked_names(values[names], names, source),
        "name_column": names or "index",
        "known_labels": None if label is None else class_names(values[label], label, source, roles.unknown),
        "truth": None if truth is None else class_codes(values[truth], truth, source, roles.unknown),
    }


def feature_columns(frame: pd.DataFrame, source: Path, roles: ColumnRoles) -> list[str]:
    """Return the columns that are features."""
    available = list(frame.columns)
    must_exist((*roles.special, *roles.keep, *roles.drop, *roles.features), available, source)
    wanted = list(roles.keep) or [column for column in available if column not in roles.special]
    features = [column for column in wanted if column not in roles.drop]
    if not features:
        raise UsageError(f"No feature column is left of {source}; its columns are {listed(available)}.")
    for column in features:
        if column not in roles.keep and column not in roles.features:
            ask_about_ids(frame[column], column, source)
    return features


def must_exist(asked: Iterable[str], available: Sequence[str], source: Path) -> None:
    """Refuse names that no column has, and say which there are."""
    for column in asked:
        if column not in available:
            said = f"{source} has no column {column!r}{did_you_mean(column, available) or '.'}"
            raise UsageError(f"{said} Its columns are {listed(available)}.")


def class_names(
    values: Sequence[Any], column: str, source: Path, unknown: tuple[str, ...] | None = None
) -> tuple[str, ...]:
    """Return what the classes of a label column are called; nothing where the class is unknown.

    Unknown are empty cells, NaN and, among numbers, -1. What may mean unknown or be a class is asked about.
    """
    cells = []
    for value in values:
        # A column of whole numbers with gaps is read as floats: 3.0 is the class 3.
        is_whole = isinstance(value, float) and value.is_integer()
        cells.append("" if is_missing(value) else f"{value:g}" if is_whole else str(value))
    try:
        codes, names = read_labels(labels_from_text(cells), "value", unknown)
    except ConstraintError as error:
        said = re.sub(r"value\[(\d+)\] = (.*?) is text that", r"row \1 holds \2, which", str(error))
        raise UsageError(f"{source}, column {column!r}: {in_options(said)}.") from error
    return tuple("" if code == UNKNOWN else names[code] for code in codes)


def class_codes(
    values: Sequence[Any], column: str, source: Path, unknown: tuple[str, ...] | None = None
) -> NDArray[np.intp]:
    """Number the classes of a label column from 0 in sorted order, -1 where unknown; see `class_names`."""
    names = class_names(values, column, source, unknown)
    # 2 comes before 10, and numbers before text.
    codes = {name: code for code, name in enumerate(sorted(set(names) - {""}, key=_natural))}
    return np.array([codes.get(name, -1) for name in names], dtype=np.intp)


def _natural(cell: str) -> tuple[int, float, str]:
    try:
        return (0, float(cell), cell)
    except ValueError:
        return (1, 0.0, cell)
