"""The multiplicative updates of NCSC (eq. 11), with the guards they need to run at all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, eigsh

from sidecut.arrays import FloatArray
from sidecut.graphs import SparseGraph
from sidecut.methods.ncsc.objective import Descent, PenalizedCut

#: Entries below this are zero: their products would underflow, and 0 / 0 is no number.
UNDERFLOW = 1e-150
#: Up to this many nodes the largest eigenvalue is computed densely.
SMALL = 64
#: Relative accuracy of the largest eigenvalue; σ is taken larger by as much, so that it is a bound.
SIGMA_TOLERANCE = 1e-4


class Applied(NamedTuple):
    """What an update by eq. 11 needs to know at Y: H⁺Y, H⁻Y, and tr(YᵀGY)."""

    Y: FloatArray
    plus: FloatArray
    minus: FloatArray
    objective: float

    @property
    def multiplier(self) -> FloatArray:
        """Λ = -YᵀHY."""
        return self.Y.T @ self.minus - self.Y.T @ self.plus


class SignedParts:
    """H = G - (σ/d_min) D as H⁺ - H⁻ with sparse nonnegative parts (eqs. 7 to 11).

    Where the weights are an explicit matrix, what an edge of W and a cannot-link on the same pair have in
    common is taken from both, so that the parts are those of eq. 11. A graph that is only applied, or whose
    nodes are contracted, is not looked into; there W and γ_c Qᶜ are the parts as they are, which leaves every
    fixed point where it is.

    Parameters
    ----------
    cut : PenalizedCut
        The problem.
    sigma : float
        σ, at least the largest eigenvalue of G.
    """

    def __init__(self, cut: PenalizedCut, sigma: float) -> None:
        self.cut = cut
        positive = cut.degrees[cut.degrees > 0]
        self.shift = sigma / float(positive.min())
        # σ = 0 where every node has nothing but a loop: there is no way to go.
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
        near, (must, cannot) = cut.graph.apply(Y), cut.links.must_and_cannot(Y)
        plus = cut.gamma_cannot * cannot
        minus = near + cut.gamma_must * must
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
    if n <= SMALL:
        return float(scipy.linalg.eigvalsh(cut.apply(np.eye(n)))[-1])
    operator = LinearOperator((n, n), matvec=lambda x: cut.apply(x.reshape(-1, 1)).ravel(), dtype=np.float64)
    start = rng.uniform(-1.0, 1.0, n)
    top = eigsh(operator, 1, which="LA", tol=SIGMA_TOLERANCE, v0=start, return_eigenvectors=False)
    return float(top[0]) * (1.0 + SIGMA_TOLERANCE)


def multiplicative_step(parts: SignedParts, at: Applied) -> FloatArray:
    """Return Y after one update by eq. 11, with Λ = -YᵀHY.

    Entries below 1e-150 become zero, and an entry whose denominator is zero stays as it is: as printed, the
    update is 0 / 0 there.
    """
    Lambda = at.multiplier
    DY = parts.cut.degrees[:, None] * at.Y
    above = at.minus + DY @ np.maximum(-Lambda, 0.0)
    below = at.plus + DY @ np.maximum(Lambda, 0.0)
    ratio = np.ones_like(at.Y)
    np.divide(above, below, out=ratio, where=below > 0)
    updated = at.Y * np.sqrt(ratio)
    updated[updated < UNDERFLOW] = 0.0
    return updated


def descend_multiplicatively(
    cut: PenalizedCut, start: FloatArray, *, tol: float, max_iter: int, rng: np.random.RandomState
) -> Descent:
    """Repeat eq. 11 until Y hardly moves for the size of its steps.

    One update moves Y by about d_min/σ of what it would have to move, so a change below `tol` means nothing
    unless it is measured in that unit.

    Parameters
    ----------
    cut : PenalizedCut
        The problem.
    start : array of shape (n_nodes, n_clusters)
        Y at the start, nonnegative; zeros stay zero.
    tol : float
        Stop when the relative change of Y falls below ``tol * d_min / σ``.
    max_iter : int
        The largest number of updates.
    rng : RandomState
        For the iteration that finds σ.
    """
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
    # Where nothing is contracted, linked nodes and constrained points are the same, in the same order.
    weights, points = cut.graph.matrix, cut.links.nodes
    if weights is None or not cut.gamma_cannot or cut.is_contracted or not len(points):
        return None
    among = sp.coo_array(weights[points][:, points])
    belief = cut.links.both.entries(among.row.astype(np.int64), among.col.astype(np.int64))
    shared = np.minimum(among.data, cut.gamma_cannot * np.maximum(-belief, 0.0))
    if not shared.any():
        return None
    ends = (points[among.row], points[among.col])
    return SparseGraph(sp.csr_array((shared, ends), shape=(cut.n_nodes, cut.n_nodes)))
