"""E2CP, exhaustive and efficient constraint propagation (Lu & Ip, 2010), without an N x N matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from sidecut.checks import FloatArray, IntArray, Rule, check_flag, is_number, one_of, unless
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintWarning, warn
from sidecut.graphs import Graph, warn_about_graph
from sidecut.labelling import unit_rows
from sidecut.methods.base import CutClusterer, TakesConstraints, documented
from sidecut.methods.cut import LabelExtension, cut, label_vectors
from sidecut.methods.e2cp.adjustment import (
    N_GROUPS,
    AdjustedGraph,
    TiledPart,
    adjust_graph,
    adjust_smoothly,
    extend_rows,
    max_weight,
    measure_error,
    propagated_columns,
)
from sidecut.methods.e2cp.propagation import (
    LowRankMatrix,
    PropagatedConstraints,
    SmoothMatrix,
    leading_basis,
    propagate,
    propagate_labels,
    propagate_smoothly,
    smooth_labels,
)
from sidecut.methods.task import Answer, Task
from sidecut.running import stage
from sidecut.spectral import Eigenpairs, laplacian_eigenpairs

Columns = Callable[[IntArray], FloatArray]

#: Graphs of more nodes than this may be adjusted approximately.
APPROXIMATE_FROM = 2_000
#: Where rows of the graph differ from eq. 4 by more than this share, graphs of up to MAX_MEASURED_NODES nodes
#: are adjusted exactly, or with FINER times as many eigenvectors and groups. With n pairs on 2,500 points of
#: five development sets, the adjusted Rand index was up to .27 below that of the exact graph at errors of .3
#: to .6, with four times as many up to .04.
MAX_ERROR, MAX_MEASURED_NODES, FINER = 0.1, 8_000, 4
#: For errors above this share a warning is given. On moons and rings in the plane, where most entries of F
#: are small and of either sign, clusters are those of the exact method up to an error of 0.6.
WARN_ERROR = 0.7
#: The exact graph is made in place of an inaccurate one where F has at most this many products: about ten
#: seconds on one core, reached by n pairs on 3,500 points.
MAX_EXACT_PRODUCTS = 4e10
#: A product with the adjusted graph that takes more multiplications than this takes a minute or more.
MAX_MULTIPLICATIONS = 1e12


@documented
@dataclass(eq=False, repr=False)
class E2CP(TakesConstraints, CutClusterer):
    """Exhaustive and efficient constraint propagation (Lu & Ip, 2010).

    Constraints on some pairs are propagated along the graph to all pairs, F = P Z P (eq. 3); then every
    weight is raised or lowered by F (eq. 4), and the graph is cut. Constraints reach the
    neighbours of their ends, so a few move a whole cluster. F has entries everywhere but low rank: it is kept
    as a factor, and the adjusted graph is only applied where it would not fit in memory.

    Parameters
    ----------
    n_clusters : int, default=8
        K, the number of clusters.
    alpha : float, default=0.8
        How far constraints spread, between 0 and 1 (α of eq. 3).
    rescale : bool, default=True
        Divide F by its largest |F_ij| before eq. 4. As printed, without, F of few constraints on many points
        is too small to matter.
    eigenvectors : {"leading", "nontrivial"}, default="leading"
        The K leading eigenvectors, or as printed the K that follow D̃^{1/2} 1.
    approximate : bool or "auto", default="auto"
        Whether W̃ may be computed approximately on a sparse graph of more than 2,000 points, in time linear in
        the number of points and pairs; "auto" does, False never. F is then kept by a few eigenvectors and its
        entries at the pairs, for labels as it is; and what it adds to W is one number for every two of
        200 groups of points. `approximation_error_` says how much that changes. Where it is more than 0.1 on
        up to 8,000 points, "auto" is exact if that takes about ten seconds at most; otherwise there are four
        times as many eigenvectors and groups. A warning is given where it is more than 0.7.
    {graph}
    {rows}
    {labels}
    {constraints}
    {all}

    Attributes
    ----------
    {labels_}
    propagated_constraints_ : PropagatedConstraints
        F of eq. 3, exact and not rescaled, computed when it is first asked for; `strongest` lists its
        strongest pairs, `sample` draws constraints that other learners can use.
    approximation_error_ : float
        By how much the rows of W̃ differ from eq. 4, as a share of the degree: measured at 8 random points,
        their mean. 0 where W̃ is exact.
    {embedding_}
    eigenvalues_, eigenvectors_ : arrays of shape (n_clusters,) and (n_samples, n_clusters)
        Of the normalised Laplacian of the adjusted graph, smallest first.
    affinity_matrix_ : Graph
        W̃ of eq. 4, the graph that was cut.
    {solution_}
    {results}

    See Also
    --------
    CSP : Cuts that satisfy the constraints; strong with labels.
    CSAP : Links that change the affinity around them.
    NormalizedCut : The same cut without constraints.

    References
    ----------
    Z. Lu, H. H. S. Ip: Constrained spectral clustering via exhaustive and efficient constraint propagation.
    ECCV 2010.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sidecut import E2CP
    >>> from sidecut.constraints import sample_labels
    >>> X, y = make_moons(300, noise=0.15, random_state=0)
    >>> known = sample_labels(y, 10, random_state=0)
    >>> model = E2CP(n_clusters=2, random_state=0).fit(X, constraints=known)
    >>> bool((model.labels_ == model.labels_[y.argmin()])[y == 0].mean() > 0.95)
    True
    >>> model.propagated_constraints_
    PropagatedConstraints(n_samples=300, rank=2)
    """

    _: KW_ONLY
    alpha: float = 0.8
    rescale: bool = True
    eigenvectors: str = "leading"
    approximate: bool | str = "auto"
    published: ClassVar[dict[str, Any]] = {
        "safe": False,
        "rescale": False,
        "eigenvectors": "nontrivial",
        "approximate": False,
    }
    rules: ClassVar[dict[str, Rule]] = {
        "alpha": lambda _, value: check_alpha(value),
        "rescale": check_flag,
        "eigenvectors": one_of("leading", "nontrivial"),
        "approximate": unless("auto", check_flag),
    }
    caution = 0.0

    def _solve(self, task: Task) -> Answer:
        graph, known = task.graph, task.constraints
        if known.is_empty:
            return self._cut(graph, task).with_results(approximation_error_=0.0)
        with stage("constraints in the graph"):
            found = self._adjust_roughly(task) or self._adjust(graph, known)
        answer = self._cut(found.graph, task)
        relaxed = found.graph.scale[:, None] * answer.solution.vectors
        solution = answer.solution
        rows = AdjustedExtension(
            graph, found.propagated, self.alpha, relaxed, solution.values, self.unit_rows
        )
        extend = LabelExtension(answer.embedding, answer.labels, rows)
        answer = replace(answer, extend=extend).with_results(approximation_error_=found.error)
        return answer if found.exact is None else answer.with_results(propagated=found.exact)

    @property
    def propagated_constraints_(self) -> PropagatedConstraints:
        """F of eq. 3, exact and not rescaled; computed when it is first asked for."""
        check_is_fitted(self)
        task = self._task
        return self._answer.once("propagated", lambda: propagate(task.graph, task.constraints, self.alpha))

    def _adjust(self, graph: Graph, known: Constraints) -> Adjustment:
        """Return W̃ of eq. 4, exactly."""
        exact = propagate(graph, known, self.alpha)
        propagated = self._rescale(exact.matrix)
        changed = adjust_graph(graph, propagated, max_weight(graph))
        warn_about_cost(changed)
        return Adjustment(changed, propagated, 0.0, exact, propagated.rank)

    def _adjust_roughly(self, task: Task) -> Adjustment | None:
        """Return W̃ approximately, or None where it has to be exact."""
        graph, n_nodes = task.graph, task.graph.n_nodes
        # Two rings in the plane are not separated by ten vectors.
        n_vectors = max(2 * task.n_clusters, 20)
        is_large = n_nodes > max(APPROXIMATE_FROM, n_vectors)
        if not (self.approximate and is_large and graph.is_sparse):
            return None
        found = self._approximate(task, n_vectors, task.n_clusters, N_GROUPS)
        if found.error > MAX_ERROR and n_nodes <= MAX_MEASURED_NODES:
            if self.approximate == "auto" and n_nodes**2 * found.rank <= MAX_EXACT_PRODUCTS:
                return None
            n_vectors = min(FINER * n_vectors, n_nodes - 1)
            found = self._approximate(task, n_vectors, n_vectors, FINER * N_GROUPS)
        if found.error > WARN_ERROR:
            warn(
                f"The adjusted graph differs from eq. 4 by {found.error:.0%} of the degrees: it is made of "
                "too few eigenvectors. Use approximate=False, or labels in place of pairs.",
                ConstraintWarning,
            )
        return found

    def _approximate(self, task: Task, n_vectors: int, n_enough: int, n_groups: int) -> Adjustment:
        """Return W̃ made of groups, and F of some vectors: `n_enough` where a gap follows these."""
        graph, rng, largest = task.graph, task.rng(), max_weight(task.graph)
        if task.constraints.are_labels:
            propagated, exact_columns = self._propagate_labels(task)
            rank = propagated.smooth.rank
        else:
            propagated, exact_columns = self._propagate_pairs(task, n_vectors, n_enough)
            rank = task.constraints.constrained_points.size
        changed = adjust_smoothly(graph, propagated, largest, rng, n_groups)
        error = measure_error(graph, changed, exact_columns, largest, rng)
        return Adjustment(changed, propagated, error, None, rank)

    def _rescale(self, propagated: LowRankMatrix) -> LowRankMatrix:
        largest = propagated.largest() if self.rescale else 1.0
        return propagated.scaled(largest) if largest > 0 else propagated

    def _propagate_labels(self, task: Task) -> tuple[SmoothMatrix, Columns]:
        """Return F of labels, which is smooth as it is, and its exact columns."""
        graph = task.graph
        # The residual is far below the error of grouping the points.
        agreement = self._rescale(propagate_labels(graph, task.constraints, self.alpha, 1e-5))
        smooth = smooth_labels(graph, agreement, np.asarray(task.constraints.labels))
        return smooth, lambda points: agreement.block(slice(None), points)

    def _propagate_pairs(self, task: Task, n_vectors: int, n_enough: int) -> tuple[SmoothMatrix, Columns]:
        """Return F from a few eigenvectors and at the pairs, and its exact columns."""
        graph, known = task.graph, task.constraints
        basis = leading_basis(graph, n_vectors, n_enough, task.rng())
        propagated = propagate_smoothly(graph, known, self.alpha, basis)
        largest = float(np.abs(propagated.at_pairs()).max()) if self.rescale else 1.0
        scale = largest if largest > 0 else 1.0
        exact = partial(propagated_columns, graph, known, self.alpha)
        return propagated.scaled(scale), lambda points: exact(points) / scale

    def _cut(self, graph: Graph, task: Task) -> Answer:
        if self.eigenvectors == "leading":
            return cut(graph, task, self)
        warn_about_graph(graph, task.n_clusters)
        rng, count = task.rng(), min(task.n_clusters + 1, graph.n_nodes)
        pairs = laplacian_eigenpairs(
            graph, count, solver=self.eigen_solver, accuracy=task.accuracy, random_state=rng
        )
        return label_vectors(graph, nontrivial(graph, pairs), task, self, rng)


class Adjustment(NamedTuple):
    """W̃ of eq. 4, F as it was used, the error of W̃, F where it is exact, and its rank."""

    graph: Graph
    propagated: LowRankMatrix | SmoothMatrix
    error: float
    exact: PropagatedConstraints | None
    rank: int


@dataclass(frozen=True, eq=False)
class AdjustedExtension:
    """The rows of new points: constraints are propagated to them, too."""

    graph: Graph
    propagated: LowRankMatrix | SmoothMatrix
    alpha: float
    relaxed: FloatArray
    eigenvalues: FloatArray
    scaled: bool

    def __call__(self, edges: sp.csr_array) -> FloatArray:
        """Return the rows of new points, given their weights to the old ones."""
        largest, graph = max_weight(self.graph), self.graph
        rows = extend_rows(edges, graph, self.propagated, self.alpha, largest, self.relaxed, self.eigenvalues)
        return unit_rows(rows) if self.scaled else rows


def nontrivial(graph: Graph, pairs: Eigenpairs) -> Eigenpairs:
    """Return eigenpairs without the trivial D^{1/2} 1, one fewer.

    In a graph of several components eigenvalue 0 is multiple and no eigenvector is D^{1/2} 1 itself; so it is
    projected out of their span.
    """
    share = pairs.vectors.T @ np.sqrt(graph.degrees)
    # Eigenvectors of other eigenvalues are orthogonal to D^{1/2} 1 but for rounding.
    share[pairs.values > pairs.values[0]] = 0.0
    # The other columns of an orthogonal matrix whose first is along the share span what is left.
    complement = np.linalg.qr(np.column_stack([share, np.eye(share.size)[:, 1:]]))[0][:, 1:]
    return replace(
        pairs,
        values=pairs.values[1:],
        vectors=pairs.vectors @ complement,
        residuals=np.abs(complement).T @ pairs.residuals,
    )


def check_alpha(alpha: float) -> None:
    """Refuse an α that is not between 0 and 1."""
    if not is_number(alpha) or not 0.0 < alpha < 1.0:
        raise ValueError(
            f"alpha={alpha!r} must lie between 0 and 1, both excluded: 0 means no propagation; at 1 the "
            "system is singular."
        )


def warn_about_cost(graph: Graph) -> None:
    """Warn where products with an adjusted graph make a fit take hours."""
    if not isinstance(graph, AdjustedGraph) or not isinstance(graph.joined, TiledPart):
        return
    cost = graph.joined.product_cost
    if cost > MAX_MULTIPLICATIONS:
        warn(
            f"Constraints on {graph.propagated.rank:,} of {graph.n_nodes:,} points: every product with the "
            f"adjusted graph costs {cost:.0e} multiplications, and eigenvectors need a hundred or more. "
            "Labels in place of pairs, pairs on fewer points, or a sample of the points cost a fraction.",
            ConstraintWarning,
        )
