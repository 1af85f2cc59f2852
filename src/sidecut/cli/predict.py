"""``sidecut predict``: new points into the clusters of a saved model."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidecut import __version__
from sidecut.cli.console import Exit, UsageError, collected_warnings, require, show_rows, show_warnings
from sidecut.cli.inputs import ARRAY_SUFFIXES, existing_file, points_from_array, text_format
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
from sidecut.cli.reading import kind_suffix, read_table
from sidecut.cli.report import predictions_html
from sidecut.cli.result import ClusterRun
from sidecut.cli.tables import must_exist

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
    neighbors: Any
    preparation: Preparation
    classes: dict[int, str]
    method: str
    n_features: int
    name_column: str | None = None
    decimal: str | None = None
    names: tuple[str, ...] = ()


def run(options: PredictOptions) -> int:
    """Label new points, write the labels, and print a summary."""
    output = checked_output(options.output, LABEL_SUFFIXES)
    report = None if options.report is None else checked_output(options.report, (".html", ".htm"))
    refuse_overwriting(filter(None, (output, report)), (options.model, options.data))
    with collected_warnings() as messages:
        model = load_model(existing_file(options.model))
        points = new_points(options, model)
        labels = np.asarray(model.predictor.predict(points.X))
        confidence = _confidence(model, points.X, labels)
    write_labels(output, label_columns(points, labels, model.classes, confidence))
    if report is not None:
        name = options.model.name
        report.write_text(predictions_html(points, model.classes, labels, confidence, name), encoding="utf-8")
    if not options.quiet and output != STANDARD_OUTPUT:
        sizes = [
            f"{model.classes.get(cluster, f'cluster {cluster}')}: {count:,}"
            for cluster, count in sorted(Counter(labels.tolist()).items())
        ]
        print(
            f"The {points.n_samples:,} points of {options.data.name} were put into the clusters of "
            f"{options.model.name}."
        )
        print(points.used_words)
        pages = [] if report is None else [("report", str(report))]
        show_rows([("method", model.method), ("sizes", ", ".join(sizes)), ("labels", str(output)), *pages])
    show_warnings(messages)
    return Exit.OK


def new_points(options: PredictOptions, model: SavedModel) -> Points:
    """Read points as the model was given its own."""
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
    text = replace(text_format(options), expected=model.decimal)
    asked = options.id_column or model.name_column
    frame = read_table(path, text, [asked] if asked else [])
    if options.id_column is not None:
        must_exist([options.id_column], list(frame.columns), path)
    named = asked if asked in frame.columns else None
    names = None if named is None else checked_names(frame[named].tolist(), named, path)
    X = model.preparation.apply(frame, path)
    left_out = {
        c: "names" if c == named else "not in the model"
        for c in frame.columns
        if c not in model.preparation.columns
    }
    return Points(
        X,
        path,
        names=names,
        name_column=named or "index",
        columns=model.preparation.columns,
        left_out=left_out,
    )


def _confidence(model: SavedModel, X: Any, labels: NDArray[np.intp]) -> NDArray[np.float64]:
    if hasattr(model.predictor, "predict_confidence"):
        return np.asarray(model.predictor.predict_confidence(X))
    return share_of_neighbors(model.neighbors, X, labels)


def share_of_neighbors(neighbors: Any, X: Any, labels: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the confidence in the cluster of each new point: the share of the nearest old points in it."""
    chances = neighbors.predict_proba(X)
    place = np.searchsorted(neighbors.classes_, labels)
    return chances[np.arange(len(labels)), place]


def save_model(path: Path, run: ClusterRun) -> None:
    """Write a model for `load_model`; the file holds arrays and names of known types, no code."""
    from sklearn.neighbors import KNeighborsClassifier

    prepared = run.points.preparation or Preparation(columns=())
    nearest = KNeighborsClassifier(min(10, run.points.n_samples), weights="distance", algorithm="brute")
    nearest.fit(run.points.X, run.labels)
    require("skops.io", "Saving models").dump(
        {
            "sidecut": __version__,
            "method": run.method,
            "predictor": _predictor(run, nearest),
            "neighbors": nearest,
            "columns": list(prepared.columns),
            "transformer": prepared.transformer,
            "exponents": prepared.exponents,
            "scaler": prepared.scaler,
            "clusters": list(run.class_of_cluster),
            "classes": list(run.class_of_cluster.values()),
            "n_features": int(run.points.X.shape[1]),
            "text": list(prepared.text),
            "name_column": run.points.name_column if run.points.names is not None else None,
            "decimal": run.points.decimal,
            "names": list(run.points.names or ()),
        },
        path,
    )


def _predictor(run: ClusterRun, neighbors: Any) -> Any:
    """Return the model, or its best estimator; nearest neighbours if neither predicts."""
    for model in (run.model, getattr(run.model, "best_estimator_", None)):
        if hasattr(model, "predict"):
            return model
    return neighbors


def read_parts(path: Path) -> dict[str, Any]:
    """Return what a file of a model holds, unless it holds what no model does."""
    skops = require("skops.io", "Reading models")
    strange = [name for name in skops.get_untrusted_types(file=path) if not name.startswith(TRUSTED)]
    if strange:
        raise UsageError(
            f"{path} holds {', '.join(strange[:3])}, which no model of sidecut does; it is not read."
        )
    return dict(skops.load(path, trusted=skops.get_untrusted_types(file=path)))


def load_model(path: Path) -> SavedModel:
    """Read a model."""
    try:
        parts = read_parts(path)
        prepared = Preparation(
            tuple(parts["columns"]),
            parts["transformer"],
            parts["exponents"],
            parts["scaler"],
            tuple(parts["text"]),
        )
        classes = dict(zip(parts["clusters"], parts["classes"], strict=True))
        names, decimal = parts["name_column"], parts["decimal"]
        return SavedModel(
            parts["predictor"],
            parts["neighbors"],
            prepared,
            classes,
            parts["method"],
            parts["n_features"],
            names,
            decimal,
            tuple(parts["names"]),
        )
    except UsageError:
        raise
    except Exception as error:
        # A broken or foreign file can raise any error.
        raise UsageError(
            f"{path} is no model that this version of sidecut ({__version__}) can read; write it with "
            "sidecut cluster --model."
        ) from error
