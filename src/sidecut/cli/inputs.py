"""Any file to points: tables, NumPy arrays, sparse matrices and lists of edges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from scipy import sparse

from sidecut.cli.errors import UsageError, did_you_mean
from sidecut.cli.preparation import Points, Preparation, Wishes, learn_scale
from sidecut.cli.tables import (
    TABLE_SUFFIXES,
    ColumnRoles,
    TextFormat,
    in_options,
    kind_suffix,
    named_parts,
    points_from_table,
    read_lines,
    read_table,
)
from sidecut.constraints.inputs import read_labels
from sidecut.exceptions import ConstraintError

__all__ = ["ARRAY_SUFFIXES", "existing_file", "points_from_array", "read_array", "read_points"]


ARRAY_SUFFIXES = (".npy", ".npz")
NPY_SIGNATURE, ZIP_SIGNATURE = b"\x93NUMPY", b"PK"

EDGE_SUFFIXES = (".edges", ".edgelist")

_EDGE_HEADINGS = {
    ("source", "target"),
    ("from", "to"),
    ("src", "dst"),
    ("u", "v"),
    ("i", "j"),
    ("node1", "node2"),
}


#: What to do with files that hold tables in other forms.
OTHER_TABLES = {
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "save the sheet as CSV"),
    ".json": "write one JSON object per line and call the file .jsonl, or save it as CSV",
    **dict.fromkeys((".feather", ".pkl", ".pickle", ".rds"), "save the table as CSV or Parquet"),
}


def read_points(
    path: Path,
    *,
    kind: str | None = None,
    key: str | None = None,
    roles: ColumnRoles | None = None,
    is_graph: bool = False,
    wishes: Wishes | None = None,
    text: TextFormat | None = None,
) -> Points:
    """Read points from a table, an array or an edge list.

    Parameters
    ----------
    path : Path
        File to read.
    kind : {"table", "array", "edges"}, optional
        What the file is; told by its suffix if not given.
    key : str, optional
        Which array of an ``.npz`` file holds the points.
    roles : ColumnRoles, optional
        What the columns of a table mean.
    is_graph : bool
        Whether the file holds weights between points; an edge list always does.
    wishes : Wishes, optional
        What to do about text, gaps and units.
    text : TextFormat, optional
        How a text file is written.

    Returns
    -------
    Points
        The points.

    Raises
    ------
    UsageError
        If the file cannot be read or the options do not fit it.
    """
    path, text, wishes = existing_file(path), text or TextFormat(), wishes or Wishes()
    kind = kind or _kind_of(path)
    if kind == "edges":
        _refuse_column_options(path, roles)
        points = points_from_edges(path, text.encoding)
    elif kind == "array":
        points = points_from_array(path, key, roles, is_graph=is_graph)
    else:
        frame = read_table(path, text, () if roles is None else roles.special)
        _refuse_standardizing_graphs(is_graph, wishes)
        points = points_from_table(frame, path, roles, is_graph=is_graph, wishes=wishes)
    _check_shape(points)
    return points if kind == "table" else _standardized(points, wishes)


def existing_file(path: Path) -> Path:
    """Return the path if there is a file, and say so if there is none.

    Examples
    --------
    >>> existing_file(Path("no/such/file.csv"))
    Traceback (most recent call last):
    ...
    sidecut.cli.errors.UsageError: There is no file no/such/file.csv.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a directory; name a file in it.")
    if not path.exists():
        beside = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
        raise UsageError(f"There is no file {path}{did_you_mean(path.name, beside, 0.75) or '.'}")
    return path


def _kind_of(path: Path) -> str:
    suffixes = {"table": TABLE_SUFFIXES, "array": ARRAY_SUFFIXES, "edges": EDGE_SUFFIXES}
    for kind, known in suffixes.items():
        if kind_suffix(path) in known:
            return kind
    if kind_suffix(path) in OTHER_TABLES:
        raise UsageError(f"{path} is not read as it is: {OTHER_TABLES[kind_suffix(path)]}.")
    listed = ", ".join(suffix for known in suffixes.values() for suffix in known)
    raise UsageError(
        f"What {path} holds cannot be told from its suffix {kind_suffix(path)!r} (known: {listed}); say it "
        f"with --input {'|'.join(suffixes)}."
    )


def _refuse_column_options(path: Path, roles: ColumnRoles | None) -> None:
    if roles is not None and (roles.special or roles.keep or roles.drop):
        raise UsageError(
            f"{path} is an edge list, which has no feature, label or id columns; its nodes are called by "
            "name. Give labels in a --constraints file with lines node,label."
        )


