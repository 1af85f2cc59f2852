"""Edges that do not fit into memory, sorted into blocks of rows through files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sidecut.checks import FloatArray, IntArray, refuse_nonfinite
from sidecut.graphs.block_files import BLOCK_ENTRIES, Rows, write_blocks, written_whole
from sidecut.graphs.blocks import BlockGraph, open_graph

#: A directed edge as it waits in a file: 20 bytes.
EDGE = np.dtype([("row", np.int64), ("column", np.int64), ("weight", np.float32)])
#: Edges that are read at a time.
EDGES_READ = 4_000_000

Progress = Callable[[str, int], Any]


@dataclass(frozen=True)
class EdgeBuckets:
    """Directed edges in files, one for every range of rows."""

    folder: Path
    n_buckets: int
    #: How many rows a bucket has.
    height: int

    def add(self, rows: IntArray, columns: IntArray, weights: FloatArray) -> None:
        """Append edges to the files of their rows."""
        edges = np.empty(len(rows), dtype=EDGE)
        edges["row"], edges["column"], edges["weight"] = rows, columns, weights
        bucket = rows // self.height
        order = np.argsort(bucket, kind="stable")
        cuts = np.searchsorted(bucket[order], np.arange(1, self.n_buckets))
        for number, some in enumerate(np.split(order, cuts)):
            if some.size:
                with self.path(number).open("ab") as file:
                    edges[some].tofile(file)

    def take(self, number: int) -> npt.NDArray[Any]:
        """Return the edges of a bucket, and remove their file."""
        path = self.path(number)
        if not path.exists():
            return np.empty(0, dtype=EDGE)
        edges = np.fromfile(path, dtype=EDGE)
        path.unlink()
        return edges

    def path(self, number: int) -> Path:
        """Return the file of a bucket."""
        return self.folder / f"edges-{number:05d}"


def graph_from_edges(
    edges: Any, folder: str | Path, *, n_nodes: int | None = None, progress: Progress = lambda *_: None
) -> BlockGraph:
    """Build a graph on a disk from a list of edges that may be larger than memory.

    Parameters
    ----------
    edges : path, or function that returns an iterator of arrays
        A Parquet file, a folder of them, or a CSV file, with two columns of nodes, counted from 0, and one
        of weights if there are three. Or chunks of arrays of shape (any, 2) or (any, 3). An edge may be
        listed once or in both directions, with one weight; without weights each has 1.
    folder : path
        Where the graph is written; it must not be there yet. 40 bytes per edge are needed beside it
        meanwhile.
    n_nodes : int, optional
        How many nodes there are; by default one more than the largest that is listed.
    progress : callable, optional
        Called with the name of a step and how many edges or nodes were done in it.

    Returns
    -------
    BlockGraph
        The graph, opened.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from sidecut.graphs import graph_from_edges
    >>> path = np.array([[0, 1, 2.0], [1, 2, 1.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     graph_from_edges(lambda: iter([path]), f"{folder}/graph").degrees
    array([2., 3., 1.])
    """
    read = edges if callable(edges) else lambda: read_edges(Path(edges))
    n_listed = largest = 0
    for rows, columns, _ in _checked(read()):
        n_listed += len(rows)
        largest = max(largest, int(rows.max(initial=-1)) + 1, int(columns.max(initial=-1)) + 1)
        progress("counting edges", len(rows))
    if not n_listed:
        raise ValueError("the list of edges is empty.")
    if n_nodes is None:
        n_nodes = largest
    elif largest > n_nodes:
        raise ValueError(f"an edge names node {largest - 1}, but n_nodes={n_nodes} counts nodes from 0.")
    with written_whole(folder) as partial:
        n_buckets = min(-(-2 * n_listed // BLOCK_ENTRIES), n_nodes)
        buckets = EdgeBuckets(partial, n_buckets, -(-n_nodes // n_buckets))
        for rows, columns, weights in _checked(read()):
            loops = rows == columns
            buckets.add(rows, columns, weights)
            buckets.add(columns[~loops], rows[~loops], weights[~loops])
            progress("sorting edges", len(rows))
        blocks = rows_of_buckets(buckets, n_nodes, _listed_once)
        write_blocks(partial, n_nodes, blocks, progress=lambda n: progress("writing nodes", n))
    return open_graph(folder, check=False)


def rows_of_buckets(
    buckets: EdgeBuckets,
    n_nodes: int,
    settle: Callable[[npt.NDArray[Any]], npt.NDArray[Any]],
    order: IntArray | None = None,
) -> Iterator[Rows]:
    """Yield the rows of each bucket; `settle` makes one of edges that are there several times."""
    # With an order, rows and columns in the buckets are places in it.
    for number in range(buckets.n_buckets):
        first = number * buckets.height
        own: IntArray = np.arange(first, min(first + buckets.height, n_nodes))
        if own.size == 0:
            continue
        edges = buckets.take(number)
        # By columns, then by rows without changing the order of the columns: a radix sort of both.
        edges = edges[np.argsort(edges["column"], kind="stable")]
        edges = settle(edges[np.argsort(edges["row"], kind="stable")])
        indptr = np.searchsorted(edges["row"], np.append(own, own[-1] + 1))
        columns = edges["column"]
        if order is not None:
            own, columns = order[own], order[columns]
        yield own, sp.csr_array((edges["weight"], columns, indptr), shape=(own.size, n_nodes))


def repeats(edges: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return which of sorted edges are the same as the one before."""
    same = (edges["row"][1:] == edges["row"][:-1]) & (edges["column"][1:] == edges["column"][:-1])
    return np.concatenate([[False], same])[: len(edges)]


def _listed_once(edges: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return each edge once; refuse one that is listed with two weights."""
    again = np.flatnonzero(repeats(edges))
    other = again[edges["weight"][again] != edges["weight"][again - 1]]
    if other.size:
        row, column, weight = edges[other[0]]
        before = edges["weight"][other[0] - 1]
        raise ValueError(
            f"the edge between nodes {row} and {column} is listed with the weights {before:g} and "
            f"{weight:g}: list each edge once, or with one weight in both directions."
        )
    return np.delete(edges, again)


def read_edges(path: Path) -> Iterator[FloatArray]:
    """Yield the edges in a Parquet file, a folder of them or a CSV file, some millions at a time."""
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {str(path)!r} to read edges from.")
    if path.is_dir() or path.suffix == ".parquet":
        from pyarrow import dataset  # type: ignore[import-untyped]

        table = dataset.dataset(path, format="parquet")
        batches: Any = table.to_batches(batch_size=EDGES_READ)
        frames: Any = (batch.to_pandas() for batch in batches)
    else:
        import pandas as pd

        first = path.open(encoding="utf-8").readline()
        has_names = any(character.isalpha() for character in first.replace("e", "").replace("E", ""))
        names = 0 if has_names else None
        separator = next((sign for sign in ",;\t" if sign in first), r"\s+")
        frames = pd.read_csv(path, header=names, chunksize=EDGES_READ, sep=separator)
    for frame in frames:
        yield frame.to_numpy(dtype=np.float64)


def _checked(chunks: Iterator[Any]) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
    """Yield both ends and the weights of edges; refuse what is no edge, naming the line."""
    n_seen = 0
    for chunk in chunks:
        chunk = np.asarray(chunk, dtype=np.float64)
        if chunk.ndim != 2 or chunk.shape[1] not in (2, 3):
            raise ValueError(
                f"edges have shape {chunk.shape}; two columns of nodes are expected, and one of weights if "
                "there are three."
            )
        refuse_nonfinite(chunk, n_seen, "edges")
        ends, weights = chunk[:, :2], chunk[:, 2] if chunk.shape[1] == 3 else np.ones(len(chunk))
        wrong = np.flatnonzero((ends < 0).any(axis=1) | (ends != np.floor(ends)).any(axis=1) | (weights < 0))
        if wrong.size:
            raise ValueError(
                f"edge {n_seen + wrong[0]} is {chunk[wrong[0]].tolist()}: nodes are whole numbers from 0 on, "
                "and weights are not negative."
            )
        n_seen += len(chunk)
        yield ends[:, 0].astype(np.int64), ends[:, 1].astype(np.int64), weights
