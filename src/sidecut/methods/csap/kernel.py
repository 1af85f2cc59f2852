"""The covariance of a Gaussian process after links were observed (Lu & Carreira-Perpiñán, 2008, eqs. 2-8).

A must-link observes f_i - f_j, a cannot-link f_i + f_j, each with noise of variance ε². Conditioned on them,
the covariance K becomes K̄ = (K⁻¹ + M)⁻¹ with M = Σ a aᵀ / ε² (eq. 3), where a = e_i - e_j or e_i + e_j.
Everything here uses the form K̄ = K - K E (EᵀKE + diag ε²)⁻¹ EᵀK, whose matrices are as small as the links
are few, and never K⁻¹: kernels that are smooth have none in floating point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cholesky, eigh, solve_triangular
from scipy.optimize import minimize

from sidecut.checks import FloatArray, IntArray
from sidecut.exceptions import ConstraintWarning, warn


@dataclass(frozen=True)
class Observations:
    """Linear observations aᵀf = 0, each with some variance, of a Gaussian process at c points."""

    directions: FloatArray
    variances: FloatArray

    @property
    def size(self) -> int:
        """How many there are."""
        return int(self.variances.size)

    def thin_directions(self) -> Any:
        """The directions as a sparse array where most entries are zero, as those of single links are."""
        share = np.count_nonzero(self.directions) / max(self.directions.size, 1)
        return sp.csc_array(self.directions) if share < 0.1 else self.directions

    def covariance(self, kernel: FloatArray) -> FloatArray:
        """Return EᵀKE, the covariance of what is observed, K being the kernel at the c points."""
        return self.directions.T @ kernel @ self.directions


def observe_links(
    n_points: int, pairs: npt.ArrayLike, eps: float | FloatArray, sign: int, merge: bool = True
) -> Observations:
    """Return what links observe: e_i - e_j for must-links (sign -1), e_i + e_j for cannot-links (sign 1)."""
    # More links than points are merged: M = Σ a aᵀ / ε² is a matrix on the points, and its eigenvectors, with
    # variances one over its eigenvalues, are observations that say exactly the same. Labels of c points are
    # so c observations and not c².
    ends = np.asarray(pairs, dtype=np.intp).reshape(-1, 2)
    variances = np.broadcast_to(np.square(np.asarray(eps, dtype=np.float64)), len(ends)).copy()
    if merge and len(ends) > n_points:
        return _merge(n_points, ends, variances, sign)
    directions = np.zeros((n_points, len(ends)))
    links = np.arange(len(ends))
    directions[ends[:, 0], links] = 1.0
    directions[ends[:, 1], links] = sign
    return Observations(directions, variances)


def _merge(n_points: int, ends: IntArray, variances: FloatArray, sign: int) -> Observations:
    """Return the eigenvectors of M that are not zero, as observations."""
    # Relative to the smallest variance, so that the smallest ε there is cannot overflow.
    unit = variances.min()
    weights = unit / variances
    M = np.zeros((n_points, n_points))
    np.add.at(M, (ends[:, 0], ends[:, 1]), sign * weights)
    M += M.T
    M[np.diag_indices(n_points)] = np.bincount(ends.ravel(), np.repeat(weights, 2), minlength=n_points)
    values, vectors = eigh(M)
    # Smaller eigenvalues are rounding: the links say nothing in that direction.
    kept = values > 1e-12 * values[-1]
    return Observations(vectors[:, kept], unit / values[kept])


def downdate_factor(columns: Any, points: IntArray, seen: Observations) -> FloatArray:
    """Return F with K̄ = K - F Fᵀ, the downdate of the covariance by observations at some points (eq. 2)."""
    directions = seen.thin_directions()
    carried = columns @ directions
    covariance = directions.T @ carried[points]
    if sp.issparse(carried):
        carried, covariance = carried.toarray(), covariance.toarray()
    covariance = 0.5 * (covariance + covariance.T)
    noise = _floor(seen.variances, columns, points)
    covariance[np.diag_indices_from(covariance)] += noise
    try:
        root = cholesky(covariance, lower=True)
    except LinAlgError:
        # Rounding in K can exceed the smallest noise; eigenvalues are then held at that noise.
        values, vectors = eigh(covariance)
        return carried @ (vectors / np.sqrt(np.maximum(values, noise.min())))
    return solve_triangular(root, carried.T, lower=True).T


def rival_updates(
    columns: Any, points: IntArray, seen: Observations, downdate: FloatArray | None = None
) -> FloatArray:
    """Return u_k with K - u_k u_kᵀ the covariance after the k-th observation alone (Algorithm B, step 1b)."""
    directions = seen.thin_directions()
    carried = columns @ directions
    carried = carried.toarray() if sp.issparse(carried) else np.asarray(carried)
    if downdate is not None:
        carried -= downdate @ (directions.T @ downdate[points]).T
    own = np.einsum("pk,pk->k", seen.directions, carried[points])
    return carried / np.sqrt(np.maximum(own, 0.0) + _floor(seen.variances, columns, points))


def _floor(variances: FloatArray, columns: Any, points: IntArray) -> FloatArray:
    """Return the variances, none below what floating point can tell from zero beside K."""
    largest = columns[points].diagonal().max(initial=0.0)
    return np.maximum(variances, 1e-13 * largest)


def condition_kernel(
    K: npt.ArrayLike,
    must_link: npt.ArrayLike = (),
    cannot_link: npt.ArrayLike = (),
    eps_must: float | FloatArray = 1e-5,
    eps_cannot: float | FloatArray = 1e-5,
) -> FloatArray:
    """Return K̄ = (K⁻¹ + M)⁻¹, the covariance once all links are observed (eqs. 2 and 3)."""
    K = np.asarray(K, dtype=np.float64)
    must = observe_links(len(K), must_link, eps_must, sign=-1)
    cannot = observe_links(len(K), cannot_link, eps_cannot, sign=1)
    both = join_points(must, cannot)
    factor = downdate_factor(K, np.arange(len(K)), both)
    return K - factor @ factor.T


def join_points(first: Observations, second: Observations) -> Observations:
    """Return the observations of both."""
    return Observations(
        np.hstack([first.directions, second.directions]), np.concatenate([first.variances, second.variances])
    )


def equivalent_kernel(K: npt.ArrayLike, link: tuple[int, int], kind: str, eps: float = 0.0) -> FloatArray:
    """Return the kernel that one link makes of K, in closed form (eqs. 6 to 8 and table 1).

    A hard must-link between points 1 and 2 makes K'_ij = K_ij - (K_i1 - K_i2)(K_j1 - K_j2) / (2(1 - K_12)),
    a hard cannot-link the same with plus signs; a soft one the average of K and K' that weighs K by ε². The
    kernel is taken with any diagonal, so 2(1 ∓ K_12) reads K_11 + K_22 ∓ 2K_12; ε is that of eq. 3 (the
    paper's eqs. 6 and 7, which follow eq. 5, hold with ε / √2).
    """
    if kind not in ("must", "cannot"):
        raise ValueError(f"kind={kind!r}: choose 'must' or 'cannot'.")
    if not eps >= 0:
        raise ValueError(f"eps={eps!r}: the noise of a link is not negative.")
    K = np.asarray(K, dtype=np.float64)
    first, second = link
    sign = -1.0 if kind == "must" else 1.0
    update = K[:, first] + sign * K[:, second]
    variance = update[first] + sign * update[second]
    if variance + eps**2 <= 0:
        return K.copy()
    return K - np.outer(update, update) / (variance + eps**2)


@dataclass(frozen=True)
class BoundedKernel:
    """The kernel nearest to K in divergence that respects bounds on links."""

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
    """Return the kernel of least divergence from K whose links are within their bounds (appendix A)."""
    K = np.asarray(K, dtype=np.float64)
    alpha, beta = _check("must_bounds", must_bounds), _check("cannot_bounds", cannot_bounds)
    # A bound is the variance of an observation, as ε² is, but one that is met and not added.
    must = observe_links(len(K), must_link, np.sqrt(alpha), sign=-1, merge=False)
    cannot = observe_links(len(K), cannot_link, np.sqrt(beta), sign=1, merge=False)
    both = join_points(must, cannot)
    start = both.covariance(K)
    multipliers, n_sweeps, violation = project_on_links(start, both.variances, tol, max_sweeps)
    kernel = _conditioned(K, both.directions, multipliers)
    return BoundedKernel(
        kernel, 0.5 * multipliers[: must.size], 0.5 * multipliers[must.size :], n_sweeps, violation
    )


def project_on_links(
    covariance: FloatArray, bounds: FloatArray, tol: float = 1e-8, max_sweeps: int = 10_000
) -> tuple[FloatArray, int, float]:
    """Return the multipliers μ that bring the variances of observations within bounds."""
    # With C the covariance of the observations, μ_k is raised by max(1/b_k - 1/C_kk, -μ_k), which meets the
    # k-th bound or lets go of it, and C loses the rank-one matrix that goes with it. Where one round of that
    # is not enough, the dual problem is solved as a whole; further rounds take off what it leaves.
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
            C = _conditioned(covariance, np.eye(len(covariance)), multipliers)
            violation = optimality_gap(C, bounds, multipliers)
    if violation > tol:
        warn(
            f"After {n_sweeps} sweeps the bounds on links are met to {violation:.2g} and not to tol={tol:g}. "
            "Use more max_sweeps, wider bounds, or fewer links.",
            ConstraintWarning,
        )
    return multipliers, n_sweeps, violation


def dual_multipliers(covariance: FloatArray, bounds: FloatArray, start: FloatArray) -> FloatArray:
    """Return the μ ≥ 0 of least bᵀμ - log det(I + B diag(μ) Bᵀ), where C = BᵀB: the dual of eq. 9."""
    # Its derivative is b_k - C̄_kk, how far each variance is below its bound, so that its minimum is where
    # the Karush-Kuhn-Tucker conditions hold. The determinant is of the size of the rank of C, which is no
    # larger than the number of linked points, however many links they have.
    values, vectors = eigh(covariance)
    kept = values > values[-1] * len(values) * np.finfo(np.float64).eps
    B = np.sqrt(values[kept])[:, None] * vectors[:, kept].T

    def dual(scaled: FloatArray) -> tuple[float, FloatArray]:
        # In units of 1/b every derivative is a share of its bound.
        root = cholesky(np.eye(len(B)) + (B * (scaled / bounds)) @ B.T, lower=True)
        left = np.square(solve_triangular(root, B, lower=True)).sum(axis=0)
        return float(scaled.sum() - 2.0 * np.log(np.diagonal(root)).sum()), 1.0 - left / bounds

    scaled = start * bounds
    # Each restart of L-BFGS-B forgets its estimate of the curvature and comes closer.
    for _ in range(4):
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


def optimality_gap(covariance: FloatArray, bounds: FloatArray, multipliers: FloatArray) -> float:
    """Return how far multipliers are from the Karush-Kuhn-Tucker conditions, as a share of the bounds."""
    # No variance exceeds its bound, and one whose multiplier is positive equals it.
    excess = (np.diagonal(covariance) - bounds) / bounds
    gaps = np.where(multipliers > 0, np.abs(excess), np.maximum(excess, 0.0))
    return float(np.max(gaps, initial=0.0))


def _conditioned(K: FloatArray, directions: FloatArray, multipliers: FloatArray) -> FloatArray:
    """Return (K⁻¹ + Σ μ_k a_k a_kᵀ)⁻¹, the links with a multiplier as observations of variance 1/μ_k."""
    active = multipliers > 0
    seen = Observations(directions[:, active], 1.0 / multipliers[active])
    factor = downdate_factor(K, np.arange(len(K)), seen)
    return K - factor @ factor.T


def _check(name: str, bounds: float | npt.ArrayLike) -> FloatArray:
    values = np.asarray(bounds, dtype=np.float64)
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise ValueError(
            f"{name}={bounds!r}: bounds on squared differences must be positive and finite; a hard link has "
            "a small one."
        )
    return values
