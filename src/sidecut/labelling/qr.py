"""Clusters by column-pivoted QR: no starting point, no iteration.

A. Damle, V. Minden and L. Ying, "Simple, direct and efficient multi-way spectral clustering", Information
and Inference 8(1), 2019. Pivoted QR of Vᵀ picks K points, as orthogonal to one another as it can: one
representative per cluster. The orthogonal polar factor U of their K×K block is the rotation that aligns V
with them, and each point takes the largest |entry| of its row of VU.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import polar, qr

from sidecut.arrays import FloatArray, IntArray
from sidecut.labelling.embedding import (
    check_embedding,
    check_n_clusters,
    informative_rows,
    join_nearest_cluster,
)
from sidecut.labelling.names import rename_by_first_appearance, warn_if_clusters_are_missing


def qr_labels(embedding: ArrayLike) -> IntArray:
    """Cluster by column-pivoted QR into as many clusters as there are columns.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_clusters)
        The leading eigenvectors, linearly independent columns known up to a rotation.

    Returns
    -------
    ndarray of intp, shape (n_samples,)
        Labels numbered in order of first appearance. A zero row joins the cluster with the nearest mean.

    Raises
    ------
    ValueError
        If the embedding is refused by `check_embedding`, has more columns than rows, or its columns are
        linearly dependent.

    Warns
    -----
    LabellingWarning
        If fewer clusters than columns remain.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.labelling import qr_labels
    >>> turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    >>> indicator = np.array([[1, 0], [1, 0], [0, 1], [1, 0]])
    >>> qr_labels(indicator @ turn)
    array([0, 0, 1, 0])
    """
    everyone = check_embedding(embedding)
    n_clusters = check_n_clusters(everyone.shape[1], len(everyone))
    placed = informative_rows(everyone)
    rows = everyone[placed]
    rotation, _ = polar(rows[representatives(rows)].T)
    labels = np.argmax(np.abs(rows @ rotation), axis=1)
    reason = "a representative was outvoted in its own column; try 'kmeans'"
    warn_if_clusters_are_missing(labels, n_clusters, "qr", reason)
    return rename_by_first_appearance(join_nearest_cluster(everyone, labels, placed))


def representatives(rows: FloatArray) -> IntArray:
    """Pick one point per column by pivoted QR of the transposed embedding.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_clusters)
        The embedding.

    Returns
    -------
    ndarray of intp, shape (n_clusters,)
        Row numbers, the longest row first, then always the row farthest from the span of those before.

    Raises
    ------
    ValueError
        If the columns are linearly dependent, so that the rows do not span as many dimensions as columns.

    Examples
    --------
    >>> import numpy as np
    >>> representatives(np.array([[1.0, 0.1], [3.0, 0.0], [2.0, 0.0], [0.5, 1.0]]))
    array([1, 3])
    """
    n_clusters = rows.shape[1]
    triangle, pivots = qr(rows.T, mode="r", pivoting=True)
    diagonal = np.abs(np.diag(triangle))
    rank = int(np.sum(diagonal > np.finfo(np.float64).eps * max(rows.shape) * diagonal[0]))
    if rank < n_clusters:
        raise ValueError(
            f"the {n_clusters} columns of the embedding span only {rank} dimensions, and 'qr' needs them"
            " linearly independent; drop the superfluous columns, or use 'kmeans'"
        )
    return pivots[:n_clusters].astype(np.intp)
