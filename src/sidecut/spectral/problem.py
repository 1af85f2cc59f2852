"""The eigenproblem of a normalised Laplacian, its null space already known, and the value that solves it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from sidecut.checks import FloatArray, IntArray
from sidecut.graphs import Graph
from sidecut.graphs.graph import SplitWeights
from sidecut.threads import limit_threads

#: (block, columns) -> A_j @ block_j for those columns j of the right-hand sides that are not solved yet.
ApplyColumns = Callable[[FloatArray, IntArray], FloatArray]


class LaplacianProblem:
    """Find the smallest eigenvalues of L̄ = I - Ā outside its null space.

    The null space is spanned by D^{1/2} 1_C, one vector per connected component C, and is known exactly.
    Solvers work on its complement only, so no zero eigenvalue can be lost or invented.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.affinity = graph.normalized
        self.n = graph.n_nodes
        self.null = self.affinity.null_vectors
        #: Its transpose, made once: a solver projects hundreds of times.
        self.null_rows = sp.csr_array(self.null.T)
        self.n_null = int(self.null.shape[1])

    def apply_affinity(self, block: FloatArray) -> FloatArray:
        """Return Ā @ block."""
        return self.affinity.apply(block)

    def apply_laplacian(self, block: FloatArray) -> FloatArray:
        """Return L̄ @ block."""
        return block - self.affinity.apply(block)

    def project(self, block: FloatArray) -> FloatArray:
        """Remove the null space from a vector or a block."""
        return block - self.null @ (self.null_rows @ block)

    def null_pairs(self, n_vectors: int) -> Eigenpairs:
        """Return the eigenpairs of eigenvalue 0: the components of largest volume, at most `n_vectors`."""
        component = self.graph.components
        members = component >= 0
        volumes = np.bincount(component[members], weights=self.graph.degrees[members])
        largest = np.argsort(-volumes, kind="stable")[:n_vectors]
        vectors = self.null[:, largest].toarray()
        detail = f"The graph has {self.n_null} connected components; each has eigenvalue 0, exactly."
        return Eigenpairs(
            values=np.zeros(largest.size),
            vectors=orient(vectors),
            residuals=np.linalg.norm(self.apply_laplacian(vectors), axis=0),
            solver="connected components",
            certificate=Certificate("components", 0.0, 0.0, True, detail),
        )

    @property
    def is_sparse(self) -> bool:
        """Whether L̄ exists as a sparse matrix."""
        return sp.issparse(self.graph.matrix)

    @cached_property
    def laplacian(self) -> sp.csc_array:
        """L̄ as a sparse matrix."""
        return sp.csc_array(sp.eye_array(self.n) - sp.csc_array(self.affinity.matrix))

    @cached_property
    def split(self) -> SplitWeights | None:
        """Ā as a sparse matrix plus one of low rank, where the graph is not sparse but known as such."""
        weights = None if self.is_sparse else self.graph.split
        if weights is None:
            return None
        scale = self.affinity.scale
        scaling = sp.diags_array(scale)
        sparse = sp.csr_array(scaling @ weights.sparse @ scaling)
        return SplitWeights(sparse, scale[:, None] * weights.factor, weights.core)

    @property
    def sparse_part(self) -> sp.csr_array | None:
        """What of Ā can be factorised: all of it, all but a matrix of low rank, or nothing."""
        if self.is_sparse:
            return self.affinity.matrix
        return None if self.split is None else self.split.sparse

    @property
    def product_cost(self) -> float:
        """The number of multiplications in one product with Ā."""
        matrix: Any = self.sparse_part
        if matrix is None:
            return float(self.n**2)
        return float(matrix.nnz if self.split is None else matrix.nnz + 2 * self.split.factor.size)

    def refine(self, basis: FloatArray) -> RitzPairs:
        """Return the Ritz values, vectors and residual norms of L̄ on a basis (Rayleigh-Ritz)."""
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
    """Return the certificate of a method that sees the whole spectrum."""
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
    with limit_threads():
        values, basis = scipy.linalg.eigh(laplacian, subset_by_index=(0, count - 1 + has_more))
    pairs = problem.refine(basis[:, :count])
    following = float(values[count]) if has_more else np.inf
    certificate = full_decomposition(count, float(pairs.values[-1]), following)
    return Eigenpairs(pairs.values, orient(pairs.vectors), pairs.residuals, "dense (LAPACK)", certificate)


