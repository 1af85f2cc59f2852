"""``sidecut check``: constraints looked at before they are used."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sidecut.cli.console import Exit, UsageError, collected_warnings, in_options, show_rows
from sidecut.cli.inputs import (
    conflict_words,
    existing_file,
    known_constraints,
    read_named_constraints,
    read_points,
    unknown_values,
)
from sidecut.cli.options import CheckOptions
from sidecut.cli.preparation import Points
from sidecut.cli.result import (
    MAX_JUDGED,
    MAX_JUDGED_LINKS,
    MAX_POINTS,
    SHOWN,
    list_suspects,
    read_features,
    seek_suspects,
    tell_suspects,
)
from sidecut.cli.tables import (
    TABLE_SUFFIXES,
    ColumnRoles,
    TextFormat,
    kind_suffix,
    must_exist,
    named_parts,
    read_table,
)
from sidecut.constraints import Conflict, Constraints
from sidecut.constraints.closure import points_apart, too_few_clusters
from sidecut.exceptions import ConflictError

__all__ = ["run"]


def run(options: CheckOptions) -> int:
    """Count constraints, what follows from them, what contradicts, and what looks wrong."""
    if options.label_column is not None:
        options = _about_itself(options)
    with collected_warnings() as messages:
        findings = _find(options, _points(options))
    findings["warnings"] = messages
    if options.json:
        print(json.dumps(findings))
    else:
        _tell(findings)
        for message in messages:
            print(f"sidecut: warning: {message}", file=sys.stderr)
    return Exit.BAD_INPUT if findings["contradictions"] or findings["too_few_clusters"] else Exit.OK


def _find(options: CheckOptions, points: Points) -> dict[str, Any]:
    try:
        constraints = _read(options, points, "raise")
        return _consistent(constraints, points, options.clusters) | _judged(options, constraints, points)
    except ConflictError as error:
        return _contradictory(options, points, error.conflicts)


def _read(options: CheckOptions, points: Points, on_conflict: str) -> Constraints:
    unknown = unknown_values(options.unknown)
    if options.label_column is not None:
        return known_constraints(points, None)
    return read_named_constraints(
        options.constraints, points, on_conflict, unknown=unknown, encoding=options.encoding
    )


def _about_itself(options: CheckOptions) -> CheckOptions:
    """Return the options with the table that has the label column as the data, too."""
    if options.samples is not None or options.data is not None:
        raise UsageError("--label-column: the table is the data; leave out --samples and --data.")
    if kind_suffix(existing_file(options.constraints)) not in TABLE_SUFFIXES:
        raise UsageError(f"--label-column: {options.constraints} is no table ({', '.join(TABLE_SUFFIXES)}).")
    return replace(options, data=options.constraints)


def _points(options: CheckOptions) -> Points:
    """Return points with names but, where they are not needed, without their features."""
    if (options.samples is None) == (options.data is None):
        raise UsageError(
            f"Say what {options.constraints} is about: --data FILE with the points, or --samples N if there "
            "is no such file. If it is the table of the points itself, name its column of known classes with "
            "--label-column."
        )
    if options.samples is not None:
        if options.samples < 1:
            raise UsageError(f"--samples {options.samples}: there must be at least one point.")
        return Points(np.empty((options.samples, 0)), Path(options.constraints))
    assert options.data is not None
    if kind_suffix(existing_file(options.data)) not in TABLE_SUFFIXES:
        return read_points(options.data)
    roles = _roles(options)
    frame = read_table(options.data, _text(options), list(roles.special))
    must_exist(roles.special, list(frame.columns), options.data)
    values = {column: frame[column].tolist() for column in roles.special}
    return Points(np.empty((len(frame), 0)), options.data, **named_parts(values, roles, options.data))


def _text(options: CheckOptions) -> TextFormat:
    return TextFormat(encoding=options.encoding, decimal=options.decimal)


def _roles(options: CheckOptions) -> ColumnRoles:
    unknown = unknown_values(options.unknown)
    return ColumnRoles(label=options.label_column, identity=options.id_column, unknown=unknown)


def _counted(constraints: Constraints) -> dict[str, Any]:
    known = constraints.known_classes
    return {
        "n_samples": constraints.n_samples,
        "classes": None if known is None else dict(Counter(str(one) for one in known if one is not None)),
        "constrained_points": len(constraints.constrained_points),
        "must_links": constraints.n_must_link,
        "cannot_links": constraints.n_cannot_link,
    }


def _consistent(constraints: Constraints, points: Points, n_clusters: int | None) -> dict[str, Any]:
    closed = constraints.closed()
    asked = n_clusters or points.n_samples
    return {
        **_counted(constraints),
        "implied_must_links": closed.n_must_link,
        "implied_cannot_links": closed.n_cannot_link,
        "clusters_needed": max(1, len(points_apart(constraints))),
        "too_few_clusters": in_options(too_few_clusters(constraints, asked, points.name)),
        "contradictions": 0,
        "proofs": [],
    }


def _judged(options: CheckOptions, constraints: Constraints, points: Points) -> dict[str, Any]:
    """Say which labels or links look wrong, where there are data to judge them by."""
    kind = "link" if constraints.labels is None else "label"
    total = constraints.n_pairs if kind == "link" else len(constraints.constrained_points)
    nothing = {"kind": kind, "judged": 0, "suspects": [], "not_judged": ""}
    if options.data is None:
        return nothing
    try:
        features = read_features(
            options.data,
            points,
            _roles(options),
            _text(options),
        )
        suspects = seek_suspects(features, constraints, options.clusters)
    except (UsageError, ValueError) as error:
        return nothing | {"not_judged": f"Whether any {kind} looks wrong was not judged: {error}"}
    if suspects is None and total > 0:
        limits = f"{MAX_POINTS:,} points, {MAX_JUDGED:,} of them known, {MAX_JUDGED_LINKS:,} links"
        reason = f"there is too much to judge on the way (at most {limits})"
        return nothing | {
            "not_judged": f"Whether any {kind} looks wrong was not judged: {reason}. "
            "sidecut.diagnostics.find_suspects does it from Python."
        }
    if suspects is None:
        return nothing
    return nothing | {"judged": total, "suspects": list_suspects(suspects, points)}


def _contradictory(options: CheckOptions, points: Points, conflicts: tuple[Conflict, ...]) -> dict[str, Any]:
    # Weighed, opposite statements about one pair cancel and are no longer seen as a contradiction, so the
    # proofs come from the refusal, and the larger of the two numbers is the better count.
    weighed = _read(options, points, "weigh")
    return {
        **_counted(weighed),
        "implied_must_links": None,
        "implied_cannot_links": None,
        "clusters_needed": None,
        "too_few_clusters": "",
        "contradictions": max(len(conflicts), weighed.n_conflicts),
        "proofs": [conflict_words(conflict, points) for conflict in conflicts],
        "kind": "link",
        "judged": 0,
        "suspects": [],
        "not_judged": "",
    }


def _tell(findings: dict[str, Any]) -> None:
    constrained = f"{findings['constrained_points']:,} of {findings['n_samples']:,} are constrained"
    given = _counts(findings["must_links"], findings["cannot_links"])
    if findings["contradictions"]:
        show_rows(
            [("points", constrained), ("given", f"{given} (opposite statements about one pair cancel)")]
        )
        print("\n".join(_contradictions(findings)))
        return
    implied = _counts(findings["implied_must_links"], findings["implied_cannot_links"])
    rows = [("points", constrained), ("given", given), ("with what follows", implied)]
    if findings["kind"] == "label" and findings["classes"]:
        known = f"{findings['constrained_points']:,} of {findings['n_samples']:,} have a known class"
        rows = [("points", known), ("classes", _classes(findings["classes"])), ("as pairs", given)]
    needed = f"at least {findings['clusters_needed']}"
    show_rows([*rows, ("contradictions", "none"), ("clusters needed", needed)])
    if findings["too_few_clusters"]:
        print(findings["too_few_clusters"])
    for line in tell_suspects(findings["suspects"], findings["kind"], findings["judged"]):
        print(line)
    if findings["not_judged"]:
        print(findings["not_judged"])


def _classes(counts: dict[str, int]) -> str:
    words = [f"{name} {count:,}" for name, count in sorted(counts.items(), key=lambda one: (-one[1], one[0]))]
    return ", ".join(words[:SHOWN]) + (f" and {len(words) - SHOWN} more" if len(words) > SHOWN else "")


def _counts(must: int, cannot: int) -> str:
    return f"{must:,} must-link{'s' * (must != 1)}, {cannot:,} cannot-link{'s' * (cannot != 1)}"


def _contradictions(findings: dict[str, Any]) -> list[str]:
    count, proofs = findings["contradictions"], findings["proofs"]
    more = f", the first {len(proofs)} of them" if len(proofs) < count else ""
    lines = [f"{count:,} contradiction{'s' * (count != 1)}{more}:", *(f"  {proof}" for proof in proofs)]
    return [*lines, "Correct them, or cluster with --on-conflict drop or --on-conflict weigh."]
