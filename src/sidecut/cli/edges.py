"""Edge lists to points: nodes with names, and a sparse matrix of weights."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import sparse

from sidecut.cli.errors import UsageError
from sidecut.cli.points import Points
from sidecut.cli.tables import read_lines

__all__ = ["EDGE_SUFFIXES", "points_from_edges"]

EDGE_SUFFIXES = (".edges", ".edgelist")

_EDGE_HEADINGS = {
    ("source", "target"),
    ("from", "to"),
    ("src", "dst"),
    ("u", "v"),
    ("i", "j"),
    ("node1", "node2"),
}


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
