"""Lloyd's iteration on weighted points of which some must be apart."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import kmeans_plusplus
from sklearn.utils.extmath import row_norms

from sidecut.checks import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import InfeasibleError, LabellingWarning, warn
from sidecut.labelling.coloring import Assigner
from sidecut.labelling.conflict_graph import ConflictGraph, find_colouring
from sidecut.labelling.labels import CenterSums, fill_empty


@dataclass(frozen=True, eq=False)
class MustLinkedSets:
    """The sets that must-links join the points to; most points are alone in theirs."""

    of_point: IntArray
    sizes: IntArray
    linked: IntArray
    graph: ConflictGraph
    strengths: FloatArray
    example_pairs: IntArray

    @property
    def n_sets(self) -> int:
        """How many sets there are."""
        return len(self.sizes)

    def summed(self, values: Any) -> Any:
        """Add up the rows of one value per point to one per set; dense or sparse."""
        n = len(self.of_point)
        if self.n_sets == n:
            return values
        dtype = values.dtype if values.dtype.kind == "f" else np.float64
        shape = (self.n_sets, n)
        return (
            sparse.csr_array((np.ones(n, dtype=dtype), (self.of_point, np.arange(n))), shape=shape) @ values
        )

    def assigner(self, n_clusters: int, max_steps: int) -> Assigner:
        """Return what assigns the linked sets to clusters."""
        verdict = find_colouring(self.graph, n_clusters, max_steps)
        if verdict.colours is not None:
            return Assigner(self.graph, verdict.colours)
        if verdict.impossible:
            raise self._infeasible(verdict.infeasible_nodes, n_clusters)
        raise InfeasibleError(
            f"no assignment to n_clusters={n_clusters} clusters was found that satisfies the "
            f"{len(self.graph.edges)} cannot-links, in max_steps={max_steps} steps; this does not prove that "
            "there is none: raise max_steps or n_clusters, or drop some cannot-links."
        )

    def _infeasible(self, blame: IntArray, n_clusters: int) -> InfeasibleError:
        among = np.isin(self.graph.edges, blame).all(axis=1)
        pairs = self.example_pairs[among]
        shown = ", ".join(f"({i}, {j})" for i, j in pairs[:10].tolist())
        more = f" and {len(pairs) - 10} more" if len(pairs) > 10 else ""
        together = "" if self.n_sets == len(self.of_point) else " (points joined by must-links count as one)"
        if len(pairs) == len(blame) * (len(blame) - 1) // 2:
            reason = f"they set {len(blame)} points apart from each other"
        else:
            reason = "there is no way to colour them"
        return InfeasibleError(
            f"no assignment to n_clusters={n_clusters} clusters satisfies the {len(pairs)} cannot-links "
            f"{shown}{more}{together}: {reason}; choose a larger n_clusters or correct them.",
            pairs,
        )


def find_must_linked_sets(constraints: Constraints) -> MustLinkedSets:
    """Return the sets that constraints make of the points."""
    seen = constraints.components
    of_point = constraints.must_link_components()
    set_of = np.empty(seen.n_components, dtype=np.int64)
    set_of[seen.component] = of_point[seen.points]
    linked, ends = np.unique(set_of[seen.apart], return_inverse=True)
    edges = ends.reshape(-1, 2).astype(np.int64)
    return MustLinkedSets(
        of_point,
        np.bincount(of_point),
        linked.astype(np.int64),
        ConflictGraph(len(linked), edges),
        seen.strengths,
        seen.example_pairs,
    )


def warn_about_few_sets(sets: MustLinkedSets, n_clusters: int) -> None:
    """Warn where must-links leave fewer sets than clusters."""
    if sets.n_sets < n_clusters:
        warn(
            f"must-links join the points to {sets.n_sets} groups, fewer than n_clusters={n_clusters}: some "
            f"clusters stay empty. Choose n_clusters <= {sets.n_sets}.",
            LabellingWarning,
        )


@dataclass(frozen=True, eq=False)
class WeightedPoints:
    """Points with weights, some of them apart from each other."""

    places: Any
    weights: FloatArray
    linked: IntArray
    assigner: Assigner | None

    def costs(self, centres: FloatArray) -> FloatArray:
        """Return the weighted squared distance of every point to every centre."""
        # In the precision of the points, as scikit-learn's k-means, without a second copy of them.
        centres = centres.astype(self.places.dtype, copy=False)
        squared = np.asarray(self.places @ centres.T)
        squared *= -2.0
        squared += self._norms[:, None]
        squared += row_norms(centres, squared=True)
        return self.weights[:, None] * np.maximum(squared, 0.0, out=squared)

    @cached_property
    def _norms(self) -> FloatArray:
        return np.asarray(row_norms(self.places, squared=True))

    def assign(self, costs: FloatArray, previous: IntArray | None) -> IntArray:
        """Return the cheapest clusters: of linked points, no more expensive than before."""
        clusters = costs.argmin(axis=1)
        if self.assigner is not None:
            before = None if previous is None else previous[self.linked]
            clusters[self.linked] = self.assigner.assign(costs[self.linked], before)
        return clusters

    def moved(self, centres: FloatArray, clusters: IntArray) -> FloatArray:
        """Return the weighted mean of each cluster; the centre of an empty one stays."""
        weights = self.weights.astype(self.places.dtype, copy=False)
        shape = (len(centres), len(clusters))
        member = sparse.csr_array((weights, (clusters, np.arange(len(clusters)))), shape=shape)
        total = np.bincount(clusters, weights=self.weights, minlength=len(centres)).astype(np.float64)
        return CenterSums(dense_rows(member @ self.places), total).moved(centres)


@dataclass(frozen=True, eq=False)
class Run:
    """The end of one run of Lloyd's iteration."""

    clusters: IntArray
    centres: FloatArray
    objective: FloatArray
    converged: bool


