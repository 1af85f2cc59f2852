"""Colouring a few nodes exactly: depth first, cutting off what cannot be better."""

from __future__ import annotations

import numpy as np

from sidecut.arrays import FloatArray, IntArray

#: Nodes of the search tree looked at, at most.
BUDGET = 20_000


def branch_and_bound(
    costs: FloatArray, weights: FloatArray, incumbent: IntArray, budget: int = BUDGET
) -> tuple[IntArray, bool]:
    """Return the colouring of least violation and, among those, least cost, if the budget lasts.

    Parameters
    ----------
    costs : ndarray of shape (m, k)
        What each colour costs each node.
    weights : ndarray of shape (m, m)
        Symmetric strengths of the edges.
    incumbent : ndarray of shape (m,)
        A colouring to improve on.
    budget : int
        How many nodes of the search tree are looked at, at most.

    Returns
    -------
    colours : ndarray of shape (m,)
        The best found.
    is_proved : bool
        Whether the search was exhausted.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.labelling.coloring.branching import branch_and_bound
    >>> triangle = np.ones((3, 3)) - np.eye(3)
    >>> branch_and_bound(np.arange(9.0).reshape(3, 3), triangle, np.zeros(3, dtype=np.int64))[1]
    True
    """
    order = np.argsort(-weights.sum(axis=1), kind="stable")
    search = _Search(costs[order], weights[order][:, order], incumbent[order], budget)
    proved = search.descend(0, 0.0, 0.0, np.zeros_like(costs))
    colours = np.empty_like(incumbent)
    colours[order] = search.best
    return colours, proved


class _Search:
    """Depth first through the colours of one node after the other."""

    def __init__(self, costs: FloatArray, weights: FloatArray, incumbent: IntArray, budget: int) -> None:
        self.costs, self.weights, self.budget = costs, weights, budget
        self.best = incumbent.copy()
        self.current = incumbent.copy()
        nodes = np.arange(len(costs))
        same = incumbent[:, None] == incumbent
        self.best_violated = float((weights * same).sum()) / 2
        self.best_cost = float(costs[nodes, incumbent].sum())
        # What the nodes still to come cost at the least.
        self.cheapest = np.append(np.cumsum(costs.min(axis=1)[::-1])[::-1], 0.0)
        self.is_symmetric = bool((costs == costs[:, :1]).all())

    def descend(self, node: int, violated: float, cost: float, penalties: FloatArray) -> bool:
        """Complete the colouring from `node` on; False if the budget ran out."""
        bound = violated + penalties[node:].min(axis=1).sum()
        if not self._beats(bound, cost + self.cheapest[node]):
            return True
        if node == len(self.costs):
            self.best, self.best_violated, self.best_cost = self.current.copy(), violated, cost
            return True
        self.budget -= 1
        if self.budget < 0:
            return False
        for colour_ in self._choices(node, penalties[node]):
            self.current[node] = colour_
            below = penalties.copy()
            below[:, colour_] += self.weights[node]
            more = violated + penalties[node, colour_]
            if not self.descend(node + 1, more, cost + self.costs[node, colour_], below):
                return False
        return True

    def _choices(self, node: int, penalties: FloatArray) -> IntArray:
        choices = np.lexsort((self.costs[node], penalties))
        if self.is_symmetric:
            # Of the colours not used yet, one stands for all.
            n_used = int(self.current[:node].max(initial=-1)) + 1
            choices = choices[choices <= n_used]
        return choices

    def _beats(self, violated: float, cost: float) -> bool:
        slack = 1e-12 * max(self.best_violated, 1.0)
        if abs(violated - self.best_violated) > slack:
            return violated < self.best_violated
        return cost < self.best_cost - 1e-12 * abs(self.best_cost)
