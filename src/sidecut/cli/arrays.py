"""NumPy and SciPy files to points."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from scipy import sparse

from sidecut.cli.errors import UsageError
from sidecut.cli.points import Points
from sidecut.cli.tables import ColumnRoles, class_codes

__all__ = ["ARRAY_SUFFIXES", "points_from_array_file", "read_array"]

ARRAY_SUFFIXES = (".npy", ".npz")


def points_from_array_file(
    path: Path, key: str | None = None, roles: ColumnRoles | None = None, *, is_graph: bool = False
) -> Points:
    """Read points from ``.npy``, ``.npz`` or a sparse matrix saved by SciPy.

    Parameters
    ----------
    path : Path
        File to read.
    key : str, optional
        Which array of an ``.npz`` holds the points: ``X`` by default, or the only one there is.
    roles : ColumnRoles, optional
        In an ``.npz`` the label, truth and id columns are arrays of that name.
    is_graph : bool
        Whether the array holds weights between the points.

    Returns
    -------
    Points
        The points.

    Raises
    ------
    UsageError
        If there is no such array, or it is not a table of finite numbers.
    """
    roles = ColumnRoles() if roles is None else roles
    if roles.keep or roles.drop:
        raise UsageError(f"{path} is an array without column names; --columns and --drop need a table.")
    arrays = _load(path)
    X = _finite_matrix(_pick(arrays, key, path), path)
    beside = {column: _beside(arrays, column, path, X.shape[0]) for column in roles.special}
    names = None if roles.identity is None else tuple(str(name) for name in beside[roles.identity])
    return Points(
        X=X,
        source=path,
        is_graph=is_graph,
        names=names,
        name_column=roles.identity or "index",
        known_labels=None if roles.label is None else class_codes(beside[roles.label].tolist()),
        truth=None if roles.truth is None else class_codes(beside[roles.truth].tolist()),
    )


def read_array(path: Path, key: str | None = None) -> Any:
    """Read one array from an ``.npy`` or ``.npz`` file.

    Raises
    ------
    UsageError
        If the file is not an array or has none of that name.
    """
    return _pick(_load(path), key, path)


def _load(path: Path) -> dict[str, Any]:
    """Return the arrays of a file by name; a file of one nameless array calls it ``X``."""
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {"X": loaded}
        with loaded:
            # What scipy.sparse.save_npz writes is told by these two names.
            if {"format", "shape"} <= set(loaded.files):
                return {"X": sparse.csr_array(sparse.load_npz(path))}
            return {name: loaded[name] for name in loaded.files}
    except (ValueError, BadZipFile, EOFError, OSError) as error:
        reason = " ".join(str(error).split())
        rule = "it must be written by numpy.save, numpy.savez or scipy.sparse.save_npz, without objects"
        raise UsageError(f"{path} could not be read as an array ({reason}); {rule}.") from error


def _pick(arrays: dict[str, Any], key: str | None, path: Path) -> Any:
    wanted = key or ("X" if "X" in arrays or len(arrays) != 1 else next(iter(arrays)))
    if wanted not in arrays:
        held = ", ".join(repr(name) for name in arrays)
        raise UsageError(f"{path} has no array {wanted!r}; it holds {held}. Choose one with --key.")
    return arrays[wanted]


def _beside(arrays: dict[str, Any], name: str, path: Path, n_samples: int) -> Any:
    if name not in arrays:
        held = ", ".join(repr(known) for known in arrays)
        raise UsageError(f"{path} has no array {name!r}; it holds {held}.")
    if arrays[name].shape != (n_samples,):
        raise UsageError(
            f"Array {name!r} of {path} has shape {arrays[name].shape}; one entry for each of the {n_samples} "
            "points "
            "is expected."
        )
    return arrays[name]


def _finite_matrix(values: Any, path: Path) -> Any:
    if values.ndim != 2:
        raise UsageError(
            f"The array in {path} has shape {values.shape}; points are the rows of a two-dimensional array."
        )
    if values.dtype.kind not in "fiub":
        raise UsageError(f"The array in {path} holds {values.dtype}, not numbers.")
    if sparse.issparse(values):
        entries, shape = values.data, None
    else:
        entries, shape = values, values.shape
    bad = np.flatnonzero(~np.isfinite(np.asarray(entries, dtype=float)))
    if bad.size:
        where = "" if shape is None else " in row {}, column {}".format(*np.unravel_index(bad[0], shape))
        raise UsageError(
            f"{path} holds {bad.size:,} missing or infinite values, the first{where}; fill or remove them "
            "first."
        )
    return values
