"""What a graph is to the methods above it: something that multiplies a block of vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, reverse_cuthill_mckee
from scipy.sparse.linalg import LinearOperator

from sidecut.checks import FloatArray, IntArray, to_native
from sidecut.exceptions import GraphWarning, warn
from sidecut.running import count_threads

if TYPE_CHECKING:
    from sidecut.graphs.blocks import BlockGraph, Change

Result = TypeVar("Result")

#: `toarray` refuses graphs with more nodes than this: 20,000 nodes are 3.2 GB.
DENSE_LIMIT = 20_000
#: One tile of weights takes about this many bytes.
TILE_BYTES = 64 * 2**20
#: Below this many nonzeros, threads and another order of the nodes cost more than they save.
PARALLEL_NONZEROS = 400_000


def tile_rows(n_nodes: int) -> Iterator[slice]:
    """Yield slices of rows that cover a graph, each a tile of about 64 MB."""
    height = max(1, TILE_BYTES // (8 * max(n_nodes, 1)))
    for start in range(0, n_nodes, height):
        yield slice(start, min(start + height, n_nodes))


class SparseProduct:
    """The map x -> A x of a sparse matrix, with the rows shared out among threads.

    Blocks of many columns are multiplied in an order of the nodes that places neighbours near each other
    (Cuthill & McKee), if there is one: the processor's cache then holds most of what a row needs. Every row
    is summed in the same order for any number of threads and any order of the nodes, so the result is the
    same to the last bit. A block of 32-bit floats is multiplied in single precision.

    Parameters
    ----------
    matrix : sparse array of shape (m, n)
        The matrix, in compressed rows.
    n_threads : int, optional
        How many slices; by default one per core for large matrices, otherwise one.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from sidecut.graphs import SparseProduct
    >>> matrix = sp.csr_array([[0.0, 2.0], [1.0, 0.0], [3.0, 3.0]])
    >>> SparseProduct(matrix, n_threads=2)(np.array([1.0, 10.0]))
    array([20.,  1., 33.])
    """

    def __init__(self, matrix: sp.csr_array, n_threads: int | None = None) -> None:
        if n_threads is None:
            n_threads = count_threads() if matrix.nnz >= PARALLEL_NONZEROS else 1
        self._n_threads = n_threads
        self._matrix = matrix
        self._slices = self._cut(matrix)
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None
        self._n_wide = 0

    def __call__(self, block: FloatArray) -> FloatArray:
        """Return A @ block for a vector or a block of vectors."""
        if block.dtype == np.float32 and self._matrix.dtype != np.float32:
            return self._in_single_precision(block)
        # From 6 columns on, reordering the nodes makes products faster; it pays from the second block on.
        is_wide = block.ndim == 2 and block.shape[1] >= 6 and self._matrix.nnz >= PARALLEL_NONZEROS
        self._n_wide += is_wide
        if not is_wide or self._n_wide == 1 or self._reordered is None:
            return self._multiply(self._slices, block)
        order, places, slices = self._reordered
        return self._multiply(slices, block.take(order, axis=0)).take(places, axis=0)

    @cached_property
    def _in_single_precision(self) -> SparseProduct:
        matrix = self._matrix
        entries = (matrix.data.astype(np.float32), matrix.indices, matrix.indptr)
        return SparseProduct(sp.csr_array(entries, shape=matrix.shape), self._n_threads)

    @cached_property
    def _reordered(self) -> tuple[IntArray, IntArray, list[sp.csr_array]] | None:
        """A better order of the nodes, the place of each node in it, and the slices of the matrix in it."""
        order = order_neighbors(self._matrix)
        if order is None:
            return None
        places = np.empty_like(order)
        places[order] = np.arange(order.size, dtype=order.dtype)
        rows = self._matrix[order]
        moved = sp.csr_array((rows.data, places[rows.indices], rows.indptr), shape=rows.shape)
        return order, places, self._cut(moved)

    def _cut(self, matrix: sp.csr_array) -> list[sp.csr_array]:
        """Return slices of rows with equal numbers of nonzeros, so that no thread waits for a hub."""
        if self._n_threads == 1:
            return [matrix]
        shares = np.linspace(0, matrix.nnz, self._n_threads + 1)[1:-1]
        cuts = np.concatenate([[0], np.searchsorted(matrix.indptr, shares), [matrix.shape[0]]])
        return [matrix[a:b] for a, b in pairwise(cuts)]

    def _multiply(self, slices: list[sp.csr_array], block: FloatArray) -> FloatArray:
        if self._pool is None:
            return np.asarray(slices[0] @ block)
        return np.concatenate(list(self._pool.map(lambda rows: rows @ block, slices)))


def order_neighbors(matrix: sp.csr_array) -> IntArray | None:
    """Return an order of the nodes that at least halves the bandwidth, or None, as for random graphs."""
    if matrix.shape[0] != matrix.shape[1] or matrix.indices.dtype != np.int32:
        return None
    order = reverse_cuthill_mckee(sp.csr_matrix(matrix), symmetric_mode=True)
    places = np.empty_like(order)
    places[order] = np.arange(order.size, dtype=order.dtype)
    # Rows sampled to estimate the bandwidth.
    rows = np.linspace(0, order.size - 1, min(2_000, order.size)).astype(np.intp)
    ends = matrix[rows]
    starts = np.repeat(rows, np.diff(ends.indptr))
    before = np.abs(starts - ends.indices).sum()
    after = np.abs(places[starts] - places[ends.indices]).sum()
    return order if after < 0.5 * before else None


class Grown(NamedTuple):
    """A graph of old and new points."""

    graph: SparseGraph
    #: For each new point an old one it equals, or -1.
    exact_matches: IntArray
    #: How much weight each new point would have to old ones if it came alone: as the degrees of old ones.
    to_old: FloatArray
    #: Old and new points where neighbours were searched for; none where they cannot be compared.
    points: tuple[Any, Any] | None


class Extension(Protocol):
    """What links new points to those of a graph."""

    def edges(self, X: Any, X_new: Any) -> tuple[sp.csr_array, IntArray]:
        """Return the weights from new points to old ones, and for each the old one it equals, or -1."""
        ...

    def grow(self, graph: SparseGraph, X: Any, X_new: Any) -> Grown:
        """Return the graph of old and new points."""
        ...


class SplitWeights(NamedTuple):
    """Weights as a sparse matrix plus one of low rank, S + B diag(core) Bᵀ."""

    sparse: sp.csr_array
    factor: FloatArray
    core: FloatArray


class Graph(LinearOperator, ABC):
    """A weighted undirected graph on `n_nodes` points, with nonnegative symmetric weights W.

    Subclasses say how W multiplies a block of vectors; W itself need not exist in memory. To scipy a graph is
    a `LinearOperator`: ``graph @ block``, ``graph.shape``, ``graph.toarray()`` and ``graph.tosparse()`` work
    as they do for matrices.
    """

    #: The share of true nearest neighbours among the edges, where they were searched for.
    recall: float | None = None

    @property
    def n_nodes(self) -> int:
        """The number of nodes; subclasses set it before anything else."""
        return int(self.shape[0])

    @n_nodes.setter
    def n_nodes(self, number: int) -> None:
        super().__init__(np.float64, (number, number))

    def __getstate__(self) -> dict[str, Any]:
        # What SciPy keeps of its own differs from version to version, and is made anew.
        bare = object.__new__(type(self))
        bare.n_nodes = self.n_nodes
        state = {name: value for name, value in vars(self).items() if name not in vars(bare)}
        state.pop("normalized", None)
        return {"n_nodes": self.n_nodes, **state}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)

    @abstractmethod
    def apply(self, block: FloatArray) -> FloatArray:
        """Return W @ block for a vector (n_nodes,) or a block (n_nodes, b)."""

    @cached_property
    def degrees(self) -> FloatArray:
        """The weighted degree of every node, W @ 1; self-loops count once."""
        return self.apply(np.ones(self.n_nodes))

    @property
    def volume(self) -> float:
        """The sum of all degrees, vol(G)."""
        return float(self.degrees.sum())

    @cached_property
    def scale(self) -> FloatArray:
        """D^{-1/2} as a vector, zero at isolated nodes."""
        scale = np.zeros(self.n_nodes)
        np.divide(1.0, np.sqrt(self.degrees), out=scale, where=self.degrees > 0)
        return scale

    @cached_property
    def normalized(self) -> NormalizedAffinity:
        """Ā = D^{-1/2} W D^{-1/2}; made once, and as large as the graph until `release`."""
        return NormalizedAffinity(self)

    def release(self) -> None:
        """Forget Ā, which can be made again."""
        self.__dict__.pop("normalized", None)

    @property
    def matrix(self) -> sp.csr_array | FloatArray | None:
        """The weights as an explicit matrix, or None where they are only ever applied."""
        return None

    @property
    def is_sparse(self) -> bool:
        """Whether weights are kept edge by edge, in memory or on a disk."""
        return sp.issparse(self.matrix)

    @property
    def largest(self) -> float | None:
        """The largest weight, where weights are stored but not in memory."""
        return None

    #: Whether products travel to other machines, so that many columns at once are better than one by one.
    is_remote = False

    def run(self, work: Callable[..., Result], *blocks: FloatArray) -> Result:
        """Return ``work(*blocks)``, done where the graph lies: blocks of vectors go there and come back once.

        The work may multiply with the graph, take sums, and calculate with whole columns.
        """
        return work(*blocks)

    def contracted(self, nodes: IntArray) -> Graph | None:
        """Return a small graph of some nodes, which all others have joined; None where there is no need."""
        return None

    def save(self, folder: str | Path, order: IntArray | None = None) -> None:
        """Write the graph as a folder of blocks of rows, with 8 bytes per entry.

        The folder appears when it is complete. Weights are rounded to single precision.

        Parameters
        ----------
        folder : path
            Where to write; it must not be there yet.
        order : array of shape (n_nodes,), optional
            The nodes in an order that places neighbours near each other. By default that of Cuthill and
            McKee, where it does so, otherwise the order of the nodes.

        Examples
        --------
        >>> import tempfile, numpy as np
        >>> from sidecut.graphs import Graph, Neighbors
        >>> graph = Neighbors(5).build(np.random.default_rng(0).normal(size=(100, 2)))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     graph.save(f"{folder}/graph")
        ...     Graph.open(f"{folder}/graph").degrees.shape
        (100,)
        """
        from sidecut.graphs.block_files import save_graph

        save_graph(self, folder, order)

    @staticmethod
    def open(folder: str | Path, check: bool = True) -> BlockGraph:
        """Return the graph that `save` wrote, its blocks mapped into memory.

        Parameters
        ----------
        folder : path
            Where it lies.
        check : bool, default=True
            Read it once and compare checksums. Without, only the sizes of files are compared.

        Returns
        -------
        BlockGraph
            It stays on the disk; vectors lie in memory.

        Raises
        ------
        ValueError
            If a file is missing, cut short, changed or of another kind; it is named.
        """
        from sidecut.graphs.blocks import open_graph

        return open_graph(folder, check)

    @property
    def split(self) -> SplitWeights | None:
        """The weights as a sparse matrix plus one of low rank, or None where they have no such form."""
        return None

    @cached_property
    def isolated(self) -> IntArray:
        """The nodes without any weight: the graph says nothing about them."""
        return np.flatnonzero(self.degrees <= 0)

    @cached_property
    def components(self) -> IntArray:
        """The connected component of every node, numbered from 0, isolated nodes marked -1.

        A graph that is only applied cannot be searched; its nodes are taken as connected, and a hidden
        gap shows as an eigenvalue near zero instead.
        """
        labels = np.zeros(self.n_nodes, dtype=np.intp)
        labels[self.isolated] = -1
        return labels

    @property
    def n_components(self) -> int:
        """How many connected components there are, isolated nodes not counted."""
        return int(self.components.max(initial=-1)) + 1

    @property
    def is_in_parts(self) -> bool:
        """Whether it has edges and two or more parts, isolated nodes included."""
        return bool(self.n_components) and self.n_components + self.isolated.size > 1

    def weights_at(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the weights of some pairs of nodes; one row of W is made for every distinct row."""
        weights = np.empty(len(rows))
        for node in np.unique(rows):
            here = rows == node
            weights[here] = self.row(node)[columns[here]]
        return weights

    def restricted_to(self, nodes: IntArray) -> Graph:
        """Return the graph of some nodes and the edges among them."""
        return RestrictedGraph(self, nodes)

    def row(self, node: int) -> FloatArray:
        """Return the weights of one node."""
        unit = np.zeros(self.n_nodes)
        unit[node] = 1.0
        return self.apply(unit)

    def toarray(self) -> FloatArray:
        """Return W as a dense array; for small graphs only.

        Raises
        ------
        MemoryError
            If the graph has more than 20,000 nodes.
        """
        if self.n_nodes > DENSE_LIMIT:
            raise MemoryError(
                f"toarray() of a graph with {self.n_nodes:,} nodes would need "
                f"{8 * self.n_nodes**2 / 1e9:.1f} GB; graphs up to {DENSE_LIMIT:,} nodes can be made dense, "
                "use apply() instead."
            )
        return self.apply(np.eye(self.n_nodes))

    def tosparse(self) -> sp.csr_array:
        """Return W as a sparse array, its zeros left out; a graph that is only applied must be small.

        Raises
        ------
        MemoryError
            If the weights are not stored and the graph has more than 20,000 nodes.
        """
        return sp.csr_array(self.toarray() if self.matrix is None else self.matrix)

    def _matvec(self, vector: FloatArray) -> FloatArray:
        return self.apply(np.asarray(vector, dtype=np.float64))

    _matmat = _matvec

    def _adjoint(self) -> Graph:
        return self

    _transpose = _adjoint

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_nodes={self.n_nodes})"


