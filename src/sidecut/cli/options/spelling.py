"""Options as a person would type them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import fields
from typing import Any


def command_line(name: str, options: Any) -> str:
    """Return the command line that says what `options` say, defaults left out.

    Parameters
    ----------
    name : str
        Name of the command.
    options : dataclass
        Its options.

    Examples
    --------
    >>> from pathlib import Path
    >>> from sidecut.cli.options import ClusterOptions, command_line
    >>> asked = ClusterOptions(data=Path("my points.csv"), clusters="3", output=Path("l.csv"), header=False)
    >>> command_line("cluster", asked)
    "sidecut cluster 'my points.csv' --output l.csv --clusters 3 --no-header"
    """
    words = ["sidecut", name]
    for field in fields(options):
        value = getattr(options, field.name)
        if value != field.default:
            words += _words(field.name, value, is_argument="typer.Argument" in str(field.type))
    return shlex.join(words)


def _words(name: str, value: Any, is_argument: bool) -> Iterator[str]:
    flag = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        yield flag if value else f"--no-{flag[2:]}"
        return
    for one in value if isinstance(value, list) else [value]:
        if not is_argument:
            yield flag
        yield str(one)
