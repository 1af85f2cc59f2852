"""What numbers and switches may be handed to a function or an estimator: checks that any room may use."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np


def check_count(name: str, value: Any) -> int:
    """Return a positive whole number, or say what was given instead.

    Examples
    --------
    >>> from sidecut.parameters import check_count
    >>> check_count("n_landmarks", 500)
    500
    """
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole or value < 1:
        raise ValueError(f"{name}={value!r} must be a whole number, at least 1.")
    return int(value)


def check_not_negative(name: str, value: Any) -> None:
    """Refuse a parameter that is not a finite number of at least 0.

    Examples
    --------
    >>> from sidecut.parameters import check_not_negative
    >>> check_not_negative("penalty", -1.0)
    Traceback (most recent call last):
    ...
    ValueError: penalty=-1.0 must be a finite number, not negative.
    """
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= float(value) < np.inf:
        raise ValueError(f"{name}={value!r} must be a finite number, not negative.")


def check_flag(name: str, value: Any) -> None:
    """Refuse a parameter that is neither True nor False: "no" would count as yes.

    Examples
    --------
    >>> from sidecut.parameters import check_flag
    >>> check_flag("unit_rows", "no")
    Traceback (most recent call last):
    ...
    ValueError: unit_rows='no' must be True or False.
    """
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name}={value!r} must be True or False.")
