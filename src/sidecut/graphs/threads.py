"""How many threads a fit may use, one rule for our own pools, BLAS and OpenMP; and products that use them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from joblib import cpu_count
from threadpoolctl import ThreadpoolController

from sidecut.arrays import FloatArray

_allowed: ContextVar[int | None] = ContextVar("threads allowed in this fit", default=None)


@contextmanager
def use_threads(n_jobs: Any) -> Iterator[None]:
    """Hold everything within a ``with`` to the threads that `n_jobs` asks for: pools, BLAS and OpenMP.

    Parameters
    ----------
    n_jobs : int or None
        None: one thread in a worker thread or process of joblib or Dask, elsewhere all cores that
        OMP_NUM_THREADS allows. -1: all cores. Otherwise so many.

    Examples
    --------
    >>> from sidecut.graphs.threads import count_threads, use_threads
    >>> with use_threads(3):
    ...     count_threads()
    3
    """
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
    """Return the number of threads that an `n_jobs` of scikit-learn's kind stands for.

    Examples
    --------
    >>> from sidecut.graphs.threads import count_jobs
    >>> count_jobs(2)
    2
    """
    is_whole = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if not is_whole or n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r} must be None, a whole number of threads, or -1 for all cores.")
    return int(n_jobs) if n_jobs > 0 else max(cpu_count() + 1 + int(n_jobs), 1)


def limit_threads(n_threads: int | None = 1) -> AbstractContextManager[object]:
    """Hold BLAS and OpenMP to a number of threads within a ``with``.

    It is `threadpoolctl.threadpool_limits` for the libraries that numpy, scipy and scikit-learn have loaded
    when it is first called. To search for them takes milliseconds, as long as clustering a few points.

    Parameters
    ----------
    n_threads : int or None, default=1
        How many; None leaves it as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs.threads import limit_threads
    >>> with limit_threads(1):
    ...     float(np.trace(np.eye(3) @ np.eye(3)))
    3.0
    """
    return _libraries().limit(limits=n_threads)


@cache
def _libraries() -> ThreadpoolController:
    # Imported here, so that its OpenMP is among them.
    import sklearn.cluster  # noqa: F401

    return ThreadpoolController()


# Products of a large sparse matrix with vectors, the rows shared out among threads.

#: Below this many nonzeros a thread costs more than it brings.
PARALLEL_NONZEROS = 400_000


class SparseProduct:
    """The map x -> A x of a sparse matrix. SciPy multiplies on one core; slices of rows can use them all.

    Every row is summed in the same order whatever the number of threads, so the result is the same to the
    last bit.

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
        # Slices of equal numbers of nonzeros, not of rows: hubs would make one thread wait for another.
        shares = np.linspace(0, matrix.nnz, n_threads + 1)[1:-1]
        cuts = np.concatenate([[0], np.searchsorted(matrix.indptr, shares), [matrix.shape[0]]])
        self._slices = [matrix[a:b] for a, b in pairwise(cuts)]
        self._pool = ThreadPoolExecutor(n_threads) if n_threads > 1 else None

    def __call__(self, block: FloatArray) -> FloatArray:
        """Return A @ block for a vector or a block of vectors."""
        if self._pool is None:
            return np.asarray(self._slices[0] @ block)
        return np.concatenate(list(self._pool.map(lambda rows: rows @ block, self._slices)))
