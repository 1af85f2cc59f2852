"""Computed once, before the first question: micro-clusters, kernels, initial clusters, eigenvectors."""

from __future__ import annotations

from collections.abc import Mapping
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

#: Up to this many points each is a micro-cluster of its own.
MAX_MICRO_CLUSTERS = 2_000
#: α of the graph kernel: walks along the graph have 1 / (1 - 0.99) = 100 steps on average.
ALPHA = 0.99


@dataclass(frozen=True)
class Precomputed:
    """The values that answers do not change."""

    micro_clusters: MicroClusters
    weights: sp.csr_array
    features: Any
    kernels: tuple[FloatArray, ...]
    initial_clusters: IntArray
    known: IntArray
    centers: IntArray
    eigenvalues: FloatArray
    eigenvectors: FloatArray

    @property
    def n_micro_clusters(self) -> int:
        """The number of micro-clusters."""
        return len(self.micro_clusters.points)

    @property
    def n_initial_clusters(self) -> int:
        """The number of initial clusters."""
        return len(self.centers)


def check_reliability(reliability: float | None) -> float | None:
    """Return the chance that an answer is right; None: unknown. Refuse 0.5, a guess, and below."""
    if reliability is None:
        return None
    if not is_number(reliability) or not 0.5 < reliability <= 1.0:
        raise ValueError(
            f"reliability={reliability!r} must be above 0.5 (a guess), up to 1 (certain); None: estimated."
        )
    return float(reliability)


#: What each kind of question costs, in seconds of a person's time.
SECONDS = {"pair": 4.0, "label": 5.0, "set": 10.0}


def check_costs(costs: Mapping[str, float] | str | None) -> dict[str, float]:
    """Return the price of each kind of question that may be asked."""
    if costs is None:
        return {"pair": 1.0}
    if costs == "seconds":
        return dict(SECONDS)
    if not isinstance(costs, Mapping) or not costs or not set(costs) <= set(SECONDS):
        raise ValueError(
            f"costs={costs!r} must give the price of one or more of {', '.join(map(repr, SECONDS))}, such as "
            f'{SECONDS}, or be "seconds" (the same) or None (pairs alone).'
        )
    for kind, price in costs.items():
        if not is_number(price) or not 0.0 < price < np.inf:
            raise ValueError(f"costs: the price of a {kind} is {price!r}; it must be above 0.")
    return {kind: float(price) for kind, price in costs.items()}


def check_start(
    run: BaseEstimator, X: Any, constraints: Constraints | None
) -> tuple[Any, Graph, Constraints]:
    """Return the features (None for a graph), the graph and the constraints, all checked."""
    check_reliability(run.reliability)
    check_not_negative("stop_below", run.stop_below)
    check_costs(run.costs)
    if run.strategy is not None and not callable(run.strategy):
        raise ValueError(
            f"strategy={run.strategy!r} must be a function, such as sidecut.active.super_instances, or None."
        )
    data = check_data(run, X)
    known = check_constraints(constraints, n_points(data), X=X)
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
    return None if graph is data else data, graph, known


def precompute(
    graph: Graph, features: Any, known: IntArray, n_clusters: int | None, rng: np.random.RandomState
) -> Precomputed:
    """Compute all values that are needed before the first question."""
    fine = sp.csr_array(graph.matrix)
    micro_clusters = find_micro_clusters(fine, rng, known)
    weights = micro_clusters.coarsen(fine)
    rows = None if features is None else features[micro_clusters.points]
    # The cube root of the number of points, 4 to 20.
    n_initial = int(np.clip(round(fine.shape[0] ** (1 / 3)), 4, 20))
    n_initial = min(max(n_initial, n_clusters or 1), weights.shape[0])
    pairs = laplacian_eigenpairs(SparseGraph(weights), n_initial, random_state=rng)
    initial_clusters = kmeans_labels(unit_rows(pairs.vectors), n_initial, random_state=rng)
    known_micro = np.unique(micro_clusters.index_of[known])
    return assemble(micro_clusters, weights, rows, initial_clusters, known_micro, pairs.values, pairs.vectors)


