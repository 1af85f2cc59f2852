"""The positive part of a matrix of low rank, tile by tile, its entries kept as far as they fit."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property, partial
from itertools import islice
from threading import Lock
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import cpu_count
from threadpoolctl import threadpool_limits

from sidecut.graphs.graph import FloatArray
from sidecut.graphs.lowrank import LowRankMatrix, slices

#: Positive entries are kept up to this many bytes.
KEPT_BYTES = 3 * 2**29
#: The share of entries that are positive is estimated from so many.
SAMPLED_ENTRIES = 10_000


class TiledPart:
    """The map X -> F⁺ X with F⁺_ij = min(max(F_ij, 0), 1), F of low rank: exact, tile by tile.

    Making all tiles costs n² rank / 2 multiplications, far more than using them. So they are made once and
    their positive entries kept, in the precision of the factor, as far as they fit in 1.5 GB: of random pairs
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
        self._forget()

    def __call__(self, block: FloatArray) -> FloatArray:
        """Return F⁺ @ block."""
        columns = block.reshape(self.matrix.n_nodes, -1)
        result = np.zeros(columns.shape)
        with self._one_blas_thread(), ThreadPoolExecutor(cpu_count()) as pool:
            strips = slices(self.matrix.n_nodes)
            # As many strips as threads at a time: every one in flight holds a block of results.
            while some := list(islice(strips, cpu_count())):
                products = pool.map(partial(self._products, columns), some)
                for rows, (ahead, back) in zip(some, products, strict=True):
                    result[rows] += ahead
                    result[rows.start :] += back
        return result.reshape(block.shape)

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
        return n_entries * self.matrix.rank * max(0.0, 1.0 - KEPT_BYTES / max(needed, 1.0))

    def _products(self, block: FloatArray, rows: slice) -> tuple[FloatArray, FloatArray]:
        """Return what a strip contributes to its rows, and by symmetry to the rows from its first on."""
        strip = self._strip(rows)
        return strip @ block[rows.start :], strip.T @ block[rows]

    def _strip(self, rows: slice) -> sp.csr_array:
        """Return F⁺[rows, rows.start:], above the diagonal, and half of the diagonal."""
        strip = self._kept.get(rows.start)
        if strip is None:
            strip = sp.hstack(list(self._tiles(rows)), format="csr")
            self._keep(rows.start, strip)
        return strip

    def _tiles(self, rows: slice) -> Iterator[sp.csr_array]:
        left = self.matrix.left(rows)
        for columns in slices(self.matrix.n_nodes, rows.start):
            tile = left @ self.matrix.factor[columns].T
            np.clip(tile, 0.0, 1.0, out=tile)
            if columns.start == rows.start:
                tile = np.triu(tile)
                tile[np.diag_indices_from(tile)] *= 0.5
            yield sp.csr_array(tile)

    def _keep(self, start: int, strip: sp.csr_array) -> None:
        size = strip.data.nbytes + strip.indices.nbytes + strip.indptr.nbytes
        with self._lock:
            if self._kept_bytes + size <= KEPT_BYTES:
                self._kept[start] = strip
                self._kept_bytes += size

    def _one_blas_thread(self) -> AbstractContextManager:
        """Leave the cores to the threads over strips while there are tiles to make."""
        n_strips = sum(1 for _ in slices(self.matrix.n_nodes))
        return nullcontext() if len(self._kept) == n_strips else threadpool_limits(limits=1, user_api="blas")

    def _forget(self) -> None:
        self._kept: dict[int, sp.csr_array] = {}
        self._kept_bytes = 0
        self._lock = Lock()

    def __getstate__(self) -> dict[str, Any]:
        # What can be made again is not worth a gigabyte of a file.
        return {"matrix": self.matrix}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.matrix = state["matrix"]
        self._forget()
