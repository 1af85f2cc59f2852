"""Gaussian mixtures of chunklets: expectation and maximisation, and where to begin.

Shental, Bar-Hillel, Hertz & Weinshall (2003): points known to share a label are one draw of a label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sidecut.baselines.gaussians import CovarianceType, Gaussians, most_likely
from sidecut.baselines.lloyd import HeavyPoints, run_lloyd, spread_centres
from sidecut.baselines.lumps import Lumps
from sidecut.baselines.mean_field import MeanField
from sidecut.exceptions import InfeasibleError

FloatArray = npt.NDArray[np.float64]

#: The search for a start that respects all cannot-links gives up after so many steps.
START_STEPS = 10_000


@dataclass(frozen=True, eq=False)
class Mixture:
    """A mixture and what it believes of the chunklets it was fitted to.

    Parameters
    ----------
    weights : ndarray of shape (k,)
        The share of chunklets from each Gaussian.
    gaussians : Gaussians
        The Gaussians.
    beliefs : ndarray of shape (m, k)
        The distribution of the label of each chunklet.
    bounds : tuple of float
        The bound on the log-likelihood per point after each iteration.
    converged : bool
        Whether it came to rest.
    """

    weights: FloatArray
    gaussians: Gaussians
    beliefs: FloatArray
    bounds: tuple[float, ...] = ()
    converged: bool = False

    def scores(self, X: FloatArray, lumps: Lumps) -> FloatArray:
        """Return log α_l + Σ_i log p(x_i | l) of every chunklet and Gaussian."""
        return log_shares(self.weights) + lumps.summed(self.gaussians.log_densities(X))


def log_shares(weights: FloatArray) -> FloatArray:
    """Return the logarithms of shares, without a warning for those that vanished."""
    return np.log(np.maximum(weights, 1e-300))


def maximize(
    X: FloatArray, lumps: Lumps, beliefs: FloatArray, kind: CovarianceType, reg: float
) -> tuple[FloatArray, Gaussians]:
    """Return the shares and Gaussians that are most likely under given beliefs: the M step.

    Every chunklet is one draw of a label, so shares are means over chunklets; every point is one draw
    from the Gaussian of that label, so Gaussians are means over points (Shental et al. 2003, section 2).
    """
    mass = beliefs.sum(axis=0) + 10 * np.finfo(np.float64).eps
    return mass / mass.sum(), most_likely(X, beliefs[lumps.of_point], kind, reg)


def run_em(
    X: FloatArray,
    lumps: Lumps,
    field: MeanField,
    beliefs: FloatArray,
    *,
    kind: CovarianceType = "full",
    reg: float = 1e-6,
    max_iter: int = 100,
    tol: float = 1e-3,
) -> Mixture:
    """Fit a mixture by expectation and maximisation, from given beliefs.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The points.
    lumps : Lumps
        Which points share a label.
    field : MeanField
        Links between their labels.
    beliefs : ndarray of shape (m, k)
        What to believe of each chunklet to begin with.
    kind, reg, max_iter, tol
        The parameters of `ConstrainedGMM`.

    Returns
    -------
    Mixture
        Its bounds never fall, but for what `reg` takes.
    """
    bounds: list[float] = []
    mixture = Mixture(*maximize(X, lumps, beliefs, kind, reg), beliefs)
    for _ in range(max_iter):
        scores = mixture.scores(X, lumps)
        beliefs = field.improve(scores, beliefs)
        bounds.append(field.bound(scores, beliefs) / len(X))
        mixture = Mixture(*maximize(X, lumps, beliefs, kind, reg), beliefs, tuple(bounds))
        if len(bounds) > 1 and abs(bounds[-1] - bounds[-2]) < tol:
            return Mixture(mixture.weights, mixture.gaussians, beliefs, tuple(bounds), True)
    return mixture


def first_beliefs(
    X: FloatArray, lumps: Lumps, n_clusters: int, n_init: int, rng: np.random.RandomState
) -> list[FloatArray]:
    """Return certain beliefs to begin with: the clusters of k-means, constrained where that is feasible."""
    weights = lumps.sizes.astype(np.float64)
    places = lumps.summed(X - X.mean(axis=0)) / weights[:, None]
    points = HeavyPoints(places, weights, lumps.linked, None)
    if len(lumps.linked):
        try:
            assigner = lumps.assigner(n_clusters, START_STEPS)
            points = HeavyPoints(places, weights, lumps.linked, assigner)
        except InfeasibleError:
            # Penalties need not all be paid: free k-means is a start as well.
            pass
    tol = 1e-4 * float(X.var(axis=0).mean())
    return [
        np.eye(n_clusters)[run_lloyd(points, centres, 100, tol).clusters]
        for centres in spread_centres(points, n_clusters, n_init, rng)
    ]
