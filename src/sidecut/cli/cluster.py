"""``sidecut cluster``: points in; labels, summary, report and picture out."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

from sidecut.cli.console import (
    Exit,
    Stages,
    UsageError,
    collected_warnings,
    in_options,
    require,
    show_warnings,
)
from sidecut.cli.fitting import chosen_parameters, compute_on_cluster, fit, refuse_unscheduled
from sidecut.cli.inputs import (
    column_roles,
    known_constraints,
    read_points,
    text_format,
    unknown_values,
    with_edges,
)
from sidecut.cli.methods import default_method, method_named
from sidecut.cli.options import ClusterOptions, command_line
from sidecut.cli.outputs import (
    LABEL_SUFFIXES,
    MODEL_SUFFIXES,
    PICTURE_SUFFIXES,
    STANDARD_OUTPUT,
    checked_output,
    label_columns,
    refuse_overwriting,
    write_labels,
)
from sidecut.cli.predict import save_model
from sidecut.cli.preparation import Points, PreparationOptions, warn_about_encoded, warn_about_spreads
from sidecut.cli.result import ClusterRun, graph_spectrum, json_summary, show_summary
from sidecut.constraints import Constraints
from sidecut.constraints.closure import too_few_clusters

#: Words of the warnings about cannot-links that labels violate, and about those they will have to.
REMAIN, SOME_MUST = " violated: --clusters ", "some cannot-links must be violated"


@dataclass(frozen=True)
class FinishedRun:
    """A result with its files, warnings and times."""

    result: ClusterRun
    files: dict[str, Path]
    messages: list[str]
    stages: Stages


def run(options: ClusterOptions) -> int:
    """Cluster, write the files, and print the summary."""
    done = finish(options)
    if options.json:
        print(json.dumps(json_summary(done.result, done.files, done.messages, done.stages.seconds)))
    else:
        if not options.quiet and options.output != STANDARD_OUTPUT:
            show_summary(done.result, done.files, done.messages, done.stages.total, options.verbose)
        show_warnings(done.messages)
    return Exit.VIOLATED if options.strict and done.result.n_hard_violations else Exit.OK


def finish(options: ClusterOptions) -> FinishedRun:
    """Cluster and write the files, without a summary."""
    files = _planned_files(options)
    stages = Stages.chosen(options.quiet, options.verbose)
    with collected_warnings() as messages:
        result = _compute(options, stages)
        if "report" in files:
            with stages.stage("looking at the spectrum"):
                result = replace(result, spectrum=graph_spectrum(result.cut, options.seed))
    if result.points.names is not None:
        # The library knows points by number; the user knows them by name.
        by_number = in_options(too_few_clusters(result.constraints, result.n_clusters))
        by_name = too_few_clusters(result.constraints, result.n_clusters, result.points.name)
        if by_number:
            messages = [message.replace(by_number, in_options(by_name)) for message in messages]
        messages = [_with_names(message, result.points) for message in messages]
    if any(REMAIN in message for message in messages):
        # It says which links these are, and the other warning only that there must be some.
        messages = [message for message in messages if SOME_MUST not in message]
    done = FinishedRun(result, files, messages, stages)
    with stages.stage("writing"):
        _write(done, options)
    return done


def _with_names(message: str, points: Points) -> str:
    """Call points by their names in the list of cannot-links that no labels satisfy."""
    if REMAIN not in message:
        return message

    def named(pair: re.Match[str]) -> str:
        return f"({points.name(int(pair[1]))}, {points.name(int(pair[2]))})"

    return re.sub(r"\((\d+), (\d+)\)", named, message)


def _compute(options: ClusterOptions, stages: Stages) -> ClusterRun:
    method_named(options.method or "auto")
    if options.scheduler is not None:
        return compute_on_cluster(options, column_roles(options), stages)
    with stages.stage("reading", str(options.data)):
        points = read_points(
            options.data,
            kind=options.input,
            key=options.key,
            roles=column_roles(options),
            is_graph=options.graph,
            wanted=PreparationOptions(options.impute, options.encode, options.standardize),
            text=text_format(options),
        )
    points = with_edges(points, options.edges, options.encoding)
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
    method = (options.method or default_method(constraints, options.clusters)).lower().replace("_", "-")
    if method != "auto" or constraints.is_empty:
        # AutoCut tries scaled columns itself, if there are constraints to choose by.
        warn_about_spreads(points)
    if constraints.known_classes is not None:
        warn_about_encoded(points, constraints.known_classes)
    chosen, settings = chosen_parameters(options), options.set or []
    with stages.stage("clustering", f"{points.n_samples:,} points ({method})"):
        model = fit(points, constraints, method, chosen, settings)
    if constraints.is_empty or options.no_compare:
        return ClusterRun(points, constraints, method, model)
    # The same method without constraints: for AutoCut, the normalised cut with its number of clusters.
    plain = {**chosen, "hard": None}
    with stages.stage("comparing", "with no constraints"):
        nothing = Constraints.none(points.n_samples)
        if method == "auto":
            plain["n_clusters"] = model.n_clusters_
            baseline = fit(points, nothing, "normalized-cut", plain, [])
        else:
            baseline = fit(points, nothing, method, plain, settings)
    return ClusterRun(points, constraints, method, model, baseline)


def _planned_files(options: ClusterOptions) -> dict[str, Path]:
    """Check where everything goes before any time is spent on computing it."""
    if options.report is not None and options.no_report:
        raise UsageError("--report and --no-report contradict each other; leave one out.")
    if options.output == STANDARD_OUTPUT and options.json:
        raise UsageError("-o - prints the labels and --json the summary; write one of the two to a file.")
    files = {"labels": checked_output(options.output, LABEL_SUFFIXES)}
    if options.scheduler is not None:
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
    refuse_overwriting(files.values(), (options.data, options.constraints))
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


def _write(done: FinishedRun, options: ClusterOptions) -> None:
    run = done.result
    columns = label_columns(run.points, run.labels, run.class_of_cluster, run.confidence)
    write_labels(done.files["labels"], columns)
    if "model" in done.files:
        save_model(done.files["model"], run)
    if "report" in done.files or "picture" in done.files:
        # Imported here: matplotlib is needed for pictures only.
        from sidecut.cli.report import report_html, save_picture

        if "report" in done.files:
            page = report_html(run, command_line("cluster", options), done.messages, done.stages.seconds)
            done.files["report"].write_text(page, encoding="utf-8")
        if "picture" in done.files:
            save_picture(run, done.files["picture"])
