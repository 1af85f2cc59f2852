"""Lanczos iteration (ARPACK) on the normalised affinity: the fast way on graphs with a gap."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator

from sidecut.spectral.arpack import largest_eigenvectors
from sidecut.spectral.certificate import NEARLY, bound_complement, random_start_certificate
from sidecut.spectral.problem import LaplacianProblem
from sidecut.spectral.result import Certificate, Eigenpairs, FloatArray, RitzPairs, oriented

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
    pairs = problem.refine(_krylov_eigenvectors(problem, wanted + guards, rng, budget))
    certificate = certify_by_random_start(problem, pairs, wanted, rng)
    return Eigenpairs(pairs.values, oriented(pairs.vectors), pairs.residuals, "Lanczos (ARPACK)", certificate)


def certify_by_random_start(
    problem: LaplacianProblem,
    pairs: RitzPairs,
    wanted: int,
    rng: np.random.RandomState,
    budget: int = CERTIFICATE_BUDGET,
) -> Certificate:
    """Bound the eigenvalues of L̄ that may hide outside the null space and the pairs that were found.

    Parameters
    ----------
    problem : LaplacianProblem
        The problem.
    pairs : RitzPairs
        What was found, values ascending.
    wanted : int
        How many of the pairs the certificate must cover.
    rng : RandomState
        The random start.
    budget : int, default=600
        The number of products to spend.
    """
    last = float(pairs.values[wanted - 1])
    bound = bound_complement(
        problem.apply_affinity,
        problem.without(pairs.vectors),
        rng.standard_normal(problem.n),
        threshold=1.0 - last,
        acceptable=1.0 - NEARLY * last,
        max_steps=min(budget, problem.n),
        known=1.0,
        residual=float(np.linalg.norm(pairs.residuals)),
    )
    return random_start_certificate(bound, 1.0 - bound.upper, 1.0 - bound.lower, last)


def _krylov_eigenvectors(
    problem: LaplacianProblem, count: int, rng: np.random.RandomState, budget: int
) -> FloatArray:
    """Run ARPACK on Ā with its null-space eigenvalue 1 moved to -2, out of the way."""
    operator = LinearOperator(
        (problem.n, problem.n),
        matvec=lambda v: problem.apply_affinity(v) - 3.0 * (problem.null @ (problem.null.T @ v)),
        dtype=np.float64,
    )
    start = problem.project(rng.standard_normal(problem.n))
    return largest_eigenvectors(operator, count, start, rng, tolerance=TOLERANCE, max_products=budget)
