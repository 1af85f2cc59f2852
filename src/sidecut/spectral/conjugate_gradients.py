"""Conjugate gradients for many right-hand sides at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sidecut.arrays import FloatArray, IntArray

#: (block, columns) -> A_j @ block_j for those columns j of the right-hand sides that are not solved yet.
ApplyColumns = Callable[[FloatArray, IntArray], FloatArray]


def solve_columns(apply: ApplyColumns, right: FloatArray, tolerance: float, max_steps: int) -> FloatArray:
    """Solve A_j x_j = r_j for all columns at once, each A_j symmetric and positive definite.

    Parameters
    ----------
    apply : callable
        (block, columns) -> the products A_j x_j of the columns that still need one. The matrices may differ,
        for instance by a shift.
    right : array of shape (n, m)
        The right-hand sides.
    tolerance : float
        The residual to reach, relative to the right-hand side.
    max_steps : int
        The most steps.

    Returns
    -------
    array of shape (n, m)
        Columns that reach the tolerance early take no further products; a column of zeros takes none.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.spectral.conjugate_gradients import solve_columns
    >>> shifts = np.array([1.0, 3.0])
    >>> solve_columns(lambda x, columns: (1.0 + shifts[columns]) * x, np.ones((2, 2)), 1e-12, 10)
    array([[0.5 , 0.25],
           [0.5 , 0.25]])
    """
    solution = np.zeros_like(right)
    residual = right.copy()
    direction = residual.copy()
    squared = column_dots(residual, residual)
    goal = tolerance**2 * squared
    for _ in range(max_steps):
        active = np.flatnonzero(squared > goal)
        if active.size == 0:
            break
        along = direction[:, active]
        image = apply(along, active)
        step = squared[active] / column_dots(along, image)
        solution[:, active] += step * along
        residual[:, active] -= step * image
        previous = squared[active]
        squared[active] = column_dots(residual[:, active], residual[:, active])
        direction[:, active] = residual[:, active] + (squared[active] / previous) * along
    return solution


def column_dots(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return the inner product of each column of one block with the same column of another."""
    return np.einsum("ij,ij->j", one, other)
