"""Reading tables of constraints from text files, and saying which line of which file is wrong."""

from __future__ import annotations

import bz2
import csv
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

import numpy as np

from sidecut.checks import FloatArray, IntArray
from sidecut.constraints.inputs import is_number_text
from sidecut.exceptions import ConstraintError

HEADERS = (
    "i,j,strength",
    "i,j,kind",
    "i,j,kind,weight",
    "i,j,same",
    "i,label",
    "label_a,label_b",
    "exclusive_label",
)
#: The columns by the words that may head them.
COLUMN_NAMES = {name: name for header in HEADERS for name in header.split(",")} | {
    "index": "i",
    "point": "i",
    "type": "kind",
    "link": "kind",
    "class": "label",
}
#: What may stand under ``kind``, and what it means.
SIGNS = {
    **dict.fromkeys(("must-link", "must_link", "must", "ml", "together", "1", "+1"), 1.0),
    **dict.fromkeys(("cannot-link", "cannot_link", "cannot", "cl", "apart", "-1"), -1.0),
}
#: What may stand under ``same``: an answer to "are these two the same?"
ANSWERS = {
    **dict.fromkeys(("yes", "y", "true", "1"), 1.0),
    **dict.fromkeys(("no", "n", "false", "0"), -1.0),
}
#: How compressed text is opened, by suffix.
COMPRESSED: dict[str, Callable] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
#: What a file is that begins like this.
BINARY = {
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"PK\x03\x04": "a spreadsheet or a zip archive",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet",
    b"\x1f\x8b": "a compressed file without the suffix .gz",
    b"\x93NUMPY": "an array of NumPy",
    b"PAR1": "a Parquet file",
}
SEPARATORS = ("\t", ",", ";")
PARQUET = (".parquet", ".pq")

Row = list[str]


@dataclass(frozen=True, eq=False)
class Table:
    """Rows under one header."""

    path: Path
    names: list[str]
    rows: list[Row]
    numbers: list[int]
    positions: Mapping[str, int] | None = None

    def refuse(self, row: int, message: str) -> NoReturn:
        """Raise ConstraintError about one row."""
        raise ConstraintError(f"{self.path}, line {self.numbers[row]}: {message}")

    def __contains__(self, name: str) -> bool:
        return name in self.names and len(self.rows) > 0

    @cached_property
    def cells(self) -> dict[str, list[str]]:
        """The text of every cell, by column."""
        for number, row in enumerate(self.rows):
            if len(row) != len(self.names):
                found = f"{len(row)} columns, not {len(self.names)} ({','.join(self.names)})"
                self.refuse(number, f"{','.join(row)!r} has {found}")
        by_column = zip(*self.rows, strict=True) if self.rows else [()] * len(self.names)
        return {name: list(column) for name, column in zip(self.names, by_column, strict=True)}

    def integers(self, name: str) -> IntArray:
        """Return a column of sample numbers, looked up where samples have names; "3.0" is a number."""
        if self.positions is not None:
            for row, cell in enumerate(self.cells[name]):
                if cell not in self.positions:
                    examples = ", ".join(repr(known) for known in list(self.positions)[:3])
                    self.refuse(row, f"no sample is called {cell!r}; names look like {examples}")
            return np.array([self.positions[cell] for cell in self.cells[name]], np.int64)
        rule = "is not a whole number: samples are counted from 0, or called by names that must be given"
        values = self._numbers(name, rule)
        if len(bad := np.flatnonzero(~np.isfinite(values) | (values != np.floor(values)))):
            self.refuse(int(bad[0]), f"{name} {self.cells[name][bad[0]]!r} {rule}")
        return values.astype(np.int64)

    def floats(self, name: str) -> FloatArray:
        """Return a column of finite numbers other than 0."""
        values = self._numbers(name, "is not a number")
        bad = np.flatnonzero(~np.isfinite(values) | (values == 0))
        if len(bad):
            self.refuse(
                int(bad[0]), f"{name} {values[bad[0]]} must be finite and not 0; remove unknown pairs"
            )
        return values

    @cached_property
    def points(self) -> IntArray:
        """The sample numbers, in one column or two."""
        return np.column_stack([self.integers(name) for name in ("i", "j") if name in self])

    def check_points(self, n_samples: int, allow_diagonal: bool) -> None:
        """Refuse sample numbers out of range, and pairs of a sample with itself."""
        if "i" not in self:
            return
        points = self.points
        outside = np.flatnonzero(((points < 0) | (points >= n_samples)).any(axis=1))
        if len(outside):
            row = int(outside[0])
            self.refuse(row, f"{points[row].tolist()} is not within the samples 0 to {n_samples - 1}")
        same = np.flatnonzero(points[:, 0] == points[:, -1])
        if points.shape[1] == 2 and len(same) and not allow_diagonal:
            ends = ", ".join(self.cells[name][same[0]] for name in ("i", "j"))
            self.refuse(int(same[0]), f"({ends}): a point cannot be linked with itself")

    def signed_strengths(self) -> FloatArray:
        """Return signed strengths, given as such, as kind and weight, or as yes and no."""
        if "strength" in self:
            return self.floats("strength")
        if "same" in self:
            return self._signs("same", ANSWERS, "yes nor no")
        signs = self._signs("kind", SIGNS, "must-link nor cannot-link")
        if "weight" not in self:
            return signs
        weights = self.floats("weight")
        if len(negative := np.flatnonzero(weights < 0)):
            self.refuse(int(negative[0]), f"weight {weights[negative[0]]} must be positive")
        return signs * weights

    def _signs(self, name: str, meanings: Mapping[str, float], rule: str) -> FloatArray:
        signs = np.array([meanings.get(cell.lower(), 0.0) for cell in self.cells[name]])
        if len(bad := np.flatnonzero(signs == 0)):
            self.refuse(int(bad[0]), f"{name} {self.cells[name][bad[0]]!r} is neither {rule}")
        return signs

    def _numbers(self, name: str, complaint: str) -> FloatArray:
        values = np.empty(len(self.rows))
        for row, cell in enumerate(self.cells[name]):
            try:
                values[row] = float(cell)
            except ValueError:
                self.refuse(row, f"{name} {cell!r} {complaint}")
        return values


