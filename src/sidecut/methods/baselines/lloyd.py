"""Lloyd's iteration on weighted points of which some must be apart."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import kmeans_plusplus
from sklearn.utils.extmath import row_norms

from sidecut.arrays import FloatArray, IntArray
from sidecut.labelling.coloring.assignment import Assigner
from sidecut.labelling.lloyd import CenterSums, fill_empty

#: Sums of squares that differ by less, relative to their size, are the same.
ROUNDING = 1e-9
#: Where a larger share of the points moves, all are added up again instead of those that moved.
MANY = 0.25


@dataclass(frozen=True, eq=False)
class WeightedPoints:
    """Points with weights, some of them apart from each other.

    Parameters
    ----------
    places : array or sparse matrix of shape (m, n_features)
        Where they are: the mean of the points in each must-linked set.
    weights : ndarray of shape (m,)
        How many points each stands for.
    linked : ndarray
        The points that are apart from others.
    assigner : Assigner or None
        What assigns the linked points; None if there are none.
    """

    places: Any
    weights: FloatArray
    linked: IntArray
    assigner: Assigner | None

    def costs(self, centres: FloatArray) -> FloatArray:
        """Return the weighted squared distance of every point to every centre."""
        # In the precision of the points, as scikit-learn's k-means does: a second copy would be dear.
        centres = centres.astype(self.places.dtype, copy=False)
        squared = np.asarray(self.places @ centres.T)
        squared *= -2.0
        squared += self._norms[:, None]
        squared += row_norms(centres, squared=True)
        return self.weights[:, None] * np.maximum(squared, 0.0, out=squared)

    @cached_property
    def _norms(self) -> FloatArray:
        return np.asarray(row_norms(self.places, squared=True))

    def assign(self, costs: FloatArray, previous: IntArray | None) -> IntArray:
        """Return the cheapest clusters: of linked points, at most as dear as before."""
        clusters = costs.argmin(axis=1)
        if self.assigner is not None:
            before = None if previous is None else previous[self.linked]
            clusters[self.linked] = self.assigner.assign(costs[self.linked], before)
        return clusters

    def sums(self, clusters: IntArray, n_clusters: int, some: IntArray | None = None) -> FloatArray:
        """Return the weighted sum of each cluster, of all points or of some."""
        places, weights = self.places, self.weights.astype(self.places.dtype, copy=False)
        if some is not None:
            places, weights = places[some], weights[some]
        shape = (n_clusters, len(clusters))
        member = sparse.csr_array((weights, (clusters, np.arange(len(clusters)))), shape=shape)
        return dense_rows(member @ places)


class Centres:
    """The weighted means of clusters, kept up to date as points move between them.

    Late in the iteration few points move, and adding up those alone costs next to nothing.

    Parameters
    ----------
    points : WeightedPoints
        What is clustered.
    first : ndarray of shape (n_clusters, n_features)
        Where the centres are before anything is assigned; an empty cluster keeps its centre.
    """

    def __init__(self, points: WeightedPoints, first: FloatArray) -> None:
        self.points = points
        self.places = first
        self._clusters: IntArray | None = None
        self._sums = np.zeros_like(first, dtype=np.float64)

    def follow(self, clusters: IntArray) -> float:
        """Move every centre to the mean of its cluster, and return the sum of the squared steps."""
        self._sums = self._add_up(clusters)
        self._clusters = clusters
        weights = self.points.weights
        total = np.bincount(clusters, weights=weights, minlength=len(self.places)).astype(np.float64)
        moved = CenterSums(self._sums, total).moved(self.places)
        step = float(((moved - self.places) ** 2).sum())
        self.places = moved
        return step

    def _add_up(self, clusters: IntArray) -> FloatArray:
        k, before = len(self.places), self._clusters
        if before is None:
            return self.points.sums(clusters, k)
        movers = np.flatnonzero(clusters != before)
        if len(movers) > MANY * len(clusters):
            return self.points.sums(clusters, k)
        come = self.points.sums(clusters[movers], k, movers)
        return self._sums + come - self.points.sums(before[movers], k, movers)


@dataclass(frozen=True, eq=False)
class Run:
    """The end of one run of Lloyd's iteration.

    Parameters
    ----------
    clusters : ndarray of shape (m,)
        The cluster of every weighted point.
    centres : ndarray of shape (n_clusters, n_features)
        The centres.
    objective : ndarray of shape (n_iter,)
        The sum of squares after each iteration, never growing.
    converged : bool
        Whether it came to rest.
    """

    clusters: IntArray
    centres: FloatArray
    objective: FloatArray
    converged: bool


def best_run(runs: list[Run]) -> Run:
    """Return the run with the least sum of squares; of runs that differ by rounding, the first.

    Several starts often end at the same clusters, numbered in other ways: which of them is the least by a
    digit of rounding must not decide how clusters are called.
    """
    least = min(float(run.objective[-1]) for run in runs)
    return next(run for run in runs if run.objective[-1] <= least + ROUNDING * abs(least))


def run_lloyd(points: WeightedPoints, centres: FloatArray, max_iter: int, tol: float) -> Run:
    """Assign, average, and again, until nothing moves.

    Parameters
    ----------
    points : WeightedPoints
        What to cluster.
    centres : ndarray of shape (n_clusters, n_features)
        Where to begin.
    max_iter : int
        How often to assign at most.
    tol : float
        Stop when the centres move by less, as the sum of their squared steps.

    Returns
    -------
    Run
        With assignments that respect what must be apart, from the first on.

    Examples
    --------
    >>> import numpy as np
    >>> places = np.array([[0.0], [1.0], [9.0]])
    >>> line = WeightedPoints(places, np.ones(3), np.empty(0, dtype=int), None)
    >>> run_lloyd(line, np.array([[0.0], [1.0]]), 10, 0.0).objective
    array([32. ,  0.5])
    """
    clusters: IntArray | None = None
    objective: list[float] = []
    moving = Centres(points, centres)
    for _ in range(max_iter):
        costs = points.costs(moving.places)
        if clusters is not None:
            objective.append(_paid(costs, clusters).sum())
        assigned = _fill_empty(costs, points.assign(costs, clusters))
        if clusters is not None and np.array_equal(assigned, clusters):
            return Run(assigned, moving.places, np.array(objective), True)
        clusters = assigned
        step = moving.follow(clusters)
        if step <= tol:
            break
    # Let the last centres have their say, so that every free point is with the nearest of them.
    costs = points.costs(moving.places)
    assigned = points.assign(costs, clusters)
    clusters = _fill_empty(costs, assigned)
    if clusters is not assigned:
        moving.follow(clusters)
        costs = points.costs(moving.places)
    return Run(clusters, moving.places, np.array([*objective, _paid(costs, clusters).sum()]), step <= tol)


def _paid(costs: FloatArray, clusters: IntArray) -> FloatArray:
    return costs[np.arange(len(clusters)), clusters]


def _fill_empty(costs: FloatArray, clusters: IntArray) -> IntArray:
    """Give every empty cluster the point that is farthest from its centre; points on their centre stay.

    An empty cluster holds nothing a point could be apart from, and the mean of the one point is the point
    itself, so this breaks no cannot-link and never makes the sum of squares of the means greater.
    """
    return fill_empty(clusters, _paid(costs, clusters), costs.shape[1], farther_than=0.0)


def spread_centres(
    points: WeightedPoints, n_clusters: int, n_init: int, rng: np.random.RandomState
) -> list[FloatArray]:
    """Return first centres that lie far apart (k-means++), one set per start.

    With fewer points than clusters every point is a centre, and some are twice.
    """
    n_points = points.places.shape[0]
    if n_points < n_clusters:
        return [dense_rows(points.places[np.resize(np.arange(n_points), n_clusters)])]
    return [
        dense_rows(
            kmeans_plusplus(points.places, n_clusters, sample_weight=points.weights, random_state=rng)[0]
        )
        for _ in range(n_init)
    ]


def dense_rows(rows: Any) -> FloatArray:
    """Return rows as an array, sparse or not."""
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=np.float64)
