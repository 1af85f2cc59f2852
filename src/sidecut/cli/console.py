"""What people see on a terminal: the stages of a run while they go on, tables, and what was warned of."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, TextIO

from rich.console import Console, RenderableType
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

__all__ = ["Stages", "collected_warnings", "duration", "show", "show_rows", "show_table"]

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
    """Print names and values in two columns.

    Examples
    --------
    >>> show_rows([("points", "3"), ("ARI", "0.9")])
    points  3
    ARI     0.9
    """
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in rows:
        grid.add_row(name, value)
    show(grid)


def show_table(heads: Sequence[str], rows: Iterable[Sequence[str]], numeric: Sequence[int] = ()) -> None:
    """Print a table without lines.

    Examples
    --------
    >>> show_table(["", "ARI"], [("moons", "0.9"), ("digits", "0.85")], numeric=[1])
              ARI
    moons     0.9
    digits   0.85
    """
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for column, head in enumerate(heads):
        table.add_column(head, justify="right" if column in numeric else "left")
    for row in rows:
        table.add_row(*row)
    show(table)


def duration(seconds: float) -> str:
    """Return a time as people say it.

    Examples
    --------
    >>> duration(0.4), duration(41), duration(200), duration(9000)
    ('a second', '41 seconds', '3 minutes', '2.5 hours')
    """
    if seconds < 1.5:
        return "a second"
    if seconds < 100:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 6000 else f"{seconds / 3600:.1f} hours"


class Stages:
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
    >>> stages = Stages(is_shown=False)
    >>> with stages.stage("thinking", "of a number"):
    ...     answer = 42
    >>> list(stages.seconds)
    ['thinking']
    """

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
            said = (" ".join(str(warning.message).split()) for warning in caught)
            # What is a parameter in Python is set on the command line.
            messages.extend(
                dict.fromkeys(text.replace("use safe=False", "use --set safe=False") for text in said)
            )
