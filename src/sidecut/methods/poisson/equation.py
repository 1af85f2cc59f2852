"""The Poisson equation on a signed graph, and labels spread by a random walk that forgets.

    A v = D^{-1/2} b,   u = D^{-1/2} v,   b = Σ_j w_j (y_j - ȳ) δ_j        (Calder et al., 2020)

is L u = b in the variables in which A has its eigenvalues between 0 and 2. On every component that is left
to itself the charges sum to zero, with a mean ȳ of its own; the potentials have mean zero there, weighed by
degrees.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.polynomial import chebyshev
from scipy.sparse.csgraph import connected_components

from sidecut.checks import FloatArray, IntArray
from sidecut.constraints import Components, Constraints
from sidecut.exceptions import ConstraintWarning, ConvergenceWarning, warn
from sidecut.graphs import Graph, NormalizedAffinity, SparseProduct
from sidecut.spectral.conjugate_gradients import solve_columns, solve_shifted


class PairBeliefs:
    """The beliefs Q about pairs, without a diagonal and without what anchors say among themselves."""

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
    """The graph W + ℓ of points with links between some of them, known by its normalised affinity."""

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
        return self.graph.normalized

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
    ends = np.concatenate([chain, sets.example_pairs])
    signs = np.concatenate([np.ones(len(chain)), -np.ones(len(sets.example_pairs))])
    kept = ~(told[ends].all(axis=1))
    return ends[kept], signs[kept]


def contract_beliefs(constraints: Constraints) -> Components:
    """Return must-linked sets and which are apart; of contradicting links the stronger count."""
    with warnings.catch_warnings():
        # Beliefs may contradict each other; all of them stay in the energy.
        warnings.simplefilter("ignore", ConstraintWarning)
        return constraints.without_conflicts().components


#: Steps of conjugate gradients. A step more than there are nodes is never needed in exact arithmetic.
MAX_STEPS = 5_000
#: Up to so many points the equation is solved by all eigenvectors.
DENSE_NODES = 500
#: Smaller eigenvalues are rounding; charges have no part in the null vectors.
LEAST = 1e-12
#: How much of the walk goes on at every step where labels are spread: far, as a start for labels, and near,
#: which tells sizes better.
FAR, NEAR = 0.99, 0.95
#: Shares count even where little arrives, so that little must be right.
SPREAD_TOLERANCE = 1e-6


class Potentials(NamedTuple):
    """The solution of the Poisson equation."""

    values: FloatArray
    residual: float


def solve_poisson(signed: SignedGraph, sources: FloatArray, tolerance: float) -> Potentials:
    """Return the potentials of the charges of labels, one column per cluster."""
    null = signed.null_vectors
    charges = signed.scale[:, None] * balance_charges(signed, sources)
    charges -= null @ (null.T @ charges)
    if signed.n_nodes <= DENSE_NODES:
        values = _solve_densely(signed, charges)
    else:
        values = solve_columns(lambda block, _: signed.laplacian(block), charges, tolerance, MAX_STEPS)
    values -= null @ (null.T @ values)
    residual = _relative_residual(charges - signed.laplacian(values), charges)
    if residual > 10 * tolerance:
        warn(
            f"conjugate gradients left a relative residual of {residual:.1e} in the Poisson equation, asked "
            f"for {tolerance:.1e}: raise tol, or use more neighbours, so that the graph is better connected.",
            ConvergenceWarning,
        )
    return Potentials(signed.scale[:, None] * values, residual)


def _solve_densely(signed: SignedGraph, charges: FloatArray) -> FloatArray:
    """Solve by all eigenvectors: right even where pieces are held together by next to nothing."""
    values, vectors = np.linalg.eigh(signed.laplacian(np.eye(signed.n_nodes)))
    return np.asarray(vectors @ ((vectors.T @ charges) / np.maximum(values, LEAST)[:, None]))


def balance_charges(signed: SignedGraph, sources: FloatArray) -> FloatArray:
    """Return the charges b: in every component all clusters that have sources there have the same charge.

    With w_j = Y_j / Σ Y over the sources of a cluster in the component and m clusters there, b = w_j (y_j -
    1/m). The potential of cluster c is then Σ_j w_j G(., j), with G the Green's function, less the same for
    all clusters. By the maximum principle G(i, j) <= G(j, j), so that a single label of each cluster is
    right.
    """
    component = signed.components
    totals = np.column_stack([np.bincount(component, weights=column) for column in sources.T])
    present = totals > 0
    shares = sources / np.where(present, totals, 1.0)[component]
    n_present = np.maximum(present.sum(axis=1), 1)
    means = (present / n_present[:, None])[component]
    return shares - shares.sum(axis=1, keepdims=True) * means


def spread_labels(signed: SignedGraph, sources: FloatArray, *remembered: float) -> list[FloatArray]:
    """Return the share of every cluster in what reaches a point: (I - α S)⁻¹ Y, rows scaled to sum 1.

    The sources of every cluster sum up to the same, however many labels it has: else those with many would
    reach too far. Rows that nothing reaches are zero. Unlike potentials, shares do not depend on a constant
    per component, and they stay apart where clusters differ in size by orders of magnitude.
    """
    totals = sources.sum(axis=0)
    even = sources / np.where(totals > 0, totals / totals.mean(), 1.0)
    # I - α S = α (A + s I), s = (1 - α) / α; rows are scaled anyway.
    shifts = [(1.0 - alpha) / alpha for alpha in remembered]
    found = []
    for arrived in solve_shifted(signed.laplacian, even, shifts, SPREAD_TOLERANCE, MAX_STEPS):
        arrived = np.maximum(arrived, 0.0)
        everything = arrived.sum(axis=1, keepdims=True)
        found.append(np.divide(arrived, everything, out=np.zeros_like(arrived), where=everything > 0))
    return found


def _relative_residual(residual: FloatArray, charges: FloatArray) -> float:
    sizes = np.linalg.norm(charges, axis=0)
    return float((np.linalg.norm(residual, axis=0) / np.where(sizes > 0, sizes, 1.0)).max(initial=0.0))


# Functions of a Laplacian with its eigenvalues between 0 and 2, by Chebyshev polynomials.
#
# Diffusion for a time t takes a block X to e^{-tA} X; sources Y that are switched on all the while add ∫₀ᵗ
# e^{-sA} Y ds = φ_t(A) Y with φ_t(λ) = (1 - e^{-tλ}) / λ. Both are smooth on [0, 2], so that polynomials of
# a degree of about √t give them to any accuracy, with products as the only work.


Apply = Callable[[FloatArray], FloatArray]

#: Functions are matched to this; scores lie between 0 and 1.
ACCURACY = 1e-3
#: From so many nodes on heat flows in single precision, which takes half of the time in wide blocks.
SINGLE_NODES = 20_000


@dataclass(frozen=True, eq=False)
class Filter:
    """A polynomial of a Laplacian, in Chebyshev form on [0, 2]."""

    coefficients: FloatArray
    error: float

    def __call__(self, laplacian: Apply, block: FloatArray) -> FloatArray:
        """Return p(A) @ block, by Chebyshev's recurrence."""
        # T_0 = 1, T_1 = x, T_{j+1} = 2 x T_j - T_{j-1} with x = A - I.
        before, current = block, laplacian(block) - block
        # Python's own numbers leave a block in the precision that it has.
        first, second, *others = self.coefficients.tolist()
        result = first * before + second * current
        for coefficient in others:
            following = laplacian(current)
            following -= current
            following *= 2.0
            following -= before
            before, current = current, following
            result += coefficient * current
        return result


