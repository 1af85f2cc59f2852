"""Any file to points: which reader a file needs."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

import numpy as np
from scipy import sparse

from sidecut.cli.arrays import ARRAY_SUFFIXES, points_from_array_file
from sidecut.cli.edges import EDGE_SUFFIXES, points_from_edges
from sidecut.cli.errors import UsageError
from sidecut.cli.points import Points
from sidecut.cli.tables import TABLE_SUFFIXES, ColumnRoles, points_from_table, read_table

__all__ = ["INPUT_KINDS", "existing_file", "read_points"]

INPUT_KINDS = ("table", "array", "edges")


def read_points(
    path: Path,
    *,
    kind: str | None = None,
    key: str | None = None,
    roles: ColumnRoles | None = None,
    is_graph: bool = False,
    standardize: bool = False,
    has_heading: bool | None = None,
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
    standardize : bool
        Whether to give every feature mean 0 and variance 1.
    has_heading : bool, optional
        Whether the first line of a text file names its columns.

    Returns
    -------
    Points
        The points.

    Raises
    ------
    UsageError
        If the file cannot be read or the options do not fit it.
    """
    path = existing_file(path)
    kind = kind or _kind_of(path)
    if kind == "edges":
        _refuse_column_options(path, roles)
        points = points_from_edges(path)
    elif kind == "array":
        points = points_from_array_file(path, key, roles, is_graph=is_graph)
    else:
        special = () if roles is None else roles.special
        points = points_from_table(read_table(path, has_heading, special), path, roles, is_graph=is_graph)
    _check_shape(points)
    return _standardized(points) if standardize else points


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
        close = get_close_matches(path.name, beside, n=1, cutoff=0.75)
        hint = f"; did you mean {close[0]}?" if close else "."
        raise UsageError(f"There is no file {path}{hint}")
    return path


def _kind_of(path: Path) -> str:
    suffixes = {"table": TABLE_SUFFIXES, "array": ARRAY_SUFFIXES, "edges": EDGE_SUFFIXES}
    for kind, known in suffixes.items():
        if path.suffix.lower() in known:
            return kind
    listed = ", ".join(suffix for known in suffixes.values() for suffix in known)
    raise UsageError(
        f"What {path} holds cannot be told from its suffix {path.suffix!r} (known: {listed}); say it with "
        f"--input {'|'.join(INPUT_KINDS)}."
    )


def _refuse_column_options(path: Path, roles: ColumnRoles | None) -> None:
    if roles is not None and (roles.special or roles.keep or roles.drop):
        raise UsageError(
            f"{path} is an edge list, which has no feature, label or id columns; its nodes are called by "
            "name. Give "
            "labels in a --constraints file with lines node,label."
        )


def _check_shape(points: Points) -> None:
    rows, columns = points.X.shape
    if points.is_graph and rows != columns:
        raise UsageError(
            f"{points.source} has {rows} rows and {columns} columns; with --graph it must be a square matrix "
            "of "
            "weights between the points."
        )


def _standardized(points: Points) -> Points:
    if points.is_graph:
        raise UsageError(
            "--standardize is for features; this input is a graph, whose weights stay as they are."
        )
    if sparse.issparse(points.X):
        raise UsageError("--standardize would fill a sparse matrix; scale its columns beforehand instead.")
    X = np.asarray(points.X, dtype=float)
    spread = X.std(axis=0)
    # A constant column carries nothing: centring makes it zero, and dividing by one keeps it so.
    return replace(points, X=(X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0))
