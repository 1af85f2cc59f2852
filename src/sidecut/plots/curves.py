"""Reliability of confidences, a dialogue, and the evidence for each number of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sidecut.active import Answer
from sidecut.active.records import Record, kind_of
from sidecut.plots.canvas import CANNOT, OPEN, axes_or_new, cluster_styles, text_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sidecut.selection.n_clusters import NumberCurve


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
