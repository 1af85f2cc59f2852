"""How sure a label is: how clearly a point belongs to its own cluster rather than to another."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.metrics import pairwise_distances

from sidecut.checks import FloatArray, IntArray
from sidecut.graphs import Graph


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
    on generated sets, scenes, faces, cover types and hepatitis; see `benchmarks.quality.diagnostics` for how
    it does on others.

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
    if graph is not None and (graph.is_sparse or graph.matrix is not None):
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
    """Return the chance that a walk of two steps, (D⁻¹W)², from every node ends in each cluster."""
    # Links may make weights negative; a cluster with negative weight has no chance.
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
    # 10,000 rows at a time.
    for start in range(0, len(labels), 10_000):
        part = slice(start, start + 10_000)
        distances = pairwise_distances(rows[part], centres)
        nearness[part] = 1.0 / np.maximum(distances, 1e-12)
    return nearness


def majority_of_neighbors(graph: Graph, labels: IntArray, n_clusters: int) -> IntArray:
    """Return the label of most of the weight around every point; its own label where it has no neighbour."""
    # A point that a link holds in a cluster against its neighbours shows nothing about the cluster. So two
    # clusterings that were made from some links are compared by the labels around the linked points.
    weights = graph.apply(np.eye(n_clusters)[labels])
    return np.where(graph.degrees > 0, weights.argmax(axis=1), labels)


def calibrate(confidence: FloatArray, share: float, points: IntArray) -> FloatArray:
    """Return confidence moved so that its mean over some points is the share of them that is right."""
    # The odds of all points are multiplied by one number: their order stays.
    sure = np.clip(confidence, 1e-3, 1.0 - 1e-3)
    odds = np.log(sure) - np.log1p(-sure)
    low, high = -20.0, 20.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        is_above = expit(odds[points] + middle).mean() > share
        low, high = (low, middle) if is_above else (middle, high)
    return expit(odds + 0.5 * (low + high))
