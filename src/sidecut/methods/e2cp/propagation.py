"""Propagating constraints from the pairs that are known to all pairs of points (Lu & Ip, 2010, section 2)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.graphs import Graph, NormalizedAffinity, normalize
from sidecut.methods.e2cp.lowrank import AgreementMatrix, LowRankMatrix
from sidecut.methods.e2cp.spreading import spread, spread_units


def propagate(graph: Graph, constraints: Constraints, alpha: float = 0.8) -> PropagatedConstraints:
    """Propagate constraints to all pairs of points: F = P Z P of eq. 3, kept as a factor.

    Parameters
    ----------
    graph : Graph
        W, in any form.
    constraints : Constraints
        Z, any real numbers, as they are: the diagonal of labels is kept (``with_diagonal(0)`` removes it).
    alpha : float, default=0.8
        α of eq. 3.

    Returns
    -------
    PropagatedConstraints
        F, of rank K for labels of K classes and otherwise as many as points are constrained.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut import Constraints
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.methods.e2cp.propagation import propagate
    >>> path = as_graph(np.eye(4, k=1) + np.eye(4, k=-1))
    >>> F = propagate(path, Constraints.from_pairs(4, cannot_link=[(0, 3)]))
    >>> F.strongest(1)[0]
    array([[0, 3]])
    """
    labels, weight = constraints.labels, constraints.largest_strength()
    if labels is not None and are_labels(constraints):
        labelled = np.flatnonzero(labels >= 0)
        memberships = spread_units(graph, labelled, labels[labelled], alpha)
        return PropagatedConstraints(AgreementMatrix(memberships, weight))
    if constraints.is_empty:
        return PropagatedConstraints(LowRankMatrix(np.zeros((graph.n_nodes, 0)), np.zeros((0, 0))))
    known, points = constraints.restricted()
    factor = spread_units(graph, points, np.arange(points.size), alpha)
    return PropagatedConstraints(LowRankMatrix(factor, known.as_matrix()))


def propagate_labels(
    graph: Graph, constraints: Constraints, alpha: float, tolerance: float
) -> AgreementMatrix:
    """Return F of labels to some residual, where `propagate` goes as far as rounding.

    Parameters
    ----------
    graph : Graph
        W, in any form.
    constraints : Constraints
        Labels of one strength, see `are_labels`.
    alpha : float
        α of eq. 3.
    tolerance : float
        The residual of the memberships relative to the labels.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut import Constraints
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.methods.e2cp.propagation import propagate, propagate_labels
    >>> path = as_graph(np.eye(4, k=1) + np.eye(4, k=-1))
    >>> known = Constraints.from_labels([0, -1, -1, 1])
    >>> F = propagate_labels(path, known, 0.8, tolerance=1e-8).toarray()
    >>> bool(np.abs(F - propagate(path, known, 0.8).toarray()).max() < 1e-7)
    True
    """
    labels = np.asarray(constraints.labels)
    labelled = np.flatnonzero(labels >= 0)
    units = np.zeros((graph.n_nodes, int(labels.max()) + 1))
    units[labelled, labels[labelled]] = 1.0
    memberships = np.maximum(spread(graph, units, alpha, tolerance), 0.0)
    return AgreementMatrix(memberships, constraints.largest_strength())


def are_labels(constraints: Constraints) -> bool:
    """Return whether constraints say no more and no less than labels of one strength."""
    labels = constraints.labels
    return (
        labels is not None and Constraints.from_labels(labels, constraints.largest_strength()) == constraints
    )


def propagate_by_iteration(
    graph: Graph, constraints: Constraints, alpha: float = 0.8, tol: float = 1e-12, max_iter: int = 100_000
) -> FloatArray:
    """Return F by steps 3 and 4 of the paper: vertical, then horizontal propagation, iterated to convergence.

    The limit is eq. 3; `propagate` is the way to compute it. This one forms N x N matrices and is there to
    be compared with.

    Parameters
    ----------
    graph : Graph
        W.
    constraints : Constraints
        Z.
    alpha : float, default=0.8
        α.
    tol : float, default=1e-12
        Stop when no entry changes by more.
    max_iter : int, default=100000
        Stop at the latest after so many steps each way.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut import Constraints
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.methods.e2cp.propagation import propagate, propagate_by_iteration
    >>> path = as_graph(np.eye(4, k=1) + np.eye(4, k=-1))
    >>> known = Constraints.from_pairs(4, must_link=[(0, 1)], cannot_link=[(0, 3)])
    >>> F = propagate_by_iteration(path, known)
    >>> bool(np.abs(F - propagate(path, known).toarray()).max() < 1e-10)
    True
    """
    affinity = normalize(graph)
    vertical = _iterate(affinity, constraints.as_matrix().toarray(), alpha, tol, max_iter)
    # Eq. 2: horizontal propagation is vertical propagation of the transpose.
    return _iterate(affinity, vertical.T, alpha, tol, max_iter).T


@dataclass(frozen=True, eq=False)
class PropagatedConstraints:
    """What follows, with more or less confidence, about every pair of points: the matrix F of eq. 3.

    F_ij > 0 says that i and j belong together, F_ij < 0 that they do not; |F_ij| is the confidence. The
    matrix has entries everywhere and is kept as a factor.

    Parameters
    ----------
    matrix : LowRankMatrix
        F = A C Aᵀ.
    """

    matrix: LowRankMatrix

    @property
    def n_samples(self) -> int:
        """Number of points."""
        return self.matrix.n_nodes

    @property
    def max_abs(self) -> float:
        """The largest |F_ij|, the diagonal included."""
        return self.matrix.largest()

    def apply(self, X: npt.ArrayLike) -> FloatArray:
        """Return F @ X for a vector or a block of vectors, without forming F."""
        return self.matrix.apply(np.asarray(X, dtype=np.float64))

    def __matmul__(self, X: npt.ArrayLike) -> FloatArray:
        return self.apply(X)

    def entries(self, rows: npt.ArrayLike, columns: npt.ArrayLike) -> FloatArray:
        """Return F at some places."""
        return self.matrix.entries(np.asarray(rows, dtype=np.intp), np.asarray(columns, dtype=np.intp))

    def toarray(self) -> FloatArray:
        """Return F as a dense array; for small N only."""
        return self.matrix.toarray()

    def strongest(self, n: int) -> tuple[IntArray, FloatArray]:
        """Return the n pairs i < j of largest |F_ij| and their F_ij, strongest first.

        Pairs with F_ij = 0 are left out. Memory is proportional to n, and what cannot be among the strongest
        is not computed.

        Parameters
        ----------
        n : int
            How many pairs.

        Returns
        -------
        pairs : array of shape (m, 2)
            m <= n pairs.
        strengths : array of shape (m,)
            Their F_ij.
        """
        kept = _Kept(_check_count(n))
        for first, second, values in self.matrix.blocks_above(lambda: kept.floor):
            kept.offer(first, second, values, np.abs(values))
        return kept.pairs, kept.strengths

    def sample(
        self,
        n: int,
        *,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        hard: bool = False,
    ) -> Constraints:
        """Draw n different pairs, with probability proportional to |F_ij|, as constraints for any learner.

        Parameters
        ----------
        n : int
            How many pairs; fewer if fewer have F_ij ≠ 0.
        random_state : int, Generator, RandomState or None
            An int makes the draw reproducible.
        hard : bool, default=False
            Give every pair the strength 1 or -1 in place of F_ij.

        Returns
        -------
        Constraints
            Degrees of belief, which may contradict each other.
        """
        if isinstance(random_state, np.random.RandomState):
            random_state = int(random_state.randint(2**31 - 1))
        rng = np.random.default_rng(random_state)
        kept = _Kept(_check_count(n))
        for first, second, values in self.matrix.blocks_above(lambda: 0.0):
            # The largest of |F| / E with E exponential are a draw without replacement in proportion to |F|
            # (Efraimidis & Spirakis, 2006).
            kept.offer(first, second, values, np.abs(values) / rng.standard_exponential(values.shape))
        strengths = np.sign(kept.strengths) if hard else kept.strengths
        upper = sp.csr_array((strengths, tuple(kept.pairs.T)), shape=(self.n_samples, self.n_samples))
        return Constraints.from_matrix(sp.csr_array(upper + upper.T))

    def __repr__(self) -> str:
        return f"PropagatedConstraints(n_samples={self.n_samples}, rank={self.matrix.rank})"


@dataclass
class _Kept:
    """The pairs of highest score out of all that were offered."""

    n: int
    pairs: IntArray = field(default_factory=lambda: np.empty((0, 2), dtype=np.intp))
    strengths: FloatArray = field(default_factory=lambda: np.empty(0))
    scores: FloatArray = field(default_factory=lambda: np.empty(0))

    @property
    def floor(self) -> float:
        """What a score must exceed to be kept."""
        return float(self.scores[-1]) if self.scores.size == self.n else 0.0

    def offer(self, first: IntArray, second: IntArray, values: FloatArray, scores: FloatArray) -> None:
        """Take the pairs of a block that score higher than what there is."""
        good = scores > self.floor
        if first[0] == second[0]:
            # A block on the diagonal holds every pair twice, and the points themselves.
            good = np.triu(good, k=1)
        row, column = np.nonzero(good)
        pairs = np.sort(np.column_stack([first[row], second[column]]), axis=1)
        self._keep(pairs, values[row, column], scores[row, column])

    def _keep(self, pairs: IntArray, strengths: FloatArray, scores: FloatArray) -> None:
        pairs = np.concatenate([self.pairs, pairs])
        strengths = np.concatenate([self.strengths, strengths])
        scores = np.concatenate([self.scores, scores])
        best = np.lexsort((pairs[:, 1], pairs[:, 0], -scores))[: self.n]
        self.pairs, self.strengths, self.scores = pairs[best], strengths[best], scores[best]


def _iterate(
    affinity: NormalizedAffinity, known: FloatArray, alpha: float, tol: float, max_iter: int
) -> FloatArray:
    """Iterate F <- α Ā F + (1 - α) Z until it stands still."""
    current = np.zeros_like(known)
    for _ in range(max_iter):
        following = alpha * affinity.apply(current) + (1.0 - alpha) * known
        change = float(np.abs(following - current).max())
        current = following
        if change <= tol:
            break
    return current


def _check_count(n: int) -> int:
    if not isinstance(n, int | np.integer) or n < 1:
        raise ValueError(f"n={n!r} pairs: ask for a whole number, at least 1.")
    return int(n)
