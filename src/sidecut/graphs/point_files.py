"""The neighbour graph of points that do not fit into memory: cells, a search in the nearest of them, blocks.

Points are sorted into cells around the means of a sample, and written in that order, in single precision. A
point's neighbours are searched in the nearest cells. Nodes keep their numbers; blocks are runs of cells, so
that most neighbours of a node are in its own block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sidecut.checks import FloatArray, IntArray, check_count
from sidecut.exceptions import GraphWarning, warn
from sidecut.graphs.block_files import BLOCK_ENTRIES, write_blocks, written_whole
from sidecut.graphs.blocks import BlockGraph, open_graph
from sidecut.graphs.cells import Cells, Coordinates, smallest
from sidecut.graphs.chunks import RowChunks, each_chunk
from sidecut.graphs.edge_files import EdgeBuckets, Progress, repeats, rows_of_buckets
from sidecut.graphs.recipes import edge_weights, local_scales
from sidecut.graphs.search import feasible_count

#: Cells are those of this many points.
CELL_SAMPLE = 200_000
#: Cells have about this many points, or fewer; more points are more cells.
LARGEST = 600
#: A search is fitted to so many points, and its recall measured on as many others.
RECALL_SAMPLE = 300
#: The share of the true neighbours of a sample that the search is fitted to find.
WANTED_RECALL = 0.98
#: Below this share a warning is given.
LEAST_RECALL = 0.95
#: Rows that are written or weighed at a time.
ROWS_AT_ONCE = 200_000


def graph_from_points(
    points: Any,
    folder: str | Path,
    *,
    n_neighbors: int = 20,
    random_state: int | np.random.RandomState | None = 0,
    progress: Progress = lambda *_: None,
) -> BlockGraph:
    """Build the neighbour graph of points that may be larger than memory, on a disk.

    Its edges are those of `Neighbors(n_neighbors)`, with self-tuning weights, as far as the search finds
    them; `recall` of the graph is the share it found, measured on 300 points.

    Parameters
    ----------
    points : array, memory map, path or collection of chunks
        What `RowChunks` takes: a matrix, a folder of Parquet files, or chunks of rows.
    folder : path
        Where the graph is written; it must not be there yet. Beside it, 4 bytes per number and 56 bytes per
        neighbour are needed meanwhile.
    n_neighbors : int, default=20
        How many neighbours each point has.
    random_state : int, RandomState or None
        For the sample that cells are made of.
    progress : callable, optional
        Called with the name of a step and how many points were done in it.

    Returns
    -------
    BlockGraph
        The graph, opened.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from sidecut.graphs import graph_from_points
    >>> points = np.random.default_rng(0).normal(size=(3000, 4))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     graph = graph_from_points(points, f"{folder}/graph", n_neighbors=5)
    ...     graph.n_nodes, graph.recall > 0.95
    (3000, True)
    """
    check_count("n_neighbors", n_neighbors)
    chunks = RowChunks(points)
    rng = np.random.RandomState(random_state) if isinstance(random_state, int) else random_state
    rng = np.random.RandomState() if rng is None else rng
    sample, n_points = chunks.sampled(CELL_SAMPLE, rng)
    k = feasible_count(n_neighbors, n_points)
    with written_whole(folder) as partial:
        stored = StoredPoints.sorted_into_cells(chunks, sample, n_points, partial, rng, progress)
        asked = np.sort(rng.choice(n_points, min(2 * RECALL_SAMPLE, n_points), replace=False))
        true = stored.true_neighbors(asked, k)
        near, apart = stored.search(k, stored.fit(asked[::2], true[::2]), partial, progress)
        # Of points at one distance any may be among the neighbours.
        reach = stored.between(asked, true).max(axis=1, keepdims=True)
        recall = float((apart[asked] <= (1 + 1e-5) * reach)[1::2].mean())
        if recall < LEAST_RECALL:
            warn(
                f"the search found {recall:.0%} of the true neighbours of {RECALL_SAMPLE} points: these data "
                "hardly form cells. Fewer features, such as principal components, are searched better.",
                GraphWarning,
            )
        buckets = _spill(near, apart, partial, progress)
        del near, apart
        for name in ("points.f32", "near.i64", "apart.f32"):
            (partial / name).unlink()
        rows = rows_of_buckets(buckets, n_points, _summed, stored.order)
        write_blocks(partial, n_points, rows, recall, lambda n: progress("writing nodes", n))
    return open_graph(folder, check=False)


@dataclass(frozen=True)
class StoredPoints:
    """Points in the order of their cells, in a file; `order` are their numbers before."""

    cells: Cells
    order: IntArray

    @classmethod
    def sorted_into_cells(
        cls,
        chunks: RowChunks,
        sample: Any,
        n_points: int,
        folder: Path,
        rng: np.random.RandomState,
        progress: Progress,
    ) -> StoredPoints:
        """Write points in the order of the cells of a sample."""
        sample = _dense(sample)
        middle = sample.mean(axis=0)
        largest = int(np.clip(0.6 * np.sqrt(n_points), 64, LARGEST))
        share = max(2, int(largest * min(1.0, len(sample) / n_points)))
        coordinates = (sample - middle).astype(np.float32)
        centres = Cells.of(coordinates, share, rng).guided(rng)
        nearest = np.empty(n_points, dtype=np.int32)
        for start, rows in _numbered(chunks, middle):
            nearest[start : start + len(rows)] = centres.nearest(rows, 1)[:, 0]
            progress("finding cells", len(rows))
        order = np.argsort(nearest, kind="stable")
        place = np.empty(n_points, dtype=np.int64)
        place[order] = np.arange(n_points)
        shape = (n_points, sample.shape[1])
        stored = np.memmap(folder / "points.f32", dtype=np.float32, mode="w+", shape=shape)
        for start, rows in _numbered(chunks, middle):
            stored[place[start : start + len(rows)]] = rows
            progress("sorting points", len(rows))
        starts = _limited(np.searchsorted(nearest[order], np.arange(len(centres.centres) + 1)), largest)
        means = np.stack([stored[a:b].mean(axis=0) for a, b in pairwise(starts)])
        cells = Cells(stored, np.arange(n_points), starts, means.astype(np.float32))
        return cls(cells.guided(rng), order)

    @property
    def coordinates(self) -> Coordinates:
        """The points in the order of their cells."""
        return self.cells.coordinates

    def fit(self, asked: IntArray, neighbors: IntArray) -> int:
        """Return how many cells to look into to find enough of the true neighbours of some points."""
        distances = self.cells.from_centres(np.asarray(self.coordinates[asked]))
        ranks = np.argsort(np.argsort(distances, axis=1, kind="stable"), axis=1)
        cell = np.searchsorted(self.cells.starts, neighbors, side="right") - 1
        needed = np.sort(np.take_along_axis(ranks, cell, 1), axis=None)
        n_cells = int(needed[int(np.ceil(WANTED_RECALL * needed.size)) - 1]) + 1
        # The cells must hold all candidates, the point itself among them.
        fewest = -(-(neighbors.shape[1] + 2) // int(self.cells.sizes.min()))
        return min(max(n_cells, fewest), len(self.cells.centres))

    def between(self, points: IntArray, others: IntArray) -> Coordinates:
        """Return the distances of some points (q,) to several others each (q, m), from their differences."""
        away = self.coordinates[others] - self.coordinates[points][:, None, :]
        return np.sqrt(np.einsum("ijk,ijk->ij", away, away))

    def true_neighbors(self, asked: IntArray, k: int) -> IntArray:
        """Return the k nearest points of some, by looking at all."""
        queries = np.asarray(self.coordinates[asked])
        found, apart = np.empty((len(asked), 0), dtype=np.intp), np.empty((len(asked), 0), dtype=np.float32)
        for start in range(0, len(self.order), 20_000):
            rows = np.asarray(self.coordinates[start : start + 20_000])
            distances = np.einsum("ij,ij->i", rows, rows) - 2 * (queries @ rows.T)
            distances[asked[:, None] == np.arange(start, start + len(rows))] = np.inf
            best = smallest(distances, min(k, len(rows)))
            found = np.hstack([found, start + best])
            apart = np.hstack([apart, np.take_along_axis(distances, best, 1)])
            kept = np.argsort(apart, axis=1, kind="stable")[:, :k]
            found, apart = np.take_along_axis(found, kept, 1), np.take_along_axis(apart, kept, 1)
        return found

    def search(
        self, k: int, n_cells: int, folder: Path, progress: Progress
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        """Return the places of the k nearest points of all, and their distances, in files."""
        shape = (len(self.order), k)
        near = np.memmap(folder / "near.i64", dtype=np.int64, mode="w+", shape=shape)
        apart = np.memmap(folder / "apart.f32", dtype=np.float32, mode="w+", shape=shape)

        def nearest(rows: slice) -> tuple[slice, IntArray, Any]:
            # Two more: the point itself, and one whose expanded distance is wrong by rounding.
            found = self.cells.candidates(self.cells.coordinates[rows], n_cells, min(k + 2, len(self.order)))
            distances: Any = self.between(np.arange(rows.start, rows.stop), found)
            distances[(found < 0) | (found == np.arange(rows.start, rows.stop)[:, None])] = np.inf
            order = np.argsort(distances, axis=1, kind="stable")[:, :k]
            return rows, np.take_along_axis(found, order, 1), np.take_along_axis(distances, order, 1)

        runs = self.cells.chunks(n_cells * int(self.cells.sizes.max()))
        for rows, found, distances in each_chunk(nearest, runs):
            near[rows], apart[rows] = found, distances
            progress("searching neighbours", len(found))
        return near, apart


def _spill(near: IntArray, apart: Coordinates, folder: Path, progress: Progress) -> EdgeBuckets:
    """Write both directions of every edge into buckets, each with half of its weight."""
    n_points, k = near.shape
    # Two entries for each neighbour, fewer where two points have each other.
    n_buckets = min(-(-2 * n_points * k // BLOCK_ENTRIES), n_points)
    buckets = EdgeBuckets(folder, n_buckets, -(-n_points // n_buckets))
    scales = np.concatenate(
        [local_scales(np.asarray(apart[a : a + ROWS_AT_ONCE])) for a in range(0, n_points, ROWS_AT_ONCE)]
    )
    for start in range(0, n_points, ROWS_AT_ONCE):
        some = np.asarray(near[start : start + ROWS_AT_ONCE])
        own = np.arange(start, start + len(some))
        distances = np.asarray(apart[start : start + ROWS_AT_ONCE], dtype=np.float64)
        found = np.isfinite(distances)
        weights = edge_weights("self_tuning", distances, np.where(found, some, 0), scales[own], scales)
        rows, columns = np.broadcast_to(own[:, None], some.shape)[found], some[found]
        halves = 0.5 * weights[found]
        buckets.add(rows, columns, halves)
        buckets.add(columns, rows, halves)
        progress("weighing edges", len(some))
    return buckets


def _summed(edges: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return each edge once, with the sum of its weights; there are two at most."""
    again = np.flatnonzero(repeats(edges))
    edges["weight"][again - 1] += edges["weight"][again]
    return np.delete(edges, again)


def _numbered(chunks: RowChunks, middle: FloatArray) -> Iterator[tuple[int, Coordinates]]:
    """Yield the number of the first row of each chunk, and its rows less the middle."""
    start = 0
    for chunk in chunks:
        yield start, (_dense(chunk) - middle).astype(np.float32)
        start += chunk.shape[0]


def _dense(rows: Any) -> FloatArray:
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)


def _limited(starts: IntArray, largest: int) -> IntArray:
    """Return where cells begin, none of them empty; those with more than twice as many points are divided."""
    sizes = np.diff(starts)
    parts = [
        np.linspace(start, start + size, -(-size // (2 * largest)) + 1)[:-1].astype(np.intp)
        for start, size in zip(starts[:-1], sizes, strict=True)
        if size
    ]
    return np.append(np.concatenate(parts), starts[-1])
