"""A graph with links: must-links are edges, cannot-links are edges of negative weight.

With W the graph, Q the beliefs about pairs and d the degrees, the weights are W + ℓ with

    ℓ_ij = γ Q_ij √(m_i m_j / (r_i r_j)),    m_i = max(d_i, mean d),    r_i = max(1, Σ_j |Q_ij|),

so that a link of strength 1 weighs γ times as much as all neighbours of a point, and many links of one
point no more than √r times that. With D_ii = d_i + Σ_j |ℓ_ij| the operator A = I - D^{-1/2} (W + ℓ)
D^{-1/2} is the normalised signed Laplacian (Kunegis et al., 2010):

    2 uᵀ D^{1/2} A D^{1/2} u = Σ_ij W_ij (u_i - u_j)² + Σ_ij |ℓ_ij| (u_i - sign(ℓ_ij) u_j)²  >=  0,

with eigenvalues between 0 and 2 whatever γ is.
"""

from __future__ import annotations

import warnings
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints, Contraction
from sidecut.exceptions import ConstraintWarning
from sidecut.graphs import Graph, NormalizedAffinity, SparseProduct, normalize


class PairBeliefs:
    """The beliefs Q about pairs, without a diagonal and without what anchors say among themselves.

    Parameters
    ----------
    constraints : Constraints
        What is known.
    anchors : array of int
        The points whose relations to each other the sources of the equation already tell.
    """

    def __init__(self, constraints: Constraints, anchors: IntArray) -> None:
        self.points = np.asarray(constraints.constrained_points)
        self._anchored = np.flatnonzero(np.isin(self.points, anchors))
        self._all = constraints.restricted_to(self.points).with_diagonal(0.0)
        self._told = None
        if len(self._anchored):
            self._told = self._all.restricted_to(self._anchored)

    def apply(self, rows: FloatArray) -> FloatArray:
        """Return Q @ rows, for one row per constrained point."""
        result = self._all.apply(rows)
        if self._told is not None:
            result[self._anchored] -= self._told.apply(rows[self._anchored])
        return result

    def sizes(self, rows: FloatArray) -> FloatArray:
        """Return |Q| @ rows; |Q| is twice its positive part less itself."""
        result = _apply_sizes(self._all, rows)
        if self._told is not None:
            result[self._anchored] -= _apply_sizes(self._told, rows[self._anchored])
        # What was taken away again leaves rounding.
        return np.where(result > 1e-9 * self._all.largest_strength(), result, 0.0)


def _apply_sizes(beliefs: Constraints, rows: FloatArray) -> FloatArray:
    return 2.0 * beliefs.must_part().with_diagonal(0.0).apply(rows) - beliefs.apply(rows)


class SignedGraph:
    """The graph W + ℓ of points with links between some of them, known by its normalised affinity.

    Parameters
    ----------
    graph : Graph
        W, in any form.
    constraints : Constraints, optional
        The links; none by default.
    anchors : array of int
        Points whose relations to each other are no links.
    link_weight : float
        γ, the weight of a link of strength 1 relative to a degree.

    Examples
    --------
    Two points joined by an edge, kept apart by a link as strong.

    >>> import numpy as np
    >>> from sidecut import Constraints
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.methods.poisson.signed_graph import SignedGraph
    >>> apart = Constraints.from_pairs(2, cannot_link=[(0, 1)])
    >>> SignedGraph(as_graph(np.array([[0.0, 4.0], [4.0, 0.0]])), apart).laplacian(np.eye(2))
    array([[1., 0.],
           [0., 1.]])
    """

    def __init__(
        self,
        graph: Graph,
        constraints: Constraints | None = None,
        anchors: IntArray | None = None,
        link_weight: float = 1.0,
    ) -> None:
        self.graph = graph
        self.n_nodes = graph.n_nodes
        self.degrees = np.array(graph.degrees, dtype=np.float64)
        self._beliefs: PairBeliefs | None = None
        if constraints is not None and not constraints.is_empty and link_weight > 0:
            known = np.empty(0, dtype=np.intp) if anchors is None else anchors
            self._add_links(PairBeliefs(constraints, known), link_weight)
        self._joints = _Joints(graph, constraints if self.has_links else None, anchors)
        self.scale = np.zeros(self.n_nodes)
        np.divide(1.0, np.sqrt(self.degrees), out=self.scale, where=self.degrees > 0)

    @property
    def has_links(self) -> bool:
        """Whether any link is left beside the anchors."""
        return self._beliefs is not None

    def _add_links(self, beliefs: PairBeliefs, link_weight: float) -> None:
        strengths = beliefs.sizes(np.ones(len(beliefs.points)))
        if not strengths.any():
            return
        degrees = self.graph.degrees
        typical = np.maximum(degrees[beliefs.points], degrees[degrees > 0].mean())
        self._beliefs = beliefs
        self._reach = np.sqrt(link_weight * typical / np.maximum(strengths, 1.0))
        self.degrees[beliefs.points] += self._reach * beliefs.sizes(self._reach)

    @cached_property
    def _plain(self) -> NormalizedAffinity:
        return normalize(self.graph)

    @cached_property
    def _product(self) -> SparseProduct | None:
        weights = self.graph.matrix
        if not sp.issparse(weights):
            return None
        scaling = sp.diags_array(self.scale)
        return SparseProduct(sp.csr_array(scaling @ weights @ scaling))

    def affinity(self, block: FloatArray) -> FloatArray:
        """Return D^{-1/2} (W + ℓ) D^{-1/2} @ block, in single precision if the block has it."""
        if self._beliefs is None:
            # One matrix for all who need it in a fit.
            return self._plain.apply(block)
        scale = self.scale[:, None]
        if self._product is not None:
            result = self._product(block)
        else:
            result = scale * self.graph.apply(scale * block)
        points = self._beliefs.points
        factor = (self._reach * self.scale[points])[:, None]
        result[points] += factor * self._beliefs.apply(factor * block[points])
        return result

    def laplacian(self, block: FloatArray) -> FloatArray:
        """Return A @ block."""
        return block - self.affinity(block)

    @property
    def components(self) -> IntArray:
        """Which points edges and links join, numbered from 0."""
        return self._joints.component

    @cached_property
    def null_vectors(self) -> sp.csr_array:
        """An orthonormal basis of the null space of A: D^{1/2} σ on all components that σ = ±1 satisfies."""
        sides, component = self._joints.sides, self._joints.component
        members = np.flatnonzero((sides != 0) & (self.degrees > 0))
        columns = np.unique(component[members], return_inverse=True)[1]
        roots = sides[members] * np.sqrt(self.degrees[members])
        volumes = np.bincount(columns, weights=roots**2)
        shape = (self.n_nodes, len(volumes))
        return sp.csr_array((roots / np.sqrt(volumes[columns]), (members, columns)), shape=shape)


