"""Points coded over landmarks, a chunk of rows at a time (SCACS, eq. 3), and the sums that follow from it.

Every function here takes a chunk and returns a value, so that rows in memory, on disk and on other machines
are one and the same reduction: nearest landmarks, then σ, then codes, then sums of codes.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Any, Protocol, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sidecut.checks import FloatArray, IntArray, check_count, is_number
from sidecut.constraints import Constraints
from sidecut.graphs.chunks import RowChunks, each_chunk, stack_chunks
from sidecut.graphs.recipes import as_rows_of_edges
from sidecut.graphs.search import CLOSE, squared_rows

#: Distances are computed for this many rows at a time: those to 500 landmarks then fit in the cache.
TILE_ROWS = 512
#: Columns of the constraint matrix are made so that about this many numbers are dense at a time.
BLOCK_NUMBERS = 4_000_000


@dataclass(frozen=True)
class NearestLandmarks:
    """The nearest landmarks of a chunk of rows, the nearest first.

    Attributes
    ----------
    indices : array of int32, shape (n, r)
        Which landmarks.
    distances : array of shape (n, r)
        How far they are, from the differences themselves, so that equal points are at zero.
    mean : float
        The mean distance of these rows to all p landmarks, from which σ is made.
    """

    indices: npt.NDArray[np.int32]
    distances: FloatArray
    mean: float

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.indices.shape[0])


@dataclass(frozen=True)
class LandmarkSums:
    """What the codes of some rows add up to: all that the p x p problem knows of the unconstrained points.

    Attributes
    ----------
    degrees : array of shape (p,)
        D_ii = Σ_j Z_ij, the degrees of the landmarks.
    gram : array of shape (p, p)
        S = Z Zᵀ.
    n_rows : int
        How many rows they are the sum of.
    """

    degrees: FloatArray
    gram: FloatArray
    n_rows: int

    def __add__(self, other: LandmarkSums) -> LandmarkSums:
        return LandmarkSums(self.degrees + other.degrees, self.gram + other.gram, self.n_rows + other.n_rows)

    def restricted(self, kept: IntArray) -> LandmarkSums:
        """Return the sums for some of the landmarks."""
        return LandmarkSums(self.degrees[kept], self.gram[np.ix_(kept, kept)], self.n_rows)


class LandmarkCoder:
    """Finds the nearest landmarks of rows.

    Parameters
    ----------
    landmarks : array or sparse matrix of shape (p, d)
        The landmarks, all different.
    n_nearest : int, default=3
        r, how many landmarks code a point; no more than there are.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import LandmarkCoder
    >>> coder = LandmarkCoder(np.array([[0.0], [1.0], [5.0]]), n_nearest=2)
    >>> near = coder.nearest(np.array([[1.0], [4.0]]))
    >>> near.indices.tolist(), near.distances.tolist(), near.mean
    ([[1, 0], [2, 1]], [[0.0, 1.0], [1.0, 3.0]], 2.1666666666666665)
    """

    def __init__(self, landmarks: Any, n_nearest: int = 3) -> None:
        self.landmarks = landmarks
        self.n_landmarks, self.n_features = (int(size) for size in landmarks.shape)
        self.n_nearest = min(check_count("n_nearest", n_nearest), self.n_landmarks)
        is_sparse = sp.issparse(landmarks)
        # A common shift changes no distance, and keeps the digits large coordinates would swallow; a power of
        # two keeps squares from overflowing without rounding anything.
        values = landmarks.data if is_sparse else landmarks
        self._exponent = int(np.frexp(np.abs(values).max(initial=0.0))[1])
        self._shift = np.zeros(self.n_features) if is_sparse else self._scaled(landmarks).mean(axis=0)
        self._coordinates = self._prepared(landmarks)
        self._norms = squared_rows(self._coordinates)

    def restricted(self, kept: IntArray) -> LandmarkCoder:
        """Return a coder that knows only some of the landmarks, and measures to the same last bit."""
        other = copy(self)
        other.landmarks, other.n_landmarks = self.landmarks[kept], int(kept.size)
        other.n_nearest = min(self.n_nearest, other.n_landmarks)
        other._coordinates, other._norms = self._coordinates[kept], self._norms[kept]
        return other

    def nearest(self, rows: Any) -> NearestLandmarks:
        """Return the nearest landmarks of a chunk of rows.

        Ties go to the landmark that comes first. Where rounding of the matrix product could blur the order,
        because a row lies very close to its landmarks, distances come from differences.
        """
        if rows.shape[1] != self.n_features:
            raise ValueError(f"the rows have {rows.shape[1]} features, the landmarks have {self.n_features}.")
        # Allocated once: where memory goes back to the system at once, as in the workers of a cluster, fresh
        # pages for every tile would take longer than the distances.
        work = np.empty((2, min(TILE_ROWS, rows.shape[0]), self.n_landmarks))
        starts = range(0, rows.shape[0], TILE_ROWS)
        tiles = [self._tile(rows[start : start + TILE_ROWS], work) for start in starts]
        return NearestLandmarks(
            np.concatenate([tile.indices for tile in tiles]),
            np.concatenate([tile.distances for tile in tiles]),
            mean_distance([(tile.mean, tile.n_rows) for tile in tiles]),
        )

    def _tile(self, rows: Any, work: FloatArray) -> NearestLandmarks:
        rows = self._prepared(rows)
        norms = squared_rows(rows)
        first, second = work[:, : rows.shape[0]]
        squared = self._squared_distances(rows, norms, first)
        total = float(np.sqrt(squared, out=second).sum())
        if not np.isfinite(total):
            raise ValueError(
                f"a row lies {np.ldexp(np.sqrt(norms.max()), self._exponent):.3g} from the landmarks, so far "
                "that distances overflow. Rescale X, or leave the row out."
            )
        indices = _smallest(squared, self.n_nearest)
        near = self._squared_differences(rows, indices)
        blurred = np.flatnonzero(near.max(axis=1) < CLOSE * norms)
        if blurred.size:
            everyone = np.broadcast_to(np.arange(self.n_landmarks), (blurred.size, self.n_landmarks))
            exact = self._squared_differences(rows[blurred], everyone)
            indices[blurred] = np.argsort(exact, axis=1, kind="stable")[:, : self.n_nearest]
            near[blurred] = np.take_along_axis(exact, indices[blurred], 1)
        order = np.lexsort((indices, near), axis=-1)
        return NearestLandmarks(
            np.take_along_axis(indices, order, 1).astype(np.int32),
            np.ldexp(np.sqrt(np.take_along_axis(near, order, 1)), self._exponent),
            float(np.ldexp(total / squared.size, self._exponent)),
        )

    def _scaled(self, rows: Any) -> Any:
        if sp.issparse(rows):
            data = np.ldexp(rows.data.astype(np.float64), -self._exponent)
            return sp.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)
        if abs(self._exponent) > 1000:
            return np.ldexp(rows.astype(np.float64), -self._exponent)
        # Conversion and scaling in one go, exact as well and many times faster than ldexp.
        return np.multiply(rows, 2.0**-self._exponent, dtype=np.float64)

    def _prepared(self, rows: Any) -> Any:
        scaled = self._scaled(rows)
        if sp.issparse(scaled) and self._shift.any():
            scaled = scaled.toarray()
        if not sp.issparse(scaled):
            scaled -= self._shift
        return scaled

    def _squared_distances(self, rows: Any, norms: FloatArray, out: FloatArray) -> FloatArray:
        """Return ‖x‖² - 2xᵀu + ‖u‖² of rows and all landmarks, in memory that is there already."""
        if sp.issparse(rows) or sp.issparse(self._coordinates):
            products = rows @ self._coordinates.T
            squared = products.toarray(out=out) if sp.issparse(products) else np.asarray(products)
        else:
            squared = np.matmul(rows, self._coordinates.T, out=out)
        squared *= -2.0
        squared += norms[:, None]
        squared += self._norms
        return np.maximum(squared, 0.0, out=squared)

    def _squared_differences(self, rows: Any, indices: IntArray) -> FloatArray:
        """Return ‖x - u‖² of rows and their landmarks, free of cancellation."""
        if sp.issparse(rows) or sp.issparse(self._coordinates):
            return np.column_stack([squared_rows(rows - self._coordinates[column]) for column in indices.T])
        squared = np.empty(indices.shape)
        # A buffer of 0.5 MB stays in the cache: ten times faster than whole arrays of differences.
        height = max(1, 65_536 // max(self.n_features, 1))
        buffer = np.empty((height, self.n_features))
        for start in range(0, rows.shape[0], height):
            part = rows[start : start + height]
            gaps = buffer[: part.shape[0]]
            for place, landmark in enumerate(indices[start : start + height].T):
                np.take(self._coordinates, landmark, axis=0, out=gaps, mode="clip")
                np.subtract(part, gaps, out=gaps)
                squared[start : start + height, place] = squared_rows(gaps)
        return squared


def check_sigma(sigma: Any) -> float | str:
    """Return σ, or "mean" for the mean distance; say why anything else is no width."""
    if isinstance(sigma, str) and sigma == "mean":
        return sigma
    if not is_number(sigma) or not 0 < sigma < np.inf:
        raise ValueError(f"sigma={sigma!r} is not a width; use a positive finite number or 'mean'.")
    return float(sigma)


def mean_distance(chunks: Sequence[tuple[float, int]]) -> float:
    """Return σ, the mean distance between all points and all landmarks (section 5.2)."""
    # A mean of means, since the sum of all distances may be larger than any number.
    n_rows = sum(n for _, n in chunks)
    return math.fsum(mean * (n / n_rows) for mean, n in chunks)


def code_points(nearest: NearestLandmarks, sigma: float, n_landmarks: int) -> sp.csr_array:
    """Return the codes of a chunk, eq. 3: Gaussian weights on the nearest landmarks, rows that sum to one.

    Parameters
    ----------
    nearest : NearestLandmarks
        Of the chunk.
    sigma : float
        σ of exp(-d²/(2σ²)). If it is zero all points are equal, and weights are too.
    n_landmarks : int
        p.

    Returns
    -------
    csr_array of shape (n, p)
        Zᵀ for these rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import LandmarkCoder, code_points
    >>> near = LandmarkCoder(np.array([[0.0], [1.0], [5.0]]), n_nearest=2).nearest(np.array([[0.5], [5.0]]))
    >>> code_points(near, sigma=2.0, n_landmarks=3).toarray().round(3)
    array([[0.5  , 0.5  , 0.   ],
           [0.   , 0.119, 0.881]])
    """
    # Only differences of exponents matter. Counted from the nearest, one of them is zero, so that a point far
    # from all landmarks still has a code.
    far, near = nearest.distances, nearest.distances[:, :1]
    with np.errstate(over="ignore", invalid="ignore"):
        width = sigma if sigma > 0 else 1.0
        exponents = np.where(far > near, 0.5 * ((far - near) / width) * ((far + near) / width), 0.0)
    weights = np.exp(-exponents)
    weights /= weights.sum(axis=1, keepdims=True)
    return as_rows_of_edges(nearest.indices, weights, n_landmarks)


def landmark_sums(codes: sp.csr_array) -> LandmarkSums:
    """Return the degrees of the landmarks and Z Zᵀ for a chunk of codes.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from sidecut.graphs import landmark_sums
    >>> sums = landmark_sums(sp.csr_array([[0.5, 0.5], [0.0, 1.0]]))
    >>> sums.degrees, sums.gram
    (array([0.5, 1.5]), array([[0.25, 0.25],
           [0.25, 1.25]]))
    """
    degrees = np.asarray(codes.sum(axis=0), dtype=np.float64)
    return LandmarkSums(degrees, (codes.T @ codes).toarray(), int(codes.shape[0]))


def constraint_gram(codes: sp.csr_array, constraints: Constraints) -> FloatArray:
    """Return Z Q Zᵀ from the codes of the constrained points alone (step 4, before D^{-1/2}).

    Parameters
    ----------
    codes : csr_array of shape (c, p)
        Codes of the constrained points.
    constraints : Constraints
        Restricted to those points, in that order.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from sidecut import Constraints
    >>> from sidecut.graphs import constraint_gram
    >>> constraint_gram(sp.csr_array([[1.0, 0.0], [0.5, 0.5]]), Constraints.from_labels([0, 1]))
    array([[ 0.25, -0.25],
           [-0.25,  0.25]])
    """
    n_points, n_landmarks = codes.shape
    width = max(1, BLOCK_NUMBERS // max(n_points, 1))
    by_landmark, transposed = codes.tocsc(), codes.T.tocsr()
    columns = [
        transposed @ constraints.apply(by_landmark[:, start : start + width].toarray())
        for start in range(0, n_landmarks, width)
    ]
    gram = np.hstack(columns)
    return 0.5 * (gram + gram.T)


def _smallest(values: FloatArray, count: int) -> IntArray:
    """Return the columns of the smallest values of every row, ties to the lower; overwrites the values."""
    # Up to 12 are found one after the other, which is many times faster than sorting.
    if count > 12:
        last = np.partition(values, count - 1, axis=1)[:, count - 1, None]
        below, equal = values < last, values == last
        fill = count - np.count_nonzero(below, axis=1)[:, None]
        return np.nonzero(below | (equal & (equal.cumsum(axis=1) <= fill)))[1].reshape(-1, count)
    rows = np.arange(values.shape[0])
    found = np.empty((values.shape[0], count), dtype=np.intp)
    for place in range(count):
        found[:, place] = values.argmin(axis=1)
        values[rows, found[:, place]] = np.inf
    return found


#: Wraps an iterable to show how far it has come, as tqdm does.
ProgressBar = Callable[..., Iterable[Any]]


class RowCodes(Protocol):
    """What the p x p problem asks of coded rows, wherever they lie: here, on a disk, on other machines."""

    coder: LandmarkCoder
    sigma: float
    sums: LandmarkSums

    def take(self, points: IntArray) -> sp.csr_array:
        """Return the codes of some rows, given in ascending order."""


class SpooledNearest:
    """Nearest landmarks of chunks, written to a temporary file and read back in order, as often as one likes.

    Parameters
    ----------
    folder : str, optional
        Where the file lies; the system's folder for temporary files by default. It takes 12 r bytes per row
        and is gone with this object, or when the ``with`` it was opened in is left.
    """

    def __init__(self, folder: str | None = None) -> None:
        # It lives as long as this object, or until its context is left.
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        self._n_chunks = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def append(self, nearest: NearestLandmarks) -> None:
        """Keep the nearest landmarks of one more chunk."""
        np.save(self._file, nearest.indices)
        np.save(self._file, nearest.distances)
        self._n_chunks += 1

    def __iter__(self) -> Iterator[NearestLandmarks]:
        position = 0
        for _ in range(self._n_chunks):
            self._file.seek(position)
            indices, distances = np.load(self._file), np.load(self._file)
            position = self._file.tell()
            yield NearestLandmarks(indices, distances, mean=np.nan)


class CodedRows:
    """The codes of all rows, chunk by chunk, with what they add up to.

    Landmarks that are among the nearest of no row have no part in the graph and are left out.

    Parameters
    ----------
    coder : LandmarkCoder
        Knows the landmarks.
    nearest : list of NearestLandmarks or SpooledNearest
        The nearest landmarks of all rows, chunk by chunk.
    sigma : float
        σ.
    n_jobs : int or None
        Number of threads.
    """

    def __init__(
        self,
        coder: LandmarkCoder,
        nearest: list[NearestLandmarks] | SpooledNearest,
        sigma: float,
        n_jobs: int | None = None,
    ) -> None:
        self.sigma = sigma
        self.n_jobs = n_jobs
        self._nearest = nearest
        self._n_all = coder.n_landmarks
        sums = reduce(add, self.each(landmark_sums))
        self.kept = np.flatnonzero(sums.degrees > 0)
        self.sums: LandmarkSums = sums.restricted(self.kept)
        self.coder = coder if self.kept.size == coder.n_landmarks else coder.restricted(self.kept)
        self.n_rows = sums.n_rows

    def each(self, function: Callable[[sp.csr_array], Any]) -> Iterator[Any]:
        """Apply a function to the codes of every chunk, on several threads, results in order."""
        return each_chunk(lambda nearest: function(self._codes(nearest)), self._nearest, self.n_jobs)

    def _codes(self, nearest: NearestLandmarks) -> sp.csr_array:
        codes = code_points(nearest, self.sigma, self._n_all)
        kept = getattr(self, "kept", None)
        return codes if kept is None or kept.size == self._n_all else sp.csr_array(codes[:, kept])

    @cached_property
    def matrix(self) -> sp.csr_array:
        """The codes of all rows as one matrix."""
        return stack_chunks(list(self.each(lambda codes: codes)))

    def take(self, points: IntArray) -> sp.csr_array:
        """Return the codes of some rows, given in ascending order."""
        parts, start = [sp.csr_array((0, self.kept.size))], 0
        for nearest in self._nearest:
            first, last = np.searchsorted(points, [start, start + nearest.n_rows])
            if last > first:
                here = points[first:last] - start
                some = NearestLandmarks(nearest.indices[here], nearest.distances[here], mean=np.nan)
                parts.append(self._codes(some))
            start += nearest.n_rows
        return stack_chunks(parts)


def code_rows(
    rows: RowChunks,
    coder: LandmarkCoder,
    *,
    sigma: float | str = "mean",
    spool: SpooledNearest | None = None,
    progress: ProgressBar | None = None,
    n_jobs: int | None = None,
) -> CodedRows:
    """Code rows over landmarks in a single pass over them.

    The width σ is known only after all distances are, so the distances of the nearest landmarks are kept and
    become weights afterwards.

    Parameters
    ----------
    rows : RowChunks
        The points.
    coder : LandmarkCoder
        Knows the landmarks.
    sigma : float or "mean", default="mean"
        σ of the Gaussian weights; "mean" is the mean distance between all points and landmarks.
    spool : SpooledNearest, optional
        Where to keep the nearest landmarks; in memory by default.
    progress : callable, optional
        Shows how far the pass has come, as tqdm does.
    n_jobs : int or None, default=None
        Number of threads, all processors by default.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import LandmarkCoder, RowChunks, code_rows
    >>> X = np.arange(6.0)[:, None]
    >>> codes = code_rows(RowChunks(X), LandmarkCoder(X[::2], n_nearest=2))
    >>> codes.matrix.sum(axis=1)
    array([1., 1., 1., 1., 1., 1.])
    >>> codes.sigma
    1.9444444444444444
    """
    sigma = check_sigma(sigma)
    found: Iterable[NearestLandmarks] = each_chunk(coder.nearest, rows, n_jobs)
    if progress is not None:
        found = progress(found, desc="coding", total=rows.n_chunks)
    kept: list[NearestLandmarks] | SpooledNearest = [] if spool is None else spool
    means: list[tuple[float, int]] = []
    for nearest in found:
        kept.append(nearest)
        means.append((nearest.mean, nearest.n_rows))
    if not any(n_rows for _, n_rows in means):
        raise ValueError("the source has no rows.")
    width = mean_distance(means) if isinstance(sigma, str) else sigma
    return CodedRows(coder, kept, width, n_jobs)
