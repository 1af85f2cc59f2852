"""Beliefs about hidden labels that speak to each other: the mean field of a hidden Markov random field."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.special import logsumexp, softmax, xlogy

from sidecut.arrays import FloatArray, IntArray


class MeanField:
    """Labels z of m nodes with log p(z) = Σ_j a_j(z_j) - Σ_{j<j'} |W_jj'| [link jj' is violated] + constant.

    A link is violated by equal labels where W_jj' < 0 and by different ones where W_jj' > 0. The beliefs q
    are a product of one distribution per node. They maximise

        F(q) = Σ_j Σ_l q_jl (a_jl - log q_jl) + ½ Σ_jj' W_jj' q_j·q_j' - ½ Σ_jj' max(W_jj', 0),

    which bounds the logarithm of Σ_z exp(...) from below. One node at a time, the maximum is
    q_j ∝ exp(a_j + Σ_j' W_jj' q_j'). Nodes without links to each other do not disturb each other and are
    updated together, so F never falls. Without links q is exact, and so is F.

    Where a_j = log α + log p(x_j | ·), F bounds the log-likelihood of x given the links, too: links only ever
    cost, so that the weights Π α exp(-what z violates) sum to at most one over all z, and dividing by that
    sum can but raise the likelihood.

    Parameters
    ----------
    links : sparse matrix of shape (m, m)
        W, symmetric without diagonal: positive for nodes that should agree, negative for those
        that should not.

    Examples
    --------
    Two nodes that both prefer the first label, one more firmly, and should differ:

    >>> import numpy as np
    >>> field = MeanField(sparse.csr_array(np.array([[0.0, -9.0], [-9.0, 0.0]])))
    >>> field.improve(np.array([[3.0, 0.0], [1.0, 0.0]]), np.full((2, 2), 0.5)).round(2)
    array([[1., 0.],
           [0., 1.]])
    """

    def __init__(self, links: sparse.csr_array) -> None:
        self.links = links
        self.linked = np.flatnonzero(np.diff(links.indptr))
        inner = links[self.linked][:, self.linked]
        self.turns = [(turn, inner[turn]) for turn in independent_sets(inner)]
        self.inner = inner
        #: What agreement on all positive links would be worth, were it a reward and not a price saved.
        self.agreement = 0.5 * float(np.maximum(inner.data, 0.0).sum())

    def improve(
        self, scores: FloatArray, beliefs: FloatArray, max_sweeps: int = 50, tol: float = 1e-9
    ) -> FloatArray:
        """Return beliefs with an F no lower.

        Parameters
        ----------
        scores : ndarray of shape (m, k)
            The a of each node.
        beliefs : ndarray of shape (m, k)
            Where to begin; counts for linked nodes only.
        max_sweeps : int
            How often to visit every linked node at most.
        tol : float
            Stop when no belief changes by more.
        """
        improved = softmax(scores, axis=1)
        if len(self.linked) == 0:
            return improved
        own, inner = scores[self.linked], beliefs[self.linked].copy()
        for _ in range(max_sweeps):
            before = inner.copy()
            for turn, rows in self.turns:
                inner[turn] = softmax(own[turn] + rows @ inner, axis=1)
            if np.abs(inner - before).max() <= tol:
                break
        improved[self.linked] = inner
        return improved

    def bound(self, scores: FloatArray, beliefs: FloatArray) -> float:
        """Return F for beliefs that came from `improve`."""
        free = np.ones(len(scores), dtype=bool)
        free[self.linked] = False
        exact = float(logsumexp(scores[free], axis=1).sum()) if free.any() else 0.0
        inner = beliefs[self.linked]
        entropy = float((inner * scores[self.linked] - xlogy(inner, inner)).sum())
        return exact + entropy + 0.5 * float((inner * (self.inner @ inner)).sum()) - self.agreement


def independent_sets(links: sparse.csr_array) -> list[IntArray]:
    """Split nodes into few sets without links inside, greedily, the nodes with most links first.

    Examples
    --------
    >>> star = sparse.csr_array(np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]]))
    >>> [one.tolist() for one in independent_sets(star)]
    [[0], [1, 2]]
    """
    turn = np.full(links.shape[0], -1, dtype=np.int64)
    for node in np.argsort(-np.diff(links.indptr), kind="stable"):
        taken = turn[links.indices[links.indptr[node] : links.indptr[node + 1]]]
        free = np.ones(len(taken) + 1, dtype=bool)
        free[taken[(taken >= 0) & (taken < len(free))]] = False
        turn[node] = int(np.argmax(free))
    return [np.flatnonzero(turn == number) for number in range(int(turn.max(initial=-1)) + 1)]
