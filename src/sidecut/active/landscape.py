"""All that is computed once, before the first question: grains, kernels, pieces, eigenvectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from sidecut.active.grains import Grains, gather_grains
from sidecut.active.kernels import gaussian_kernel, graph_kernel
from sidecut.arrays import FloatArray, IntArray
from sidecut.graphs import Graph, SparseGraph
from sidecut.labelling import kmeans_labels, unit_rows
from sidecut.spectral import laplacian_eigenpairs

#: Fewest and most pieces at the start; between, the cube root of the number of points.
FEWEST_PIECES, MOST_PIECES = 4, 20


@dataclass(frozen=True)
class Landscape:
    """The data as the questions see them.

    Attributes
    ----------
    grains : Grains
        Which points are asked about as one.
    weights : sparse array of shape (n_grains, n_grains)
        The graph of the grains.
    features : array, sparse matrix or None
        The features of the points that stand for the grains; None where only a graph is known.
    kernels : tuple of arrays
        How alike grains are: along the graph; where there are features, by them; and the mean of both.
    pieces : array of shape (n_grains,)
        The super-instance of every grain.
    known : array of int
        Grains something was known about at the start.
    centers : array of shape (n_pieces,)
        The grain in the middle of each piece, or the known grain nearest to it.
    eigenvalues, eigenvectors : arrays
        The smallest of the normalised Laplacian of the grains.
    """

    grains: Grains
    weights: sp.csr_array
    features: Any
    kernels: tuple[FloatArray, ...]
    pieces: IntArray
    known: IntArray
    centers: IntArray
    eigenvalues: FloatArray
    eigenvectors: FloatArray

    @property
    def n_grains(self) -> int:
        """How many grains there are."""
        return len(self.grains.points)


def survey(
    graph: Graph, features: Any, known: IntArray, n_clusters: int | None, rng: np.random.RandomState
) -> Landscape:
    """Compute all that is needed before the first question.

    Parameters
    ----------
    graph : Graph
        With an explicit matrix.
    features : array, sparse matrix or None
        The points.
    known : array of int
        Points something is known about already.
    n_clusters : int or None
        There are at least as many pieces.
    rng : RandomState
        Draws grains and starts of k-means.
    """
    fine = sp.csr_array(graph.matrix)
    grains = gather_grains(fine, rng, known)
    weights = grains.coarsen(fine)
    rows = None if features is None else features[grains.points]
    n_pieces = count_pieces(fine.shape[0], weights.shape[0], n_clusters)
    pairs = laplacian_eigenpairs(SparseGraph(weights), n_pieces, random_state=rng)
    pieces = kmeans_labels(unit_rows(pairs.vectors), n_pieces, random_state=rng)
    known_grains = np.unique(grains.grain_of[known])
    return assemble(grains, weights, rows, pieces, known_grains, pairs.values, pairs.vectors)


def assemble(
    grains: Grains,
    weights: sp.csr_array,
    features: Any,
    pieces: IntArray,
    known: IntArray,
    eigenvalues: FloatArray,
    eigenvectors: FloatArray,
) -> Landscape:
    """Add what follows from the rest: the kernels, and the grain in the middle of each piece."""
    kernels: tuple[FloatArray, ...] = (graph_kernel(weights),)
    if features is not None:
        by_features = gaussian_kernel(features)
        kernels = (*kernels, by_features, (kernels[0] + by_features) / 2)
    centers = middle_of_pieces(kernels[0], grains.sizes, pieces, known)
    return Landscape(grains, weights, features, kernels, pieces, known, centers, eigenvalues, eigenvectors)


def count_pieces(n_samples: int, n_grains: int, n_clusters: int | None) -> int:
    """Return how many super-instances to start with.

    Examples
    --------
    >>> from sidecut.active.landscape import count_pieces
    >>> count_pieces(150, 150, None), count_pieces(70_000, 2_000, None), count_pieces(150, 150, 12)
    (5, 20, 12)
    """
    n_pieces = int(np.clip(round(n_samples ** (1 / 3)), FEWEST_PIECES, MOST_PIECES))
    return min(max(n_pieces, n_clusters or 1), n_grains)


def middle_of_pieces(kernel: FloatArray, sizes: FloatArray, pieces: IntArray, known: IntArray) -> IntArray:
    """Return the grain of each piece most alike to the rest of it, of the known ones if there are any."""
    centers = []
    for piece in range(pieces.max() + 1):
        members = np.flatnonzero(pieces == piece)
        eligible = np.intersect1d(members, known)
        eligible = eligible if len(eligible) else members
        centers.append(eligible[np.argmax(kernel[np.ix_(eligible, members)] @ sizes[members])])
    return np.array(centers, dtype=np.intp)
