"""The command line: ``sidecut cluster``, ``methods``, ``evaluate``, ``check`` and ``demo``."""

import sys
from collections.abc import Sequence

try:
    from sidecut.cli.main import main
except ModuleNotFoundError as error:
    _missing = str(error.name)
    if _missing.startswith("sidecut"):
        raise

    def main(argv: Sequence[str] | None = None) -> int:
        """Say what to install: the command line needs packages that the library does not."""
        needed = "typer rich jinja2 pandas pyarrow openpyxl matplotlib skops"
        sys.stderr.write(f"sidecut: error: the command line needs {_missing}: pip install {needed}\n")
        return 2


__all__ = ["main"]
