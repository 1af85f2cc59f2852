"""``sidecut ask``: questions in the terminal, labels from the answers."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from sidecut.active import ActiveClustering, Cards, converse
from sidecut.cli.dialogue import dialogue_html
from sidecut.cli.errors import OK, UsageError
from sidecut.cli.inputs import existing_file, read_points
from sidecut.cli.options import AskOptions, command_line
from sidecut.cli.outputs import LABEL_SUFFIXES, checked_output, label_columns, write_labels
from sidecut.cli.points import Points
from sidecut.cli.preparation import Wishes
from sidecut.cli.tables import ColumnRoles, TextFormat, read_table

__all__ = ["run"]


def run(options: AskOptions) -> int:
    """Ask about pairs of rows, and write the labels when the person stops.

    Parameters
    ----------
    options : AskOptions
        What was asked for.

    Returns
    -------
    int
        0.
    """
    output = checked_output(options.output, LABEL_SUFFIXES)
    if output == Path("-"):
        raise UsageError("-o -: the questions are on the screen already; name a file for the labels.")
    text = TextFormat(options.header, options.encoding, options.decimal)
    frame = read_table(existing_file(options.data), text, [options.id_column] if options.id_column else [])
    shown = _shown(options, frame)
    points = _points(options, frame, shown, text)
    page = None if options.report is None else checked_output(options.report, (".html",))
    session = _session(options, points)
    names = [points.name(position) for position in range(points.n_samples)]
    cards = Cards(names, {column: frame[column].tolist() for column in shown})
    if session.history_:
        sys.stdout.write(f"Going on after {len(session.history_)} answers.\n")
    converse(session, cards, sys.stdin, sys.stdout, options.questions)
    write_labels(output, label_columns(points, session.labels_.astype(np.intp), {}, session.confidence_))
    sys.stdout.write(f"Labels are in {output}, answers in {_folder(options)}.\n")
    if page is not None:
        page.write_text(dialogue_html(session, points, command_line("ask", options)), encoding="utf-8")
        sys.stdout.write(f"The page of the dialogue is {page}.\n")
    return OK


def _folder(options: AskOptions) -> Path:
    return options.answers or options.output.with_name(f"{options.output.name}.answers")


def _session(options: AskOptions, points: Points) -> ActiveClustering:
    """Return the run that was stopped, or a new one."""
    folder = _folder(options)
    if not folder.exists():
        return ActiveClustering(options.clusters, random_state=options.seed).start(points.X).save(folder)
    session = ActiveClustering.load(folder)
    if len(session.labels_) != points.n_samples:
        raise UsageError(
            f"{folder} holds answers about {len(session.labels_)} points, but {options.data} has "
            f"{points.n_samples}; name another folder with --answers."
        )
    return session


def _shown(options: AskOptions, frame: pd.DataFrame) -> list[str]:
    """Return the columns a person sees: those asked for, or all but the names."""
    hidden = (options.id_column, options.truth_column)
    columns = [column for column in map(str, frame.columns) if column not in hidden]
    if options.show is None:
        return columns
    asked = [column.strip() for column in options.show.split(",") if column.strip()]
    missing = [column for column in asked if column not in frame.columns]
    if missing:
        raise UsageError(f"--show {missing[0]}: {options.data} has the columns {', '.join(columns)}.")
    return asked


def _points(options: AskOptions, frame: pd.DataFrame, shown: list[str], text: TextFormat) -> Points:
    """Read the points; columns of text that are shown to the person are no features."""
    words = [column for column in shown if not pd.api.types.is_numeric_dtype(frame[column])]
    roles = ColumnRoles(identity=options.id_column, truth=options.truth_column, drop=tuple(words))
    wishes = Wishes(impute=options.impute, standardize=not options.raw)
    return read_points(options.data, roles=roles, wishes=wishes, text=text)
