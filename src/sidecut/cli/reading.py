"""Files to tables: text in any encoding, Excel, JSON and Parquet, numbers and dates as people write them."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sidecut.cli.console import UsageError, in_options, require
from sidecut.constraints.files import (
    COMPRESSED,
    EXCEL,
    PARQUET,
    encoding_of,
    guess_separator,
    open_text,
    read_sheets,
)
from sidecut.exceptions import ConstraintError

if TYPE_CHECKING:
    import pandas as pd


JSON_LINES = (".jsonl", ".ndjson")
TABLE_SUFFIXES = (".csv", ".tsv", ".txt", *EXCEL, ".json", *JSON_LINES, *PARQUET)
#: Signs of money and of shares. A column has one of them in every cell, or none.
_UNIT = r"%|‰|€|\$|£|¥|₹|EUR|USD|GBP|CHF"
#: Cells of a column of numbers that say that there is none.
_GAPS = {
    *("", "-", "--", "–", "—", ".", "?", "na", "n/a", "n.a.", "#n/a", "<na>", "nan", "null", "nil", "none"),
    *(
        "missing",
        "unknown",
        "k.a.",
        "k. a.",
        "n.v.",
        "s/o",
        "nd",
        "n.d.",
        "#nv",
        "#value!",
        "#div/0!",
        "#ref!",
    ),
}
_DATE = r"(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})(?:[ T]\d{1,2}:\d{2}.*)?"


@dataclass(frozen=True)
class TextFormat:
    """How a file is written; None is found out from it, `expected` is its decimal sign if it shows none."""

    has_heading: bool | None = None
    encoding: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    sheet: str | None = None
    expected: str | None = None

    @property
    def sign(self) -> str | None:
        """The decimal sign that was named, or follows from the sign of thousands."""
        if self.decimal is not None and self.decimal == self.thousands:
            raise UsageError(f"--decimal and --thousands are both {self.decimal!r}; they must differ.")
        return self.decimal or {",": ".", ".": ","}.get(self.thousands or "")


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
    """Read a table; the columns `as_text` stay as they are written."""
    # The attribute ``attrs["format"]`` of the frame says how its numbers were written.
    pandas = require("pandas", "Reading tables")
    text = text or TextFormat()
    try:
        frame = _read(pandas, path, text, as_text)
    except ConstraintError as error:
        raise UsageError(in_options(str(error))) from error
    except (ValueError, OSError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        if isinstance(error, pandas.errors.EmptyDataError):
            raise UsageError(
                f"{path} is empty; a line of column names and one row per point are expected."
            ) from error
        reason = _first_broken_line(path, text) or _plainly(str(error))
        raise UsageError(f"{path} could not be read as a table: {reason}") from error
    frame.columns = [str(column).strip() for column in frame.columns]
    _refuse_lines_above_headings(frame, path)
    if not len(frame):
        raise UsageError(f"{path} has no rows; one row per point is expected.")
    return _understood(frame, text, as_text)


def _read(pandas: Any, path: Path, text: TextFormat, as_text: Sequence[str]) -> pd.DataFrame:
    kind = kind_suffix(path)
    if kind in PARQUET:
        require("pyarrow", "Reading Parquet")
        frame = pandas.read_parquet(path)
        # A named index holds data, often the names of the points, so it becomes a column again.
        return frame.reset_index() if frame.index.name is not None else frame
    if kind in EXCEL:
        return _sheet(path, text, as_text)
    if kind == ".json" or kind in JSON_LINES:
        encoding = encoding_of(path, text.encoding)
        return pandas.read_json(
            path, lines=kind != ".json", encoding=encoding, dtype=False, convert_dates=False
        )
    options = text_options(path, text)
    frame = pandas.read_csv(path, **options, dtype=str)
    frame.attrs["separator"] = options["sep"]
    return frame


def _sheet(path: Path, text: TextFormat, as_text: Sequence[str]) -> pd.DataFrame:
    """Return the sheet that was named, or the only one that holds anything."""
    sheets = read_sheets(
        path, header=None if text.has_heading is False else 0, dtype=dict.fromkeys(as_text, str)
    )
    filled = {name: sheet for name, sheet in sheets.items() if len(sheet)}
    if text.sheet is None and len(filled) == 1:
        return next(iter(filled.values()))
    if text.sheet not in sheets:
        said = "has several sheets" if text.sheet is None else f"has no sheet {text.sheet!r}"
        listed = ", ".join(repr(name) for name in filled or sheets)
        raise UsageError(f"{path} {said}: {listed}. Name one with --sheet.")
    return sheets[text.sheet]


def _first_broken_line(path: Path, text: TextFormat) -> str:
    """Say which line of a file of JSON lines is no JSON object; nothing of other files."""
    if kind_suffix(path) not in JSON_LINES:
        return "a list of objects, one for each row, is expected" if kind_suffix(path) == ".json" else ""
    for number, line in enumerate(read_lines(path, text.encoding), 1):
        try:
            is_object = not line.strip() or isinstance(json.loads(line), dict)
        except ValueError:
            is_object = False
        if not is_object:
            return f"line {number} is no JSON object ({' '.join(line.split())[:40]!r})"
    return ""


def _plainly(message: str) -> str:
    """Return what pandas says of a file in words of cells and lines."""
    found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", message)
    if found is None:
        return " ".join(message.split())
    expected, line, seen = found.groups()
    return f"line {line} has {seen} cells, where {expected} are expected."


def _refuse_lines_above_headings(frame: pd.DataFrame, path: Path) -> None:
    """Refuse a table whose first line holds hardly any headings: a title, or nothing, stands above them."""
    nameless = sum(name.startswith("Unnamed: ") for name in frame.columns)
    if 2 * nameless <= len(frame.columns):
        return
    filled = np.flatnonzero(frame.notna().all(axis=1))
    seem = f"They seem to be in line {filled[0] + 2}: remove" if len(filled) else "Remove"
    raise UsageError(
        f"The first line of {path} has headings for {len(frame.columns) - nameless} of "
        f"{len(frame.columns)} columns. {seem} what stands above the headings."
    )


def text_options(path: Path, text: TextFormat) -> dict[str, Any]:
    """Return the arguments of ``read_csv`` for a text file, guessed from its first line."""
    first_line = next((line for line in read_lines(path, text.encoding) if line.strip()), "").strip("\r\n")
    # One column may have blanks in its heading; only plain text separates by them.
    separator = guess_separator(first_line, text.sign or ".") or (
        r"\s+" if kind_suffix(path) == ".txt" else ","
    )
    has_heading = text.has_heading
    if has_heading is None:
        plain = re.split(separator, first_line.strip())
        cells = plain if separator == r"\s+" else next(csv.reader([first_line], delimiter=separator), plain)
        has_heading = _looks_like_heading(cells, path, text.sign or ("," if separator == ";" else "."))
    return {
        "sep": separator,
        "header": "infer" if has_heading else None,
        "encoding": encoding_of(path, text.encoding),
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


def _understood(frame: pd.DataFrame, text: TextFormat, as_text: Sequence[str]) -> pd.DataFrame:
    """Turn columns of text that are numbers or dates into such."""
    names = [
        n for n in frame.columns if n not in as_text and frame[n].dtype.kind == "O" and frame[n].notna().any()
    ]
    plain = {name: _plain_numbers(frame[name]) for name in names}
    words = {name: _trimmed(frame[name]) for name in names if plain[name] is None}
    samples = {
        name: _trimmed(frame[name].drop_duplicates()[:1000]) for name in names if plain[name] is not None
    }
    signs = {_only_sign(cells) for cells in (*words.values(), *samples.values())} - {""}
    decimal = text.sign or ("," if signs == {","} else "." if signs else text.expected or ".")
    is_open = text.sign is None and not signs and text.expected is None
    for name in names:
        # Where semicolons separate, 1.234 may be 1234; elsewhere only beside whole numbers below 1000.
        is_asked = is_open and (frame.attrs.get("separator") == ";" or _may_be_grouped(samples.get(name)))
        if name in samples and not (decimal == "," or (is_asked and has_unclear_numbers(samples[name]))):
            frame[name] = plain[name]
            continue
        cells = words.get(name)
        cells = _trimmed(frame[name]) if cells is None else cells
        values = None if is_open and has_unclear_numbers(cells) else _numbers(cells, decimal)
        values = _dates(cells) if values is None else values
        if values is not None:
            frame[name] = values
        else:
            frame[name] = frame[name].map(lambda cell: cell.strip() if isinstance(cell, str) else cell)
    frame.attrs["format"] = replace(text, decimal=decimal)
    return frame


def _plain_numbers(values: pd.Series) -> pd.Series | None:
    """Return a column that is numbers as Python writes them, whole ones as such; None if it is not."""
    if values.map(lambda cell: isinstance(cell, bool)).any():
        return None
    try:
        numbers = values.astype(float)
    except (TypeError, ValueError):
        return None
    # 2**53: larger whole numbers are not exact as floats.
    is_whole = bool((numbers.notna() & (numbers % 1 == 0) & (numbers.abs() < 2**53)).all())
    if is_whole and not values.astype(str).str.contains(r"[.eE]", regex=True).any():
        return numbers.astype(np.int64)
    return numbers


def _trimmed(values: pd.Series) -> pd.Series:
    """Return cells without blanks around them, a sign of money they all have, and words for gaps."""
    cells = values.where(values.isna(), values.astype(str)).str.strip()
    cells = cells.str.replace("[\u00a0\u2009\u202f]", " ", regex=True).str.replace(
        "[\u2212]", "-", regex=True
    )
    cells = cells.mask(cells.str.lower().isin(_GAPS) & values.map(lambda cell: isinstance(cell, str)))
    # Every cell has the sign, and all the same one: 12 % beside 0.12 is not one kind of number.
    units = cells.dropna().str.extract(rf"(?:^({_UNIT}))|(?:({_UNIT})$)").fillna("").agg("".join, axis=1)
    if units.nunique() == 1 and units.iloc[0]:
        cells = cells.str.replace(rf"^(?:{_UNIT})\s*|\s*(?:{_UNIT})$", "", regex=True)
    return cells


def _pattern(decimal: str) -> str:
    """Return what a number looks like with a decimal sign; the other one, ' and blanks set off thousands."""
    group = "[,'’ ]" if decimal == "." else "[.'’ ]" if decimal == "," else "['’ ]"
    sign = re.escape(decimal)
    return rf"[-+]?(?=[\d{sign}]*\d)(?:[1-9]\d{{0,2}}(?:{group}\d{{3}})+|\d*)(?:{sign}\d*)?(?:[eE][-+]?\d+)?"


