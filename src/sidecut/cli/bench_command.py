"""``sidecut bench``: the benchmarks of a clone, which are not shipped with the package."""

from __future__ import annotations

import importlib
import sys
from argparse import Namespace
from pathlib import Path

from sidecut.cli.errors import OK, UsageError

__all__ = ["find_clone", "run"]


def run(args: Namespace) -> int:
    """Hand the arguments on to ``python -m benchmarks.<suite>``.

    Parameters
    ----------
    args : Namespace
        The parsed command line.

    Returns
    -------
    int
        Exit code.
    """
    clone = find_clone(Path.cwd(), args.suite)
    sys.path.insert(0, str(clone))
    try:
        suite = importlib.import_module(f"benchmarks.{args.suite}.__main__")
        return suite.main(args.arguments) or OK
    finally:
        sys.path.remove(str(clone))


def find_clone(start: Path, suite: str) -> Path:
    """Return the nearest folder, `start` or one that holds it, with the benchmarks in it.

    Parameters
    ----------
    start : Path
        Where to begin.
    suite : str
        Name of a folder in benchmarks/.

    Returns
    -------
    Path
        The folder of the clone.

    Raises
    ------
    UsageError
        If there is none.

    Examples
    --------
    >>> find_clone(Path("/"), "papers")
    Traceback (most recent call last):
    ...
    sidecut.cli.errors.UsageError: There is no benchmarks/papers in / or above it: ...
    """
    for folder in (start, *start.parents):
        if (folder / "benchmarks" / suite / "__main__.py").is_file():
            return folder
    raise UsageError(
        f"There is no benchmarks/{suite} in {start} or above it: the benchmarks are not part of the "
        "installed package; clone the repository and run this inside it."
    )
