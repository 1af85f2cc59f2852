"""What pictures of matrices over pairs of points share: the points shown, their order, the lines between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.metrics import pairwise_distances

from sidecut.arrays import FloatArray, IntArray
from sidecut.graphs.graph import Graph
from sidecut.methods.csap.kernel import equivalent_kernel
from sidecut.plots.canvas import CANNOT, axes_or_new, ink

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def sorted_points(
    n: int, labels: ArrayLike | None, at_most: int, random_state: int
) -> tuple[IntArray, NDArray]:
    """Return the points to show, sorted by cluster, and their clusters.

    Parameters
    ----------
    n : int
        How many points there are.
    labels : array of shape (n,), optional
        Their clusters; without them all are in one.
    at_most : int
        Of more points a random sample of this size is shown.
    random_state : int
        Seed of the sample.

    Raises
    ------
    ValueError
        If the labels are not one for each point.

    Examples
    --------
    >>> points, clusters = sorted_points(4, [1, 0, 1, 0], at_most=10, random_state=0)
    >>> points.tolist(), clusters.tolist()
    ([1, 3, 0, 2], [0, 0, 1, 1])
    """
    clusters = np.zeros(n, dtype=np.intp) if labels is None else np.asarray(labels)
    if clusters.shape != (n,):
        raise ValueError(f"labels has shape {clusters.shape}: one label for each of {n} points.")
    shown = np.arange(n, dtype=np.intp)
    if n > at_most:
        shown = np.sort(np.random.default_rng(random_state).choice(n, at_most, replace=False)).astype(np.intp)
    shown = shown[np.argsort(clusters[shown], kind="stable")]
    return shown, clusters[shown]


def frame_clusters(ax: Axes, clusters: NDArray, n: int, colour: str) -> None:
    """Draw lines between clusters, and say in the title where only some of n points are shown.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where the matrix is drawn.
    clusters : array of shape (m,)
        The clusters of the points that are shown, sorted.
    n : int
        How many points there are.
    colour : str
        Of the lines.

    Examples
    --------
    >>> from sidecut.plots.canvas import axes_or_new
    >>> ax = axes_or_new(None)
    >>> frame_clusters(ax, np.array([0, 0, 1]), 3, "white")
    >>> len(ax.lines)
    2
    """
    for boundary in np.flatnonzero(np.diff(np.unique(clusters, return_inverse=True)[1])) + 0.5:
        ax.axhline(boundary, color=colour, linewidth=0.7)
        ax.axvline(boundary, color=colour, linewidth=0.7)
    ax.set_xticks([])
    ax.set_yticks([])
    if clusters.size < n:
        ax.set_title(f"{clusters.size:,} of {n:,} points", loc="left", fontsize="small", color=ink())


# The graph as a picture: a matrix whose blocks are the clusters.


MAX_AFFINITY_POINTS = 1000
"""A picture has no more pixels than this to give; larger graphs are sampled."""


def plot_affinity(
    affinity: Any, labels: ArrayLike | None = None, ax: Axes | None = None, *, random_state: int = 0
) -> Axes:
    """Draw an affinity matrix, its points sorted by cluster.

    Good clusters are dark blocks on the diagonal with little outside them. Above a thousand points a
    random sample is drawn, and the title says so. Weights are shown on a square-root scale, since a few
    heavy edges would otherwise leave the rest invisible.

    Parameters
    ----------
    affinity : Graph, array or sparse matrix of shape (n, n)
        Weights between points.
    labels : array of shape (n,), optional
        Clusters to sort by; without them the order of the points is kept.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    random_state : int
        Seed of the sample.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Raises
    ------
    ValueError
        If the matrix is not square or the labels do not fit it.

    Examples
    --------
    >>> ax = plot_affinity(np.eye(4), [1, 0, 1, 0])
    >>> ax.images[0].get_array().shape
    (4, 4)
    """
    weights = _explicit(affinity)
    n = _size(weights)
    clusters = np.zeros(n, dtype=np.intp) if labels is None else np.asarray(labels)
    if clusters.shape != (n,):
        raise ValueError(f"labels has shape {clusters.shape}: one label for each of {n} points.")
    shown = _sample(n, random_state)
    shown = shown[np.argsort(clusters[shown], kind="stable")]
    ax = axes_or_new(ax, 5.0, 5.0)
    pixels = np.sqrt(np.maximum(_block(weights, shown), 0.0))
    ax.imshow(pixels, cmap="cividis", interpolation="nearest", vmin=0.0, vmax=_ceiling(pixels))
    _mark_clusters(ax, clusters[shown])
    _tidy(ax, shown.size, n)
    return ax


def _explicit(affinity: Any) -> Any:
    """Return the matrix behind a graph if there is one, so that rows can be cut out of it."""
    if isinstance(affinity, Graph):
        return affinity if affinity.matrix is None else affinity.matrix
    return affinity if sparse.issparse(affinity) else np.asarray(affinity, dtype=float)


def _size(weights: Any) -> int:
    shape = (weights.n_nodes, weights.n_nodes) if isinstance(weights, Graph) else weights.shape
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"An affinity must be a square matrix; this one has shape {tuple(shape)}.")
    return int(shape[0])


def _sample(n: int, random_state: int) -> IntArray:
    if n <= MAX_AFFINITY_POINTS:
        return np.arange(n)
    chosen = np.random.default_rng(random_state).choice(n, MAX_AFFINITY_POINTS, replace=False)
    return np.sort(chosen).astype(np.intp)


def _block(weights: Any, rows: IntArray) -> FloatArray:
    """Cut the rows and columns shown out of the weights, without ever making all of them dense."""
    if isinstance(weights, Graph):
        # A graph that is only ever applied still multiplies unit vectors, which pick its columns.
        units = np.zeros((weights.n_nodes, rows.size))
        units[rows, np.arange(rows.size)] = 1.0
        return weights.apply(units)[rows]
    if sparse.issparse(weights):
        return np.asarray(sparse.csr_array(weights)[rows][:, rows].toarray(), dtype=float)
    return np.asarray(weights[np.ix_(rows, rows)])


def _ceiling(weights: FloatArray) -> float:
    # The diagonal (self-loops) says nothing about clusters and must not set the scale.
    off_diagonal = weights[~np.eye(len(weights), dtype=bool)]
    positive = off_diagonal[off_diagonal > 0]
    return float(np.quantile(positive, 0.99)) if positive.size else 1.0


def _mark_clusters(ax: Axes, clusters: NDArray) -> None:
    for boundary in np.flatnonzero(np.diff(np.unique(clusters, return_inverse=True)[1])) + 0.5:
        ax.axhline(boundary, color="white", linewidth=0.8, alpha=0.8)
        ax.axvline(boundary, color="white", linewidth=0.8, alpha=0.8)


def _tidy(ax: Axes, n_shown: int, n: int) -> None:
    ax.set_xticks([])
    ax.set_yticks([])
    if n_shown < n:
        ax.set_title(f"{n_shown:,} of {n:,} points", loc="left", fontsize="small", color=ink())


# The distances between embedded points as a picture: how far a method has pulled its clusters apart.


MAX_DISTANCE_POINTS = 1000
"""A picture has no more pixels than this to give; of more points a sample is drawn."""


def plot_distances(
    embedding: ArrayLike, labels: ArrayLike | None = None, ax: Axes | None = None, *, random_state: int = 0
) -> Axes:
    """Draw the distances between the rows of an embedding, sorted by cluster (fig. 7 of Lu & Ip, 2010).

    The darker, the closer. Compact clusters far from one another are dark blocks on the diagonal of a light
    picture. Of more than a thousand points a random sample is drawn, and the title says so.

    Parameters
    ----------
    embedding : array of shape (n, d)
        One row per point, such as the `embedding_` of an estimator.
    labels : array of shape (n,), optional
        Clusters to sort by; without them the order of the points is kept.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    random_state : int
        Seed of the sample.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Raises
    ------
    ValueError
        If the embedding has no rows and columns, or the labels are not one for each row.

    Examples
    --------
    >>> ax = plot_distances([[0.0], [3.0], [1.0]], labels=[0, 1, 0])
    >>> ax.images[0].get_array().tolist()
    [[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]]
    """
    points = np.asarray(embedding, dtype=np.float64)
    if points.ndim != 2:
        raise ValueError(f"embedding has shape {points.shape}: one row for each point, one column or more.")
    n = points.shape[0]
    shown, clusters = sorted_points(n, labels, MAX_DISTANCE_POINTS, random_state)
    ax = axes_or_new(ax, 5.0, 5.0)
    ax.imshow(pairwise_distances(points[shown]), cmap="cividis", interpolation="nearest", vmin=0.0)
    frame_clusters(ax, clusters, n, "white")
    return ax


# What one link makes of a kernel, as a picture (Lu & Carreira-Perpiñán, 2008, table 1 and fig. 1).


def plot_equivalent_kernel(
    K: ArrayLike,
    link: tuple[int, int],
    kind: str = "must",
    ax: Axes | None = None,
    *,
    eps: float = 0.0,
    change: bool = False,
) -> Axes:
    """Draw the kernel that one link makes of K, in the order of the points.

    Blue affinities are positive, red ones negative, which is what a cannot-link makes between the
    surroundings of its two ends. Lines mark the linked points: solid for a must-link, dashed red for a
    cannot-link.

    Parameters
    ----------
    K : array of shape (n, n)
        The kernel, its points in an order that means something, for instance along a line.
    link : tuple of two ints
        The points linked.
    kind : {"must", "cannot"}, default="must"
        What links them.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    eps : float, default=0.0
        ε of eq. 3; zero is the hard link.
    change : bool, default=False
        Draw what the link has changed, K' - K, in place of K'.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> ax = plot_equivalent_kernel(np.eye(3), (0, 1), "cannot")
    >>> ax.images[0].get_array()[0].tolist()
    [0.5, -0.5, 0.0]
    """
    K = np.asarray(K, dtype=np.float64)
    pixels = equivalent_kernel(K, link, kind, eps) - (K if change else 0.0)
    ceiling = float(np.abs(pixels).max(initial=0.0)) or 1.0
    ax = axes_or_new(ax, 5.0, 5.0)
    ax.imshow(pixels, cmap="RdBu", interpolation="nearest", vmin=-ceiling, vmax=ceiling)
    color, style = (ink(), "-") if kind == "must" else (CANNOT, "--")
    for point in link:
        ax.axhline(point, linewidth=0.6, alpha=0.6, color=color, linestyle=style)
        ax.axvline(point, linewidth=0.6, alpha=0.6, color=color, linestyle=style)
    ax.set_title(f"{'change by a' if change else 'after a'} {kind}-link", fontsize="medium")
    return ax
