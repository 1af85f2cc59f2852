"""K-means of rows that come in chunks, too many to hold: the same result as if they were all in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial, reduce
from operator import add
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement

from sidecut.checks import FloatArray, IntArray
from sidecut.labelling.labels import kmeans_centers

#: Up to this many rows are clustered at once; of more, a sample of this size decides where the search begins.
SAMPLE_ROWS = 20_000
#: The most steps over all rows after that. From the centres of a sample few are needed.
MAX_STEPS = 20

Rows = FloatArray
#: Applies a function to every chunk of rows, in one thread or in many; results in the order of the chunks.
Each = Callable[[Callable[[Rows], Any]], Iterable[Any]]


@dataclass(frozen=True)
class CenterSums:
    """The sums and the number of the rows nearest to each centre."""

    sums: Rows
    counts: Rows

    def __add__(self, other: CenterSums) -> CenterSums:
        return CenterSums(self.sums + other.sums, self.counts + other.counts)

    def moved(self, centers: Rows) -> Rows:
        """Return every centre at the mean of the rows nearest to it; a centre without such rows stays."""
        there = self.counts > 0
        moved = centers.copy()
        moved[there] = self.sums[there] / self.counts[there, None]
        return moved


def chunked_kmeans(
    each: Each,
    n_rows: int,
    n_clusters: int,
    *,
    n_init: int = 10,
    random_state: int | np.random.RandomState | None = None,
) -> Rows:
    """Return the centres k-means finds for rows that come in chunks.

    Up to 20,000 rows are clustered at once. Of more, 20,000 are drawn and clustered with all starts, and
    the best centres move on by Lloyd's steps over all rows. Sums are made chunk by chunk in their order, so
    that the result is the same to the last bit whether chunks lie in memory or are made again every time.

    Parameters
    ----------
    each : callable
        Takes a function, applies it to every chunk, an array of shape (any, m), and returns an iterable over
        the results in the order of the chunks. The chunks must be the same each time.
    n_rows : int
        How many rows there are in all.
    n_clusters : int
        The number of clusters.
    n_init : int, default=10
        Number of k-means++ starts.
    random_state : int, RandomState or None
        Seed of the sample and of the starts.

    Returns
    -------
    array of shape (n_clusters, m)
        The centres; fewer where there are fewer different rows. Rows of zeros do not count.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.labelling import chunked_kmeans
    >>> rows = np.array([[0.0, 2.0], [0.2, 2.0], [5.0, 0.0], [5.2, 0.0]])
    >>> each = lambda function: map(function, [rows[:1], rows[1:]])
    >>> centers = chunked_kmeans(each, 4, 2, random_state=0)
    >>> centers[np.argsort(centers[:, 0])].round(3)
    array([[0.1, 2. ],
           [5.1, 0. ]])
    """
    return reduced_kmeans(
        lambda chosen: _rows_at(each, chosen),
        lambda centers: reduce(add, each(partial(center_sums, centers=centers))),
        n_rows,
        n_clusters,
        n_init=n_init,
        random_state=random_state,
    )


def reduced_kmeans(
    rows_at: Callable[[IntArray], Rows],
    total: Callable[[Rows], CenterSums],
    n_rows: int,
    n_clusters: int,
    *,
    n_init: int = 10,
    random_state: int | np.random.RandomState | None = None,
) -> Rows:
    """Return the centres k-means finds for rows that lie anywhere, see `chunked_kmeans`."""
    rng = check_random_state(random_state)
    chosen = np.arange(n_rows)
    if n_rows > SAMPLE_ROWS:
        chosen = np.sort(sample_without_replacement(n_rows, SAMPLE_ROWS, random_state=rng))
    sample = rows_at(chosen)
    centers = kmeans_centers(sample, n_clusters, n_init=n_init, random_state=rng)
    if n_rows <= SAMPLE_ROWS:
        return centers
    # As in scikit-learn.
    enough = 1e-4 * float(sample.var(axis=0).mean())
    for _ in range(MAX_STEPS):
        moved = total(centers).moved(centers)
        shift = float(((moved - centers) ** 2).sum())
        centers = moved
        if shift <= enough:
            break
    return centers


def nearest_centers(rows: Rows, centers: Rows) -> IntArray:
    """Return for every row the nearest centre, ties to the first.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.labelling import nearest_centers
    >>> nearest_centers(np.array([[0.1], [0.9], [0.5]]), np.array([[0.0], [1.0]]))
    array([0, 1, 0])
    """
    # ‖x‖² is the same for all centres. One centre at a time: argmin along short rows is many times slower.
    distances = (centers**2).sum(axis=1)[:, None] - 2.0 * (centers @ rows.T)
    best, labels = distances[0].copy(), np.zeros(len(rows), dtype=np.intp)
    for k in range(1, len(centers)):
        nearer = distances[k] < best
        labels[nearer] = k
        np.minimum(best, distances[k], out=best)
    return labels


def center_sums(rows: Rows, centers: Rows) -> CenterSums:
    """Return the sums of the rows nearest to each centre."""
    labels = nearest_centers(rows, centers)
    counted = np.any(rows != 0, axis=1).astype(np.float64)
    shape = (len(rows), len(centers))
    member = sparse.csr_array((counted, labels, np.arange(len(rows) + 1)), shape=shape)
    counts = np.bincount(labels, weights=counted, minlength=len(centers)).astype(np.float64, copy=False)
    return CenterSums(member.T @ rows, counts)


def fill_empty(
    labels: IntArray, distances: FloatArray, n_clusters: int, farther_than: float = -np.inf
) -> IntArray:
    """Give every empty cluster the farthest point of a cluster that has more than one."""
    counts = np.bincount(labels, minlength=n_clusters)
    empty = np.flatnonzero(counts == 0)
    if len(empty) == 0:
        return labels
    labels = labels.copy()
    for point in np.argsort(-distances, kind="stable"):
        if len(empty) == 0 or distances[point] <= farther_than:
            break
        if counts[labels[point]] > 1:
            counts[labels[point]] -= 1
            labels[point], empty = empty[0], empty[1:]
    return labels


def _rows_at(each: Each, chosen: IntArray) -> Rows:
    parts, start = [], 0
    for rows in each(np.asarray):
        first, last = np.searchsorted(chosen, [start, start + len(rows)])
        parts.append(rows[chosen[first:last] - start])
        start += len(rows)
    return np.concatenate(parts)
