"""Rows of dask arrays and data frames, partition by partition, with the numbers they have in the whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from operator import add
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import numpy.typing as npt
import pandas as pd
from dask.base import tokenize
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph
from distributed import Client, Future, as_completed, futures_of, get_client

from sidecut.arrays import IntArray
from sidecut.graphs import RowChunks
from sidecut.graphs.chunks import as_rows, refuse_nonfinite, stack_chunks
from sidecut.graphs.coded_rows import Progress

#: So many row numbers are in memory at a time where a few of all are drawn.
NUMBERED_AT_ONCE = 262_144

#: So many partial sums are added in one task: p x p matrices of 500 landmarks then take 32 MB in a worker.
FAN_IN = 16


@dataclass(frozen=True)
class Partitions:
    """The partitions of a dask collection, as tasks.

    Attributes
    ----------
    blocks : list of Delayed
        Each an array, sparse matrix or data frame of some rows and all columns.
    sizes : tuple
        Rows of each; NaN where nobody knows yet.
    n_features : int
        Number of columns.
    names : array of str, optional
        Names of the columns of a data frame.
    """

    blocks: list[Delayed]
    sizes: tuple[float, ...]
    n_features: int
    names: npt.NDArray[np.object_] | None = None

    @property
    def has_known_sizes(self) -> bool:
        """Whether the number of rows of every partition is known."""
        return not any(np.isnan(size) for size in self.sizes)


def partitions(X: Any) -> Partitions:
    """Return the partitions of a dask array or data frame; nothing is computed.

    Raises
    ------
    TypeError
        If X is something else.
    ValueError
        If it is not a matrix of numbers.

    Examples
    --------
    >>> import dask.array as da
    >>> from sidecut.distributed.partitions import partitions
    >>> partitions(da.ones((10, 4), chunks=(4, 2))).sizes
    (4, 4, 2)
    """
    if isinstance(X, dd.DataFrame):
        return _of_frame(X)
    if not isinstance(X, da.Array):
        raise TypeError(
            f"X is a {type(X).__name__}; sidecut.distributed takes dask arrays and dask data frames. For "
            "rows in memory or on a disk use the estimator's own fit or fit_chunks."
        )
    if X.ndim != 2:
        raise ValueError(f"X has shape {X.shape}; give a matrix with one row per point.")
    if X.dtype.kind not in "fiub":
        raise ValueError(f"X has dtype {X.dtype}; rows must be real numbers.")
    X = X.rechunk({1: -1})
    return Partitions(list(X.to_delayed().ravel()), X.chunks[0], int(X.shape[1]))


def _of_frame(frame: dd.DataFrame) -> Partitions:
    for name, dtype in frame.dtypes.items():
        if not pd.api.types.is_numeric_dtype(dtype):
            raise ValueError(
                f"column {name!r} has dtype {dtype}, which is no number; choose the features: X[['a', 'b']]."
            )
    names = np.asarray(frame.columns, dtype=object)
    are_text = all(isinstance(name, str) for name in names)
    unknown = (float("nan"),) * frame.npartitions
    return Partitions(frame.to_delayed(), unknown, len(names), names if are_text else None)


def numbers(block: Any, partition: int, start: int | None) -> Any:
    """Return a block as finite numbers, one row per point.

    Parameters
    ----------
    block : array, sparse matrix or data frame
        Rows of one partition.
    partition : int
        Which partition, for messages.
    start : int or None
        The number of its first row in the whole, if it is known.
    """
    if isinstance(block, pd.DataFrame):
        block = block.to_numpy(dtype=np.float64, na_value=np.nan)
    rows = as_rows(block)
    try:
        refuse_nonfinite(rows, start or 0)
    except ValueError as error:
        if start is not None:
            raise
        raise ValueError(f"in partition {partition}, rows counted from its first: {error}") from error
    return rows


class PartitionedRows:
    """Rows on a cluster, numbered through: a `RowSource` for landmarks.

    Parameters
    ----------
    X : dask array or data frame
        The rows.
    cluster : Cluster
        Where they are read. Sizes nobody knows are counted there, which reads the rows, or one column of a
        data frame.
    """

    def __init__(self, X: Any, cluster: Cluster) -> None:
        self.cluster = cluster
        self.partitions = partitions(X)
        self.sizes = self._counted(X)
        self.n_features = self.partitions.n_features
        if self.n_rows == 0 or self.n_features == 0:
            raise ValueError(f"X has shape {(self.n_rows, self.n_features)}: there is nothing to cluster.")

    def _counted(self, X: Any) -> IntArray:
        if self.partitions.has_known_sizes:
            return np.asarray(self.partitions.sizes, dtype=np.intp)
        # Of a frame one column is enough; Parquet files then read no other.
        blocks = X[[X.columns[0]]].to_delayed() if isinstance(X, dd.DataFrame) else self.partitions.blocks
        return np.asarray(
            self.cluster.fetch([dask.delayed(height)(block) for block in blocks]), dtype=np.intp
        )

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.sizes.sum())

    @cached_property
    def starts(self) -> IntArray:
        """The number of the first row of every partition."""
        return np.cumsum(self.sizes) - self.sizes

    @cached_property
    def blocks(self) -> list[Delayed]:
        """The partitions as finite numbers."""
        checked = dask.delayed(numbers)
        places = enumerate(zip(self.partitions.blocks, self.starts.tolist(), strict=True))
        return [checked(block, place, start) for place, (block, start) in places]

    def located(self, indices: IntArray) -> dict[int, IntArray]:
        """Return where ascending row numbers lie: partition, and numbers within it."""
        edges = np.searchsorted(indices, np.append(self.starts, self.n_rows))
        return {
            place: indices[first:last] - self.starts[place]
            for place, (first, last) in enumerate(pairwise(edges.tolist()))
            if last > first
        }

    def take(self, indices: IntArray) -> Any:
        """Return some rows, in the order asked for; only they travel."""
        order = np.argsort(indices, kind="stable")
        wanted = self.located(indices[order])
        parts = self.cluster.fetch(
            [dask.delayed(rows_of)(self.blocks[place], here) for place, here in wanted.items()]
        )
        return stack_chunks(parts)[np.argsort(order, kind="stable")]

    def sampled(self, size: int, rng: np.random.RandomState) -> tuple[Any, int]:
        """Return `size` rows, the same as would be drawn from the same rows in memory."""
        # Their numbers are drawn first, in place of the rows, which lie elsewhere.
        numbers, n_rows = RowChunks(self._row_numbers, NUMBERED_AT_ONCE).sampled(size, rng)
        return self.take(numbers.ravel()), n_rows

    def _row_numbers(self) -> Iterator[IntArray]:
        for start in range(0, self.n_rows, NUMBERED_AT_ONCE):
            yield np.arange(start, min(start + NUMBERED_AT_ONCE, self.n_rows))[:, None]


def height(block: Any) -> int:
    """Return the number of rows of a block; sparse ones have no length."""
    return int(block.shape[0])


def rows_of(block: Any, indices: IntArray) -> Any:
    """Return some rows of a block."""
    return block[indices]


def as_dask_array(
    parts: Sequence[Delayed], sizes: Sequence[float], dtype: Any, n_columns: int | None = None
) -> da.Array:
    """Return one dask array, a block per task, empty ones included.

    Parameters
    ----------
    parts : list of Delayed
        Arrays of shape (size,) or (size, n_columns).
    sizes : sequence
        Rows of each; NaN where unknown.
    dtype : dtype
        Of all.
    n_columns : int, optional
        Number of columns of a matrix.

    Examples
    --------
    >>> import dask, numpy as np
    >>> from sidecut.distributed.partitions import as_dask_array
    >>> parts = [dask.delayed(np.arange)(size) for size in (2, 0, 3)]
    >>> as_dask_array(parts, (2, 0, 3), int).chunks
    ((2, 0, 3),)
    """
    # da.concatenate would drop empty blocks, and labels would no longer match the partitions of X.
    name = f"rows-{tokenize([part.key for part in parts])}"
    extra = () if n_columns is None else (0,)
    layer: dict[Any, Any] = {(name, i, *extra): (identity, part.key) for i, part in enumerate(parts)}
    dependencies: list[Any] = list(parts)
    graph = HighLevelGraph.from_collections(name, layer, dependencies)
    columns = () if n_columns is None else ((n_columns,),)
    return da.Array(graph, name, (tuple(sizes), *columns), dtype=dtype)


def identity(value: Any) -> Any:
    """Return the value itself, under another key."""
    return value


# The cluster that does the work: what is asked of it, and how far it has come.


@dataclass(frozen=True)
class Cluster:
    """Runs tasks where the rows are.

    Every task is kept as a recipe that leads back to the source of the rows, never as bare data. So what a
    lost worker held is made again by the others, and since the sums are made partition by partition in a
    fixed order, it is the same to the last bit.

    Attributes
    ----------
    client : Client
        The connection to the scheduler.
    progress : callable, optional
        Wraps an iterable to show how far it has come, as tqdm does.
    """

    client: Client
    progress: Progress | None = None

    def keep(self, tasks: Sequence[Delayed], what: str) -> list[Delayed]:
        """Let the workers compute tasks and hold the results, as long as they are referred to here."""
        with quiet_about_size():
            kept = list(self.client.persist(list(tasks)))
        finished: Iterable[Future] = as_completed(futures_of(kept), loop=self.client.loop)
        if self.progress is not None:
            finished = self.progress(finished, desc=what, total=len(kept))
        for future in finished:
            # Raises here what was raised there. What was lost with a worker is on its way again.
            if future.status in ("error", "cancelled"):
                future.result()
        return kept

    def fetch(self, tasks: Sequence[Delayed]) -> list[Any]:
        """Return the results of tasks."""
        with quiet_about_size():
            return list(self.client.gather(self.client.compute(list(tasks))))

    def total(self, parts: Sequence[Delayed]) -> Any:
        """Return the sum of the results of tasks, added up where they are, in a tree of fixed form."""
        return self.fetch([tree_sum(parts)])[0]


def tree_sum(parts: Sequence[Delayed]) -> Delayed:
    """Return the task that adds up parts, so many neighbours at a time.

    Examples
    --------
    >>> import dask
    >>> from sidecut.distributed.partitions import tree_sum
    >>> tree_sum([dask.delayed(number) for number in range(100)]).compute(scheduler="sync")
    4950
    """
    parts = list(parts)
    while len(parts) > 1:
        parts = [add_parts(parts[start : start + FAN_IN]) for start in range(0, len(parts), FAN_IN)]
    return parts[0]


@dask.delayed
def add_parts(parts: Iterable[Any]) -> Any:
    """Return the sum of a few parts, in their order."""
    return reduce(add, parts)


def share(value: Any) -> Delayed:
    """Return a value as a task of its own, which every worker fetches once and from its neighbours.

    A value scattered by the client would be gone with the last worker that holds it; a task is made again.
    """
    return dask.delayed(value, pure=False, traverse=False)


def current_client(client: Client | None) -> Client:
    """Return the client, or the one in use.

    Raises
    ------
    ValueError
        If there is none.
    """
    if client is not None:
        return client
    try:
        return get_client()
    except ValueError as error:
        raise ValueError(
            "no dask cluster is in use: start one with distributed.Client() on this machine, connect to one "
            "with distributed.Client('tcp://...'), or give client=. Without a cluster, fit_chunks reads rows "
            "a few at a time."
        ) from error


def quiet_about_size() -> Any:
    """Let landmarks of some ten megabytes travel with the tasks without a warning."""
    return dask.config.set({"distributed.admin.large-graph-warning-threshold": "200MB"})
