"""The codes of rows on a cluster: what `CodedRows` is for rows on one machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dask
import numpy as np
import scipy.sparse as sp
from dask.delayed import Delayed
from dask.sizeof import sizeof

from sidecut.arrays import FloatArray, IntArray
from sidecut.distributed.partitions import PartitionedRows, rows_of, share
from sidecut.graphs import LandmarkCoder, LandmarkSums, NearestLandmarks, code_points, landmark_sums
from sidecut.graphs.chunks import stack_chunks
from sidecut.graphs.landmark_codes import check_sigma, mean_distance
from sidecut.labelling import nearest_centers
from sidecut.labelling.lloyd import CenterSums, center_sums, reduced_kmeans
from sidecut.methods.scacs.base import embed_codes


class PartitionedCodes:
    """The nearest landmarks of all rows, held by the workers, and what their codes add up to.

    As `CodedRows`, it has `coder`, `sigma`, `sums`, `n_rows` and `take`, so that the p x p problem is posed
    and solved by the same code.

    Parameters
    ----------
    rows : PartitionedRows
        The points.
    coder : LandmarkCoder
        Knows the landmarks.
    sigma : float or "mean"
        σ of the Gaussian weights, or the mean distance between all points and landmarks.
    """

    def __init__(self, rows: PartitionedRows, coder: LandmarkCoder, sigma: float | str = "mean") -> None:
        sigma = check_sigma(sigma)
        self.rows, self.n_rows = rows, rows.n_rows
        self._n_all = coder.n_landmarks
        cluster, nearest = rows.cluster, dask.delayed(nearest_landmarks)
        everywhere = share(coder)
        self._nearest = cluster.keep([nearest(everywhere, block) for block in rows.blocks], "coding")
        self.sigma = self._width(sigma)
        sums: LandmarkSums = cluster.total(self._each(landmark_sums))
        self.kept = np.flatnonzero(sums.degrees > 0)
        self.sums = sums.restricted(self.kept)
        self.coder = coder if self.kept.size == coder.n_landmarks else coder.restricted(self.kept)

    def _width(self, sigma: float | str) -> float:
        if not isinstance(sigma, str):
            return sigma
        return mean_distance(self.rows.cluster.fetch([dask.delayed(mean_of)(near) for near in self._nearest]))

    def _each(self, function: Any, *arguments: Any) -> list[Delayed]:
        """Return tasks that apply a function to the codes of every partition."""
        task = dask.delayed(apply_rows)
        kept = getattr(self, "kept", None)
        return [task(function, n, self.sigma, self._n_all, kept, *arguments) for n in self._nearest]

    def take(self, points: IntArray) -> sp.csr_array:
        """Return the codes of some rows, given in ascending order; only they travel."""
        wanted = self.rows.located(points)
        pick, task = dask.delayed(nearest_of), dask.delayed(apply_rows)
        parts = self.rows.cluster.fetch(
            [
                task(pass_unchanged, pick(self._nearest[place], here), self.sigma, self._n_all, self.kept)
                for place, here in wanted.items()
            ]
        )
        return stack_chunks([sp.csr_array((0, self.kept.size)), *parts])

    def embedded(self, projection: FloatArray, unit_rows: bool) -> list[Delayed]:
        """Return the embedding of every partition, held by the workers."""
        tasks = self._each(embed_codes, share(projection), unit_rows)
        return self.rows.cluster.keep(tasks, "embedding")


def nearest_landmarks(coder: LandmarkCoder, rows: Any) -> NearestLandmarks:
    """Return the nearest landmarks of a partition, which may be empty."""
    if rows.shape[0]:
        return coder.nearest(rows)
    shape = (0, coder.n_nearest)
    return NearestLandmarks(np.empty(shape, dtype=np.int32), np.empty(shape), mean=0.0)


def nearest_of(nearest: NearestLandmarks, indices: IntArray) -> NearestLandmarks:
    """Return the nearest landmarks of some rows of a partition."""
    return NearestLandmarks(nearest.indices[indices], nearest.distances[indices], mean=np.nan)


def mean_of(nearest: NearestLandmarks) -> tuple[float, int]:
    """Return the mean distance between the rows and all landmarks, and the number of rows."""
    return nearest.mean, nearest.n_rows


def apply_rows(
    function: Any,
    nearest: NearestLandmarks,
    sigma: float,
    n_landmarks: int,
    kept: IntArray | None,
    *arguments: Any,
) -> Any:
    """Return a function of the codes of a partition, over the landmarks that are kept."""
    codes = code_points(nearest, sigma, n_landmarks)
    if kept is not None and kept.size < n_landmarks:
        codes = sp.csr_array(codes[:, kept])
    return function(codes, *arguments)


def pass_unchanged(codes: sp.csr_array) -> sp.csr_array:
    """Return the codes themselves."""
    return codes


# Dask moves and spills results by their size, and would take these for a few bytes each.


@sizeof.register(NearestLandmarks)
def _(nearest: NearestLandmarks) -> int:
    return int(nearest.indices.nbytes + nearest.distances.nbytes)


@sizeof.register(LandmarkSums)
def _(sums: LandmarkSums) -> int:
    return int(sums.degrees.nbytes + sums.gram.nbytes)


@sizeof.register(LandmarkCoder)
def _(coder: LandmarkCoder) -> int:
    # The landmarks, and the same again in the coordinates distances are measured in.
    return 16 * coder.n_landmarks * coder.n_features


@sizeof.register(CenterSums)
def _(sums: CenterSums) -> int:
    return int(sums.sums.nbytes + sums.counts.nbytes)


# Embedding to labels on a cluster: k-means by sums over partitions, and names by first appearance.


def partitioned_kmeans(
    parts: Sequence[Delayed], rows: PartitionedRows, n_clusters: int, *, n_init: int, random_state: int
) -> FloatArray:
    """Return the centres k-means finds for an embedding held by the workers.

    It is the k-means of rows in memory: the same sample is clustered on the client, with the same starts,
    and Lloyd's steps move its centres by sums over all rows, which are made by the workers.

    Parameters
    ----------
    parts : list of Delayed
        The embedding of every partition.
    rows : PartitionedRows
        Knows where rows lie.
    n_clusters, n_init, random_state
        As in `sidecut.labelling.chunked_kmeans`.
    """
    pick, add_up = dask.delayed(rows_of), dask.delayed(center_sums)

    def rows_at(chosen: IntArray) -> FloatArray:
        wanted = rows.located(chosen)
        return np.concatenate(
            rows.cluster.fetch([pick(parts[place], here) for place, here in wanted.items()])
        )

    def total(centers: FloatArray) -> CenterSums:
        everywhere = share(centers)
        return rows.cluster.total([add_up(part, everywhere) for part in parts])

    return reduced_kmeans(rows_at, total, rows.n_rows, n_clusters, n_init=n_init, random_state=random_state)


def named_labels(
    parts: Sequence[Delayed], rows: PartitionedRows, centers: FloatArray
) -> tuple[list[Delayed], FloatArray, int]:
    """Return the nearest centre of every row, numbered in order of first appearance.

    Returns
    -------
    labels : list of Delayed
        Of every partition, held by the workers.
    centers : array of shape (k, m)
        The centres in the order of these numbers; those nearest to nobody come last.
    n_found : int
        How many clusters have rows.
    """
    find, appear, number = (dask.delayed(f) for f in (nearest_centers, in_order_of_appearance, rename))
    everywhere = share(centers)
    found = rows.cluster.keep([find(part, everywhere) for part in parts], "labels")
    # Of what appears first in some partition, the first is what appears first in the whole.
    appearing = in_order_of_appearance(np.concatenate(rows.cluster.fetch([appear(part) for part in found])))
    order = np.concatenate([appearing, np.setdiff1d(np.arange(len(centers)), appearing)])
    rank = np.argsort(order)
    labels = rows.cluster.keep([number(part, rank) for part in found], "names")
    return labels, centers[order], len(appearing)


def in_order_of_appearance(found: IntArray) -> IntArray:
    """Return the different values, the first to appear first.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.distributed.codes import in_order_of_appearance
    >>> in_order_of_appearance(np.array([2, 2, 0, 2, 1]))
    array([2, 0, 1])
    """
    values, first = np.unique(found, return_index=True)
    return values[np.argsort(first)]


def rename(found: IntArray, rank: IntArray) -> IntArray:
    """Return the new name of every value."""
    return rank[found]
