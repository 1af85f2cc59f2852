"""A Gaussian mixture that knows some points share a label and others do not.

Must-links as chunklets: Shental, Bar-Hillel, Hertz & Weinshall (2003). Links as penalties, with mean-field
beliefs: Lu & Leen (2007).
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.special import logsumexp, softmax
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import ConvergenceWarning, warn
from sidecut.labelling import Repair, repair_labels
from sidecut.labelling.labels import warn_if_clusters_are_missing
from sidecut.methods.base import ConstrainedClusterer
from sidecut.methods.baselines.mixture import (
    COVARIANCE_TYPES,
    CovarianceType,
    MeanField,
    Mixture,
    first_beliefs,
    log_shares,
    run_em,
)
from sidecut.methods.baselines.must_linked_sets import (
    MustLinkedSets,
    find_must_linked_sets,
    warn_about_few_sets,
)
from sidecut.methods.inputs import check_points, check_task
from sidecut.methods.safeguard import Safeguarded
from sidecut.parameters import check_parameters
from sidecut.progress import counted, stage


class ConstrainedGMM(Safeguarded, ConstrainedClusterer):
    """A Gaussian mixture fitted by EM, with must-links as shared labels and cannot-links as penalties.

    Points that must-links join (a chunklet) come from one Gaussian, exactly. A cannot-link of strength s
    between two of them multiplies the chance that they share a label by exp(-penalty·s); the beliefs about
    labels that this ties together are found by mean field. Without constraints this is the EM of
    scikit-learn's `GaussianMixture`.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of Gaussians.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        Each its own covariance, one for all, variances per feature, or one variance each.
    must_links : {"chunklets", "penalty"}, default="chunklets"
        Points joined by must-links share a label for certain; or pay for different ones by exp(-penalty·s),
        so that beliefs may be weak and contradict each other. The latter lists all pairs.
    penalty : float, default=100.0
        What a violated link of strength 1 costs, in units of log-likelihood.
    hard : bool, default=False
        Finish with the most likely labels that satisfy all must-links and as many cannot-links as possible;
        `repair_` tells what it took.
    n_init : int, default=5
        How many starts; the one with the highest bound is kept. Each starts from constrained k-means.
    max_iter : int, default=100
        How many iterations each start has at most.
    tol : float, default=1e-3
        Stop when the bound per point gains less than this.
    reg_covar : float, default=1e-6
        Added to all variances, so that no Gaussian collapses to a point.
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
        The most likely cluster of each point.
    judgement_ : Judgement
        With `safe`, where little is known: which answer was kept, and why.
    responsibilities_ : ndarray of shape (n_samples, n_clusters)
        The distribution of the label of each point, given the data and the constraints.
    weights_, means_, covariances_ : ndarrays
        The mixture, shaped as scikit-learn's. Weights are shares of chunklets, single points among them.
    lower_bound_ : float
        The bound on the log-likelihood per point, given the links; the log-likelihood itself where no link
        is a penalty.
    objective_ : ndarray of shape (n_iter_,)
        The bound after each iteration of the best start.
    converged_ : bool
        Whether the best start came to rest.
    n_iter_ : int
        How many iterations it took.

    Raises
    ------
    ConflictError
        From `fit`, if must-links contradict a cannot-link and either must_links="chunklets" or hard=True.

    See Also
    --------
    COPKMeans : Hard clusters in place of a mixture.
    MetricKMeans : Learns a metric from the links.

    References
    ----------
    N. Shental, A. Bar-Hillel, T. Hertz, D. Weinshall: Computing Gaussian mixture models with EM using
    equivalence constraints. NIPS 2003.
    Z. Lu, T. Leen: Penalized probabilistic clustering. Neural Computation 19, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut import ConstrainedGMM, Constraints
    >>> X = np.array([[0.0], [0.5], [1.0], [4.0], [4.5], [5.0]])
    >>> known = Constraints.from_labels([0, -1, -1, -1, -1, 1])
    >>> model = ConstrainedGMM(n_clusters=2, random_state=0).fit(X, constraints=known)
    >>> model.labels_
    array([1, 1, 1, 0, 0, 0])
    >>> model.predict_proba([[0.2], [4.8]]).round(3)
    array([[0., 1.],
           [1., 0.]])
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        covariance_type: CovarianceType = "full",
        must_links: Literal["chunklets", "penalty"] = "chunklets",
        penalty: float = 100.0,
        hard: bool = False,
        n_init: int = 5,
        max_iter: int = 100,
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        safe: bool = True,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.covariance_type = covariance_type
        self.must_links = must_links
        self.penalty = penalty
        self.hard = hard
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.reg_covar = reg_covar
        self.safe = safe
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    _taken = (
        "_gaussians",
        "weights_",
        "means_",
        "covariances_",
        "responsibilities_",
        "objective_",
        "lower_bound_",
        "n_iter_",
        "converged_",
    )

    def _fit(self, X: Any, constraints: Constraints | None) -> None:
        self._check_parameters()
        X = check_points(self, X, dtype=np.float64, accept_sparse=False)
        constraints = check_task(self, X, constraints)
        n_clusters, rng = self.n_clusters, check_random_state(self.random_state)
        sets, field = self._find_links(constraints)
        warn_about_few_sets(sets, n_clusters)
        starts = first_beliefs(X, sets, n_clusters, self.n_init, rng)
        with stage("mixture"):
            fits = [self._run(X, sets, field, beliefs) for beliefs in counted(starts, self.n_init)]
        best = max(fits, key=lambda mixture: mixture.bounds[-1])
        self._remember(best, sets)
        self.labels_ = self.responsibilities_.argmax(axis=1).astype(np.intp)
        reason = "some Gaussians are the likeliest of no point. Ask for fewer, rescale X, or lower reg_covar."
        warn_if_clusters_are_missing(self.labels_, self.n_clusters, "ConstrainedGMM", reason)
        self._forget("repair_")
        if self.hard and not constraints.is_empty:
            self.labels_, self.repair_ = _likely_repair(X, best, self.labels_, constraints)

    def _check_parameters(self) -> None:
        choices = {"covariance_type": COVARIANCE_TYPES, "must_links": ("chunklets", "penalty")}
        numbers = ("penalty", "tol", "reg_covar")
        check_parameters(self, choices=choices, counts=("n_init", "max_iter"), not_negative=numbers)

    def _find_links(self, constraints: Constraints) -> tuple[MustLinkedSets, MeanField]:
        """The chunklets, and the links between their labels."""
        if self.must_links == "penalty":
            alone = find_must_linked_sets(Constraints.none(constraints.n_samples))
            return alone, MeanField(self.penalty * constraints.with_diagonal(0.0).as_matrix())
        sets = find_must_linked_sets(constraints)
        first, second = sets.linked[sets.graph.edges].T
        ends = (np.concatenate([first, second]), np.concatenate([second, first]))
        strengths = -self.penalty * np.tile(sets.strengths, 2)
        return sets, MeanField(sparse.coo_array((strengths, ends), shape=(sets.n_sets,) * 2).tocsr())

    def _run(self, X: FloatArray, sets: MustLinkedSets, field: MeanField, beliefs: FloatArray) -> Mixture:
        return run_em(
            X,
            sets,
            field,
            beliefs,
            kind=self.covariance_type,
            reg=self.reg_covar,
            max_iter=self.max_iter,
            tol=self.tol,
        )

    def _remember(self, best: Mixture, sets: MustLinkedSets) -> None:
        if not best.converged:
            warn(
                f"ConstrainedGMM did not come to rest in max_iter={self.max_iter} steps: raise it, or tol.",
                ConvergenceWarning,
            )
        self._gaussians = best.gaussians
        self.weights_, self.means_ = best.weights, best.gaussians.means
        self.covariances_ = best.gaussians.covariances
        self.responsibilities_ = best.beliefs[sets.of_point]
        self.objective_ = np.array(best.bounds)
        self.lower_bound_ = best.bounds[-1]
        self.n_iter_, self.converged_ = len(best.bounds), best.converged

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the distribution of the label of new points, about which nothing else is known.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Any points. For those that were fitted, `responsibilities_` holds what the constraints say too.
        """
        return softmax(self._log_joint(X), axis=1)

    def _measure_confidence(self) -> FloatArray:
        return self.responsibilities_[np.arange(len(self.labels_)), self.labels_]

    def predict(self, X: Any) -> IntArray:
        """Return the most likely cluster of new points."""
        return self._log_joint(X).argmax(axis=1)

    def score_samples(self, X: Any) -> FloatArray:
        """Return the logarithm of the density of the mixture at each point."""
        return np.asarray(logsumexp(self._log_joint(X), axis=1))

    def _log_joint(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        X = check_points(self, X, reset=False, dtype=np.float64, accept_sparse=False)
        return log_shares(self.weights_) + self._gaussians.log_densities(X)


def _likely_repair(
    X: FloatArray, mixture: Mixture, labels: IntArray, constraints: Constraints
) -> tuple[IntArray, Repair]:
    """Change labels of linked points to the most likely ones under which the links hold."""
    links = constraints.contracted()
    # A chunklet is one draw of a label: its points have an equal part in the price of the share.
    part = 1.0 / np.bincount(links.component)[links.component]
    shares = part[:, None] * log_shares(mixture.weights)
    costs = -(shares + mixture.gaussians.log_densities(X[links.points]))
    everyone = np.arange(len(X))
    joint = log_shares(mixture.weights) + mixture.gaussians.log_densities(X)
    before = -float(joint[everyone, labels].sum())
    return repair_labels(labels, constraints, costs, before, "negative log-likelihood")
