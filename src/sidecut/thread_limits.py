"""How many threads BLAS and OpenMP may use for a while."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController


def limit_threads(n_threads: int | None = 1, *, only_blas: bool = False) -> AbstractContextManager[object]:
    """Hold BLAS and OpenMP to a number of threads within a ``with``.

    It is `threadpoolctl.threadpool_limits` for the libraries that numpy, scipy and scikit-learn have loaded
    when it is first called. To search for them takes milliseconds, as long as clustering a few points.
    """
    return _libraries().limit(limits=n_threads, user_api="blas" if only_blas else None)


@cache
def _libraries() -> ThreadpoolController:
    # Imported here, so that its OpenMP is among them.
    import sklearn.cluster  # noqa: F401

    return ThreadpoolController()
