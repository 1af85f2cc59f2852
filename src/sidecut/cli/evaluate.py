"""``sidecut evaluate``: labels against the truth and the constraints."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidecut.cli.console import Exit, UsageError
from sidecut.cli.inputs import read_named_constraints, unknown_values
from sidecut.cli.options import EvaluateOptions
from sidecut.cli.outputs import read_labels
from sidecut.cli.preparation import Points, checked_names
from sidecut.cli.reading import TextFormat
from sidecut.constraints import Constraints
from sidecut.evaluation import adjusted_rand_index, evaluate

#: Pairs above this number are counted without listing them; those of a sample of points are listed instead.
MAX_LISTED = 1_000_000


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
    known = np.flatnonzero(truth >= 0)
    if len(known) < 2:
        raise UsageError(
            f"{options.truth} knows the classes of {len(known)} points; scores need at least two."
        )
    constraints = None
    if options.constraints is not None:
        called = None if names is None else checked_names(names, str(options.id_column), options.labels)
        constraints = read_named_constraints(
            options.constraints,
            Points(np.empty((len(labels), 0)), options.labels, names=called),
            options.on_conflict,
            unknown=unknown,
            encoding=options.encoding,
        ).restricted_to(known)
    scores = evaluate(truth[known], labels[known], constraints)
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


@dataclass(frozen=True)
class Score:
    """How many constraints a clustering satisfies, and its agreement with the truth where that is known."""

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
        """Share of the constraints that are satisfied; 1 if there are none."""
        return self.kept / self.total if self.total else 1.0

    def as_dict(self) -> dict[str, Any]:
        """Return the fields by name, and the satisfaction."""
        return {**asdict(self), "satisfaction": self.satisfaction}


@dataclass(frozen=True)
class Violation:
    """A constraint that a clustering does not satisfy."""

    kind: str
    first: int
    second: int
    strength: float
    clusters: tuple[int, int]


def score(labels: NDArray[np.intp], points: Points, constraints: Constraints) -> Score:
    """Score a clustering."""
    free = np.ones(points.n_samples, dtype=bool)
    free[constraints.constrained_points] = False
    must_kept = cannot_kept = None
    if constraints.n_pairs <= MAX_LISTED:
        must, kept = constraints.strengths > 0, constraints.satisfied_by(labels)
        must_kept, cannot_kept = int((kept & must).sum()), int((kept & ~must).sum())
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


def _agreement(labels: NDArray, truth: NDArray | None, chosen: NDArray[np.bool_]) -> float | None:
    if truth is None:
        return None
    scored = chosen & (truth >= 0)
    # Agreement is about pairs of points.
    return float(adjusted_rand_index(truth[scored], labels[scored])) if scored.sum() > 1 else None


def violations(labels: NDArray[np.intp], constraints: Constraints) -> list[Violation]:
    """List the constraints a clustering violates, the strongest first; of too many, those of a sample."""
    listed = listed_constraints(constraints)
    broken = np.flatnonzero(~listed.satisfied_by(labels))
    found = [
        Violation(
            kind="must-link" if strength > 0 else "cannot-link",
            first=first,
            second=second,
            strength=strength,
            clusters=(int(labels[first]), int(labels[second])),
        )
        for (first, second), strength in zip(
            listed.pairs[broken].tolist(), listed.strengths[broken].tolist(), strict=True
        )
    ]
    return sorted(found, key=lambda violation: -abs(violation.strength))


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
