"""Clusters for points that were not there when the graph was cut.

An eigenvector satisfies an equation at every node. For a new point all of that equation is known but the
vector's own entry, so it can be solved for: the extension of Nyström. With W the weights to the old points, d
their sum and u = D^{-1/2} v,

    normalised cut   L̄ v = λ v                  u = (Σ_j W_j u_j) / (d (1 - λ))
    CSP, eq. 13      L̄ v = λ (Q̄ - b I) v        u = (Σ_j W_j u_j) / (d (1 + λ b))

since nothing is known about the new point, so that its row of Q̄ is zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sidecut.arrays import FloatArray, IntArray
from sidecut.graphs import Neighbors
from sidecut.labelling import unit_rows
from sidecut.methods.inputs import check_points
from sidecut.methods.safeguard import is_unconstrained

#: Nearer to one, 1 - λ is too small to divide by: such an eigenvector says nothing about its neighbours.
LARGEST_EIGENVALUE = 0.99


def is_on_neighbors(estimator: Any) -> bool:
    """Whether X becomes a neighbour graph; an affinity that makes no sense is refused in fit, not here."""
    if isinstance(estimator.affinity, str):
        return estimator.affinity in ("knn", "nearest_neighbors")
    return isinstance(estimator.affinity, Neighbors)


if TYPE_CHECKING:
    from sidecut.methods.base import SpectralClusterer as _Walk
else:
    _Walk = object


class OutOfSample(_Walk):
    """Gives a spectral method on a neighbour graph `predict`, by the extension of its eigenvectors."""

    #: `predict` needs the data themselves, not a copy, and the graph before any rewriting.
    _keeps_data = True

    @available_if(is_on_neighbors)
    def predict(self, X: Any) -> IntArray:
        """Put new points into the clusters that were found.

        A new point is linked to its nearest neighbours among the old ones, the eigenvectors are extended to
        it, and it joins the cluster whose centre is nearest. A point equal to an old one gets its label.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_new, n_features)
            New points. Only with ``affinity="knn"`` or a `Neighbors` recipe.

        Returns
        -------
        array of shape (n_new,)
            Their clusters.
        """
        check_is_fitted(self, "labels_")
        X = check_points(self, X, reset=False)
        old, graph = self._seen
        edges, twins = graph.extension.edges(old, X)
        if is_unconstrained(self):
            return vote_of_neighbors(edges, twins, self.labels_)
        # Where all weights underflow, or all neighbours lie in a piece of the graph about which the
        # eigenvectors say nothing, the nearest neighbour is all there is to go by.
        labels = self.labels_[edges.indices[edges.indptr[:-1]]]
        linked = np.flatnonzero(edges @ self._vectors_kept().any(axis=1).astype(np.float64) > 0)
        if linked.size:
            labels[linked] = self._labels_of_rows(self._extended(edges[linked]))
        return np.where(twins >= 0, self.labels_[twins], labels).astype(np.intp)

    def _vectors_kept(self) -> FloatArray:
        """Return the eigenvectors that the labels come from."""
        return self.eigenvectors_

    def _extended(self, edges: sp.csr_array) -> FloatArray:
        """Return the rows of the embedding for new points, given their weights to the old ones."""
        relaxed = self.affinity_matrix_.scale[:, None] * self.eigenvectors_
        rows = extend_cut(edges, relaxed, self.eigenvalues_)
        if self._labelling == "sign":
            return rows[:, 1:]
        return unit_rows(rows) if self.unit_rows else rows

    def _labels_of_rows(self, rows: FloatArray) -> IntArray:
        """Return the cluster with the nearest centre; of a single cut its side."""
        if self.embedding_.shape[1] == 1 and self.n_clusters == 2:
            return (rows[:, 0] > 0).astype(np.intp)
        found = np.unique(self.labels_)
        centres = np.stack([self.embedding_[self.labels_ == label].mean(axis=0) for label in found])
        squared = np.stack([np.square(rows - centre).sum(axis=1) for centre in centres], axis=1)
        return found[squared.argmin(axis=1)]


def vote_of_neighbors(edges: sp.csr_array, twins: IntArray, labels: IntArray) -> IntArray:
    """Return for new points the label with most weight among their neighbours, and that of a twin if any.

    Parameters
    ----------
    edges : csr_array of shape (m, n)
        Weights of new points to old ones, the nearest first.
    twins : array of shape (m,)
        The old point each is equal to, or -1.
    labels : array of shape (n,)
        Labels of the old points.
    """
    members = (labels[:, None] == np.arange(labels.max() + 1)).astype(np.float64)
    weights = np.asarray(edges @ members)
    nearest = labels[edges.indices[edges.indptr[:-1]]]
    voted = np.where(weights.sum(axis=1) > 0, weights.argmax(axis=1), nearest)
    return np.where(twins >= 0, labels[twins], voted).astype(np.intp)


def extend_cut(edges: Any, relaxed: FloatArray, eigenvalues: FloatArray) -> FloatArray:
    """Return u = (Σ_j W_j u_j) / (d (1 - λ)) for new points; zero rows where a point has no weight.

    Parameters
    ----------
    edges : array or csr_array of shape (m, n)
        Weights of new points to old ones.
    relaxed : array of shape (n, k)
        D^{-1/2} V of the old points.
    eigenvalues : array of shape (k,)
        λ of the normalised Laplacian. Eigenvectors with λ near or above one are averaged over the neighbours
        without the factor.

    Examples
    --------
    A point half way between the two ends of an edge of a path takes their mean, pulled outwards.

    >>> import numpy as np
    >>> from sidecut.methods.extension import extend_cut
    >>> extend_cut(np.array([[1.0, 1.0]]), np.array([[0.2], [0.6]]), np.array([0.5]))
    array([[0.8]])
    """
    factor = np.where(eigenvalues < LARGEST_EIGENVALUE, 1.0 - eigenvalues, 1.0)
    return weighted_means(edges, relaxed) / factor


def weighted_means(edges: Any, values: FloatArray) -> FloatArray:
    """Return Σ_j W_j x_j / Σ_j W_j for every row of weights; zero where all weights are."""
    totals = np.asarray(edges.sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(edges @ values) / np.where(totals > 0, totals, 1.0)[:, None]
