"""Three solvers of eq. 6: multiplicative updates (eq. 11), projected steps, and exchanges of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh

from sidecut.checks import FloatArray, IntArray
from sidecut.graphs import SparseGraph
from sidecut.methods.ncsc.objective import (
    INDICATOR_SHARE,
    Descent,
    FixedClusters,
    PenalizedCut,
    best_indicators,
)
from sidecut.spectral.conjugate_gradients import column_dots

#: On graphs of more nodes, projected steps end when the clusters have settled: when SETTLING_STEPS steps
#: have moved no more than SETTLED_SHARE of the nodes. benchmarks/choices/shortcuts.py compares both.
SETTLING_NODES, SETTLING_STEPS, SETTLED_SHARE = 2_000, 10, 1e-3
#: Added to the energy before a share of it is taken: a perfect cut has energy 0.
MIN_ENERGY = 1e-9


class Applied(NamedTuple):
    """The terms of an update by eq. 11 at Y: H⁺Y, H⁻Y, and tr(YᵀGY)."""

    Y: FloatArray
    plus: FloatArray
    minus: FloatArray
    objective: float

    @property
    def multiplier(self) -> FloatArray:
        """Λ = -YᵀHY."""
        return self.Y.T @ self.minus - self.Y.T @ self.plus


class SignedParts:
    """H = G - (σ/d_min) D as H⁺ - H⁻ with sparse nonnegative parts (eqs. 7 to 11)."""

    # Where the weights are an explicit matrix, the common part of an edge of W and a cannot-link on the same
    # pair is subtracted from both, so that the parts are those of eq. 11. Where the graph is only applied, or
    # its nodes are contracted, W and γ_c Qᶜ are the parts as they are. That changes no fixed point.

    def __init__(self, cut: PenalizedCut, sigma: float) -> None:
        self.cut = cut
        positive = cut.degrees[cut.degrees > 0]
        self.shift = sigma / float(positive.min())
        # σ = 0 where every node has only a loop.
        self.step_scale = 1.0 / max(self.shift, 1.0)
        #: The diagonal of G.
        self.loops = cut.degrees + cut.gamma_must * cut.links.must_degrees
        diagonal = self.loops - self.shift * cut.degrees
        self.plus_diagonal = np.maximum(diagonal, 0.0)
        self.minus_diagonal = np.maximum(-diagonal, 0.0)
        self.shared = _shared_pairs(cut)

    def apply(self, Y: FloatArray) -> Applied:
        """Return H⁺Y, H⁻Y and the objective, from one product with each of W, Qᵐ and Qᶜ."""
        cut = self.cut
        plus = cut.gamma_cannot * cut.links.cannot(Y)
        minus = cut.graph.apply(Y) + cut.gamma_must * cut.links.must(Y)
        objective = float(np.sum(Y * (self.loops[:, None] * Y + plus - minus)))
        plus += self.plus_diagonal[:, None] * Y
        minus += self.minus_diagonal[:, None] * Y
        if self.shared is not None:
            common = self.shared.apply(Y)
            plus, minus = np.maximum(plus - common, 0.0), np.maximum(minus - common, 0.0)
        return Applied(Y, plus, minus, objective)


def largest_eigenvalue(cut: PenalizedCut, rng: np.random.RandomState) -> float:
    """Return σ: the largest eigenvalue of G, or slightly more."""
    n = cut.n_nodes
    if n <= 64:
        return float(scipy.linalg.eigvalsh(cut.apply(np.eye(n)))[-1])
    operator = LinearOperator((n, n), matvec=lambda x: cut.apply(x.reshape(-1, 1)).ravel(), dtype=np.float64)
    start = rng.uniform(-1.0, 1.0, n)
    tolerance = 1e-4
    top = eigsh(operator, 1, which="LA", tol=tolerance, v0=start, return_eigenvectors=False)
    # Larger by the tolerance, so that it is a bound.
    return float(top[0]) * (1.0 + tolerance)


def multiplicative_step(parts: SignedParts, at: Applied) -> FloatArray:
    """Return Y after one update by eq. 11, with Λ = -YᵀHY."""
    # Entries below 1e-150, whose products would underflow, become zero. An entry whose denominator is zero
    # stays as it is: as printed, the update is 0 / 0 there.
    Lambda = at.multiplier
    DY = parts.cut.degrees[:, None] * at.Y
    above = at.minus + DY @ np.maximum(-Lambda, 0.0)
    below = at.plus + DY @ np.maximum(Lambda, 0.0)
    ratio = np.ones_like(at.Y)
    np.divide(above, below, out=ratio, where=below > 0)
    updated = at.Y * np.sqrt(ratio)
    updated[updated < 1e-150] = 0.0
    return updated


def descend_multiplicatively(
    cut: PenalizedCut, start: FloatArray, *, tol: float, max_iter: int, rng: np.random.RandomState
) -> Descent:
    """Repeat eq. 11 until Y hardly moves, relative to the size of its steps."""
    # One update moves Y by about d_min/σ of its way to the minimum, so `tol` is in that unit.
    parts = SignedParts(cut, largest_eigenvalue(cut, rng))
    here = parts.apply(np.where(cut.degrees[:, None] > 0, start, 0.0))
    trace = [here.objective]
    enough = tol * parts.step_scale
    converged = False
    for _ in range(max_iter):
        previous, here = here, parts.apply(multiplicative_step(parts, here))
        trace.append(here.objective)
        converged = bool(np.linalg.norm(here.Y - previous.Y) <= enough * np.linalg.norm(previous.Y))
        if converged:
            break
    return Descent(here.Y, np.array(trace), len(trace) - 1, converged, parts.step_scale)


def _shared_pairs(cut: PenalizedCut) -> SparseGraph | None:
    """Return min(W, γ_c Qᶜ) entry by entry, or None where there is none or it cannot be known."""
    # Without contraction, linked nodes and constrained points are the same, in the same order.
    weights, points = cut.graph.matrix, cut.links.nodes
    if weights is None or not cut.gamma_cannot or cut.graph is not cut.points_graph or not len(points):
        return None
    among = sp.coo_array(weights[points][:, points])
    strength = cut.links.both.entries(among.row.astype(np.int64), among.col.astype(np.int64))
    shared = np.minimum(among.data, cut.gamma_cannot * np.maximum(-strength, 0.0))
    if not shared.any():
        return None
    ends = (points[among.row], points[among.col])
    return SparseGraph(sp.csr_array((shared, ends), shape=(cut.n_nodes, cut.n_nodes)))


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
    """E(φ, V) and the step that lowers it."""

    def __init__(self, cut: PenalizedCut, alpha: float) -> None:
        self.cut = cut
        self.alpha = alpha
        self.linked = cut.links.nodes
        self.per_degree = cut.affinity.scale[self.linked] ** 2
        self.ties = 2.0 * cut.gamma_must * cut.links.must_degrees[self.linked] * self.per_degree

    def at(self, V: FloatArray) -> _State:
        """Return the state of V, its columns scaled to length one, with the best φ."""
        lengths = np.sqrt(column_dots(V, V))
        V = V / np.where(lengths > 0, lengths, 1.0)
        image = self.cut.apply_normalized(V)
        labels = V.argmax(axis=1)
        largest = np.take_along_axis(V, labels[:, None], axis=1).ravel()
        # Every column that is not zero has length one.
        n_columns = int(np.count_nonzero(lengths))
        overlap = n_columns - largest @ largest
        energy = float(column_dots(V, image).sum() + self.alpha * overlap)
        return _State(V, image, labels, energy, n_columns)

    def step(self, state: _State, *, safe: bool = False) -> FloatArray:
        """Return max(v - S⁻¹(A - ρ)v, 0) for every column."""
        # S holds the price of a cannot-link only where the column is positive at its other end: entries that
        # are zero mostly stay zero. A safe step takes the full bound, which cannot raise the energy.
        V, rows = state.V, state.labels[:, None]
        # In place where possible: these arrays do not fit into the cache, and each new one costs as much as
        # what is computed.
        slope = self.alpha * V
        slope += state.image
        np.put_along_axis(slope, rows, np.take_along_axis(state.image, rows, axis=1), axis=1)
        length = column_dots(V, V)
        slope -= column_dots(V, slope) / np.where(length > 0, length, 1.0) * V
        # λ_max(L̄) <= 2, and 1 is nearly always enough: W has few negative eigenvalues.
        plain = (2.0 if safe else 1.0) + self.alpha
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
    """Lower the energy by steps with momentum, never raising it."""
    # A step that raises it, or takes all of a column away, is taken again without momentum, and then with the
    # full bound on the curvature, which does neither.
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
        enough = tol * (now.energy + MIN_ENERGY)
        if (gain <= enough and (n_moved == 0 or gain <= 0.1 * enough)) or _have_settled(moved, now):
            return now, trace, True
    return now, trace, False


def _have_settled(moved: list[int], now: _State) -> bool:
    """Tell whether the last steps moved hardly any node of a large graph to another cluster."""
    n_nodes = now.labels.size
    if n_nodes <= SETTLING_NODES or len(moved) < SETTLING_STEPS:
        return False
    return sum(moved[-SETTLING_STEPS:]) <= SETTLED_SHARE * n_nodes


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
    cut: PenalizedCut, start: FloatArray, *, overlap: float | None = None, tol: float, max_iter: int
) -> Descent:
    """Minimise eq. 6 from a start by projected steps."""
    V = np.sqrt(cut.degrees)[:, None] * start
    alpha = usual_overlap_price(cut, start) if overlap is None else overlap
    n_present = len(np.unique(start[cut.degrees > 0].argmax(axis=1)))
    # A price that lets a cluster vanish is raised.
    for _ in range(8):
        state, trace, converged = descend(OverlapEnergy(cut, alpha), V, tol=tol, max_iter=max_iter)
        if len(np.unique(state.labels[cut.degrees > 0])) >= n_present:
            break
        alpha *= 4.0
    soft = cut.affinity.scale[:, None] * state.V
    return Descent(soft, np.array(trace), len(trace) - 1, converged, overlap=alpha, cut=cut, tol=tol)


def usual_overlap_price(cut: PenalizedCut, start: FloatArray) -> float:
    """Return half the mean of cut(C, rest) / vol(C) over the clusters at the start."""
    # At a price far below that, a cluster costs less when it spreads over everything; a price far above it
    # freezes the clusters.
    Y = cut.indicators(start.argmax(axis=1), start.shape[1])
    costs = np.sum(Y * (cut.degrees[:, None] * Y - cut.graph.apply(Y)), axis=0)
    # Where the start cuts nothing, overlap still has a price.
    return max(0.5 * float(costs[Y.any(axis=0)].mean()), 1e-3)


class Moves:
    """The gain of every node in joining every other cluster, and its loss in leaving its own."""

    # Where every row of Y has one positive entry, eq. 6 is a sum of one smallest eigenvalue λⱼ per cluster,
    # of Ḡ within it. Two trial vectors bound what a move costs.
    #
    # When node i leaves its cluster, its entry xᵢ is taken out of v. As Ḡv = λv, the quotient of the rest is
    # λ + xᵢ² (Ḡᵢᵢ - λ) / (1 - xᵢ²).
    #
    # To join cluster j it may have any entry, and the best quotient is the smaller eigenvalue of [[λⱼ, -p],
    # [-p, Ḡᵢᵢ]] with p = -(Ḡvⱼ)ᵢ, the pull of the cluster.
    #
    # So a move whose gain exceeds its loss lowers eq. 6, whatever the indicators become afterwards.

    def __init__(self, cut: PenalizedCut, state: FixedClusters) -> None:
        self.state = state
        rows, own = np.arange(cut.n_nodes), own_weights(cut)
        self.pulls = np.maximum(-cut.apply_normalized(state.block()), 0.0)
        # A node does not join where it is, nor where nothing pulls; without degree it has no entry at all.
        self.pulls[rows, state.labels] = 0.0
        self.pulls[cut.degrees <= 0] = 0.0
        gaps = own[:, None] - state.rates
        self.gains = np.where(self.pulls > 0, 0.5 * (np.hypot(gaps, 2.0 * self.pulls) - gaps), 0.0)
        share = state.entries**2
        held = share * np.maximum(own - state.rates[state.labels], 0.0)
        self.losses = np.full(cut.n_nodes, np.inf)
        np.divide(held, 1.0 - share, out=self.losses, where=share < 1.0)

    def worthwhile(self, caution: float = 1.0) -> tuple[IntArray, IntArray]:
        """Return the nodes that gain more than `caution` times what they lose, most first, and where to."""
        to = self.gains.argmax(axis=1)
        net = self.gains[np.arange(len(to)), to] - caution * self.losses
        nodes = np.flatnonzero(net > 0)
        nodes = nodes[np.argsort(-net[nodes], kind="stable")]
        return nodes, to[nodes]

    def near_misses(self, least: float) -> list[tuple[IntArray, IntArray]]:
        """Return up to 100 single moves that gain more than `least` and half of what they lose."""
        nodes, to = np.nonzero((self.gains > least) & (self.gains > 0.5 * self.losses[:, None]))
        net = self.gains[nodes, to] - self.losses[nodes]
        nearest = np.argsort(-net, kind="stable")[:100]
        return [(nodes[[i]], to[[i]]) for i in nearest]

    def apply(self, nodes: IntArray, to: IntArray) -> tuple[IntArray, FloatArray]:
        """Return the labels and the entries after some moves, each entry as its trial vector has it."""
        labels, entries = self.state.labels.copy(), self.state.entries.copy()
        labels[nodes] = to
        entries[nodes] = self.gains[nodes, to] / self.pulls[nodes, to]
        return labels, entries


def own_weights(cut: PenalizedCut) -> FloatArray:
    """Return the diagonal of Ḡ; where loops are not known, without them, which bounds it from above."""
    weights, per_degree = cut.graph.matrix, cut.affinity.scale**2
    loops = 0.0 if weights is None else np.asarray(weights.diagonal())
    return np.asarray(1.0 + per_degree * (cut.gamma_must * cut.links.must_degrees - loops))


def exchange(
    cut: PenalizedCut, state: FixedClusters, *, tol: float, max_iter: int
) -> tuple[FixedClusters, list[float], bool]:
    """Move nodes, many at once, until that gains less than `tol` of the objective."""
    # First moves that may lower the objective, as long as it does fall; then moves that are certain to.
    trace, converged = [state.objective], False
    # The bounds on gain and loss are pessimistic: a gain of 0.7 times the loss often lowers eq. 6.
    for caution in (0.7, 1.0):
        converged = False
        while not converged and len(trace) <= max_iter:
            after = _after_batch(cut, state, caution, tol)
            if after is None:
                converged = True
                continue
            converged = state.objective - after.objective <= tol * (after.objective + MIN_ENERGY)
            state = after
            trace.append(state.objective)
    return state, trace, converged


def _after_batch(cut: PenalizedCut, state: FixedClusters, caution: float, tol: float) -> FixedClusters | None:
    """Make all moves at once; where that does not help though each alone would, half of them, and so on."""
    moves = Moves(cut, state)
    nodes, to = moves.worthwhile(caution)
    while len(nodes):
        after = _make(cut, moves, nodes, to, tol)
        if _is_better(after, state):
            return after
        left = len(nodes) // 2 if caution >= 1.0 else 0
        nodes, to = nodes[:left], to[:left]
    return None


def after_near_miss(cut: PenalizedCut, state: FixedClusters, tol: float) -> FixedClusters | None:
    """Return the first single move tried that gains more than `tol` of the objective, or None."""
    enough = tol * (state.objective + MIN_ENERGY)
    moves = Moves(cut, state)
    for nodes, to in moves.near_misses(enough):
        after = _make(cut, moves, nodes, to, tol)
        if _is_better(after, state) and state.objective - after.objective > enough:
            return after
    return None


def _make(cut: PenalizedCut, moves: Moves, nodes: IntArray, to: IntArray, tol: float) -> FixedClusters:
    labels, entries = moves.apply(nodes, to)
    return best_indicators(cut, labels, entries, len(moves.state.rates), INDICATOR_SHARE * tol)


def _is_better(after: FixedClusters, before: FixedClusters) -> bool:
    """Whether the objective fell, and not because a column became zero, which costs nothing."""
    return after.objective < before.objective and after.n_columns >= before.n_columns


def descend_by_exchange(cut: PenalizedCut, start: FloatArray, *, tol: float, max_iter: int) -> Descent:
    """Minimise eq. 6 by moves of nodes, from the start and from where the projected steps lead."""
    k = start.shape[1]
    projected = descend_projected(cut, start, tol=tol, max_iter=max_iter)
    begin = np.sqrt(cut.degrees)
    states = [
        best_indicators(cut, Y.argmax(axis=1), begin, k, INDICATOR_SHARE * tol)
        for Y in (start, projected.soft)
    ]
    ends = [exchange(cut, state, tol=tol, max_iter=max_iter) for state in states]
    state, trace, converged = min(ends, key=lambda end: (-end[0].n_columns, end[0].objective))
    while converged and (after := after_near_miss(cut, state, tol)) is not None:
        if len(trace) > max_iter:
            converged = False
            break
        state, more, converged = exchange(cut, after, tol=tol, max_iter=max_iter - len(trace))
        trace += more
    if len(trace) == 1:
        # To look for moves and find none is one iteration.
        trace *= 2
    Y = cut.affinity.scale[:, None] * state.block()
    kept = projected.indicators
    if kept.any(axis=0).sum() >= state.n_columns and cut.objective(kept) < cut.objective(Y):
        # Moves begin at the clusters of the projected steps, not at their indicators, and may end above them.
        end = np.full(2, cut.objective(kept))
        return Descent(kept, end, max(projected.n_iter, 1), projected.converged)
    return Descent(Y, np.array(trace), len(trace) - 1, converged)
