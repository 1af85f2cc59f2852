"""Measurements: the papers' experiments, speed as ratios within one run, other people's packages."""

import atexit
import os
import sys
from pathlib import Path


def _note_modules(folder: str) -> None:
    """Write which modules of sidecut this process has loaded: `benchmarks.evidence` asks for it."""
    loaded = sorted(name for name in sys.modules if name.split(".")[0] == "sidecut")
    Path(folder, f"{os.getpid()}.txt").write_text("\n".join(loaded))


if "EVIDENCE_MODULES" in os.environ:
    atexit.register(_note_modules, os.environ["EVIDENCE_MODULES"])