class RestrictedGraph(Graph):
    """Some nodes of a graph that is only applied, and the edges among them."""

    def __init__(self, graph: Graph, nodes: IntArray) -> None:
        self._graph, self._nodes = graph, nodes
        self.n_nodes = len(nodes)
        self.recall = graph.recall

    def apply(self, block: FloatArray) -> FloatArray:
        """Return W @ block."""
        everyone = np.zeros((self._graph.n_nodes, *block.shape[1:]), dtype=block.dtype)
        everyone[self._nodes] = block
        return self._graph.apply(everyone)[self._nodes]

    @cached_property
    def components(self) -> IntArray:
        """The connected component of every node, as far as the whole graph shows it."""
        return drop_isolated(self._graph.components[self._nodes], self.isolated)


class SparseGraph(Graph):
    """A graph whose weights are a sparse matrix.

    Parameters
    ----------
    weights : sparse array or matrix of shape (n, n)
        Symmetric, nonnegative. `as_graph` checks this; the class trusts it.
    recall : float, optional
        The share of true nearest neighbours among the edges: 1 for an exact search, measured otherwise.
    extension : Extension, optional
        What is needed to link new points to those of a neighbour graph.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from sidecut.graphs import SparseGraph
    >>> path = SparseGraph(sp.csr_array([[0, 2, 0], [2, 0, 1], [0, 1, 0.0]]))
    >>> path.degrees
    array([2., 3., 1.])
    >>> path.n_components
    1
    """

    def __init__(
        self,
        weights: sp.sparray | sp.spmatrix,
        recall: float | None = None,
        extension: Extension | None = None,
    ) -> None:
        self._weights = sp.csr_array(weights, dtype=np.float64)
        if self._weights.nnz != self._weights.count_nonzero():
            # A copy first: the arrays may still belong to the caller.
            self._weights = self._weights.copy()
            self._weights.eliminate_zeros()
        if max(self._weights.nnz, *self._weights.shape) <= np.iinfo(np.int32).max:
            # 32-bit indices halve the memory traffic of every product.
            indices, starts = (
                part.astype(np.int32, copy=False) for part in (self._weights.indices, self._weights.indptr)
            )
            self._weights = sp.csr_array((self._weights.data, indices, starts), shape=self._weights.shape)
        self.n_nodes = int(self._weights.shape[0])
        self.recall = recall
        self.extension = extension

    @property
    def matrix(self) -> sp.csr_array:
        """The weights in compressed rows."""
        return self._weights

    def restricted_to(self, nodes: IntArray) -> SparseGraph:
        """Return the graph of some nodes and the edges among them."""
        return SparseGraph(self._weights[nodes][:, nodes], recall=self.recall)

    @property
    def n_edges(self) -> int:
        """The number of edges, each counted once, self-loops included."""
        loops = int(np.count_nonzero(self._weights.diagonal()))
        return (self._weights.nnz + loops) // 2

    def apply(self, block: FloatArray) -> FloatArray:
        """Return W @ block."""
        return np.asarray(self._weights @ block)

    def apply_squares(self, block: FloatArray) -> FloatArray:
        """Return the product with the squares of the weights."""
        return np.asarray(self._weights**2 @ block)

    @property
    def diagonal(self) -> FloatArray:
        """The weights of self-loops."""
        return np.asarray(self._weights.diagonal())

    def reweighted(self, change: Change) -> SparseGraph:
        """Return the graph with other weights on the same edges."""
        # One half and its mirror image: a graph is symmetric to the last bit.
        edges = sp.coo_array(sp.triu(self._weights))
        weights = change(edges.row, edges.col, edges.data)
        half = sp.csr_array((weights, (edges.row, edges.col)), shape=edges.shape)
        return SparseGraph(half + sp.triu(half, k=1).T)

    def weights_at(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the weights of some pairs of nodes."""
        if len(rows) == 0:
            return np.empty(0)
        return np.asarray(self._weights[rows, columns], dtype=np.float64).ravel()

    @cached_property
    def components(self) -> IntArray:
        """The connected component of every node, found exactly; isolated nodes are -1."""
        return drop_isolated(connected_components(self._weights, directed=False)[1], self.isolated)

    def __repr__(self) -> str:
        return f"SparseGraph(n_nodes={self.n_nodes}, n_edges={self.n_edges})"


class DenseGraph(Graph):
    """A graph whose weights are a dense array.

    Parameters
    ----------
    weights : array of shape (n, n)
        Symmetric, nonnegative. `as_graph` checks this; the class trusts it.
    """

    def __init__(self, weights: npt.ArrayLike) -> None:
        self._weights = np.asarray(weights, dtype=np.float64)
        self.n_nodes = int(self._weights.shape[0])

    @property
    def matrix(self) -> FloatArray:
        """The weights as given."""
        return self._weights

    def apply(self, block: FloatArray) -> FloatArray:
        """Return W @ block."""
        return self._weights @ block

    def restricted_to(self, nodes: IntArray) -> DenseGraph:
        """Return the graph of some nodes and the edges among them."""
        return DenseGraph(self._weights[np.ix_(nodes, nodes)])

    def weights_at(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the weights of some pairs of nodes."""
        return np.asarray(self._weights[rows, columns], dtype=np.float64).ravel()

    @cached_property
    def components(self) -> IntArray:
        """The connected component of every node, found exactly; isolated nodes are -1."""
        # A breadth-first search on dense rows needs no sparse copy of a matrix that is full anyway.
        labels = np.full(self.n_nodes, -1, dtype=np.intp)
        n_found = 0
        while (unseen := np.flatnonzero(labels < 0)).size:
            frontier = unseen[:1]
            while frontier.size:
                labels[frontier] = n_found
                reached = np.zeros(self.n_nodes, dtype=bool)
                for node in frontier:
                    reached |= self._weights[node] > 0
                frontier = np.flatnonzero(reached & (labels < 0))
            n_found += 1
        return drop_isolated(labels, self.isolated)

    def toarray(self) -> FloatArray:
        """Return a copy of W."""
        return self._weights.copy()


def drop_isolated(labels: npt.NDArray, isolated: IntArray) -> IntArray:
    """Renumber components so that isolated nodes are -1 and the others count from 0."""
    labels = np.asarray(labels, dtype=np.intp).copy()
    labels[isolated] = -1
    kept = labels >= 0
    labels[kept] = np.unique(labels[kept], return_inverse=True)[1]
    return labels


class NormalizedAffinity:
    """The operator Ā = D^{-1/2} W D^{-1/2}; the normalised Laplacian is L̄ = I - Ā.

    An isolated node has no degree to divide by: its row of Ā is zero, so L̄ has a one there and the node
    takes no part in any eigenvector below 1.

    Parameters
    ----------
    graph : Graph
        The graph to normalise.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import NormalizedAffinity, as_graph
    >>> affinity = NormalizedAffinity(as_graph(np.array([[0.0, 4.0], [4.0, 0.0]])))
    >>> affinity.apply(np.array([1.0, 0.0]))
    array([0., 1.])
    >>> affinity.null_vectors.toarray().round(4).ravel()
    array([0.7071, 0.7071])
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.n_nodes = graph.n_nodes
        #: D^{-1/2} as a vector, zero at isolated nodes.
        self.scale = graph.scale

    @cached_property
    def matrix(self) -> sp.csr_array | FloatArray | None:
        """Ā as an explicit matrix where the graph has one."""
        weights = self.graph.matrix
        if weights is None:
            return None
        if isinstance(weights, np.ndarray):
            normalized = self.scale[:, None] * weights
            normalized *= self.scale[None, :]
            return normalized
        scaling = sp.diags_array(self.scale)
        return sp.csr_array(scaling @ weights @ scaling)

    @cached_property
    def null_vectors(self) -> sp.csr_array:
        """An orthonormal basis of the null space of L̄: D^{1/2} 1_C for every component C, one per column."""
        component = self.graph.components
        members = np.flatnonzero(component >= 0)
        roots = np.sqrt(self.graph.degrees[members])
        columns = component[members]
        volumes = np.bincount(columns, weights=roots**2, minlength=self.graph.n_components)
        values = roots / np.sqrt(volumes[columns])
        shape = (self.n_nodes, self.graph.n_components)
        return sp.csr_array((values, (members, columns)), shape=shape)

    @cached_property
    def _product(self) -> SparseProduct:
        return SparseProduct(self.matrix)

    def apply(self, block: FloatArray) -> FloatArray:
        """Return Ā @ block."""
        # Only a sparse Ā is worth a copy: a dense graph is not doubled in memory just to be applied.
        if sp.issparse(self.graph.matrix):
            return self._product(block)
        scale = self.scale.astype(np.float32) if block.dtype == np.float32 else self.scale
        scale = scale if block.ndim == 1 else scale[:, None]
        return scale * self.graph.apply(scale * block)


def as_graph(affinity: Any) -> Graph:
    """Take an affinity as it is: a dense or sparse matrix, a networkx or igraph graph, or a Graph.

    Parameters
    ----------
    affinity : array, sparse matrix, tensor, networkx.Graph, igraph.Graph, Graph or path
        Symmetric nonnegative weights, or the folder of a graph that was saved. The diagonal is kept:
        self-loops count in the degrees. Row i of a networkx or igraph graph is its i-th node; edges without a
        weight count 1, parallel ones add up.

    Returns
    -------
    Graph
        A `SparseGraph` or a `DenseGraph`; a Graph is returned unchanged.

    Raises
    ------
    ValueError
        If the matrix is not square, not symmetric, negative or not finite; the entry is named.

    Examples
    --------
    >>> import networkx as nx
    >>> from sidecut.graphs import as_graph
    >>> as_graph(nx.path_graph(4))
    SparseGraph(n_nodes=4, n_edges=3)
    """
    if isinstance(affinity, Graph):
        return affinity
    if isinstance(affinity, str | Path):
        return Graph.open(affinity)
    affinity = to_native(affinity)
    if type(affinity).__module__.partition(".")[0] == "networkx" or hasattr(affinity, "is_multigraph"):
        affinity = _networkx_weights(affinity)
    if not sp.issparse(affinity):
        affinity = np.asarray(affinity)
    if affinity.ndim != 2 or affinity.shape[0] != affinity.shape[1]:
        raise ValueError(
            "A precomputed affinity must be a square matrix, one row and one column per point; "
            f"got {affinity.shape}."
        )
    if np.iscomplexobj(affinity):
        raise ValueError("The affinity is complex; the weights of a graph are real.")
    sparse = sp.issparse(affinity)
    graph = SparseGraph(_check_sparse(affinity)) if sparse else DenseGraph(_check_dense(affinity))
    with np.errstate(over="ignore"):
        volume = graph.volume
    if not np.isfinite(volume):
        raise ValueError("The weights are so large that their sum overflows; divide them by the largest one.")
    return graph


def _networkx_weights(graph: Any) -> sp.csr_array:
    import networkx as nx

    if graph.is_directed():
        raise ValueError("A directed networkx graph cannot be cut; use graph.to_undirected().")
    return nx.to_scipy_sparse_array(graph, weight="weight", dtype=np.float64, format="csr")


def _check_sparse(affinity: Any) -> sp.csr_array:
    weights = sp.csr_array(affinity, dtype=np.float64)
    if not weights.has_canonical_format:
        # A copy first: the arrays may still belong to the caller.
        weights = weights.copy()
        weights.sum_duplicates()
    edges = sp.coo_array(weights)
    _check_entries(edges.data, edges.row, edges.col)
    gap = sp.coo_array(abs(weights - weights.T))
    if gap.nnz:
        worst = int(np.argmax(gap.data))
        row, col = int(gap.row[worst]), int(gap.col[worst])
        _check_symmetry(float(gap.data[worst]), float(edges.data.max()), row, col)
    return sp.csr_array(0.5 * (weights + weights.T))


def _check_dense(affinity: npt.NDArray) -> FloatArray:
    weights = np.asarray(affinity, dtype=np.float64)
    columns = np.arange(weights.shape[0])
    # A row at a time: checks of the whole would hold several copies of a matrix that may just fit.
    for row, entries in enumerate(weights):
        if not (np.isfinite(entries) & (entries >= 0)).all():
            _check_entries(entries, np.full_like(columns, row), columns)
    worst = (0.0, 0, 0)
    for rows in tile_rows(weights.shape[0]):
        gap = np.abs(weights[rows, rows.start :] - weights[rows.start :, rows].T)
        i, j = np.unravel_index(int(gap.argmax()), gap.shape)
        worst = max(worst, (float(gap[i, j]), rows.start + int(i), rows.start + int(j)))
    if worst[0] > 0:
        _check_symmetry(worst[0], float(weights.max()), *worst[1:])
        weights = 0.5 * (weights + weights.T)
    return weights


def _check_entries(weights: npt.NDArray, rows: npt.NDArray, cols: npt.NDArray) -> None:
    for is_bad, rule in ((~np.isfinite(weights), "finite"), (weights < 0, "nonnegative")):
        if is_bad.any():
            first = int(np.argmax(is_bad))
            raise ValueError(
                f"affinity[{rows[first]}, {cols[first]}] = {weights[first]}: weights must be {rule}. "
                "Distances are not affinities; turn them into weights first, for example exp(-d²/(2σ²))."
            )


def _check_symmetry(gap: float, largest: float, row: int, col: int) -> None:
    # Rounding makes weights differ from their mirror image by a small share of the largest weight.
    if gap > 1e-8 * largest:
        raise ValueError(
            f"affinity[{row}, {col}] and affinity[{col}, {row}] differ by {gap:.3g}: the weights of an "
            "undirected graph are symmetric. Use (A + A.T) / 2 if that is what you mean."
        )


def warn_about_graph(graph: Graph, n_clusters: int) -> None:
    """Warn about what keeps a graph from being cut into `n_clusters` parts in a meaningful way.

    Parameters
    ----------
    graph : Graph
        The graph to be cut.
    n_clusters : int
        How many clusters are asked for.

    Raises
    ------
    ValueError
        If no point has any neighbour at all.

    Examples
    --------
    >>> import numpy as np, warnings
    >>> from sidecut.graphs import as_graph, warn_about_graph
    >>> lonely = as_graph(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0.0]]))
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_about_graph(lonely, n_clusters=1)
    >>> str(caught[0].message)
    '1 of 3 points have no neighbours (2): ...'
    """
    isolated = graph.isolated
    if isolated.size == graph.n_nodes:
        raise ValueError(
            f"None of the {graph.n_nodes} points has a neighbour: every weight is zero. Use a larger sigma, "
            "more neighbours, or check the affinity."
        )
    if isolated.size:
        warn(
            f"{isolated.size} of {graph.n_nodes} points have no neighbours ({_list_points(isolated)}): the "
            "graph says nothing about them and their labels are arbitrary. Use more neighbours or a larger "
            "sigma, or leave them out.",
            GraphWarning,
        )
    if graph.n_components > n_clusters:
        warn_about_components(np.bincount(graph.components[graph.components >= 0]), n_clusters)


def warn_about_components(sizes: IntArray, n_clusters: int) -> None:
    """Warn where a graph has more connected components, of these sizes, than clusters are asked for."""
    if sizes.size > n_clusters:
        warn(
            f"The graph has {sizes.size} connected components (of {_list_points(np.sort(sizes)[::-1])} "
            f"points), more than n_clusters={n_clusters}: every grouping of whole components has cut zero, "
            "so the graph does not decide. The components of largest volume are kept apart. Use more "
            "neighbours, more clusters, or constraints that join components.",
            GraphWarning,
        )


def _list_points(values: npt.NDArray, at_most: int = 5) -> str:
    """Return the first few values, with dots if there are more."""
    shown = ", ".join(str(value) for value in values[:at_most])
    return shown + (", ..." if values.size > at_most else "")
