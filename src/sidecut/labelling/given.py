"""What was given stands: points whose class is known are in a cluster of that class."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from sidecut.checks import IntArray
from sidecut.constraints import Constraints


def keep_given_classes(
    labels: IntArray, constraints: Constraints, n_clusters: int
) -> tuple[IntArray, IntArray]:
    """Return labels in which every point with a given class is in a cluster of that class.

    Every class is matched with a cluster of its own, so that as many labelled points as possible are in the
    cluster of their class (the Hungarian method). The other clusters are of the class that most of their
    labelled points have. A labelled point in a cluster of another class moves to the one its class is
    matched with. Where there are fewer clusters than classes, and without labels, nothing changes.

    Parameters
    ----------
    labels : array of shape (n,)
        The cluster of every point.
    constraints : Constraints
        What was given.
    n_clusters : int
        How many clusters there may be.

    Returns
    -------
    labels : array of shape (n,)
        The clusters with what was given.
    moved : array of int
        The points that changed their cluster.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut import Constraints
    >>> from sidecut.labelling import keep_given_classes
    >>> known = Constraints.from_labels(["cat", "cat", "dog", None, "cat"])
    >>> keep_given_classes(np.array([0, 0, 1, 1, 1]), known, 2)
    (array([0, 0, 1, 1, 0]), array([4]))
    """
    given = constraints.labels
    nothing = labels, np.empty(0, dtype=np.intp)
    if given is None:
        return nothing
    points = np.flatnonzero(given >= 0)
    n_classes = len(np.unique(given[points]))
    n_clusters = max(n_clusters, int(labels.max(initial=0)) + 1)
    if not n_classes or n_classes > n_clusters:
        return nothing
    codes = np.unique(given[points], return_inverse=True)[1]
    counts = np.zeros((n_clusters, n_classes))
    np.add.at(counts, (labels[points], codes), 1)
    # A class without a cluster rather gets one without labels than one of another class.
    is_unlabelled = counts.sum(axis=1, keepdims=True) == 0
    own, matched = linear_sum_assignment(counts + 0.5 * is_unlabelled, maximize=True)
    class_of = np.where(is_unlabelled[:, 0], -1, counts.argmax(axis=1))
    class_of[own] = matched
    cluster_of = np.empty(n_classes, dtype=np.intp)
    cluster_of[matched] = own
    wrong = class_of[labels[points]] != codes
    kept = labels.copy()
    kept[points[wrong]] = cluster_of[codes[wrong]]
    return kept, points[wrong]
