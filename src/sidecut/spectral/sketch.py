"""Subspace iteration with a Chebyshev filter: the space of many eigenvectors, roughly, in few products."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidecut.arrays import FloatArray
from sidecut.exceptions import SpectralError
from sidecut.spectral.problem import Certificate, Eigenpairs, LaplacianProblem, orient

#: The degree of the filter, and how often it is applied at most.
DEGREE, ROUNDS = 10, 4
#: The first filter damps what of Ā lies in [-1, 1/2]; the next ones what the block shows to be unwanted.
FIRST_EDGE = 0.5
#: Vectors are good enough when their residuals are this part of the last eigenvalue. The first ones are far
#: better then; the last ones mix with those that come next, which the graph hardly tells from them.
SHARE = 0.3


def solve_sketch(
    problem: LaplacianProblem, wanted: int, guards: int, rng: np.random.RandomState
) -> Eigenpairs:
    """Return vectors that span nearly the space of the smallest eigenvalues of L̄, not certified.

    A random block is multiplied by a Chebyshev polynomial of Ā that is small on the unwanted part of the
    spectrum and grows as fast as any polynomial of its degree outside; then Rayleigh-Ritz (Zhou, Saad, Tiago
    & Chelikowsky, 2006). Products with a whole block, and no vector made orthogonal to all before it: that
    is less than half of the time of Lanczos where thirty vectors are wanted.

    Parameters
    ----------
    problem : LaplacianProblem
        The problem.
    wanted : int
        How many vectors.
    guards : int
        Not used: the block is wider by a quarter than what is wanted.
    rng : RandomState
        The first block.

    Raises
    ------
    SpectralError
        If the filter cannot tell the wanted part from the rest: eigenvalues near 0, as graphs of points in
        the plane have them.
    """
    block = rng.standard_normal((problem.n, wanted + max(4, wanted // 4)))
    edge = FIRST_EDGE
    for _ in range(ROUNDS):
        pairs = problem.refine(_filtered(problem, problem.project(block), edge))
        if pairs.residuals[:wanted].max() <= SHARE * pairs.values[wanted - 1]:
            detail = "Not certified: only the space that these vectors span is near that of the eigenvectors."
            return Eigenpairs(
                pairs.values[:wanted],
                orient(pairs.vectors[:, :wanted]),
                pairs.residuals[:wanted],
                "Chebyshev filter, sketch",
                Certificate("none", 0.0, 1.0, False, detail),
            )
        block, edge = pairs.vectors, max(0.0, 1.0 - float(pairs.values[-1]))
    raise SpectralError(f"A Chebyshev filter of degree {DEGREE} did not converge in {ROUNDS} rounds.")


def _filtered(problem: LaplacianProblem, block: FloatArray, edge: float) -> FloatArray:
    """Return T_d((Ā - c) / e) @ block, with [-1, edge] = [c - e, c + e], by the three-term recurrence.

    In single precision: rounding adds to a column a ten-millionth of what is largest in it, and that is less
    than what the filter lets through.
    """
    center, half = 0.5 * (edge - 1.0), 0.5 * (edge + 1.0)
    before: Any = block.astype(np.float32)
    now: Any = (problem.apply_affinity(before) - center * before) / half
    for _ in range(DEGREE - 1):
        before, now = now, (2.0 / half) * (problem.apply_affinity(now) - center * now) - before
    return np.asarray(now, dtype=np.float64)
