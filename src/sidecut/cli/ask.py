"""``sidecut ask``: questions in the terminal, labels from the answers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import joblib
import numpy as np
import pandas as pd

from sidecut.active import ActiveClustering, Answer, Cards, converse
from sidecut.active.records import Record, rows_of
from sidecut.active.terminal import in_words, name_points
from sidecut.cli.console import Exit, UsageError, counted, existing_file
from sidecut.cli.inputs import (
    column_roles,
    known_constraints,
    read_costs,
    read_reliability,
    text_format,
    unknown_values,
)
from sidecut.cli.options import AskOptions, command_line
from sidecut.cli.outputs import LABEL_SUFFIXES, STANDARD_OUTPUT, checked_output, label_columns, write_labels
from sidecut.cli.preparation import Points, PreparationOptions
from sidecut.cli.reading import read_table
from sidecut.cli.report import embed_figure, render_page
from sidecut.cli.tables import points_from_table
from sidecut.evaluation import adjusted_rand_index
from sidecut.plots import plot_dialogue

#: The file beside the answers that says which rows they are about.
ASKED = "rows.txt"
#: Why each strategy asks, in plain words.
REASONS = {
    "merge_classes": "two groups may be one",
    "expected_change": "many points follow this one",
    "same_point": "the point was still without a group",
    "neighbourhoods": "its group was least clear",
    "uncertainty": "it was torn between two groups",
    "perturbation": "it moves the border of its group most",
    "doubts": "to check an earlier answer",
    "doubtful_sets": "a part of a group may be of another one",
    "split_largest": "it was explained least",
    "least_sure": "it was the least sure",
    "random_pair": "drawn by chance",
}


def run(options: AskOptions) -> int:
    """Ask about pairs of rows, and write the labels when the person stops."""
    output = checked_output(options.output, LABEL_SUFFIXES)
    if output == STANDARD_OUTPUT:
        raise UsageError("-o -: the questions are on the screen already; name a file for the labels.")
    frame = read_table(existing_file(options.data), text_format(options), _raw_columns(options))
    wanted = PreparationOptions(options.impute, options.encode, not options.raw, leave_out=not options.encode)
    points = points_from_table(frame, options.data, column_roles(options), wanted=wanted)
    shown = _shown(options, frame)
    page = None if options.report is None else checked_output(options.report, (".html",))
    folder = options.answers or options.output.with_name(f"{options.output.name}.answers")
    session = _session(options, points, folder)
    names = [points.name(position) for position in range(points.n_samples)]
    cards = Cards(names, {column: shown_cells(frame[column]) for column in shown})
    if session.history_:
        sys.stdout.write(f"Going on after {counted(len(session.history_), 'answer')}.\n")
    else:
        sys.stdout.write(
            f"{points.n_samples} rows. {points.used_words} Each question shows {_shown_at_once(options)} "
            "Stop when you like; the same command goes on.\n"
        )
    converse(session, cards, sys.stdin, sys.stdout, options.questions)
    labels = session.labels_.astype(np.intp)
    classes = {} if points.known_labels is None else known_constraints(points, None).name_clusters(labels)
    write_labels(output, label_columns(points, labels, classes or {}, session.confidence_))
    sys.stdout.write(f"Labels are in {output}, answers in {folder}.\n")
    if page is not None:
        page.write_text(_page(session, points, names, command_line("ask", options)), encoding="utf-8")
        sys.stdout.write(f"The page of the dialogue is {page}.\n")
    return Exit.OK


def _session(options: AskOptions, points: Points, folder: Path) -> ActiveClustering:
    """Return the session that was stopped, or a new one."""
    fingerprint = str(joblib.hash((points.X, points.names)))
    if not folder.exists():
        session = ActiveClustering(
            options.clusters,
            reliability=read_reliability(options.reliability),
            costs=read_costs(options.costs),
            random_state=options.seed,
        )
        known = known_constraints(
            points,
            options.constraints,
            options.on_conflict,
            unknown=unknown_values(options.unknown),
            encoding=options.encoding,
        )
        session.start(points.X, known).save(folder)
        (folder / ASKED).write_text(fingerprint, encoding="utf-8")
        return session
    session = ActiveClustering.load(folder)
    if len(session.labels_) != points.n_samples:
        raise UsageError(
            f"{folder} holds answers about {len(session.labels_)} points, but {options.data} has "
            f"{points.n_samples}; name another folder with --answers."
        )
    if (folder / ASKED).exists() and (folder / ASKED).read_text(encoding="utf-8") != fingerprint:
        raise UsageError(
            f"{folder} holds answers about other rows than those of {options.data}: the rows changed, are in "
            "another order, or are prepared in another way (--raw, --impute, --drop, --show). Name another "
            "folder with --answers, or another file with -o."
        )
    if options.clusters is not None and options.clusters != session.n_clusters:
        began = "without a number" if session.n_clusters is None else f"with -k {session.n_clusters}"
        raise UsageError(
            f"-k {options.clusters}: the answers in {folder} began {began}, and go on so. Leave -k out, or "
            "name another folder with --answers."
        )
    if options.reliability is not None:
        session.set_reliability(read_reliability(options.reliability))
    return session


def _shown_at_once(options: AskOptions) -> str:
    if options.costs is None:
        return "two of them: should they be in one group?"
    return "one, two or up to nine of them: what is it, or which belong together?"


def _shown(options: AskOptions, frame: pd.DataFrame) -> list[str]:
    """Return the columns to show: those of --show, or all but names and true classes."""
    hidden = (options.id_column, options.truth_column, options.label_column)
    columns = [column for column in map(str, frame.columns) if column not in hidden]
    if options.show is None:
        return columns
    asked = [column.strip() for column in options.show.split(",") if column.strip()]
    missing = [column for column in asked if column not in frame.columns]
    if missing:
        raise UsageError(f"--show {missing[0]}: {options.data} has the columns {', '.join(columns)}.")
    return asked


def shown_cells(values: pd.Series) -> Sequence[object]:
    """Return the cells of a column as people write them: 10 for 10.0, a date without midnight, no "nan"."""
    if values.dtype.kind == "M":
        return values.astype(str).str.removesuffix(" 00:00:00").where(values.notna(), "").tolist()
    if values.dtype.kind == "f" and not (values.dropna() % 1).any():
        values = values.astype("Int64")
    return values.astype(object).where(values.notna(), "").tolist()


def _raw_columns(options: AskOptions) -> list[str]:
    return [c for c in (options.id_column, options.truth_column, options.label_column) if c is not None]


def _page(run: ActiveClustering, points: Points, names: list[str], command: str) -> str:
    """Return the page of a dialogue: the questions, what they changed, and what to ask next."""
    said = [f"{counted(len(run.history_), 'answer')} made {counted(run.n_clusters_, 'cluster')}."]
    tiles = [
        (f"{points.n_samples:,}", "points"),
        (str(run.n_clusters_), "clusters"),
        (f"{len(run.history_):,}", "answers"),
    ]
    scores = None
    if points.truth is not None and run.history_:
        # The adjusted Rand index before the first answer and after each.
        known = points.truth >= 0
        scores = [float(adjusted_rand_index(points.truth[known], labels[known])) for labels in run.replay()]
        said.append(f"The adjusted Rand index went from {scores[0]:.2f} to {scores[-1]:.2f}.")
        tiles.append((f"{scores[0]:.2f} → {scores[-1]:.2f}", "ARI, before the first → after the last answer"))
    sizes = np.bincount(run.labels_)
    least_sure = np.argsort(run.confidence_, kind="stable")[:10].tolist()
    return render_page(
        "dialogue.html",
        title=f"{points.source.name}: {counted(run.n_clusters_, 'cluster')} by asking",
        sentences=[*said, run.stopping_estimate_.words],
        tiles=tiles,
        curve=_curve(run, scores),
        questions=[_row(number + 1, record, names) for number, record in enumerate(run.history_)],
        next={
            "words": run.stopping_estimate_.words,
            "rows": [
                (", ".join(names[point] for point in q.points), q.words, name_points(q.reason, names))
                for q in run.questions(5)
            ],
        },
        sizes=[(str(c), f"{size:,}", f"{size / sizes.sum():.1%}") for c, size in enumerate(sizes.tolist())],
        doubtful=[(names[i], str(run.labels_[i]), f"{run.confidence_[i]:.2f}") for i in least_sure],
        command=command,
    )


def _curve(run: ActiveClustering, scores: list[float] | None) -> dict[str, str] | None:
    if not run.history_:
        return None
    caption = "Each mark is an answer, and how many pairs of points it regrouped."
    if scores is not None:
        caption += " The line is the agreement with the true classes after each answer; 1 is perfect."
    return embed_figure(
        lambda: plot_dialogue(run.history_, scores).figure,
        f"What {counted(len(run.history_), 'answer')} changed",
        caption,
    )


def _row(number: int, record: Record, names: list[str]) -> tuple[str, ...]:
    changed = f"{record.changed:.2%}"
    if not isinstance(record, Answer):
        points = ", ".join(names[point] for point in rows_of(record))
        reason = "its name was asked for" if len(rows_of(record)) == 1 else "a set was asked about"
        return (str(number), points, "", in_words(record, names), reason, changed)
    reason = REASONS.get(record.strategy, record.strategy.replace("_", " "))
    said = {True: "together", False: "apart", None: "unsure"}[record.same]
    return (str(number), names[record.i], names[record.j], said, reason, changed)
