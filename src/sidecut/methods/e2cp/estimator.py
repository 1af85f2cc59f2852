"""E2CP, exhaustive and efficient constraint propagation (Lu & Ip, 2010), without an N x N matrix."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from sidecut.checks import FloatArray, Rule, check_flag, one_of, unless
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintWarning, warn
from sidecut.graphs import FactorGraph, Graph, warn_about_graph
from sidecut.graphs.lazy import rows_of, tile_rows
from sidecut.graphs.resolvent import ResolventGraph
from sidecut.labelling import unit_rows
from sidecut.methods.base import CutClusterer, TakesConstraints, documented
from sidecut.methods.cut import LabelExtension, cut, label_vectors
from sidecut.methods.e2cp.adjustment import (
    AdjustedGraph,
    BeliefsAt,
    TiledPart,
    adjust_graph,
    adjust_smoothly,
    beliefs_at,
    extend_rows,
    measure_error,
)
from sidecut.methods.e2cp.propagation import (
    LowRankMatrix,
    PropagatedConstraints,
    are_labels,
    propagate,
    propagate_labels,
)
from sidecut.methods.e2cp.smooth import SmoothBeliefs, label_beliefs, leading_basis, smooth_beliefs
from sidecut.methods.task import Answer, Task
from sidecut.progress import stage
from sidecut.spectral import Eigenpairs, laplacian_eigenpairs

#: Graphs of more nodes than this may be adjusted approximately.
APPROXIMATE_FROM = 2_000
#: Where rows of the graph would differ by more than this share from eq. 4, graphs of up to so many nodes are
#: adjusted exactly; larger ones are warned about. On moons and rings in the plane, where most entries of F
#: are small and of either sign, clusters are those of the exact method up to an error of 0.6.
LARGEST_ERROR = 0.7
EXACT_NODES = 8_000
#: Labels are spread to this residual there, far below what grouping the points changes.
ROUGH = 1e-5
#: Propagated pairs are kept by so many eigenvectors for every cluster, and no fewer than the second number:
#: two rings in the plane are not told apart by ten.
VECTORS_PER_CLUSTER = 2
FEWEST_VECTORS = 20
#: A product with the adjusted graph that costs more multiplications than this takes a minute or more.
DEAR_PRODUCT = 1e12


@documented
@dataclass(eq=False, repr=False)
class E2CP(TakesConstraints, CutClusterer):
    """Exhaustive and efficient constraint propagation (Lu & Ip, 2010).

    What is known about some pairs is propagated along the graph to all pairs, F = P Z P (eq. 3); then every
    weight is raised or lowered by what has arrived (eq. 4), and the graph is cut. Constraints reach the
    neighbours of their ends, so a few move a whole cluster. F has entries everywhere but low rank: it is kept
    as a factor, and the adjusted graph is only applied where it would not fit in memory.

    Parameters
    ----------
    n_clusters : int, default=8
        K, the number of clusters.
    alpha : float, default=0.8
        How far constraints spread, between 0 and 1 (α of eq. 3).
    rescale : bool, default=True
        Divide F by its largest |F_ij| before eq. 4. As printed, without, few constraints spread over many
        points become too faint to matter.
    eigenvectors : {"leading", "nontrivial"}, default="leading"
        The K leading eigenvectors, or as printed the K that follow D̃^{1/2} 1.
    approximate : bool or "auto", default="auto"
        Whether W̃ may be computed approximately on a sparse graph of more than 2,000 points, in time linear in
        the number of points and pairs; "auto" does, False never. F is then kept by a few eigenvectors and its
        entries at the pairs, for labels as it is; and what it adds to W is one number for every two of
        200 groups of points. `approximation_error_` says how much that changes. Where it is more than 0.7,
        "auto" is exact up to 8,000 points, and a warning is given otherwise.
    {graph}
    {rows}
    {labels}
    {constraints}
    {all}

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of every point, numbered in order of first appearance.
    propagated_constraints_ : PropagatedConstraints
        F of eq. 3, exact and not rescaled, computed when it is first asked for; `strongest` lists its
        strongest pairs, `sample` draws constraints that other learners can use.
    approximation_error_ : float
        By how much the rows of W̃ differ from eq. 4, as a share of the degree: measured at 8 random points,
        their mean. 0 where W̃ is exact.
    embedding_ : array of shape (n_samples, n_clusters)
        What was handed to the labelling.
    eigenvalues_, eigenvectors_ : arrays of shape (n_clusters,) and (n_samples, n_clusters)
        Of the normalised Laplacian of the adjusted graph, smallest first.
    affinity_matrix_ : Graph
        W̃ of eq. 4, the graph that was cut.
    solution_ : Eigenpairs
        The eigenpairs with their residuals, the solver that ran and its certificate.
    {results}

    See Also
    --------
    CSP : Cuts that satisfy the constraints; strong with labels.
    CSAP : Links that change the affinity around them.
    NormalizedCut : The same cut with nothing known.

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
        rows = AdjustedExtension(graph, found.beliefs, self.alpha, relaxed, solution.values, self.unit_rows)
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
        propagated = propagate(graph, known, self.alpha)
        beliefs = self._rescale(propagated.matrix)
        changed = adjust_graph(graph, beliefs, unit_weight(graph))
        warn_about_cost(changed)
        return Adjustment(changed, beliefs, 0.0, propagated)

    def _adjust_roughly(self, task: Task) -> Adjustment | None:
        """Return W̃ approximately, or None where it has to be exact."""
        graph, known = task.graph, task.constraints
        n_vectors = max(VECTORS_PER_CLUSTER * task.n_clusters, FEWEST_VECTORS)
        is_large = graph.n_nodes > max(APPROXIMATE_FROM, n_vectors)
        if not (self.approximate and is_large and sp.issparse(graph.matrix)):
            return None
        if are_labels(known):
            beliefs, exact = self._beliefs_of_labels(graph, known)
        else:
            beliefs, exact = self._beliefs_of_pairs(task, n_vectors)
        unit, rng = unit_weight(graph), task.rng()
        changed = adjust_smoothly(graph, beliefs, unit, rng)
        error = measure_error(graph, changed, exact, unit, rng)
        return None if self._is_too_coarse(graph, error) else Adjustment(changed, beliefs, error, None)

    def _is_too_coarse(self, graph: Graph, error: float) -> bool:
        """Return whether the exact graph has to be made; warn where it should be and is not."""
        if error <= LARGEST_ERROR:
            return False
        if self.approximate == "auto" and graph.n_nodes <= EXACT_NODES:
            return True
        warn(
            f"The adjusted graph differs from eq. 4 by {error:.0%} of the degrees: the few "
            "eigenvectors it is made of miss too much. Use approximate=False, or labels in place of pairs.",
            ConstraintWarning,
        )
        return False

    def _rescale(self, beliefs: LowRankMatrix) -> LowRankMatrix:
        largest = beliefs.largest() if self.rescale else 1.0
        return beliefs.scaled(largest) if largest > 0 else beliefs

    def _beliefs_of_labels(self, graph: Graph, known: Constraints) -> tuple[SmoothBeliefs, BeliefsAt]:
        """Return F of labels, whose rank is the number of classes, and its exact columns."""
        agreement = self._rescale(propagate_labels(graph, known, self.alpha, ROUGH))
        return label_beliefs(agreement), lambda points: agreement.block(slice(None), points)

    def _beliefs_of_pairs(self, task: Task, n_vectors: int) -> tuple[SmoothBeliefs, BeliefsAt]:
        """Return F from a few eigenvectors and at the pairs, and its exact columns."""
        graph, known = task.graph, task.constraints
        basis = leading_basis(graph, n_vectors, task.n_clusters, task.rng())
        beliefs = smooth_beliefs(graph, known, self.alpha, basis)
        largest = float(np.abs(beliefs.at_pairs()).max()) if self.rescale else 1.0
        scale = largest if largest > 0 else 1.0
        return beliefs.scaled(scale), lambda points: beliefs_at(graph, known, self.alpha, points) / scale

    def _cut(self, graph: Graph, task: Task) -> Answer:
        if self.eigenvectors == "leading":
            return cut(graph, task, self)
        warn_about_graph(graph, task.n_clusters)
        rng, count = task.rng(), min(task.n_clusters + 1, graph.n_nodes)
        pairs = laplacian_eigenpairs(graph, count, solver=self.eigen_solver, random_state=rng)
        return label_vectors(graph, nontrivial(graph, pairs), task, self, rng)


