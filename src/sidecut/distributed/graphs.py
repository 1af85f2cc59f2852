"""A graph in blocks on a Dask cluster: parts stay with their workers, and only ghosts travel.

Four primitives carry all of it. `halo` brings each part the rows of its ghosts; `each` applies a function to
all parts; `total` adds up small results in the order of the parts; `place` and `fetch` bring rows there and
back. An engine on MPI would have the same.
"""

from __future__ import annotations

import errno
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar
from weakref import WeakSet

import numpy as np
import numpy.typing as npt
from distributed import CancelledError, Client, Future, KilledWorker
from distributed.comm import CommClosedError

from sidecut.checks import FloatArray, IntArray
from sidecut.distributed.partitions import quiet_about_size
from sidecut.distributed.vectors import Parts, SplitBlock, add_in_order
from sidecut.graphs import BlockGraph, Graph, NormalizedAffinity, SparseGraph
from sidecut.graphs.blocks import (
    BlockFiles,
    Change,
    RestrictedBlocks,
    divide,
    find_places,
    join_all,
    joints,
    nodes_of,
)
from sidecut.graphs.graph import drop_isolated
from sidecut.graphs.landmark_codes import ProgressBar

#: A graph is divided into at least this many parts, however few workers there are: sums depend on the parts.
N_PARTS = 4
#: How often work is begun again whose rows were lost with a worker.
MAX_TRIES = 5
#: What is raised where rows were lost with a worker.
LOST = (CancelledError, CommClosedError, TimeoutError)

Result = TypeVar("Result")
#: The numbers of some parts.
Numbers = tuple[int, ...]
#: The rows that a part sends to another, by the numbers of both.
Sent = dict[tuple[int, int], FloatArray]


@dataclass(frozen=True, eq=False)
class GraphPart:
    """A run of blocks: its own nodes, then its ghosts; where the nodes of each block are among them."""

    # Of `sends`, the rows of its own that each other part needs; of `receives`, its ghosts that each owns.

    blocks: BlockFiles
    nodes: IntArray
    n_rows: int
    places: list[npt.NDArray[np.int32]]
    sends: dict[int, IntArray]
    receives: dict[int, IntArray]

    def multiply(self, rows: FloatArray, power: int = 1) -> FloatArray:
        """Return its rows times a block of vectors, of which the rows of `nodes` are given."""
        result, start = np.empty((self.n_rows, *rows.shape[1:]), dtype=rows.dtype), 0
        for block, at in zip(self.blocks, self.places, strict=True):
            result[start : start + block.n_rows] = block.multiply(rows.take(at, axis=0), power)
            start += block.n_rows
        return result

    def reweighted(self, change: Change) -> GraphPart:
        """Return the part with other weights, kept in memory; the change is restricted to its nodes."""
        pairs = zip(self.blocks, self.places, strict=True)
        weights = [block.changed(change, at) for block, at in pairs]
        return replace(self, blocks=replace(self.blocks, weights=weights))


def load_parts(runs: list[BlockFiles], numbers: Numbers) -> list[GraphPart]:
    """Open the parts of a place where their files can be read, and find out which rows travel."""
    known = [nodes_of(run) for run in runs]
    return [load_part(runs[number], number, known) for number in numbers]


def load_part(blocks: BlockFiles, number: int, known: list[tuple[IntArray, int]]) -> GraphPart:
    """Open a part; the nodes of all parts are known, and how many are their own."""
    nodes, n_rows = known[number]
    own, ghosts = nodes[:n_rows], nodes[n_rows:]
    sends: dict[int, IntArray] = {}
    receives: dict[int, IntArray] = {}
    for other, (theirs, n_theirs) in enumerate(known):
        if other == number:
            continue
        # Both sides list the rows that travel in the order of the receiver's ghosts.
        at, is_mine = find_places(own, theirs[n_theirs:])
        if is_mine.any():
            sends[other] = at[is_mine]
        is_theirs = np.isin(ghosts, theirs[:n_theirs])
        if is_theirs.any():
            receives[other] = n_rows + np.flatnonzero(is_theirs)
    places = [find_places(nodes, blocks.nodes_of(i))[0].astype(np.int32) for i in range(len(blocks))]
    return GraphPart(blocks, nodes, n_rows, places, sends, receives)


