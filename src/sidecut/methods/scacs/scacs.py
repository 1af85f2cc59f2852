"""SCACS, scalable constrained spectral clustering (Li, Xia, Shan & Liu, 2015): CSP on a landmark graph."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from sidecut.arrays import FloatArray
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintError, ConstraintWarning, SidecutWarning, warn
from sidecut.graphs.coded_rows import RowCodes
from sidecut.methods.csp.cuts import FeasibleCuts, remember_cuts
from sidecut.methods.safeguard import GRAPH, Judgement, judge, warn_if_unsure
from sidecut.methods.scacs.base import LandmarkClusterer
from sidecut.methods.scacs.cuts import LandmarkTrial, Rule, landmark_cuts, pose_problem
from sidecut.methods.scacs.lsc import solve_unconstrained
from sidecut.parameters import check_parameters, is_number

#: What a fit without constraints must not keep of an earlier one.
FITTED_WITH_CONSTRAINTS = (
    "cuts_",
    "beta_",
    "n_feasible_",
    "costs_",
    "judgement_",
    "eigenvalues_",
    "eigenvectors_",
    "solution_",
)

DIAGONALS = ("known", "given")
WEIGHTINGS = ("one_minus_cost", "none")


class SCACS(LandmarkClusterer):
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
    beta0 : number, "usual" or "known_share", default="usual"
        β = β₀ γ_{k-1}, how far the constraints must be satisfied, with γ_{k-1} the largest β that leaves
        k - 1 cuts. A number between 0 and 1, 0.1 in section 5.3 of the paper; "known_share" is
        0.5 + 0.4 c / n of section 5.2, c points being known; "usual" is c / (c + p) for c labels, √nnz(Q)
        where pairs are known, and at least 0.1.
    beta : float or None, default=None
        β itself, instead of a share of γ_{k-1}.
    safe : bool, default=True
        With ``beta0="usual"``, see to it that correct knowledge does no harm, however little there is: where
        there are fewer than k - 1 feasible cuts, unconstrained vectors complete the embedding; and the
        unconstrained cut (`LSC`) is kept where it satisfies all that is known, or where part of the
        knowledge, held back, does not show that the constrained one is better. False, or any other `beta0` or
        `beta`, is the paper's algorithm.
    diagonal : {"known", "given"}, default="known"
        Q_ii = 1 for the points something is known about, or as the constraints have it.
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
        Scale every row of the embedding to length one before k-means (step 12).
    n_init : int, default=10
        How many starts k-means has.
    hard : bool, default=False
        Finish with labels that satisfy all must-links and as many cannot-links as possible.
    n_jobs : int or None, default=None
        How many threads a fit may use; it does not change the result. None: all cores that OMP_NUM_THREADS
        allows, but one in a worker of joblib or Dask. -1: all cores.
    verbose : int or bool, default=0
        1: write the stages of the fit and their seconds to standard error, with a bar for long ones on a
        terminal. 2: also the stages within them.
    warm_start : bool, default=False
        Use the landmarks and codes of the previous fit again if the data are the same: where constraints are
        added a few at a time, or other settings tried, what is left is the p x p problem and k-means. Not for
        `fit_chunks`.
    random_state : int, RandomState or None, default=None
        An int makes the result reproducible.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of every point, numbered in order of first appearance.
    embedding_ : array of shape (n_samples, n_clusters - 1)
        What was handed to k-means; that of `LSC`, with one more column, where the unconstrained cut was kept.
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
    judgement_ : Judgement
        With `safe`: whether the constrained cut or that of the graph was kept, and why.
    solution_ : Eigenpairs
        The eigenpairs with their residuals, the solver that ran and its certificate.
    landmarks_ : array of shape (p, n_features)
        The landmarks; those among the nearest of no point are left out.
    sigma_ : float
        The width that was used.
    cluster_centers_ : array of shape (n_clusters, n_clusters - 1)
        The centres in the embedding.
    affinity_matrix_ : LandmarkGraph
        The graph that was cut.
    n_features_in_ : int
        Number of features seen in fit.

    See Also
    --------
    LSC : The same with nothing known.
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

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_landmarks: int = 500,
        n_nearest: int = 3,
        beta0: Rule = "usual",
        beta: float | None = None,
        safe: bool = True,
        diagonal: str = "known",
        orthogonal: bool = False,
        weighting: str = "one_minus_cost",
        landmarks: str | npt.ArrayLike = "kmeans",
        sigma: float | str = "mean",
        unit_rows: bool = True,
        n_init: int = 10,
        hard: bool = False,
        n_jobs: int | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_landmarks = n_landmarks
        self.n_nearest = n_nearest
        self.beta0 = beta0
        self.beta = beta
        self.safe = safe
        self.diagonal = diagonal
        self.orthogonal = orthogonal
        self.weighting = weighting
        self.landmarks = landmarks
        self.sigma = sigma
        self.unit_rows = unit_rows
        self.n_init = n_init
        self.hard = hard
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.warm_start = warm_start
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        choices = {"diagonal": DIAGONALS, "weighting": WEIGHTINGS}
        check_parameters(self, choices=choices, flags=("orthogonal", "safe"))
        check_beta(self.beta0, self.beta)

    def _solve(self, codes: RowCodes, constraints: Constraints) -> tuple[FloatArray, FloatArray]:
        self._forget(*FITTED_WITH_CONSTRAINTS)
        if constraints.is_empty:
            return solve_unconstrained(self, codes)
        if self._is_guarded():
            return self._solve_safely(codes, constraints)
        best = remember_cuts(self, self.find_cuts(codes, constraints))
        if best.costs.size < self.n_clusters - 1:
            warn(
                f"n_clusters={self.n_clusters} would use {self.n_clusters - 1} feasible cuts, but with "
                f"beta={self.beta_:.4g} there are {self.n_feasible_}; the embedding has fewer columns. "
                "beta0='usual' with safe=True completes it; a smaller beta0, or constraints that tell more "
                "clusters apart, give more cuts.",
                ConstraintWarning,
            )
        return best.vectors, self.weigh(best.costs)

    def _is_guarded(self) -> bool:
        is_usual = isinstance(self.beta0, str) and self.beta0 == "usual" and self.beta is None
        return self.safe and is_usual and self.n_clusters > 1

    def _solve_safely(self, codes: RowCodes, constraints: Constraints) -> tuple[FloatArray, FloatArray]:
        trial = LandmarkTrial(self, codes, constraints)
        try:
            cuts = self.find_cuts(codes, constraints)
        except ConstraintError as error:
            self.judgement_ = Judgement(GRAPH, f"There is nothing to satisfy. {error}", is_sure=False)
        else:
            remember_cuts(self, cuts)
            vectors, weights = trial.complete(cuts)
            with warnings.catch_warnings(action="ignore", category=SidecutWarning):
                answers = {"kmeans": trial.label(vectors, weights)}
                self.judgement_ = judge(constraints, self.n_clusters, answers, trial.cut_graph, trial.refit)
        if self.judgement_.choice != GRAPH:
            return vectors, weights
        warn_if_unsure(self.judgement_, constraints, trial.graph_labels)
        return trial.graph_vectors, np.ones(trial.graph_vectors.shape[1])

    def find_cuts(self, codes: RowCodes, constraints: Constraints) -> FeasibleCuts:
        """Return the feasible cuts of coded points with these settings, see `landmark_cuts`."""
        known, points = constraints.restricted()
        problem = pose_problem(codes.sums, codes.take(points), known, self.diagonal)
        return landmark_cuts(
            problem, self.n_clusters, beta0=self.beta0, beta=self.beta, orthogonal=self.orthogonal
        )

    def weigh(self, costs: FloatArray) -> FloatArray:
        """Return how much cuts of these costs weigh in the embedding (step 11)."""
        return 1.0 - costs if self.weighting == "one_minus_cost" else np.ones(costs.size)


def check_beta(beta0: Any, beta: Any) -> None:
    """Refuse what is neither a share between 0 and 1 nor a rule, and a β that is not positive.

    Raises
    ------
    ValueError
        Naming the value and the choices.

    Examples
    --------
    >>> from sidecut.methods.scacs.scacs import check_beta
    >>> check_beta("known_share", None)
    """
    is_share = is_number(beta0) and 0 < beta0 < 1
    if not is_share and not (isinstance(beta0, str) and beta0 in ("usual", "known_share")):
        raise ValueError(
            f"beta0={beta0!r}: give 'usual', 'known_share' or a number between 0 and 1, such as 0.1."
        )
    if beta is not None and not (is_number(beta) and np.isfinite(beta) and beta > 0):
        raise ValueError(f"beta={beta!r} must be None or finite and positive.")
