"""The positive part of a matrix of low rank: entrywise, so no longer of low rank, yet never formed.

F⁺_ij = min(max(F_ij, 0), 1) is the part of propagated constraints that joins points. It is applied exactly,
by the cheapest way its structure allows: not at all where nothing is positive, through the factor where
nothing is negative, class by class for labels, and tile by tile otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sidecut.graphs.graph import FloatArray
from sidecut.graphs.lowrank import AgreementMatrix, LowRankMatrix, slices

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
    >>> from sidecut.graphs import AgreementMatrix, positive_part
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


@dataclass(frozen=True)
class TiledPart:
    """F⁺ tile by tile: O(n) memory, O(n² rank) time a product, half of it saved by symmetry."""

    matrix: LowRankMatrix

    def __call__(self, block: FloatArray) -> FloatArray:
        """Return F⁺ @ block."""
        factor, result = self.matrix.factor, np.zeros(block.shape)
        for rows in slices(self.matrix.n_nodes):
            left = self.matrix.left(rows)
            for columns in slices(self.matrix.n_nodes, rows.start):
                tile = left @ factor[columns].T
                np.clip(tile, 0.0, 1.0, out=tile)
                result[rows] += tile @ block[columns]
                if columns.start > rows.start:
                    result[columns] += tile.T @ block[rows]
        return result


class ClasswisePart:
    """F⁺ of an agreement of labels, class by class: exact, and near linear where most points are decided.

    With p_i the shares of point i among the classes, F_ij = w s_i s_j (2 p_i·p_j - 1) is positive only if
    both points have the same leading class, with a share above one half:

    - p_i·p_j is a mean of the entries of p_j, with weights p_i; so p_i·p_j > 1/2 needs an entry of p_j above
      1/2, and likewise of p_i.
    - If these are in different classes, p_ia = x and p_jb = y with a ≠ b, then
      p_i·p_j <= x (1 - y) + (1 - x) y = 1/2 - 2 (x - 1/2)(y - 1/2) < 1/2.

    Within a class, p_i·p_j >= x y: where x y >= 1/2 the entry cannot be negative; with two classes, where
    p_i·p_j = x y + (1 - x)(1 - y) = 1/2 + 2 (x - 1/2)(y - 1/2), it never is. With the points of a class
    sorted by their share, the columns that are sure for all of some rows come first; they are applied
    through the factor, and only the others in tiles.

    Also F_ij <= t_i t_j with t_i = √w s_i (2 x_i - 1), since p_i·p_j <= x y + (1 - x)(1 - y). Where that may
    exceed 1 and has to be clipped, nothing is applied through the factor.

    Parameters
    ----------
    matrix : AgreementMatrix
        F.
    """

    def __init__(self, matrix: AgreementMatrix) -> None:
        self.matrix = matrix
        sums = matrix.factor.sum(axis=1)
        leading = matrix.factor.argmax(axis=1)
        shares = np.zeros(matrix.n_nodes)
        np.divide(matrix.factor.max(axis=1), sums, out=shares, where=sums > 0)
        decided = np.flatnonzero(shares > 0.5)
        self._classes = [
            self._sorted_class(decided[leading[decided] == k], shares, sums)
            for k in range(matrix.rank)
            if np.any(leading[decided] == k)
        ]

    def _sorted_class(self, points: npt.NDArray[np.intp], shares: FloatArray, sums: FloatArray) -> _Class:
        points = points[np.argsort(-shares[points], kind="stable")]
        tops = np.sqrt(self.matrix.weight) * sums[points] * (2.0 * shares[points] - 1.0)
        is_clipped = bool(tops.max() ** 2 > 1.0)
        return _Class(points, self.matrix.factor[points], shares[points], is_clipped)

    @property
    def n_computed(self) -> int:
        """How many entries are computed one by one in every product."""
        return sum(
            (rows.stop - rows.start) * (members.points.size - sure)
            for members in self._classes
            for rows, sure in members.bands()
        )

    def __call__(self, block: FloatArray) -> FloatArray:
        """Return F⁺ @ block."""
        result = np.zeros(block.shape)
        for members in self._classes:
            result[members.points] = self._within(members, block[members.points])
        return result

    def _within(self, members: _Class, block: FloatArray) -> FloatArray:
        """Return the product within a class: sure columns through the factor, the others in tiles."""
        result, core = np.empty(block.shape), self.matrix.core
        for rows, sure in members.bands():
            left = members.factor[rows] @ core
            result[rows] = left @ (members.factor[:sure].T @ block[:sure])
            for columns in slices(members.points.size, sure):
                tile = left @ members.factor[columns].T
                np.clip(tile, 0.0, 1.0, out=tile)
                result[rows] += tile @ block[columns]
        return result


@dataclass(frozen=True)
class _Class:
    """The decided points of one class, the most decided first."""

    points: npt.NDArray[np.intp]
    factor: FloatArray
    shares: FloatArray
    is_clipped: bool

    def bands(self) -> Iterator[tuple[slice, int]]:
        """Yield slices of rows, and how many of the first columns are sure to be positive for all of them."""
        for rows in slices(self.points.size):
            yield rows, 0 if self.is_clipped else self._n_sure(self.shares[rows.stop - 1])

    def _n_sure(self, share: float) -> int:
        if self.factor.shape[1] == 2:
            return int(self.points.size)
        # The shares descend, so those of at least 1 / (2 share) come first.
        return int(np.searchsorted(-self.shares, -0.5 / share, side="right"))
