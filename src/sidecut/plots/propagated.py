"""Propagated constraints as a picture: which pairs were found to belong together, and which apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from sidecut.arrays import FloatArray, IntArray
from sidecut.plots.canvas import CANNOT, axes_or_new, ink
from sidecut.plots.matrices import frame_clusters, sorted_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MAX_PROPAGATED_POINTS", "plot_propagated", "plot_propagated_links"]


MAX_PROPAGATED_POINTS = 600
"""A picture has no more pixels than this to give; of more points a sample is drawn."""


class HasEntries(Protocol):
    """A matrix over pairs of points that can be asked for some of its entries."""

    @property
    def n_samples(self) -> int:
        """Number of points."""

    def entries(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return the entries at some places."""


def plot_propagated(
    propagated: HasEntries, labels: ArrayLike | None = None, ax: Axes | None = None, *, random_state: int = 0
) -> Axes:
    """Draw the matrix F of propagated constraints, its points sorted by cluster.

    Blue pairs belong together, red ones apart, the fainter the less confidently. Clusters that agree with F
    are blue blocks on the diagonal with red around them. Confidences span orders of magnitude, so colours
    show the square root of |F_ij|. Of more than 600 points a random sample is drawn, and the title says so.

    Parameters
    ----------
    propagated : PropagatedConstraints
        ``E2CP(...).fit(...).propagated_constraints_``, or anything else with `n_samples` and
        `entries(rows, columns)`, such as Constraints, to compare with what was given.
    labels : array of shape (n_samples,), optional
        Clusters to sort by; without them the order of the points is kept.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    random_state : int
        Seed of the sample.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Raises
    ------
    ValueError
        If the labels are not one for each point.

    Examples
    --------
    >>> from sidecut.constraints import Constraints
    >>> ax = plot_propagated(Constraints.from_labels([0, 1, 0, 1]), [0, 1, 0, 1])
    >>> ax.images[0].get_array()[0].tolist()
    [1.0, 1.0, -1.0, -1.0]
    """
    n = propagated.n_samples
    shown, clusters = sorted_points(n, labels, MAX_PROPAGATED_POINTS, random_state)
    rows, columns = np.meshgrid(shown, shown, indexing="ij")
    values = propagated.entries(rows.ravel(), columns.ravel()).reshape(rows.shape)
    pixels = np.sign(values) * np.sqrt(np.abs(values))
    ceiling = _ceiling(np.abs(pixels))
    ax = axes_or_new(ax, 5.0, 5.0)
    ax.imshow(pixels, cmap="RdBu", interpolation="nearest", vmin=-ceiling, vmax=ceiling)
    frame_clusters(ax, clusters, n, ink())
    return ax


def _ceiling(sizes: FloatArray) -> float:
    # The pairs that were given stand out so far that the others would be invisible beside them.
    return float(np.quantile(sizes[sizes > 0], 0.99)) if sizes.any() else 1.0


# Propagated constraints as lines between points: fig. 3 of Lu & Ip (2010).


class HasStrongest(Protocol):
    """A matrix over pairs of points that can be asked for its strongest pairs."""

    @property
    def n_samples(self) -> int:
        """Number of points."""

    def strongest(self, n: int) -> tuple[IntArray, FloatArray]:
        """Return the strongest pairs and their strengths."""


def plot_propagated_links(
    points: ArrayLike,
    propagated: HasStrongest,
    ax: Axes | None = None,
    *,
    n_pairs: int = 300,
    at_least: float = 0.0,
) -> Axes:
    """Draw the strongest propagated constraints as lines: solid for together, dashed red for apart.

    The fainter a line, the less confident; the strongest is opaque.

    Parameters
    ----------
    points : array of shape (n_samples, 2)
        Coordinates in the plane.
    propagated : PropagatedConstraints
        ``E2CP(...).fit(...).propagated_constraints_``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    n_pairs : int, default=300
        Draw at most so many, the strongest.
    at_least : float, default=0.0
        Leave out pairs of less confidence, |F_ij|; fig. 3 of the paper has 0.1.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Raises
    ------
    ValueError
        If the points are not in the plane, or not those of F.

    Examples
    --------
    >>> from sidecut import Constraints
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.methods.e2cp.propagation import propagate
    >>> path = as_graph(np.eye(4, k=1) + np.eye(4, k=-1))
    >>> F = propagate(path, Constraints.from_pairs(4, cannot_link=[(0, 3)]))
    >>> ax = plot_propagated_links(np.array([[0, 0], [1, 0], [2, 0], [3, 0]]), F, n_pairs=2)
    >>> [lines.get_label() for lines in ax.collections[1:]]
    ['apart (2)']
    """
    where = np.asarray(points, dtype=np.float64)
    if where.shape != (propagated.n_samples, 2):
        raise ValueError(
            f"points has shape {where.shape}: two coordinates for each of {propagated.n_samples} points. "
            "`project_for_picture` makes them of more."
        )
    pairs, strengths = propagated.strongest(n_pairs)
    pairs, strengths = pairs[np.abs(strengths) >= at_least], strengths[np.abs(strengths) >= at_least]
    ax = axes_or_new(ax)
    ax.scatter(where[:, 0], where[:, 1], s=12, color=ink(), zorder=2)
    for sign, word, color, style in ((1, "together", ink(), "solid"), (-1, "apart", CANNOT, (0, (4, 2.5)))):
        here = np.sign(strengths) == sign
        if here.any():
            opacity = np.abs(strengths[here]) / np.abs(strengths).max()
            _draw(ax, where[pairs[here]], opacity, color, style, f"{word} ({here.sum():,})")
    if pairs.size:
        ax.legend(loc="best", fontsize="small")
    return ax


def _draw(ax: Axes, segments: FloatArray, opacity: FloatArray, color: str, style: Any, label: str) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba_array

    colors = np.repeat(to_rgba_array(color), len(segments), axis=0)
    # A line that cannot be seen is not there: the faintest keep a tenth.
    colors[:, 3] = 0.1 + 0.9 * opacity
    ax.add_collection(
        LineCollection(list(segments), colors=colors, linestyles=style, linewidths=0.9, zorder=1, label=label)
    )
