"""The tree of clusters of Layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sidecut.checks import FloatArray, IntArray
from sidecut.plots.canvas import OPEN, axes_or_new, cluster_styles, text_colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The most clusters that are drawn, those with the largest smallest sizes.
MAX_DRAWN = 400


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
