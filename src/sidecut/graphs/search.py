"""Searching for nearest neighbours: exactly where that is cheap, otherwise with the recall measured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_random_state

from sidecut.checks import FloatArray, IntArray, refuse_nonfinite, to_points
from sidecut.exceptions import GraphWarning, warn
from sidecut.graphs.cells import DISTANCES_HELD, CellSearch, SingleProducts, calibrate
from sidecut.graphs.chunks import each_chunk
from sidecut.running import count_threads, limit_threads, track

#: Below this share of ‖x‖² + ‖y‖² the expansion ‖x‖² - 2xᵀy + ‖y‖² has lost its digits to cancellation.
CLOSE = 1e-6
#: Differences of coordinates are held for this many numbers at a time (2 MB, what a processor's cache holds).
DIFFERENCES_HELD = 2**18


@dataclass(frozen=True)
class Points:
    """Coordinates of moderate size, and the unit their distances are measured in."""

    coordinates: Any
    unit: float
    #: What was subtracted after the division by the unit.
    shift: Any = 0.0

    @property
    def n_points(self) -> int:
        """How many points there are."""
        return int(self.coordinates.shape[0])

    @cached_property
    def squared_norms(self) -> FloatArray:
        """‖x_i‖² of the coordinates."""
        return squared_rows(self.coordinates)

    def squared_distances(self, rows: slice) -> FloatArray:
        """Return the squared distances between the coordinates of some rows and of all points."""
        # The matrix product is fast but loses close pairs to cancellation; those are computed again from
        # their differences, so that duplicates are at distance zero exactly.
        products = self.coordinates[rows] @ self.coordinates.T
        squared = products.toarray() if sp.issparse(products) else products
        norms = self.squared_norms
        squared *= -2.0
        squared += norms[rows, None]
        squared += norms[None, :]
        row, col = np.nonzero(squared < CLOSE * np.add.outer(norms[rows], norms))
        squared[row, col] = self.squared_differences(row + rows.start, col)
        return squared

    def squared_lengths(self, points: IntArray, others: IntArray) -> FloatArray:
        """Return ‖x_i - x_j‖² for some points i (q,) and for each several others j (q, m)."""
        # It is `squared_differences` of all these pairs, but no point is fetched more than once for its own.
        n_points, n_others = others.shape
        if sp.issparse(self.coordinates):
            left = np.repeat(points, n_others)
            return self.squared_differences(left, others.ravel()).reshape(others.shape)
        result = np.empty(others.shape)
        step = max(1, DIFFERENCES_HELD // max(1, self.coordinates.shape[1] * n_others))
        for start in range(0, n_points, step):
            part = slice(start, start + step)
            apart = self.coordinates[others[part]]
            apart -= self.coordinates[points[part], None, :]
            np.einsum("ijk,ijk->ij", apart, apart, out=result[part])
        return result

    def squared_differences(self, left: IntArray, right: IntArray) -> FloatArray:
        """Return ‖x_left - x_right‖² of the coordinates for each pair, from the differences themselves."""
        result = np.empty(left.size)
        chunk = max(1, DIFFERENCES_HELD // max(1, self.coordinates.shape[1]))
        for start in range(0, left.size, chunk):
            part = slice(start, start + chunk)
            result[part] = squared_rows(self.coordinates[left[part]] - self.coordinates[right[part]])
        return result


def as_points(X: Any) -> Points:
    """Return the rows of a data matrix as points of moderate size."""
    X = finite_matrix(X)
    values = X.data if sp.issparse(X) else X
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    exponent = int(np.frexp(largest)[1]) - 1
    if sp.issparse(X):
        coordinates = sp.csr_array((np.ldexp(X.data, -exponent), X.indices, X.indptr), shape=X.shape)
    else:
        # A product with a power of two is much faster than ldexp, where the power is a number.
        is_number = abs(exponent) < 1000
        coordinates = X * np.ldexp(1.0, -exponent) if is_number else np.ldexp(X, -exponent)
        shift = _exact_shift(coordinates)
        if shift.any():
            coordinates -= shift
    unit = float(np.ldexp(1.0, exponent))
    points = Points(coordinates, unit, 0.0 if sp.issparse(X) else shift)
    with np.errstate(over="ignore"):
        farthest = 2 * points.unit * np.sqrt(points.squared_norms.max(initial=0.0))
    if not np.isfinite(farthest):
        raise ValueError(f"X has values up to {largest:.3g}: distances between its rows overflow. Rescale X.")
    return points


def finite_matrix(X: Any) -> Any:
    """Return X as a float64 array or csr_array; refuse what is not a matrix of finite real numbers."""
    X = to_points(X)
    X = sp.csr_array(X) if sp.issparse(X) else np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X has shape {X.shape}; give a matrix with one row per point.")
    if np.iscomplexobj(X):
        raise ValueError("X is complex; distances and weights here are of real numbers.")
    X = X.astype(np.float64, copy=False)
    refuse_nonfinite(X, 0)
    return X


def unit_rows(X: Any) -> Any:
    """Return X with rows of length one, zero rows left as they are; safe at any scale.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs.search import unit_rows
    >>> unit_rows(np.array([[3e200, 4e200], [0.0, 0.0]]))
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    X = finite_matrix(X)
    # The largest entry first: the squares of the Euclidean norm may overflow or vanish where it does not.
    largest = abs(X).max(axis=1)
    X = _divided_rows(X, np.asarray(largest.todense() if sp.issparse(largest) else largest).ravel())
    return _divided_rows(X, np.sqrt(squared_rows(X)))


