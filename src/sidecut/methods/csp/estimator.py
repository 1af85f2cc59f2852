"""CSP, flexible constrained spectral clustering (Wang, Qian & Davidson, 2014), exactly and at scale."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintError, ConstraintWarning, SidecutWarning, SpectralError, warn
from sidecut.graphs import Graph, GraphRecipe
from sidecut.labelling import unit_rows
from sidecut.labelling.labels import what_neighbors_say
from sidecut.methods.base import SpectralClusterer
from sidecut.methods.csp.bound import Rule, parse_rule
from sidecut.methods.csp.cuts import (
    NORMALIZATIONS,
    FeasibleCuts,
    Score,
    enough_cuts,
    feasible_cuts,
    remember_cuts,
)
from sidecut.methods.csp.embedding import WEIGHTINGS, find_split, label_sides, weigh_cuts
from sidecut.methods.csp.trial import CutTrial
from sidecut.methods.extension import OutOfSample, extend_cut, weighted_means
from sidecut.methods.safeguard import GRAPH, Judgement, judge, warn_if_unsure
from sidecut.parameters import check_parameters, check_tolerance

__all__ = ["CSP", "FeasibleCuts", "feasible_cuts", "weigh_cuts"]


#: What is known of a model when its cuts are.
KNOWN_BY_CUTS = (
    "cuts_",
    "beta_",
    "n_feasible_",
    "costs_",
    "indicator_",
    "eigenvalues_",
    "eigenvectors_",
    "solution_",
)
#: What a fit without constraints must not keep of an earlier one.
FITTED_WITH_CONSTRAINTS = (*KNOWN_BY_CUTS, "judgement_", "_completion", "_spectrum", "_labels", "_unasked")


class CSP(OutOfSample, SpectralClusterer):
    """Flexible constrained spectral clustering (Wang, Qian & Davidson, 2014).

    Among the cuts that satisfy the constraints to at least β, those of least normalised cut. Constraints are
    beliefs: any real number per pair, hard or soft, consistent or not. The generalised eigenproblem of eq. 13
    is solved exactly in near-linear time; how many feasible cuts there are is known beforehand.

    Parameters
    ----------
    n_clusters : int, default=8
        K. Two clusters are the sign of the best cut (algorithm 1), or the least normalised cut along it where
        it has one sign only; for more, the K - 1 best cuts are an embedding that is clustered (algorithm 2).
    beta : number or rule, default="usual"
        How far the constraints must be satisfied, uᵀQu > β. A number; "usual", β = λ vol (0.1 + 1.5 s) with
        the share s = √nnz(Q) / N of labelled points, at most 0.9 λ vol; "eq19", β = λ vol (0.5 + 0.4 nnz(Q) /
        N²); "one", as large as leaves one feasible cut (section 7.3); ("fraction", f), β = f λ vol. λ is
        λ_{K-1}(Q̄), the largest that leaves K - 1 cuts.
    safe : bool, default=True
        With ``beta="usual"``, see to it that correct knowledge does no harm, however little there is: where
        there are fewer than K - 1 feasible cuts, unconstrained eigenvectors complete the embedding; and the
        unconstrained cut is kept where it satisfies all that is known, or where part of the knowledge, held
        back, does not show that the constrained one is better. False, or any other `beta`, is the paper's
        algorithm as printed.
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
    verbose : int or bool, default=0
        1: write the stages of the fit and their seconds to standard error, with a bar for long ones on a
        terminal. 2: also the stages within them.
    random_state : int, RandomState or None, default=None
        An int makes the result reproducible.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of every point.
    embedding_ : array of shape (n_samples, n_clusters - 1)
        What was handed to the labelling; that of `NormalizedCut`, with one more column, where the
        unconstrained cut was kept.
    eigenvalues_, eigenvectors_ : arrays of shape (n_clusters - 1,) and (n_samples, n_clusters - 1)
        λ and v of the best feasible cuts, vᵀv = vol.
    costs_ : array of shape (n_clusters - 1,)
        vᵀL̄v of the unit vectors.
    indicator_ : array of shape (n_samples,)
        u* = D^{-1/2} v*, the relaxed indicator of the best cut.
    cuts_ : FeasibleCuts
        All feasible cuts, up to K + 4 with the usual β: λ, cost, satisfaction; `print(model.cuts_)` is a
        table.
    n_feasible_ : int
        How many feasible cuts there are; a lower bound where more than 1,000 points are constrained and only
        some of the cuts are computed.
    beta_ : float
        The β that was used.
    judgement_ : Judgement
        With `safe`: whether the constrained cut or that of the graph was kept, and why. Where the cut of the
        graph was kept without a look at others, these are found when one of their attributes is asked for.
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
        safe: bool = True,
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
        verbose: int = 0,
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
            verbose=verbose,
            random_state=random_state,
        )
        self.beta = beta
        self.safe = safe
        self.normalization = normalization
        self.weighting = weighting
        self.tol = tol
        self.warm_start = warm_start

    def _check_parameters(self) -> None:
        super()._check_parameters()
        choices = {"normalization": NORMALIZATIONS, "weighting": WEIGHTINGS}
        check_parameters(self, choices=choices, flags=("safe", "warm_start"))
        parse_rule(self.beta)
        check_tolerance(self.tol)

    def _embed(self, graph: Graph, constraints: Constraints, rng: np.random.RandomState) -> FloatArray:
        start = self._previous(graph.n_nodes)
        self._forget(*FITTED_WITH_CONSTRAINTS)
        if constraints.is_empty:
            return super()._embed(graph, constraints, rng)
        if self._is_guarded():
            return self._embed_safely(graph, constraints, rng, start)
        self._remember_cuts(self.find_cuts(graph, constraints, start))
        missing = self.n_clusters - 1 - self.costs_.size
        if missing > 0:
            warn(
                f"n_clusters={self.n_clusters} would use {self.n_clusters - 1} feasible cuts, but with "
                f"beta={self.beta_:.4g} there are {self.n_feasible_}; the embedding has fewer columns. "
                "beta='usual' with safe=True completes it; a smaller beta, or constraints that tell more "
                "clusters apart, give more cuts.",
                ConstraintWarning,
            )
        return self.embed_cuts(graph.scale[:, None] * self.eigenvectors_, self.costs_)

    def _is_guarded(self) -> bool:
        is_usual = isinstance(self.beta, str) and self.beta == "usual"
        # A source graph says something about every point, and one cluster leaves no choice.
        return self.safe and is_usual and self.normalization == "target" and self.n_clusters > 1

    def find_cuts(
        self,
        graph: Graph,
        constraints: Constraints,
        start: FloatArray | None = None,
        smooth: Callable[[], FloatArray] | None = None,
        score: Score | None = None,
        tol: float | None = None,
    ) -> FeasibleCuts:
        """Return the feasible cuts of a graph with these settings, see `feasible_cuts`."""
        return feasible_cuts(
            graph,
            constraints,
            self.beta,
            n_clusters=self.n_clusters,
            normalization=self.normalization,
            tol=self.tol if tol is None else tol,
            start=start,
            max_cuts=enough_cuts(self.beta, self.n_clusters),
            smooth=smooth,
            score=score,
        )

    def embed_cuts(self, relaxed: FloatArray, costs: FloatArray) -> FloatArray:
        """Return the rows that are labelled, from those of D^{-1/2} V."""
        if self.n_clusters == 2:
            return relaxed
        weighed = weigh_cuts(relaxed, costs, self.weighting)
        # Of a single cut, unit rows would leave nothing but its sign.
        return unit_rows(weighed) if self.unit_rows and weighed.shape[1] > 1 else weighed

    def _embed_safely(
        self, graph: Graph, constraints: Constraints, rng: np.random.RandomState, start: FloatArray | None
    ) -> FloatArray:
        trial = CutTrial(self, graph, constraints, rng)
        settled = trial.settle_by_graph()
        if settled is not None:
            self.judgement_, self._unasked = settled, (constraints, start)
            return self._keep_graph(trial, constraints)
        try:
            cuts = trial.find_cuts(start)
        except (ConstraintError, SpectralError) as error:
            reason = (
                "There is nothing to satisfy" if isinstance(error, ConstraintError) else "No cut was found"
            )
            self.judgement_ = Judgement(GRAPH, f"{reason}. {error}", is_sure=False)
        else:
            self._remember_cuts(cuts)
            rows, completion = trial.embed(cuts)
            answers = trial.label(rows, constraints)
            with warnings.catch_warnings(action="ignore", category=SidecutWarning):
                self.judgement_ = judge(
                    constraints,
                    self.n_clusters,
                    answers,
                    lambda: trial.graph_labels,
                    lambda told: trial.refit(told, cuts.vectors),
                    lambda labels: what_neighbors_say(graph, labels, self.n_clusters),
                    trial.is_doubtful,
                )
        if self.judgement_.choice == GRAPH:
            return self._keep_graph(trial, constraints)
        self._labels, self._completion = answers[self.judgement_.choice], completion
        if completion is not None:
            self._spectrum = trial.spectrum
        return rows

    def _keep_graph(self, trial: CutTrial, constraints: Constraints) -> FloatArray:
        warn_if_unsure(self.judgement_, constraints, trial.graph_labels)
        self._labels, self._spectrum = trial.graph_labels, trial.spectrum
        return trial.graph_rows

    def __getattr__(self, name: str) -> Any:
        # Cuts that the answer did not need take longer than the answer: they wait until someone asks.
        unasked = self.__dict__.get("_unasked")
        if name in KNOWN_BY_CUTS and unasked is not None:
            del self._unasked
            constraints, start = unasked
            try:
                self._remember_cuts(self.find_cuts(self.affinity_matrix_, constraints, start))
            except (ConstraintError, SpectralError) as error:
                raise AttributeError(f"There are no feasible cuts, so there is no {name}. {error}") from error
            return self.__dict__[name]
        # Once more in the usual way, so that the error is the usual one: a property may have raised it.
        return object.__getattribute__(self, name)

    def _remember_cuts(self, cuts: FeasibleCuts) -> None:
        best = remember_cuts(self, cuts)
        self.indicator_ = self.affinity_matrix_.scale * best.vectors[:, 0]

    def _vectors_kept(self) -> FloatArray:
        return self._spectrum.vectors if self._keeps_graph else self.eigenvectors_

    @property
    def _keeps_graph(self) -> bool:
        return hasattr(self, "judgement_") and self.judgement_.choice == GRAPH

    def _extended(self, edges: sp.csr_array) -> FloatArray:
        graph, scale = self.affinity_matrix_, self.affinity_matrix_.scale[:, None]
        if self._keeps_graph:
            rows = extend_cut(edges, scale * self._spectrum.vectors, self._spectrum.values)
            return unit_rows(rows) if self.unit_rows else rows
        if "cuts_" not in vars(self):
            return super()._extended(edges)
        rows = weighted_means(edges, scale * self.eigenvectors_)
        rows /= 1.0 + self.eigenvalues_ * self.beta_ / graph.volume
        completion, costs = getattr(self, "_completion", None), self.costs_
        if completion is not None:
            others = np.sqrt(graph.volume) * scale * self._spectrum.vectors[:, 1:]
            extended = extend_cut(edges, others, self._spectrum.values[1:])
            rows = np.hstack([rows, completion.columns(extended, rows)])
            costs = np.concatenate([costs, completion.costs])
        return self.embed_cuts(rows, costs)

    def _previous(self, n_nodes: int) -> FloatArray | None:
        if self.warm_start and "cuts_" in vars(self) and self.cuts_.vectors.shape[0] == n_nodes:
            return self.cuts_.vectors
        return None

    def _assign_labels(self, embedding: FloatArray, rng: np.random.RandomState) -> IntArray:
        # Found already where several answers were compared.
        if hasattr(self, "_labels"):
            return self.__dict__.pop("_labels")
        # Algorithm 1 for two clusters: the sides of u*. Without constraints there are two columns instead.
        if self.n_clusters == 2 and embedding.shape[1] == 1:
            return label_sides(self.affinity_matrix_, embedding)
        return super()._assign_labels(embedding, rng)

    def _labels_of_rows(self, rows: FloatArray) -> IntArray:
        if self.n_clusters == 2 and self.embedding_.shape[1] == 1:
            return (rows[:, 0] > find_split(self.affinity_matrix_, self.embedding_[:, 0])).astype(np.intp)
        return super()._labels_of_rows(rows)
