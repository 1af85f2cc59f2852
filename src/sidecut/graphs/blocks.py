"""A graph as a folder of blocks of rows: mapped into memory, multiplied block by block.

A block holds the rows of some nodes of its own. Its columns are numbered within the block: first its own
nodes, then the ghosts, nodes of other blocks that it has edges to. So a block needs no rows of vectors but
those of its own nodes and ghosts, on this machine and on any other.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import weakref
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from sidecut.checks import FloatArray, IntArray
from sidecut.graphs.chunks import each_chunk
from sidecut.graphs.graph import Graph, RestrictedGraph, SparseGraph, drop_isolated

FORMAT = "sidecut graph"
VERSION = 1
#: The arrays of a block, a file each.
ARRAYS = {"nodes": np.int64, "indptr": np.int64, "indices": np.int32, "weights": np.float32}
#: Entries that are multiplied at a time: their weights in double precision fit into a processor's cache.
ENTRIES_AT_ONCE = 2**18
#: Blocks of fewer entries are not read ahead.
MIN_READ_ENTRIES = 2**19
#: Blocks of fewer entries together stay mapped, 256 MB; of others, mapping them anew keeps memory small.
MAX_KEPT_ENTRIES = 2**25
#: A page of memory, in bytes.
PAGE = 4096


class Change(Protocol):
    """What gives the edges of a graph other weights."""

    def __call__(self, rows: IntArray, columns: IntArray, weights: npt.NDArray[Any], /) -> FloatArray:
        """Return other weights of edges; the lower node comes first."""
        ...

    def restricted(self, nodes: IntArray) -> Change:
        """Return the same for edges between some nodes, numbered by their places."""
        ...


@dataclass(frozen=True, eq=False)
class RowBlock:
    """The rows of some nodes: `nodes` are its own, in the order of its rows, then its ghosts."""

    nodes: IntArray
    indptr: IntArray
    indices: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float32]

    @property
    def n_rows(self) -> int:
        """How many nodes are its own."""
        return len(self.indptr) - 1

    @property
    def own(self) -> IntArray:
        """The nodes of its rows."""
        return self.nodes[: self.n_rows]

    @property
    def ghosts(self) -> IntArray:
        """The other nodes that it has edges to."""
        return self.nodes[self.n_rows :]

    def pieces(self) -> Iterator[tuple[slice, sp.csr_array]]:
        """Yield slices of its rows with their weights, columns numbered within the block."""
        ends = np.searchsorted(self.indptr, np.arange(0, self.indptr[-1], ENTRIES_AT_ONCE), side="right") - 1
        starts = np.unique(np.append(ends, [0, self.n_rows]))
        for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            yield slice(first, last), self.rows(first, last)

    def rows(self, first: int, last: int) -> sp.csr_array:
        """Return some of its rows, columns numbered within the block."""
        start, stop = int(self.indptr[first]), int(self.indptr[last])
        indptr = (self.indptr[first : last + 1] - start).astype(np.int32)
        # Of a memory map the base class: SciPy would look at every page of it.
        entries = np.asarray(self.weights[start:stop]), np.asarray(self.indices[start:stop])
        return sp.csr_array((*entries, indptr), shape=(last - first, len(self.nodes)))

    def multiply(self, block: npt.NDArray[Any], power: int = 1) -> npt.NDArray[Any]:
        """Return its rows times a block of vectors, of which the rows of `nodes` are given."""
        result = np.empty((self.n_rows, *block.shape[1:]), dtype=block.dtype)
        # SciPy would convert the weights of each piece into new memory. Where freed memory goes back to the
        # system at once, as Dask sets it for its workers, that took a quarter of the time.
        room = np.empty(0, dtype=block.dtype)
        for part, weights in self.pieces():
            room = room if room.size >= weights.nnz else np.empty(weights.nnz, dtype=block.dtype)
            data = room[: weights.nnz]
            data[:] = weights.data if power == 1 else weights.data**power
            entries = data, weights.indices, weights.indptr
            result[part] = sp.csr_array(entries, shape=weights.shape) @ block
        return result

    def global_rows(self, n_nodes: int) -> sp.csr_array:
        """Return its rows with columns numbered through the graph."""
        shape = (self.n_rows, n_nodes)
        return sp.csr_array((self.weights, self.nodes[self.indices], self.indptr), shape=shape)

    @property
    def diagonal(self) -> FloatArray:
        """The self-loops of its own nodes."""
        found = [weights.diagonal(part.start) for part, weights in self.pieces()]
        return np.concatenate(found, dtype=np.float64)

    def changed(self, change: Change, names: IntArray | None = None) -> npt.NDArray[np.float32]:
        """Return other weights for its entries; a change sees nodes by other names, if there are any."""
        names = self.nodes if names is None else names
        result = np.empty(len(self.weights), dtype=np.float32)
        for part, weights in self.pieces():
            inside = slice(self.indptr[part.start], self.indptr[part.stop])
            rows = np.repeat(np.arange(part.start, part.stop), np.diff(weights.indptr))
            is_lower = self.nodes[rows] <= self.nodes[weights.indices]
            ends = [np.where(which, rows, weights.indices) for which in (is_lower, ~is_lower)]
            result[inside] = change(names[ends[0]], names[ends[1]], weights.data)
        return result

    def read(self) -> None:
        """Touch every page, so that the disk has been read when the block is multiplied."""
        for name in ARRAYS:
            values = getattr(self, name)
            values[:: max(1, PAGE // values.itemsize)].max(initial=0)


@dataclass(frozen=True)
class BlockFiles(Sequence[RowBlock]):
    """Blocks in files, each of them mapped into memory when it is taken; few and small ones stay mapped."""

    # `weights` are files with other weights, or the weights themselves.

    folder: Path
    described: list[dict[str, Any]]
    weights: Sequence[Any] | None = None

    def __len__(self) -> int:
        return len(self.described)

    def __getitem__(self, number: Any) -> Any:
        """Return a block, or the files of a slice of them."""
        if isinstance(number, slice):
            weights = None if self.weights is None else self.weights[number]
            return BlockFiles(self.folder, self.described[number], weights)
        if number in self._kept:
            return self._kept[number]
        described = self.described[number]
        block = map_block(self.folder / described["folder"], described)
        if self.weights is not None:
            changed: Any = self.weights[number]
            if isinstance(changed, Path):
                changed = load_mapped(changed, np.float32, described["n_entries"])
            block = replace(block, weights=changed)
        if self._keeps:
            self._kept[number] = block
        return block

    @cached_property
    def _kept(self) -> dict[int, RowBlock]:
        return {}

    @cached_property
    def _keeps(self) -> bool:
        return sum(block["n_entries"] for block in self.described) < MAX_KEPT_ENTRIES

    def __reduce__(self) -> tuple[Any, ...]:
        # Maps are made again where the files are read.
        return BlockFiles, (self.folder, self.described, self.weights)

    def nodes_of(self, number: int) -> IntArray:
        """Return the nodes of a block: its own, then its ghosts."""
        described = self.described[number]
        n_nodes = described["n_rows"] + described["n_ghosts"]
        return load_mapped(self.folder / described["folder"] / "nodes", np.int64, n_nodes)

    def read(self, number: int) -> RowBlock:
        """Return a block after its pages have been read."""
        block: RowBlock = self[number]
        block.read()
        return block


@dataclass(frozen=True, eq=False)
class RestrictedChange:
    """A change for some nodes of a graph that is given for all: `place` numbers them, -1 for the others."""

    change: Change
    place: IntArray

    @classmethod
    def to(cls, nodes: IntArray, n_nodes: int, change: Change) -> RestrictedChange:
        """Return the change on a graph of `n_nodes`, where it is known for some."""
        place = np.full(n_nodes, -1)
        place[nodes] = np.arange(len(nodes))
        return cls(change, place)

    def __call__(self, rows: IntArray, columns: IntArray, weights: npt.NDArray[Any]) -> FloatArray:
        """Return the weights of some edges, changed where both nodes are among those of the change."""
        first, second = self.place[rows], self.place[columns]
        inside = (first >= 0) & (second >= 0)
        result = np.array(weights, dtype=np.float64)
        result[inside] = self.change(first[inside], second[inside], weights[inside])
        return result

    def restricted(self, nodes: IntArray) -> RestrictedChange:
        """Return the same for edges between some nodes, numbered by their places."""
        place = self.place[nodes]
        known = np.flatnonzero(place >= 0)
        return self.to(known, len(nodes), self.change.restricted(place[known]))


class RestrictedBlocks(RestrictedGraph):
    """Some nodes of a graph in blocks, and the edges among them."""

    _graph: Any

    @property
    def is_sparse(self) -> bool:
        """Whether weights are kept edge by edge."""
        return True

    @property
    def largest(self) -> float:
        """The largest weight of the whole graph."""
        return float(self._graph.largest)

    def apply_squares(self, block: FloatArray) -> FloatArray:
        """Return the product with the squares of the weights."""
        everyone = np.zeros((self._graph.n_nodes, *block.shape[1:]), dtype=block.dtype)
        everyone[self._nodes] = block
        found: FloatArray = self._graph.apply_squares(everyone)
        return found[self._nodes]

    @property
    def diagonal(self) -> FloatArray:
        """The weights of self-loops."""
        found: FloatArray = self._graph.diagonal
        return found[self._nodes]

    def weights_at(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the weights of some pairs of nodes."""
        found: FloatArray = self._graph.weights_at(self._nodes[rows], self._nodes[columns])
        return found

    def reweighted(self, change: Change) -> RestrictedBlocks:
        """Return the graph with other weights on the same edges."""
        everywhere = RestrictedChange.to(self._nodes, self._graph.n_nodes, change)
        return RestrictedBlocks(self._graph.reweighted(everywhere), self._nodes)


