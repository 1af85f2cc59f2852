"""``sidecut evaluate``: labels against the truth and the constraints."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sidecut.cli.errors import OK, UsageError
from sidecut.cli.outputs import read_labels
from sidecut.cli.points import Points, checked_names
from sidecut.cli.side_information import read_named_constraints
from sidecut.constraints import Constraints
from sidecut.evaluation import evaluate

__all__ = ["run"]


def run(args: Namespace) -> int:
    """Print how well labels agree with the truth.

    Parameters
    ----------
    args : Namespace
        The parsed command line.

    Returns
    -------
    int
        Exit code.
    """
    labels, names = read_labels(args.labels, args.column, args.id_column, args.header)
    truth, true_names = read_labels(args.truth, args.truth_column, args.id_column, args.header)
    if names is not None and true_names is not None:
        truth = _matched(names, true_names, truth, args)
    elif len(labels) != len(truth):
        raise UsageError(
            f"{args.labels} has {len(labels)} labels and {args.truth} has {len(truth)}; give both in the "
            "same order, "
            "or match them by name with --id-column."
        )
    constraints = _constraints(args, names, len(labels))
    known = np.flatnonzero(truth >= 0)
    if len(known) < 2:
        raise UsageError(f"{args.truth} knows the classes of {len(known)} points; scores need at least two.")
    restricted = None if constraints is None else constraints.restricted_to(known)
    scores = evaluate(truth[known], labels[known], restricted)
    print(json.dumps(scores.to_dict()) if args.json else scores)
    if not args.json and len(known) < len(truth):
        print(f"scored on the {len(known):,} of {len(truth):,} points whose class is known")
    return OK


def _matched(
    names: list[str], true_names: list[str], truth: NDArray[np.intp], args: Namespace
) -> NDArray[np.intp]:
    """Bring the truth into the order of the labels; points it does not name are unknown."""
    classes = dict(zip(checked_names(true_names, args.id_column, args.truth), truth.tolist(), strict=True))
    matched = np.array([classes.get(name, -1) for name in names], dtype=np.intp)
    if (matched < 0).all():
        raise UsageError(
            f"No {args.id_column!r} of {args.labels} occurs in {args.truth}: {names[0]!r} there, "
            f"{true_names[0]!r} here."
        )
    return matched


def _constraints(args: Namespace, names: list[str] | None, n_samples: int) -> Constraints | None:
    if args.constraints is None:
        return None
    called = None if names is None else checked_names(names, args.id_column, args.labels)
    points = Points(np.empty((n_samples, 0)), Path(args.labels), names=called)
    return read_named_constraints(args.constraints, points, args.on_conflict)
