"""What the command line says when it cannot go on, and the exit code it says it with."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["BAD_INPUT", "FAILED", "OK", "VIOLATED", "UsageError", "require"]

OK = 0
FAILED = 1
BAD_INPUT = 2
VIOLATED = 3


class UsageError(Exception):
    """Something the user gave cannot be used; the message says what, why, and what to do instead."""


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
