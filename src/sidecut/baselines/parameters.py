"""What numbers may be handed to a baseline."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np


def check_whole(name: str, value: Any) -> None:
    """Refuse a parameter that is not a whole number of at least 1."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name}={value!r} must be a whole number, at least 1.")


def check_not_negative(name: str, value: Any) -> None:
    """Refuse a parameter that is not a finite number of at least 0."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= float(value) < np.inf:
        raise ValueError(f"{name}={value!r} must be a finite number, not negative.")
