"""Writing a graph as a folder of blocks: whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sidecut.checks import IntArray
from sidecut.graphs.blocks import ARRAYS, FORMAT, VERSION, BlockGraph, checksum
from sidecut.graphs.graph import Graph, order_neighbors

#: About how many entries a block has: 64 MB. Fewer and larger blocks have fewer ghosts in all.
BLOCK_ENTRIES = 8_000_000

#: The nodes of a block and their weights to all nodes.
Rows = tuple[IntArray, sp.csr_array]


def save_graph(graph: Graph, folder: str | Path, order: IntArray | None = None) -> None:
    """Write a graph as a folder of blocks, see `Graph.save`."""
    if isinstance(graph, BlockGraph):
        rows: Iterable[Rows] = ((block.own, block.global_rows(graph.n_nodes)) for block in graph.blocks)
        if order is not None:
            raise ValueError("the order of a graph in blocks is that of its blocks: leave order out.")
    elif graph.matrix is None:
        raise TypeError(
            f"a {type(graph).__name__} stores no weights: its products are computed. Save the points, or a "
            "graph of neighbours."
        )
    else:
        rows = _cut_rows(sp.csr_array(graph.matrix), order)
    with written_whole(folder) as partial:
        write_blocks(partial, graph.n_nodes, rows, graph.recall)


def _cut_rows(matrix: sp.csr_array, order: IntArray | None) -> Iterator[Rows]:
    """Yield the rows of a matrix in an order, cut into blocks."""
    n_nodes = matrix.shape[0]
    if order is None:
        order = order_neighbors(matrix)
    order = np.arange(n_nodes) if order is None else np.asarray(order)
    if not np.array_equal(np.sort(order), np.arange(n_nodes)):
        raise ValueError(f"order must name each of the {n_nodes} nodes once.")
    ends = np.cumsum(np.diff(matrix.indptr)[order])
    n_blocks = -(-int(matrix.nnz) // BLOCK_ENTRIES)
    cuts = np.searchsorted(ends, np.linspace(0, matrix.nnz, n_blocks + 1)[1:-1])
    for own in np.split(order, cuts):
        yield own.astype(np.int64), matrix[own]


@contextmanager
def written_whole(folder: str | Path) -> Iterator[Path]:
    """Give a folder to write to, which gets its name when all is written, or is removed."""
    folder = Path(folder)
    if folder.exists():
        raise FileExistsError(f"{str(folder)!r} is there already; choose another name, or remove it.")
    if not folder.absolute().parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(folder.absolute().parent)!r} to write to.")
    partial = folder.absolute().with_name(f".{folder.name}.{os.getpid()}.partial")
    partial.mkdir()
    try:
        yield partial
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def write_blocks(
    folder: Path,
    n_nodes: int,
    rows: Iterable[Rows],
    recall: float | None = None,
    progress: Callable[[int], Any] = lambda _: None,
) -> None:
    """Write blocks of rows and, last of all, what describes them."""
    # The column that a node has in the block that is being written.
    place = np.full(n_nodes, -1, dtype=np.int32)
    described: list[dict[str, Any]] = []
    largest = 0.0
    for number, (own, weights) in enumerate(rows):
        arrays = _renumber(own, weights, place)
        name = f"block-{number:05d}"
        (folder / name).mkdir()
        for kind, values in arrays.items():
            values.tofile(folder / name / kind)
        largest = max(largest, float(arrays["weights"].max(initial=0.0)))
        described.append(
            {
                "folder": name,
                "n_rows": len(own),
                "n_ghosts": len(arrays["nodes"]) - len(own),
                "n_entries": len(arrays["weights"]),
                "crc32": {kind: checksum(values) for kind, values in arrays.items()},
            }
        )
        progress(len(own))
    meta = {
        "format": FORMAT,
        "version": VERSION,
        "n_nodes": n_nodes,
        "n_entries": sum(block["n_entries"] for block in described),
        "largest_weight": largest,
        "recall": recall,
        "blocks": described,
    }
    (folder / "meta.json").write_text(json.dumps(meta, indent=1), encoding="utf-8")


def _renumber(own: IntArray, weights: sp.csr_array, place: npt.NDArray[np.int32]) -> dict[str, npt.NDArray]:
    """Return the arrays of a block, its columns numbered within it."""
    data = weights.data.astype(np.float32)
    # A weight below what single precision holds is no edge, and its mirror image is none either.
    kept = data > 0
    columns, data = weights.indices[kept], data[kept]
    indptr = np.concatenate([[0], np.cumsum(kept)])[weights.indptr]
    place[own] = np.arange(len(own), dtype=np.int32)
    ghosts = np.unique(columns[place[columns] < 0])
    place[ghosts] = np.arange(len(own), len(own) + len(ghosts), dtype=np.int32)
    arrays = {
        "nodes": np.concatenate([own, ghosts]),
        "indptr": indptr,
        "indices": place[columns],
        "weights": data,
    }
    place[own] = place[ghosts] = -1
    return {name: np.ascontiguousarray(arrays[name], dtype=dtype) for name, dtype in ARRAYS.items()}
