"""Sparse factorisation: a forecast of its cost, solves, and eigenvalue counts by inertia."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lu_factor, lu_solve
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.sparse.linalg import SuperLU, splu

from sidecut.checks import FloatArray

#: Pieces of the graph are factorised to see how fill-in grows: at least three, the first of this size, each
#: twice the last, and more of them while one costs less than so many products with the matrix.
FIRST_PROBE = 250
PROBE_EFFORT = 20.0
#: Steps of inverse iteration that show how far a count of eigenvalues can be trusted, and how many times its
#: error the nearest eigenvalue must be away.
INVERSE_STEPS = 4
ERROR_MARGIN = 30.0
#: Fill per row as a share of (widest front)² / n: measured on random regular graphs.
SEPARATOR_FILL = 0.6
#: The pieces have no far side to couple with, so they understate the fill of the whole.
FORECAST_MARGIN = 1.5


@dataclass(frozen=True)
class FactorForecast:
    """What a sparse factorisation of a matrix is expected to cost."""

    fill: float
    memory: float
    work: float


def forecast(matrix: sp.csr_array) -> FactorForecast:
    """Forecast the cost of factorising a sparse symmetric matrix, by factorising small pieces of it.

    Fill-in grows like n^p per row, with p near 0 for graphs of points in the plane, near 1 for the
    expander-like graphs of points in many dimensions. Breadth-first balls of growing size show p, unless
    they are trees, as in random graphs. There the wave front of the search tells: it separates what it has
    seen from the rest, and the nodes of a separator end up linked to one another.
    """
    n = matrix.shape[0]
    pattern = sp.csr_array(matrix)
    order = breadth_first_order(pattern, _middle_of(pattern), directed=False, return_predecessors=False)
    sizes, fills = _probe(pattern, order)
    exponent = _growth(sizes[-3:], fills[-3:])
    reach = max(order.size / sizes[-1], 1.0)
    from_pieces = FORECAST_MARGIN * fills[-1] * reach**exponent
    fill = min(max(from_pieces, _separator_fill(pattern, order)), n / 2)
    return FactorForecast(fill=fill, memory=24.0 * n * fill, work=work_of(n, fill))


def factorize(matrix: sp.csc_array) -> SuperLU:
    """Factorise a sparse symmetric matrix without pivoting, so that A = L D Lᵀ in SuperLU's clothes."""
    return splu(
        matrix,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )


class UpdatedFactor:
    """Solves with A - B diag(m) Bᵀ by factorising A, which is sparse (Sherman, Morrison and Woodbury)."""

    def __init__(self, matrix: sp.csc_array, columns: FloatArray, levels: FloatArray) -> None:
        self._factor = factorize(matrix)
        self._columns = columns
        self._images = self._factor.solve(columns)
        self._small = lu_factor(np.diag(1.0 / levels) - columns.T @ self._images)

    def solve(self, right: FloatArray) -> FloatArray:
        """Return (A - B diag(m) Bᵀ)⁻¹ right."""
        image = self._factor.solve(right)
        return image + self._images @ lu_solve(self._small, self._columns.T @ image)


def count_below(matrix: sp.csc_array, shift: float, metric: sp.csc_array | None = None) -> int | None:
    """Count the eigenvalues of A, or of a definite pencil (A, B), below a shift, by Sylvester's inertia.

    A - τB = L D Lᵀ has as many negative pivots as the pencil has eigenvalues below τ.
    """
    n = matrix.shape[0]
    shifted = sp.csc_array(matrix - shift * (metric if metric is not None else sp.eye_array(n)))
    try:
        factor = factorize(shifted)
    except RuntimeError:
        return None
    if not np.array_equal(factor.perm_r, factor.perm_c) or not _is_accurate(factor, shifted):
        return None
    return int(np.count_nonzero(factor.U.diagonal() < 0))


def is_positive_definite(factor: SuperLU) -> bool:
    """Say whether the matrix that `factorize` took is positive definite: all its pivots are positive."""
    return np.array_equal(factor.perm_r, factor.perm_c) and bool(np.all(factor.U.diagonal() > 0))


def _is_accurate(factor: SuperLU, matrix: sp.csc_array) -> bool:
    """Check that the error of the factors cannot have moved an eigenvalue of the matrix across zero.

    The factors are exact for a matrix S + E. A few steps of inverse iteration turn to the eigenvectors
    nearest zero: on the last vector they show how near those are, and how large E is there.
    """
    scale = float(abs(matrix).sum(axis=1).max())
    vector = np.cos(np.arange(matrix.shape[0]) * 0.7390851332151607)
    for _ in range(INVERSE_STEPS):
        vector /= np.linalg.norm(vector)
        image = factor.solve(vector)
        size = float(np.linalg.norm(image))
        if not np.isfinite(size) or size == 0:
            return False
        error = float(np.linalg.norm(matrix @ image - vector)) / size
        vector = image
    return 1.0 / size > ERROR_MARGIN * max(error, np.finfo(np.float64).eps * scale)


