"""``sidecut update``: new points taken into a saved model, whose clusters stay."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sidecut.cli.console import Exit, UsageError, collected_warnings, require, show_rows, show_warnings
from sidecut.cli.inputs import existing_file, text_format
from sidecut.cli.options import UpdateOptions
from sidecut.cli.outputs import (
    LABEL_SUFFIXES,
    STANDARD_OUTPUT,
    checked_output,
    label_columns,
    refuse_overwriting,
    write_labels,
)
from sidecut.cli.predict import load_model, new_points, read_parts
from sidecut.cli.reading import read_table
from sidecut.cli.report import update_html
from sidecut.cli.tables import class_names, must_exist
from sidecut.constraints import Constraints
from sidecut.exceptions import SidecutWarning, warn
from sidecut.lasting import Corrections


def run(options: UpdateOptions) -> int:
    """Take new points in, write their labels and the model, and say what changed."""
    output = checked_output(options.output, LABEL_SUFFIXES)
    report = None if options.report is None else checked_output(options.report, (".html", ".htm"))
    changes = None if options.changes is None else checked_output(options.changes, (".csv",))
    refuse_overwriting(filter(None, (output, report, changes)), (options.model, options.data))
    with collected_warnings() as messages:
        saved = load_model(existing_file(options.model))
        model = saved.predictor
        if not hasattr(model, "update"):
            raise UsageError(
                f"{options.model} cannot be updated: its graph was given, and has no place for new points. "
                "Cluster old and new points together."
            )
        if options.corrections is not None:
            model.apply(Corrections.load(existing_file(options.corrections)))
        points = new_points(options, saved)
        _warn_of_old_names(options, saved.names, points.names or ())
        before = np.asarray(model.labels_)
        n_old = len(before)
        model.update(points.X, constraints=_known(options, n_old, points.n_samples))
    names = {cluster: str(name) for cluster, name in model.cluster_classes_.items()}
    classes = {**saved.classes, **names}
    _save(options.model, options.save or options.model, model, classes, [*saved.names, *(points.names or ())])
    labels, sure = np.asarray(model.labels_[n_old:]), np.asarray(model.confidence_[n_old:])
    write_labels(output, label_columns(points, labels, classes, sure))
    if changes is not None:
        rows = [" ".join(map(str, row.points.tolist())) for row in model.changes_.rows]
        model.changes_.to_frame().assign(rows=rows).to_csv(changes, index=False)
    if report is not None:
        report.write_text(update_html(points, model, before, classes, options.model.name), encoding="utf-8")
    if not options.quiet and output != STANDARD_OUTPUT:
        print(model.changes_)
        kept = str(options.save or options.model)
        shown = [("labels", str(output)), ("model", f"{kept}, {len(model.labels_):,} points")]
        pages = [("changes", changes), ("report", report)]
        show_rows(shown + [(name, str(path)) for name, path in pages if path is not None])
    show_warnings(messages)
    return Exit.OK


def _known(options: UpdateOptions, n_old: int, n_new: int) -> Constraints:
    """Return what the columns of the new table say; nothing is said about the old points."""
    known = Constraints.none(n_old + n_new)
    columns = {"label": options.label_column, "apart": options.apart, "together": options.together}
    asked = [column for column in columns.values() if column is not None]
    if not asked:
        return known
    frame = read_table(options.data, text_format(options), asked)
    must_exist(asked, list(frame.columns), options.data)
    for kind, column in columns.items():
        if column is not None:
            cells = class_names(frame[column].tolist(), column, options.data)
            values: Any = [None] * n_old + [cell or None for cell in cells]
            said: Any = Constraints.from_labels
            if kind == "label":
                known = known | said(values, unknown=())
            else:
                known = known | Constraints.from_groups(values, apart=kind == "apart", unknown=())
    return known


def _warn_of_old_names(options: UpdateOptions, old: Sequence[str], new: Sequence[str]) -> None:
    """Warn if rows are called as points of the model are: such rows would count twice."""
    known = set(old)
    again = [name for name in new if name in known]
    if again:
        warn(
            f"{len(again):,} of the {len(new):,} rows of {options.data} are called as points of "
            f"{options.model} are, the first {again[0]!r}. Rows that were clustered before count twice: give "
            "new rows only",
            SidecutWarning,
        )


def _save(old: Path, new: Path, model: Any, classes: dict[int, str], names: list[str]) -> None:
    """Write the model; an existing file is replaced only when the new one is complete."""
    parts = read_parts(old)
    parts |= {
        "names": names,
        "predictor": model,
        "clusters": list(classes),
        "classes": list(classes.values()),
    }
    unfinished = new.with_name(f"{new.name}.part")
    require("skops.io", "Saving models").dump(parts, unfinished)
    os.replace(unfinished, new)
