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

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from sidecut.checks import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import SpectralError, SpectralWarning
from sidecut.graphs import Graph
from sidecut.methods.e2cp.propagation import LowRankMatrix, spread
from sidecut.spectral import laplacian_eigenpairs
from sidecut.spectral.conjugate_gradients import column_dots
from sidecut.spectral.lanczos import largest_eigenvectors

#: B is computed to this residual, below what the rest of F makes up.
TOLERANCE = 3e-3
#: The leading eigenvectors are looked for to this accuracy, with so many products at the most. Single
#: precision is enough for it.
BASIS_TOLERANCE, BASIS_PRODUCTS = 0.01, 600
#: Where the first eigenvalues, as many as clusters, stand out by this number, their vectors are enough: the
#: graph that is made of them is as near to eq. 4 as with twice as many (benchmarks/choices/shortcuts.py).
STANDING_OUT = 0.05


@dataclass(frozen=True)
class SmoothBeliefs:
    """F as a matrix of low rank plus a sparse one."""

    smooth: LowRankMatrix
    sharp: sp.csr_array
    places: FloatArray
    joins: bool

    @property
    def n_nodes(self) -> int:
        """The number of points."""
        return self.smooth.n_nodes

    @property
    def rank(self) -> int:
        """The number of columns of the factor."""
        return self.smooth.rank

    def apply(self, block: FloatArray) -> FloatArray:
        """Return F @ block."""
        return self.smooth.apply(block) + self.sharp @ block

    def entries(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Return F at some places."""
        return self.smooth.entries(rows, columns) + np.asarray(self.sharp[rows, columns]).ravel()

    def at_pairs(self) -> FloatArray:
        """Return F where `sharp` has its entries, in their order."""
        pairs = sp.coo_array(self.sharp)
        return self.smooth.entries(pairs.row, pairs.col) + pairs.data

    def scaled(self, unit: float) -> SmoothBeliefs:
        """Return F / unit."""
        return replace(self, smooth=self.smooth.scaled(unit), sharp=self.sharp / unit)


def leading_basis(graph: Graph, count: int, n_clusters: int, rng: np.random.RandomState) -> FloatArray:
    """Return vectors close to the leading eigenvectors of Ā, orthonormal; fewer where clusters stand out.

    Any will do: what they miss is in the error that is measured. So the Lanczos iteration stops early. A full
    solver is used where it does not get there, and where there are several components.
    """
    if graph.n_components == 1:
        with suppress(SpectralError):
            found, values = _leading_vectors(graph, n_clusters + 1, rng)
            if _do_stand_out(values, n_clusters):
                return found[:, :n_clusters]
            return _leading_vectors(graph, count, rng, found)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpectralWarning)
        pairs = laplacian_eigenpairs(graph, count, accuracy="rough", random_state=rng)
    return pairs.vectors[:, : n_clusters if _do_stand_out(1.0 - pairs.values, n_clusters) else count]


def _leading_vectors(
    graph: Graph, count: int, rng: np.random.RandomState, known: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return vectors close to the leading eigenvectors of Ā, and their values; the largest comes first.

    The start has some of everything in it, and more of the vectors that are known.
    """
    affinity = graph.normalized
    operator = LinearOperator((graph.n_nodes,) * 2, matvec=affinity.apply, dtype=np.float32)
    start = rng.standard_normal(graph.n_nodes)
    if known is not None:
        start = start / np.linalg.norm(start) + known.sum(axis=1)
    found = largest_eigenvectors(
        operator,
        count,
        start.astype(np.float32),
        rng,
        tolerance=BASIS_TOLERANCE,
        max_products=BASIS_PRODUCTS,
    )
    found = np.linalg.qr(found.astype(np.float64))[0]
    values = column_dots(found, affinity.apply(found))
    order = np.argsort(-values)
    return found[:, order], values[order]


def _do_stand_out(values: FloatArray, n_clusters: int) -> bool:
    """Tell whether the first eigenvalues of Ā, as many as clusters, stand out among some.

    The vectors of the others would add columns to every step that follows, and no accuracy.
    """
    return n_clusters < values.size and bool(values[n_clusters - 1] - values[n_clusters] > STANDING_OUT)


def smooth_beliefs(graph: Graph, constraints: Constraints, alpha: float, basis: FloatArray) -> SmoothBeliefs:
    """Return F of eq. 3 on a few smooth vectors, and at the constrained pairs."""
    known = sp.csr_array(constraints.as_matrix())
    damped = _spread_smoothly(graph, basis, alpha)
    image = spread(graph, known @ damped, alpha, tolerance=TOLERANCE)
    width = basis.shape[1]
    inner = basis.T @ image
    eye = np.eye(width)
    core = np.block([[-0.5 * (inner + inner.T), eye], [eye, np.zeros((width, width))]])
    smooth = LowRankMatrix(np.hstack([basis, image]), core)
    own = sp.diags_array(_sharp_returns(graph, alpha, basis))
    joins = bool(known.data.max(initial=0.0) > 0)
    return SmoothBeliefs(smooth, sp.csr_array(own @ known @ own), _balance(basis, image), joins)


def _spread_smoothly(graph: Graph, basis: FloatArray, alpha: float) -> FloatArray:
    """Return P Q for approximate eigenvectors Q of Ā.

    With Ā q = θ q + r it is P q = ((1 - α) q + α P r) / (1 - α θ): only r, which is small, has to be spread.
    """
    image = graph.normalized.apply(basis)
    values = column_dots(basis, image)
    rest = image - basis * values
    size = float(np.sqrt(column_dots(rest, rest).max(initial=0.0)))
    spread_rest = spread(graph, rest, alpha, tolerance=min(TOLERANCE / max(size, TOLERANCE), 1.0))
    return np.asarray(((1.0 - alpha) * basis + alpha * spread_rest) / (1.0 - alpha * values))


def label_beliefs(agreement: LowRankMatrix) -> SmoothBeliefs:
    """Return F of labels, which is smooth as it is."""
    empty = sp.csr_array((agreement.n_nodes, agreement.n_nodes))
    return SmoothBeliefs(agreement, empty, agreement.factor, joins=True)


def _balance(basis: FloatArray, image: FloatArray) -> FloatArray:
    """Put both halves of the factor side by side: F is a product of the two, so they count alike."""
    tiny = float(np.finfo(np.float64).tiny)
    balance = np.sqrt(max(float(np.linalg.norm(image)), tiny) / max(float(np.linalg.norm(basis)), tiny))
    return np.hstack([basis * balance, image / balance])


def _sharp_returns(graph: Graph, alpha: float, basis: FloatArray) -> FloatArray:
    """Return the diagonal of (I - QQᵀ) P to the second order in α Ā, which is what stays at a point.

    P = (1 - α)(1 + α Ā + α² Ā² + ...): the first terms have large diagonals and are taken as they are; the
    later ones are smooth, and with QQᵀ they are gone.
    """
    affinity = sp.csr_array(graph.normalized.matrix)
    twice = np.asarray(affinity.multiply(affinity).sum(axis=1)).ravel()
    stays = 1.0 + alpha * affinity.diagonal() + alpha**2 * twice
    once = affinity @ basis
    gone = (basis * (basis + alpha * once + alpha**2 * (affinity @ once))).sum(axis=1)
    return (1.0 - alpha) * np.maximum(stays - gone, 0.0)
