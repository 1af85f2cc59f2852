"""Where pictures are drawn: figures of their own, never matplotlib's global ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from sidecut.checks import IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "CANNOT",
    "align_clusters",
    "axes_or_new",
    "cluster_styles",
    "ink",
    "new_figure",
    "require_matplotlib",
]


def require_matplotlib() -> Any:
    """Import matplotlib, or say how to get it."""
    try:
        import matplotlib
    except ImportError as error:
        message = 'Pictures need matplotlib, which is not installed: pip install "sidecut[plots]"'
        raise ImportError(message) from error
    return matplotlib


def new_figure(width: float = 6.0, height: float = 5.0) -> Figure:
    """Make a figure that belongs to nobody but the caller.

    It is not registered with pyplot, so nothing has to be closed and nothing leaks; save it with
    ``figure.savefig(path)``, or let a notebook show it by ending a cell with it.
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def axes_or_new(ax: Axes | None, width: float = 6.0, height: float = 5.0) -> Axes:
    """Return the axes given, or new ones on a figure of their own."""
    require_matplotlib()
    return new_figure(width, height).add_subplot() if ax is None else ax


# Colours and shapes that stay apart for colour-blind eyes, on paper and on dark screens.


# Okabe and Ito (2008) without black, which does not show on dark paper, and without vermillion, which would
# be mistaken for the red of the cannot-links; then four more, told apart from these by their lightness.
_COLOURS = (
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#B8A800"),
    *("#7A6FB0", "#882255", "#805A2C", "#9AA0A6"),
)
_MARKERS = ("o", "^", "s", "D", "v", "P", "X")

CANNOT = "#D1242F"
"""The red of cannot-links."""


def ink() -> str:
    """Return the colour text is written in at the moment: matplotlib's ``text.color``.

    Lines that must be seen on light and on dark paper use it instead of black.
    """
    from matplotlib import rcParams

    return str(rcParams["text.color"])


def cluster_styles(n_clusters: int) -> list[tuple[str, str]]:
    """Give each cluster a colour and a marker, no two clusters the same up to 70.

    Colours change first; when they are used up the marker changes, so that shape tells apart what
    colour no longer can.
    """
    n_colours, n_markers = len(_COLOURS), len(_MARKERS)
    return [(_COLOURS[c % n_colours], _MARKERS[c // n_colours % n_markers]) for c in range(n_clusters)]


def align_clusters(labels: NDArray, reference: NDArray) -> IntArray:
    """Rename clusters so that they agree with a reference as far as they can.

    Cluster numbers mean nothing, so two clusterings side by side would get different colours for the
    same group. The renaming maximises the number of points that keep their number (an assignment
    problem on the contingency table); clusters left without a partner take the next free numbers.

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
    return renamed[own]
