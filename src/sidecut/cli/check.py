"""``sidecut check``: constraints checked before they are used, and labels and links that look wrong."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse

from sidecut.cli.console import (
    Exit,
    UsageError,
    collected_warnings,
    counted,
    in_options,
    show_rows,
    show_warnings,
)
from sidecut.cli.inputs import (
    conflict_words,
    existing_file,
    known_constraints,
    read_named_constraints,
    read_points,
    text_format,
    unknown_values,
)
from sidecut.cli.options import CheckOptions
from sidecut.cli.preparation import Points, Preparation, PreparationOptions, learn_scale, text_columns
from sidecut.cli.reading import TABLE_SUFFIXES, TextFormat, kind_suffix, read_table
from sidecut.cli.tables import (
    ColumnRoles,
    can_name_points,
    count_too_many_texts,
    looks_like_ids,
    must_exist,
    named_parts,
)
from sidecut.constraints import Conflict, Constraints
from sidecut.constraints.closure import points_apart, too_few_clusters
from sidecut.diagnostics import Suspects, find_suspects
from sidecut.exceptions import ConflictError, GraphWarning

#: Labels and links are not checked one by one on more points, with more known points, or with more links.
MAX_POINTS, MAX_KNOWN_POINTS, MAX_LINKS = 20_000, 2_000, 20_000


def run(options: CheckOptions) -> int:
    """Count constraints, what follows from them, what contradicts, and what looks wrong."""
    if options.label_column is not None:
        options = _about_itself(options)
    roles = ColumnRoles(
        label=options.label_column, identity=options.id_column, unknown=unknown_values(options.unknown)
    )
    text = text_format(options)
    with collected_warnings() as messages:
        points = _points(options, roles, text)
        try:
            constraints = _read(options, points, "raise")
            findings = _consistent(constraints, points, options.clusters)
            findings |= _judged(options, constraints, points, roles, text)
        except ConflictError as error:
            findings = _contradictory(_read(options, points, "weigh"), points, error.conflicts)
    findings["warnings"] = messages
    if options.json:
        print(json.dumps(findings))
    else:
        _show(findings)
        show_warnings(messages)
    return Exit.BAD_INPUT if findings["contradictions"] or findings["too_few_clusters"] else Exit.OK


def _read(options: CheckOptions, points: Points, on_conflict: str) -> Constraints:
    if options.label_column is not None:
        return known_constraints(points, None)
    unknown = unknown_values(options.unknown)
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


def _points(options: CheckOptions, roles: ColumnRoles, text: TextFormat) -> Points:
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
    frame = read_table(options.data, text, roles.special)
    must_exist(roles.special, list(frame.columns), options.data)
    values = {column: frame[column].tolist() for column in roles.special}
    texts = [c for c in text_columns(frame, list(frame.columns)) if count_too_many_texts(frame[c])]
    naming = [c for c in texts if can_name_points(frame[c])]
    ids = {c: "ids" for c in frame.columns if c in naming or looks_like_ids(frame[c], c)}
    parts = named_parts(values, roles, options.data)
    return Points(np.empty((len(frame), 0)), options.data, left_out=ids, **parts)


def _count(constraints: Constraints) -> dict[str, Any]:
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
    return {
        **_count(constraints),
        "implied_must_links": closed.n_must_link,
        "implied_cannot_links": closed.n_cannot_link,
        "clusters_needed": max(1, len(points_apart(constraints))),
        "too_few_clusters": in_options(
            too_few_clusters(constraints, n_clusters or points.n_samples, points.name)
        ),
        "contradictions": 0,
        "proofs": [],
    }


def _judged(
    options: CheckOptions, constraints: Constraints, points: Points, roles: ColumnRoles, text: TextFormat
) -> dict[str, Any]:
    """Return which labels or links look wrong, if there are data to judge them by."""
    kind = "link" if constraints.labels is None else "label"
    total = constraints.n_pairs if kind == "link" else len(constraints.constrained_points)
    nothing = {"kind": kind, "judged": 0, "suspects": [], "not_judged": ""}
    if options.data is None:
        return nothing
    try:
        features = _read_features(options.data, points, roles, text)
        suspects = seek_suspects(features, constraints, options.clusters)
    except (UsageError, ValueError) as error:
        return nothing | {"not_judged": f"Whether any {kind} looks wrong was not judged: {error}"}
    if suspects is not None:
        return nothing | {"judged": total, "suspects": list_suspects(suspects, points)}
    limits = f"{MAX_POINTS:,} points, {MAX_KNOWN_POINTS:,} of them known, {MAX_LINKS:,} links"
    reason = (
        f"Whether any {kind} looks wrong was not judged: there is too much to judge on the way (at most "
        f"{limits}). sidecut.diagnostics.find_suspects does it from Python."
    )
    return nothing | {"not_judged": reason if total else ""}


def _read_features(path: Path, points: Points, roles: ColumnRoles, text: TextFormat) -> Points:
    """Return the points with their numbers, gaps filled; texts and ids are left out."""
    if kind_suffix(path) not in TABLE_SUFFIXES:
        return points
    wanted = PreparationOptions(impute=True, leave_out=True)
    return replace(read_points(path, roles=roles, wanted=wanted, text=text), names=points.names)


def _contradictory(weighed: Constraints, points: Points, conflicts: tuple[Conflict, ...]) -> dict[str, Any]:
    return {
        **_count(weighed),
        "implied_must_links": None,
        "implied_cannot_links": None,
        "clusters_needed": None,
        "too_few_clusters": "",
        # Weighed, opposite statements about one pair cancel and no longer count as a contradiction. So the
        # proofs come from the error, and the larger of the two numbers is the better count.
        "contradictions": max(len(conflicts), weighed.n_conflicts),
        "proofs": [conflict_words(conflict, points) for conflict in conflicts],
        "kind": "link",
        "judged": 0,
        "suspects": [],
        "not_judged": "",
    }


def _show(findings: dict[str, Any]) -> None:
    constrained = f"{findings['constrained_points']:,} of {findings['n_samples']:,} are constrained"
    given = _links_words(findings["must_links"], findings["cannot_links"])
    if findings["contradictions"]:
        show_rows(
            [("points", constrained), ("given", f"{given} (opposite statements about one pair cancel)")]
        )
        count, proofs = findings["contradictions"], findings["proofs"]
        more = f", the first {len(proofs)} of them" if len(proofs) < count else ""
        print(f"{counted(count, 'contradiction')}{more}:", *(f"  {proof}" for proof in proofs), sep="\n")
        print("Correct them, or cluster with --on-conflict drop or --on-conflict weigh.")
        return
    implied = _links_words(findings["implied_must_links"], findings["implied_cannot_links"])
    rows = [("points", constrained), ("given", given), ("with what follows", implied)]
    if findings["kind"] == "label" and findings["classes"]:
        known = f"{findings['constrained_points']:,} of {findings['n_samples']:,} have a known class"
        counts = sorted(findings["classes"].items(), key=lambda one: (-one[1], one[0]))
        classes = ", ".join(f"{name} {count:,}" for name, count in counts[:10])
        more = f" and {len(counts) - 10} more" if len(counts) > 10 else ""
        rows = [("points", known), ("classes", classes + more), ("as pairs", given)]
    needed = f"at least {findings['clusters_needed']}"
    show_rows([*rows, ("contradictions", "none"), ("clusters needed", needed)])
    suspects = _suspect_lines(findings["suspects"], findings["kind"], findings["judged"])
    for line in filter(None, [findings["too_few_clusters"], *suspects, findings["not_judged"]]):
        print(line)


def _links_words(must: int, cannot: int) -> str:
    return f"{counted(must, 'must-link')}, {counted(cannot, 'cannot-link')}"


def _suspect_lines(suspects: list[dict[str, Any]], kind: str, total: int) -> list[str]:
    """Return lines that name the suspects, each with what was said and the reason."""
    if not suspects:
        return [f"None of the {total:,} {kind}s looks wrong."] if total else []
    count, verb = len(suspects), "looks" if len(suspects) == 1 else "look"
    lines = [f"{counted(count, kind)} of {total:,} {verb} wrong (the chance is given):"]
    lines += [
        f"  {' and '.join(one['points'])}, said {one['said']}: {one['reason']} ({chance_words(one['score'])})"
        for one in suspects[:10]
    ]
    return lines + ([f"  and {count - 10:,} more (--json lists all)"] if count > 10 else [])


def seek_suspects(points: Points, constraints: Constraints, n_clusters: int | None) -> Suspects | None:
    """Return how suspicious each label or link is; None without any, or with too many to check."""
    n_links = 0 if constraints.labels is not None else constraints.n_pairs
    is_much = len(constraints.constrained_points) > MAX_KNOWN_POINTS or n_links > MAX_LINKS
    if constraints.is_empty or is_much or points.n_samples > MAX_POINTS or min(points.X.shape) < 1:
        return None
    graph: dict[str, Any] = (
        {"affinity": "precomputed"} if points.is_graph else {"n_neighbors": min(20, points.n_samples - 1)}
    )
    with warnings.catch_warnings():
        # The graph by which labels are judged has no options: what is said of it helps the user to nothing.
        warnings.simplefilter("ignore", GraphWarning)
        return find_suspects(_numbers(points), constraints, n_clusters=n_clusters, **graph)


def _numbers(points: Points) -> Any:
    """Return the features to judge by, standardised; columns of text only where a table has no others."""
    if points.is_graph or issparse(points.X):
        return points.X
    X, table = np.asarray(points.X, dtype=float), points.preparation
    if table is not None and len(table.columns) > len(table.text):
        # Numbers come first.
        X = X[:, : len(table.columns) - len(table.text)]
    return learn_scale(Preparation(columns=()), X).rescale(X)


def list_suspects(suspects: Suspects | None, points: Points) -> list[dict[str, Any]]:
    """Return every label or link that is more likely wrong than right, the most suspicious first."""
    if suspects is None:
        return []
    return [
        {
            "points": [points.name(int(point)) for point in np.atleast_1d(suspects.points[place])],
            "said": str(suspects.said[place]),
            "score": round(float(suspects.scores[place]), 4),
            "reason": suspects.reasons[place],
        }
        for place in suspects.doubtful.tolist()
    ]


def chance_words(chance: float) -> str:
    """Return a chance in percent; no chance is shown as 100 %."""
    return "over 99 %" if chance > 0.99 else f"{100 * chance:.0f} %"
