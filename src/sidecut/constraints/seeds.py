"""Seeds: points whose cluster the constraints determine, in whatever form they are given."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from sidecut.checks import FloatArray, IntArray
from sidecut.constraints.closure import Components
from sidecut.constraints.value import Constraints
from sidecut.exceptions import ConstraintWarning, warn

#: Labels per cluster up to which they are too few to hold some out.
FEW_LABELS = 2


@dataclass(frozen=True, eq=False)
class Seeds:
    """Points whose cluster is known."""

    points: IntArray
    cluster: IntArray
    weight: FloatArray

    @property
    def n_seeded(self) -> int:
        """The number of clusters that have a seed."""
        return int(self.cluster.max(initial=-1)) + 1

    def name_all(self, n_clusters: int) -> bool:
        """Return whether every cluster has a seed; two points are but a pair."""
        return self.n_seeded == n_clusters and len(self.points) > 2

    def are_few(self, n_clusters: int) -> bool:
        """Return whether no seed can be held out, as far as their number goes."""
        return len(self.points) <= FEW_LABELS * n_clusters

    def indicator(self, n_points: int, n_clusters: int) -> FloatArray:
        """Return the sources Y: the weight of every seed in the column of its cluster."""
        sources = np.zeros((n_points, n_clusters))
        sources[self.points, self.cluster] = self.weight
        return sources


def find_seeds(constraints: Constraints, n_clusters: int) -> Seeds:
    """Return the seeds that the constraints name, or none where these are pairs rather than labels.

    Labels say that the points of a class are together and that classes are apart. In any form this shows as
    must-linked sets that are pairwise apart (`_sets_apart`). The numbers of their clusters are arbitrary. If
    they are less than half of the clusters, and hold less than half of the constrained points, the
    constraints are pairs, and there are no seeds.
    """
    sets = contract_links(constraints)
    chosen = _sets_apart(sets, constraints, n_clusters)
    if len(chosen) > n_clusters:
        warn(
            f"The constraints name {len(chosen)} or more sets of points that are all apart, but "
            f"n_clusters={n_clusters}: they cannot all have a cluster of their own and are used as pairs. "
            f"Choose n_clusters >= {len(chosen)}.",
            ConstraintWarning,
        )
    held = np.count_nonzero(np.isin(sets.component, chosen))
    are_pairs = 2 * len(chosen) < n_clusters and 2 * held < len(sets.points)
    if are_pairs or len(chosen) > n_clusters:
        chosen = []
    # A set is numbered by its first point, so clusters are numbered in the order of the points.
    number = np.full(sets.n_components, -1, dtype=np.int64)
    number[np.sort(np.array(chosen, dtype=np.intp))] = np.arange(len(chosen))
    cluster = number[sets.component]
    points, cluster = sets.points[cluster >= 0], cluster[cluster >= 0]
    return Seeds(points, cluster, _seed_weights(constraints, points, cluster))


def _sets_apart(sets: Components, constraints: Constraints, n_clusters: int) -> list[int]:
    """Return sets that are pairwise apart, labels first, at most one more than there are clusters."""
    sizes = np.bincount(sets.component, minlength=sets.n_components)
    ends = np.concatenate([sets.apart, sets.apart[:, ::-1]])
    order = np.argsort(ends[:, 0], kind="stable")
    starts = np.searchsorted(ends[order, 0], np.arange(sets.n_components + 1))
    labels = constraints.labels
    is_labelled = np.zeros(sets.n_components, dtype=bool)
    if labels is not None:
        is_labelled[sets.component[labels[sets.points] >= 0]] = True
    # Greedily: labels, then the sets that are apart from most others, then the largest.
    left = np.lexsort((-sizes, -np.diff(starts), ~is_labelled))
    chosen: list[int] = []
    while len(left) and len(chosen) <= n_clusters:
        one = int(left[0])
        chosen.append(one)
        is_apart = np.zeros(sets.n_components, dtype=bool)
        is_apart[ends[order[starts[one] : starts[one + 1]], 1]] = True
        left = left[is_apart[left]]
    return chosen


def _seed_weights(constraints: Constraints, points: IntArray, cluster: IntArray) -> FloatArray:
    """Return the strength of each seed: the strongest of its relations to the first seed of any cluster."""
    strength, largest = np.zeros(len(points)), constraints.largest_strength()
    for first in np.unique(cluster, return_index=True)[1]:
        there = np.full(len(points), points[first])
        strength = np.maximum(strength, np.abs(constraints.entries(points, there)) * (points != there))
    # A single label, or a point joined to a seed by links to others of its set, has no such relation.
    return np.where(strength > 0, strength, largest if largest > 0 else 1.0)


def contract_links(constraints: Constraints) -> Components:
    """Return must-linked sets and which are apart; of contradicting links the stronger count."""
    with warnings.catch_warnings():
        # Links may contradict each other; all of them stay in the energy.
        warnings.simplefilter("ignore", ConstraintWarning)
        return constraints.without_conflicts().components