def assemble(
    micro_clusters: MicroClusters,
    weights: sp.csr_array,
    features: Any,
    initial_clusters: IntArray,
    known: IntArray,
    eigenvalues: FloatArray,
    eigenvectors: FloatArray,
) -> Precomputed:
    """Add the kernels, and the centre of each initial cluster."""
    kernels: tuple[FloatArray, ...] = (graph_kernel(weights),)
    if features is not None:
        by_features = gaussian_kernel(features)
        kernels = (*kernels, by_features, (kernels[0] + by_features) / 2)
    centers = find_centers(kernels[0], micro_clusters.sizes, initial_clusters, known)
    return Precomputed(
        micro_clusters,
        weights,
        features,
        kernels,
        initial_clusters,
        known,
        centers,
        eigenvalues,
        eigenvectors,
    )


def find_centers(
    kernel: FloatArray, sizes: FloatArray, initial_clusters: IntArray, known: IntArray
) -> IntArray:
    """Return the centre of each cluster: the most similar to the rest of it, if possible a known one."""
    centers = []
    for cluster in range(initial_clusters.max() + 1):
        members = np.flatnonzero(initial_clusters == cluster)
        eligible = np.intersect1d(members, known)
        eligible = eligible if len(eligible) else members
        centers.append(eligible[np.argmax(kernel[np.ix_(eligible, members)] @ sizes[members])])
    return np.array(centers, dtype=np.intp)


@dataclass(frozen=True)
class MicroClusters:
    """Groups of near points, each asked about as one, so that the cost of a question is bounded."""

    index_of: IntArray
    points: IntArray

    @property
    def sizes(self) -> FloatArray:
        """The number of points of each micro-cluster."""
        return np.bincount(self.index_of, minlength=len(self.points)).astype(float)

    def coarsen(self, weights: sp.csr_array) -> sp.csr_array:
        """Return PᵀWP, the weights between micro-clusters; weights inside one are on the diagonal."""
        n = len(self.index_of)
        membership = sp.csr_array((np.ones(n), (np.arange(n), self.index_of)), shape=(n, len(self.points)))
        return sp.csr_array(membership.T @ weights @ membership)


def find_micro_clusters(
    weights: sp.csr_array, rng: np.random.RandomState, known: IntArray, max_count: int = MAX_MICRO_CLUSTERS
) -> MicroClusters:
    """Group the points of a graph into about `max_count` micro-clusters at most."""
    # Points join the nearest centre along the graph, where an edge of weight w has the length log(w_max / w).
    # Then every centre moves to the point with most weight inside its micro-cluster; twice.
    n = weights.shape[0]
    if n <= max_count:
        return MicroClusters(np.arange(n), np.arange(n))
    edges = weights.tocoo()
    apart = (edges.row != edges.col) & (edges.data > 0)
    # A small amount more, since an edge of length 0 is no edge to scipy.
    values = np.log(edges.data[apart].max(initial=1.0) / edges.data[apart]) + 1e-6
    lengths = sp.csr_array((values, (edges.row[apart], edges.col[apart])), shape=weights.shape)
    free = np.setdiff1d(np.arange(n), known)
    drawn = rng.choice(free, max(0, min(len(free), max_count - len(known))), replace=False)
    centers: IntArray = np.concatenate([known, drawn]).astype(np.intp)
    for _ in range(2):
        index_of, centers = _nearest_center(lengths, centers)
        inside = index_of[edges.row] == index_of[edges.col]
        degrees = np.bincount(edges.row[inside], edges.data[inside], minlength=n)
        order = np.lexsort((-degrees, index_of))
        middles = order[np.unique(index_of[order], return_index=True)[1]]
        centers = np.where(np.isin(centers, known), centers, middles).astype(np.intp)
    return MicroClusters(*_nearest_center(lengths, centers))


def _nearest_center(lengths: sp.csr_array, centers: IntArray) -> tuple[IntArray, IntArray]:
    _, _, nearest = dijkstra(
        lengths, directed=False, indices=centers, min_only=True, return_predecessors=True
    )
    nearest = np.where(nearest < 0, np.arange(len(nearest)), nearest)
    points, index_of = np.unique(nearest, return_inverse=True)
    return index_of.astype(np.intp), points.astype(np.intp)


def graph_kernel(weights: sp.csr_array, alpha: float = ALPHA) -> FloatArray:
    """Return (I - αĀ)⁻¹ with Ā = D^{-1/2}WD^{-1/2}, scaled to a unit diagonal.

    It is the covariance of the Gaussian field of Zhou et al. (2004) and Zhu et al. (2003): nodes that many
    short walks connect have nearly the same class.

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
    kernel = scipy.linalg.inv(np.eye(weights.shape[0]) - alpha * affinity.toarray())
    roots = np.sqrt(np.diag(kernel))
    return kernel / roots[:, None] / roots[None, :]


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
