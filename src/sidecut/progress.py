"""The progress of a long fit: its stages with their seconds, and how much of a stage is done."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, TextIO

import numpy as np

#: Stages shorter than this many seconds are not shown.
MIN_SECONDS = 0.005


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
    """Write the stages of what happens inside, if `verbose` asks for it.

    A fit within a fit is part of its stages, whatever its own `verbose` is.
    """
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
