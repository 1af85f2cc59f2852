"""NCSC, nonnegative constrained spectral clustering: both kinds of link as penalties on indicators."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintError, ConvergenceWarning, warn
from sidecut.graphs import Graph, GraphRecipe
from sidecut.labelling import assign_labels, unit_rows
from sidecut.methods.base import SpectralClusterer
from sidecut.methods.ncsc.exchange import descend_by_exchange
from sidecut.methods.ncsc.lcsc import join_rows, solve_joined
from sidecut.methods.ncsc.multiplicative import descend_multiplicatively
from sidecut.methods.ncsc.objective import Descent, PenalizedCut
from sidecut.methods.ncsc.penalties import (
    SHARES,
    Price,
    check_price,
    choose_gamma_must,
    draw_told_points,
    held_out_share,
    mean_degree,
)
from sidecut.methods.ncsc.projected import descend_projected, indicators_without_overlap
from sidecut.methods.ncsc.starts import TiedGraph, best_start, check_start, start_indicators
from sidecut.methods.safeguard import Safeguarded
from sidecut.parameters import check_parameters, check_tolerance
from sidecut.spectral import Eigenpairs, laplacian_eigenpairs

__all__ = ["NCSC"]

DESCENTS = ("projected", "exchange", "multiplicative")
STARTS = ("seeds", "kmeans")
RESULTS = (
    "solution_",
    "eigenvalues_",
    "eigenvectors_",
    "start_",
    "_told",
    "_soft",
    "_indicators",
    "objective_trace_",
    "n_iter_",
    "gamma_must_",
    "gamma_cannot_",
    "overlap_",
)


class NCSC(Safeguarded, SpectralClusterer):
    """Nonnegative constrained spectral clustering: must-links and cannot-links as penalties (eq. 6).

    Minimises tr(YᵀLY) + γ_m tr(Yᵀ(Dᵐ - Qᵐ)Y) + γ_c tr(YᵀQᶜY) subject to YᵀDY = I and Y >= 0. Where Y is not
    negative, two points that share no cluster have orthogonal rows, so that a cannot-link is a penalty like
    any other; and the largest entry of a row is the cluster of its point.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters.
    gamma_must : "auto" or number, default="auto"
        γ_m. Infinite: points joined by must-links are one node, the limit of Proposition 1, exactly. "auto"
        is infinite where must-links are all equally strong, contradict nothing and leave as many sets of
        points as clusters, else the mean degree.
    gamma_cannot : "degree", "held-out" or number, default="degree"
        γ_c. "degree" is the mean degree: a violated pair costs a point as much as being cut from all its
        neighbours. "held-out" tries several and keeps the one that satisfies most links it was not told.
    nonnegative : bool, default=True
        Without, eigenvectors are clustered by k-means: with γ_m → ∞ that is `LCSC`, without links the
        normalised cut. Cannot-links mean nothing then, and ask for ``gamma_cannot=0``.
    solver : {"projected", "exchange", "multiplicative"}, default="projected"
        Projected steps with momentum and a price on overlap; or moves of points between clusters, from the
        start and from where the projected steps end, as long as eq. 6 falls; or the updates of eq. 11 as
        printed. "exchange" ends lowest, "projected" with the better clusters.
    init : {"seeds", "kmeans"} or array of shape (n_samples, n_clusters), default="seeds"
        The start: k-means on the eigenvectors without nonnegativity; or, if that satisfies more links, the
        same with centres at points that cannot-links hold apart; or Y itself, such as `start_` of another
        fit, which saves the eigenvectors.
    overlap : "auto" or number, default="auto"
        The projected solver's price α of points in two clusters at once; "auto" is half the mean normalised
        cut of the clusters at the start.
    max_iter : int, default=1000
        The largest number of iterations.
    tol : float, default=1e-4
        Stop when a projected step or an exchange gains less than this share of the objective, or when ten
        projected steps move no more than a thousandth of more than 2,000 nodes to other clusters; or when a
        multiplicative update changes Y by less than this share of d_min/σ, the size of its steps.
    affinity : str or GraphRecipe, default="knn"
        How data become a graph: "knn", "gaussian", "self_tuning", "heat", "cosine", a recipe, or
        "precomputed".
    n_neighbors : int, default=20
        How many neighbours each point has in the graph of ``affinity="knn"``.
    unit_rows : bool, default=True
        Scale every row of the eigenvectors to length one before k-means.
    n_init : int, default=10
        How many starts k-means has.
    eigen_solver : {"auto", "dense", "lanczos", "factorized", "iterated"}, default="auto"
        For the eigenvectors of the start.
    hard : bool, default=False
        Finish with labels that satisfy all must-links and as many cannot-links as possible; `repair_` tells
        what it took.
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
        An int makes the result reproducible.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of every point: the largest entry of its row in the embedding.
    judgement_ : Judgement
        With `safe`, where little is known: which answer was kept, and why.
    indicators_ : array of shape (n_samples, n_clusters)
        Y, with YᵀDY = I to rounding; of the multiplicative solver, nearly.
    start_ : array of shape (n_samples, n_clusters)
        Y at the start.
    embedding_ : array of shape (n_samples, n_clusters)
        The rows the labels are read from, of length one: those of Y, or of the projected solver those at the
        price α, before overlap was forbidden.
    objective_ : float
        Eq. 6 at `indicators_`.
    objective_trace_ : array of shape (n_iter_ + 1,)
        Eq. 6 on the way, of the projected solver with the price of overlap: of that and of "exchange" it
        never grows.
    n_iter_ : int
        How many iterations ran; 1 without nonnegativity, where there is one eigenproblem to solve.
    gamma_must_, gamma_cannot_, overlap_ : float
        The prices that were used.
    eigenvalues_, eigenvectors_ : arrays of shape (n_clusters,) and (n_samples, n_clusters)
        Of the start: of the pencil (L + γ_m (Dᵐ - Qᵐ), D), smallest first; not where `init` is Y itself.
    affinity_matrix_ : Graph
        The graph that was cut.
    solution_ : Eigenpairs
        The eigenpairs of the start with their residuals, the solver that ran and its certificate. On large
        graphs they are rough and not certified: a start need not be.
    repair_ : Repair
        With `hard`: which labels were changed to satisfy the links, at what cost, and what could not be.
    n_features_in_ : int
        Number of features seen in fit.

    See Also
    --------
    LCSC : Must-links only, all of them kept.
    CCSR : Bends the eigenvectors instead of the indicators.

    References
    ----------
    H. Hu, J. Zhou, J. Feng, J. Zhou: Multi-way constrained spectral clustering by nonnegative restriction.
    ICPR 2012.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sidecut import NCSC
    >>> from sidecut.constraints import sample_pairs
    >>> X, y = load_iris(return_X_y=True)
    >>> known = sample_pairs(y, 300, random_state=0)
    >>> model = NCSC(n_clusters=3, random_state=0).fit(X, constraints=known)
    >>> known.satisfaction(model.labels_)
    1.0
    >>> bool((model.indicators_ >= 0).all())
    True
    """

    #: Two facts do good more often than harm: benchmarks/choices/caution.py.
    _fewest_facts = 2

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        gamma_must: Price = "auto",
        gamma_cannot: Price = "degree",
        nonnegative: bool = True,
        solver: str = "projected",
        init: str | npt.ArrayLike = "seeds",
        overlap: Price = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        affinity: str | GraphRecipe = "knn",
        n_neighbors: int = 20,
        unit_rows: bool = True,
        n_init: int = 10,
        eigen_solver: str = "auto",
        hard: bool = False,
        safe: bool = True,
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
        self.safe = safe
        self.gamma_must = gamma_must
        self.gamma_cannot = gamma_cannot
        self.nonnegative = nonnegative
        self.solver = solver
        self.init = init
        self.overlap = overlap
        self.max_iter = max_iter
        self.tol = tol

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_price("gamma_must", self.gamma_must, ("auto",), may_be_infinite=True)
        check_price("gamma_cannot", self.gamma_cannot, ("degree", "held-out"), may_be_infinite=False)
        check_price("overlap", self.overlap, ("auto",), may_be_infinite=False)
        choices = {"solver": DESCENTS} | ({"init": STARTS} if isinstance(self.init, str) else {})
        check_parameters(self, choices=choices, flags=("nonnegative",), counts=("max_iter",))
        check_tolerance(self.tol)

    def _embed(self, graph: Graph, constraints: Constraints, rng: np.random.RandomState) -> FloatArray:
        for name in RESULTS:
            # Leave nothing of an earlier fit with other settings.
            self.__dict__.pop(name, None)
        if not self.nonnegative:
            return self._embed_with_mixed_signs(graph, constraints, rng)
        gamma_must = choose_gamma_must(self.gamma_must, graph, constraints, self.n_clusters)
        gamma_cannot = self._choose_gamma_cannot(graph, constraints, gamma_must, rng)
        cut = PenalizedCut(graph, constraints, gamma_must, gamma_cannot)
        rows = None
        if isinstance(self.init, str):
            pairs, rows = self._solve_relaxed(cut, rng)
            self._remember(pairs)
        start = self._start(cut, rows, rng)
        descent = self._descend(cut, start, rng)
        if not descent.converged:
            warn_unconverged(descent, self.solver)
        self.gamma_must_, self.gamma_cannot_ = gamma_must, gamma_cannot
        self.overlap_, self.n_iter_ = descent.overlap, descent.n_iter
        self.start_, self.objective_trace_ = cut.on_points(start), descent.trace
        self._told, self._soft = constraints, descent.soft
        if self.solver != "projected":
            self._indicators = descent.indicators
        return unit_rows(cut.on_points(with_rows_for_all(cut, descent.soft)))

    @property
    def indicators_(self) -> FloatArray:
        """Y of eq. 6; computed when it is first asked for, since the clusters do not depend on it."""
        return self._cut.on_points(self._find_indicators())

    @property
    def objective_(self) -> float:
        """Eq. 6 at `indicators_`."""
        return self._cut.objective(self._find_indicators())

    @property
    def _cut(self) -> PenalizedCut:
        """The problem that was solved."""
        check_is_fitted(self)
        if "_told" not in self.__dict__:
            raise AttributeError("There are no indicators: with nonnegative=False none are computed.")
        return PenalizedCut(self.affinity_matrix_, self._told, self.gamma_must_, self.gamma_cannot_)

    def _find_indicators(self) -> FloatArray:
        if "_indicators" not in self.__dict__:
            self._indicators = indicators_without_overlap(self._cut, self._soft, self.tol)
        return self._indicators

    def _embed_with_mixed_signs(
        self, graph: Graph, constraints: Constraints, rng: np.random.RandomState
    ) -> FloatArray:
        """Return the minimiser of eq. 6 without Y >= 0, as rows for k-means."""
        self.n_iter_ = 1
        if constraints.is_empty:
            return super()._embed(graph, constraints, rng)
        if constraints.n_cannot_link and self.gamma_cannot != 0:
            raise ConstraintError(
                f"nonnegative=False gives indicators of mixed signs, of which {constraints.n_cannot_link} "
                "cannot-links say nothing: leave them out with gamma_cannot=0, or keep nonnegative=True."
            )
        gamma_must = choose_gamma_must(self.gamma_must, graph, constraints, self.n_clusters)
        pairs, rows = self._solve_relaxed(PenalizedCut(graph, constraints, gamma_must, 0.0), rng)
        self._remember(pairs)
        self.gamma_must_, self.gamma_cannot_ = gamma_must, 0.0
        return rows

    def _solve_relaxed(self, cut: PenalizedCut, rng: np.random.RandomState) -> tuple[Eigenpairs, FloatArray]:
        """Return the eigenpairs of (L + γ_m (Dᵐ - Qᵐ), D), and the rows of Y for k-means."""
        graph, k = cut.points_graph, self.n_clusters
        # With nonnegativity they are only a start.
        how: dict[str, Any] = {
            "solver": self.eigen_solver,
            "accuracy": "rough" if self.nonnegative else "certified",
            "random_state": rng,
        }
        if cut.gamma_must:
            pairs = laplacian_eigenpairs(TiedGraph(cut), k, **how)
        else:
            pairs = solve_joined(graph, cut.sets, k, joined=cut.graph, **how)
        rows = join_rows(graph, cut.sets, pairs.vectors)
        return pairs, unit_rows(rows) if self.unit_rows else rows

    def _choose_gamma_cannot(
        self, graph: Graph, constraints: Constraints, gamma_must: float, rng: np.random.RandomState
    ) -> float:
        if not isinstance(self.gamma_cannot, str):
            return float(self.gamma_cannot)
        unit = mean_degree(graph)
        if self.gamma_cannot == "degree" or not constraints.n_cannot_link:
            return unit
        told = draw_told_points(constraints, rng)
        if len(told) < 2:
            return unit
        cut = PenalizedCut(graph, constraints, gamma_must, unit, told)
        # The eigenvectors of the start do not depend on γ_c.
        rows = self._solve_relaxed(cut, rng)[1] if isinstance(self.init, str) else None
        prices = [share * unit for share in SHARES]
        labels = [self._labels_at(cut.with_gamma_cannot(price), rows, rng) for price in prices]
        shares = [held_out_share(constraints, told, found) for found in labels]
        return prices[int(np.argmax(shares))]

    def _labels_at(self, cut: PenalizedCut, rows: FloatArray | None, rng: np.random.RandomState) -> IntArray:
        descent = self._descend(cut, self._start(cut, rows, rng), rng)
        return cut.on_points(with_rows_for_all(cut, descent.soft)).argmax(axis=1)

    def _start(self, cut: PenalizedCut, rows: FloatArray | None, rng: np.random.RandomState) -> FloatArray:
        """Return Y at the start: as given, or made of the rows of eigenvectors."""
        k = self.n_clusters
        if rows is None:
            return cut.on_nodes(check_start(self.init, len(cut.sets), k))
        labels = best_start(cut, rows, k, seeded=self.init == "seeds", n_init=self.n_init, rng=rng)
        # Multiplicative updates never leave a zero; the others do by themselves.
        start = start_indicators if self.solver == "multiplicative" else PenalizedCut.indicators
        return start(cut, labels, k)

    def _descend(self, cut: PenalizedCut, start: FloatArray, rng: np.random.RandomState) -> Descent:
        if self.solver == "multiplicative":
            return descend_multiplicatively(cut, start, tol=self.tol, max_iter=self.max_iter, rng=rng)
        overlap = None if isinstance(self.overlap, str) else float(self.overlap)
        descend = descend_projected if self.solver == "projected" else descend_by_exchange
        return descend(cut, start, overlap=overlap, tol=self.tol, max_iter=self.max_iter)

    def _assign_labels(self, embedding: FloatArray, rng: np.random.RandomState) -> IntArray:
        if not self.nonnegative:
            return super()._assign_labels(embedding, rng)
        return assign_labels(embedding, self.n_clusters, method="argmax")


def with_rows_for_all(cut: PenalizedCut, Y: FloatArray) -> FloatArray:
    """Return Y with a row for nodes that have none: the direction -GY in which it would grow.

    A node without neighbours has no degree and so no row, yet its links may tell where it belongs; and a node
    held apart from all its neighbours can cost too much in every cluster.
    """
    empty = np.flatnonzero(~Y.any(axis=1))
    if not empty.size:
        return Y
    growth = -cut.apply(Y)[empty]
    filled = Y.copy()
    filled[empty] = growth - growth.min(axis=1, keepdims=True)
    return filled


def warn_unconverged(descent: Descent, solver: str) -> None:
    """Say that the iterations ended before the solver did, and what helps."""
    if solver == "exchange":
        advice = "Raise max_iter or tol."
    elif solver == "projected":
        advice = "Raise max_iter or tol; a smaller gamma_must, or an infinite one, makes larger steps."
    else:
        advice = (
            f"Every update moves Y by about d_min/σ = {descent.step_scale:.1e} of its way, so that about "
            f"{1.0 / descent.step_scale:.0e} are needed to leave the start, which the result then mostly is. "
            "Use solver='projected', gamma_must='auto', a smaller gamma_must, or more iterations."
        )
    warn(f"The {solver} solver did not converge in {descent.n_iter} iterations. {advice}", ConvergenceWarning)
