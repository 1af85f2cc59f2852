"""SCACS, scalable constrained spectral clustering (Li, Xia, Shan & Liu, 2015): CSP on a landmark graph."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from sidecut.checks import FloatArray, IntArray, Rule, check_flag, check_positive, is_number, one_of, optional
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintError, InfeasibleError, SidecutWarning, SpectralError
from sidecut.graphs import LandmarkSums
from sidecut.labelling import nearest_centers, rough_labels
from sidecut.methods.base import TakesConstraints, documented
from sidecut.methods.csp.estimator import warn_about_missing_cuts
from sidecut.methods.guard import draw_sample
from sidecut.methods.scacs.base import Embedder, LandmarkClusterer, embed_codes
from sidecut.methods.scacs.cuts import (
    ROUNDING,
    ConstrainedProblem,
    Share,
    complete_landmark_cuts,
    find_division,
    landmark_basis,
    landmark_cuts,
    normalize_gram,
    pose_problem,
    shares_to_try,
)
from sidecut.methods.task import Task
from sidecut.spectral import Eigenpairs
from sidecut.spectral.laplacian import full_decomposition


@documented
@dataclass(eq=False, repr=False)
class LSC(LandmarkClusterer):
    """Landmark spectral clustering: the normalised cut of the landmark graph, in time linear in n.

    Every point is coded over its nearest landmarks; the leading singular vectors of the codes, found from a
    p x p matrix, are clustered. It takes no constraints, and is `SCACS` without them.

    Parameters
    ----------
    {n_clusters}
    n_landmarks : int, default=500
        p, how many landmarks are chosen; no more than half as many as there are points.
    n_nearest : int, default=3
        r, how many landmarks code a point.
    landmarks : {"kmeans", "random", "kmeans++"}, row numbers or array of shape (p, d), default="kmeans"
        How landmarks are chosen, see `sidecut.graphs.choose_landmarks`, or which they are.
    sigma : float or "mean", default="mean"
        The width of the Gaussian weights; "mean" is the mean distance between all points and landmarks.
    unit_rows : bool, default=True
        Scale every row of the embedding to length one before k-means.
    n_init : int, default=10
        How many starts k-means has.
    warm_start : bool, default=False
        Use the landmarks and codes of the previous fit again if the data are the same, and other settings are
        tried. Not for `fit_chunks`.
    {all}

    Attributes
    ----------
    {labels_}
    embedding_ : array of shape (n_samples, n_clusters)
        The rows that k-means clustered.
    eigenvalues_ : array of shape (n_clusters,)
        Of the normalised Laplacian I - Ĝ, smallest first.
    eigenvectors_ : array of shape (p, n_clusters)
        u; the eigenvectors of the Laplacian are v = Ẑᵀu.
    {solution_}
    landmarks_ : array of shape (p, n_features)
        The landmarks; those among the nearest of no point are left out.
    sigma_ : float
        The width that was used.
    cluster_centers_ : array of shape (n_clusters, n_clusters)
        The centres in the embedding.
    affinity_matrix_ : LandmarkGraph
        The graph that was cut.
    {results}

    See Also
    --------
    SCACS : The same with constraints.
    NormalizedCut : The cut of the whole graph.

    References
    ----------
    X. Chen, D. Cai: Large scale spectral clustering with landmark-based representation. AAAI 2011.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sidecut import LSC
    >>> X, y = make_moons(1000, noise=0.05, random_state=0)
    >>> model = LSC(n_clusters=2, n_landmarks=100, random_state=0).fit(X)
    >>> int(abs(sum(model.labels_ == y) - 500))
    500
    >>> model.predict([[0.0, 1.0], [1.0, -0.5]])
    array([1, 0])
    """

    def _embedder(self, task: Task) -> Embedder:
        refuse_constraints(task.constraints)
        return embed_unconstrained(task.data.sums, task.n_clusters)


def embed_unconstrained(sums: LandmarkSums, n_clusters: int) -> Embedder:
    """Return the k vectors of least cost, with equal weights."""
    basis = landmark_basis(sums, n_clusters)
    costs, vectors = basis.costs[:n_clusters], basis.vectors[:, :n_clusters]
    # L v - cost v = Ẑᵀ r with r = (1 - cost) u - Ŝ u, whose length is √(rᵀŜr).
    gram = normalize_gram(sums)
    left = vectors * (1.0 - costs) - gram @ vectors
    residuals = np.sqrt(np.maximum(np.einsum("ij,ij->j", left, gram @ left), 0.0))
    certificate = full_decomposition(costs.size, float(costs[-1]))
    solution = Eigenpairs(costs, vectors, residuals, "dense (LAPACK)", certificate)
    return Embedder(project(vectors, np.ones(costs.size), sums), solution, {})


def project(vectors: FloatArray, weights: FloatArray, sums: LandmarkSums) -> FloatArray:
    """Return D^{-1/2} u, weighted: a code z over landmarks becomes v = uᵀD^{-1/2} z."""
    return vectors * weights / np.sqrt(sums.degrees)[:, None]


def separate_sides(found: Embedder, sums: LandmarkSums) -> Embedder:
    """Return a single cut with its division at zero, and a centre on either side."""
    # Step 12 leaves the sign of a single cut, and k-means of unit rows nothing to do.
    # Codes sum to one, so that a shift of the projection shifts the cut.
    shifted = found.projection - find_division(sums, found.projection[:, 0])
    # The root of the mean square of all rows w: Σ (zᵀw)² = wᵀ Z Zᵀ w.
    spread = np.sqrt(shifted.T @ sums.gram @ shifted / sums.n_rows)
    return found._replace(projection=shifted, centers=np.vstack([-spread, spread]))


def shares_of_neighbors(
    codes: sp.csr_array, sums: LandmarkSums, labels: IntArray, n_clusters: int
) -> FloatArray:
    """Return the share of every cluster in the weight around each point in Ĝ, its own weight left out."""
    # A point that a link holds in a cluster against its neighbours shows nothing about the cluster. Where
    # points share few landmarks, most of the weight Ĝ_ii + Σ_j Ĝ_ij is its own.
    members, nearness = np.eye(n_clusters)[labels], codes.multiply(1.0 / sums.degrees).tocsr()
    own = np.asarray(nearness.multiply(codes).sum(axis=1)).reshape(-1, 1)
    votes = np.maximum(nearness @ (codes.T @ members) - own * members, 0.0)
    total = votes.sum(axis=1, keepdims=True)
    return np.where(total > ROUNDING * own, votes / np.maximum(total, ROUNDING * own), members)


def contrast(known: Constraints, shares: FloatArray) -> float:
    """Return how much more alike joined points are than separated ones, as mean products of their rows."""
    # Where constraints are of one kind, pairs at random stand for the other.
    known, points = known.with_diagonal(0.0).restricted()
    must, rows = known.must_part(), shares[points]
    alike, both = (float((rows * part.apply(rows)).sum()) for part in (must, known))
    n_must, n_cannot = must.total(), must.total() - known.total()
    by_chance = float((shares.mean(axis=0) ** 2).sum())
    return (alike / n_must if n_must else by_chance) - ((alike - both) / n_cannot if n_cannot else by_chance)


def refuse_constraints(constraints: Constraints | None) -> None:
    """Refuse constraints that say something."""
    if constraints is not None and not (isinstance(constraints, Constraints) and constraints.is_empty):
        raise ConstraintError(
            "LSC cannot use constraints; choose a method that can, such as SCACS, its constrained form."
        )


def check_share(name: str, beta0: Any) -> None:
    """Refuse what is neither a share between 0 and 1 nor a rule."""
    is_share = is_number(beta0) and 0 < beta0 < 1
    if not is_share and not (isinstance(beta0, str) and beta0 in ("auto", "labelled_share")):
        raise ValueError(
            f"{name}={beta0!r}: give 'auto', 'labelled_share' or a number between 0 and 1, such as 0.1."
        )


@documented
@dataclass(eq=False, repr=False)
class SCACS(TakesConstraints, LandmarkClusterer):
    """Scalable constrained spectral clustering (Li, Xia, Shan & Liu, 2015).

    Every point is coded over a few landmarks, which leaves a p x p problem: among the cuts that satisfy the
    constraints to at least β, those of least normalised cut. It is CSP on the landmark graph, restricted to
    cuts that are linear in the codes, in time and memory linear in n, and it predicts new points.

    Parameters
    ----------
    n_clusters : int, default=8
        k.
    n_landmarks : int, default=500
        p, how many landmarks are chosen; no more than half as many as there are points.
    n_nearest : int, default=3
        r, how many landmarks code a point.
    beta0 : number, "auto" or "labelled_share", default="auto"
        β = β₀ γ_{k-1}, how far the constraints must be satisfied, with γ_{k-1} the largest β that leaves
        k - 1 cuts. A number between 0 and 1, 0.1 in section 5.3 of the paper; "labelled_share" is
        0.5 + 0.4 c / n of section 5.2, for c constrained points; "auto" is c / (c + p) for c labels, and at
        least 0.1. For pairs, "auto" tries five shares from √nnz(Q) / (√nnz(Q) + p) to "labelled_share", and
        takes the one with which the labels around the constrained points agree with them best.
    beta : float or None, default=None
        β itself, instead of a share of γ_{k-1}.
    diagonal : {"known", "given"}, default="known"
        Q_ii = 1 for constrained points, or as the constraints have it.
    orthogonal : bool, default=False
        Whether cuts must be orthogonal to the constant one, as step 9 means, or only different from it, which
        every feasible cut is. (As printed, step 9 removes all cuts as a rule.)
    weighting : {"one_minus_cost", "none"}, default="one_minus_cost"
        How cuts are weighed before they are clustered (step 11).
    landmarks : {"kmeans", "random", "kmeans++"}, row numbers or array of shape (p, d), default="kmeans"
        How landmarks are chosen, see `sidecut.graphs.choose_landmarks`, or which they are.
    sigma : float or "mean", default="mean"
        The width of the Gaussian weights; "mean" is the mean distance between all points and landmarks.
    unit_rows : bool, default=True
        Scale every row of the embedding to length one before k-means (step 12). For two clusters that leaves
        the sign of the cut: `embedding_` has the cut itself, and its sign is the cluster.
    n_init : int, default=10
        How many starts k-means has.
    warm_start : bool, default=False
        Use the landmarks and codes of the previous fit again if the data are the same: where constraints are
        added a few at a time, or other settings tried, what is left is the p x p problem and k-means. Not for
        `fit_chunks`.
    {constraints}
    {all}

    Attributes
    ----------
    {labels_}
    embedding_ : array of shape (n_samples, n_clusters - 1)
        The rows that k-means clustered; those of `LSC`, with one more column, where the unconstrained cut
        was kept.
    eigenvalues_ : array of shape (n_clusters - 1,)
        λ of the best feasible cuts (eq. 16).
    eigenvectors_ : array of shape (p, n_clusters - 1)
        u of the best feasible cuts, uᵀŜu = 1; the cuts themselves are v = Ẑᵀu.
    costs_ : array of shape (n_clusters - 1,)
        uᵀAu, the normalised cuts.
    cuts_ : FeasibleCuts
        All feasible cuts: λ, cost, satisfaction; `print(model.cuts_)` is a table.
    n_feasible_ : int
        How many feasible cuts there are.
    beta_ : float
        The β that was used.
    {solution_}
    landmarks_ : array of shape (p, n_features)
        The landmarks; those among the nearest of no point are left out.
    sigma_ : float
        The width that was used.
    cluster_centers_ : array of shape (n_clusters, n_clusters - 1)
        The centres in the embedding.
    affinity_matrix_ : LandmarkGraph
        The graph that was cut.
    {results}

    See Also
    --------
    LSC : The same without constraints.
    CSP : The same idea on the whole graph.

    References
    ----------
    J. Li, Y. Xia, Z. Shan, Y. Liu: Scalable constrained spectral clustering. IEEE Transactions on Knowledge
    and Data Engineering 27, 2015.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sidecut import SCACS
    >>> from sidecut.constraints import sample_labels
    >>> X, y = make_moons(2000, noise=0.15, random_state=0)
    >>> known = sample_labels(y, 20, random_state=0)
    >>> model = SCACS(n_clusters=2, n_landmarks=200, random_state=0).fit(X, constraints=known)
    >>> known.satisfaction(model.labels_)
    1.0
    >>> bool((model.predict(X) == model.labels_).all())
    True
    """

    _: KW_ONLY
    beta0: Share = "auto"
    beta: float | None = None
    diagonal: str = "known"
    orthogonal: bool = False
    weighting: str = "one_minus_cost"
    published: ClassVar[dict[str, Any]] = {"safe": False, "beta0": "labelled_share"}
    rules: ClassVar[dict[str, Rule]] = {
        "beta0": check_share,
        "beta": optional(check_positive),
        "diagonal": one_of("known", "given"),
        "weighting": one_of("one_minus_cost", "none"),
        "orthogonal": check_flag,
    }

    # A few landmarks leave more to chance than a graph of all points.
    caution = 3.0

    @property
    def _must_follow(self) -> bool:
        return not self._is_auto

    @property
    def _is_auto(self) -> bool:
        return isinstance(self.beta0, str) and self.beta0 == "auto" and self.beta is None

    def _embedder(self, task: Task) -> Embedder:
        known = task.constraints
        if known.is_empty:
            return embed_unconstrained(task.data.sums, task.n_clusters)
        restricted, points = known.restricted()
        problem = pose_problem(task.data.sums, task.data.take(points), restricted, self.diagonal)
        shares = shares_to_try(problem) if self._is_auto else (self.beta0,)
        if len(shares) == 1:
            return self._embed(task, problem, shares[0])
        return self._try_shares(task, problem, shares)

    def _embed(self, task: Task, problem: ConstrainedProblem, beta0: Share) -> Embedder:
        """Return the projection for one β₀ (steps 5 to 11)."""
        sums, k = task.data.sums, task.n_clusters
        cuts = landmark_cuts(problem, k, beta0=beta0, beta=self.beta, orthogonal=self.orthogonal)
        best = cuts.first(max(k - 1, 1))
        vectors, costs = best.vectors, best.costs
        if costs.size < k - 1 and self._is_auto:
            vectors, costs = complete_landmark_cuts(sums, best, k)
        elif costs.size < k - 1:
            warn_about_missing_cuts(cuts, k)
        weights = 1.0 - costs if self.weighting == "one_minus_cost" else np.ones(costs.size)
        results = {"cuts_": cuts, "beta_": cuts.beta, "n_feasible_": cuts.n_feasible, "costs_": best.costs}
        found = Embedder(project(vectors, weights, sums), cuts.certify(best), results)
        return separate_sides(found, sums) if k == 2 and self.unit_rows else found

    def _try_shares(self, task: Task, problem: ConstrainedProblem, shares: Sequence[Share]) -> Embedder:
        """Return the projection for the β₀ with which clusters around the points agree with them best."""
        sample = draw_sample(task) if task.sample is None else task.sample
        codes, known = task.data.take(sample), task.constraints.restricted_to(sample)
        best, highest, failure = None, -np.inf, None
        for share in shares:
            try:
                # A warning about one β need not hold for the one that is taken.
                with warnings.catch_warnings(action="ignore", category=SidecutWarning):
                    found = self._embed(task, problem, share)
            except (InfeasibleError, SpectralError) as error:
                failure = error
                continue
            agreement = contrast(known, self._shares_around(task, found, codes))
            # Of two that are as good, the smaller β₀ has the smoother cuts.
            if agreement > highest:
                best, highest = found, agreement
        if best is None:
            raise failure or InfeasibleError("No cut can satisfy these constraints.")
        return best

    def _shares_around(self, task: Task, found: Embedder, codes: sp.csr_array) -> FloatArray:
        """Return the shares of the clusters around every point, from a rough k-means."""
        rows, k = embed_codes(codes, found.projection, self.unit_rows), task.n_clusters
        labels = rough_labels(rows, k) if found.centers is None else nearest_centers(rows, found.centers)
        return shares_of_neighbors(codes, task.data.sums, labels, k)
