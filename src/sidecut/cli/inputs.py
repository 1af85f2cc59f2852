"""Any file to points: tables, NumPy arrays, sparse matrices and lists of edges."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from scipy import sparse

from sidecut.cli.console import UsageError, existing_file, in_options
from sidecut.cli.options import TableOptions
from sidecut.cli.preparation import Points, Preparation, PreparationOptions, learn_scale, quoted
from sidecut.cli.reading import TABLE_SUFFIXES, TextFormat, kind_suffix, read_lines, read_table
from sidecut.cli.tables import ColumnRoles, named_parts, points_from_table
from sidecut.constraints import Conflict, Constraints
from sidecut.constraints.files import read_constraints
from sidecut.constraints.inputs import read_labels
from sidecut.exceptions import ConflictError, ConstraintError, ConstraintWarning, warn
from sidecut.graphs import Graph

ARRAY_SUFFIXES = (".npy", ".npz")
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
    **dict.fromkeys((".xls", ".ods"), "save it as .xlsx or CSV"),
    **dict.fromkeys((".feather", ".pkl", ".pickle", ".rds"), "save the table as CSV or Parquet"),
}


def read_points(
    path: Path,
    *,
    kind: str | None = None,
    key: str | None = None,
    roles: ColumnRoles | None = None,
    is_graph: bool = False,
    wanted: PreparationOptions | None = None,
    text: TextFormat | None = None,
) -> Points:
    """Read points from a table, an array or an edge list."""
    if is_graph_folder(path):
        kind = "graph"
    else:
        path = existing_file(path)
        kind = kind or _kind_of(path)
    text, wanted = text or TextFormat(), wanted or PreparationOptions()
    if kind in ("edges", "graph"):
        if roles is not None and (roles.special or roles.keep or roles.drop):
            what, names = ("an edge list", "name") if kind == "edges" else ("a graph", "number, from 0")
            raise UsageError(
                f"{path} is {what}, which has no feature, label or id columns; its nodes are called by "
                f"{names}. Give labels in a --constraints file with lines node,label."
            )
        points = points_from_edges(path, text.encoding) if kind == "edges" else points_from_folder(path)
    elif kind == "array":
        points = points_from_array(path, key, roles, is_graph=is_graph)
    else:
        frame = read_table(path, text, () if roles is None else roles.special)
        points = points_from_table(frame, path, roles, is_graph=is_graph, wanted=wanted)
    if points.is_graph:
        _check_graph(points, wanted)
    elif kind == "array" and wanted.standardize:
        points = _standardized(points)
    return points


def _kind_of(path: Path) -> str:
    suffixes = {"table": TABLE_SUFFIXES, "array": ARRAY_SUFFIXES, "edges": EDGE_SUFFIXES}
    for kind, known in suffixes.items():
        if kind_suffix(path) in known:
            return kind
    if kind_suffix(path) in OTHER_TABLES:
        raise UsageError(f"{path} is not read as it is: {OTHER_TABLES[kind_suffix(path)]}.")
    listed = ", ".join(suffix for known in suffixes.values() for suffix in known)
    raise UsageError(
        f"The suffix {kind_suffix(path)!r} of {path} does not say what it holds (known: {listed}); say it "
        f"with --input {'|'.join(suffixes)}."
    )


def _check_graph(points: Points, wanted: PreparationOptions) -> None:
    rows, columns = points.X.shape
    if wanted.standardize:
        raise UsageError(
            "--standardize is for features; this input is a graph, whose weights stay as they are."
        )
    if rows != columns:
        raise UsageError(
            f"{points.source} has {rows} rows and {columns} columns; with --graph it must be a square matrix "
            "of weights between the points."
        )


def _standardized(points: Points) -> Points:
    if sparse.issparse(points.X):
        raise UsageError("--standardize would fill a sparse matrix; scale its columns beforehand instead.")
    X = np.asarray(points.X, dtype=float)
    preparation = learn_scale(Preparation(columns=()), X)
    return replace(points, X=preparation.rescale(X), preparation=preparation)


def points_from_array(
    path: Path, key: str | None = None, roles: ColumnRoles | None = None, *, is_graph: bool = False
) -> Points:
    """Read points from ``.npy``, ``.npz`` or a sparse matrix saved by SciPy."""
    roles = ColumnRoles() if roles is None else roles
    if roles.keep or roles.drop:
        raise UsageError(f"{path} is an array without column names; --columns and --drop need a table.")
    arrays = _load(path)
    X = _finite_matrix(_pick(arrays, key, path), path)
    values = {column: _column(arrays, column, path, X.shape[0], roles) for column in roles.special}
    return Points(X=X, source=path, is_graph=is_graph, **named_parts(values, roles, path))


def _column(arrays: dict[str, Any], name: str, path: Path, n_samples: int, roles: ColumnRoles) -> list[Any]:
    """Return the values of an array beside the points: names, labels or true classes."""
    if name not in arrays:
        held = ", ".join(repr(known) for known in arrays)
        raise UsageError(f"{path} has no array {name!r}; it holds {held}.")
    values = arrays[name]
    if values.shape != (n_samples,):
        raise UsageError(
            f"Array {name!r} of {path} has shape {values.shape}; one entry for each of the {n_samples} "
            "points is expected."
        )
    if name in (roles.label, roles.truth) and values.dtype.kind == "u" and roles.unknown is None:
        # An unsigned type may hold a -1 that has become its largest number.
        try:
            read_labels(values, name)
        except ConstraintError as error:
            raise UsageError(f"{path}: {in_options(str(error))}.") from error
    return values.tolist()


def read_array(path: Path, key: str | None = None) -> Any:
    """Read one array from an ``.npy`` or ``.npz`` file."""
    return _pick(_load(path), key, path)


def _load(path: Path) -> dict[str, Any]:
    """Return the arrays of a file by name; a file of one nameless array calls it ``X``."""
    rule = "it must be written by numpy.save, numpy.savez or scipy.sparse.save_npz, without objects"
    with path.open("rb") as file:
        if not file.read(6).startswith((b"\x93NUMPY", b"PK")):
            raise UsageError(f"{path} is no NumPy file, whatever its name says; {rule}.")
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {"X": loaded}
        with loaded:
            # scipy.sparse.save_npz writes these two names.
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


def is_graph_folder(path: Path) -> bool:
    """Tell whether a path is a graph that `sidecut graph build` or `Graph.save` wrote."""
    return (path / "meta.json").is_file()


def points_from_folder(path: Path) -> Points:
    """Read a graph that `sidecut graph build` or `Graph.save` wrote."""
    try:
        return Points(X=Graph.open(path), source=path, is_graph=True)
    except (ValueError, OSError) as error:
        raise UsageError(str(error)) from error


def points_from_edges(path: Path, encoding: str | None = None) -> Points:
    """Read an undirected graph from lines ``source target [weight]``."""
    # Cells are separated by commas, tabs or blanks; a heading such as ``source,target,weight`` and lines that
    # begin with ``#`` or ``%`` are skipped. Nodes are called by their names, in numerical order if all names
    # are whole numbers and in order of appearance otherwise. An edge may be listed in both directions, but
    # only with one weight.
    edges = _collect(path, encoding)
    names = tuple(dict.fromkeys(name for edge in edges for name in edge))
    if all(name.isdecimal() for name in names):
        names = tuple(sorted(names, key=int))
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


def with_edges(points: Points, path: Path | None, encoding: str | None = None) -> Points:
    """Return points with the edges between them that a file lists; without a file, as they are."""
    if path is None:
        return points
    if points.is_graph:
        raise UsageError(
            f"--edges adds edges to points with features, but {points.source} is a graph already."
        )
    listed_edges = points_from_edges(existing_file(path), encoding)
    names = listed_edges.names or ()
    position = {points.name(row): row for row in range(points.n_samples)}
    strange = [name for name in names if name not in position]
    if strange:
        called = (
            "row numbers, from 0" if points.names is None else f"the names in column {points.name_column!r}"
        )
        raise UsageError(
            f"{path} has edges of {strange[0]!r}, which is no point of {points.source}: points are called by "
            f"{called}; --id-column names another column."
        )
    rows = np.array([position[name] for name in names], dtype=np.intp)
    edges = sparse.coo_array(listed_edges.X)
    ends = (rows[edges.row], rows[edges.col])
    shape = (points.n_samples, points.n_samples)
    return replace(points, edges=sparse.csr_array(sparse.coo_array((edges.data, ends), shape=shape)))


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


def column_roles(options: TableOptions) -> ColumnRoles:
    """Return which columns mean what, as the options say."""
    return ColumnRoles(
        label=options.label_column,
        truth=options.truth_column,
        identity=options.id_column,
        apart=options.apart,
        together=options.together,
        keep=split_names(options.columns),
        drop=split_names(options.drop),
        features=split_names(options.feature),
        unknown=unknown_values(options.unknown),
    )


def read_costs(text: str | None) -> dict[str, float] | str | None:
    """Return the price of each kind of question from a text such as "pair=4,label=5"."""
    if text is None or text == "seconds":
        return text
    costs = {}
    for part in split_names(text):
        kind, _, price = part.partition("=")
        try:
            costs[kind.strip()] = float(price)
        except ValueError:
            raise UsageError(
                f'--costs {text}: {part!r} is no price; write "seconds", or such as "pair=4,label=5,set=10".'
            ) from None
    return costs


def read_reliability(text: str | None) -> float | None:
    """Return the share of right answers; None where it is estimated."""
    if text == "estimate":
        return None
    try:
        return 1.0 if text is None else float(text)
    except ValueError:
        raise UsageError(
            f"--reliability {text}: write a share above 0.5 and up to 1, such as 0.9, or estimate."
        ) from None


def split_names(texts: Sequence[str] | str | None) -> tuple[str, ...]:
    """Return the names of columns in texts with commas between."""
    texts = [texts] if isinstance(texts, str) else texts
    return tuple(name.strip() for text in texts or () for name in text.split(",") if name.strip())


def text_format(options: Any) -> TextFormat:
    """Return how a file is written, as far as the options say."""
    names = {field: getattr(options, field, None) for field in ("encoding", "decimal", "thousands", "sheet")}
    return TextFormat(getattr(options, "header", None), **names)


def unknown_values(given: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the values of ``--unknown``, None if it was not given; an empty one adds no value."""
    return None if given is None else tuple(value for value in given if value)


