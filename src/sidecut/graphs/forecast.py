"""What products with a graph in blocks take, measured on its blocks before a long run."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sidecut.checks import IntArray
from sidecut.graphs.blocks import BlockFiles, BlockGraph


@dataclass(frozen=True)
class Forecast:
    """What products with a graph in blocks take, measured on its blocks.

    Attributes
    ----------
    n_nodes, n_entries : int
        The size of the graph.
    n_parts : int
        Into how many runs of blocks it is divided, at most.
    n_ghosts : int
        The rows that travel between parts in a product.
    largest_part : int
        The nodes of the largest part, ghosts included.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> from sidecut.graphs import Graph, Neighbors
    >>> graph = Neighbors(5).build(np.random.default_rng(0).normal(size=(100, 2)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     graph.save(f"{folder}/graph")
    ...     print(Graph.open(f"{folder}/graph").forecast())
    100 nodes and 648 weights: 0.0 GB on the disk, read in every product.
    With 10 vectors: about 0.0 GB of memory on one machine.
    """

    n_nodes: int
    n_entries: int
    n_parts: int
    n_ghosts: int
    largest_part: int

    @classmethod
    def of(cls, graph: BlockGraph, n_parts: int) -> Forecast:
        """Count the ghosts of runs of blocks."""
        sizes = [nodes_of(run) for run in divide(graph.blocks, n_parts)]
        ghosts = [len(nodes) - n_own for nodes, n_own in sizes]
        largest = max(len(nodes) for nodes, _ in sizes)
        return cls(graph.n_nodes, graph.n_entries, len(sizes), sum(ghosts), largest)

    @property
    def has_locality(self) -> bool:
        """Whether fewer rows travel than there are nodes."""
        return self.n_ghosts <= self.n_nodes

    def traffic(self, n_columns: int) -> int:
        """Return the bytes that travel between parts in a product, in single precision."""
        return 4 * n_columns * self.n_ghosts

    def memory(self, n_vectors: int) -> int:
        """Return about how many bytes a fit takes on one machine: twelve blocks of vectors, and degrees."""
        return 8 * self.n_nodes * (12 * n_vectors + 8)

    def __str__(self) -> str:
        """Say what it means in words."""
        lines = [
            f"{self.n_nodes:,} nodes and {self.n_entries:,} weights: {8 * self.n_entries / 1e9:.1f} GB on "
            "the disk, read in every product.",
            f"With 10 vectors: about {self.memory(10) / 1e9:.1f} GB of memory on one machine.",
        ]
        if self.n_parts > 1:
            lines.append(
                f"In {self.n_parts} parts, {self.n_ghosts:,} rows travel in a product "
                f"({self.n_ghosts / self.n_nodes:.0%} of the nodes): {self.traffic(10) / 1e9:.2g} GB with 10 "
                "vectors."
            )
        if not self.has_locality:
            lines.append(
                "The graph has no locality: more rows travel than there are nodes. Fewer parts, or an order "
                "of the nodes that places neighbours near each other (Graph.save(order=)), make it fewer."
            )
        return "\n".join(lines)


def divide(blocks: BlockFiles, n_parts: int) -> list[BlockFiles]:
    """Return runs of blocks with about equal numbers of entries, at most `n_parts` of them."""
    ends = np.cumsum([block["n_entries"] for block in blocks.described])
    goals = np.linspace(0, ends[-1], n_parts + 1)[1:-1]
    cuts = np.unique([0, *np.searchsorted(ends, goals) + 1, len(blocks)]).tolist()
    return [blocks[first:last] for first, last in pairwise(cuts)]


def nodes_of(blocks: BlockFiles) -> tuple[IntArray, int]:
    """Return the nodes of a run of blocks, its own before its ghosts, and how many are its own."""
    sizes = [described["n_rows"] for described in blocks.described]
    found = [blocks.nodes_of(number) for number in range(len(blocks))]
    own = np.concatenate([nodes[:n] for nodes, n in zip(found, sizes, strict=True)])
    around = np.unique(np.concatenate([nodes[n:] for nodes, n in zip(found, sizes, strict=True)]))
    return np.concatenate([own, np.setdiff1d(around, own, assume_unique=True)]), own.size
