"""Grains: a large graph is gathered into at most 2,000 groups of near points, each asked about as one.

All that happens after an answer works on the grains, so that its cost does not grow with the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from sidecut.arrays import FloatArray, IntArray

#: Up to this many points each is a grain of its own.
MAX_GRAINS = 2_000
#: How often the centres of the grains are moved to their middle.
N_MOVES = 2


@dataclass(frozen=True)
class Grains:
    """Groups of near points.

    Attributes
    ----------
    grain_of : array of shape (n_samples,)
        The grain of every point.
    points : array of shape (n_grains,)
        The point that stands for each grain in questions.
    """

    grain_of: IntArray
    points: IntArray

    @property
    def sizes(self) -> FloatArray:
        """How many points each grain has."""
        return np.bincount(self.grain_of, minlength=len(self.points)).astype(float)

    def coarsen(self, weights: sp.csr_array) -> sp.csr_array:
        """Return PᵀWP, the weights between grains; those inside a grain come to its diagonal."""
        n = len(self.grain_of)
        membership = sp.csr_array((np.ones(n), (np.arange(n), self.grain_of)), shape=(n, len(self.points)))
        return sp.csr_array(membership.T @ weights @ membership)


def gather_grains(
    weights: sp.csr_array, rng: np.random.RandomState, known: IntArray, max_grains: int = MAX_GRAINS
) -> Grains:
    """Gather the points of a graph into at most about `max_grains` grains.

    Points join the grain whose centre is nearest along the graph, where an edge of weight w is as long as
    log(w_max / w). Then every centre moves to the point with most weight inside its grain.

    Parameters
    ----------
    weights : sparse array of shape (n, n)
        Symmetric weights.
    rng : RandomState
        Draws the first centres.
    known : array of int
        Points something is known about: each is the centre of a grain of its own.
    max_grains : int
        Points that no centre reaches become grains in addition.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from sidecut.active.grains import gather_grains
    >>> two_pairs = sp.csr_array(np.kron(np.eye(2), [[0, 1.0], [1, 0]]))
    >>> gather_grains(two_pairs, np.random.RandomState(0), np.array([0, 2]), max_grains=2).grain_of
    array([0, 0, 1, 1])
    """
    n = weights.shape[0]
    if n <= max_grains:
        return Grains(np.arange(n), np.arange(n))
    lengths = _edge_lengths(weights)
    free = np.setdiff1d(np.arange(n), known)
    drawn = rng.choice(free, max(0, min(len(free), max_grains - len(known))), replace=False)
    centers: IntArray = np.concatenate([known, drawn]).astype(np.intp)
    for _ in range(N_MOVES):
        grain_of, centers = _nearest_center(lengths, centers)
        centers = _middles(weights, grain_of, centers, known)
    return Grains(*_nearest_center(lengths, centers))


def _edge_lengths(weights: sp.csr_array) -> sp.csr_array:
    edges = weights.tocoo()
    apart = (edges.row != edges.col) & (edges.data > 0)
    values = edges.data[apart]
    # A small amount more, since an edge of length 0 is no edge to scipy.
    lengths = np.log(values.max(initial=1.0) / values) + 1e-6
    return sp.csr_array((lengths, (edges.row[apart], edges.col[apart])), shape=weights.shape)


def _nearest_center(lengths: sp.csr_array, centers: IntArray) -> tuple[IntArray, IntArray]:
    _, _, nearest = dijkstra(
        lengths, directed=False, indices=centers, min_only=True, return_predecessors=True
    )
    nearest = np.where(nearest < 0, np.arange(len(nearest)), nearest)
    points, grain_of = np.unique(nearest, return_inverse=True)
    return grain_of.astype(np.intp), points.astype(np.intp)


def _middles(weights: sp.csr_array, grain_of: IntArray, centers: IntArray, known: IntArray) -> IntArray:
    edges = weights.tocoo()
    inside = grain_of[edges.row] == grain_of[edges.col]
    degrees = np.bincount(edges.row[inside], edges.data[inside], minlength=len(grain_of))
    order = np.lexsort((-degrees, grain_of))
    middles = order[np.unique(grain_of[order], return_index=True)[1]]
    stay = np.isin(centers, known)
    return np.where(stay, centers, middles).astype(np.intp)
