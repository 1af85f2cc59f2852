"""What people see on a terminal: the stages of a run while they go on, tables, and what was warned of."""

from __future__ import annotations

import importlib
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from difflib import get_close_matches
from typing import Any, TextIO

from rich.console import Console, RenderableType
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

__all__ = [
    "BAD_INPUT",
    "FAILED",
    "OK",
    "VIOLATED",
    "Stages",
    "UsageError",
    "collected_warnings",
    "did_you_mean",
    "duration",
    "require",
    "show",
    "show_rows",
    "show_table",
]

OK = 0
FAILED = 1
BAD_INPUT = 2
VIOLATED = 3


class UsageError(Exception):
    """Something the user gave cannot be used; the message says what, why, and what to do instead."""


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.7) -> str:
    """Ask about the known name that is most like a wrong one, capitals aside; nothing if none is like it."""
    by_plain = {one.casefold(): one for one in known}
    close = get_close_matches(name.casefold(), by_plain, n=1, cutoff=cutoff)
    return f"; did you mean {by_plain[close[0]]}?" if close else ""


def require(package: str, purpose: str) -> Any:
    """Import an optional package, or say what it is needed for and how to install it."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        top = package.partition(".")[0]
        message = f'{purpose} needs {top}, which is not installed: pip install "sidecut[cli]"'
        raise UsageError(message) from error


WIDTH_OF_FILES = 1000
"""Lines that go to a file or a pipe are not wrapped."""


def show(renderable: RenderableType) -> None:
    """Print something rich can render on standard output, unwrapped where that is no terminal."""
    is_terminal = sys.stdout.isatty()
    console = Console(width=None if is_terminal else WIDTH_OF_FILES, markup=False, highlight=False)
    # Through print, so that a reader who leaves early is noticed by the front door.
    with console.capture() as captured:
        console.print(renderable)
    print("\n".join(line.rstrip() for line in captured.get().splitlines()))


def show_rows(rows: Iterable[tuple[str, str]]) -> None:
    """Print names and values in two columns."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in rows:
        grid.add_row(name, value)
    show(grid)


def show_table(heads: Sequence[str], rows: Iterable[Sequence[str]], numeric: Sequence[int] = ()) -> None:
    """Print a table without lines."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for column, head in enumerate(heads):
        table.add_column(head, justify="right" if column in numeric else "left")
    for row in rows:
        table.add_row(*row)
    show(table)


def duration(seconds: float) -> str:
    """Return a time as people say it."""
    if seconds < 1.5:
        return "a second"
    if seconds < 100:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 6000 else f"{seconds / 3600:.1f} hours"


class Stages:
    """Names the stages of a run and takes their time."""

    def __init__(self, is_shown: bool, stream: TextIO | None = None) -> None:
        self.is_shown = is_shown
        self.seconds: dict[str, float] = {}
        self._stream = sys.stderr if stream is None else stream

    @classmethod
    def chosen(cls, quiet: bool, verbose: bool) -> Stages:
        """Show stages to a person at a terminal, to whoever asks for them, and never to the quiet."""
        return cls(is_shown=verbose or (sys.stderr.isatty() and not quiet))

    @contextmanager
    def stage(self, name: str, detail: str = "") -> Iterator[None]:
        """Time what happens inside, and say so; programs find the time under the name alone."""
        words = f"{name} {detail}".rstrip()
        start = time.perf_counter()
        try:
            with self._clock(words):
                yield
        except BaseException:
            self._write(f"  {words} ... failed\n")
            raise
        self.seconds[name] = time.perf_counter() - start
        self._write(f"  {words} ... {self.seconds[name]:.2f} s\n")

    @property
    def total(self) -> float:
        """Seconds of all stages together."""
        return sum(self.seconds.values())

    def note(self, text: str) -> None:
        """Say something between two stages."""
        self._write(f"  {text}\n")

    def _clock(self, words: str) -> Any:
        """On a terminal, show that long work is alive and since when it goes on."""
        if not (self.is_shown and self._stream.isatty()):
            return nullcontext()
        text = TextColumn("{task.description}", markup=False)
        console = Console(file=self._stream)
        clock = Progress(SpinnerColumn(), text, TimeElapsedColumn(), console=console, transient=True)
        clock.add_task(words, total=None)
        return clock

    def _write(self, text: str) -> None:
        if self.is_shown:
            self._stream.write(text)
            self._stream.flush()


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect what is warned of, each message once, instead of letting it scroll by."""
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # What concerns the authors of libraries is no news for their users.
        for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning):
            warnings.simplefilter("ignore", category)
        try:
            yield messages
        finally:
            said = (" ".join(str(warning.message).split()) for warning in caught)
            # What is a parameter in Python is set on the command line.
            messages.extend(
                dict.fromkeys(text.replace("use safe=False", "use --set safe=False") for text in said)
            )
