"""Cuts that satisfy constraints: the positive eigenvalues of B v = μ L̄ v with B = Q̄ - b I.

This is eq. 13 of Wang, Qian and Davidson (2014), L̄ v = λ (Q̄ - (β/vol) I) v, read with μ = 1/λ and
b = β/vol. The null space N of L̄ is eliminated by its Schur complement: with w ⊥ N,

    v = w - N (NᵀBN)⁻¹ NᵀB w      and      B' = B - B N (NᵀBN)⁻¹ NᵀB,

so that B' w = μ L̄ w is a symmetric pencil, definite because L̄ is positive on N⊥. Cuts with positive
"surplus" vᵀBv are those with μ > 0. How many there are follows from Sylvester's law of inertia and is known
beforehand, which makes the certificate: Ritz values never exceed eigenvalues, so as many positive ones, each
with a small residual, are all there are.

An eigenvector satisfies (μ L̄ + b I) v = Q̄ v. The operator on the left is well conditioned, and Q̄ acts on
few points, so that a Davidson iteration with (μ L̄ + b I)⁻¹ as preconditioner, applied by a few conjugate
gradient steps, converges in a handful of rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from sidecut.exceptions import SpectralError
from sidecut.spectral.problem import LaplacianProblem
from sidecut.spectral.result import FloatArray

Apply = Callable[[FloatArray], FloatArray]

#: Up to this many nodes the whole pencil is decomposed.
DENSE_NODES = 600
#: The correction equations are solved to this relative residual; the outer iteration does the rest.
INNER_TOLERANCE = 0.03
INNER_STEPS = 60
MAX_ROUNDS = 60
#: The basis is restarted from the Ritz vectors when it has this many times their number of columns.
BASIS_FACTOR = 8


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
        ‖B v - μ L̄ v‖ relative to ‖Q̄ v‖ + b.
    rounds, products : int
        Outer iterations, and products of L̄ with one vector.
    """

    mu: FloatArray
    vectors: FloatArray
    residuals: FloatArray
    rounds: int
    products: int


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
    """

    def __init__(self, problem: LaplacianProblem, apply_Q: Apply, b: float) -> None:
        self.problem = problem
        self.apply_Q = apply_Q
        self.b = b
        self.n = problem.n
        self.null = problem.null.toarray()
        self.n_products = 0

    @cached_property
    def null_image(self) -> FloatArray:
        """B N."""
        return self.apply_Q(self.null) - self.b * self.null

    @cached_property
    def null_form(self) -> FloatArray:
        """NᵀBN, which has to be regular for the pencil to be."""
        form = self.null.T @ self.null_image
        return 0.5 * (form + form.T)

    def apply_laplacian(self, block: FloatArray) -> FloatArray:
        """Return L̄ @ block, and count the products."""
        self.n_products += 1 if block.ndim == 1 else block.shape[1]
        return self.problem.apply_laplacian(block)

    def completed(self, block: FloatArray) -> FloatArray:
        """Return v = w - N (NᵀBN)⁻¹ NᵀB w for a block of w ⊥ N."""
        return block - self.null @ np.linalg.solve(self.null_form, self.null_image.T @ block)

    def zero_cost_cuts(self) -> tuple[FloatArray, FloatArray]:
        """Return the cuts along components that satisfy the constraints: their surplus, and unit vectors.

        They are B-orthogonal to the trivial D^{1/2} 1 and have vᵀBv > 0; their cost is zero (λ = 0).
        """
        roots = np.sqrt(self.problem.graph.degrees)
        trivial = self.null.T @ roots
        orthogonal = scipy.linalg.null_space((self.null_form @ trivial)[None, :])
        surplus, rotation = np.linalg.eigh(orthogonal.T @ self.null_form @ orthogonal)
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
        Vectors to start from: the leading eigenvectors of Q̄, or the answer to a similar problem.
    count : int
        How many positive eigenvalues there are, or how many of the largest are wanted.
    tolerance : float, default=1e-6
        The relative residual to reach.

    Raises
    ------
    SpectralError
        If the iteration does not converge.
    """
    if pencil.n <= DENSE_NODES or 4 * count >= pencil.n:
        return _solve_dense(pencil, count)
    return _Davidson(pencil, count, tolerance).run(seeds)


