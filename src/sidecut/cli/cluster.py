"""``sidecut cluster``: points in; labels, summary, report and picture out."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sidecut.cli.console import Exit, Stages, UsageError, collected_warnings, in_options, require
from sidecut.cli.fitting import chosen_parameters, fit
from sidecut.cli.inputs import known_constraints, read_points, unknown_values
from sidecut.cli.methods import default_method, method_named
from sidecut.cli.options import ClusterOptions, command_line
from sidecut.cli.outputs import (
    LABEL_SUFFIXES,
    MODEL_SUFFIXES,
    PICTURE_SUFFIXES,
    STANDARD_OUTPUT,
    checked_output,
    label_columns,
    write_labels,
)
from sidecut.cli.predict import save_model
from sidecut.cli.preparation import Points, PreparationOptions, warn_about_spreads
from sidecut.cli.result import ClusterRun, graph_spectrum
from sidecut.cli.summary import json_summary, tell_summary
from sidecut.cli.tables import ColumnRoles, TextFormat
from sidecut.constraints import Constraints
from sidecut.constraints.closure import too_few_clusters

__all__ = ["Performance", "compute", "perform", "run"]


@dataclass(frozen=True)
class Performance:
    """A command carried out."""

    result: ClusterRun
    files: dict[str, Path]
    messages: list[str]
    stages: Stages


def run(options: ClusterOptions) -> int:
    """Cluster, write what was asked for, and tell of it."""
    done = perform(options)
    _tell(done, options)
    return Exit.VIOLATED if options.strict and done.result.n_hard_violations else Exit.OK


def perform(options: ClusterOptions) -> Performance:
    """Cluster and write what was asked for, silently."""
    files = _planned_files(options)
    stages = Stages.chosen(options.quiet, options.verbose)
    with collected_warnings() as messages:
        result = compute(options, stages)
        if "report" in files:
            with stages.stage("looking at the spectrum"):
                result = replace(result, spectrum=graph_spectrum(result.cut, options.seed))
    done = Performance(result, files, named_messages(messages, result), stages)
    with stages.stage("writing"):
        _write(done, options)
    return done


def named_messages(messages: list[str], run: ClusterRun) -> list[str]:
    """Call points by their names where a warning of the library calls them by their numbers."""
    if run.points.names is None:
        return [in_options(message) for message in messages]
    by_number = too_few_clusters(run.constraints, run.n_clusters)
    by_name = too_few_clusters(run.constraints, run.n_clusters, run.points.name)
    named = [message.replace(by_number, by_name) if by_number else message for message in messages]
    return [in_options(message) for message in named]


def compute(options: ClusterOptions, stages: Stages) -> ClusterRun:
    """Do everything but writing."""
    method_named(options.method or "auto")
    if options.scheduler is not None:
        from sidecut.cli.fitting import compute_on_cluster

        return compute_on_cluster(options, column_roles(options), stages)
    with stages.stage("reading", str(options.data)):
        points = _read(options)
    with stages.stage("reading constraints", str(options.constraints or "")):
        constraints = known_constraints(
            points,
            options.constraints,
            options.on_conflict,
            unknown=unknown_values(options.unknown),
            encoding=options.encoding,
        )
    if options.model is not None and points.is_graph:
        raise UsageError("--model needs points with features: nothing is known of new nodes of a graph.")
    method = _method_name(options, constraints)
    if method != "auto" or constraints.is_empty:
        # The automatic choice looks at scaled columns by itself, if something is known to choose by.
        warn_about_spreads(points)
    chosen, settings = chosen_parameters(options), options.set or []
    with stages.stage("clustering", f"{points.n_samples:,} points ({method})"):
        model = fit(points, constraints, method, chosen, settings)
    baseline = None
    if not constraints.is_empty and not options.no_compare:
        # The same method told nothing: what differs then is due to the constraints alone.
        with stages.stage("comparing", "with no constraints"):
            baseline = _fit_unconstrained(points, method, model, chosen, settings)
    return ClusterRun(points, constraints, method, model, baseline)


def _method_name(options: ClusterOptions, constraints: Constraints) -> str:
    name = options.method or default_method(constraints, options.clusters)
    return name.lower().replace("_", "-")


def _fit_unconstrained(
    points: Points, method: str, model: Any, chosen: dict[str, Any], settings: list[str]
) -> Any:
    """Fit the same method told nothing; that of the automatic choice is the normalised cut."""
    nothing = Constraints.none(points.n_samples)
    chosen = {**chosen, "hard": None}
    if method == "auto":
        return fit(points, nothing, "normalized-cut", {**chosen, "n_clusters": model.n_clusters_}, [])
    return fit(points, nothing, method, chosen, settings)


def column_roles(options: ClusterOptions) -> ColumnRoles:
    """Return what the options say about the columns of a table."""
    return ColumnRoles(
        label=options.label_column,
        truth=options.truth_column,
        identity=options.id_column,
        keep=_split(options.columns),
        drop=_split(options.drop),
        features=_split(options.feature),
        unknown=unknown_values(options.unknown),
    )


def _read(options: ClusterOptions) -> Points:
    return read_points(
        options.data,
        kind=options.input,
        key=options.key,
        roles=column_roles(options),
        is_graph=options.graph,
        wanted=PreparationOptions(options.impute, options.encode, options.standardize),
        text=TextFormat(options.header, options.encoding, options.decimal),
    )


def _split(texts: Sequence[str] | None) -> tuple[str, ...]:
    return tuple(name.strip() for text in texts or () for name in text.split(",") if name.strip())


def _planned_files(options: ClusterOptions) -> dict[str, Path]:
    """Check where everything goes before any time is spent on computing it."""
    if options.report is not None and options.no_report:
        raise UsageError("--report and --no-report contradict each other; leave one out.")
    if options.output == STANDARD_OUTPUT and options.json:
        raise UsageError("-o - prints the labels and --json the summary; write one of the two to a file.")
    files = {"labels": checked_output(options.output, LABEL_SUFFIXES)}
    if options.scheduler is not None:
        from sidecut.cli.fitting import refuse_unscheduled

        refuse_unscheduled(options)
    elif options.report is not None or not (options.no_report or options.output == STANDARD_OUTPUT):
        files["report"] = _planned_report(options)
    if options.picture is not None:
        files["picture"] = checked_output(options.picture, PICTURE_SUFFIXES)
    if options.model is not None:
        require("skops", "Saving models")
        files["model"] = checked_output(options.model, MODEL_SUFFIXES)
    if "report" in files or "picture" in files:
        require("matplotlib", "Drawing the report (unless --no-report) and the picture")
    _refuse_overwriting(files, (options.data, options.constraints))
    return files


def _planned_report(options: ClusterOptions) -> Path:
    """Return where the report goes; beside the labels only if that replaces no file but an older report."""
    if options.report is not None:
        return checked_output(options.report, (".html", ".htm"))
    path = checked_output(options.output.with_suffix(".html"), (".html", ".htm"))
    if path.exists() and b'<meta name="generator" content="sidecut' not in path.read_bytes()[:2000]:
        raise UsageError(
            f"The report would replace {path}, which is no report of sidecut; name another file with "
            f"--report, or write none with --no-report."
        )
    return path


def _refuse_overwriting(files: dict[str, Path], inputs: Sequence[Path | None]) -> None:
    written = [path.resolve() for path in files.values()]
    if any(path is not None and path.resolve() in written for path in inputs):
        raise UsageError("An output would overwrite an input; choose another name with -o or --report.")
    if len(set(written)) < len(written):
        raise UsageError("Two outputs have the same name; give each its own.")


def _write(done: Performance, options: ClusterOptions) -> None:
    run = done.result
    columns = label_columns(run.points, run.labels, run.class_of_cluster, run.confidence)
    write_labels(done.files["labels"], columns)
    if "model" in done.files:
        save_model(done.files["model"], run)
    if "report" in done.files:
        from sidecut.cli.report import write_report

        command = command_line("cluster", options)
        write_report(done.files["report"], done.result, command, done.messages, done.stages.seconds)
    if "picture" in done.files:
        from sidecut.cli.report import save_picture

        save_picture(done.result, done.files["picture"])


def _tell(done: Performance, options: ClusterOptions) -> None:
    if options.json:
        print(json.dumps(json_summary(done.result, done.files, done.messages, done.stages.seconds)))
        return
    if not options.quiet and options.output != STANDARD_OUTPUT:
        tell_summary(done.result, done.files, done.messages, done.stages.total)
    for message in done.messages:
        print(f"sidecut: warning: {message}", file=sys.stderr)
