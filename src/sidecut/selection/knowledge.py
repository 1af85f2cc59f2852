"""What is known, in the form that folds and scores need."""

from __future__ import annotations

import warnings

from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintWarning


def consistent(constraints: Constraints) -> Constraints:
    """Return the constraints without those that contradict stronger ones.

    No warning: only what is scored is left out. The method is told everything, and has its own say.
    """
    if not constraints.n_conflicts:
        return constraints
    with warnings.catch_warnings(action="ignore", category=ConstraintWarning):
        return constraints.without_conflicts()
