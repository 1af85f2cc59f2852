"""What goes with labels: numbers chosen by a rule, a warning where clusters are missing, confidence."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import pairwise_distances

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints.labels import number_by_appearance
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


# Saying so when fewer clusters came out than were asked for.


def warn_if_clusters_are_missing(labels: IntArray, n_clusters: int, method: str, reason: str) -> None:
    """Emit a `LabellingWarning` if the labels have fewer than `n_clusters` values.

    Parameters
    ----------
    labels : ndarray of intp, shape (n_samples,)
        The labels found.
    n_clusters : int
        How many clusters were asked for.
    method : str
        The name of the labelling, for the message.
    reason : str
        Why it happened and what to do about it, for the message.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_if_clusters_are_missing(np.array([0, 0, 1]), 3, "argmax", "column 2 never wins")
    >>> str(caught[0].message)
    "'argmax' found 2 clusters where n_clusters=3 were asked for: column 2 never wins"
    """
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
    """Return how sure the label of every point is, from 0 (as near to another cluster) to 1.

    It is the mean of two views, of those that are there. One is the margin in the embedding, 1 - d_own /
    d_other, with the distances to the centre of the own and of the nearest other cluster. The other is the
    share of a point's weight in the graph that leads into its own cluster.

    Parameters
    ----------
    labels : array of shape (n,)
        The clusters.
    rows : array or sparse matrix of shape (n, m), optional
        What was clustered.
    graph : Graph, optional
        The graph that was cut. One that is only applied, tile by tile, is left out: a product with it may
        take as long as the clustering.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.labelling import measure_confidence
    >>> measure_confidence(np.array([0, 0, 1, 1]), np.array([[0.0], [4.0], [8.0], [10.0]])).round(2)
    array([0.78, 0.6 , 0.83, 0.88])
    """
    labels = np.unique(labels, return_inverse=True)[1]
    if labels.max(initial=0) == 0:
        return np.ones(len(labels))
    views = []
    if rows is not None:
        views.append(measure_margins(rows, labels))
    if graph is not None and graph.matrix is not None:
        views.append(measure_agreement(graph, labels))
    return np.mean(views, axis=0) if views else np.ones(len(labels))


def measure_margins(rows: Any, labels: IntArray) -> FloatArray:
    """Return 1 - d_own / d_other of every row; 0 where another centre is nearer."""
    # Squares of very large or small numbers would not be finite; the scale does not matter.
    largest = abs(rows).max()
    rows = rows / largest if largest > 0 else rows
    n_clusters = int(labels.max()) + 1
    members = np.eye(n_clusters)[labels] / np.bincount(labels)[labels][:, None]
    centres = np.asarray(members.T @ rows)
    margins = np.empty(len(labels))
    for start in range(0, len(labels), ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        distances = pairwise_distances(rows[part], centres)
        here = np.arange(distances.shape[0])
        own = distances[here, labels[part]].copy()
        distances[here, labels[part]] = np.inf
        other = distances.min(axis=1)
        margins[part] = 1.0 - np.divide(own, other, out=np.ones_like(own), where=other > 0)
    return np.clip(margins, 0.0, 1.0)


def measure_agreement(graph: Graph, labels: IntArray) -> FloatArray:
    """Return the share of every node's weight that leads into its own cluster; 0 for isolated nodes."""
    flows = graph.apply(np.eye(int(labels.max()) + 1)[labels])
    own, total = flows[np.arange(len(labels)), labels], flows.sum(axis=1)
    return np.divide(own, total, out=np.zeros_like(own), where=total > 0)