def _check_shape(points: Points) -> None:
    rows, columns = points.X.shape
    if points.is_graph and rows != columns:
        raise UsageError(
            f"{points.source} has {rows} rows and {columns} columns; with --graph it must be a square matrix "
            "of weights between the points."
        )


def _refuse_standardizing_graphs(is_graph: bool, wishes: Wishes) -> None:
    if is_graph and wishes.standardize:
        raise UsageError(
            "--standardize is for features; this input is a graph, whose weights stay as they are."
        )


def _standardized(points: Points, wishes: Wishes) -> Points:
    if not wishes.standardize:
        return points
    _refuse_standardizing_graphs(points.is_graph, wishes)
    if sparse.issparse(points.X):
        raise UsageError("--standardize would fill a sparse matrix; scale its columns beforehand instead.")
    X = np.asarray(points.X, dtype=float)
    preparation = learn_scale(Preparation(columns=()), X)
    return replace(points, X=preparation.rescale(X), preparation=preparation)


# Arrays


def points_from_array(
    path: Path, key: str | None = None, roles: ColumnRoles | None = None, *, is_graph: bool = False
) -> Points:
    """Read points from ``.npy``, ``.npz`` or a sparse matrix saved by SciPy.

    Parameters
    ----------
    path : Path
        File to read.
    key : str, optional
        Which array of an ``.npz`` holds the points: ``X`` by default, or the only one there is.
    roles : ColumnRoles, optional
        In an ``.npz`` the label, truth and id columns are arrays of that name.
    is_graph : bool
        Whether the array holds weights between the points.

    Returns
    -------
    Points
        The points.

    Raises
    ------
    UsageError
        If there is no such array, or it is not a table of finite numbers.
    """
    roles = ColumnRoles() if roles is None else roles
    if roles.keep or roles.drop:
        raise UsageError(f"{path} is an array without column names; --columns and --drop need a table.")
    arrays = _load(path)
    X = _finite_matrix(_pick(arrays, key, path), path)
    beside = {column: _beside(arrays, column, path, X.shape[0]) for column in roles.special}
    _refuse_wrapped(beside, path, roles)
    values = {column: array.tolist() for column, array in beside.items()}
    return Points(X=X, source=path, is_graph=is_graph, **named_parts(values, roles, path))


def _refuse_wrapped(beside: dict[str, Any], path: Path, roles: ColumnRoles) -> None:
    """Ask about -1 that was stored in an unsigned type."""
    for name in (roles.label, roles.truth):
        if name is not None and beside[name].dtype.kind == "u" and roles.unknown is None:
            try:
                read_labels(beside[name], name)
            except ConstraintError as error:
                raise UsageError(f"{path}: {in_options(str(error))}.") from error


def read_array(path: Path, key: str | None = None) -> Any:
    """Read one array from an ``.npy`` or ``.npz`` file.

    Raises
    ------
    UsageError
        If the file is not an array or has none of that name.
    """
    return _pick(_load(path), key, path)


def _load(path: Path) -> dict[str, Any]:
    """Return the arrays of a file by name; a file of one nameless array calls it ``X``."""
    rule = "it must be written by numpy.save, numpy.savez or scipy.sparse.save_npz, without objects"
    with path.open("rb") as file:
        if not file.read(6).startswith((NPY_SIGNATURE, ZIP_SIGNATURE)):
            raise UsageError(f"{path} is no NumPy file, whatever its name says; {rule}.")
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {"X": loaded}
        with loaded:
            # What scipy.sparse.save_npz writes is told by these two names.
            if {"format", "shape"} <= set(loaded.files):
                return {"X": sparse.csr_array(sparse.load_npz(path))}
            return {name: loaded[name] for name in loaded.files}
    except (ValueError, BadZipFile, EOFError, OSError) as error:
        raise UsageError(f"{path} is damaged or holds Python objects, which are not read; {rule}.") from error


def _pick(arrays: dict[str, Any], key: str | None, path: Path) -> Any:
    wanted = key or ("X" if "X" in arrays or len(arrays) != 1 else next(iter(arrays)))
    if wanted not in arrays:
        held = ", ".join(repr(name) for name in arrays)
        raise UsageError(f"{path} has no array {wanted!r}; it holds {held}. Choose one with --key.")
    return arrays[wanted]


def _beside(arrays: dict[str, Any], name: str, path: Path, n_samples: int) -> Any:
    if name not in arrays:
        held = ", ".join(repr(known) for known in arrays)
        raise UsageError(f"{path} has no array {name!r}; it holds {held}.")
    if arrays[name].shape != (n_samples,):
        raise UsageError(
            f"Array {name!r} of {path} has shape {arrays[name].shape}; one entry for each of the {n_samples} "
            "points is expected."
        )
    return arrays[name]


