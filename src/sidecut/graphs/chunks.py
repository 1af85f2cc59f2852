"""Rows that come in chunks: arrays, memory maps, Parquet folders, anything that can be read again.

Whatever the source, chunks have the same boundaries, so that sums over chunks are the same to the last bit
whether the rows lie in memory or on a disk.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from copy import copy
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import scipy.sparse as sp

from sidecut.checks import refuse_nonfinite
from sidecut.running import count_jobs, count_threads

#: Rows in a chunk. Sums over chunks depend on it in their last digits.
CHUNK_ROWS = 8_192

Chunk = Any
Result = TypeVar("Result")


class RowSource(Protocol):
    """Where rows lie: here, on a disk, on other machines. Rows are numbered in the order they have there."""

    @property
    def n_rows(self) -> int | None:
        """How many rows there are, where that is known without reading them."""

    def take(self, indices: np.ndarray) -> Chunk:
        """Return some rows, in the order asked for."""

    def sampled(self, size: int, rng: np.random.RandomState) -> tuple[Chunk, int]:
        """Return `size` rows drawn without replacement, and how many rows there are."""


class RowChunks:
    """The rows of a source, in chunks of a fixed size, as often as one likes.

    Parameters
    ----------
    source : array, memory map, sparse matrix, data frame, path, iterable or callable
        A matrix or table of numbers; a Parquet file or a folder of them; or chunks of rows (arrays, data
        frames) of any sizes: a collection that can be iterated again, or a function without arguments that
        returns a fresh iterator.
    chunk_rows : int, default=8192
        Rows in a chunk; the last may have fewer.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import RowChunks
    >>> pieces = [np.zeros((3, 2)), np.ones((4, 2))]
    >>> [chunk.shape for chunk in RowChunks(pieces, chunk_rows=5)]
    [(5, 2), (2, 2)]
    """

    def __init__(self, source: Any, chunk_rows: int = CHUNK_ROWS) -> None:
        # Iterated, a data frame would give the names of its columns.
        self.source = source.to_numpy() if hasattr(source, "to_numpy") else source
        self.chunk_rows = chunk_rows
        self._opened = _opener(self.source, chunk_rows)
        self._shown: Callable[[Iterator[Chunk]], Iterable[Chunk]] | None = None

    @property
    def n_rows(self) -> int | None:
        """How many rows there are, where that is known without reading them."""
        return int(self.source.shape[0]) if _is_matrix(self.source) else None

    @property
    def n_chunks(self) -> int | None:
        """How many chunks there are, where that is known without reading them."""
        return None if self.n_rows is None else -(-self.n_rows // self.chunk_rows)

    def shown(self, progress: Callable[..., Iterable[Chunk]], what: str) -> RowChunks:
        """Return the same rows, which show how far they have been read, as tqdm does."""
        other = copy(self)
        other._shown = partial(progress, desc=what, total=self.n_chunks)
        return other

    def __iter__(self) -> Iterator[Chunk]:
        return iter(self._read() if self._shown is None else self._shown(self._read()))

    def _read(self) -> Iterator[Chunk]:
        pieces, n_seen = self._opened(), 0
        for chunk in pieces if _is_matrix(self.source) else _rechunk(pieces, self.chunk_rows):
            refuse_nonfinite(chunk, n_seen)
            n_seen += chunk.shape[0]
            yield chunk

    def take(self, indices: np.ndarray) -> Chunk:
        """Return some rows, in the order asked for."""
        if _is_matrix(self.source):
            return as_rows(self.source[indices])
        order = np.argsort(indices, kind="stable")
        parts, start = [], 0
        for chunk in self:
            inside = order[slice(*np.searchsorted(indices[order], [start, start + chunk.shape[0]]))]
            if inside.size:
                parts.append(chunk[indices[inside] - start])
            start += chunk.shape[0]
        if indices.size and not 0 <= indices.min() <= indices.max() < start:
            raise IndexError(f"row {indices.max()} was asked for, but the source has {start} rows.")
        return stack_chunks(parts)[np.argsort(order, kind="stable")]

    def sampled(self, size: int, rng: np.random.RandomState) -> tuple[Chunk, int]:
        """Return `size` rows drawn without replacement in one pass, and how many rows there are.

        Every row gets a random number, and those with the smallest are kept; so the number of rows need not
        be known beforehand, and the draw does not depend on the form of the source.
        """
        numbers, kept, n_rows = np.empty(0), [], 0
        for chunk in self:
            n_rows += chunk.shape[0]
            numbers = np.concatenate([numbers, rng.random_sample(chunk.shape[0])])
            threshold = np.inf if numbers.size <= size else np.partition(numbers, size - 1)[size - 1]
            fresh = numbers[-chunk.shape[0] :] <= threshold
            kept.append(chunk[np.flatnonzero(fresh)])
            numbers = np.concatenate([numbers[: -chunk.shape[0]], numbers[-chunk.shape[0] :][fresh]])
            if numbers.size > 2 * size:
                numbers, kept = _thin(numbers, kept, size)
        if n_rows == 0:
            raise ValueError("the source has no rows.")
        numbers, kept = _thin(numbers, kept, size)
        return kept[0], n_rows


def each_chunk(
    function: Callable[[Chunk], Result], chunks: Iterable[Chunk], n_jobs: int | None = None
) -> Iterator[Result]:
    """Apply a function to chunks on several threads, results in the order of the chunks.

    BLAS and OpenMP should be held to one thread meanwhile. Only a few chunks are alive at any time.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import RowChunks, each_chunk
    >>> [float(total) for total in each_chunk(np.sum, RowChunks(np.ones((5, 2)), chunk_rows=2))]
    [4.0, 4.0, 2.0]
    """
    chunks = iter(chunks)
    first = list(islice(chunks, 2))
    n_workers = count_threads() if n_jobs is None else count_jobs(n_jobs)
    if n_workers == 1 or len(first) == 1:
        yield from map(function, chain(first, chunks))
        return
    # joblib polls for results every hundredth of a second, which is as long as a chunk takes.
    with ThreadPoolExecutor(n_workers) as pool:
        under_way: deque[Future[Result]] = deque()
        for chunk in chain(first, chunks):
            under_way.append(pool.submit(function, chunk))
            if len(under_way) > 2 * n_workers:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()


def stack_chunks(parts: list[Chunk]) -> Chunk:
    """Put chunks on top of each other, dense or sparse."""
    if len(parts) == 1:
        return parts[0]
    return sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)


def _is_matrix(source: Any) -> bool:
    return isinstance(source, np.ndarray) or sp.issparse(source)


def _thin(numbers: np.ndarray, kept: list[Chunk], size: int) -> tuple[np.ndarray, list[Chunk]]:
    everything = stack_chunks(kept)
    if numbers.size <= size:
        return numbers, [everything]
    smallest = np.sort(np.argpartition(numbers, size - 1)[:size])
    return numbers[smallest], [everything[smallest]]


def _opener(source: Any, chunk_rows: int) -> Callable[[], Iterator[Chunk]]:
    if _is_matrix(source):
        return lambda: (
            as_rows(source[start : start + chunk_rows]) for start in range(0, source.shape[0], chunk_rows)
        )
    if isinstance(source, str | Path):
        return lambda: _parquet_chunks(Path(source), chunk_rows)
    if callable(source):
        return lambda: iter(source())
    if isinstance(source, Iterator):
        raise TypeError(
            f"the source is a {type(source).__name__}, which can be read only once, but rows are read twice: "
            "give a list, or a function that returns a fresh iterator."
        )
    if isinstance(source, Iterable):
        return lambda: iter(source)
    raise TypeError(
        f"the source is a {type(source).__name__}; give an array, a memory map, a folder of Parquet files, a "
        "collection of chunks, or a function that returns an iterator of chunks."
    )


def _parquet_chunks(path: Path, chunk_rows: int) -> Iterator[np.ndarray]:
    try:
        from pyarrow import dataset, types  # type: ignore[import-untyped]
    except ImportError as error:
        raise ImportError("reading Parquet needs pyarrow: pip install pyarrow") from error
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {str(path)!r} to read rows from.")
    table = dataset.dataset(path, format="parquet")
    are_numbers = (types.is_integer, types.is_floating, types.is_boolean)
    others = [field for field in table.schema if not any(holds(field.type) for holds in are_numbers)]
    if others:
        named = ", ".join(f"{field.name!r} ({field.type})" for field in others)
        raise ValueError(
            f"{str(path)!r} has columns that are not numbers: {named}. Convert them, or leave them out."
        )
    for batch in table.to_batches(batch_size=chunk_rows):
        if batch.num_rows:
            yield np.column_stack([column.to_numpy(zero_copy_only=False) for column in batch.columns])


def _rechunk(pieces: Iterable[Any], chunk_rows: int) -> Iterator[Chunk]:
    """Cut chunks of one size out of pieces of any."""
    waiting: list[Chunk] = []
    n_waiting = n_seen = 0
    n_features = names = None
    for piece in pieces:
        rows, start = as_rows(piece), 0
        # The same columns in another order would be read as those before them.
        names, before = [*getattr(piece, "columns", ())] or None, names
        if names is not None and before is not None and names != before:
            raise ValueError(
                f"the chunk from row {n_seen} on has the columns {names}, that before it {before}; all "
                "chunks must have the same columns in the same order."
            )
        if n_features is not None and rows.shape[1] != n_features:
            raise ValueError(
                f"the chunk from row {n_seen} on has {rows.shape[1]} features, those before it have "
                f"{n_features}; all chunks must have the same columns."
            )
        n_features, n_seen = rows.shape[1], n_seen + rows.shape[0]
        while start < rows.shape[0]:
            part = rows[start : start + chunk_rows - n_waiting]
            waiting.append(part)
            n_waiting += part.shape[0]
            start += part.shape[0]
            if n_waiting == chunk_rows:
                yield stack_chunks(waiting)
                waiting, n_waiting = [], 0
    if waiting:
        yield stack_chunks(waiting)


def as_rows(piece: Any) -> Chunk:
    """Return a piece as a matrix of real numbers, or say what it is instead."""
    rows = sp.csr_array(piece) if sp.issparse(piece) else np.asarray(piece)
    if rows.ndim != 2:
        raise ValueError(f"a chunk has shape {rows.shape}; give matrices with one row per point.")
    if rows.dtype.kind not in "fiub":
        raise ValueError(f"a chunk has dtype {rows.dtype}; rows must be real numbers.")
    return rows
