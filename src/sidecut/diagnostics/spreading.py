"""P = (1 - α)(I - α Ā)⁻¹ between some points of a graph, also where both are many.

On a large sparse graph the leading eigenvectors V of Ā, with eigenvalues Λ, are set apart. On them P is
V (1 - α)/(1 - αΛ) Vᵀ. On the rest of the space the system is so well conditioned that a few steps of
Chebyshev's iteration suffice, in single precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sidecut.arrays import FloatArray, IntArray
from sidecut.graphs import Graph, each_chunk, normalize
from sidecut.methods.e2cp.spreading import spread, spread_units
from sidecut.spectral import laplacian_eigenpairs

#: An array in single precision.
SingleArray = npt.NDArray[np.floating[Any]]
#: How far knowledge spreads: α of E2CP, nearer to one than its default, since one label must be judged by
#: others that may be far away. Set on iris, wine, breast cancer and digits.
ALPHA = 0.95
#: So many columns of P are made at a time; only their rows at the known points are kept.
COLUMNS_AT_ONCE = 256
#: From so many numbers on, nodes times points, eigenvectors are set apart and single precision is enough.
MANY = 20_000_000
#: So many eigenvectors are set apart.
SET_APART = 30
#: So many columns at once stay in the cache of a processor.
COLUMNS_IN_CACHE = 32
#: The error of a column relative to its length.
TOLERANCE = 1e-6


def spread_between(graph: Graph, points: IntArray, alpha: float = ALPHA) -> tuple[FloatArray, FloatArray]:
    """Return P between some points, and how much each of them gives to all points.

    Parameters
    ----------
    graph : Graph
        The graph.
    points : array of shape (c,)
        The points that something is known about.
    alpha : float, default=0.95
        How far knowledge spreads.

    Returns
    -------
    between : array of shape (c, c)
        P[points][:, points].
    given : array of shape (c,)
        The column sums of P at the points.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.diagnostics.spreading import spread_between
    >>> path = as_graph(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]))
    >>> spread_between(path, np.array([0, 2]), alpha=0.5)[0].round(4)
    array([[0.5833, 0.0833],
           [0.0833, 0.5833]])
    """
    # P is symmetric, so its column sums are what a block of ones becomes.
    given = spread(graph, np.ones(graph.n_nodes), alpha)[points]
    if sp.issparse(graph.matrix) and graph.n_nodes * len(points) >= MANY:
        return _between_many(graph, points, alpha), given
    between = np.empty((len(points), len(points)))
    for start in range(0, len(points), COLUMNS_AT_ONCE):
        part = slice(start, start + COLUMNS_AT_ONCE)
        between[:, part] = spread_units(graph, points[part], np.arange(len(points[part])), alpha)[points]
    return between, given


def _between_many(graph: Graph, points: IntArray, alpha: float) -> FloatArray:
    """Return P between some points, by eigenvectors and by an iteration on what they leave."""
    pairs = laplacian_eigenpairs(graph, min(SET_APART, graph.n_nodes), random_state=0)
    inside = pairs.vectors[points]
    between = (inside * ((1.0 - alpha) / (1.0 - alpha + alpha * pairs.values))) @ inside.T
    affinity = sp.csr_array(normalize(graph).matrix, dtype=np.float32)
    vectors = pairs.vectors.astype(np.float32)
    # No eigenvalue of Ā that is left lies above the last one that was set apart.
    largest = 1.0 - float(pairs.values[-1])

    def solve(part: slice) -> SingleArray:
        rest: npt.NDArray = -vectors @ vectors[points[part]].T
        rest[points[part], np.arange(rest.shape[1])] += 1.0
        return _iterate(affinity, np.float32(1.0 - alpha) * rest, alpha, largest)[points]

    parts = [
        slice(a, min(a + COLUMNS_IN_CACHE, len(points))) for a in range(0, len(points), COLUMNS_IN_CACHE)
    ]
    for part, block in zip(parts, each_chunk(solve, parts), strict=True):
        between[:, part] += block
    # P = (1 - α) Σ αᵗ Āᵗ has no negative entry; rounding alone could make one.
    return np.maximum(0.5 * (between + between.T), 0.0)


def _iterate(affinity: sp.csr_array, block: npt.NDArray, alpha: float, largest: float) -> npt.NDArray:
    """Solve (I - α Ā) X = B by Chebyshev's iteration, where B has no part above the eigenvalue `largest`.

    The eigenvalues that matter lie between 1 - α largest and 1 + α. With their middle d and half their
    width c, the error falls by d/c + √((d/c)² - 1) in every step (Saad, Iterative methods, section 12.3.1).
    """
    middle, half = 1.0 + 0.5 * alpha * (1.0 - largest), 0.5 * alpha * (1.0 + largest)
    ratio = middle / half
    n_steps = int(np.ceil(np.log(2.0 / TOLERANCE) / np.arccosh(ratio)))
    step = block / np.float32(middle)
    solution, rest, weight = np.zeros_like(block), block.copy(), 1.0 / ratio
    for _ in range(n_steps):
        solution += step
        rest -= step - np.float32(alpha) * (affinity @ step)
        before, weight = weight, 1.0 / (2.0 * ratio - weight)
        step = np.float32(weight * before) * step + np.float32(2.0 * weight / half) * rest
    return solution
