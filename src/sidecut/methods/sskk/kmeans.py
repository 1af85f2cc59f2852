"""Weighted kernel k-means on a kernel that is only ever applied, and need not be positive definite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.graphs import Graph
from sidecut.labelling.lloyd import fill_empty

#: The shifts that are tried, as shares of the full one.
SHARES = (0.0, 0.25, 0.5, 1.0)
#: Up to this many points the smallest eigenvalue is computed from the whole matrix.
FEW_POINTS = 50
#: How much more than Lanczos says the full shift is, since its answer approaches -λ_min from below.
MARGIN = 1.02

#: Of more must-link neighbourhoods than this, only the largest are looked at.
MOST_NEIGHBOURHOODS = 100
#: The mark of a point that is in no cluster yet.
UNKNOWN = -1


@dataclass(frozen=True)
class WeightedKernel:
    """The similarities B of points, with weights w: the kernel w⁻¹ B w⁻¹ + σ w⁻¹ of weighted kernel k-means.

    Weights of one give kernel k-means on B + σI; degrees as weights give the normalised cut (Dhillon, Guan &
    Kulis, 2004).

    Parameters
    ----------
    apply : callable
        Returns B @ block for a vector or a block of vectors.
    weights : array of shape (n,)
        w, positive.
    magnitudes : array of shape (n,)
        At least the sum of |B_ij| over j, for every i.
    """

    apply: Callable[[FloatArray], FloatArray]
    weights: FloatArray
    magnitudes: FloatArray

    @property
    def n_points(self) -> int:
        """The number of points."""
        return self.weights.size

    @cached_property
    def bound(self) -> float:
        """A shift that surely makes the kernel positive semidefinite (Gershgorin)."""
        return float((self.magnitudes / self.weights).max())

    def full_shift(self, rng: np.random.RandomState) -> float:
        """Return the least shift σ that makes the kernel positive semidefinite, or slightly more.

        It is -λ_min of w^{-1/2} B w^{-1/2} where that is positive, else 0; by Lanczos iteration with a margin
        of two per cent, or, should that fail, Gershgorin's bound.
        """
        root = 1.0 / np.sqrt(self.weights)

        def scaled(block: FloatArray) -> FloatArray:
            scale = root if block.ndim == 1 else root[:, None]
            return scale * self.apply(scale * block)

        if self.n_points <= FEW_POINTS:
            smallest = float(np.linalg.eigvalsh(scaled(np.eye(self.n_points)))[0])
        else:
            operator = LinearOperator((self.n_points,) * 2, matvec=scaled, matmat=scaled, dtype=np.float64)
            try:
                start = rng.standard_normal(self.n_points)
                smallest = float(
                    eigsh(operator, 1, which="SA", v0=start, tol=1e-2, return_eigenvectors=False)[0]
                )
            except ArpackError:
                return self.bound
        return min(MARGIN * max(-smallest, 0.0), self.bound)


@dataclass(frozen=True)
class KernelPartition:
    """What kernel k-means arrives at.

    Attributes
    ----------
    labels : array of shape (n,)
        The cluster of every point; none is empty.
    similarities : array of shape (n, n_clusters)
        The mean similarity of every point to every cluster, of w⁻¹ B w⁻¹.
    objective_trace : array
        -Σ_c B(c, c) / w(c) at the start and after every step that was taken: the sum of squared distances to
        the cluster means, but for the constants Σ_i B_ii / w_i and σ (n - n_clusters).
    n_iter : int
        How many steps were tried, those in vain included.
    converged : bool
        No step with the full shift changes a label.
    """

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
    """Labels, with all that distances need to know of them."""

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
    """Move every point to the nearest cluster mean until none moves.

    With the full shift σ the kernel is positive semidefinite, and no step raises the objective. Yet the
    shift ties every point to the cluster it is in, and does not change the objective but by a constant. So
    a step is first tried with less of it, and taken if the objective falls.

    Parameters
    ----------
    kernel : WeightedKernel
        The similarities and weights.
    labels : array-like of shape (n,)
        Where to start: every cluster has a point.
    n_clusters : int
        The number of clusters.
    shift : float
        σ, at most `kernel.bound`, which is used should σ prove to be too small.
    adaptive : bool, default=True
        Try less than the full shift first.
    max_iter : int, default=300
        The most steps, those tried in vain included; each costs at most one product with B.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.sskk.kmeans import WeightedKernel, kernel_kmeans
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> B = X @ X.T
    >>> kernel = WeightedKernel(lambda block: B @ block, np.ones(4), np.abs(B).sum(axis=1))
    >>> kernel_kmeans(kernel, [0, 1, 0, 1], 2, shift=0.0).labels
    array([0, 0, 1, 1])
    """
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
    return _Clusters(
        labels,
        products,
        indicators.T @ kernel.weights,
        indicators.T @ own,
    )


def _nearest(now: _Clusters, weights: FloatArray, shift: float) -> IntArray:
    """Return the nearest cluster of every point; of equally near ones its own. No cluster is left empty."""
    distances = now.distances(weights, shift)
    points = np.arange(weights.size)
    nearest = distances.argmin(axis=1)
    stays = distances[points, now.labels] <= distances[points, nearest]
    nearest = np.where(stays, now.labels, nearest)
    return fill_empty(nearest, distances[points, nearest] * weights, now.masses.size)


# Where semi-supervised kernel k-means starts: must-link neighbourhoods, far apart, grown along the graph.


@dataclass(frozen=True)
class Growth:
    """Clusters grown from seeds, and when each point was reached.

    Attributes
    ----------
    labels : array of shape (n,)
        The cluster of every point; -1 where no path leads from a seed.
    rounds : array of shape (n,)
        The round in which it was reached, 0 for seeds; one more than the last where it never was.
    affinities : array of shape (n,)
        Its mean affinity to its cluster when it was reached.
    """

    labels: IntArray
    rounds: IntArray
    affinities: FloatArray

    def farthest(self, candidates: IntArray, rng: np.random.RandomState) -> int:
        """Return the candidate that was reached last, of several one least similar to what reached it."""
        last = candidates[self.rounds[candidates] == self.rounds[candidates].max()]
        least = self.affinities[last]
        return int(rng.choice(last[least <= least.min()]))


def neighbourhoods(constraints: Constraints) -> list[IntArray]:
    """Return the sets of two or more points that must-links join, the largest first.

    Examples
    --------
    >>> from sidecut import Constraints
    >>> from sidecut.methods.sskk.kmeans import neighbourhoods
    >>> neighbourhoods(Constraints.from_pairs(6, must_link=[(0, 5), (1, 2), (2, 3)]))
    [array([1, 2, 3]), array([0, 5])]
    """
    component = np.asarray(constraints.must_link_components())
    order = np.argsort(component, kind="stable")
    sets = np.split(order, np.flatnonzero(np.diff(component[order])) + 1)
    return sorted((members for members in sets if len(members) > 1), key=len, reverse=True)


def farthest_first(
    apply: Callable[[FloatArray], FloatArray], sets: list[IntArray], n_chosen: int, n_points: int
) -> list[IntArray]:
    """Choose sets of points that are far from one another: the largest, then again and again the farthest.

    Parameters
    ----------
    apply : callable
        Returns B @ block, the similarities with links in them; the distance of two sets is that of their
        means, B(a, a) / |a|² + B(b, b) / |b|² - 2 B(a, b) / (|a| |b|), which no shift can change the order of
        among sets of one size.
    sets : list of arrays
        The largest first; of equally far ones the first is taken.
    n_chosen : int
        How many to choose.
    n_points : int
        How many points there are.
    """
    sets = sets[: max(MOST_NEIGHBOURHOODS, n_chosen)]
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
    """Let clusters grow from seeds along the edges, each point to the cluster it is most similar to.

    The distance to a mean cannot tell clusters apart where a point has no affinity to any seed, as most
    points of a sparse graph; their neighbours can.

    Parameters
    ----------
    graph : Graph
        The graph.
    seeds : array of shape (n,)
        The cluster of every seed, -1 for other points.
    n_clusters : int
        The number of clusters.
    """
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
    """Return a start with `n_clusters` clusters, grown from sets of points and, if too few, from lone points.

    Parameters
    ----------
    graph : Graph
        The graph.
    sets : list of arrays
        At most `n_clusters` sets, the seeds of as many clusters.
    n_clusters : int
        The number of clusters.
    rng : RandomState
        Chooses the first seed if there is none, and among equally far ones.
    """
    seeds = np.full(graph.n_nodes, UNKNOWN, dtype=np.intp)
    for label, members in enumerate(sets):
        seeds[members] = label
    for label in range(len(sets), n_clusters):
        if not (seeds == UNKNOWN).any():
            # Must-links join all points: the clusters that are left stay empty, for the caller to fill.
            break
        seeds[_next_seed(graph, seeds, n_clusters, rng)] = label
    labels = grow(graph, seeds, n_clusters).labels
    # What no path leads to says nothing by which to choose.
    left = np.flatnonzero(labels == UNKNOWN)
    labels[left] = np.bincount(labels[labels != UNKNOWN], minlength=n_clusters).argmin()
    return labels


def _next_seed(graph: Graph, seeds: IntArray, n_clusters: int, rng: np.random.RandomState) -> int:
    # Points without any neighbour are far from everything, and no start for a cluster if there are others.
    free = np.flatnonzero((seeds == UNKNOWN) & (graph.degrees > 0))
    if free.size == 0:
        free = np.flatnonzero(seeds == UNKNOWN)
    if (seeds == UNKNOWN).all():
        return int(rng.choice(free))
    return grow(graph, seeds, n_clusters).farthest(free, rng)
