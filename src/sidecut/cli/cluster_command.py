"""``sidecut cluster``: points in, labels, summary, report and picture out."""

from __future__ import annotations

import json
import shlex
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sidecut.cli.clustering import ClusterRun, fit, fit_unconstrained, graph_spectrum
from sidecut.cli.errors import OK, VIOLATED, UsageError, require
from sidecut.cli.inputs import read_points
from sidecut.cli.methods import default_method, method_named
from sidecut.cli.outputs import LABEL_SUFFIXES, checked_output, write_labels
from sidecut.cli.points import Points
from sidecut.cli.progress import Progress, collected_warnings
from sidecut.cli.side_information import known_constraints
from sidecut.cli.summary import human_summary, json_summary
from sidecut.cli.tables import ColumnRoles

__all__ = ["Performance", "compute", "perform", "run"]


@dataclass(frozen=True)
class Performance:
    """A command carried out.

    Parameters
    ----------
    result : ClusterRun
        What was computed.
    files : dict of str to Path
        What was written, by purpose.
    messages : list of str
        What was warned of.
    progress : Progress
        The stages and their times.
    """

    result: ClusterRun
    files: dict[str, Path]
    messages: list[str]
    progress: Progress


def run(args: Namespace) -> int:
    """Cluster, write what was asked for, and tell of it.

    Parameters
    ----------
    args : Namespace
        The parsed command line.

    Returns
    -------
    int
        Exit code.
    """
    done = perform(args)
    _tell(done, args)
    return VIOLATED if args.strict and done.result.n_hard_violations else OK


def perform(args: Namespace) -> Performance:
    """Cluster and write what was asked for, silently.

    Parameters
    ----------
    args : Namespace
        The parsed command line.

    Returns
    -------
    Performance
        What was computed and written.
    """
    files = _planned_files(args)
    progress = Progress.chosen(args.quiet, args.verbose)
    with collected_warnings() as messages:
        result = compute(args, progress)
        if "report" in files:
            with progress.stage("looking at the spectrum"):
                result = replace(result, spectrum=graph_spectrum(result.model, args.seed))
    with progress.stage("writing"):
        _write(result, files, args, messages, progress)
    return Performance(result, files, messages, progress)


def compute(args: Namespace, progress: Progress) -> ClusterRun:
    """Do everything but writing.

    Parameters
    ----------
    args : Namespace
        The parsed command line.
    progress : Progress
        Told of every stage.

    Returns
    -------
    ClusterRun
        The fitted method and its comparison.
    """
    method_named(args.method or default_method())
    if args.scheduler is not None:
        from sidecut.cli.scheduled import compute_on_cluster

        return compute_on_cluster(args, _roles(args), _chosen_parameters(args), progress)
    with progress.stage("reading", str(args.data)):
        points = _read(args)
    with progress.stage("reading constraints", str(args.constraints or "")):
        constraints = known_constraints(points, args.constraints, args.on_conflict)
    method = args.method or default_method(constraints)
    chosen = _chosen_parameters(args)
    with progress.stage("clustering", f"{points.n_samples:,} points ({method})"):
        model = fit(points, constraints, method, chosen, args.set)
    baseline = None
    if not constraints.is_empty and method != "normalized-cut" and not args.no_compare:
        with progress.stage("comparing", "with no constraints"):
            baseline = fit_unconstrained(points, chosen, args.set)
    return ClusterRun(points, constraints, method, model, baseline)


def _roles(args: Namespace) -> ColumnRoles:
    return ColumnRoles(
        label=args.label_column,
        truth=args.truth_column,
        identity=args.id_column,
        keep=_split(args.columns),
        drop=_split(args.drop),
    )


def _read(args: Namespace) -> Points:
    return read_points(
        args.data,
        has_heading=args.header,
        kind=args.input,
        key=args.key,
        roles=_roles(args),
        is_graph=args.graph,
        standardize=args.standardize,
    )


def _split(options: Sequence[str]) -> tuple[str, ...]:
    return tuple(name.strip() for option in options for name in option.split(",") if name.strip())


def _chosen_parameters(args: Namespace) -> dict[str, Any]:
    return {
        "n_clusters": args.clusters,
        "affinity": args.affinity,
        "n_neighbors": args.neighbors,
        "random_state": args.seed,
    }


def _planned_files(args: Namespace) -> dict[str, Path]:
    """Check where everything goes before any time is spent on computing it."""
    from sidecut.cli.pictures import PICTURE_SUFFIXES

    files = {"labels": checked_output(args.output, LABEL_SUFFIXES)}
    if args.scheduler is not None:
        from sidecut.cli.scheduled import refuse_unscheduled

        refuse_unscheduled(args)
    elif not args.no_report:
        files["report"] = checked_output(args.report or args.output.with_suffix(".html"), (".html", ".htm"))
    elif args.report is not None:
        raise UsageError("--report and --no-report contradict each other; leave one out.")
    if args.picture is not None:
        files["picture"] = checked_output(args.picture, PICTURE_SUFFIXES)
    if len(files) > 1:
        require("matplotlib", "Drawing the report (unless --no-report) and the picture")
    written = [path.resolve() for path in files.values()]
    if any(path is not None and path.resolve() in written for path in (args.data, args.constraints)):
        raise UsageError("An output would overwrite an input; choose another name with -o or --report.")
    return files


def _write(
    result: ClusterRun, files: dict[str, Path], args: Namespace, messages: list[str], progress: Progress
) -> None:
    write_labels(files["labels"], result.labels, result.points)
    if "report" in files:
        from sidecut.cli.report import write_report

        command = shlex.join(["sidecut", *args.argv])
        write_report(files["report"], result, command, messages, progress.seconds)
    if "picture" in files:
        from sidecut.cli.pictures import save_picture

        save_picture(result, files["picture"])


def _tell(done: Performance, args: Namespace) -> None:
    if args.json:
        print(json.dumps(json_summary(done.result, done.files, done.messages, done.progress.seconds)))
        return
    if not args.quiet:
        print(human_summary(done.result, done.files, done.progress.total))
    for message in done.messages:
        print(f"sidecut: warning: {message}", file=sys.stderr)
