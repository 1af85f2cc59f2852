"""Symmetric matrices of low rank on the nodes of a graph, known by a factor and never formed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sidecut.arrays import FloatArray, IntArray
from sidecut.graphs.graph import DENSE_LIMIT

#: Tiles are squares of this side: 8 MB, which stay in the cache while they are made, clipped and multiplied.
TILE_SIDE = 1_024
#: Entries picked one by one are computed from about this many numbers at a time.
PICKED_NUMBERS = 500_000

Rows = slice | IntArray


class LowRankMatrix:
    """The symmetric matrix F = A C Aᵀ, known by its factor A and its small core C.

    Parameters
    ----------
    factor : array of shape (n, rank)
        A; kept in single precision if it comes so, which is how precise the entries then are.
    core : dense or sparse array of shape (rank, rank)
        C, symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.e2cp.lowrank import LowRankMatrix
    >>> matrix = LowRankMatrix(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> matrix.toarray()
    array([[0. , 0.5],
           [0.5, 0.5]])
    >>> matrix.largest()
    0.5
    """

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
        # Where every row is needed several times A C is made once.
        is_small = self.n_nodes * self.rank <= PICKED_NUMBERS
        whole = self.left(slice(None)) if is_small and len(rows) > self.n_nodes else None
        at_once = max(1, PICKED_NUMBERS // max(self.rank, 1))
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
        everyone = np.arange(self.n_nodes)
        return self.entries(everyone, everyone)

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

        Parameters
        ----------
        bound : callable
            Returns what an entry must exceed to be of interest.
        """
        order = np.argsort(-self.reach, kind="stable")
        reach = self.reach[order]
        for rows in slices(self.n_nodes):
            for columns in slices(self.n_nodes, rows.start):
                if reach[rows.start] * reach[columns.start] <= bound():
                    break
                yield order[rows], order[columns], self.block(order[rows], order[columns])

    def toarray(self) -> FloatArray:
        """Return F as a dense array; for small graphs only.

        Raises
        ------
        MemoryError
            If there are more than 20,000 nodes.
        """
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

    Parameters
    ----------
    memberships : array of shape (n, n_classes)
        U, not negative.
    weight : float, default=1.0
        w.
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
