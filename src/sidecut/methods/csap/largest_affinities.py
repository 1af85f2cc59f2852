"""The largest affinities that links leave on a sparse graph: a graph as sparse as the one before.

On a sparse graph K̄ is not sparse. Two points near one must-linked set gain affinity, rightly; and
conditioning leaves a small affinity, half of the time positive, between nearly all points that links reach.
Clipping keeps the positive half. Each is next to nothing, but there are n² of them, and they can outweigh the
graph. So a point keeps its edges, and the largest affinities to points near the same must-linked set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import scipy.sparse as sp

from sidecut.arrays import FloatArray, IntArray
from sidecut.exceptions import ConstraintError
from sidecut.graphs import SparseGraph
from sidecut.methods.csap.conditioned_graph import ConditionedGraph

#: Keeping all affinities is refused where they would take more than this.
MOST_BYTES = 4 * 2**30
#: Bytes of an affinity that is kept, in the making: value and place, twice.
BYTES_PER_AFFINITY = 48


def largest_affinities(
    conditioned: ConditionedGraph, sets: Iterable[IntArray], n_kept: int | None
) -> SparseGraph:
    """Return the edges of a sparse W with what links left of them, and the largest affinities of each point.

    Parameters
    ----------
    conditioned : ConditionedGraph
        max(0, W - F Fᵀ - max_k g_k g_kᵀ), of a sparse W.
    sets : iterable of arrays of ints
        The points near each must-linked set. Only there do points gain affinities that say something.
    n_kept : int or None
        How many affinities each point keeps in each of its sets; None keeps all there are, between whatever
        points.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.methods.csap.conditioned_graph import ConditionedGraph
    >>> from sidecut.methods.csap.largest_affinities import largest_affinities
    >>> path = as_graph(sp.csr_array(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.2], [0.0, 0.2, 0.0]])))
    >>> linked = ConditionedGraph(path, np.array([[0.5], [0.0], [-0.5]]))
    >>> largest_affinities(linked, [np.array([0, 2])], n_kept=2).toarray()
    array([[0.  , 1.  , 0.25],
           [1.  , 0.  , 0.2 ],
           [0.25, 0.2 , 0.  ]])
    """
    W = sp.csr_array(conditioned.graph.matrix)
    reached = np.flatnonzero(conditioned.sizes > 0)
    if n_kept is None:
        _refuse_too_many(reached.size)
        sets = [reached]
    edges = sp.coo_array(sp.triu(W))
    own = conditioned.weights_at(edges.row, edges.col)
    found = [(edges.row, edges.col, own)]
    for nodes in sets:
        found.extend(_largest_within(conditioned, nodes, n_kept))
    rows, columns, weights = (np.concatenate(part) for part in zip(*found, strict=True))
    return SparseGraph(_symmetric(rows, columns, weights, W.shape[0]))


def _refuse_too_many(n_reached: int) -> None:
    needed = n_reached**2 / 2 * BYTES_PER_AFFINITY
    if needed > MOST_BYTES:
        raise ConstraintError(
            f"n_affinities=None keeps up to {n_reached**2:,} affinities between the {n_reached:,} points "
            f"that links reach, about {needed / 2**30:.0f} GB in the making. Give n_affinities a number, "
            "such as 64."
        )


def _largest_within(
    conditioned: ConditionedGraph, nodes: IntArray, n_kept: int | None
) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
    """Yield the affinities to keep among some nodes, as rows, columns and weights."""
    among = conditioned.restricted(nodes)
    for strip in among.tiles():
        weights = among.tile(strip)
        if n_kept is not None and n_kept < len(nodes):
            least = np.partition(weights, len(nodes) - n_kept, axis=1)[:, len(nodes) - n_kept]
            weights[weights < least[:, None]] = 0.0
        rows, columns = np.nonzero(weights)
        yield nodes[rows + strip.start], nodes[columns], weights[rows, columns]


def _symmetric(rows: IntArray, columns: IntArray, weights: FloatArray, n: int) -> sp.csr_array:
    """Return the symmetric matrix of entries that may be listed twice, from either side."""
    positive = weights > 0
    low, high = np.minimum(rows, columns)[positive], np.maximum(rows, columns)[positive]
    place, first = np.unique(low.astype(np.int64) * n + high, return_index=True)
    upper = sp.csr_array((weights[positive][first], (place // n, place % n)), shape=(n, n))
    return sp.csr_array(upper + sp.triu(upper, 1).T)
