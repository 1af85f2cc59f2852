"""Small problems: the full decomposition, which cannot miss anything."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from threadpoolctl import threadpool_limits

from sidecut.spectral.problem import LaplacianProblem
from sidecut.spectral.result import Certificate, Eigenpairs, FloatArray, oriented


def full_decomposition(n_found: int, certified_below: float) -> Certificate:
    """Return the certificate of a method that sees the whole spectrum."""
    detail = f"All {n_found} eigenvectors are certain: the whole spectrum was computed."
    return Certificate("full decomposition", certified_below, 0.0, True, detail)


def solve_dense(problem: LaplacianProblem, count: int) -> Eigenpairs:
    """Return the `count` smallest eigenpairs of L̄ outside its null space, by LAPACK.

    The null space is moved to the far end of the spectrum first (L̄ + 3 N Nᵀ), so that the eigenvectors that
    come back are orthogonal to it by construction.
    """
    laplacian = problem.apply_laplacian(np.eye(problem.n))
    null = problem.null.toarray()
    laplacian += 3.0 * (null @ null.T)
    with threadpool_limits(limits=1):
        _, basis = scipy.linalg.eigh(laplacian, subset_by_index=(0, count - 1))
    pairs = problem.refine(basis)
    certificate = full_decomposition(count, float(pairs.values[-1]))
    return Eigenpairs(pairs.values, oriented(pairs.vectors), pairs.residuals, "dense (LAPACK)", certificate)


def solve_dense_pencil(A: FloatArray, B: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the `count` largest eigenvalues of A v = μ B v, in descending order, and their vectors."""
    n = A.shape[0]
    with threadpool_limits(limits=1):
        values, vectors = scipy.linalg.eigh(A, B, subset_by_index=(n - count, n - 1))
    return values[::-1], vectors[:, ::-1]
