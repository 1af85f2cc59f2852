"""SSKK, semi-supervised kernel k-means (Kulis, Basu, Dhillon & Mooney, 2005 and 2009)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from sidecut.checks import FloatArray, IntArray, Rule, check_count, check_not_negative, one_of, optional
from sidecut.constraints import Constraints
from sidecut.exceptions import ConvergenceWarning, warn
from sidecut.graphs import Graph, warn_about_graph
from sidecut.labelling import kmeans_labels, rename_by_first_appearance, unit_rows
from sidecut.labelling.labels import fill_empty
from sidecut.methods.base import EigenClusterer, TakesConstraints, documented
from sidecut.methods.task import Answer, Task
from sidecut.running import stage
from sidecut.spectral import laplacian_eigenpairs

#: The shifts that are tried, as shares of the full one.
SHARES = (0.0, 0.25, 0.5, 1.0)
#: Of more must-link neighbourhoods than this, only the largest are compared.
MAX_NEIGHBOURHOODS = 100
#: The label of a point that is in no cluster yet.
UNKNOWN = -1


@dataclass(frozen=True)
class WeightedKernel:
    """Similarities B of points with weights w: the kernel w⁻¹ B w⁻¹ + σ w⁻¹ of weighted kernel k-means."""

    # Weights of one give kernel k-means on B + σI; degrees as weights give the normalised cut (Dhillon, Guan
    # & Kulis, 2004).

    apply: Callable[[FloatArray], FloatArray]
    weights: FloatArray
    magnitudes: FloatArray

    @cached_property
    def bound(self) -> float:
        """A shift that surely makes the kernel positive semidefinite (Gershgorin)."""
        return float((self.magnitudes / self.weights).max())

    def full_shift(self, rng: np.random.RandomState) -> float:
        """Return the least shift σ that makes the kernel positive semidefinite, or slightly more."""
        # It is -λ_min of w^{-1/2} B w^{-1/2} where that is positive, else 0; by Lanczos iteration with a
        # margin of two per cent, or, should that fail, Gershgorin's bound.
        root, n_points = 1.0 / np.sqrt(self.weights), self.weights.size

        def scaled(block: FloatArray) -> FloatArray:
            scale = root if block.ndim == 1 else root[:, None]
            return scale * self.apply(scale * block)

        if n_points <= 50:
            smallest = float(np.linalg.eigvalsh(scaled(np.eye(n_points)))[0])
        else:
            operator = LinearOperator((n_points,) * 2, matvec=scaled, matmat=scaled, dtype=np.float64)
            try:
                start = rng.standard_normal(n_points)
                smallest = float(
                    eigsh(operator, 1, which="SA", v0=start, tol=1e-2, return_eigenvectors=False)[0]
                )
            except ArpackError:
                return self.bound
        # Lanczos approaches -λ_min from below.
        return min(1.02 * max(-smallest, 0.0), self.bound)


@dataclass(frozen=True)
class KernelPartition:
    """The result of kernel k-means."""

    labels: IntArray
    similarities: FloatArray
    objective_trace: FloatArray
    n_iter: int
    converged: bool

    @property
    def objective(self) -> float:
        """The last value of the trace."""
        return float(self.objective_trace[-1])


@dataclass(frozen=True)
class _Clusters:
    """Labels, and the sums over clusters that distances are computed from."""

    labels: IntArray
    products: FloatArray
    masses: FloatArray
    within: FloatArray

    @property
    def objective(self) -> float:
        return -float((self.within / self.masses).sum())

    def similarities(self, weights: FloatArray) -> FloatArray:
        """The weighted mean of similarities to each cluster, without the shift."""
        return self.products / weights[:, None] / self.masses

    def distances(self, weights: FloatArray, shift: float) -> FloatArray:
        """Squared distances to the cluster means, but for a constant per point."""
        similar = self.similarities(weights)
        similar[np.arange(weights.size), self.labels] += shift / self.masses[self.labels]
        return (self.within / self.masses + shift) / self.masses - 2.0 * similar

    def as_partition(
        self, weights: FloatArray, trace: list[float], n_iter: int, converged: bool
    ) -> KernelPartition:
        return KernelPartition(self.labels, self.similarities(weights), np.array(trace), n_iter, converged)


def kernel_kmeans(
    kernel: WeightedKernel,
    labels: npt.ArrayLike,
    n_clusters: int,
    *,
    shift: float,
    adaptive: bool = True,
    max_iter: int = 300,
) -> KernelPartition:
    """Move every point to the nearest cluster mean until none moves."""
    # With the full shift σ the kernel is positive semidefinite, and no step raises the objective. But the
    # shift also ties every point to its cluster, and changes the objective only by a constant. So a step is
    # first tried with less of it, and taken if the objective falls.
    shifts = [share * shift for share in (SHARES if adaptive else SHARES[-1:])] + [kernel.bound]
    full = len(shifts) - 2
    now = _gather(kernel, np.asarray(labels, dtype=np.intp), n_clusters)
    trace, level = [now.objective], 0
    for n_iter in range(1, max_iter + 1):
        nearest = _nearest(now, kernel.weights, shifts[level])
        if np.array_equal(nearest, now.labels):
            if level >= full:
                return now.as_partition(kernel.weights, trace, n_iter, True)
            level += 1
            continue
        tried = _gather(kernel, nearest, n_clusters)
        if tried.objective < now.objective - 1e-12 * abs(now.objective):
            now, level = tried, max(level - 1, 0)
            trace.append(now.objective)
        elif level == full + 1:
            # The bound is certain: what is left is rounding.
            return now.as_partition(kernel.weights, trace, n_iter, True)
        else:
            level += 1
    return now.as_partition(kernel.weights, trace, max_iter, False)


def _gather(kernel: WeightedKernel, labels: IntArray, n_clusters: int) -> _Clusters:
    indicators = np.zeros((labels.size, n_clusters))
    indicators[np.arange(labels.size), labels] = 1.0
    products = kernel.apply(indicators)
    own = products[np.arange(labels.size), labels]
    return _Clusters(labels, products, indicators.T @ kernel.weights, indicators.T @ own)


def _nearest(now: _Clusters, weights: FloatArray, shift: float) -> IntArray:
    """Return the nearest cluster of every point; of equally near ones its own. No cluster is left empty."""
    distances = now.distances(weights, shift)
    points = np.arange(weights.size)
    nearest = distances.argmin(axis=1)
    stays = distances[points, now.labels] <= distances[points, nearest]
    nearest = np.where(stays, now.labels, nearest)
    return fill_empty(nearest, distances[points, nearest] * weights, now.masses.size)


@dataclass(frozen=True)
class Growth:
    """Clusters grown from seeds, and when each point was reached."""

    labels: IntArray
    rounds: IntArray
    affinities: FloatArray


def neighbourhoods(constraints: Constraints) -> list[IntArray]:
    """Return the sets of two or more points that must-links join, the largest first."""
    component = np.asarray(constraints.must_link_components())
    order = np.argsort(component, kind="stable")
    sets = np.split(order, np.flatnonzero(np.diff(component[order])) + 1)
    return sorted((members for members in sets if len(members) > 1), key=len, reverse=True)


def farthest_first(
    apply: Callable[[FloatArray], FloatArray], sets: list[IntArray], n_chosen: int, n_points: int
) -> list[IntArray]:
    """Choose sets of points that are far from one another: the largest, then again and again the farthest."""
    sets = sets[: max(MAX_NEIGHBOURHOODS, n_chosen)]
    means = np.zeros((n_points, len(sets)))
    for column, members in enumerate(sets):
        means[members, column] = 1.0 / len(members)
    similar = means.T @ apply(means)
    lengths = np.diagonal(similar)
    distances = lengths[:, None] + lengths - 2.0 * similar
    chosen = [0]
    while len(chosen) < min(n_chosen, len(sets)):
        nearest = distances[:, chosen].min(axis=1)
        nearest[chosen] = -np.inf
        chosen.append(int(nearest.argmax()))
    return [sets[place] for place in chosen]


def grow(graph: Graph, seeds: IntArray, n_clusters: int) -> Growth:
    """Let clusters grow from seeds along the edges, each point to the cluster it is most similar to."""
    # Most points of a sparse graph have no affinity to any seed, and so no distance to choose a cluster by;
    # their neighbours have.
    labels, rounds = seeds.copy(), np.zeros(seeds.size, dtype=np.intp)
    affinities = np.full(seeds.size, np.inf)
    reached, n_rounds = labels != UNKNOWN, 0
    while reached.any():
        n_rounds += 1
        known = np.flatnonzero(labels != UNKNOWN)
        indicators = np.zeros((seeds.size, n_clusters))
        indicators[known, labels[known]] = 1.0
        means = graph.apply(indicators) / np.maximum(indicators.sum(axis=0), 1.0)
        reached = (labels == UNKNOWN) & (means.max(axis=1) > 0)
        labels[reached] = means[reached].argmax(axis=1)
        affinities[reached], rounds[reached] = means[reached].max(axis=1), n_rounds
    rounds[labels == UNKNOWN] = n_rounds
    affinities[labels == UNKNOWN] = 0.0
    return Growth(labels, rounds, affinities)


def seed_labels(graph: Graph, sets: list[IntArray], n_clusters: int, rng: np.random.RandomState) -> IntArray:
    """Return a start with `n_clusters` clusters, grown from sets of points and from lone points."""
    seeds = np.full(graph.n_nodes, UNKNOWN, dtype=np.intp)
    for label, members in enumerate(sets):
        seeds[members] = label
    for label in range(len(sets), n_clusters):
        if not (seeds == UNKNOWN).any():
            # Must-links join all points: the clusters that are left stay empty, for the caller to fill.
            break
        seeds[_next_seed(graph, seeds, n_clusters, rng)] = label
    labels = grow(graph, seeds, n_clusters).labels
    # Points that no path leads to join the smallest cluster.
    left = np.flatnonzero(labels == UNKNOWN)
    labels[left] = np.bincount(labels[labels != UNKNOWN], minlength=n_clusters).argmin()
    return labels


def _next_seed(graph: Graph, seeds: IntArray, n_clusters: int, rng: np.random.RandomState) -> int:
    """Return the point that clusters grown from the seeds reach last."""
    # Points without any neighbour are chosen only if there are no others.
    free = np.flatnonzero((seeds == UNKNOWN) & (graph.degrees > 0))
    if free.size == 0:
        free = np.flatnonzero(seeds == UNKNOWN)
    if (seeds == UNKNOWN).all():
        return int(rng.choice(free))
    growth = grow(graph, seeds, n_clusters)
    last = free[growth.rounds[free] == growth.rounds[free].max()]
    # Of several, one least similar to the cluster that reached it.
    least = growth.affinities[last]
    return int(rng.choice(last[least <= least.min()]))


STARTS = ("auto", "farthest_first", "spectral")


def link_penalty(constraints: Constraints, n_clusters: int) -> float:
    """Return n / (k C), what a link of unit strength adds to or takes from its similarity."""
    # C is the sum of the strengths of all pairs, each counted once: their number where all are 1. All links
    # together then weigh as much as n / k.
    total = 0.5 * float(_strengths(constraints).sum())
    return constraints.n_samples / (n_clusters * total) if total > 0 else 0.0


def _strengths(constraints: Constraints) -> FloatArray:
    """Return Σ_j |Q_ij| for every point, without its diagonal."""
    Q, ones = constraints.with_diagonal(0.0), np.ones(constraints.n_samples)
    return 2.0 * Q.must_part().apply(ones) - Q.apply(ones)


def link_similarities(
    graph: Graph, constraints: Constraints, penalty: float, weights: FloatArray
) -> WeightedKernel:
    """Return S + W as similarities for weighted kernel k-means, W = penalty · Q."""
    Q = constraints.with_diagonal(0.0)

    def apply(block: FloatArray) -> FloatArray:
        return graph.apply(block) + penalty * Q.apply(block)

    return WeightedKernel(apply, weights, graph.degrees + penalty * _strengths(constraints))


@documented
@dataclass(eq=False, repr=False)
class SSKK(TakesConstraints, EigenClusterer):
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
    {graph}
    {constraints}
    {all}

    Attributes
    ----------
    {labels_}
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
    {results}

    See Also
    --------
    NormalizedCut : The cut that kernel k-means with degrees as weights minimises.
    CSP : A spectral method for the same constraints.

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

    _: KW_ONLY
    weighting: str = "degree"
    penalty: float | None = None
    shift: str = "adaptive"
    init: str | npt.ArrayLike = "auto"
    max_iter: int = 300
    rules: ClassVar[dict[str, Rule]] = {
        "weighting": one_of("degree", "none"),
        "shift": one_of("adaptive", "full"),
        "init": lambda name, value: isinstance(value, str) and one_of(*STARTS)(name, value),
        "max_iter": check_count,
        "penalty": optional(check_not_negative),
    }

    caution = 0.0

    @property
    def _must_follow(self) -> bool:
        # From a given start there is one answer.
        return not isinstance(self.init, str)

    def _solve(self, task: Task) -> Answer:
        graph, known, k, rng = task.graph, task.constraints, task.n_clusters, task.rng()
        given = None if isinstance(self.init, str) else check_start(self.init, task.n_points, k)
        warn_about_graph(graph, k)
        penalty = link_penalty(known, k) if self.penalty is None else float(self.penalty)
        weights = np.ones(graph.n_nodes)
        if self.weighting == "degree":
            # A point without neighbours would have no weight: it counts as the lightest of the others.
            weights = np.maximum(graph.degrees, graph.degrees[graph.degrees > 0].min())
        kernel = link_similarities(graph, known, penalty, weights)
        with stage("kernel k-means"):
            shift = kernel.full_shift(rng)
            starts = self._starts(task, kernel, known, rng) if given is None else [given]
            how: dict[str, Any] = {"adaptive": self.shift == "adaptive", "max_iter": self.max_iter}
            runs = (kernel_kmeans(kernel, labels, k, shift=shift, **how) for labels in starts)
            best = min(runs, key=lambda run: run.objective)
        if not best.converged:
            warn(
                f"points still moved in the last of max_iter={self.max_iter} steps; allow for more.",
                ConvergenceWarning,
            )
        first = np.unique(best.labels, return_index=True)[1]
        results = {
            "penalty_": penalty,
            "shift_": shift,
            "objective_trace_": best.objective_trace,
            "n_iter_": best.n_iter,
        }
        rows = best.similarities[:, np.argsort(first)]
        return Answer(rename_by_first_appearance(best.labels), rows, graph, results=results)

    def _starts(
        self, task: Task, kernel: WeightedKernel, constraints: Constraints, rng: np.random.RandomState
    ) -> list[IntArray]:
        graph, k, sets = task.graph, task.n_clusters, neighbourhoods(constraints)
        if self.init == "spectral" or (self.init == "auto" and len(sets) != k):
            pairs = laplacian_eigenpairs(graph, k, solver=self.eigen_solver, random_state=rng)
            # Rows of unit length: scaling them by degrees first would change nothing.
            rows = unit_rows(pairs.vectors)
            labels = kmeans_labels(rows, k, n_init=self.n_init, random_state=rng)
            return [fill_empty_clusters(labels, k, rng)]
        if sets:
            sets = farthest_first(kernel.apply, sets, k, graph.n_nodes)
        n_starts = 1 if len(sets) == k else self.n_init
        starts = (seed_labels(graph, sets, k, rng) for _ in range(n_starts))
        return [fill_empty_clusters(labels, k, rng) for labels in starts]


def check_start(init: npt.ArrayLike, n_samples: int, n_clusters: int) -> IntArray:
    """Return the labels to start from, or refuse them."""
    labels = np.asarray(init)
    if labels.shape != (n_samples,) or labels.dtype.kind not in "iu":
        raise ValueError(
            f"init has shape {labels.shape} and dtype {labels.dtype}; a start is one whole number per "
            f"point, shape ({n_samples},)."
        )
    missing = np.setdiff1d(np.arange(n_clusters), labels)
    if missing.size or not 0 <= labels.min() <= labels.max() < n_clusters:
        raise ValueError(
            f"init has the labels {np.unique(labels).tolist()}; a start has a point in every cluster, "
            f"0 to {n_clusters - 1}."
        )
    return labels.astype(np.intp)


def fill_empty_clusters(labels: IntArray, n_clusters: int, rng: np.random.RandomState) -> IntArray:
    """Return the labels with a point in every cluster: empty ones get points of the largest, by chance."""
    labels = labels.copy()
    counts = np.bincount(labels, minlength=n_clusters)
    for empty in np.flatnonzero(counts == 0):
        largest = counts.argmax()
        labels[rng.choice(np.flatnonzero(labels == largest))] = empty
        counts[largest], counts[empty] = counts[largest] - 1, 1
    return labels
