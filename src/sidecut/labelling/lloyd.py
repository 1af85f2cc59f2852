"""K-means of rows that come in chunks, too many to hold: the same result as if they were all in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement

from sidecut.labelling.kmeans import kmeans_centers

#: Up to this many rows are clustered as they are; of more, a sample decides where the search begins.
SAMPLE_ROWS = 20_000
#: Steps over all rows after that. From the centres of a sample few are needed.
MAX_STEPS = 20
#: The search ends when centres move by less than this share of the spread of the rows, as in scikit-learn.
TOLERANCE = 1e-4

Rows = NDArray[np.float64]
#: Gives a fresh iterator over the chunks of rows, always the same.
Chunks = Callable[[], Iterable[Rows]]


def chunked_kmeans(
    chunks: Chunks,
    n_rows: int,
    n_clusters: int,
    *,
    n_init: int = 10,
    random_state: int | np.random.RandomState | None = None,
) -> Rows:
    """Return the centres k-means finds for rows that come in chunks.

    Up to 20,000 rows are clustered as they are. Of more, so many are drawn and clustered with all starts, and
    the best centres move on by Lloyd's steps over all rows. Sums are made chunk by chunk in their order, so
    that the result is the same to the last bit whether chunks lie in memory or are made again every time.

    Parameters
    ----------
    chunks : callable
        Without arguments; returns an iterable over arrays of shape (any, m), always the same.
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
        The centres; fewer where there are fewer different rows. Zero rows have no say in them.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.labelling import chunked_kmeans
    >>> rows = np.array([[0.0, 2.0], [0.2, 2.0], [5.0, 0.0], [5.2, 0.0]])
    >>> centers = chunked_kmeans(lambda: [rows[:1], rows[1:]], 4, 2, random_state=0)
    >>> centers[np.argsort(centers[:, 0])].round(3)
    array([[0.1, 2. ],
           [5.1, 0. ]])
    """
    rng = check_random_state(random_state)
    sample = _sampled(chunks, n_rows, rng)
    centers = kmeans_centers(sample, n_clusters, n_init=n_init, random_state=rng)
    if n_rows <= SAMPLE_ROWS:
        return centers
    enough = TOLERANCE * float(sample.var(axis=0).mean())
    for _ in range(MAX_STEPS):
        moved = _step(chunks, centers)
        shift = float(((moved - centers) ** 2).sum())
        centers = moved
        if shift <= enough:
            break
    return centers


def nearest_centers(rows: Rows, centers: Rows) -> NDArray[np.intp]:
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


def _step(chunks: Chunks, centers: Rows) -> Rows:
    """Move every centre to the mean of the rows nearest to it; one nobody is nearest to stays."""
    sums, counts = np.zeros(centers.shape), np.zeros(len(centers))
    for rows in chunks():
        labels = nearest_centers(rows, centers)
        told = np.any(rows != 0, axis=1).astype(np.float64)
        shape = (len(rows), len(centers))
        member = sparse.csr_array((told, labels, np.arange(len(rows) + 1)), shape=shape)
        sums += member.T @ rows
        counts += np.bincount(labels, weights=told, minlength=len(centers))
    there = counts > 0
    moved = centers.copy()
    moved[there] = sums[there] / counts[there, None]
    return moved


def _sampled(chunks: Chunks, n_rows: int, rng: np.random.RandomState) -> Rows:
    """Return all rows if they are few, and otherwise so many drawn without replacement, in their order."""
    if n_rows <= SAMPLE_ROWS:
        return np.concatenate(list(chunks()))
    chosen = np.sort(sample_without_replacement(n_rows, SAMPLE_ROWS, random_state=rng))
    parts, start = [], 0
    for rows in chunks():
        first, last = np.searchsorted(chosen, [start, start + len(rows)])
        parts.append(rows[chosen[first:last] - start])
        start += len(rows)
    return np.concatenate(parts)
