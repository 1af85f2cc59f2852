"""Propagated constraints as a picture: which pairs were found to belong together, and which apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sidecut.plots.canvas import axes_or_new
from sidecut.plots.pair_matrix import frame_clusters, sorted_points
from sidecut.plots.palette import ink

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MAX_PROPAGATED_POINTS", "plot_propagated"]

MAX_PROPAGATED_POINTS = 600
"""A picture has no more pixels than this to give; of more points a sample is drawn."""


class HasEntries(Protocol):
    """A matrix over pairs of points that can be asked for some of its entries."""

    @property
    def n_samples(self) -> int:
        """Number of points."""

    def entries(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.float64]:
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


def _ceiling(sizes: NDArray[np.float64]) -> float:
    # The pairs that were given stand out so far that the others would be invisible beside them.
    return float(np.quantile(sizes[sizes > 0], 0.99)) if sizes.any() else 1.0