def _fits(cells: pd.Series, pattern: str) -> bool:
    known = cells.dropna()
    known = known.drop_duplicates()
    return bool(len(known) and known.str.fullmatch(pattern).all())


def has_unclear_numbers(values: pd.Series) -> bool:
    """Return whether the numbers of a column can be read in two ways: 1,234 is 1234 or 1.234."""
    cells = _trimmed(values)
    if not cells.dropna().str.contains("[.,]", regex=True).any():
        return False
    return _fits(cells, _pattern(".")) or _fits(cells, _pattern(","))


def _may_be_grouped(cells: pd.Series | None) -> bool:
    """Return whether points set off three digits wherever there are some, beside whole numbers below 1000."""
    if cells is None:
        return False
    has_point = cells.dropna().str.contains(".", regex=False)
    whole, rest = cells.dropna()[~has_point], cells.dropna()[has_point]
    return _fits(whole, r"[-+]?\d{1,3}") and _fits(rest, r"[-+]?[1-9]\d{0,2}(?:\.\d{3})+")


def _only_sign(cells: pd.Series) -> str:
    """Return the decimal sign if a column is numbers with one of them only."""
    fits = [sign for sign in ".," if _fits(cells, _pattern(sign))]
    return fits[0] if len(fits) == 1 else ""


