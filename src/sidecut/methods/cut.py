"""The normalised cut of a graph: eigenvectors, rows, labels. Every method that rewrites a graph ends here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from sidecut.checks import FloatArray, IntArray
from sidecut.graphs import Graph, warn_about_graph
from sidecut.labelling import assign_labels, unit_rows
from sidecut.labelling.labels import LabellingMethod
from sidecut.methods.task import Answer, Task
from sidecut.running import stage
from sidecut.spectral import Eigenpairs, laplacian_eigenpairs

#: Nearer to one, 1 - λ is too small to divide by: such an eigenvector says nothing about its neighbours.
LARGEST_EIGENVALUE = 0.99


@dataclass(frozen=True, eq=False)
class LabelExtension:
    """Labels of new points: their rows by `extend`, then the nearest centre, or the side of a split."""

    rows: FloatArray
    labels: IntArray
    extend: Any
    split: float | None = None

    def __call__(self, edges: sp.csr_array) -> IntArray:
        """Return the labels of new points, given their weights to the old ones, the nearest first."""
        rows, labels = self.rows, self.labels
        # Where all weights underflow, or all neighbours lie in a piece of the graph about which the
        # eigenvectors say nothing, the nearest neighbour is all there is to go by.
        found = labels[edges.indices[edges.indptr[:-1]]]
        linked = np.flatnonzero(edges @ rows.any(axis=1).astype(np.float64) > 0)
        if not linked.size:
            return found
        new = self.extend(edges[linked])
        if self.split is not None:
            found[linked] = (new[:, 0] > self.split).astype(np.intp)
            return found
        names = np.unique(labels)
        centres = np.stack([rows[labels == name].mean(axis=0) for name in names])
        squared = np.stack([np.square(new - centre).sum(axis=1) for centre in centres], axis=1)
        found[linked] = names[squared.argmin(axis=1)]
        return found


@dataclass(frozen=True, eq=False)
class CutExtension:
    """The rows of a normalised cut for new points, see `extend_cut`."""

    relaxed: FloatArray
    eigenvalues: FloatArray
    scaled: bool

    def __call__(self, edges: sp.csr_array) -> FloatArray:
        """Return the rows of new points, given their weights to the old ones."""
        return extend_cut(self.relaxed, self.eigenvalues, self.scaled, edges)


def vote_of_neighbors(edges: sp.csr_array, labels: IntArray) -> IntArray:
    """Return for new points the label with most weight among their neighbours."""
    members = (labels[:, None] == np.arange(labels.max() + 1)).astype(np.float64)
    weights = np.asarray(edges @ members)
    nearest = labels[edges.indices[edges.indptr[:-1]]]
    return np.where(weights.sum(axis=1) > 0, weights.argmax(axis=1), nearest).astype(np.intp)


def extend_cut(relaxed: FloatArray, eigenvalues: FloatArray, scaled: bool, edges: sp.csr_array) -> FloatArray:
    """Return u = (Σ_j W_j u_j) / (d (1 - λ)) for new points; zero rows where a point has no weight."""
    factor = np.where(eigenvalues < LARGEST_EIGENVALUE, 1.0 - eigenvalues, 1.0)
    rows = weighted_means(edges, relaxed) / factor
    return unit_rows(rows) if scaled else rows


def weighted_means(edges: Any, values: FloatArray) -> FloatArray:
    """Return Σ_j W_j x_j / Σ_j W_j for every row of weights; zero where all weights are."""
    totals = np.asarray(edges.sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(edges @ values) / np.where(totals > 0, totals, 1.0)[:, None]


#: scikit-learn's words for the ways from rows to labels, and ours.
LABELLINGS: dict[str, LabellingMethod] = {"kmeans": "kmeans", "discretize": "rotation", "cluster_qr": "qr"}


def cut(graph: Graph, task: Task, model: Any) -> Answer:
    """Return the normalised cut of a graph (Shi & Malik, 2000; Ng, Jordan & Weiss, 2002)."""
    warn_about_graph(graph, task.n_clusters)
    rng = task.rng()
    with stage("embedding"):
        pairs = laplacian_eigenpairs(
            graph, task.n_clusters, solver=model.eigen_solver, accuracy=task.accuracy, random_state=rng
        )
    return label_vectors(graph, pairs, task, model, rng)


def label_vectors(graph: Graph, pairs: Eigenpairs, task: Task, model: Any, rng: Any) -> Answer:
    """Return the clusters of the rows of D^{-1/2} V."""
    relaxed = graph.scale[:, None] * pairs.vectors
    rows = unit_rows(relaxed) if model.unit_rows else relaxed
    with stage("labels"):
        labels = assign_labels(
            rows,
            task.n_clusters,
            method=LABELLINGS[model.assign_labels],
            n_init=model.n_init,
            random_state=rng,
        )
    extend = LabelExtension(rows, labels, CutExtension(relaxed, pairs.values, model.unit_rows))
    return Answer(labels, rows, graph, pairs, extend=extend)
