"""What the next member of a cluster costs: sizes that are given, bounded, or unknown.

A cluster of n points costs h(n) = Σ_{t<=n} δ(t), where the price δ(t) of the t-th member never falls. The
price is prohibitive outside the bounds; inside it is

    δ_c(t) = τ log(t / (N q_c)),

so that h is τ N times the relative entropy of the sizes to the shares q, up to a constant: uneven sizes are
possible but have to be worth it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sidecut.arrays import FloatArray, IntArray

#: The price that keeps a cluster within its bounds. Scores are of the order of 1.
PROHIBITIVE = 1e6


@dataclass(frozen=True, eq=False)
class SizeRule:
    """The bounds of the sizes of clusters, and how unlike their shares they may be.

    Parameters
    ----------
    n_points : int
        N.
    lower, upper : arrays of shape (n_clusters,)
        The least and the most points of every cluster.
    shares : array of shape (n_clusters,)
        q, positive, with sum 1.
    strength : float
        τ, not negative.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.poisson.sizes import SizeRule
    >>> rule = SizeRule(6, np.array([1, 2]), np.array([4, 6]), np.array([0.5, 0.5]), strength=1.0)
    >>> rule.prices(0).round(2)
    array([-1.0e+06, -4.1e-01,  0.0e+00,  2.9e-01,  1.0e+06,  1.0e+06])
    """

    n_points: int
    lower: IntArray
    upper: IntArray
    shares: FloatArray
    strength: float
    _listed: dict[int, FloatArray] = field(default_factory=dict, repr=False)

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return len(self.lower)

    def scaled(self, factor: float) -> SizeRule:
        """Return the same bounds with τ times a factor."""
        return SizeRule(self.n_points, self.lower, self.upper, self.shares, factor * self.strength)

    def prices(self, cluster: int) -> FloatArray:
        """Return δ(1), ..., δ(N): what each further member of a cluster costs."""
        if cluster not in self._listed:
            self._listed[cluster] = self.price(cluster, np.arange(1, self.n_points + 1))
        return self._listed[cluster]

    def price(self, cluster: int, member: Any) -> Any:
        """Return δ(t) for the t-th member."""
        inside = self.strength * np.log(np.maximum(member, 1) / (self.n_points * self.shares[cluster]))
        too_few, too_many = member <= self.lower[cluster], member > self.upper[cluster]
        return np.where(too_few, -PROHIBITIVE, np.where(too_many, PROHIBITIVE, inside))

    def cost(self, counts: IntArray) -> float:
        """Return Σ_c h_c(n_c) within the bounds, up to a constant: τ Σ_c log(n_c! / (N q_c)^n_c)."""
        return float(
            sum(
                self.price(cluster, np.arange(self.lower[cluster] + 1, count + 1)).sum()
                for cluster, count in enumerate(counts)
            )
        )


def size_rule(
    sizes: Any, n_points: int, n_clusters: int, strength: float, label_counts: IntArray
) -> SizeRule:
    """Return the rule that a parameter `sizes` stands for.

    Parameters
    ----------
    sizes : None, "labels", array of shape (n_clusters,) or array of shape (n_clusters, 2)
        Nothing known; known from labels that were drawn at random; sizes, as numbers that sum to N or as
        shares that sum to 1; or the least and the most points of each cluster, as numbers or shares.
    n_points, n_clusters : int
        N and the number of clusters.
    strength : float
        τ.
    label_counts : array of shape (n_clusters,)
        How many labels each cluster has.

    Raises
    ------
    ValueError
        Naming the sizes, the rule they break and the way out.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.poisson.sizes import size_rule
    >>> size_rule([0.5, 0.25, 0.25], 10, 3, 0.2, np.zeros(3)).upper
    array([5, 3, 2])
    """
    shares = np.full(n_clusters, 1.0 / n_clusters)
    lower: IntArray = np.ones(n_clusters, dtype=np.intp)
    upper: IntArray = np.full(n_clusters, n_points, dtype=np.intp)
    if isinstance(sizes, str):
        # Laplace's rule of succession.
        shares = (label_counts + 1.0) / (label_counts.sum() + n_clusters)
    elif sizes is not None:
        lower, upper = _bounds(np.asarray(sizes, dtype=np.float64), n_points, n_clusters)
    return SizeRule(n_points, lower, upper, shares, strength)


def check_sizes(sizes: Any, n_clusters: Any) -> None:
    """Refuse sizes that make no sense, whatever the data."""
    if sizes is None or (isinstance(sizes, str) and sizes == "labels"):
        return
    wanted = (
        'give None, "labels", one size for each of the n_clusters, or a pair (least, most) for each, as '
        "numbers of points or as shares of all points."
    )
    try:
        numbers = np.asarray(sizes, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"sizes={sizes!r}: {wanted}") from None
    if numbers.shape not in ((n_clusters,), (n_clusters, 2)):
        raise ValueError(f"sizes has shape {numbers.shape} for n_clusters={n_clusters}: {wanted}")
    if not np.isfinite(numbers).all() or (numbers < 0).any():
        raise ValueError(f"sizes={sizes!r} must be finite and not negative: {wanted}")
    if numbers.ndim == 2 and (numbers[:, 0] > numbers[:, 1]).any():
        raise ValueError(f"sizes={sizes!r}: in every pair (least, most) the first must not be the larger.")


def _bounds(numbers: FloatArray, n_points: int, n_clusters: int) -> tuple[IntArray, IntArray]:
    are_shares = numbers.max() <= 1.0
    if numbers.ndim == 1:
        exact = _rounded_sizes(numbers * (n_points if are_shares else 1), n_points)
        return exact, exact
    counts = numbers * (n_points if are_shares else 1)
    lower = np.maximum(np.ceil(counts[:, 0] - 1e-9), 1).astype(np.intp)
    upper = np.minimum(np.floor(counts[:, 1] + 1e-9), n_points).astype(np.intp)
    if lower.sum() > n_points or upper.sum() < n_points or (lower > upper).any():
        raise ValueError(
            f"no sizes lie within the bounds: the least sum to {lower.sum()}, the most to {upper.sum()}, and "
            f"there are {n_points} points, at least one in each of {n_clusters} clusters. Widen the bounds."
        )
    return lower, upper


def _rounded_sizes(sizes: FloatArray, n_points: int) -> IntArray:
    """Return whole sizes of at least 1 that sum to N, by the largest remainders."""
    if abs(sizes.sum() - n_points) > 1e-6 * n_points + 0.5:
        raise ValueError(
            f"the sizes sum to {sizes.sum():g}, but there are {n_points} points: sizes must sum to the "
            "number of points, or to 1 if they are shares. Use pairs (least, most) where they are not known "
            "exactly."
        )
    if (sizes < 0.5).any():
        raise ValueError(f"a cluster of size {sizes.min():g} would be empty: every size must be at least 1.")
    whole = np.maximum(np.floor(sizes), 1).astype(np.intp)
    left = n_points - int(whole.sum())
    order = np.argsort(whole - sizes, kind="stable")
    if left < 0:  # Sizes below 1 were raised to 1: the largest give way.
        whole[np.argmax(whole)] += left
    else:
        whole[order[:left]] += 1
    return whole
