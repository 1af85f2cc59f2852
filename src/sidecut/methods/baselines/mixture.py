"""Gaussian mixtures of chunklets: expectation and maximisation, and where to begin.

Shental, Bar-Hillel, Hertz & Weinshall (2003): points known to share a label are one draw of a label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.special import logsumexp, softmax, xlogy

from sidecut.arrays import FloatArray, IntArray
from sidecut.exceptions import InfeasibleError
from sidecut.methods.baselines.lloyd import WeightedPoints, run_lloyd, spread_centres
from sidecut.methods.baselines.must_linked_sets import MustLinkedSets

#: The search for a start that respects all cannot-links gives up after so many steps.
START_STEPS = 10_000


@dataclass(frozen=True, eq=False)
class Mixture:
    """A mixture and what it believes of the chunklets it was fitted to.

    Parameters
    ----------
    weights : ndarray of shape (k,)
        The share of chunklets from each Gaussian.
    gaussians : Gaussians
        The Gaussians.
    beliefs : ndarray of shape (m, k)
        The distribution of the label of each chunklet.
    bounds : tuple of float
        The bound on the log-likelihood per point after each iteration.
    converged : bool
        Whether it came to rest.
    """

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
    """Return the shares and Gaussians that are most likely under given beliefs: the M step.

    Every chunklet is one draw of a label, so shares are means over chunklets; every point is one draw
    from the Gaussian of that label, so Gaussians are means over points (Shental et al. 2003, section 2).
    """
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
    """Fit a mixture by expectation and maximisation, from given beliefs.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The points.
    sets : MustLinkedSets
        Which points share a label.
    field : MeanField
        Links between their labels.
    beliefs : ndarray of shape (m, k)
        What to believe of each chunklet to begin with.
    kind, reg, max_iter, tol
        The parameters of `ConstrainedGMM`.

    Returns
    -------
    Mixture
        Its bounds never fall, but for what `reg` takes.
    """
    bounds: list[float] = []
    mixture = Mixture(*maximize(X, sets, beliefs, kind, reg), beliefs)
    for _ in range(max_iter):
        scores = mixture.scores(X, sets)
        beliefs = field.improve(scores, beliefs)
        bounds.append(field.bound(scores, beliefs) / len(X))
        mixture = Mixture(*maximize(X, sets, beliefs, kind, reg), beliefs, tuple(bounds))
        if len(bounds) > 1 and abs(bounds[-1] - bounds[-2]) < tol:
            return _with_last_beliefs(X, sets, field, mixture, converged=True)
    return _with_last_beliefs(X, sets, field, mixture, converged=False)


def _with_last_beliefs(
    X: FloatArray, sets: MustLinkedSets, field: MeanField, mixture: Mixture, converged: bool
) -> Mixture:
    """Return the mixture with the beliefs that its own weights and Gaussians give: one more E step."""
    beliefs = field.improve(mixture.scores(X, sets), mixture.beliefs)
    return Mixture(mixture.weights, mixture.gaussians, beliefs, mixture.bounds, converged)


def first_beliefs(
    X: FloatArray, sets: MustLinkedSets, n_clusters: int, n_init: int, rng: np.random.RandomState
) -> list[FloatArray]:
    """Return certain beliefs to begin with: the clusters of k-means, constrained where that is feasible."""
    weights = sets.sizes.astype(np.float64)
    places = sets.summed(X - X.mean(axis=0)) / weights[:, None]
    points = WeightedPoints(places, weights, sets.linked, None)
    if len(sets.linked):
        try:
            assigner = sets.assigner(n_clusters, START_STEPS)
            points = WeightedPoints(places, weights, sets.linked, assigner)
        except InfeasibleError:
            # Penalties need not all be paid: free k-means is a start as well.
            pass
    tol = 1e-4 * float(X.var(axis=0).mean())
    return [
        np.eye(n_clusters)[run_lloyd(points, centres, 100, tol).clusters]
        for centres in spread_centres(points, n_clusters, n_init, rng)
    ]


# Gaussians of a mixture: their densities, and the most likely ones for given responsibilities.

CovarianceType = Literal["full", "tied", "diag", "spherical"]
COVARIANCE_TYPES = ("full", "tied", "diag", "spherical")


@dataclass(frozen=True, eq=False)
class Gaussians:
    """Some Gaussian densities.

    Parameters
    ----------
    means : ndarray of shape (k, d)
        Where they are.
    covariances : ndarray
        By `kind`: "full" (k, d, d), "tied" (d, d), "diag" (k, d), "spherical" (k,).
    kind : {"full", "tied", "diag", "spherical"}
        What the covariances may be.

    Examples
    --------
    >>> import numpy as np
    >>> bell = Gaussians(np.zeros((1, 1)), np.ones(1), "spherical")
    >>> bell.log_densities(np.array([[0.0], [1.0]])).round(4)
    array([[-0.9189],
           [-1.4189]])
    """

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
            _refuse_degenerate(bool((variances <= rounding).any()), number)
            return (difference**2) @ (1.0 / variances), 0.5 * float(np.log(variances).sum())
        covariance = self.covariances if self.kind == "tied" else self.covariances[number]
        factor = _cholesky(covariance, number)
        white = solve_triangular(factor, difference.T, lower=True)
        return np.einsum("dn,dn->n", white, white), float(np.log(np.diag(factor)).sum())


def _cholesky(covariance: FloatArray, number: int) -> FloatArray:
    try:
        return cholesky(covariance, lower=True)
    except LinAlgError:
        _refuse_degenerate(True, number)
        raise


def _refuse_degenerate(is_degenerate: bool, number: int) -> None:
    if is_degenerate:
        raise ValueError(
            f"component {number} has all but no spread in some direction: raise reg_covar, choose fewer "
            "n_clusters or covariance_type='diag', or scale the features."
        )


def most_likely(X: FloatArray, responsibilities: FloatArray, kind: CovarianceType, reg: float) -> Gaussians:
    """Return the Gaussians under which the points are most likely: the M step.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The points.
    responsibilities : ndarray of shape (n, k)
        To which degree each point belongs to each Gaussian.
    kind : {"full", "tied", "diag", "spherical"}
        What the covariances may be.
    reg : float
        Added to the variances.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [2.0], [9.0]])
    >>> two = most_likely(X, np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), "diag", 0.5)
    >>> two.means.ravel(), two.covariances.ravel()
    (array([1., 9.]), array([1.5, 0.5]))
    """
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


# Beliefs about hidden labels that speak to each other: the mean field of a hidden Markov random field.


class MeanField:
    """Labels z of m nodes with log p(z) = Σ_j a_j(z_j) - Σ_{j<j'} |W_jj'| [link jj' is violated] + constant.

    A link is violated by equal labels where W_jj' < 0 and by different ones where W_jj' > 0. The beliefs q
    are a product of one distribution per node. They maximise

        F(q) = Σ_j Σ_l q_jl (a_jl - log q_jl) + ½ Σ_jj' W_jj' q_j·q_j' - ½ Σ_jj' max(W_jj', 0),

    which bounds the logarithm of Σ_z exp(...) from below. One node at a time, the maximum is
    q_j ∝ exp(a_j + Σ_j' W_jj' q_j'). Nodes without links to each other do not disturb each other and are
    updated together, so F never falls. Without links q is exact, and so is F.

    Where a_j = log α + log p(x_j | ·), F bounds the log-likelihood of x given the links, too: links only ever
    cost, so that the weights Π α exp(-what z violates) sum to at most one over all z, and dividing by that
    sum can but raise the likelihood.

    Parameters
    ----------
    links : sparse matrix of shape (m, m)
        W, symmetric without diagonal: positive for nodes that should agree, negative for those
        that should not.

    Examples
    --------
    Two nodes that both prefer the first label, one more firmly, and should differ:

    >>> import numpy as np
    >>> field = MeanField(sparse.csr_array(np.array([[0.0, -9.0], [-9.0, 0.0]])))
    >>> field.improve(np.array([[3.0, 0.0], [1.0, 0.0]]), np.full((2, 2), 0.5)).round(2)
    array([[1., 0.],
           [0., 1.]])
    """

    def __init__(self, links: sparse.csr_array) -> None:
        self.links = links
        self.linked = np.flatnonzero(np.diff(links.indptr))
        inner = links[self.linked][:, self.linked]
        self.turns = [(turn, inner[turn]) for turn in independent_sets(inner)]
        self.inner = inner
        #: What agreement on all positive links would be worth, were it a reward and not a price saved.
        self.agreement = 0.5 * float(np.maximum(inner.data, 0.0).sum())

    def improve(
        self, scores: FloatArray, beliefs: FloatArray, max_sweeps: int = 50, tol: float = 1e-9
    ) -> FloatArray:
        """Return beliefs with an F no lower.

        Parameters
        ----------
        scores : ndarray of shape (m, k)
            The a of each node.
        beliefs : ndarray of shape (m, k)
            Where to begin; counts for linked nodes only.
        max_sweeps : int
            How often to visit every linked node at most.
        tol : float
            Stop when no belief changes by more.
        """
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
    """Split nodes into few sets without links inside, greedily, the nodes with most links first.

    Examples
    --------
    >>> star = sparse.csr_array(np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]]))
    >>> [one.tolist() for one in independent_sets(star)]
    [[0], [1, 2]]
    """
    turn = np.full(links.shape[0], -1, dtype=np.int64)
    for node in np.argsort(-np.diff(links.indptr), kind="stable"):
        taken = turn[links.indices[links.indptr[node] : links.indptr[node + 1]]]
        free = np.ones(len(taken) + 1, dtype=bool)
        free[taken[(taken >= 0) & (taken < len(free))]] = False
        turn[node] = int(np.argmax(free))
    return [np.flatnonzero(turn == number) for number in range(int(turn.max(initial=-1)) + 1)]
