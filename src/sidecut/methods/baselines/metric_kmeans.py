"""k-means under a metric learned from links (Xing, Ng, Jordan & Russell, 2002)."""

from __future__ import annotations

import warnings
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import sklearn.exceptions
from scipy import sparse
from scipy.optimize import minimize
from sklearn.cluster import KMeans
from sklearn.metrics.pairwise import pairwise_distances_argmin
from sklearn.utils import Tags, check_random_state, gen_batches
from sklearn.utils.sparsefuncs import mean_variance_axis

from sidecut.checks import FloatArray, IntArray, Rule, check_count, check_not_negative
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintError, ConstraintWarning, ConvergenceWarning, warn
from sidecut.labelling import measure_confidence
from sidecut.methods.base import PointClusterer, TakesConstraints, documented
from sidecut.methods.baselines.lloyd import dense_rows
from sidecut.methods.task import Answer, Task
from sidecut.running import stage

#: The conditions of a minimum are met when they are violated by less than this, relative to s.
TOLERANCE = 1e-6


def learn_diagonal_metric(
    X: Any,
    constraints: Constraints,
    *,
    regularization: float = 1.0,
    max_pairs: int = 10_000,
    random_state: int | np.random.RandomState | None = None,
) -> FloatArray:
    """Return weights of features under which must-links are short and cannot-links long."""
    spread = variances(X)
    must = constraints.must_part().with_diagonal(0.0)
    # An average pair of points differs by 2 var, squared.
    n_must = must.total() / 2
    together = must_spread(X, constraints) + regularization * (n_must or 1.0) * 2 * spread
    pairs, strengths = pairs_apart(constraints, max_pairs, check_random_state(random_state))
    apart = squared_differences(X, pairs)
    matters = np.asarray(apart.sum(axis=0)).ravel() > 0
    if not matters.any():
        warn(
            "no two points that are apart differ in any feature: all features keep the same weight.",
            ConstraintWarning,
        )
        return np.ones(X.shape[1])
    weights = np.zeros(X.shape[1])
    # Features that never differ between points apart would only lengthen must-links: they have no weight.
    weights[matters] = DiagonalProblem(together[matters], apart[:, matters], strengths).solve()
    return weights * (spread.sum() / (weights @ spread))


@dataclass(frozen=True, eq=False)
class DiagonalProblem:
    """g(a) = sᵀa - log Σ w √(xᵀa) over the cannot-links x, and its minimum (Xing et al., section 2.1)."""

    together: FloatArray
    apart: Any
    weights: FloatArray

    def value(self, a: FloatArray) -> float:
        """Return g(a)."""
        return float(self.together @ a - np.log(self.weights @ self._lengths(a)))

    def gradient(self, a: FloatArray) -> FloatArray:
        """Return the derivatives of g at a."""
        lengths = self._lengths(a)
        slopes = np.asarray(self.apart.T @ (0.5 * self.weights / lengths))
        return self.together - slopes / (self.weights @ lengths)

    @cached_property
    def _smoothing(self) -> float:
        # Added to squared lengths, since the root has no slope at 0.
        return 1e-14 * float((np.asarray(self.apart.mean(axis=0)) / self.together).mean())

    def _lengths(self, a: FloatArray) -> FloatArray:
        return np.sqrt(np.asarray(self.apart @ a) + self._smoothing)

    def solve(self) -> FloatArray:
        """Return the weights a ≥ 0 that minimise g."""
        # The features are brought to one scale, s_k = 1, which changes the numbers but not the problem.
        unbounded = np.flatnonzero(self.together <= 0)
        if len(unbounded):
            raise ConstraintError(
                f"feature {unbounded[0]} does not vary over any must-link ({len(unbounded)} do not): its "
                "weight would grow without bound; set regularization > 0, add must-links or leave it out."
            )
        if sparse.issparse(self.apart):
            apart = sparse.csr_array(self.apart @ sparse.diags_array(1.0 / self.together))
        else:
            apart = self.apart / self.together
        scaled = DiagonalProblem(np.ones_like(self.together), apart, self.weights)
        a = np.full(len(self.together), 0.5 / len(self.together))
        for _ in range(20):
            a = scaled._descend(a)
            if scaled.optimality(a) <= TOLERANCE:
                break
        else:
            warn(
                f"the metric is not the best: the conditions of a minimum are violated by "
                f"{scaled.optimality(a):.1g}. Scale the features alike, or raise regularization.",
                ConvergenceWarning,
            )
        return a / self.together

    def optimality(self, a: FloatArray) -> float:
        """Return the largest of |a_k g_k| / sᵀa and -g_k / s_k, with g_k the slopes: 0 at the minimum."""
        slopes = self.gradient(a)
        at_rest = float(np.abs(a * slopes).max() / (self.together @ a))
        return max(at_rest, float((-slopes / self.together).max()))

    def _descend(self, a: FloatArray) -> FloatArray:
        """L-BFGS-B from a; it stops where steps gain less than rounding, so a new start may gain more."""
        found = minimize(
            self.value,
            a,
            jac=self.gradient,
            method="L-BFGS-B",
            bounds=[(0.0, None)] * len(a),
            options={"maxiter": 1000, "maxfun": 2000, "ftol": 0.0, "gtol": TOLERANCE / 10, "maxcor": 30},
        )
        # At the minimum sᵀa = ½, by g(ta) = t sᵀa - ½ log t + constant.
        return np.asarray(found.x * (0.5 / (self.together @ found.x)))


