"""A graph adjusted by beliefs about all its pairs: eq. 4 of E2CP (Lu & Ip, 2010)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from sidecut.arrays import FloatArray, IntArray
from sidecut.graphs.graph import DenseGraph, Graph, SparseGraph, SparseProduct, drop_isolated
from sidecut.graphs.lazy import KeptTiledGraph, TiledGraph, rows_of
from sidecut.methods.e2cp.lowrank import LowRankMatrix
from sidecut.methods.e2cp.positive_part import PositivePart, positive_part
from sidecut.methods.e2cp.smooth import SmoothBeliefs
from sidecut.methods.extension import LARGEST_EIGENVALUE

#: Up to this many nodes an adjusted graph is kept in memory (32 MB), if the graph itself is.
IN_MEMORY = 2_000
#: Up to this many nodes it has the form of the graph; beyond, it is kept sparse if so small a share of its
#: entries is not zero.
SMALL = 800
SPARSE_SHARE = 0.1
#: Components are joined by so many columns of indicators at a time.
COMPONENTS_AT_ONCE = 64


def adjust_weights(weights: FloatArray, beliefs: FloatArray, unit: float = 1.0) -> FloatArray:
    """Return eq. 4 of E2CP: 1 - (1 - F)(1 - W) where F >= 0, (1 + F) W where F < 0; entry by entry.

    Both are W (1 - |F|) + max(F, 0). Beliefs are first clipped to [-1, 1], beyond which eq. 4 would make
    weights negative.

    Parameters
    ----------
    weights, beliefs : arrays of the same shape
        W and F.
    unit : float, default=1.0
        The largest weight there can be, 1 in the paper: W (1 - |F|) + unit max(F, 0).

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.e2cp.adjustment import adjust_weights
    >>> adjust_weights(np.array([0.5, 0.5, 0.0]), np.array([0.5, -0.5, -3.0]))
    array([0.75, 0.25, 0.  ])
    """
    clipped = np.clip(beliefs, -1.0, 1.0)
    return weights * (1.0 - np.abs(clipped)) + unit * np.maximum(clipped, 0.0)


class AdjustedGraph(KeptTiledGraph):
    """The graph W (1 - |F|) + max(F, 0) of eq. 4, where F is known by its factor and has entries everywhere.

    If W is sparse, so is the first term; the second is applied through the structure of F, see
    `positive_part`. Otherwise both are evaluated tile by tile. Memory is proportional to that of W and of the
    factor.

    Parameters
    ----------
    graph : Graph
        W, in any form.
    beliefs : LowRankMatrix
        F, with a factor that is not negative.
    unit : float, default=1.0
        The largest weight there can be, see `adjust_weights`.
    """

    def __init__(self, graph: Graph, beliefs: LowRankMatrix, unit: float = 1.0) -> None:
        self.graph = graph
        self.beliefs = beliefs
        self.unit = unit
        self.n_nodes = graph.n_nodes
        self.edges = _adjust_edges(graph, beliefs) if sp.issparse(graph.matrix) else None

    @cached_property
    def joined(self) -> PositivePart | None:
        """The map X -> max(F, 0) X, or None where F has no positive entry."""
        return positive_part(self.beliefs)

    def apply(self, block: FloatArray) -> FloatArray:
        """Return the product with a vector or a block of vectors."""
        if self.edges is None:
            return super().apply(block)
        kept = self._edge_product(block)
        return kept if self.joined is None else kept + self.unit * self.joined(block)

    @cached_property
    def _edge_product(self) -> SparseProduct:
        return SparseProduct(self.edges)

    def __getstate__(self) -> dict[str, Any]:
        # Threads cannot be written to a file.
        return {name: value for name, value in super().__getstate__().items() if name != "_edge_product"}

    def tile(self, rows: slice) -> FloatArray:
        """Return some rows of the weights."""
        beliefs = self.beliefs.block(rows, slice(None))
        return adjust_weights(rows_of(self.graph, rows), beliefs, self.unit)

    def weights_at(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the weights of some pairs of nodes."""
        beliefs = self.beliefs.entries(rows, columns)
        return adjust_weights(self.graph.weights_at(rows, columns), beliefs, self.unit)

    @cached_property
    def components(self) -> IntArray:
        """The connected component of every node, found exactly if W is sparse; isolated nodes are -1."""
        if self.edges is None:
            return super().components
        number = connected_components(self.edges, directed=False)[1]
        return drop_isolated(self._with_joints(number), self.isolated)

    def _with_joints(self, number: npt.NDArray) -> npt.NDArray:
        """Merge the components between which F is positive somewhere."""
        n_found = int(number.max()) + 1
        if n_found == 1 or self.joined is None:
            return number
        touching = sp.lil_array((n_found, n_found))
        for start in range(0, n_found, COMPONENTS_AT_ONCE):
            own = np.arange(start, min(start + COMPONENTS_AT_ONCE, n_found))
            # F⁺ has no negative entry: its product with an indicator is positive where any entry is.
            node, which = np.nonzero(self.joined((number[:, None] == own).astype(np.float64)) > 0)
            touching[number[node], own[which]] = 1.0
        return connected_components(sp.csr_array(touching), directed=False)[1][number]