def _divided_rows(X: Any, lengths: FloatArray) -> Any:
    """Divide every row by its length, zero rows by one."""
    lengths = np.where(lengths > 0, lengths, 1.0)
    if not sp.issparse(X):
        return X / lengths[:, None]
    return sp.csr_array((X.data / np.repeat(lengths, np.diff(X.indptr)), X.indices, X.indptr), shape=X.shape)


def _exact_shift(X: FloatArray) -> FloatArray:
    """Return the mean of each feature that lies within [mean/2, 2 mean], zero for the others."""
    # There the subtraction is exact in floating point (Sterbenz), and elsewhere the offset is no larger than
    # the spread, so that moving the points would gain nothing.
    means = X.mean(axis=0) if X.size else np.zeros(X.shape[1])
    safe = np.where(means == 0, 1.0, means)
    ends = np.stack([X.min(axis=0, initial=np.inf) / safe, X.max(axis=0, initial=-np.inf) / safe])
    return np.where((ends.min(axis=0) >= 0.5) & (ends.max(axis=0) <= 2.0), means, 0.0)


def squared_rows(rows: Any) -> FloatArray:
    """Return ‖x‖² of every row, dense or sparse."""
    if sp.issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", rows, rows)


#: With fewer points than this an approximate search is no faster.
APPROXIMATE_FROM = 1_000
#: "auto" searches exactly up to this many products of coordinates, n² d: a few seconds on one core.
EXACT_PRODUCTS = 1e11
#: Beyond this many features a tree is no faster than comparing all pairs.
TREE_FEATURES = 15
#: From this many products of coordinates on, pairs are compared in single precision first.
SINGLE_PRODUCTS = 1e9
#: A search that has to scan more than this share of all points is no faster than comparing all pairs.
LARGEST_SCAN = 0.25
#: An approximate search is fitted to this many points, and its recall measured on as many others.
RECALL_SAMPLE = 300
#: Distances that differ by no more than this share tie. Of 4.2 million gaps between the distances of
#: neighbours in the 55 development tables, rounding makes 30,000 up to 1e-14; 700 are between that and 1e-10.
TIED = 1e-10
#: Where more candidates than this tie, those that one thread finds are compared.
MOST_TIED = 1_000


@dataclass(frozen=True)
class NearestNeighborLists:
    """The nearest neighbours of every point, the point itself left out.

    Attributes
    ----------
    indices, distances : arrays of shape (n, k)
        Neighbours in order of distance.
    recall : float
        The share of true neighbours found: 1 for an exact search, measured on a sample otherwise.
    cells : KeptCells or None
        Of an approximate search: where the neighbours of new points are searched for.
    """

    indices: IntArray
    distances: FloatArray
    recall: float
    cells: KeptCells | None = None


