"""LCSC, must-links as a linear subspace (Yu & Shi, 2004), by contraction: exact, sparse and near-linear."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from sidecut.checks import FloatArray, IntArray, Rule, one_of
from sidecut.constraints import Constraints
from sidecut.exceptions import ConflictError, ConstraintError, ConstraintWarning, warn
from sidecut.graphs import DenseGraph, Graph, SparseGraph, warn_about_graph
from sidecut.labelling import assign_labels, unit_rows
from sidecut.methods.base import CutClusterer, TakesConstraints, documented
from sidecut.methods.cut import LABELLINGS, cut
from sidecut.methods.task import Answer, Task
from sidecut.running import stage
from sidecut.spectral import Eigenpairs, laplacian_eigenpairs
from sidecut.spectral.laplacian import orient


@documented
@dataclass(eq=False, repr=False)
class LCSC(TakesConstraints, CutClusterer):
    """Linearly constrained spectral clustering (Yu & Shi, 2004): must-links hold exactly, UᵀY = 0.

    Points joined by must-links have equal indicators, so each set of them is one node: the normalised cut of
    the contracted graph CᵀWC is the constrained normalised cut of the points, with Y = CŶ. Nothing is
    projected, and cycles of must-links, which make UᵀD⁻¹U singular, do no harm. Every must-link is hard,
    however weak its strength.

    Parameters
    ----------
    {n_clusters}
    cannot_links : {"warn", "ignore", "raise"}, default="warn"
        What to do with cannot-links, which the method cannot use: say so, leave them out in silence, or
        refuse them. `NCSC`, `CSP`, `CCSR` and `E2CP` use both kinds.
    {graph}
    {rows}
    {labels}
    {constraints}
    {all}

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The cluster of every point; points joined by must-links always share theirs.
    embedding_ : array of shape (n_samples, n_clusters)
        What was handed to the labelling; equal rows for points joined by must-links.
    eigenvalues_, eigenvectors_ : arrays of shape (n_clusters,) and (n_samples, n_clusters)
        Of the normalised Laplacian on the subspace UᵀD^{-1/2}V = 0, smallest first.
    {cut_graph}
    {results}

    See Also
    --------
    NCSC : Cannot-links too, as penalties.

    References
    ----------
    S. X. Yu, J. Shi: Segmentation given partial grouping constraints. IEEE Transactions on Pattern Analysis
    and Machine Intelligence 26, 2004.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sidecut import LCSC, Constraints
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> links = Constraints.from_pairs(200, must_link=[(i, i + 50) for i in range(50) if y[i] == y[i + 50]])
    >>> model = LCSC(n_clusters=2, random_state=0).fit(X, constraints=links)
    >>> links.satisfaction(model.labels_)
    1.0
    """

    _: KW_ONLY
    cannot_links: str = "warn"
    rules: ClassVar[dict[str, Rule]] = {"cannot_links": one_of("warn", "ignore", "raise")}
    caution = 0.0

    def _solve(self, task: Task) -> Answer:
        graph, known = task.graph, task.constraints
        if known.is_empty:
            return cut(graph, task, self)
        if self.cannot_links != "ignore":
            refuse_cannot_links(known, self.cannot_links)
        warn_about_graph(graph, task.n_clusters)
        rng, sets = task.rng(), known.must_link_components()
        with stage("embedding"):
            pairs = solve_joined(
                graph,
                sets,
                task.n_clusters,
                solver=self.eigen_solver,
                accuracy=task.accuracy,
                random_state=rng,
            )
            relaxed = join_rows(graph, sets, pairs.vectors)
            rows = unit_rows(relaxed) if self.unit_rows else relaxed
        with stage("labels"):
            method = LABELLINGS[self.assign_labels]
            labels = assign_labels(rows, task.n_clusters, method=method, n_init=self.n_init, random_state=rng)
        return Answer(labels, rows, graph, pairs)

    def _finish(self, task: Task, answer: Answer) -> Answer:
        """Must-links hold, whichever answer the guard kept."""
        labels = join_labels(answer.labels, task.constraints.must_link_components())
        return super()._finish(task, replace(answer, labels=labels))


def join_labels(labels: IntArray, sets: IntArray) -> IntArray:
    """Return labels with every set of points in the cluster most of it is in."""
    votes = np.zeros((int(sets.max()) + 1, int(labels.max()) + 1))
    np.add.at(votes, (sets, labels), 1.0)
    return votes.argmax(axis=1)[sets]


def solve_joined(
    graph: Graph,
    sets: IntArray,
    n_vectors: int,
    *,
    solver: str = "auto",
    accuracy: str = "certified",
    random_state: int | np.random.RandomState | None = None,
    joined: Graph | None = None,
) -> Eigenpairs:
    """Return the smallest eigenpairs of the normalised Laplacian among vectors constant on sets of points.

    With C the membership of the points, minimising tr(YᵀLY) subject to YᵀDY = I and Y = CŶ is minimising
    tr(ŶᵀCᵀLCŶ) subject to ŶᵀCᵀDCŶ = I: the normalised cut of the contracted graph, whose degrees are CᵀDC.
    Its certificate is therefore theirs.
    """
    small = contract_graph(graph, sets) if joined is None else joined
    if small.n_nodes < n_vectors:
        warn(
            f"must-links join the {graph.n_nodes} points into {small.n_nodes} sets, fewer than the "
            f"{n_vectors} clusters asked for: at most {small.n_nodes} clusters can differ. Ask for "
            "fewer clusters, or give fewer must-links.",
            ConstraintWarning,
        )
    pairs = laplacian_eigenpairs(
        small, min(n_vectors, small.n_nodes), solver=solver, accuracy=accuracy, random_state=random_state
    )
    if small is graph:
        return pairs
    roots = np.sqrt(graph.degrees)
    lifted = roots[:, None] * (small.scale[:, None] * pairs.vectors)[sets]
    return replace(pairs, vectors=orient(lifted))


def join_rows(graph: Graph, sets: IntArray, vectors: FloatArray) -> FloatArray:
    """Return Y = D^{-1/2} V, in which the points of a set have equal rows."""
    # A point without neighbours has no row of its own: D^{1/2} Y is zero there. It takes the row of its set.
    relaxed = graph.scale[:, None] * vectors
    with_row = np.flatnonzero(graph.degrees > 0)
    representative = np.full(int(np.max(sets)) + 1, -1)
    representative[sets[with_row]] = with_row
    chosen = representative[sets]
    # All points have the row of one of them: rows equal to the last bit have one label.
    return np.where((chosen >= 0)[:, None], relaxed[chosen], 0.0)


def refuse_cannot_links(constraints: Constraints, how: str) -> None:
    """Warn about cannot-links that are not used, or refuse them."""
    n_apart = constraints.n_cannot_link
    if n_apart == 0:
        return
    if conflicts := constraints.conflicts(max_chains=1):
        raise ConflictError(
            f"{conflicts[0]}, and LCSC keeps every must-link. Call without_conflicts() first, leave the "
            "cannot-links out with cannot_links='ignore', or use NCSC or CSP, which weigh links.",
            conflicts,
        )
    message = (
        f"LCSC cannot use cannot-links, and {n_apart} are given: only the {constraints.n_must_link} "
        "must-links count. NCSC, CSP, CCSR and E2CP use both; cannot_links='ignore' leaves them out."
    )
    if how == "raise":
        raise ConstraintError(message)
    warn(message, ConstraintWarning)


class ContractedGraph(Graph):
    """The graph CᵀWC of sets of points, where W is only ever applied; C has one column of ones per set.

    The degree of a set is the sum of the degrees of its points, and the weights inside it are a self-loop, so
    that the normalised cut of the sets is the normalised cut of the points that keeps every set whole.
    """

    def __init__(self, graph: Graph, sets: IntArray) -> None:
        self.graph = graph
        self.membership = membership(sets)
        self.n_nodes = int(self.membership.shape[1])

    def apply(self, block: FloatArray) -> FloatArray:
        """Return CᵀWC @ block."""
        return np.asarray(self.membership.T @ self.graph.apply(self.membership @ block))


def membership(sets: IntArray) -> sp.csr_array:
    """Return C: one row per point, with a one in the column of its set."""
    n_points = len(sets)
    shape = (n_points, int(np.max(sets)) + 1)
    return sp.csr_array((np.ones(n_points), sets, np.arange(n_points + 1)), shape=shape)


def contract_graph(graph: Graph, sets: IntArray) -> Graph:
    """Return the graph of sets of points, in the form the graph of the points has."""
    if np.array_equal(sets, np.arange(graph.n_nodes)):
        return graph
    weights = graph.matrix
    if weights is None:
        return ContractedGraph(graph, sets)
    C = membership(sets)
    if sp.issparse(weights):
        return SparseGraph(_symmetric(C.T @ weights @ C))
    return DenseGraph(_symmetric(C.T @ (C.T @ weights).T))


def _symmetric(weights: sp.csr_array | FloatArray) -> sp.csr_array | FloatArray:
    """Mirrored sums are added up in different orders; a graph is symmetric to the last bit."""
    return 0.5 * (weights + weights.T)
