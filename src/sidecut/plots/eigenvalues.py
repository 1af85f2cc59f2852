"""Eigenvalues, the candidates of AutoCut, and the relaxed indicator of a cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sidecut.checks import FloatArray
from sidecut.plots.canvas import OPEN, axes_or_new, cluster_styles, text_colour
from sidecut.plots.embedding import MAX_SHARP_POINTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_eigenvalues(values: ArrayLike, n_clusters: int, ax: Axes | None = None) -> Axes:
    """Draw eigenvalues as stems and mark the gap after the first `n_clusters`.

    A wide gap after the first K small eigenvalues is the sign of K clusters.

    Parameters
    ----------
    values : array of shape (m,)
        Eigenvalues of the Laplacian, in any order.
    n_clusters : int
        The number of clusters.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Raises
    ------
    ValueError
        If there are no eigenvalues, or they are not finite.

    Examples
    --------
    >>> ax = plot_eigenvalues([0.0, 0.02, 0.6, 0.7], n_clusters=2)
    >>> [text.get_text() for text in ax.texts]
    ['gap 0.58']
    """
    ascending = np.sort(np.atleast_1d(np.asarray(values, dtype=float)))
    if not ascending.size or not np.all(np.isfinite(ascending)):
        raise ValueError(f"Eigenvalues must be finite numbers, at least one; these are {ascending}.")
    ax = axes_or_new(ax, 6.0, 3.2, OPEN)
    colour, n_values = cluster_styles(1)[0][0], ascending.size
    order = np.arange(1, n_values + 1)
    used = order <= n_clusters
    style: dict[str, Any] = {"s": 42, "zorder": 3}
    ax.vlines(order, min(0.0, float(ascending.min())), ascending, colors=colour, linewidth=1.4, alpha=0.7)
    ax.scatter(order[used], ascending[used], c=colour, gid="used", **style)
    # An empty ring: computed, but not used.
    ax.scatter(order[~used], ascending[~used], facecolors="none", edgecolors=colour, gid="unused", **style)
    if 0 < n_clusters < n_values:
        low, high = ascending[n_clusters - 1], ascending[n_clusters]
        ax.axhspan(low, high, color=cluster_styles(3)[2][0], alpha=0.16, linewidth=0, gid="gap")
        ax.annotate(
            f"gap {high - low:.2g}",
            (0.75, (low + high) / 2),
            va="center",
            ha="left",
            color=text_colour(),
            fontsize="small",
        )
    ax.set_xlabel("eigenvalue number")
    ax.set_ylabel("eigenvalue")
    ax.set_xlim(0.5, n_values + 0.5)
    # At most twelve ticks.
    ax.set_xticks(range(1, n_values + 1, max(1, -(-n_values // 12))))
    return ax


def plot_candidates(candidates: Mapping[str, Sequence[Any]], ax: Axes | None = None) -> Axes:
    """Draw the score of every candidate, with its spread over folds; those that made the answer stand out.

    Parameters
    ----------
    candidates : mapping of str to sequence
        The `candidates_` of a fitted `AutoCut`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Raises
    ------
    ValueError
        If no candidate has a score: nothing was compared.

    Examples
    --------
    >>> table = {
    ...     "method": ["vote", "NormalizedCut"],
    ...     "graph": ["20 neighbours", "20 neighbours"],
    ...     "score": [0.95, 0.8],
    ...     "spread": [0.02, 0.05],
    ...     "verdict": ["chosen", "others were better"],
    ... }
    >>> [label.get_text() for label in plot_candidates(table).get_yticklabels()]
    ['vote, 20 neighbours', 'NormalizedCut, 20 neighbours']
    """
    scores = np.array(candidates["score"], dtype=float)
    rows = np.flatnonzero(np.isfinite(scores))
    if not rows.size:
        raise ValueError("no candidate has a score: there were too few constraints to compare any.")
    ax = axes_or_new(ax, 7.0, 1.2 + 0.28 * rows.size, OPEN)
    made = np.array(
        [str(verdict).startswith(("chosen", "in the vote")) for verdict in candidates["verdict"]]
    )[rows]
    spread = np.nan_to_num(np.array(candidates["spread"], dtype=float)[rows])
    places = np.arange(rows.size)
    colour, scores = cluster_styles(1)[0][0], scores[rows]
    style: dict[str, Any] = {"s": 42, "zorder": 3}
    ax.hlines(places, scores - spread, scores + spread, colors=colour, linewidth=1.4, alpha=0.5)
    ax.scatter(scores[made], places[made], c=colour, gid="chosen", **style)
    ax.scatter(scores[~made], places[~made], facecolors="none", edgecolors=colour, gid="left out", **style)
    names = [f"{candidates['method'][row]}, {candidates['graph'][row]}" for row in rows.tolist()]
    ax.set_yticks(places, names)
    ax.invert_yaxis()
    ax.set_xlabel("share of held-back pairs that are right")
    return ax


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
    if hasattr(model, "fit") and not hasattr(model, "indicator_"):
        raise ValueError("The model has no indicator_: fit a CSP with constraints first.")
    indicator = np.asarray(getattr(model, "indicator_", model), dtype=float)
    if indicator.ndim != 1 or not indicator.size or not np.all(np.isfinite(indicator)):
        raise ValueError(f"An indicator is a vector of finite numbers; this one has shape {indicator.shape}.")
    if X2d is None:
        ax = axes_or_new(ax, 6.4, 3.4, OPEN)
        _draw_profile(ax, indicator)
    else:
        points = np.asarray(X2d, dtype=float)
        if points.shape != (indicator.size, 2):
            raise ValueError(
                f"X2d has shape {points.shape}: two coordinates for each of {indicator.size} points."
            )
        ax = axes_or_new(ax, spines=())
        _draw_points(ax, points, indicator)
    if title:
        ax.set_title(title, loc="left", fontweight="bold")
    return ax


def _draw_profile(ax: Axes, indicator: FloatArray) -> None:
    ascending = np.sort(indicator)
    order = np.arange(1, ascending.size + 1)
    (below, _), (above, _) = cluster_styles(2)
    for colour, side, name in ((below, ascending <= 0, "negative"), (above, ascending > 0, "positive")):
        area: dict[str, Any] = {"step": "mid", "alpha": 0.25, "linewidth": 0, "gid": f"{name}-area"}
        ax.fill_between(order, 0, ascending, where=side, color=colour, **area)
        ax.plot(order[side], ascending[side], color=colour, linewidth=2.0, gid=name)
    ax.axhline(0, color=text_colour(), linewidth=0.8)
    n_below = int(np.count_nonzero(ascending <= 0))
    if 0 < n_below < ascending.size:
        ax.axvline(n_below + 0.5, color=text_colour(), linewidth=0.8, linestyle=(0, (2, 2)), gid="cut")
        ax.annotate(
            f"{n_below} | {ascending.size - n_below}",
            (n_below + 0.5, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(5, -12),
            textcoords="offset points",
            ha="left",
            color=text_colour(),
            fontsize="small",
        )
    ax.set_xlabel("points, in order of u*")
    ax.set_ylabel("u*")
    ax.set_xlim(1, ascending.size)


def _draw_points(ax: Axes, points: FloatArray, indicator: FloatArray) -> None:
    from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm

    (below, _), (above, _) = cluster_styles(2)
    # Grey at zero, so that undecided points look undecided on light and on dark paper.
    colours = LinearSegmentedColormap.from_list("sides", [below, "#b9bec6", above])
    # A few extreme entries must not take all the colour from the others.
    reach = max(float(np.quantile(np.abs(indicator), 0.9)), 1e-300)
    # Undecided points are the interesting ones, so they are on top.
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
        rasterized=len(points) > MAX_SHARP_POINTS,
        gid="points",
    )
    bar = ax.figure.colorbar(drawn, ax=ax, shrink=0.7, aspect=22, pad=0.02)
    bar.set_label("u*")
    bar.outline.set_visible(False)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.margins(0.03)
