"""Data sets from openml.org, through scikit-learn, which keeps what it has fetched and checks its MD5."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml

from sidecut.exceptions import DataUnavailableError


def fetch(number: int, *, complete: bool = False) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Fetch points and classes from openml.org, or from what was fetched before.

    Parameters
    ----------
    number : int
        The data set's number there.
    complete : bool, default=False
        Leave out rows with missing values.

    Returns
    -------
    X : ndarray of float64
        The points; categories are numbered.
    y : ndarray of intp
        Their classes, numbered in the order of their names, as numbers if they are numbers.

    Raises
    ------
    DataUnavailableError
        If it cannot be fetched.
    """
    try:
        # This parser numbers categories and needs nothing that is not installed.
        X, classes = fetch_openml(
            data_id=number, return_X_y=True, as_frame=False, parser="liac-arff", cache=True
        )
    except Exception as error:
        raise DataUnavailableError(f"openml.org/d/{number} could not be fetched: {error}") from error
    points = np.asarray(X, dtype=np.float64)
    kept = ~np.isnan(points).any(axis=1) if complete else np.full(len(points), True)
    return points[kept], _numbered(np.asarray(classes)[kept])


def _numbered(classes: NDArray) -> NDArray[np.intp]:
    """Number classes from 0: "10" comes after "2", but "a" before "b"."""
    try:
        values = classes.astype(np.float64)
    except ValueError:
        values = classes.astype(str)
    return np.unique(values, return_inverse=True)[1].astype(np.intp)
