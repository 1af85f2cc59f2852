"""Colours that stay with a cluster while answers change it."""

from __future__ import annotations

import numpy as np

from sidecut.arrays import IntArray


def first_colors(labels: IntArray) -> IntArray:
    """Return a colour for every cluster, the largest first."""
    sizes = np.bincount(labels)
    colors = np.empty(len(sizes), dtype=np.intp)
    colors[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    return colors


def carry_colors(before: IntArray, colors: IntArray, after: IntArray) -> IntArray:
    """Return colours for new clusters: each takes that of the old one it shares most points with, if free.

    Parameters
    ----------
    before : array of shape (n,)
        The old clusters.
    colors : array of shape (n_old,)
        Their colours.
    after : array of shape (n,)
        The new clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.studio.colors import carry_colors
    >>> carry_colors(np.array([0, 0, 0, 1]), np.array([5, 2]), np.array([0, 1, 1, 2]))
    array([0, 5, 2])
    """
    shared = np.zeros((len(colors), int(after.max()) + 1), dtype=np.intp)
    np.add.at(shared, (before, after), 1)
    new = np.full(shared.shape[1], -1, dtype=np.intp)
    for at in np.argsort(-shared, axis=None, kind="stable"):
        a, b = np.unravel_index(int(at), shared.shape)
        if shared[a, b] and new[b] < 0 and colors[a] not in new:
            new[b] = colors[a]
    free = (color for color in range(len(new) + len(colors)) if color not in new)
    for b in np.flatnonzero(new < 0):
        new[b] = next(free)
    return new
