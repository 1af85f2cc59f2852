"""Constraints in text files that people and spreadsheets can write.

A file is CSV (commas, semicolons or tabs; .gz, .bz2, .xz and .parquet too), with ``#`` before comments. Its
header says what the rows are::

    i,j,strength      signed strengths: positive together, negative apart
    i,j,kind          must-link or cannot-link, and an optional column weight
    i,j,same          yes or no
    i,label           the labels of some samples

A file may hold more than one such table, each under its header. `write_constraints` puts first a comment with
the number of samples; groups that labels alone cannot express, as closure makes, take the further tables
``label_a,label_b`` (groups apart) and ``exclusive_label`` (groups all apart from one another).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from sidecut.checks import IntArray
from sidecut.constraints.closure import Statements
from sidecut.constraints.conflicts import as_matrix, merge
from sidecut.constraints.groups import Groups, make_groups, replace_diagonal, strongest, upper_entries
from sidecut.constraints.inputs import UNKNOWN, check_n_samples, check_positive, labels_from_text, read_labels
from sidecut.constraints.tables import Table, read_tables
from sidecut.constraints.value import Classes, Constraints
from sidecut.exceptions import ConflictError, ConstraintError, ConstraintWarning, warn

SIGNATURE = "# sidecut constraints"


def write_constraints(path: str | os.PathLike[str], constraints: Constraints) -> None:
    """Write constraints to a CSV file that `read_constraints` turns into an equal value.

    Parameters
    ----------
    path : path-like
        Where to write.
    constraints : Constraints
        Pairs are written as ``i,j,strength``, labels as ``i,label``, by the names of their classes.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "known.csv"
    >>> write_constraints(path, Constraints.from_pairs(4, must_link=[(0, 1)], cannot_link=[(2, 3)]))
    >>> print(path.read_text())
    # sidecut constraints n_samples=4
    i,j,strength
    0,1,1.0
    2,3,-1.0
    >>> read_constraints(path)
    Constraints(n_samples=4, 1 must-link, 1 cannot-link)
    >>> write_constraints(path, Constraints.from_labels(["cat", None, "dog"]))
    >>> print(path.read_text())
    # sidecut constraints n_samples=3 weight=1.0 diagonal=1.0 classes=named
    i,label
    0,cat
    2,dog
    """
    with Path(path).open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in _lines(constraints))


def read_constraints(
    path: str | os.PathLike[str],
    n_samples: int | None = None,
    on_conflict: str = "raise",
    *,
    names: Sequence[str] | None = None,
    unknown: Any = None,
    encoding: str | None = None,
) -> Constraints:
    r"""Read constraints from a CSV file.

    Parameters
    ----------
    path : path-like
        A file with the header ``i,j,strength``, ``i,j,kind`` (must-link, must, ml, together, 1 or
        cannot-link, cannot, cl, apart, -1; an optional column ``weight``), ``i,j,same`` (yes, true, 1 or no,
        false, 0) or ``i,label``. Without header, three columns are
        ``i,j,strength`` or ``i,j,kind``. Samples are numbered from 0.
    n_samples : int, optional
        Number of samples; otherwise what the file says, or else one more than the largest index in it.
    on_conflict : {"raise", "drop", "weigh"}
        As in `Constraints.from_pairs`.
    names : sequence of str, optional
        What the samples are called in the file; row numbers if not given.
    unknown : value or collection of values, optional
        Labels that mean unknown, as in `Constraints.from_labels`.
    encoding : str, optional
        UTF-8 if not given.

    Returns
    -------
    Constraints
        Equal to what `write_constraints` was given, if it wrote the file.

    Raises
    ------
    ConstraintError
        Naming the file and the line that cannot be understood.
    ConflictError
        If what the file says contradicts itself.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "links.csv"
    >>> _ = path.write_text("i,j,kind\n0,1,must-link\n1,4,cannot-link\n")
    >>> read_constraints(path)
    Constraints(n_samples=5, 1 must-link, 1 cannot-link)
    """
    positions = None if names is None else {name: number for number, name in enumerate(names)}
    comments, tables = read_tables(Path(path), positions, encoding)
    signature = next((line for line in comments if line.startswith(SIGNATURE)), "")
    said = dict(item.split("=", 1) for item in signature.split() if "=" in item)
    n = _n_samples(path, n_samples, said, tables)
    if not said and not any(table.rows for table in tables):
        warn(
            f"{path} holds no constraints: nothing is known from it. Fill it, or leave it out.",
            ConstraintWarning,
        )
    for table in tables:
        table.check_points(n, allow_diagonal=bool(said))
    try:
        return _assemble(n, tables, said, on_conflict, unknown)
    except ConflictError as error:
        raise ConflictError(f"{path}: {error}", error.conflicts) from None


def _lines(constraints: Constraints) -> Iterator[str]:
    groups = constraints._groups
    names = None if groups is None else _group_names(groups, constraints._classes)
    signature = f"{SIGNATURE} n_samples={constraints.n_samples}"
    if groups is not None:
        signature += f" weight={groups.weight!r} diagonal={groups.diagonal!r}"
        signature += ("" if groups.exclusive.all() else " apart=listed") + (" classes=named" if names else "")
    yield signature
    if groups is not None:
        names = names or list(map(str, range(groups.n_groups)))
        yield "i,label"
        for point, group in zip(groups.points.tolist(), groups.group.tolist(), strict=True):
            yield f"{point},{names[group]}"
        if not groups.exclusive.all():
            yield "exclusive_label"
            yield from (names[group] for group in np.flatnonzero(groups.exclusive).tolist())
            yield "label_a,label_b"
            yield from (f"{names[a]},{names[b]}" for a, b in upper_entries(groups.apart)[0].tolist())
    upper = sparse.triu(constraints._links, format="csr").tocoo()
    if upper.nnz or groups is None:
        yield "i,j,strength"
        for i, j, strength in zip(upper.row.tolist(), upper.col.tolist(), upper.data.tolist(), strict=True):
            yield f"{i},{j},{strength!r}"


def _group_names(groups: Groups, classes: Classes | None) -> list[str] | None:
    """Return the class each group is called by, as a cell of text; None where groups are no classes."""
    if classes is None or not np.array_equal(classes.points, groups.points):
        return None
    both = sorted(set(zip(groups.group.tolist(), classes.codes.tolist(), strict=True)))
    names = [str(classes.names[code]) for _, code in both]
    # Names that would not be read back from a text file as they were written are left out.
    are_cells = all(
        labels_from_text([name]) == [name] and name.isprintable() and not name.startswith("#")
        for name in names
    )
    if len(both) != groups.n_groups or len(set(names)) != len(names) or not are_cells:
        return None
    return ['"' + name.replace('"', '""') + '"' if set(name) & set(',;\t"|') else name for name in names]


def _n_samples(
    path: str | os.PathLike[str], n_samples: int | None, said: dict[str, str], tables: list[Table]
) -> int:
    if n_samples is not None:
        n_samples = check_n_samples(n_samples)
    if "n_samples" in said:
        if n_samples is not None and str(n_samples) != said["n_samples"]:
            raise ConstraintError(
                f"{path} is about {said['n_samples']} samples, not {n_samples}: read it without n_samples "
                "and use restricted_to(...), or correct its first line"
            )
        if not said["n_samples"].isdigit() or int(said["n_samples"]) == 0:
            raise ConstraintError(
                f"{path}: n_samples={said['n_samples']} in its comment must be a whole number of at least 1"
            )
        return int(said["n_samples"])
    if n_samples is not None:
        return n_samples
    largest = [table.points.max() for table in tables if "i" in table]
    if not largest:
        raise ConstraintError(f"{path} names no samples: pass n_samples")
    return int(max(largest)) + 1


def _assemble(
    n: int, tables: list[Table], said: dict[str, str], on_conflict: str, unknown: Any
) -> Constraints:
    # In a file that was written by `write_constraints` every label is a class, "?" too.
    classes = _read_labels(tables, () if said else unknown)
    groups = _read_groups(tables, said, classes)
    linked = [table for table in tables if "j" in table]
    pairs = np.concatenate([np.empty((0, 2), dtype=np.int64), *(table.points for table in linked)])
    strengths = np.concatenate([np.empty(0), *(table.signed_strengths() for table in linked)])
    own = pairs[:, 0] == pairs[:, 1]
    must, cannot = ~own & (strengths > 0), ~own & (strengths < 0)
    stated = Statements(
        n,
        strongest(pairs[must], strengths[must]),
        strongest(pairs[cannot], -strengths[cannot]),
        () if groups is None else (groups,),
    )
    links = as_matrix(stated, on_conflict)
    if not said:
        # Written by hand: a pair that both a link and the labels know is one pair, not two to be added.
        links, _ = merge((links, None), (sparse.csr_array((n, n)), groups), on_conflict)
    diagonal = np.array(links.diagonal())
    diagonal[pairs[own, 0]] = strengths[own]
    named = classes if not said or "classes" in said else None
    return Constraints(n, replace_diagonal(links, diagonal), groups, named)


def _read_groups(tables: list[Table], said: dict[str, str], classes: Classes | None) -> Groups | None:
    if classes is None:
        return None
    number_of = {name: number for number, name in enumerate(classes.names)}
    exclusive = np.full(len(number_of), said.get("apart") != "listed")
    exclusive[_label_numbers(tables, "exclusive_label", number_of)] = True
    ends = [_label_numbers(tables, name, number_of) for name in ("label_a", "label_b")]
    weight = check_positive(said.get("weight", "1"), "weight")
    return make_groups(
        classes.points,
        classes.codes,
        exclusive=exclusive,
        apart=np.column_stack(ends),
        weight=weight,
        diagonal=float(said.get("diagonal", weight)),
    )


def _read_labels(tables: list[Table], unknown: Any) -> Classes | None:
    """Return the classes of the labelled samples."""
    label_of: dict[int, int] = {}
    number_of: dict[str, int] = {}
    for table in tables:
        if "label" not in table:
            continue
        cells = labels_from_text(table.cells["label"])
        codes, _ = read_labels(cells, f"{table.path}: label", unknown)
        for row, (point, cell) in enumerate(zip(table.integers("i").tolist(), cells, strict=True)):
            if codes[row] != UNKNOWN and cell is not None:
                number = number_of.setdefault(cell, len(number_of))
                if label_of.setdefault(point, number) != number:
                    who = table.cells["i"][row]
                    table.refuse(row, f"sample {who} has label {cell!r} here and another one above")
    if not label_of:
        return None
    points, codes = np.array(sorted(label_of.items()), dtype=np.int64).T
    return Classes(points, codes, tuple(number_of))


def _label_numbers(tables: list[Table], name: str, number_of: dict[str, int]) -> IntArray:
    numbers = []
    for table in tables:
        for row, cell in enumerate(table.cells[name] if name in table else []):
            if cell not in number_of:
                table.refuse(row, f"{name} {cell!r} is the label of no sample")
            numbers.append(number_of[cell])
    return np.array(numbers, dtype=np.int64)
