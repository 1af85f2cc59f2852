"""The eigenproblem of a normalised Laplacian, its null space already known."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from sidecut.arrays import FloatArray
from sidecut.graphs import Graph, NormalizedAffinity
from sidecut.spectral.result import Certificate, Eigenpairs, RitzPairs, orient


class LaplacianProblem:
    """Find the smallest eigenvalues of L̄ = I - Ā outside its null space.

    The null space is spanned by D^{1/2} 1_C, one vector per connected component C, and is known exactly.
    Solvers work on its complement only, so no zero eigenvalue can be lost or invented.

    Parameters
    ----------
    graph : Graph
        The graph.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.affinity = NormalizedAffinity(graph)
        self.n = graph.n_nodes
        self.null = self.affinity.null_vectors
        self.n_null = int(self.null.shape[1])

    def apply_affinity(self, block: FloatArray) -> FloatArray:
        """Return Ā @ block."""
        return self.affinity.apply(block)

    def apply_laplacian(self, block: FloatArray) -> FloatArray:
        """Return L̄ @ block."""
        return block - self.affinity.apply(block)

    def project(self, block: FloatArray) -> FloatArray:
        """Remove the null space from a vector or a block."""
        return block - self.null @ (self.null.T @ block)

    @property
    def is_sparse(self) -> bool:
        """Whether L̄ exists as a sparse matrix."""
        return sp.issparse(self.graph.matrix)

    @cached_property
    def laplacian(self) -> sp.csc_array:
        """L̄ as a sparse matrix."""
        return sp.csc_array(sp.eye_array(self.n) - sp.csc_array(self.affinity.matrix))

    @property
    def product_cost(self) -> float:
        """The number of multiplications in one product with Ā."""
        matrix: Any = self.affinity.matrix
        return float(matrix.nnz if self.is_sparse else self.n**2)

    def refine(self, basis: FloatArray) -> RitzPairs:
        """Return the Ritz values, vectors and residual norms of L̄ on a basis (Rayleigh-Ritz).

        Parameters
        ----------
        basis : array of shape (n, k)
            Approximate eigenvectors; made orthonormal and cleared of the null space first.
        """
        basis, _ = np.linalg.qr(self.project(basis))
        image = self.apply_laplacian(basis)
        small = basis.T @ image
        values, rotation = np.linalg.eigh(0.5 * (small + small.T))
        vectors = basis @ rotation
        residuals = np.linalg.norm(image @ rotation - vectors * values, axis=0)
        # L̄ has no negative eigenvalue; rounding alone could show one.
        return RitzPairs(np.maximum(values, 0.0), vectors, residuals)

    def without(self, vectors: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """Return the map that removes the null space and some orthonormal vectors from a vector."""

        def project(vector: FloatArray) -> FloatArray:
            vector = self.project(vector)
            return vector - vectors @ (vectors.T @ vector)

        return project


# Small problems: the full decomposition, which cannot miss anything.


#: Eigenvalues of L̄ nearer to each other than this are not told apart by double precision.
RESOLUTION = 1e-13


def full_decomposition(n_found: int, certified_below: float, following: float = np.inf) -> Certificate:
    """Return the certificate of a method that sees the whole spectrum.

    Parameters
    ----------
    n_found : int
        How many eigenvectors were asked for.
    certified_below : float
        The last of their eigenvalues.
    following : float, default=inf
        The eigenvalue after it. Where the two are one up to rounding, either has as good a claim.
    """
    if following - certified_below <= RESOLUTION:
        detail = (
            f"All {n_found} eigenvalues are certain: the whole spectrum was computed. But the last, "
            f"{certified_below:.3g}, and the one after it differ by less than {RESOLUTION:g}: the vector of "
            "either has as good a claim."
        )
        return Certificate("full decomposition", certified_below, 0.0, True, detail)
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
    has_more = count < problem.n - problem.n_null
    with threadpool_limits(limits=1):
        values, basis = scipy.linalg.eigh(laplacian, subset_by_index=(0, count - 1 + has_more))
    pairs = problem.refine(basis[:, :count])
    following = float(values[count]) if has_more else np.inf
    certificate = full_decomposition(count, float(pairs.values[-1]), following)
    return Eigenpairs(pairs.values, orient(pairs.vectors), pairs.residuals, "dense (LAPACK)", certificate)


def solve_dense_pencil(A: FloatArray, B: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the `count` largest eigenvalues of A v = μ B v, in descending order, and their vectors."""
    n = A.shape[0]
    with threadpool_limits(limits=1):
        values, vectors = scipy.linalg.eigh(A, B, subset_by_index=(n - count, n - 1))
    return values[::-1], vectors[:, ::-1]