def _numbers(cells: pd.Series, decimal: str) -> pd.Series | None:
    """Return a column as numbers, or None if it holds anything else."""
    if _fits(cells, "(?i:true|false)"):
        return cells.str.lower().map({"true": 1.0, "false": 0.0})
    special = r"|[-+]?(?i:inf|infinity)"
    if not _fits(cells, _pattern(decimal) + special):
        return None
    plain = cells.str.replace("[,.'’ ]".replace(decimal, ""), "", regex=True).str.replace(
        decimal, ".", regex=False
    )
    values = plain.astype(float)
    is_whole = not plain.isna().any() and _fits(plain, r"[-+]?\d{1,18}")
    return plain.astype(np.int64) if is_whole else values


def _dates(cells: pd.Series) -> pd.Series | None:
    """Return a column as dates, or None if it holds anything else, or if day and month may be confused."""
    pandas = require("pandas", "Reading tables")
    if not _fits(cells, _DATE):
        return None
    parts = cells.dropna().str.extract(r"^(\d{1,2})([-/.])(\d{1,2})\2\d{4}").dropna()
    day_first = bool(len(parts)) and (
        bool((parts[1] == ".").all()) or bool((parts[0].astype(int) > 12).any())
    )
    if len(parts) and not day_first and not (parts[2].astype(int) > 12).any():
        return None
    found = pandas.to_datetime(cells, format="mixed", dayfirst=day_first, errors="coerce", utc=True)
    return None if (found.isna() & cells.notna()).any() else found.dt.tz_localize(None)
