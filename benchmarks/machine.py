"""What a measurement ran on."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

import numpy
import scipy
import sklearn

import sidecut


def facts() -> str:
    """Return the machine and the versions in one line."""
    return (
        f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, "
        f"numpy {numpy.__version__}, scipy {scipy.__version__}, scikit-learn {sklearn.__version__}, "
        f"sidecut {sidecut.__version__}"
    )


def commit() -> str:
    """Return the commit of the checkout, and whether its code was changed since."""
    here = Path(__file__).parent
    words = ("git", "-C", str(here))
    found = subprocess.run([*words, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    changed = subprocess.run([*words, "diff", "--quiet", "HEAD", "--", "../src"]).returncode
    return found.stdout.strip() + (", with changes" if changed else "") if found.stdout else "unknown"
