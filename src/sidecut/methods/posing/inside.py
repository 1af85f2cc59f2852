"""Indicators inside settled clusters: the feasible points of eq. 6 for one clustering.

Y >= 0 and YᵀDY = I leave one positive entry per row, so that Y is one number per node, and the objective
falls apart into one smallest eigenvector per cluster, sought by the same steps as the clusters themselves.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sidecut.methods.posing.penalized_cut import PenalizedCut
from sidecut.spectral.result import FloatArray

#: λ_max(L̄) <= 2.
CURVATURE_BOUND = 2.0
#: The largest number of steps.
MAX_STEPS = 100

Operator = Callable[[FloatArray], FloatArray]


def without_overlap(cut: PenalizedCut, V: FloatArray, labels: npt.NDArray[np.intp], tol: float) -> FloatArray:
    """Return the best V = D^{1/2} Y found whose columns lie where the labels say, and nowhere else.

    Parameters
    ----------
    cut : PenalizedCut
        The problem.
    V : array of shape (n_nodes, n_clusters)
        Where to begin, nonnegative.
    labels : array of shape (n_nodes,)
        The cluster of every node.
    tol : float
        Stop when a step gains less than this share of the objective.

    Returns
    -------
    array of shape (n_nodes, n_clusters)
        Nonnegative, with orthonormal columns but for empty clusters.
    """
    k = V.shape[1]
    apply, curvature = _inside(cut, labels, k), _curvature(cut)
    x = _unit(V[np.arange(len(labels)), labels], labels, k)
    image = apply(x)
    price = float(x @ image)
    for _ in range(MAX_STEPS):
        ratio = np.bincount(labels, weights=x * image, minlength=k)
        after = _unit(np.maximum(x - (image - ratio[labels] * x) / curvature, 0.0), labels, k)
        image_after = apply(after)
        gain = price - float(after @ image_after)
        if gain <= 0:
            break
        x, image, price = after, image_after, price - gain
        if gain <= tol * price:
            break
    result = np.zeros_like(V)
    result[np.arange(len(labels)), labels] = x
    return result


def _unit(x: FloatArray, labels: npt.NDArray[np.intp], k: int) -> FloatArray:
    """Scale the numbers of every cluster to length one."""
    norms = np.sqrt(np.bincount(labels, weights=x * x, minlength=k))
    return x / np.where(norms > 0, norms, 1.0)[labels]


def _inside(cut: PenalizedCut, labels: npt.NDArray[np.intp], k: int) -> Operator:
    """Return the map x -> Ḡ x without what lies between clusters."""
    affinity, rows = cut.affinity.matrix, np.arange(len(labels))
    linked = cut.links.nodes
    own, among = labels[linked], np.arange(len(linked))
    if sp.issparse(affinity):
        # One column in place of k: the edges between clusters are taken out once.
        edges = sp.coo_array(affinity)
        kept = labels[edges.row] == labels[edges.col]
        ends = (edges.row[kept], edges.col[kept])
        within = sp.csr_array((edges.data[kept], ends), shape=edges.shape)

    def apply(x: FloatArray) -> FloatArray:
        if sp.issparse(affinity):
            result = x - within @ x
        else:
            block = np.zeros((len(x), k))
            block[rows, labels] = x
            result = x - cut.affinity.apply(block)[rows, labels]
        block = np.zeros((len(linked), k))
        scale = cut.affinity.scale[linked]
        block[among, own] = scale * x[linked]
        result[linked] += scale * cut.priced(block)[among, own]
        return np.asarray(result)

    return apply


def _curvature(cut: PenalizedCut) -> FloatArray:
    """Return the diagonal S, S - Ḡ positive semidefinite."""
    links = cut.links
    weight = 2.0 * cut.gamma_must * links.must_degrees + cut.gamma_cannot * links.cannot_degrees
    return np.asarray(CURVATURE_BOUND + weight * cut.affinity.scale**2)
