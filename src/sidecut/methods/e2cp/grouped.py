"""The graph of eq. 4 for smooth beliefs: sparse, plus one weight for every two groups of points.

W̃ = W (1 - |F|) + F⁺. Where F is smooth, points with like rows of its factor have like rows of F; so F⁺ is
one number for every two groups of such points. The edges of W and the constrained pairs have weights of
their own.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.graphs import Graph, SparseGraph
from sidecut.graphs.graph import SparseProduct, SplitWeights, drop_isolated
from sidecut.methods.e2cp.adjustment import adjust_weights
from sidecut.methods.e2cp.smooth import SmoothBeliefs
from sidecut.methods.e2cp.spreading import spread

BeliefsAt = Callable[[IntArray], FloatArray]

#: Points are put into so many groups, from a sample of so many points.
GROUPS = 200
GROUP_SAMPLE = 10_000
#: The error is measured at so many points, against rows of F to this residual.
MEASURED_POINTS = 8
MEASURED_TOLERANCE = 3e-3
#: The rank that the groups add is low up to here; shares of the normalised affinity below the second number
#: are rounding errors. Labels of two classes that reach a part of the graph have rank 2, random pairs 200.
LOW_RANK = 32
ROUNDING = 1e-14


class GroupedGraph(Graph):
    """The graph E + G M Gᵀ, where E is sparse and G says which group each node is in.

    Parameters
    ----------
    edges : sparse array of shape (n, n)
        E, symmetric. It may have negative entries where M adds as much or more.
    group : array of shape (n,)
        The group of every node.
    levels : array of shape (n_groups, n_groups)
        M, symmetric and not negative.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from sidecut.methods.e2cp.grouped import GroupedGraph
    >>> edges = sp.csr_array(np.array([[0, 1.0, 0], [1.0, 0, 0], [0, 0, 0]]))
    >>> GroupedGraph(edges, np.array([0, 1, 1]), np.array([[0.0, 0.5], [0.5, 0.0]])).toarray()
    array([[0. , 1.5, 0.5],
           [1.5, 0. , 0. ],
           [0.5, 0. , 0. ]])
    """

    def __init__(self, edges: sp.csr_array, group: IntArray, levels: FloatArray) -> None:
        self.n_nodes = int(edges.shape[0])
        self.edges = sp.csr_array(edges)
        self.group = group
        self.levels = levels

    @cached_property
    def _members(self) -> sp.csr_array:
        ones = np.ones(self.n_nodes)
        shape = (self.levels.shape[0], self.n_nodes)
        return sp.csr_array((ones, (self.group, np.arange(self.n_nodes))), shape=shape)

    @cached_property
    def _edge_product(self) -> SparseProduct:
        return SparseProduct(self.edges)

    def apply(self, block: FloatArray) -> FloatArray:
        """Return W̃ @ block."""
        added = self.levels @ (self._members @ block)
        if block.dtype == np.float32:
            added = added.astype(np.float32)
        return self._edge_product(block) + added[self.group]

    @property
    def split(self) -> SplitWeights | None:
        """E + B diag(m) Bᵀ, where D^{-1/2} B has orthonormal columns, or None where it has many of them."""
        sizes = np.sqrt(self._members @ self.scale**2)
        shares, vectors = np.linalg.eigh(sizes[:, None] * self.levels * sizes)
        kept = np.abs(shares) > ROUNDING
        if np.count_nonzero(kept) > LOW_RANK:
            return None
        # A group of isolated nodes alone has size 0, and no weight.
        per_group = vectors[:, kept] / np.where(sizes > 0, sizes, np.inf)[:, None]
        return SplitWeights(self.edges, per_group[self.group], shares[kept])

    def weights_at(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the weights of some pairs of nodes."""
        if len(rows) == 0:
            return np.empty(0)
        own = np.asarray(self.edges[rows, columns], dtype=np.float64).ravel()
        return np.maximum(own + self.levels[self.group[rows], self.group[columns]], 0.0)

    @cached_property
    def components(self) -> IntArray:
        """The connected component of every node: by edges, and by the groups that hang together."""
        touching = sp.csr_array(self.levels > 0, dtype=np.float64)
        used = np.asarray(touching.sum(axis=1)).ravel() > 0
        part, present = connected_components(touching, directed=False)[1], np.unique(self.group)
        if used[present].all() and np.all(part[present] == part[present[0]]):
            # Every node hangs on a group, and the groups hang together: the edges need not be followed.
            return drop_isolated(np.zeros(self.n_nodes, dtype=np.intp), self.isolated)
        by_edges = connected_components(_positive_part(self.edges), directed=False)[1]
        n_found, hanging = int(by_edges.max()) + 1, np.flatnonzero(used[self.group])
        ends = (by_edges[hanging], n_found + part[self.group[hanging]])
        sides = sp.csr_array((np.ones(hanging.size), ends), shape=(n_found + part.max() + 1,) * 2)
        number = connected_components(sides, directed=False)[1][by_edges]
        return drop_isolated(number, self.isolated)

    def toarray(self) -> FloatArray:
        """Return W̃ as a dense array, formed at once."""
        return np.asarray(self.edges.toarray() + self.levels[np.ix_(self.group, self.group)])

    def __getstate__(self) -> dict[str, Any]:
        # Threads cannot be written to a file.
        return {name: value for name, value in super().__getstate__().items() if name != "_edge_product"}


