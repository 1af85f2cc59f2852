"""One door to the data of the papers: bundled, from a folder, or from the network."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml

from sidecut.arrays import FloatArray, IntArray
from sidecut.datasets.catalogue import CATALOGUE, Entry
from sidecut.datasets.dataset import Dataset
from sidecut.datasets.variants import variant
from sidecut.exceptions import DatasetWarning, DataUnavailableError, warn

__all__ = ["load"]


#: The environment variable that names a folder of data sets.
FOLDER = "SIDECUT_DATA"


def load(name: str, folder: str | Path | None = None) -> Dataset:
    """Return a data set of the papers by its name.

    It is looked for in this order: bundled with scikit-learn; as ``<name>.npz`` in a folder; at openml.org,
    whose data are kept once fetched. Features are as they come: see `Dataset.scaled`.

    Parameters
    ----------
    name : str
        A name of the catalogue, such as "wine" or "usps", or a subset of one after a slash:
        "iris/without-setosa", "wine/without-class-3", "glass/windows", "usps/first-300", "letter/classes-5",
        "usps/3-8", "20news_18828_comp2/even-1000".
    folder : str or Path, optional
        Where .npz files with X and y are; by default what the environment variable SIDECUT_DATA names.

    Returns
    -------
    Dataset
        The points and their classes, 0 to k - 1.

    Raises
    ------
    DataUnavailableError
        If it is to be had nowhere; the message says where it was looked for.
    ValueError
        If there is no data set or subset of that name, or a copy has another shape.

    Examples
    --------
    >>> from sidecut.datasets import load
    >>> load("wine/without-class-3")
    Dataset('wine/without-class-3', 130 points, 13 features, 2 classes)
    """
    base, _, which = name.partition("/")
    if base not in CATALOGUE:
        raise ValueError(f"there is no data set {base!r}; choose one of {', '.join(CATALOGUE)}")
    entry = CATALOGUE[base]
    X, y = _find(base, entry, folder)
    _check_shape(base, entry, X, y)
    data = Dataset(base, X, y, entry.description)
    return variant(data, which) if which else data


def _find(name: str, entry: Entry, folder: str | Path | None) -> tuple[Any, IntArray]:
    if entry.bundled is not None:
        X, y = entry.bundled(return_X_y=True)
        return X.astype(np.float64), (1 - y if entry.flipped else y).astype(np.intp)
    place = folder if folder is not None else os.environ.get(FOLDER)
    path = None if place is None else Path(place) / f"{name}.npz"
    if path is not None and path.exists():
        X, y = read_npz(path)
        return (X / entry.divisor if entry.divisor != 1 else X), y
    return _fetch(name, entry, path)


def _fetch(name: str, entry: Entry, path: Path | None) -> tuple[Any, IntArray]:
    looked = f"there is no {path}" if path is not None else f"no folder was given ({FOLDER} is not set)"
    way_out = f"put {name}.npz with X and y into a folder and name it by the argument or by {FOLDER}"
    if entry.openml is None:
        raise DataUnavailableError(f"data set {name!r}: {looked}, and it is not at openml.org; {way_out}")
    try:
        X, y = fetch(entry.openml, complete=entry.complete)
    except DataUnavailableError as error:
        raise DataUnavailableError(f"data set {name!r}: {looked}, and {error}; {way_out}") from error
    if entry.checksum is not None and Dataset(name, X, y, "").checksum != entry.checksum:
        warn(
            f"data set {name!r} from openml.org/d/{entry.openml} is not the copy that the stored results "
            "were made with (its checksum differs: another order of rows, scale or coding); expect small "
            "differences",
            DatasetWarning,
        )
    return X, y


def _check_shape(name: str, entry: Entry, X: Any, y: IntArray) -> None:
    found = (*X.shape, len(np.unique(y)))
    if found != entry.shape or len(y) != X.shape[0]:
        wanted, got = ("{} points, {} features, {} classes".format(*shape) for shape in (entry.shape, found))
        raise ValueError(f"data set {name!r} must have {wanted}; this copy has {got}")


# Data sets from a folder of .npz files: X and y in each, nothing pickled.

#: Up to this many numbers are kept in double precision; whole numbers of 16 bits are exact in single.
IN_DOUBLE = 10_000_000


def read_npz(path: Path) -> tuple[Any, IntArray]:
    """Read points and classes from a file.

    Parameters
    ----------
    path : Path
        A file written by ``np.savez(path, X=X, y=y)``, or by ``scipy.sparse.save_npz`` with y added.

    Returns
    -------
    X : ndarray or csr_array of float
        The points.
    y : ndarray of intp
        Their classes.

    Raises
    ------
    DataUnavailableError
        If there is no such file, or it does not hold X and y.
    """
    try:
        file = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise DataUnavailableError(f"{path} cannot be read: {error}") from error
    with file:
        is_sparse = "indptr" in file
        missing = {"y"} - set(file) if is_sparse else {"X", "y"} - set(file)
        if missing:
            raise DataUnavailableError(
                f"{path} holds {', '.join(file) or 'nothing'}, but no {' and no '.join(sorted(missing))}; "
                "write it with np.savez(path, X=X, y=y)"
            )
        y = file["y"].astype(np.intp)
        X = None if is_sparse else _as_float(file["X"])
    return (sp.csr_array(sp.load_npz(path)).astype(np.float64) if is_sparse else X), y


def _as_float(X: NDArray) -> NDArray[np.floating]:
    is_short = X.dtype.itemsize <= 2 or X.dtype == np.float32
    return np.ascontiguousarray(X, dtype=np.float32 if is_short and X.size > IN_DOUBLE else np.float64)


# Data sets from openml.org, through scikit-learn, which keeps what it has fetched and checks its MD5.


def fetch(number: int, *, complete: bool = False) -> tuple[FloatArray, IntArray]:
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
    return points[kept], _number(np.asarray(classes)[kept])


def _number(classes: NDArray) -> IntArray:
    """Number classes from 0: "10" comes after "2", but "a" before "b"."""
    try:
        values = classes.astype(np.float64)
    except ValueError:
        values = classes.astype(str)
    return np.unique(values, return_inverse=True)[1].astype(np.intp)
