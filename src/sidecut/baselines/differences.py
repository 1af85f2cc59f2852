"""How much linked points differ, feature by feature."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from sidecut.constraints import Constraints

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

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
