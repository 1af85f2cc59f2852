"""The relaxed indicator of a cut: how firmly each point is on its side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sidecut.arrays import FloatArray
from sidecut.plots.canvas import axes_or_new, cluster_styles, ink
from sidecut.plots.embedding import MANY_POINTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_indicator"]


def plot_indicator(
    model: Any, X2d: ArrayLike | None = None, ax: Axes | None = None, *, title: str | None = None
) -> Axes:
    """Draw u*, the relaxed indicator of the best cut: a sorted profile, or points coloured by it.

    A wide step at zero is a clear cut; a slope through zero means that many points could lie on either side.

    Parameters
    ----------
    model : estimator or array of shape (n,)
        A CSP fitted with constraints, or an indicator itself.
    X2d : array of shape (n, 2), optional
        Where the points are drawn; without, the entries of u* are drawn in ascending order.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    title : str, optional
        Title of the picture.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Raises
    ------
    ValueError
        If there is no indicator, or `X2d` does not fit it.

    Examples
    --------
    >>> from sidecut.plots import plot_indicator
    >>> ax = plot_indicator([0.9, -1.1, 1.0])
    >>> ax.get_xlabel()
    'points, in order of u*'
    """
    indicator = _indicator_of(model)
    if X2d is None:
        ax = axes_or_new(ax, 6.4, 3.4)
        _draw_profile(ax, indicator)
    else:
        points = np.asarray(X2d, dtype=float)
        if points.shape != (indicator.size, 2):
            raise ValueError(
                f"X2d has shape {points.shape}: two coordinates for each of {indicator.size} points."
            )
        ax = axes_or_new(ax)
        _draw_points(ax, points, indicator)
    if title:
        ax.set_title(title, loc="left", fontweight="bold")
    return ax


def _indicator_of(model: Any) -> FloatArray:
    if hasattr(model, "fit") and not hasattr(model, "indicator_"):
        raise ValueError("The model has no indicator_: fit a CSP with constraints first.")
    indicator = np.asarray(getattr(model, "indicator_", model), dtype=float)
    if indicator.ndim != 1 or not indicator.size or not np.all(np.isfinite(indicator)):
        raise ValueError(f"An indicator is a vector of finite numbers; this one has shape {indicator.shape}.")
    return indicator


def _draw_profile(ax: Axes, indicator: FloatArray) -> None:
    ascending = np.sort(indicator)
    order = np.arange(1, ascending.size + 1)
    (below, _), (above, _) = cluster_styles(2)
    for colour, side, name in ((below, ascending <= 0, "negative"), (above, ascending > 0, "positive")):
        ax.fill_between(
            order,
            0,
            ascending,
            where=side,
            color=colour,
            alpha=0.25,
            linewidth=0,
            step="mid",
            gid=f"{name}-area",
        )
        ax.plot(order[side], ascending[side], color=colour, linewidth=2.0, gid=name)
    ax.axhline(0, color=ink(), linewidth=0.8)
    n_below = int(np.count_nonzero(ascending <= 0))
    if 0 < n_below < ascending.size:
        ax.axvline(n_below + 0.5, color=ink(), linewidth=0.8, linestyle=(0, (2, 2)), gid="cut")
        ax.annotate(
            f"{n_below} | {ascending.size - n_below}",
            (n_below + 0.5, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(5, -12),
            textcoords="offset points",
            ha="left",
            color=ink(),
            fontsize="small",
        )
    ax.set_xlabel("points, in order of u*")
    ax.set_ylabel("u*")
    ax.set_xlim(1, ascending.size)
    for side_name in ("top", "right"):
        ax.spines[side_name].set_visible(False)


def _draw_points(ax: Axes, points: FloatArray, indicator: FloatArray) -> None:
    from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm

    (below, _), (above, _) = cluster_styles(2)
    # Grey at zero, so that undecided points look undecided on light and on dark paper.
    colours = LinearSegmentedColormap.from_list("sides", [below, "#b9bec6", above])
    # A few extreme entries must not take all the colour from the others.
    reach = max(float(np.quantile(np.abs(indicator), 0.9)), 1e-300)
    many = len(points) > MANY_POINTS
    # Undecided points on top: they are what one looks for.
    order = np.argsort(-np.abs(indicator), kind="stable")
    drawn = ax.scatter(
        points[order, 0],
        points[order, 1],
        c=indicator[order],
        cmap=colours,
        norm=TwoSlopeNorm(0.0, -reach, reach),
        s=float(np.clip(9000.0 / len(points), 3.0, 36.0)),
        alpha=0.9,
        linewidths=0,
        rasterized=many,
        gid="points",
    )
    bar = ax.figure.colorbar(drawn, ax=ax, shrink=0.7, aspect=22, pad=0.02)
    bar.set_label("u*")
    bar.outline.set_visible(False)
    ax.set_xticks([])
    ax.set_yticks([])
    for side in ax.spines.values():
        side.set_visible(False)
    ax.margins(0.03)
