"""What is going on, on stderr, while it goes on."""

from __future__ import annotations

import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

__all__ = ["Progress", "collected_warnings"]


class Progress:
    """Names the stages of a run and takes their time.

    Parameters
    ----------
    is_shown : bool
        Whether to write the stages to `stream`.
    stream : file, optional
        Standard error by default; standard output is for results.

    Attributes
    ----------
    seconds : dict of str to float
        How long each stage took.

    Examples
    --------
    >>> progress = Progress(is_shown=False)
    >>> with progress.stage("thinking", "of a number"):
    ...     answer = 42
    >>> list(progress.seconds)
    ['thinking']
    """

    tick = 1.0
    """Seconds between two signs of life."""

    def __init__(self, is_shown: bool, stream: TextIO | None = None) -> None:
        self.is_shown = is_shown
        self.seconds: dict[str, float] = {}
        self._stream = sys.stderr if stream is None else stream

    @classmethod
    def chosen(cls, quiet: bool, verbose: bool) -> Progress:
        """Show stages to a person at a terminal, to whoever asks for them, and never to the quiet."""
        return cls(is_shown=verbose or (sys.stderr.isatty() and not quiet))

    @contextmanager
    def stage(self, name: str, detail: str = "") -> Iterator[None]:
        """Time what happens inside, and say so; programs find the time under the name alone."""
        words = f"  {name}{' ' if detail else ''}{detail} ... "
        self._write(words)
        start = time.perf_counter()
        try:
            with self._ticking(words):
                yield
        except BaseException:
            self._write("failed\n")
            raise
        self.seconds[name] = time.perf_counter() - start
        self._write(f"{self.seconds[name]:.2f} s\n")

    @property
    def total(self) -> float:
        """Seconds of all stages together."""
        return sum(self.seconds.values())

    @contextmanager
    def _ticking(self, words: str) -> Iterator[None]:
        """Count the seconds on a terminal, so that long work is seen to be alive."""
        if not (self.is_shown and self._stream.isatty()):
            yield
            return
        is_over = threading.Event()
        clock = threading.Thread(target=self._tick, args=(words, is_over), daemon=True)
        clock.start()
        try:
            yield
        finally:
            is_over.set()
            clock.join()
            self._write(f"\r{words}")

    def _tick(self, words: str, is_over: threading.Event) -> None:
        seconds = 0
        while not is_over.wait(self.tick):
            seconds += 1
            self._write(f"\r{words}{seconds} s")

    def _write(self, text: str) -> None:
        if self.is_shown:
            self._stream.write(text)
            self._stream.flush()


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect what is warned of, each message once, instead of letting it scroll by.

    Yields
    ------
    list of str
        Filled when the block ends.

    Examples
    --------
    >>> with collected_warnings() as messages:
    ...     warnings.warn("thin ice")
    ...     warnings.warn("thin ice")
    >>> messages
    ['thin ice']
    """
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # What concerns the authors of libraries is no news for their users.
        for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning):
            warnings.simplefilter("ignore", category)
        try:
            yield messages
        finally:
            messages.extend(dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught))
