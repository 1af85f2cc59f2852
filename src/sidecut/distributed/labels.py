"""Embedding to labels on a cluster: k-means by sums over partitions, and names by first appearance."""

from __future__ import annotations

from collections.abc import Sequence

import dask
import numpy as np
from dask.delayed import Delayed

from sidecut.arrays import FloatArray, IntArray
from sidecut.distributed.cluster import share
from sidecut.distributed.partitions import PartitionedRows, rows_of
from sidecut.labelling import nearest_centers
from sidecut.labelling.lloyd import CenterSums, center_sums, reduced_kmeans


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
    >>> from sidecut.distributed.labels import in_order_of_appearance
    >>> in_order_of_appearance(np.array([2, 2, 0, 2, 1]))
    array([2, 0, 1])
    """
    values, first = np.unique(found, return_index=True)
    return values[np.argsort(first)]


def rename(found: IntArray, rank: IntArray) -> IntArray:
    """Return the new name of every value."""
    return rank[found]
