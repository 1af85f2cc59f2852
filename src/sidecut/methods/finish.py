"""The last step of a fit where the links are to be satisfied, whatever the method made of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sidecut.constraints import Constraints
from sidecut.exceptions import ConflictError
from sidecut.labelling import satisfy_links
from sidecut.parameters import check_flag


def refuse_contradictions(estimator: Any, constraints: Constraints) -> None:
    """Refuse, before anything is computed, links that no labels satisfy where all must be satisfied.

    Raises
    ------
    ConflictError
        With the chain of must-links that contradicts a cannot-link, if the estimator is `hard`.
    """
    check_flag("hard", estimator.hard)
    if not estimator.hard or constraints.is_empty:
        return
    conflicts = constraints.conflicts(max_chains=1)
    if conflicts:
        raise ConflictError(
            f"hard=True, but {conflicts[0]} ({constraints.n_conflicts} such in all): no labels satisfy both. "
            "Correct them, call constraints.without_conflicts(), or use hard=False.",
            conflicts,
        )


def finish(estimator: Any, rows: npt.NDArray[np.float64], constraints: Constraints) -> None:
    """Repair `labels_` and remember how, as `repair_`, if the estimator is `hard`; else forget old repairs.

    Parameters
    ----------
    estimator : estimator
        With `hard`, `n_clusters` and `labels_`.
    rows : array of shape (n_samples, n_components)
        What was clustered, for the cost of a change.
    constraints : Constraints
        The links.
    """
    estimator.__dict__.pop("repair_", None)
    if estimator.hard and not constraints.is_empty:
        estimator.labels_, estimator.repair_ = satisfy_links(
            estimator.labels_, rows, constraints, estimator.n_clusters
        )
