"""The heat diffusion kernel exp(-tΔ) on a graph, applied without forming it."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.special import ive

from sidecut.arrays import FloatArray, IntArray
from sidecut.graphs.graph import Graph, NormalizedAffinity, drop_isolated

#: The Chebyshev series is cut where what is left of it is below this.
SERIES_TOLERANCE = 1e-15
#: A degree below this is the rounding error of the series, whose terms are of order one.
ROUNDING = 1e-13


class HeatGraph(Graph):
    """The graph whose weights are exp(-tΔ), Δ the normalised Laplacian of another graph.

    With Δ = I - Ā and the spectrum of Ā in [-1, 1], the Chebyshev series
    exp(-tΔ) = e^{-t} (I_0(t) + 2 Σ_m I_m(t) T_m(Ā)) has coefficients that fall faster than exponentially
    past m = t, and its remainder is bounded by the sum of the coefficients left out; so the series is
    cut at rounding error and costs about t + 6√t products with Ā.

    An isolated node exchanges no heat and stays isolated, and so does one whose links are so weak that its
    degree in exp(-tΔ) is rounding error.

    Parameters
    ----------
    graph : Graph
        The graph heat flows on.
    time : float, default=20.0
        The diffusion time t (20 for the newsgroups of Lu and Carreira-Perpiñán, 2008).

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import HeatGraph, as_graph
    >>> pair = as_graph(np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> HeatGraph(pair, time=1.0).toarray().round(4)
    array([[0.5677, 0.4323],
           [0.4323, 0.5677]])
    """

    def __init__(self, graph: Graph, time: float = 20.0) -> None:
        if not np.isfinite(time) or time <= 0:
            raise ValueError(f"time={time!r}: heat needs a positive finite time to flow.")
        self.graph = graph
        self.time = float(time)
        self.n_nodes = graph.n_nodes
        self._affinity = NormalizedAffinity(graph)
        self.coefficients = _heat_coefficients(self.time)

    @cached_property
    def degrees(self) -> FloatArray:
        """The weighted degree of every node, zero where it is lost in rounding."""
        degrees = self.apply(np.ones(self.n_nodes))
        return np.where(degrees > ROUNDING, degrees, 0.0)

    @cached_property
    def components(self) -> IntArray:
        """The connected component of every node: heat reaches all of a component and nothing beyond."""
        return drop_isolated(self.graph.components, self.isolated)

    def toarray(self) -> FloatArray:
        """Return exp(-tΔ) as a dense array; for small graphs only."""
        weights = super().toarray()
        # Rounding leaves entries of order -1e-17 where heat has hardly arrived.
        return np.maximum(0.5 * (weights + weights.T), 0.0)

    def apply(self, block: FloatArray) -> FloatArray:
        """Return exp(-tΔ) @ block by the three-term Chebyshev recurrence."""
        linked = self._affinity.scale > 0
        block = np.where(linked if block.ndim == 1 else linked[:, None], block, 0.0)
        previous, current = block, self._affinity.apply(block)
        result = self.coefficients[0] * previous + self.coefficients[1] * current
        for coefficient in self.coefficients[2:]:
            previous, current = current, 2 * self._affinity.apply(current) - previous
            result += coefficient * current
        return result


def _heat_coefficients(time: float) -> FloatArray:
    """Return the Chebyshev coefficients of exp(-t(1 - x)) on [-1, 1], cut at rounding error."""
    length = int(time + 12 * np.sqrt(time) + 40)
    coefficients = 2.0 * ive(np.arange(length), time)
    coefficients[0] /= 2.0
    remainder = np.cumsum(coefficients[::-1])[::-1]
    return coefficients[: max(2, int(np.searchsorted(-remainder, -SERIES_TOLERANCE)))]
