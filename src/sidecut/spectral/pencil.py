"""The front door for symmetric definite pencils A v = μ B v."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator, cg
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from sidecut.exceptions import SpectralError, SpectralWarning
from sidecut.spectral.certificate import FAILURE_PROBABILITY, ComplementBound, bound_complement
from sidecut.spectral.factorization import (
    count_below,
    factorized,
    forecast,
    is_positive_definite,
    separating_shift,
)
from sidecut.spectral.lanczos import largest_eigenvectors
from sidecut.spectral.laplacian import DENSE_NODES, FACTOR_MEMORY, FACTOR_WORK
from sidecut.spectral.multigrid import multigrid_preconditioner
from sidecut.spectral.problem import full_decomposition, solve_dense_pencil
from sidecut.spectral.result import Certificate, Eigenpairs, FloatArray, RitzPairs, oriented

#: Relative accuracy of the eigenvalues.
TOLERANCE = 1e-10
#: Systems with B are solved to this relative residual.
SOLVE_TOLERANCE = 1e-12
#: Products with B, and solves, that may be spent on a bound of its condition number.
CONDITION_BUDGET = 60
#: Products that may be spent on a certificate from a random start.
CERTIFICATE_BUDGET = 400

#: Eigenvalues beyond the last one asked for by less than this share of it are taken to have as good a claim.
NEARLY = 0.1

Solve = Callable[[FloatArray], FloatArray]

INDEFINITE = (
    "B is not positive definite, so A v = μ B v has no real spectrum; add a multiple of the identity to B."
)


@dataclass(frozen=True)
class _Pencil:
    """sign A v = μ B v with the largest μ wanted: what each solver needs to know of it."""

    A: Any
    B: Any
    apply_A: Solve
    apply_B: Solve
    n: int
    sign: float

    @property
    def is_sparse(self) -> bool:
        return sp.issparse(self.A) and sp.issparse(self.B)

    def refine(self, basis: FloatArray) -> RitzPairs:
        """Return Ritz values (descending), B-orthonormal vectors and residual norms on a basis."""
        image, weighed = self.apply_A(basis), self.apply_B(basis)
        try:
            values, rotation = scipy.linalg.eigh(_symmetric(basis.T @ image), _symmetric(basis.T @ weighed))
        except np.linalg.LinAlgError as error:
            raise SpectralError(INDEFINITE) from error
        values, rotation = values[::-1], rotation[:, ::-1]
        residuals = np.linalg.norm(image @ rotation - (weighed @ rotation) * values, axis=0)
        return RitzPairs(values, basis @ rotation, residuals)


def pencil_eigenpairs(
    A: Any,
    B: Any,
    n_vectors: int,
    *,
    which: str = "largest",
    solve_B: Solve | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Eigenpairs:
    """Return the extreme eigenpairs of a symmetric definite pencil A v = μ B v, certified.

    Parameters
    ----------
    A, B : dense arrays, sparse arrays or LinearOperators of shape (n, n)
        A symmetric, B symmetric positive definite.
    n_vectors : int
        How many.
    which : {"largest", "smallest"}, default="largest"
        Which end of the spectrum.
    solve_B : callable, optional
        b -> B⁻¹ b, if the caller knows a good way; otherwise B is factorised, or solved by conjugate
        gradients (with multigrid where B is sparse).
    random_state : int, RandomState or None
        Starting vectors.

    Returns
    -------
    Eigenpairs
        Values from the wanted end inwards; vectors with VᵀBV = I; the certificate speaks of eigenvalues above
        (for "smallest": below) its bound.

    Raises
    ------
    SpectralError
        If B is seen not to be positive definite, or the iteration does not converge.

    Warns
    -----
    SpectralWarning
        If the answer could not be certified.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.spectral import pencil_eigenpairs
    >>> pairs = pencil_eigenpairs(np.diag([1.0, -4.0, 9.0]), np.diag([1.0, 1.0, 3.0]), 2)
    >>> pairs.values
    array([3., 1.])
    """
    if which not in ("largest", "smallest"):
        raise ValueError(f"which={which!r}: choose 'largest' or 'smallest'.")
    pencil = _pencil(A, B, sign=1.0 if which == "largest" else -1.0)
    if not 1 <= n_vectors <= pencil.n:
        raise ValueError(f"n_vectors={n_vectors} eigenvectors of an order-{pencil.n} pencil do not exist.")
    with threadpool_limits(limits=1, user_api="blas"):
        if pencil.n <= DENSE_NODES or 3 * n_vectors >= pencil.n:
            pairs = _solve_dense(pencil, n_vectors)
        else:
            pairs = _solve_iteratively(pencil, n_vectors, solve_B, check_random_state(random_state))
    return pairs if which == "largest" else _mirrored(pairs)


def _solve_dense(pencil: _Pencil, count: int) -> Eigenpairs:
    identity = np.eye(pencil.n)
    A, B = _symmetric(pencil.apply_A(identity)), _symmetric(pencil.apply_B(identity))
    try:
        values, vectors = solve_dense_pencil(A, B, count)
    except np.linalg.LinAlgError as error:
        raise SpectralError(INDEFINITE) from error
    values, vectors, residuals = pencil.refine(vectors)
    certificate = full_decomposition(count, float(values[-1]))
    return Eigenpairs(values, oriented(vectors), residuals, "dense (LAPACK)", certificate)


def _solve_iteratively(
    pencil: _Pencil, wanted: int, solve_B: Solve | None, rng: np.random.RandomState
) -> Eigenpairs:
    solve, how = (solve_B, "given inverse") if solve_B else _inverse_of(pencil)
    count = min(wanted + 2 + wanted // 4, pencil.n - 2)
    pairs = pencil.refine(_krylov_eigenvectors(pencil, solve, count, rng))
    certificate = _certify(pencil, solve, pairs, wanted, rng)
    if not _is_covered(certificate, float(pairs.values[wanted - 1])):
        warnings.warn(
            f"The pencil's eigenvectors could not be certified. {certificate}", SpectralWarning, stacklevel=3
        )
    solver = f"Lanczos, B by {how}"
    return Eigenpairs(pairs.values, oriented(pairs.vectors), pairs.residuals, solver, certificate).first(
        wanted
    )


def _is_covered(certificate: Certificate, last: float) -> bool:
    """Accept a certificate that covers all wanted eigenvalues, or all but some that are nearly the last."""
    if certificate.failure_probability >= 1.0:
        return False
    return certificate.complete or certificate.certified_below <= last + NEARLY * abs(last)


def _krylov_eigenvectors(pencil: _Pencil, solve: Solve, count: int, rng: np.random.RandomState) -> FloatArray:
    def operator(product: Solve) -> LinearOperator:
        return LinearOperator((pencil.n, pencil.n), matvec=product, dtype=np.float64)

    return largest_eigenvectors(
        operator(pencil.apply_A),
        count,
        rng.standard_normal(pencil.n),
        rng,
        tolerance=TOLERANCE,
        M=operator(pencil.apply_B),
        Minv=operator(solve),
    )


def _inverse_of(pencil: _Pencil) -> tuple[Solve, str]:
    """Return b -> B⁻¹ b and how it is done."""
    if isinstance(pencil.B, np.ndarray):
        try:
            factor = scipy.linalg.cho_factor(pencil.B)
        except np.linalg.LinAlgError as error:
            raise SpectralError(INDEFINITE) from error
        return lambda b: scipy.linalg.cho_solve(factor, b), "Cholesky factorisation"
    if not sp.issparse(pencil.B):
        return _gradients(pencil, None), "conjugate gradients"
    cost = forecast(sp.csr_array(pencil.B))
    if cost.memory <= FACTOR_MEMORY and cost.work <= FACTOR_WORK:
        return _sparse_inverse(sp.csc_array(pencil.B)), "sparse factorisation"
    preconditioner = multigrid_preconditioner(sp.csr_array(pencil.B), np.ones(pencil.n))
    return _gradients(pencil, preconditioner), "multigrid"


def _sparse_inverse(B: sp.csc_array) -> Solve:
    try:
        factor = factorized(B)
    except RuntimeError as error:
        raise SpectralError(INDEFINITE) from error
    if not is_positive_definite(factor):
        raise SpectralError(INDEFINITE)
    return factor.solve


def _gradients(pencil: _Pencil, preconditioner: LinearOperator | None) -> Solve:
    system = LinearOperator((pencil.n, pencil.n), matvec=pencil.apply_B, dtype=np.float64)

    def solve(right: FloatArray) -> FloatArray:
        solution, status = cg(system, right.ravel(), rtol=SOLVE_TOLERANCE, maxiter=5_000, M=preconditioner)
        if status != 0:
            raise SpectralError("Conjugate gradients with B did not converge; give solve_B.")
        return solution

    return solve


def _certify(
    pencil: _Pencil, solve: Solve, pairs: RitzPairs, wanted: int, rng: np.random.RandomState
) -> Certificate:
    """Count by inertia where A - τB can be factorised, otherwise bound by a random start."""
    residual = _residual(pencil, solve, pairs)
    if pencil.is_sparse and (exact := _certify_by_inertia(pencil, pairs, wanted, residual)) is not None:
        return exact
    weighed = pencil.apply_B(pairs.vectors)
    last = float(pairs.values[wanted - 1])
    bound = bound_complement(
        lambda v: solve(pencil.apply_A(v)),
        lambda v: v - pairs.vectors @ (weighed.T @ v),
        rng.standard_normal(pencil.n),
        threshold=last,
        acceptable=last + NEARLY * abs(last),
        max_steps=min(CERTIFICATE_BUDGET, pencil.n),
        residual=residual,
        weigh=pencil.apply_B,
        condition=_condition(pencil, solve, rng),
        failure_probability=FAILURE_PROBABILITY / 3,
    )
    return _certificate_of(bound, last)


def _condition(pencil: _Pencil, solve: Solve, rng: np.random.RandomState) -> float:
    """Return an upper bound of the condition number of B; a factor of two matters little.

    Together with the bound that needs it, three statements may fail, so each gets a third of the chance.
    """
    ends = [
        bound_complement(
            operator,
            lambda v: v,
            rng.standard_normal(pencil.n),
            threshold=np.inf,
            max_steps=CONDITION_BUDGET,
            failure_probability=FAILURE_PROBABILITY / 3,
        ).upper
        for operator in (pencil.apply_B, solve)
    ]
    return max(1.0, ends[0] * ends[1])


def _residual(pencil: _Pencil, solve: Solve, pairs: RitzPairs) -> float:
    """Return the norm of B⁻¹A V - V Θ in the inner product B, the errors of the solves included."""
    images = [solve(column) for column in pencil.apply_A(pairs.vectors).T]
    left = np.column_stack(images) - pairs.vectors * pairs.values
    return float(np.sqrt(max(float(np.sum(left * pencil.apply_B(left))), 0.0)))


def _certify_by_inertia(
    pencil: _Pencil, pairs: RitzPairs, wanted: int, residual: float
) -> Certificate | None:
    """Return a certificate by Sylvester's inertia, or None where A - τB cannot be factorised well."""
    cost = forecast(sp.csr_array(abs(pencil.A) + abs(pencil.B)))
    if cost.memory > FACTOR_MEMORY or cost.work > FACTOR_WORK:
        return None
    rounding = 1e-12 * float(np.abs(pairs.values).max())
    above, mirrored = separating_shift(-pairs.values, wanted, error=max(residual, rounding))
    shift = -mirrored
    below = count_below(sp.csc_array(pencil.sign * pencil.A), shift, sp.csc_array(pencil.B))
    if below is None:
        return None
    counted = pencil.n - below
    if counted != above:
        detail = f"The pencil has {counted} eigenvalues above {shift:.6g}, but {above} were found."
        return Certificate("inertia", np.inf, 1.0, False, detail)
    detail = f"The pencil has exactly {above} eigenvalues above {shift:.6g} (Sylvester's inertia), all found."
    if above < wanted:
        detail += f" Eigenvalues {above + 1} to {wanted} coincide with others: nothing singles them out."
    return Certificate("inertia", shift, 0.0, True, detail)


