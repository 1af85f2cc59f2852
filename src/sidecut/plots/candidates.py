"""The candidates AutoCut compared, best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sidecut.plots.canvas import axes_or_new, cluster_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_candidates"]

#: What the verdict of those begins with that made the answer.
CHOSEN = ("chosen", "in the vote")


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
        raise ValueError("no candidate has a score: too little was known to compare any.")
    ax = axes_or_new(ax, 7.0, 1.2 + 0.28 * rows.size)
    made = np.array([str(verdict).startswith(CHOSEN) for verdict in candidates["verdict"]])[rows]
    spread = np.nan_to_num(np.array(candidates["spread"], dtype=float)[rows])
    places = np.arange(rows.size)
    colour = cluster_styles(1)[0][0]
    ax.hlines(places, scores[rows] - spread, scores[rows] + spread, colors=colour, linewidth=1.4, alpha=0.5)
    ax.scatter(scores[rows][made], places[made], c=colour, s=42, zorder=3, gid="chosen")
    ax.scatter(
        scores[rows][~made],
        places[~made],
        facecolors="none",
        edgecolors=colour,
        s=42,
        zorder=3,
        gid="left out",
    )
    names = [f"{candidates['method'][row]}, {candidates['graph'][row]}" for row in rows.tolist()]
    ax.set_yticks(places, names)
    ax.invert_yaxis()
    ax.set_xlabel("share of pairs held back that are right (must-links and cannot-links alike)")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax
