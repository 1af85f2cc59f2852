"""All that is computed once, before the first question: grains, kernels, pieces, eigenvectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra
from sklearn.base import BaseEstimator
from sklearn.metrics import pairwise_distances

from sidecut.checks import FloatArray, IntArray, check_n_clusters, check_not_negative, is_number
from sidecut.constraints import Constraints
from sidecut.graphs import Graph, NormalizedAffinity, SparseGraph, recipe
from sidecut.labelling import kmeans_labels, unit_rows
from sidecut.methods.task import check_constraints, check_data, n_points
from sidecut.spectral import laplacian_eigenpairs

#: Fewest and most pieces at the start; between, the cube root of the number of points.
FEWEST_PIECES, MOST_PIECES = 4, 20


@dataclass(frozen=True)
class Landscape:
    """The data as the questions see them."""

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

    @property
    def n_pieces(self) -> int:
        """How many pieces there are."""
        return len(self.centers)


def check_reliability(reliability: float) -> float:
    """Return the chance that an answer is right; refuse what is none, or no better than a guess."""
    if not is_number(reliability) or not 0.5 < reliability <= 1.0:
        raise ValueError(f"reliability={reliability!r} must be above 0.5 (a guess), up to 1 (certain).")
    return float(reliability)


def check_start(
    run: BaseEstimator, X: Any, constraints: Constraints | None
) -> tuple[Any, Graph, Constraints]:
    """Return the points (or the graph), the graph, and what is known; refuse what makes no sense."""
    check_reliability(run.reliability)
    check_not_negative("stop_below", run.stop_below)
    if run.strategy is not None and not callable(run.strategy):
        raise ValueError(
            f"strategy={run.strategy!r} must be a function, such as sidecut.active.super_instances, or None."
        )
    data = check_data(run, X)
    known = check_constraints(constraints, n_points(data))
    if run.n_clusters is not None:
        check_n_clusters(run.n_clusters, n_points(data))
    graph = data
    if not isinstance(data, Graph):
        graph = recipe(run.affinity, min(run.n_neighbors, n_points(data) - 1)).build(data)
    if graph.matrix is None:
        raise ValueError(
            f"affinity={run.affinity!r} makes a graph that is too large to write down; use 'knn', or a "
            "recipe such as Neighbors(10)."
        )
    return data, graph, known


def as_features(data: Any) -> Any:
    """Return the points, or None where only their graph is known."""
    return None if isinstance(data, Graph) else data


def survey(
    graph: Graph, features: Any, known: IntArray, n_clusters: int | None, rng: np.random.RandomState
) -> Landscape:
    """Compute all that is needed before the first question."""
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
    """Return how many super-instances to start with."""
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


# Grains: a large graph is gathered into at most 2,000 groups of near points, each asked about as one.
#
# All that happens after an answer works on the grains, so that its cost does not grow with the data.


#: Up to this many points each is a grain of its own.
MAX_GRAINS = 2_000
#: How often the centres of the grains are moved to their middle.
N_MOVES = 2


@dataclass(frozen=True)
class Grains:
    """Groups of near points."""

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


# How alike two grains are: along the graph, and by their features.
#
# Both kernels have ones on the diagonal, so that they can be averaged, and so that the prior variance of a
# grain's class is the same everywhere.


#: How far a walk along the graph goes before it ends: 1 / (1 - 0.99) = 100 steps on average.
ALPHA = 0.99


def graph_kernel(weights: sp.csr_array, alpha: float = ALPHA) -> FloatArray:
    """Return (I - αĀ)⁻¹ with Ā = D^{-1/2}WD^{-1/2}, scaled to a unit diagonal.

    It is the covariance of the Gaussian field of Zhou et al. (2004) and Zhu et al. (2003): grains between
    which short walks are many have nearly the same class.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from sidecut.active import graph_kernel
    >>> path = sp.csr_array([[0, 1.0, 0], [1.0, 0, 1.0], [0, 1.0, 0]])
    >>> graph_kernel(path, alpha=0.5).round(3)
    array([[1.   , 0.378, 0.143],
           [0.378, 1.   , 0.378],
           [0.143, 0.378, 1.   ]])
    """
    affinity: Any = NormalizedAffinity(SparseGraph(weights)).matrix
    return unit_diagonal(scipy.linalg.inv(np.eye(weights.shape[0]) - alpha * affinity.toarray()))


def gaussian_kernel(features: Any) -> FloatArray:
    """Return exp(-d²/m) of the distances d between rows, with m the median of d² over pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.active import gaussian_kernel
    >>> gaussian_kernel(np.array([[0.0], [1.0], [2.0]])).round(3)
    array([[1.   , 0.368, 0.018],
           [0.368, 1.   , 0.368],
           [0.018, 0.368, 1.   ]])
    """
    # sklearn's "sqeuclidean" is scipy's for dense rows only.
    squares = pairwise_distances(features, metric="euclidean") ** 2
    positive = squares[squares > 0]
    return np.exp(-squares / (np.median(positive) if len(positive) else 1.0))


def unit_diagonal(kernel: FloatArray) -> FloatArray:
    """Return K_ij / √(K_ii K_jj)."""
    roots = np.sqrt(np.diag(kernel))
    return kernel / roots[:, None] / roots[None, :]