class Place(NamedTuple):
    """A thread of a worker, and the parts that are pinned to it."""

    home: str
    numbers: Numbers


@dataclass
class Cluster:
    """A Dask cluster that holds the parts of a graph and blocks of vectors."""

    client: Client
    runs: list[BlockFiles]
    progress: ProgressBar | None = None
    #: The bytes of the rows that travelled from part to part, and from here and back.
    moved: dict[str, int] = field(default_factory=lambda: {"ghosts": 0, "placed": 0, "fetched": 0})
    _alive: WeakSet[Future] = field(default_factory=WeakSet)

    def __post_init__(self) -> None:
        self._nodes = [nodes_of(run) for run in self.runs]
        self._ticks = iter(())
        if self.progress is not None:
            self._ticks = iter(self.progress(itertools.count(), desc="products", total=None))

    @property
    def n_parts(self) -> int:
        """How many parts there are."""
        return len(self.runs)

    def own(self, number: int) -> IntArray:
        """Return the own nodes of a part."""
        nodes, n_own = self._nodes[number]
        return nodes[:n_own]

    def nodes(self, number: int) -> IntArray:
        """Return the nodes of a part, its own first."""
        return self._nodes[number][0]

    @cached_property
    def places(self) -> list[Place]:
        """Where the parts are, as long as the workers are there: a thread of a worker, and a run of parts."""
        # All parts of one thread are one task. So fewer workers have fewer tasks, and the same parts.
        found = sorted(self.client.nthreads().items())
        threads = [home for home, n_threads in found for _ in range(n_threads)]
        if not threads:
            raise CommClosedError("no worker is there.")
        thread_of = [number * len(threads) // self.n_parts for number in range(self.n_parts)]
        runs = itertools.groupby(range(self.n_parts), thread_of.__getitem__)
        return [Place(threads[thread], tuple(numbers)) for thread, numbers in runs]

    def each(self, function: Callable[..., Any], *arguments: Parts | Any) -> Parts:
        """Return function(*arguments) for all parts, which stay where they are."""
        # An argument that is a list has one future for each place, or else one value for each part.
        found = []
        with quiet_about_size():
            for at, place in enumerate(self.places):
                own = [self._of(value, at) for value in arguments]
                split = tuple(isinstance(value, list) for value in arguments)
                found.append(self._submit(each_part, place.home, function, len(place.numbers), split, *own))
        return found

    def _of(self, value: Parts | Any, at: int) -> Any:
        if not isinstance(value, list):
            return value
        if isinstance(value[0], Future):
            return value[at]
        return [value[number] for number in self.places[at].numbers]

    def gather(self, parts: Parts) -> list[Any]:
        """Return what was made for each part, in their order."""
        return list(itertools.chain.from_iterable(self.client.gather(parts)))

    def total(self, function: Callable[..., Any], *arguments: Parts | Any) -> Any:
        """Return the sum of function(*arguments) over all parts, in their order."""
        return add_in_order(self.gather(self.each(function, *arguments)))

    def halo(self, parts: Parts, rows: Parts, scales: Parts | None) -> list[list[Future]]:
        """Return for each place the rows of its ghosts that lie at other places, scaled."""
        found: list[list[Future]] = [[] for _ in self.places]
        for to, receiver in enumerate(self.places):
            for at, sender in enumerate(self.places):
                numbers = receiver.numbers
                if at != to and any(self.n_sent[i].get(j) for i in sender.numbers for j in numbers):
                    own = (sender.numbers, parts[at], rows[at], scales[at] if scales else None)
                    found[to].append(self._submit(send_rows, sender.home, *own, numbers))
        return found

    @cached_property
    def n_sent(self) -> list[dict[int, int]]:
        """How many rows each part sends to each other."""
        return self.gather(self.each(count_sent, self.parts))

    @cached_property
    def parts(self) -> Parts:
        """The parts of the graph, opened where they are pinned."""
        with quiet_about_size():
            return [self._submit(load_parts, place.home, self.runs, place.numbers) for place in self.places]

    def _submit(self, function: Callable[..., Any], home: str, *arguments: Any) -> Future:
        future = self.client.submit(
            function, *arguments, workers=[home], allow_other_workers=True, pure=False
        )
        self._alive.add(future)
        return future

    def place(self, block: FloatArray) -> SplitBlock:
        """Bring the rows of a block to the parts that own them."""
        parts: Parts = []
        for place in self.places:
            rows = [block.take(self.own(number), axis=0) for number in place.numbers]
            self.moved["placed"] += sum(some.nbytes for some in rows)
            parts += self.client.scatter([rows], workers=[place.home], hash=False)
            self._alive.add(parts[-1])
        return SplitBlock(self, parts, block.shape, block.dtype)

    def fetch(self, parts: Parts, dtype: Any) -> npt.NDArray[Any]:
        """Return the rows of all parts, in the order of the nodes."""
        found = self.gather(parts)
        n_nodes = sum(len(rows) for rows in found)
        result = np.empty((n_nodes, *found[0].shape[1:]), dtype=dtype)
        for number, rows in enumerate(found):
            self.moved["fetched"] += rows.nbytes
            result[self.own(number)] = rows
        return result

    def multiply(
        self, parts: Parts, block: SplitBlock, scale: Parts | None = None, power: int = 1
    ) -> SplitBlock:
        """Return W @ block, or D^{-1/2} W D^{-1/2} @ block where the scale is given."""
        next(self._ticks, None)
        rows = block.parts
        width = block.size // block.shape[0] * block.dtype.itemsize
        self.moved["ghosts"] += width * sum(sum(sent.values()) for sent in self.n_sent)
        halo = self.halo(parts, rows, scale)
        found = [
            self._submit(
                multiply_parts,
                place.home,
                place.numbers,
                parts[at],
                rows[at],
                halo[at],
                scale[at] if scale else None,
                power,
            )
            for at, place in enumerate(self.places)
        ]
        return SplitBlock(self, found, block.shape, block.dtype)

    def forget(self) -> None:
        """Let go of all that workers hold; what is not asked for any more is not computed."""
        for future in list(self._alive):
            future.release()
        for name in ("parts", "n_sent", "places"):
            self.__dict__.pop(name, None)

    def wait_for_workers(self) -> None:
        """Wait until there is a worker again; parts are opened anew."""
        self.forget()
        self.client.wait_for_workers(1, timeout=300)


def count_sent(part: GraphPart) -> dict[int, int]:
    """Return how many rows a part sends to each other."""
    return {other: len(at) for other, at in part.sends.items()}


def each_part(function: Callable[..., Any], n_parts: int, split: tuple[bool, ...], *arguments: Any) -> Any:
    """Return function(*arguments) for all parts of a place; arguments that are split have one for each."""
    return [
        function(*[value[i] if own else value for value, own in zip(arguments, split, strict=True)])
        for i in range(n_parts)
    ]


def send_rows(
    senders: Numbers,
    parts: list[GraphPart],
    rows: list[FloatArray],
    scales: list[FloatArray] | None,
    receivers: Numbers,
) -> Sent:
    """Return the rows that some parts send to others, scaled."""
    found = {}
    for i, (sender, part) in enumerate(zip(senders, parts, strict=True)):
        for receiver in receivers:
            if (places := part.sends.get(receiver)) is not None:
                scale = None if scales is None else scales[i].take(places)
                found[sender, receiver] = scaled(rows[i].take(places, axis=0), scale)
    return found


def scaled(rows: FloatArray, scale: FloatArray | None, into: FloatArray | None = None) -> FloatArray:
    """Return every row times a number of its own, if there is one; new rows are written `into` an array."""
    if scale is None:
        if into is None or into is rows:
            return rows
        into[:] = rows
        return into
    return np.multiply(rows, scale.reshape(-1, *[1] * (rows.ndim - 1)).astype(rows.dtype), out=into)


def multiply_parts(
    numbers: Numbers,
    parts: list[GraphPart],
    own: list[FloatArray],
    arrived: list[Sent],
    scales: list[FloatArray] | None,
    power: int,
) -> list[FloatArray]:
    """Return the rows of the parts of a place times a block of vectors."""
    sent = send_rows(numbers, parts, own, scales, numbers)
    for some in arrived:
        sent |= some
    result = []
    for i, (number, part) in enumerate(zip(numbers, parts, strict=True)):
        scale = None if scales is None else scales[i]
        rows = np.empty((len(part.nodes), *own[i].shape[1:]), dtype=own[i].dtype)
        scaled(own[i], scale, into=rows[: part.n_rows])
        for other, places in part.receives.items():
            rows[places] = sent.pop((other, number))
        found = part.multiply(rows, power)
        result.append(scaled(found, scale, into=found))
    return result


def joints_of(part: GraphPart) -> IntArray:
    """Return pairs of nodes that connect whatever a part connects."""
    return np.concatenate([joints(block) for block in part.blocks], axis=1)


def reweigh(part: GraphPart, change: Change) -> GraphPart:
    """Return a part with other weights."""
    return part.reweighted(change)


class ClusterGraph(Graph):
    """A graph whose parts lie with the workers of a Dask cluster; vectors go there to be multiplied."""

    # To a method it is a graph as any other. Where a solver says so by `run`, vectors stay on the workers
    # until it is done.

    is_remote = True

    def __init__(self, graph: BlockGraph, cluster: Cluster, change: Change | None = None) -> None:
        self.graph, self.cluster, self.change = graph, cluster, change
        self.n_nodes, self.recall = graph.n_nodes, graph.recall
        self._parts: Parts | None = None
        self._scale: Parts | None = None

    @property
    def is_sparse(self) -> bool:
        """Whether weights are kept edge by edge."""
        return True

    @property
    def largest(self) -> float:
        """The largest weight."""
        return self.graph.largest

    @property
    def parts(self) -> Parts:
        """The parts, with the weights of this graph."""
        if self.change is None:
            return self.cluster.parts
        if self._parts is None:
            places = range(self.cluster.n_parts)
            changes = [self.change.restricted(self.cluster.nodes(number)) for number in places]
            self._parts = self.cluster.each(reweigh, self.cluster.parts, changes)
        return self._parts

    @property
    def scale_parts(self) -> Parts:
        """D^{-1/2} on the workers."""
        if self._scale is None:
            self._scale = self.cluster.place(self.scale).parts
        return self._scale

    def run(self, work: Callable[..., Result], *blocks: FloatArray) -> Any:
        """Return work(*blocks), with the blocks on the workers; what it returns comes back."""
        # Rows that are lost with a worker are sent again, and the work begins again: the same to the last
        # bit.
        for left in reversed(range(MAX_TRIES)):
            try:
                return fetched(work(*[self.cluster.place(block) for block in blocks]))
            except (KilledWorker, MemoryError, OSError, CancelledError) as error:
                is_lost = isinstance(error, LOST)
                # Where a file cannot be mapped for want of memory, the system says ENOMEM.
                if not is_lost and getattr(error, "errno", errno.ENOMEM) != errno.ENOMEM:
                    raise
                if not (is_lost and left):
                    raise self._too_large(error) from error
                self._parts = self._scale = None
                self.cluster.wait_for_workers()
        raise AssertionError("unreachable")

    def _too_large(self, error: Exception) -> MemoryError:
        workers = self.cluster.client.scheduler_info()["workers"].values()
        limits = {worker["memory_limit"] for worker in workers if worker["memory_limit"]}
        limit = f"{min(limits) / 1e9:.2g} GB" if limits else "no limit of memory"
        forecast = self.graph.forecast(self.cluster.n_parts)
        return MemoryError(
            f"a worker had too little memory, or workers died again and again: {error}. Each has {limit}. A "
            f"part of this graph, one of {self.cluster.n_parts}, has up to {forecast.largest_part:,} nodes "
            f"with its ghosts: a block of ten vectors takes {80 * forecast.largest_part / 1e9:.2g} GB, and a "
            "solver holds several. Give workers more memory or fewer threads, or divide the graph into more "
            "parts (n_parts=)."
        )

    def apply(self, block: Any) -> Any:
        """Return W @ block, here or, for a block that lies on the workers, there."""
        if isinstance(block, SplitBlock):
            return self.cluster.multiply(self.parts, block)
        return self.run(self.apply, block)

    def apply_squares(self, block: FloatArray) -> FloatArray:
        """Return the product with the squares of the weights."""
        return self.run(lambda placed: self.cluster.multiply(self.parts, placed, power=2), block)

    @cached_property
    def diagonal(self) -> FloatArray:
        """The weights of self-loops."""
        if self.change is not None:
            nodes = np.arange(self.n_nodes)
            return self.change(nodes, nodes, self.graph.diagonal)
        return self.graph.diagonal

    def restricted_to(self, nodes: IntArray) -> RestrictedBlocks:
        """Return the graph of some nodes and the edges among them."""
        return RestrictedBlocks(self, nodes)

    def contracted(self, nodes: IntArray) -> SparseGraph:
        """Return a small graph of some nodes, which all others have joined; made here, from the folder."""
        return self.graph.contracted(nodes)

    def reweighted(self, change: Change) -> ClusterGraph:
        """Return the graph with other weights on the same edges, in the memory of the workers."""
        return ClusterGraph(self.graph, self.cluster, change)

    @cached_property
    def components(self) -> IntArray:
        """The connected component of every node, found exactly; isolated nodes are -1."""
        found = self.run(lambda: self.cluster.gather(self.cluster.each(joints_of, self.parts)))
        return drop_isolated(join_all(found, self.n_nodes), self.isolated)

    @cached_property
    def normalized(self) -> ClusterAffinity:
        """Ā = D^{-1/2} W D^{-1/2}."""
        return ClusterAffinity(self)

    def weights_at(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the weights of some pairs of nodes."""
        weights = self.graph.weights_at(rows, columns)
        if self.change is None or not len(rows):
            return weights
        rows, columns = np.asarray(rows), np.asarray(columns)
        return self.change(np.minimum(rows, columns), np.maximum(rows, columns), weights)

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("a graph on a cluster cannot be pickled: open its folder where it is needed.")


def fetched(result: Any) -> Any:
    """Return a result with all blocks brought back."""
    if isinstance(result, SplitBlock):
        return np.asarray(result)
    return (
        [np.asarray(part) if isinstance(part, SplitBlock) else part for part in result]
        if isinstance(result, list)
        else result
    )


class ClusterAffinity(NormalizedAffinity):
    """Ā of a graph on a cluster, which keeps D^{-1/2} on the workers."""

    graph: ClusterGraph

    def apply(self, block: Any) -> Any:
        """Return Ā @ block, here or, for a block that lies on the workers, there."""
        if not isinstance(block, SplitBlock):
            return self.graph.run(self.apply, block)
        return self.graph.cluster.multiply(self.graph.parts, block, self.graph.scale_parts)


@contextmanager
def on_cluster(
    graph: BlockGraph, client: Client, n_parts: int | None = None, progress: ProgressBar | None = None
) -> Iterator[ClusterGraph]:
    """Divide a graph among the workers of a cluster; afterwards nothing is left there."""
    if n_parts is None:
        n_parts = max(N_PARTS, len(client.nthreads()))
    cluster = Cluster(client, divide(graph.blocks, n_parts), progress)
    try:
        yield ClusterGraph(graph, cluster)
    finally:
        cluster.forget()
