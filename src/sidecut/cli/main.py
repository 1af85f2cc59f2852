"""The front door: a command line in, an exit code out."""

from __future__ import annotations

import os
import sys
import traceback
from argparse import Namespace
from collections.abc import Sequence

import numpy as np

from sidecut.cli.errors import BAD_INPUT, FAILED, UsageError
from sidecut.cli.parser import build_parser
from sidecut.exceptions import ConstraintError, SpectralError

__all__ = ["main"]

_BAD_INPUT_ERRORS = (UsageError, ConstraintError, ValueError, OSError)
_FAILURES = (SpectralError, np.linalg.LinAlgError, MemoryError)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments after the program's name; those of the process by default.

    Returns
    -------
    int
        Exit code: 0 done, 1 the computation failed, 2 bad usage or input, 3 hard constraints violated.

    Examples
    --------
    >>> main(["methods", "--json"])
    {"normalized-cut": ...
    0
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    args = build_parser().parse_args(arguments)
    args.argv = arguments
    try:
        code = _run(args)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return _complain("interrupted", 130)
    except BrokenPipeError:
        # The reader of our output has left, as `head` does; that is its right, not an error of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if args.debug:
            traceback.print_exc()
        return _explain(error)


def _run(args: Namespace) -> int:
    # Commands are imported when they are used: --help and --version should not wait for them.
    if args.command == "cluster":
        from sidecut.cli.cluster_command import run
    elif args.command == "segment":
        from sidecut.cli.segment_command import run
    elif args.command == "methods":
        from sidecut.cli.methods_command import run
    elif args.command == "evaluate":
        from sidecut.cli.evaluate_command import run
    elif args.command == "check":
        from sidecut.cli.check_command import run
    elif args.command == "bench":
        from sidecut.cli.bench_command import run
    else:
        from sidecut.cli.demo_command import run
    return run(args)


def _explain(error: Exception) -> int:
    message = " ".join(str(error).split()) or type(error).__name__
    # A failure to solve can be a ValueError too (LinAlgError is one), so failures are told first.
    if isinstance(error, _FAILURES):
        return _complain(f"the computation failed: {message}", FAILED)
    if isinstance(error, OSError) and error.filename is not None:
        return _complain(f"{error.filename}: {error.strerror}", BAD_INPUT)
    if isinstance(error, _BAD_INPUT_ERRORS):
        return _complain(message, BAD_INPUT)
    rule = "this is unexpected; --debug shows where it happened"
    return _complain(f"{type(error).__name__}: {message} ({rule})", FAILED)


def _complain(message: str, code: int) -> int:
    print(f"sidecut: error: {message}", file=sys.stderr)
    return code
