"""The positive part of a matrix of low rank: entrywise, so no longer of low rank, yet never formed.

F⁺_ij = min(max(F_ij, 0), 1) is the part of propagated constraints that joins points. It is applied exactly,
by the cheapest way its structure allows: not at all where nothing is positive, through the factor where
nothing is negative, class by class for labels, and tile by tile otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sidecut.arrays import FloatArray, IntArray
from sidecut.graphs import lazy
from sidecut.graphs.graph import SparseProduct
from sidecut.graphs.lazy import KeptStrips, halve
from sidecut.graphs.threads import count_threads
from sidecut.methods.e2cp.lowrank import AgreementMatrix, LowRankMatrix, slices

PositivePart = Callable[[FloatArray], FloatArray]


def positive_part(matrix: LowRankMatrix) -> PositivePart | None:
    """Return the map X -> F⁺ X, or None where F has no positive entry.

    Parameters
    ----------
    matrix : LowRankMatrix
        F, with a factor that is not negative.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.e2cp.lowrank import AgreementMatrix
    >>> from sidecut.methods.e2cp.positive_part import positive_part
    >>> matrix = AgreementMatrix(np.array([[0.9, 0.1], [0.8, 0.0], [0.1, 0.6]]))
    >>> positive_part(matrix)(np.eye(3)).round(3)
    array([[0.64, 0.64, 0.  ],
           [0.64, 0.64, 0.  ],
           [0.  , 0.  , 0.25]])
    """
    values = matrix.core.data if sp.issparse(matrix.core) else matrix.core
    # The factor is not negative, so a core of one sign makes F of that sign.
    if np.all(values <= 0):
        return None
    if np.all(values >= 0) and matrix.largest() <= 1.0:
        return matrix.apply
    if isinstance(matrix, AgreementMatrix):
        return ClasswisePart(matrix)
    return TiledPart(matrix)


# The positive part of an agreement of labels, class by class: exact, and near linear on most data.

#: Positive entries that are not sure beforehand are stored, if there are at most so many for every node.
STORED_PER_NODE = 200
#: Running sums over a class take about this many numbers at a time.
RUNNING_NUMBERS = 4_000_000
#: By so much an entry may exceed 1 from rounding alone.
ROUNDING = 1e-13

Tile = tuple[slice, slice, FloatArray]


class ClasswisePart:
    """The map X -> F⁺ X for F = w (2 U Uᵀ - s sᵀ), F⁺_ij = min(max(F_ij, 0), 1).

    With p_i = U_i / s_i the shares of point i among the classes, F_ij = w s_i s_j (2 p_i·p_j - 1) is positive
    only if both points have the same leading class, with a share above one half:

    - p_i·p_j is a mean of the entries of p_j, with weights p_i; so p_i·p_j > 1/2 needs an entry of p_j above
      1/2, and likewise of p_i.
    - If these are in different classes, p_ia = x and p_jb = y with a ≠ b, then
      p_i·p_j <= x (1 - y) + (1 - x) y = 1/2 - 2 (x - 1/2)(y - 1/2) < 1/2.

    Within a class, p_i·p_j >= x y: where x y >= 1/2 the entry is surely not negative; with two classes, where
    p_i·p_j = x y + (1 - x)(1 - y) = 1/2 + 2 (x - 1/2)(y - 1/2), it never is. With the points of a class
    sorted by their share, the sure columns of a row come first, and are applied through the factor by running
    sums. Of the doubtful entries few are positive. These are found once and stored where they are not too
    many, and otherwise computed again in every product.

    Also F_ij <= t_i t_j with t_i = √w s_i (2 x_i - 1), since p_i·p_j <= x y + (1 - x)(1 - y). In a class
    where that exceeds 1, so that entries may have to be clipped, none is taken as sure.

    The search for the doubtful entries is all that takes more than linear time.

    Parameters
    ----------
    matrix : AgreementMatrix
        F.
    """

    def __init__(self, matrix: AgreementMatrix) -> None:
        self.n_nodes = matrix.n_nodes
        self.classes = list(_sorted_classes(matrix))
        self.stored = self._stored_doubts(STORED_PER_NODE * matrix.n_nodes)

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
        return {name: value for name, value in vars(self).items() if name != "_stored_product"}

    @property
    def n_computed(self) -> int:
        """How many entries are computed one by one in every product."""
        return 0 if self.stored is not None else sum(members.n_doubtful for members in self.classes)

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
    tops: FloatArray
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
        at_once = max(1, RUNNING_NUMBERS // self.factor.size)
        for start in range(0, block.shape[1], at_once):
            part = slice(start, start + at_once)
            sums = np.cumsum(self.factor[:, :, None] * block[:, None, part], axis=0)
            result[some, part] = np.einsum("ik,ikb->ib", self.left[some], sums[self.n_sure[some] - 1])
        return result

    def doubtful_tiles(self) -> Iterator[Tile]:
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
    # The bound is not tight: a matrix divided by its largest entry has none above 1, whatever the bound says.
    is_bounded = matrix.largest() <= 1.0 + ROUNDING
    for k in range(matrix.rank):
        points = np.flatnonzero((leading == k) & (shares > 0.5))
        if points.size:
            points = points[np.argsort(-shares[points], kind="stable")]
            is_clipped = not is_bounded and bool(tops[points].max() > 1.0)
            rows = matrix.factor[points], matrix.left(points)
            yield _Class(points, *rows, shares[points], tops[points], is_clipped)


# The positive part of a matrix of low rank, tile by tile, its entries kept as far as they fit.

#: The share of entries that are positive is estimated from so many.
SAMPLED_ENTRIES = 10_000


class TiledPart:
    """The map X -> F⁺ X with F⁺_ij = min(max(F_ij, 0), 1), F of low rank: exact, tile by tile.

    Making all tiles costs n² rank / 2 multiplications, far more than using them. So they are made once and
    their positive entries kept, in the precision of the factor, as far as they fit in memory: of random pairs
    among K classes few say "together", and few entries of what follows from them are positive. Only what does
    not fit is made again in every product.

    Parameters
    ----------
    matrix : LowRankMatrix
        F.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.e2cp.lowrank import LowRankMatrix
    >>> from sidecut.methods.e2cp.positive_part import TiledPart
    >>> F = LowRankMatrix(np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([[1.0, -1.0], [-1.0, 1.0]]))
    >>> TiledPart(F)(np.eye(2))
    array([[1., 0.],
           [0., 0.]])
    """

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
        places = np.random.default_rng(0).integers(self.matrix.n_nodes, size=(2, SAMPLED_ENTRIES))
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
        # What can be made again is not worth a gigabyte of a file.
        return {"matrix": self.matrix}