def must_spread(X: Any, constraints: Constraints) -> FloatArray:
    """Return Σ q_ij (x_ik - x_jk)² over must-links, for every feature k, without listing pairs."""
    # With Q the must-links alone and D their row sums this is x_kᵀ (D - Q) x_k, so that labels of c points
    # cost c terms, not c².
    must = constraints.must_part().with_diagonal(0.0)
    spread = np.zeros(X.shape[1])
    if must.n_must_link == 0:
        return spread
    must, points = must.restricted()
    degrees = must.apply(np.ones(len(points)))
    # 512 features are made dense at a time.
    for part in gen_batches(X.shape[1], 512):
        rows = X[points, part]
        rows = (rows.toarray() if sparse.issparse(rows) else rows).astype(np.float64)
        rows -= rows.mean(axis=0)
        terms = rows * (degrees[:, None] * rows - must.apply(rows))
        total = terms.sum(axis=0)
        # What is left of terms that should cancel is rounding.
        noise = 1e-13 * (degrees @ rows**2)
        spread[part] = np.where(total > noise, total, 0.0)
    return spread


def variances(X: Any) -> FloatArray:
    """Return the variance of every feature."""
    if sparse.issparse(X):
        return np.asarray(mean_variance_axis(X, axis=0)[1], dtype=np.float64)
    spread = X.var(axis=0, dtype=np.float64)
    # A constant whose mean is rounded has some variance, but no spread.
    return np.where(np.ptp(X, axis=0) > 0, spread, 0.0)


def squared_differences(X: Any, pairs: IntArray) -> Any:
    """Return (x_i - x_j)² for every pair, as rows, sparse where X is."""
    difference = X[pairs[:, 0]] - X[pairs[:, 1]]
    if sparse.issparse(difference):
        return sparse.csr_array(difference).astype(np.float64).power(2)
    return np.asarray(difference, dtype=np.float64) ** 2


def pairs_apart(
    constraints: Constraints, max_pairs: int, rng: np.random.RandomState
) -> tuple[IntArray, FloatArray]:
    """Return cannot-links and their strengths: all, or a random sample of about `max_pairs`."""
    # Where there are none, pairs that must-links do not join stand in for them, as Xing et al. propose.
    n, n_apart = constraints.n_samples, constraints.n_cannot_link
    if n_apart == 0:
        component = constraints.must_link_components()
        if n * (n - 1) // 2 <= max_pairs:
            pairs = np.column_stack(np.triu_indices(n, k=1))
        else:
            pairs = rng.randint(n, size=(max_pairs, 2))
        pairs = pairs[component[pairs[:, 0]] != component[pairs[:, 1]]].astype(np.int64)
        return pairs, np.ones(len(pairs))
    among = np.arange(n)
    if constraints.n_pairs > 4 * max_pairs:
        known = constraints.constrained_points
        n_kept = max(2, round(len(known) * min(1.0, np.sqrt(max_pairs / n_apart))))
        among = np.sort(rng.choice(known, n_kept, replace=False))
        constraints = constraints.restricted_to(among)
    apart = constraints.strengths < 0
    pairs, strengths = among[constraints.pairs[apart]], -constraints.strengths[apart]
    if len(pairs) > max_pairs:
        kept = np.sort(rng.choice(len(pairs), max_pairs, replace=False))
        pairs, strengths = pairs[kept], strengths[kept]
    return pairs, strengths


