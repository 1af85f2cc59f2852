"""Diffusion and thresholding: the iteration of Merriman, Bence and Osher, as descent of one energy.

With u the one-hot labels, K = e^{-tA}, f = μ φ_t(A) Y the heat of the sources and h the cost of sizes,

    E(u) = -½ <u, K u> - <f, u> + Σ_c h_c(n_c)

is concave in u apart from h, K having no negative eigenvalue. So it lies below its tangent at the labels of
now, and the labels that minimise  -<K u + f, v> + Σ_c h_c(n_c)  exactly cannot have more energy (Esedoglu &
Otto, 2015, with sizes and sources). The polynomial for K may dip below zero by its error ε; K + ε I is
used, which on one-hot labels changes E by a constant.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sidecut.arrays import FloatArray, IntArray
from sidecut.methods.poisson.equation import Filter, heat_filter, source_filter
from sidecut.methods.poisson.signed_graph import SignedGraph
from sidecut.methods.poisson.sizes import SizeRule, assign_within_sizes

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


def descend(
    signed: SignedGraph,
    labels: IntArray,
    sources: FloatArray,
    rule: SizeRule,
    times: tuple[float, ...],
    max_iter: int,
    tolerance: float,
) -> Descent:
    """Lower the energy for one time after another, from the longest, which sees furthest, to the shortest.

    Parameters
    ----------
    signed : SignedGraph
        The graph with its links.
    labels : array of shape (n,)
        Where to start.
    sources : array of shape (n, n_clusters)
        μ Y.
    rule : SizeRule
        The cost of sizes.
    times : tuple of float
        The times t.
    max_iter : int
        The most steps for each time.
    tolerance : float
        Stop when a smaller share of labels changes.
    """
    state = Descent(labels)
    for time in times:
        _descend_at(signed, state, sources, rule, time, max_iter, tolerance)
    return state


def _descend_at(
    signed: SignedGraph,
    state: Descent,
    sources: FloatArray,
    rule: SizeRule,
    time: float,
    max_iter: int,
    tolerance: float,
) -> None:
    heat = heat_filter(time)
    received = source_filter(time)(signed.laplacian, sources) if sources.any() else np.zeros_like(sources)
    warmth = _warm(heat, signed, state.labels, rule.n_clusters)
    # Scores shrink as heat spreads, and the price of sizes with them.
    rule = rule.scaled(max(_retained(warmth, state.labels), 0.0))
    state.penalties.append(rule.strength)
    prices = None
    energies = [energy(state.labels, warmth, received, rule)]
    for _ in range(max_iter):
        labels, prices = assign_within_sizes(warmth + received, rule, prices)
        changed = np.count_nonzero(labels != state.labels)
        state.labels, state.scores = labels, warmth + received - prices
        warmth = _warm(heat, signed, labels, rule.n_clusters)
        energies.append(energy(labels, warmth, received, rule))
        if changed <= tolerance * len(labels):
            break
    state.energies.append(np.array(energies))
    counts = np.bincount(state.labels, minlength=rule.n_clusters)
    state.tension = energies[-1] - rule.cost(counts)


def _warm(heat: Filter, signed: SignedGraph, labels: IntArray, n_clusters: int) -> FloatArray:
    """Return (K + ε I) u."""
    members = one_hot(labels, n_clusters)
    return heat(signed.laplacian, members) + heat.error * members


def suitable_times(
    signed: SignedGraph, labels: IntArray, n_clusters: int, times: tuple[float, ...]
) -> tuple[float, ...]:
    """Return times short enough for heat to stay where it is: all scaled down alike where they are not.

    What a time means depends on the graph. On neighbour graphs of real data half of the heat is still in its
    cluster after a time of 30; on a dense graph it may be everywhere after 3, and clusters would dissolve.

    Parameters
    ----------
    signed : SignedGraph
        The graph with its links.
    labels : array of shape (n,)
        A first clustering.
    n_clusters : int
        The number of clusters.
    times : tuple of float
        The times that were asked for.
    """
    factor = 1.0
    for _ in range(MOST_HALVINGS):
        if retained_heat(signed, labels, n_clusters, factor * max(times)) >= LEAST_RETAINED:
            break
        factor /= 2.0
    return tuple(factor * time for time in times)


def retained_heat(signed: SignedGraph, labels: IntArray, n_clusters: int, time: float) -> float:
    """Return the share of heat in its own cluster after a time, beyond what chance would leave there."""
    return _retained(_warm(heat_filter(time), signed, labels, n_clusters), labels)


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