def known_constraints(
    points: Points,
    path: Path | None,
    on_conflict: str = "raise",
    *,
    unknown: tuple[str, ...] | None = None,
    encoding: str | None = None,
) -> Constraints:
    """Return the constraints of the columns of a table and of a file together."""
    try:
        known = Constraints.none(points.n_samples)
        if points.known_labels is not None:
            known = Constraints.from_labels(list(points.known_labels), unknown=())
            if known.is_empty:
                warn(
                    f"The label column of {points.source} holds no class: nothing is known from it.",
                    ConstraintWarning,
                )
        for source, apart in ((points.apart, True), (points.together, False)):
            if source is not None:
                groups = Constraints.from_groups(list(source), apart=apart, unknown=())
                known = known.merged_with(groups, on_conflict)
        if path is None:
            return known
        more = read_named_constraints(path, points, on_conflict, unknown=unknown, encoding=encoding)
        return known.merged_with(more, on_conflict)
    except ConflictError as error:
        where = f"{points.source} contradicts itself" if path is None else f"{path} contradicts what is known"
        shown = "; ".join(conflict_words(conflict, points) for conflict in error.conflicts[:3])
        check = "" if path is None else " (sidecut check lists all)"
        raise UsageError(
            f"{where}: {shown}{check}. Correct them, or go on with --on-conflict drop (keeps the "
            "strongest) or --on-conflict weigh (keeps all as beliefs)."
        ) from error


