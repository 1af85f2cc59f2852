"""Labels that are known, as marked points: a line for every pair of them would hide the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sidecut.evaluation import best_matching
from sidecut.plots.palette import CANNOT, ink

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sidecut.constraints import Constraints

__all__ = ["are_labels", "draw_known_labels", "misplaced"]


def are_labels(constraints: Constraints) -> bool:
    """Tell whether the constraints are labels of some points and nothing else.

    Examples
    --------
    >>> from sidecut.constraints import Constraints
    >>> are_labels(Constraints.from_labels([0, 1, -1])), are_labels(Constraints.from_pairs(3, [(0, 1)]))
    (True, False)
    """
    if constraints.labels is None:
        return False
    n_labelled = int(np.count_nonzero(constraints.labels >= 0))
    return constraints.n_pairs == n_labelled * (n_labelled - 1) // 2


def misplaced(known: NDArray[np.intp], clusters: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the labelled points that lie in the cluster of another class.

    Parameters
    ----------
    known : array of shape (n,)
        Known classes, -1 for unknown.
    clusters : array of shape (n,)
        The clustering; clusters and classes are matched one to one as well as they can be.

    Examples
    --------
    >>> misplaced(np.array([0, 0, 0, 1, -1]), np.array([1, 1, 0, 0, 0]))
    array([2])
    """
    points = np.flatnonzero(known >= 0)
    matching = best_matching(known[points], clusters[points])
    expected = np.array([matching.get(cluster, -1) for cluster in clusters[points].tolist()])
    return points[expected != known[points]]


def draw_known_labels(
    ax: Axes, points: NDArray[np.float64], constraints: Constraints, clusters: NDArray[np.intp]
) -> list[Any]:
    """Ring the labelled points, and cross out those in the cluster of another class.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    points : array of shape (n, 2)
        Coordinates.
    constraints : Constraints
        Labels, see `are_labels`.
    clusters : array of shape (n,)
        The clustering.

    Returns
    -------
    list
        The artists, for a legend.
    """
    known = np.asarray(constraints.labels)
    labelled = np.flatnonzero(known >= 0)
    wrong = misplaced(known, clusters)
    # Smaller where there are many points, as the points are.
    style: dict[str, Any] = {"s": 90.0 if len(points) < 1000 else 45.0, "zorder": 4}
    rings = ax.scatter(
        points[labelled, 0],
        points[labelled, 1],
        facecolors="none",
        edgecolors=ink(),
        linewidths=1.4,
        label=f"label known ({labelled.size:,})",
        gid="known",
        **style,
    )
    if not wrong.size:
        return [rings]
    crosses = ax.scatter(
        points[wrong, 0],
        points[wrong, 1],
        c=CANNOT,
        marker="x",
        linewidths=2.2,
        label=f"in the cluster of another class ({wrong.size:,})",
        gid="misplaced",
        **style,
    )
    return [rings, crosses]