class Adjustment(NamedTuple):
    """W̃ of eq. 4, F as it was used, by how much W̃ differs from exact, and F where it is exact."""

    graph: Graph
    beliefs: LowRankMatrix | SmoothBeliefs
    error: float
    exact: PropagatedConstraints | None


@dataclass(frozen=True, eq=False)
class AdjustedExtension:
    """The rows of new points: constraints are propagated to them, too."""

    graph: Graph
    beliefs: LowRankMatrix | SmoothBeliefs
    alpha: float
    relaxed: FloatArray
    eigenvalues: FloatArray
    scaled: bool

    def __call__(self, edges: sp.csr_array) -> FloatArray:
        """Return the rows of new points, given their weights to the old ones."""
        unit = unit_weight(self.graph)
        rows = extend_rows(edges, self.graph, self.beliefs, self.alpha, unit, self.relaxed, self.eigenvalues)
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
    return Eigenpairs(
        values=pairs.values[1:],
        vectors=pairs.vectors @ complement,
        residuals=np.abs(complement).T @ pairs.residuals,
        solver=pairs.solver,
        certificate=pairs.certificate,
    )


def check_alpha(alpha: float) -> None:
    """Refuse an α that is not between 0 and 1."""
    is_number = isinstance(alpha, int | float | np.number) and not isinstance(alpha, bool)
    if not is_number or not 0.0 < alpha < 1.0:
        raise ValueError(
            f"alpha={alpha!r} must lie between 0 and 1, both excluded: 0 propagates nothing, 1 without end."
        )


def unit_weight(graph: Graph) -> float:
    """Return the weight a fact has: 1, or the largest weight of the graph where that is more.

    Eq. 4 takes weights in [0, 1]. Where they are larger it would lower the weight of pairs that belong
    together; so it is applied to W divided by its largest weight, which changes no cut.
    """
    if graph.matrix is not None:
        return max(1.0, float(graph.matrix.max()))
    # Other graphs that are only applied or made in tiles, such as heat and codes, have no weight above 1.
    if not isinstance(graph, ResolventGraph | FactorGraph):
        return 1.0
    return max(1.0, *(float(rows_of(graph, rows).max()) for rows in tile_rows(graph.n_nodes)))


def warn_about_cost(graph: Graph) -> None:
    """Warn where every product with an adjusted graph takes so long that a fit takes hours."""
    if not isinstance(graph, AdjustedGraph) or not isinstance(graph.joined, TiledPart):
        return
    cost = graph.joined.product_cost
    if cost > DEAR_PRODUCT:
        warn(
            f"Constraints on {graph.beliefs.rank:,} of {graph.n_nodes:,} points: every product with the "
            f"adjusted graph costs {cost:.0e} multiplications, and eigenvectors need a hundred or more. "
            "Labels in place of pairs, pairs on fewer points, or a sample of the points cost a fraction.",
            ConstraintWarning,
        )
