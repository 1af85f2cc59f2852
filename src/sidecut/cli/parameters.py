"""Options of the command line to parameters of an estimator."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from sidecut.cli.errors import UsageError

__all__ = ["build_estimator", "parse_setting"]


def parse_setting(text: str) -> tuple[str, Any]:
    """Split ``name=value``; values are read as Python literals, anything else as text.

    Parameters
    ----------
    text : str
        What followed ``--set``.

    Returns
    -------
    name, value
        The parameter and its value.

    Raises
    ------
    UsageError
        If there is no ``=`` or no name.

    Examples
    --------
    >>> parse_setting("n_neighbors=15"), parse_setting("affinity=knn"), parse_setting("tol=1e-6")
    (('n_neighbors', 15), ('affinity', 'knn'), ('tol', 1e-06))
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise UsageError(f"--set {text}: write it as name=value, for example --set n_neighbors=15.")
    try:
        return name.strip(), ast.literal_eval(value.strip())
    except (ValueError, SyntaxError):
        return name.strip(), value.strip()


def build_estimator(estimator_class: type[Any], chosen: dict[str, Any], settings: Iterable[str] = ()) -> Any:
    """Make an estimator from named options and ``--set`` texts.

    Parameters
    ----------
    estimator_class : type
        A scikit-learn estimator.
    chosen : dict
        Parameters from options of their own; those that are None keep the estimator's default.
    settings : iterable of str
        Texts ``name=value``; they come last and win.

    Returns
    -------
    estimator
        Not fitted.

    Raises
    ------
    UsageError
        If the estimator has no such parameter.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> build_estimator(KMeans, {"n_clusters": 3, "random_state": None}, ["tol=0.1"])
    KMeans(n_clusters=3, tol=0.1)
    """
    wanted = {name: value for name, value in chosen.items() if value is not None}
    wanted.update(parse_setting(text) for text in settings)
    valid = sorted(estimator_class().get_params(deep=False))
    for name in wanted:
        if name not in valid:
            raise UsageError(_unknown(name, valid, estimator_class.__name__))
    return estimator_class(**wanted)


def _unknown(name: str, valid: list[str], owner: str) -> str:
    close = get_close_matches(name, valid, n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    return f"{owner} has no parameter {name!r}.{hint} It has {', '.join(valid)}."
