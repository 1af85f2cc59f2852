"""The distances between embedded points as a picture: how far a method has pulled its clusters apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import pairwise_distances

from sidecut.plots.canvas import axes_or_new
from sidecut.plots.pair_matrix import frame_clusters, sorted_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MAX_DISTANCE_POINTS", "plot_distances"]

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
