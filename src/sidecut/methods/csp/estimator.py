"""CSP, flexible constrained spectral clustering (Wang, Qian & Davidson, 2014), exactly and at scale."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintWarning, warn
from sidecut.graphs import Graph, GraphRecipe, NormalizedAffinity
from sidecut.labelling import LabellingMethod, assign_labels, unit_rows
from sidecut.methods.base import SpectralClusterer
from sidecut.methods.csp.beta import Rule, check_rule
from sidecut.methods.csp.cuts import NORMALIZATIONS, FeasibleCuts, feasible_cuts
from sidecut.methods.extension import OutOfSample, weighted_means
from sidecut.methods.inputs import check_choice
from sidecut.parameters import check_flag
from sidecut.spectral import Certificate, Eigenpairs

__all__ = ["CSP", "FeasibleCuts", "feasible_cuts", "weigh_cuts"]

WEIGHTINGS = ("none", "one_minus_cost", "sign", "sign_cost")


class CSP(OutOfSample, SpectralClusterer):
    """Flexible constrained spectral clustering (Wang, Qian & Davidson, 2014).

    Among the cuts that satisfy the constraints to at least β, those of least normalised cut. Constraints are
    beliefs: any real number per pair, hard or soft, consistent or not. The generalised eigenproblem of eq. 13
    is solved exactly in near-linear time; how many feasible cuts there are is known beforehand.

    Parameters
    ----------
    n_clusters : int, default=8
        K. Two clusters are the sign of the best cut (algorithm 1); for more, the K - 1 best cuts are an
        embedding that is clustered (algorithm 2).
    beta : number or rule, default="usual"
        How far the constraints must be satisfied, uᵀQu > β. A number; "usual", β = λ vol (0.1 + 1.5 s) with
        the share s = √nnz(Q) / N of labelled points, at most 0.9 λ vol; "eq19", β = λ vol (0.5 + 0.4 nnz(Q) /
        N²); "one", as large as leaves one feasible cut (section 7.3); ("fraction", f), β = f λ vol. λ is
        λ_{K-1}(Q̄), the largest that leaves K - 1 cuts.
    normalization : {"target", "source"}, default="target"
        Q̄ is Q scaled by the degrees of the graph, or by its own (transfer from a source graph, section 6.3).
    weighting : {"none", "one_minus_cost", "sign", "sign_cost"}, default="none"
        How cuts are weighed before they are clustered: not at all; by 1 - cost, as the authors' code does;
        only their signs (eq. 15); their signs over their costs (eq. 16 amended; as printed it equals eq. 15).
    tol : float, default=1e-6
        Relative residual of the eigenvectors.
    warm_start : bool, default=False
        Use the graph of the previous fit again if the data are the same, and start from its eigenvectors:
        many times cheaper where constraints are added a few at a time, since the graph is the dearest step.
    affinity : str or GraphRecipe, default="knn"
        How data become a graph: "knn", "gaussian", "self_tuning", "heat", "cosine", a recipe, or
        "precomputed".
    n_neighbors : int, default=20
        How many neighbours each point has in the graph of ``affinity="knn"``.
    unit_rows : bool, default=True
        Scale every row of the embedding to length one before k-means. As printed, without, the method can
        collapse on graphs of real data.
    n_init : int, default=10
        How many starts k-means has.
    eigen_solver : {"auto", "dense", "lanczos", "factorized", "iterated"}, default="auto"
        For the unconstrained case only.
    hard : bool, default=False
        Finish with labels that satisfy all must-links and as many cannot-links as possible; `repair_` tells
        what it took.
    n_jobs : int or None, default=None
        How many threads a fit may use. None: all cores that OMP_NUM_THREADS allows, but one in a worker of
        joblib or Dask. -1: all cores.
    random_state : int, RandomState or None, default=None
        An int makes the result reproducible.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of every point.
    embedding_ : array of shape (n_samples, n_clusters - 1)
        What was handed to the labelling.
    eigenvalues_, eigenvectors_ : arrays of shape (n_clusters - 1,) and (n_samples, n_clusters - 1)
        λ and v of the best feasible cuts, vᵀv = vol.
    costs_ : array of shape (n_clusters - 1,)
        vᵀL̄v of the unit vectors.
    indicator_ : array of shape (n_samples,)
        u* = D^{-1/2} v*, the relaxed indicator of the best cut.
    cuts_ : FeasibleCuts
        All feasible cuts: λ, cost, satisfaction; `print(model.cuts_)` is a table.
    n_feasible_ : int
        How many feasible cuts there are.
    beta_ : float
        The β that was used.
    affinity_matrix_ : Graph
        The graph that was cut.
    solution_ : Eigenpairs
        The eigenpairs with their residuals, the solver that ran and its certificate.
    repair_ : Repair
        With `hard`: which labels were changed to satisfy the links, at what cost, and what could not be.
    n_features_in_ : int
        Number of features seen in fit.

    See Also
    --------
    E2CP : Spreads what is known over the graph; strong with pairs.
    SCACS : The same idea over landmarks, for very many points.
    NormalizedCut : The same cut with nothing known.

    References
    ----------
    X. Wang, B. Qian, I. Davidson: On constrained spectral clustering and its applications. Data Mining and
    Knowledge Discovery 28, 2014.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sidecut import CSP
    >>> from sidecut.constraints import sample_labels
    >>> X, y = make_moons(600, noise=0.15, random_state=0)
    >>> known = sample_labels(y, 20, random_state=0)
    >>> model = CSP(n_clusters=2, random_state=0).fit(X, constraints=known)
    >>> known.satisfaction(model.labels_)
    1.0
    >>> model.n_feasible_
    1
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        beta: Rule = "usual",
        normalization: str = "target",
        weighting: str = "none",
        tol: float = 1e-6,
        warm_start: bool = False,
        affinity: str | GraphRecipe = "knn",
        n_neighbors: int = 20,
        unit_rows: bool = True,
        n_init: int = 10,
        eigen_solver: str = "auto",
        hard: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(
            n_clusters,
            affinity=affinity,
            n_neighbors=n_neighbors,
            unit_rows=unit_rows,
            n_init=n_init,
            eigen_solver=eigen_solver,
            hard=hard,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.beta = beta
        self.normalization = normalization
        self.weighting = weighting
        self.tol = tol
        self.warm_start = warm_start

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("normalization", self.normalization, NORMALIZATIONS)
        check_choice("weighting", self.weighting, WEIGHTINGS)
        check_rule(self.beta)
        check_tolerance(self.tol)
        check_flag("warm_start", self.warm_start)

    def _embed(self, graph: Graph, constraints: Constraints, rng: np.random.RandomState) -> FloatArray:
        if constraints.is_empty:
            self._forget_cuts()
            return super()._embed(graph, constraints, rng)
        cuts = feasible_cuts(
            graph,
            constraints,
            self.beta,
            n_clusters=self.n_clusters,
            normalization=self.normalization,
            tol=self.tol,
            start=self._previous(graph.n_nodes),
        )
        best = cuts.first(max(self.n_clusters - 1, 1))
        self._remember_cuts(cuts, best)
        relaxed = NormalizedAffinity(graph).scale[:, None] * best.vectors
        self.indicator_ = relaxed[:, 0].copy()
        return self._embedded(relaxed)

    def _remember_cuts(self, cuts: FeasibleCuts, best: FeasibleCuts) -> None:
        missing = self.n_clusters - 1 - best.costs.size
        if missing > 0:
            warn(
                f"n_clusters={self.n_clusters} would use {self.n_clusters - 1} feasible cuts, but with "
                f"beta={cuts.beta:.4g} there are {cuts.n_feasible}; the embedding has fewer columns. A "
                "smaller beta, or constraints that tell more clusters apart, give more.",
                ConstraintWarning,
            )
        self.cuts_ = cuts
        self.beta_, self.n_feasible_ = cuts.beta, cuts.n_feasible
        self.costs_ = best.costs
        pairs = Eigenpairs(best.eigenvalues, best.vectors, best.residuals, cuts.solver, _certificate(cuts))
        self._remember(pairs)

    def _forget_cuts(self) -> None:
        """Leave nothing of an earlier fit that had constraints."""
        for name in ("cuts_", "beta_", "n_feasible_", "costs_", "indicator_"):
            self.__dict__.pop(name, None)

    def _extended(self, edges: sp.csr_array) -> FloatArray:
        if not hasattr(self, "cuts_"):
            return super()._extended(edges)
        graph = self.affinity_matrix_
        relaxed = NormalizedAffinity(graph).scale[:, None] * self.eigenvectors_
        rows = weighted_means(edges, relaxed) / (1.0 + self.eigenvalues_ * self.beta_ / graph.volume)
        return self._embedded(rows)

    def _embedded(self, relaxed: FloatArray) -> FloatArray:
        """Return the rows that are labelled, from those of D^{-1/2} V."""
        if self.n_clusters == 2:
            return relaxed
        weighed = weigh_cuts(relaxed, self.costs_, self.weighting)
        # Of a single cut, unit rows would leave nothing but its sign.
        return unit_rows(weighed) if self.unit_rows and weighed.shape[1] > 1 else weighed

    def _previous(self, n_nodes: int) -> FloatArray | None:
        if self.warm_start and hasattr(self, "cuts_") and self.cuts_.vectors.shape[0] == n_nodes:
            return self.cuts_.vectors
        return None

    def _assign_labels(self, embedding: FloatArray, rng: np.random.RandomState) -> IntArray:
        # Algorithm 1 for two clusters: the sign of u*. Without constraints there are two columns instead.
        is_cut = self.n_clusters == 2 and embedding.shape[1] == 1
        method: LabellingMethod = "sign" if is_cut else "kmeans"
        return assign_labels(embedding, self.n_clusters, method=method, n_init=self.n_init, random_state=rng)


def _certificate(cuts: FeasibleCuts) -> Certificate:
    furthest = float(cuts.eigenvalues.max())
    if not cuts.complete:
        detail = f"{cuts.costs.size} of {cuts.n_feasible} feasible cuts were computed, those of smallest λ."
        return Certificate("count", furthest, 1.0, False, detail)
    if not cuts.count_is_exact:
        detail = (
            f"{cuts.n_feasible} feasible cuts were found, as many as Lanczos finds eigenvalues of Q̄ above "
            "beta/vol; for constraints that tie so many points together that count is not proved."
        )
        return Certificate("none", furthest, 1.0, False, detail)
    detail = (
        f"All {cuts.n_feasible} feasible cuts were found: Sylvester's law counts as many positive "
        "eigenvalues, and as many Ritz values are positive with small residuals."
    )
    return Certificate("count", furthest, 0.0, True, detail)


def check_tolerance(tol: float) -> None:
    """Refuse a tolerance that is not a number between 0 and 1.

    Raises
    ------
    ValueError
        Naming the value.
    """
    is_number = isinstance(tol, int | float | np.integer | np.floating) and not isinstance(tol, bool)
    if not is_number or not 0 < tol < 1:
        raise ValueError(f"tol={tol!r} must be a number between 0 and 1, such as 1e-6.")


def weigh_cuts(relaxed: FloatArray, costs: FloatArray, weighting: str) -> FloatArray:
    """Return the relaxed indicators D^{-1/2} V, weighed before they are clustered.

    Parameters
    ----------
    relaxed : array of shape (n, m)
        D^{-1/2} V.
    costs : array of shape (m,)
        vᵀL̄v of the unit vectors.
    weighting : {"none", "one_minus_cost", "sign", "sign_cost"}
        As they are; times 1 - cost; their signs (eq. 15); their signs over their costs (eq. 16 as amended).

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.csp.estimator import weigh_cuts
    >>> weigh_cuts(np.array([[0.3, -2.0]]), np.array([0.5, 0.25]), "sign_cost")
    array([[ 2., -4.]])
    """
    if weighting == "none":
        return relaxed
    if weighting == "one_minus_cost":
        return relaxed * (1.0 - costs)
    if weighting == "sign":
        return np.sign(relaxed)
    if weighting == "sign_cost":
        # A cut along components costs nothing; it would outweigh all others without bound.
        return np.sign(relaxed) / np.maximum(costs, 1e-6)
    raise ValueError(f"weighting={weighting!r}: choose one of {', '.join(WEIGHTINGS)}.")
