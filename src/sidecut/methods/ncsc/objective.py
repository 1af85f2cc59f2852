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

from sidecut.checks import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.graphs import Graph
from sidecut.methods.ncsc.lcsc import contract_graph, membership

#: Indicators are computed to this share of the tolerance of the clusters, because eq. 6 is compared at them.
INDICATOR_SHARE = 0.01


@dataclass(frozen=True)
class FixedClusters:
    """A clustering of the nodes, with its indicators."""

    labels: IntArray
    entries: FloatArray
    rates: FloatArray

    @cached_property
    def objective(self) -> float:
        """Eq. 6."""
        return float(self.rates.sum())

    @cached_property
    def n_columns(self) -> int:
        """How many columns of V are not zero."""
        return len(np.unique(self.labels[self.entries > 0]))

    def block(self) -> FloatArray:
        """Return V."""
        V = np.zeros((len(self.labels), len(self.rates)))
        V[np.arange(len(self.labels)), self.labels] = self.entries
        return V


def best_indicators(
    cut: PenalizedCut,
    labels: IntArray,
    entries: FloatArray,
    n_clusters: int,
    tol: float,
    max_steps: int = 1000,
) -> FixedClusters:
    """Return the best indicators for given clusters, by projected steps with momentum."""
    apply, links = _apply_within(cut, labels, n_clusters), cut.links
    # A diagonal S with S - Ḡ positive semidefinite: λ_max(L̄) <= 2.
    weight = 2.0 * cut.gamma_must * links.must_degrees + cut.gamma_cannot * links.cannot_degrees
    curvature = 2.0 + weight * cut.affinity.scale**2
    x = before = _unit(entries, labels, n_clusters)
    image = image_before = apply(x)
    price, momentum = float(x @ image), 1.0
    n_columns = _n_columns(x, labels, n_clusters)
    for _ in range(max_steps):
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        by = (momentum - 1.0) / following
        ahead, slope = x + by * (x - before), image + by * (image - image_before)
        slope = slope - _rates(ahead, slope, labels, n_clusters)[labels] * ahead
        after = _unit(np.maximum(ahead - slope / curvature, 0.0), labels, n_clusters)
        image_after = apply(after)
        gain = price - float(after @ image_after)
        if gain <= 0 or _n_columns(after, labels, n_clusters) < n_columns:
            if momentum == 1.0:
                break
            before, image_before, momentum = x, image, 1.0
            continue
        x, before, image, image_before = after, x, image_after, image
        price, momentum = price - gain, following
        if gain <= tol * price:
            break
    return FixedClusters(labels, x, _rates(x, image, labels, n_clusters))


def _rates(x: FloatArray, image: FloatArray, labels: IntArray, k: int) -> FloatArray:
    """Return the Rayleigh quotient of every cluster."""
    lengths = np.bincount(labels, weights=x * x, minlength=k)
    return np.bincount(labels, weights=x * image, minlength=k) / np.where(lengths > 0, lengths, 1.0)


def _n_columns(x: FloatArray, labels: IntArray, k: int) -> int:
    """Return how many clusters have an entry that is not zero: a column of zeros would cost nothing."""
    return int(np.count_nonzero(np.bincount(labels, weights=x, minlength=k)))


def _unit(x: FloatArray, labels: IntArray, k: int) -> FloatArray:
    """Scale the numbers of every cluster to length one."""
    norms = np.sqrt(np.bincount(labels, weights=x * x, minlength=k))
    return x / np.where(norms > 0, norms, 1.0)[labels]


