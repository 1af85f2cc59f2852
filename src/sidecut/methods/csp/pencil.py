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
from sidecut.constraints import Constraints
from sidecut.exceptions import SpectralError
from sidecut.graphs import Graph
from sidecut.spectral.problem import LaplacianProblem, solve_columns

#: Below this a cut costs nothing but rounding: residuals of eq. 13 are told relative to no less.
CHEAP = 1e-8
#: Columns of the null space that are made dense at a time.
CHUNK = 64
#: Equations with μ L̄ + b I are solved in so many steps at the most.
INNER_STEPS = 60
#: Cuts that are there to be compared with, and not used, are found to this relative residual.
SPARE_TOLERANCE = 0.1
#: Directions that a block adds to a basis only by rounding are dropped.
NEW = 1e-10
#: Squares of lengths in a basis below this share of the largest are next to rounding.
FAINT = 1e-12


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
        self.null = problem.null if touched is None else _find_touched_null(problem.graph, touched)
        self.n_products = 0

    @cached_property
    def null_image(self) -> sp.csr_array:
        """B N, sparse: Q̄ reaches few nodes, and a graph may have many components."""
        chunks = [self.null[:, k : k + CHUNK] for k in range(0, self.null.shape[1], CHUNK)]
        image = sp.hstack([sp.csr_array(self.apply_Q(chunk.toarray())) for chunk in chunks], format="csr")
        return sp.csr_array(image - self.b * self.null)

    @cached_property
    def _null_image_rows(self) -> sp.csr_array:
        """NᵀB: to transpose a sparse matrix takes as long as a product with it, and rounds need many."""
        return sp.csr_array(self.null_image.T)

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

    def meet_null(self, block: FloatArray) -> FloatArray:
        """Return NᵀB w for a block of w."""
        return np.asarray(self._null_image_rows @ block)

    def along_null(self, block: FloatArray) -> FloatArray:
        """Return (NᵀBN)⁻¹ NᵀB w, how far each column is completed along the null space."""
        return np.asarray(np.linalg.solve(self.null_form, self.meet_null(block)), dtype=np.float64)

    def complete(self, block: FloatArray) -> FloatArray:
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

    def respond(self, block: FloatArray, mu: float) -> FloatArray:
        """Return (μ L̄ + b I)⁻¹ Q̄ @ block, roughly: what beliefs make of some cuts, spread over the graph.

        A feasible cut answers to itself, at its own μ.
        """

        def apply(columns: FloatArray, _: IntArray) -> FloatArray:
            return mu * self.apply_laplacian(columns) + self.b * columns

        return solve_columns(apply, self.apply_Q(block), SPARE_TOLERANCE, INNER_STEPS)

    def with_bound(self, b: float) -> SurplusPencil:
        """Return the pencil of the same beliefs with another b."""
        other = SurplusPencil(self.problem, self.apply_Q, b)
        other.null = self.null
        return other

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


class PencilOnBasis:
    """The pencil on the span of a few vectors, for any b: what it costs to look at another bound is nothing.

    Parameters
    ----------
    pencil : SurplusPencil
        The problem.
    vectors : array of shape (n, s)
        Some vectors.

    Examples
    --------
    On all of the space its cuts are the feasible cuts.

    >>> import numpy as np
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.spectral.problem import LaplacianProblem
    >>> from sidecut.methods.csp.pencil import PencilOnBasis, SurplusPencil
    >>> path = LaplacianProblem(as_graph(np.diag([1.0, 1.0, 1.0], k=1) + np.diag([1.0, 1.0, 1.0], k=-1)))
    >>> Q = np.outer([1, 1, -1, -1], [1, 1, -1, -1])
    >>> pencil = SurplusPencil(path, lambda x: Q @ x, 1.0)
    >>> vectors, costs = PencilOnBasis(pencil, np.eye(4)).cuts(b=1.0, count=1)
    >>> mu = (vectors.T @ pencil.apply_surplus(vectors))[0] / costs
    >>> costs.round(3), pencil.residuals(mu, vectors).round(6)
    (array([0.504]), array([0.]))
    """

    def __init__(self, pencil: SurplusPencil, vectors: FloatArray) -> None:
        problem, self._null = pencil.problem, pencil.null
        self._basis = problem.project(span(problem.project(unit(vectors))))
        null_image = pencil.null_image + pencil.b * pencil.null
        self._laplacian = symmetric(self._basis.T @ pencil.apply_laplacian(self._basis))
        self._beliefs = symmetric(self._basis.T @ pencil.apply_Q(self._basis))
        self._coupling = null_image.T @ self._basis
        self._null_beliefs = symmetric((pencil.null.T @ null_image).toarray())

    def cuts(self, b: float, count: int) -> tuple[FloatArray, FloatArray]:
        """Return unit vectors v of the `count` largest positive μ, or fewer, and their costs vᵀL̄v."""
        along = np.linalg.solve(self._null_beliefs - b * np.eye(len(self._null_beliefs)), self._coupling)
        surplus = self._beliefs - b * np.eye(len(self._beliefs)) - self._coupling.T @ along
        mu, coordinates = largest_of_pencil(symmetric(surplus), self._laplacian, count)
        coordinates = coordinates[:, mu > 0]
        vectors = self._basis @ coordinates - self._null @ (along @ coordinates)
        lengths = np.linalg.norm(vectors, axis=0)
        # Coordinates are L̄-orthonormal.
        return vectors / lengths, lengths**-2.0


