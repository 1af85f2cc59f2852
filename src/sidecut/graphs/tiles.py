"""The positive part of a matrix of low rank, tile by tile, its entries kept as far as they fit."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from sidecut.graphs import strips
from sidecut.graphs.graph import FloatArray
from sidecut.graphs.lowrank import LowRankMatrix, slices
from sidecut.graphs.strips import KeptStrips, halved

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
    >>> from sidecut.graphs import LowRankMatrix
    >>> from sidecut.graphs.tiles import TiledPart
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
        return n_entries * self.matrix.rank * max(0.0, 1.0 - strips.KEPT_BYTES / max(needed, 1.0))

    def _strip(self, rows: slice) -> sp.csr_array:
        """Return F⁺[rows, rows.start:], its corner halved, made a tile at a time."""
        left = self.matrix.left(rows)
        tiles = []
        for columns in slices(self.matrix.n_nodes, rows.start):
            tile = left @ self.matrix.factor[columns].T
            np.clip(tile, 0.0, 1.0, out=tile)
            tiles.append(sp.csr_array(halved(tile) if columns.start == rows.start else tile))
        return sp.hstack(tiles, format="csr")

    def __getstate__(self) -> dict[str, Any]:
        # What can be made again is not worth a gigabyte of a file.
        return {"matrix": self.matrix}
