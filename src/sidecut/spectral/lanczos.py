"""Lanczos iteration (ARPACK) on the normalised affinity: the fast way on graphs with a gap."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh

from sidecut.exceptions import SpectralError
from sidecut.spectral.certificate import ComplementBound, bound_complement
from sidecut.spectral.problem import LaplacianProblem
from sidecut.spectral.result import Certificate, Eigenpairs, FloatArray, oriented

#: Residuals are driven below this; eigenvalues of L̄ lie in [0, 2].
TOLERANCE = 1e-7
#: Products with the graph that may be spent before another solver is tried.
PRODUCT_BUDGET = 1_000
#: Products that may be spent on the certificate.
CERTIFICATE_BUDGET = 600


def solve_lanczos(
    problem: LaplacianProblem,
    wanted: int,
    guards: int,
    rng: np.random.RandomState,
    budget: int = PRODUCT_BUDGET,
) -> Eigenpairs:
    """Return the smallest eigenpairs of L̄ outside its null space, certified by a random start.

    Parameters
    ----------
    problem : LaplacianProblem
        The problem.
    wanted : int
        How many pairs the certificate must cover.
    guards : int
        How many further pairs to compute; they widen the gap that the certificate has to resolve.
    rng : RandomState
        Starting vectors.
    budget : int, default=1000
        The number of products after which to give up.

    Raises
    ------
    SpectralError
        If the iteration does not converge within the budget.
    """
    basis = _krylov_eigenvectors(problem, wanted + guards, rng, budget)
    values, vectors, residuals = problem.refine(basis)
    certificate = certify_by_random_start(problem, values, vectors, wanted, rng)
    return Eigenpairs(values, oriented(vectors), residuals, "Lanczos (ARPACK)", certificate)


def certify_by_random_start(
    problem: LaplacianProblem,
    values: FloatArray,
    vectors: FloatArray,
    wanted: int,
    rng: np.random.RandomState,
    budget: int = CERTIFICATE_BUDGET,
) -> Certificate:
    """Bound the eigenvalues of L̄ that may hide outside the null space and `vectors`.

    Parameters
    ----------
    problem : LaplacianProblem
        The problem.
    values, vectors : arrays of shape (k,) and (n, k)
        What was found.
    wanted : int
        How many of the values the certificate must cover.
    rng : RandomState
        The random start.
    budget : int, default=600
        The number of products to spend.
    """
    bound = bound_complement(
        problem.apply_affinity,
        lambda v: _without(problem.project(v), vectors),
        rng.standard_normal(problem.n),
        threshold=1.0 - float(values[wanted - 1]),
        max_steps=min(budget, problem.n),
    )
    return random_start_certificate(bound, 1.0 - bound.upper, 1.0 - bound.lower, float(values[wanted - 1]))


def random_start_certificate(
    bound: ComplementBound, certified_below: float, smallest_seen: float, last_wanted: float
) -> Certificate:
    """Put the bound of a random start into words.

    Parameters
    ----------
    bound : ComplementBound
        The bound, in terms of the operator that was applied.
    certified_below, smallest_seen : float
        The same bound in terms of eigenvalues of L̄: none below the first was missed; one at most as large
        as the second was.
    last_wanted : float
        The largest eigenvalue that was asked for.
    """
    if smallest_seen < last_wanted:
        detail = (
            f"An eigenvalue of at most {smallest_seen:.3g} was missed; the last found is {last_wanted:.3g}."
        )
        return Certificate("random start", certified_below, 1.0, False, detail)
    complete = certified_below >= last_wanted
    detail = (
        f"No eigenvalue below {max(certified_below, 0.0):.3g} was missed, but for a chance of "
        f"{bound.failure_probability:.0e} ({bound.steps} products from a random start)."
    )
    if not complete:
        detail += f" The last one asked for, {last_wanted:.3g}, is not covered."
    return Certificate("random start", certified_below, bound.failure_probability, complete, detail)


def _krylov_eigenvectors(
    problem: LaplacianProblem, count: int, rng: np.random.RandomState, budget: int
) -> FloatArray:
    """Run ARPACK on Ā with its null-space eigenvalue 1 moved to -2, out of the way."""
    operator = LinearOperator(
        (problem.n, problem.n),
        matvec=lambda v: problem.apply_affinity(v) - 3.0 * (problem.null @ (problem.null.T @ v)),
        dtype=np.float64,
    )
    width = min(problem.n - 1, max(2 * count + 1, count + 20))
    start = problem.project(rng.standard_normal(problem.n))
    restarts = max(1, budget // (width - count))
    try:
        _, vectors = eigsh(operator, count, which="LA", v0=start, ncv=width, maxiter=restarts, tol=TOLERANCE)
    except (ArpackNoConvergence, ArpackError) as error:
        raise SpectralError(f"Lanczos iteration did not converge within {budget} products.") from error
    return vectors


def _without(vector: FloatArray, vectors: FloatArray) -> FloatArray:
    return vector - vectors @ (vectors.T @ vector)
