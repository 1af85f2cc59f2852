"""Output on a terminal: the stages of a run, tables and warnings; exit codes and errors of use."""

from __future__ import annotations

import importlib
import re
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from difflib import get_close_matches
from enum import IntEnum
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console, RenderableType
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table


class Exit(IntEnum):
    """Exit codes of the program."""

    OK = 0
    FAILED = 1
    BAD_INPUT = 2
    VIOLATED = 3
    INTERRUPTED = 130


class UsageError(Exception):
    """An input or option cannot be used; the message says which, why, and what to do instead."""


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.7) -> str:
    """Return a question about the known name most like a wrong one; empty if none is like it."""
    by_plain = {one.casefold(): one for one in known}
    close = get_close_matches(name.casefold(), by_plain, n=1, cutoff=cutoff)
    return f"; did you mean {by_plain[close[0]]}?" if close else ""


def existing_file(path: Path) -> Path:
    """Return the path of a file, or refuse it if there is none."""
    if path.is_dir():
        raise UsageError(f"{path} is a directory; name a file in it.")
    if not path.exists():
        beside = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
        raise UsageError(f"There is no file {path}{did_you_mean(path.name, beside, 0.75) or '.'}")
    return path


def require(package: str, purpose: str) -> Any:
    """Import an optional package, or say what it is needed for and how to install it."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        top = package.partition(".")[0]
        message = (
            f"{purpose} needs {top}, which is not installed: pip install {'pillow' if top == 'PIL' else top}"
        )
        raise UsageError(message) from error


def counted(count: int, noun: str) -> str:
    """Return a number and a noun: 1 cluster, 1,797 points."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def _show(renderable: RenderableType, width: int | None = None) -> None:
    # Lines that go to a file or a pipe are not wrapped, unless they are for reading only.
    width = None if sys.stdout.isatty() else width or 1000
    console = Console(width=width, markup=False, highlight=False)
    # Through print, so that `main` notices a reader that leaves early.
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
    _show(grid)


def show_table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], numeric: Sequence[int] = (), width: int | None = None
) -> None:
    """Print a table without lines."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for column, head in enumerate(heads):
        table.add_column(head, justify="right" if column in numeric else "left")
    for row in rows:
        table.add_row(*row)
    _show(table, width)


class Stages:
    """The stages of a run, with their times."""

    def __init__(self, is_shown: bool, stream: TextIO | None = None) -> None:
        self.is_shown = is_shown
        self.seconds: dict[str, float] = {}
        self._stream = sys.stderr if stream is None else stream

    @classmethod
    def chosen(cls, quiet: bool, verbose: bool) -> Stages:
        """Show stages on a terminal or with --verbose, never with --quiet."""
        return cls(is_shown=verbose or (sys.stderr.isatty() and not quiet))

    @contextmanager
    def stage(self, name: str, detail: str = "") -> Iterator[None]:
        """Show a stage with its detail while it runs, and keep its time under its name."""
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

    def _clock(self, words: str) -> Any:
        """Return a spinner and a clock for a stage, on a terminal."""
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


def in_options(message: str) -> str:
    """Replace the parameters named in a message of the library by options of the command line."""
    message = re.sub(r"\bn_clusters=(\d+)", r"--clusters \1", message)
    message = re.sub(r"\bn_clusters <= (\d+)", r"--clusters \1 or fewer", message)
    message = re.sub(r"put None there or say unknown=(\S+)", r"say --unknown \1", message)
    message = message.replace("name its encoding", "name its encoding with --encoding")
    return message.replace("say unknown=()", "say --unknown ''").replace("safe=False", "--set safe=False")


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect warnings, each message once, in place of printing them."""
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # These concern authors of libraries, not users of the program.
        for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning):
            warnings.simplefilter("ignore", category)
        try:
            yield messages
        finally:
            texts = (" ".join(str(warning.message).split()) for warning in caught)
            messages.extend(dict.fromkeys(map(in_options, texts)))


def show_warnings(messages: Iterable[str]) -> None:
    """Print warnings on standard error."""
    for message in messages:
        print(f"sidecut: warning: {message}", file=sys.stderr)
