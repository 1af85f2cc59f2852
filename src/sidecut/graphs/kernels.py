"""Kernels as graphs: Gaussian and self-tuning affinities, the rules for their widths, heat, resolvent."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.special import ive
from sklearn.utils.sparsefuncs import mean_variance_axis

from sidecut.checks import FloatArray, IntArray
from sidecut.graphs.graph import Graph, NormalizedAffinity, drop_isolated
from sidecut.graphs.lazy import ROUNDING, TiledGraph
from sidecut.graphs.search import as_points, finite_matrix

#: A Chebyshev series is cut where its remainder is below this.
SERIES_TOLERANCE = 1e-15
#: Beyond this many points the mean and the median distance are taken over a fixed sample of points.
BANDWIDTH_SAMPLE = 4_000


class GaussianGraph(TiledGraph):
    """The full Gaussian affinity exp(-‖x_i - x_j‖² / (2σ²)), evaluated tile by tile.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        The points.
    sigma : float
        The width σ.
    self_loops : bool, default=False
        Keep the ones on the diagonal. A cut never sees them, but they enter the degrees.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import GaussianGraph
    >>> GaussianGraph(np.array([[0.0], [1.0]]), sigma=1.0).toarray().round(4)
    array([[0.    , 0.6065],
           [0.6065, 0.    ]])
    """

    def __init__(self, X: npt.NDArray, sigma: float, self_loops: bool = False) -> None:
        self.points = as_points(X)
        self.sigma = positive_width(float(sigma))
        self.self_loops = self_loops
        self.n_nodes = self.points.n_points

    def tile(self, rows: slice) -> FloatArray:
        """Return the weights of some rows."""
        squared = self.points.squared_distances(rows)
        squared *= -0.5 * _ratios(self.points.unit, self.sigma) ** 2
        return _exponential(squared, rows, 1.0 if self.self_loops else 0.0)


class SelfTuningGraph(TiledGraph):
    """The locally scaled affinity exp(-‖x_i - x_j‖² / (σ_i σ_j)) of Zelnik-Manor and Perona (2004).

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        The points.
    scales : array of shape (n,)
        σ_i, for instance the distance to the seventh neighbour (`local_scales`).
    """

    def __init__(self, X: npt.NDArray, scales: FloatArray) -> None:
        self.points = as_points(X)
        self.scales = np.asarray(scales, dtype=np.float64)
        self.n_nodes = self.points.n_points

    def tile(self, rows: slice) -> FloatArray:
        """Return the weights of some rows; the diagonal is zero, as in the paper."""
        squared = self.points.squared_distances(rows)
        ratios = _ratios(self.points.unit, self.scales)
        squared *= -ratios[rows, None]
        squared *= ratios[None, :]
        return _exponential(squared, rows, 0.0)


def bandwidth(X: npt.NDArray, sigma: float | str) -> float:
    """Return the width σ of a Gaussian: a given number, or the mean or median distance between points.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        The points. Beyond 4,000 the rule looks at 4,000 of them, evenly spaced.
    sigma : float, "mean" or "median"
        The width or the rule.

    Returns
    -------
    float
        A positive width.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import bandwidth
    >>> float(bandwidth(np.array([[0.0], [1.0], [3.0]]), "mean"))
    2.0
    """
    if not isinstance(sigma, str):
        return positive_width(float(sigma))
    X = finite_matrix(X)
    step = max(1, -(-X.shape[0] // BANDWIDTH_SAMPLE))
    sample = as_points(X[::step])
    squared = sample.squared_distances(slice(0, sample.n_points))
    above = ~np.tri(sample.n_points, dtype=bool)
    return sample.unit * width_of_distances(np.sqrt(squared[above]), sigma)


def width_of_distances(distances: npt.NDArray, sigma: float | str) -> float:
    """Return a given width, or the mean or median of the positive distances, 1 where there are none."""
    if not isinstance(sigma, str):
        return positive_width(float(sigma))
    if sigma not in ("mean", "median"):
        raise ValueError(f"sigma={sigma!r} is not a rule; use a positive number, 'mean' or 'median'.")
    positive = distances[distances > 0]
    if positive.size == 0:
        return 1.0
    return float(np.mean(positive) if sigma == "mean" else np.median(positive))


def positive_width(sigma: float) -> float:
    """Return sigma, or say why it cannot be a width."""
    if not np.isfinite(sigma) or sigma <= 0:
        raise ValueError(f"sigma={sigma!r} is not a width; it must be a positive finite number.")
    return sigma


def scale_features(X: Any, sigma: npt.ArrayLike | str) -> Any:
    """Divide every feature by its own width, so that a Gaussian with σ = 1 has one width per feature."""
    X = finite_matrix(X)
    widths = _standard_deviations(X) if isinstance(sigma, str) else np.asarray(sigma, dtype=np.float64)
    if widths.shape != (X.shape[1],):
        raise ValueError(f"sigma has {widths.size} widths for {X.shape[1]} features; give one per feature.")
    if not isinstance(sigma, str):
        for width in widths:
            positive_width(float(width))
    return sp.csr_array(X @ sp.diags_array(1.0 / widths)) if sp.issparse(X) else X / widths


def _standard_deviations(X: Any) -> FloatArray:
    """Return the standard deviation of each feature at any scale, infinite for a constant feature."""
    ends = (X.max(axis=0), X.min(axis=0))
    highest, lowest = (np.asarray(end.todense() if sp.issparse(end) else end).ravel() for end in ends)
    largest = np.maximum(np.abs(highest), np.abs(lowest))
    largest = np.where(largest > 0, largest, 1.0)
    if sp.issparse(X):
        variances = mean_variance_axis(sp.csr_matrix(X @ sp.diags_array(1.0 / largest)), axis=0)[1]
        widths = largest * np.sqrt(variances)
    else:
        widths = largest * (X / largest).std(axis=0)
    # Compare the values: rounding gives a constant feature a tiny standard deviation, not exactly zero.
    return np.where(highest == lowest, np.inf, widths)


def _ratios(unit: float, widths: Any) -> Any:
    """Return unit / widths, at most 1e150, whose square is finite: 0 · ∞ would turn duplicates into NaN."""
    with np.errstate(over="ignore"):
        return np.minimum(unit / widths, 1e150)


def _exponential(exponents: FloatArray, rows: slice, diagonal: float) -> FloatArray:
    """Return exp(exponents) in place, with W_ii set for the rows of this tile."""
    weights = np.exp(exponents, out=exponents)
    height = rows.stop - rows.start
    weights[np.arange(height), np.arange(rows.start, rows.stop)] = diagonal
    return weights


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
        # The terms of the series are of order one.
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
    >>> from sidecut.graphs import ResolventGraph
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
    >>> from sidecut.graphs import JoinedResolventGraph, ResolventGraph
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
