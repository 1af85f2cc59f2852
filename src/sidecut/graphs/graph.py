"""What a graph is to the methods above it: something that multiplies a block of vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator

from sidecut.arrays import FloatArray, IntArray
from sidecut.graphs.threads import SparseProduct

#: `toarray` refuses graphs with more nodes than this: 20,000 nodes are 3.2 GB.
DENSE_LIMIT = 20_000


class Extension(Protocol):
    """What links new points to those of a graph."""

    def edges(self, X: Any, X_new: Any) -> tuple[sp.csr_array, IntArray]:
        """Return the weights from new points to old ones, and for each new point an old one it equals, or -1.

        Parameters
        ----------
        X, X_new : arrays or sparse matrices
            The points of the graph, and new ones.
        """
        ...


class SplitWeights(NamedTuple):
    """Weights as a sparse matrix plus one of low rank, S + B diag(m) Bᵀ.

    Attributes
    ----------
    sparse : csr_array of shape (n, n)
        S, symmetric.
    factor : array of shape (n, rank)
        B.
    levels : array of shape (rank,)
        m, of either sign, none zero.
    """

    sparse: sp.csr_array
    factor: FloatArray
    levels: FloatArray


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

    @property
    def matrix(self) -> sp.csr_array | FloatArray | None:
        """The weights as an explicit matrix, or None where they are only ever applied."""
        return None

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

    def weights_at(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the weights of some pairs of nodes; one product with W for every distinct row."""
        weights = np.empty(len(rows))
        for node in np.unique(rows):
            unit = np.zeros(self.n_nodes)
            unit[node] = 1.0
            here = rows == node
            weights[here] = self.apply(unit)[columns[here]]
        return weights

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
        self._weights = _with_short_indices(self._weights)
        self.n_nodes = int(self._weights.shape[0])
        self.recall = recall
        self.extension = extension

    @property
    def matrix(self) -> sp.csr_array:
        """The weights in compressed rows."""
        return self._weights

    @property
    def n_edges(self) -> int:
        """The number of edges, each counted once, self-loops included."""
        loops = int(np.count_nonzero(self._weights.diagonal()))
        return (self._weights.nnz + loops) // 2

    def apply(self, block: FloatArray) -> FloatArray:
        """Return W @ block."""
        return np.asarray(self._weights @ block)

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

    def weights_at(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the weights of some pairs of nodes."""
        return np.asarray(self._weights[rows, columns], dtype=np.float64).ravel()

    @cached_property
    def components(self) -> IntArray:
        """The connected component of every node, found exactly; isolated nodes are -1."""
        return drop_isolated(_dense_components(self._weights), self.isolated)

    def toarray(self) -> FloatArray:
        """Return a copy of W."""
        return self._weights.copy()


def _with_short_indices(weights: sp.csr_array) -> sp.csr_array:
    """Return the matrix with 32-bit indices where they suffice: half the memory to move in every product."""
    if weights.indices.dtype == np.int32 or max(weights.nnz, *weights.shape) > np.iinfo(np.int32).max:
        return weights
    indices, starts = weights.indices.astype(np.int32), weights.indptr.astype(np.int32)
    return sp.csr_array((weights.data, indices, starts), shape=weights.shape)


def _dense_components(weights: FloatArray) -> IntArray:
    """Breadth-first search on dense rows; no sparse copy of a matrix that is full anyway."""
    n_nodes = weights.shape[0]
    labels = np.full(n_nodes, -1, dtype=np.intp)
    n_found = 0
    while (unseen := np.flatnonzero(labels < 0)).size:
        frontier = unseen[:1]
        while frontier.size:
            labels[frontier] = n_found
            reached = np.zeros(n_nodes, dtype=bool)
            for node in frontier:
                reached |= weights[node] > 0
            frontier = np.flatnonzero(reached & (labels < 0))
        n_found += 1
    return labels


def drop_isolated(labels: npt.NDArray, isolated: IntArray) -> IntArray:
    """Renumber components so that isolated nodes are -1 and the others count from 0."""
    labels = np.asarray(labels, dtype=np.intp).copy()
    labels[isolated] = -1
    kept = labels >= 0
    labels[kept] = np.unique(labels[kept], return_inverse=True)[1]
    return labels


# The normalised affinity D^{-1/2} W D^{-1/2} of a graph, and the null space of its Laplacian.


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


_shared: dict[int, NormalizedAffinity] = {}


@contextmanager
def normalized_once(graph: Graph) -> Iterator[None]:
    """Let everybody who normalises a graph by `normalize` meanwhile have the same Ā.

    To make Ā takes as long as a dozen products with it, and a fit needs it several times. It is not kept any
    longer: it is as large as the graph.

    Parameters
    ----------
    graph : Graph
        The graph.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import as_graph, normalize, normalized_once
    >>> graph = as_graph(np.ones((2, 2)))
    >>> with normalized_once(graph):
    ...     first, second = normalize(graph), normalize(graph)
    >>> first is second
    True
    """
    if id(graph) in _shared:
        yield
        return
    _shared[id(graph)] = NormalizedAffinity(graph)
    try:
        yield
    finally:
        _shared.pop(id(graph), None)


def normalize(graph: Graph) -> NormalizedAffinity:
    """Return Ā of a graph: the one that is shared, see `normalized_once`, or a new one.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.graphs import normalize
    >>> normalize(as_graph(np.array([[0.0, 4.0], [4.0, 0.0]]))).apply(np.array([1.0, 0.0]))
    array([0., 1.])
    """
    return _shared.get(id(graph)) or NormalizedAffinity(graph)
