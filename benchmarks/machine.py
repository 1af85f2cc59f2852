"""What a measurement ran on."""

from __future__ import annotations

import os
import platform

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
