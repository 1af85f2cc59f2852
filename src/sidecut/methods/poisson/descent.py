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
from dataclasses import dataclass, field

import numpy as np

from sidecut.arrays import FloatArray, IntArray
from sidecut.methods.poisson.equation import heat_filter, heat_precision, source_filter
from sidecut.methods.poisson.signed_graph import SignedGraph
from sidecut.methods.poisson.sizes import SizeRule, assign_within_sizes

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
    """Where the descent ended, and the energies on the way.

    Parameters
    ----------
    labels : array of shape (n,)
        The labels.
    scores : array of shape (n, n_clusters)
        K u + f of the labels before the last step, less the prices: their argmax is the label, up to ties.
    energies : list of arrays
        One for each time t; none of them ever rises.
    penalties : list of float
        The τ of each time: that of the rule, times the heat that clusters retained when it began.
    tension : float
        The energy after the last step without the cost of sizes: which of two ends cuts and violates less.
    estimates : list of arrays of shape (n_clusters,)
        What sizes were expected to be.
    times : tuple of float
        How long labels diffused.
    """

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
    """Heat on a graph, of labels and of sources; what is asked for again is not computed again.

    Parameters
    ----------
    signed : SignedGraph
        The graph with its links.
    sources : array of shape (n, n_clusters)
        μ Y.
    """

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
    """Lower the energy for one time after another, from the longest, which sees furthest, to the shortest.

    Parameters
    ----------
    diffusion : Diffusion
        The heat of labels and sources.
    starts : sequence of arrays of shape (n,)
        Labels to start from. Their descents do not depend on each other; side by side they take less time.
    rules : sequence of SizeRule
        The cost of sizes for each start.
    times : tuple of float
        The times t.
    max_iter : int
        The most steps for each time.
    tolerance : float
        Stop when a smaller share of labels changes.

    Returns
    -------
    list of Descent
        One for each start.
    """
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

    Parameters
    ----------
    diffusion : Diffusion
        The heat of labels.
    starts : sequence of arrays of shape (n,)
        First clusterings; the one that keeps most of its heat counts.
    times : tuple of float
        The times that were asked for.
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