class BlockGraph(Graph):
    """A graph in blocks of rows on a disk; `Graph.open` and `Graph.save` read and write it.

    Vectors lie in memory. Blocks are mapped, and read ahead of the product that needs them; the system keeps
    in memory what fits. Any method that only multiplies runs on it as on any other graph, and its weights are
    in single precision.

    Attributes
    ----------
    folder : Path
        Where it lies.
    n_entries : int
        The number of weights that are stored, two for each edge between different nodes.
    largest : float
        The largest weight.
    """

    def __init__(self, folder: Path, meta: dict[str, Any]) -> None:
        self.folder = folder
        self.meta = meta
        self.n_nodes = int(meta["n_nodes"])
        self.n_entries = int(meta["n_entries"])
        self.recall = meta["recall"]

    @property
    def largest(self) -> float:
        """The largest weight."""
        return float(self.meta["largest_weight"])

    @cached_property
    def blocks(self) -> BlockFiles:
        """The blocks; each is mapped into memory when it is taken, for as long as it is used."""
        return BlockFiles(self.folder, self.meta["blocks"])

    @property
    def is_sparse(self) -> bool:
        """Whether weights are kept edge by edge."""
        return True

    def restricted_to(self, nodes: IntArray) -> RestrictedBlocks:
        """Return the graph of some nodes and the edges among them."""
        return RestrictedBlocks(self, nodes)

    def apply(self, block: FloatArray) -> FloatArray:
        """Return W @ block."""
        return self._each_row(block, 1)

    def apply_squares(self, block: FloatArray) -> FloatArray:
        """Return the product with the squares of the weights."""
        return self._each_row(block, 2)

    def _each_row(self, block: FloatArray, power: int) -> FloatArray:
        dtype = np.float32 if block.dtype == np.float32 else np.float64
        result = np.empty(block.shape, dtype=dtype)

        def multiply(rows: RowBlock) -> None:
            needed = block.take(rows.nodes, axis=0).astype(dtype, copy=False)
            result[rows.own] = rows.multiply(needed, power)

        for _ in each_chunk(multiply, read_ahead(self.blocks)):
            pass
        return result

    def reweighted(self, change: Change) -> BlockGraph:
        """Return the graph with other weights on the same edges; they lie in a temporary folder."""
        folder = tempfile.mkdtemp(prefix="sidecut-")
        graph = ReweightedBlocks(self, Path(folder))
        weakref.finalize(graph, shutil.rmtree, folder, ignore_errors=True)

        def write(place: int) -> None:
            values = self.blocks[place].changed(change)
            values.tofile(graph.weights_path(place))

        for _ in each_chunk(write, range(len(self.blocks))):
            pass
        return graph

    @cached_property
    def diagonal(self) -> FloatArray:
        """The weights of self-loops."""
        result = np.zeros(self.n_nodes)
        for rows in self.blocks:
            result[rows.own] = rows.diagonal
        return result

    @cached_property
    def components(self) -> IntArray:
        """The connected component of every node, found exactly; isolated nodes are -1."""
        pairs = (joints(rows) for rows in read_ahead(self.blocks))
        return drop_isolated(join_all(pairs, self.n_nodes), self.isolated)

    def weights_at(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the weights of some pairs of nodes."""
        rows, columns = np.asarray(rows), np.asarray(columns)
        result = np.zeros(len(rows))
        for block in self.blocks if len(rows) else []:
            at, is_own = find_places(block.own, rows)
            to, is_near = find_places(block.nodes, columns)
            here = np.flatnonzero(is_own & is_near)
            for place, row, column in zip(here, at[here], to[here], strict=True):
                inside = slice(block.indptr[row], block.indptr[row + 1])
                result[place] = block.weights[inside][block.indices[inside] == column].sum()
        return result

    def contracted(self, nodes: IntArray) -> SparseGraph:
        """Return a small graph of some nodes, which all others have joined."""
        from sidecut.graphs.coarse import contract

        return contract(lambda: read_ahead(self.blocks), nodes, self.n_nodes)

    def forecast(self, n_parts: int = 1) -> Forecast:
        """Return what products will take, measured on the blocks, see `Forecast`."""
        return Forecast.of(self, n_parts)

    def tosparse(self) -> sp.csr_array:
        """Return W as a sparse array in memory."""
        order = np.concatenate([block.own for block in self.blocks])
        stacked = sp.vstack([block.global_rows(self.n_nodes) for block in self.blocks], format="csr")
        return sp.csr_array(stacked[np.argsort(order)], dtype=np.float64)

    def __getstate__(self) -> dict[str, Any]:
        # Maps are made again where the graph is opened.
        return {name: value for name, value in super().__getstate__().items() if name != "blocks"}

    def __repr__(self) -> str:
        return f"BlockGraph(n_nodes={self.n_nodes}, n_entries={self.n_entries}, n_blocks={len(self.blocks)})"


class ReweightedBlocks(BlockGraph):
    """Blocks with other weights, which lie in a folder of their own and are gone with the graph."""

    def __init__(self, graph: BlockGraph, folder: Path) -> None:
        super().__init__(graph.folder, graph.meta)
        self._weights_folder = folder

    def weights_path(self, place: int) -> Path:
        """Return the file with the weights of a block."""
        return self._weights_folder / f"{place:05d}"

    @cached_property
    def blocks(self) -> BlockFiles:
        """The blocks with their other weights."""
        files = BlockFiles(self.folder, self.meta["blocks"])
        return replace(files, weights=[self.weights_path(number) for number in range(len(files))])

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError(
            "A graph that constraints have changed lies in a temporary folder and cannot be pickled: keep "
            "labels_ in place of the model, or save the graph first, model.affinity_matrix_.save(folder)."
        )


def read_ahead(blocks: BlockFiles) -> Iterator[RowBlock]:
    """Yield blocks while a thread reads the next one from the disk."""
    if len(blocks) == 0 or max(block["n_entries"] for block in blocks.described) < MIN_READ_ENTRIES:
        yield from blocks
        return
    with ThreadPoolExecutor(1) as reader:
        following = reader.submit(blocks.read, 0)
        for number in range(len(blocks)):
            block = following.result()
            if number + 1 < len(blocks):
                following = reader.submit(blocks.read, number + 1)
            yield block


def find_places(among: IntArray, wanted: IntArray) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """Return where some nodes are among others, and which of them are there."""
    order = np.argsort(among, kind="stable")
    at = np.minimum(np.searchsorted(among, wanted, sorter=order), len(among) - 1)
    places = order[at]
    return places, among[places] == wanted


def joints(block: RowBlock) -> IntArray:
    """Return pairs of nodes that connect whatever the block connects."""
    n_nodes = len(block.nodes)
    ends = np.full(n_nodes - block.n_rows, block.indptr[-1])
    indptr = np.concatenate([block.indptr, ends]).astype(np.int32)
    square = sp.csr_array((np.asarray(block.weights), block.indices, indptr), shape=(n_nodes, n_nodes))
    if not block.weights.all():
        square = square.copy()
        square.eliminate_zeros()
    label = connected_components(square, directed=False)[1]
    first = np.unique(label, return_index=True)[1]
    pairs = np.stack([block.nodes, block.nodes[first[label]]])
    return pairs[:, pairs[0] != pairs[1]]


def join_all(parts: Iterable[IntArray], n_nodes: int) -> IntArray:
    """Return the component of every node, where pairs of nodes join them."""
    joined: IntArray = np.arange(n_nodes)
    waiting: list[IntArray] = [np.empty((2, 0), dtype=np.int64)]
    for pairs in parts:
        waiting.append(pairs)
        # As many pairs as nodes, or twice as many, are searched together.
        if sum(pairs.shape[1] for pairs in waiting) > n_nodes:
            joined, waiting = _join(joined, waiting), waiting[:1]
    return _join(joined, waiting)


def _join(joined: IntArray, ends: list[IntArray]) -> IntArray:
    """Return the component of every node, where some are joined already and pairs join more."""
    rows, columns = joined[np.concatenate(ends, axis=1)]
    pairs = sp.coo_array((np.ones(rows.size, dtype=np.int8), (rows, columns)), shape=(joined.size,) * 2)
    return np.asarray(connected_components(pairs, directed=False)[1][joined], dtype=np.intp)


def open_graph(folder: str | Path, check: bool = True) -> BlockGraph:
    """Return the graph in a folder, see `Graph.open`."""
    folder = Path(folder)
    path = folder / "meta.json"
    if not path.is_file():
        raise FileNotFoundError(f"{str(folder)!r} is not a graph: it has no file meta.json.")
    try:
        meta = json.loads(path.read_text(encoding="utf-8"))
        found = meta["format"], meta["version"]
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{str(path)!r} does not describe a graph: {error!r}.") from error
    if found != (FORMAT, VERSION):
        raise ValueError(
            f"{str(path)!r} is {found[0]!r}, version {found[1]}; this version of sidecut reads {FORMAT!r}, "
            f"version {VERSION}. Build the graph again."
        )
    graph = BlockGraph(folder, meta)
    for block, described in zip(graph.blocks, meta["blocks"], strict=True):
        if check:
            _check_contents(folder / described["folder"], block, described["crc32"])
    return graph


def load_mapped(path: Path, dtype: npt.DTypeLike, length: int) -> npt.NDArray[Any]:
    """Return the numbers in a file as a map; refuse a file of another length."""
    needed = length * np.dtype(dtype).itemsize
    try:
        found = path.stat().st_size
    except OSError as error:
        raise ValueError(f"{str(path)!r} cannot be read: {error.strerror}. Build the graph again.") from error
    if found != needed:
        raise ValueError(
            f"{str(path)!r} has {found:,} bytes; meta.json says {needed:,}. It was cut short, or belongs to "
            "another graph: build the graph again."
        )
    # An empty file cannot be mapped.
    return np.memmap(path, dtype=dtype, mode="r", shape=(length,)) if length else np.empty(0, dtype=dtype)


def map_block(folder: Path, described: dict[str, Any]) -> RowBlock:
    """Return a block as maps of its files; refuse files that are missing, cut short or of another kind."""
    n_rows, n_entries = described["n_rows"], described["n_entries"]
    lengths = {
        "nodes": n_rows + described["n_ghosts"],
        "indptr": n_rows + 1,
        "indices": n_entries,
        "weights": n_entries,
    }
    arrays = {name: load_mapped(folder / name, ARRAYS[name], length) for name, length in lengths.items()}
    return RowBlock(**arrays)


def _check_contents(folder: Path, block: RowBlock, sums: dict[str, int]) -> None:
    for name in ARRAYS:
        if checksum(getattr(block, name)) != sums[name]:
            raise ValueError(
                f"{str(folder / name)!r} has changed since it was written: its checksum is another. "
                "Build the graph again."
            )


def checksum(values: npt.NDArray[Any]) -> int:
    """Return the CRC-32 of an array's bytes."""
    content: Any = np.ascontiguousarray(values)
    return zlib.crc32(memoryview(content).cast("B") if values.size else b"")


@dataclass(frozen=True)
class Forecast:
    """What products with a graph in blocks take, measured on its blocks.

    Attributes
    ----------
    n_nodes, n_entries : int
        The size of the graph.
    n_parts : int
        Into how many runs of blocks it is divided, at most.
    n_ghosts : int
        The rows that travel between parts in a product.
    largest_part : int
        The nodes of the largest part, ghosts included.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from sidecut.graphs import Graph, Neighbors
    >>> graph = Neighbors(5).build(np.random.default_rng(0).normal(size=(100, 2)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     graph.save(f"{folder}/graph")
    ...     print(Graph.open(f"{folder}/graph").forecast())
    100 nodes and 648 weights: 5.2 kB on the disk, read in every product.
    With 10 vectors: about 100 kB of memory on one machine.
    """

    n_nodes: int
    n_entries: int
    n_parts: int
    n_ghosts: int
    largest_part: int

    @classmethod
    def of(cls, graph: BlockGraph, n_parts: int) -> Forecast:
        """Count the ghosts of runs of blocks."""
        sizes = [nodes_of(run) for run in divide(graph.blocks, n_parts)]
        ghosts = [len(nodes) - n_own for nodes, n_own in sizes]
        largest = max(len(nodes) for nodes, _ in sizes)
        return cls(graph.n_nodes, graph.n_entries, len(sizes), sum(ghosts), largest)

    @property
    def has_locality(self) -> bool:
        """Whether fewer rows travel than there are nodes."""
        return self.n_ghosts <= self.n_nodes

    def traffic(self, n_columns: int) -> int:
        """Return the bytes that travel between parts in a product, in single precision."""
        return 4 * n_columns * self.n_ghosts

    def memory(self, n_vectors: int) -> int:
        """Return about how many bytes a fit takes on one machine: twelve blocks of vectors, and degrees."""
        return 8 * self.n_nodes * (12 * n_vectors + 8)

    def __str__(self) -> str:
        """Say what it means in words."""
        lines = [
            f"{self.n_nodes:,} nodes and {self.n_entries:,} weights: {in_bytes(8 * self.n_entries)} on "
            "the disk, read in every product.",
            f"With 10 vectors: about {in_bytes(self.memory(10))} of memory on one machine.",
        ]
        if self.n_parts > 1:
            lines.append(
                f"In {self.n_parts} parts, {self.n_ghosts:,} rows travel in a product "
                f"({self.n_ghosts / self.n_nodes:.0%} of the nodes): {in_bytes(self.traffic(10))} with 10 "
                "vectors."
            )
        if not self.has_locality:
            lines.append(
                "The graph has no locality: more rows travel than there are nodes. Fewer parts, or an order "
                "of the nodes that places neighbours near each other (Graph.save(order=)), make it fewer."
            )
        return "\n".join(lines)


def in_bytes(count: float) -> str:
    """Return a number of bytes in words, to two digits.

    Examples
    --------
    >>> in_bytes(5_184), in_bytes(1_234_567_890), in_bytes(16e9)
    ('5.2 kB', '1.2 GB', '16 GB')
    """
    power = min(max(int(np.log10(max(count, 1))) // 3, 1), 4)
    value = count / 1000**power
    shown = f"{value:.1f}" if value < 9.95 else f"{float(f'{value:.2g}'):.0f}"
    return f"{shown} {' kMGT'[power]}B"


def divide(blocks: BlockFiles, n_parts: int) -> list[BlockFiles]:
    """Return runs of blocks with about equal numbers of entries, at most `n_parts` of them."""
    ends = np.cumsum([block["n_entries"] for block in blocks.described])
    goals = np.linspace(0, ends[-1], n_parts + 1)[1:-1]
    cuts = np.unique([0, *np.searchsorted(ends, goals) + 1, len(blocks)]).tolist()
    return [blocks[first:last] for first, last in pairwise(cuts)]


def nodes_of(blocks: BlockFiles) -> tuple[IntArray, int]:
    """Return the nodes of a run of blocks, its own before its ghosts, and how many are its own."""
    sizes = [described["n_rows"] for described in blocks.described]
    found = [blocks.nodes_of(number) for number in range(len(blocks))]
    own = np.concatenate([nodes[:n] for nodes, n in zip(found, sizes, strict=True)])
    # Sorted, not by np.unique: its table of hashes takes many times as long for numbers in runs.
    around = np.sort(np.concatenate([nodes[n:] for nodes, n in zip(found, sizes, strict=True)]))
    around = around[np.diff(around, prepend=-1) > 0]
    return np.concatenate([own, np.setdiff1d(around, own, assume_unique=True)]), own.size
