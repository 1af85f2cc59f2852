"""The command line: ``sidecut cluster``, ``methods``, ``evaluate``, ``check`` and ``demo``."""

from sidecut.cli.main import main

__all__ = ["main"]
