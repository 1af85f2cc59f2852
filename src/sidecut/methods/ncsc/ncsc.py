"""NCSC, nonnegative constrained spectral clustering: both kinds of link as penalties on indicators."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from sidecut.checks import FloatArray, IntArray, Rule, check_count, check_flag, check_tolerance, one_of
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintError, ConvergenceWarning, warn
from sidecut.graphs import Graph, warn_about_graph
from sidecut.labelling import assign_labels, unit_rows
from sidecut.methods.base import SpectralClusterer, TakesConstraints, documented
from sidecut.methods.cut import cut
from sidecut.methods.ncsc.descents import (
    descend_by_exchange,
    descend_multiplicatively,
    descend_projected,
    indicators_without_overlap,
)
from sidecut.methods.ncsc.lcsc import join_rows, solve_joined
from sidecut.methods.ncsc.objective import Descent, PenalizedCut
from sidecut.methods.ncsc.starts import (
    SHARES,
    Price,
    TiedGraph,
    best_start,
    check_price,
    check_start,
    choose_gamma_must,
    draw_told_points,
    held_out_share,
    mean_degree,
    start_indicators,
)
from sidecut.methods.task import Answer, Task
from sidecut.progress import stage
from sidecut.spectral import Eigenpairs, laplacian_eigenpairs

__all__ = ["NCSC"]


@documented
@dataclass(eq=False, repr=False)
class NCSC(TakesConstraints, SpectralClusterer):
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
    {graph}
    {rows}
    {constraints}
    {all}

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of every point: the largest entry of its row in the embedding.
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
    {results}

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

    _: KW_ONLY
    gamma_must: Price = "auto"
    gamma_cannot: Price = "degree"
    nonnegative: bool = True
    solver: str = "projected"
    init: str | npt.ArrayLike = "seeds"
    overlap: Price = "auto"
    max_iter: int = 1000
    tol: float = 1e-4
    published: ClassVar[dict[str, Any]] = {
        "safe": False,
        "gamma_must": 1e4,
        "gamma_cannot": 1.0,
        "solver": "multiplicative",
        "init": "kmeans",
    }
    rules: ClassVar[dict[str, Rule]] = {
        "gamma_must": partial(check_price, words=("auto",), may_be_infinite=True),
        "gamma_cannot": partial(check_price, words=("degree", "held-out"), may_be_infinite=False),
        "overlap": partial(check_price, words=("auto",), may_be_infinite=False),
        "nonnegative": check_flag,
        "solver": one_of("projected", "exchange", "multiplicative"),
        "init": lambda name, value: isinstance(value, str) and one_of("seeds", "kmeans")(name, value),
        "max_iter": check_count,
        "tol": check_tolerance,
    }

    caution = 0.0

    def _solve(self, task: Task) -> Answer:
        graph, known, rng = task.graph, task.constraints, task.rng()
        warn_about_graph(graph, task.n_clusters)
        if not self.nonnegative:
            return self._solve_with_mixed_signs(task)
        with stage("embedding"):
            gamma_must = choose_gamma_must(self.gamma_must, graph, known, task.n_clusters)
            gamma_cannot = self._choose_gamma_cannot(graph, known, gamma_must, rng)
            problem = PenalizedCut(graph, known, gamma_must, gamma_cannot)
            pairs, rows = None, None
            if isinstance(self.init, str):
                pairs, rows = self._solve_relaxed(problem, rng)
            start = self._start(problem, rows, rng)
            descent = self._descend(problem, start, rng)
        if not descent.converged:
            warn_unconverged(descent, self.solver)
        soft = unit_rows(problem.on_points(with_rows_for_all(problem, descent.soft)))
        labels = assign_labels(soft, task.n_clusters, method="argmax")
        results = {
            "gamma_must_": gamma_must,
            "gamma_cannot_": gamma_cannot,
            "overlap_": descent.overlap,
            "n_iter_": descent.n_iter,
            "start_": problem.on_points(start),
            "objective_trace_": descent.trace,
            "problem": problem,
            "soft": descent.soft,
        }
        if self.solver != "projected":
            results["indicators"] = descent.indicators
        return Answer(labels, soft, graph, pairs, results=results)

    @property
    def indicators_(self) -> FloatArray:
        """Y of eq. 6; computed when it is first asked for, since the clusters do not depend on it."""
        return self._problem().on_points(self._find_indicators())

    @property
    def objective_(self) -> float:
        """Eq. 6 at `indicators_`."""
        return self._problem().objective(self._find_indicators())

    def _problem(self) -> PenalizedCut:
        check_is_fitted(self)
        if "problem" not in self._answer.results:
            raise AttributeError("There are no indicators: with nonnegative=False none are computed.")
        return self._answer.results["problem"]

    def _find_indicators(self) -> FloatArray:
        problem, soft = self._problem(), self._answer.results["soft"]
        return self._answer.once("indicators", lambda: indicators_without_overlap(problem, soft, self.tol))

    def _solve_with_mixed_signs(self, task: Task) -> Answer:
        """Return the minimiser of eq. 6 without Y >= 0, labelled by k-means."""
        graph, known, rng = task.graph, task.constraints, task.rng()
        if known.is_empty:
            return cut(graph, task, self).with_results(n_iter_=1)
        if known.n_cannot_link and self.gamma_cannot != 0:
            raise ConstraintError(
                f"nonnegative=False gives indicators of mixed signs, of which {known.n_cannot_link} "
                "cannot-links say nothing: leave them out with gamma_cannot=0, or keep nonnegative=True."
            )
        gamma_must = choose_gamma_must(self.gamma_must, graph, known, task.n_clusters)
        pairs, rows = self._solve_relaxed(PenalizedCut(graph, known, gamma_must, 0.0), rng)
        labels = assign_labels(rows, task.n_clusters, n_init=self.n_init, random_state=rng)
        results = {"n_iter_": 1, "gamma_must_": gamma_must, "gamma_cannot_": 0.0}
        return Answer(labels, rows, graph, pairs, results=results)

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
