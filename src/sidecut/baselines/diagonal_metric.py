"""Weights of features that make must-links short and cannot-links long (Xing et al., 2002, section 2.1).

With s_k the sum of squared differences in feature k over must-links, and d_p the squared differences of a
cannot-link p, the weights a ≥ 0 minimise

    g(a) = sᵀa - log Σ_p w_p √(d_pᵀa).

Roots of linear functions are concave, a sum of them is, and so is its logarithm: g is convex.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from sidecut.exceptions import ConstraintError

FloatArray = npt.NDArray[np.float64]

#: Squared lengths of cannot-links are smoothed by this, relative to their mean, where the root has no slope.
SMOOTHING = 1e-14
#: The conditions of a minimum are met when they are violated by less than this, relative to s.
TOLERANCE = 1e-6
MAX_RESTARTS = 20


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
        scaled = DiagonalProblem(np.ones_like(self.together), self._rescaled(), self.weights)
        a = np.full(len(self.together), 0.5 / len(self.together))
        for _ in range(MAX_RESTARTS):
            a = scaled._descend(a)
            if scaled.optimality(a) <= TOLERANCE:
                break
        else:
            warnings.warn(
                f"the metric is not the best: the conditions of a minimum are violated by "
                f"{scaled.optimality(a):.1g}. Scale the features alike, or raise regularization.",
                ConvergenceWarning,
                stacklevel=4,
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

    def _rescaled(self) -> Any:
        if sparse.issparse(self.apart):
            return sparse.csr_array(self.apart @ sparse.diags_array(1.0 / self.together))
        return self.apart / self.together
