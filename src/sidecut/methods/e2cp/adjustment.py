"""A graph adjusted by propagated constraints on all its pairs: eq. 4 of E2CP (Lu & Ip, 2010)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import gen_batches

from sidecut.checks import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.graphs import FactorGraph, ResolventGraph, lazy
from sidecut.graphs.graph import DenseGraph, Graph, SparseGraph, SparseProduct, SplitWeights, drop_isolated
from sidecut.graphs.lazy import (
    KeptStrips,
    KeptTiledGraph,
    TiledGraph,
    correct_weights,
    halve,
    rows_of,
    tile_rows,
)
from sidecut.methods.cut import LARGEST_EIGENVALUE
from sidecut.methods.e2cp.propagation import (
    SMOOTH_TOLERANCE,
    AgreementMatrix,
    LowRankMatrix,
    SmoothMatrix,
    number_components,
    slices,
    spread,
    unit_columns,
)
from sidecut.running import count_threads

PositivePart = Callable[[FloatArray], FloatArray]
Product = Callable[[FloatArray], FloatArray]

#: Up to this many nodes an adjusted graph is kept in memory (32 MB), if the graph itself is.
DENSE_NODES = 2_000
#: Positive entries of the agreement of labels that are not sure beforehand are stored up to this many a node.
MAX_STORED_PER_NODE = 200
#: The number of groups of points whose weights are approximated by one number for every two groups.
N_GROUPS = 200
#: The error of the approximation is the mean over this many random points.
N_MEASURED_POINTS = 8
#: The weights between groups are split off as a factor up to this rank. Labels of two classes that reach a
#: part of the graph have rank 2, random pairs 200.
MAX_SPLIT_RANK = 32


def positive_part(matrix: LowRankMatrix) -> PositivePart | None:
    """Return the map X -> F⁺ X, or None where F has no positive entry."""
    values = matrix.core.data if sp.issparse(matrix.core) else matrix.core
    # The factor is not negative, so a core of one sign makes F of that sign.
    if np.all(values <= 0):
        return None
    if np.all(values >= 0) and matrix.largest() <= 1.0:
        return matrix.apply
    if isinstance(matrix, AgreementMatrix):
        return ClasswisePart(matrix)
    return TiledPart(matrix)


class ClasswisePart:
    """The map X -> F⁺ X for F = w (2 U Uᵀ - s sᵀ), F⁺_ij = min(max(F_ij, 0), 1)."""

    # With p_i = U_i / s_i the shares of point i among the classes, F_ij = w s_i s_j (2 p_i·p_j - 1) is
    # positive only if both points have the same leading class, with a share above one half:
    #
    # - p_i·p_j is a mean of the entries of p_j, with weights p_i; so p_i·p_j > 1/2 needs an entry of p_j
    #   above 1/2, and likewise of p_i.
    # - If these are in different classes, p_ia = x and p_jb = y with a ≠ b, then
    #   p_i·p_j <= x (1 - y) + (1 - x) y = 1/2 - 2 (x - 1/2)(y - 1/2) < 1/2.
    #
    # Within a class, p_i·p_j >= x y: where x y >= 1/2 the entry is surely not negative; with two classes,
    # where p_i·p_j = x y + (1 - x)(1 - y) = 1/2 + 2 (x - 1/2)(y - 1/2), it never is. With the points of a
    # class sorted by their share, the sure columns of a row come first, and are applied through the factor by
    # running sums. Of the doubtful entries few are positive. They are found once and stored, or, where they
    # are many, computed again in every product.
    #
    # Also F_ij <= t_i t_j with t_i = √w s_i (2 x_i - 1), since p_i·p_j <= x y + (1 - x)(1 - y). In a class
    # where that exceeds 1, so that entries may have to be clipped, none is taken as sure.
    #
    # The search for the doubtful entries is all that takes more than linear time.

    def __init__(self, matrix: AgreementMatrix) -> None:
        self.n_nodes = matrix.n_nodes
        self.classes = list(_sorted_classes(matrix))
        self.stored = self._stored_doubts(MAX_STORED_PER_NODE * matrix.n_nodes)

    def __call__(self, block: FloatArray) -> FloatArray:
        """Return F⁺ @ block."""
        columns = block.reshape(self.n_nodes, -1)
        doubtful = self._doubtful_product if self.stored is None else self._stored_product
        result = doubtful(columns)
        with ThreadPoolExecutor(count_threads()) as pool:
            sure = pool.map(lambda members: members.sure_product(columns[members.points]), self.classes)
            for members, product in zip(self.classes, sure, strict=True):
                result[members.points] += product
        return result.reshape(block.shape)

    @cached_property
    def _stored_product(self) -> SparseProduct:
        return SparseProduct(self.stored)

    def __getstate__(self) -> dict[str, Any]:
        # Threads cannot be written to a file.
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_stored_product"}

    def _doubtful_product(self, block: FloatArray) -> FloatArray:
        result = np.zeros(block.shape)
        for members in self.classes:
            for rows, columns, tile in members.doubtful_tiles():
                result[members.points[rows]] += tile @ block[members.points[columns]]
        return result

    def _stored_doubts(self, limit: int) -> sp.csr_array | None:
        """Return the positive entries that are not sure beforehand, or None if they are more than a limit."""
        found: list[tuple[npt.NDArray, npt.NDArray, FloatArray]] = []
        n_found = 0
        index_type = np.int32 if self.n_nodes <= np.iinfo(np.int32).max else np.int64
        for members in self.classes:
            nodes = members.points.astype(index_type)
            for rows, columns, tile in members.doubtful_tiles():
                i, j = np.nonzero(tile)
                found.append((nodes[rows][i], nodes[columns][j], tile[i, j]))
                n_found += i.size
                if n_found > limit:
                    return None
        shape = (self.n_nodes, self.n_nodes)
        if not found:
            return sp.csr_array(shape)
        i, j, values = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return sp.csr_array((values, (i, j)), shape=shape)


@dataclass(frozen=True)
class _Class:
    """The decided points of one class, the most decided first, with their rows of U and of U C."""

    points: IntArray
    factor: FloatArray
    left: FloatArray
    shares: FloatArray
    is_clipped: bool

    @cached_property
    def n_sure(self) -> IntArray:
        """How many of the first columns are surely not negative, for every row; fewer from row to row."""
        if self.is_clipped:
            return np.zeros(self.points.size, dtype=np.intp)
        if self.factor.shape[1] == 2:
            return np.full(self.points.size, self.points.size, dtype=np.intp)
        # The shares descend, so those of at least 1 / (2 share) come first.
        return np.searchsorted(-self.shares, -0.5 / self.shares, side="right")

    @property
    def n_doubtful(self) -> int:
        """How many entries are not sure beforehand."""
        return int((self.points.size - self.n_sure).sum())

    def sure_product(self, block: FloatArray) -> FloatArray:
        """Return the product of the sure entries with the rows of a block that belong to the class."""
        if self.n_doubtful == 0:
            return self.left @ (self.factor.T @ block)
        result = np.zeros(block.shape)
        some = np.flatnonzero(self.n_sure)
        # Running sums of 32 MB at a time.
        at_once = max(1, 4_000_000 // self.factor.size)
        for start in range(0, block.shape[1], at_once):
            part = slice(start, start + at_once)
            sums = np.cumsum(self.factor[:, :, None] * block[:, None, part], axis=0)
            result[some, part] = np.einsum("ik,ikb->ib", self.left[some], sums[self.n_sure[some] - 1])
        return result

    def doubtful_tiles(self) -> Iterator[tuple[slice, slice, FloatArray]]:
        """Yield (rows, columns, F⁺[rows, columns]) for all entries that are not sure; zero where they are."""
        for rows in slices(self.points.size):
            for columns in slices(self.points.size, int(self.n_sure[rows.stop - 1])):
                tile = self.left[rows] @ self.factor[columns].T
                np.clip(tile, 0.0, 1.0, out=tile)
                tile[np.arange(columns.start, columns.stop) < self.n_sure[rows, None]] = 0.0
                yield rows, columns, tile


def _sorted_classes(matrix: AgreementMatrix) -> Iterator[_Class]:
    sums = matrix.factor.sum(axis=1)
    leading = matrix.factor.argmax(axis=1)
    shares = np.zeros(matrix.n_nodes)
    np.divide(matrix.factor.max(axis=1), sums, out=shares, where=sums > 0)
    tops = np.sqrt(matrix.weight) * sums * (2.0 * shares - 1.0)
    # The bound is not tight: a matrix divided by its largest entry has none above 1.
    is_bounded = matrix.largest() <= 1.0 + 1e-13
    for k in range(matrix.rank):
        points = np.flatnonzero((leading == k) & (shares > 0.5))
        if points.size:
            points = points[np.argsort(-shares[points], kind="stable")]
            is_clipped = not is_bounded and bool(tops[points].max() > 1.0)
            rows = matrix.factor[points], matrix.left(points)
            yield _Class(points, *rows, shares[points], is_clipped)


class TiledPart:
    """The map X -> F⁺ X with F⁺_ij = min(max(F_ij, 0), 1), F of low rank: exact, tile by tile."""

    # Making all tiles costs n² rank / 2 multiplications, far more than using them. So they are made once and
    # their positive entries kept, in the precision of the factor, as far as they fit in memory: few random
    # pairs among K classes are must-links, and few entries of F are positive. Tiles that do not fit are made
    # again in every product.

    def __init__(self, matrix: LowRankMatrix) -> None:
        self.matrix = matrix

    def __call__(self, block: FloatArray) -> FloatArray:
        """Return F⁺ @ block."""
        return self._strips(block)

    @cached_property
    def _strips(self) -> KeptStrips:
        return KeptStrips(self.matrix.n_nodes, list(slices(self.matrix.n_nodes)), self._strip)

    @cached_property
    def share(self) -> float:
        """The share of entries that are positive, estimated from a sample."""
        places = np.random.default_rng(0).integers(self.matrix.n_nodes, size=(2, 10_000))
        return float((self.matrix.entries(*places) > 0).mean())

    @property
    def product_cost(self) -> float:
        """About how many multiplications are spent, in every product, on making tiles again."""
        n_entries = self.matrix.n_nodes**2 / 2
        needed = n_entries * self.share * (self.matrix.factor.itemsize + np.dtype(np.int32).itemsize)
        return n_entries * self.matrix.rank * max(0.0, 1.0 - lazy.KEPT_BYTES / max(needed, 1.0))

    def _strip(self, rows: slice) -> sp.csr_array:
        """Return F⁺[rows, rows.start:], its corner halved, made a tile at a time."""
        left = self.matrix.left(rows)
        tiles = []
        for columns in slices(self.matrix.n_nodes, rows.start):
            tile = left @ self.matrix.factor[columns].T
            np.clip(tile, 0.0, 1.0, out=tile)
            tiles.append(sp.csr_array(halve(tile) if columns.start == rows.start else tile))
        return sp.hstack(tiles, format="csr")

    def __getstate__(self) -> dict[str, Any]:
        # Tiles can be made again.
        return {"matrix": self.matrix}


def adjust_weights(weights: FloatArray, propagated: FloatArray, max_weight: float = 1.0) -> FloatArray:
    """Return eq. 4 of E2CP: 1 - (1 - F)(1 - W) where F >= 0, (1 + F) W where F < 0; entry by entry.

    Both are W (1 - |F|) + max(F, 0). F is first clipped to [-1, 1], beyond which eq. 4 would make weights
    negative.
    """
    clipped = np.clip(propagated, -1.0, 1.0)
    return weights * (1.0 - np.abs(clipped)) + max_weight * np.maximum(clipped, 0.0)


class AdjustedGraph(KeptTiledGraph):
    """The graph W (1 - |F|) + max(F, 0) of eq. 4, where F has entries everywhere and is kept as a factor.

    If W is sparse, so is the first term; the second is applied through the structure of F, see
    `positive_part`. Otherwise both are evaluated tile by tile. Memory is proportional to that of W and of the
    factor.
    """

    def __init__(self, graph: Graph, propagated: LowRankMatrix, max_weight: float = 1.0) -> None:
        self.graph = graph
        self.propagated = propagated
        self.max_weight = max_weight
        self.n_nodes = graph.n_nodes
        self.edges = _adjust_edges(graph, propagated) if graph.is_sparse else None

    @cached_property
    def joined(self) -> PositivePart | None:
        """The map X -> max(F, 0) X, or None where F has no positive entry."""
        return positive_part(self.propagated)

    def apply(self, block: FloatArray) -> FloatArray:
        """Return the product with a vector or a block of vectors."""
        if self.edges is None:
            return super().apply(block)
        kept = self._edge_product(block)
        return kept if self.joined is None else kept + self.max_weight * self.joined(block)

    @cached_property
    def _edge_product(self) -> Product:
        return product_with(self.edges)

    def __getstate__(self) -> dict[str, Any]:
        # Threads cannot be written to a file.
        return {name: value for name, value in super().__getstate__().items() if name != "_edge_product"}

    def tile(self, rows: slice) -> FloatArray:
        """Return some rows of the weights."""
        propagated = self.propagated.block(rows, slice(None))
        return adjust_weights(rows_of(self.graph, rows), propagated, self.max_weight)

    def weights_at(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the weights of some pairs of nodes."""
        propagated = self.propagated.entries(rows, columns)
        return adjust_weights(self.graph.weights_at(rows, columns), propagated, self.max_weight)

    @cached_property
    def components(self) -> IntArray:
        """The connected component of every node, found exactly if W is sparse; isolated nodes are -1."""
        if self.edges is None:
            return super().components
        number = number_components(self.edges)
        n_found = int(number.max()) + 1
        if n_found > 1 and self.joined is not None:
            # Components between which F is positive somewhere are one.
            touching = sp.lil_array((n_found, n_found))
            for start in range(0, n_found, 64):
                own = np.arange(start, min(start + 64, n_found))
                # F⁺ has no negative entry: its product with an indicator is positive where any entry is.
                node, which = np.nonzero(self.joined((number[:, None] == own).astype(np.float64)) > 0)
                touching[number[node], own[which]] = 1.0
            number = connected_components(sp.csr_array(touching), directed=False)[1][number]
        return drop_isolated(number, self.isolated)


