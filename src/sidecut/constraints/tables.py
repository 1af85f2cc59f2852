"""Reading CSV tables of constraints, and saying which line of which file is wrong."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

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
    columns : dict of str to list of str
        The cells, by name of column.
    lines : list of int
        The line of the file each row stands on.
    """

    path: Path
    columns: dict[str, list[str]]
    lines: list[int]

    def refuse(self, row: int, message: str) -> NoReturn:
        """Raise ConstraintError about one row."""
        raise ConstraintError(f"{self.path}, line {self.lines[row]}: {message}")

    def integers(self, name: str) -> IntArray:
        """Return a column of whole numbers; "3.0" is one."""
        try:
            return np.array(list(map(int, self.columns[name])), dtype=np.int64)
        except (ValueError, OverflowError):
            return self._converted(name, _whole, "is not a whole number").astype(np.int64)

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
        return np.column_stack([self.integers(name) for name in ("i", "j") if name in self.columns])

    def check_points(self, n_samples: int, allow_diagonal: bool) -> None:
        """Refuse sample numbers out of range, and pairs of a sample with itself."""
        if "i" not in self.columns:
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
        if "strength" in self.columns:
            return self.floats("strength")
        signs = self._converted("kind", _sign, "is neither must-link nor cannot-link")
        if "weight" not in self.columns:
            return signs
        weights = self.floats("weight")
        if len(negative := np.flatnonzero(weights < 0)):
            self.refuse(int(negative[0]), f"weight {weights[negative[0]]} must be positive")
        return signs * weights

    def _converted(self, name: str, convert: Callable[[str], Any], complaint: str) -> FloatArray:
        try:
            return np.array(list(map(convert, self.columns[name])), dtype=np.float64)
        except (ValueError, KeyError, OverflowError):
            for row, cell in enumerate(self.columns[name]):
                try:
                    convert(cell)
                except (ValueError, KeyError, OverflowError):
                    self.refuse(row, f"{name} {cell!r} {complaint}")
            raise


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
        Naming the line that has another number of columns than its header, or an unknown header.
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
    try:
        rows = [next(csv.reader((line,))) if '"' in line else line.split(",") for line in lines]
    except csv.Error as error:
        raise ConstraintError(f"{path}: {error}") from error
    return comments, list(_tables(path, rows, numbers))


def _tables(path: Path, rows: list[list[str]], numbers: list[int]) -> Iterator[Table]:
    heads = [k for k, row in enumerate(rows) if not row[0][:1].isdigit() and _is_header(row)]
    if rows and (not heads or heads[0] > 0):
        end = heads[0] if heads else len(rows)
        yield _table(path, _guess(path, rows[:end], numbers[0]), rows[:end], numbers[:end])
    for head, end in pairwise([*heads, len(rows)]):
        names = [COLUMN_NAMES[cell.strip().lower()] for cell in rows[head]]
        if set(names) not in [set(header.split(",")) for header in HEADERS] or len(set(names)) < len(names):
            raise ConstraintError(
                f"{path}, line {numbers[head]}: header {','.join(rows[head])!r} is none of "
                f"{'; '.join(HEADERS)}"
            )
        yield _table(path, names, rows[head + 1 : end], numbers[head + 1 : end])


def _is_header(row: list[str]) -> bool:
    return all(cell.strip().lower() in COLUMN_NAMES for cell in row)


def _guess(path: Path, rows: list[list[str]], line: int) -> list[str]:
    """Name the columns of a table without header."""
    if len(rows[0]) == 3 and rows[0][0].strip().lstrip("+-")[:1].isdigit():
        kinds = all(row[-1].strip().lower() in SIGNS for row in rows)
        return ["i", "j", "kind" if kinds else "strength"]
    raise ConstraintError(
        f"{path}, line {line}: {','.join(rows[0])!r} is neither a known header nor i,j,strength; begin the "
        f"file with one of the headers {'; '.join(HEADERS[:4])}"
    )


def _table(path: Path, names: list[str], rows: list[list[str]], numbers: list[int]) -> Table:
    for row, number in zip(rows, numbers, strict=True):
        if len(row) != len(names):
            raise ConstraintError(
                f"{path}, line {number}: {','.join(row)!r} has {len(row)} columns, not "
                f"{len(names)} ({','.join(names)})"
            )
    cells = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    return Table(path, {name: list(column) for name, column in zip(names, cells, strict=True)}, numbers)


def _whole(cell: str) -> int:
    value = float(cell)
    if value != int(value):
        raise ValueError(cell)
    return int(value)


def _sign(cell: str) -> float:
    return SIGNS[cell.strip().lower()]
