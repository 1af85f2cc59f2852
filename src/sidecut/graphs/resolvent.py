"""The kernel (Δ + σI)⁻¹ of a graph, Δ its normalised Laplacian: the covariance whose inverse is sparse."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from sidecut.checks import FloatArray, IntArray
from sidecut.graphs.graph import Graph, drop_isolated
from sidecut.graphs.kernels import SERIES_TOLERANCE, HeatGraph
from sidecut.graphs.recipes import GraphRecipe, Neighbors


class ResolventGraph(HeatGraph):
    """The graph whose weights are (Δ + σI)⁻¹: heat that flows for a random time of mean 1/σ.

    (Δ + σI)⁻¹ = ∫ e^{-σt} exp(-tΔ) dt. As the covariance of a Gaussian process it is the one whose inverse
    is the graph's own Laplacian, so that two points without an edge are independent given all others. With
    Δ = I - Ā and x in [-1, 1], 1/(1 + σ - x) = 2/s (1/2 + Σ_m ρ^{-m} T_m(x)) with s² = (1 + σ)² - 1 and
    ρ = 1 + σ + s; the series is cut at rounding error, after about 35/√(2σ) products with Ā where σ is small.

    Parameters
    ----------
    graph : Graph
        The graph.
    sigma : float, default=0.3
        σ; the smaller, the further the kernel reaches.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs.resolvent import ResolventGraph
    >>> from sidecut.graphs import as_graph
    >>> pair = as_graph(np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> ResolventGraph(pair, sigma=0.5).toarray().round(4)
    array([[1.2, 0.8],
           [0.8, 1.2]])
    """

    def __init__(self, graph: Graph, sigma: float = 0.3) -> None:
        if not np.isfinite(sigma) or sigma <= 0:
            raise ValueError(f"sigma={sigma!r}: must be a positive finite number, or Δ + σI has no inverse.")
        # Any time will do: the coefficients of a fixed time, whose number grows with it, are replaced.
        super().__init__(graph, time=1.0)
        self.time = 1.0 / sigma
        self.sigma = float(sigma)
        self.coefficients = _resolvent_coefficients(self.sigma)


class JoinedResolventGraph(Graph):
    """The kernel (Δ + σI + M)⁻¹, M = Σ (e_i - e_j)(e_i - e_j)ᵀ / ε²: the resolvent once points are joined.

    Δ + σI + M is positive definite and has no positive entry off its diagonal, as neither Δ nor M has one: it
    is an M-matrix, whose inverse has no negative entry. So nothing needs to be clipped, and the kernel is
    applied at the price of the resolvent, whatever the number of nodes.

    Parameters
    ----------
    kernel : ResolventGraph
        K = (Δ + σI)⁻¹.
    factor : array of shape (n, rank)
        F with (Δ + σI + M)⁻¹ = K - F Fᵀ.
    pairs : array of shape (m, 2)
        The points joined, none of them isolated.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs.resolvent import JoinedResolventGraph, ResolventGraph
    >>> from sidecut.graphs import as_graph
    >>> pair = ResolventGraph(as_graph(np.array([[0.0, 1.0], [1.0, 0.0]])), sigma=1.0)
    >>> apart = np.array([[1.0], [-1.0]]) * np.sqrt(1 / 3 / 2)  # what an exact link takes away
    >>> JoinedResolventGraph(pair, apart, np.array([[0, 1]])).toarray().round(4)
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """

    def __init__(self, kernel: ResolventGraph, factor: FloatArray, pairs: IntArray) -> None:
        self.kernel = kernel
        self.factor = np.asarray(factor, dtype=np.float64)
        self.pairs = pairs
        self.n_nodes = kernel.n_nodes

    def apply(self, block: FloatArray) -> FloatArray:
        """Return (K - F Fᵀ) @ block."""
        return self.kernel.apply(block) - self.factor @ (self.factor.T @ block)

    @cached_property
    def components(self) -> IntArray:
        """The connected component of every node: those of the graph, joined by the pairs."""
        before = self.kernel.components
        ends = before[self.pairs].T
        joints = sp.csr_array(
            (np.ones(len(self.pairs)), tuple(ends)), shape=(before.max(initial=-1) + 1,) * 2
        )
        number = connected_components(joints, directed=False)[1]
        return drop_isolated(np.where(before >= 0, number[before], -1), self.isolated)


@dataclass(eq=False, repr=False)
class Resolvent(GraphRecipe):
    """The kernel (Δ + σI)⁻¹ on a neighbour graph, applied and never formed.

    Parameters
    ----------
    sigma : float, default=0.3
        σ; the smaller, the further the kernel reaches.
    neighbors : Neighbors or None, default=None
        The graph; None is the twenty-nearest-neighbour graph with cosine weights for sparse data and
        self-tuning ones otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import Neighbors
    >>> from sidecut.graphs.resolvent import Resolvent
    >>> line = np.arange(6.0)[:, None]
    >>> kernel = Resolvent(0.5, neighbors=Neighbors(2, weights="binary")).build(line)
    >>> kernel.apply(np.eye(6)[0]).round(2)
    array([0.89, 0.43, 0.31, 0.1 , 0.04, 0.03])
    """

    sigma: float = 0.3
    _: KW_ONLY
    neighbors: Neighbors | None = None

    def build(self, X: npt.NDArray) -> ResolventGraph:
        """Return the kernel of the points X."""
        usual = Neighbors(20, weights="cosine" if sp.issparse(X) else "self_tuning")
        return ResolventGraph((usual if self.neighbors is None else self.neighbors).build(X), self.sigma)


def _resolvent_coefficients(sigma: float) -> FloatArray:
    """Return the Chebyshev coefficients of 1/(1 + σ - x) on [-1, 1], cut at rounding error."""
    # s² = (1 + σ)² - 1 without the difference of two ones.
    s = np.sqrt(sigma * (2.0 + sigma))
    decay = 1.0 / (1.0 + sigma + s)
    # What is left after m terms is ρ^{-m} / (1 - 1/ρ) of the first.
    length = int(np.ceil(np.log(SERIES_TOLERANCE * (1.0 - decay)) / np.log(decay)))
    coefficients = 2.0 / s * decay ** np.arange(max(2, length))
    coefficients[0] /= 2.0
    return coefficients
