"""Gaussian and self-tuning affinities, and the rules that choose their widths."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.metrics.pairwise import euclidean_distances

from sidecut.graphs.graph import FloatArray
from sidecut.graphs.lazy import TiledGraph

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
    >>> GaussianGraph(np.array([[0.0], [1.0]]), sigma=1.0).to_dense().round(4)
    array([[0.    , 0.6065],
           [0.6065, 0.    ]])
    """

    def __init__(self, X: npt.NDArray, sigma: float, self_loops: bool = False) -> None:
        self.X = X
        self.sigma = float(sigma)
        self.self_loops = self_loops
        self.n_nodes = int(X.shape[0])

    def tile(self, rows: slice) -> FloatArray:
        """Return the weights of some rows."""
        squared = _squared_distances(self.X, rows)
        np.multiply(squared, -0.5 / self.sigma**2, out=squared)
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
        self.X = X
        self.scales = np.asarray(scales, dtype=np.float64)
        self.n_nodes = int(X.shape[0])

    def tile(self, rows: slice) -> FloatArray:
        """Return the weights of some rows; the diagonal is zero, as in the paper."""
        squared = _squared_distances(self.X, rows)
        squared /= -self.scales[rows, None] * self.scales[None, :]
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
    rules = {"mean": np.mean, "median": np.median}
    if sigma not in rules:
        raise ValueError(f"sigma={sigma!r} is not a rule; use a positive number, 'mean' or 'median'.")
    step = -(-X.shape[0] // BANDWIDTH_SAMPLE)
    distances = euclidean_distances(X[::step])
    return width_of_distances(distances[np.triu_indices_from(distances, k=1)], sigma)


def width_of_distances(distances: npt.NDArray, rule: str) -> float:
    """Return the mean or median of the positive distances, or 1 where all points coincide."""
    positive = distances[distances > 0]
    if positive.size == 0:
        return 1.0
    return float(np.mean(positive) if rule == "mean" else np.median(positive))


def positive_width(sigma: float) -> float:
    """Return sigma, or say why it cannot be a width."""
    if not np.isfinite(sigma) or sigma <= 0:
        raise ValueError(f"sigma={sigma!r} is not a width; it must be a positive finite number.")
    return sigma


def local_scales(distances: npt.NDArray, neighbor: int = 7) -> FloatArray:
    """Return σ_i, the distance of every point to its `neighbor`-th nearest neighbour.

    Parameters
    ----------
    distances : array of shape (n, k)
        Distances to the nearest neighbours in ascending order, the point itself left out.
    neighbor : int, default=7
        Which neighbour sets the scale; the last one where fewer are given.

    Returns
    -------
    array of shape (n,)
        Positive scales. A point with so many duplicates that the distance is zero takes its first
        positive distance instead, or the smallest scale of all points if it has none.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import local_scales
    >>> local_scales(np.array([[1.0, 2.0], [0.0, 0.5], [0.0, 0.0]]), neighbor=1)
    array([1. , 0.5, 0.5])
    """
    column = min(neighbor, distances.shape[1]) - 1
    scales = np.asarray(distances[:, column], dtype=np.float64).copy()
    stuck = np.flatnonzero(scales <= 0)
    later = np.where(distances[stuck] > 0, distances[stuck], np.inf).min(axis=1, initial=np.inf)
    scales[stuck] = later
    smallest = scales[np.isfinite(scales) & (scales > 0)].min(initial=np.inf)
    scales[~np.isfinite(scales)] = smallest if np.isfinite(smallest) else 1.0
    return scales


def scaled_features(X: Any, sigma: npt.ArrayLike | str) -> npt.NDArray:
    """Divide every feature by its own width, so that a Gaussian with σ = 1 has one width per feature.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        The points.
    sigma : array of shape (d,) or "feature_std"
        The widths, or each feature's standard deviation; a constant feature carries no distance.
    """
    if isinstance(sigma, str):
        dense = np.asarray(X.todense() if sp.issparse(X) else X, dtype=np.float64)
        widths = dense.std(axis=0)
        # A constant feature has standard deviation of the order of rounding, not exactly zero.
        constant = widths <= 1e-12 * np.abs(dense).max(axis=0, initial=0.0)
        widths = np.where(constant, np.inf, widths)
        return dense / widths
    widths = np.asarray(sigma, dtype=np.float64)
    if widths.shape != (X.shape[1],):
        raise ValueError(f"sigma has {widths.size} widths for {X.shape[1]} features; give one per feature.")
    for width in widths:
        positive_width(float(width))
    return X @ sp.diags_array(1.0 / widths) if sp.issparse(X) else X / widths


def _squared_distances(X: npt.NDArray, rows: slice) -> FloatArray:
    squared = euclidean_distances(X[rows], X, squared=True)
    return np.asarray(squared, dtype=np.float64)


def _exponential(exponents: FloatArray, rows: slice, diagonal: float) -> FloatArray:
    """Return exp(exponents) in place, with W_ii set for the rows of this tile."""
    weights = np.exp(exponents, out=exponents)
    height = rows.stop - rows.start
    weights[np.arange(height), np.arange(rows.start, rows.stop)] = diagonal
    return weights
