"""NCSC, nonnegative constrained spectral clustering: both kinds of link as penalties on indicators.

The paper starts from what its method gives without nonnegativity, which has mixed signs (section 5). Here
that is taken without γ_c Qᶜ, which would reward mixed signs, and clustered; eq. 2 of the clusters plus an
offset is nonnegative and has no zeros, which no multiplicative update could leave.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist
from sklearn.utils.validation import check_is_fitted

from sidecut.checks import FloatArray, IntArray, Rule, check_count, check_tolerance, is_number, one_of
from sidecut.constraints import Constraints
from sidecut.exceptions import ConflictError, ConvergenceWarning, warn
from sidecut.graphs import Graph, warn_about_graph
from sidecut.graphs.graph import drop_isolated
from sidecut.labelling import assign_labels, kmeans_labels, nearest_centers, unit_rows
from sidecut.labelling.labels import cluster_sums
from sidecut.methods.base import SpectralClusterer, TakesConstraints, documented
from sidecut.methods.ncsc.descents import descend_by_exchange, descend_multiplicatively, descend_projected
from sidecut.methods.ncsc.lcsc import join_rows, solve_joined
from sidecut.methods.ncsc.objective import Descent, NodeLinks, PenalizedCut
from sidecut.methods.task import Answer, Task
from sidecut.running import stage
from sidecut.spectral import Eigenpairs, laplacian_eigenpairs

#: What the price of cannot-links is multiplied by, and how often at most, where links get worse by it.
PRICE_CUT, MOST_CUTS = 0.25, 8
Price = float | str

#: Up to this many must-links are written into the tied graph, even if the graph itself has fewer edges.
MAX_LISTED_LINKS = 100_000


def check_price(name: str, price: Any, words: tuple[str, ...], may_be_infinite: bool) -> None:
    """Refuse a price that is neither one of the rules nor a number that is not negative."""
    if isinstance(price, str) and price in words:
        return
    if not is_number(price) or not price >= 0 or (np.isinf(price) and not may_be_infinite):
        kind = "a number >= 0, infinity included" if may_be_infinite else "a finite number >= 0"
        raise ValueError(f"{name}={price!r}: choose {', '.join(map(repr, words))} or {kind}.")


def mean_degree(graph: Graph) -> float:
    """Return the mean degree of the nodes that have any."""
    # It is the natural unit of both prices: at γ = d, a violated pair costs a point as much as being cut from
    # all its neighbours.
    degrees = graph.degrees
    return float(degrees[degrees > 0].mean())


def choose_gamma_must(price: Price, graph: Graph, constraints: Constraints, n_clusters: int) -> float:
    """Return γ_m: "auto" is infinite for equally strong must-links without conflicts, see `NCSC`."""
    if isinstance(price, str):
        together = constraints.with_diagonal(0.0).must_part()
        equal = 2.0 * together.n_must_link * together.largest_strength()
        is_contracted = np.isclose(together.total(), equal, rtol=1e-9) and not constraints.n_conflicts
        n_sets = int(constraints.must_link_components().max()) + 1
        return np.inf if is_contracted and n_sets >= n_clusters else mean_degree(graph)
    if np.isinf(price) and (conflicts := constraints.conflicts(max_chains=1)):
        raise ConflictError(
            f"{conflicts[0]}, and gamma_must=inf keeps every must-link. Call without_conflicts() first, or "
            "choose a finite gamma_must, which weighs the one against the other.",
            conflicts,
        )
    return float(price)


class TiedGraph(Graph):
    """W + γ_m (Qᵐ - Dᵐ): a graph with the degrees of W whose Laplacian is L + γ_m (Dᵐ - Qᵐ)."""

    # Its loops are negative, so that it is a graph for the spectral core only: there it gives the minimiser
    # of eq. 6 without cannot-links and without nonnegativity.

    def __init__(self, cut: PenalizedCut) -> None:
        self.graph = cut.graph
        self.n_nodes = cut.n_nodes
        self.links = cut.links
        self.sets = cut.tied
        self.gamma_must = cut.gamma_must

    def apply(self, block: FloatArray) -> FloatArray:
        """Return (W + γ_m (Qᵐ - Dᵐ)) @ block."""
        ties = self.links.must_degrees if block.ndim == 1 else self.links.must_degrees[:, None]
        return self.graph.apply(block) + self.gamma_must * (self.links.must(block) - ties * block)

    @cached_property
    def matrix(self) -> sp.csr_array | None:
        """The weights as a sparse matrix, where that takes no more memory than W does."""
        weights: Any = self.graph.matrix
        if not sp.issparse(weights) or 2 * self.links.together.n_must_link > max(
            weights.nnz, MAX_LISTED_LINKS
        ):
            return None
        pull = self.links.must_matrix() - sp.diags_array(self.links.must_degrees)
        return sp.csr_array(weights + self.gamma_must * pull)

    @cached_property
    def degrees(self) -> FloatArray:
        """The degrees of W: must-links pull two points together but give them no volume."""
        return self.graph.degrees

    @cached_property
    def components(self) -> IntArray:
        """The components of W, joined by must-links."""
        found, ties = self.graph.components, self.sets
        known = np.flatnonzero(found >= 0)
        # Components and sets of tied points are the two sides of a bipartite graph.
        n_found, n_sets = self.graph.n_components, int(ties.max()) + 1
        ends = (found[known], n_found + ties[known])
        sides = sp.csr_array((np.ones(known.size), ends), shape=(n_found + n_sets,) * 2)
        labels = np.full(self.n_nodes, -1, dtype=np.intp)
        labels[known] = connected_components(sides, directed=False)[1][found[known]]
        return drop_isolated(labels, self.isolated)


def start_indicators(cut: PenalizedCut, labels: IntArray, n_clusters: int) -> FloatArray:
    """Return eq. 2 for a clustering of the nodes, plus 0.2 times its largest entry."""
    Y = cut.indicators(labels, n_clusters)
    return Y + 0.2 * Y.max()


def best_start(
    cut: PenalizedCut,
    rows: FloatArray,
    n_clusters: int,
    *,
    seeded: bool,
    n_init: int,
    rng: np.random.RandomState,
) -> IntArray:
    """Return a clustering of the nodes: by k-means, or with seeds as centres if that violates fewer links."""
    first = np.unique(cut.sets, return_index=True)[1]
    plain = kmeans_labels(rows, n_clusters, n_init=n_init, random_state=rng)
    seeds = apart_nodes(cut.links, n_clusters) if seeded else []
    if len(seeds) < 2:
        return plain[first]
    # Each seed replaces the centre it is matched with, at the least total distance.
    counts = np.bincount(plain, minlength=n_clusters)
    centres = cluster_sums(rows, plain, n_clusters) / np.maximum(counts, 1)[:, None]
    places = rows[first[seeds]]
    which, where = linear_sum_assignment(cdist(places, centres, "sqeuclidean"))
    centres[where] = places[which]
    candidates = [plain[first], nearest_centers(rows, centres)[first]]
    return min(
        candidates,
        key=lambda labels: (cut.links.violated(labels), cut.objective(cut.indicators(labels, n_clusters))),
    )


def apart_nodes(links: NodeLinks, at_most: int) -> list[int]:
    """Return nodes that are pairwise apart, those with most cannot-links first."""
    weight = links.cannot_degrees
    allowed = weight > 0
    chosen: list[int] = []
    while len(chosen) < at_most and allowed.any():
        chosen.append(int(np.argmax(np.where(allowed, weight, -1.0))))
        unit = np.zeros(links.n_nodes)
        unit[chosen[-1]] = 1.0
        allowed &= links.cannot(unit) > 0
        allowed[chosen[-1]] = False
    return chosen


def check_start(Y0: npt.ArrayLike, n_points: int, n_clusters: int) -> FloatArray:
    """Return indicators to start from as an array, or say why they cannot be."""
    Y = np.asarray(Y0, dtype=np.float64)
    if Y.shape != (n_points, n_clusters):
        raise ValueError(
            f"init has shape {Y.shape}: give a rule, or one row per point and one column per cluster, "
            f"({n_points}, {n_clusters})."
        )
    bad = np.argwhere(~(np.isfinite(Y) & (Y >= 0)))
    if len(bad):
        i, j = bad[0]
        raise ValueError(
            f"init[{i}, {j}] = {Y[i, j]}: indicators to start from must be finite and not negative."
        )
    if not Y.any(axis=0).all():
        empty = int(np.flatnonzero(~Y.any(axis=0))[0])
        raise ValueError(f"column {empty} of init is zero: a cluster without points cannot grow any.")
    return Y


@documented
@dataclass(eq=False, repr=False)
class NCSC(TakesConstraints, SpectralClusterer):
    """Nonnegative constrained spectral clustering: must-links and cannot-links as penalties (eq. 6).

    Minimises tr(YᵀLY) + γ_m tr(Yᵀ(Dᵐ - Qᵐ)Y) + γ_c tr(YᵀQᶜY) subject to YᵀDY = I and Y >= 0. Where Y is not
    negative, two points that share no cluster have orthogonal rows, so that a cannot-link is a penalty like
    any other; and the largest entry of a row is the cluster of its point.

    Parameters
    ----------
    {n_clusters}
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
    """Return Y with a row for nodes that have none: the direction -GY in which it would grow."""
    # A node without neighbours has no degree and so no row, but its links may say where it belongs. A node
    # with cannot-links to all its neighbours can cost too much in every cluster.
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