def shifted_solves(
    apply: Apply, mu: FloatArray, b: float, right: FloatArray, tolerance: float, max_steps: int
) -> FloatArray:
    """Solve (μ_j L̄ + b I) x_j = r_j for all columns at once by conjugate gradients.

    Parameters
    ----------
    apply : callable
        Block -> L̄ @ block.
    mu : array of shape (m,)
        One positive shift per column.
    b : float
        Positive.
    right : array of shape (n, m)
        The right-hand sides.
    tolerance : float
        Relative residual.
    max_steps : int
        The most steps.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.spectral.surplus import shifted_solves
    >>> shifted_solves(lambda x: x, np.array([1.0, 3.0]), 1.0, np.ones((2, 2)), 1e-12, 10)
    array([[0.5 , 0.25],
           [0.5 , 0.25]])
    """
    solution = np.zeros_like(right)
    residual = right.copy()
    direction = residual.copy()
    squared = _column_dots(residual, residual)
    goal = tolerance**2 * squared
    for _ in range(max_steps):
        if np.all(squared <= goal):
            break
        image = mu * apply(direction) + b * direction
        step = _safe_ratio(squared, _column_dots(direction, image))
        solution += step * direction
        residual -= step * image
        previous, squared = squared, _column_dots(residual, residual)
        direction = residual + _safe_ratio(squared, previous) * direction
    return solution


def _solve_dense(pencil: SurplusPencil, count: int) -> SurplusPairs:
    """Decompose the whole pencil on an orthonormal basis of N⊥."""
    basis = scipy.linalg.null_space(pencil.null.T)
    image = pencil.apply_laplacian(basis)
    surplus = _surplus_form(pencil, basis, pencil.apply_Q(basis) - pencil.b * basis)
    mu, coordinates = scipy.linalg.eigh(surplus, _symmetric(basis.T @ image))
    order = np.argsort(-mu)[:count]
    vectors = _unit(pencil.completed(basis @ coordinates[:, order]))
    return SurplusPairs(mu[order], vectors, _residuals(pencil, mu[order], vectors), 0, pencil.n_products)