def _positive_part(edges: sp.csr_array) -> sp.csr_array:
    """Return a sparse matrix with its positive entries only, and no other stored."""
    if edges.data.min(initial=np.inf) > 0:
        return edges
    positive = sp.csr_array(
        (np.maximum(edges.data, 0.0), edges.indices.copy(), edges.indptr.copy()), edges.shape
    )
    positive.eliminate_zeros()
    return positive


def adjust_smoothly(graph: Graph, beliefs: SmoothBeliefs, unit: float, rng: np.random.RandomState) -> Graph:
    """Return W̃ of eq. 4 for smooth beliefs; sparse where nothing joins points that are not linked.

    Parameters
    ----------
    graph : Graph
        W, sparse.
    beliefs : SmoothBeliefs
        F.
    unit : float
        The largest weight there can be, see `adjust_weights`.
    rng : RandomState
        For the groups.
    """
    edges = _edges(graph, beliefs)
    if not beliefs.joins:
        return SparseGraph(edges)
    group, levels = _levels(beliefs, rng)
    pairs = sp.coo_array(beliefs.sharp)
    strong = np.clip(beliefs.at_pairs(), 0.0, 1.0) - levels[group[pairs.row], group[pairs.col]]
    joined = sp.csr_array((unit * strong, (pairs.row, pairs.col)), shape=edges.shape)
    # Mirrored entries are sums in different orders.
    joined = 0.5 * (joined + joined.T)
    return GroupedGraph(sp.csr_array(edges + joined), group, unit * levels)


def measure_error(
    graph: Graph, changed: Graph, exact_beliefs: BeliefsAt, unit: float, rng: np.random.RandomState
) -> float:
    """Return how far the rows of W̃ are from eq. 4, as a share of their degrees: the mean over some points.

    Parameters
    ----------
    graph, changed : Graph
        W, and W̃ as it is.
    exact_beliefs : callable
        points -> the columns of F, as eq. 4 takes them.
    unit : float
        The largest weight there can be.
    rng : RandomState
        Which points.
    """
    points = rng.choice(graph.n_nodes, size=min(MEASURED_POINTS, graph.n_nodes), replace=False)
    units = np.zeros((graph.n_nodes, points.size))
    units[points, np.arange(points.size)] = 1.0
    exact = adjust_weights(graph.apply(units), exact_beliefs(points), unit)
    wrong = np.abs(changed.apply(units) - exact).sum(axis=0)
    return float(np.mean(wrong / np.maximum(exact.sum(axis=0), np.finfo(np.float64).tiny)))


def beliefs_at(graph: Graph, constraints: Constraints, alpha: float, points: IntArray) -> FloatArray:
    """Return some columns of F = P Z P, by two solves."""
    units = np.zeros((graph.n_nodes, points.size))
    units[points, np.arange(points.size)] = 1.0
    once = spread(graph, units, alpha, tolerance=MEASURED_TOLERANCE)
    return spread(graph, constraints.as_matrix() @ once, alpha, tolerance=MEASURED_TOLERANCE)


def _edges(graph: Graph, beliefs: SmoothBeliefs) -> sp.csr_array:
    """Return W (1 - |F|), symmetric to the last bit."""
    upper = sp.coo_array(sp.triu(graph.matrix))
    strengths = np.minimum(np.abs(beliefs.entries(upper.row, upper.col)), 1.0)
    half = sp.csr_array((upper.data * (1.0 - strengths), (upper.row, upper.col)), shape=upper.shape)
    return sp.csr_array(half + sp.triu(half, k=1).T)


def _levels(beliefs: SmoothBeliefs, rng: np.random.RandomState) -> tuple[IntArray, FloatArray]:
    """Group the points by their rows of F's factor, and return the positive part of F between the means."""
    factor, core = beliefs.smooth.factor, beliefs.smooth.core
    rows = beliefs.places / max(float(np.abs(beliefs.places).max()), float(np.finfo(np.float64).tiny))
    rows = rows.astype(np.float32)
    sample = rng.choice(rows.shape[0], min(GROUP_SAMPLE, rows.shape[0]), replace=False)
    means = KMeans(min(GROUPS, sample.size), init="random", n_init=1, max_iter=8, random_state=rng)
    with warnings.catch_warnings():
        # Fewer distinct rows than groups: some stay empty.
        warnings.simplefilter("ignore", ConvergenceWarning)
        group = means.fit(rows[sample]).predict(rows)
    _, group = np.unique(group, return_inverse=True)
    counts = np.bincount(group)
    members = sp.csr_array((np.ones(group.size), (group, np.arange(group.size))))
    middle = (members @ factor) / counts[:, None]
    levels = middle @ core @ middle.T
    return group, np.clip(0.5 * (levels + levels.T), 0.0, 1.0)
