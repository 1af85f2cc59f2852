"""Solving with the Laplacian by conjugate gradients, with algebraic multigrid where it can be had."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from pyamg import smoothed_aggregation_solver
from scipy.sparse.linalg import LinearOperator, cg

from sidecut.exceptions import SpectralError
from sidecut.spectral.problem import LaplacianProblem
from sidecut.spectral.result import FloatArray

#: Linear systems are solved to this relative residual, well below what the eigenvectors need.
SOLVE_TOLERANCE = 1e-11
#: Conjugate gradients give up after this many steps.
MAX_STEPS = 5_000


def multigrid_preconditioner(matrix: sp.csr_array, near_null: FloatArray) -> LinearOperator:
    """Return an algebraic multigrid cycle for a symmetric positive (semi)definite matrix.

    Parameters
    ----------
    matrix : sparse array of shape (n, n)
        The matrix.
    near_null : array of shape (n,)
        The vector it almost annihilates, D^{1/2} 1 for a normalised Laplacian: coarse levels keep it exactly.
    """
    # "local" weighting needs no estimate of a spectral radius, so nothing here draws random numbers.
    hierarchy = smoothed_aggregation_solver(
        sp.csr_matrix(matrix),
        B=np.asarray(near_null, dtype=np.float64).reshape(-1, 1),
        smooth=("jacobi", {"omega": 4.0 / 3.0, "weighting": "local"}),
        max_coarse=300,
    )
    return hierarchy.aspreconditioner(cycle="V")


def inverse_by_gradients(problem: LaplacianProblem, shift: float) -> Callable[[FloatArray], FloatArray]:
    """Return the map b -> (L̄ + shift I)⁻¹ b on the complement of the null space.

    Parameters
    ----------
    problem : LaplacianProblem
        Sparse problems get a multigrid preconditioner, others none.
    shift : float
        A small positive number.

    Raises
    ------
    SpectralError
        From the returned map, if conjugate gradients do not converge.
    """
    system = LinearOperator(
        (problem.n, problem.n),
        matvec=lambda v: problem.apply_laplacian(v) + shift * v,
        dtype=np.float64,
    )
    preconditioner = None
    if problem.is_sparse:
        shifted = sp.csr_array(problem.laplacian + shift * sp.eye_array(problem.n))
        degrees = problem.graph.degrees
        preconditioner = multigrid_preconditioner(shifted, np.sqrt(np.where(degrees > 0, degrees, 1.0)))

    def solve(right: FloatArray) -> FloatArray:
        right = problem.project(right)
        solution, status = cg(system, right, rtol=SOLVE_TOLERANCE, maxiter=MAX_STEPS, M=preconditioner)
        if status != 0:
            raise SpectralError(f"Conjugate gradients did not converge in {MAX_STEPS} steps.")
        return problem.project(solution)

    return solve
