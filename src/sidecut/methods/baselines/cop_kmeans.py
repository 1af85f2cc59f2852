"""COP-k-means: k-means in which every constraint holds (Wagstaff, Cardie, Rogers & Schroedl, 2001)."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_distances_argmin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.extmath import row_norms
from sklearn.utils.sparsefuncs import mean_variance_axis
from sklearn.utils.validation import check_is_fitted

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import ConvergenceWarning, warn
from sidecut.labelling import measure_confidence
from sidecut.labelling.labels import warn_if_clusters_are_missing
from sidecut.methods.base import ConstrainedClusterer
from sidecut.methods.baselines.lloyd import (
    Run,
    WeightedPoints,
    best_run,
    dense_rows,
    run_lloyd,
    spread_centres,
)
from sidecut.methods.baselines.must_linked_sets import (
    MustLinkedSets,
    find_must_linked_sets,
    warn_about_few_sets,
)
from sidecut.methods.inputs import check_constraints, check_points, warn_about_duplicates
from sidecut.methods.safeguard import Safeguarded
from sidecut.parameters import check_choice, check_n_clusters, check_parameters
from sidecut.progress import counted, stage


class COPKMeans(Safeguarded, ConstrainedClusterer):
    """k-means in which every must-link and every cannot-link holds.

    Points joined by must-links move as one weighted point. In every iteration the weighted points that are
    apart from others are assigned all together, not one after the other, so that no order of the points leads
    into a dead end: a first assignment is found by an exhaustive search, and each next one is the cheapest
    or, where cannot-links form large cyclic knots, no dearer than the one before. The sum of squares
    therefore never grows. Constraints that no `n_clusters` clusters can satisfy are named.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    init : {"k-means++", "random"} or array of shape (n_clusters, n_features), default="k-means++"
        The first centres: spread out, at random points, or given.
    n_init : int, default=10
        How many starts; the one with the least sum of squares is kept. Given centres are started from once.
    max_iter : int, default=300
        How many iterations each start has at most.
    tol : float, default=1e-4
        Stop when the centres move less than this, in squares relative to the mean variance of the features.
    max_steps : int, default=100_000
        How many steps the search for a first assignment may take. It needs more than a few only where each
        of many points is apart from `n_clusters` others or more.
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
        Where the starts come from; an int makes the result reproducible.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each point; all constraints hold.
    judgement_ : Judgement
        With `safe`, where little is known: which answer was kept, and why.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centres.
    inertia_ : float
        The sum of squared distances of all points to the centres of their clusters.
    objective_ : ndarray of shape (n_iter_,)
        The sum of squares after each iteration of the best start, never growing.
    n_iter_ : int
        How many iterations the best start took.

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

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = "k-means++",
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-4,
        max_steps: int = 100_000,
        safe: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.max_steps = max_steps
        self.safe = safe
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    _taken = ("cluster_centers_", "objective_", "inertia_", "n_iter_")

    def _must_follow(self, constraints: Constraints, unconstrained: Self) -> str:
        return "links always hold here"

    @property
    def _is_guarded(self) -> bool:
        # From a start that is given there is one answer.
        return self.safe and isinstance(self.init, str)

    def _fit(self, X: Any, constraints: Constraints | None) -> None:
        check_parameters(self, counts=("n_init", "max_iter", "max_steps"), not_negative=("tol",))
        X = check_points(self, X)
        constraints = check_constraints(constraints, X.shape[0], self.n_clusters)
        n_clusters = check_n_clusters(self.n_clusters, X.shape[0])
        rng = check_random_state(self.random_state)
        starts = self._starts(X, n_clusters)
        sets = find_must_linked_sets(constraints)
        warn_about_duplicates(X, n_clusters)
        warn_about_few_sets(sets, n_clusters)
        # Far from the origin squared distances would drown in rounding; sparse points stay where they are.
        offset = np.zeros(X.shape[1]) if sparse.issparse(X) else X.mean(axis=0, dtype=np.float64)
        points = weighted_points(X, sets, offset, n_clusters, self.max_steps)
        with stage("k-means"):
            runs = [
                run_lloyd(points, centres, self.max_iter, self.tol * _mean_variance(X))
                for centres in counted(
                    self._first_centres(points, n_clusters, starts, offset, rng), self.n_init
                )
            ]
        self._remember(X, sets, offset, best_run(runs))
        self._confidence = measure_confidence(self.labels_, X.astype(np.float64, copy=False))

    def predict(self, X: Any) -> IntArray:
        """Return the nearest centre of each point; constraints say nothing about new points.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Any points. For those that were fitted, `labels_` holds what the constraints made of them.
        """
        check_is_fitted(self)
        X = check_points(self, X, reset=False)
        centres = self.cluster_centers_.astype(X.dtype, copy=False)
        return np.asarray(pairwise_distances_argmin(X, centres), dtype=np.intp)

    def _starts(self, X: Any, n_clusters: int) -> FloatArray | None:
        """The centres that were given, if any."""
        if isinstance(self.init, str):
            check_choice("init", self.init, ("k-means++", "random"))
            return None
        given = np.asarray(self.init, dtype=np.float64)
        if given.shape != (n_clusters, X.shape[1]) or not np.isfinite(given).all():
            raise ValueError(
                f"init has shape {given.shape}: give n_clusters={n_clusters} finite centres of "
                f"{X.shape[1]} features, or 'k-means++' or 'random'."
            )
        return given

    def _first_centres(
        self,
        points: WeightedPoints,
        n_clusters: int,
        given: FloatArray | None,
        offset: FloatArray,
        rng: np.random.RandomState,
    ) -> list[FloatArray]:
        if given is not None:
            return [given - offset]
        n_points = points.places.shape[0]
        if self.init == "random" and n_points >= n_clusters:
            picks = [rng.choice(n_points, n_clusters, replace=False) for _ in range(self.n_init)]
            return [dense_rows(points.places[pick]) for pick in picks]
        return spread_centres(points, n_clusters, self.n_init, rng)

    def _remember(self, X: Any, sets: MustLinkedSets, offset: FloatArray, run: Run) -> None:
        if not run.converged:
            warn(
                f"COPKMeans did not come to rest in max_iter={self.max_iter} iterations: raise it, or tol.",
                ConvergenceWarning,
            )
        self.labels_ = run.clusters[sets.of_point].astype(np.intp)
        reason = "some centres are nearest to no point. Look for points far from all others, and rescale X."
        # Fewer sets than clusters were spoken of before.
        if self.n_clusters <= len(run.clusters):
            warn_if_clusters_are_missing(self.labels_, self.n_clusters, "COPKMeans", reason)
        self.cluster_centers_ = (run.centres + offset).astype(X.dtype)
        # What the points of one set differ among themselves no assignment can change.
        self.objective_ = run.objective + _spread_within(X, sets, offset)
        self.inertia_ = float(self.objective_[-1])
        self.n_iter_ = len(self.objective_)

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that sparse data are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags = None
        return tags


def weighted_points(
    X: Any, sets: MustLinkedSets, offset: FloatArray, n_clusters: int, max_steps: int
) -> WeightedPoints:
    """Return the sets as weighted points, or say why they cannot be assigned.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        The points.
    sets : MustLinkedSets
        What belongs together.
    offset : ndarray of shape (n_features,)
        The new origin; nothing but zeros for sparse points.
    n_clusters : int
        How many clusters there will be.
    max_steps : int
        See `MustLinkedSets.assigner`.
    """
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


def _mean_variance(X: Any) -> float:
    variances = mean_variance_axis(X, axis=0)[1] if sparse.issparse(X) else X.var(axis=0, dtype=np.float64)
    return float(np.mean(variances))


# Lloyd's iteration on weighted points of which some must be apart.
