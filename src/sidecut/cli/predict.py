"""``sidecut predict``: new points into the clusters of a saved model."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

from sidecut.cli.console import collected_warnings, show_rows
from sidecut.cli.errors import OK, UsageError
from sidecut.cli.inputs import ARRAY_SUFFIXES, existing_file, points_from_array
from sidecut.cli.models import SavedModel, load_model
from sidecut.cli.options import PredictOptions
from sidecut.cli.outputs import LABEL_SUFFIXES, STANDARD_OUTPUT, checked_output, label_columns, write_labels
from sidecut.cli.points import Points, checked_names
from sidecut.cli.tables import TextFormat, kind_suffix, read_table

__all__ = ["run"]


def run(options: PredictOptions) -> int:
    """Label new points, write the labels, and tell of it.

    Parameters
    ----------
    options : PredictOptions
        What was asked for.

    Returns
    -------
    int
        Exit code.
    """
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
    return OK


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
        if options.id_column not in frame.columns:
            raise UsageError(f"{options.data} has no column {options.id_column!r}.")
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
