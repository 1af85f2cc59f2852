"""Rows, codes, labels and keys of dask arrays and data frames, partition by partition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from operator import add, getitem
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp
from dask.base import tokenize
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph
from dask.sizeof import sizeof
from distributed import Client, Future, as_completed, futures_of, get_client

from sidecut.checks import FloatArray, IntArray, refuse_nonfinite
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintError
from sidecut.graphs import (
    LandmarkCoder,
    LandmarkSums,
    NearestLandmarks,
    RowChunks,
    code_points,
    landmark_sums,
)
from sidecut.graphs.chunks import as_rows, stack_chunks
from sidecut.graphs.landmark_codes import ProgressBar, check_sigma, mean_distance
from sidecut.labelling import keep_given_classes, nearest_centers
from sidecut.labelling.labels import CenterSums, center_sums, reduced_kmeans
from sidecut.methods.scacs.base import LandmarkModel, embed_codes

#: How many partial sums are added in one task: p x p matrices of 500 landmarks then take 32 MB in a worker.
FAN_IN = 16

Pairs = Iterable[tuple[Any, Any]]


@dataclass(frozen=True)
class Partitions:
    """The partitions of a dask collection, as tasks."""

    blocks: list[Delayed]
    sizes: tuple[float, ...]
    n_features: int
    names: npt.NDArray[np.object_] | None = None

    @property
    def has_known_sizes(self) -> bool:
        """Whether the number of rows of every partition is known."""
        return not any(np.isnan(size) for size in self.sizes)


def partitions(X: Any) -> Partitions:
    """Return the partitions of a dask array or data frame; nothing is computed."""
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
                f"column {name!r} has dtype {dtype}, not numbers; choose the features: X[['a', 'b']]."
            )
    names = np.asarray(frame.columns, dtype=object)
    are_text = all(isinstance(name, str) for name in names)
    unknown = (float("nan"),) * frame.npartitions
    return Partitions(frame.to_delayed(), unknown, len(names), names if are_text else None)


def numbers(block: Any, partition: int, start: int | None) -> Any:
    """Return a block as finite numbers, one row per point."""
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
    """Rows on a cluster, numbered through all partitions: a `RowSource` for landmarks."""

    def __init__(self, X: Any, workers: Workers) -> None:
        self.workers = workers
        self.partitions = partitions(X)
        self.sizes = self._counted(X)
        self.n_features = self.partitions.n_features
        if self.n_rows == 0 or self.n_features == 0:
            raise ValueError(f"X has shape {(self.n_rows, self.n_features)}: there is nothing to cluster.")

    def _counted(self, X: Any) -> IntArray:
        if self.partitions.has_known_sizes:
            return np.asarray(self.partitions.sizes, dtype=np.intp)
        # Of a frame one column is enough; of Parquet files only that is read.
        blocks = X[[X.columns[0]]].to_delayed() if isinstance(X, dd.DataFrame) else self.partitions.blocks
        return np.asarray(self.workers.fetch([block.shape[0] for block in blocks]), dtype=np.intp)

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
        """Return some rows, in the order of `indices`; only they are transferred."""
        order = np.argsort(indices, kind="stable")
        wanted = self.located(indices[order])
        pick = dask.delayed(getitem)
        parts = self.workers.fetch([pick(self.blocks[place], here) for place, here in wanted.items()])
        return stack_chunks(parts)[np.argsort(order, kind="stable")]

    def sampled(self, size: int, rng: np.random.RandomState) -> tuple[Any, int]:
        """Return `size` rows, the same as would be drawn from the same rows in memory."""
        # The numbers of the rows are drawn first, 262,144 of them in memory at a time.
        n_rows, step = self.n_rows, 262_144

        def row_numbers() -> Iterator[IntArray]:
            for start in range(0, n_rows, step):
                yield np.arange(start, min(start + step, n_rows))[:, None]

        return self.take(RowChunks(row_numbers, step).sampled(size, rng)[0].ravel()), n_rows


def as_dask_array(
    parts: Sequence[Delayed], sizes: Sequence[float], dtype: Any, n_columns: int | None = None
) -> da.Array:
    """Return one dask array, a block per task, empty ones included."""
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


@dataclass(frozen=True)
class Workers:
    """The workers of a Dask cluster, which run tasks where the rows are."""

    # Every task refers back to the source of the rows and holds no data. So results of a lost worker are
    # computed again by the others, and since sums are made partition by partition in a fixed order, they are
    # the same to the last bit.

    client: Client
    progress: ProgressBar | None = None

    def keep(self, tasks: Sequence[Delayed], what: str) -> list[Delayed]:
        """Let the workers compute tasks and hold the results while there are references to them."""
        with quiet_about_size():
            kept = list(self.client.persist(list(tasks)))
        finished: Iterable[Future] = as_completed(futures_of(kept), loop=self.client.loop)
        if self.progress is not None:
            finished = self.progress(finished, desc=what, total=len(kept))
        for future in finished:
            # Raises the worker's error. Results lost with a worker are being computed again.
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
    """Return the task that adds up parts, `FAN_IN` neighbours at a time."""
    parts = list(parts)
    while len(parts) > 1:
        parts = [add_parts(parts[start : start + FAN_IN]) for start in range(0, len(parts), FAN_IN)]
    return parts[0]


@dask.delayed
def add_parts(parts: Iterable[Any]) -> Any:
    """Return the sum of a few parts, in their order."""
    return reduce(add, parts)


def share(value: Any) -> Delayed:
    """Return a value as a task of its own, which every worker fetches once and from its neighbours."""
    # A value scattered by the client is lost with the last worker that holds it; a task is run again.
    return dask.delayed(value, pure=False, traverse=False)


def current_client(client: Client | None) -> Client:
    """Return the client, or the current one."""
    if client is not None:
        return client
    try:
        return get_client()
    except ValueError as error:
        raise ValueError(
            "there is no dask client: start one with distributed.Client() on this machine, connect to one "
            "with distributed.Client('tcp://...'), or give client=. Without a cluster, fit_chunks reads rows "
            "a few at a time."
        ) from error


def quiet_about_size() -> Any:
    """Let landmarks of some ten megabytes travel with the tasks without a warning."""
    return dask.config.set({"distributed.admin.large-graph-warning-threshold": "200MB"})


class PartitionedCodes:
    """The nearest landmarks of all rows, held by the workers, and sums over their codes."""

    # As `CodedRows`, it has `coder`, `sigma`, `sums`, `n_rows` and `take`, so that the p x p problem is posed
    # and solved by the same code.

    def __init__(self, rows: PartitionedRows, coder: LandmarkCoder, sigma: float | str = "mean") -> None:
        sigma = check_sigma(sigma)
        self.rows, self.n_rows = rows, rows.n_rows
        self._n_all, self.kept = coder.n_landmarks, np.arange(coder.n_landmarks)
        workers, nearest = rows.workers, dask.delayed(nearest_landmarks)
        everywhere = share(coder)
        self._nearest = workers.keep([nearest(everywhere, block) for block in rows.blocks], "coding")
        if isinstance(sigma, str):
            sigma = mean_distance(workers.fetch([dask.delayed(mean_of)(near) for near in self._nearest]))
        self.sigma = sigma
        sums: LandmarkSums = workers.total(self._each(landmark_sums))
        self.kept = np.flatnonzero(sums.degrees > 0)
        self.sums = sums.restricted(self.kept)
        self.coder = coder if self.kept.size == coder.n_landmarks else coder.restricted(self.kept)

    def _each(self, function: Any, *arguments: Any) -> list[Delayed]:
        """Return tasks that apply a function to the codes of every partition."""
        task = dask.delayed(apply_rows)
        return [task(function, n, self.sigma, self._n_all, self.kept, *arguments) for n in self._nearest]

    def take(self, points: IntArray) -> sp.csr_array:
        """Return the codes of some rows, given in ascending order; only they are transferred."""
        wanted = self.rows.located(points)
        pick, task = dask.delayed(nearest_of), dask.delayed(apply_rows)
        parts = self.rows.workers.fetch(
            [
                task(identity, pick(self._nearest[place], here), self.sigma, self._n_all, self.kept)
                for place, here in wanted.items()
            ]
        )
        return stack_chunks([sp.csr_array((0, self.kept.size)), *parts])

    def embedded(self, projection: FloatArray, unit_rows: bool) -> list[Delayed]:
        """Return the embedding of every partition, held by the workers."""
        tasks = self._each(embed_codes, share(projection), unit_rows)
        return self.rows.workers.keep(tasks, "embedding")


def nearest_landmarks(coder: LandmarkCoder, rows: Any) -> NearestLandmarks:
    """Return the nearest landmarks of a partition, which may be empty."""
    if rows.shape[0]:
        return coder.nearest(rows)
    shape = (0, coder.n_nearest)
    return NearestLandmarks(np.empty(shape, dtype=np.int32), np.empty(shape), mean=0.0)


def nearest_of(nearest: NearestLandmarks, indices: IntArray) -> NearestLandmarks:
    """Return the nearest landmarks of some rows of a partition."""
    return NearestLandmarks(nearest.indices[indices], nearest.distances[indices], mean=np.nan)


def mean_of(nearest: NearestLandmarks) -> tuple[float, int]:
    """Return the mean distance between the rows and all landmarks, and the number of rows."""
    return nearest.mean, nearest.n_rows


def apply_rows(
    function: Any, nearest: NearestLandmarks, sigma: float, n_landmarks: int, kept: IntArray, *arguments: Any
) -> Any:
    """Return a function of the codes of a partition, over the landmarks that are kept."""
    codes = code_points(nearest, sigma, n_landmarks)
    if kept.size < n_landmarks:
        codes = sp.csr_array(codes[:, kept])
    return function(codes, *arguments)


# Dask moves and spills results by their size; of these it would count a few bytes each.


@sizeof.register((NearestLandmarks, LandmarkSums, LandmarkModel, CenterSums))
def _bytes_of_fields(value: Any) -> int:
    return sum(sizeof(field) for field in vars(value).values())


@sizeof.register(LandmarkCoder)
def _bytes_of_coder(coder: LandmarkCoder) -> int:
    # The landmarks, and the same again in the coordinates distances are measured in.
    return 16 * coder.n_landmarks * coder.n_features


def partitioned_kmeans(
    parts: Sequence[Delayed], rows: PartitionedRows, n_clusters: int, *, n_init: int, random_state: int
) -> FloatArray:
    """Return the centres k-means finds for an embedding held by the workers."""
    # It is the k-means of rows in memory: the same sample is clustered on the client, with the same starts,
    # and Lloyd's steps move its centres by sums over all rows, which are made by the workers.
    pick, add_up = dask.delayed(getitem), dask.delayed(center_sums)

    def rows_at(chosen: IntArray) -> FloatArray:
        wanted = rows.located(chosen)
        picked = rows.workers.fetch([pick(parts[place], here) for place, here in wanted.items()])
        return np.concatenate(picked)

    def total(centers: FloatArray) -> CenterSums:
        everywhere = share(centers)
        return rows.workers.total([add_up(part, everywhere) for part in parts])

    return reduced_kmeans(rows_at, total, rows.n_rows, n_clusters, n_init=n_init, random_state=random_state)


def named_labels(
    parts: Sequence[Delayed], rows: PartitionedRows, centers: FloatArray
) -> tuple[list[Delayed], FloatArray, int]:
    """Return the nearest centre of every row, numbered in order of first appearance."""
    find, appear, number = (dask.delayed(f) for f in (nearest_centers, pd.unique, getitem))
    everywhere = share(centers)
    found = rows.workers.keep([find(part, everywhere) for part in parts], "labels")
    # The order of first appearance over all rows, from that within each partition.
    appearing = pd.unique(np.concatenate(rows.workers.fetch([appear(part) for part in found])))
    order = np.concatenate([appearing, np.setdiff1d(np.arange(len(centers)), appearing)])
    rank = np.argsort(order)
    labels = rows.workers.keep([number(rank, part) for part in found], "names")
    return labels, centers[order], len(appearing)


def labels_that_stand(
    labels: list[Delayed], rows: PartitionedRows, constraints: Constraints, n_clusters: int
) -> list[Delayed]:
    """Return labels in which every point with a given class is in a cluster of its class."""
    given = constraints.labels
    points = np.empty(0, dtype=np.intp) if given is None else np.flatnonzero(given >= 0)
    if given is None or not points.size:
        return labels
    ends = np.cumsum(rows.sizes)
    part, pick, put = (
        np.searchsorted(ends, points, side="right"),
        dask.delayed(getitem),
        dask.delayed(replaced),
    )
    own = points - (ends - rows.sizes)[part]
    asked = np.unique(part)
    found = rows.workers.fetch([pick(labels[one], own[part == one]) for one in asked])
    kept, moved = keep_given_classes(
        np.concatenate(found), Constraints.from_labels(given[points]), n_clusters
    )
    changed = [
        put(piece, own[moved[part[moved] == one]], kept[moved[part[moved] == one]])
        for one, piece in enumerate(labels)
    ]
    return rows.workers.keep(changed, "standing") if moved.size else labels


def replaced(labels: IntArray, rows: IntArray, values: IntArray) -> IntArray:
    """Return labels with other values in some rows."""
    result = labels.copy()
    result[rows] = values
    return result


def constraints_by_key(
    keys: Any,
    *,
    must_link: Pairs = (),
    cannot_link: Pairs = (),
    labels: Mapping[Any, Any] | pd.Series | None = None,
    must_weight: Any = 1.0,
    cannot_weight: Any = 1.0,
    on_conflict: str = "raise",
) -> Constraints:
    """Make constraints from pairs and labels of keys.

    Partitions are searched where they are; only the constrained rows are transferred.

    Parameters
    ----------
    keys : dask Series or dask array of shape (n_samples,)
        The key of every row, such as ``frame["id"]``, in the order of the rows to be clustered.
    must_link, cannot_link : iterable of pairs of keys
        Pairs that belong together, and pairs that do not.
    labels : mapping or Series from keys to classes, optional
        Known classes; -1, None and NaN are unknown.
    must_weight, cannot_weight : float or sequence
        Strengths of the pairs, see `Constraints.from_pairs`.
    on_conflict : {"raise", "drop", "weigh"}, default="raise"
        What to do with contradictions, see `Constraints.from_pairs`.

    Returns
    -------
    Constraints
        Every pair and label; rows are numbered through all partitions.

    Raises
    ------
    ConstraintError
        If a key is missing, or occurs more than once.

    Examples
    --------
    >>> import dask.dataframe as dd, pandas as pd
    >>> from sidecut.distributed import constraints_by_key
    >>> frame = dd.from_pandas(pd.DataFrame({"id": ["d", "a", "c", "b"], "x": range(4)}), npartitions=2)
    >>> known = constraints_by_key(frame["id"], must_link=[("a", "b")], cannot_link=[("a", "d")])
    >>> known.pairs.tolist(), known.strengths.tolist()
    ([[0, 1], [1, 3]], [-1.0, 1.0])
    >>> constraints_by_key(frame["id"], must_link=[("a", "z")])
    Traceback (most recent call last):
    ...
    sidecut.exceptions.ConstraintError: no row has the key 'z' (1 of 2 keys); keys are of dtype string.
    """
    must, cannot = _pairs(must_link, "must_link"), _pairs(cannot_link, "cannot_link")
    classes = {} if labels is None else dict(labels.items())
    wanted = list(dict.fromkeys([key for pair in (*must, *cannot) for key in pair] + list(classes)))
    places, n_rows = _places(keys, wanted)
    known = Constraints.from_pairs(
        n_rows,
        must_link=[(places[i], places[j]) for i, j in must],
        cannot_link=[(places[i], places[j]) for i, j in cannot],
        must_weight=must_weight,
        cannot_weight=cannot_weight,
        on_conflict=on_conflict,
    )
    if not classes:
        return known
    y = np.full(n_rows, None, dtype=object)
    for key, name in classes.items():
        y[places[key]] = name
    labelled = Constraints.from_labels(y)
    return labelled if known.is_empty else known.merged_with(labelled, on_conflict)


def constraints_by_label(labels: Any) -> Constraints:
    """Make constraints from a column with the classes of some rows.

    Parameters
    ----------
    labels : dask Series or dask array of shape (n_samples,)
        Classes of any kind; -1, None or NaN where unknown. Only known ones are transferred.

    Returns
    -------
    Constraints
        Rows are numbered through all partitions.

    Examples
    --------
    >>> import dask.array as da
    >>> from sidecut.distributed import constraints_by_label
    >>> constraints_by_label(da.from_array([7, -1, -1, 7, 2], chunks=2)).pairs.tolist()
    [[0, 3], [0, 4], [3, 4]]
    """
    rows, classes, n_rows = _find_rows(labels, "labels", None)
    # Objects keep classes of any kind as they are.
    y = np.full(n_rows, None, dtype=object)
    y[rows] = classes
    return Constraints.from_labels(y)


def rows_with_values(block: Any, wanted: list[Any] | None) -> tuple[int, IntArray, npt.NDArray[np.object_]]:
    """Return the size of a partition, its rows with a wanted value (None: any class), and these values."""
    series = block if isinstance(block, pd.Series) else pd.Series(np.asarray(block))
    is_wanted = series.notna() & ~series.isin([-1]) if wanted is None else series.isin(wanted)
    rows = np.flatnonzero(is_wanted.to_numpy())
    return len(series), rows, series.iloc[rows].to_numpy(dtype=object)


def _find_rows(
    column: Any, name: str, wanted: list[Any] | None
) -> tuple[IntArray, npt.NDArray[np.object_], int]:
    """Return the rows with a wanted value, numbered through, these values, and how many rows there are."""
    find = dask.delayed(rows_with_values)
    found = dask.compute(*[find(block, wanted) for block in _blocks(column, name)])
    sizes, rows, values = zip(*found, strict=True)
    starts = np.cumsum(sizes) - sizes
    numbered = [start + here for start, here in zip(starts, rows, strict=True)]
    return np.concatenate(numbered), np.concatenate(values), sum(sizes)


def _places(keys: Any, wanted: list[Any]) -> tuple[dict[Any, int], int]:
    """Return the row of every wanted key, and how many rows there are."""
    rows, names, n_rows = _find_rows(keys, "keys", wanted)
    places: dict[Any, int] = {}
    for row, name in zip(rows.tolist(), names.tolist(), strict=True):
        if name in places:
            raise ConstraintError(
                f"rows {places[name]} and {row} both have the key {name!r}; keys of constrained rows "
                "must differ. Number the rows and use Constraints.from_pairs, or choose another key."
            )
        places[name] = row
    missing = [key for key in wanted if key not in places]
    if missing:
        named = ", ".join(map(repr, missing[:5])) + (", ..." if len(missing) > 5 else "")
        raise ConstraintError(
            f"no row has the key {named} ({len(missing)} of {len(wanted)} keys); keys are of dtype "
            f"{keys.dtype}."
        )
    return places, n_rows


def _blocks(column: Any, name: str) -> list[Any]:
    if isinstance(column, dd.Series):
        return column.to_delayed()
    if isinstance(column, da.Array) and column.ndim == 1:
        return list(column.to_delayed().ravel())
    given = f"shape {column.shape}" if hasattr(column, "shape") else type(column).__name__
    raise TypeError(f"{name} must be a dask Series or a dask array of one dimension, not {given}.")


def _pairs(pairs: Pairs, name: str) -> list[tuple[Any, Any]]:
    listed: list[tuple[Any, Any]] = [tuple(pair) for pair in pairs]
    wrong = next((pair for pair in listed if len(pair) != 2), None)
    if wrong is not None:
        raise ConstraintError(f"{name} holds {wrong!r}; give pairs of keys.")
    return listed
