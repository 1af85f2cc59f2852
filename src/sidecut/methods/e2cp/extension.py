"""What E2CP makes of a new point: its row of F, of the adjusted graph, and of the eigenvectors.

Nothing is known about a new point, so its row of Z is zero, and its row of P = (1 - α)(I - α Ā)⁻¹ is that of
its neighbours, averaged by the normalised weights s: F_new = α s F. Eq. 4 then adjusts its weights as it does
all others, self-loop included, and the equation of an eigenvector is solved for its entry.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from sidecut.arrays import FloatArray
from sidecut.graphs import Graph
from sidecut.methods.e2cp.adjustment import adjust_weights
from sidecut.methods.e2cp.lowrank import LowRankMatrix
from sidecut.methods.e2cp.smooth import SmoothBeliefs
from sidecut.methods.extension import LARGEST_EIGENVALUE

#: So many numbers of the rows of F are held at a time.
ROW_NUMBERS = 20_000_000


def arriving_beliefs(
    edges: sp.csr_array, graph: Graph, beliefs: LowRankMatrix | SmoothBeliefs, alpha: float
) -> FloatArray:
    """Return α s F, what is believed about new points and all old ones, with s = W_j / √(d d_j).

    Parameters
    ----------
    edges : csr_array of shape (m, n)
        Weights of new points to old ones.
    graph : Graph
        The graph before eq. 4, for the degrees of the old points.
    beliefs : LowRankMatrix or SmoothBeliefs
        F of the old points.
    alpha : float
        α of eq. 3.
    """
    return alpha * beliefs.apply(_normalize(edges, graph).toarray().T).T


def extend_rows(
    edges: sp.csr_array,
    graph: Graph,
    beliefs: LowRankMatrix | SmoothBeliefs,
    alpha: float,
    unit: float,
    relaxed: FloatArray,
    eigenvalues: FloatArray,
) -> FloatArray:
    """Return the rows of D̃^{-1/2} V for new points, in memory for a few of them at a time.

    Parameters
    ----------
    edges, graph, beliefs, alpha
        See `arriving_beliefs`; beliefs as eq. 4 takes them, rescaled or not.
    unit : float
        The largest weight there can be, see `adjust_weights`.
    relaxed : array of shape (n, k)
        D̃^{-1/2} V of the old points.
    eigenvalues : array of shape (k,)
        λ of the normalised Laplacian of the adjusted graph.
    """
    factor = np.where(eigenvalues < LARGEST_EIGENVALUE, 1.0 - eigenvalues, 1.0)
    rows = np.empty((edges.shape[0], relaxed.shape[1]))
    for part in _portions(*edges.shape):
        some = edges[part]
        arrived = arriving_beliefs(some, graph, beliefs, alpha)
        weights = adjust_weights(some.toarray(), arrived, unit)
        # W̃_ii = F_ii = α s F_i: a self-loop counts in the degree and multiplies the entry itself.
        own = alpha * np.asarray(_normalize(some, graph).multiply(arrived).sum(axis=1)).ravel()
        loop = unit * np.clip(own, 0.0, 1.0)
        degree = weights.sum(axis=1) + loop
        rows[part] = (weights @ relaxed) / (degree[:, None] * factor - loop[:, None])
    return rows


def _normalize(edges: sp.csr_array, graph: Graph) -> sp.csr_array:
    degrees = np.sqrt(np.maximum(graph.degrees, np.finfo(np.float64).tiny))
    own = np.sqrt(np.asarray(edges.sum(axis=1)).ravel())
    return sp.csr_array(sp.diags_array(1.0 / own) @ edges @ sp.diags_array(1.0 / degrees))


def _portions(n_new: int, n_old: int) -> Iterator[slice]:
    at_once = max(1, ROW_NUMBERS // n_old)
    return (slice(start, min(start + at_once, n_new)) for start in range(0, n_new, at_once))