def adjust_graph(graph: Graph, beliefs: LowRankMatrix, unit: float = 1.0) -> Graph:
    """Return a graph adjusted by eq. 4 in the form that suits it.

    Parameters
    ----------
    graph : Graph
        W, in any form.
    beliefs : LowRankMatrix
        F, with a factor that is not negative.
    unit : float, default=1.0
        The largest weight there can be, see `adjust_weights`.

    Returns
    -------
    Graph
        In memory up to 2,000 nodes, unless W is evaluated in tiles, and sparse where F joins no pairs or
        few; otherwise an `AdjustedGraph`.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.e2cp.lowrank import AgreementMatrix
    >>> from sidecut.methods.e2cp.adjustment import adjust_graph
    >>> from sidecut.graphs import as_graph
    >>> graph = as_graph(np.array([[0.0, 0.5, 0.5], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]]))
    >>> beliefs = AgreementMatrix(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.5]]))
    >>> adjust_graph(graph, beliefs).toarray()
    array([[1.  , 1.  , 0.25],
           [1.  , 1.  , 0.25],
           [0.25, 0.25, 0.25]])
    """
    lazy = AdjustedGraph(graph, beliefs, unit)
    if lazy.edges is not None and lazy.joined is None:
        return SparseGraph(lazy.edges)
    if graph.n_nodes > IN_MEMORY or isinstance(graph, TiledGraph):
        return lazy
    weights = lazy.materialized().matrix
    is_sparse = graph.n_nodes <= SMALL or np.count_nonzero(weights) < SPARSE_SHARE * weights.size
    if sp.issparse(graph.matrix) and is_sparse:
        return SparseGraph(sp.csr_array(weights))
    return DenseGraph(weights)


def _adjust_edges(graph: Graph, beliefs: LowRankMatrix) -> sp.csr_array:
    """Return W (1 - |F|), which lives on the edges of W."""
    # One half and its mirror image: a graph is symmetric to the last bit.
    edges = sp.coo_array(sp.triu(graph.matrix))
    strengths = np.abs(beliefs.entries(edges.row, edges.col))
    weights = edges.data * np.maximum(1.0 - strengths, 0.0)
    half = sp.csr_array((weights, (edges.row, edges.col)), shape=edges.shape)
    kept = sp.csr_array(half + sp.triu(half, k=1).T)
    kept.eliminate_zeros()
    return kept


# What E2CP makes of a new point: its row of F, of the adjusted graph, and of the eigenvectors.
#
# Nothing is known about a new point, so its row of Z is zero, and its row of P = (1 - α)(I - α Ā)⁻¹ is that
# of its neighbours, averaged by the normalised weights s: F_new = α s F. Eq. 4 then adjusts its weights as
# it does all others, self-loop included, and the equation of an eigenvector is solved for its entry.


#: So many numbers of the rows of F are held at a time.
ROW_NUMBERS = 20_000_000


def arriving_beliefs(
    edges: sp.csr_array, graph: Graph, beliefs: LowRankMatrix | SmoothBeliefs, alpha: float
) -> FloatArray:
    """Return α s F, what is believed about new points and all old ones, with s = W_j / √(d d_j).

    Parameters
    ----------
    edges : csr_array of shape (m, n)
        Weights of new points to old ones.
    graph : Graph
        The graph before eq. 4, for the degrees of the old points.
    beliefs : LowRankMatrix or SmoothBeliefs
        F of the old points.
    alpha : float
        α of eq. 3.
    """
    return alpha * beliefs.apply(_normalize(edges, graph).toarray().T).T


def extend_rows(
    edges: sp.csr_array,
    graph: Graph,
    beliefs: LowRankMatrix | SmoothBeliefs,
    alpha: float,
    unit: float,
    relaxed: FloatArray,
    eigenvalues: FloatArray,
) -> FloatArray:
    """Return the rows of D̃^{-1/2} V for new points, in memory for a few of them at a time.

    Parameters
    ----------
    edges, graph, beliefs, alpha
        See `arriving_beliefs`; beliefs as eq. 4 takes them, rescaled or not.
    unit : float
        The largest weight there can be, see `adjust_weights`.
    relaxed : array of shape (n, k)
        D̃^{-1/2} V of the old points.
    eigenvalues : array of shape (k,)
        λ of the normalised Laplacian of the adjusted graph.
    """
    factor = np.where(eigenvalues < LARGEST_EIGENVALUE, 1.0 - eigenvalues, 1.0)
    rows = np.empty((edges.shape[0], relaxed.shape[1]))
    for part in _portions(*edges.shape):
        some = edges[part]
        arrived = arriving_beliefs(some, graph, beliefs, alpha)
        weights = adjust_weights(some.toarray(), arrived, unit)
        # W̃_ii = F_ii = α s F_i: a self-loop counts in the degree and multiplies the entry itself.
        own = alpha * np.asarray(_normalize(some, graph).multiply(arrived).sum(axis=1)).ravel()
        loop = unit * np.clip(own, 0.0, 1.0)
        degree = weights.sum(axis=1) + loop
        rows[part] = (weights @ relaxed) / (degree[:, None] * factor - loop[:, None])
    return rows


def _normalize(edges: sp.csr_array, graph: Graph) -> sp.csr_array:
    degrees = np.sqrt(np.maximum(graph.degrees, np.finfo(np.float64).tiny))
    own = np.sqrt(np.asarray(edges.sum(axis=1)).ravel())
    return sp.csr_array(sp.diags_array(1.0 / own) @ edges @ sp.diags_array(1.0 / degrees))


def _portions(n_new: int, n_old: int) -> Iterator[slice]:
    at_once = max(1, ROW_NUMBERS // n_old)
    return (slice(start, min(start + at_once, n_new)) for start in range(0, n_new, at_once))
