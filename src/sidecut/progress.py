"""Telling how far a long fit has come: its stages with their seconds, and how much of a stage is done."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TextIO

import numpy as np

#: A line on a terminal is written again at most so often, in seconds; a line in a file or notebook likewise.
REFRESH, REFRESH_OF_FILES = 0.2, 10.0
#: How many characters a bar has.
WIDTH_OF_BAR = 24
#: A stage shorter than this, in seconds, is not worth a line.
SHORT = 0.005
#: From so many seconds on, times are told in minutes.
LONG = 120


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

    def title(self, words: str) -> None:
        """Write what is fitted."""
        self._write(f"{words}\n")

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what happens inside, and write it when it has ended, unless it failed."""
        self._open.append((name, self._clock()))
        depth = len(self._open)
        if depth <= self.level:
            self._show(f"{name} ...")
        try:
            yield
        except BaseException:
            self._open.pop()
            self._clear()
            raise
        _, start = self._open.pop()
        took = self._clock() - start
        if depth <= self.level:
            self._clear()
            if took >= SHORT:
                self._write(f"{'  ' * depth}{name} ... {seconds_in_words(took)}\n")

    def advance(self, done: int, total: int) -> None:
        """Show how much of the present stage is done, and how long the rest will take."""
        if not self._open or not 0 < done <= total:
            return
        now = self._clock()
        if now - self._written < (REFRESH if self._is_terminal else REFRESH_OF_FILES):
            return
        self._written = now
        name, start = self._open[min(len(self._open), max(self.level, 1)) - 1]
        left = (now - start) * (total - done) / done
        words = f"{done / total:.0%}, about {seconds_in_words(left)} left"
        if self._is_terminal:
            filled = round(WIDTH_OF_BAR * done / total)
            self._show(f"{name} [{'#' * filled}{'.' * (WIDTH_OF_BAR - filled)}] {words}")
        else:
            self._write(f"  {name}: {words}\n")

    def _show(self, words: str) -> None:
        """Write a line over the last one, where that can be done."""
        if self._is_terminal:
            self._write(f"\r\x1b[K  {words}")

    def _clear(self) -> None:
        if self._is_terminal:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()


def seconds_in_words(seconds: float) -> str:
    """Return a time as it is written behind a stage."""
    if seconds >= LONG:
        return f"{seconds / 60:.0f} min"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.2f} s"


_listener: ContextVar[Progress | None] = ContextVar("listener", default=None)


@contextmanager
def show_progress(verbose: Any, title: str) -> Iterator[None]:
    """Have the stages of what happens inside written, if `verbose` asks for it.

    What is fitted within a fit is part of its stages, whatever its own `verbose` is.
    """
    level = check_verbose(verbose)
    if level == 0 or _listener.get() is not None:
        yield
        return
    listener = Progress(level)
    listener.title(title)
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def check_verbose(verbose: Any) -> int:
    """Return how much is to be told, or say what was given instead."""
    if not isinstance(verbose, bool | np.bool_ | int | np.integer) or verbose < 0:
        raise ValueError(f"verbose={verbose!r} must be True, False or a whole number, at least 0.")
    return int(verbose)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Name what happens inside, for whoever listens."""
    listener = _listener.get()
    if listener is None:
        yield
        return
    with listener.stage(name):
        yield


def advance(done: int, total: int) -> None:
    """Say how much of the present stage is done, for whoever listens."""
    listener = _listener.get()
    if listener is not None:
        listener.advance(done, total)


def track(parts: Iterable[Any], total: int) -> Iterator[Any]:
    """Pass parts of the work on, and say after each how much is done."""
    for done, part in enumerate(parts, start=1):
        advance(done, total)
        yield part
