"""What is known beforehand: a constraints file, a label column, or both."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

from sidecut.cli.errors import UsageError
from sidecut.cli.inputs import existing_file
from sidecut.cli.preparation import Points
from sidecut.cli.tables import in_options
from sidecut.constraints import Conflict, Constraints
from sidecut.constraints.files import read_constraints
from sidecut.exceptions import ConflictError, ConstraintError, ConstraintWarning

__all__ = ["conflict_words", "known_constraints", "read_named_constraints", "unknown_values"]


def unknown_values(given: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return what ``--unknown`` said: nothing, or values; an empty one stands for none beyond empty cells."""
    return None if given is None else tuple(value for value in given if value)


def known_constraints(
    points: Points,
    path: Path | None,
    on_conflict: str = "raise",
    *,
    unknown: tuple[str, ...] | None = None,
    encoding: str | None = None,
) -> Constraints:
    """Unite what a constraints file and a label column say.

    Parameters
    ----------
    points : Points
        The points, perhaps partly labelled.
    path : Path or None
        A constraints file.
    on_conflict : {"raise", "drop", "weigh"}
        What to do with contradictions.
    unknown : tuple of str, optional
        Labels that mean unknown; empty if all are classes.
    encoding : str, optional
        Of the file; UTF-8 if not given.

    Returns
    -------
    Constraints
        Possibly none.

    Raises
    ------
    UsageError
        If they contradict each other and may not, or name points that do not exist.
    """
    try:
        known = Constraints.none(points.n_samples)
        if points.known_labels is not None:
            known = Constraints.from_labels(list(points.known_labels), unknown=())
            if known.is_empty:
                words = f"The label column of {points.source} holds no class: nothing is known from it."
                warnings.warn(words, ConstraintWarning, stacklevel=2)
        if path is None:
            return known
        more = read_named_constraints(path, points, on_conflict, unknown=unknown, encoding=encoding)
        return known.merged_with(more, on_conflict)
    except ConflictError as error:
        raise UsageError(_contradiction(error.conflicts, points, path)) from error


def read_named_constraints(
    path: Path,
    points: Points,
    on_conflict: str = "raise",
    *,
    unknown: tuple[str, ...] | None = None,
    encoding: str | None = None,
) -> Constraints:
    """Read a constraints file that calls points by name, if they have names, or by row number.

    Parameters
    ----------
    path : Path
        The file.
    points : Points
        The points it is about.
    on_conflict : {"raise", "drop", "weigh"}
        What to do with contradictions.
    unknown : tuple of str, optional
        Labels that mean unknown; empty if all are classes.
    encoding : str, optional
        UTF-8 if not given.

    Returns
    -------
    Constraints
        About the rows of the points.

    Raises
    ------
    UsageError
        If the file cannot be understood.
    """
    existing_file(path)
    try:
        return read_constraints(
            path, points.n_samples, on_conflict, names=points.names, unknown=unknown, encoding=encoding
        )
    except ConflictError:
        raise
    except ConstraintError as error:
        hint = (
            " Say which column holds the names with --id-column." if "called by names" in str(error) else ""
        )
        raise UsageError(f"{in_options(str(error))}.{hint}") from error


def conflict_words(conflict: Conflict, points: Points) -> str:
    """Tell a contradiction with the names of its points.

    Examples
    --------
    >>> import numpy as np
    >>> points = Points(np.zeros((3, 1)), Path("p.csv"), names=("ann", "bob", "cat"))
    >>> conflict_words(Conflict(cannot_link=(0, 2), chain=(0, 1, 2), strength=1.0), points)
    'ann and cat cannot be linked, yet must-links join them: ann - bob - cat'
    """
    first, second = (points.name(end) for end in conflict.cannot_link)
    chain = [points.name(point) for point in conflict.chain]
    if len(chain) > 12:
        chain[5:-5] = [f"({len(chain) - 10} more)"]
    return f"{first} and {second} cannot be linked, yet must-links join them: {' - '.join(chain)}"


def _contradiction(conflicts: tuple[Conflict, ...], points: Points, path: Path | None) -> str:
    where = "The labels contradict themselves" if path is None else f"{path} contradicts itself"
    shown = "; ".join(conflict_words(conflict, points) for conflict in conflicts[:3])
    check = "" if path is None else " (sidecut check lists all)"
    return (
        f"{where}: {shown}{check}. Correct them, or go on with --on-conflict drop "
        "(keeps the "
        "strongest) or --on-conflict weigh (keeps all as beliefs)."
    )
