"""The most likely labels of a mixture under which the links hold."""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt

from sidecut.baselines.lumps import Lumps, lump_together
from sidecut.baselines.mixture import Mixture
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintWarning, InfeasibleError
from sidecut.labelling import Repair
from sidecut.labelling.colouring import colour

FloatArray = npt.NDArray[np.float64]
Labels = npt.NDArray[np.intp]

#: The search for labels that satisfy every link gives up after so many steps.
HARD_STEPS = 100_000
NO_PAIRS = np.empty((0, 2), dtype=np.int64)


def satisfy_likely(
    X: FloatArray, mixture: Mixture, labels: Labels, constraints: Constraints
) -> tuple[Labels, Repair]:
    """Change labels of linked points to the most likely ones that satisfy the links.

    `sidecut.labelling.satisfy_links` asks what a change costs in squared distances, which says little where
    clusters have different covariances. Here it costs what it costs in likelihood.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The points.
    mixture : Mixture
        What was fitted to them.
    labels : ndarray of shape (n_samples,)
        The most likely labels, links aside.
    constraints : Constraints
        The links.

    Returns
    -------
    labels : ndarray of intp
        Labels that satisfy all must-links, and cannot-links as far as `repair` says.
    repair : Repair
        What changed, and what it cost in squares.

    Raises
    ------
    ConflictError
        If a chain of must-links contradicts a cannot-link.

    Warns
    -----
    ConstraintWarning
        If cannot-links remain violated, with those that make it impossible where that is proved.
    """
    lumps = lump_together(constraints)
    costs = -mixture.scores(X, lumps)
    clusters = costs.argmin(axis=1)
    is_least, core = True, NO_PAIRS
    if len(lumps.linked):
        clusters[lumps.linked], is_least, core = _assigned(costs[lumps.linked], lumps)
    known = constraints.constrained_points
    repaired = labels.copy()
    repaired[known] = clusters[lumps.of_point[known]]
    repair = Repair(
        moved=np.flatnonzero(repaired != labels),
        cost=_squares(X, repaired, mixture) - _squares(X, labels, mixture),
        cost_before=_squares(X, labels, mixture),
        violated_before=_n_violated(constraints, labels),
        violated=_n_violated(constraints, repaired),
        is_least=is_least,
        core=core,
    )
    return repaired, repair


def _assigned(costs: FloatArray, lumps: Lumps) -> tuple[npt.NDArray[np.int64], bool, npt.NDArray[np.int64]]:
    """The cheapest clusters of linked lumps, whether they violate least, and the pairs to blame."""
    try:
        return lumps.assigner(costs.shape[1], HARD_STEPS).assign(costs), True, NO_PAIRS
    except InfeasibleError as error:
        colouring = colour(costs, lumps.graph.edges, lumps.strengths)
        warnings.warn(f"some cannot-links remain violated: {error}", ConstraintWarning, stacklevel=5)
        core = NO_PAIRS if error.cannot_link is None else np.asarray(error.cannot_link)
        return colouring.colours, colouring.is_least, core


def _squares(X: FloatArray, labels: Labels, mixture: Mixture) -> float:
    return float(np.square(X - mixture.gaussians.means[labels]).sum())


def _n_violated(constraints: Constraints, labels: Labels) -> int:
    return round(constraints.n_pairs * (1.0 - constraints.satisfaction(labels)))
