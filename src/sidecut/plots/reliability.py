"""How often labels are right, by how sure they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sidecut.plots.canvas import axes_or_new, cluster_styles, ink

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_reliability"]


def plot_reliability(confidence: ArrayLike, is_right: ArrayLike, ax: Axes | None = None) -> Axes:
    """Draw the share of right labels in each tenth of the points, from the least to the most sure.

    Points on the diagonal are as often right as they are sure; above it they are too modest, below it too
    sure.

    Parameters
    ----------
    confidence : array of shape (n,)
        How sure each label is, from 0 to 1: the `confidence_` of a fitted model.
    is_right : array of bool, shape (n,)
        Whether each label is right.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Raises
    ------
    ValueError
        If the two differ in length, there are fewer than ten points, or a confidence is not from 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> sure = np.linspace(0.5, 1.0, 100)
    >>> ax = plot_reliability(sure, np.arange(100) % 10 < 8)
    >>> ax.collections[0].get_offsets()[0].round(3).tolist()
    [0.523, 0.8]
    """
    sure, right = np.asarray(confidence, dtype=float), np.asarray(is_right, dtype=float)
    if sure.shape != right.shape or sure.ndim != 1 or sure.size < 10:
        raise ValueError(
            f"confidence has shape {sure.shape} and is_right {right.shape}; give one number of each for "
            "every point, for at least ten points."
        )
    if not np.all((sure >= 0) & (sure <= 1)):
        raise ValueError(f"confidence must be from 0 to 1; it is from {sure.min()} to {sure.max()}.")
    order = np.argsort(sure, kind="stable")
    x = np.array([part.mean() for part in np.array_split(sure[order], 10)])
    y = np.array([part.mean() for part in np.array_split(right[order], 10)])
    ax = axes_or_new(ax, 5.0, 4.2)
    colour = cluster_styles(1)[0][0]
    low = min(0.5, float(x.min()), float(y.min()))
    ax.plot([low, 1.0], [low, 1.0], color=ink(), linewidth=0.8, linestyle="--", gid="as sure as right")
    ax.plot(x, y, color=colour, linewidth=1.4, alpha=0.7)
    ax.scatter(x, y, c=colour, s=42, zorder=3, gid="tenths")
    ax.set_xlabel("mean confidence of each tenth of the points")
    ax.set_ylabel("share of right labels")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax
