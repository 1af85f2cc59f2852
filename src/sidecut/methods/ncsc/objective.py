"""The objective of NCSC (eq. 6): the normalised cut, with a price on every violated link.

    J(Y) = tr(YᵀGY),    G = L + γ_m (Dᵐ - Qᵐ) + γ_c Qᶜ,    subject to YᵀDY = I, Y >= 0.

Nonnegative and orthogonal means that every point has at most one cluster. Neither Qᵐ nor Qᶜ is ever listed:
labels of c points cost O(c).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.graphs import Graph, normalize
from sidecut.methods.ncsc.lcsc import contract_graph, membership


class NodeLinks:
    """Qᵐ and Qᶜ between the nodes of a graph, both nonnegative, applied and never listed.

    Parameters
    ----------
    constraints : Constraints
        What is known about the points.
    nodes : array of shape (n_points,)
        The node every point is part of; the points themselves where nothing is contracted.
    among : array of int, optional
        Links among these points alone count; by default all do.
    """

    def __init__(self, constraints: Constraints, nodes: IntArray, among: IntArray | None = None) -> None:
        self.n_nodes = int(np.max(nodes)) + 1
        among = constraints.constrained_points if among is None else among
        #: The nodes that have links; all work is done on their rows alone.
        self.nodes, place = np.unique(nodes[among], return_inverse=True)
        if len(among):
            # The diagonal of Q says nothing about pairs: Qᵐ and Qᶜ of eqs. 4 and 5 have none.
            self.both = constraints.restricted_to(among).with_diagonal(0.0)
            self.together = self.both.must_part()
            self.place = membership(place)

    def apply_must_among(self, rows: FloatArray) -> FloatArray:
        """Return Qᵐ @ rows, for the rows of the linked nodes."""
        if not len(self.nodes):
            return np.zeros_like(rows)
        return np.asarray(self.place.T @ self.together.apply(self.place @ rows))

    def apply_cannot_among(self, rows: FloatArray) -> FloatArray:
        """Return Qᶜ @ rows, for the rows of the linked nodes."""
        if not len(self.nodes):
            return np.zeros_like(rows)
        at_points = self.place @ rows
        return np.asarray(self.place.T @ (self.together.apply(at_points) - self.both.apply(at_points)))

    def must(self, block: FloatArray) -> FloatArray:
        """Return Qᵐ @ block."""
        result = np.zeros_like(block)
        result[self.nodes] = self.apply_must_among(block[self.nodes])
        return result

    def cannot(self, block: FloatArray) -> FloatArray:
        """Return Qᶜ @ block."""
        result = np.zeros_like(block)
        result[self.nodes] = self.apply_cannot_among(block[self.nodes])
        return result

    def must_and_cannot(self, block: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return Qᵐ @ block and Qᶜ @ block, cheaper than one after the other."""
        must, cannot = np.zeros_like(block), np.zeros_like(block)
        if len(self.nodes):
            at_points = self.place @ block[self.nodes]
            together = self.together.apply(at_points)
            must[self.nodes] = self.place.T @ together
            cannot[self.nodes] = self.place.T @ (together - self.both.apply(at_points))
        return must, cannot

    def must_matrix(self) -> sp.csr_array:
        """Return Qᵐ with every entry stored; for few links only."""
        points = sp.csr_array(
            (np.ones(self.place.shape[0]), self.nodes[self.place.indices], self.place.indptr),
            shape=(self.place.shape[0], self.n_nodes),
        )
        return sp.csr_array(points.T @ self.together.as_matrix() @ points)

    def violated(self, labels: IntArray) -> float:
        """Return the total strength of the links a clustering of the nodes violates, each pair twice."""
        Z = membership(labels).toarray()
        together = float(np.sum(self.must_degrees) - np.sum(Z * self.must(Z)))
        return together + float(np.sum(Z * self.cannot(Z)))

    @cached_property
    def must_degrees(self) -> FloatArray:
        """The diagonal of Dᵐ."""
        return self.must(np.ones(self.n_nodes))

    @cached_property
    def cannot_degrees(self) -> FloatArray:
        """The row sums of Qᶜ."""
        return self.cannot(np.ones(self.n_nodes))


class PenalizedCut:
    """The objective of eq. 6 on a graph.

    Parameters
    ----------
    graph : Graph
        W, in any form.
    constraints : Constraints
        What is known about its nodes.
    gamma_must : float, default=inf
        γ_m, the price of must-links. Infinite: points joined by must-links become one node, which is the
        limit of Proposition 1, exactly.
    gamma_cannot : float, default=1.0
        γ_c, the price of cannot-links.
    among : array of int, optional
        Only links among these points count; for choosing γ_c by the others.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut import Constraints
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.methods.ncsc.objective import PenalizedCut
    >>> path = as_graph(np.array([[0, 2, 0], [2, 0, 1], [0, 1, 0.0]]))
    >>> cut = PenalizedCut(path, Constraints.from_pairs(3, cannot_link=[(0, 2)]), gamma_cannot=5.0)
    >>> cut.objective(np.array([[1.0], [1.0], [1.0]]))
    10.0
    """

    def __init__(
        self,
        graph: Graph,
        constraints: Constraints,
        gamma_must: float = np.inf,
        gamma_cannot: float = 1.0,
        among: IntArray | None = None,
    ) -> None:
        self.points_graph = graph
        self.tied = _find_must_linked_sets(constraints, graph.n_nodes, among)
        self.sets = self.tied if np.isinf(gamma_must) else np.arange(graph.n_nodes)
        self.graph = contract_graph(graph, self.sets)
        self.links = NodeLinks(constraints, self.sets, among)
        # Contraction has satisfied every must-link; what is left of them are loops, which cost nothing.
        is_settled = np.isinf(gamma_must) or not len(self.links.nodes)
        self.gamma_must = 0.0 if is_settled else float(gamma_must)
        self.gamma_cannot = float(gamma_cannot)
        self.n_nodes = self.graph.n_nodes
        self.affinity = normalize(self.graph)

    @property
    def is_contracted(self) -> bool:
        """Whether nodes are sets of points, not the points themselves."""
        return self.graph is not self.points_graph

    @property
    def degrees(self) -> FloatArray:
        """The diagonal of D."""
        return self.graph.degrees

    def with_gamma_cannot(self, gamma_cannot: float) -> PenalizedCut:
        """Return the same problem at another price of cannot-links, sharing all matrices."""
        other = object.__new__(PenalizedCut)
        other.__dict__.update(self.__dict__)
        other.gamma_cannot = float(gamma_cannot)
        return other

    def apply(self, Y: FloatArray) -> FloatArray:
        """Return G @ Y."""
        result = self.degrees[:, None] * Y - self.graph.apply(Y)
        linked = self.links.nodes
        result[linked] += self.apply_penalties(Y[linked])
        return result

    def apply_normalized(self, V: FloatArray) -> FloatArray:
        """Return Ḡ @ V, Ḡ = D^{-1/2} G D^{-1/2}; V = D^{1/2} Y."""
        result = V - self.affinity.apply(V)
        linked = self.links.nodes
        scale = self.affinity.scale[linked, None]
        result[linked] += scale * self.apply_penalties(scale * V[linked])
        return result

    def apply_penalties(self, rows: FloatArray) -> FloatArray:
        """Return (γ_m (Dᵐ - Qᵐ) + γ_c Qᶜ) @ rows, for the rows of the linked nodes."""
        links, result = self.links, np.zeros_like(rows)
        if self.gamma_must:
            result += self.gamma_must * (
                links.must_degrees[links.nodes, None] * rows - links.apply_must_among(rows)
            )
        if self.gamma_cannot:
            result += self.gamma_cannot * links.apply_cannot_among(rows)
        return result

    def objective(self, Y: FloatArray) -> float:
        """Return tr(YᵀGY)."""
        return float(np.sum(Y * self.apply(Y)))

    def gradient(self, Y: FloatArray) -> FloatArray:
        """Return the gradient of the objective, 2GY."""
        return 2.0 * self.apply(Y)

    def indicators(self, labels: IntArray, n_clusters: int) -> FloatArray:
        """Return eq. 2 for a clustering of the nodes: yᵢ / sqrt(vol(Cᵢ)), so that YᵀDY = I."""
        volumes = np.bincount(labels, weights=self.degrees, minlength=n_clusters)
        Y = np.zeros((self.n_nodes, n_clusters))
        here = np.flatnonzero(volumes[labels] > 0)
        Y[here, labels[here]] = 1.0 / np.sqrt(volumes[labels[here]])
        return Y

    def on_points(self, Y: FloatArray) -> FloatArray:
        """Return what is said of nodes for every point."""
        return np.asarray(Y[self.sets])

    def on_nodes(self, rows: FloatArray) -> FloatArray:
        """Return the mean over the points of every node."""
        C = membership(self.sets)
        return np.asarray(C.T @ rows) / np.bincount(self.sets)[:, None]


def _find_must_linked_sets(constraints: Constraints, n_points: int, among: IntArray | None) -> IntArray:
    """Return for every point the set that must-links among the given points join it to."""
    if among is None:
        return np.asarray(constraints.must_link_components(), dtype=np.intp)
    if not len(among):
        return np.arange(n_points)
    # The other points stay alone, numbered after the sets of the others.
    joined = constraints.restricted_to(among).must_link_components()
    sets = np.empty(n_points, dtype=np.intp)
    alone = np.setdiff1d(np.arange(n_points), among)
    sets[among] = joined
    sets[alone] = int(joined.max()) + 1 + np.arange(len(alone))
    return sets


# What a solver of NCSC's objective hands back.


@dataclass(frozen=True)
class Descent:
    """What a solver of eq. 6 arrived at.

    Attributes
    ----------
    soft : array of shape (n_nodes, n_clusters)
        The rows from which clusters are read; Y itself, but for the projected solver, whose columns overlap.
    trace : array
        The objective at the start and after every iteration.
    n_iter : int
        How many iterations ran.
    converged : bool
        Whether the stopping rule was met.
    step_scale : float
        The share of its way that Y is moved by one multiplicative update, d_min/σ but at most 1; 1 for other
        solvers.
    overlap : float
        The price of overlap; infinite where there is none.
    find_indicators : callable, optional
        Returns Y where that is not `soft`.
    """

    soft: FloatArray
    trace: FloatArray
    n_iter: int
    converged: bool
    step_scale: float = 1.0
    overlap: float = np.inf
    find_indicators: Callable[[], FloatArray] | None = None

    @cached_property
    def indicators(self) -> FloatArray:
        """Y, found when it is first asked for: no cluster depends on it."""
        return self.soft if self.find_indicators is None else self.find_indicators()