def solve_dense_pencil(A: FloatArray, B: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the `count` largest eigenvalues of A v = μ B v, in descending order, and their vectors."""
    n = A.shape[0]
    with limit_threads():
        values, vectors = scipy.linalg.eigh(A, B, subset_by_index=(n - count, n - 1))
    return values[::-1], vectors[:, ::-1]


# What a spectral solver returns: the eigenpairs, and how sure it is that none was missed.


class RitzPairs(NamedTuple):
    """What Rayleigh-Ritz makes of a basis: values in order, orthonormal vectors, the norms of residuals."""

    values: FloatArray
    vectors: FloatArray
    residuals: FloatArray


@dataclass(frozen=True)
class Certificate:
    """The reason to believe that no eigenvector was missed.

    Small residuals prove that what was found is right; they say nothing about what was not found.
    A certificate does.

    Attributes
    ----------
    method : str
        "full decomposition", "inertia", "random start", "components" or "none".
    certified_below : float
        Every eigenvalue below this number has been found. For the end of the spectrum that was asked for;
        with `which="largest"` read it as "above".
    failure_probability : float
        The chance that the statement is wrong; 0 where it is a proof up to rounding, which does not tell
        eigenvalues apart that differ by less than 1e-13.
    complete : bool
        The statement covers all eigenvalues that were asked for.
    detail : str
        The statement in words.
    """

    method: str
    certified_below: float
    failure_probability: float
    complete: bool
    detail: str

    @property
    def is_proof(self) -> bool:
        """True where the certificate does not rest on chance."""
        return self.complete and self.failure_probability == 0.0

    def __str__(self) -> str:
        return self.detail


@dataclass(frozen=True)
class Eigenpairs:
    """Eigenvalues and eigenvectors, with their residuals, the solver that ran and its certificate.

    Attributes
    ----------
    values : array of shape (k,)
        Eigenvalues, from the end of the spectrum that was asked for inwards.
    vectors : array of shape (n, k)
        Orthonormal eigenvectors (in the inner product of the problem), the largest entry of each positive.
    residuals : array of shape (k,)
        The norm of what each pair leaves of its equation.
    solver : str
        Which solver ran, in words.
    certificate : Certificate
        How sure it is that no eigenvector was missed.
    """

    values: FloatArray
    vectors: FloatArray
    residuals: FloatArray
    solver: str
    certificate: Certificate

    def first(self, count: int) -> Eigenpairs:
        """Return the first `count` pairs."""
        return replace(
            self,
            values=self.values[:count],
            vectors=np.ascontiguousarray(self.vectors[:, :count]),
            residuals=self.residuals[:count],
        )


def orient(vectors: FloatArray) -> FloatArray:
    """Flip every column so that its entry of largest magnitude is positive."""
    if vectors.size == 0:
        return vectors
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[largest, np.arange(vectors.shape[1])])
    return vectors * np.where(signs == 0, 1.0, signs)


# Conjugate gradients for many right-hand sides at once.


def solve_columns(apply: ApplyColumns, right: FloatArray, tolerance: float, max_steps: int) -> FloatArray:
    """Solve A_j x_j = r_j for all columns at once, each A_j symmetric and positive definite."""
    solution = np.zeros_like(right)
    squared = column_dots(right, right)
    goal = tolerance**2 * squared
    # Blocks hold the columns that are not solved yet, and are copied only when one is.
    active = np.flatnonzero(squared > 0)
    squared, values, residual = squared[active], solution[:, active], right[:, active]
    direction = residual.copy()
    for _ in range(max_steps):
        going = squared > goal[active]
        if not going.all():
            solution[:, active] = values
            active, squared = active[going], squared[going]
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
    solution[:, active] = values
    return solution


def column_dots(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return the inner product of each column of one block with the same column of another."""
    return np.einsum("ij,ij->j", one, other)
