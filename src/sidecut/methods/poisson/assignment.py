"""Labels that maximise scores less the price of sizes, exactly.

    maximise  Σ_i U[i, l_i] - Σ_c h_c(n_c),    n_c = |{i: l_i = c}|,  h_c convex.

It is a transport problem with convex costs. Prices p solve it if every point takes argmax_c (U_ic - p_c)
and p_c is a price of cluster c at its size: δ_c(n_c) <= p_c <= δ_c(n_c + 1). Prices are found one cluster
at a time, by sorting (the dual, by coordinates); what is left to do is done by exchanges along shortest
paths between clusters, which ends at the exact optimum, since the best value is a concave function of the
sizes in the sense of Murota (M♮-concave).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from sidecut.arrays import FloatArray, IntArray
from sidecut.methods.poisson.sizes import SizeRule

#: Rounds of the dual before exchanges finish the work.
ROUNDS = 12
#: An exchange that gains less is rounding: prices at the bounds are 1e6.
GAIN = 1e-9


def assign_within_sizes(
    scores: FloatArray, rule: SizeRule, prices: FloatArray | None = None
) -> tuple[IntArray, FloatArray]:
    """Return the labels of greatest score less price, and the prices.

    Parameters
    ----------
    scores : array of shape (n_points, n_clusters)
        U; of the order of 1.
    rule : SizeRule
        The bounds and the prices of members.
    prices : array of shape (n_clusters,), optional
        Where to start from.

    Returns
    -------
    labels : array of shape (n_points,)
        Optimal; of ties one is chosen.
    prices : array of shape (n_clusters,)
        Prices under which they are, up to ties.

    Examples
    --------
    Everybody prefers the first cluster; two may stay.

    >>> import numpy as np
    >>> from sidecut.methods.poisson.assignment import assign_within_sizes
    >>> from sidecut.methods.poisson.sizes import size_rule
    >>> scores = np.array([[0.9, 0.1], [0.8, 0.2], [0.6, 0.4], [0.7, 0.3]])
    >>> rule = size_rule([2, 2], 4, 2, strength=0.2, label_counts=np.zeros(2))
    >>> assign_within_sizes(scores, rule)[0]
    array([0, 0, 1, 1])
    """
    if rule.n_clusters == 1:
        return np.zeros(len(scores), dtype=np.intp), np.zeros(1)
    prices = np.zeros(rule.n_clusters) if prices is None else prices.copy()
    # One row per cluster: bids are read row by row.
    by_cluster = np.ascontiguousarray(scores.T)
    net = by_cluster - prices[:, None]
    counts = np.bincount(net.argmax(axis=0), minlength=rule.n_clusters)
    for _ in range(ROUNDS):
        for cluster in range(rule.n_clusters):
            net[cluster] = -np.inf
            prices[cluster] = _best_price(by_cluster[cluster] - net.max(axis=0), cluster, rule)
            net[cluster] = by_cluster[cluster] - prices[cluster]
        before, counts = counts, np.bincount(net.argmax(axis=0), minlength=rule.n_clusters)
        if np.array_equal(before, counts):
            break
    return _Exchanges(scores, net.argmax(axis=0), rule).settled(), prices


def _best_price(bids: FloatArray, cluster: int, rule: SizeRule) -> float:
    """Return the price at which a cluster has the size that it can pay for, others' prices given."""
    bids = np.sort(bids)[::-1]
    prices = rule.prices(cluster)
    size = int(np.count_nonzero(bids > prices))
    # Any price between the last bid that is met and the first that is not; the middle keeps clear of ties.
    lowest = max(bids[size] if size < len(bids) else -np.inf, prices[size - 1] if size else -np.inf)
    highest = min(bids[size - 1] if size else np.inf, prices[size] if size < len(bids) else np.inf)
    if not np.isfinite(lowest + highest):
        return float(lowest if np.isfinite(lowest) else highest)
    return float(0.5 * (lowest + highest))


class _Exchanges:
    """Moves of points between clusters, along the cheapest chains, while they pay."""

    def __init__(self, scores: FloatArray, labels: IntArray, rule: SizeRule) -> None:
        self.scores, self.labels, self.rule = scores, labels, rule
        self.n_clusters = rule.n_clusters
        self.counts = np.bincount(labels, minlength=self.n_clusters)
        self.loss = np.full((self.n_clusters, self.n_clusters), np.inf)
        for cluster in range(self.n_clusters):
            self._look_at(cluster)

    def settled(self) -> IntArray:
        """Return the labels when no chain of moves pays any more."""
        while self._move_along_best_chain():
            pass
        return self.labels

    def _look_at(self, cluster: int) -> None:
        """Find what the cheapest move from a cluster to each other one loses."""
        members = np.flatnonzero(self.labels == cluster)
        self.loss[cluster] = np.inf
        if len(members):
            rows = self.scores[members]
            self.loss[cluster] = (rows[:, [cluster]] - rows).min(axis=0)
        self.loss[cluster, cluster] = 0.0

    def _move_along_best_chain(self) -> bool:
        distance, following = _shortest_paths(self.loss)
        clusters = np.arange(self.n_clusters)
        saved = np.array([self.rule.price(int(c), self.counts[c]) for c in clusters], dtype=np.float64)
        paid = np.array([self.rule.price(int(c), self.counts[c] + 1) for c in clusters], dtype=np.float64)
        change = distance - saved[:, None] + paid[None, :]
        change[clusters, clusters] = np.inf
        first, last = np.unravel_index(np.argmin(change), change.shape)
        if not change[first, last] < -GAIN:
            return False
        self._move(_path(following, int(first), int(last)))
        return True

    def _move(self, path: list[int]) -> None:
        """Move points along a path, as many as lose equally little, as long as it pays."""
        arcs = list(pairwise(path))
        movers = [self._cheapest(*arc) for arc in arcs]
        loss = sum(self.loss[arc] for arc in arcs)
        number = self._worthwhile(path[0], path[-1], float(loss), min(map(len, movers)))
        for (_, target), points in zip(arcs, movers, strict=True):
            self.labels[points[:number]] = target
        self.counts[path[0]] -= number
        self.counts[path[-1]] += number
        for cluster in path:
            self._look_at(cluster)

    def _cheapest(self, source: int, target: int) -> IntArray:
        members = np.flatnonzero(self.labels == source)
        loss = self.scores[members, source] - self.scores[members, target]
        return members[loss <= self.loss[source, target]]

    def _worthwhile(self, source: int, target: int, loss: float, most: int) -> int:
        """Return how many moves of equal loss still pay, at least one."""
        moves = np.arange(most)
        saved = self.rule.price(source, self.counts[source] - moves)
        paid = self.rule.price(target, self.counts[target] + 1 + moves)
        return max(1, int(np.count_nonzero(loss - saved + paid < -GAIN)))


def _shortest_paths(loss: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the least loss from every cluster to every other, and the next cluster on the way (Floyd)."""
    distance = loss.copy()
    n_clusters = len(loss)
    following = np.tile(np.arange(n_clusters), (n_clusters, 1))
    for over in range(n_clusters):
        detour = distance[:, [over]] + distance[[over], :]
        shorter = detour < distance - 1e-12
        distance = np.where(shorter, detour, distance)
        following = np.where(shorter, following[:, [over]], following)
    return distance, following


def _path(following: IntArray, first: int, last: int) -> list[int]:
    path = [first]
    while path[-1] != last:
        path.append(int(following[path[-1], last]))
    return path
