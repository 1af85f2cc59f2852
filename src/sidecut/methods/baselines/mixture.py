"""Gaussian mixtures of chunklets: expectation and maximisation, and where to begin.

Shental, Bar-Hillel, Hertz & Weinshall (2003): points known to share a label are one draw of a label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from sidecut.arrays import FloatArray
from sidecut.exceptions import InfeasibleError
from sidecut.methods.baselines.lloyd import WeightedPoints, run_lloyd, spread_centres
from sidecut.methods.baselines.mean_field import MeanField
from sidecut.methods.baselines.must_linked_sets import MustLinkedSets

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

    def scores(self, X: FloatArray, sets: MustLinkedSets) -> FloatArray:
        """Return log α_l + Σ_i log p(x_i | l) of every chunklet and Gaussian."""
        return log_shares(self.weights) + sets.summed(self.gaussians.log_densities(X))


def log_shares(weights: FloatArray) -> FloatArray:
    """Return the logarithms of shares, without a warning for those that vanished."""
    return np.log(np.maximum(weights, 1e-300))


def maximize(
    X: FloatArray, sets: MustLinkedSets, beliefs: FloatArray, kind: CovarianceType, reg: float
) -> tuple[FloatArray, Gaussians]:
    """Return the shares and Gaussians that are most likely under given beliefs: the M step.

    Every chunklet is one draw of a label, so shares are means over chunklets; every point is one draw
    from the Gaussian of that label, so Gaussians are means over points (Shental et al. 2003, section 2).
    """
    mass = beliefs.sum(axis=0) + 10 * np.finfo(np.float64).eps
    return mass / mass.sum(), most_likely(X, beliefs[sets.of_point], kind, reg)


def run_em(
    X: FloatArray,
    sets: MustLinkedSets,
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
    sets : MustLinkedSets
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
    mixture = Mixture(*maximize(X, sets, beliefs, kind, reg), beliefs)
    for _ in range(max_iter):
        scores = mixture.scores(X, sets)
        beliefs = field.improve(scores, beliefs)
        bounds.append(field.bound(scores, beliefs) / len(X))
        mixture = Mixture(*maximize(X, sets, beliefs, kind, reg), beliefs, tuple(bounds))
        if len(bounds) > 1 and abs(bounds[-1] - bounds[-2]) < tol:
            return _with_last_beliefs(X, sets, field, mixture, converged=True)
    return _with_last_beliefs(X, sets, field, mixture, converged=False)


def _with_last_beliefs(
    X: FloatArray, sets: MustLinkedSets, field: MeanField, mixture: Mixture, converged: bool
) -> Mixture:
    """Return the mixture with the beliefs that its own weights and Gaussians give: one more E step."""
    beliefs = field.improve(mixture.scores(X, sets), mixture.beliefs)
    return Mixture(mixture.weights, mixture.gaussians, beliefs, mixture.bounds, converged)


def first_beliefs(
    X: FloatArray, sets: MustLinkedSets, n_clusters: int, n_init: int, rng: np.random.RandomState
) -> list[FloatArray]:
    """Return certain beliefs to begin with: the clusters of k-means, constrained where that is feasible."""
    weights = sets.sizes.astype(np.float64)
    places = sets.summed(X - X.mean(axis=0)) / weights[:, None]
    points = WeightedPoints(places, weights, sets.linked, None)
    if len(sets.linked):
        try:
            assigner = sets.assigner(n_clusters, START_STEPS)
            points = WeightedPoints(places, weights, sets.linked, assigner)
        except InfeasibleError:
            # Penalties need not all be paid: free k-means is a start as well.
            pass
    tol = 1e-4 * float(X.var(axis=0).mean())
    return [
        np.eye(n_clusters)[run_lloyd(points, centres, 100, tol).clusters]
        for centres in spread_centres(points, n_clusters, n_init, rng)
    ]


# Gaussians of a mixture: their densities, and the most likely ones for given responsibilities.

CovarianceType = Literal["full", "tied", "diag", "spherical"]
COVARIANCE_TYPES = ("full", "tied", "diag", "spherical")


@dataclass(frozen=True, eq=False)
class Gaussians:
    """Some Gaussian densities.

    Parameters
    ----------
    means : ndarray of shape (k, d)
        Where they are.
    covariances : ndarray
        By `kind`: "full" (k, d, d), "tied" (d, d), "diag" (k, d), "spherical" (k,).
    kind : {"full", "tied", "diag", "spherical"}
        What the covariances may be.

    Examples
    --------
    >>> import numpy as np
    >>> bell = Gaussians(np.zeros((1, 1)), np.ones(1), "spherical")
    >>> bell.log_densities(np.array([[0.0], [1.0]])).round(4)
    array([[-0.9189],
           [-1.4189]])
    """

    means: FloatArray
    covariances: FloatArray
    kind: CovarianceType

    def log_densities(self, X: FloatArray) -> FloatArray:
        """Return the logarithm of every density at every point, shape (n, k)."""
        n_features = X.shape[1]
        result = np.empty((len(X), len(self.means)))
        for number, mean in enumerate(self.means):
            distance, half_log_det = self._whiten(X - mean, number)
            result[:, number] = -0.5 * (distance + n_features * np.log(2 * np.pi)) - half_log_det
        return result

    def _whiten(self, difference: FloatArray, number: int) -> tuple[FloatArray, float]:
        """Squared Mahalanobis lengths, and half the logarithm of the determinant of the covariance."""
        if self.kind in ("diag", "spherical"):
            variances = np.broadcast_to(self.covariances[number], difference.shape[1:])
            # A variance that rounding of the mean alone explains is none.
            rounding = np.square(100 * np.finfo(np.float64).eps * self.means[number])
            _refuse_degenerate(bool((variances <= rounding).any()), number)
            return (difference**2) @ (1.0 / variances), 0.5 * float(np.log(variances).sum())
        covariance = self.covariances if self.kind == "tied" else self.covariances[number]
        factor = _cholesky(covariance, number)
        white = solve_triangular(factor, difference.T, lower=True)
        return np.einsum("dn,dn->n", white, white), float(np.log(np.diag(factor)).sum())


def _cholesky(covariance: FloatArray, number: int) -> FloatArray:
    try:
        return cholesky(covariance, lower=True)
    except LinAlgError:
        _refuse_degenerate(True, number)
        raise


def _refuse_degenerate(is_degenerate: bool, number: int) -> None:
    if is_degenerate:
        raise ValueError(
            f"component {number} has all but no spread in some direction: raise reg_covar, choose fewer "
            "n_clusters or covariance_type='diag', or scale the features."
        )


def most_likely(X: FloatArray, responsibilities: FloatArray, kind: CovarianceType, reg: float) -> Gaussians:
    """Return the Gaussians under which the points are most likely: the M step.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The points.
    responsibilities : ndarray of shape (n, k)
        To which degree each point belongs to each Gaussian.
    kind : {"full", "tied", "diag", "spherical"}
        What the covariances may be.
    reg : float
        Added to the variances.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [2.0], [9.0]])
    >>> two = most_likely(X, np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), "diag", 0.5)
    >>> two.means.ravel(), two.covariances.ravel()
    (array([1., 9.]), array([1.5, 0.5]))
    """
    # An empty Gaussian must not be a division by zero.
    mass = responsibilities.sum(axis=0) + 10 * np.finfo(np.float64).eps
    means = (responsibilities.T @ X) / mass[:, None]
    if kind == "full":
        covariances = np.stack(
            [_scatter(X - mean, r) / m for mean, r, m in zip(means, responsibilities.T, mass, strict=True)]
        )
        return Gaussians(means, covariances + reg * np.eye(X.shape[1]), kind)
    if kind == "tied":
        scatter = sum(_scatter(X - mean, r) for mean, r in zip(means, responsibilities.T, strict=True))
        return Gaussians(means, scatter / mass.sum() + reg * np.eye(X.shape[1]), kind)
    variances = np.stack(
        [(r @ (X - mean) ** 2) / m for mean, r, m in zip(means, responsibilities.T, mass, strict=True)]
    )
    variances += reg
    return Gaussians(means, variances if kind == "diag" else variances.mean(axis=1), kind)


def _scatter(difference: FloatArray, weights: FloatArray) -> FloatArray:
    return np.asarray((difference.T * weights) @ difference)
