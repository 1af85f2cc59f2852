"""NCSC, nonnegative constrained spectral clustering: both kinds of link as penalties on indicators."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from sidecut.checks import FloatArray, IntArray, Rule, check_count, check_tolerance, one_of
from sidecut.exceptions import ConvergenceWarning, warn
from sidecut.graphs import warn_about_graph
from sidecut.labelling import assign_labels, unit_rows
from sidecut.methods.base import SpectralClusterer, TakesConstraints, documented
from sidecut.methods.ncsc.descents import descend_by_exchange, descend_multiplicatively, descend_projected
from sidecut.methods.ncsc.lcsc import join_rows, solve_joined
from sidecut.methods.ncsc.objective import Descent, PenalizedCut
from sidecut.methods.ncsc.starts import (
    Price,
    TiedGraph,
    best_start,
    check_price,
    check_start,
    choose_gamma_must,
    mean_degree,
    start_indicators,
)
from sidecut.methods.task import Answer, Task
from sidecut.progress import stage
from sidecut.spectral import Eigenpairs, laplacian_eigenpairs

#: What the price of cannot-links is multiplied by, and how often at most, where links get worse by it.
PRICE_CUT, MOST_CUTS = 0.25, 8


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
    gamma_cannot : "degree" or number, default="degree"
        γ_c. "degree" is the mean degree: a violated pair costs a point as much as being cut from all its
        neighbours. It is quartered, up to eight times, while the clusters violate more links than at the
        start: that happens where links contradict the points in great number.
    solver : {"projected", "exchange", "multiplicative"}, default="projected"
        Projected steps with momentum and a price on overlap; or moves of points between clusters, from the
        start and from where the projected steps end, as long as eq. 6 falls; or the updates of eq. 11 as
        printed. "exchange" ends lowest, "projected" with the better clusters.
    init : {"seeds", "kmeans"} or array of shape (n_samples, n_clusters), default="seeds"
        The start: k-means on the eigenvectors without nonnegativity; or, if that satisfies more links, the
        same with centres at points that cannot-links hold apart; or Y itself, such as `start_` of another
        fit, which saves the eigenvectors.
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
    objective_trace_ : array
        Eq. 6 on the way, of the projected solver with the price of overlap: of that and of "exchange" it
        never grows.
    n_iter_ : int
        The number of iterations.
    gamma_must_, gamma_cannot_ : float
        The prices that were used.
    overlap_ : float
        The projected solver's price α of points in two clusters at once: half the mean normalised cut of the
        clusters at the start, or more.
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
    solver: str = "projected"
    init: str | npt.ArrayLike = "seeds"
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
        "gamma_cannot": partial(check_price, words=("degree",), may_be_infinite=False),
        "solver": one_of("projected", "exchange", "multiplicative"),
        "init": lambda name, value: isinstance(value, str) and one_of("seeds", "kmeans")(name, value),
        "max_iter": check_count,
        "tol": check_tolerance,
    }

    caution = 0.0

    def _solve(self, task: Task) -> Answer:
        graph, known, rng = task.graph, task.constraints, task.rng()
        warn_about_graph(graph, task.n_clusters)
        with stage("embedding"):
            gamma_must = choose_gamma_must(self.gamma_must, graph, known, task.n_clusters)
            price = self.gamma_cannot
            problem = PenalizedCut(
                graph, known, gamma_must, mean_degree(graph) if isinstance(price, str) else float(price)
            )
            pairs, start = self._start(problem, task.n_clusters, rng)
            descent = self._descend(problem, start, rng)
            # Where links contradict the points in great number, eq. 6 is lowest where most points are in no
            # cluster, and their labels keep fewer links than the start did.
            before = problem.links.violated(start.argmax(axis=1))
            for _ in range(MOST_CUTS if isinstance(price, str) else 0):
                if problem.links.violated(node_labels(problem, descent)) <= before:
                    break
                problem.gamma_cannot *= PRICE_CUT
                descent = self._descend(problem, start, rng)
        if not descent.converged:
            warn_unconverged(descent, self.solver)
        soft = unit_rows(problem.on_points(with_rows_for_all(problem, descent.soft)))
        labels = assign_labels(soft, task.n_clusters, method="argmax")
        results = {
            "gamma_must_": gamma_must,
            "gamma_cannot_": problem.gamma_cannot,
            "overlap_": descent.overlap,
            # To find that a start is at rest takes an iteration.
            "n_iter_": max(descent.n_iter, 1),
            "start_": problem.on_points(start),
            "objective_trace_": descent.trace,
            "problem": problem,
            "descent": descent,
        }
        return Answer(labels, soft, graph, pairs, results=results)

    @property
    def indicators_(self) -> FloatArray:
        """Y of eq. 6; computed when it is first asked for, since the clusters do not depend on it."""
        check_is_fitted(self)
        found = self._answer.results
        return self._answer.on_all_points(found["problem"].on_points(found["descent"].indicators))

    @property
    def objective_(self) -> float:
        """Eq. 6 at `indicators_`."""
        check_is_fitted(self)
        return self._answer.results["problem"].objective(self._answer.results["descent"].indicators)

    def _start(
        self, cut: PenalizedCut, k: int, rng: np.random.RandomState
    ) -> tuple[Eigenpairs | None, FloatArray]:
        """Return Y at the start, as given or made of eigenvectors of (L + γ_m (Dᵐ - Qᵐ), D), and these."""
        graph = cut.points_graph
        if not isinstance(self.init, str):
            return None, cut.on_nodes(check_start(self.init, len(cut.sets), k))
        # They are only a start.
        how: dict[str, Any] = {"solver": self.eigen_solver, "accuracy": "rough", "random_state": rng}
        if cut.gamma_must:
            pairs = laplacian_eigenpairs(TiedGraph(cut), k, **how)
        else:
            pairs = solve_joined(graph, cut.sets, k, joined=cut.graph, **how)
        rows = join_rows(graph, cut.sets, pairs.vectors)
        rows = unit_rows(rows) if self.unit_rows else rows
        labels = best_start(cut, rows, k, seeded=self.init == "seeds", n_init=self.n_init, rng=rng)
        # Multiplicative updates never leave a zero; the others do by themselves.
        start = start_indicators if self.solver == "multiplicative" else PenalizedCut.indicators
        return pairs, start(cut, labels, k)

    def _descend(self, cut: PenalizedCut, start: FloatArray, rng: np.random.RandomState) -> Descent:
        if self.solver == "multiplicative":
            return descend_multiplicatively(cut, start, tol=self.tol, max_iter=self.max_iter, rng=rng)
        descend = descend_projected if self.solver == "projected" else descend_by_exchange
        return descend(cut, start, tol=self.tol, max_iter=self.max_iter)


def node_labels(cut: PenalizedCut, descent: Descent) -> IntArray:
    """Return the clusters of the nodes that a solver found."""
    return with_rows_for_all(cut, descent.soft).argmax(axis=1)


def with_rows_for_all(cut: PenalizedCut, Y: FloatArray) -> FloatArray:
    """Return Y with a row for nodes that have none: the direction -GY in which it would grow.

    A node without neighbours has no degree and so no row, but its links may say where it belongs. A node with
    cannot-links to all its neighbours can cost too much in every cluster.
    """
    empty = np.flatnonzero(~Y.any(axis=1))
    if not empty.size:
        return Y
    growth = -cut.apply(Y)[empty]
    filled = Y.copy()
    filled[empty] = growth - growth.min(axis=1, keepdims=True)
    return filled


def warn_unconverged(descent: Descent, solver: str) -> None:
    """Warn that the solver did not converge, and say what helps."""
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