def _apply_within(cut: PenalizedCut, labels: IntArray, k: int) -> Callable[[FloatArray], FloatArray]:
    """Return the map x -> Ḡ x without the entries between clusters."""
    is_sparse, rows = sp.issparse(cut.graph.matrix), np.arange(len(labels))
    linked = cut.links.nodes
    own, among = labels[linked], np.arange(len(linked))
    if is_sparse:
        # One column in place of k: the edges between clusters are taken out once.
        edges = sp.coo_array(cut.affinity.matrix)
        kept = labels[edges.row] == labels[edges.col]
        ends = (edges.row[kept], edges.col[kept])
        within = sp.csr_array((edges.data[kept], ends), shape=edges.shape)

    def apply(x: FloatArray) -> FloatArray:
        if is_sparse:
            result = x - within @ x
        else:
            block = np.zeros((len(x), k))
            block[rows, labels] = x
            result = x - cut.affinity.apply(block)[rows, labels]
        block = np.zeros((len(linked), k))
        scale = cut.affinity.scale[linked]
        block[among, own] = scale * x[linked]
        result[linked] += scale * cut.apply_penalties(block)[among, own]
        return np.asarray(result)

    return apply


class NodeLinks:
    """Qᵐ and Qᶜ between the nodes of a graph, both nonnegative, applied and never listed."""

    def __init__(self, constraints: Constraints, nodes: IntArray) -> None:
        self.n_nodes = int(np.max(nodes)) + 1
        linked = constraints.constrained_points
        #: The nodes that have links; all work is done on their rows alone.
        self.nodes, place = np.unique(nodes[linked], return_inverse=True)
        if len(linked):
            # Qᵐ and Qᶜ of eqs. 4 and 5 have no diagonal.
            self.both = constraints.restricted_to(linked).with_diagonal(0.0)
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
    """The objective of eq. 6 on a graph."""

    def __init__(
        self, graph: Graph, constraints: Constraints, gamma_must: float = np.inf, gamma_cannot: float = 1.0
    ) -> None:
        self.points_graph = graph
        #: The set that must-links join each point to.
        self.tied = np.asarray(constraints.must_link_components(), dtype=np.intp)
        self.sets = self.tied if np.isinf(gamma_must) else np.arange(graph.n_nodes)
        self.graph = contract_graph(graph, self.sets)
        self.links = NodeLinks(constraints, self.sets)
        # Contraction has satisfied every must-link; what is left of them are loops, which cost nothing.
        is_settled = np.isinf(gamma_must) or not len(self.links.nodes)
        self.gamma_must = 0.0 if is_settled else float(gamma_must)
        self.gamma_cannot = float(gamma_cannot)
        self.n_nodes = self.graph.n_nodes
        self.affinity = self.graph.normalized
        #: The diagonal of D.
        self.degrees = self.graph.degrees

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

    def indicators(self, labels: IntArray, n_clusters: int) -> FloatArray:
        """Return eq. 2 for a clustering of the nodes: yᵢ / sqrt(vol(Cᵢ)), so that YᵀDY = I."""
        volumes = np.bincount(labels, weights=self.degrees, minlength=n_clusters)
        Y = np.zeros((self.n_nodes, n_clusters))
        here = np.flatnonzero(volumes[labels] > 0)
        Y[here, labels[here]] = 1.0 / np.sqrt(volumes[labels[here]])
        return Y

    def on_points(self, Y: FloatArray) -> FloatArray:
        """Return the rows of the nodes for every point."""
        return np.asarray(Y[self.sets])

    def on_nodes(self, rows: FloatArray) -> FloatArray:
        """Return the mean over the points of every node."""
        return np.asarray(membership(self.sets).T @ rows) / np.bincount(self.sets)[:, None]


@dataclass(frozen=True)
class Descent:
    """The result of a solver of eq. 6; `cut` and `tol` are given where the columns of Y still overlap."""

    soft: FloatArray
    trace: FloatArray
    n_iter: int
    converged: bool
    step_scale: float = 1.0
    overlap: float = np.inf
    cut: PenalizedCut | None = None
    tol: float = 0.0

    @cached_property
    def indicators(self) -> FloatArray:
        """Y without overlap, computed on first access: the clusters do not depend on it."""
        if self.cut is None:
            return self.soft
        V = np.sqrt(self.cut.degrees)[:, None] * self.soft
        labels, tol = V.argmax(axis=1), INDICATOR_SHARE * self.tol
        best = best_indicators(self.cut, labels, V[np.arange(len(V)), labels], V.shape[1], tol)
        return self.cut.affinity.scale[:, None] * best.block()
