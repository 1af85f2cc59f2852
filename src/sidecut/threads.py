"""How many threads a fit may use: one rule for our own pools, BLAS and OpenMP."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from typing import Any

import numpy as np
from joblib import cpu_count
from threadpoolctl import ThreadpoolController

_allowed: ContextVar[int | None] = ContextVar("threads allowed in this fit", default=None)


@contextmanager
def use_threads(n_jobs: Any) -> Iterator[None]:
    """Limit our own pools, BLAS and OpenMP to `n_jobs` threads within a ``with``."""
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


def limit_threads(n_threads: int | None = 1, *, only_blas: bool = False) -> AbstractContextManager[object]:
    """Limit BLAS and OpenMP to a number of threads within a ``with``.

    It is `threadpoolctl.threadpool_limits` for the libraries loaded at the first call: searching for them
    takes milliseconds, as long as clustering a few points.
    """
    return _libraries().limit(limits=n_threads, user_api="blas" if only_blas else None)


@cache
def _libraries() -> ThreadpoolController:
    # Imported first, so that its OpenMP is among the libraries.
    import sklearn.cluster  # noqa: F401

    return ThreadpoolController()