def open_text(path: Path, encoding: str | None = None) -> Iterator[str]:
    """Yield the lines of a text file, which may be compressed (.gz, .bz2, .xz)."""
    encoding = encoding or "utf-8-sig"
    opened = COMPRESSED.get(path.suffix.lower(), open)
    try:
        with opened(path, "rt", encoding=encoding, newline="") as file:
            yield from file
    except UnicodeDecodeError as error:
        said = (
            f"{path} is not text in {encoding.removesuffix('-sig')} (byte {error.object[error.start]:#x} at "
            f"{error.start})"
        )
        content = error.object
        # UTF-16 has a zero beside every plain letter, and begins with a mark of its own.
        is_binary = 0 in content[:1000] and not content.startswith((b"\xff\xfe", b"\xfe\xff"))
        begins = (kind for start, kind in BINARY.items() if content.startswith(start))
        if kind := next(begins, "binary data" if is_binary else ""):
            raise ConstraintError(f"{said}: it looks like {kind}; save the table as CSV.") from error
        raise ConstraintError(
            f"{said}: name its encoding, for example latin-1 or utf-16, or save it as UTF-8"
        ) from error
    except LookupError as error:
        raise ConstraintError(
            f"encoding {encoding!r} is unknown: use for example utf-8 or latin-1"
        ) from error
    except (OSError, lzma.LZMAError, EOFError, zlib.error) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ConstraintError(f"{path} is not a whole compressed file ({error})") from error


def guess_separator(line: str, decimal: str = ".") -> str | None:
    """Return what separates the cells of a line: a tab, a comma or a semicolon; None if there is one cell."""
    counts = {
        sign: len(next(csv.reader([line], delimiter=sign), [])) for sign in SEPARATORS if sign != decimal
    }
    best = max(counts, key=lambda sign: counts[sign])
    return best if counts[best] > 1 else None