def max_weight(graph: Graph) -> float:
    """Return the largest weight of the graph, or 1 where that is more."""
    # Eq. 4 takes weights in [0, 1]. Where they are larger it would lower the weight of pairs that belong
    # together; so it is applied to W divided by its largest weight, which changes no cut.
    if graph.matrix is not None:
        return max(1.0, float(graph.matrix.max()))
    if graph.largest is not None:
        return max(1.0, graph.largest)
    # Other graphs that are only applied or made in tiles, such as heat and codes, have no weight above 1.
    if not isinstance(graph, ResolventGraph | FactorGraph):
        return 1.0
    return max(1.0, *(float(rows_of(graph, rows).max()) for rows in tile_rows(graph.n_nodes)))


def adjust_graph(graph: Graph, propagated: LowRankMatrix, max_weight: float = 1.0) -> Graph:
    """Return a graph adjusted by eq. 4 in the form that suits it."""
    lazy = AdjustedGraph(graph, propagated, max_weight)
    if lazy.edges is not None and lazy.joined is None:
        return lazy.edges
    if graph.n_nodes > DENSE_NODES or isinstance(graph, TiledGraph):
        return lazy
    weights = lazy.materialized().matrix
    # Small graphs keep their form; larger ones are sparse if few weights are not zero.
    is_sparse = graph.n_nodes <= 800 or np.count_nonzero(weights) < 0.1 * weights.size
    if sp.issparse(graph.matrix) and is_sparse:
        return SparseGraph(sp.csr_array(weights))
    return DenseGraph(weights)


