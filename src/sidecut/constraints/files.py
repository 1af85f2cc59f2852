"""Constraints in text files that people and spreadsheets can write.

A file is CSV (commas, semicolons or tabs; .gz, .bz2, .xz and .parquet too), with ``#`` before comments. Its
header says what the rows are::

    i,j,strength      signed strengths: positive together, negative apart
    i,j,kind          must-link or cannot-link, and an optional column weight
    i,j,same          yes or no
    i,label           the labels of some samples

A file may hold more than one such table, each under its header. `write_constraints` puts first a comment with
the number of samples; groups that labels alone cannot express, as closure makes, take the further tables
``label_a,label_b`` (groups apart) and ``exclusive_label`` (groups all apart from one another, with their
``clique``). Each grouping of `from_groups` and `from_partition` is a layer in a table ``i,layer,group``.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import lzma
import os
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from scipy import sparse

from sidecut.checks import IntArray
from sidecut.constraints.closure import Statements
from sidecut.constraints.groups import (
    Classes,
    Groups,
    make_groups,
    number_by_appearance,
    replace_diagonal,
    strongest,
    upper_entries,
)
from sidecut.constraints.inputs import UNKNOWN, check_n_samples, check_positive, labels_from_text, read_labels
from sidecut.constraints.resolution import as_matrix, merge
from sidecut.constraints.tables import Row, Table, split_tables
from sidecut.constraints.value import Constraints
from sidecut.exceptions import ConflictError, ConstraintError, ConstraintWarning, warn

SIGNATURE = "# sidecut constraints"
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
EXCEL = (".xlsx", ".xlsm")


def write_constraints(
    path: str | os.PathLike[str], constraints: Constraints, names: Sequence[str] | None = None
) -> None:
    """Write constraints to a CSV file that `read_constraints` turns into an equal value.

    Parameters
    ----------
    path : path-like
        Where to write.
    constraints : Constraints
        Pairs are written as ``i,j,strength``, labels as ``i,label``, by the names of their classes.
    names : sequence of str, optional
        What the points are called in the file, in place of their row numbers.

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
        file.writelines(f"{line}\n" for line in _lines(constraints, names))


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


def _lines(constraints: Constraints, points: Sequence[str] | None) -> Iterator[str]:
    groups = constraints._groups
    called = range(constraints.n_samples) if points is None else [as_cell(str(name)) for name in points]
    names = None if groups is None else _group_names(groups, constraints._classes)
    signature = f"{SIGNATURE} n_samples={constraints.n_samples}"
    if groups is not None:
        signature += f" weight={groups.weight!r} diagonal={groups.diagonal!r}"
        signature += ("" if groups.are_exclusive else " apart=listed") + (" classes=named" if names else "")
    layers = constraints._layers
    if layers:
        said = (f"{_kind(layer)}:{layer.weight!r}:{layer.diagonal!r}" for layer in layers)
        signature += f" layers={','.join(said)}"
    yield signature
    if groups is not None:
        names = names or list(map(str, range(groups.n_groups)))
        yield "i,label"
        for point, group in zip(groups.points.tolist(), groups.group.tolist(), strict=True):
            yield f"{called[point]},{names[group]}"
        if not groups.are_exclusive:
            yield "exclusive_label,clique"
            yield from (f"{names[group]},{groups.clique[group]}" for group in groups.in_clique.tolist())
            yield "label_a,label_b"
            yield from (f"{names[a]},{names[b]}" for a, b in upper_entries(groups.apart)[0].tolist())
    yield from _layer_lines(layers, called)
    upper = sparse.triu(constraints._links, format="csr").tocoo()
    if upper.nnz or (groups is None and not layers):
        yield "i,j,strength"
        for i, j, strength in zip(upper.row.tolist(), upper.col.tolist(), upper.data.tolist(), strict=True):
            yield f"{called[i]},{called[j]},{strength!r}"


def _layer_lines(layers: Sequence[Groups], called: Sequence[Any]) -> Iterator[str]:
    if layers:
        yield "i,layer,group"
    for number, layer in enumerate(layers):
        group = layer.clique[layer.group] if _kind(layer) == "apart" else layer.group
        for point, own in zip(layer.points.tolist(), group.tolist(), strict=True):
            # The last row that is left of a source is apart from none.
            yield f"{called[point]},{number},{own if own >= 0 else -1 - point}"


def _kind(layer: Groups) -> str:
    """Return whether a layer says that its rows are together, apart, or both."""
    if not layer.n_cliques:
        return "together"
    return "partition" if layer.are_exclusive else "apart"


def _read_layers(tables: list[Table], said: dict[str, str]) -> list[Groups]:
    """Return the layers that `write_constraints` wrote."""
    rows = [table for table in tables if "layer" in table]
    if not rows or "layers" not in said:
        return []
    points = np.concatenate([table.integers("i") for table in rows])
    number, group = (np.concatenate([table.counts(name) for table in rows]) for name in ("layer", "group"))
    layers = []
    for which, description in enumerate(said["layers"].split(",")):
        kind, weight, diagonal = description.split(":")
        inside = number == which
        own = number_by_appearance(group[inside])
        free = np.full(int(own.max(initial=-1)) + 1, -1, dtype=np.int64)
        group_of, clique = {
            "apart": (np.arange(len(own)), own),
            "together": (own, free),
            "partition": (own, None),
        }[kind]
        layers.append(
            make_groups(
                points[inside], group_of, clique=clique, weight=float(weight), diagonal=float(diagonal)
            )
        )
    return layers


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
    return [as_cell(name) for name in names]


