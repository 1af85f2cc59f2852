"""How long a fit will take, judged by fits of two samples."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from sidecut.arrays import IntArray
from sidecut.constraints import Constraints
from sidecut.methods.base import ConstrainedClusterer
from sidecut.methods.inputs import check_points, is_precomputed

#: The sizes of the samples, at most, after a small one that is not timed; and as shares of all points.
SAMPLES = (1_000, 4_000)
SHARES = (0.1, 0.4)
#: A sample has at least so many points for each cluster.
POINTS_PER_CLUSTER = 3
#: The time of a fit grows between proportionally to the points and with their square, as graphs do.
SLOWEST, FASTEST = 1.0, 2.0


def estimate_seconds(model: ConstrainedClusterer, X: Any, *, constraints: Constraints | None = None) -> float:
    """Estimate how many seconds a fit will take here, before it is started.

    Two samples of the points are fitted, of at most 1,000 and 4,000 points, and the growth between them is
    continued. What is known is kept in the samples as far as it fits. This takes some seconds itself. It is
    a rough guide: expect it to be right within a factor of two or three.

    Parameters
    ----------
    model : estimator
        Any method of this package, not fitted. It stays as it is.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The points. A graph cannot be sampled.
    constraints : Constraints, optional
        What is known.

    Returns
    -------
    float
        Seconds.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sidecut import CSP, estimate_seconds
    >>> X, y = load_digits(return_X_y=True)
    >>> estimate_seconds(CSP(10, random_state=0), X) < 60
    True
    """
    if isinstance(getattr(model, "affinity", None), str) and is_precomputed(model):
        raise ValueError("X is a graph: a part of it may take no time at all. Only points can be sampled.")
    data = check_points(clone(model), X)
    n_points = int(data.shape[0])
    least = POINTS_PER_CLUSTER * (model.n_clusters if isinstance(model.n_clusters, int) else 2)
    sizes = [
        min(n_points, max(least, min(largest, round(share * n_points))))
        for largest, share in zip(SAMPLES, SHARES, strict=True)
    ]
    _time(model, data, constraints, sizes[0] // 2 if sizes[0] >= 2 * least else sizes[0])
    seconds = [_time(model, data, constraints, size) for size in sizes]
    if sizes[1] == n_points or sizes[0] == sizes[1]:
        return seconds[1] * n_points / sizes[1]
    growth = np.log(seconds[1] / seconds[0]) / np.log(sizes[1] / sizes[0])
    return float(seconds[1] * (n_points / sizes[1]) ** np.clip(growth, SLOWEST, FASTEST))


def _time(model: ConstrainedClusterer, data: Any, constraints: Constraints | None, size: int) -> float:
    """Return the seconds that a fit of so many points takes."""
    rows = _draw(data.shape[0], constraints, size)
    told = None if constraints is None else constraints.restricted_to(rows)
    sample, fresh = data[rows], clone(model).set_params(verbose=0)
    start = time.perf_counter()
    with warnings.catch_warnings(action="ignore"):
        fresh.fit(sample, constraints=told)
    return time.perf_counter() - start


def _draw(n_points: int, constraints: Constraints | None, size: int) -> IntArray:
    """Return some rows, up to half of them points that something is known about."""
    rng = np.random.default_rng(0)
    known = np.empty(0, dtype=np.intp) if constraints is None else constraints.constrained_points
    kept = rng.choice(known, min(len(known), size // 2), replace=False)
    others = np.setdiff1d(np.arange(n_points), kept)
    return np.sort(np.concatenate([kept, rng.choice(others, size - len(kept), replace=False)]))
