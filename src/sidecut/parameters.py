"""What numbers and switches may be handed to a function or an estimator: checks that any room may use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np


def is_number(value: Any) -> bool:
    """Tell whether a value is a real number; True and False are none.

    Examples
    --------
    >>> from sidecut.parameters import is_number
    >>> is_number(0.5), is_number(True), is_number("0.5")
    (True, False, False)
    """
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


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
    if not is_number(value) or not 0 <= float(value) < np.inf:
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


def check_n_clusters(n_clusters: Any, n_samples: int) -> int:
    """Return the number of clusters, or say why it cannot be one.

    Examples
    --------
    >>> from sidecut.parameters import check_n_clusters
    >>> check_n_clusters(11, n_samples=10)
    Traceback (most recent call last):
    ...
    ValueError: n_clusters=11 is more than the n_samples=10 points there are.
    """
    n_clusters = check_count("n_clusters", n_clusters)
    if n_clusters > n_samples:
        raise ValueError(f"n_clusters={n_clusters} is more than the n_samples={n_samples} points there are.")
    return n_clusters


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Refuse a parameter that is none of its choices.

    Examples
    --------
    >>> from sidecut.parameters import check_choice
    >>> check_choice("eigen_solver", "arpack", ("auto", "dense"))
    Traceback (most recent call last):
    ...
    ValueError: eigen_solver='arpack': choose one of 'auto', 'dense'.
    """
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={value!r}: choose one of {', '.join(map(repr, choices))}.")


def check_tolerance(tol: float) -> None:
    """Refuse a tolerance that is not a number between 0 and 1.

    Raises
    ------
    ValueError
        Naming the value.
    """
    if not is_number(tol) or not 0 <= tol < 1:
        raise ValueError(f"tol={tol!r} must be at least 0, as exact as rounding allows, and below 1.")


def check_parameters(
    estimator: Any,
    *,
    choices: Mapping[str, tuple[str, ...]] | None = None,
    flags: Sequence[str] = (),
    counts: Sequence[str] = (),
    not_negative: Sequence[str] = (),
) -> None:
    """Refuse parameters of an estimator that make no sense, whatever the data.

    Parameters
    ----------
    estimator : object
        Has the parameters as attributes.
    choices : mapping of str to tuple of str, optional
        Parameters that are one of some words.
    flags, counts, not_negative : sequences of str
        Parameters that are True or False; whole numbers, at least 1; finite numbers, not negative.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sidecut.parameters import check_parameters
    >>> check_parameters(KMeans(max_iter=0), choices={"algorithm": ("lloyd", "elkan")}, counts=("max_iter",))
    Traceback (most recent call last):
    ...
    ValueError: max_iter=0 must be a whole number, at least 1.
    """
    for name, allowed in (choices or {}).items():
        check_choice(name, getattr(estimator, name), allowed)
    for names, check in ((flags, check_flag), (counts, check_count), (not_negative, check_not_negative)):
        for name in names:
            check(name, getattr(estimator, name))
