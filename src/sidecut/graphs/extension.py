"""Edges from new points to the points of a neighbour graph, weighed as the graph itself is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.extmath import row_norms

from sidecut.arrays import FloatArray, IntArray
from sidecut.graphs.points import unit_rows
from sidecut.graphs.search import TREE_FEATURES, local_scales


@dataclass(frozen=True, eq=False)
class NeighborExtension:
    """What a neighbour graph has to remember of its points to link new ones to them.

    Parameters
    ----------
    n_neighbors : int
        How many neighbours each point has.
    weights : {"self_tuning", "gaussian", "cosine", "binary"}
        How edges are weighed.
    symmetrize : {"mean", "union", "mutual"}
        What becomes of an edge that only one end asks for.
    reach : array of shape (n,)
        The distance of every point to its last neighbour.
    scales : array of shape (n,)
        The local scales of self-tuning weights; elsewhere the one width, repeated, or ones.
    """

    n_neighbors: int
    weights: str
    symmetrize: str
    reach: FloatArray
    scales: FloatArray

    def edges(self, X: Any, X_new: Any) -> tuple[sp.csr_array, IntArray]:
        """Return the weights from new points to old ones, and for each new point an old one it equals.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            The points of the graph.
        X_new : array or sparse matrix of shape (m, d)
            New points.

        Returns
        -------
        weights : csr_array of shape (m, n)
            What the graph would hold if the point were one of its own; other edges would stay as they are.
        twins : array of shape (m,)
            The nearest old point where it lies at distance zero, else -1.
        """
        distances, indices = self._nearest(X, X_new)
        weight = self._weight(distances, indices)
        # An old point asks for the edge, too, if the new one is nearer than its last neighbour.
        mutual = distances <= self.reach[indices]
        if self.symmetrize == "mean":
            weight = np.where(mutual, weight, 0.5 * weight)
        elif self.symmetrize == "mutual":
            weight = np.where(mutual, weight, 0.0)
        m, k = indices.shape
        shape = (m, self.reach.size)
        edges = sp.csr_array((weight.ravel(), indices.ravel(), np.arange(0, m * k + 1, k)), shape=shape)
        twins = np.where(distances[:, 0] <= 0, indices[:, 0], -1)
        return edges, twins

    def _nearest(self, X: Any, X_new: Any) -> tuple[FloatArray, IntArray]:
        metric = "cosine" if self.weights == "cosine" else "euclidean"
        if sp.issparse(X) != sp.issparse(X_new):
            X_new = sp.csr_array(X_new) if sp.issparse(X) else X_new.toarray()
        if metric == "cosine":
            X, X_new = unit_rows(X), unit_rows(X_new)
        in_tree = metric == "euclidean" and not sp.issparse(X) and X.shape[1] <= TREE_FEATURES
        searcher = NearestNeighbors(
            n_neighbors=min(self.n_neighbors, self.reach.size),
            metric=metric,
            algorithm="kd_tree" if in_tree else "brute",
            n_jobs=-1,
        ).fit(X)
        distances, indices = searcher.kneighbors(X_new)
        # Matrix products leave equal points a little apart; of points of unit length so do cosines.
        apart = row_norms(X[indices[:, 0]] - X_new)
        distances[:, 0] = apart if metric == "euclidean" else np.where(apart > 0, distances[:, 0], 0.0)
        return np.maximum(distances, 0.0), indices

    def _weight(self, distances: FloatArray, indices: IntArray) -> FloatArray:
        if self.weights == "self_tuning":
            own = local_scales(distances)
            return np.exp(-(distances**2) / (own[:, None] * self.scales[indices]))
        if self.weights == "gaussian":
            return np.exp(-0.5 * (distances / self.scales[indices]) ** 2)
        if self.weights == "cosine":
            return np.maximum(1.0 - distances, 0.0)
        return np.ones_like(distances)
