"""Where semi-supervised kernel k-means starts: must-link neighbourhoods, far apart, grown along the graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.graphs import Graph

#: Of more must-link neighbourhoods than this, only the largest are looked at.
MOST_NEIGHBOURHOODS = 100
#: The mark of a point that is in no cluster yet.
UNKNOWN = -1


@dataclass(frozen=True)
class Growth:
    """Clusters grown from seeds, and when each point was reached.

    Attributes
    ----------
    labels : array of shape (n,)
        The cluster of every point; -1 where no path leads from a seed.
    rounds : array of shape (n,)
        The round in which it was reached, 0 for seeds; one more than the last where it never was.
    affinities : array of shape (n,)
        Its mean affinity to its cluster when it was reached.
    """

    labels: IntArray
    rounds: IntArray
    affinities: FloatArray

    def farthest(self, candidates: IntArray, rng: np.random.RandomState) -> int:
        """Return the candidate that was reached last, of several one least similar to what reached it."""
        last = candidates[self.rounds[candidates] == self.rounds[candidates].max()]
        least = self.affinities[last]
        return int(rng.choice(last[least <= least.min()]))


def neighbourhoods(constraints: Constraints) -> list[IntArray]:
    """Return the sets of two or more points that must-links join, the largest first.

    Examples
    --------
    >>> from sidecut import Constraints
    >>> from sidecut.methods.sskk.seeding import neighbourhoods
    >>> neighbourhoods(Constraints.from_pairs(6, must_link=[(0, 5), (1, 2), (2, 3)]))
    [array([1, 2, 3]), array([0, 5])]
    """
    component = np.asarray(constraints.must_link_components())
    order = np.argsort(component, kind="stable")
    sets = np.split(order, np.flatnonzero(np.diff(component[order])) + 1)
    return sorted((members for members in sets if len(members) > 1), key=len, reverse=True)


def farthest_first(
    apply: Callable[[FloatArray], FloatArray], sets: list[IntArray], n_chosen: int, n_points: int
) -> list[IntArray]:
    """Choose sets of points that are far from one another: the largest, then again and again the farthest.

    Parameters
    ----------
    apply : callable
        Returns B @ block, the similarities with links in them; the distance of two sets is that of their
        means, B(a, a) / |a|² + B(b, b) / |b|² - 2 B(a, b) / (|a| |b|), which no shift can change the order of
        among sets of one size.
    sets : list of arrays
        The largest first; of equally far ones the first is taken.
    n_chosen : int
        How many to choose.
    n_points : int
        How many points there are.
    """
    sets = sets[: max(MOST_NEIGHBOURHOODS, n_chosen)]
    means = np.zeros((n_points, len(sets)))
    for column, members in enumerate(sets):
        means[members, column] = 1.0 / len(members)
    similar = means.T @ apply(means)
    lengths = np.diagonal(similar)
    distances = lengths[:, None] + lengths - 2.0 * similar
    chosen = [0]
    while len(chosen) < min(n_chosen, len(sets)):
        nearest = distances[:, chosen].min(axis=1)
        nearest[chosen] = -np.inf
        chosen.append(int(nearest.argmax()))
    return [sets[place] for place in chosen]


def grow(graph: Graph, seeds: IntArray, n_clusters: int) -> Growth:
    """Let clusters grow from seeds along the edges, each point to the cluster it is most similar to.

    The distance to a mean cannot tell clusters apart where a point has no affinity to any seed, as most
    points of a sparse graph; their neighbours can.

    Parameters
    ----------
    graph : Graph
        The graph.
    seeds : array of shape (n,)
        The cluster of every seed, -1 for other points.
    n_clusters : int
        The number of clusters.
    """
    labels, rounds = seeds.copy(), np.zeros(seeds.size, dtype=np.intp)
    affinities = np.full(seeds.size, np.inf)
    reached, n_rounds = labels != UNKNOWN, 0
    while reached.any():
        n_rounds += 1
        known = np.flatnonzero(labels != UNKNOWN)
        indicators = np.zeros((seeds.size, n_clusters))
        indicators[known, labels[known]] = 1.0
        means = graph.apply(indicators) / np.maximum(indicators.sum(axis=0), 1.0)
        reached = (labels == UNKNOWN) & (means.max(axis=1) > 0)
        labels[reached] = means[reached].argmax(axis=1)
        affinities[reached], rounds[reached] = means[reached].max(axis=1), n_rounds
    rounds[labels == UNKNOWN] = n_rounds
    affinities[labels == UNKNOWN] = 0.0
    return Growth(labels, rounds, affinities)


def seed_labels(graph: Graph, sets: list[IntArray], n_clusters: int, rng: np.random.RandomState) -> IntArray:
    """Return a start with `n_clusters` clusters, grown from sets of points and, if too few, from lone points.

    Parameters
    ----------
    graph : Graph
        The graph.
    sets : list of arrays
        At most `n_clusters` sets, the seeds of as many clusters.
    n_clusters : int
        The number of clusters.
    rng : RandomState
        Chooses the first seed if there is none, and among equally far ones.
    """
    seeds = np.full(graph.n_nodes, UNKNOWN, dtype=np.intp)
    for label, members in enumerate(sets):
        seeds[members] = label
    for label in range(len(sets), n_clusters):
        if not (seeds == UNKNOWN).any():
            # Must-links join all points: the clusters that are left stay empty, for the caller to fill.
            break
        seeds[_next_seed(graph, seeds, n_clusters, rng)] = label
    labels = grow(graph, seeds, n_clusters).labels
    # What no path leads to says nothing by which to choose.
    left = np.flatnonzero(labels == UNKNOWN)
    labels[left] = np.bincount(labels[labels != UNKNOWN], minlength=n_clusters).argmin()
    return labels


def _next_seed(graph: Graph, seeds: IntArray, n_clusters: int, rng: np.random.RandomState) -> int:
    # Points without any neighbour are far from everything, and no start for a cluster if there are others.
    free = np.flatnonzero((seeds == UNKNOWN) & (graph.degrees > 0))
    if free.size == 0:
        free = np.flatnonzero(seeds == UNKNOWN)
    if (seeds == UNKNOWN).all():
        return int(rng.choice(free))
    return grow(graph, seeds, n_clusters).farthest(free, rng)
