"""Diffusion and thresholding: the iteration of Merriman, Bence and Osher, as descent of one energy.

With u the one-hot labels, K = e^{-tA}, f = φ_t(A) Y the diffused sources and h_c the cost of sizes,

    E(u) = -½ <u, K u> - <f, u> + Σ_c h_c(n_c),      h_c(n) = Σ_{s ≤ n} δ_c(s),

is concave in u apart from h, since K has no negative eigenvalue. So it lies below its tangent at the present
labels, and labels that minimise  -<K u + f, v> + Σ_c h_c(n_c)  exactly cannot have more energy (Esedoglu &
Otto, 2015, with sizes and sources). The polynomial for K may be below zero by its error ε; K + ε I is used,
which on one-hot labels changes E by a constant.

Each step is a transport problem with convex costs: maximise Σ_i U[i, l_i] - Σ_c h_c(n_c) over labels l with
n_c = |{i: l_i = c}|. Multipliers p solve it if every point takes argmax_c (U_ic - p_c) and δ_c(n_c) <= p_c <=
δ_c(n_c + 1). They are found one cluster at a time, by sorting (coordinate ascent of the dual). The remaining
points are moved along shortest paths between clusters. That ends at the exact optimum, since the best value
is an M♮-concave function of the sizes (Murota).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from sidecut.checks import FloatArray, IntArray
from sidecut.methods.poisson.equation import (
    MAX_COLUMNS,
    SignedGraph,
    diffusion_dtype,
    diffusion_filter,
    source_filter,
)

#: Marginal cost of a member outside the bounds of a cluster. Scores are of the order of 1.
BOUND_COST = 1e6
#: Smallest gain of an exchange; smaller ones are rounding, as the marginal costs at the bounds are 1e6.
MIN_GAIN = 1e-9
#: Smallest share of a cluster's diffusion that must remain in it, beyond chance, when labels are thresholded.
MIN_RETAINED_SHARE = 0.3


@dataclass(frozen=True, eq=False)
class SizeRule:
    """The cost h of cluster sizes: δ_c(s) = τ log(s / (N q_c)) within the bounds."""

    # `offset` counts members that are assigned already; marginal costs are then those of further ones.

    n_points: int
    lower: IntArray
    upper: IntArray
    shares: FloatArray
    strength: float
    offset: IntArray | None = None
    _listed: dict[int, FloatArray] = field(default_factory=dict, init=False, repr=False)

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return len(self.lower)

    def marginal_costs(self, cluster: int) -> FloatArray:
        """Return δ(1), ..., δ(N): the cost of each further member of a cluster."""
        if cluster not in self._listed:
            n_left = self.n_points - (0 if self.offset is None else int(self.offset.sum()))
            self._listed[cluster] = self.marginal_cost(cluster, np.arange(1, n_left + 1))
        return self._listed[cluster]

    def marginal_cost(self, cluster: int, member: Any) -> Any:
        """Return δ(s) for the s-th member."""
        if self.offset is not None:
            member = member + self.offset[cluster]
        inside = self.strength * np.log(np.maximum(member, 1) / (self.n_points * self.shares[cluster]))
        too_few, too_many = member <= self.lower[cluster], member > self.upper[cluster]
        return np.where(too_few, -BOUND_COST, np.where(too_many, BOUND_COST, inside))

    def cost(self, counts: IntArray) -> float:
        """Return Σ_c h_c(n_c) within the bounds, up to a constant: τ Σ_c log(n_c! / (N q_c)^n_c)."""
        return float(
            sum(
                self.marginal_cost(cluster, np.arange(self.lower[cluster] + 1, count + 1)).sum()
                for cluster, count in enumerate(counts)
            )
        )


def size_rule(sizes: Any, n_points: int, n_clusters: int, strength: float) -> SizeRule:
    """Return the rule that a parameter `sizes` stands for, with even shares."""
    shares = np.full(n_clusters, 1.0 / n_clusters)
    if sizes is None or isinstance(sizes, str):
        lower: IntArray = np.ones(n_clusters, dtype=np.intp)
        upper: IntArray = np.full(n_clusters, n_points, dtype=np.intp)
        return SizeRule(n_points, lower, upper, shares, strength)
    numbers = np.asarray(sizes, dtype=np.float64)
    # Shares sum to 1, at least where they are lower bounds; counts to k or more, also where all are 1.
    least = numbers if numbers.ndim == 1 else numbers[:, 0]
    are_shares = numbers.max() <= 1.0 and least.sum() < 1.5
    numbers = numbers * (n_points if are_shares else 1)
    if numbers.ndim == 1:
        lower = upper = _rounded_sizes(numbers, n_points)
        return SizeRule(n_points, lower, upper, shares, strength)
    lower = np.maximum(np.ceil(numbers[:, 0] - 1e-9), 1).astype(np.intp)
    upper = np.minimum(np.floor(numbers[:, 1] + 1e-9), n_points).astype(np.intp)
    if lower.sum() > n_points or upper.sum() < n_points or (lower > upper).any():
        raise ValueError(
            f"no sizes lie within the bounds: the least sum to {lower.sum()}, the most to {upper.sum()}, and "
            f"there are {n_points} points, at least one in each of {n_clusters} clusters. Widen the bounds."
        )
    return SizeRule(n_points, lower, upper, shares, strength)


def check_sizes(sizes: Any, n_clusters: Any) -> None:
    """Refuse sizes that are wrong for any data."""
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


def assign_within_sizes(
    scores: FloatArray, rule: SizeRule, multipliers: FloatArray | None = None
) -> tuple[IntArray, FloatArray]:
    """Return the labels of greatest score less cost, and the multipliers."""
    if rule.n_clusters == 1:
        return np.zeros(len(scores), dtype=np.intp), np.zeros(1)
    multipliers = np.zeros(rule.n_clusters) if multipliers is None else multipliers
    labels, found = _assign_near_boundaries(scores, rule, multipliers)
    # Points away from the boundaries may still have to move: the result is exact.
    return _Exchanges(scores, labels, rule).optimal_labels(), found


def _assign_near_boundaries(
    scores: FloatArray, rule: SizeRule, multipliers: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Return labels and multipliers, where only points near a boundary move."""
    # A point stays if it prefers its cluster by more than the multipliers of two clusters have moved apart.
    net = scores - multipliers
    first_choice = net.argmax(axis=1)
    best = np.take_along_axis(net, first_choice[:, None], axis=1)[:, 0]
    np.put_along_axis(net, first_choice[:, None], -np.inf, axis=1)
    lead = best - net.max(axis=1)
    # Start with n/16 points, at least 500; four times as many if the multipliers moved too far.
    number = max(len(scores) // 16, 500)
    while number < len(scores):
        reach = np.partition(lead, number)[number]
        near = np.flatnonzero(lead < reach)
        certain = np.bincount(first_choice[lead >= reach], minlength=rule.n_clusters)
        labels, found = assign_all(scores[near], replace(rule, offset=certain), multipliers)
        if np.isfinite(found).all() and np.ptp(found - multipliers) < reach:
            first_choice[near] = labels
            return first_choice, found
        number *= 4
    return assign_all(scores, rule, multipliers)


def assign_all(scores: FloatArray, rule: SizeRule, multipliers: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return labels and multipliers of all points: multipliers by sorting, the rest by exchanges."""
    multipliers = multipliers.copy()
    # One row per cluster: bids are read row by row.
    by_cluster = np.ascontiguousarray(scores.T)
    net = by_cluster - multipliers[:, None]
    counts = np.bincount(net.argmax(axis=0), minlength=rule.n_clusters)
    # Twelve rounds of the dual at most; exchanges finish the work.
    for _ in range(12):
        for cluster in range(rule.n_clusters):
            net[cluster] = -np.inf
            multipliers[cluster] = _best_multiplier(by_cluster[cluster] - net.max(axis=0), cluster, rule)
            net[cluster] = by_cluster[cluster] - multipliers[cluster]
        before, counts = counts, np.bincount(net.argmax(axis=0), minlength=rule.n_clusters)
        if np.array_equal(before, counts):
            break
    return _Exchanges(scores, net.argmax(axis=0), rule).optimal_labels(), multipliers


def _best_multiplier(bids: FloatArray, cluster: int, rule: SizeRule) -> float:
    """Return the multiplier at which a cluster has the size it can pay for, the others given."""
    bids = np.sort(bids)[::-1]
    costs = rule.marginal_costs(cluster)
    size = int(np.count_nonzero(bids > costs))
    # Any number between the last bid that is met and the first that is not; the middle avoids ties.
    lowest = max(bids[size] if size < len(bids) else -np.inf, costs[size - 1] if size else -np.inf)
    highest = min(bids[size - 1] if size else np.inf, costs[size] if size < len(bids) else np.inf)
    if not np.isfinite(lowest + highest):
        return float(lowest if np.isfinite(lowest) else highest)
    return float(0.5 * (lowest + highest))


class _Exchanges:
    """Moves of points between clusters, along the cheapest chains, while they gain."""

    def __init__(self, scores: FloatArray, labels: IntArray, rule: SizeRule) -> None:
        self.scores, self.labels, self.rule = scores, labels, rule
        self.counts = np.bincount(labels, minlength=rule.n_clusters)
        self.loss = np.full((rule.n_clusters, rule.n_clusters), np.inf)
        for cluster in range(rule.n_clusters):
            self._update_loss(cluster)

    def optimal_labels(self) -> IntArray:
        """Return the labels when no chain of moves gains any more."""
        clusters, cost = range(self.rule.n_clusters), self.rule.marginal_cost
        while True:
            distance, following = _shortest_paths(self.loss)
            saved = np.array([cost(c, self.counts[c]) for c in clusters], dtype=np.float64)
            paid = np.array([cost(c, self.counts[c] + 1) for c in clusters], dtype=np.float64)
            change = distance - saved[:, None] + paid[None, :]
            np.fill_diagonal(change, np.inf)
            first, last = (int(c) for c in np.unravel_index(np.argmin(change), change.shape))
            if not change[first, last] < -MIN_GAIN:
                return self.labels
            path = [first]
            while path[-1] != last:
                path.append(int(following[path[-1], last]))
            self._move(path)

    def _update_loss(self, cluster: int) -> None:
        """Find the loss of the cheapest move from a cluster to each other one."""
        members = np.flatnonzero(self.labels == cluster)
        self.loss[cluster] = np.inf
        if len(members):
            rows = self.scores[members]
            self.loss[cluster] = (rows[:, [cluster]] - rows).min(axis=0)
        self.loss[cluster, cluster] = 0.0

    def _move(self, path: list[int]) -> None:
        """Move points along a path: all that lose equally little, as long as a move gains."""
        first, last, loss, movers = path[0], path[-1], 0.0, []
        for source, target in pairwise(path):
            members = np.flatnonzero(self.labels == source)
            losses = self.scores[members, source] - self.scores[members, target]
            movers.append(members[losses <= self.loss[source, target]])
            loss += float(self.loss[source, target])
        moves = np.arange(min(map(len, movers)))
        saved = self.rule.marginal_cost(first, self.counts[first] - moves)
        paid = self.rule.marginal_cost(last, self.counts[last] + 1 + moves)
        number = max(1, int(np.count_nonzero(loss - saved + paid < -MIN_GAIN)))
        for target, points in zip(path[1:], movers, strict=True):
            self.labels[points[:number]] = target
        self.counts[first] -= number
        self.counts[last] += number
        for cluster in path:
            self._update_loss(cluster)


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


@dataclass(eq=False)
class EnergyPath:
    """Where the descent ended, and the energies on the way."""

    labels: IntArray
    scores: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    energies: list[FloatArray] = field(default_factory=list)
    penalties: list[float] = field(default_factory=list)
    energy_without_sizes: float = 0.0
    estimates: list[IntArray] = field(default_factory=list)
    times: tuple[float, ...] = ()

    @property
    def n_iter(self) -> int:
        """The number of steps."""
        return sum(len(energies) - 1 for energies in self.energies)


class Diffusion:
    """Diffusion of labels and sources on a graph; recent results are kept."""

    def __init__(self, signed: SignedGraph, sources: FloatArray) -> None:
        self.signed = signed
        self.sources = sources
        self.n_clusters = sources.shape[1]
        self._dtype = diffusion_dtype(signed.n_nodes)
        self._received: dict[float, FloatArray] = {}
        self._diffused: dict[tuple[float, bytes], FloatArray] = {}

    def received(self, time: float) -> FloatArray:
        """Return f = φ_t(A) Y."""
        if time not in self._received:
            arrived = self.sources
            if arrived.any():
                arrived = source_filter(time)(self.signed, arrived.astype(self._dtype))
            self._received[time] = arrived.astype(np.float64)
        return self._received[time]

    def diffused(self, time: float, clusterings: Sequence[IntArray]) -> list[FloatArray]:
        """Return (K + ε I) u for the one-hot labels u of each clustering, computed side by side."""
        keys = [(time, labels.tobytes()) for labels in clusterings]
        found = {key: self._diffused[key] for key in keys if key in self._diffused}
        missing = {key: labels for key, labels in zip(keys, clusterings, strict=True) if key not in found}
        at_once = max(1, MAX_COLUMNS // self.n_clusters)
        for first in range(0, len(missing), at_once):
            some = list(missing)[first : first + at_once]
            diffuse = diffusion_filter(time)
            members = np.hstack([np.eye(self.n_clusters)[missing[key]] for key in some])
            ended = diffuse(self.signed, members.astype(self._dtype)) + diffuse.error * members
            found |= zip(some, map(np.ascontiguousarray, np.hsplit(ended, len(some))), strict=True)
        # The first labels of a descent were diffused to choose the times: four clusterings are kept.
        self._diffused = dict(list((self._diffused | found).items())[-4:])
        return [found[key] for key in keys]


def descend(
    diffusion: Diffusion,
    starts: Sequence[IntArray],
    rules: Sequence[SizeRule],
    times: tuple[float, ...],
    max_iter: int,
    tolerance: float,
) -> list[EnergyPath]:
    """Lower the energy for one time after another, from the longest, which sees furthest, to the shortest."""
    paths = [EnergyPath(labels, times=times) for labels in starts]
    for time in times:
        active = [
            _Steps(path, diffusion.received(time), rule, max_iter, tolerance)
            for path, rule in zip(paths, rules, strict=True)
        ]
        while active:
            diffused = diffusion.diffused(time, [steps.path.labels for steps in active])
            active = [steps for steps, u in zip(active, diffused, strict=True) if steps.advance(u)]
    return paths


class _Steps:
    """The steps of a descent at one time; each needs the diffusion of the present labels."""

    def __init__(
        self, path: EnergyPath, received: FloatArray, rule: SizeRule, max_iter: int, tolerance: float
    ) -> None:
        self.path, self.received, self.rule = path, received, rule
        self.max_iter, self.enough = max_iter, tolerance * len(path.labels)
        self.changed = len(path.labels) + 1
        self.energies: list[float] = []
        self.multipliers: FloatArray | None = None

    def advance(self, diffused: FloatArray) -> bool:
        """Record the energy of the labels, and take the next step; return False where there is none."""
        path = self.path
        if not self.energies:
            # Scores shrink as labels diffuse; the penalty on sizes shrinks with them.
            share = max(retained_share(diffused, path.labels), 0.0)
            self.rule = replace(self.rule, strength=share * self.rule.strength)
            path.penalties.append(self.rule.strength)
        self.energies.append(energy(path.labels, diffused, self.received, self.rule))
        if self.changed <= self.enough or len(self.energies) > self.max_iter:
            path.energies.append(np.array(self.energies))
            counts = np.bincount(path.labels, minlength=self.rule.n_clusters)
            path.energy_without_sizes = self.energies[-1] - self.rule.cost(counts)
            return False
        scores = diffused + self.received
        labels, self.multipliers = assign_within_sizes(scores, self.rule, self.multipliers)
        self.changed = int(np.count_nonzero(labels != path.labels))
        path.labels, path.scores = labels, scores - self.multipliers
        return True


def suitable_times(
    diffusion: Diffusion, starts: Sequence[IntArray], times: tuple[float, ...]
) -> tuple[float, ...]:
    """Return the times, all halved until enough of the diffusion remains in its cluster at the longest."""
    # The meaning of a time depends on the graph. On neighbour graphs of real data half of the diffusion
    # remains in its cluster after a time of 30; on a dense graph nothing may remain after 3.
    factor = 1.0
    for _ in range(10):
        diffused = diffusion.diffused(factor * max(times), starts)
        shares = [retained_share(u, labels) for u, labels in zip(diffused, starts, strict=True)]
        if max(shares) >= MIN_RETAINED_SHARE:
            break
        factor /= 2.0
    return tuple(factor * time for time in times)


def retained_share(diffused: FloatArray, labels: IntArray) -> float:
    """Return the share of the diffusion that remains in its own cluster, adjusted for chance."""
    within = float(diffused[np.arange(len(labels)), labels].mean())
    chance = float(np.square(np.bincount(labels) / len(labels)).sum())
    return (within - chance) / (1.0 - chance) if chance < 1.0 else 1.0


def energy(labels: IntArray, diffused: FloatArray, received: FloatArray, rule: SizeRule) -> float:
    """Return E = -½ <u, K u> - <f, u> + Σ_c h_c(n_c), with K u and f given."""
    points = np.arange(len(labels))
    counts = np.bincount(labels, minlength=rule.n_clusters)
    return float(-(0.5 * diffused + received)[points, labels].sum() + rule.cost(counts))
