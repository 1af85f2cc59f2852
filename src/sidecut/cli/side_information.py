"""What is known beforehand: a constraints file, a label column, or both."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Sequence
from pathlib import Path

from sidecut.cli.errors import UsageError
from sidecut.cli.inputs import existing_file
from sidecut.cli.points import Points, position_of
from sidecut.constraints import Conflict, Constraints
from sidecut.constraints.files import read_constraints
from sidecut.exceptions import ConflictError, ConstraintError

__all__ = ["conflict_words", "known_constraints", "read_named_constraints"]

_HEADINGS = {"strength", "kind", "weight", "label"}


def known_constraints(points: Points, path: Path | None, on_conflict: str = "raise") -> Constraints:
    """Unite what a constraints file and a label column say.

    Parameters
    ----------
    points : Points
        The points, perhaps partly labelled.
    path : Path or None
        A constraints file.
    on_conflict : {"raise", "drop", "weigh"}
        What to do with contradictions.

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
            known = Constraints.from_labels(points.known_labels)
        if path is None:
            return known
        return known.merged_with(read_named_constraints(path, points, on_conflict), on_conflict)
    except ConflictError as error:
        raise UsageError(_contradiction(error.conflicts, points, path)) from error


def read_named_constraints(path: Path, points: Points, on_conflict: str = "raise") -> Constraints:
    """Read a constraints file that calls points by name, if they have names, or by row number.

    Parameters
    ----------
    path : Path
        The file.
    points : Points
        The points it is about.
    on_conflict : {"raise", "drop", "weigh"}
        What to do with contradictions.

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
    if points.names is None:
        return _read_numbered(path, points, on_conflict)
    text = _numbered(path, points)
    with tempfile.TemporaryDirectory() as directory:
        numbered = Path(directory) / path.name
        numbered.write_text(text, encoding="utf-8")
        try:
            return read_constraints(numbered, points.n_samples, on_conflict)
        except ConflictError:
            raise
        except ConstraintError as error:
            # The lines correspond one to one, so the message holds for the file the user knows.
            raise UsageError(str(error).replace(str(numbered), str(path))) from error


def _read_numbered(path: Path, points: Points, on_conflict: str) -> Constraints:
    try:
        return read_constraints(path, points.n_samples, on_conflict)
    except ConflictError:
        raise
    except ConstraintError as error:
        hint = "its points seem to be called by name: say which column holds the names with --id-column"
        raise UsageError(f"{error} ({hint})" if _calls_by_name(path) else str(error)) from error


def _calls_by_name(path: Path) -> bool:
    with path.open(encoding="utf-8-sig", newline="") as file:
        firsts = [row[0].strip() for row in csv.reader(file) if row and not row[0].startswith("#")]
    return any(not first.lstrip("-").isdecimal() for first in firsts[1:])


def _numbered(path: Path, points: Points) -> str:
    """Rewrite a constraints file line by line, row numbers in the place of names."""
    positions = points.positions()
    output = io.StringIO()
    writer = csv.writer(output, lineterminator="\n")
    with path.open(encoding="utf-8-sig", newline="") as file:
        for line in file:
            text = line.strip()
            cells = [cell.strip() for cell in next(csv.reader([text]), [])]
            if not text or text.startswith("#"):
                output.write(f"{text}\n")
            elif _is_heading(cells):
                writer.writerow(_plain_heading(cells))
            else:
                ends = min(len(cells) - 1, 2) or 1
                rows = [str(position_of(cell, positions, points.source)) for cell in cells[:ends]]
                writer.writerow([*rows, *cells[ends:]])
    return output.getvalue()


def _is_heading(cells: Sequence[str]) -> bool:
    return any(cell.lower() in _HEADINGS for cell in cells[1:])


def _plain_heading(cells: Sequence[str]) -> list[str]:
    # People head the first columns with whatever their points are called: name, city, node, ...
    ends = ["i"] if cells[1].lower() == "label" else ["i", "j"]
    return [*ends, *(cell.lower() for cell in cells[len(ends) :])]


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
