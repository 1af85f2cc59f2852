"""A Gaussian mixture with must-links and cannot-links.

Must-links as chunklets: Shental, Bar-Hillel, Hertz & Weinshall (2003). Links as penalties, with mean-field
beliefs: Lu & Leen (2007).
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.special import logsumexp, softmax, xlogy
from sklearn.utils.validation import check_is_fitted

from sidecut.checks import FloatArray, IntArray, Rule, check_count, check_not_negative, one_of
from sidecut.constraints import Constraints
from sidecut.exceptions import ConvergenceWarning, InfeasibleError, warn
from sidecut.labelling import repair_labels
from sidecut.labelling.labels import warn_if_clusters_are_missing
from sidecut.methods.base import PointClusterer, TakesConstraints, documented
from sidecut.methods.baselines.lloyd import (
    MustLinkedSets,
    WeightedPoints,
    find_must_linked_sets,
    run_lloyd,
    spread_centres,
    warn_about_few_sets,
)
from sidecut.methods.new_points import is_updated
from sidecut.methods.task import Answer, Task, check_points
from sidecut.running import stage, track


@dataclass(frozen=True, eq=False)
class Mixture:
    """A mixture, and the responsibilities of its Gaussians for the chunklets it was fitted to."""

    weights: FloatArray
    gaussians: Gaussians
    beliefs: FloatArray
    bounds: tuple[float, ...] = ()
    converged: bool = False

    def scores(self, X: FloatArray, sets: MustLinkedSets) -> FloatArray:
        """Return log α_l + Σ_i log p(x_i | l) of every chunklet and Gaussian."""
        return log_shares(self.weights) + sets.summed(self.gaussians.log_densities(X))


def log_shares(weights: FloatArray) -> FloatArray:
    """Return the logarithms of shares, without a warning for those that vanished."""
    return np.log(np.maximum(weights, 1e-300))


def maximize(
    X: FloatArray, sets: MustLinkedSets, beliefs: FloatArray, kind: CovarianceType, reg: float
) -> tuple[FloatArray, Gaussians]:
    """Return the shares and Gaussians that are most likely under given beliefs: the M step."""
    # Every chunklet is one draw of a label, so shares are means over chunklets; every point is one draw from
    # the Gaussian of that label, so Gaussians are means over points (Shental et al. 2003, section 2).
    mass = beliefs.sum(axis=0) + 10 * np.finfo(np.float64).eps
    return mass / mass.sum(), most_likely(X, beliefs[sets.of_point], kind, reg)


def run_em(
    X: FloatArray,
    sets: MustLinkedSets,
    field: MeanField,
    beliefs: FloatArray,
    *,
    kind: CovarianceType = "full",
    reg: float = 1e-6,
    max_iter: int = 100,
    tol: float = 1e-3,
) -> Mixture:
    """Fit a mixture by expectation and maximisation, from given beliefs."""
    bounds: list[float] = []
    mixture = Mixture(*maximize(X, sets, beliefs, kind, reg), beliefs)
    for _ in range(max_iter):
        scores = mixture.scores(X, sets)
        beliefs = field.improve(scores, beliefs)
        bounds.append(field.bound(scores, beliefs) / len(X))
        mixture = Mixture(*maximize(X, sets, beliefs, kind, reg), beliefs, tuple(bounds))
        converged = len(bounds) > 1 and abs(bounds[-1] - bounds[-2]) < tol
        if converged:
            break
    # One more E step, so that the beliefs are those of the last weights and Gaussians.
    beliefs = field.improve(mixture.scores(X, sets), mixture.beliefs)
    return replace(mixture, beliefs=beliefs, converged=converged)


def first_beliefs(
    X: FloatArray, sets: MustLinkedSets, n_clusters: int, n_init: int, rng: np.random.RandomState
) -> list[FloatArray]:
    """Return certain beliefs to begin with: the clusters of k-means, constrained where that is feasible."""
    weights = sets.sizes.astype(np.float64)
    places = sets.summed(X - X.mean(axis=0)) / weights[:, None]
    points = WeightedPoints(places, weights, sets.linked, None)
    if len(sets.linked):
        try:
            assigner = sets.assigner(n_clusters, max_steps=10_000)
            points = WeightedPoints(places, weights, sets.linked, assigner)
        except InfeasibleError:
            # Cannot-links are penalties: free k-means is a start as well.
            pass
    tol = 1e-4 * float(X.var(axis=0).mean())
    return [
        np.eye(n_clusters)[run_lloyd(points, centres, 100, tol).clusters]
        for centres in spread_centres(points, n_clusters, n_init, rng)
    ]


CovarianceType = Literal["full", "tied", "diag", "spherical"]
COVARIANCE_TYPES = ("full", "tied", "diag", "spherical")


@dataclass(frozen=True, eq=False)
class Gaussians:
    """Some Gaussian densities."""

    means: FloatArray
    covariances: FloatArray
    kind: CovarianceType

    def log_densities(self, X: FloatArray) -> FloatArray:
        """Return the logarithm of every density at every point, shape (n, k)."""
        n_features = X.shape[1]
        result = np.empty((len(X), len(self.means)))
        for number, mean in enumerate(self.means):
            distance, half_log_det = self._whiten(X - mean, number)
            result[:, number] = -0.5 * (distance + n_features * np.log(2 * np.pi)) - half_log_det
        return result

    def _whiten(self, difference: FloatArray, number: int) -> tuple[FloatArray, float]:
        """Squared Mahalanobis lengths, and half the logarithm of the determinant of the covariance."""
        if self.kind in ("diag", "spherical"):
            variances = np.broadcast_to(self.covariances[number], difference.shape[1:])
            # A variance that rounding of the mean alone explains is none.
            rounding = np.square(100 * np.finfo(np.float64).eps * self.means[number])
            if (variances <= rounding).any():
                raise _degenerate(number)
            return (difference**2) @ (1.0 / variances), 0.5 * float(np.log(variances).sum())
        covariance = self.covariances if self.kind == "tied" else self.covariances[number]
        try:
            factor = cholesky(covariance, lower=True)
        except LinAlgError:
            raise _degenerate(number) from None
        white = solve_triangular(factor, difference.T, lower=True)
        return np.einsum("dn,dn->n", white, white), float(np.log(np.diag(factor)).sum())


def _degenerate(number: int) -> ValueError:
    return ValueError(
        f"component {number} has hardly any variance in some direction: raise reg_covar, choose fewer "
        "n_clusters or covariance_type='diag', or scale the features."
    )


def most_likely(X: FloatArray, responsibilities: FloatArray, kind: CovarianceType, reg: float) -> Gaussians:
    """Return the Gaussians under which the points are most likely: the M step."""
    # An empty Gaussian must not be a division by zero.
    mass = responsibilities.sum(axis=0) + 10 * np.finfo(np.float64).eps
    means = (responsibilities.T @ X) / mass[:, None]
    if kind == "full":
        covariances = np.stack(
            [_scatter(X - mean, r) / m for mean, r, m in zip(means, responsibilities.T, mass, strict=True)]
        )
        return Gaussians(means, covariances + reg * np.eye(X.shape[1]), kind)
    if kind == "tied":
        scatter = sum(_scatter(X - mean, r) for mean, r in zip(means, responsibilities.T, strict=True))
        return Gaussians(means, scatter / mass.sum() + reg * np.eye(X.shape[1]), kind)
    variances = np.stack(
        [(r @ (X - mean) ** 2) / m for mean, r, m in zip(means, responsibilities.T, mass, strict=True)]
    )
    variances += reg
    return Gaussians(means, variances if kind == "diag" else variances.mean(axis=1), kind)


def _scatter(difference: FloatArray, weights: FloatArray) -> FloatArray:
    return np.asarray((difference.T * weights) @ difference)


class MeanField:
    """Labels z of m nodes, log p(z) = Σ_j a_j(z_j) - Σ_{j<j'} |W_jj'| [link jj' is violated] + constant."""

    # A link is violated by equal labels where W_jj' < 0 and by different ones where W_jj' > 0. The beliefs q
    # are a product of one distribution per node. They maximise
    #
    #     F(q) = Σ_j Σ_l q_jl (a_jl - log q_jl) + ½ Σ_jj' W_jj' q_j·q_j' - ½ Σ_jj' max(W_jj', 0),
    #
    # which bounds the logarithm of Σ_z exp(...) from below. One node at a time, the maximum is q_j ∝ exp(a_j
    # + Σ_j' W_jj' q_j'). Nodes without links to each other do not disturb each other and are updated
    # together, so F never falls. Without links q is exact, and so is F.
    #
    # Where a_j = log α + log p(x_j | ·), F bounds the log-likelihood of x given the links, too: links only
    # ever cost, so that the weights Π α exp(-what z violates) sum to at most one over all z, and dividing by
    # that sum can but raise the likelihood.

    def __init__(self, links: sparse.csr_array) -> None:
        self.links = links
        self.linked = np.flatnonzero(np.diff(links.indptr))
        inner = links[self.linked][:, self.linked]
        self.turns = [(turn, inner[turn]) for turn in independent_sets(inner)]
        self.inner = inner
        #: The constant ½ Σ max(W_jj', 0) of F.
        self.agreement = 0.5 * float(np.maximum(inner.data, 0.0).sum())

    def improve(
        self, scores: FloatArray, beliefs: FloatArray, max_sweeps: int = 50, tol: float = 1e-9
    ) -> FloatArray:
        """Return beliefs with an F no lower."""
        improved = softmax(scores, axis=1)
        if len(self.linked) == 0:
            return improved
        own, inner = scores[self.linked], beliefs[self.linked].copy()
        for _ in range(max_sweeps):
            before = inner.copy()
            for turn, rows in self.turns:
                inner[turn] = softmax(own[turn] + rows @ inner, axis=1)
            if np.abs(inner - before).max() <= tol:
                break
        improved[self.linked] = inner
        return improved

    def bound(self, scores: FloatArray, beliefs: FloatArray) -> float:
        """Return F for beliefs that came from `improve`."""
        free = np.ones(len(scores), dtype=bool)
        free[self.linked] = False
        exact = float(logsumexp(scores[free], axis=1).sum()) if free.any() else 0.0
        inner = beliefs[self.linked]
        entropy = float((inner * scores[self.linked] - xlogy(inner, inner)).sum())
        return exact + entropy + 0.5 * float((inner * (self.inner @ inner)).sum()) - self.agreement


def independent_sets(links: sparse.csr_array) -> list[IntArray]:
    """Split nodes into few sets without links inside, greedily, the nodes with most links first."""
    turn = np.full(links.shape[0], -1, dtype=np.int64)
    for node in np.argsort(-np.diff(links.indptr), kind="stable"):
        taken = turn[links.indices[links.indptr[node] : links.indptr[node + 1]]]
        free = np.ones(len(taken) + 1, dtype=bool)
        free[taken[(taken >= 0) & (taken < len(free))]] = False
        turn[node] = int(np.argmax(free))
    return [np.flatnonzero(turn == number) for number in range(int(turn.max(initial=-1)) + 1)]


@documented
@dataclass(eq=False, repr=False)
class ConstrainedGMM(TakesConstraints, PointClusterer):
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
    n_init : int, default=5
        How many starts; the one with the highest bound is kept. Each starts from constrained k-means.
    max_iter : int, default=100
        How many iterations each start has at most.
    tol : float, default=1e-3
        Stop when the bound per point gains less than this.
    reg_covar : float, default=1e-6
        Added to all variances, so that no Gaussian collapses to a point. It is in squared units of X, as in
        scikit-learn: where variances are as small, scale X or choose less.
    {constraints}
    {all}

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The most likely cluster of each point.
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
    {results}

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

    _: KW_ONLY
    covariance_type: CovarianceType = "full"
    must_links: Literal["chunklets", "penalty"] = "chunklets"
    penalty: float = 100.0
    n_init: int = 5
    max_iter: int = 100
    tol: float = 1e-3
    reg_covar: float = 1e-6
    rules: ClassVar[dict[str, Rule]] = {
        "covariance_type": one_of(*COVARIANCE_TYPES),
        "must_links": one_of("chunklets", "penalty"),
        **dict.fromkeys(("n_init", "max_iter"), check_count),
        **dict.fromkeys(("penalty", "tol", "reg_covar"), check_not_negative),
    }
    accepts: ClassVar[dict[str, Any]] = {"dtype": np.float64, "accept_sparse": False}

    def _solve(self, task: Task) -> Answer:
        X, k = task.data, task.n_clusters
        sets, field = self._find_links(task.constraints)
        warn_about_few_sets(sets, k)
        starts = first_beliefs(X, sets, k, self.n_init, task.rng())
        with stage("mixture"):
            fits = [
                run_em(
                    X,
                    sets,
                    field,
                    beliefs,
                    kind=self.covariance_type,
                    reg=self.reg_covar,
                    max_iter=self.max_iter,
                    tol=self.tol,
                )
                for beliefs in track(starts, self.n_init)
            ]
        best = max(fits, key=lambda mixture: mixture.bounds[-1])
        if not best.converged:
            warn(
                f"ConstrainedGMM did not converge in max_iter={self.max_iter} steps: raise it, or tol.",
                ConvergenceWarning,
            )
        responsibilities = best.beliefs[sets.of_point]
        labels = responsibilities.argmax(axis=1).astype(np.intp)
        reason = "some Gaussians are the likeliest of no point. Ask for fewer, rescale X, or lower reg_covar."
        warn_if_clusters_are_missing(labels, k, "ConstrainedGMM", reason)
        results = {
            "mixture": best,
            "weights_": best.weights,
            "means_": best.gaussians.means,
            "covariances_": best.gaussians.covariances,
            "responsibilities_": responsibilities,
            "objective_": np.array(best.bounds),
            "lower_bound_": best.bounds[-1],
            "n_iter_": len(best.bounds),
            "converged_": best.converged,
        }
        return Answer(labels, results=results)

    def _finish(self, task: Task, answer: Answer) -> Answer:
        if not self.hard or task.constraints.is_empty:
            return answer
        X, mixture, links = task.data, answer.results["mixture"], task.constraints.components
        # A chunklet is one draw of a label: each point bears an equal part of the cost of the share.
        part = 1.0 / np.bincount(links.component)[links.component]
        shares = part[:, None] * log_shares(mixture.weights)
        costs = -(shares + mixture.gaussians.log_densities(X[links.points]))
        joint = log_shares(mixture.weights) + mixture.gaussians.log_densities(X)
        before = -float(joint[np.arange(len(X)), answer.labels].sum())
        labels, repair = repair_labels(
            answer.labels, task.constraints, costs, before, "negative log-likelihood"
        )
        return replace(answer, labels=labels).with_results(repair_=repair)

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

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the distribution of the label of new points, without constraints.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Any points. For those that were fitted, `responsibilities_` holds what the constraints say too.
        """
        return softmax(self._log_joint(X), axis=1)

    def _measure_confidence(self) -> FloatArray:
        return self.responsibilities_[np.arange(len(self.labels_)), self.labels_]

    def _nearest(self, X: Any) -> IntArray:
        return np.asarray(self._log_densities(X).argmax(axis=1))

    def score_samples(self, X: Any) -> FloatArray:
        """Return the logarithm of the density of the mixture at each point."""
        return np.asarray(logsumexp(self._log_joint(X), axis=1))

    def _log_joint(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        return self._log_densities(check_points(self, X, reset=False, **self.accepts))

    def _log_densities(self, X: FloatArray) -> FloatArray:
        if is_updated(self):
            raise AttributeError(
                "the distributions are those of the fit, before points were added: fit again to have them, "
                "or use predict_confidence."
            )
        mixture = self._answer.results["mixture"]
        return log_shares(mixture.weights) + mixture.gaussians.log_densities(X)