def nearest_neighbors(
    X: npt.NDArray,
    n_neighbors: int,
    *,
    metric: str = "euclidean",
    search: str = "auto",
    random_state: int | np.random.RandomState | None = None,
) -> NearestNeighborLists:
    """Find the nearest neighbours of every row of X.

    Where several points are as near as the k-th neighbour, those with the smallest Σ_j cos(j) x_j are taken.
    So the neighbours do not depend on the order of the points, the number of threads or the unit of X. Of
    equal points those with the lowest indices are taken: another order only exchanges equal points. The
    cells of an approximate search depend on the order of the points, but not on the number of threads.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        The points.
    n_neighbors : int
        How many; with fewer than `n_neighbors` other points, all of them are taken and a warning says so.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Which distance.
    search : {"auto", "exact", "approximate"}, default="auto"
        "approximate" looks into a few cells of points in principal components and compares what it finds
        there by true distance. It is fitted to find 98.5 % of the true neighbours of 300 points, and its
        recall is measured on 300 others; fewer than 1,000 points and sparse matrices are searched exactly
        anyway. "auto" does the same where an exact search would take more than a few seconds.
    random_state : int, RandomState or None
        For the approximate search only. None is always the same draw: a graph is a function of its points.

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
    k = feasible_count(n_neighbors, space.n_points)
    if search not in ("auto", "exact", "approximate"):
        raise ValueError(f"search={search!r}: choose 'auto', 'exact' or 'approximate'.")
    if search == "exact" or _is_cheap(space, k, search):
        return NearestNeighborLists(*_nearest(space, k, np.arange(space.n_points)), recall=1.0)
    return _approximate(space, k, search, random_state)


def neighbors_of_new(
    X: Any, X_new: Any, n_neighbors: int, metric: str, cells: KeptCells | None = None
) -> tuple[npt.NDArray, FloatArray]:
    """Return the nearest rows of X to every row of X_new, fewer than X has, and their distances."""
    # They are searched exactly, or in the cells that a search in X left.
    if cells is not None:
        indices, distances, open_ = cells.nearest(X, X_new, n_neighbors)
        if open_.size:
            indices[open_], distances[open_] = neighbors_of_new(X, X_new[open_], n_neighbors, metric)
        return indices, distances
    # Rows may be made when they are looked at.
    X = X[:]
    if sp.issparse(X):
        rows: Any = sp.vstack([X, sp.csr_array(X_new)], format="csr")
    else:
        rows = np.concatenate([X, X_new.toarray() if sp.issparse(X_new) else X_new])
    n, new = X.shape[0], np.arange(X.shape[0], rows.shape[0])
    is_long = not sp.issparse(rows) and rows.size * float(new.size) >= SINGLE_PRODUCTS
    if not is_long or metric != "euclidean" or rows.shape[1] <= TREE_FEATURES:
        return _nearest(replace(_space(rows, metric), n_points=n), n_neighbors, new)
    indices, distances, open_ = _nearest_of_few(rows, n, n_neighbors)
    if open_.size:
        space = replace(_space(rows, metric), n_points=n)
        indices[open_], distances[open_] = _nearest(space, n_neighbors, new[open_])
    return indices, distances


def _nearest_of_few(rows: npt.NDArray, n: int, k: int) -> tuple[npt.NDArray, FloatArray, IntArray]:
    """Return the nearest of the first n rows to the others, and which of these are undecided."""
    # As `_nearest_in_single_precision`, but only candidates are looked at in double precision.
    with np.errstate(over="ignore", invalid="ignore"):
        proposals = SingleProducts.of(rows)
        new, count = np.arange(n, len(rows)), min(2 * k + 12, n)
        step = max(1, DISTANCES_HELD // n)
        parts = [
            proposals.nearest(new[start : start + step], count, among=n) for start in range(0, new.size, step)
        ]
    proposed, beyond = (
        np.concatenate([part[0] for part in parts]),
        np.concatenate([part[1] for part in parts]),
    )
    used, places = np.unique(proposed, return_inverse=True)
    space = _space(np.concatenate([rows[used], rows[n:]]), "euclidean")
    found, apart = space.sorted(places.reshape(proposed.shape), used.size + np.arange(new.size), k)
    # Numbers too large or too small for single precision decide nothing.
    is_decided = (((1 + TIED) * apart[:, k - 1]) ** 2 < beyond) & (proposals.error > 1e-30)
    return used[found[:, :k]], apart[:, :k], np.flatnonzero(~is_decided)


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
    #: Neighbours are the first `n_points`; rows that follow only ask for theirs.
    n_points: int

    @cached_property
    def priorities(self) -> FloatArray:
        """Σ_j cos(j) x_j of every point; of tied points those with the smallest are neighbours."""
        # The cosines of 0, 1, 2, ... are linearly independent over the rational numbers (Lindemann and
        # Weierstrass), so different points have different sums. Neither the order of the points nor the unit
        # changes which sum is smaller.
        coordinates = self.points.coordinates
        directions = np.cos(np.arange(coordinates.shape[1]))
        if sp.issparse(coordinates):
            return np.asarray(coordinates @ directions)
        return np.einsum("ij,j->i", coordinates, directions)

    def between(self, points: IntArray, others: IntArray) -> FloatArray:
        """Return the distances of some points (q,) to several others each (q, m), from their differences."""
        squared = self.points.squared_lengths(points, others)
        if self.metric == "euclidean":
            return self.points.unit * np.sqrt(squared)
        # Rows of length one have 1 - cos = ‖x - y‖²/2, and a row of zeros has cosine 0 with every other.
        has_length = self.points.squared_norms > 0
        return np.where(has_length[points, None] & has_length[others], 0.5 * squared, 1.0)

    def sorted(self, candidates: npt.NDArray, points: IntArray, k: int) -> tuple[npt.NDArray, FloatArray]:
        """Return the candidates of some points by distance, and the distances."""
        # Where candidates tie with the k-th, the first k are those that `priorities` choose.
        indices = candidates.astype(np.intp)
        distances = self.between(points, indices)
        order = np.lexsort((indices, distances), axis=-1)
        indices, distances = np.take_along_axis(indices, order, 1), np.take_along_axis(distances, order, 1)
        far = distances[:, k - 1, None] * (1 + TIED)
        tied = np.flatnonzero((distances[:, k : k + 1] <= far).any(axis=1))
        if tied.size:
            some = distances[tied]
            rank = np.where(some <= far[tied], self.priorities[indices[tied]], np.inf)
            rank[some < far[tied] * (1 - 2 * TIED)] = -np.inf
            # Equal points have equal priorities, and stay in the order of their indices.
            chosen = np.sort(np.argsort(rank, axis=1, kind="stable")[:, :k], axis=1)
            indices[tied, :k] = np.take_along_axis(indices[tied], chosen, 1)
            distances[tied, :k] = np.take_along_axis(some, chosen, 1)
        return indices, distances


def _space(X: Any, metric: str) -> _Space:
    if metric == "euclidean":
        points = as_points(X)
    elif metric == "cosine":
        points = Points(unit_rows(X), unit=1.0)
    else:
        raise ValueError(f"metric={metric!r}: choose 'euclidean' or 'cosine'.")
    return _Space(points, metric, int(points.coordinates.shape[0]))


def _nearest(space: _Space, k: int, points: IntArray) -> tuple[npt.NDArray, FloatArray]:
    """Return the k nearest neighbours of some points, searched exactly, and their distances."""
    coordinates = space.points.coordinates
    if space.metric != "euclidean" or sp.issparse(coordinates):
        return _nearest_by(space, k, points, "brute")
    if coordinates.shape[1] <= TREE_FEATURES:
        return _nearest_by(space, k, points, "kd_tree")
    is_long = coordinates.size * float(points.size) >= SINGLE_PRODUCTS
    if not is_long or space.n_points < coordinates.shape[0]:
        return _nearest_by_products(space, k, points)
    indices, distances, open_ = _nearest_in_single_precision(space, k, points)
    if open_.size:
        indices[open_], distances[open_] = _nearest_by_products(space, k, points[open_])
    return indices, distances


def _nearest_by_products(space: _Space, k: int, points: IntArray) -> tuple[npt.NDArray, FloatArray]:
    """Return the same by comparing all pairs in double precision."""
    indices, distances = _nearest_by(space, k, points, "brute")
    # Brute force multiplies matrices, and cannot distinguish neighbours that lie very close together.
    farthest = (distances[:, -1] / space.points.unit) ** 2
    blurred = np.flatnonzero((farthest > 0) & (farthest < CLOSE * space.points.squared_norms[points]))
    if blurred.size:
        indices[blurred], distances[blurred] = _nearest_by(space, k, points[blurred], "ball_tree")
    return indices, distances


def _nearest_by(space: _Space, k: int, points: IntArray, algorithm: str) -> tuple[npt.NDArray, FloatArray]:
    """Return the same by an algorithm of scikit-learn; where ties go on behind the candidates, with more."""
    coordinates, n_others = space.points.coordinates, space.n_points - 1
    searcher = NearestNeighbors(metric=space.metric, algorithm=algorithm).fit(coordinates[: n_others + 1])
    indices, distances = np.empty((points.size, k), dtype=np.intp), np.empty((points.size, k))
    waiting, count = np.arange(points.size), min(k + 1, n_others)
    while waiting.size:
        is_last = count >= min(MOST_TIED, n_others)
        # Which of more ties are found depends on the number of threads.
        searcher.n_jobs = 1 if is_last else count_threads()
        tied = []
        with limit_threads(1 if is_last else None):
            for rows in np.array_split(waiting, -(-waiting.size * count // DISTANCES_HELD)):
                asked = points[rows]
                found = searcher.kneighbors(coordinates[asked], count + 1, return_distance=False)
                found, apart = space.sorted(_without_self(found, asked), asked, k)
                indices[rows], distances[rows] = found[:, :k], apart[:, :k]
                tied.append(rows[apart[:, -1] <= (1 + TIED) * apart[:, k - 1]])
        waiting = waiting[:0] if is_last else np.concatenate(tied)
        count = min(4 * count, n_others)
    return indices, distances


def _nearest_in_single_precision(
    space: _Space, k: int, points: IntArray
) -> tuple[npt.NDArray, FloatArray, IntArray]:
    """Return the nearest neighbours by products in single precision, and the points left undecided."""
    # More candidates than neighbours are kept and compared by true distance. Where the k-th of these is
    # nearer than the last candidate, rounding errors included, no other point is nearer, and the answer is
    # exact. Other points, as those with many ties, are undecided.
    proposals = SingleProducts.of(space.points.coordinates)
    count = min(2 * k + 12, space.n_points)
    indices, distances = np.empty((points.size, k), dtype=np.intp), np.empty((points.size, k))

    def compare(rows: slice) -> IntArray:
        asked = points[rows]
        proposed, beyond = proposals.nearest(asked, count)
        found, apart = space.sorted(_without_self(proposed, asked), asked, k)
        indices[rows], distances[rows] = found[:, :k], apart[:, :k]
        is_open = ((1 + TIED) * apart[:, k - 1] / space.points.unit) ** 2 >= beyond
        return np.arange(rows.start, rows.start + asked.size)[is_open]

    step = max(1, DISTANCES_HELD // space.n_points)
    runs = (slice(a, min(a + step, points.size)) for a in range(0, points.size, step))
    with limit_threads(1):
        open_ = np.concatenate([*each_chunk(compare, runs)])
    return indices, distances, open_


def _is_cheap(space: _Space, k: int, search: str) -> bool:
    """Return whether an exact search is the faster one, or takes at most a few seconds."""
    coordinates, n_points = space.points.coordinates, space.n_points
    if sp.issparse(coordinates) or n_points < max(APPROXIMATE_FROM, 4 * k):
        return True
    n_features = coordinates.shape[1]
    # With few features a tree finds the neighbours of any number of points exactly in little time.
    few = space.metric == "euclidean" and n_features <= 8
    return search == "auto" and (few or n_features * float(n_points) ** 2 <= EXACT_PRODUCTS)


@dataclass(frozen=True)
class KeptCells:
    """What an approximate search leaves for points that come later."""

    search: CellSearch
    metric: str
    unit: float
    shift: Any
    #: The priorities of the points in order, and their numbers: equal points have equal ones.
    keys: FloatArray
    order: IntArray

    @classmethod
    def of(cls, space: _Space, search: CellSearch) -> KeptCells:
        """Keep the cells of a search."""
        order = np.argsort(space.priorities, kind="stable")
        points = space.points
        return cls(search, space.metric, points.unit, points.shift, space.priorities[order], order)

    def nearest(self, X: Any, X_new: Any, k: int) -> tuple[npt.NDArray, FloatArray, IntArray]:
        """Return the nearest rows of X to new ones, and which of these found too few in their cells."""
        indices, distances = np.empty((len(X_new), k), dtype=np.intp), np.empty((len(X_new), k))
        step = max(1, DISTANCES_HELD // (self.search.n_candidates * X_new.shape[1]))
        open_ = []
        for start in range(0, len(X_new), step):
            new = self._space(X_new[start : start + step])
            equal = self._equal(X, new)
            proposed = self.search.propose_to(new.points.coordinates)
            lost = (equal >= 0) & ~(proposed == equal[:, None]).any(axis=1)
            proposed[lost, -1] = equal[lost]
            open_.append(start + np.flatnonzero((proposed < 0).any(axis=1)))
            used, places = np.unique(np.maximum(proposed, 0), return_inverse=True)
            old = self._space(X[used]).points.coordinates
            both = Points(np.concatenate([old, new.points.coordinates]), self.unit)
            asking = used.size + np.arange(new.n_points)
            found, apart = _Space(both, self.metric, used.size).sorted(
                places.reshape(proposed.shape), asking, k
            )
            indices[start : start + step], distances[start : start + step] = used[found[:, :k]], apart[:, :k]
        return indices, distances, np.concatenate(open_)

    def with_points(self, X_new: Any) -> KeptCells:
        """Return the cells of more points, which follow the others."""
        new = self._space(X_new)
        keys = np.concatenate([self.keys, new.priorities])
        order = np.concatenate([self.order, len(self.order) + np.arange(new.n_points)])
        sorted_ = np.argsort(keys, kind="stable")
        search = self.search.with_points(new.points.coordinates)
        return replace(self, search=search, keys=keys[sorted_], order=order[sorted_])

    def _space(self, rows: Any) -> _Space:
        rows = unit_rows(rows) if self.metric == "cosine" else np.asarray(rows, dtype=np.float64)
        coordinates = rows * (1.0 / self.unit) - self.shift
        return _Space(Points(coordinates, self.unit), self.metric, len(coordinates))

    def _equal(self, X: Any, new: _Space) -> IntArray:
        """Return an old point that is equal to each new one, -1 where there is none."""
        places = np.minimum(np.searchsorted(self.keys, new.priorities), len(self.keys) - 1)
        found = self.order[places]
        same = self.keys[places] == new.priorities
        same[same] = (self._space(X[found[same]]).points.coordinates == new.points.coordinates[same]).all(1)
        return np.where(same, found, -1)


def _approximate(
    space: _Space, k: int, search: str, random_state: int | np.random.RandomState | None
) -> NearestNeighborLists:
    rng = check_random_state(0 if random_state is None else random_state)
    n_points = space.n_points
    sample = rng.choice(n_points, size=min(2 * RECALL_SAMPLE, n_points), replace=False)
    truth, true_distances = _nearest(space, k, sample)
    fitted, measured = sample[::2], sample[1::2]
    with limit_threads(1):
        # On several threads k-means adds up in another order, and some points fall into other cells.
        cells = calibrate(space.points.coordinates, fitted, truth[::2], rng)
    if search == "auto" and cells.scanned > LARGEST_SCAN * n_points:
        return NearestNeighborLists(*_nearest(space, k, np.arange(n_points)), recall=1.0)
    indices, distances = _in_cells(space, cells, k)
    # A point as near as the k-th true neighbour is one: duplicates and ties can be listed in any order.
    reach = true_distances[1::2, -1:] * (1 + TIED)
    recall = float(np.mean(distances[measured] <= reach))
    if recall < 0.98:
        warn(
            f"The approximate search found {recall:.1%} of the true neighbours of {measured.size} points; "
            "use search='exact'.",
            GraphWarning,
        )
    return NearestNeighborLists(indices, distances, recall, KeptCells.of(space, cells))


def _in_cells(space: _Space, search: CellSearch, k: int) -> tuple[npt.NDArray, FloatArray]:
    """Return the k nearest of the candidates of every point, by true distance."""
    n_points = space.n_points
    indices, distances = np.empty((n_points, k), dtype=np.intp), np.empty((n_points, k))

    def compare(rows: slice) -> IntArray:
        points = search.cells.order[rows]
        proposed = _without_self(search.propose(rows), points)
        found, apart = space.sorted(np.maximum(proposed, 0), points, k)
        indices[points], distances[points] = found[:, :k], apart[:, :k]
        return points[(proposed < 0).any(axis=1)]

    with limit_threads(1):
        runs = list(search.runs())
        unfinished = np.concatenate([*track(each_chunk(compare, runs), len(runs))])
    if unfinished.size:
        # Their cells held too few points.
        indices[unfinished], distances[unfinished] = _nearest(space, k, unfinished)
    return indices, distances


def _without_self(indices: npt.NDArray, points: IntArray) -> npt.NDArray:
    """Drop each point from its own list; where duplicates pushed it out, drop the farthest entry."""
    own = indices == points[:, None]
    own[~own.any(axis=1), -1] = True
    return indices[~own].reshape(points.size, -1)
