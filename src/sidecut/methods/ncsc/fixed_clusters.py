"""The best indicators for fixed clusters: the feasible points of eq. 6 for one clustering.

Y >= 0 and YᵀDY = I leave one positive entry per row, so that Y is one number per node, and the objective
becomes a sum of one smallest eigenvalue per cluster. Its eigenvector is found by the same steps as the
clusters themselves, with the full bound on the curvature, which lowers the objective, and with momentum,
which is dropped as soon as the objective does not fall.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sidecut.arrays import FloatArray, IntArray
from sidecut.methods.ncsc.objective import PenalizedCut

#: λ_max(L̄) <= 2.
CURVATURE_BOUND = 2.0
#: The largest number of steps.
MAX_STEPS = 1000
#: Indicators are computed to this share of the tolerance of the clusters, because eq. 6 is compared at them.
INDICATOR_SHARE = 0.01

Labels = IntArray
Operator = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class FixedClusters:
    """A clustering of the nodes, with its indicators.

    Attributes
    ----------
    labels : array of shape (n_nodes,)
        The cluster of every node.
    entries : array of shape (n_nodes,)
        The entry of V = D^{1/2} Y in the column of that cluster; all others are zero.
    rates : array of shape (n_clusters,)
        vⱼᵀ Ḡ vⱼ of every cluster; zero for one without nodes.
    """

    labels: Labels
    entries: FloatArray
    rates: FloatArray

    @cached_property
    def objective(self) -> float:
        """Eq. 6."""
        return float(self.rates.sum())

    @cached_property
    def n_columns(self) -> int:
        """How many columns of V are not zero."""
        return len(np.unique(self.labels[self.entries > 0]))

    def block(self) -> FloatArray:
        """Return V."""
        V = np.zeros((len(self.labels), len(self.rates)))
        V[np.arange(len(self.labels)), self.labels] = self.entries
        return V


def best_indicators(
    cut: PenalizedCut, labels: Labels, entries: FloatArray, n_clusters: int, tol: float
) -> FixedClusters:
    """Return the best indicators found for given clusters.

    Parameters
    ----------
    cut : PenalizedCut
        The problem.
    labels : array of shape (n_nodes,)
        The cluster of every node.
    entries : array of shape (n_nodes,)
        Where to begin, nonnegative.
    n_clusters : int
        How many clusters.
    tol : float
        Stop when a step gains less than this share of the objective.

    Examples
    --------
    Two nodes of a triangle: one of the two edges at each of them is cut.

    >>> import numpy as np
    >>> from sidecut import Constraints
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.methods.ncsc.objective import PenalizedCut
    >>> from sidecut.methods.ncsc.fixed_clusters import best_indicators
    >>> cut = PenalizedCut(as_graph(np.ones((3, 3)) - np.eye(3)), Constraints.none(3))
    >>> best_indicators(cut, np.array([0, 0, 1]), np.ones(3), 2, 1e-8).rates
    array([0.5, 1. ])
    """
    apply, curvature = _apply_within(cut, labels, n_clusters), _curvature(cut)
    x = before = _unit(entries, labels, n_clusters)
    image = image_before = apply(x)
    price, momentum = float(x @ image), 1.0
    n_columns = _n_columns(x, labels, n_clusters)
    for _ in range(MAX_STEPS):
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        by = (momentum - 1.0) / following
        ahead, slope = x + by * (x - before), image + by * (image - image_before)
        slope = slope - _rates(ahead, slope, labels, n_clusters)[labels] * ahead
        after = _unit(np.maximum(ahead - slope / curvature, 0.0), labels, n_clusters)
        image_after = apply(after)
        gain = price - float(after @ image_after)
        if gain <= 0 or _n_columns(after, labels, n_clusters) < n_columns:
            if momentum == 1.0:
                break
            before, image_before, momentum = x, image, 1.0
            continue
        x, before, image, image_before = after, x, image_after, image
        price, momentum = price - gain, following
        if gain <= tol * price:
            break
    return FixedClusters(labels, x, _rates(x, image, labels, n_clusters))


def without_overlap(cut: PenalizedCut, V: FloatArray, labels: Labels, tol: float) -> FloatArray:
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
    return best_indicators(cut, labels, V[np.arange(len(labels)), labels], V.shape[1], tol).block()


def _rates(x: FloatArray, image: FloatArray, labels: Labels, k: int) -> FloatArray:
    """Return the Rayleigh quotient of every cluster."""
    lengths = np.bincount(labels, weights=x * x, minlength=k)
    return np.bincount(labels, weights=x * image, minlength=k) / np.where(lengths > 0, lengths, 1.0)


def _n_columns(x: FloatArray, labels: Labels, k: int) -> int:
    """Return how many clusters have an entry that is not zero: a column of zeros would cost nothing."""
    return int(np.count_nonzero(np.bincount(labels, weights=x, minlength=k)))


def _unit(x: FloatArray, labels: Labels, k: int) -> FloatArray:
    """Scale the numbers of every cluster to length one."""
    norms = np.sqrt(np.bincount(labels, weights=x * x, minlength=k))
    return x / np.where(norms > 0, norms, 1.0)[labels]


def _apply_within(cut: PenalizedCut, labels: Labels, k: int) -> Operator:
    """Return the map x -> Ḡ x without the entries between clusters."""
    is_sparse, rows = sp.issparse(cut.graph.matrix), np.arange(len(labels))
    linked = cut.links.nodes
    own, among = labels[linked], np.arange(len(linked))
    if is_sparse:
        # One column in place of k: the edges between clusters are taken out once.
        edges = sp.coo_array(cut.affinity.matrix)
        kept = labels[edges.row] == labels[edges.col]
        ends = (edges.row[kept], edges.col[kept])
        within = sp.csr_array((edges.data[kept], ends), shape=edges.shape)

    def apply(x: FloatArray) -> FloatArray:
        if is_sparse:
            result = x - within @ x
        else:
            block = np.zeros((len(x), k))
            block[rows, labels] = x
            result = x - cut.affinity.apply(block)[rows, labels]
        block = np.zeros((len(linked), k))
        scale = cut.affinity.scale[linked]
        block[among, own] = scale * x[linked]
        result[linked] += scale * cut.apply_penalties(block)[among, own]
        return np.asarray(result)

    return apply


def _curvature(cut: PenalizedCut) -> FloatArray:
    """Return the diagonal S, S - Ḡ positive semidefinite."""
    links = cut.links
    weight = 2.0 * cut.gamma_must * links.must_degrees + cut.gamma_cannot * links.cannot_degrees
    return np.asarray(CURVATURE_BOUND + weight * cut.affinity.scale**2)