def as_cell(name: str) -> str:
    """Return a name as a cell of a table, quoted where it needs it."""
    return '"' + name.replace('"', '""') + '"' if set(name) & set(',;\t"|\n') else name


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
    groups, layers = _read_groups(tables, said, classes), _read_layers(tables, said)
    linked = [table for table in tables if "j" in table]
    pairs = np.concatenate([np.empty((0, 2), dtype=np.int64), *(table.points for table in linked)])
    strengths = np.concatenate([np.empty(0), *(table.signed_strengths() for table in linked)])
    own = pairs[:, 0] == pairs[:, 1]
    must, cannot = ~own & (strengths > 0), ~own & (strengths < 0)
    stated = Statements(
        n,
        strongest(pairs[must], strengths[must]),
        strongest(pairs[cannot], -strengths[cannot]),
        [*([] if groups is None else [groups]), *([] if said else layers)],
    )
    links = as_matrix(stated, on_conflict)
    if not said:
        # Written by hand: a pair that both a link and the labels know is one pair, not two to be added.
        links, _ = merge((links, None), (sparse.csr_array((n, n)), groups), on_conflict)
    diagonal = np.array(links.diagonal())
    diagonal[pairs[own, 0]] = strengths[own]
    named = classes if not said or "classes" in said else None
    return Constraints(n, replace_diagonal(links, diagonal), groups, named, layers)


def _read_groups(tables: list[Table], said: dict[str, str], classes: Classes | None) -> Groups | None:
    if classes is None:
        return None
    number_of = {name: number for number, name in enumerate(classes.names)}
    clique = np.full(len(number_of), -1 if said.get("apart") == "listed" else 0)
    own = [table.counts("clique") for table in tables if "clique" in table]
    clique[_label_numbers(tables, "exclusive_label", number_of)] = np.concatenate(own) if own else 0
    ends = [_label_numbers(tables, name, number_of) for name in ("label_a", "label_b")]
    weight = check_positive(said.get("weight", "1"), "weight")
    return make_groups(
        classes.points,
        classes.codes,
        clique=clique,
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


def open_text(path: Path, encoding: str | None = None) -> Iterator[str]:
    """Yield the lines of a text file, which may be compressed (.gz, .bz2, .xz)."""
    opened = COMPRESSED.get(path.suffix.lower(), open)
    with opened(path, "rt", encoding=encoding_of(path, encoding), newline="") as file:
        yield from file


def encoding_of(path: Path, encoding: str | None = None) -> str:
    """Return the encoding of a text file: the one that is named, UTF-8, UTF-16 with its mark, or Windows'."""
    # Windows' encoding of western languages (cp1252) is named in a warning: any bytes can be read in it.
    opened = COMPRESSED.get(path.suffix.lower(), open)
    tried = encoding or "utf-8-sig"
    try:
        with opened(path, "rb") as file:
            start = file.read(1000)
        if encoding is None and start.startswith((b"\xff\xfe", b"\xfe\xff")):
            return "utf-16"
        with opened(path, "rt", encoding=tried, newline="") as file:
            while file.read(1 << 20):
                pass
        return tried
    except UnicodeDecodeError as error:
        kinds = (kind for begin, kind in BINARY.items() if start.startswith(begin))
        said = f"{path} is not text in {tried.removesuffix('-sig')}"
        if kind := next(kinds, "binary data" if 0 in start else ""):
            raise ConstraintError(f"{said}: it looks like {kind}; save the table as CSV") from error
        if encoding is not None:
            raise ConstraintError(f"{said}: name another encoding, or leave it out") from error
    except LookupError as error:
        raise ConstraintError(f"encoding {tried!r} is unknown: use for example utf-8 or cp1252") from error
    except (OSError, lzma.LZMAError, EOFError, zlib.error) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ConstraintError(f"{path} is not a whole compressed file ({error})") from error
    encoding_of(path, "cp1252")
    warn(
        f"{path} is not UTF-8 and was read as Windows text (cp1252); if letters are wrong, name its encoding",
        ConstraintWarning,
    )
    return "cp1252"


def read_sheets(path: Path, **options: Any) -> dict[str, Any]:
    """Return the sheets of an Excel file as frames, by name."""
    marks: dict[str, Any] = {"keep_default_na": False, "na_values": ["", "#N/A"]}
    try:
        import pandas

        return pandas.read_excel(path, sheet_name=None, engine="openpyxl", **marks, **options)
    except ImportError as error:
        raise ConstraintError(f"{path} needs openpyxl: pip install pandas openpyxl") from error
    except (ValueError, OSError, KeyError, BadZipFile) as error:
        raise ConstraintError(
            f"{path} could not be read as Excel ({' '.join(str(error).split())})"
        ) from error


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
    if path.suffix.lower() in (*PARQUET, *EXCEL):
        rows = _frame_rows(path)
        return [], list(split_tables(path, rows, list(range(1, len(rows) + 1)), positions))
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
    return comments, list(split_tables(path, rows, numbers, positions))


def _frame_rows(path: Path) -> list[Row]:
    """Return the rows of a Parquet file, or of the first sheet of an Excel file."""
    if path.suffix.lower() in EXCEL:
        frame = next(iter(read_sheets(path, dtype=str).values()))
    else:
        frame = _read_parquet(path)
    filled = frame.astype(object).where(frame.notna(), "")
    return [
        [str(name) for name in frame.columns],
        *([str(cell).strip() for cell in row] for row in filled.to_numpy()),
    ]


def _read_parquet(path: Path) -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ConstraintError(f"{path} needs pandas and pyarrow: pip install pandas pyarrow") from error
    try:
        return pandas.read_parquet(path)
    except (ValueError, OSError, ImportError) as error:
        raise ConstraintError(
            f"{path} could not be read as Parquet ({' '.join(str(error).split())})"
        ) from error
