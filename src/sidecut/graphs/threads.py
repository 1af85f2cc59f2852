"""How many threads a fit may use, one rule for our own pools, BLAS and OpenMP; and products that use them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import cpu_count
from scipy.sparse.csgraph import reverse_cuthill_mckee

from sidecut.checks import FloatArray, IntArray
from sidecut.thread_limits import limit_threads

_allowed: ContextVar[int | None] = ContextVar("threads allowed in this fit", default=None)


@contextmanager
def use_threads(n_jobs: Any) -> Iterator[None]:
    """Hold everything within a ``with`` to the threads that `n_jobs` asks for: pools, BLAS and OpenMP."""
    token = _allowed.set(None if n_jobs is None else count_jobs(n_jobs))
    try:
        with nullcontext() if n_jobs is None else limit_threads(count_threads()):
            yield
    finally:
        _allowed.reset(token)


def count_threads() -> int:
    """Return how many threads may run now: what `use_threads` says, or what the machine allows."""
    allowed = _allowed.get()
    if allowed is not None:
        return allowed
    if threading.current_thread() is not threading.main_thread():
        return 1
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return min(cpu_count(), int(asked)) if asked.isdecimal() and int(asked) > 0 else cpu_count()


def count_jobs(n_jobs: Any) -> int:
    """Return the number of threads that an `n_jobs` of scikit-learn's kind stands for."""
    is_whole = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if not is_whole or n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r} must be None, a whole number of threads, or -1 for all cores.")
    return int(n_jobs) if n_jobs > 0 else max(cpu_count() + 1 + int(n_jobs), 1)


# Products of a large sparse matrix with vectors, the rows shared out among threads.

#: Below this many nonzeros a thread costs more than it brings, and so does another order of the nodes.
PARALLEL_NONZEROS = 400_000
#: A block of so many columns is fetched row by row from memory, and rows that lie near each other come first.
WIDE = 6
#: Nodes are taken in another order if that brings neighbours at least so much nearer.
NEARER = 0.5
#: From so many rows it is seen how far apart neighbours lie.
SPAN_ROWS = 2_000


class SparseProduct:
    """The map x -> A x of a sparse matrix. SciPy multiplies on one core; slices of rows can use them all.

    Blocks of many columns are multiplied in an order of the nodes in which neighbours are near each other
    (Cuthill & McKee), if there is one: then most of what a row needs is in the cache. Every row is summed in
    the same order whatever the number of threads and the order of the nodes, so the result is the same to
    the last bit.

    A block of 32-bit floats is multiplied in single precision, with a copy of the matrix that has it too.

    Parameters
    ----------
    matrix : sparse array of shape (m, n)
        The matrix, in compressed rows.
    n_threads : int, optional
        How many slices; by default one per core for large matrices, otherwise one.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from sidecut.graphs import SparseProduct
    >>> matrix = sp.csr_array([[0.0, 2.0], [1.0, 0.0], [3.0, 3.0]])
    >>> SparseProduct(matrix, n_threads=2)(np.array([1.0, 10.0]))
    array([20.,  1., 33.])
    """

    def __init__(self, matrix: sp.csr_array, n_threads: int | None = None) -> None:
        if n_threads is None:
            n_threads = count_threads() if matrix.nnz >= PARALLEL_NONZEROS else 1
        self._n_threads = n_threads
        self._matrix = matrix
        self._slices = self._cut(matrix)
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None
        self._n_wide = 0

    def __call__(self, block: FloatArray) -> FloatArray:
        """Return A @ block for a vector or a block of vectors."""
        if block.dtype == np.float32 and self._matrix.dtype != np.float32:
            return self._in_single_precision(block)
        if not self._is_wide(block) or self._near is None:
            return self._multiply(self._slices, block)
        order, places, slices = self._near
        return self._multiply(slices, block.take(order, axis=0)).take(places, axis=0)

    def _is_wide(self, block: FloatArray) -> bool:
        """Return whether another order of the nodes pays: for wide blocks, from the second one on."""
        if block.ndim == 1 or block.shape[1] < WIDE or self._matrix.nnz < PARALLEL_NONZEROS:
            return False
        self._n_wide += 1
        return self._n_wide > 1

    @cached_property
    def _in_single_precision(self) -> SparseProduct:
        matrix = self._matrix
        # Where the entries are is not copied.
        entries = (matrix.data.astype(np.float32), matrix.indices, matrix.indptr)
        return SparseProduct(sp.csr_array(entries, shape=matrix.shape), self._n_threads)

    @cached_property
    def _near(self) -> tuple[IntArray, IntArray, list[sp.csr_array]] | None:
        """A nearer order of the nodes, the place of each in it, and the matrix in it; None without one."""
        order = order_neighbors(self._matrix)
        if order is None:
            return None
        places = np.empty_like(order)
        places[order] = np.arange(order.size, dtype=order.dtype)
        rows = self._matrix[order]
        moved = sp.csr_array((rows.data, places[rows.indices], rows.indptr), shape=rows.shape)
        return order, places, self._cut(moved)

    def _cut(self, matrix: sp.csr_array) -> list[sp.csr_array]:
        """Return slices of equal numbers of nonzeros, not of rows: hubs would make one thread wait."""
        if self._n_threads == 1:
            return [matrix]
        shares = np.linspace(0, matrix.nnz, self._n_threads + 1)[1:-1]
        cuts = np.concatenate([[0], np.searchsorted(matrix.indptr, shares), [matrix.shape[0]]])
        return [matrix[a:b] for a, b in pairwise(cuts)]

    def _multiply(self, slices: list[sp.csr_array], block: FloatArray) -> FloatArray:
        if self._pool is None:
            return np.asarray(slices[0] @ block)
        return np.concatenate(list(self._pool.map(lambda rows: rows @ block, slices)))


def order_neighbors(matrix: sp.csr_array) -> IntArray | None:
    """Return the nodes of a graph in an order in which neighbours are near each other, or None.

    None where there is none that brings them much nearer, as in random graphs.
    """
    if matrix.shape[0] != matrix.shape[1] or matrix.indices.dtype != np.int32:
        return None
    order = reverse_cuthill_mckee(sp.csr_matrix(matrix), symmetric_mode=True)
    places = np.empty_like(order)
    places[order] = np.arange(order.size, dtype=order.dtype)
    rows = np.linspace(0, order.size - 1, min(SPAN_ROWS, order.size)).astype(np.intp)
    ends = matrix[rows]
    starts = np.repeat(rows, np.diff(ends.indptr))
    before = np.abs(starts - ends.indices).sum()
    after = np.abs(places[starts] - places[ends.indices]).sum()
    return order if after < NEARER * before else None
