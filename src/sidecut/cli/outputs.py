"""Writing labels to files and reading them back."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from sidecut.cli.console import UsageError, require
from sidecut.cli.inputs import ARRAY_SUFFIXES, existing_file, read_array
from sidecut.cli.preparation import Points
from sidecut.cli.reading import JSON_LINES, TextFormat, read_table
from sidecut.cli.tables import class_codes

STANDARD_OUTPUT = Path("-")
LABEL_SUFFIXES = (".csv", ".tsv", *JSON_LINES, ".npy", ".parquet")
MODEL_SUFFIXES = (".sidecut",)
PICTURE_SUFFIXES = (".png", ".svg", ".pdf")


def checked_output(path: Path, suffixes: tuple[str, ...]) -> Path:
    """Return the path if a file can be written there."""
    if path == STANDARD_OUTPUT and suffixes == LABEL_SUFFIXES:
        return path
    if path.suffix.lower() not in suffixes:
        known = " or ".join(filter(None, (", ".join(suffixes[:-1]), suffixes[-1])))
        what = f"cannot write {path.suffix!r} files; use" if path.suffix else "its name needs a suffix:"
        raise UsageError(f"{path}: {what} {known}.")
    if not path.parent.is_dir():
        raise UsageError(f"{path}: there is no directory {path.parent}; create it first.")
    if path.is_dir():
        raise UsageError(f"{path} is a directory; name a file in it.")
    return path


def refuse_overwriting(outputs: Iterable[Path], inputs: Iterable[Path | None]) -> None:
    """Refuse outputs that would replace an input or each other."""
    written = [path.resolve() for path in outputs]
    if any(path is not None and path.resolve() in written for path in inputs):
        raise UsageError("An output would overwrite an input; choose another name.")
    if len(set(written)) < len(written):
        raise UsageError("Two outputs have the same name; give each its own.")


def label_columns(
    points: Points,
    labels: NDArray[np.intp],
    classes: dict[int, str],
    confidence: NDArray[np.float64] | None = None,
) -> dict[str, Sequence[Any]]:
    """Return the columns of an output: the points, their clusters and, where known, their classes."""
    names = range(points.n_samples) if points.names is None else points.names
    columns: dict[str, Sequence[Any]] = {points.name_column: list(names), "label": labels.tolist()}
    if classes:
        columns["class"] = [
            classes.get(label, f"cluster {label}" if label >= 0 else "noise") for label in labels.tolist()
        ]
    if confidence is not None:
        columns["confidence"] = np.round(confidence, 4).tolist()
    return columns


def write_labels(path: Path, columns: dict[str, Sequence[Any]]) -> None:
    """Write one row per point; an ``.npy`` holds the labels only, and ``-`` is standard output."""
    suffix = path.suffix.lower()
    if path == STANDARD_OUTPUT:
        _write_text(sys.stdout, columns, ",")
    elif suffix == ".npy":
        np.save(path, np.asarray(columns["label"], dtype=np.intp))
    elif suffix == ".parquet":
        require("pyarrow", "Writing Parquet")
        require("pandas", "Writing Parquet").DataFrame(columns).to_parquet(path, index=False)
    else:
        with path.open("w", newline="", encoding="utf-8") as file:
            if suffix in JSON_LINES:
                rows = zip(*columns.values(), strict=True)
                file.writelines(f"{json.dumps(dict(zip(columns, row, strict=True)))}\n" for row in rows)
            else:
                _write_text(file, columns, "\t" if suffix == ".tsv" else ",")


def _write_text(file: TextIO, columns: dict[str, Sequence[Any]], delimiter: str) -> None:
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))


def read_labels(
    path: Path,
    column: str | None = None,
    id_column: str | None = None,
    text: TextFormat | None = None,
    unknown: tuple[str, ...] | None = None,
) -> tuple[NDArray[np.intp], list[str] | None]:
    """Read labels that this or another program wrote."""
    if existing_file(path).suffix.lower() in ARRAY_SUFFIXES:
        values = read_array(path, column)
        if values.ndim != 1:
            raise UsageError(f"{path} has shape {values.shape}; labels are a list, one for each point.")
        return class_codes(values.tolist(), "labels", path, unknown), None
    as_text = [name for name in (id_column, column) if name is not None]
    frame = read_table(path, text, as_text)
    for name in as_text:
        if name not in frame.columns:
            raise UsageError(f"{path} has no column {name!r}; its columns are {', '.join(frame.columns)}.")
    if column is None:
        column = "label" if "label" in frame.columns else frame.columns[-1]
        if column != "label" and len(frame.columns) > 2:
            raise UsageError(
                f"{path} has {len(frame.columns)} columns and none is called 'label'; name the one that "
                "holds the classes with --column or --truth-column."
            )
    names = None if id_column is None else [str(name) for name in frame[id_column]]
    return class_codes(frame[column].tolist(), column, path, unknown), names
