"""Gaussians of a mixture: their densities, and the most likely ones for given responsibilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.linalg import LinAlgError, cholesky, solve_triangular

FloatArray = npt.NDArray[np.float64]
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
            distance, half_log_det = self._whitened(X - mean, number)
            result[:, number] = -0.5 * (distance + n_features * np.log(2 * np.pi)) - half_log_det
        return result

    def _whitened(self, difference: FloatArray, number: int) -> tuple[FloatArray, float]:
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
