"""Where pictures are drawn: figures of their own, never matplotlib's global ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from sidecut.checks import IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito (2008) without black, which does not show on dark paper, and without vermillion, which is too
# near the red of cannot-links; then four more, which differ from these in lightness.
_COLOURS = (
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#B8A800"),
    *("#7A6FB0", "#882255", "#805A2C", "#9AA0A6"),
)
_MARKERS = ("o", "^", "s", "D", "v", "P", "X")
#: The red of cannot-links.
CANNOT = "#D1242F"
#: The spines of a picture with two axes.
OPEN = ("left", "bottom")


def require_matplotlib() -> Any:
    """Import matplotlib, or say how to get it."""
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError(
            "Pictures need matplotlib, which is not installed: pip install matplotlib"
        ) from error
    return matplotlib


def new_figure(width: float = 6.0, height: float = 5.0) -> Figure:
    """Return a figure that pyplot does not know, so that nothing has to be closed."""
    require_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def axes_or_new(
    ax: Axes | None, width: float = 6.0, height: float = 5.0, spines: Sequence[str] | None = None
) -> Axes:
    """Return the axes given, or new ones on a figure of their own, with these spines (default: all)."""
    require_matplotlib()
    ax = new_figure(width, height).add_subplot() if ax is None else ax
    if spines is not None:
        for name, spine in ax.spines.items():
            spine.set_visible(name in spines)
    return ax


def text_colour() -> str:
    """Return matplotlib's ``text.color``, which is visible on light and on dark paper."""
    from matplotlib import rcParams

    return str(rcParams["text.color"])


#: Colour and marker of noise, points without a cluster.
NOISE_STYLE = ("#8c8c8c", ".")


def cluster_styles(n_clusters: int) -> list[tuple[str, str]]:
    """Return a colour and a marker for each cluster, different up to 70 clusters; colours change first."""
    n_colours, n_markers = len(_COLOURS), len(_MARKERS)
    return [(_COLOURS[c % n_colours], _MARKERS[c // n_colours % n_markers]) for c in range(n_clusters)]


def align_clusters(labels: NDArray, reference: NDArray) -> IntArray:
    """Rename clusters so that most points have the same number as in a reference.

    Cluster numbers are arbitrary, so two clusterings side by side would have different colours for the same
    group. The renaming maximises the number of points that keep their number (an assignment problem on the
    contingency table); clusters left without a partner take the next free numbers. Noise, -1, stays noise.

    Parameters
    ----------
    labels : array of shape (n,)
        Clusters to rename.
    reference : array of shape (n,)
        Clusters to agree with, numbered 0, 1, ...

    Returns
    -------
    array of shape (n,)
        The clusters of `labels` under new numbers.

    Examples
    --------
    >>> align_clusters([7, 7, 3, 3, 5], [0, 0, 1, 1, 1]).tolist()
    [0, 0, 1, 1, 2]
    """
    names, own = np.unique(np.asarray(labels), return_inverse=True)
    wanted, theirs = np.unique(np.asarray(reference), return_inverse=True)
    rows, columns = linear_sum_assignment(contingency_matrix(own, theirs), maximize=True)
    renamed = np.full(names.size, -1, dtype=np.intp)
    renamed[rows] = wanted[columns]
    lonely = np.flatnonzero(renamed < 0)
    renamed[lonely] = int(max(wanted.max(), -1)) + 1 + np.arange(lonely.size)
    return np.where(names[own] == -1, -1, renamed[own])