@dataclass(frozen=True)
class EdgeAdjustment:
    """The map W_ij -> W_ij (1 - |F_ij|) on edges."""

    propagated: LowRankMatrix | SmoothMatrix

    def __call__(self, rows: IntArray, columns: IntArray, weights: npt.NDArray[Any]) -> FloatArray:
        """Return the adjusted weights of some edges."""
        return weights * np.maximum(1.0 - np.abs(self.propagated.entries(rows, columns)), 0.0)

    def restricted(self, nodes: IntArray) -> EdgeAdjustment:
        """Return the same between some nodes, numbered by their places."""
        return EdgeAdjustment(self.propagated.restricted(nodes))


def _adjust_edges(graph: Any, propagated: LowRankMatrix | SmoothMatrix) -> Graph:
    """Return W (1 - |F|), which lives on the edges of W."""
    return graph.reweighted(EdgeAdjustment(propagated))


def product_with(edges: Any) -> Product:
    """Return the map X -> E X, shared out among threads where E is in memory."""
    return SparseProduct(edges.matrix) if sp.issparse(edges.matrix) else edges.apply


def propagate_to_new(
    edges: sp.csr_array, graph: Graph, propagated: LowRankMatrix | SmoothMatrix, alpha: float
) -> FloatArray:
    """Return α s F, the rows of F of new points, with s = W_j / √(d d_j)."""
    # A new point has no constraints, so its row of Z is zero, and its row of P = (1 - α)(I - α Ā)⁻¹ is the
    # mean of its neighbours' rows, weighted by s.
    return alpha * propagated.apply(_normalize(edges, graph).toarray().T).T


