"""A run on disk: a folder with the settings and answers as JSON and the landscape as arrays.

`answers.jsonl` has one line per step and is written line by line, so that a program that is killed loses at
most the answer it was writing. A line is an answer or a name; several told at once, ``{"told": [...]}``; all
answers from then on, where some were changed, ``{"history": [...]}``; or ``{"undo": true}``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from sidecut.active.landscape import Grains, Landscape, assemble
from sidecut.active.records import Record, as_fields, as_record

SETTINGS, ANSWERS, ARRAYS = "settings.json", "answers.jsonl", "landscape.npz"
UNDO = {"undo": True}


def write_run(
    folder: Path, settings: dict[str, Any], landscape: Landscape, histories: Sequence[list[Record]]
) -> None:
    """Write a whole run, step by step; the settings last, since a folder without them is no run yet."""
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is a file; a run is kept in a folder: give another name.")
    folder.mkdir(parents=True, exist_ok=True)
    _replace(folder / ARRAYS, lambda path: _write_arrays(path, landscape))
    lines = "".join(_line(_as_step(old, new)) for old, new in pairwise(histories))
    _replace(folder / ANSWERS, lambda path: path.write_text(lines, encoding="utf-8"))
    text = json.dumps(settings, indent=1) + "\n"
    _replace(folder / SETTINGS, lambda path: path.write_text(text, encoding="utf-8"))


def append_step(folder: Path, past: list[Record], history: list[Record]) -> None:
    """Add what changed between two histories, and wait until it is on disk."""
    _append(folder, _as_step(past, history))


def append_undo(folder: Path) -> None:
    """Add the withdrawal of the last step, and wait until it is on disk."""
    _append(folder, UNDO)


def _append(folder: Path, fields: dict[str, Any]) -> None:
    path = folder / ANSWERS
    size = path.stat().st_size
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(_line(fields))
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        # A full disk: half a line would spoil the next one.
        os.truncate(path, size)
        raise


def _as_step(past: list[Record], history: list[Record]) -> dict[str, Any]:
    if history[: len(past)] != past:
        return {"history": [as_fields(record) for record in history]}
    told = [as_fields(record) for record in history[len(past) :]]
    return told[0] if len(told) == 1 else {"told": told}


def read_run(folder: Path) -> tuple[dict[str, Any], Landscape, list[list[Record]]]:
    """Return settings and landscape of a run, and its answers after every step that was not taken back."""
    if not (folder / SETTINGS).is_file():
        raise FileNotFoundError(
            f"{folder} holds no saved run (no {SETTINGS} in it); save one with run.save()."
        )
    settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    return settings, _read_arrays(folder / ARRAYS), _read_histories(folder / ANSWERS)


def _line(fields: dict[str, Any]) -> str:
    return json.dumps(fields) + "\n"


def _read_histories(path: Path) -> list[list[Record]]:
    histories: list[list[Record]] = [[]]
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        # A program was killed while it wrote the last line: without it the next line would be lost, too.
        _replace(path, lambda part: part.write_text(whole, encoding="utf-8"))
    for line in whole.splitlines():
        fields = json.loads(line)
        if fields == UNDO:
            histories.pop()
        else:
            histories.append(_after(histories[-1], fields))
    return histories


def _after(history: list[Record], fields: dict[str, Any]) -> list[Record]:
    if "history" in fields:
        return [as_record(each) for each in fields["history"]]
    return history + [as_record(each) for each in fields.get("told", [fields])]


def _replace(path: Path, write: Any) -> None:
    """Write beside the file, then put it in its place at once."""
    part = path.with_name(f"part-{path.name}")
    write(part)
    os.replace(part, path)


def _write_arrays(path: Path, land: Landscape) -> None:
    arrays = {
        "grain_of": land.grains.grain_of,
        "points": land.grains.points,
        "pieces": land.pieces,
        "known": land.known,
        "eigenvalues": land.eigenvalues,
        "eigenvectors": land.eigenvectors,
        **_sparse_arrays("weights", land.weights),
    }
    if sp.issparse(land.features):
        arrays |= _sparse_arrays("features", sp.csr_array(land.features))
    elif land.features is not None:
        arrays["features"] = land.features
    with open(path, "wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def _sparse_arrays(name: str, matrix: sp.csr_array) -> dict[str, np.ndarray]:
    return {
        f"{name}_data": matrix.data,
        f"{name}_indices": matrix.indices,
        f"{name}_indptr": matrix.indptr,
        f"{name}_shape": np.array(matrix.shape),
    }


def _read_sparse(arrays: Any, name: str) -> sp.csr_array:
    parts = tuple(arrays[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
    return sp.csr_array(parts, shape=tuple(arrays[f"{name}_shape"]))


def _read_arrays(path: Path) -> Landscape:
    with np.load(path, allow_pickle=False) as arrays:
        features: Any = None
        if "features" in arrays:
            features = arrays["features"]
        elif "features_data" in arrays:
            features = _read_sparse(arrays, "features")
        return assemble(
            Grains(arrays["grain_of"], arrays["points"]),
            _read_sparse(arrays, "weights"),
            features,
            arrays["pieces"],
            arrays["known"],
            arrays["eigenvalues"],
            arrays["eigenvectors"],
        )
