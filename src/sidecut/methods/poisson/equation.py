"""The signed graph, the Poisson equation on it, and diffusion by Chebyshev polynomials.

With links ℓ between points, W the weights of the graph and D_ii = d_i + Σ_j |ℓ_ij|,

    A = I - D^{-1/2} (W + ℓ) D^{-1/2}

has its eigenvalues between 0 and 2. The Poisson equation (Calder et al., 2020) is

    A v = D^{-1/2} b,   u = D^{-1/2} v,   b = Σ_j w_j (y_j - ȳ) δ_j.

In every component the charges b sum to zero, with a mean ȳ of its own, and the potentials u have mean zero,
weighted by degrees.

Diffusion for a time t takes a block X to e^{-tA} X. Sources Y that are switched on all the while add
∫₀ᵗ e^{-sA} Y ds = φ_t(A) Y with φ_t(λ) = (1 - e^{-tλ}) / λ. Both functions are smooth on [0, 2], so
polynomials of a degree of about √t approximate them, with products as the only work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.polynomial import chebyshev
from scipy.sparse.csgraph import connected_components

from sidecut.checks import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.constraints.closure import contract_links
from sidecut.exceptions import ConvergenceWarning, warn
from sidecut.graphs import Graph, SparseProduct
from sidecut.spectral.conjugate_gradients import solve_columns, solve_shifted

#: Steps of conjugate gradients at most.
MAX_STEPS = 5_000
#: Up to this many nodes all eigenvectors are computed.
DENSE_NODES = 500
#: From this many nodes on diffusion runs in single precision; its rounding is far below ACCURACY.
SINGLE_NODES = 20_000
#: Error of the Chebyshev polynomials; scores lie between 0 and 1.
ACCURACY = 1e-3
#: Columns that are diffused at a time.
MAX_COLUMNS = 64

Apply = Callable[[FloatArray], FloatArray]
Result = TypeVar("Result")


class PairLinks:
    """The matrix Q of links, without its diagonal and without the relations of seeds to each other."""

    def __init__(self, constraints: Constraints, seeds: IntArray) -> None:
        self.points = np.asarray(constraints.constrained_points)
        everything = constraints.restricted_to(self.points).with_diagonal(0.0)
        self._threshold = 1e-9 * everything.largest_strength()
        self._terms = [(np.arange(len(self.points)), 1.0, everything)]
        seeded = np.flatnonzero(np.isin(self.points, seeds))
        if len(seeded):
            self._terms.append((seeded, -1.0, everything.restricted_to(seeded)))

    def apply(self, rows: FloatArray) -> FloatArray:
        """Return Q @ rows, for one row per constrained point."""
        result = np.zeros_like(rows)
        for index, sign, links in self._terms:
            result[index] += sign * links.apply(rows[index])
        return result

    def apply_absolute(self, rows: FloatArray) -> FloatArray:
        """Return |Q| @ rows; |Q| is twice its positive part less itself."""
        result = np.zeros_like(rows)
        for index, sign, links in self._terms:
            must = links.must_part().with_diagonal(0.0)
            result[index] += sign * (2.0 * must.apply(rows[index]) - links.apply(rows[index]))
        # The subtracted relations of seeds leave rounding.
        return np.where(result > self._threshold, result, 0.0)


class SignedGraph:
    """The graph W + ℓ of points with links between some of them, as its normalised affinity."""

    # `components` numbers what edges and links join; `sides` is σ = ±1 on components where signs agree with
    # all edges and links (a balanced signed graph), and 0 on others.

    def __init__(
        self,
        graph: Graph,
        constraints: Constraints | None = None,
        seeds: IntArray | None = None,
        link_weight: float = 1.0,
    ) -> None:
        self.graph = graph
        self.n_nodes = graph.n_nodes
        self.degrees = np.array(graph.degrees, dtype=np.float64)
        seeds = np.empty(0, dtype=np.intp) if seeds is None else seeds
        self.has_links = self.has_cannot_links = False
        if constraints is not None and not constraints.is_empty and link_weight > 0:
            self._add_links(PairLinks(constraints, seeds), link_weight)
        self.components, self.sides = _sign_components(graph, constraints if self.has_links else None, seeds)
        self.scale = np.zeros(self.n_nodes)
        np.divide(1.0, np.sqrt(self.degrees), out=self.scale, where=self.degrees > 0)

    def _add_links(self, links: PairLinks, link_weight: float) -> None:
        """Set ℓ_ij = γ Q_ij √(m_i m_j / (r_i r_j)) with m_i = max(d_i, mean d), r_i = max(1, Σ_j |Q_ij|)."""
        strengths = links.apply_absolute(np.ones(len(links.points)))
        if not strengths.any():
            return
        degrees = self.graph.degrees
        typical = np.maximum(degrees[links.points], degrees[degrees > 0].mean())
        self.has_links, self._links = True, links
        self.has_cannot_links = bool((links.apply(np.ones_like(strengths)) < 0.999 * strengths).any())
        self._reach = np.sqrt(link_weight * typical / np.maximum(strengths, 1.0))
        self.degrees[links.points] += self._reach * links.apply_absolute(self._reach)

    @cached_property
    def _product(self) -> SparseProduct | None:
        weights = self.graph.matrix
        if not sp.issparse(weights):
            return None
        scaling = sp.diags_array(self.scale)
        return SparseProduct(sp.csr_array(scaling @ weights @ scaling))

    def affinity(self, block: FloatArray) -> FloatArray:
        """Return D^{-1/2} (W + ℓ) D^{-1/2} @ block, in single precision if the block has it."""
        if not self.has_links:
            return self.graph.normalized.apply(block)
        if self._product is not None:
            result = self._product(block)
        else:
            scale = self.scale[:, None]
            result = scale * self.graph.apply(scale * block)
        points = self._links.points
        factor = (self._reach * self.scale[points])[:, None]
        result[points] += factor * self._links.apply(factor * block[points])
        return result

    def laplacian(self, block: FloatArray) -> FloatArray:
        """Return A @ block."""
        return block - self.affinity(block)

    def run(self, work: Callable[..., Result], *blocks: FloatArray) -> Result:
        """Return work(*blocks), done where the graph lies; links lie here."""
        return work(*blocks) if self.has_links else self.graph.run(work, *blocks)

    @cached_property
    def null_vectors(self) -> sp.csr_array:
        """An orthonormal basis of the null space of A: D^{1/2} σ on all components that σ = ±1 satisfies."""
        members = np.flatnonzero((self.sides != 0) & (self.degrees > 0))
        columns = np.unique(self.components[members], return_inverse=True)[1]
        roots = self.sides[members] * np.sqrt(self.degrees[members])
        volumes = np.bincount(columns, weights=roots**2)
        shape = (self.n_nodes, len(volumes))
        return sp.csr_array((roots / np.sqrt(volumes[columns]), (members, columns)), shape=shape)


def _sign_components(
    graph: Graph, constraints: Constraints | None, seeds: IntArray
) -> tuple[IntArray, IntArray]:
    """Return the component of every node, and its sign σ, or 0 where no signs agree with all links."""
    # In the double cover every component of the graph has a copy for each sign. Must-links join equal signs,
    # cannot-links opposite ones; a component whose two copies are joined has no signs.
    part = graph.components.copy()
    alone = np.flatnonzero(part < 0)
    part[alone] = graph.n_components + np.arange(len(alone))
    n_parts = graph.n_components + len(alone)
    ends, signs = _spanning_links(constraints, seeds)
    first, second = part[ends[:, 0]], part[ends[:, 1]]
    flip = np.where(signs < 0, n_parts, 0)
    rows = np.concatenate([first, first + n_parts])
    columns = np.concatenate([second + flip, second + n_parts - flip])
    cover = sp.coo_array((np.ones(len(rows)), (rows, columns)), shape=(2 * n_parts, 2 * n_parts))
    joined = connected_components(cover, directed=False)[1]
    plus, minus = joined[:n_parts], joined[n_parts:]
    component = np.unique(np.minimum(plus, minus), return_inverse=True)[1].reshape(-1)
    sides = np.where(plus == minus, 0, np.where(plus < minus, 1, -1))
    return component[part], sides[part]


def _spanning_links(constraints: Constraints | None, seeds: IntArray) -> tuple[IntArray, IntArray]:
    """Return links that connect all that the links connect, and their signs; none of them between seeds."""
    if constraints is None:
        return np.empty((0, 2), dtype=np.intp), np.empty(0, dtype=np.intp)
    sets = contract_links(constraints)
    is_seed = np.zeros(constraints.n_samples, dtype=bool)
    is_seed[seeds] = True
    order = np.argsort(sets.component, kind="stable")
    chain = np.column_stack([sets.points[order][:-1], sets.points[order][1:]])
    chain = chain[np.diff(sets.component[order]) == 0]
    ends = np.concatenate([chain, sets.example_pairs])
    signs = np.concatenate([np.ones(len(chain)), -np.ones(len(sets.example_pairs))])
    kept = ~(is_seed[ends].all(axis=1))
    return ends[kept], signs[kept]


class Potentials(NamedTuple):
    """The solution of the Poisson equation."""

    values: FloatArray
    residual: float


def solve_poisson(signed: SignedGraph, sources: FloatArray, tolerance: float) -> Potentials:
    """Return the potentials of the charges of labels, one column per cluster."""
    null = signed.null_vectors
    charges = signed.scale[:, None] * balance_charges(signed, sources)
    charges -= null @ (null.T @ charges)
    is_dense = signed.n_nodes <= DENSE_NODES
    if is_dense:
        # By all eigenvectors: accurate even where components are nearly disconnected.
        eigenvalues, vectors = np.linalg.eigh(signed.laplacian(np.eye(signed.n_nodes)))
        values = np.asarray(vectors @ ((vectors.T @ charges) / np.maximum(eigenvalues, 1e-12)[:, None]))
    else:
        values = signed.run(
            lambda right: solve_columns(
                lambda block, _: signed.laplacian(block), right, tolerance, MAX_STEPS
            ),
            charges,
        )
    values -= null @ (null.T @ values)
    left = np.linalg.norm(charges - signed.laplacian(values), axis=0)
    norms = np.linalg.norm(charges, axis=0)
    residual = float((left / np.where(norms > 0, norms, 1.0)).max(initial=0.0))
    if residual > 10 * tolerance:
        solver = "The eigendecomposition" if is_dense else "Conjugate gradients"
        warn(
            f"{solver} left a relative residual of {residual:.1e} in the Poisson equation; "
            f"tol={tolerance:.1e}. Raise tol, or use more neighbours, so that the graph is better connected.",
            ConvergenceWarning,
        )
    return Potentials(signed.scale[:, None] * values, residual)


def balance_charges(signed: SignedGraph, sources: FloatArray) -> FloatArray:
    """Return the charges b. In every component all clusters that have sources there have the same charge."""
    # With w_j = Y_j / Σ Y over the sources of a cluster in the component and m clusters there, b = w_j (y_j -
    # 1/m). The potential of cluster c is then Σ_j w_j G(., j), with G the Green's function, less the same for
    # all clusters. By the maximum principle G(i, j) <= G(j, j), so a single label of each cluster is right.
    component = signed.components
    totals = np.column_stack([np.bincount(component, weights=column) for column in sources.T])
    present = totals > 0
    shares = sources / np.where(present, totals, 1.0)[component]
    n_present = np.maximum(present.sum(axis=1), 1)
    means = (present / n_present[:, None])[component]
    return shares - shares.sum(axis=1, keepdims=True) * means


def spread_labels(signed: SignedGraph, sources: FloatArray, *alphas: float) -> list[FloatArray]:
    """Return (I - α S)⁻¹ Y with rows scaled to sum 1, the share of every cluster at a point, for each α."""
    # The sources of every cluster are scaled to the same sum: otherwise those with many labels would reach
    # too far. Rows that no source reaches are zero. Unlike potentials, shares do not depend on a constant per
    # component, and they differ clearly where cluster sizes differ by orders of magnitude.
    totals = sources.sum(axis=0)
    even = sources / np.where(totals > 0, totals / totals.mean(), 1.0)
    # I - α S = α (A + s I), s = (1 - α) / α; rows are scaled anyway.
    shifts = [(1.0 - alpha) / alpha for alpha in alphas]
    found = []
    for arrived in signed.run(
        lambda right: solve_shifted(signed.laplacian, right, shifts, 1e-6, MAX_STEPS), even
    ):
        arrived = np.maximum(arrived, 0.0)
        everything = arrived.sum(axis=1, keepdims=True)
        found.append(np.divide(arrived, everything, out=np.zeros_like(arrived), where=everything > 0))
    return found


@dataclass(frozen=True, eq=False)
class Filter:
    """A polynomial of a Laplacian, in Chebyshev form on [0, 2]."""

    coefficients: FloatArray
    error: float

    def __call__(self, signed: SignedGraph, block: FloatArray) -> FloatArray:
        """Return p(A) @ block."""
        return signed.run(lambda block: self.recur(signed.laplacian, block), block)

    def recur(self, laplacian: Apply, block: FloatArray) -> FloatArray:
        """Return p(A) @ block, by Chebyshev's recurrence."""
        # T_0 = 1, T_1 = x, T_{j+1} = 2 x T_j - T_{j-1} with x = A - I.
        before, current = block, laplacian(block) - block
        # Python's own floats keep the precision of the block.
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


