"""A fast solver for the objective of NCSC (eq. 6): projected steps with momentum, and a price on overlap.

YᵀDY = I and Y >= 0 together say that no two columns of Y overlap. With V = D^{1/2} Y and the cluster φ(i) of
every point, the energy

    E(φ, V) = Σⱼ vⱼᵀ Ḡ vⱼ + α Σᵢ Σ_{j≠φ(i)} vᵢⱼ²,    ‖vⱼ‖ = 1, V >= 0,

pays for overlap instead of forbidding it; with α → ∞ its minimum is that of eq. 6 (Osting, White & Oudet,
2014, do the same for partitions without links). Two steps lower it in turn:

φ(i) = argmaxⱼ vᵢⱼ, exactly, and a step of vⱼ. Let A = Ḡ + α diag(1 - φⱼ), ρ = vᵀAv / vᵀv, and let S be
diagonal with S - A positive semidefinite. Then f(x) = xᵀ(A - ρ)x is nowhere above the parabola with curvature
S that touches it at v, whose minimum over x >= 0 is at max(v - S⁻¹(A - ρ)v, 0). Since f(v) = 0, f <= 0 there:
the Rayleigh quotient has not grown, and the length of x does not matter.

Unlike in eq. 11, the step is not divided by σ/d_min but point by point by what its own links weigh.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from sidecut.arrays import FloatArray, IntArray
from sidecut.methods.ncsc.fixed_clusters import CURVATURE_BOUND, INDICATOR_SHARE, without_overlap
from sidecut.methods.ncsc.objective import Descent, PenalizedCut

#: λ_max(L̄) <= 2, and 1 is nearly always enough: W has few negative eigenvalues.
CURVATURE = 1.0
#: How often a price that lets a cluster vanish is raised, each time by this factor.
RAISES, RAISE = 8, 4.0
#: Where the start cuts nothing, overlap still has a price.
LEAST_PRICE = 1e-3
#: On graphs of more nodes than the first number the clusters are taken to be settled when so many steps have
#: moved no more than this share of the nodes: what a step gains then is gained within the clusters.
#: benchmarks/choices/shortcuts.py compares both.
MANY_NODES, SETTLING_STEPS, SETTLED = 2_000, 10, 1e-3
#: Added to the energy before a share of it is taken: a perfect cut has energy 0.
LEAST_ENERGY = 1e-9


@dataclass(frozen=True)
class _State:
    """V, ḠV, the cluster of every node, the energy and how many columns are not zero."""

    V: FloatArray
    image: FloatArray
    labels: IntArray
    energy: float
    n_columns: int

    def is_worse_than(self, other: _State) -> bool:
        """Whether the energy is higher, or lower only because a column became zero, which costs nothing."""
        return self.energy > other.energy or self.n_columns < other.n_columns


class OverlapEnergy:
    """E(φ, V) and the step that lowers it.

    Parameters
    ----------
    cut : PenalizedCut
        The problem.
    alpha : float
        α, the price of overlap.
    """

    def __init__(self, cut: PenalizedCut, alpha: float) -> None:
        self.cut = cut
        self.alpha = alpha
        self.linked = cut.links.nodes
        self.per_degree = cut.affinity.scale[self.linked] ** 2
        self.ties = 2.0 * cut.gamma_must * cut.links.must_degrees[self.linked] * self.per_degree

    def at(self, V: FloatArray) -> _State:
        """Return the state of V, its columns scaled to length one, with the best φ."""
        lengths = np.sqrt(column_products(V, V))
        V = V / np.where(lengths > 0, lengths, 1.0)
        image = self.cut.apply_normalized(V)
        labels = V.argmax(axis=1)
        largest = np.take_along_axis(V, labels[:, None], axis=1).ravel()
        # Every column that is not zero has length one.
        n_columns = int(np.count_nonzero(lengths))
        overlap = n_columns - largest @ largest
        energy = float(column_products(V, image).sum() + self.alpha * overlap)
        return _State(V, image, labels, energy, n_columns)

    def step(self, state: _State, *, safe: bool = False) -> FloatArray:
        """Return max(v - S⁻¹(A - ρ)v, 0) for every column.

        S holds the price of a cannot-link only where the column is positive at its other end: entries that
        are zero mostly stay zero. A safe step takes the full bound, which cannot raise the energy.
        """
        V, rows = state.V, state.labels[:, None]
        # In place where possible: these arrays do not fit into the cache, and each new one costs as much as
        # what is computed.
        slope = self.alpha * V
        slope += state.image
        np.put_along_axis(slope, rows, np.take_along_axis(state.image, rows, axis=1), axis=1)
        length = column_products(V, V)
        slope -= column_products(V, slope) / np.where(length > 0, length, 1.0) * V
        plain = (CURVATURE_BOUND if safe else CURVATURE) + self.alpha
        slope /= plain
        if self.linked.size:
            slope[self.linked] *= plain / (plain + self._link_curvature(V, safe))
        np.subtract(V, slope, out=slope)
        return np.maximum(slope, 0.0, out=slope)

    def _link_curvature(self, V: FloatArray, safe: bool) -> FloatArray:
        """Return what links add to S, for the linked nodes."""
        rows = V[self.linked]
        near = np.ones_like(rows) if safe else (rows > 0).astype(np.float64)
        apart = self.cut.gamma_cannot * self.cut.links.apply_cannot_among(near)
        return self.ties[:, None] + self.per_degree[:, None] * apart


def descend(
    energy: OverlapEnergy, start: FloatArray, *, tol: float, max_iter: int
) -> tuple[_State, list[float], bool]:
    """Lower the energy by steps with momentum, never raising it.

    A step that raises it, or takes all of a column away, is taken again without momentum, and then with the
    full bound on the curvature, which does neither.

    Returns
    -------
    state, trace, converged
        Where it ended, the energies on the way, and whether the last step gained less than `tol` of the
        energy, or the clusters of a large graph have settled.
    """
    now = before = energy.at(start)
    trace, momentum, moved = [now.energy], 1.0, []
    for _ in range(max_iter):
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        after = energy.at(energy.step(_ahead(now, before, (momentum - 1.0) / following)))
        if after.is_worse_than(now) and momentum > 1.0:
            after, following = energy.at(energy.step(now)), 1.0
        if after.is_worse_than(now):
            after, following = energy.at(energy.step(now, safe=True)), 1.0
        gain, n_moved = now.energy - after.energy, int(np.count_nonzero(after.labels != now.labels))
        if after.is_worse_than(now):
            # Rounding: there is no way down any more.
            return now, trace, True
        now, before, momentum = after, now, following
        trace.append(now.energy)
        moved.append(n_moved)
        enough = tol * (now.energy + LEAST_ENERGY)
        if (gain <= enough and (n_moved == 0 or gain <= 0.1 * enough)) or _have_settled(moved, now):
            return now, trace, True
    return now, trace, False


def _have_settled(moved: list[int], now: _State) -> bool:
    """Tell whether the last steps moved next to no nodes of a large graph from cluster to cluster."""
    n_nodes = now.labels.size
    if n_nodes <= MANY_NODES or len(moved) < SETTLING_STEPS:
        return False
    return sum(moved[-SETTLING_STEPS:]) <= SETTLED * n_nodes


def _ahead(now: _State, before: _State, by: float) -> _State:
    """Return a state beyond this one, in the direction of the last step; Ḡ is linear, so it costs nothing."""
    if by == 0.0:
        return now
    V, image = now.V - before.V, now.image - before.image
    V *= by
    V += now.V
    image *= by
    image += now.image
    return _State(V, image, now.labels, now.energy, now.n_columns)


def descend_projected(
    cut: PenalizedCut, start: FloatArray, *, overlap: float | None, tol: float, max_iter: int
) -> Descent:
    """Minimise eq. 6 from a start by projected steps.

    Parameters
    ----------
    cut : PenalizedCut
        The problem.
    start : array of shape (n_nodes, n_clusters)
        Y at the start, nonnegative.
    overlap : float or None
        α; None for half the mean normalised cut of the clusters at the start. An α too small to keep
        every cluster of the start alive is raised until it does.
    tol : float
        Stop when a step gains less than this share of the energy.
    max_iter : int
        The largest number of steps.

    Returns
    -------
    Descent
        With Y that satisfies YᵀDY = I and Y >= 0 to rounding; `soft` is Y at the price α, before overlap was
        forbidden, and its largest columns are the clusters.
    """
    V = np.sqrt(cut.degrees)[:, None] * start
    alpha = usual_overlap_price(cut, start) if overlap is None else overlap
    n_present = len(np.unique(start[cut.degrees > 0].argmax(axis=1)))
    for _ in range(RAISES):
        state, trace, converged = descend(OverlapEnergy(cut, alpha), V, tol=tol, max_iter=max_iter)
        if len(np.unique(state.labels[cut.degrees > 0])) >= n_present:
            break
        alpha *= RAISE
    soft = cut.affinity.scale[:, None] * state.V
    return Descent(
        soft,
        np.array(trace),
        len(trace) - 1,
        converged,
        overlap=alpha,
        find_indicators=partial(indicators_without_overlap, cut, soft, tol),
    )


def indicators_without_overlap(cut: PenalizedCut, soft: FloatArray, tol: float) -> FloatArray:
    """Return the Y of eq. 6 for the clusters of a Y that overlaps, to a hundredth of their tolerance."""
    V = np.sqrt(cut.degrees)[:, None] * soft
    return cut.affinity.scale[:, None] * without_overlap(cut, V, V.argmax(axis=1), INDICATOR_SHARE * tol)


def usual_overlap_price(cut: PenalizedCut, start: FloatArray) -> float:
    """Return half the mean of cut(C, rest) / vol(C) over the clusters at the start.

    A price far below that makes a cluster cheaper spread over everything than where it is; one far above
    freezes the clusters where they are.
    """
    Y = cut.indicators(start.argmax(axis=1), start.shape[1])
    costs = np.sum(Y * (cut.degrees[:, None] * Y - cut.graph.apply(Y)), axis=0)
    present = Y.any(axis=0)
    return max(0.5 * float(costs[present].mean()), LEAST_PRICE)


def column_products(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the inner product of every two columns of the same number."""
    return np.asarray(np.einsum("ij,ij->j", left, right))
