"""``sidecut evaluate``: labels against the truth and the constraints."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidecut.cli.console import Exit, UsageError
from sidecut.cli.inputs import read_named_constraints, unknown_values
from sidecut.cli.options import EvaluateOptions
from sidecut.cli.outputs import read_labels
from sidecut.cli.preparation import Points, checked_names
from sidecut.cli.tables import TextFormat
from sidecut.constraints import Constraints
from sidecut.evaluation import adjusted_rand_index, evaluate

__all__ = ["run"]


HARD = 1.0


def run(options: EvaluateOptions) -> int:
    """Print how well labels agree with the truth."""
    text = TextFormat(options.header, options.encoding)
    unknown = unknown_values(options.unknown)
    labels, names = read_labels(options.labels, options.column, options.id_column, text, unknown)
    truth, true_names = read_labels(options.truth, options.truth_column, options.id_column, text, unknown)
    if names is not None and true_names is not None:
        truth = _matched(names, true_names, truth, options)
    elif len(labels) != len(truth):
        raise UsageError(
            f"{options.labels} has {len(labels)} labels and {options.truth} has {len(truth)}; give both in "
            "the same order, or match them by name with --id-column."
        )
    constraints = _constraints(options, names, len(labels))
    known = np.flatnonzero(truth >= 0)
    if len(known) < 2:
        raise UsageError(
            f"{options.truth} knows the classes of {len(known)} points; scores need at least two."
        )
    restricted = None if constraints is None else constraints.restricted_to(known)
    scores = evaluate(truth[known], labels[known], restricted)
    print(json.dumps(scores.to_dict()) if options.json else scores)
    if not options.json and len(known) < len(truth):
        print(f"scored on the {len(known):,} of {len(truth):,} points whose class is known")
    return Exit.OK


def _matched(
    names: list[str], true_names: list[str], truth: NDArray[np.intp], options: EvaluateOptions
) -> NDArray[np.intp]:
    """Bring the truth into the order of the labels; points it does not name are unknown."""
    classes = dict(
        zip(checked_names(true_names, str(options.id_column), options.truth), truth.tolist(), strict=True)
    )
    matched = np.array([classes.get(name, -1) for name in names], dtype=np.intp)
    if (matched < 0).all():
        raise UsageError(
            f"No {options.id_column!r} of {options.labels} occurs in {options.truth}: {names[0]!r} there, "
            f"{true_names[0]!r} here."
        )
    return matched


def _constraints(options: EvaluateOptions, names: list[str] | None, n_samples: int) -> Constraints | None:
    if options.constraints is None:
        return None
    called = None if names is None else checked_names(names, str(options.id_column), options.labels)
    points = Points(np.empty((n_samples, 0)), Path(options.labels), names=called)
    return read_named_constraints(
        options.constraints,
        points,
        options.on_conflict,
        unknown=unknown_values(options.unknown),
        encoding=options.encoding,
    )


# How good a clustering is: constraints kept, and agreement with the truth where it is known.
"""Constraints at least this strong are hard ones."""


MAX_LISTED = 1_000_000
"""Labels of many points stand for more pairs than anybody lists; a sample of points is listed instead."""


@dataclass(frozen=True)
class Score:
    """What can be said of a clustering."""

    kept: int
    total: int
    must_kept: int | None
    cannot_kept: int | None
    must_total: int
    cannot_total: int
    ari: float | None = None
    ari_unconstrained: float | None = None

    @property
    def satisfaction(self) -> float:
        """Share of the constraints kept; 1 if there are none."""
        return self.kept / self.total if self.total else 1.0

    def as_dict(self) -> dict[str, Any]:
        """Return the fields by name, and the satisfaction."""
        return {**asdict(self), "satisfaction": self.satisfaction}


@dataclass(frozen=True)
class Violation:
    """A constraint a clustering does not keep."""

    kind: str
    first: int
    second: int
    strength: float
    clusters: tuple[int, int]


def score(labels: NDArray[np.intp], points: Points, constraints: Constraints) -> Score:
    """Score a clustering."""
    free = np.ones(points.n_samples, dtype=bool)
    free[constraints.constrained_points] = False
    must_kept, cannot_kept = _kept_by_kind(labels, constraints)
    return Score(
        kept=round(constraints.satisfaction(labels) * constraints.n_pairs),
        total=constraints.n_pairs,
        must_kept=must_kept,
        cannot_kept=cannot_kept,
        must_total=constraints.n_must_link,
        cannot_total=constraints.n_cannot_link,
        ari=_agreement(labels, points.truth, np.ones_like(free)),
        ari_unconstrained=_agreement(labels, points.truth, free),
    )


def _kept_by_kind(labels: NDArray, constraints: Constraints) -> tuple[int | None, int | None]:
    if constraints.n_pairs > MAX_LISTED:
        return None, None
    must, kept = constraints.strengths > 0, constraints.satisfied_by(labels)
    return int((kept & must).sum()), int((kept & ~must).sum())


def _agreement(labels: NDArray, truth: NDArray | None, chosen: NDArray[np.bool_]) -> float | None:
    if truth is None:
        return None
    scored = chosen & (truth >= 0)
    # Agreement is about pairs of points.
    return float(adjusted_rand_index(truth[scored], labels[scored])) if scored.sum() > 1 else None


def violations(labels: NDArray[np.intp], constraints: Constraints) -> list[Violation]:
    """List the constraints a clustering does not keep, the strongest first.

    Of constraints too many to list, those among a sample of the constrained points are looked at.
    """
    listed = listed_constraints(constraints)
    broken = np.flatnonzero(~listed.satisfied_by(labels))
    pairs, strengths = listed.pairs, listed.strengths
    broken = broken[np.argsort(-np.abs(strengths[broken]), kind="stable")]
    return [_violation(labels, pairs[row], float(strengths[row])) for row in broken]


def listed_constraints(constraints: Constraints, max_pairs: int = MAX_LISTED) -> Constraints:
    """Return constraints few enough to list: the same, or those among a sample of their points."""
    if constraints.n_pairs <= max_pairs:
        return constraints
    n_points = int(np.sqrt(2 * max_pairs))
    rows = np.sort(np.random.default_rng(0).choice(constraints.constrained_points, n_points, replace=False))
    part = constraints.restricted_to(rows)
    return Constraints.from_pairs(
        constraints.n_samples,
        must_link=rows[part.must_link],
        cannot_link=rows[part.cannot_link],
        must_weight=part.strengths[part.strengths > 0],
        cannot_weight=-part.strengths[part.strengths < 0],
        on_conflict="weigh",
    )


def _violation(labels: NDArray[np.intp], pair: NDArray[np.intp], strength: float) -> Violation:
    first, second = (int(end) for end in pair)
    kind = "must-link" if strength > 0 else "cannot-link"
    return Violation(kind, first, second, strength, (int(labels[first]), int(labels[second])))


def hard_violations(found: list[Violation]) -> int:
    """Count the violations of constraints meant without reserve (strength 1 or more)."""
    return sum(abs(violation.strength) >= HARD for violation in found)
