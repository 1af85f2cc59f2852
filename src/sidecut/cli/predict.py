"""``sidecut predict``: new points into the clusters of a saved model."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sidecut import __version__
from sidecut.cli.console import Exit, UsageError, collected_warnings, require, show_rows, show_warnings
from sidecut.cli.inputs import ARRAY_SUFFIXES, existing_file, points_from_array
from sidecut.cli.options import PredictOptions
from sidecut.cli.outputs import (
    LABEL_SUFFIXES,
    STANDARD_OUTPUT,
    checked_output,
    label_columns,
    refuse_overwriting,
    write_labels,
)
from sidecut.cli.preparation import Points, Preparation, checked_names
from sidecut.cli.result import ClusterRun
from sidecut.cli.tables import TextFormat, kind_suffix, must_exist, read_table

__all__ = ["run"]


#: Types a file may hold beyond those skops trusts itself; the trees are those of AutoCut's classifier. A
#: partial function is refused unless the function itself is trusted.
TRUSTED = (
    "sidecut.",
    "functools.partial",
    "scipy.sparse._csr.csr_array",
    "numpy.dtype",
    "sklearn.tree._tree.Tree",
    "sklearn.utils._bunch.Bunch",
)


@dataclass(frozen=True)
class SavedModel:
    """What is needed to put new points into clusters."""

    predictor: Any
    preparation: Preparation
    classes: dict[int, str]
    method: str
    n_features: int


def run(options: PredictOptions) -> int:
    """Label new points, write the labels, and print a summary."""
    output = checked_output(options.output, LABEL_SUFFIXES)
    refuse_overwriting([output], (options.model, options.data))
    with collected_warnings() as messages:
        model = load_model(existing_file(options.model))
        points = _read(options, model)
        labels = np.asarray(model.predictor.predict(points.X))
    write_labels(output, label_columns(points, labels, model.classes))
    if not options.quiet and output != STANDARD_OUTPUT:
        sizes = [
            f"{model.classes.get(cluster, f'cluster {cluster}')}: {count:,}"
            for cluster, count in sorted(Counter(labels.tolist()).items())
        ]
        print(
            f"The {points.n_samples:,} points of {options.data.name} were put into the clusters of "
            f"{options.model.name}."
        )
        show_rows([("method", model.method), ("sizes", ", ".join(sizes)), ("labels", str(output))])
    show_warnings(messages)
    return Exit.OK


def _read(options: PredictOptions, model: SavedModel) -> Points:
    path = existing_file(options.data)
    if kind_suffix(path) in ARRAY_SUFFIXES:
        points = points_from_array(path, options.key)
        if points.X.shape[1] != model.n_features:
            raise UsageError(
                f"{path} has {points.X.shape[1]} features, and the model was made from {model.n_features}; "
                "give the same columns."
            )
        return replace(points, X=model.preparation.rescale(points.X))
    if not model.preparation.columns:
        raise UsageError(f"The model was made from an array without column names, and {path} is a table.")
    text = TextFormat(options.header, options.encoding, options.decimal)
    frame = read_table(path, text, [options.id_column] if options.id_column else [])
    names = None
    if options.id_column is not None:
        must_exist([options.id_column], list(frame.columns), path)
        names = checked_names(frame[options.id_column].tolist(), options.id_column, path)
    X = model.preparation.apply(frame, path)
    return Points(X, path, names=names, name_column=options.id_column or "index")


def save_model(path: Path, run: ClusterRun) -> None:
    """Write a model for `load_model`; the file holds arrays and names of known types, no code."""
    prepared = run.points.preparation or Preparation(columns=())
    require("skops.io", "Saving models").dump(
        {
            "sidecut": __version__,
            "method": run.method,
            "predictor": _predictor(run),
            "columns": list(prepared.columns),
            "transformer": prepared.transformer,
            "exponents": prepared.exponents,
            "scaler": prepared.scaler,
            "clusters": list(run.class_of_cluster),
            "classes": list(run.class_of_cluster.values()),
            "n_features": int(run.points.X.shape[1]),
        },
        path,
    )


def _predictor(run: ClusterRun) -> Any:
    """Return the model, or its best estimator; a classifier by nearest neighbours if neither predicts."""
    for model in (run.model, getattr(run.model, "best_estimator_", None)):
        if hasattr(model, "predict"):
            return model
    from sklearn.neighbors import KNeighborsClassifier

    nearest = KNeighborsClassifier(min(5, run.points.n_samples), weights="distance", algorithm="brute")
    return nearest.fit(run.points.X, run.labels)


def load_model(path: Path) -> SavedModel:
    """Read a model."""
    skops = require("skops.io", "Reading models")
    try:
        strange = [name for name in skops.get_untrusted_types(file=path) if not name.startswith(TRUSTED)]
        if strange:
            raise UsageError(
                f"{path} holds {', '.join(strange[:3])}, which no model of sidecut does; it is not read."
            )
        parts = skops.load(path, trusted=skops.get_untrusted_types(file=path))
        prepared = Preparation(
            tuple(parts["columns"]), parts["transformer"], parts["exponents"], parts["scaler"]
        )
        classes = dict(zip(parts["clusters"], parts["classes"], strict=True))
        return SavedModel(parts["predictor"], prepared, classes, parts["method"], parts["n_features"])
    except UsageError:
        raise
    except Exception as error:
        # A broken or foreign file can raise any error.
        raise UsageError(
            f"{path} is no model that this version of sidecut ({__version__}) can read; write it with "
            "sidecut cluster --model."
        ) from error
