"""``sidecut evaluate``: labels against the truth and the constraints."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sidecut.cli.errors import OK, UsageError
from sidecut.cli.knowledge import read_named_constraints, unknown_values
from sidecut.cli.options import EvaluateOptions
from sidecut.cli.outputs import read_labels
from sidecut.cli.points import Points, checked_names
from sidecut.cli.tables import TextFormat
from sidecut.constraints import Constraints
from sidecut.evaluation import evaluate

__all__ = ["run"]


def run(options: EvaluateOptions) -> int:
    """Print how well labels agree with the truth.

    Parameters
    ----------
    options : EvaluateOptions
        What was asked for.

    Returns
    -------
    int
        Exit code.
    """
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
    return OK


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