class _Joints:
    """What edges and links join, and whether signs σ = ±1 agree with all of them (a balanced signed graph).

    A link joins two components of the graph. In the double cover, where every component has a copy for each
    sign, must-links join equal signs and cannot-links opposite ones; a component whose two copies are joined
    cannot be signed.
    """

    def __init__(self, graph: Graph, constraints: Constraints | None, anchors: IntArray | None) -> None:
        part = graph.components.copy()
        alone = np.flatnonzero(part < 0)
        part[alone] = graph.n_components + np.arange(len(alone))
        n_parts = graph.n_components + len(alone)
        ends, signs = _links_between(constraints, anchors)
        first, second = part[ends[:, 0]], part[ends[:, 1]]
        flip = np.where(signs < 0, n_parts, 0)
        rows = np.concatenate([first, first + n_parts])
        columns = np.concatenate([second + flip, second + n_parts - flip])
        shape = (2 * n_parts, 2 * n_parts)
        cover = sp.coo_array((np.ones(len(rows)), (rows, columns)), shape=shape)
        joined = connected_components(cover, directed=False)[1]
        plus, minus = joined[:n_parts], joined[n_parts:]
        representative = np.minimum(plus, minus)
        self.component = np.unique(representative, return_inverse=True)[1].reshape(-1)[part]
        self.sides = np.where(plus == minus, 0, np.where(plus < minus, 1, -1))[part]


def _links_between(constraints: Constraints | None, anchors: IntArray | None) -> tuple[IntArray, IntArray]:
    """Return links that connect all that the links connect, and their signs; none of them between anchors."""
    if constraints is None:
        return np.empty((0, 2), dtype=np.intp), np.empty(0, dtype=np.intp)
    sets = contract_beliefs(constraints)
    told = np.zeros(constraints.n_samples, dtype=bool)
    told[np.empty(0, dtype=np.intp) if anchors is None else anchors] = True
    order = np.argsort(sets.component, kind="stable")
    chain = np.column_stack([sets.points[order][:-1], sets.points[order][1:]])
    chain = chain[np.diff(sets.component[order]) == 0]
    ends = np.concatenate([chain, sets.witnesses])
    signs = np.concatenate([np.ones(len(chain)), -np.ones(len(sets.witnesses))])
    kept = ~(told[ends].all(axis=1))
    return ends[kept], signs[kept]


def contract_beliefs(constraints: Constraints) -> Contraction:
    """Return must-linked sets and which are apart; of contradicting links the stronger count."""
    with warnings.catch_warnings():
        # Beliefs may contradict each other; all of them stay in the energy.
        warnings.simplefilter("ignore", ConstraintWarning)
        return constraints.without_conflicts().contracted()