@documented
@dataclass(eq=False, repr=False)
class MetricKMeans(TakesConstraints, PointClusterer):
    """k-means with features weighted so that must-links are short and cannot-links long.

    The links teach which features matter, so a few links change the clusters of all points. The links
    themselves may still be violated, unless `hard`.

    Parameters
    ----------
    {n_clusters}
    regularization : float, default=1.0
        Every must-link is joined by this many more, of the length of an average pair of points. Without, a
        feature that happens not to vary over the must-links would get all the weight. 0 is the paper's
        problem, refused where that happens.
    max_pairs : int, default=10_000
        The cannot-links are sampled down to this many; must-links all count, however many there are.
    n_init : int, default=10
        How many starts k-means has.
    max_iter : int, default=300
        How many iterations each start has at most.
    {constraints}
    {all}

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each point.
    metric_ : ndarray of shape (n_features,)
        The weights a: squared distances are Σ_k a_k (x_k - y_k)². All 1 without constraints, and where
        `decision_` keeps the answer without them.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centres k-means found, in the units of X; with `hard`, those before labels were changed.
    inertia_ : float
        The sum of squared distances of all points to the centres of their clusters, under the metric.
    n_iter_ : int
        How many iterations the best start took.
    {results}

    Raises
    ------
    ConstraintError
        From `fit`, if regularization=0 and some feature varies over cannot-links but over no must-link.
    ConflictError
        From `fit` with hard=True, if must-links contradict a cannot-link.

    See Also
    --------
    COPKMeans : Keeps every link instead of learning a metric.

    References
    ----------
    E. Xing, A. Ng, M. Jordan, S. Russell: Distance metric learning, with application to clustering with
    side-information. NIPS 2002.

    Examples
    --------
    The first feature has large values and no meaning; three links are enough to find out.

    >>> import numpy as np
    >>> from sidecut import Constraints, MetricKMeans
    >>> X = np.array([[0, 0], [50, 0.1], [90, 0.2], [10, 1], [60, 1.1], [80, 1.2]])
    >>> links = Constraints.from_pairs(6, must_link=[(0, 2), (3, 5)], cannot_link=[(1, 4)])
    >>> model = MetricKMeans(n_clusters=2, safe=False, random_state=0).fit(X, constraints=links)
    >>> model.labels_
    array([1, 1, 1, 0, 0, 0])
    >>> bool(model.metric_[1] > 1000 * model.metric_[0])
    True
    """

    _: KW_ONLY
    regularization: float = 1.0
    max_pairs: int = 10_000
    n_init: int = 10
    max_iter: int = 300
    rules: ClassVar[dict[str, Rule]] = {
        **dict.fromkeys(("max_pairs", "n_init", "max_iter"), check_count),
        "regularization": check_not_negative,
    }

    def _has_ample_constraints(self, task: Task) -> bool:
        # A weight for every feature can fit many links that say nothing about other points.
        return False

    def _solve(self, task: Task) -> Answer:
        X, known, rng = task.data, task.constraints, task.rng()
        metric = np.ones(X.shape[1])
        if known.n_pairs:
            with stage("metric"):
                metric = learn_diagonal_metric(
                    X, known, regularization=self.regularization, max_pairs=self.max_pairs, random_state=rng
                )
        with stage("k-means"):
            answer = self._cluster(X, metric, rng)
        weighted = X.astype(np.float64, copy=False) @ sparse.diags_array(np.sqrt(metric))
        return replace(answer, confidence=measure_confidence(answer.labels, weighted))

    def _cluster(self, X: Any, metric: FloatArray, rng: np.random.RandomState) -> Answer:
        """Cluster by k-means under a metric."""
        model = KMeans(self.n_clusters, n_init=self.n_init, max_iter=self.max_iter, random_state=rng)
        with warnings.catch_warnings():
            # Equal points are our own warning, in terms of X.
            warnings.simplefilter("ignore", sklearn.exceptions.ConvergenceWarning)
            model.fit(weigh_features(X, metric))
        labels = model.labels_.astype(np.intp)
        results = {
            "metric_": metric,
            "inertia_": float(model.inertia_),
            "n_iter_": int(model.n_iter_),
            "cluster_centers_": _means(X, labels, self.n_clusters),
        }
        return Answer(labels, results=results)

    def _finish(self, task: Task, answer: Answer) -> Answer:
        answer = super()._finish(task, answer)
        if "repair_" not in answer.results:
            return answer
        return answer.with_results(inertia_=answer.results["inertia_"] + answer.results["repair_"].cost)

    def _rows_to_repair(self, task: Task, answer: Answer) -> FloatArray:
        # Features without weight add nothing to any distance.
        metric = answer.results["metric_"]
        return dense_rows(weigh_features(task.data, metric)[:, metric > 0])

    def _nearest(self, X: Any) -> IntArray:
        centres = weigh_features(self.cluster_centers_.astype(X.dtype, copy=False), self.metric_)
        return np.asarray(pairwise_distances_argmin(weigh_features(X, self.metric_), centres), dtype=np.intp)

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that sparse data are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def weigh_features(X: Any, metric: FloatArray) -> Any:
    """Return the points with feature k multiplied by √a_k."""
    roots = np.sqrt(metric).astype(X.dtype)
    return sparse.csr_array(X @ sparse.diags_array(roots)) if sparse.issparse(X) else X * roots


def _means(X: Any, labels: IntArray, n_clusters: int) -> FloatArray:
    """The mean of each cluster; of an empty one the mean of all points."""
    n = len(labels)
    shape = (n_clusters, n)
    member = sparse.csr_array((np.ones(n), (labels, np.arange(n))), shape=shape)
    sizes = np.bincount(labels, minlength=n_clusters)
    sums = member @ X
    sums = sums.toarray() if sparse.issparse(sums) else np.asarray(sums)
    overall = np.asarray(X.mean(axis=0), dtype=np.float64)
    means = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], overall)
    return means.astype(X.dtype)