def extend_rows(
    edges: sp.csr_array,
    graph: Graph,
    propagated: LowRankMatrix | SmoothMatrix,
    alpha: float,
    max_weight: float,
    relaxed: FloatArray,
    eigenvalues: FloatArray,
) -> FloatArray:
    """Return the rows of D̃^{-1/2} V for new points."""
    # Eq. 4 adjusts the weights of a new point, its self-loop included; then the equation of an eigenvector is
    # solved for its entry.
    factor = np.where(eigenvalues < LARGEST_EIGENVALUE, 1.0 - eigenvalues, 1.0)
    rows = np.empty((edges.shape[0], relaxed.shape[1]))
    # Rows of F of 160 MB at a time.
    for part in gen_batches(edges.shape[0], max(1, 20_000_000 // edges.shape[1])):
        some = edges[part]
        arrived = propagate_to_new(some, graph, propagated, alpha)
        weights = adjust_weights(some.toarray(), arrived, max_weight)
        # W̃_ii = F_ii = α s F_i: a self-loop counts in the degree and multiplies the entry itself.
        own = alpha * np.asarray(_normalize(some, graph).multiply(arrived).sum(axis=1)).ravel()
        loop = max_weight * np.clip(own, 0.0, 1.0)
        degree = weights.sum(axis=1) + loop
        rows[part] = (weights @ relaxed) / (degree[:, None] * factor - loop[:, None])
    return rows


def _normalize(edges: sp.csr_array, graph: Graph) -> sp.csr_array:
    degrees = np.sqrt(np.maximum(graph.degrees, np.finfo(np.float64).tiny))
    own = np.sqrt(np.asarray(edges.sum(axis=1)).ravel())
    return sp.csr_array(sp.diags_array(1.0 / own) @ edges @ sp.diags_array(1.0 / degrees))


class GroupedGraph(Graph):
    """The graph E + G M Gᵀ, where E is sparse and G says which group each node is in."""

    def __init__(self, edges: Graph, group: IntArray, block_weights: FloatArray) -> None:
        self.n_nodes = edges.n_nodes
        self.edges = edges
        self.group = group
        self.block_weights = block_weights

    @cached_property
    def _members(self) -> sp.csr_array:
        ones = np.ones(self.n_nodes)
        shape = (self.block_weights.shape[0], self.n_nodes)
        return sp.csr_array((ones, (self.group, np.arange(self.n_nodes))), shape=shape)

    @cached_property
    def _edge_product(self) -> Product:
        return product_with(self.edges)

    def apply(self, block: FloatArray) -> FloatArray:
        """Return W̃ @ block."""
        added = self.block_weights @ (self._members @ block)
        if block.dtype == np.float32:
            added = added.astype(np.float32)
        return self._edge_product(block) + added[self.group]

    @property
    def split(self) -> SplitWeights | None:
        """E + B diag(m) Bᵀ, where D^{-1/2} B has orthonormal columns, or None where it has many of them."""
        if not sp.issparse(self.edges.matrix):
            return None
        sizes = np.sqrt(self._members @ self.scale**2)
        shares, vectors = np.linalg.eigh(sizes[:, None] * self.block_weights * sizes)
        # Smaller shares of the normalised affinity are rounding errors.
        kept = np.abs(shares) > 1e-14
        if np.count_nonzero(kept) > MAX_SPLIT_RANK:
            return None
        # A group of isolated nodes alone has size 0, and no weight.
        per_group = vectors[:, kept] / np.where(sizes > 0, sizes, np.inf)[:, None]
        return SplitWeights(self.edges.matrix, per_group[self.group], shares[kept])

    def weights_at(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the weights of some pairs of nodes."""
        if len(rows) == 0:
            return np.empty(0)
        own = self.edges.weights_at(rows, columns)
        return np.maximum(own + self.block_weights[self.group[rows], self.group[columns]], 0.0)

    @cached_property
    def components(self) -> IntArray:
        """The connected component of every node, by edges and by groups."""
        touching = sp.csr_array(self.block_weights > 0, dtype=np.float64)
        used = np.asarray(touching.sum(axis=1)).ravel() > 0
        part, present = connected_components(touching, directed=False)[1], np.unique(self.group)
        if used[present].all() and np.all(part[present] == part[present[0]]):
            # Every node is in a group with weight, and the groups are connected.
            return drop_isolated(np.zeros(self.n_nodes, dtype=np.intp), self.isolated)
        weights: Any = self.edges.matrix
        positive = self.edges if weights is None else SparseGraph(weights.maximum(0.0))
        by_edges = number_components(positive)
        n_found, grouped = int(by_edges.max()) + 1, np.flatnonzero(used[self.group])
        ends = (by_edges[grouped], n_found + part[self.group[grouped]])
        sides = sp.csr_array((np.ones(grouped.size), ends), shape=(n_found + part.max() + 1,) * 2)
        number = connected_components(sides, directed=False)[1][by_edges]
        return drop_isolated(number, self.isolated)

    def toarray(self) -> FloatArray:
        """Return W̃ as a dense array, formed at once."""
        return np.asarray(
            self.edges.tosparse().toarray() + self.block_weights[np.ix_(self.group, self.group)]
        )

    def __getstate__(self) -> dict[str, Any]:
        # Threads cannot be written to a file.
        return {name: value for name, value in super().__getstate__().items() if name != "_edge_product"}


def adjust_smoothly(
    graph: Graph,
    propagated: SmoothMatrix,
    max_weight: float,
    rng: np.random.RandomState,
    n_groups: int = N_GROUPS,
) -> Graph:
    """Return W̃ of eq. 4 for a smooth F; sparse where F has no positive entry beside the pairs."""
    edges = _adjust_edges(graph, propagated)
    if not propagated.has_positive_entries:
        return edges
    component, reached = propagated.joined_components(graph)
    group, block_weights = _group_points(propagated, component, reached, n_groups, rng)
    pairs = sp.coo_array(propagated.sparse_part)
    strong = np.clip(propagated.at_pairs(), 0.0, 1.0) - block_weights[group[pairs.row], group[pairs.col]]
    joined = sp.csr_array((max_weight * strong, (pairs.row, pairs.col)), shape=edges.shape)
    # Mirrored entries are sums in different orders.
    joined = 0.5 * (joined + joined.T)
    return GroupedGraph(correct_weights(edges, joined), group, max_weight * block_weights)


def measure_error(
    graph: Graph,
    changed: Graph,
    exact_columns: Callable[[IntArray], FloatArray],
    max_weight: float,
    rng: np.random.RandomState,
) -> float:
    """Return how far the rows of W̃ are from eq. 4, as a share of their degrees: the mean over some points."""
    points = rng.choice(graph.n_nodes, size=min(N_MEASURED_POINTS, graph.n_nodes), replace=False)
    units = unit_columns(graph.n_nodes, points)
    exact = adjust_weights(graph.apply(units), exact_columns(points), max_weight)
    wrong = np.abs(changed.apply(units) - exact).sum(axis=0)
    return float(np.mean(wrong / np.maximum(exact.sum(axis=0), np.finfo(np.float64).tiny)))


def propagated_columns(graph: Graph, constraints: Constraints, alpha: float, points: IntArray) -> FloatArray:
    """Return some columns of F = P Z P, by two solves."""
    once = spread(graph, unit_columns(graph.n_nodes, points), alpha, tolerance=SMOOTH_TOLERANCE)
    return spread(graph, constraints.as_matrix() @ once, alpha, tolerance=SMOOTH_TOLERANCE)


def _group_points(
    propagated: SmoothMatrix,
    component: IntArray,
    reached: IntArray,
    n_groups: int,
    rng: np.random.RandomState,
) -> tuple[IntArray, FloatArray]:
    """Group the points by their rows of F's factor, and return the positive part of F between the means."""
    # No group has points of two components, and F is zero between components. The components that no
    # constraint reaches are one group, where F is zero.
    smooth, rows = propagated.smooth, propagated.coordinates
    rows = (rows / max(float(np.abs(rows).max()), float(np.finfo(np.float64).tiny))).astype(np.float32)
    group, next_group = np.zeros(rows.shape[0], dtype=np.intp), 1
    sizes, ends = np.bincount(component), np.cumsum(np.bincount(component))
    order, n_reached = np.argsort(component, kind="stable"), int(sizes[reached].sum())
    for size, end in zip(sizes[reached], ends[reached], strict=True):
        points = order[end - size : end]
        # Groups are shared out by size, at least one for every component.
        group[points] = next_group + _nearest_means(rows[points], -(-n_groups * size // n_reached), rng)
        next_group = int(group[points].max()) + 1
    counts = np.bincount(group)
    members = sp.csr_array((np.ones(group.size), (group, np.arange(group.size))))
    middle = (members @ smooth.factor) / np.maximum(counts, 1)[:, None]
    block_weights = middle @ smooth.core @ middle.T
    block_weights = np.clip(0.5 * (block_weights + block_weights.T), 0.0, 1.0)
    home = np.full(counts.size, -1)
    home[group] = component
    block_weights[home[:, None] != home] = 0.0
    block_weights[0] = block_weights[:, 0] = 0.0
    return group, block_weights


def _nearest_means(rows: FloatArray, n_groups: int, rng: np.random.RandomState) -> IntArray:
    """Return groups of similar rows, numbered without gaps."""
    if n_groups == 1:
        return np.zeros(rows.shape[0], dtype=np.intp)
    sample = rng.choice(rows.shape[0], min(10_000, rows.shape[0]), replace=False)
    means = KMeans(min(n_groups, sample.size), init="random", n_init=1, max_iter=8, random_state=rng)
    with warnings.catch_warnings():
        # Fewer distinct rows than groups: some stay empty.
        warnings.simplefilter("ignore", ConvergenceWarning)
        group = means.fit(rows[sample]).predict(rows)
    return np.unique(group, return_inverse=True)[1]
