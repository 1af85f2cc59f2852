"""COP-k-means: k-means in which every constraint holds (Wagstaff, Cardie, Rogers & Schroedl, 2001)."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_distances_argmin
from sklearn.utils import Tags
from sklearn.utils.extmath import row_norms
from sklearn.utils.sparsefuncs import mean_variance_axis

from sidecut.checks import FloatArray, IntArray, Rule, check_count, check_not_negative, one_of
from sidecut.exceptions import ConvergenceWarning, warn
from sidecut.labelling import measure_confidence
from sidecut.labelling.labels import warn_if_clusters_are_missing
from sidecut.methods.base import PointClusterer, documented
from sidecut.methods.baselines.lloyd import (
    MustLinkedSets,
    Run,
    WeightedPoints,
    best_run,
    dense_rows,
    find_must_linked_sets,
    run_lloyd,
    spread_centres,
    warn_about_few_sets,
)
from sidecut.methods.task import Answer, Task
from sidecut.running import stage, track


@documented
@dataclass(eq=False, repr=False)
class COPKMeans(PointClusterer):
    """k-means in which every must-link and every cannot-link holds.

    Points joined by must-links move as one weighted point. In every iteration the weighted points that are
    apart from others are assigned all together, not one after the other, so that no order of the points leads
    into a dead end: a first assignment is found by an exhaustive search, and each next one is the cheapest
    or, where cannot-links form large cycles, no more expensive than the one before. The sum of squares never
    grows. Constraints that no `n_clusters` clusters can satisfy are named.

    Parameters
    ----------
    {n_clusters}
    init : {"k-means++", "random"} or array of shape (n_clusters, n_features), default="k-means++"
        The first centres: spread out, at random points, or given.
    n_init : int, default=10
        How many starts; the one with the least sum of squares is kept. Given centres are started from once;
        with "k-means++" the centres found without constraints are one more start.
    max_iter : int, default=300
        How many iterations each start has at most.
    tol : float, default=1e-4
        Stop when the centres move less than this, in squares relative to the mean variance of the features.
    max_steps : int, default=100_000
        How many steps the search for a first assignment may take. It needs more than a few only where each
        of many points is apart from `n_clusters` others or more.
    {all}

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each point; all constraints hold.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centres.
    inertia_ : float
        The sum of squared distances of all points to the centres of their clusters.
    objective_ : ndarray of shape (n_iter_,)
        The sum of squares after each iteration of the best start, never growing.
    n_iter_ : int
        How many iterations the best start took.
    {results}

    Raises
    ------
    ConflictError
        From `fit`, if must-links contradict a cannot-link.
    InfeasibleError
        From `fit`, if no assignment satisfies all cannot-links, or none was found in `max_steps`; the message
        says which, and `cannot_link` holds the links to blame.

    See Also
    --------
    SSKK : Links as penalties, on a graph.
    ConstrainedGMM : A mixture in place of k-means.

    References
    ----------
    K. Wagstaff, C. Cardie, S. Rogers, S. Schroedl: Constrained k-means clustering with background knowledge.
    ICML 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut import COPKMeans, Constraints
    >>> X = np.array([[0.0], [1.0], [2.0], [9.0], [10.0]])
    >>> links = Constraints.from_pairs(5, must_link=[(2, 3)], cannot_link=[(3, 4)])
    >>> model = COPKMeans(n_clusters=2, random_state=0).fit(X, constraints=links)
    >>> model.labels_, links.satisfaction(model.labels_)
    (array([1, 1, 1, 1, 0]), 1.0)
    >>> model.predict([[8.0]])
    array([0])

    Three points apart from each other do not fit into two clusters:

    >>> model.fit(X, constraints=Constraints.from_pairs(5, cannot_link=[(0, 1), (1, 2), (0, 2)]))
    Traceback (most recent call last):
    ...
    sidecut.exceptions.InfeasibleError: no assignment to n_clusters=2 clusters satisfies the 3 ...
    """

    _: KW_ONLY
    init: Any = "k-means++"
    n_init: int = 10
    max_iter: int = 300
    tol: float = 1e-4
    max_steps: int = 100_000
    rules: ClassVar[dict[str, Rule]] = {
        **dict.fromkeys(("n_init", "max_iter", "max_steps"), check_count),
        "tol": check_not_negative,
        "init": lambda name, value: isinstance(value, str) and one_of("k-means++", "random")(name, value),
    }

    def _solve(self, task: Task) -> Answer:
        X, k = task.data, task.n_clusters
        given = None if isinstance(self.init, str) else check_centres(self.init, k, X.shape[1])
        sets = find_must_linked_sets(task.constraints)
        warn_about_few_sets(sets, k)
        # Far from the origin squared distances would drown in rounding; sparse points stay where they are.
        is_sparse = sparse.issparse(X)
        offset = np.zeros(X.shape[1]) if is_sparse else X.mean(axis=0, dtype=np.float64)
        points = weighted_points(X, sets, offset, k, self.max_steps)
        starts = [given - offset] if given is not None else self._first_centres(points, k, task.rng())
        if given is None and self.init == "k-means++" and not task.constraints.is_empty:
            plain = self._solve(task.without_constraints())
            starts.append(plain.results["cluster_centers_"] - offset)
        spread = mean_variance_axis(X, axis=0)[1] if is_sparse else X.var(axis=0, dtype=np.float64)
        tol = self.tol * float(np.mean(spread))
        with stage("k-means"):
            runs = [run_lloyd(points, centres, self.max_iter, tol) for centres in track(starts, len(starts))]
        return self._describe(X, sets, offset, best_run(runs))

    def _nearest(self, X: Any) -> IntArray:
        centres = self.cluster_centers_.astype(X.dtype, copy=False)
        return np.asarray(pairwise_distances_argmin(X, centres), dtype=np.intp)

    def _first_centres(
        self, points: WeightedPoints, n_clusters: int, rng: np.random.RandomState
    ) -> list[FloatArray]:
        n_points = points.places.shape[0]
        if self.init == "random" and n_points >= n_clusters:
            picks = [rng.choice(n_points, n_clusters, replace=False) for _ in range(self.n_init)]
            return [dense_rows(points.places[pick]) for pick in picks]
        return spread_centres(points, n_clusters, self.n_init, rng)

    def _describe(self, X: Any, sets: MustLinkedSets, offset: FloatArray, run: Run) -> Answer:
        if not run.converged:
            warn(
                f"COPKMeans did not converge in max_iter={self.max_iter} iterations: raise it, or tol.",
                ConvergenceWarning,
            )
        labels = run.clusters[sets.of_point].astype(np.intp)
        reason = "some centres are nearest to no point. Look for points far from all others, and rescale X."
        # Fewer sets than clusters have a warning of their own.
        if self.n_clusters <= len(run.clusters):
            warn_if_clusters_are_missing(labels, self.n_clusters, "COPKMeans", reason)
        # The distances within a set are the same in every assignment.
        objective = run.objective + _spread_within(X, sets, offset)
        results = {
            "cluster_centers_": (run.centres + offset).astype(X.dtype),
            "objective_": objective,
            "inertia_": float(objective[-1]),
            "n_iter_": len(objective),
        }
        confidence = measure_confidence(labels, X.astype(np.float64, copy=False))
        return Answer(labels, confidence=confidence, results=results)

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that sparse data are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def check_centres(init: Any, n_clusters: int, n_features: int) -> FloatArray:
    """Return the centres to start from, or refuse them."""
    given = np.asarray(init, dtype=np.float64)
    if given.shape != (n_clusters, n_features) or not np.isfinite(given).all():
        raise ValueError(
            f"init has shape {given.shape}: give n_clusters={n_clusters} finite centres of "
            f"{n_features} features, or 'k-means++' or 'random'."
        )
    return given


def weighted_points(
    X: Any, sets: MustLinkedSets, offset: FloatArray, n_clusters: int, max_steps: int
) -> WeightedPoints:
    """Return the sets as weighted points, or an error that says why they cannot be assigned."""
    assigner = sets.assigner(n_clusters, max_steps) if len(sets.linked) else None
    moved = X if sparse.issparse(X) else X - offset.astype(X.dtype)
    weights = sets.sizes.astype(np.float64)
    sums = sets.summed(moved)
    if sets.n_sets < len(sets.of_point):
        sums = sparse.diags_array(1.0 / weights, dtype=moved.dtype) @ sums
    places = sparse.csr_array(sums) if sparse.issparse(sums) else sums
    return WeightedPoints(places, weights, sets.linked, assigner)


def _spread_within(X: Any, sets: MustLinkedSets, offset: FloatArray) -> float:
    """The squared distances of all points to the means of their sets."""
    crowd = np.flatnonzero(sets.sizes[sets.of_point] > 1)
    if len(crowd) == 0:
        return 0.0
    rows = X[crowd] if sparse.issparse(X) else X[crowd] - offset
    _, set_of = np.unique(sets.of_point[crowd], return_inverse=True)
    sizes = np.bincount(set_of)
    sums = sparse.csr_array((np.ones(len(crowd)), (set_of, np.arange(len(crowd))))) @ rows
    if sparse.issparse(rows):
        return float(row_norms(rows, squared=True).sum() - (row_norms(sums, squared=True) / sizes).sum())
    return float(row_norms(rows - (sums / sizes[:, None])[set_of], squared=True).sum())
