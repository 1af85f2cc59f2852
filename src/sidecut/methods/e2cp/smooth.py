"""F of eq. 3 for many pairs: smooth nearly everywhere, and sharp where the pairs themselves are.

P = (1 - α)(I - α Ā)⁻¹ keeps the leading eigenvectors of Ā and damps the others. So F = P Z P is for the most
part what it is on a few of them, on its left or on its right: with Q orthonormal and B = F Q,

    F = Q Bᵀ + B Qᵀ - Q (QᵀB) Qᵀ + R,     R = (I - QQᵀ) F (I - QQᵀ).

The first three terms are kept as they are. Of R, the entries at the constrained pairs are kept: they alone
are large. No matrix here has more columns than twice the eigenvectors, however many pairs there are.
"""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator

from sidecut.checks import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import SpectralError, SpectralWarning
from sidecut.graphs import Graph
from sidecut.methods.e2cp.propagation import LowRankMatrix, spread
from sidecut.spectral import laplacian_eigenpairs
from sidecut.spectral.conjugate_gradients import column_dots
from sidecut.spectral.lanczos import largest_eigenvectors

#: B is computed to this residual, below the error of the sparse part.
TOLERANCE = 3e-3
#: If the gap after the K-th eigenvalue exceeds this, K vectors are enough: the graph made of them is as near
#: to eq. 4 as with twice as many (benchmarks/choices/shortcuts.py).
MIN_GAP = 0.05


