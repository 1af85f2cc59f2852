"""Conjugate gradients for one matrix with several shifts, in the products that the smallest shift needs.

The Krylov spaces of A + s₀ I and A + s I are the same, and so are the residuals of conjugate gradients in
them, up to factors ζ (Jegerlehner, 1996). With the steps a_k and b_k of the first system and δ = s - s₀,

    ζ_{k+1} = ζ_k ζ_{k-1} a_{k-1} / (a_{k-1} ζ_{k-1} (1 + a_k δ) + a_k b_{k-1} (ζ_{k-1} - ζ_k)),

and the other system takes the steps a_k ζ_{k+1} / ζ_k and b_k (ζ_{k+1} / ζ_k)². As δ >= 0, ζ <= 1: it is
solved when the first one is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sidecut.arrays import FloatArray
from sidecut.spectral.problem import column_dots


def solve_shifted(
    apply: Callable[[FloatArray], FloatArray],
    right: FloatArray,
    shifts: Sequence[float],
    tolerance: float,
    max_steps: int,
) -> list[FloatArray]:
    """Solve (A + s I) X = B for several shifts s, A symmetric and positive semi-definite.

    Parameters
    ----------
    apply : callable
        A block -> A @ block.
    right : array of shape (n, m)
        B.
    shifts : sequence of float
        Positive, the smallest first.
    tolerance : float
        The residual of every column to reach, relative to that column of B.
    max_steps : int
        The most products.

    Returns
    -------
    list of arrays of shape (n, m)
        X for every shift.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.spectral.shifted import solve_shifted
    >>> A = np.diag([0.0, 1.0, 3.0])
    >>> first, second = solve_shifted(lambda block: A @ block, np.ones((3, 1)), [1.0, 2.0], 1e-12, 10)
    >>> first.ravel(), second.ravel().round(3)
    (array([1.  , 0.5 , 0.25]), array([0.5  , 0.333, 0.2  ]))
    """
    smallest = shifts[0]
    others = [_Other(shift - smallest, right) for shift in shifts[1:]]
    solution, residual, direction = np.zeros_like(right), right.copy(), right.copy()
    squared = column_dots(right, right)
    goal = tolerance**2 * squared
    for _ in range(max_steps):
        if (squared <= goal).all():
            break
        image = apply(direction)
        image += smallest * direction
        # Columns that are solved, or zero, stay as they are.
        going = squared > goal
        step = np.divide(squared, column_dots(direction, image), out=np.zeros_like(squared), where=going)
        solution += step * direction
        residual -= step * image
        before, squared = squared, column_dots(residual, residual)
        turn = np.divide(squared, before, out=np.zeros_like(squared), where=going)
        direction *= turn
        direction += residual
        for other in others:
            other.follow(step, turn, residual, squared, goal)
    return [solution, *(other.solution for other in others)]


class _Other:
    """A system with a larger shift, which follows the steps of the first."""

    def __init__(self, gap: float, right: FloatArray) -> None:
        self.gap = gap
        self.solution, self.direction = np.zeros_like(right), right.copy()
        ones = np.ones(right.shape[1])
        self._zetas, self._last_step, self._last_turn = (ones, ones), ones, 0.0 * ones
        self._is_solved = False

    def follow(
        self, step: FloatArray, turn: FloatArray, residual: FloatArray, squared: FloatArray, goal: FloatArray
    ) -> None:
        """Take the step that belongs to a step of the first system."""
        if self._is_solved:
            return
        before, now = self._zetas
        spread = self._last_step * before * (1.0 + step * self.gap)
        spread += step * self._last_turn * (before - now)
        following = np.divide(
            now * before * self._last_step, spread, out=np.zeros_like(spread), where=spread > 0
        )
        ratio = np.divide(following, now, out=np.zeros_like(now), where=now > 0)
        self.solution += step * ratio * self.direction
        self.direction *= turn * ratio**2
        self.direction += following * residual
        self._zetas, self._last_step, self._last_turn = (now, following), step, turn
        self._is_solved = bool((following**2 * squared <= goal).all())
