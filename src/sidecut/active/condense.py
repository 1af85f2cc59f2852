"""Labels for a given number of clusters, and how much two labellings differ."""

from __future__ import annotations

import numpy as np

from sidecut.active.belief import Belief
from sidecut.arrays import BoolArray, FloatArray, IntArray


def condense(belief: Belief, n_clusters: int | None) -> IntArray:
    """Return the cluster of each class: the class itself, or classes joined until there are `n_clusters`.

    The two classes with the greatest linkage are joined first, and none that are known to be apart.
    """
    columns = np.arange(belief.n_classes)
    if n_clusters is None:
        return columns
    linkage, apart = belief.linkage.copy(), classes_apart(belief)
    np.fill_diagonal(linkage, -1.0)
    while len(np.unique(columns)) > n_clusters:
        possible = np.where(apart, -1.0, linkage)
        a, b = np.unravel_index(int(np.argmax(possible)), possible.shape)
        if possible[a, b] < 0:
            break
        columns[columns == b] = a
        linkage[a] = np.maximum(linkage[a], linkage[b])
        apart[a] |= apart[b]
        linkage[:, a], apart[:, a] = linkage[a], apart[a]
        linkage[b], linkage[:, b] = -1.0, -1.0
        linkage[a, a] = -1.0
    return np.unique(columns, return_inverse=True)[1].astype(np.intp)


def classes_apart(belief: Belief) -> BoolArray:
    """Tell which classes hold points that are known to be apart."""
    known = belief.knowledge
    column = belief.labels[known.nodes]
    member = np.zeros((belief.n_classes, known.n_groups), dtype=bool)
    member[column, known.groups] = True
    counts = member.astype(float)
    return counts @ known.apart.astype(float) @ counts.T > 0


def regrouped(before: IntArray, after: IntArray, sizes: FloatArray) -> float:
    """Return the share of all pairs of points that are together in one labelling and not in the other.

    With n_ab points in cluster a of one and b of the other: (Σ n_a² + Σ n_b² - 2 Σ n_ab²) / n².

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.active.condense import regrouped
    >>> regrouped(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), np.ones(4))
    0.375
    """
    joint = np.zeros((before.max() + 1, after.max() + 1))
    np.add.at(joint, (before, after), sizes)
    squares = (joint.sum(axis=1) ** 2).sum() + (joint.sum(axis=0) ** 2).sum() - 2 * (joint**2).sum()
    return float(squares / sizes.sum() ** 2)
