"""Sparse factorisation: a forecast of its cost, solves, and eigenvalue counts by inertia."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lu_factor, lu_solve
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.sparse.linalg import SuperLU, splu

from sidecut.checks import FloatArray


@dataclass(frozen=True)
class FactorForecast:
    """The expected cost of a sparse factorisation: entries per row, bytes, multiplications."""

    fill: float
    memory: float
    work: float


def forecast(matrix: sp.csr_array, most_work: float = np.inf) -> FactorForecast:
    """Forecast the cost of factorising a sparse symmetric matrix, by factorising small pieces of it.

    Fill-in grows like n^p per row, with p near 0 for graphs of points in the plane, near 1 for the
    expander-like graphs of points in many dimensions. Breadth-first balls of growing size show p, unless
    they are trees, as in random graphs. There the wave front of the search shows it: it separates the
    nodes seen from the rest, and the nodes of a separator end up linked to one another. Where that front
    alone takes more than `most_work`, no piece is factorised.
    """
    n = matrix.shape[0]
    pattern = sp.csr_array(matrix)
    # From the node of largest degree in the largest component, which lies away from dangling ends.
    component = connected_components(pattern, directed=False)[1]
    is_largest = component == np.bincount(component).argmax()
    middle = int(np.argmax(np.where(is_largest, np.diff(pattern.indptr), -1)))
    order = breadth_first_order(pattern, middle, directed=False, return_predecessors=False)
    at_least = _separator_fill(pattern, order)
    if work_of(n, at_least) > most_work:
        return forecast_of(n, at_least)
    sizes, fills = _probe(pattern, order)
    # The exponent p of fill ∝ n^p, by least squares on logarithms of the last three pieces.
    exponent = 0.0
    if len(sizes) > 1:
        exponent = float(np.clip(np.polyfit(np.log(sizes[-3:]), np.log(fills[-3:]), 1)[0], 0.0, 1.0))
    reach = max(order.size / sizes[-1], 1.0)
    # The pieces have no far side to couple with, so they understate the fill of the whole.
    from_pieces = 1.5 * fills[-1] * reach**exponent
    return forecast_of(n, min(max(from_pieces, at_least), n / 2))


def forecast_of(n: int, fill: float) -> FactorForecast:
    """Return the cost of a factorisation with some fill-in per row."""
    return FactorForecast(fill=fill, memory=24.0 * n * fill, work=work_of(n, fill))


def factorize(matrix: sp.csc_array) -> SuperLU:
    """Factorise a sparse symmetric matrix without pivoting: A = L D Lᵀ, stored as SuperLU stores L U."""
    return splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})


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


def count_below(matrix: sp.csc_array, shift: float) -> int | None:
    """Count the eigenvalues of A below a shift, by Sylvester's inertia; None if rounding forbids it.

    A - τI = L D Lᵀ has as many negative pivots as A has eigenvalues below τ.
    """
    shifted = sp.csc_array(matrix - shift * sp.eye_array(matrix.shape[0]))
    try:
        factor = factorize(shifted)
    except RuntimeError:
        return None
    if not np.array_equal(factor.perm_r, factor.perm_c) or not _is_accurate(factor, shifted):
        return None
    return int(np.count_nonzero(factor.U.diagonal() < 0))


def _is_accurate(factor: SuperLU, matrix: sp.csc_array) -> bool:
    """Check that the error of the factors cannot have moved an eigenvalue of the matrix across zero.

    The factors are exact for a matrix S + E. A few steps of inverse iteration turn to the eigenvectors
    nearest zero: on the last vector they show how near those are, and how large E is there.
    """
    scale = float(abs(matrix).sum(axis=1).max())
    vector = rough_vector(matrix.shape[0])
    for _ in range(4):
        vector /= np.linalg.norm(vector)
        image = factor.solve(vector)
        size = float(np.linalg.norm(image))
        if not np.isfinite(size) or size == 0:
            return False
        error = float(np.linalg.norm(matrix @ image - vector)) / size
        vector = image
    # The nearest eigenvalue must be thirty times the error away.
    return 1.0 / size > 30.0 * max(error, np.finfo(np.float64).eps * scale)


def _probe(pattern: sp.csr_array, order: np.ndarray) -> tuple[list[int], list[float]]:
    """Return the sizes of growing balls and their fill per row, until the next one would take too long."""
    sizes, fills = [], []
    size = min(250, order.size)
    while True:
        sizes.append(size)
        nodes = np.sort(order[:size])
        piece = abs(pattern[nodes][:, nodes])
        dominant = sp.diags_array(np.asarray(piece.sum(axis=1)).ravel() + 1.0)
        fills.append(factorize(sp.csc_array(dominant - piece)).nnz / (2.0 * size))
        size *= 2
        # At least three pieces, and more of them while one costs less than twenty products.
        is_costly = work_of(size, 2 * fills[-1]) > 20.0 * pattern.nnz
        if size > order.size // 2 or (is_costly and len(sizes) >= 3):
            return sizes, fills


def work_of(n: int, fill: float) -> float:
    """Return the cost of a factorisation in multiplications, scattered access to its nonzeros counted in."""
    return n * fill**2 + 150.0 * n * fill


def rough_vector(n: int) -> FloatArray:
    """Return a vector with a part in every eigenvector, as a random one has, but the same every time."""
    return np.cos(np.arange(n) * 0.7390851332151607)


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
    # The factor 0.6 was measured on random regular graphs.
    return float(min(0.6 * np.cumsum(front).max() ** 2 / order.size, 2.0 + independent_cycles))


def separating_shift(
    values: FloatArray, wanted: int, *, error: float = 0.0, bottom: float = -np.inf
) -> tuple[int, float]:
    """Return how many values lie below a shift, and the shift, in the widest gap past the wanted values.

    Where the last wanted value coincides with all that follow it, the problem does not single it out: the
    shift is put right before that value.
    """
    resolution = max(1e-6 * abs(values[wanted - 1]), 4 * error)
    gaps = np.diff(values)
    past = gaps[wanted - 1 :]
    if past.size and past.max() > resolution:
        below = wanted + int(np.argmax(past))
        # Not in the middle: in a symmetric spectrum that is often 1, where every pivot of L̄ - 1 is zero.
        return below, float(0.55 * values[below - 1] + 0.45 * values[below])
    apart = np.flatnonzero(gaps[: wanted - 1] > resolution)
    below = int(apart[-1]) + 1 if apart.size else 0
    lower = values[below - 1] if below else bottom
    # The shared value may be zero up to rounding; the others say what is close to it.
    scale = max(abs(values[below]), 1e-3 * float(np.abs(values).max())) or 1.0
    return below, float(values[below] - min(1e-3 * scale, 0.5 * (values[below] - lower)))