def read_named_constraints(
    path: Path,
    points: Points,
    on_conflict: str = "raise",
    *,
    unknown: tuple[str, ...] | None = None,
    encoding: str | None = None,
) -> Constraints:
    """Read a constraints file that calls points by name, if they have names, or by row number."""
    existing_file(path)
    try:
        return read_constraints(
            path, points.n_samples, on_conflict, names=points.names, unknown=unknown, encoding=encoding
        )
    except ConflictError:
        raise
    except ConstraintError as error:
        is_by_name = re.search("called by names|not within the samples", str(error)) is not None
        ids = [column for column, why in points.left_out.items() if why == "ids"]
        said = f"--id-column {quoted(ids[0])}" if ids else "--id-column"
        hint = f" If it calls points by name, say which column of {points.source} has the names: {said}."
        hint = hint if is_by_name and points.names is None and points.source != path else ""
        raise UsageError(f"{in_options(str(error))}.{hint}") from error


def conflict_words(conflict: Conflict, points: Points) -> str:
    """Describe a contradiction with the names of its points."""
    first, second = (points.name(end) for end in conflict.cannot_link)
    chain = [points.name(point) for point in conflict.chain]
    if len(chain) > 12:
        chain[5:-5] = [f"({len(chain) - 10} more)"]
    return f"{first} and {second} cannot be linked, yet must-links join them: {' - '.join(chain)}"
