"""Spreading what is known at some points over a graph: P = (1 - α)(I - α Ā)⁻¹ times a block (eq. 3)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.linalg import solve

from sidecut.arrays import FloatArray, IntArray
from sidecut.graphs import Graph, normalize
from sidecut.graphs.threads import count_threads
from sidecut.spectral.problem import solve_columns
from sidecut.thread_limits import limit_threads

Product = Callable[[npt.NDArray[Any]], npt.NDArray[Any]]

#: Linear systems are solved to this residual relative to the right-hand side; in single precision to the
#: second, below its rounding.
TOLERANCE = 1e-14
SINGLE_TOLERANCE = 1e-9
#: So many right-hand sides are solved at once: few enough for their blocks to stay in the cache.
COLUMNS_AT_ONCE = 16
#: Up to so many nodes a system is factorised instead, if there are this few nodes for every column.
DENSE_NODES = 4_000
DENSE_RATIO = 8
#: What is wanted to no more than this residual takes products in single precision on graphs of so many nodes.
HUGE_NODES, ROUGHLY = 500_000, 1e-5
#: A block of more bytes than this in double precision is made and kept in single precision.
DOUBLE_BYTES = 2**30
#: Smaller entries count as zero in single precision: products of two of them would be denormal numbers, with
#: which a processor is a hundred times slower.
FAINT = 1e-18


def spread(graph: Graph, block: FloatArray, alpha: float, tolerance: float = TOLERANCE) -> FloatArray:
    """Return P @ block with P = (1 - α)(I - α Ā)⁻¹, the limit of label propagation on a graph.

    Ā = D^{-1/2} W D^{-1/2} has its eigenvalues in [-1, 1], so the condition number of the system is at most
    (1 + α)/(1 - α), 9 for α = 0.8: a few dozen steps of conjugate gradients reach rounding error.

    Parameters
    ----------
    graph : Graph
        W, in any form.
    block : array of shape (n,) or (n, b)
        What is known at some points.
    alpha : float
        How far it spreads, between 0 and 1.
    tolerance : float, default=1e-14
        The residual of the systems relative to the right-hand side.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.methods.e2cp.spreading import spread
    >>> path = as_graph(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]))
    >>> spread(path, np.array([1.0, 0.0, 0.0]), alpha=0.5).round(4)
    array([0.5833, 0.2357, 0.0833])
    """
    affinity = normalize(graph)
    is_rough = tolerance >= ROUGHLY and graph.n_nodes >= HUGE_NODES

    def apply(block: FloatArray, columns: IntArray) -> FloatArray:
        spread_once: Any = affinity.apply(block.astype(np.float32) if is_rough else block)
        return block - alpha * spread_once

    right = (1.0 - alpha) * block.reshape(block.shape[0], -1)
    return solve_columns(apply, right, tolerance, _enough_steps(alpha)).reshape(block.shape)


def spread_units(graph: Graph, points: IntArray, column: IntArray, alpha: float) -> npt.NDArray[Any]:
    """Return P Y, where Y has a one for each of some points, in the column given for it.

    A result of more than 1 GB is made in single precision: to about 1e-8 times the largest entry.

    Parameters
    ----------
    graph : Graph
        W, in any form.
    points : array of shape (c,)
        The points.
    column : array of shape (c,)
        The column each has its one in.
    alpha : float
        How far it spreads.

    Returns
    -------
    array of shape (n, n_columns)
        Not negative; float64, or float32 where it is large.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.methods.e2cp.spreading import spread_units
    >>> path = as_graph(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]))
    >>> spread_units(path, np.array([0, 2]), np.array([0, 1]), alpha=0.5).round(4)
    array([[0.5833, 0.0833],
           [0.2357, 0.2357],
           [0.0833, 0.5833]])
    """
    shape = (graph.n_nodes, int(column.max()) + 1)
    if shape[0] <= min(DENSE_NODES, DENSE_RATIO * shape[1]):
        return np.maximum(_solve_densely(graph, _units(points, column, shape), alpha), 0.0)
    if shape[1] > COLUMNS_AT_ONCE:
        precision = np.dtype(np.float64 if 8 * shape[0] * shape[1] <= DOUBLE_BYTES else np.float32)
        return _spread_in_threads(graph, points, column, alpha, shape, precision)
    # P = (1 - α) Σ αᵗ Āᵗ has no negative entry; rounding alone could make one.
    return np.maximum(spread(graph, _units(points, column, shape), alpha), 0.0)


def _units(points: IntArray, column: IntArray, shape: tuple[int, int]) -> FloatArray:
    units = np.zeros(shape)
    units[points, column] = 1.0
    return units


def _solve_densely(graph: Graph, block: FloatArray, alpha: float) -> FloatArray:
    """Return P @ block by a factorisation: dear once, and then cheap for every column."""
    affinity = normalize(graph)
    is_sparse = sp.issparse(graph.matrix)
    dense = sp.csr_array(affinity.matrix).toarray() if is_sparse else affinity.apply(np.eye(graph.n_nodes))
    system = np.eye(graph.n_nodes) - alpha * dense
    with limit_threads(only_blas=True):
        return np.asarray(solve((system + system.T) / 2, (1.0 - alpha) * block, assume_a="pos"))


def _spread_in_threads(
    graph: Graph,
    points: IntArray,
    column: IntArray,
    alpha: float,
    shape: tuple[int, int],
    precision: np.dtype,
) -> npt.NDArray[Any]:
    """Return P Y for many columns, blocks of them shared out among threads."""
    multiply = _product(graph, precision)
    result = np.empty(shape, dtype=precision)
    faint = FAINT if precision == np.float32 else 0.0

    def solve(part: slice) -> None:
        ones = _places(points, column, part)
        start = np.zeros((shape[0], part.stop - part.start), dtype=precision)
        block = _chebyshev(multiply, ones, start, alpha)
        result[:, part] = np.where(block > faint, block, 0.0)

    with ThreadPoolExecutor(count_threads()) as pool:
        list(pool.map(solve, _column_slices(shape[1])))
    return result


def _product(graph: Graph, precision: np.dtype) -> Product:
    """Return the map X -> Ā X in some precision, where Ā is sparse; elsewhere rounded to it."""
    affinity = normalize(graph)
    if sp.issparse(graph.matrix):
        matrix = sp.csr_array(affinity.matrix, dtype=precision)
        return lambda block: matrix @ block
    return lambda block: affinity.apply(block.astype(np.float64)).astype(precision)


def _chebyshev(
    multiply: Product, ones: tuple[IntArray, IntArray], zeros: npt.NDArray[Any], alpha: float
) -> npt.NDArray[Any]:
    """Solve (I - α Ā) X = (1 - α) Y by Chebyshev's semi-iteration, Y given by the places of its ones.

    The eigenvalues of α Ā lie in [-α, α], so the error falls by (1 + √(1 - α²))/α in every step, 2 for
    α = 0.8. Unlike conjugate gradients it needs no inner products, which are most of the work beside a
    sparse product.
    """
    number = zeros.dtype.type
    before, current = zeros, zeros.copy()
    np.add.at(current, ones, number(1.0 - alpha))
    weight = 2.0
    for _ in range(_chebyshev_steps(alpha, zeros.dtype)):
        weight = 1.0 / (1.0 - 0.25 * alpha**2 * weight)
        image = multiply(current)
        image *= number(weight * alpha)
        before *= number(1.0 - weight)
        before += image
        np.add.at(before, ones, number(weight * (1.0 - alpha)))
        before, current = current, before
    return current


def _places(points: IntArray, column: IntArray, part: slice) -> tuple[IntArray, IntArray]:
    """Return rows and columns of the ones that some columns of Y have."""
    here = (column >= part.start) & (column < part.stop)
    return points[here], column[here] - part.start


def _column_slices(n_columns: int) -> list[slice]:
    starts = range(0, n_columns, COLUMNS_AT_ONCE)
    return [slice(start, min(start + COLUMNS_AT_ONCE, n_columns)) for start in starts]


def _enough_steps(alpha: float) -> int:
    """Return after how many steps conjugate gradients are exact to rounding (the Chebyshev bound)."""
    root = np.sqrt((1.0 + alpha) / (1.0 - alpha))
    return int(np.ceil(np.log(2.0 * root / TOLERANCE) / np.log1p(2.0 / max(root - 1.0, 1e-16)))) + 1


def _chebyshev_steps(alpha: float, precision: np.dtype) -> int:
    """Return after how many steps Chebyshev's semi-iteration is exact to rounding."""
    tolerance = SINGLE_TOLERANCE if precision == np.float32 else 0.1 * TOLERANCE
    rate = (1.0 + np.sqrt(1.0 - alpha**2)) / alpha
    return int(np.ceil(np.log(2.0 / tolerance) / np.log(rate)))