def _certificate_of(bound: ComplementBound, last: float) -> Certificate:
    if bound.lower > last:
        detail = f"An eigenvalue of at least {bound.lower:.6g} was missed (the last one found is {last:.6g})."
        return Certificate("random start", np.inf, 1.0, False, detail)
    detail = (
        f"No eigenvalue above {bound.upper:.6g} was missed, but for a chance of {FAILURE_PROBABILITY:.0e} "
        f"({bound.steps} products from a random start)."
    )
    if bound.upper > last:
        detail += f" The last one asked for is {last:.6g}: others between the two may have as good a claim."
    return Certificate("random start", bound.upper, FAILURE_PROBABILITY, bound.upper <= last, detail)


def _pencil(A: Any, B: Any, sign: float) -> _Pencil:
    if A.shape != B.shape or len(A.shape) != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"A and B must be square and of one size; got {A.shape} and {B.shape}.")
    product = aslinearoperator(A).dot
    return _Pencil(A, B, lambda v: sign * product(v), aslinearoperator(B).dot, int(A.shape[0]), sign)


def _symmetric(matrix: FloatArray) -> FloatArray:
    return 0.5 * (matrix + matrix.T)


def _mirrored(pairs: Eigenpairs) -> Eigenpairs:
    """Turn the largest pairs of (-A, B) into the smallest of (A, B)."""
    certificate = pairs.certificate
    told = Certificate(
        certificate.method,
        -certificate.certified_below,
        certificate.failure_probability,
        certificate.complete,
        f"For (-A, B): {certificate.detail}",
    )
    return Eigenpairs(-pairs.values, pairs.vectors, pairs.residuals, pairs.solver, told)
