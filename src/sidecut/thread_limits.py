"""How many threads BLAS and OpenMP may use for a while."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController


def limit_threads(n_threads: int | None = 1, *, only_blas: bool = False) -> AbstractContextManager[object]:
    """Hold BLAS and OpenMP to a number of threads within a ``with``.

    It is `threadpoolctl.threadpool_limits` for the libraries that numpy, scipy and scikit-learn have loaded
    when it is first called. To search for them takes milliseconds, as long as clustering a few points.

    Parameters
    ----------
    n_threads : int or None, default=1
        How many; None leaves it as it is.
    only_blas : bool, default=False
        Leave OpenMP, which k-means uses, as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.thread_limits import limit_threads
    >>> with limit_threads(1):
    ...     float(np.trace(np.eye(3) @ np.eye(3)))
    3.0
    """
    return _libraries().limit(limits=n_threads, user_api="blas" if only_blas else None)


@cache
def _libraries() -> ThreadpoolController:
    # Imported here, so that its OpenMP is among them.
    import sklearn.cluster  # noqa: F401

    return ThreadpoolController()