def _finite_matrix(values: Any, path: Path) -> Any:
    if values.ndim != 2:
        raise UsageError(
            f"The array in {path} has shape {values.shape}; points are the rows of a two-dimensional array."
        )
    if values.dtype.kind not in "fiub":
        raise UsageError(f"The array in {path} holds {values.dtype}, not numbers.")
    is_sparse = sparse.issparse(values)
    bad = np.flatnonzero(~np.isfinite(np.asarray(values.data if is_sparse else values, dtype=float)))
    if bad.size:
        where = "" if is_sparse else " in row {}, column {}".format(*np.unravel_index(bad[0], values.shape))
        raise UsageError(
            f"{path} holds {bad.size:,} missing or infinite values, the first{where}; fill or remove them "
            "first."
        )
    return values


# Edge lists to points: nodes with names, and a sparse matrix of weights.


def points_from_edges(path: Path, encoding: str | None = None) -> Points:
    """Read an undirected graph from lines ``source target [weight]``.

    Cells are separated by commas, tabs or blanks; a heading such as ``source,target,weight`` and lines
    that begin with ``#`` or ``%`` are skipped. Nodes are called by their names, in numerical order if all
    names are whole numbers and in order of appearance otherwise. An edge may be listed in both
    directions, but only with one weight.

    Parameters
    ----------
    path : Path
        File to read.
    encoding : str, optional
        UTF-8 if not given.

    Returns
    -------
    Points
        The nodes, `X` being the weights between them.

    Raises
    ------
    UsageError
        If a line is not an edge, a weight is not a nonnegative number, or an edge has two weights.
    """
    edges = _collect(path, encoding)
    names = _ordered({name: None for edge in edges for name in edge})
    position = {name: row for row, name in enumerate(names)}
    ends = np.array([[position[a], position[b]] for a, b in edges], dtype=np.intp)
    weights = np.fromiter(edges.values(), dtype=float, count=len(edges))
    upper = sparse.coo_array((weights, (ends[:, 0], ends[:, 1])), shape=(len(names), len(names)))
    loops = sparse.dia_array((upper.diagonal()[None], [0]), shape=upper.shape)
    return Points(
        X=sparse.csr_array(upper + upper.T - loops),
        source=path,
        is_graph=True,
        names=names,
        name_column="node",
    )


def _collect(path: Path, encoding: str | None) -> dict[tuple[str, str], float]:
    edges: dict[tuple[str, str], float] = {}
    for number, cells in _edge_rows(path, encoding):
        if len(cells) not in (2, 3):
            raise UsageError(
                f"Line {number} of {path} has {len(cells)} cells; an edge is source,target or "
                "source,target,weight."
            )
        weight = _weight(cells[2], number, path) if len(cells) == 3 else 1.0
        ends = (min(cells[:2]), max(cells[:2]))
        if edges.setdefault(ends, weight) != weight:
            raise UsageError(
                f"Line {number} of {path} gives the edge {ends[0]} - {ends[1]} the weight {weight:g}, an "
                f"earlier one gave it {edges[ends]:g}; list each edge once."
            )
    if not edges:
        raise UsageError(f"{path} has no edges; lines source,target[,weight] are expected.")
    return edges


def _edge_rows(path: Path, encoding: str | None) -> Iterator[tuple[int, list[str]]]:
    """Yield line numbers and cells, without comments, blank lines and the heading."""
    is_first = True
    for number, line in enumerate(read_lines(path, encoding), start=1):
        text = line.strip()
        if not text or text[0] in "#%":
            continue
        separator = next((sign for sign in "\t,;" if sign in text), None)
        cells = [cell.strip().strip('"') for cell in text.split(separator)]
        is_heading = is_first and tuple(cell.lower() for cell in cells[:2]) in _EDGE_HEADINGS
        is_first = False
        if not is_heading:
            yield number, cells


def _weight(cell: str, number: int, path: Path) -> float:
    try:
        weight = float(cell)
    except ValueError:
        raise UsageError(f"Line {number} of {path}: the weight {cell!r} is not a number.") from None
    if not 0 <= weight < np.inf:
        raise UsageError(f"Line {number} of {path}: the weight {cell} is not a finite number from 0 upwards.")
    return weight


def _ordered(names: dict[str, None]) -> tuple[str, ...]:
    if all(name.isdecimal() for name in names):
        return tuple(sorted(names, key=int))
    return tuple(names)
