"""Links as bounds instead of noise: the kernel nearest to K that respects them (paper's appendix A).

Of all Gaussians with E{(f_i - f_j)²} ≤ α_ij for must-links and E{(f_i + f_j)²} ≤ β_ij for cannot-links, the
one of least divergence from N(0, K) has the covariance K̄ = (K⁻¹ + M)⁻¹ with M = Σ 2λ_k a_k a_kᵀ (eq. 10). The
multipliers λ_k are zero or as large as the k-th bound needs. One at a time they have a closed form, as K̄
then changes by a matrix of rank one. Going through them in turns is slow where many links share few points,
so that after one round the dual problem is solved as a whole, by L-BFGS-B.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.linalg import cholesky, eigh, solve_triangular
from scipy.optimize import minimize

from sidecut.arrays import FloatArray
from sidecut.exceptions import ConstraintWarning, warn
from sidecut.methods.csap.kernel import Observations, join_points, observe_links, spent_factor

#: L-BFGS-B is started again from its own end so often: its memory of the start is gone, and it gets closer.
RESTARTS = 4


@dataclass(frozen=True)
class BoundedKernel:
    """The kernel nearest to K in divergence that respects bounds on links.

    Parameters
    ----------
    kernel : array of shape (n, n)
        K̄.
    must_multipliers, cannot_multipliers : arrays of shape (m,)
        λ_k of eq. 9, not negative, and zero where the bound is slack; 1/(2λ_k) is the ε² of eq. 3.
    n_sweeps : int
        How often all bounds were visited.
    violation : float
        How far the Karush-Kuhn-Tucker conditions are from holding, relative to the bounds.
    """

    kernel: FloatArray
    must_multipliers: FloatArray
    cannot_multipliers: FloatArray
    n_sweeps: int
    violation: float


def minimum_divergence(
    K: npt.ArrayLike,
    must_link: npt.ArrayLike = (),
    must_bounds: float | npt.ArrayLike = 0.01,
    cannot_link: npt.ArrayLike = (),
    cannot_bounds: float | npt.ArrayLike = 0.01,
    *,
    tol: float = 1e-8,
    max_sweeps: int = 10_000,
) -> BoundedKernel:
    """Return the kernel of least divergence from K whose links are within their bounds (appendix A).

    Parameters
    ----------
    K : array of shape (n, n)
        A positive semidefinite kernel.
    must_link, cannot_link : arrays of shape (m, 2)
        The links.
    must_bounds, cannot_bounds : float or array of shape (m,), default=0.01
        α_ij, the most E{(f_i - f_j)²} may be, and β_ij, the most E{(f_i + f_j)²} may be; positive.
    tol : float, default=1e-8
        Stop when every bound is met, and every bound with a multiplier met exactly, to this share.
    max_sweeps : int, default=10_000
        Stop after so many visits of all bounds, with a warning.

    Returns
    -------
    BoundedKernel
        The kernel, with the multipliers that prove it the nearest.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.csap.divergence import minimum_divergence
    >>> near = minimum_divergence(np.eye(3), [(0, 1)], 0.5, [(1, 2)], 9.0)
    >>> near.kernel.round(3)
    array([[0.625, 0.375, 0.   ],
           [0.375, 0.625, 0.   ],
           [0.   , 0.   , 1.   ]])
    >>> near.must_multipliers, near.cannot_multipliers
    (array([0.75]), array([0.]))
    """
    K = np.asarray(K, dtype=np.float64)
    alpha, beta = _check("must_bounds", must_bounds), _check("cannot_bounds", cannot_bounds)
    # A bound is the variance of an observation, as ε² is, but one that is met and not added.
    must = observe_links(len(K), must_link, np.sqrt(alpha), sign=-1, merge=False)
    cannot = observe_links(len(K), cannot_link, np.sqrt(beta), sign=1, merge=False)
    both = join_points(must, cannot)
    start = both.covariance(K)
    multipliers, n_sweeps, violation = project_on_links(start, both.variances, tol, max_sweeps)
    kernel = _kernel_of(K, both.directions, multipliers)
    return BoundedKernel(
        kernel, 0.5 * multipliers[: must.size], 0.5 * multipliers[must.size :], n_sweeps, violation
    )


def project_on_links(
    covariance: FloatArray, bounds: FloatArray, tol: float = 1e-8, max_sweeps: int = 10_000
) -> tuple[FloatArray, int, float]:
    """Return the multipliers μ that bring the variances of observations within bounds.

    With C the covariance of the observations, μ_k is raised by max(1/b_k - 1/C_kk, -μ_k), which meets the
    k-th bound or lets go of it, and C loses the rank-one matrix that goes with it. Where one round of that is
    not enough, the dual problem is solved as a whole; further rounds take off what it leaves.

    Parameters
    ----------
    covariance : array of shape (m, m)
        C = EᵀKE before any bound is imposed.
    bounds : array of shape (m,)
        The most each variance may be.
    tol, max_sweeps
        As in `minimum_divergence`.

    Returns
    -------
    multipliers : array of shape (m,)
        μ, so that M = Σ μ_k a_k a_kᵀ.
    n_sweeps : int
        How often all were visited.
    violation : float
        What is left of the optimality conditions.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.csap.divergence import project_on_links
    >>> project_on_links(np.diag([2.0, 1.0]), np.array([0.5, 4.0]))
    (array([1.5, 0. ]), 1, 0.0)
    """
    C = np.array(covariance, dtype=np.float64)
    multipliers = np.zeros(len(bounds))
    violation = optimality_gap(C, bounds, multipliers)
    n_sweeps = 0
    while violation > tol and n_sweeps < max_sweeps:
        for k in range(len(bounds)):
            if C[k, k] <= 0:
                continue
            step = max(1.0 / bounds[k] - 1.0 / C[k, k], -multipliers[k])
            multipliers[k] += step
            C -= np.outer(C[:, k], C[:, k] * (step / (1.0 + step * C[k, k])))
        n_sweeps += 1
        violation = optimality_gap(C, bounds, multipliers)
        if violation > tol and n_sweeps == 1 < max_sweeps:
            multipliers = dual_multipliers(covariance, bounds, multipliers)
            C = _left_over(covariance, multipliers)
            violation = optimality_gap(C, bounds, multipliers)
    if violation > tol:
        warn(
            f"After {n_sweeps} sweeps the bounds on links are met to {violation:.2g} and not to tol={tol:g}. "
            "Use more max_sweeps, wider bounds, or fewer links.",
            ConstraintWarning,
        )
    return multipliers, n_sweeps, violation


def dual_multipliers(covariance: FloatArray, bounds: FloatArray, start: FloatArray) -> FloatArray:
    """Return the μ ≥ 0 of least bᵀμ - log det(I + B diag(μ) Bᵀ), where C = BᵀB: the dual of eq. 9.

    Its derivative is b_k - C̄_kk, how far each variance is below its bound, so that its minimum is where the
    Karush-Kuhn-Tucker conditions hold. The determinant is of the size of the rank of C, which is no larger
    than the number of linked points, however many links they have.

    Parameters
    ----------
    covariance : array of shape (m, m)
        C.
    bounds : array of shape (m,)
        b.
    start : array of shape (m,)
        Where to start.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.csap.divergence import dual_multipliers
    >>> dual_multipliers(np.diag([2.0, 1.0]), np.array([0.5, 4.0]), np.zeros(2)).round(6)
    array([1.5, 0. ])
    """
    values, vectors = eigh(covariance)
    kept = values > values[-1] * len(values) * np.finfo(np.float64).eps
    B = np.sqrt(values[kept])[:, None] * vectors[:, kept].T

    def dual(scaled: FloatArray) -> tuple[float, FloatArray]:
        # In units of 1/b every derivative is a share of its bound.
        root = cholesky(np.eye(len(B)) + (B * (scaled / bounds)) @ B.T, lower=True)
        left = np.square(solve_triangular(root, B, lower=True)).sum(axis=0)
        return float(scaled.sum() - 2.0 * np.log(np.diagonal(root)).sum()), 1.0 - left / bounds

    scaled = start * bounds
    for _ in range(RESTARTS):
        found = minimize(
            dual,
            scaled,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, None)] * len(bounds),
            options={"maxiter": 5_000, "maxfun": 10_000, "ftol": 0.0, "gtol": 1e-10, "maxcor": 30},
        )
        scaled = found.x
    return np.asarray(scaled / bounds)


def _left_over(covariance: FloatArray, multipliers: FloatArray) -> FloatArray:
    """Return (C⁻¹ + diag(μ))⁻¹, for a C that may be singular."""
    active = multipliers > 0
    seen = Observations(np.eye(len(covariance))[:, active], 1.0 / multipliers[active])
    factor = spent_factor(covariance, np.arange(len(covariance)), seen)
    return covariance - factor @ factor.T


def bounded_alone(variances: FloatArray, bounds: FloatArray) -> FloatArray:
    """Return the multiplier μ that each bound needs if it is the only one: 1/b - 1/v where v exceeds b.

    Parameters
    ----------
    variances : array of shape (m,)
        The variance of every observation before.
    bounds : array of shape (m,)
        The most each may be.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.csap.divergence import bounded_alone
    >>> bounded_alone(np.array([2.0, 1.0]), np.array([0.5, 4.0]))
    array([1.5, 0. ])
    """
    return np.where(variances > bounds, 1.0 / bounds - 1.0 / np.maximum(variances, bounds), 0.0)


def optimality_gap(covariance: FloatArray, bounds: FloatArray, multipliers: FloatArray) -> float:
    """Return how far multipliers are from the Karush-Kuhn-Tucker conditions, as a share of the bounds.

    No variance exceeds its bound, and one whose multiplier is positive equals it.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.csap.divergence import optimality_gap
    >>> optimality_gap(np.diag([1.1, 0.5]), np.array([1.0, 1.0]), np.array([2.0, 0.0])) < 0.11
    True
    """
    excess = (np.diagonal(covariance) - bounds) / bounds
    gaps = np.where(multipliers > 0, np.abs(excess), np.maximum(excess, 0.0))
    return float(np.max(gaps, initial=0.0))


def _kernel_of(K: FloatArray, directions: FloatArray, multipliers: FloatArray) -> FloatArray:
    """Return (K⁻¹ + Σ μ_k a_k a_kᵀ)⁻¹, the links with a multiplier as observations of variance 1/μ_k."""
    active = multipliers > 0
    seen = Observations(directions[:, active], 1.0 / multipliers[active])
    factor = spent_factor(K, np.arange(len(K)), seen)
    return K - factor @ factor.T


def _check(name: str, bounds: float | npt.ArrayLike) -> FloatArray:
    values = np.asarray(bounds, dtype=np.float64)
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise ValueError(
            f"{name}={bounds!r}: bounds on squared differences must be positive and finite; a hard link has "
            "a small one."
        )
    return values
