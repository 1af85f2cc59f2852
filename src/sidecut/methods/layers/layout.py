"""A layout of a graph in a few dimensions: neighbours attract, random pairs repel.

With squared distances d² and weights w_ij, degrees d_i and S random points s for each point i, every point
lowers its own energy while the others stay where they are:

    E_i = Σ_j (w_ij / d_i) log(1 + d²(i, j)) + (γ / S) Σ_s U(d²(i, s)),
    U(d²) = -log((ε + d²) / (1 + d²)) / (1 - ε).

Attraction alone would put all points of a component into one; repulsion, between any two points alike, opens
gaps where few edges cross. The form of both is that of UMAP (McInnes, Healy & Melville, 2018) with a = b = 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sidecut.graphs import Graph, rows_of, symmetrize
from sidecut.running import track

#: Dimensions of the layout.
N_DIMENSIONS = 4
#: Steps of all points at once, and those of more points than this.
N_STEPS, N_STEPS_OF_MANY, MANY = 200, 60, 10_000
#: S, random points that repel each point in a step.
N_REPELLING = 10
#: γ, weight of repulsion: it grows from the first number to the second in the first half of the steps, so
#: that clusters form before they move apart.
REPULSION = (0.5, 5.0)
#: ε, squared distance below which repulsion no longer grows.
SOFTENING = 0.01
#: The share of the last move that is added to the next.
MOMENTUM = 0.5
#: Steps of the diffusion that turns random numbers into a start.
START_STEPS = 60
#: Of a graph that is not sparse, edges to this many neighbours.
N_NEIGHBORS = 20

Floats = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges of a graph, each once, i < j, with degrees."""

    upper: sp.csr_array
    rows: NDArray[np.intp]
    degrees: Floats

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return int(self.upper.shape[0])


def edges_of(graph: Graph) -> Edges:
    """Return the edges of a graph; of one that is not sparse, those to the nearest nodes."""
    weights = graph.matrix if sp.issparse(graph.matrix) else _nearest_edges(graph)
    upper = sp.csr_array(sp.triu(weights, k=1, format="csr"))
    largest = upper.data.max(initial=0.0)
    upper = sp.csr_array(
        ((upper.data / (largest or 1.0)).astype(np.float32), upper.indices, upper.indptr), shape=upper.shape
    )
    rows = np.repeat(np.arange(upper.shape[0]), np.diff(upper.indptr))
    degrees = _sums_at_ends(upper, rows, upper.data)
    return Edges(upper, rows, degrees)


def _nearest_edges(graph: Graph) -> sp.csr_array:
    """Return the edges of a full graph to the nearest nodes of each, a tile of rows at a time."""
    n_nodes, kept = graph.n_nodes, []
    count = min(N_NEIGHBORS, n_nodes - 1)
    for start in range(0, n_nodes, 1_000):
        weights = rows_of(graph, slice(start, min(start + 1_000, n_nodes)))
        here = np.arange(len(weights))
        weights[here, here + start] = 0.0
        columns = np.argpartition(-weights, count - 1, axis=1)[:, :count]
        shape, ends = (len(weights), n_nodes), np.arange(0, columns.size + 1, count)
        values = np.take_along_axis(weights, columns, axis=1).ravel()
        kept.append(sp.csr_array((values, columns.ravel(), ends), shape=shape))
    return symmetrize(sp.csr_array(sp.vstack(kept, format="csr")))


def lay_out(graph: Graph, seed: int | list[int]) -> Floats:
    """Return a place for every node of a graph, an array of shape (n_nodes, N_DIMENSIONS)."""
    edges, rng = edges_of(graph), np.random.default_rng(seed)
    places = first_places(edges, rng)
    moves = np.zeros_like(places)
    n_steps = N_STEPS if edges.n_nodes <= MANY else N_STEPS_OF_MANY
    for step in track(range(n_steps), n_steps):
        others = [rng.permutation(edges.n_nodes) for _ in range(N_REPELLING)]
        repulsion = float(np.interp(2.0 * step / n_steps, (0.0, 1.0), REPULSION))
        moves *= MOMENTUM
        moves += (1.0 - step / n_steps) * forces(places, edges, others, repulsion)
        places += moves
    return places


def first_places(edges: Edges, rng: np.random.Generator) -> Floats:
    """Return random numbers after a diffusion along the edges: neighbours get nearly the same."""
    inverse = np.divide(1.0, edges.degrees, out=np.zeros_like(edges.degrees), where=edges.degrees > 0)
    places = rng.standard_normal((edges.n_nodes, N_DIMENSIONS)).astype(np.float32)
    lower = sp.csr_array(edges.upper.T)
    for step in range(START_STEPS):
        places = inverse[:, None] * (edges.upper @ places + lower @ places)
        if step % 10 == 9:
            places -= places.mean(axis=0)
            places /= places.std(axis=0) + np.finfo(np.float32).tiny
    return np.asarray(places, dtype=np.float32)


def forces(places: Floats, edges: Edges, others: list[NDArray[np.intp]], repulsion: float) -> Floats:
    """Return -∂E_i/∂y_i for every point i, given γ and the points that repel it."""
    apart = places[edges.rows]
    apart -= places[edges.upper.indices]
    squared = np.einsum("ij,ij->i", apart, apart)
    pulls = edges.upper.data * (2.0 / (1.0 + squared))
    upper = sp.csr_array((pulls, edges.upper.indices, edges.upper.indptr), shape=edges.upper.shape)
    found = upper @ places
    found += upper.T @ places
    found -= _sums_at_ends(upper, edges.rows, pulls)[:, None] * places
    found /= np.maximum(edges.degrees, np.finfo(np.float32).tiny)[:, None]
    for other in others:
        apart = places - places[other]
        squared = np.einsum("ij,ij->i", apart, apart)
        pushes = np.float32(2.0 * repulsion / len(others)) / ((SOFTENING + squared) * (1.0 + squared))
        apart *= pushes[:, None]
        found += apart
    return np.asarray(found)


def _sums_at_ends(upper: sp.csr_array, rows: NDArray[np.intp], values: NDArray) -> Floats:
    """Return the sum of the values of the edges at every node."""
    n_nodes = upper.shape[0]
    both = np.bincount(rows, values, n_nodes) + np.bincount(upper.indices, values, n_nodes)
    return both.astype(np.float32)
