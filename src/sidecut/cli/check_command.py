"""``sidecut check``: constraints looked at before they are used."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

from sidecut.cli.errors import BAD_INPUT, OK, UsageError
from sidecut.cli.inputs import existing_file, read_points
from sidecut.cli.points import Points, checked_names
from sidecut.cli.side_information import conflict_words, read_named_constraints
from sidecut.cli.summary import aligned
from sidecut.cli.tables import TABLE_SUFFIXES, read_table
from sidecut.constraints import Conflict, Constraints
from sidecut.exceptions import ConflictError

__all__ = ["run"]


def run(args: Namespace) -> int:
    """Count constraints, what follows from them, and what contradicts.

    Parameters
    ----------
    args : Namespace
        The parsed command line.

    Returns
    -------
    int
        0 if nothing contradicts, 2 otherwise.
    """
    points = _points(args)
    try:
        findings = _consistent(read_named_constraints(args.constraints, points, "raise"))
    except ConflictError as error:
        findings = _contradictory(args, points, error.conflicts)
    print(json.dumps(findings) if args.json else _words(findings))
    return BAD_INPUT if findings["contradictions"] else OK


def _points(args: Namespace) -> Points:
    """Return points with names but, where they are not needed, without their features."""
    if args.samples is not None:
        if args.samples < 1:
            raise UsageError(f"--samples {args.samples}: there must be at least one point.")
        return Points(np.empty((args.samples, 0)), Path(args.constraints))
    if existing_file(args.data).suffix.lower() not in TABLE_SUFFIXES:
        return read_points(args.data)
    frame = read_table(args.data, as_text=[args.id_column] if args.id_column else [])
    if args.id_column is None:
        return Points(np.empty((len(frame), 0)), args.data)
    if args.id_column not in frame.columns:
        listed = ", ".join(frame.columns)
        raise UsageError(f"{args.data} has no column {args.id_column!r}; its columns are {listed}.")
    names = checked_names(frame[args.id_column].tolist(), args.id_column, args.data)
    return Points(np.empty((len(frame), 0)), args.data, names=names)


def _counted(constraints: Constraints) -> dict[str, Any]:
    return {
        "n_samples": constraints.n_samples,
        "constrained_points": len(constraints.constrained_points),
        "must_links": constraints.n_must_link,
        "cannot_links": constraints.n_cannot_link,
    }


def _consistent(constraints: Constraints) -> dict[str, Any]:
    closed = constraints.closed()
    follows = {"implied_must_links": closed.n_must_link, "implied_cannot_links": closed.n_cannot_link}
    return {**_counted(constraints), **follows, "contradictions": 0, "proofs": []}


def _contradictory(args: Namespace, points: Points, conflicts: tuple[Conflict, ...]) -> dict[str, Any]:
    # Weighed, opposite statements about one pair cancel and are no longer seen as a contradiction, so the
    # proofs come from the refusal, and the larger of the two numbers is the better count.
    weighed = read_named_constraints(args.constraints, points, "weigh")
    return {
        **_counted(weighed),
        "implied_must_links": None,
        "implied_cannot_links": None,
        "contradictions": max(len(conflicts), weighed.n_conflicts),
        "proofs": [conflict_words(conflict, points) for conflict in conflicts],
    }


def _words(findings: dict[str, Any]) -> str:
    constrained = f"{findings['constrained_points']:,} of {findings['n_samples']:,} are constrained"
    given = _counts(findings["must_links"], findings["cannot_links"])
    if findings["contradictions"]:
        rows = [("points", constrained), ("given", f"{given} (opposite statements about one pair cancel)")]
        return "\n".join([aligned(rows), *_contradictions(findings)])
    implied = _counts(findings["implied_must_links"], findings["implied_cannot_links"])
    rows = [
        ("points", constrained),
        ("given", given),
        ("with what follows", implied),
        ("contradictions", "none"),
    ]
    return aligned(rows)


def _counts(must: int, cannot: int) -> str:
    return f"{must:,} must-link{'s' * (must != 1)}, {cannot:,} cannot-link{'s' * (cannot != 1)}"


def _contradictions(findings: dict[str, Any]) -> list[str]:
    count, proofs = findings["contradictions"], findings["proofs"]
    more = f", the first {len(proofs)} of them" if len(proofs) < count else ""
    lines = [f"{count:,} contradiction{'s' * (count != 1)}{more}:", *(f"  {proof}" for proof in proofs)]
    return [*lines, "Correct them, or cluster with --on-conflict drop or --on-conflict weigh."]
