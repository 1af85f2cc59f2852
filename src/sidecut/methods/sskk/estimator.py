"""SSKK, semi-supervised kernel k-means (Kulis, Basu, Dhillon & Mooney, 2005 and 2009)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import Tags, check_random_state

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import ConvergenceWarning, warn
from sidecut.graphs import Graph, GraphRecipe, warn_about_graph
from sidecut.labelling import kmeans_labels, rename_by_first_appearance, unit_rows
from sidecut.methods.base import NONNEGATIVE, ConstrainedClusterer
from sidecut.methods.inputs import (
    build_graph,
    check_data,
    check_task,
    is_precomputed,
    n_points,
)
from sidecut.methods.safeguard import Safeguarded
from sidecut.methods.sskk.kmeans import (
    KernelPartition,
    WeightedKernel,
    farthest_first,
    kernel_kmeans,
    neighbourhoods,
    seed_labels,
)
from sidecut.parameters import check_choice, check_not_negative, check_parameters
from sidecut.progress import stage
from sidecut.spectral import laplacian_eigenpairs
from sidecut.spectral.laplacian import SOLVERS

__all__ = ["SSKK", "link_penalty", "link_similarities"]


def link_penalty(constraints: Constraints, n_clusters: int) -> float:
    """Return n / (k C), what a link of unit strength adds to or takes from its similarity.

    C is the sum of the strengths of all pairs, each counted once: their number where all are 1. All links
    together then weigh as much as n / k.

    Examples
    --------
    >>> from sidecut import Constraints
    >>> from sidecut.methods.sskk.estimator import link_penalty
    >>> link_penalty(Constraints.from_pairs(60, must_link=[(0, 1)], cannot_link=[(2, 3), (2, 4), (2, 5)]), 3)
    5.0
    """
    total = 0.5 * float(_strengths(constraints).sum())
    return constraints.n_samples / (n_clusters * total) if total > 0 else 0.0


def _strengths(constraints: Constraints) -> FloatArray:
    """Return Σ_j |Q_ij| for every point, without its diagonal."""
    beliefs, ones = constraints.with_diagonal(0.0), np.ones(constraints.n_samples)
    return 2.0 * beliefs.must_part().apply(ones) - beliefs.apply(ones)


def link_similarities(
    graph: Graph, constraints: Constraints, penalty: float, weights: FloatArray
) -> WeightedKernel:
    """Return S + W as similarities for weighted kernel k-means, W = penalty · Q.

    Parameters
    ----------
    graph : Graph
        S.
    constraints : Constraints
        Q, whose diagonal says nothing here.
    penalty : float
        What a link of unit strength adds to its similarity, or takes from it.
    weights : array of shape (n,)
        The weights of the points.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut import Constraints
    >>> from sidecut.methods.sskk.estimator import link_similarities
    >>> from sidecut.graphs import as_graph
    >>> links = Constraints.from_pairs(3, must_link=[(0, 1)], cannot_link=[(1, 2)])
    >>> kernel = link_similarities(as_graph(np.ones((3, 3))), links, 0.5, np.ones(3))
    >>> kernel.apply(np.eye(3))
    array([[1. , 1.5, 1. ],
           [1.5, 1. , 0.5],
           [1. , 0.5, 1. ]])
    """
    beliefs = constraints.with_diagonal(0.0)

    def apply(block: FloatArray) -> FloatArray:
        return graph.apply(block) + penalty * beliefs.apply(block)

    return WeightedKernel(apply, weights, graph.degrees + penalty * _strengths(constraints))


class SSKK(Safeguarded, ConstrainedClusterer):
    """Semi-supervised kernel k-means (Kulis, Basu, Dhillon & Mooney, 2005 and 2009).

    Links are added to the similarities, n / (k C) for a must-link and as much off for a cannot-link, and the
    points are clustered by kernel k-means: no eigenvectors, but a search that ends in the nearest of many
    minima, so that much depends on the start. Links are penalties; one may be broken for a price.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters, k.
    weighting : {"degree", "none"}, default="degree"
        Points weigh as much as their degree, and the objective is the normalised cut with links; or all the
        same, and it is kernel k-means on S + W + σI.
    penalty : float or None, default=None
        What a link of unit strength changes a similarity by; None is n / (k C), with C links.
    shift : {"adaptive", "full"}, default="adaptive"
        σ, which makes the kernel positive semidefinite and every step a descent, also holds every point where
        it is. "full" always uses it; "adaptive" tries less first, and takes the step if the objective falls.
    init : {"auto", "farthest_first", "spectral"} or array of shape (n_samples,), default="auto"
        Where to start. "farthest_first": from must-link neighbourhoods far from one another and, where they
        are too few, from points far from them; "spectral": from the normalised cut; "auto": from the
        must-link neighbourhoods if there is just one for each cluster, as labels make them, else from the
        normalised cut. Or from these labels, 0 to `n_clusters` - 1.
    max_iter : int, default=300
        The most steps in one run, those tried in vain included; each takes at most one product with the
        kernel.
    affinity : str or GraphRecipe, default="knn"
        How data become a graph, whose weights are the similarities S: "knn", "gaussian", "self_tuning",
        "heat", "cosine", a recipe, or "precomputed".
    n_neighbors : int, default=20
        How many neighbours each point has in the graph of ``affinity="knn"``.
    n_init : int, default=10
        How many starts there are where they are left to chance; the best end is kept.
    eigen_solver : {"auto", "dense", "lanczos", "factorized", "iterated"}, default="auto"
        For a start from the normalised cut.
    hard : bool, default=False
        Finish with labels that satisfy all must-links and as many cannot-links as possible; `repair_` tells
        what it took.
    safe : bool, default=True
        Where little is known, keep the answer without constraints if that satisfies all of it, or if what is
        known speaks too weakly for another. False follows the constraints whatever it costs.
    n_jobs : int or None, default=None
        How many threads a fit may use. None: all cores that OMP_NUM_THREADS allows, but one in a worker of
        joblib or Dask. -1: all cores.
    verbose : int or bool, default=0
        1: write the stages of the fit and their seconds to standard error, with a bar for long ones on a
        terminal. 2: also the stages within them.
    random_state : int, RandomState or None, default=None
        An int makes the result reproducible.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of every point, numbered in order of first appearance.
    judgement_ : Judgement
        With `safe`, where little is known: which answer was kept, and why.
    embedding_ : array of shape (n_samples, n_clusters)
        The mean similarity of every point to every cluster, links included.
    objective_trace_ : array
        The objective at the start of the best run and after every step it took, see `KernelPartition`.
    n_iter_ : int
        How many steps that run tried, those in vain included: at most `max_iter`.
    penalty_, shift_ : float
        What a link changes a similarity by, and σ.
    affinity_matrix_ : Graph
        S.
    repair_ : Repair
        With `hard`: which labels were changed to satisfy the links, at what cost, and what could not be.
    n_features_in_ : int
        Number of features seen in fit.

    See Also
    --------
    NormalizedCut : The cut that kernel k-means with degrees as weights minimises.
    CSP : A spectral method that takes the same knowledge.

    References
    ----------
    B. Kulis, S. Basu, I. Dhillon, R. Mooney: Semi-supervised graph clustering: a kernel approach. Machine
    Learning 74, 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sidecut import SSKK
    >>> from sidecut.constraints import sample_labels
    >>> X, y = load_iris(return_X_y=True)
    >>> known = sample_labels(y, 30, random_state=0)
    >>> model = SSKK(n_clusters=3, random_state=0).fit(X, constraints=known)
    >>> known.satisfaction(model.labels_) > 0.9
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        weighting: str = "degree",
        penalty: float | None = None,
        shift: str = "adaptive",
        init: str | npt.ArrayLike = "auto",
        max_iter: int = 300,
        affinity: str | GraphRecipe = "knn",
        n_neighbors: int = 20,
        n_init: int = 10,
        eigen_solver: str = "auto",
        hard: bool = False,
        safe: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.weighting = weighting
        self.penalty = penalty
        self.shift = shift
        self.init = init
        self.max_iter = max_iter
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.eigen_solver = eigen_solver
        self.hard = hard
        self.safe = safe
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    _taken = ("embedding_", "objective_trace_", "n_iter_")

    @property
    def _is_guarded(self) -> bool:
        # From a start that is given there is one answer.
        return self.safe and isinstance(self.init, str)

    def _fit(self, X: Any, constraints: Constraints | None) -> None:
        self._check_parameters()
        data = check_data(self, X)
        constraints = check_task(self, data, constraints)
        start = self._given_start(n_points(data))
        n_clusters, rng = self.n_clusters, check_random_state(self.random_state)
        graph = build_graph(self, data)
        warn_about_graph(graph, n_clusters)
        self.affinity_matrix_, self._seen = graph, (data, graph)
        self.penalty_ = link_penalty(constraints, n_clusters) if self.penalty is None else float(self.penalty)
        kernel = link_similarities(graph, constraints, self.penalty_, self._weights(graph))
        with stage("kernel k-means"):
            self.shift_ = kernel.full_shift(rng)
            starts = [start] if start is not None else self._starts(graph, kernel, constraints, rng)
            runs = (self._run(kernel, labels) for labels in starts)
            self._remember(min(runs, key=lambda run: run.objective))
        self._repair(self.embedding_, constraints)

    def _check_parameters(self) -> None:
        choices = {"weighting": ("degree", "none"), "shift": ("adaptive", "full"), "eigen_solver": SOLVERS}
        check_parameters(self, choices=choices, counts=("max_iter", "n_init"))
        if isinstance(self.init, str):
            check_choice("init", self.init, ("auto", "farthest_first", "spectral"))
        if self.penalty is not None:
            check_not_negative("penalty", self.penalty)

    def _given_start(self, n_samples: int) -> IntArray | None:
        if isinstance(self.init, str):
            return None
        labels = np.asarray(self.init)
        if labels.shape != (n_samples,) or labels.dtype.kind not in "iu":
            raise ValueError(
                f"init has shape {labels.shape} and dtype {labels.dtype}; a start is one whole number per "
                f"point, shape ({n_samples},)."
            )
        missing = np.setdiff1d(np.arange(self.n_clusters), labels)
        if missing.size or not 0 <= labels.min() <= labels.max() < self.n_clusters:
            raise ValueError(
                f"init has the labels {np.unique(labels).tolist()}; a start has a point in every cluster, "
                f"0 to {self.n_clusters - 1}."
            )
        return labels.astype(np.intp)

    def _weights(self, graph: Graph) -> FloatArray:
        if self.weighting == "none":
            return np.ones(graph.n_nodes)
        # A point without neighbours would weigh nothing: it counts as the lightest of the others.
        return np.maximum(graph.degrees, graph.degrees[graph.degrees > 0].min())

    def _starts(
        self, graph: Graph, kernel: WeightedKernel, constraints: Constraints, rng: np.random.RandomState
    ) -> list[IntArray]:
        sets = neighbourhoods(constraints)
        if self.init == "spectral" or (self.init == "auto" and len(sets) != self.n_clusters):
            return [fill_empty_clusters(self._cut_labels(graph, rng), self.n_clusters, rng)]
        if sets:
            sets = farthest_first(kernel.apply, sets, self.n_clusters, graph.n_nodes)
        n_starts = 1 if len(sets) == self.n_clusters else self.n_init
        starts = (seed_labels(graph, sets, self.n_clusters, rng) for _ in range(n_starts))
        return [fill_empty_clusters(labels, self.n_clusters, rng) for labels in starts]

    def _cut_labels(self, graph: Graph, rng: np.random.RandomState) -> IntArray:
        pairs = laplacian_eigenpairs(graph, self.n_clusters, solver=self.eigen_solver, random_state=rng)
        # Rows of unit length: scaling them by degrees first would change nothing.
        rows = unit_rows(pairs.vectors)
        return kmeans_labels(rows, self.n_clusters, n_init=self.n_init, random_state=rng)

    def _run(self, kernel: WeightedKernel, labels: IntArray) -> KernelPartition:
        return kernel_kmeans(
            kernel,
            labels,
            self.n_clusters,
            shift=self.shift_,
            adaptive=self.shift == "adaptive",
            max_iter=self.max_iter,
        )

    def _remember(self, best: KernelPartition) -> None:
        if not best.converged:
            warn(
                f"points still moved in the last of max_iter={self.max_iter} steps; allow for more.",
                ConvergenceWarning,
            )
        self.objective_trace_ = best.objective_trace
        self.n_iter_ = best.n_iter
        _, first = np.unique(best.labels, return_index=True)
        self.embedding_ = best.similarities[:, np.argsort(first)]
        self.labels_ = rename_by_first_appearance(best.labels)

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that sparse data are welcome and when X is a matrix of pairs."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_precomputed(self)
        tags.input_tags.positive_only = isinstance(self.affinity, str) and self.affinity in NONNEGATIVE
        return tags


def fill_empty_clusters(labels: IntArray, n_clusters: int, rng: np.random.RandomState) -> IntArray:
    """Return the labels with a point in every cluster: empty ones get points of the largest, by chance.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.sskk.estimator import fill_empty_clusters
    >>> np.bincount(fill_empty_clusters(np.array([0, 0, 0, 2]), 3, np.random.RandomState(0)))
    array([2, 1, 1])
    """
    labels = labels.copy()
    counts = np.bincount(labels, minlength=n_clusters)
    for empty in np.flatnonzero(counts == 0):
        largest = counts.argmax()
        labels[rng.choice(np.flatnonzero(labels == largest))] = empty
        counts[largest], counts[empty] = counts[largest] - 1, 1
    return labels
