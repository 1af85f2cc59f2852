"""k-means under a metric learned from links (Xing, Ng, Jordan & Russell, 2002)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import sklearn.exceptions
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.metrics.pairwise import pairwise_distances_argmin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.labelling import measure_confidence
from sidecut.methods.base import ConstrainedClusterer
from sidecut.methods.baselines.diagonal_metric import learn_diagonal_metric
from sidecut.methods.baselines.lloyd import dense_rows
from sidecut.methods.inputs import check_points, check_task
from sidecut.methods.safeguard import Safeguarded
from sidecut.parameters import check_parameters
from sidecut.progress import stage

#: What a fit leaves that may have to be taken back.
FITTED = ("metric_", "labels_", "inertia_", "n_iter_", "cluster_centers_")


class MetricKMeans(Safeguarded, ConstrainedClusterer):
    """k-means with features weighted so that must-links are short and cannot-links long.

    The links teach which features matter, so a few links change the clusters of all points. The links
    themselves may still be violated, unless `hard`.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    regularization : float, default=1.0
        Every must-link is joined by this many more, of the length of an average pair of points. Without, a
        feature that happens not to vary over the must-links would get all the weight. 0 is the paper's
        problem, refused where that happens.
    max_pairs : int, default=10_000
        The cannot-links are sampled down to this many; must-links all count, however many there are.
    hard : bool, default=False
        Finish with labels that satisfy all must-links and as many cannot-links as possible; `repair_` tells
        what it took.
    n_init : int, default=10
        How many starts k-means has.
    max_iter : int, default=300
        How many iterations each start has at most.
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
        Where samples and starts come from; an int makes the result reproducible.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each point.
    judgement_ : Judgement
        With `safe`, where little is known: which answer was kept, and why.
    metric_ : ndarray of shape (n_features,)
        The weights a: squared distances are Σ_k a_k (x_k - y_k)². All 1 where nothing is known, and where
        k-means with equal weights satisfies as many links (but for ``regularization=0``).
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centres k-means found, in the units of X; with `hard`, those before labels were changed.
    inertia_ : float
        The sum of squared distances of all points to the centres of their clusters, under the metric.
    n_iter_ : int
        How many iterations the best start took.

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
    The first feature is loud and means nothing; three links are enough to tell.

    >>> import numpy as np
    >>> from sidecut import Constraints, MetricKMeans
    >>> X = np.array([[0, 0], [50, 0.1], [90, 0.2], [10, 1], [60, 1.1], [80, 1.2]])
    >>> links = Constraints.from_pairs(6, must_link=[(0, 2), (3, 5)], cannot_link=[(1, 4)])
    >>> model = MetricKMeans(n_clusters=2, random_state=0).fit(X, constraints=links)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1])
    >>> bool(model.metric_[1] > 1000 * model.metric_[0])
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        regularization: float = 1.0,
        max_pairs: int = 10_000,
        hard: bool = False,
        n_init: int = 10,
        max_iter: int = 300,
        safe: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.regularization = regularization
        self.max_pairs = max_pairs
        self.hard = hard
        self.n_init = n_init
        self.max_iter = max_iter
        self.safe = safe
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    _taken = FITTED

    def _fit(self, X: Any, constraints: Constraints | None) -> None:
        counts = ("max_pairs", "n_init", "max_iter")
        check_parameters(self, counts=counts, not_negative=("regularization",))
        X = check_points(self, X)
        constraints = check_task(self, X, constraints)
        n_clusters, rng = self.n_clusters, check_random_state(self.random_state)
        self.metric_ = np.ones(X.shape[1])
        with stage("k-means"):
            self._cluster(X, n_clusters, rng)
        if constraints.n_pairs:
            with stage("metric, and k-means under it"):
                self._learn(X, constraints, n_clusters, rng)
        points = self._weighted(X)
        # Features without weight add nothing to any distance.
        self._repair(dense_rows(points[:, self.metric_ > 0]) if self.hard else points, constraints)
        if hasattr(self, "repair_"):
            self.inertia_ += self.repair_.cost
        weighted = X.astype(np.float64, copy=False) @ sparse.diags_array(np.sqrt(self.metric_))
        self._confidence = measure_confidence(self.labels_, weighted)

    def _learn(self, X: Any, constraints: Constraints, n_clusters: int, rng: np.random.RandomState) -> None:
        """Cluster again under the metric that is learned, unless no more links hold under it.

        A metric from few links can be far worse than none: it may rest on the one feature in which two points
        happen to differ. If it does not even serve the links it was learned from, it says nothing.
        """
        alone = {name: getattr(self, name) for name in FITTED}
        self.metric_ = learn_diagonal_metric(
            X,
            constraints,
            regularization=self.regularization,
            max_pairs=self.max_pairs,
            random_state=rng,
        )
        self._cluster(X, n_clusters, rng)
        before, after = (constraints.satisfaction(labels) for labels in (alone["labels_"], self.labels_))
        if self.regularization > 0 and after <= before:
            self.__dict__.update(alone)

    def _cluster(self, X: Any, n_clusters: int, rng: np.random.RandomState) -> None:
        """Cluster by k-means under the metric."""
        model = KMeans(n_clusters, n_init=self.n_init, max_iter=self.max_iter, random_state=rng)
        with warnings.catch_warnings():
            # Equal points are our own warning, in terms of X.
            warnings.simplefilter("ignore", sklearn.exceptions.ConvergenceWarning)
            model.fit(self._weighted(X))
        self.labels_ = model.labels_.astype(np.intp)
        self.inertia_, self.n_iter_ = float(model.inertia_), int(model.n_iter_)
        self.cluster_centers_ = _means(X, self.labels_, n_clusters)

    def predict(self, X: Any) -> IntArray:
        """Return the nearest centre of each point under the metric.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Any points.
        """
        check_is_fitted(self)
        X = check_points(self, X, reset=False)
        centres = self._weighted(self.cluster_centers_.astype(X.dtype, copy=False))
        return np.asarray(pairwise_distances_argmin(self._weighted(X), centres), dtype=np.intp)

    def _weighted(self, X: Any) -> Any:
        """The points with feature k multiplied by √a_k."""
        roots = np.sqrt(self.metric_).astype(X.dtype)
        return sparse.csr_array(X @ sparse.diags_array(roots)) if sparse.issparse(X) else X * roots

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that sparse data are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _means(X: Any, labels: IntArray, n_clusters: int) -> FloatArray:
    """The mean of each cluster; of an empty one the mean of all points."""
    n = len(labels)
    shape = (n_clusters, n)
    member = sparse.csr_array((np.ones(n), (labels, np.arange(n))), shape=shape)
    sizes = np.bincount(labels, minlength=n_clusters)
    sums = member @ X
    sums = sums.toarray() if sparse.issparse(sums) else np.asarray(sums)
    everyone = np.asarray(X.mean(axis=0), dtype=np.float64)
    means = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], everyone)
    return means.astype(X.dtype)
