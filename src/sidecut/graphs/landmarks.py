"""Choosing landmarks: a few points that stand for all (SCACS, step 2; Chen & Cai, 2011)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.cluster import kmeans_plusplus
from sklearn.utils import check_random_state

from sidecut.graphs.chunks import Chunk, RowSource, each_chunk, refuse_nonfinite
from sidecut.graphs.graph import FloatArray
from sidecut.parameters import check_count

#: The rules look at this many rows per landmark; more change the landmarks little and cost much.
SAMPLED_PER_LANDMARK = 10
#: Lloyd steps of the rule "kmeans". Landmarks need not be optimal, only well spread.
KMEANS_STEPS = 3
#: They are taken for so many points at a time.
TILE_ROWS = 512

RULES = ("random", "kmeans", "kmeans++")


def choose_landmarks(
    rows: RowSource,
    landmarks: str | npt.ArrayLike = "kmeans",
    n_landmarks: int = 500,
    random_state: int | np.random.RandomState | None = None,
) -> Any:
    """Return the landmarks, one per row, each different from the others.

    Parameters
    ----------
    rows : RowSource
        The points, such as `RowChunks`; read once, or not at all if the landmarks are given.
    landmarks : {"kmeans", "random", "kmeans++"}, row numbers, or array of shape (p, d), default="kmeans"
        "random" draws points, as the paper does; "kmeans" takes the centres of a few steps of k-means on a
        sample of the points; "kmeans++" draws points far from each other out of such a sample. Row numbers or
        the landmarks themselves may be given instead.
    n_landmarks : int, default=500
        p, for the rules; no more than half as many as there are points, so that a landmark joins some.
    random_state : int, RandomState or None
        For the rules. The same seed draws the same rows whatever the form of the source.

    Returns
    -------
    array or csr_array of shape (p, d)
        In float64.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import RowChunks, choose_landmarks
    >>> rows = RowChunks(np.arange(10.0)[:, None])
    >>> choose_landmarks(rows, [7, 2]).ravel()
    array([7., 2.])
    >>> choose_landmarks(rows, "random", 3, random_state=0).shape
    (3, 1)
    """
    if isinstance(landmarks, str):
        if landmarks not in RULES:
            raise ValueError(
                f"landmarks={landmarks!r}: choose {', '.join(map(repr, RULES))}, row numbers, or an array of "
                "landmarks."
            )
        return _by_rule(rows, landmarks, check_count("n_landmarks", n_landmarks), random_state)
    given = sp.csr_array(landmarks) if sp.issparse(landmarks) else np.asarray(landmarks)
    if given.ndim == 1 and given.size and given.dtype.kind in "iu":
        return distinct(rows.take(_checked_rows(given, rows.n_rows)))
    if given.ndim != 2 or 0 in given.shape or given.dtype.kind not in "fiub":
        raise ValueError(
            f"landmarks has shape {given.shape} and dtype {given.dtype}; give row numbers, shape (p,), or "
            "points, shape (p, d)."
        )
    refuse_nonfinite(given, 0, "landmarks")
    return distinct(given)


def distinct(points: Chunk) -> Any:
    """Return the different rows in float64, each where it first appears.

    A point would spend its nearest landmarks on copies of one, and copies beyond them would be nobody's.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs.landmarks import distinct
    >>> distinct(np.array([[2.0], [1.0], [2.0]])).ravel()
    array([2., 1.])
    """
    points = points.astype(np.float64, copy=False)
    # Adding zero turns -0.0 into 0.0, which is equal but has other bytes.
    if sp.issparse(points):
        keys = np.array(
            [(points[[i]].toarray() + 0.0).tobytes() for i in range(points.shape[0])], dtype=object
        )
    else:
        rows = np.ascontiguousarray(points + 0.0)
        if _surely_differ(rows):
            return points
        keys = rows.view(np.dtype((np.void, 8 * rows.shape[1]))).ravel()
    return points[np.sort(np.unique(keys, return_index=True)[1])]


def _surely_differ(rows: FloatArray) -> bool:
    """Tell whether all rows have different checksums; equal rows have equal ones.

    Sorting numbers is many times cheaper than sorting rows, and equal rows are rare.
    """
    # Sums modulo 2⁶⁴ of the halves of every number, each times an odd number of its own; whole numbers would
    # not do, since round ones end in so many zero bits that hardly any are left of the product.
    halves = rows.view(np.uint32)
    odd = 2 * np.random.default_rng(0).integers(2**62, size=halves.shape[1], dtype=np.uint64) + 1
    return bool(np.unique(np.einsum("ij,j->i", halves, odd, dtype=np.uint64)).size == rows.shape[0])


def _by_rule(
    rows: RowSource, rule: str, n_landmarks: int, random_state: int | np.random.RandomState | None
) -> Any:
    rng = check_random_state(random_state)
    size = n_landmarks if rule == "random" else SAMPLED_PER_LANDMARK * n_landmarks
    sample, n_rows = rows.sampled(size, rng)
    sample = distinct(sample)
    n_landmarks = min(n_landmarks, max(n_rows // 2, 1))
    if sample.shape[0] <= n_landmarks:
        return sample
    if rule == "random":
        return sample[np.sort(rng.choice(sample.shape[0], n_landmarks, replace=False))]
    if rule == "kmeans++":
        return sample[kmeans_plusplus(sample, n_landmarks, random_state=rng)[1]]
    return distinct(_lloyd(sample, np.sort(rng.choice(sample.shape[0], n_landmarks, replace=False))))


def _lloyd(sample: Chunk, start: npt.NDArray[np.intp]) -> FloatArray:
    """Return the centres after a few steps of k-means from some of the points.

    Sums are made tile by tile in their order, so that threads do not change the last digits.
    """
    # Moved and scaled, squares neither overflow nor lose the digits that tell points apart.
    middle = np.zeros(sample.shape[1]) if sp.issparse(sample) else sample.mean(axis=0)
    points = sample if sp.issparse(sample) else sample - middle
    numbers = points.data if sp.issparse(points) else points
    largest = float(max(numbers.max(initial=0.0), -numbers.min(initial=0.0))) or 1.0
    points = points / largest
    centers = points[start].toarray() if sp.issparse(points) else points[start]
    tiles = [points[first : first + TILE_ROWS] for first in range(0, points.shape[0], TILE_ROWS)]
    for _ in range(KMEANS_STEPS):
        found = list(each_chunk(partial(_nearest_sums, centers), tiles))
        counts = np.sum([count for _, count in found], axis=0)
        there = counts > 0
        centers[there] = np.sum([more for more, _ in found], axis=0)[there] / counts[there, None]
    return largest * centers + middle


def _nearest_sums(centers: FloatArray, points: Chunk) -> tuple[FloatArray, FloatArray]:
    """Return the sum of the points nearest to each centre, and how many they are."""
    nearest = (np.einsum("ij,ij->i", centers, centers) - 2.0 * (points @ centers.T)).argmin(axis=1)
    n_points = points.shape[0]
    shape = (n_points, centers.shape[0])
    member = sp.csr_array((np.ones(n_points), nearest, np.arange(n_points + 1)), shape=shape)
    sums = member.T @ points
    return (sums.toarray() if sp.issparse(sums) else sums), np.asarray(member.sum(axis=0), dtype=np.float64)


def _checked_rows(indices: np.ndarray, n_rows: int | None) -> np.ndarray:
    if indices.min() < 0 or (n_rows is not None and indices.max() >= n_rows):
        outside = indices.min() if indices.min() < 0 else indices.max()
        raise ValueError(f"landmarks names row {outside}; rows are numbered from 0 to n_samples - 1.")
    return indices.astype(np.intp)