class _Davidson:
    """The iteration: a growing orthonormal basis of N⊥, with its images under L̄ and B."""

    def __init__(self, pencil: SurplusPencil, count: int, tolerance: float) -> None:
        self.pencil = pencil
        self.count = count
        self.tolerance = tolerance
        empty = np.empty((pencil.n, 0))
        self.basis, self.laplacian_image, self.surplus_image = empty, empty, empty

    def run(self, seeds: FloatArray) -> SurplusPairs:
        self._extend(seeds)
        for rounds in range(MAX_ROUNDS):
            mu, coordinates = self._rayleigh_ritz()
            vectors, residual = self._ritz_vectors(mu, coordinates)
            size = np.linalg.norm(residual, axis=0) / self._scale(vectors)
            worst = size > self.tolerance
            if not worst.any() and mu.size == self.count and np.all(mu > 0):
                return SurplusPairs(mu, _unit(vectors), size, rounds, self.pencil.n_products)
            if self.basis.shape[1] >= max(BASIS_FACTOR * self.count, seeds.shape[1] + 4 * self.count):
                self._restart(coordinates)
            self._extend(self._corrections(mu[worst], residual[:, worst]) if worst.any() else seeds)
        raise SpectralError(
            f"The constrained cut did not converge in {MAX_ROUNDS} rounds: the worst relative residual is "
            f"{size.max():.1e}, asked for {self.tolerance:.1e}. Raise tol, or choose a larger beta."
        )

    def _extend(self, block: FloatArray) -> None:
        """Add what is new in a block to the basis."""
        block = self.pencil.problem.project(_unit(block))
        for _ in range(2):
            block = block - self.basis @ (self.basis.T @ block)
        fresh, triangle, _ = scipy.linalg.qr(block, mode="economic", pivoting=True)
        fresh = fresh[:, np.abs(np.diag(triangle)) > 1e-10]
        # Orthogonal to rounding after a second pass; the null space stays out as well.
        fresh = self.pencil.problem.project(fresh - self.basis @ (self.basis.T @ fresh))
        self.basis = np.hstack([self.basis, fresh])
        self.laplacian_image = np.hstack([self.laplacian_image, self.pencil.apply_laplacian(fresh)])
        image = self.pencil.apply_Q(fresh) - self.pencil.b * fresh
        self.surplus_image = np.hstack([self.surplus_image, image])

    def _rayleigh_ritz(self) -> tuple[FloatArray, FloatArray]:
        """Return the largest Ritz values and their coordinates in the basis."""
        surplus = _surplus_form(self.pencil, self.basis, self.surplus_image)
        mu, coordinates = scipy.linalg.eigh(surplus, _symmetric(self.basis.T @ self.laplacian_image))
        order = np.argsort(-mu)[: self.count]
        return mu[order], coordinates[:, order]

    def _ritz_vectors(self, mu: FloatArray, coordinates: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return v and B v - μ L̄ v, from the stored images."""
        pencil = self.pencil
        along_null = np.linalg.solve(pencil.null_form, pencil.null_image.T @ (self.basis @ coordinates))
        vectors = self.basis @ coordinates - pencil.null @ along_null
        lengths = np.linalg.norm(vectors, axis=0)
        surplus = self.surplus_image @ coordinates - pencil.null_image @ along_null
        residual = surplus - (self.laplacian_image @ coordinates) * mu
        return vectors / lengths, residual / lengths

    def _scale(self, vectors: FloatArray) -> FloatArray:
        return np.linalg.norm(self.pencil.apply_Q(vectors), axis=0) + self.pencil.b

    def _corrections(self, mu: FloatArray, residual: FloatArray) -> FloatArray:
        """Return (μ L̄ + b I)⁻¹ r; a Ritz value that is not positive yet borrows the size of the others."""
        floor = max(float(np.abs(mu).max()), self.pencil.b) * 1e-2
        shifts = np.maximum(np.abs(mu), floor)
        return shifted_solves(
            self.pencil.apply_laplacian, shifts, self.pencil.b, residual, INNER_TOLERANCE, INNER_STEPS
        )

    def _restart(self, coordinates: FloatArray) -> None:
        rotation, _ = np.linalg.qr(coordinates)
        self.basis = self.basis @ rotation
        self.laplacian_image = self.laplacian_image @ rotation
        self.surplus_image = self.surplus_image @ rotation


def _surplus_form(pencil: SurplusPencil, basis: FloatArray, image: FloatArray) -> FloatArray:
    """Return Sᵀ B' S for a basis S ⊥ N with image B S."""
    coupling = pencil.null_image.T @ basis
    return _symmetric(basis.T @ image - coupling.T @ np.linalg.solve(pencil.null_form, coupling))


def _residuals(pencil: SurplusPencil, mu: FloatArray, vectors: FloatArray) -> FloatArray:
    image = pencil.apply_Q(vectors)
    residual = image - pencil.b * vectors - pencil.problem.apply_laplacian(vectors) * mu
    return np.linalg.norm(residual, axis=0) / (np.linalg.norm(image, axis=0) + pencil.b)


def _column_dots(one: FloatArray, other: FloatArray) -> FloatArray:
    return np.einsum("ij,ij->j", one, other)


def _safe_ratio(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)


def _unit(block: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(block, axis=0)
    return block / np.where(lengths > 0, lengths, 1.0)


def _symmetric(matrix: FloatArray) -> FloatArray:
    return 0.5 * (matrix + matrix.T)
