"""What labels are made from and go with: checked embeddings, numbers by first appearance, confidence."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances

from sidecut.checks import BoolArray, FloatArray, IntArray, to_points
from sidecut.constraints.groups import number_by_appearance
from sidecut.exceptions import LabellingWarning, warn
from sidecut.graphs import Graph


def rename_by_first_appearance(labels: ArrayLike) -> IntArray:
    """Number the clusters 0, 1, 2, ... in the order in which the points meet them.

    Two label vectors describe the same partition exactly when their renamed versions are equal, whatever
    order a solver happened to find the clusters in.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        One label per point, of any type that can be sorted or hashed.

    Returns
    -------
    ndarray of intp, shape (n_samples,)
        The same partition; point 0 is in cluster 0, and no number is left out.

    Raises
    ------
    ValueError
        If `labels` is not one-dimensional.

    Examples
    --------
    >>> from sidecut.labelling import rename_by_first_appearance
    >>> rename_by_first_appearance([7, 7, 2, 7, 5])
    array([0, 0, 1, 0, 2])
    """
    values = np.asarray(labels)
    if values.ndim != 1:
        raise ValueError(
            f"labels have shape {values.shape}; expected one label per point, shape (n_samples,)"
        )
    return number_by_appearance(values)


# A warning where fewer clusters came out than were asked for.


def warn_if_clusters_are_missing(labels: IntArray, n_clusters: int, method: str, reason: str) -> None:
    """Emit a `LabellingWarning` if the labels have fewer than `n_clusters` values."""
    found = len(np.unique(labels))
    if found < n_clusters:
        warn(
            f"'{method}' found {found} clusters where n_clusters={n_clusters} were asked for: {reason}",
            LabellingWarning,
        )


# How sure a label is, point by point: how clearly a point is nearer to its own cluster than to others.


#: Distances to the centres are computed for so many rows at a time.
ROWS_AT_ONCE = 10_000


def measure_confidence(labels: IntArray, rows: Any = None, graph: Graph | None = None) -> FloatArray:
    """Return how sure the label of every point is, from 0 to 1; at 0.5 another cluster is as likely.

    With the chances p that two steps along the graph lead into each cluster, it is p_own / (p_own + p_other)
    for the best other cluster. Without a graph, the distances d to the centres of the own and the nearest
    other cluster give d_other / (d_own + d_other).

    Parameters
    ----------
    labels : array of shape (n,)
        The clusters.
    rows : array or sparse matrix of shape (n, m), optional
        What was clustered.
    graph : Graph, optional
        The graph that was cut. One that is only applied, tile by tile, is left out: a product with it may
        take as long as the clustering.

    Notes
    -----
    Two steps were compared with one, with long walks, with margins in the embedding and with sums of these,
    on generated sets, scenes, faces, cover types and hepatitis; see `benchmarks.diagnostics` for how it does
    on others.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.labelling import measure_confidence
    >>> measure_confidence(np.array([0, 0, 1, 1]), np.array([[0.0], [4.0], [8.0], [10.0]])).round(2)
    array([0.82, 0.71, 0.86, 0.89])
    >>> path = as_graph(np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1))
    >>> measure_confidence(np.array([0, 0, 1, 1]), graph=path)
    array([0.5 , 0.75, 0.75, 0.5 ])
    """
    labels = np.unique(labels, return_inverse=True)[1]
    if labels.max(initial=0) == 0:
        return np.ones(len(labels))
    if graph is not None and graph.matrix is not None:
        return compare_with_other(walk_chances(graph, labels), labels)
    if rows is not None:
        return compare_with_other(measure_nearness(rows, labels), labels)
    return np.ones(len(labels))


def compare_with_other(scores: FloatArray, labels: IntArray) -> FloatArray:
    """Return s_own / (s_own + s_other) for the best other column; 0.5 where both are 0."""
    here = np.arange(len(labels))
    own = scores[here, labels]
    others = scores.copy()
    others[here, labels] = -np.inf
    total = own + others.max(axis=1)
    return np.divide(own, total, out=np.full_like(own, 0.5), where=total > 0)


def walk_chances(graph: Graph, labels: IntArray, n_steps: int = 2) -> FloatArray:
    """Return the chance that a walk of two steps, (D⁻¹W)², from every node ends in each cluster.

    Links may make weights negative; a cluster that is spoken against has no chance.
    """
    chances = np.eye(int(labels.max()) + 1)[labels]
    degrees = graph.degrees[:, None]
    for _ in range(n_steps):
        flows = graph.apply(chances)
        chances = np.divide(flows, degrees, out=np.zeros_like(flows), where=degrees > 0)
    return np.maximum(chances, 0.0)


def measure_nearness(rows: Any, labels: IntArray) -> FloatArray:
    """Return 1 / d for the distance d of every row to the centre of each cluster; at most 1e12."""
    # Squares of very large or small numbers would not be finite; the scale does not matter.
    largest = abs(rows).max()
    rows = rows / largest if largest > 0 else rows
    n_clusters = int(labels.max()) + 1
    members = np.eye(n_clusters)[labels] / np.bincount(labels)[labels][:, None]
    centres = np.asarray(members.T @ rows)
    nearness = np.empty((len(labels), n_clusters))
    for start in range(0, len(labels), ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        distances = pairwise_distances(rows[part], centres)
        nearness[part] = 1.0 / np.maximum(distances, 1e-12)
    return nearness


# Embeddings: what they must be before they may become labels, and their rows on the sphere.


def check_embedding(embedding: ArrayLike) -> FloatArray:
    """Return the embedding as a float64 array, or say why no labels can come from it."""
    rows = np.asarray(to_points(embedding))
    if rows.ndim != 2 or 0 in rows.shape:
        raise ValueError(
            f"the embedding has shape {rows.shape}; it must have one row per point and at least one column"
            " (use reshape(-1, 1) for a single vector)"
        )
    if np.iscomplexobj(rows):
        raise ValueError("the embedding is complex; hand over real eigenvectors")
    rows = rows.astype(np.float64, copy=False)
    _refuse_nonfinite(rows)
    if not rows.any():
        raise ValueError(
            f"all {len(rows)} rows of the embedding are zero, so it tells no point from another;"
            " look at the graph: does it have any edges?"
        )
    return rows


def _refuse_nonfinite(rows: FloatArray) -> None:
    finite = np.isfinite(rows)
    if not finite.all():
        bad = np.argwhere(~finite)
        row, column = bad[0]
        raise ValueError(
            f"embedding[{row}, {column}] is {rows[row, column]}; every entry must be finite"
            f" ({len(bad)} of {rows.size} are not). Look for points of degree zero,"
            " or an eigensolver that diverged"
        )


def check_one_column_each(rows: FloatArray, n_clusters: int, method: str) -> None:
    """Refuse an embedding whose columns cannot stand for the clusters one by one."""
    if rows.shape[1] != n_clusters:
        raise ValueError(
            f"'{method}' needs one column per cluster, but the embedding has {rows.shape[1]} columns and"
            f" n_clusters={n_clusters}; keep that many eigenvectors, or use 'kmeans'"
        )


def unit_rows(embedding: ArrayLike) -> FloatArray:
    """Scale every row to Euclidean length one; rows of zeros stay zeros.

    A row of zeros has no direction. Leaving it alone, rather than dividing by a small number, keeps such
    points recognisable to the labelling that follows.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_components)
        One row per point.

    Returns
    -------
    ndarray of shape (n_samples, n_components)
        A new array.

    Raises
    ------
    ValueError
        If the embedding is refused by `check_embedding`.

    Examples
    --------
    >>> from sidecut.labelling import unit_rows
    >>> unit_rows([[3.0, 4.0], [0.0, 0.0]])
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    rows = check_embedding(embedding)
    # Dividing by the largest entry first keeps the squares below from over- or underflowing.
    largest = np.abs(rows).max(axis=1, keepdims=True)
    largest[largest == 0] = 1.0
    scaled = rows / largest
    length = np.linalg.norm(scaled, axis=1, keepdims=True)
    length[length == 0] = 1.0
    return scaled / length


