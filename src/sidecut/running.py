"""How a fit runs: its stages, with their seconds and how much is done, and how many threads it may use."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from typing import Any, TextIO

import numpy as np
from joblib import cpu_count
from threadpoolctl import ThreadpoolController

#: Stages shorter than this many seconds are not shown.
MIN_SECONDS = 0.005
_allowed: ContextVar[int | None] = ContextVar("threads allowed in this fit", default=None)


class Progress:
    """Writes the stages of a fit as they end; on a terminal also the one that goes on, with a bar."""

    def __init__(
        self, level: int, stream: TextIO | None = None, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self.level = level
        self.stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._open: list[tuple[str, float]] = []
        self._is_terminal = self.stream.isatty()
        self._written = clock()

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what happens inside, and write it when it has ended, unless it failed."""
        self._open.append((name, self._clock()))
        depth = len(self._open)
        if depth <= self.level:
            self._show(f"  {name} ...")
        try:
            yield
        except BaseException:
            self._open.pop()
            self._show("")
            raise
        _, start = self._open.pop()
        took = self._clock() - start
        if depth <= self.level:
            self._show("")
            if took >= MIN_SECONDS:
                self.write(f"{'  ' * depth}{name} ... {seconds_in_words(took)}\n")

    def advance(self, done: int, total: int) -> None:
        """Show how much of the present stage is done, and how long the rest will take."""
        if not self._open or not 0 < done <= total:
            return
        now = self._clock()
        # A line on a terminal is written five times a second at most, one in a file every ten seconds.
        if now - self._written < (0.2 if self._is_terminal else 10.0):
            return
        self._written = now
        name, start = self._open[min(len(self._open), max(self.level, 1)) - 1]
        left = (now - start) * (total - done) / done
        words = f"{done / total:.0%}, about {seconds_in_words(left)} left"
        if self._is_terminal:
            self._show(f"  {name} [{'#' * round(24 * done / total):.<24}] {words}")
        else:
            self.write(f"  {name}: {words}\n")

    def _show(self, line: str) -> None:
        """Write a line over the last one, on a terminal."""
        if self._is_terminal:
            self.write(f"\r\x1b[K{line}")

    def write(self, text: str) -> None:
        """Write some text at once."""
        self.stream.write(text)
        self.stream.flush()


def seconds_in_words(seconds: float) -> str:
    """Return a time as it is written behind a stage."""
    if seconds >= 120:
        return f"{seconds / 60:.0f} min"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.2f} s"


_progress: ContextVar[Progress | None] = ContextVar("progress", default=None)


@contextmanager
def show_progress(verbose: Any, title: str) -> Iterator[None]:
    """Write the stages of what happens inside, if `verbose` asks for it."""
    # A fit within a fit is part of its stages, whatever its own `verbose` is.
    if not isinstance(verbose, bool | np.bool_ | int | np.integer) or verbose < 0:
        raise ValueError(f"verbose={verbose!r} must be True, False or a whole number, at least 0.")
    if verbose == 0 or _progress.get() is not None:
        yield
        return
    progress = Progress(int(verbose))
    progress.write(f"{title}\n")
    token = _progress.set(progress)
    try:
        yield
    finally:
        _progress.reset(token)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Name a stage of the fit, where progress is shown."""
    progress = _progress.get()
    with nullcontext() if progress is None else progress.stage(name):
        yield


def advance(done: int, total: int) -> None:
    """Show how much of the present stage is done, where progress is shown."""
    progress = _progress.get()
    if progress is not None:
        progress.advance(done, total)


def track(parts: Iterable[Any], total: int) -> Iterator[Any]:
    """Pass parts of the work on, and show before each how much is done."""
    for done, part in enumerate(parts, start=1):
        advance(done, total)
        yield part


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
    """Limit BLAS and OpenMP to a number of threads within a ``with``."""
    # It is `threadpoolctl.threadpool_limits` for the libraries loaded at the first call: searching for them
    # takes milliseconds, as long as clustering a few points.
    return _libraries().limit(limits=n_threads, user_api="blas" if only_blas else None)


@cache
def _libraries() -> ThreadpoolController:
    # Imported first, so that its OpenMP is among the libraries.
    import sklearn.cluster  # noqa: F401

    return ThreadpoolController()
