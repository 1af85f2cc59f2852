"""All rows coded over landmarks: in memory, or spooled to a disk and made again whenever they are needed."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, reduce
from operator import add
from typing import Any, Protocol, Self

import numpy as np
import scipy.sparse as sp

from sidecut.arrays import IntArray
from sidecut.graphs.chunks import RowChunks, each_chunk, stack_chunks
from sidecut.graphs.landmark_codes import (
    LandmarkCoder,
    LandmarkSums,
    NearestLandmarks,
    check_sigma,
    code_points,
    landmark_sums,
    mean_distance,
)

#: Wraps an iterable to show how far it has come, as tqdm does.
Progress = Callable[..., Iterable[Any]]


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
    progress: Progress | None = None,
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
