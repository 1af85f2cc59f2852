"""What one link makes of a kernel, as a picture (Lu & Carreira-Perpiñán, 2008, table 1 and fig. 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sidecut.methods.csap.kernel import equivalent_kernel
from sidecut.plots.canvas import CANNOT, axes_or_new, ink

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_equivalent_kernel"]


def plot_equivalent_kernel(
    K: ArrayLike,
    link: tuple[int, int],
    kind: str = "must",
    ax: Axes | None = None,
    *,
    eps: float = 0.0,
    change: bool = False,
) -> Axes:
    """Draw the kernel that one link makes of K, in the order of the points.

    Blue affinities are positive, red ones negative, which is what a cannot-link makes between the
    surroundings of its two ends. Lines mark the linked points: solid for a must-link, dashed red for a
    cannot-link.

    Parameters
    ----------
    K : array of shape (n, n)
        The kernel, its points in an order that means something, for instance along a line.
    link : tuple of two ints
        The points linked.
    kind : {"must", "cannot"}, default="must"
        What links them.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    eps : float, default=0.0
        ε of eq. 3; zero is the hard link.
    change : bool, default=False
        Draw what the link has changed, K' - K, in place of K'.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> ax = plot_equivalent_kernel(np.eye(3), (0, 1), "cannot")
    >>> ax.images[0].get_array()[0].tolist()
    [0.5, -0.5, 0.0]
    """
    K = np.asarray(K, dtype=np.float64)
    pixels = equivalent_kernel(K, link, kind, eps) - (K if change else 0.0)
    ceiling = float(np.abs(pixels).max(initial=0.0)) or 1.0
    ax = axes_or_new(ax, 5.0, 5.0)
    ax.imshow(pixels, cmap="RdBu", interpolation="nearest", vmin=-ceiling, vmax=ceiling)
    color, style = (ink(), "-") if kind == "must" else (CANNOT, "--")
    for point in link:
        ax.axhline(point, linewidth=0.6, alpha=0.6, color=color, linestyle=style)
        ax.axvline(point, linewidth=0.6, alpha=0.6, color=color, linestyle=style)
    ax.set_title(f"{'change by a' if change else 'after a'} {kind}-link", fontsize="medium")
    return ax
