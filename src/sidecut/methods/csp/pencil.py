"""Cuts that satisfy constraints: the positive eigenvalues of B v = μ L̄ v with B = Q̄ - b I.

This is eq. 13 of Wang, Qian and Davidson (2014), L̄ v = λ (Q̄ - (β/vol) I) v, read with μ = 1/λ and
b = β/vol. The null space N of L̄ is eliminated by its Schur complement: with w ⊥ N,

    v = w - N (NᵀBN)⁻¹ NᵀB w      and      B' = B - B N (NᵀBN)⁻¹ NᵀB,

so that B' w = μ L̄ w is a symmetric pencil, definite because L̄ is positive on N⊥. Cuts with positive
"surplus" vᵀBv are those with μ > 0. How many there are follows from Sylvester's law of inertia and is known
beforehand, which makes the certificate: Ritz values never exceed eigenvalues, so as many positive ones, each
with a small residual, are all there are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from sidecut.arrays import FloatArray, IntArray
from sidecut.graphs import Graph
from sidecut.methods.csp.davidson import (
    CHEAP,
    largest_of_pencil,
    solve_davidson,
    symmetric,
    unavoidable,
    unit,
)
from sidecut.spectral.problem import LaplacianProblem

#: Up to this many nodes the whole pencil is decomposed.
DENSE_NODES = 600
#: Columns of the null space that are made dense at a time.
CHUNK = 64


@dataclass(frozen=True)
class SurplusPairs:
    """The feasible eigenpairs outside the null space of L̄.

    Attributes
    ----------
    mu : array of shape (m,)
        Positive eigenvalues, descending.
    vectors : array of shape (n, m)
        Unit vectors v.
    residuals : array of shape (m,)
        ‖B v - μ L̄ v‖ relative to ‖Q̄ v‖ + b + 1e-8 μ.
    rounds, products : int
        Outer iterations, and products of L̄ with one vector.
    solver : str
        Which solver ran, in words.
    """

    mu: FloatArray
    vectors: FloatArray
    residuals: FloatArray
    rounds: int
    products: int
    solver: str


class SurplusPencil:
    """The pencil (Q̄ - b I, L̄) with the null space of L̄ eliminated.

    Parameters
    ----------
    problem : LaplacianProblem
        L̄ and its null space.
    apply_Q : callable
        Block -> Q̄ @ block.
    b : float
        β / vol, positive.
    touched : array of int, optional
        The nodes outside which Q̄ is zero; all by default.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.spectral.problem import LaplacianProblem
    >>> from sidecut.methods.csp.pencil import SurplusPencil
    >>> edges = as_graph(np.kron(np.eye(2), [[0.0, 1.0], [1.0, 0.0]]))
    >>> Q = np.outer([1, 1, -1, -1], [1, 1, -1, -1])
    >>> surplus, cuts = SurplusPencil(LaplacianProblem(edges), lambda x: Q @ x, 1.0).zero_cost_cuts()
    >>> surplus.round(6)
    array([3.])
    """

    def __init__(
        self,
        problem: LaplacianProblem,
        apply_Q: Callable[[FloatArray], FloatArray],
        b: float,
        touched: IntArray | None = None,
    ) -> None:
        self.problem = problem
        self.apply_Q = apply_Q
        self.b = b
        self.n = problem.n
        self.null = problem.null if touched is None else _touched_null(problem.graph, touched)
        self.n_products = 0

    @cached_property
    def null_image(self) -> sp.csr_array:
        """B N, sparse: Q̄ reaches few nodes, and a graph may have many components."""
        chunks = [self.null[:, k : k + CHUNK] for k in range(0, self.null.shape[1], CHUNK)]
        image = sp.hstack([sp.csr_array(self.apply_Q(chunk.toarray())) for chunk in chunks], format="csr")
        return sp.csr_array(image - self.b * self.null)

    @cached_property
    def null_form(self) -> FloatArray:
        """NᵀBN, which has to be regular for the pencil to be."""
        return symmetric((self.null.T @ self.null_image).toarray())

    def apply_laplacian(self, block: FloatArray) -> FloatArray:
        """Return L̄ @ block, and count the products."""
        self.n_products += 1 if block.ndim == 1 else block.shape[1]
        return self.problem.apply_laplacian(block)

    def apply_surplus(self, block: FloatArray) -> FloatArray:
        """Return B @ block."""
        return self.apply_Q(block) - self.b * block

    def along_null(self, block: FloatArray) -> FloatArray:
        """Return (NᵀBN)⁻¹ NᵀB w, how far each column is completed along the null space."""
        return np.linalg.solve(self.null_form, self.null_image.T @ block)

    def completed(self, block: FloatArray) -> FloatArray:
        """Return v = w - N (NᵀBN)⁻¹ NᵀB w for a block of w ⊥ N."""
        return block - self.null @ self.along_null(block)

    def residuals(self, mu: FloatArray, vectors: FloatArray) -> FloatArray:
        """Return ‖B v - μ L̄ v‖ relative to ‖Q̄ v‖ + b + 1e-8 μ, for unit v.

        In terms of eq. 13 that is ‖L̄ v - λ B v‖ relative to λ (‖Q̄ v‖ + b) + 1e-8.
        """
        image = self.apply_Q(vectors)
        residual = image - self.b * vectors - self.problem.apply_laplacian(vectors) * mu
        size = np.linalg.norm(image, axis=0) + self.b + CHEAP * np.abs(mu)
        return np.linalg.norm(residual, axis=0) / size

    def zero_cost_cuts(self) -> tuple[FloatArray, FloatArray]:
        """Return the cuts along components that satisfy the constraints: their surplus, and unit vectors.

        They are B-orthogonal to the trivial D^{1/2} 1 and have vᵀBv > 0; their cost is zero (λ = 0).
        """
        trivial = self.null.T @ np.sqrt(self.problem.graph.degrees)
        orthogonal = scipy.linalg.null_space((self.null_form @ trivial)[None, :])
        surplus, rotation = np.linalg.eigh(symmetric(orthogonal.T @ self.null_form @ orthogonal))
        order = np.argsort(-surplus)
        order = order[surplus[order] > 0]
        return surplus[order], self.null @ (orthogonal @ rotation[:, order])


def feasible_pairs(
    pencil: SurplusPencil, seeds: FloatArray, count: int, tolerance: float = 1e-6
) -> SurplusPairs:
    """Return the `count` largest eigenpairs of B' w = μ L̄ w; all of them must be positive.

    Parameters
    ----------
    pencil : SurplusPencil
        The problem.
    seeds : array of shape (n, s)
        Vectors to start from: the leading eigenvectors of Q̄, and the answer to a similar problem if known.
    count : int
        How many positive eigenvalues there are, or how many of the largest are wanted.
    tolerance : float, default=1e-6
        The relative residual to reach.

    Raises
    ------
    SpectralError
        If the iteration does not converge, or fewer than `count` are positive.
    """
    solver = "Davidson iteration"
    if pencil.n <= DENSE_NODES or 4 * count >= pencil.n:
        pairs = solve_whole(pencil, count)
        is_positive = pairs.mu[-1] > np.finfo(np.float64).eps * pencil.n * np.abs(pairs.mu).max()
        if is_positive and np.all(pairs.residuals <= tolerance + unavoidable(pencil, pairs.mu)):
            return pairs
        # On a graph that all but falls apart 1/cost drowns the other cuts in rounding; the iteration, which
        # never divides by it, mends them.
        seeds, solver = np.hstack([pairs.vectors, seeds]), f"{pairs.solver}, then {solver}"
    mu, vectors, residuals, rounds = solve_davidson(pencil, seeds, count, tolerance)
    return SurplusPairs(mu, vectors, residuals, rounds, pencil.n_products, solver)


def solve_whole(pencil: SurplusPencil, count: int) -> SurplusPairs:
    """Decompose the whole pencil; adding N Nᵀ to L̄ makes it definite and leaves μ > 0 alone, as B' N = 0."""
    identity = np.eye(pencil.n)
    null = pencil.problem.null
    laplacian = symmetric(pencil.apply_laplacian(identity)) + (null @ null.T).toarray()
    image = pencil.null_image.toarray()
    surplus = symmetric(pencil.apply_surplus(identity)) - image @ np.linalg.solve(pencil.null_form, image.T)
    mu, blocks = largest_of_pencil(symmetric(surplus), laplacian, count)
    vectors = unit(pencil.completed(pencil.problem.project(blocks)))
    residuals = pencil.residuals(mu, vectors)
    return SurplusPairs(mu, vectors, residuals, 0, pencil.n_products, "dense (LAPACK)")


def _touched_null(graph: Graph, touched: IntArray) -> sp.csr_array:
    """Return D^{1/2} 1_C for the components Q̄ reaches, one per column, and for all others together.

    B is -b on every direction among the others, so that they take no part except in the trivial vector.
    """
    component = graph.components
    members = np.flatnonzero(component >= 0)
    reached = np.zeros(graph.n_components, dtype=bool)
    reached[component[touched][component[touched] >= 0]] = True
    place = np.where(reached, np.cumsum(reached) - 1, np.count_nonzero(reached))
    column = place[component[members]]
    roots = np.sqrt(graph.degrees[members])
    lengths = np.sqrt(np.bincount(column, weights=roots**2))
    return sp.csr_array((roots / lengths[column], (members, column)), shape=(graph.n_nodes, lengths.size))
