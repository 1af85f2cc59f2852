"""Diffusion and thresholding: the iteration of Merriman, Bence and Osher, as descent of one energy.

With u the one-hot labels, K = e^{-tA}, f = μ φ_t(A) Y the heat of the sources and h the cost of sizes,

    E(u) = -½ <u, K u> - <f, u> + Σ_c h_c(n_c)

is concave in u apart from h, K having no negative eigenvalue. So it lies below its tangent at the labels of
now, and the labels that minimise  -<K u + f, v> + Σ_c h_c(n_c)  exactly cannot have more energy (Esedoglu &
Otto, 2015, with sizes and sources). The polynomial for K may dip below zero by its error ε; K + ε I is
used, which on one-hot labels changes E by a constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from sidecut.checks import FloatArray, IntArray
from sidecut.methods.poisson.equation import SignedGraph, heat_filter, heat_precision, source_filter

#: The price that keeps a cluster within its bounds. Scores are of the order of 1.
PROHIBITIVE = 1e6


@dataclass(frozen=True, eq=False)
class SizeRule:
    """The bounds of the sizes of clusters, and how unlike their shares they may be."""

    n_points: int
    lower: IntArray
    upper: IntArray
    shares: FloatArray
    strength: float
    settled: IntArray | None = None
    """How many members of every cluster are there already; prices are those of further ones."""
    _listed: dict[int, FloatArray] = field(default_factory=dict, repr=False)

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return len(self.lower)

    def scaled(self, factor: float) -> SizeRule:
        """Return the same bounds with τ times a factor."""
        return replace(self, strength=factor * self.strength, _listed={})

    def with_shares(self, shares: FloatArray) -> SizeRule:
        """Return the same bounds with other shares."""
        return replace(self, shares=shares, _listed={})

    def beyond(self, settled: IntArray) -> SizeRule:
        """Return the rule for further members, where so many of every cluster are there already."""
        return replace(self, settled=settled, _listed={})

    def prices(self, cluster: int) -> FloatArray:
        """Return δ(1), ..., δ(N): what each further member of a cluster costs."""
        if cluster not in self._listed:
            n_left = self.n_points - (0 if self.settled is None else int(self.settled.sum()))
            self._listed[cluster] = self.price(cluster, np.arange(1, n_left + 1))
        return self._listed[cluster]

    def price(self, cluster: int, member: Any) -> Any:
        """Return δ(t) for the t-th member."""
        if self.settled is not None:
            member = member + self.settled[cluster]
        inside = self.strength * np.log(np.maximum(member, 1) / (self.n_points * self.shares[cluster]))
        too_few, too_many = member <= self.lower[cluster], member > self.upper[cluster]
        return np.where(too_few, -PROHIBITIVE, np.where(too_many, PROHIBITIVE, inside))

    def cost(self, counts: IntArray) -> float:
        """Return Σ_c h_c(n_c) within the bounds, up to a constant: τ Σ_c log(n_c! / (N q_c)^n_c)."""
        return float(
            sum(
                self.price(cluster, np.arange(self.lower[cluster] + 1, count + 1)).sum()
                for cluster, count in enumerate(counts)
            )
        )


def size_rule(sizes: Any, n_points: int, n_clusters: int, strength: float) -> SizeRule:
    """Return the rule that a parameter `sizes` stands for, with even shares."""
    shares = np.full(n_clusters, 1.0 / n_clusters)
    lower: IntArray = np.ones(n_clusters, dtype=np.intp)
    upper: IntArray = np.full(n_clusters, n_points, dtype=np.intp)
    if sizes is not None and not isinstance(sizes, str):
        lower, upper = _bounds(np.asarray(sizes, dtype=np.float64), n_points, n_clusters)
    return SizeRule(n_points, lower, upper, shares, strength)


def check_sizes(sizes: Any, n_clusters: Any) -> None:
    """Refuse sizes that make no sense, whatever the data."""
    if sizes is None or (isinstance(sizes, str) and sizes == "labels"):
        return
    wanted = (
        'give None, "labels", one size for each of the n_clusters, or a pair (least, most) for each, as '
        "numbers of points or as shares of all points."
    )
    try:
        numbers = np.asarray(sizes, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"sizes={sizes!r}: {wanted}") from None
    if numbers.shape not in ((n_clusters,), (n_clusters, 2)):
        raise ValueError(f"sizes has shape {numbers.shape} for n_clusters={n_clusters}: {wanted}")
    if not np.isfinite(numbers).all() or (numbers < 0).any():
        raise ValueError(f"sizes={sizes!r} must be finite and not negative: {wanted}")
    if numbers.ndim == 2 and (numbers[:, 0] > numbers[:, 1]).any():
        raise ValueError(f"sizes={sizes!r}: in every pair (least, most) the first must not be the larger.")


def _bounds(numbers: FloatArray, n_points: int, n_clusters: int) -> tuple[IntArray, IntArray]:
    are_shares = numbers.max() <= 1.0
    if numbers.ndim == 1:
        exact = _rounded_sizes(numbers * (n_points if are_shares else 1), n_points)
        return exact, exact
    counts = numbers * (n_points if are_shares else 1)
    lower = np.maximum(np.ceil(counts[:, 0] - 1e-9), 1).astype(np.intp)
    upper = np.minimum(np.floor(counts[:, 1] + 1e-9), n_points).astype(np.intp)
    if lower.sum() > n_points or upper.sum() < n_points or (lower > upper).any():
        raise ValueError(
            f"no sizes lie within the bounds: the least sum to {lower.sum()}, the most to {upper.sum()}, and "
            f"there are {n_points} points, at least one in each of {n_clusters} clusters. Widen the bounds."
        )
    return lower, upper


def _rounded_sizes(sizes: FloatArray, n_points: int) -> IntArray:
    """Return whole sizes of at least 1 that sum to N, by the largest remainders."""
    if abs(sizes.sum() - n_points) > 1e-6 * n_points + 0.5:
        raise ValueError(
            f"the sizes sum to {sizes.sum():g}, but there are {n_points} points: sizes must sum to the "
            "number of points, or to 1 if they are shares. Use pairs (least, most) where they are not known "
            "exactly."
        )
    if (sizes < 0.5).any():
        raise ValueError(f"a cluster of size {sizes.min():g} would be empty: every size must be at least 1.")
    whole = np.maximum(np.floor(sizes), 1).astype(np.intp)
    left = n_points - int(whole.sum())
    order = np.argsort(whole - sizes, kind="stable")
    if left < 0:  # Sizes below 1 were raised to 1: the largest give way.
        whole[np.argmax(whole)] += left
    else:
        whole[order[:left]] += 1
    return whole


# Labels that maximise scores less the price of sizes, exactly.
#
# maximise Σ_i U[i, l_i] - Σ_c h_c(n_c), n_c = |{i: l_i = c}|, h_c convex.
#
# It is a transport problem with convex costs. Prices p solve it if every point takes argmax_c (U_ic - p_c)
# and p_c is a price of cluster c at its size: δ_c(n_c) <= p_c <= δ_c(n_c + 1). Prices are found one cluster
# at a time, by sorting (the dual, by coordinates); what is left to do is done by exchanges along shortest
# paths between clusters, which ends at the exact optimum, since the best value is a concave function of the
# sizes in the sense of Murota (M♮-concave).


#: Rounds of the dual before exchanges finish the work.
ROUNDS = 12
#: Of all points one in so many is taken to be contested at first, but at least so many; each time prices have
#: moved too far for that, so many times as many.
CONTESTED, FEWEST_CONTESTED, WIDENED = 16, 500, 4
#: An exchange that gains less is rounding: prices at the bounds are 1e6.
GAIN = 1e-9


def assign_within_sizes(
    scores: FloatArray, rule: SizeRule, prices: FloatArray | None = None
) -> tuple[IntArray, FloatArray]:
    """Return the labels of greatest score less price, and the prices."""
    if rule.n_clusters == 1:
        return np.zeros(len(scores), dtype=np.intp), np.zeros(1)
    prices = np.zeros(rule.n_clusters) if prices is None else prices
    labels, new_prices = _settle_contested(scores, rule, prices)
    # Whoever was not contested may still have to move: nothing is left out in the end.
    return _Exchanges(scores, labels, rule).settled(), new_prices


def _settle_contested(scores: FloatArray, rule: SizeRule, prices: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return labels and prices, where only points move that hesitate at the old prices.

    A point that prefers its cluster by more than the prices of two clusters have moved apart stays with it.
    """
    net = scores - prices
    first_choice = net.argmax(axis=1)
    best = np.take_along_axis(net, first_choice[:, None], axis=1)[:, 0]
    np.put_along_axis(net, first_choice[:, None], -np.inf, axis=1)
    lead = best - net.max(axis=1)
    number = max(len(scores) // CONTESTED, FEWEST_CONTESTED)
    while number < len(scores):
        reach = np.partition(lead, number)[number]
        contested = np.flatnonzero(lead < reach)
        certain = np.bincount(first_choice[lead >= reach], minlength=rule.n_clusters)
        labels, found = _settle(scores[contested], rule.beyond(certain), prices)
        if np.isfinite(found).all() and np.ptp(found - prices) < reach:
            first_choice[contested] = labels
            return first_choice, found
        number *= WIDENED
    return _settle(scores, rule, prices)


def _settle(scores: FloatArray, rule: SizeRule, prices: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return labels and prices of all points: prices by sorting, the rest by exchanges."""
    prices = prices.copy()
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


#: The heat of so many columns flows at a time, or of one clustering if that has more.
MOST_COLUMNS = 64
#: The warmth of so many clusterings is kept.
REMEMBERED = 4
#: Of the heat of a cluster at least so much must still be there when labels are thresholded.
LEAST_RETAINED = 0.3
#: The most times that the times of diffusion are halved.
MOST_HALVINGS = 10


@dataclass(eq=False)
class Descent:
    """Where the descent ended, and the energies on the way."""

    labels: IntArray
    scores: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    energies: list[FloatArray] = field(default_factory=list)
    penalties: list[float] = field(default_factory=list)
    tension: float = 0.0
    estimates: list[IntArray] = field(default_factory=list)
    times: tuple[float, ...] = ()

    @property
    def n_iter(self) -> int:
        """How many steps were taken."""
        return sum(len(energies) - 1 for energies in self.energies)


class Diffusion:
    """Heat on a graph, of labels and of sources; what is asked for again is not computed again."""

    def __init__(self, signed: SignedGraph, sources: FloatArray) -> None:
        self.signed = signed
        self.sources = sources
        self.n_clusters = sources.shape[1]
        self._precision = heat_precision(signed.n_nodes)
        self._received: dict[float, FloatArray] = {}
        self._warmth: dict[tuple[float, bytes], FloatArray] = {}

    def received(self, time: float) -> FloatArray:
        """Return f = φ_t(A) μ Y."""
        if time not in self._received:
            arrived = self.sources
            if arrived.any():
                arrived = source_filter(time)(self.signed.laplacian, arrived.astype(self._precision))
            self._received[time] = arrived.astype(np.float64)
        return self._received[time]

    def warmth(self, time: float, clusterings: Sequence[IntArray]) -> list[FloatArray]:
        """Return (K + ε I) u for the one-hot labels u of each clustering; all flow side by side."""
        keys = [(time, labels.tobytes()) for labels in clusterings]
        found = {key: self._warmth[key] for key in keys if key in self._warmth}
        missing = {key: labels for key, labels in zip(keys, clusterings, strict=True) if key not in found}
        at_once = max(1, MOST_COLUMNS // self.n_clusters)
        for first in range(0, len(missing), at_once):
            some = list(missing)[first : first + at_once]
            found |= zip(some, self._warm(time, [missing[key] for key in some]), strict=True)
        kept = list((self._warmth | found).items())[-REMEMBERED:]
        self._warmth = dict(kept)
        return [found[key] for key in keys]

    def _warm(self, time: float, clusterings: list[IntArray]) -> list[FloatArray]:
        heat = heat_filter(time)
        members = np.hstack([one_hot(labels, self.n_clusters) for labels in clusterings])
        flowed = heat(self.signed.laplacian, members.astype(self._precision))
        warmth = flowed + heat.error * members
        return [np.ascontiguousarray(part) for part in np.hsplit(warmth, len(clusterings))]


def descend(
    diffusion: Diffusion,
    starts: Sequence[IntArray],
    rules: Sequence[SizeRule],
    times: tuple[float, ...],
    max_iter: int,
    tolerance: float,
) -> list[Descent]:
    """Lower the energy for one time after another, from the longest, which sees furthest, to the shortest."""
    paths = [Descent(labels, times=times) for labels in starts]
    for time in times:
        going = [
            _Steps(path, diffusion.received(time), rule, max_iter, tolerance)
            for path, rule in zip(paths, rules, strict=True)
        ]
        while going:
            warmths = diffusion.warmth(time, [steps.path.labels for steps in going])
            for steps, warmth in zip(going, warmths, strict=True):
                steps.take(warmth)
            going = [steps for steps in going if not steps.are_over]
    return paths


class _Steps:
    """The steps of a descent at one time; each needs the warmth of the labels of now."""

    def __init__(
        self, path: Descent, received: FloatArray, rule: SizeRule, max_iter: int, tolerance: float
    ) -> None:
        self.path, self.received, self.rule = path, received, rule
        self.max_iter, self.enough = max_iter, tolerance * len(path.labels)
        self.changed = len(path.labels) + 1
        self.energies: list[float] = []
        self.prices: FloatArray | None = None
        self.are_over = False

    def take(self, warmth: FloatArray) -> None:
        """Note the energy of the labels, and take the next step if there is one."""
        path = self.path
        if not self.energies:
            # Scores shrink as heat spreads, and the price of sizes with them.
            self.rule = self.rule.scaled(max(_retained(warmth, path.labels), 0.0))
            path.penalties.append(self.rule.strength)
        self.energies.append(energy(path.labels, warmth, self.received, self.rule))
        self.are_over = self.changed <= self.enough or len(self.energies) > self.max_iter
        if self.are_over:
            path.energies.append(np.array(self.energies))
            counts = np.bincount(path.labels, minlength=self.rule.n_clusters)
            path.tension = self.energies[-1] - self.rule.cost(counts)
            return
        scores = warmth + self.received
        labels, self.prices = assign_within_sizes(scores, self.rule, self.prices)
        self.changed = int(np.count_nonzero(labels != path.labels))
        path.labels, path.scores = labels, scores - self.prices


def suitable_times(
    diffusion: Diffusion, starts: Sequence[IntArray], times: tuple[float, ...]
) -> tuple[float, ...]:
    """Return times short enough for heat to stay where it is: all scaled down alike where they are not.

    What a time means depends on the graph. On neighbour graphs of real data half of the heat is still in its
    cluster after a time of 30; on a dense graph it may be everywhere after 3, and clusters would dissolve.
    """
    factor = 1.0
    for _ in range(MOST_HALVINGS):
        if max(retained_heat(diffusion, starts, factor * max(times))) >= LEAST_RETAINED:
            break
        factor /= 2.0
    return tuple(factor * time for time in times)


def retained_heat(diffusion: Diffusion, clusterings: Sequence[IntArray], time: float) -> list[float]:
    """Return the share of heat in its own cluster after a time, beyond what chance would leave there."""
    warmths = diffusion.warmth(time, clusterings)
    return [_retained(warmth, labels) for warmth, labels in zip(warmths, clusterings, strict=True)]


def _retained(warmth: FloatArray, labels: IntArray) -> float:
    within = float(warmth[np.arange(len(labels)), labels].mean())
    chance = float(np.square(np.bincount(labels) / len(labels)).sum())
    return (within - chance) / (1.0 - chance) if chance < 1.0 else 1.0


def energy(labels: IntArray, warmth: FloatArray, received: FloatArray, rule: SizeRule) -> float:
    """Return E = -½ <u, K u> - <f, u> + Σ_c h_c(n_c), with K u and f given."""
    points = np.arange(len(labels))
    counts = np.bincount(labels, minlength=rule.n_clusters)
    return float(-(0.5 * warmth + received)[points, labels].sum() + rule.cost(counts))


def one_hot(labels: IntArray, n_clusters: int) -> FloatArray:
    """Return the labels as rows of the unit matrix."""
    return np.eye(n_clusters)[labels]
