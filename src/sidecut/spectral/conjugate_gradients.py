"""Conjugate gradients for many right-hand sides, or many shifts, at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sidecut.checks import FloatArray, IntArray

#: (block, columns) -> A_j @ block_j for those columns j of the right-hand sides that are not solved yet.
ApplyColumns = Callable[[FloatArray, IntArray], FloatArray]


def solve_columns(apply: ApplyColumns, right: FloatArray, tolerance: float, max_steps: int) -> FloatArray:
    """Solve A_j x_j = r_j for all columns at once, each A_j symmetric and positive definite."""
    # Rounding may make a nearly singular A_j indefinite, and the iterates diverge: then the best is returned.
    solution = np.zeros_like(right)
    squared = column_dots(right, right)
    goal = tolerance**2 * squared
    # Blocks hold the columns that are not solved yet, and are copied only when one is.
    active = np.flatnonzero(squared > 0)
    squared, values, residual = squared[active], solution[:, active], right[:, active]
    direction, least = residual.copy(), squared.copy()
    for _ in range(max_steps):
        going = squared > goal[active]
        if not going.all():
            solution[:, active[~going]] = values[:, ~going]
            active, squared, least = active[going], squared[going], least[going]
            values, residual, direction = values[:, going], residual[:, going], direction[:, going]
        if active.size == 0:
            break
        image = apply(direction, active)
        step = squared / column_dots(direction, image)
        values += step * direction
        residual -= step * image
        previous, squared = squared, column_dots(residual, residual)
        direction *= squared / previous
        direction += residual
        # Until a column is solved its best values wait in the solution; few are copied on the way down.
        better = squared < 0.25 * least
        solution[:, active[better]], least[better] = values[:, better], squared[better]
    best = squared < least
    solution[:, active[best]] = values[:, best]
    return solution


def solve_shifted(
    apply: Callable[[FloatArray], FloatArray],
    right: FloatArray,
    shifts: Sequence[float],
    tolerance: float,
    max_steps: int,
) -> list[FloatArray]:
    """Solve (A + s I) X = B for several shifts s, the smallest first, A symmetric and semi-definite."""
    smallest = shifts[0]
    others = [_ShiftedSystem(shift - smallest, right) for shift in shifts[1:]]
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


class _ShiftedSystem:
    """A system with a larger shift, whose steps follow from those of the smallest shift."""

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


def column_dots(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return the inner product of each column of one block with the same column of another."""
    return np.einsum("ij,ij->j", one, other)
