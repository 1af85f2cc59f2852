"""Curves: eigenvalues, layers, reliability of confidences, a dialogue, evidence for numbers of clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sidecut.active import Answer
from sidecut.active.records import Record, kind_of
from sidecut.checks import FloatArray, IntArray
from sidecut.plots.canvas import CANNOT, OPEN, axes_or_new, cluster_styles, text_colour
from sidecut.plots.embedding import MAX_SHARP_POINTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sidecut.selection.n_clusters import NumberCurve

#: The most clusters that are drawn, those with the largest smallest sizes.
MAX_DRAWN = 400


def plot_reliability(confidence: ArrayLike, is_right: ArrayLike, ax: Axes | None = None) -> Axes:
    """Draw the share of right labels in each tenth of the points, from the least to the most sure.

    On the diagonal the confidence is the share of right labels; above it confidences are too low, below it
    too high.

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
    ax = axes_or_new(ax, 5.0, 4.2, OPEN)
    colour = cluster_styles(1)[0][0]
    low = min(0.5, float(x.min()), float(y.min()))
    ax.plot(
        [low, 1.0], [low, 1.0], color=text_colour(), linewidth=0.8, linestyle="--", gid="as sure as right"
    )
    ax.plot(x, y, color=colour, linewidth=1.4, alpha=0.7)
    ax.scatter(x, y, c=colour, s=42, zorder=3, gid="tenths")
    ax.set_xlabel("mean confidence of each tenth of the points")
    ax.set_ylabel("share of right labels")
    return ax


