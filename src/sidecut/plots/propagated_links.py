"""Propagated constraints as lines between points: fig. 3 of Lu & Ip (2010)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sidecut.plots.canvas import axes_or_new
from sidecut.plots.palette import CANNOT, ink

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_propagated_links"]


class HasStrongest(Protocol):
    """A matrix over pairs of points that can be asked for its strongest pairs."""

    @property
    def n_samples(self) -> int:
        """Number of points."""

    def strongest(self, n: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
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
    >>> from sidecut.methods.rewriting import propagated
    >>> path = as_graph(np.eye(4, k=1) + np.eye(4, k=-1))
    >>> F = propagated(path, Constraints.from_pairs(4, cannot_link=[(0, 3)]))
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


def _draw(
    ax: Axes, segments: NDArray[np.float64], opacity: NDArray[np.float64], color: str, style: Any, label: str
) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba_array

    colors = np.repeat(to_rgba_array(color), len(segments), axis=0)
    # A line that cannot be seen is not there: the faintest keep a tenth.
    colors[:, 3] = 0.1 + 0.9 * opacity
    ax.add_collection(
        LineCollection(list(segments), colors=colors, linestyles=style, linewidths=0.9, zorder=1, label=label)
    )