def diffusion_filter(time: float, accuracy: float = ACCURACY) -> Filter:
    """Return e^{-tλ} as a filter."""
    return fit_filter(lambda value: np.exp(-time * value), time, accuracy)


def diffusion_dtype(n_nodes: int) -> type[np.floating]:
    """Return the precision of diffusion on a graph of this size."""
    return np.float32 if n_nodes >= SINGLE_NODES else np.float64


def source_filter(time: float, accuracy: float = ACCURACY) -> Filter:
    """Return φ_t(λ) = (1 - e^{-tλ}) / λ as a filter; φ_t(0) = t."""

    def received(value: FloatArray) -> FloatArray:
        safe = np.where(value > 0, value, 1.0)
        return np.where(value > 0, -np.expm1(-time * value) / safe, time)

    return fit_filter(received, time, accuracy)


def fit_filter(function: Apply, time: float, accuracy: float) -> Filter:
    """Return the shortest Chebyshev series on [0, 2] whose omitted terms sum to at most `accuracy`."""
    longest = int(20 + 8 * np.sqrt(time + 1.0) + 2 * min(time, 50.0))
    nodes = chebyshev.chebpts1(longest + 1)
    # Interpolation at Chebyshev points: the series is a discrete cosine transform of the values.
    series = chebyshev.chebvander(nodes, longest).T @ function(nodes + 1.0) * (2.0 / (longest + 1))
    series[0] /= 2.0
    tail = np.concatenate([np.cumsum(np.abs(series[::-1]))[::-1][1:], [0.0]])
    degree = max(int(np.argmax(tail <= accuracy)), 1)
    return Filter(series[: degree + 1], float(tail[degree]) + 1e-14)
