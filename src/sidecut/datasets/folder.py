"""Data sets from a folder of .npz files: X and y in each, nothing pickled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sidecut.exceptions import DataUnavailableError

#: Up to this many numbers are kept in double precision; whole numbers of 16 bits are exact in single.
IN_DOUBLE = 10_000_000


def read_npz(path: Path) -> tuple[Any, NDArray[np.intp]]:
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
