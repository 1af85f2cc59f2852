"""What pictures of matrices over pairs of points share: the points shown, their order, the lines between."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sidecut.plots.palette import ink

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["frame_clusters", "sorted_points"]


def sorted_points(
    n: int, labels: ArrayLike | None, at_most: int, random_state: int
) -> tuple[NDArray[np.intp], NDArray]:
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
