"""Clusters by rotating the eigenvectors onto an indicator matrix.

S. X. Yu and J. Shi, "Multiclass spectral clustering", ICCV 2003. The K leading eigenvectors are known up to
a rotation only. Find the rotation R and the indicator matrix X (one 1 per row) that are closest,

    minimise ‖X - V̄R‖²   over   X ∈ {0,1}^{N×K}, X1 = 1,   RᵀR = I,

where V̄ has unit rows. As ‖X‖² and ‖V̄R‖² are constant, this maximises tr(XᵀV̄R). For a given R the best X
takes the largest entry of each row of V̄R; for a given X the best R comes from the SVD of XᵀV̄ (orthogonal
Procrustes). Neither step can decrease the objective.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import polar, qr, svd
from sklearn.utils import check_random_state

from sidecut.arrays import FloatArray, IntArray
from sidecut.labelling.labels import (
    check_embedding,
    check_one_column_each,
    cluster_sums,
    informative_rows,
    join_nearest_cluster,
    rename_by_first_appearance,
    unit_rows,
    warn_if_clusters_are_missing,
)
from sidecut.parameters import check_n_clusters


def rotation_labels(
    embedding: ArrayLike,
    n_clusters: int,
    *,
    n_init: int = 10,
    max_iter: int = 100,
    random_state: int | np.random.RandomState | None = None,
) -> IntArray:
    """Cluster by the rotation that brings the unit rows closest to an indicator matrix.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_clusters)
        One column per cluster, known up to a rotation. The rows are scaled to length one, as in the paper.
    n_clusters : int
        The number of clusters.
    n_init : int, default=10
        Number of starting rotations; the one with the largest tr(XᵀV̄R) is kept.
    max_iter : int, default=100
        Bound on the alternations of each start. A few usually suffice.
    random_state : int, RandomState instance or None
        Seed of the starting rotations.

    Returns
    -------
    ndarray of intp, shape (n_samples,)
        Labels numbered in order of first appearance. A zero row joins the cluster with the nearest mean.

    Raises
    ------
    ValueError
        If the embedding is refused by `check_embedding`, the number of columns is not `n_clusters`, or
        `n_init` or `max_iter` is below 1.

    Warns
    -----
    LabellingWarning
        If fewer than `n_clusters` clusters remain.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.labelling import rotation_labels
    >>> turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    >>> indicator = np.array([[1, 0], [1, 0], [0, 1], [1, 0]])
    >>> rotation_labels(indicator @ turn, 2, random_state=0)
    array([0, 0, 1, 0])
    """
    everyone = check_embedding(embedding)
    n_clusters = check_n_clusters(n_clusters, len(everyone))
    check_one_column_each(everyone, n_clusters, method="rotation")
    if n_init < 1 or max_iter < 1:
        raise ValueError(f"n_init={n_init} and max_iter={max_iter} must both be at least 1")
    everyone = unit_rows(everyone)
    placed = informative_rows(everyone)
    labels = _best_of_restarts(everyone[placed], n_init, max_iter, random_state)
    reason = "no rotation fills every column; the rows may have too few directions, try 'kmeans'"
    warn_if_clusters_are_missing(labels, n_clusters, "rotation", reason)
    return rename_by_first_appearance(join_nearest_cluster(everyone, labels, placed))


def _best_of_restarts(
    rows: FloatArray, n_init: int, max_iter: int, random_state: int | np.random.RandomState | None
) -> IntArray:
    rng = check_random_state(random_state)
    best = -np.inf
    for _ in range(n_init):
        start = starting_rotation(rows, first=rng.randint(len(rows)))
        labels, objectives = alternate(rows, start, max_iter)
        if objectives[-1] > best:
            best, best_labels = objectives[-1], labels
    return best_labels


def starting_rotation(rows: FloatArray, first: int) -> FloatArray:
    """Build a rotation from rows as orthogonal to one another as possible, beginning with a given one.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_clusters)
        Unit rows.
    first : int
        The row to begin with.

    Returns
    -------
    ndarray of shape (n_clusters, n_clusters)
        The orthogonal matrix nearest to the one with the chosen rows as columns.

    Examples
    --------
    >>> import numpy as np
    >>> starting_rotation(np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]]), first=2)
    array([[0., 1.],
           [1., 0.]])
    """
    n_clusters = rows.shape[1]
    chosen = [first]
    overlap = np.zeros(len(rows))
    for _ in range(n_clusters - 1):
        overlap += np.abs(rows @ rows[chosen[-1]])
        chosen.append(int(np.argmin(overlap)))
    return polar(rows[chosen].T)[0]


def alternate(rows: FloatArray, rotation: FloatArray, max_iter: int) -> tuple[IntArray, list[float]]:
    """Alternate the best labels for a rotation with the best rotation for the labels.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_clusters)
        Unit rows V̄.
    rotation : ndarray of shape (n_clusters, n_clusters)
        The orthogonal matrix to start from.
    max_iter : int
        Bound on the number of alternations.

    Returns
    -------
    labels : ndarray of intp, shape (n_samples,)
        The columns of X in which the ones are.
    objectives : list of float
        tr(XᵀV̄R) after each alternation; it never decreases beyond rounding.

    Examples
    --------
    >>> import numpy as np
    >>> labels, objectives = alternate(np.eye(2), np.array([[-0.6, 0.8], [0.8, 0.6]]), max_iter=10)
    >>> labels, round(objectives[-1], 12)
    (array([1, 0]), 2.0)
    """
    objectives: list[float] = []
    labels = np.full(len(rows), -1, dtype=np.intp)
    for _ in range(max_iter):
        previous, labels = labels, np.argmax(rows @ rotation, axis=1)
        if np.array_equal(labels, previous):
            break
        rotation, objective = procrustes_rotation(rows, labels)
        objectives.append(objective)
    return labels, objectives


def procrustes_rotation(rows: FloatArray, labels: IntArray) -> tuple[FloatArray, float]:
    """Find the orthogonal R that maximises tr(XᵀV̄R) for the indicator matrix X of the labels.

    With the SVD XᵀV̄ = U Ω Ṽᵀ it is R = Ṽ Uᵀ, and the maximum is tr Ω.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_clusters)
        Unit rows V̄.
    labels : ndarray of intp, shape (n_samples,)
        Labels in 0..n_clusters-1.

    Returns
    -------
    rotation : ndarray of shape (n_clusters, n_clusters)
        The best R.
    objective : float
        The maximum.

    Examples
    --------
    >>> import numpy as np
    >>> rotation, objective = procrustes_rotation(np.eye(2), np.array([1, 0]))
    >>> rotation + 0.0, objective
    (array([[0., 1.],
           [1., 0.]]), 2.0)
    """
    left, omega, right = svd(cluster_sums(rows, labels, rows.shape[1]))
    return right.T @ left.T, float(omega.sum())


# Clusters by column-pivoted QR: no starting point, no iteration.
#
# A. Damle, V. Minden and L. Ying, "Simple, direct and efficient multi-way spectral clustering", Information
# and Inference 8(1), 2019. Pivoted QR of Vᵀ picks K points, as orthogonal to one another as it can: one
# representative per cluster. The orthogonal polar factor U of their K×K block is the rotation that aligns V
# with them, and each point takes the largest |entry| of its row of VU.


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
