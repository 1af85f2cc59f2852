"""``sidecut predict``: new points into the clusters of a saved model."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sidecut import __version__
from sidecut.cli.console import Exit, UsageError, collected_warnings, require, show_rows
from sidecut.cli.inputs import ARRAY_SUFFIXES, existing_file, points_from_array
from sidecut.cli.options import PredictOptions
from sidecut.cli.outputs import LABEL_SUFFIXES, STANDARD_OUTPUT, checked_output, label_columns, write_labels
from sidecut.cli.preparation import Points, Preparation, checked_names
from sidecut.cli.result import ClusterRun
from sidecut.cli.tables import TextFormat, kind_suffix, must_exist, read_table

__all__ = ["run"]


#: Types a file may hold beyond those skops trusts itself; the trees are those of AutoCut's classifier.
TRUSTED = (
    "sidecut.",
    "scipy.sparse._csr.csr_array",
    "numpy.dtype",
    "sklearn.tree._tree.Tree",
    "sklearn.utils._bunch.Bunch",
)


def run(options: PredictOptions) -> int:
    """Label new points, write the labels, and tell of it."""
    output = checked_output(options.output, LABEL_SUFFIXES)
    if output.resolve() in (options.model.resolve(), options.data.resolve()):
        raise UsageError("The output would overwrite an input; choose another name with -o.")
    with collected_warnings() as messages:
        model = load_model(existing_file(options.model))
        points = _read(options, model)
        labels = np.asarray(model.predictor.predict(points.X))
    write_labels(output, label_columns(points, labels, model.classes))
    if not options.quiet and output != STANDARD_OUTPUT:
        _tell(model, points, labels, options)
    for message in messages:
        print(f"sidecut: warning: {message}", file=sys.stderr)
    return Exit.OK


def _read(options: PredictOptions, model: SavedModel) -> Points:
    path = existing_file(options.data)
    if kind_suffix(path) not in ARRAY_SUFFIXES:
        return _read_table(options, model)
    points = points_from_array(path, options.key)
    if points.X.shape[1] != model.n_features:
        raise UsageError(
            f"{path} has {points.X.shape[1]} features, and the model was made from {model.n_features}; give "
            "the same columns."
        )
    return points if model.preparation is None else replace(points, X=model.preparation.rescale(points.X))


def _read_table(options: PredictOptions, model: SavedModel) -> Points:
    if model.preparation is None or not model.preparation.columns:
        raise UsageError(
            f"The model was made from an array without column names, and {options.data} is a table."
        )
    text = TextFormat(options.header, options.encoding, options.decimal)
    frame = read_table(options.data, text, [options.id_column] if options.id_column else [])
    names = None
    if options.id_column is not None:
        must_exist([options.id_column], list(frame.columns), options.data)
        names = checked_names(frame[options.id_column].tolist(), options.id_column, options.data)
    X = model.preparation.apply(frame, options.data)
    return Points(X, options.data, names=names, name_column=options.id_column or "index")


def _tell(model: SavedModel, points: Points, labels: np.ndarray, options: PredictOptions) -> None:
    found, counts = np.unique(labels, return_counts=True)
    sizes = [
        f"{model.classes.get(int(cluster), f'cluster {cluster}')}: {count:,}"
        for cluster, count in zip(found, counts, strict=True)
    ]
    print(
        f"The {points.n_samples:,} points of {options.data.name} were put into the clusters of "
        f"{options.model.name}."
    )
    show_rows([("method", model.method), ("sizes", ", ".join(sizes)), ("labels", str(options.output))])


# Fitted models to files and back; a file holds arrays and names of known types, and nothing in it is run.


@dataclass(frozen=True)
class SavedModel:
    """What is needed to put new points into clusters."""

    predictor: Any
    preparation: Preparation | None
    classes: dict[int, str]
    method: str
    n_features: int


def save_model(path: Path, run: ClusterRun) -> None:
    """Write what `load_model` reads."""
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
    for model in (run.model, getattr(run.model, "best_estimator_", None)):
        if hasattr(model, "predict"):
            return model
    from sklearn.neighbors import KNeighborsClassifier

    n_neighbors = min(5, run.points.n_samples)
    return KNeighborsClassifier(n_neighbors, weights="distance", algorithm="brute").fit(
        run.points.X, run.labels
    )


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
        # Whatever a broken or foreign file makes the reader stumble over.
        raise UsageError(
            f"{path} is no model that this version of sidecut ({__version__}) can read; write it with "
            "sidecut cluster --model."
        ) from error
