"""Searching for nearest neighbours: exactly by default, or approximately with the recall measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_random_state

from sidecut.arrays import FloatArray, IntArray
from sidecut.exceptions import GraphWarning, warn
from sidecut.graphs.points import CLOSE, Points, as_points, unit_rows
from sidecut.graphs.threads import count_threads

#: With fewer points than this an approximate search is no faster, and NN-descent is at its least reliable.
APPROXIMATE_FROM = 1_000
#: Beyond this many features a tree is no faster than comparing all pairs.
TREE_FEATURES = 15
#: How many points the recall of an approximate search is measured on.
RECALL_SAMPLE = 300
#: An approximate search that finds less than this share of the true neighbours is warned about.
LOW_RECALL = 0.9


@dataclass(frozen=True)
class NearestNeighborLists:
    """The nearest neighbours of every point, the point itself left out.

    Attributes
    ----------
    indices, distances : arrays of shape (n, k)
        Neighbours in order of distance.
    recall : float
        The share of true neighbours found: 1 for an exact search, measured on a sample otherwise.
    """

    indices: IntArray
    distances: FloatArray
    recall: float

    @property
    def n_neighbors(self) -> int:
        """How many neighbours each point has."""
        return int(self.indices.shape[1])

    def with_weights(self, weights: FloatArray) -> sp.csr_array:
        """Return the directed graph that holds `weights` (n, k) on the edges i -> neighbour."""
        n_points, k = self.indices.shape
        starts = np.arange(0, n_points * k + 1, k)
        graph = sp.csr_array((weights.ravel(), self.indices.ravel(), starts), shape=(n_points, n_points))
        graph.sort_indices()
        return graph


def nearest_neighbors(
    X: npt.NDArray,
    n_neighbors: int,
    *,
    metric: str = "euclidean",
    search: str = "exact",
    random_state: int | np.random.RandomState | None = None,
) -> NearestNeighborLists:
    """Find the nearest neighbours of every row of X.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        The points.
    n_neighbors : int
        How many; with fewer than `n_neighbors` other points, all of them are taken and a warning says so.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Which distance.
    search : {"exact", "approximate"}, default="exact"
        "approximate" uses NN-descent from pynndescent and measures its recall on 300 points; fewer than
        1,000 points are searched exactly anyway.
    random_state : int, RandomState or None
        For the approximate search only.

    Returns
    -------
    NearestNeighborLists
        Indices, distances and recall.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import nearest_neighbors
    >>> nearest_neighbors(np.array([[0.0], [1.0], [3.0]]), 1).indices.ravel()
    array([1, 0, 1])
    """
    space = _space(X, metric)
    k = feasible_count(n_neighbors, space.points.n_points)
    if search == "exact":
        return _exact(space, k)
    if search == "approximate":
        return _approximate(space, k, random_state)
    raise ValueError(f"search={search!r}: choose 'exact' or 'approximate'.")


def feasible_count(n_neighbors: int, n_points: int) -> int:
    """Return how many neighbours each point can have, at most `n_neighbors`; warn where it is fewer."""
    if isinstance(n_neighbors, bool) or int(n_neighbors) != n_neighbors or n_neighbors < 1:
        raise ValueError(f"n_neighbors={n_neighbors!r} must be a whole number, at least 1.")
    if n_points < 2:
        raise ValueError(f"n_samples={n_points}: a neighbour graph needs at least 2 points.")
    if n_neighbors > n_points - 1:
        warn(
            f"n_neighbors={n_neighbors} but each of the {n_points} points has only {n_points - 1} others; "
            f"using {n_points - 1}.",
            GraphWarning,
        )
    return int(min(n_neighbors, n_points - 1))


@dataclass(frozen=True)
class _Space:
    """Points and the distance between them; cosines are taken between rows of length one."""

    points: Points
    metric: str

    def between(self, left: IntArray, right: IntArray) -> FloatArray:
        """Return the distance of every pair, free of the cancellation a matrix product suffers."""
        squared = self.points.squared_differences(left, right)
        if self.metric == "euclidean":
            return self.points.unit * np.sqrt(squared)
        norms = self.points.squared_norms
        # ‖x - y‖² = ‖x‖² + ‖y‖² - 2 cos, and a row of zeros has cosine 0 with every other.
        return np.maximum(1.0 - 0.5 * (norms[left] + norms[right] - squared), 0.0)

    def sorted(self, indices: npt.NDArray, points: IntArray) -> tuple[npt.NDArray, FloatArray]:
        """Return the neighbours of some points by distance, ties to the lower index, and the distances."""
        indices = indices.astype(np.intp)
        left = np.repeat(points, indices.shape[1])
        distances = self.between(left, indices.ravel()).reshape(indices.shape)
        order = np.lexsort((indices, distances), axis=-1)
        return np.take_along_axis(indices, order, 1), np.take_along_axis(distances, order, 1)


def _space(X: Any, metric: str) -> _Space:
    if metric == "euclidean":
        return _Space(as_points(X), metric)
    if metric == "cosine":
        return _Space(Points(unit_rows(X), unit=1.0), metric)
    raise ValueError(f"metric={metric!r}: choose 'euclidean' or 'cosine'.")


def _exact(space: _Space, k: int) -> NearestNeighborLists:
    points = np.arange(space.points.n_points)
    indices, distances = _nearest(space, k, points)
    return NearestNeighborLists(indices, distances, recall=1.0)


def _nearest(space: _Space, k: int, points: IntArray) -> tuple[npt.NDArray, FloatArray]:
    """Return the k nearest neighbours of some points, searched exactly, and their distances."""
    coordinates = space.points.coordinates
    by_tree = space.metric == "euclidean" and not sp.issparse(coordinates)
    low_dimensional = by_tree and coordinates.shape[1] <= TREE_FEATURES
    indices = _search(space, k, points, "kd_tree" if low_dimensional else "brute")
    indices, distances = space.sorted(indices, points)
    if by_tree and not low_dimensional:
        # Brute force multiplies matrices, and cannot tell neighbours apart that lie very close together.
        farthest = (distances[:, -1] / space.points.unit) ** 2
        blurred = np.flatnonzero((farthest > 0) & (farthest < CLOSE * space.points.squared_norms[points]))
        if blurred.size:
            again = _search(space, k, points[blurred], "ball_tree")
            indices[blurred], distances[blurred] = space.sorted(again, points[blurred])
    return indices, distances


def _search(space: _Space, k: int, points: IntArray, algorithm: str) -> npt.NDArray:
    coordinates = space.points.coordinates
    searcher = NearestNeighbors(
        n_neighbors=k + 1, metric=space.metric, algorithm=algorithm, n_jobs=count_threads()
    )
    everyone = np.array_equal(points, np.arange(space.points.n_points))
    asked = coordinates if everyone else coordinates[points]
    found = searcher.fit(coordinates).kneighbors(asked, return_distance=False)
    return _without_self(found, points)


def _approximate(
    space: _Space, k: int, random_state: int | np.random.RandomState | None
) -> NearestNeighborLists:
    try:
        from pynndescent import NNDescent
    except ImportError as error:
        raise ImportError(
            "search='approximate' needs pynndescent: pip install \"sidecut[approximate]\", "
            "or use search='exact'."
        ) from error
    n_points = space.points.n_points
    if n_points < max(APPROXIMATE_FROM, 2 * k):
        return _exact(space, k)
    rng = check_random_state(random_state)
    # One neighbour more, because the lists of NN-descent hold the point itself.
    index = NNDescent(space.points.coordinates, metric=space.metric, n_neighbors=k + 1, random_state=rng)
    found = _without_self(index.neighbor_graph[0], np.arange(n_points))
    # NN-descent leaves -1 where it found nobody.
    unfinished = np.flatnonzero((found < 0).any(axis=1))
    if unfinished.size:
        found[unfinished] = _search(space, k, unfinished, "brute")
    indices, distances = space.sorted(found, np.arange(n_points))
    recall = _measure_recall(space, distances, rng)
    if recall < LOW_RECALL:
        warn(
            f"The approximate search found {recall:.1%} of the true neighbours; use search='exact' or more "
            "neighbours.",
            GraphWarning,
        )
    return NearestNeighborLists(indices, distances, recall)


def _without_self(indices: npt.NDArray, points: IntArray) -> npt.NDArray:
    """Drop each point from its own list; where duplicates pushed it out, drop the farthest entry."""
    own = indices == points[:, None]
    own[~own.any(axis=1), -1] = True
    return indices[~own].reshape(points.size, -1)


def _measure_recall(space: _Space, distances: FloatArray, rng: np.random.RandomState) -> float:
    """Return the share of true neighbours in the lists of a random sample of points.

    A point as near as the k-th true neighbour is one: duplicates and ties can be listed in any order.
    """
    n_points, k = distances.shape
    sample = rng.choice(n_points, size=min(RECALL_SAMPLE, n_points), replace=False)
    truth = _nearest(space, k, sample)[1]
    return float(np.mean(distances[sample] <= truth[:, -1:] * (1 + 1e-12)))
