"""Which points stand for which cluster: sets of must-linked points that are all apart from one another."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints, Contraction
from sidecut.exceptions import ConstraintWarning, warn


@dataclass(frozen=True, eq=False)
class Anchors:
    """Points whose cluster is known.

    Parameters
    ----------
    points : array of shape (c,)
        The points, sorted.
    cluster : array of shape (c,)
        The cluster of each, numbered in the order in which the points meet them.
    weight : array of shape (c,)
        How firmly each is believed.
    """

    points: IntArray
    cluster: IntArray
    weight: FloatArray

    @property
    def n_anchored(self) -> int:
        """How many clusters have an anchor."""
        return int(self.cluster.max(initial=-1)) + 1

    def indicator(self, n_points: int, n_clusters: int) -> FloatArray:
        """Return the sources Y: the weight of every anchor in the column of its cluster."""
        sources = np.zeros((n_points, n_clusters))
        sources[self.points, self.cluster] = self.weight
        return sources

    def and_also(self, points: IntArray, cluster: IntArray) -> Anchors:
        """Return these and further anchors of weight 1."""
        everyone = np.concatenate([self.points, points])
        order = np.argsort(everyone, kind="stable")
        clusters = np.concatenate([self.cluster, cluster])
        weights = np.concatenate([self.weight, np.ones(len(points))])
        return Anchors(everyone[order], clusters[order], weights[order])


def find_anchors(constraints: Constraints, n_clusters: int) -> Anchors:
    """Return the anchors that constraints name, or none where they are pairs rather than labels.

    Labels say that the points of a class are together and that classes are apart. Whatever form such
    knowledge has, it shows as must-linked sets that are pairwise apart. Labels are taken first, then the sets
    that are apart from most others, and
    a set joins if it is apart from all before it. Naming the clusters of such sets takes nothing away, since
    names are arbitrary. Where they are less than half of the clusters and hold less than half of the points
    about which something is known, the knowledge is pairs, and there are no anchors.

    Parameters
    ----------
    constraints : Constraints
        What is known. Contradictions are settled in favour of the stronger links, for this purpose only.
    n_clusters : int
        The number of clusters.

    Warns
    -----
    ConstraintWarning
        If more sets are pairwise apart than there are clusters: all become links.

    Examples
    --------
    >>> from sidecut import Constraints
    >>> from sidecut.methods.poisson.anchors import find_anchors
    >>> anchors = find_anchors(Constraints.from_labels(["b", None, "a", "b"]), n_clusters=2)
    >>> anchors.points.tolist(), anchors.cluster.tolist()
    ([0, 2, 3], [0, 1, 0])
    """
    sets = contract_beliefs(constraints)
    chosen = _sets_apart(sets, constraints, n_clusters)
    if len(chosen) > n_clusters:
        warn(
            f"the constraints name {len(chosen)} or more sets of points that are all apart, but "
            f"n_clusters={n_clusters}: they cannot all have a cluster of their own and are taken as pairs. "
            f"Choose n_clusters >= {len(chosen)}.",
            ConstraintWarning,
        )
    held = np.count_nonzero(np.isin(sets.component, chosen))
    are_pairs = 2 * len(chosen) < n_clusters and 2 * held < len(sets.points)
    if are_pairs or len(chosen) > n_clusters:
        chosen = []
    return _anchors_of(sets, chosen, constraints)


def contract_beliefs(constraints: Constraints) -> Contraction:
    """Return must-linked sets and which are apart; of contradicting links the stronger count."""
    with warnings.catch_warnings():
        # Beliefs may contradict each other; all of them stay in the energy.
        warnings.simplefilter("ignore", ConstraintWarning)
        return constraints.without_conflicts().contracted()


def _sets_apart(sets: Contraction, constraints: Constraints, n_clusters: int) -> list[int]:
    """Return sets that are pairwise apart, labels first, at most one more than there are clusters."""
    sizes = np.bincount(sets.component, minlength=sets.n_components)
    ends = np.concatenate([sets.apart, sets.apart[:, ::-1]])
    order = np.argsort(ends[:, 0], kind="stable")
    starts = np.searchsorted(ends[order, 0], np.arange(sets.n_components + 1))
    labels = constraints.labels
    is_grouped = np.zeros(sets.n_components, dtype=bool)
    if labels is not None:
        is_grouped[sets.component[labels[sets.points] >= 0]] = True
    # What is apart from most others fits best; a class of labels is apart from all other classes.
    ranked = np.lexsort((-sizes, -np.diff(starts), ~is_grouped))
    chosen: list[int] = []
    for one in ranked:
        enemies = ends[order[starts[one] : starts[one + 1]], 1]
        if np.isin(chosen, enemies).all():
            chosen.append(int(one))
        if len(chosen) > n_clusters:
            break
    return chosen


def _anchors_of(sets: Contraction, chosen: list[int], constraints: Constraints) -> Anchors:
    # A set's number counts from its first point, so clusters are numbered as the points meet them.
    number = np.full(sets.n_components, -1, dtype=np.int64)
    number[np.sort(np.array(chosen, dtype=np.intp))] = np.arange(len(chosen))
    cluster = number[sets.component]
    points = sets.points[cluster >= 0]
    cluster = cluster[cluster >= 0]
    return Anchors(points, cluster, _beliefs(constraints, points, cluster))


def _beliefs(constraints: Constraints, points: IntArray, cluster: IntArray) -> FloatArray:
    """Return how firmly each anchor is believed: the strongest relation to the first of any cluster."""
    strength = np.zeros(len(points))
    for first in np.unique(cluster, return_index=True)[1]:
        there = np.full(len(points), points[first])
        strength = np.maximum(strength, np.abs(constraints.entries(points, there)) * (points != there))
    # The only label of all, or points joined to an anchor by links to others of its set.
    largest = constraints.largest_strength()
    return np.where(strength > 0, strength, largest if largest > 0 else 1.0)
