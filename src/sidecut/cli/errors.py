"""What the command line says when it cannot go on, and the exit code it says it with."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

__all__ = ["BAD_INPUT", "FAILED", "OK", "VIOLATED", "UsageError", "did_you_mean", "require"]

OK = 0
FAILED = 1
BAD_INPUT = 2
VIOLATED = 3


class UsageError(Exception):
    """Something the user gave cannot be used; the message says what, why, and what to do instead."""


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.7) -> str:
    """Ask about the known name that is most like a wrong one, capitals aside; nothing if none is like it.

    Parameters
    ----------
    name : str
        What was given.
    known : iterable of str
        What there is.
    cutoff : float
        How alike they must be, from 0 to 1.

    Examples
    --------
    >>> did_you_mean("Specis", ["weight", "species"]), did_you_mean("colour", ["weight", "species"])
    ('; did you mean species?', '')
    """
    by_plain = {one.casefold(): one for one in known}
    close = get_close_matches(name.casefold(), by_plain, n=1, cutoff=cutoff)
    return f"; did you mean {by_plain[close[0]]}?" if close else ""


def require(package: str, purpose: str) -> Any:
    """Import an optional package, or say what it is needed for and how to install it.

    Parameters
    ----------
    package : str
        Name of the module.
    purpose : str
        What needs it, as the beginning of a sentence: ``"Reading tables"``.

    Returns
    -------
    module
        The imported module.

    Raises
    ------
    UsageError
        If the package is not installed.

    Examples
    --------
    >>> require("json", "Reading").__name__
    'json'
    >>> require("no_such_package", "Reading tables")
    Traceback (most recent call last):
    ...
    sidecut.cli.errors.UsageError: Reading tables needs no_such_package, ...
    """
    try:
        return importlib.import_module(package)
    except ImportError as error:
        top = package.partition(".")[0]
        message = f'{purpose} needs {top}, which is not installed: pip install "sidecut[cli]"'
        raise UsageError(message) from error
