"""Reading CSV tables of constraints, and saying which line of which file is wrong."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

import numpy as np

from sidecut.constraints.links import FloatArray, IntArray
from sidecut.exceptions import ConstraintError

COLUMN_NAMES = {
    "i": "i",
    "index": "i",
    "point": "i",
    "j": "j",
    "strength": "strength",
    "kind": "kind",
    "type": "kind",
    "link": "kind",
    "weight": "weight",
    "label": "label",
    "class": "label",
    "label_a": "label_a",
    "label_b": "label_b",
    "exclusive_label": "exclusive_label",
}
HEADERS = ("i,j,strength", "i,j,kind", "i,j,kind,weight", "i,label", "label_a,label_b", "exclusive_label")
SIGNS = {
    **dict.fromkeys(("must-link", "must_link", "must", "ml", "1", "+1"), 1.0),
    **dict.fromkeys(("cannot-link", "cannot_link", "cannot", "cl", "-1"), -1.0),
}


@dataclass(frozen=True, eq=False)
class Table:
    """Rows under one header.

    Parameters
    ----------
    path : Path
        The file.
    names : list of str
        The columns.
    rows : list of str
        The lines of text.
    numbers : list of int
        Where in the file each of them stands, from 1.
    """

    path: Path
    names: list[str]
    rows: list[str]
    numbers: list[int]

    def refuse(self, row: int, message: str) -> NoReturn:
        """Raise ConstraintError about one row."""
        raise ConstraintError(f"{self.path}, line {self.numbers[row]}: {message}")

    def __contains__(self, name: str) -> bool:
        return name in self.names and len(self.rows) > 0

    @cached_property
    def cells(self) -> dict[str, list[str]]:
        """The text of every cell, by column."""
        rows = [split_line(line) for line in self.rows]
        for number, row in enumerate(rows):
            if len(row) != len(self.names):
                columns = f"{len(row)} columns, not {len(self.names)} ({','.join(self.names)})"
                self.refuse(number, f"{self.rows[number]!r} has {columns}")
        return {name: [row[k].strip() for row in rows] for k, name in enumerate(self.names)}

    @cached_property
    def _numeric(self) -> dict[str, FloatArray]:
        """All columns at once, if the whole table is numbers: that is the fast way; else nothing."""
        try:
            values = np.loadtxt(self.rows, delimiter=",", comments=None, ndmin=2)
        except ValueError:
            return {}
        same = values.shape == (len(self.rows), len(self.names))
        return dict(zip(self.names, values.T, strict=True)) if same else {}

    def integers(self, name: str) -> IntArray:
        """Return a column of whole numbers; "3.0" is one."""
        values = self._converted(name, _whole, "is not a whole number")
        if not np.all(np.isfinite(values)) or np.any(values != np.round(values)):
            self._complain(name, _whole, "is not a whole number")
        return values.astype(np.int64)

    def floats(self, name: str) -> FloatArray:
        """Return a column of finite numbers other than 0."""
        values = self._converted(name, float, "is not a number")
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
            row = int(same[0])
            self.refuse(row, f"{tuple(points[row].tolist())}: a point cannot be linked with itself")

    def signed_strengths(self) -> FloatArray:
        """Return signed strengths, given as such or as kind and weight."""
        if "strength" in self:
            return self.floats("strength")
        signs = np.array([SIGNS.get(cell.lower(), 0.0) for cell in self.cells["kind"]])
        if len(bad := np.flatnonzero(signs == 0)):
            cell = self.cells["kind"][bad[0]]
            self.refuse(int(bad[0]), f"kind {cell!r} is neither must-link nor cannot-link")
        if "weight" not in self:
            return signs
        weights = self.floats("weight")
        if len(negative := np.flatnonzero(weights < 0)):
            self.refuse(int(negative[0]), f"weight {weights[negative[0]]} must be positive")
        return signs * weights

    def _converted(self, name: str, convert: Callable[[str], float], complaint: str) -> FloatArray:
        if name in self._numeric:
            return self._numeric[name]
        try:
            return np.array(list(map(convert, self.cells[name])), dtype=np.float64)
        except ValueError:
            self._complain(name, convert, complaint)

    def _complain(self, name: str, convert: Callable[[str], float], complaint: str) -> NoReturn:
        """Find the first cell that cannot be converted, and refuse it."""
        for row, cell in enumerate(self.cells[name]):
            try:
                convert(cell)
            except ValueError:
                self.refuse(row, f"{name} {cell!r} {complaint}")
        raise ConstraintError(f"{self.path}: column {name} {complaint}")


def read_tables(path: Path) -> tuple[list[str], list[Table]]:
    """Read a file.

    Parameters
    ----------
    path : Path
        A CSV file.

    Returns
    -------
    comments : list of str
        Lines that begin with ``#``.
    tables : list of Table
        In the order of the file.

    Raises
    ------
    ConstraintError
        Naming the line whose header is unknown.
    """
    comments, lines, numbers = [], [], []
    with path.open(encoding="utf-8-sig") as file:
        for number, raw in enumerate(file, 1):
            line = raw.strip()
            if line.startswith("#"):
                comments.append(line)
            elif line:
                lines.append(line)
                numbers.append(number)
    return comments, list(_tables(path, lines, numbers))


def split_line(line: str) -> list[str]:
    """Split one line of CSV, quotes and all."""
    return next(csv.reader((line,))) if '"' in line else line.split(",")


def _tables(path: Path, lines: list[str], numbers: list[int]) -> Iterator[Table]:
    heads = [k for k, line in enumerate(lines) if not line[0].isdigit() and _is_header(line)]
    if lines and (not heads or heads[0] > 0):
        end = heads[0] if heads else len(lines)
        yield Table(path, _guess(path, lines[:end], numbers[0]), lines[:end], numbers[:end])
    for head, end in pairwise([*heads, len(lines)]):
        names = [COLUMN_NAMES[cell.strip().lower()] for cell in split_line(lines[head])]
        if sorted(names) not in [sorted(header.split(",")) for header in HEADERS]:
            raise ConstraintError(
                f"{path}, line {numbers[head]}: header {lines[head]!r} is none of {'; '.join(HEADERS)}"
            )
        yield Table(path, names, lines[head + 1 : end], numbers[head + 1 : end])


def _is_header(line: str) -> bool:
    return all(cell.strip().lower() in COLUMN_NAMES for cell in split_line(line))


def _guess(path: Path, lines: list[str], number: int) -> list[str]:
    """Name the columns of a table without header."""
    first = split_line(lines[0])
    if len(first) == 3 and first[0].strip().lstrip("+-")[:1].isdigit():
        kinds = all(line.rsplit(",", 1)[-1].strip('" ').lower() in SIGNS for line in lines)
        return ["i", "j", "kind" if kinds else "strength"]
    raise ConstraintError(
        f"{path}, line {number}: {lines[0]!r} is neither a known header nor i,j,strength; begin the file "
        f"with one of the headers {'; '.join(HEADERS[:4])}"
    )


def _whole(cell: str) -> float:
    value = float(cell)
    if not value.is_integer():
        raise ValueError(cell)
    return value