def plot_dialogue(
    history: Sequence[Record], scores: Sequence[float] | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the share of all pairs of points that each answer regrouped, and the score after each.

    Parameters
    ----------
    history : sequence of Answer, ClassAnswer and SetAnswer
        The `history_` of an `ActiveClustering`.
    scores : sequence of float, optional
        How good the clusters were before the first answer and after each, so one more number than answers:
        the adjusted Rand index of each labelling of `run.replay()`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Raises
    ------
    ValueError
        If the history is empty, or the number of scores does not fit.

    Examples
    --------
    >>> from sidecut.active import Answer
    >>> answers = [Answer(0, 1, True, changed=0.2), Answer(1, 2, False), Answer(2, 3, None)]
    >>> [text.get_text() for text in plot_dialogue(answers).get_legend().get_texts()]
    ['together', 'apart', 'unsure']
    """
    if not history:
        raise ValueError("the history has no answers, so there is nothing to draw.")
    if scores is not None and len(scores) != len(history) + 1:
        raise ValueError(
            f"there are {len(history)} answers and {len(scores)} scores; give one before the first and one "
            "after each."
        )
    ax = axes_or_new(ax, 8.0, 3.6, ("left", "bottom", "right"))
    numbers = np.arange(1, len(history) + 1)
    changed = np.array([record.changed for record in history])
    kinds = [record.same if isinstance(record, Answer) else kind_of(record) for record in history]
    (blue, _), (orange, _), (green, _), (purple, _) = cluster_styles(4)
    styles: dict[bool | str | None, tuple[str, str, str]] = {
        True: ("together", blue, "o"),
        False: ("apart", CANNOT, "x"),
        None: ("unsure", orange, "s"),
        "label": ("a class was named", green, "D"),
        "set": ("a set was divided", purple, "P"),
    }
    ax.vlines(numbers, 0.0, changed, colors=text_colour(), linewidth=1.0, alpha=0.35)
    for kind, (label, colour, marker) in styles.items():
        here = np.array([found == kind for found in kinds])
        if here.any():
            ax.scatter(numbers[here], changed[here], c=colour, marker=marker, s=30, zorder=3, label=label)
    ax.set_ylim(bottom=-0.02 * max(float(changed.max()), 0.01))
    ax.legend(frameon=False, loc="center right")
    ax.set_xlabel("question")
    ax.set_ylabel("share of pairs regrouped")
    ax.set_xlim(-0.5, len(history) + 0.5)
    ax.locator_params(axis="x", integer=True)
    if scores is not None:
        right = ax.twinx()
        right.plot(np.arange(len(scores)), scores, color=green, linewidth=1.8, gid="score")
        right.set_ylim(min(0.0, min(scores)), 1.02)
        right.set_ylabel("adjusted Rand index (line)")
        right.spines["top"].set_visible(False)
    return ax


def plot_n_clusters(curve: NumberCurve, ax: Axes | None = None) -> Axes:
    """Draw the evidence for each number of clusters: gaps, agreement with what is known, persistence.

    Parameters
    ----------
    curve : NumberCurve
        The `n_clusters_curve_` of a fitted `AutoCut`.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The axes with the gaps of the spectrum. Agreement, where cuts were compared with what is known, and
        the persistence of layers, where they were asked, are on an axis of their own at the right.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from sidecut import AutoCut
    >>> X, _ = make_blobs(300, n_features=5, centers=5, cluster_std=0.8, random_state=0)
    >>> ax = plot_n_clusters(AutoCut(random_state=0).fit(X).n_clusters_curve_)
    >>> int(ax.patches[4].get_height() == max(bar.get_height() for bar in ax.patches))
    1
    """
    ax = axes_or_new(ax, 6.0, 3.8, OPEN)
    (colour, _), (other, _), *_ = cluster_styles(2)
    is_chosen = curve.n_clusters == curve.best
    bars = ax.bar(curve.n_clusters, curve.eigengap, color=colour, alpha=0.45, gid="eigengap")
    for bar, chosen in zip(bars, is_chosen, strict=True):
        if chosen:
            bar.set_alpha(1.0)
    ax.set_xlabel(f"number of clusters (chosen: {curve.best})")
    ax.set_ylabel("gap after this eigenvalue")
    tried, persists = ~np.isnan(curve.agreement), ~np.isnan(curve.persistence)
    words = []
    if (tried | persists).any():
        right = ax.twinx()
        right.set_ylim(0.0, 1.05)
        if tried.any():
            right.plot(
                curve.n_clusters[tried], curve.agreement[tried], color=other, marker="o", gid="agreement"
            )
            words.append("agreement with what is known (line)")
        if persists.any():
            right.plot(
                curve.n_clusters[persists], curve.persistence[persists], "D", color=other, gid="layers"
            )
            words.append("persistence of layers (diamonds)")
        right.set_ylabel("\n".join(words), color=other)
    return ax


def plot_layers(model: Any, ax: Axes | None = None) -> Axes:
    """Draw every cluster of the tree as a block, as wide as it has points and as high as it persists.

    The smallest size that counts as a cluster grows upwards: at any height, the blocks that are cut are
    a layer. A line marks each persistent layer, with its number of clusters; colours are those of the layer
    that is marked boldly, the most persistent one.

    Parameters
    ----------
    model : Layers
        Fitted.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Raises
    ------
    ValueError
        If the model has no tree.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from sidecut import Layers
    >>> from sidecut.plots import plot_layers
    >>> X, _ = make_blobs(600, centers=6, cluster_std=0.5, random_state=4)
    >>> ax = plot_layers(Layers(random_state=0).fit(X))
    >>> [text.get_text() for text in ax.texts]
    ['6', '11', '26']
    """
    if not hasattr(model, "tree_"):
        raise ValueError("The model has no tree_: fit Layers first.")
    ax = axes_or_new(ax, 7.0, 3.8, OPEN)
    tree = model.tree_
    left = _places(tree["parent"], tree["size"])
    n_drawn = min(len(left), 2 * (MAX_DRAWN // 2) + 1)
    boldest = int(np.argmax(model.persistence_)) if len(model.layers_) else -1
    colour_of = _colours(tree["parent"], len(np.unique(model.layers_[boldest])) if boldest >= 0 else 1)
    for branch in range(1, n_drawn):
        ax.bar(
            left[branch],
            tree["death"][branch] - tree["birth"][branch],
            tree["size"][branch],
            tree["birth"][branch],
            align="edge",
            color=colour_of[branch],
            edgecolor=ax.get_facecolor(),
            linewidth=0.4,
            gid=f"cluster {branch}",
        )
    for number, labels in enumerate(model.layers_):
        count = len(np.unique(labels))
        # Between the size of the last edge that is cut and that of the next.
        high = float(tree["death"][2 * count - 2])
        low = float(tree["death"][2 * count - 1]) if 2 * count - 1 < len(left) else float(model.min_size)
        height, bold = np.sqrt(high * low), number == boldest
        ax.axhline(height, color=text_colour(), linewidth=1.6 if bold else 0.7, gid=f"layer {count}")
        ax.annotate(
            str(count),
            (1.0, height),
            xycoords=("axes fraction", "data"),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            color=text_colour(),
            fontsize="small",
            fontweight="bold" if bold else "normal",
        )
    ax.set_yscale("log")
    ax.set_ylim(bottom=model.min_size)
    ax.set_xlim(0, float(tree["size"][0]))
    ax.set_xlabel("points, side by side with those of the same cluster")
    ax.set_ylabel("smallest size of a cluster")
    return ax


def _places(parent: IntArray, size: IntArray) -> FloatArray:
    """Return where the block of every branch begins: the first child at its parent, the second after it."""
    left = np.zeros(len(parent))
    for branch in range(1, len(parent), 2):
        left[branch] = left[parent[branch]]
        left[branch + 1] = left[branch] + size[branch]
    return left


def _colours(parent: IntArray, n_clusters: int) -> list[str]:
    """Return the colours of branches: those of a cluster of the layer, grey above."""
    styles, grey = cluster_styles(n_clusters), "#b9bec6"
    colours, named = [grey] * len(parent), 0
    split = np.full(len(parent), len(parent), dtype=np.int64)
    split[parent[1::2]] = np.arange(len(parent) // 2)
    for branch in range(1, len(parent)):
        above = colours[parent[branch]]
        if above != grey:
            colours[branch] = above
        elif branch <= 2 * n_clusters - 2 and split[branch] >= n_clusters - 1:
            colours[branch], named = styles[named][0], named + 1
    return colours


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