def best_run(runs: list[Run]) -> Run:
    """Return the run with the least sum of squares; of runs that differ by rounding, the first."""
    # Several starts often end at the same clusters, numbered in other ways: rounding must not decide how
    # clusters are numbered.
    least = min(float(run.objective[-1]) for run in runs)
    return next(run for run in runs if run.objective[-1] <= least + 1e-9 * abs(least))


def run_lloyd(points: WeightedPoints, centres: FloatArray, max_iter: int, tol: float) -> Run:
    """Assign, average, and again, until nothing moves."""
    clusters: IntArray | None = None
    objective: list[float] = []
    for _ in range(max_iter):
        costs = points.costs(centres)
        if clusters is not None:
            objective.append(_paid(costs, clusters).sum())
        assigned = _fill_empty(costs, points.assign(costs, clusters))
        if clusters is not None and np.array_equal(assigned, clusters):
            return Run(assigned, centres, np.array(objective), True)
        clusters, before = assigned, centres
        centres = points.moved(before, clusters)
        step = float(((centres - before) ** 2).sum())
        if step <= tol:
            break
    # A last assignment, so that every free point is with the nearest centre.
    costs = points.costs(centres)
    assigned = points.assign(costs, clusters)
    clusters = _fill_empty(costs, assigned)
    if clusters is not assigned:
        centres = points.moved(centres, clusters)
        costs = points.costs(centres)
    return Run(clusters, centres, np.array([*objective, _paid(costs, clusters).sum()]), step <= tol)


def _paid(costs: FloatArray, clusters: IntArray) -> FloatArray:
    return costs[np.arange(len(clusters)), clusters]


def _fill_empty(costs: FloatArray, clusters: IntArray) -> IntArray:
    """Give every empty cluster the point that is farthest from its centre; points on their centre stay."""
    # An empty cluster holds nothing a point could be apart from, and the mean of the one point is the point
    # itself, so this breaks no cannot-link and never makes the sum of squares of the means greater.
    return fill_empty(clusters, _paid(costs, clusters), costs.shape[1], farther_than=0.0)


def spread_centres(
    points: WeightedPoints, n_clusters: int, n_init: int, rng: np.random.RandomState
) -> list[FloatArray]:
    """Return first centres that lie far apart (k-means++), one set per start."""
    # With fewer points than clusters every point is a centre, and some are twice.
    n_points = points.places.shape[0]
    if n_points < n_clusters:
        return [dense_rows(points.places[np.resize(np.arange(n_points), n_clusters)])]
    return [
        dense_rows(
            kmeans_plusplus(points.places, n_clusters, sample_weight=points.weights, random_state=rng)[0]
        )
        for _ in range(n_init)
    ]


def dense_rows(rows: Any) -> FloatArray:
    """Return rows as an array, sparse or not."""
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=np.float64)