def _probe(pattern: sp.csr_array, order: np.ndarray) -> tuple[list[int], list[float]]:
    """Return sizes and fills of growing balls, stopping while it is still cheap."""
    sizes, fills = [], []
    size = min(FIRST_PROBE, order.size)
    while True:
        sizes.append(size)
        fills.append(_ball_fill(pattern, np.sort(order[:size])))
        size *= 2
        is_dear = work_of(size, 2 * fills[-1]) > PROBE_EFFORT * pattern.nnz
        if size > order.size // 2 or (is_dear and len(sizes) >= 3):
            return sizes, fills


def work_of(n: int, fill: float) -> float:
    """Return the cost of a factorisation in multiplications, scattered access to its nonzeros counted in."""
    return n * fill**2 + 150.0 * n * fill


def _middle_of(pattern: sp.csr_array) -> int:
    """Return the node of largest degree in the largest component: it lies away from dangling ends."""
    component = connected_components(pattern, directed=False)[1]
    largest = np.bincount(component).argmax()
    return int(np.argmax(np.where(component == largest, np.diff(pattern.indptr), -1)))


def _ball_fill(pattern: sp.csr_array, nodes: np.ndarray) -> float:
    piece = abs(pattern[nodes][:, nodes])
    dominant = sp.diags_array(np.asarray(piece.sum(axis=1)).ravel() + 1.0)
    factor = factorize(sp.csc_array(dominant - piece))
    return factor.nnz / (2.0 * nodes.size)


def _separator_fill(pattern: sp.csr_array, order: np.ndarray) -> float:
    """Return the fill per row that the widest front of a breadth-first search implies."""
    place = np.full(pattern.shape[0], -1, dtype=np.intp)
    place[order] = np.arange(order.size)
    # A node belongs to the front from when it is seen until its last neighbour is.
    occupied = order[np.diff(pattern.indptr)[order] > 0]
    if occupied.size == 0:
        return 0.0
    rows = pattern[occupied]
    left = np.maximum.reduceat(place[rows.indices], rows.indptr[:-1])
    entered = place[occupied]
    front = np.bincount(entered, minlength=order.size) - np.bincount(
        np.maximum(left, entered), minlength=order.size
    )
    # A graph with few more edges than a tree fills in no more than those, however wide it branches.
    independent_cycles = max(rows.nnz / 2 - order.size + 1, 0.0)
    return float(min(SEPARATOR_FILL * np.cumsum(front).max() ** 2 / order.size, 2.0 + independent_cycles))


def _growth(sizes: list[int], fills: list[float]) -> float:
    """Return the exponent p of fill ∝ n^p, by least squares on logarithms."""
    if len(sizes) < 2:
        return 0.0
    x, y = np.log(sizes), np.log(fills)
    slope: FloatArray = np.polyfit(x, y, 1)
    return float(np.clip(slope[0], 0.0, 1.0))


# Where to put a shift so that a count of eigenvalues below it says most.

#: Eigenvalues closer than this, relative to the last one asked for, are taken to coincide.
COINCIDENCE = 1e-6
#: Where in the gap the shift is put. Not in the middle: where the spectrum is symmetric that would often be
#: 1, where the diagonal of L̄ - 1 and with it every pivot is zero.
PLACE = 0.45
#: Where no gap follows the wanted values, the shift is put this close before the value they share.
CLOSE = 1e-3


def separating_shift(
    values: FloatArray, wanted: int, *, error: float = 0.0, bottom: float = -np.inf
) -> tuple[int, float]:
    """Return how many values lie below a shift, and the shift, in the widest gap past the wanted values.

    Where the last wanted value coincides with all that follow it, the problem does not single it out: the
    shift is put right before that value.
    """
    resolution = max(COINCIDENCE * abs(values[wanted - 1]), 4 * error)
    gaps = np.diff(values)
    past = gaps[wanted - 1 :]
    if past.size and past.max() > resolution:
        below = wanted + int(np.argmax(past))
        return below, float((1 - PLACE) * values[below - 1] + PLACE * values[below])
    apart = np.flatnonzero(gaps[: wanted - 1] > resolution)
    below = int(apart[-1]) + 1 if apart.size else 0
    lower = values[below - 1] if below else bottom
    # The shared value may be zero up to rounding; the others say what is close to it.
    scale = max(abs(values[below]), CLOSE * float(np.abs(values).max())) or 1.0
    return below, float(values[below] - min(CLOSE * scale, 0.5 * (values[below] - lower)))
