"""A small graph that stands for a large one: some nodes, which all others have joined."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sidecut.checks import IntArray
from sidecut.graphs.blocks import RowBlock
from sidecut.graphs.graph import SparseGraph


def contract(read: Callable[[], Iterable[RowBlock]], nodes: IntArray, n_nodes: int) -> SparseGraph:
    """Return the graph of some nodes after all others have joined them, step by step along edges."""
    # In every step, nodes join what their heaviest edge to a joined node leads to; where no path leads to any
    # of `nodes`, they are left out. Weights within and between are added up.
    place = np.full(n_nodes, -1, dtype=np.int32)
    place[nodes] = np.arange(len(nodes))
    while True:
        joined = place.copy()
        for rows, others, weights in _edges(read()):
            found = np.flatnonzero((place[rows] < 0) & (place[others] >= 0))
            # The heaviest edge of a node is written last.
            found = found[np.argsort(weights[found], kind="stable")]
            joined[rows[found]] = place[others[found]]
        if np.array_equal(joined, place):
            break
        place = joined
    shape = (len(nodes), len(nodes))
    total = sp.csr_array(shape)
    for rows, others, weights in _edges(read()):
        inside = place[rows] >= 0
        ends = place[rows[inside]], place[others[inside]]
        total = total + sp.coo_array((weights[inside].astype(np.float64), ends), shape=shape).tocsr()
    # Both directions were added in different orders.
    return SparseGraph(sp.csr_array((total + total.T) / 2))


def _edges(blocks: Iterable[RowBlock]) -> Iterator[tuple[IntArray, IntArray, npt.NDArray[np.float32]]]:
    """Yield both ends and the weights of entries, some hundred thousand at a time."""
    for block in blocks:
        for part, weights in block.pieces():
            entries = weights.tocoo()
            yield block.own[part][entries.row], block.nodes[entries.col], entries.data