@dataclass(frozen=True)
class SmoothMatrix:
    """F as a matrix of low rank plus a sparse one, which stores what F is at some pairs of points."""

    smooth: LowRankMatrix
    sparse_part: sp.csr_array
    coordinates: FloatArray
    has_positive_entries: bool

    def apply(self, block: FloatArray) -> FloatArray:
        """Return F @ block."""
        return self.smooth.apply(block) + self.sparse_part @ block

    def entries(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return F at some places."""
        return self.smooth.entries(rows, columns) + np.asarray(self.sparse_part[rows, columns]).ravel()

    def at_pairs(self) -> FloatArray:
        """Return F where `sparse_part` has its entries, in their order."""
        pairs = sp.coo_array(self.sparse_part)
        return self.smooth.entries(pairs.row, pairs.col) + pairs.data

    def joined_components(self, graph: Graph) -> tuple[IntArray, IntArray]:
        """Return the component of every point in W and F⁺ together, and which components constraints reach.

        F is zero between two components of W without a constraint between them. Those between which F is
        positive at a stored pair are one.
        """
        number = number_components(graph)
        pairs, positive = sp.coo_array(self.sparse_part), self.at_pairs() > 0
        ends = number[pairs.row[positive]], number[pairs.col[positive]]
        count = int(number.max()) + 1
        joints = sp.coo_array((np.ones(ends[0].size), ends), shape=(count, count))
        joined = connected_components(joints, directed=False)[1][number]
        return joined, np.unique(joined[np.concatenate([pairs.row, pairs.col])])

    def restricted(self, nodes: IntArray) -> SmoothMatrix:
        """Return F between some nodes."""
        inside = sp.csr_array(self.sparse_part[nodes][:, nodes])
        return replace(
            self,
            smooth=self.smooth.restricted(nodes),
            sparse_part=inside,
            coordinates=self.coordinates[nodes],
        )

    def scaled(self, unit: float) -> SmoothMatrix:
        """Return F / unit."""
        return replace(self, smooth=self.smooth.scaled(unit), sparse_part=self.sparse_part / unit)


def smooth_labels(graph: Graph, agreement: LowRankMatrix, labels: IntArray) -> SmoothMatrix:
    """Return F of labels, which has low rank as it is; pairs of labels that join components are stored.

    In every component, one point of every class is paired with one of that class elsewhere: those with the
    largest shares p_ik. If F_ij > 0 both points have a share above 1/2 in one class, see `ClasswisePart`; the
    largest share of a component is that of a labelled point, since p of any other point is a mean of its
    neighbours' p. So if some component has labels of class k alone, its pairs show all that class k joins.
    """
    labelled = np.flatnonzero(labels >= 0)
    kind, place = labels[labelled], number_components(graph)[labelled]
    rows = agreement.factor[labelled]
    own = rows[np.arange(labelled.size), kind]
    order = np.lexsort((-own, -own / rows.sum(axis=1), kind))
    top = labelled[order][np.searchsorted(kind[order], np.arange(rows.shape[1]))]
    _, first = np.unique(np.column_stack([place, kind])[order], axis=0, return_index=True)
    chosen = order[first]
    ends = np.stack([labelled[chosen], top[kind[chosen]]])
    ends = np.hstack([ends, ends[::-1]])
    # Nothing is added to F there; a sum of sparse arrays would drop the zeros.
    stored = sp.csr_array((np.zeros(ends.shape[1]), tuple(ends)), shape=(graph.n_nodes,) * 2)
    return SmoothMatrix(agreement, stored, agreement.factor, has_positive_entries=True)


def number_components(graph: Graph) -> IntArray:
    """Return the component of every point, where isolated points are components of their own."""
    number = graph.components.copy()
    alone = np.flatnonzero(number < 0)
    number[alone] = int(number.max()) + 1 + np.arange(alone.size)
    return number


def leading_basis(graph: Graph, count: int, n_clusters: int, rng: np.random.RandomState) -> FloatArray:
    """Return orthonormal vectors close to the leading eigenvectors of Ā; K of them where there is a gap.

    Their error is part of the error that is measured, so the Lanczos iteration stops early. A full solver is
    used where it fails, and where the graph has several components.
    """
    if graph.n_components == 1:
        with suppress(SpectralError):
            found, values = _leading_vectors(graph, n_clusters + 1, rng)
            if _has_gap(values, n_clusters):
                return found[:, :n_clusters]
            return _leading_vectors(graph, count, rng, found)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpectralWarning)
        pairs = laplacian_eigenpairs(graph, count, accuracy="rough", random_state=rng)
    return pairs.vectors[:, : n_clusters if _has_gap(1.0 - pairs.values, n_clusters) else count]


def _leading_vectors(
    graph: Graph, count: int, rng: np.random.RandomState, known: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return vectors close to the leading eigenvectors of Ā, and their values; the largest comes first."""
    # The start is random, with more of the vectors that are known.
    affinity = graph.normalized
    operator = LinearOperator((graph.n_nodes,) * 2, matvec=affinity.apply, dtype=np.float32)
    start = rng.standard_normal(graph.n_nodes)
    if known is not None:
        start = start / np.linalg.norm(start) + known.sum(axis=1)
    found = largest_eigenvectors(
        operator, count, start.astype(np.float32), rng, tolerance=0.01, max_products=600
    )
    found = np.linalg.qr(found.astype(np.float64))[0]
    values = column_dots(found, affinity.apply(found))
    order = np.argsort(-values)
    return found[:, order], values[order]


def _has_gap(values: FloatArray, n_clusters: int) -> bool:
    """Tell whether the eigenvalues of Ā have a gap after the K-th."""
    return n_clusters < values.size and bool(values[n_clusters - 1] - values[n_clusters] > MIN_GAP)


def propagate_smoothly(
    graph: Graph, constraints: Constraints, alpha: float, basis: FloatArray
) -> SmoothMatrix:
    """Return F of eq. 3 on a few smooth vectors, and at the constrained pairs."""
    known = sp.csr_array(constraints.as_matrix())
    damped = _spread_smoothly(graph, basis, alpha)
    image = spread(graph, known @ damped, alpha, tolerance=TOLERANCE)
    width = basis.shape[1]
    inner = basis.T @ image
    eye = np.eye(width)
    core = np.block([[-0.5 * (inner + inner.T), eye], [eye, np.zeros((width, width))]])
    smooth = LowRankMatrix(np.hstack([basis, image]), core)
    own = sp.diags_array(_remaining_diagonal(graph, alpha, basis))
    # F is a product of both halves of the factor, so they are scaled to count alike.
    tiny = float(np.finfo(np.float64).tiny)
    balance = np.sqrt(max(float(np.linalg.norm(image)), tiny) / max(float(np.linalg.norm(basis)), tiny))
    coordinates = np.hstack([basis * balance, image / balance])
    is_positive = bool(known.data.max(initial=0.0) > 0)
    return SmoothMatrix(smooth, sp.csr_array(own @ known @ own), coordinates, is_positive)


def _spread_smoothly(graph: Graph, basis: FloatArray, alpha: float) -> FloatArray:
    """Return P Q for approximate eigenvectors Q of Ā."""
    # With Ā q = θ q + r it is P q = ((1 - α) q + α P r) / (1 - α θ): only the small r has to be spread.
    image = graph.normalized.apply(basis)
    values = column_dots(basis, image)
    rest = image - basis * values
    size = float(np.sqrt(column_dots(rest, rest).max(initial=0.0)))
    spread_rest = spread(graph, rest, alpha, tolerance=min(TOLERANCE / max(size, TOLERANCE), 1.0))
    return np.asarray(((1.0 - alpha) * basis + alpha * spread_rest) / (1.0 - alpha * values))


def _remaining_diagonal(graph: Any, alpha: float, basis: FloatArray) -> FloatArray:
    """Return the diagonal of (I - QQᵀ) P to the second order in α Ā."""
    # P = (1 - α)(1 + α Ā + α² Ā² + ...): the first terms have large diagonals and are computed; the later
    # ones are smooth, and I - QQᵀ removes them.
    affinity, squared = graph.normalized, graph.scale**2
    twice = squared * graph.apply_squares(squared)
    stays = 1.0 + alpha * squared * graph.diagonal + alpha**2 * twice
    once = affinity.apply(basis)
    gone = (basis * (basis + alpha * once + alpha**2 * affinity.apply(once))).sum(axis=1)
    return (1.0 - alpha) * np.maximum(stays - gone, 0.0)
