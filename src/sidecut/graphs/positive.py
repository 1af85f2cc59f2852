"""The positive part of a matrix of low rank: entrywise, so no longer of low rank, yet never formed.

F⁺_ij = min(max(F_ij, 0), 1) is the part of propagated constraints that joins points. It is applied exactly,
by the cheapest way its structure allows: not at all where nothing is positive, through the factor where
nothing is negative, class by class for labels, and tile by tile otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from sidecut.graphs.classwise import ClasswisePart
from sidecut.graphs.graph import FloatArray
from sidecut.graphs.lowrank import AgreementMatrix, LowRankMatrix, slices

#: Tiles are kept up to this many bytes: all of them up to 11,000 nodes.
KEPT_BYTES = 512 * 2**20

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


class TiledPart:
    """F⁺ tile by tile: O(n² rank) time a product, half of it saved by symmetry.

    Making a tile costs far more than using it, so tiles are kept, as many as fit in 512 MB, and only the
    others are made again in every product.

    Parameters
    ----------
    matrix : LowRankMatrix
        F.
    """

    def __init__(self, matrix: LowRankMatrix) -> None:
        self.matrix = matrix
        self._kept: dict[tuple[int, int], FloatArray] = {}
        self._kept_bytes = 0

    @property
    def product_cost(self) -> float:
        """The number of multiplications for the tiles that are made again in every product."""
        n_entries = self.matrix.n_nodes**2 / 2
        return max(0.0, n_entries - KEPT_BYTES / 8) * self.matrix.rank

    def __call__(self, block: FloatArray) -> FloatArray:
        """Return F⁺ @ block."""
        result = np.zeros(block.shape)
        for rows in slices(self.matrix.n_nodes):
            for columns in slices(self.matrix.n_nodes, rows.start):
                tile = self._tile(rows, columns)
                result[rows] += tile @ block[columns]
                if columns.start > rows.start:
                    result[columns] += tile.T @ block[rows]
        return result

    def _tile(self, rows: slice, columns: slice) -> FloatArray:
        tile = self._kept.get((rows.start, columns.start))
        if tile is None:
            tile = self.matrix.block(rows, columns)
            np.clip(tile, 0.0, 1.0, out=tile)
            if self._kept_bytes + tile.nbytes <= KEPT_BYTES:
                self._kept[rows.start, columns.start] = tile
                self._kept_bytes += tile.nbytes
        return tile

    def __getstate__(self) -> dict[str, Any]:
        # What can be made again is not worth half a gigabyte of a file.
        return {"matrix": self.matrix, "_kept": {}, "_kept_bytes": 0}