def read_tables(
    path: Path, positions: Mapping[str, int] | None = None, encoding: str | None = None
) -> tuple[list[str], list[Table]]:
    """Read a file."""
    if path.suffix.lower() in PARQUET:
        rows = _parquet_rows(path)
        return [], list(_tables(path, rows, list(range(1, len(rows) + 1)), positions))
    comments, lines, numbers = [], [], []
    for number, raw in enumerate(open_text(path, encoding), 1):
        line = raw.strip()
        if line.startswith("#"):
            comments.append(line)
        elif line:
            lines.append(line)
            numbers.append(number)
    separator = (guess_separator(lines[0]) if lines else None) or ","
    rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=separator)]
    if len(rows) != len(lines):
        raise ConstraintError(
            f"{path}: a quoted cell goes on over the end of its line, which is not supported"
        )
    if separator == ";":
        # Where semicolons separate, a comma in a number is a decimal comma.
        rows = [
            [
                cell.replace(",", ".") if cell.replace(",", "", 1).lstrip("+-").isdecimal() else cell
                for cell in row
            ]
            for row in rows
        ]
    return comments, list(_tables(path, rows, numbers, positions))


def _parquet_rows(path: Path) -> list[Row]:
    try:
        import pandas
    except ImportError as error:
        raise ConstraintError(f'{path} needs pandas and pyarrow: pip install "sidecut[cli]"') from error
    try:
        frame = pandas.read_parquet(path)
    except (ValueError, OSError, ImportError) as error:
        raise ConstraintError(
            f"{path} could not be read as Parquet ({' '.join(str(error).split())})"
        ) from error
    filled = frame.astype(object).where(frame.notna(), "")
    return [
        [str(name) for name in frame.columns],
        *([str(cell) for cell in row] for row in filled.to_numpy()),
    ]


def _tables(
    path: Path, rows: list[Row], numbers: list[int], positions: Mapping[str, int] | None
) -> Iterator[Table]:
    heads = [k for k, row in enumerate(rows) if _is_header(row)]
    # A first line such as "person,label" or "from,to,strength" is a header, too.
    last_words = ("strength", "kind", "weight", "same", "label", "class")
    if rows and 0 not in heads and 2 <= len(rows[0]) <= 4 and rows[0][-1].lower() in last_words:
        heads = [0, *heads]
    if rows and (not heads or heads[0] > 0):
        end = heads[0] if heads else len(rows)
        yield Table(path, _guess(path, rows[:end], numbers[0]), rows[:end], numbers[:end], positions)
    for head, end in pairwise([*heads, len(rows)]):
        # People head the first columns with whatever their points are called: name, city, node, ...
        ends = [] if _is_header(rows[head]) else ["i"] if len(rows[head]) == 2 else ["i", "j"]
        names = ends + [COLUMN_NAMES.get(cell.lower(), cell) for cell in rows[head][len(ends) :]]
        if sorted(names) not in [sorted(header.split(",")) for header in HEADERS]:
            raise ConstraintError(
                f"{path}, line {numbers[head]}: header {','.join(rows[head])!r} is none of "
                f"{'; '.join(HEADERS)}"
            )
        yield Table(path, names, rows[head + 1 : end], numbers[head + 1 : end], positions)


def _is_header(row: Row) -> bool:
    return all(cell.lower() in COLUMN_NAMES for cell in row)


def _guess(path: Path, rows: list[Row], number: int) -> list[str]:
    """Name the columns of a table without header."""
    if len(rows[0]) == 3 and (rows[0][2].lower() in SIGNS or is_number_text(rows[0][2])):
        kinds = all(row[-1].lower() in SIGNS for row in rows)
        return ["i", "j", "kind" if kinds else "strength"]
    meant = ""
    if len(rows[0]) == 2 and not any(is_number_text(cell) for cell in rows[0]):
        meant = f" (here {rows[0][0]},label if the second column holds classes)"
    raise ConstraintError(
        f"{path}, line {number}: {','.join(rows[0])!r} is neither a known header nor i,j,strength; begin the "
        f"file with one of the headers {'; '.join(HEADERS[:5])}{meant}"
    )