# Points the embedding says nothing about, and the cluster they get in the end.


def informative_rows(rows: FloatArray) -> BoolArray:
    """Tell which rows are not entirely zero."""
    return np.any(rows != 0, axis=1)


def join_nearest_cluster(rows: FloatArray, labels: IntArray, placed: BoolArray) -> IntArray:
    """Label the rows not yet placed by the nearest of the means of the placed ones."""
    if placed.all():
        return labels
    names, member = np.unique(labels, return_inverse=True)
    sums = cluster_sums(rows[placed], member, len(names))
    means = sums / np.bincount(member, minlength=len(names))[:, np.newaxis]
    everyone = np.empty(len(rows), dtype=np.intp)
    everyone[placed] = labels
    everyone[~placed] = names[np.argmin(cdist(rows[~placed], means), axis=1)]
    return everyone


def cluster_sums(rows: FloatArray, labels: IntArray, n_clusters: int) -> FloatArray:
    """Add up the rows of each cluster: XᵀV for the indicator matrix X of the labels."""
    columns = [np.bincount(labels, weights=column, minlength=n_clusters) for column in rows.T]
    return np.column_stack(columns)


def what_neighbors_say(graph: Graph, labels: IntArray, n_clusters: int) -> IntArray:
    """Return the label that the neighbours of every point have, by weight; its own where it has none.

    A point that a link holds in a cluster against its neighbours shows nothing about the cluster. So two
    clusterings that were made from some links are compared by what neighbours say of their ends.
    """
    said = graph.apply(np.eye(n_clusters)[labels])
    return np.where(graph.degrees > 0, said.argmax(axis=1), labels)
