"""Whether new points are a class that was not there: they are told from old ones by a direction.

A class may lie among old points, so that no neighbour shows it, and still be on one side of a plane through
them. A ridge regression of "is new" on the features finds that direction. Each point is judged by the
regression without it, so that where nothing is new, new points are like others (Lopez-Paz & Oquab, 2017).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import cho_factor, cho_solve
from scipy.stats import poisson

from sidecut.checks import BoolArray, FloatArray, IntArray

#: The penalty of the regression, in means of the squared lengths along the features.
RIDGE = 0.1
#: The greatest excess must be this many standard deviations above that of the random draws.
CLEARLY_MORE = 5.0
#: The regression is made with this many points at most.
MOST_POINTS = 2_000
#: Strangers are the cluster itself, drifted, where so few others came that chance does it this seldom.
DRIFTED = 0.05
N_DRAWS, N_ROUNDS = 99, 20


def points_of_a_new_class(old: Any, new: Any, clusters: IntArray, is_free: BoolArray) -> IntArray:
    """Return the new points that are a class by themselves, as numbers of rows of `new`; often none.

    Parameters
    ----------
    old, new : array or sparse matrix of shapes (n_old, d) and (n_new, d)
        The points, where neighbours were searched for.
    clusters : array of shape (n_old + n_new,)
        The cluster of every point; new ones are in those they would join.
    is_free : array of shape (n_new,)
        The new points that may be strangers; the others take no part.

    Examples
    --------
    One class is new, and overlaps with the other. Ten usual points came as well.

    >>> import numpy as np
    >>> from sidecut.lasting.novelty import points_of_a_new_class
    >>> rng = np.random.default_rng(0)
    >>> old, new = rng.normal(size=(300, 5)), rng.normal(size=(40, 5))
    >>> new[:30, 0] += 3.0
    >>> found = points_of_a_new_class(old, new, np.zeros(340, dtype=int), np.ones(40, dtype=bool))
    >>> bool(np.mean(np.isin(np.arange(30), found)) > 0.8), bool(np.sum(found >= 30) <= 4)
    (True, True)
    """
    rng, n_old = np.random.default_rng(0), len(clusters) - len(is_free)
    free = rng.permutation(np.flatnonzero(is_free))[: MOST_POINTS // 2]
    kept = rng.permutation(n_old)[: MOST_POINTS - len(free)]
    groups = np.unique(np.append(clusters[kept], clusters[n_old + free]), return_inverse=True)[1]
    is_new = np.arange(len(groups)) >= len(kept)
    flags = np.column_stack([is_new, *(_permuted(groups, is_new, rng) for _ in range(N_DRAWS))])
    rows = _stacked(old[kept], new[free])
    scores = left_out_scores(rows, flags - _rates(groups, flags)[groups])
    most = np.array([_excess(scores[:, i], flags[:, i], groups)[0] for i in range(flags.shape[1])])
    if most[0] <= most[1:].mean() + CLEARLY_MORE * most[1:].std():
        return np.empty(0, dtype=np.intp)
    is_strange = _likely_strange(scores[:, 0], is_new, groups)
    return np.sort(free[is_strange[is_new]])


def has_drifted(n_old: IntArray, n_usual: IntArray, cluster: int) -> bool:
    """Tell whether so few usual points of a cluster came that its strangers are the cluster itself."""
    others = n_old.sum() - n_old[cluster]
    expected = (n_usual.sum() - n_usual[cluster]) * n_old[cluster] / max(others, 1)
    return bool(others > 0 and poisson.cdf(n_usual[cluster], expected) < DRIFTED)


def left_out_scores(rows: Any, targets: FloatArray) -> FloatArray:
    """Return what a ridge regression without each row predicts for it, for every column of targets."""
    # With the hat matrix H, that is y_i - (y_i - (H y)_i) / (1 - H_ii) (Allen, 1974).
    n, d = rows.shape
    targets = targets - targets.mean(axis=0)
    if sp.issparse(rows) or d > n:
        products = rows @ rows.T
        products = np.asarray(products.toarray() if sp.issparse(products) else products, dtype=np.float64)
        products -= products.mean(axis=0)
        products -= products.mean(axis=1)[:, None]
        penalty = max(RIDGE * np.trace(products) / min(n, d), np.finfo(float).tiny)
        inverse = cho_solve(cho_factor(products + penalty * np.eye(n)), np.eye(n))
        residuals, own = penalty * inverse @ targets, penalty * np.diag(inverse)
    else:
        rows = rows - rows.mean(axis=0)
        products = rows.T @ rows
        penalty = max(RIDGE * np.trace(products) / d, np.finfo(float).tiny)
        half = cho_solve(cho_factor(products + penalty * np.eye(d)), rows.T)
        residuals = targets - rows @ (half @ targets)
        own = 1.0 - np.einsum("ij,ji->i", rows, half)
    # The mean is fitted, too.
    return np.asarray(targets - residuals / np.maximum(own - 1.0 / n, 1e-3)[:, None])


def _stacked(old: Any, new: Any) -> Any:
    if sp.issparse(old) or sp.issparse(new):
        return sp.vstack([sp.csr_array(old), sp.csr_array(new)], format="csr")
    return np.vstack([old, new]).astype(np.float64)


def _permuted(groups: IntArray, is_new: BoolArray, rng: np.random.Generator) -> BoolArray:
    """Return as many random points of each cluster as are new in it."""
    order = np.lexsort((rng.random(len(groups)), groups))
    drawn = np.zeros(len(groups), dtype=bool)
    drawn[order] = is_new[np.lexsort((~is_new, groups))]
    return drawn


def _rates(groups: IntArray, flags: BoolArray) -> FloatArray:
    """Return the share of each cluster that is flagged, for every column of flags."""
    members = np.eye(groups.max() + 1)[groups]
    return np.asarray((members.T @ flags) / members.sum(axis=0)[:, None])


def _excess(
    scores: FloatArray, is_new: BoolArray, groups: IntArray, times: float = 1.0, limit: float = np.inf
) -> tuple[float, float]:
    """Return how many more new points than expected lie beyond the best threshold, and that threshold."""
    # They are expected at the rate at which new points came to the old ones of each cluster below the limit.
    count, below = groups.max() + 1, scores < limit
    came = np.bincount(groups[is_new & below], minlength=count)
    rate = came / np.maximum(np.bincount(groups[~is_new & below], minlength=count), 1)
    order = np.argsort(-scores, kind="stable")
    sums = np.cumsum(np.where(is_new, 1.0, -times * rate[groups])[order])
    best = int(sums.argmax())
    return float(sums[best]), float(scores[order[best]])


def _likely_strange(scores: FloatArray, is_new: BoolArray, groups: IntArray) -> BoolArray:
    """Return the new points beyond the threshold from which on most new points are strangers."""
    # There, twice as many come as the usual ones alone would be; those below it are usual, so it is repeated.
    limit = np.inf
    for _ in range(N_ROUNDS):
        limit, before = _excess(scores, is_new, groups, 2.0, limit)[1], limit
        if limit == before:
            break
    return is_new & (scores >= limit)
