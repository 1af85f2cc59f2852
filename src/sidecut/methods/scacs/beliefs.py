"""Problem 2 of SCACS: what constraints say about cuts that are linear in the codes (steps 3 and 4)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from sidecut.arrays import FloatArray
from sidecut.constraints import Constraints
from sidecut.graphs import LandmarkSums, constraint_gram
from sidecut.methods.csp.pencil import symmetric
from sidecut.methods.scacs.problem import LandmarkBasis, landmark_basis, normalize_gram
from sidecut.methods.scacs.tridiagonal import TridiagonalBasis, tridiagonal_basis

#: Beliefs have a low rank if it is at most p over this.
LOW_RANK = 8

Basis = LandmarkBasis | TridiagonalBasis


@dataclass(frozen=True)
class LandmarkBeliefs:
    """The matrix Q̂ = F G Fᵀ.

    Attributes
    ----------
    factor : array of shape (p, r)
        F.
    form : array of shape (r, r)
        G, symmetric.
    n_known : int
        The number of constrained points.
    n_entries : int
        nnz(Q) between these points, c² where c of them are labelled.
    """

    factor: FloatArray
    form: FloatArray
    n_known: int
    n_entries: int

    @property
    def is_low_rank(self) -> bool:
        """Whether Q̂ has a low rank."""
        n_landmarks, rank = self.factor.shape
        return LOW_RANK * rank <= n_landmarks


@dataclass(frozen=True)
class ConstrainedProblem:
    """Problem 2 in orthonormal v = Ẑᵀ T y: minimise yᵀTᵀATy subject to yᵀTᵀQ̂Ty ≥ α, yᵀy = 1.

    Attributes
    ----------
    basis : LandmarkBasis or TridiagonalBasis
        T, in which Ŝ is the identity and A of eq. 7 diagonal, or tridiagonal; null vectors of A first.
    known : LandmarkBeliefs
        Q̂.
    sums : LandmarkSums
        Of all points.
    """

    basis: Basis
    known: LandmarkBeliefs
    sums: LandmarkSums

    @property
    def n_samples(self) -> int:
        """The number n of points."""
        return self.sums.n_rows

    @cached_property
    def factor(self) -> FloatArray:
        """TᵀF."""
        return self.basis.coordinates(self.known.factor)

    @property
    def beliefs(self) -> FloatArray:
        """TᵀQ̂T."""
        return symmetric(self.factor @ self.known.form @ self.factor.T)

    @cached_property
    def gamma(self) -> FloatArray:
        """The eigenvalues γ of Q̂x = γŜx, descending."""
        rank, m = self.factor.shape[1], self.basis.rank
        if rank >= m:
            return scipy.linalg.eigvalsh(self.beliefs)[::-1]
        # TᵀF = O R with orthonormal O, so that the eigenvalues are those of R G Rᵀ and zeros.
        triangle = scipy.linalg.qr(self.factor, mode="r", check_finite=False)[0][:rank]
        small = scipy.linalg.eigvalsh(symmetric(triangle @ self.known.form @ triangle.T))
        return np.sort(np.concatenate([small, np.zeros(m - rank)]))[::-1]

    @property
    def total(self) -> float:
        """1ᵀQ1 / n, how far the constant vector satisfies the constraints."""
        constant = np.sqrt(self.sums.degrees / self.n_samples) @ self.known.factor
        return float(constant @ self.known.form @ constant)

    def without_trivial(self) -> ConstrainedProblem:
        """Return the problem among v ⊥ 1 (step 9 as a condition of the problem)."""
        return replace(self, basis=self.basis.without_trivial())

    def in_eigenvectors(self) -> ConstrainedProblem:
        """Return the problem in the eigenvectors of Ŝ, which does for all beliefs and every Ŝ."""
        return replace(self, basis=landmark_basis(self.sums))


def build_constrained_problem(
    basis: Basis,
    sums: LandmarkSums,
    codes: sp.csr_array,
    constraints: Constraints,
    diagonal: str = "known",
) -> ConstrainedProblem:
    """Return Problem 2 in a basis of one's choice.

    Parameters
    ----------
    basis : LandmarkBasis or TridiagonalBasis
        Of the range of Ŝ.
    sums : LandmarkSums
        Of all points.
    codes : csr_array of shape (c, p)
        Codes of the constrained points.
    constraints : Constraints
        Q, restricted to these points in that order.
    diagonal : {"known", "given"}, default="known"
        Q_ii = 1 for these points, or as it is given.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from sidecut import Constraints
    >>> from sidecut.graphs import landmark_sums
    >>> from sidecut.methods.scacs.beliefs import build_constrained_problem
    >>> from sidecut.methods.scacs.problem import landmark_basis
    >>> codes = sp.csr_array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    >>> sums = landmark_sums(codes)
    >>> known = Constraints.from_labels([0, 1])
    >>> build_constrained_problem(landmark_basis(sums), sums, codes[[0, 2]], known).gamma[:1].round(3)
    array([2.])
    """
    return ConstrainedProblem(basis, landmark_beliefs(sums, codes, constraints, diagonal), sums)


def pose_problem(
    sums: LandmarkSums, codes: sp.csr_array, constraints: Constraints, diagonal: str = "known"
) -> ConstrainedProblem:
    """Return Problem 2 in the basis that takes least time; see `build_constrained_problem`.

    That is the tridiagonal one where Q̂ has a low rank and Ŝ is regular, as with labels of a few classes.
    """
    known = landmark_beliefs(sums, codes, constraints, diagonal)
    basis: Basis | None = tridiagonal_basis(sums) if known.is_low_rank else None
    return ConstrainedProblem(landmark_basis(sums) if basis is None else basis, known, sums)


def landmark_beliefs(
    sums: LandmarkSums, codes: sp.csr_array, constraints: Constraints, diagonal: str = "known"
) -> LandmarkBeliefs:
    """Return Q̂ with as few columns in F as its structure allows; see `build_constrained_problem`."""
    known = constraints.with_diagonal(1.0) if diagonal == "known" else constraints
    n_known, p = codes.shape
    size = (n_known, known.n_entries())
    factors = known.factored(max_rank=p - 1)
    if factors is None:
        return LandmarkBeliefs(np.eye(p), normalize_gram(sums, constraint_gram(codes, known)), *size)
    factor = (codes.T @ factors[0]).toarray() / np.sqrt(sums.degrees)[:, None]
    return LandmarkBeliefs(factor, factors[1], *size)