def scale_beliefs(constraints: Constraints, scale: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Return the map block -> S Q S @ block."""

    def apply(block: FloatArray) -> FloatArray:
        factor = scale if block.ndim == 1 else scale[:, None]
        return factor * constraints.apply(factor * block)

    return apply


def solve_whole(pencil: SurplusPencil, count: int) -> SurplusPairs:
    """Decompose the whole pencil; adding N Nᵀ to L̄ makes it definite and leaves μ > 0 alone, as B' N = 0."""
    identity = np.eye(pencil.n)
    null = pencil.problem.null
    laplacian = symmetric(pencil.apply_laplacian(identity)) + (null @ null.T).toarray()
    image = pencil.null_image.toarray()
    surplus = symmetric(pencil.apply_surplus(identity)) - image @ np.linalg.solve(pencil.null_form, image.T)
    mu, blocks = largest_of_pencil(symmetric(surplus), laplacian, count)
    vectors = unit(pencil.complete(pencil.problem.project(blocks)))
    residuals = pencil.residuals(mu, vectors)
    return SurplusPairs(mu, vectors, residuals, 0, pencil.n_products, "dense (LAPACK)")


def _find_touched_null(graph: Graph, touched: IntArray) -> sp.csr_array:
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


def largest_of_pencil(A: FloatArray, B: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the `count` largest eigenvalues of A x = μ B x, descending, and B-orthonormal vectors.

    Parameters
    ----------
    A, B : arrays of shape (k, k)
        Symmetric; B positive definite.
    count : int
        How many; all if there are fewer.

    Raises
    ------
    SpectralError
        If B is not positive definite in floating point.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.csp.pencil import largest_of_pencil
    >>> largest_of_pencil(np.diag([1.0, -4.0, 9.0]), np.diag([1.0, 1.0, 3.0]), 2)[0]
    array([3., 1.])
    """
    # Through the Cholesky factor, because only the standard problem has a driver that is both fast and
    # accurate for a part of the spectrum.
    size = A.shape[0]
    factor = _cholesky(B)
    half = scipy.linalg.solve_triangular(factor, A, lower=True)
    standard = symmetric(scipy.linalg.solve_triangular(factor, half.T, lower=True))
    wanted = [max(size - count, 0), size - 1]
    values, vectors = scipy.linalg.eigh(standard, subset_by_index=wanted, driver="evr")
    return values[::-1], scipy.linalg.solve_triangular(factor, vectors[:, ::-1], lower=True, trans="T")


def _cholesky(B: FloatArray) -> FloatArray:
    try:
        return scipy.linalg.cholesky(B, lower=True)
    except scipy.linalg.LinAlgError as error:
        raise SpectralError(
            "Some cuts cost nothing but rounding, though the graph is connected: its degrees differ by too "
            "many orders of magnitude for constraints to be weighed. A graph of nearest neighbours "
            "(affinity='knn'), or a larger width of the kernel, has more even degrees."
        ) from error


def span(block: FloatArray) -> FloatArray:
    """Return an orthonormal basis of the span of some columns, but for directions they hardly have.

    By the eigenvectors of BᵀB, twice: for long columns a third of the time of an orthogonal factorisation.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.csp.pencil import span
    >>> basis = span(np.array([[1.0, 1.0, 2.0], [0.0, 1.0, 1.0], [0.0, 0.0, 0.0]]))
    >>> basis.shape, bool(np.allclose(basis.T @ basis, np.eye(2))), bool(np.allclose(basis[2], 0))
    ((3, 2), True, True)
    """
    for _ in range(2):
        squares, rotation = np.linalg.eigh(block.T @ block)
        kept = squares > FAINT * squares.max(initial=0.0)
        block = block @ (rotation[:, kept] / np.sqrt(squares[kept]))
    return block


def unit(block: FloatArray) -> FloatArray:
    """Scale every column to length one, zero columns left as they are."""
    lengths = np.linalg.norm(block, axis=0)
    return block / np.where(lengths > 0, lengths, 1.0)


def symmetric(matrix: FloatArray) -> FloatArray:
    """Return the symmetric part of a matrix."""
    return 0.5 * (matrix + matrix.T)
