"""Solving with the Laplacian by conjugate gradients, with algebraic multigrid where it helps."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, cg

from sidecut.arrays import FloatArray
from sidecut.exceptions import SpectralError
from sidecut.spectral.problem import LaplacianProblem

#: Conjugate gradients give up after this many steps.
MAX_STEPS = 5_000
#: A multigrid cycle costs about 15 products: where so many plain steps solve a system, they are cheaper.
PLAIN_STEPS = 200


def multigrid_preconditioner(matrix: sp.csr_array, near_null: FloatArray) -> LinearOperator:
    """Return an algebraic multigrid cycle for a symmetric positive (semi)definite matrix.

    Parameters
    ----------
    matrix : sparse array of shape (n, n)
        The matrix.
    near_null : array of shape (n,)
        The vector it almost annihilates, D^{1/2} 1 for a normalised Laplacian: coarse levels keep it exactly.
    """
    # Imported here: it takes as long as the rest of the library together, and few graphs need it.
    from pyamg import smoothed_aggregation_solver

    # "local" weighting needs no estimate of a spectral radius, so nothing here draws random numbers.
    hierarchy = smoothed_aggregation_solver(
        sp.csr_matrix(matrix),
        B=np.asarray(near_null, dtype=np.float64).reshape(-1, 1),
        smooth=("jacobi", {"omega": 4.0 / 3.0, "weighting": "local"}),
        max_coarse=300,
    )
    return hierarchy.aspreconditioner(cycle="V")


class LaplacianInverse:
    """The map b -> (L̄ + shift I)⁻¹ b on the complement of the null space.

    Parameters
    ----------
    problem : LaplacianProblem
        Sparse problems get a multigrid preconditioner, unless they do well without.
    shift : float
        A small positive number.
    """

    def __init__(self, problem: LaplacianProblem, shift: float) -> None:
        self.problem = problem
        self.system = LinearOperator(
            (problem.n, problem.n),
            matvec=lambda v: problem.apply_laplacian(v) + shift * v,
            dtype=np.float64,
        )
        self.preconditioner: LinearOperator | None = None
        if problem.is_sparse and not self._does_without():
            shifted = sp.csr_array(problem.laplacian + shift * sp.eye_array(problem.n))
            degrees = problem.graph.degrees
            # Only the direction matters; scaled so that no square overflows.
            near_null = np.sqrt(np.where(degrees > 0, degrees / degrees.max(), 1.0))
            self.preconditioner = multigrid_preconditioner(shifted, near_null)

    def _does_without(self) -> bool:
        """Try conjugate gradients alone on a rough right-hand side; expanders need few steps, grids many."""
        rough = self.problem.project(np.cos(np.arange(self.problem.n) * 0.7390851332151607))
        return bool(cg(self.system, rough, rtol=1e-5, maxiter=PLAIN_STEPS)[1] == 0)

    @property
    def preconditioning(self) -> str:
        """What speeds up the solves, in words."""
        return "conjugate gradients" if self.preconditioner is None else "multigrid"

    def __call__(self, right: FloatArray, tolerance: float) -> FloatArray:
        """Solve to a residual of `tolerance` relative to the right-hand side.

        Raises
        ------
        SpectralError
            If conjugate gradients do not converge.
        """
        right = self.problem.project(right)
        solution, status = cg(self.system, right, rtol=tolerance, maxiter=MAX_STEPS, M=self.preconditioner)
        if status != 0:
            raise SpectralError(f"Conjugate gradients did not converge in {MAX_STEPS} steps.")
        return self.problem.project(solution)
