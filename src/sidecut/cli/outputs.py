"""Labels to files and back."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidecut.cli.errors import UsageError, require
from sidecut.cli.inputs import ARRAY_SUFFIXES, existing_file, read_array
from sidecut.cli.points import Points
from sidecut.cli.tables import TextFormat, class_codes, read_table

__all__ = ["LABEL_SUFFIXES", "PICTURE_SUFFIXES", "checked_output", "read_labels", "write_labels"]

LABEL_SUFFIXES = (".csv", ".tsv", ".npy", ".parquet")
PICTURE_SUFFIXES = (".png", ".svg", ".pdf")


def checked_output(path: Path, suffixes: tuple[str, ...]) -> Path:
    """Return the path if it can be written, before any time is spent on computing what goes there.

    Raises
    ------
    UsageError
        If the suffix is unknown or the directory is not there.

    Examples
    --------
    >>> checked_output(Path("labels.xls"), LABEL_SUFFIXES)
    Traceback (most recent call last):
    ...
    sidecut.cli.errors.UsageError: labels.xls: cannot write '.xls' files; use .csv, .tsv, .npy or .parquet.
    """
    if path.suffix.lower() not in suffixes:
        known = " or ".join(filter(None, (", ".join(suffixes[:-1]), suffixes[-1])))
        raise UsageError(f"{path}: cannot write {path.suffix!r} files; use {known}.")
    if not path.parent.is_dir():
        raise UsageError(f"{path}: there is no directory {path.parent}; create it first.")
    if path.is_dir():
        raise UsageError(f"{path} is a directory; name a file in it.")
    return path


def write_labels(path: Path, labels: NDArray[np.intp], points: Points) -> None:
    """Write one label per point; text and Parquet files name the points, an ``.npy`` holds labels only.

    Parameters
    ----------
    path : Path
        Where to write; the suffix chooses the format.
    labels : array of shape (n,)
        Cluster of each point.
    points : Points
        The points, for their names.
    """
    suffix = path.suffix.lower()
    if suffix == ".npy":
        np.save(path, labels)
    elif suffix == ".parquet":
        require("pyarrow", "Writing Parquet")
        pandas = require("pandas", "Writing Parquet")
        pandas.DataFrame({points.name_column: _identities(points), "label": labels}).to_parquet(
            path, index=False
        )
    else:
        _write_text(path, labels, points, "\t" if suffix == ".tsv" else ",")


def _identities(points: Points) -> list[Any]:
    return list(range(points.n_samples)) if points.names is None else list(points.names)


def _write_text(path: Path, labels: NDArray[np.intp], points: Points, delimiter: str) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow((points.name_column, "label"))
        writer.writerows(zip(_identities(points), labels.tolist(), strict=True))


def read_labels(
    path: Path, column: str | None = None, id_column: str | None = None, text: TextFormat | None = None
) -> tuple[NDArray[np.intp], list[str] | None]:
    """Read labels that this or another program wrote.

    Parameters
    ----------
    path : Path
        A table or an ``.npy`` array.
    column : str, optional
        Which column of a table holds the labels: ``label`` by default, or the last of at most two.
    id_column : str, optional
        Which column names the points; without it the order of the rows counts.
    text : TextFormat, optional
        How a text file is written.

    Returns
    -------
    labels : array of shape (n,)
        Classes numbered from 0, -1 where unknown.
    names : list of str or None
        Names of the points, if there is an id column.

    Raises
    ------
    UsageError
        If the file does not say which of its columns is meant.
    """
    if existing_file(path).suffix.lower() in ARRAY_SUFFIXES:
        values = read_array(path, column)
        if values.ndim != 1:
            raise UsageError(f"{path} has shape {values.shape}; labels are a list, one for each point.")
        return class_codes(values.tolist()), None
    as_text = [name for name in (id_column, column) if name is not None]
    frame = read_table(path, text, as_text)
    chosen = _label_column(list(frame.columns), column, path)
    names = None
    if id_column is not None:
        if id_column not in frame.columns:
            raise UsageError(
                f"{path} has no column {id_column!r}; its columns are {', '.join(frame.columns)}."
            )
        names = [str(name) for name in frame[id_column]]
    return class_codes(frame[chosen].tolist()), names


def _label_column(available: list[str], column: str | None, path: Path) -> str:
    if column is not None and column not in available:
        raise UsageError(f"{path} has no column {column!r}; its columns are {', '.join(available)}.")
    if column is not None:
        return column
    if "label" in available:
        return "label"
    if len(available) <= 2:
        return available[-1]
    raise UsageError(
        f"{path} has {len(available)} columns and none is called 'label'; name the one that holds the "
        "classes with "
        "--column or --truth-column."
    )
