"""Rows of a text file under their header: pairs with a strength, kinds, answers, or labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    "exclusive_label,clique",
    "i,layer,group",
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
ANSWERS = {**dict.fromkeys(("yes", "y", "true", "1"), 1.0), **dict.fromkeys(("no", "n", "false", "0"), -1.0)}
#: Headings of two columns that name pairs, of which nothing more is said.
SECOND_ENDS = ("j", "b", "v", "to", "target", "dst", "second", "node2")
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

    def counts(self, name: str) -> IntArray:
        """Return a column of whole numbers that name no samples."""
        return self._numbers(name, "is not a whole number").astype(np.int64)

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


def split_tables(
    path: Path, rows: list[Row], numbers: list[int], positions: Mapping[str, int] | None
) -> Iterator[Table]:
    """Yield the tables of a file, each under its header."""
    heads = [k for k, row in enumerate(rows) if _is_header(row)]
    # A first line such as "person,label" or "from,to,strength" is a header, too.
    last_words = ("strength", "kind", "weight", "same", "label", "class")
    if rows and 0 not in heads and 2 <= len(rows[0]) <= 4 and rows[0][-1].lower() in last_words:
        heads = [0, *heads]
    if rows and 0 not in heads and _is_heading_of_labels(rows[0], positions):
        heads = [0, *heads]
    if rows and (not heads or heads[0] > 0):
        end = heads[0] if heads else len(rows)
        yield Table(path, _guess(path, rows[:end], numbers[0]), rows[:end], numbers[:end], positions)
    for head, end in pairwise([*heads, len(rows)]):
        # People head the first columns with whatever their points are called: name, city, node, ...
        ends = [] if _is_header(rows[head]) else ["i"] if len(rows[head]) == 2 else ["i", "j"]
        last = [COLUMN_NAMES.get(cell.lower(), cell) for cell in rows[head][len(ends) :]]
        names = ["i", "label"] if ends == ["i"] and last[0].lower() not in SECOND_ENDS else ends + last
        if sorted(names) not in [sorted(header.split(",")) for header in HEADERS]:
            raise ConstraintError(
                f"{path}, line {numbers[head]}: header {','.join(rows[head])!r} is none of "
                f"{'; '.join(HEADERS)}"
            )
        yield Table(path, names, rows[head + 1 : end], numbers[head + 1 : end], positions)


def _is_header(row: Row) -> bool:
    return all(cell.lower() in COLUMN_NAMES for cell in row)


def _is_heading_of_labels(row: Row, positions: Mapping[str, int] | None) -> bool:
    """Return whether a first line of two cells names the columns: its first cell is no point."""
    return len(row) == 2 and not (is_number_text(row[0]) if positions is None else row[0] in positions)


def _guess(path: Path, rows: list[Row], number: int) -> list[str]:
    """Name the columns of a table without header."""
    if len(rows[0]) == 3 and (rows[0][2].lower() in SIGNS or is_number_text(rows[0][2])):
        kinds = all(row[-1].lower() in SIGNS for row in rows)
        return ["i", "j", "kind" if kinds else "strength"]
    if len(rows[0]) == 2 and not is_number_text(rows[0][1]):
        return ["i", "label"]
    meant = " (i,label if the second column holds classes)" if len(rows[0]) == 2 else ""
    raise ConstraintError(
        f"{path}, line {number}: {','.join(rows[0])!r} is neither a known header nor i,j,strength; begin the "
        f"file with one of the headers {'; '.join(HEADERS[:5])}{meant}"
    )
