"""Symmetric matrices made strip by strip: one half of their entries, kept as far as it fits in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from joblib import cpu_count
from threadpoolctl import threadpool_limits

from sidecut.graphs.graph import FloatArray
from sidecut.graphs.lazy import TiledGraph

#: Entries are kept up to this many bytes: all of a full matrix in double precision up to 21,000 nodes.
KEPT_BYTES = 7 * 2**28
#: A strip with fewer entries than this share is kept sparse, which takes half as much again for each.
SPARSE_SHARE = 2 / 3

#: A dense array or, where it has few entries, a csr_array.
Strip: TypeAlias = Any
MakeStrip = Callable[[slice], Strip]


class KeptStrips:
    """The map X -> A X of a symmetric matrix that can be made a strip of rows at a time.

    Making entries often costs far more than using them. So every strip is made once, and kept if it fits;
    only what does not fit is made again in every product. The strips are shared out among threads; whatever
    their number, the result is the same to the last bit.

    Parameters
    ----------
    n_nodes : int
        The order of A.
    strips : sequence of slices
        They cover the rows, in order.
    make : callable
        rows -> A[rows, rows.start:] with its corner `halved`.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs.strips import KeptStrips, halved
    >>> A = np.array([[1.0, 2.0], [2.0, 3.0]])
    >>> product = KeptStrips(2, [slice(0, 1), slice(1, 2)], lambda rows: halved(A[rows, rows.start :]))
    >>> product(np.array([1.0, 10.0]))
    array([21., 32.])
    """

    def __init__(self, n_nodes: int, strips: Sequence[slice], make: MakeStrip) -> None:
        self.n_nodes = n_nodes
        self.strips = strips
        self.make = make
        self.kept: dict[int, Strip] = {}
        self.kept_bytes = 0
        self._lock = Lock()

    def __call__(self, block: FloatArray) -> FloatArray:
        """Return A @ block for a vector or a block of vectors."""
        columns = block.reshape(self.n_nodes, -1)
        result = np.zeros(columns.shape)
        n_threads = cpu_count()
        # The cores are left to the threads over strips: more threads inside each only get in their way.
        with threadpool_limits(limits=1, user_api="blas"), ThreadPoolExecutor(n_threads) as pool:
            # As many strips as threads at a time: every one in flight holds a block of results.
            for first in range(0, len(self.strips), n_threads):
                some = self.strips[first : first + n_threads]
                products = pool.map(partial(self._products, columns), some)
                for rows, (ahead, back) in zip(some, products, strict=True):
                    result[rows] += ahead
                    result[rows.start :] += back
        return result.reshape(block.shape)

    def _products(self, block: FloatArray, rows: slice) -> tuple[FloatArray, FloatArray]:
        """Return what a strip contributes to its rows, and by symmetry to the rows from its first on."""
        strip = _double(self._strip(rows))
        return strip @ block[rows.start :], strip.T @ block[rows]

    def _strip(self, rows: slice) -> Strip:
        strip = self.kept.get(rows.start)
        if strip is None:
            strip = _compact(self.make(rows))
            self._keep(rows.start, strip)
        return strip

    def _keep(self, start: int, strip: Strip) -> None:
        size = n_bytes(strip)
        with self._lock:
            if self.kept_bytes + size <= KEPT_BYTES:
                self.kept[start] = strip
                self.kept_bytes += size


class KeptTiledGraph(TiledGraph):
    """A graph evaluated tile by tile whose weights, one half of them, are kept as far as they fit."""

    def apply(self, block: FloatArray) -> FloatArray:
        """Return W @ block."""
        return self._strips(block)

    @cached_property
    def _strips(self) -> KeptStrips:
        return KeptStrips(self.n_nodes, list(self.tiles()), self._upper_strip)

    def _upper_strip(self, rows: slice) -> FloatArray:
        return halved(self.tile(rows)[:, rows.start :])

    def __getstate__(self) -> dict[str, Any]:
        # What can be made again is not worth gigabytes of a file, and threads cannot be written to one.
        return {name: value for name, value in vars(self).items() if name != "_strips"}


def halved(strip: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a strip A[rows, rows.start:] without what its corner has below the diagonal, which is halved.

    Its product and that of its transpose then add up to that of the whole matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs.strips import halved
    >>> halved(np.ones((2, 3)))
    array([[0.5, 1. , 1. ],
           [0. , 0.5, 1. ]])
    """
    upper = np.triu(strip)
    corner = np.arange(strip.shape[0])
    upper[corner, corner] *= 0.5
    return upper


def n_bytes(strip: Strip) -> int:
    """Return how much memory a strip takes."""
    if isinstance(strip, np.ndarray):
        return strip.nbytes
    return int(strip.data.nbytes + strip.indices.nbytes + strip.indptr.nbytes)


def _double(strip: Strip) -> Strip:
    """Return a strip in double precision: at once, or each of its two products would do it again."""
    if strip.dtype == np.float64 or not sp.issparse(strip):
        return strip
    entries = (strip.data.astype(np.float64), strip.indices, strip.indptr)
    return sp.csr_array(entries, shape=strip.shape)


def _compact(strip: Strip) -> Strip:
    """Return a strip in the form that takes less memory."""
    if sp.issparse(strip) or np.count_nonzero(strip) >= SPARSE_SHARE * strip.size:
        return strip
    return sp.csr_array(strip)
