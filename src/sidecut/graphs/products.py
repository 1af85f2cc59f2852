"""Products of a large sparse matrix with vectors, the rows shared out among threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from joblib import cpu_count

from sidecut.graphs.graph import FloatArray

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
            n_threads = cpu_count() if matrix.nnz >= PARALLEL_NONZEROS else 1
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
