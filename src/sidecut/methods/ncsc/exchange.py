"""Minimise eq. 6 itself: nodes change clusters as long as that lowers it.

Where every row of Y has one positive entry, eq. 6 is a sum of one smallest eigenvalue λⱼ per cluster, of Ḡ
within it, and all that is left to decide is which node is where. Two trial vectors bound what a move costs.

When node i leaves its cluster, its entry xᵢ is taken out of v. As Ḡv = λv, the quotient of the rest is
λ + xᵢ² (Ḡᵢᵢ - λ) / (1 - xᵢ²).

To join cluster j it may have any entry, and the best quotient is the smaller eigenvalue of
[[λⱼ, -p], [-p, Ḡᵢᵢ]] with p = -(Ḡvⱼ)ᵢ, the pull of the cluster.

So a move whose gain exceeds its loss lowers eq. 6, whatever the indicators become afterwards. Many moves are
made at once; if eq. 6 did not fall, only half of them, and so on. The bounds are pessimistic, so moves that
almost satisfy them are tried as well: at first all at once, as long as eq. 6 falls, and at the end one at a
time.
"""

from __future__ import annotations

import numpy as np

from sidecut.arrays import FloatArray, IntArray
from sidecut.methods.ncsc.fixed_clusters import INDICATOR_SHARE, FixedClusters, best_indicators
from sidecut.methods.ncsc.objective import Descent, PenalizedCut
from sidecut.methods.ncsc.projected import LEAST_ENERGY, descend_projected

#: Both bounds are pessimistic: a move that gains at least this share of its loss often lowers eq. 6.
OPTIMISM = 0.7
#: A move is tried where it gains this share of what it loses, and so many of them at most.
NEAR_MISS, TRIES = 0.5, 100


class Moves:
    """What every node would gain by joining every other cluster, and lose by leaving its own.

    Parameters
    ----------
    cut : PenalizedCut
        The problem.
    state : FixedClusters
        The clusters and the indicators inside them.

    Attributes
    ----------
    gains : array of shape (n_nodes, n_clusters)
        How far the rate of a cluster falls at least if a node joins it; zero for its own.
    losses : array of shape (n_nodes,)
        How far the rate of its cluster grows at most if a node leaves; infinite if it is all there is.

    Examples
    --------
    A path of four nodes, its second one in the wrong half:

    >>> import numpy as np
    >>> from sidecut import Constraints
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.methods.ncsc.objective import PenalizedCut
    >>> from sidecut.methods.ncsc.exchange import Moves
    >>> from sidecut.methods.ncsc.fixed_clusters import best_indicators
    >>> path = np.diag([4.0, 1.0, 4.0], 1)
    >>> cut = PenalizedCut(as_graph(path + path.T), Constraints.none(4))
    >>> Moves(cut, best_indicators(cut, np.array([0, 1, 1, 1]), np.ones(4), 2, 1e-8)).worthwhile()
    (array([1]), array([0]))
    """

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
        """Return single moves that gain more than `least` and half of what they lose, nearest first."""
        nodes, to = np.nonzero((self.gains > least) & (self.gains > NEAR_MISS * self.losses[:, None]))
        net = self.gains[nodes, to] - self.losses[nodes]
        nearest = np.argsort(-net, kind="stable")[:TRIES]
        return [(nodes[[i]], to[[i]]) for i in nearest]

    def apply(self, nodes: IntArray, to: IntArray) -> tuple[IntArray, FloatArray]:
        """Return the labels and the entries after some moves, each entry as its trial vector has it."""
        labels, entries = self.state.labels.copy(), self.state.entries.copy()
        labels[nodes] = to
        entries[nodes] = self.gains[nodes, to] / self.pulls[nodes, to]
        return labels, entries


def own_weights(cut: PenalizedCut) -> FloatArray:
    """Return the diagonal of Ḡ; where loops are not known, without them, which bounds it from above.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut import Constraints
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.methods.ncsc.objective import PenalizedCut
    >>> from sidecut.methods.ncsc.exchange import own_weights
    >>> graph = as_graph(np.array([[1.0, 1.0], [1.0, 0.0]]))
    >>> own_weights(PenalizedCut(graph, Constraints.none(2)))
    array([0.5, 1. ])
    """
    weights, per_degree = cut.graph.matrix, cut.affinity.scale**2
    loops = 0.0 if weights is None else np.asarray(weights.diagonal())
    return np.asarray(1.0 + per_degree * (cut.gamma_must * cut.links.must_degrees - loops))


def exchange(
    cut: PenalizedCut, state: FixedClusters, *, tol: float, max_iter: int
) -> tuple[FixedClusters, list[float], bool]:
    """Move nodes, many at once, until that gains less than `tol` of the objective.

    First moves that may lower the objective, as long as it does fall; then moves that are certain to.

    Returns
    -------
    state, trace, converged
        Where it ended, the objectives on the way, whether there was nothing left to gain.
    """
    trace, converged = [state.objective], False
    for caution in (OPTIMISM, 1.0):
        converged = False
        while not converged and len(trace) <= max_iter:
            after = _after_batch(cut, state, caution, tol)
            if after is None:
                converged = True
                continue
            converged = state.objective - after.objective <= tol * (after.objective + LEAST_ENERGY)
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
    enough = tol * (state.objective + LEAST_ENERGY)
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


def descend_by_exchange(
    cut: PenalizedCut, start: FloatArray, *, overlap: float | None, tol: float, max_iter: int
) -> Descent:
    """Minimise eq. 6 by moves of nodes, from the start and from where the projected steps lead.

    Parameters
    ----------
    cut : PenalizedCut
        The problem.
    start : array of shape (n_nodes, n_clusters)
        Y at the start, nonnegative.
    overlap : float or None
        α of the projected steps.
    tol : float
        Stop when all moves made at once, and each that is tried, gain less than this share of the objective.
    max_iter : int
        The largest number of times that nodes move.

    Returns
    -------
    Descent
        The lowest of the two ends and of that of the projected steps. Y satisfies YᵀDY = I and Y >= 0 to
        rounding, and the trace is eq. 6 at such Y all the way.
    """
    k = start.shape[1]
    projected = descend_projected(cut, start, overlap=overlap, tol=tol, max_iter=max_iter)
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
