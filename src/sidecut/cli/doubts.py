"""Labels and links that look wrong, in the user's own names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sidecut.cli.errors import UsageError
from sidecut.cli.inputs import read_points
from sidecut.cli.points import Points
from sidecut.cli.preparation import Wishes
from sidecut.cli.tables import TABLE_SUFFIXES, ColumnRoles, TextFormat, kind_suffix, read_table
from sidecut.constraints import Constraints
from sidecut.diagnostics import Suspects, find_suspects

__all__ = [
    "MAX_JUDGED",
    "MAX_JUDGED_LINKS",
    "list_suspects",
    "read_features",
    "seek_suspects",
    "tell_suspects",
]

MAX_POINTS = 20_000
"""Beyond so many points suspects are not sought on the way; `find_suspects` can be called by itself."""

MAX_JUDGED, MAX_JUDGED_LINKS = 2_000, 20_000
"""What is known about more points, or by more links, is not judged one by one."""

SHOWN = 10
"""So many are printed."""


def list_suspects(suspects: Suspects | None, points: Points) -> list[dict[str, Any]]:
    """Return every label or link that is more likely wrong than right, the most suspicious first.

    Parameters
    ----------
    suspects : Suspects or None
        The judgement; None if there was none.
    points : Points
        For the names of the points.
    """
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


def tell_suspects(suspects: list[dict[str, Any]], kind: str, total: int) -> list[str]:
    r"""Return lines that name the suspects, each with what was said and the reason.

    Examples
    --------
    >>> found = [{"points": ["p3"], "said": "dog", "score": 0.98, "reason": "7 of the 9 nearest are cats"}]
    >>> print("\n".join(tell_suspects(found, "label", 16)))
    1 label of 16 looks wrong (the chance is given):
      p3, said dog: 7 of the 9 nearest are cats (98 %)
    """
    if not suspects:
        return [f"None of the {total:,} {kind}s looks wrong."] if total else []
    count, verb = len(suspects), "looks" if len(suspects) == 1 else "look"
    lines = [f"{count:,} {kind}{'s' * (count != 1)} of {total:,} {verb} wrong (the chance is given):"]
    lines += [
        f"  {' and '.join(one['points'])}, said {one['said']}: {one['reason']} ({100 * one['score']:.0f} %)"
        for one in suspects[:SHOWN]
    ]
    return lines + ([f"  and {count - SHOWN:,} more (--json lists all)"] if count > SHOWN else [])


def seek_suspects(points: Points, constraints: Constraints, n_clusters: int | None) -> Suspects | None:
    """Judge all that is known by the points; None where that is nothing, or too much.

    Parameters
    ----------
    points : Points
        Features, or a graph.
    constraints : Constraints
        What is known.
    n_clusters : int or None
        How many clusters there are, if that is known.
    """
    n_links = 0 if constraints.labels is not None else constraints.n_pairs
    is_much = len(constraints.constrained_points) > MAX_JUDGED or n_links > MAX_JUDGED_LINKS
    if constraints.is_empty or is_much or points.n_samples > MAX_POINTS or min(points.X.shape) < 1:
        return None
    graph: dict[str, Any] = (
        {"affinity": "precomputed"} if points.is_graph else {"n_neighbors": min(20, points.n_samples - 1)}
    )
    return find_suspects(points.X, constraints, n_clusters=n_clusters, **graph)


def read_features(path: Path, points: Points, id_column: str | None, text: TextFormat) -> Points:
    """Return the points with their numbers, standardised and gaps filled; columns of text are left out."""
    if kind_suffix(path) not in TABLE_SUFFIXES:
        return points
    frame = read_table(path, text, [id_column] if id_column else [])
    from pandas.api.types import is_numeric_dtype

    is_text = [not is_numeric_dtype(frame[column]) for column in frame.columns]
    words = [str(name) for name, is_word in zip(frame.columns, is_text, strict=True) if is_word]
    dropped = tuple(name for name in words if name != id_column)
    if len(dropped) + (id_column is not None) >= len(frame.columns):
        raise UsageError(f"{path} has no column of numbers.")
    roles = ColumnRoles(identity=id_column, drop=dropped)
    read = read_points(path, roles=roles, wishes=Wishes(impute=True, standardize=True), text=text)
    return replace(read, names=points.names)
