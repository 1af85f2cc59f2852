"""Constraints propagated from some pairs to all pairs of points (Lu & Ip, 2010, section 2).

F of eq. 3 for many pairs is smooth nearly everywhere, and sharp where the pairs themselves are.
P = (1 - α)(I - α Ā)⁻¹ keeps the leading eigenvectors of Ā and damps the others. So F = P Z P is for the most
part what it is on a few of them, on its left or on its right: with Q orthonormal and B = F Q,

    F = Q Bᵀ + B Qᵀ - Q (QᵀB) Qᵀ + R,     R = (I - QQᵀ) F (I - QQᵀ).

The first three terms are kept as they are. Of R, the entries at the constrained pairs are kept: they alone
are large. No matrix here has more columns than twice the eigenvectors, however many pairs there are.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.linalg import solve
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator

from sidecut.checks import FloatArray, IntArray, check_count
from sidecut.constraints import Constraints
from sidecut.exceptions import SpectralError, SpectralWarning
from sidecut.graphs import Graph
from sidecut.graphs.graph import DENSE_LIMIT
from sidecut.running import count_threads, limit_threads
from sidecut.spectral import laplacian_eigenpairs
from sidecut.spectral.conjugate_gradients import column_dots, solve_columns
from sidecut.spectral.lanczos import largest_eigenvectors

#: Tiles are squares of this side: 8 MB, which stay in the cache while they are made, clipped and multiplied.
TILE_SIDE = 1_024
#: Linear systems are solved to this residual relative to the right-hand side.
TOLERANCE = 1e-14
#: Right-hand sides that are solved at once: few enough for their blocks to stay in the cache.
COLUMNS_AT_ONCE = 16
#: Up to this many nodes a system is factorised, if it has at least one column for every eight nodes.
DENSE_NODES = 4_000
#: From this many nodes on, residuals of 1e-5 or more are reached by products in single precision.
MIN_SINGLE_NODES = 500_000
#: A block of more bytes than this in double precision is made and kept in single precision.
MAX_DOUBLE_BYTES = 2**30

Rows = slice | IntArray
#: B is computed to this residual, below the error of the sparse part.
SMOOTH_TOLERANCE = 3e-3
#: If the gap after the K-th eigenvalue exceeds this, K vectors are enough: the graph made of them is as near
#: to eq. 4 as with twice as many (benchmarks/choices/shortcuts.py).
MIN_GAP = 0.05


class LowRankMatrix:
    """The symmetric matrix F = A C Aᵀ, known by its factor A and its small core C."""

    def __init__(self, factor: FloatArray, core: FloatArray | sp.csr_array) -> None:
        precision = np.float32 if np.asarray(factor).dtype == np.float32 else np.float64
        self.factor: npt.NDArray[Any] = np.ascontiguousarray(factor, dtype=precision)
        self.core: Any = core
        self.n_nodes = int(self.factor.shape[0])

    @property
    def rank(self) -> int:
        """The number of columns of the factor, which bounds the rank."""
        return int(self.factor.shape[1])

    def scaled(self, unit: float) -> LowRankMatrix:
        """Return F / unit."""
        return LowRankMatrix(self.factor, self.core / unit)

    def restricted(self, nodes: IntArray) -> LowRankMatrix:
        """Return F between some nodes."""
        return LowRankMatrix(self.factor[nodes], self.core)

    def apply(self, block: FloatArray) -> FloatArray:
        """Return F @ block for a vector or a block, in O(n rank) per column."""
        if self.factor.dtype == np.float64:
            return self.factor @ np.asarray(self.core @ (self.factor.T @ block))
        # A product of two precisions copies the first into the second: a tile at a time.
        inner = np.zeros((self.rank, *block.shape[1:]))
        for rows in slices(self.n_nodes):
            inner += self.factor[rows].T @ block[rows]
        inner = np.asarray(self.core @ inner)
        return np.concatenate([self.factor[rows] @ inner for rows in slices(self.n_nodes)])

    def left(self, rows: Rows) -> npt.NDArray[Any]:
        """Return the rows of A C, in the precision of A."""
        return np.asarray(self.factor[rows] @ self.core, dtype=self.factor.dtype)

    def block(self, rows: Rows, columns: Rows) -> npt.NDArray[Any]:
        """Return F[rows, columns], in the precision of A."""
        return self.left(rows) @ self.factor[columns].T

    def entries(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return F at some places, one by one."""
        values = np.empty(len(rows))
        # About 4 MB at a time. Where every row is needed several times, A C is made once.
        is_small = self.n_nodes * self.rank <= 500_000
        whole = self.left(slice(None)) if is_small and len(rows) > self.n_nodes else None
        at_once = max(1, 500_000 // max(self.rank, 1))
        for start in range(0, len(rows), at_once):
            part = slice(start, start + at_once)
            if whole is not None:
                left = whole[rows[part]]
            else:
                some, place = np.unique(rows[part], return_inverse=True)
                left = self.left(some)[place]
            values[part] = np.einsum("ir,ir->i", left, self.factor[columns[part]])
        return values

    def diagonal(self) -> FloatArray:
        """Return the diagonal of F."""
        nodes = np.arange(self.n_nodes)
        return self.entries(nodes, nodes)

    @cached_property
    def reach(self) -> FloatArray:
        """Numbers g with |F_ij| <= g_i g_j.

        |F_ij| is at most ‖(A C)_i‖ ‖A_j‖ by Cauchy and Schwarz and, F being symmetric, also ‖(A C)_j‖ ‖A_i‖;
        so it is at most the geometric mean of the two.
        """
        squares = np.empty(self.n_nodes)
        for rows in slices(self.n_nodes):
            left = np.linalg.norm(self.left(rows), axis=1)
            squares[rows] = left * np.linalg.norm(self.factor[rows], axis=1)
        return np.sqrt(squares)

    def largest(self) -> float:
        """Return max |F_ij| over all entries, the diagonal included."""
        found = [float(np.abs(self.diagonal()).max(initial=0.0))]
        for _, _, block in self.blocks_above(lambda: found[-1]):
            found.append(max(found[-1], float(np.abs(block).max())))
        return found[-1]

    def blocks_above(self, bound: Callable[[], float]) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
        """Yield (rows, columns, F[rows, columns]), the largest entries first, as far as they can matter.

        Blocks are left out when no entry can exceed the bound, which is asked for again before every block.
        Every unordered pair is in one block or, within a block on the diagonal, in two mirrored places.
        """
        order = np.argsort(-self.reach, kind="stable")
        reach = self.reach[order]
        for rows in slices(self.n_nodes):
            for columns in slices(self.n_nodes, rows.start):
                if reach[rows.start] * reach[columns.start] <= bound():
                    break
                yield order[rows], order[columns], self.block(order[rows], order[columns])

    def toarray(self) -> FloatArray:
        """Return F as a dense array; for small graphs only."""
        if self.n_nodes > DENSE_LIMIT:
            raise MemoryError(
                f"toarray() of a matrix on {self.n_nodes:,} nodes would need "
                f"{8 * self.n_nodes**2 / 1e9:.1f} GB; up to {DENSE_LIMIT:,} nodes it is made, use apply(), "
                "block() or entries() instead."
            )
        dense = self.block(slice(None), slice(None))
        # Mirrored entries are sums in different orders.
        return np.asarray(0.5 * (dense + dense.T), dtype=np.float64)


class AgreementMatrix(LowRankMatrix):
    """The matrix F = w (2 U Uᵀ - s sᵀ) with s = U 1: how far the classes of two points agree.

    It is what labels, the matrix w (2 Y Yᵀ - 1 1ᵀ) on the labelled points, become when Y is carried to all
    points as U. With p_i = U_i / s_i, how i is shared among the classes, F_ij = w s_i s_j (2 p_i·p_j - 1).
    """

    def __init__(self, memberships: FloatArray, weight: float = 1.0) -> None:
        n_classes = memberships.shape[1]
        super().__init__(memberships, weight * (2.0 * np.eye(n_classes) - np.ones((n_classes, n_classes))))
        self.weight = weight

    def scaled(self, unit: float) -> AgreementMatrix:
        """Return F / unit."""
        return AgreementMatrix(self.factor, self.weight / unit)

    @cached_property
    def reach(self) -> FloatArray:
        """Numbers g with |F_ij| <= g_i g_j: 2 p_i·p_j - 1 lies between -1 and 1."""
        return np.sqrt(self.weight) * self.factor.sum(axis=1)


def slices(n: int, start: int = 0) -> Iterator[slice]:
    """Yield slices of a tile's side that cover start, ..., n - 1."""
    for first in range(start, n, TILE_SIDE):
        yield slice(first, min(first + TILE_SIDE, n))


def unit_columns(n_nodes: int, points: IntArray, columns: IntArray | None = None) -> FloatArray:
    """Return a block with a one for each of some points, in a column of its own or in the one given."""
    columns = np.arange(len(points)) if columns is None else columns
    block = np.zeros((n_nodes, int(columns.max()) + 1))
    block[points, columns] = 1.0
    return block


def spread(graph: Graph, block: FloatArray, alpha: float, tolerance: float = TOLERANCE) -> FloatArray:
    """Return P @ block with P = (1 - α)(I - α Ā)⁻¹, the limit of label propagation on a graph.

    Ā = D^{-1/2} W D^{-1/2} has its eigenvalues in [-1, 1], so the condition number of the system is at most
    (1 + α)/(1 - α), 9 for α = 0.8: a few dozen steps of conjugate gradients reach rounding error.
    """
    affinity = graph.normalized
    is_rough = tolerance >= 1e-5 and graph.n_nodes >= MIN_SINGLE_NODES

    def apply(block: FloatArray, columns: IntArray) -> FloatArray:
        spread_once: Any = affinity.apply(block.astype(np.float32) if is_rough else block)
        return block - alpha * spread_once

    # The number of steps after which conjugate gradients are exact to rounding (the Chebyshev bound).
    root = np.sqrt((1.0 + alpha) / (1.0 - alpha))
    n_steps = int(np.ceil(np.log(2.0 * root / TOLERANCE) / np.log1p(2.0 / max(root - 1.0, 1e-16)))) + 1
    right = (1.0 - alpha) * block.reshape(block.shape[0], -1)
    found = graph.run(lambda right: solve_columns(apply, right, tolerance, n_steps), right)
    return found.reshape(block.shape)


def spread_units(graph: Graph, points: IntArray, column: IntArray, alpha: float) -> npt.NDArray[Any]:
    """Return P Y, where Y has a one for each of some points, in the column given for it."""
    # A result of more than 1 GB is made in single precision: to about 1e-8 times the largest entry.
    shape = (graph.n_nodes, int(column.max()) + 1)
    if shape[1] > COLUMNS_AT_ONCE and shape[0] > min(DENSE_NODES, 8 * shape[1]):
        return _spread_in_threads(graph, points, column, alpha, shape)
    units = unit_columns(shape[0], points, column)
    is_dense = shape[0] <= min(DENSE_NODES, 8 * shape[1])
    # P = (1 - α) Σ αᵗ Āᵗ has no negative entry; rounding alone could make one.
    return np.maximum((_solve_densely if is_dense else spread)(graph, units, alpha), 0.0)


def _solve_densely(graph: Graph, block: FloatArray, alpha: float) -> FloatArray:
    """Return P @ block by a factorisation, which pays off for many columns."""
    affinity = graph.normalized
    is_sparse = sp.issparse(graph.matrix)
    dense = sp.csr_array(affinity.matrix).toarray() if is_sparse else affinity.apply(np.eye(graph.n_nodes))
    system = np.eye(graph.n_nodes) - alpha * dense
    with limit_threads(only_blas=True):
        return np.asarray(solve((system + system.T) / 2, (1.0 - alpha) * block, assume_a="pos"))


def _spread_in_threads(
    graph: Graph, points: IntArray, column: IntArray, alpha: float, shape: tuple[int, int]
) -> npt.NDArray[Any]:
    """Return P Y for many columns, blocks of them shared out among threads."""
    affinity = graph.normalized
    is_double = 8 * shape[0] * shape[1] <= MAX_DOUBLE_BYTES
    precision = np.dtype(np.float64 if is_double else np.float32)
    # In single precision smaller entries count as zero: their products would be denormal numbers, with which
    # a processor is a hundred times slower.
    least = 0.0 if is_double else 1e-18
    result = np.empty(shape, dtype=precision)
    matrix = sp.csr_array(affinity.matrix, dtype=precision) if sp.issparse(graph.matrix) else None

    def multiply(block: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if matrix is not None:
            return matrix @ block
        return affinity.apply(block.astype(np.float64)).astype(precision)

    def solve_part(start: int) -> None:
        stop = min(start + COLUMNS_AT_ONCE, shape[1])
        here = (column >= start) & (column < stop)
        zeros = np.zeros((shape[0], stop - start), dtype=precision)
        block = _chebyshev(multiply, (points[here], column[here] - start), zeros, alpha)
        result[:, start:stop] = np.where(block > least, block, 0.0)

    with ThreadPoolExecutor(count_threads()) as pool:
        list(pool.map(solve_part, range(0, shape[1], COLUMNS_AT_ONCE)))
    return result


def _chebyshev(
    multiply: Callable[[npt.NDArray[Any]], npt.NDArray[Any]],
    ones: tuple[IntArray, IntArray],
    zeros: npt.NDArray[Any],
    alpha: float,
) -> npt.NDArray[Any]:
    """Solve (I - α Ā) X = (1 - α) Y by Chebyshev's semi-iteration, Y given by the places of its ones."""
    # The eigenvalues of α Ā lie in [-α, α], so the error falls by (1 + √(1 - α²))/α in every step, 2 for
    # α = 0.8. Unlike conjugate gradients it needs no inner products, which are most of the work beside a
    # sparse product.
    number = zeros.dtype.type
    before, current = zeros, zeros.copy()
    np.add.at(current, ones, number(1.0 - alpha))
    weight = 2.0
    # To rounding.
    tolerance = 1e-9 if zeros.dtype == np.float32 else 0.1 * TOLERANCE
    rate = (1.0 + np.sqrt(1.0 - alpha**2)) / alpha
    for _ in range(int(np.ceil(np.log(2.0 / tolerance) / np.log(rate)))):
        weight = 1.0 / (1.0 - 0.25 * alpha**2 * weight)
        image = multiply(current)
        image *= number(weight * alpha)
        before *= number(1.0 - weight)
        before += image
        np.add.at(before, ones, number(weight * (1.0 - alpha)))
        before, current = current, before
    return current


def propagate(graph: Graph, constraints: Constraints, alpha: float = 0.8) -> PropagatedConstraints:
    """Propagate constraints to all pairs of points: F = P Z P of eq. 3, kept as a factor."""
    if constraints.are_labels:
        labelled = constraints.constrained_points
        memberships = spread_units(graph, labelled, np.asarray(constraints.labels)[labelled], alpha)
        return PropagatedConstraints(AgreementMatrix(memberships, constraints.largest_strength()))
    if constraints.is_empty:
        return PropagatedConstraints(LowRankMatrix(np.zeros((graph.n_nodes, 0)), np.zeros((0, 0))))
    known, points = constraints.restricted()
    factor = spread_units(graph, points, np.arange(points.size), alpha)
    return PropagatedConstraints(LowRankMatrix(factor, known.as_matrix()))


def propagate_labels(
    graph: Graph, constraints: Constraints, alpha: float, tolerance: float
) -> AgreementMatrix:
    """Return F of labels to some residual, where `propagate` goes as far as rounding."""
    labels = np.asarray(constraints.labels)
    labelled = np.flatnonzero(labels >= 0)
    units = unit_columns(graph.n_nodes, labelled, labels[labelled])
    memberships = np.maximum(spread(graph, units, alpha, tolerance), 0.0)
    return AgreementMatrix(memberships, constraints.largest_strength())


@dataclass(frozen=True, eq=False)
class PropagatedConstraints:
    """The matrix F of eq. 3: the propagated constraint on every pair of points.

    F_ij > 0 says that i and j belong together, F_ij < 0 that they do not; |F_ij| is the confidence. The
    matrix has entries everywhere and is kept as a factor.
    """

    matrix: LowRankMatrix

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return self.matrix.n_nodes

    @property
    def max_abs(self) -> float:
        """The largest |F_ij|, the diagonal included."""
        return self.matrix.largest()

    def apply(self, X: npt.ArrayLike) -> FloatArray:
        """Return F @ X for a vector or a block of vectors, without forming F."""
        return self.matrix.apply(np.asarray(X, dtype=np.float64))

    def __matmul__(self, X: npt.ArrayLike) -> FloatArray:
        return self.apply(X)

    def entries(self, rows: npt.ArrayLike, columns: npt.ArrayLike) -> FloatArray:
        """Return F at some places."""
        return self.matrix.entries(np.asarray(rows, dtype=np.intp), np.asarray(columns, dtype=np.intp))

    def toarray(self) -> FloatArray:
        """Return F as a dense array; for small N only."""
        return self.matrix.toarray()

    def strongest(self, n: int) -> tuple[IntArray, FloatArray]:
        """Return the n pairs i < j of largest |F_ij| and their F_ij, strongest first.

        Pairs with F_ij = 0 are left out. Memory is proportional to n. Blocks that cannot hold one of the
        strongest are not computed.
        """
        kept = _Kept(check_count("n", n))
        for first, second, values in self.matrix.blocks_above(lambda: kept.floor):
            kept.offer(first, second, values, np.abs(values))
        return kept.pairs, kept.strengths

    def sample(
        self,
        n: int,
        *,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        hard: bool = False,
    ) -> Constraints:
        """Draw n different pairs, with probability proportional to |F_ij|, as constraints for any learner."""
        if isinstance(random_state, np.random.RandomState):
            random_state = int(random_state.randint(2**31 - 1))
        rng = np.random.default_rng(random_state)
        kept = _Kept(check_count("n", n))
        for first, second, values in self.matrix.blocks_above(lambda: 0.0):
            # The largest of |F| / E with E exponential are a draw without replacement in proportion to |F|
            # (Efraimidis & Spirakis, 2006).
            kept.offer(first, second, values, np.abs(values) / rng.standard_exponential(values.shape))
        strengths = np.sign(kept.strengths) if hard else kept.strengths
        upper = sp.csr_array((strengths, tuple(kept.pairs.T)), shape=(self.n_samples, self.n_samples))
        return Constraints.from_matrix(sp.csr_array(upper + upper.T))

    def __repr__(self) -> str:
        return f"PropagatedConstraints(n_samples={self.n_samples}, rank={self.matrix.rank})"


@dataclass
class _Kept:
    """The n pairs of highest score."""

    n: int
    pairs: IntArray = field(default_factory=lambda: np.empty((0, 2), dtype=np.intp))
    strengths: FloatArray = field(default_factory=lambda: np.empty(0))
    scores: FloatArray = field(default_factory=lambda: np.empty(0))

    @property
    def floor(self) -> float:
        """The least score that is kept."""
        return float(self.scores[-1]) if self.scores.size == self.n else 0.0

    def offer(self, first: IntArray, second: IntArray, values: FloatArray, scores: FloatArray) -> None:
        """Take the pairs of a block whose scores are above the floor."""
        good = scores > self.floor
        if first[0] == second[0]:
            # A block on the diagonal holds every pair twice, and the points themselves.
            good = np.triu(good, k=1)
        row, column = np.nonzero(good)
        found = np.sort(np.column_stack([first[row], second[column]]), axis=1)
        pairs = np.concatenate([self.pairs, found])
        strengths = np.concatenate([self.strengths, values[row, column]])
        scores = np.concatenate([self.scores, scores[row, column]])
        best = np.lexsort((pairs[:, 1], pairs[:, 0], -scores))[: self.n]
        self.pairs, self.strengths, self.scores = pairs[best], strengths[best], scores[best]


@dataclass(frozen=True)
class SmoothMatrix:
    """F as a matrix of low rank plus a sparse one, which stores what F is at some pairs of points."""

    smooth: LowRankMatrix
    sparse_part: sp.csr_array
    coordinates: FloatArray
    has_positive_entries: bool

    def apply(self, block: FloatArray) -> FloatArray:
        """Return F @ block."""
        return self.smooth.apply(block) + self.sparse_part @ block

    def entries(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return F at some places."""
        return self.smooth.entries(rows, columns) + np.asarray(self.sparse_part[rows, columns]).ravel()

    def at_pairs(self) -> FloatArray:
        """Return F where `sparse_part` has its entries, in their order."""
        pairs = sp.coo_array(self.sparse_part)
        return self.smooth.entries(pairs.row, pairs.col) + pairs.data

    def joined_components(self, graph: Graph) -> tuple[IntArray, IntArray]:
        """Return the component of every point in W and F⁺ together, and which ones constraints reach."""
        # F is zero between two components of W without a constraint between them. Those between which F is
        # positive at a stored pair are one.
        number = number_components(graph)
        pairs, positive = sp.coo_array(self.sparse_part), self.at_pairs() > 0
        ends = number[pairs.row[positive]], number[pairs.col[positive]]
        count = int(number.max()) + 1
        joints = sp.coo_array((np.ones(ends[0].size), ends), shape=(count, count))
        joined = connected_components(joints, directed=False)[1][number]
        return joined, np.unique(joined[np.concatenate([pairs.row, pairs.col])])

    def restricted(self, nodes: IntArray) -> SmoothMatrix:
        """Return F between some nodes."""
        inside = sp.csr_array(self.sparse_part[nodes][:, nodes])
        return replace(
            self,
            smooth=self.smooth.restricted(nodes),
            sparse_part=inside,
            coordinates=self.coordinates[nodes],
        )

    def scaled(self, unit: float) -> SmoothMatrix:
        """Return F / unit."""
        return replace(self, smooth=self.smooth.scaled(unit), sparse_part=self.sparse_part / unit)


def smooth_labels(graph: Graph, agreement: LowRankMatrix, labels: IntArray) -> SmoothMatrix:
    """Return F of labels, which has low rank as it is; pairs of labels that join components are stored."""
    # In every component, one point of every class is paired with one of that class elsewhere: those with the
    # largest shares p_ik. If F_ij > 0 both points have a share above 1/2 in one class, see `ClasswisePart`;
    # the largest share of a component is that of a labelled point, since p of any other point is a mean of
    # its neighbours' p. So if some component has labels of class k alone, its pairs show all that class k
    # joins.
    labelled = np.flatnonzero(labels >= 0)
    kind, place = labels[labelled], number_components(graph)[labelled]
    rows = agreement.factor[labelled]
    own = rows[np.arange(labelled.size), kind]
    order = np.lexsort((-own, -own / rows.sum(axis=1), kind))
    top = labelled[order][np.searchsorted(kind[order], np.arange(rows.shape[1]))]
    _, first = np.unique(np.column_stack([place, kind])[order], axis=0, return_index=True)
    chosen = order[first]
    ends = np.stack([labelled[chosen], top[kind[chosen]]])
    ends = np.hstack([ends, ends[::-1]])
    # Nothing is added to F there; a sum of sparse arrays would drop the zeros.
    stored = sp.csr_array((np.zeros(ends.shape[1]), tuple(ends)), shape=(graph.n_nodes,) * 2)
    return SmoothMatrix(agreement, stored, agreement.factor, has_positive_entries=True)


def number_components(graph: Graph) -> IntArray:
    """Return the component of every point, where isolated points are components of their own."""
    number = graph.components.copy()
    alone = np.flatnonzero(number < 0)
    number[alone] = int(number.max()) + 1 + np.arange(alone.size)
    return number


def leading_basis(graph: Graph, count: int, n_clusters: int, rng: np.random.RandomState) -> FloatArray:
    """Return orthonormal vectors close to the leading eigenvectors of Ā; K of them where there is a gap."""
    # Their error is part of the error that is measured, so the Lanczos iteration stops early. A full solver
    # is used where it fails, and where the graph has several components.
    if graph.n_components == 1:
        with suppress(SpectralError):
            found, values = _leading_vectors(graph, n_clusters + 1, rng)
            if _has_gap(values, n_clusters):
                return found[:, :n_clusters]
            return _leading_vectors(graph, count, rng, found)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpectralWarning)
        pairs = laplacian_eigenpairs(graph, count, accuracy="rough", random_state=rng)
    return pairs.vectors[:, : n_clusters if _has_gap(1.0 - pairs.values, n_clusters) else count]


def _leading_vectors(
    graph: Graph, count: int, rng: np.random.RandomState, known: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return vectors close to the leading eigenvectors of Ā, and their values; the largest comes first."""
    # The start is random, with more of the vectors that are known.
    affinity = graph.normalized
    operator = LinearOperator((graph.n_nodes,) * 2, matvec=affinity.apply, dtype=np.float32)
    start = rng.standard_normal(graph.n_nodes)
    if known is not None:
        start = start / np.linalg.norm(start) + known.sum(axis=1)
    found = largest_eigenvectors(
        operator, count, start.astype(np.float32), rng, tolerance=0.01, max_products=600
    )
    found = np.linalg.qr(found.astype(np.float64))[0]
    values = column_dots(found, affinity.apply(found))
    order = np.argsort(-values)
    return found[:, order], values[order]


def _has_gap(values: FloatArray, n_clusters: int) -> bool:
    """Tell whether the eigenvalues of Ā have a gap after the K-th."""
    return n_clusters < values.size and bool(values[n_clusters - 1] - values[n_clusters] > MIN_GAP)


def propagate_smoothly(
    graph: Graph, constraints: Constraints, alpha: float, basis: FloatArray
) -> SmoothMatrix:
    """Return F of eq. 3 on a few smooth vectors, and at the constrained pairs."""
    known = sp.csr_array(constraints.as_matrix())
    damped = _spread_smoothly(graph, basis, alpha)
    image = spread(graph, known @ damped, alpha, tolerance=SMOOTH_TOLERANCE)
    width = basis.shape[1]
    inner = basis.T @ image
    eye = np.eye(width)
    core = np.block([[-0.5 * (inner + inner.T), eye], [eye, np.zeros((width, width))]])
    smooth = LowRankMatrix(np.hstack([basis, image]), core)
    own = sp.diags_array(_remaining_diagonal(graph, alpha, basis))
    # F is a product of both halves of the factor, so they are scaled to count alike.
    tiny = float(np.finfo(np.float64).tiny)
    balance = np.sqrt(max(float(np.linalg.norm(image)), tiny) / max(float(np.linalg.norm(basis)), tiny))
    coordinates = np.hstack([basis * balance, image / balance])
    is_positive = bool(known.data.max(initial=0.0) > 0)
    return SmoothMatrix(smooth, sp.csr_array(own @ known @ own), coordinates, is_positive)


def _spread_smoothly(graph: Graph, basis: FloatArray, alpha: float) -> FloatArray:
    """Return P Q for approximate eigenvectors Q of Ā."""
    # With Ā q = θ q + r it is P q = ((1 - α) q + α P r) / (1 - α θ): only the small r has to be spread.
    image = graph.normalized.apply(basis)
    values = column_dots(basis, image)
    rest = image - basis * values
    size = float(np.sqrt(column_dots(rest, rest).max(initial=0.0)))
    spread_rest = spread(
        graph, rest, alpha, tolerance=min(SMOOTH_TOLERANCE / max(size, SMOOTH_TOLERANCE), 1.0)
    )
    return np.asarray(((1.0 - alpha) * basis + alpha * spread_rest) / (1.0 - alpha * values))


def _remaining_diagonal(graph: Any, alpha: float, basis: FloatArray) -> FloatArray:
    """Return the diagonal of (I - QQᵀ) P to the second order in α Ā."""
    # P = (1 - α)(1 + α Ā + α² Ā² + ...): the first terms have large diagonals and are computed; the later
    # ones are smooth, and I - QQᵀ removes them.
    affinity, squared = graph.normalized, graph.scale**2
    twice = squared * graph.apply_squares(squared)
    stays = 1.0 + alpha * squared * graph.diagonal + alpha**2 * twice
    once = affinity.apply(basis)
    gone = (basis * (basis + alpha * once + alpha**2 * affinity.apply(once))).sum(axis=1)
    return (1.0 - alpha) * np.maximum(stays - gone, 0.0)
