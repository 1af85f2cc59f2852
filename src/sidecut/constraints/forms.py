"""What may stand for constraints in a call: labels as an array, a series or a dictionary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidecut.checks import to_native
from sidecut.constraints.value import Constraints
from sidecut.exceptions import ConstraintError

ONE_FOR_EACH = "give one label for each row of X, None where the class is unknown, or a dict of row and label"
FROM_PAIRS = (
    "Pairs become constraints by Constraints.from_pairs(n_samples, must_link=..., cannot_link=...), "
    "labels by Constraints.from_labels(y)."
)


def as_constraints(given: Any, n_samples: int, X: Any = None) -> Constraints:
    """Return constraints that are given as they are, or as labels of rows; empty ones for None.

    A dictionary or a series names rows by the index of X, where X is a frame that has one.
    """
    if given is None:
        return Constraints.none(n_samples)
    if isinstance(given, Constraints):
        return given
    given = to_native(given)
    index = getattr(X, "index", None) if hasattr(X, "iloc") else None
    if isinstance(given, Mapping):
        return Constraints.from_labels(_placed(list(given), list(given.values()), n_samples, index))
    if index is not None and hasattr(given, "index") and hasattr(given, "iloc") and given.ndim == 1:
        placed = _placed(list(given.index), given.tolist(), n_samples, index)
        # Whole numbers with gaps are floats in pandas: 3.0 is the class 3.
        return Constraints.from_labels(placed.astype(float) if given.dtype.kind == "f" else placed)
    refuse_other_forms(given)
    if len(given) != n_samples:
        raise ConstraintError(
            f"constraints has {len(given)} labels for {n_samples} rows of X: {ONE_FOR_EACH}. {FROM_PAIRS}"
        )
    return Constraints.from_labels(given)


def refuse_other_forms(given: Any) -> None:
    """Refuse what is neither constraints nor labels of rows; how many rows there are need not be known."""
    if given is None or isinstance(given, Constraints | Mapping):
        return
    if isinstance(given, str | bytes) or np.ndim(given) != 1:
        shape = getattr(given, "shape", None)
        said = type(given).__name__ if shape is None else f"{type(given).__name__} of shape {tuple(shape)}"
        raise ConstraintError(f"constraints is a {said}: {ONE_FOR_EACH}. {FROM_PAIRS}")


def _placed(names: list[Any], labels: list[Any], n_samples: int, index: Any) -> NDArray[np.object_]:
    """Return labels in the order of the rows that they name, None for all other rows."""
    rows = list(range(n_samples)) if index is None else list(index)
    place = {name: row for row, name in enumerate(rows)}
    whose = "rows of X are numbered from 0" if index is None else "rows are called by the index of X"
    if len(place) < len(rows):
        twice = next(name for row, name in enumerate(rows) if place[name] != row)
        raise ConstraintError(
            f"The index of X has {twice!r} more than once, so that labels cannot be given by it: give an "
            "array in the order of the rows, as series.to_numpy()."
        )
    placed: NDArray[np.object_] = np.full(n_samples, None, dtype=object)
    for name, label in zip(names, labels, strict=True):
        if name not in place:
            some = ", ".join(repr(one) for one in rows[:3])
            raise ConstraintError(
                f"constraints has a label for {name!r}, but no row of X is called so; {whose} ({some}, ...). "
                f"An array goes by the order of the rows. {FROM_PAIRS}"
            )
        placed[place[name]] = label
    if len(set(names)) < len(names):
        raise ConstraintError("constraints names a row more than once: keep one label for each.")
    return placed
