"""``sidecut methods``: which method suits what."""

from __future__ import annotations

import json
from argparse import Namespace

from sidecut.cli.errors import OK
from sidecut.cli.methods import METHODS

__all__ = ["run"]


def run(args: Namespace) -> int:
    """Print the table of methods.

    Parameters
    ----------
    args : Namespace
        The parsed command line.

    Returns
    -------
    int
        Exit code.
    """
    print(json.dumps({name: method.as_dict() for name, method in METHODS.items()}) if args.json else _table())
    return OK


def _table() -> str:
    heads = ("METHOD", "USES", "GOOD FOR", "COST")
    rows = [heads, *((name, m.takes, m.purpose, m.cost) for name, m in METHODS.items())]
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    return "\n".join([*lines, "", *(f"{name}: {method.citation}" for name, method in METHODS.items())])
