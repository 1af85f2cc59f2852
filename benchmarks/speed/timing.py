"""How long some work takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

Clock = Callable[[], float]
Result = TypeVar("Result")


def timed(work: Callable[[], Result], clock: Clock = time.perf_counter) -> tuple[Result, float]:
    """Return what some work gives, and its time in seconds."""
    start = clock()
    result = work()
    return result, clock() - start


def seconds(work: Callable[[], object], repeats: int = 1, clock: Clock = time.perf_counter) -> float:
    """Return the median time of some work."""
    return float(np.median([timed(work, clock)[1] for _ in range(repeats)]))


def alternately(
    works: list[Callable[[], object]], repeats: int, clock: Clock = time.perf_counter
) -> list[float]:
    """Return the median times of some works done in turn, so that what disturbs one disturbs all."""
    rounds = [[seconds(work, 1, clock) for work in works] for _ in range(repeats)]
    return np.median(rounds, axis=0).tolist()


def one_blas_thread() -> threadpool_limits:
    """Return a context in which BLAS has one thread.

    Solvers on sparse graphs, ours and scikit-learn's, hand BLAS blocks of a few columns, too small to share.
    Comparisons with dense matrices do without: there every thread helps.
    """
    return threadpool_limits(limits=1, user_api="blas")
