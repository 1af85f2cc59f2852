"""The normalised cut, the reference for all the others, and Spectral Learning, the cut of another graph."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from sidecut.checks import Rule, one_of
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintError
from sidecut.graphs import CorrectedGraph, Graph, SparseGraph, correct_weights
from sidecut.methods.base import CutClusterer, TakesConstraints, documented
from sidecut.methods.cut import cut
from sidecut.methods.e2cp.adjustment import max_weight
from sidecut.methods.task import Answer, Task
from sidecut.running import stage

#: Up to this many pairs are written into the graph; beyond, links within groups are only applied.
MAX_LISTED_PAIRS = 2_000_000


@documented
@dataclass(eq=False, repr=False)
class NormalizedCut(CutClusterer):
    """Spectral clustering by the normalised cut (Shi & Malik, 2000; Ng, Jordan & Weiss, 2002).

    The rows of the leading eigenvectors of D^{-1/2} W D^{-1/2}, scaled to length one, are clustered. It takes
    no constraints, and is what most constrained methods here give without constraints.

    Parameters
    ----------
    {n_clusters}
    {graph}
    {rows}
    {labels}
    {all}

    Attributes
    ----------
    {labels_}
    {embedding_}
    eigenvalues_, eigenvectors_ : arrays of shape (n_clusters,) and (n_samples, n_clusters)
        Of the normalised Laplacian, smallest first, before any weighting.
    {cut_graph}
    {results}

    See Also
    --------
    CSP : The cut under constraints.
    LSC : The same over landmarks, for very many points.

    References
    ----------
    J. Shi, J. Malik: Normalized cuts and image segmentation. IEEE Transactions on Pattern Analysis and
    Machine Intelligence 22, 2000.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sidecut import NormalizedCut
    >>> X, y = make_moons(200, noise=0.05, random_state=0)
    >>> model = NormalizedCut(n_clusters=2, n_neighbors=10, random_state=0).fit(X)
    >>> int(abs(sum(model.labels_ == y) - 100))
    100
    >>> model.solution_.certificate.is_proof
    True
    """

    def _solve(self, task: Task) -> Answer:
        if not task.constraints.is_empty:
            raise ConstraintError(
                "NormalizedCut cannot use constraints; choose a method that can, such as SpectralLearning."
            )
        return cut(task.graph, task, self)


def link_affinity(graph: Graph, constraints: Constraints) -> Graph:
    """Return the affinity A with must-links set to one and cannot-links to zero."""
    # Degrees of belief |Q_ij| < 1 go part of the way: A_ij (1 - |Q_ij|) + max(Q_ij, 0). Strengths are taken
    # relative to the strongest where one exceeds 1. The paper's affinities are at most 1; where those of a
    # graph are larger, must-links get its largest weight. The diagonal of A stays as it is.
    n_pairs = constraints.n_pairs
    if n_pairs == 0:
        return graph
    unit, largest = max(1.0, constraints.largest_strength()), max_weight(graph)
    if n_pairs > MAX_LISTED_PAIRS and sp.issparse(graph.matrix):
        return _with_applied_links(graph, constraints, unit, largest)
    rows, columns = constraints.pairs.T
    # Divided, not multiplied by 1 / unit: 49 * (1 / 49) < 1 would leave an edge of 1e-16 at a cannot-link.
    strengths = constraints.strengths / unit
    change = largest * np.maximum(strengths, 0.0) - np.abs(strengths) * graph.weights_at(rows, columns)
    upper = sp.csr_array((change, (rows, columns)), shape=(graph.n_nodes, graph.n_nodes))
    return correct_weights(graph, sp.csr_array(upper + upper.T))


def even_out_degrees(graph: Graph) -> Graph:
    """Return the graph with self-loops that make all degrees equal, A + d_max I - D."""
    # Its normalised affinity is the additive normalisation (A + d_max I - D) / d_max of Kamvar et al. (2003),
    # which has the eigenvectors of the unnormalised Laplacian D - A. Isolated points get no loop: with one,
    # each would be a component and take a cluster of its own.
    degrees = graph.degrees
    loops = np.where(degrees > 0, degrees.max() - degrees, 0.0)
    return correct_weights(graph, sp.csr_array(sp.diags_array(loops)))


@documented
@dataclass(eq=False, repr=False)
class SpectralLearning(TakesConstraints, CutClusterer):
    """Spectral learning: set the affinity of must-links to one and of cannot-links to zero, then cut.

    The simplest way to use constraints, and the one every paper compares with. A link changes one
    weight of the graph and is not propagated to the neighbours of its ends. In a graph with weights above one
    a must-link gets the largest of them.

    Parameters
    ----------
    {n_clusters}
    normalization : {"sym", "additive"}, default="sym"
        The normalised Laplacian, as the papers that compare with the method use it, or the additive
        normalisation of the original.
    {graph}
    {rows}
    {labels}
    {constraints}
    {all}

    Attributes
    ----------
    {labels_}
    {embedding_}
    eigenvalues_, eigenvectors_ : arrays of shape (n_clusters,) and (n_samples, n_clusters)
        Of the normalised Laplacian of the constrained graph, smallest first.
    affinity_matrix_ : Graph
        The graph that was cut, links written into it (the self-loops of "additive" are not).
    {solution_}
    {results}

    See Also
    --------
    E2CP : Propagates constraints to all pairs.
    CSAP : Links change the affinity around them.

    References
    ----------
    S. Kamvar, D. Klein, C. Manning: Spectral learning. IJCAI 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sidecut import Constraints, SpectralLearning
    >>> from sidecut.constraints import sample_labels
    >>> X, y = load_iris(return_X_y=True)
    >>> known = sample_labels(y, 30, random_state=0)
    >>> model = SpectralLearning(n_clusters=3, random_state=0).fit(X, constraints=known)
    >>> known.satisfaction(model.labels_) > 0.9
    True
    """

    _: KW_ONLY
    normalization: str = "sym"
    rules: ClassVar[dict[str, Rule]] = {"normalization": one_of("sym", "additive")}
    caution = 0.0

    def _solve(self, task: Task) -> Answer:
        with stage("constraints in the graph"):
            graph = link_affinity(task.graph, task.constraints)
        if self.normalization == "sym":
            return cut(graph, task, self)
        # Self-loops change the volumes and no cut: they belong to the problem, not to the graph.
        return replace(cut(even_out_degrees(graph), task, self), graph=graph, extend=None)


def _with_applied_links(graph: Graph, constraints: Constraints, unit: float, largest: float) -> Graph:
    """Write Q into the edges there are, and apply the must-links, most of which are no edges, as groups."""
    edges = sp.coo_array(graph.matrix)
    strengths = np.abs(constraints.entries(edges.row, edges.col)) / unit
    weights = edges.data * np.where(edges.row == edges.col, 1.0, 1.0 - strengths)
    kept = SparseGraph(sp.csr_array((weights, (edges.row, edges.col)), shape=edges.shape))
    together = constraints.must_part().with_diagonal(0.0).scaled(largest / unit)
    # Where the added weights are: a star, one edge per point, connects every must-linked set.
    n_points = graph.n_nodes
    _, first, number = np.unique(together.must_link_components(), return_index=True, return_inverse=True)
    ends = (np.arange(n_points), first[number])
    star = sp.csr_array((np.ones(n_points), ends), shape=(n_points, n_points))
    return CorrectedGraph(kept, together.apply, sp.csr_array(star + star.T))