def heat_filter(time: float, accuracy: float = ACCURACY) -> Filter:
    """Return e^{-tλ} as a filter."""
    return fit_filter(lambda value: np.exp(-time * value), time, accuracy)


def heat_precision(n_nodes: int) -> type[np.floating]:
    """Return the type of numbers in which heat flows: the rounding of either is far below `ACCURACY`."""
    return np.float32 if n_nodes >= SINGLE_NODES else np.float64


def source_filter(time: float, accuracy: float = ACCURACY) -> Filter:
    """Return φ_t(λ) = (1 - e^{-tλ}) / λ as a filter; φ_t(0) = t."""

    def received(value: FloatArray) -> FloatArray:
        safe = np.where(value > 0, value, 1.0)
        return np.where(value > 0, -np.expm1(-time * value) / safe, time)

    return fit_filter(received, time, accuracy)


def fit_filter(function: Apply, time: float, accuracy: float) -> Filter:
    """Return the shortest Chebyshev series of a function of [0, 2] whose left-out terms sum up to little."""
    longest = int(20 + 8 * np.sqrt(time + 1.0) + 2 * min(time, 50.0))
    nodes = chebyshev.chebpts1(longest + 1)
    # Interpolation at Chebyshev points: the series is a discrete cosine transform of the values.
    series = chebyshev.chebvander(nodes, longest).T @ function(nodes + 1.0) * (2.0 / (longest + 1))
    series[0] /= 2.0
    tail = np.concatenate([np.cumsum(np.abs(series[::-1]))[::-1][1:], [0.0]])
    degree = max(int(np.argmax(tail <= accuracy)), 1)
    return Filter(series[: degree + 1], float(tail[degree]) + 1e-14)
