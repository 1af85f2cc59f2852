"""A weight for every feature, learned from links (Xing, Ng, Jordan & Russell, 2002)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from sklearn.utils import check_random_state
from sklearn.utils.sparsefuncs import mean_variance_axis

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintError, ConstraintWarning, ConvergenceWarning, warn

#: Squared lengths of cannot-links are smoothed by this, relative to their mean, where the root has no slope.
SMOOTHING = 1e-14
#: The conditions of a minimum are met when they are violated by less than this, relative to s.
TOLERANCE = 1e-6
MAX_RESTARTS = 20


def learn_diagonal_metric(
    X: Any,
    constraints: Constraints,
    *,
    regularization: float = 1.0,
    max_pairs: int = 10_000,
    random_state: int | np.random.RandomState | None = None,
) -> FloatArray:
    """Return weights of features under which must-links are short and cannot-links long.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        The points.
    constraints : Constraints
        What is known about them. Without cannot-links, all pairs that must-links do not join stand in.
    regularization, max_pairs, random_state
        The parameters of `MetricKMeans`.

    Returns
    -------
    ndarray of shape (n_features,)
        The minimum of g(a) = sᵀa - log Σ √(d_pᵀa), times the number that makes the mean variance of the
        weighted features that of the features.

    Warns
    -----
    ConstraintWarning
        If no two points said to be apart differ: all weights are then 1.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [9.0, 0.1], [0.0, 1.0], [9.0, 1.1]])
    >>> learn_diagonal_metric(X, Constraints.from_labels([0, 0, 1, 1])).round(1)
    array([ 0. , 81.2])
    """
    spread = variances(X)
    must = constraints.must_part().with_diagonal(0.0)
    # An average pair of points differs by 2 var, squared.
    n_must = must.total() / 2
    together = must_spread(X, constraints) + regularization * (n_must or 1.0) * 2 * spread
    pairs, strengths = pairs_apart(constraints, max_pairs, check_random_state(random_state))
    apart = squared_differences(X, pairs)
    matters = np.asarray(apart.sum(axis=0)).ravel() > 0
    if not matters.any():
        warn(
            "no two points that are apart differ in any feature: all features keep the same weight.",
            ConstraintWarning,
        )
        return np.ones(X.shape[1])
    weights = np.zeros(X.shape[1])
    # Features that never differ between points apart would only lengthen must-links: they have no weight.
    weights[matters] = DiagonalProblem(together[matters], apart[:, matters], strengths).solve()
    return weights * (spread.sum() / (weights @ spread))


# Weights of features that make must-links short and cannot-links long (Xing et al., 2002, section 2.1).


@dataclass(frozen=True, eq=False)
class DiagonalProblem:
    """The function g and its derivatives.

    Parameters
    ----------
    together : ndarray of shape (n_features,)
        s, positive.
    apart : array or sparse matrix of shape (m, n_features)
        The squared differences of each cannot-link, at least one of them not zero.
    weights : ndarray of shape (m,)
        How much each cannot-link counts.

    Examples
    --------
    >>> import numpy as np
    >>> problem = DiagonalProblem(np.array([1.0, 4.0]), np.array([[4.0, 0.0]]), np.ones(1))
    >>> problem.solve()
    array([0.5, 0. ])
    """

    together: FloatArray
    apart: Any
    weights: FloatArray

    def value(self, a: FloatArray) -> float:
        """Return g(a)."""
        return float(self.together @ a - np.log(self.weights @ self._lengths(a)))

    def gradient(self, a: FloatArray) -> FloatArray:
        """Return the derivatives of g at a."""
        lengths = self._lengths(a)
        slopes = np.asarray(self.apart.T @ (0.5 * self.weights / lengths))
        return self.together - slopes / (self.weights @ lengths)

    @cached_property
    def _smoothing(self) -> float:
        return SMOOTHING * float((np.asarray(self.apart.mean(axis=0)) / self.together).mean())

    def _lengths(self, a: FloatArray) -> FloatArray:
        return np.sqrt(np.asarray(self.apart @ a) + self._smoothing)

    def solve(self) -> FloatArray:
        """Return the weights a ≥ 0 that minimise g.

        The features are brought to one scale, s_k = 1, which changes the numbers but not the problem.

        Raises
        ------
        ConstraintError
            If some feature varies over cannot-links but over no must-link: g then has no minimum.
        """
        unbounded = np.flatnonzero(self.together <= 0)
        if len(unbounded):
            raise ConstraintError(
                f"feature {unbounded[0]} does not vary over any must-link ({len(unbounded)} do not): its "
                "weight would grow without bound; set regularization > 0, add must-links or leave it out."
            )
        scaled = DiagonalProblem(np.ones_like(self.together), self._rescale(), self.weights)
        a = np.full(len(self.together), 0.5 / len(self.together))
        for _ in range(MAX_RESTARTS):
            a = scaled._descend(a)
            if scaled.optimality(a) <= TOLERANCE:
                break
        else:
            warn(
                f"the metric is not the best: the conditions of a minimum are violated by "
                f"{scaled.optimality(a):.1g}. Scale the features alike, or raise regularization.",
                ConvergenceWarning,
            )
        return a / self.together

    def optimality(self, a: FloatArray) -> float:
        """Return the largest of |a_k g_k| / sᵀa and -g_k / s_k, with g_k the slopes: 0 at the minimum."""
        slopes = self.gradient(a)
        at_rest = float(np.abs(a * slopes).max() / (self.together @ a))
        return max(at_rest, float((-slopes / self.together).max()))

    def _descend(self, a: FloatArray) -> FloatArray:
        """L-BFGS-B from a; it stops where steps gain less than rounding, so a new start may gain more."""
        found = minimize(
            self.value,
            a,
            jac=self.gradient,
            method="L-BFGS-B",
            bounds=[(0.0, None)] * len(a),
            options={"maxiter": 1000, "maxfun": 2000, "ftol": 0.0, "gtol": TOLERANCE / 10, "maxcor": 30},
        )
        # At the minimum sᵀa = ½, by g(ta) = t sᵀa - ½ log t + constant.
        return np.asarray(found.x * (0.5 / (self.together @ found.x)))

    def _rescale(self) -> Any:
        if sparse.issparse(self.apart):
            return sparse.csr_array(self.apart @ sparse.diags_array(1.0 / self.together))
        return self.apart / self.together


# How much linked points differ, feature by feature.


#: How many features are made dense at a time.
BLOCK = 512


def must_spread(X: Any, constraints: Constraints) -> FloatArray:
    """Return Σ q_ij (x_ik - x_jk)² over must-links, for every feature k, without listing pairs.

    With Q the must-links alone and D their row sums this is x_kᵀ (D - Q) x_k, so that labels of c points cost
    c terms, not c².

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        The points.
    constraints : Constraints
        On these points; what they say about cannot-links is not used.

    Examples
    --------
    >>> import numpy as np
    >>> must_spread(np.array([[0.0], [1.0], [3.0]]), Constraints.from_labels([0, 0, 0]))
    array([14.])
    """
    must = constraints.must_part().with_diagonal(0.0)
    spread = np.zeros(X.shape[1])
    if must.n_must_link == 0:
        return spread
    must, points = must.restricted()
    degrees = must.apply(np.ones(len(points)))
    for start in range(0, X.shape[1], BLOCK):
        rows = X[points, start : start + BLOCK]
        rows = (rows.toarray() if sparse.issparse(rows) else rows).astype(np.float64)
        rows -= rows.mean(axis=0)
        terms = rows * (degrees[:, None] * rows - must.apply(rows))
        total = terms.sum(axis=0)
        # What is left of terms that should cancel is rounding.
        noise = 1e-13 * (degrees @ rows**2)
        spread[start : start + BLOCK] = np.where(total > noise, total, 0.0)
    return spread


def variances(X: Any) -> FloatArray:
    """Return the variance of every feature."""
    if sparse.issparse(X):
        return np.asarray(mean_variance_axis(X, axis=0)[1], dtype=np.float64)
    spread = X.var(axis=0, dtype=np.float64)
    # A constant whose mean is rounded has some variance, but no spread.
    return np.where(np.ptp(X, axis=0) > 0, spread, 0.0)


def squared_differences(X: Any, pairs: IntArray) -> Any:
    """Return (x_i - x_j)² for every pair, as rows, sparse where X is."""
    difference = X[pairs[:, 0]] - X[pairs[:, 1]]
    if sparse.issparse(difference):
        return sparse.csr_array(difference).astype(np.float64).power(2)
    return np.asarray(difference, dtype=np.float64) ** 2


def pairs_apart(
    constraints: Constraints, max_pairs: int, rng: np.random.RandomState
) -> tuple[IntArray, FloatArray]:
    """Return cannot-links and their strengths: all, or a random sample of about `max_pairs`.

    Where there are none, pairs that must-links do not join stand in for them, as Xing et al. propose.

    Parameters
    ----------
    constraints : Constraints
        What is known. Labels of many points stand for more pairs than can be listed: then those among some
        of the points are, drawn at random.
    max_pairs : int
        How many pairs are wanted at most.
    rng : RandomState
        Where samples come from.

    Examples
    --------
    >>> import numpy as np
    >>> links = Constraints.from_pairs(9, cannot_link=[(0, 5)], cannot_weight=2.0)
    >>> pairs_apart(links, 10, np.random.RandomState(0))
    (array([[0, 5]]), array([2.]))
    """
    n_apart = constraints.n_cannot_link
    if n_apart == 0:
        return _unjoined(constraints, max_pairs, rng)
    among = np.arange(constraints.n_samples)
    if constraints.n_pairs > 4 * max_pairs:
        known = constraints.constrained_points
        n_kept = max(2, round(len(known) * min(1.0, np.sqrt(max_pairs / n_apart))))
        among = np.sort(rng.choice(known, n_kept, replace=False))
        constraints = constraints.restricted_to(among)
    apart = constraints.strengths < 0
    pairs, strengths = among[constraints.pairs[apart]], -constraints.strengths[apart]
    if len(pairs) > max_pairs:
        kept = np.sort(rng.choice(len(pairs), max_pairs, replace=False))
        pairs, strengths = pairs[kept], strengths[kept]
    return pairs, strengths


def _unjoined(
    constraints: Constraints, max_pairs: int, rng: np.random.RandomState
) -> tuple[IntArray, FloatArray]:
    n, component = constraints.n_samples, constraints.must_link_components()
    if n * (n - 1) // 2 <= max_pairs:
        pairs = np.column_stack(np.triu_indices(n, k=1))
    else:
        pairs = rng.randint(n, size=(max_pairs, 2))
    pairs = pairs[component[pairs[:, 0]] != component[pairs[:, 1]]].astype(np.int64)
    return pairs, np.ones(len(pairs))
