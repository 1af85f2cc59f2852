"""Lanczos iteration (ARPACK) on the normalised affinity: the fast way on graphs with a gap."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh

from sidecut.checks import FloatArray
from sidecut.exceptions import SpectralError
from sidecut.spectral.certificate import (
    MIN_COVERAGE,
    NOT_CERTIFIED,
    PENDING,
    Certificate,
    ComplementBound,
    Eigenpairs,
    RitzPairs,
    bound_complement,
    random_start_certificate,
)

if TYPE_CHECKING:
    from sidecut.spectral.laplacian import LaplacianProblem

Projection = Callable[[FloatArray], FloatArray]

#: The degree of the Chebyshev filter.
DEGREE = 10
#: The largest residuals of a sketch, as a share of the last eigenvalue. The first vectors are far better; the
#: last ones mix with the vectors that follow, whose eigenvalues are close.
MAX_RESIDUAL = 0.3
#: Relative accuracy of ARPACK; eigenvalues of L̄ lie in [0, 2].
TOLERANCE = 1e-7
#: From this many nodes on a product in single precision takes a third of the time, since the graph does not
#: fit into the cache. It leaves residuals of 3e-6, which the certificate takes into account.
SINGLE_NODES = 500_000
#: Residuals of blocks: that of a product in single precision.
BLOCK_TOLERANCE = 3e-6
#: The most Chebyshev filters of a block.
MAX_ROUNDS = 60
#: Products with the graph that may be spent before another solver is tried.
PRODUCT_BUDGET = 2_000
#: Since SciPy 1.17 one can give the generator from which ARPACK draws a vector when a Krylov space closes.
TAKES_RNG = "rng" in inspect.signature(eigsh).parameters


def solve_sketch(
    problem: LaplacianProblem, wanted: int, guards: int, rng: np.random.RandomState
) -> Eigenpairs:
    """Return vectors that span nearly the space of the smallest eigenvalues of L̄, not certified."""
    # A random block is multiplied by a Chebyshev polynomial of Ā that is small on the unwanted part of the
    # spectrum and grows as fast as any polynomial of its degree outside; then Rayleigh-Ritz (Zhou, Saad,
    # Tiago & Chelikowsky, 2006). Products with a whole block, and no vector made orthogonal to all before it:
    # that is less than half of the time of Lanczos where thirty vectors are wanted.
    block = rng.standard_normal((problem.n, wanted + max(4, wanted // 4)))
    # The first filter damps [-1, 1/2]; the next ones all below the Ritz values of the block.
    edge, n_rounds = 0.5, 4
    for _ in range(n_rounds):
        pairs = problem.refine(_filtered(problem, problem.project(block), edge))
        if pairs.residuals[:wanted].max() <= MAX_RESIDUAL * pairs.values[wanted - 1]:
            return Eigenpairs(*pairs, "Chebyshev filter, sketch", NOT_CERTIFIED)
        block, edge = pairs.vectors, max(0.0, 1.0 - float(pairs.values[-1]))
    raise SpectralError(f"A Chebyshev filter of degree {DEGREE} did not converge in {n_rounds} rounds.")


def _filtered(problem: LaplacianProblem, block: FloatArray, edge: float) -> FloatArray:
    """Return T_d((Ā - c) / e) @ block, with [-1, edge] = [c - e, c + e], by the three-term recurrence."""
    # In single precision: rounding adds to a column a ten-millionth of its largest entry, which is less than
    # the filter lets through.
    center, half = 0.5 * (edge - 1.0), 0.5 * (edge + 1.0)
    before: Any = block.astype(np.float32)
    now: Any = (problem.affinity.apply(before) - center * before) / half
    for _ in range(DEGREE - 1):
        before, now = now, (2.0 / half) * (problem.affinity.apply(now) - center * now) - before
    return now.astype(np.float64)


def solve_by_blocks(
    problem: LaplacianProblem, wanted: int, guards: int, rng: np.random.RandomState
) -> Eigenpairs:
    """Return the smallest eigenpairs of L̄ by Chebyshev filters of a whole block, certified."""
    # For graphs on other machines: a message costs as much as thousands of numbers, so that all vectors are
    # multiplied at once, and only products of pairs of them come back.
    width = min(wanted + max(4, wanted // 2), problem.n - problem.n_null)
    goal = BLOCK_TOLERANCE

    def iterate(block: FloatArray) -> list[FloatArray]:
        block = orthonormal(problem.project(block))
        edge = 0.5
        for _ in range(MAX_ROUNDS):
            block = orthonormal(problem.project(_filtered(problem, block, edge)))
            image = problem.apply_laplacian(block)
            small = block.T @ image
            values, rotation = np.linalg.eigh(0.5 * (small + small.T))
            block, image = block @ rotation, image @ rotation
            residuals = np.linalg.norm(image - block * values, axis=0)
            if residuals[:wanted].max() <= goal:
                return [np.maximum(values, 0.0), block, residuals]
            edge = max(0.0, 1.0 - float(values[-1]))
        raise SpectralError(f"Chebyshev filters did not converge in {MAX_ROUNDS} rounds.")

    pairs = RitzPairs(*problem.run(iterate, rng.standard_normal((problem.n, width))))
    pairs = RitzPairs(*(values[..., : wanted + guards] for values in pairs))
    return Eigenpairs(*pairs, "Chebyshev filters", certify_by_random_start(problem, pairs, wanted, rng))


def orthonormal(block: FloatArray) -> FloatArray:
    """Return an orthonormal basis of the columns, by Cholesky's factor of their products, twice."""
    for _ in range(2):
        lengths = np.linalg.norm(block, axis=0)
        block = block * (1.0 / np.where(lengths > 0, lengths, 1.0))
        products = block.T @ block
        values, vectors = np.linalg.eigh(0.5 * (products + products.T))
        # Directions that are in the others but for rounding are left out.
        kept = values > 1e-14 * values[-1]
        block = block @ (vectors[:, kept] / np.sqrt(values[kept]))
    return block


def solve_lanczos(
    problem: LaplacianProblem,
    wanted: int,
    guards: int,
    rng: np.random.RandomState,
    budget: int = PRODUCT_BUDGET,
    is_pending: bool = False,
) -> Eigenpairs:
    """Return the smallest eigenpairs of L̄ outside its null space, certified by a random start."""
    # The guards may lie in the bulk of the spectrum, where nothing converges; so they are left out at first,
    # and asked for only where the gap behind the wanted values is too narrow for the certificate.
    is_large = problem.n >= SINGLE_NODES
    tolerance, precision = (1e-6, np.float32) if is_large else (TOLERANCE, np.float64)
    found = _krylov_eigenvectors(problem, wanted, rng, budget, tolerance=tolerance, precision=precision)
    pairs = problem.refine(found)
    if is_pending:
        later = deepcopy(rng)
        # What follows draws the same numbers, whether the certificate is made now or later.
        rng.standard_normal(problem.n)
        prove = partial(certify_by_random_start, problem, pairs, wanted, later, coverage=1.0)
        return Eigenpairs(*pairs, "Lanczos (ARPACK)", PENDING, prove)

    def certify(found: RitzPairs) -> Certificate:
        return certify_by_random_start(problem, found, wanted, rng, coverage=1.0)

    def find(clear: Projection, count: int) -> FloatArray:
        """Run ARPACK outside what was found, where Ā is moved to 0, the middle of its spectrum."""
        operator = LinearOperator(
            (problem.n, problem.n), matvec=lambda v: clear(problem.affinity.apply(clear(v))), dtype=np.float64
        )
        start = clear(rng.standard_normal(problem.n))
        return largest_eigenvectors(operator, count, start, rng, tolerance=tolerance, max_products=budget)

    pairs, certificate = complete(problem, pairs, certify, find, 1)
    if not certificate.complete:
        if guards:
            with suppress(SpectralError):
                more = _krylov_eigenvectors(problem, wanted + guards, rng, budget, pairs.vectors)
                pairs = problem.refine(more)
        certificate = certify_by_random_start(problem, pairs, wanted, rng)
    return Eigenpairs(*pairs, "Lanczos (ARPACK)", certificate)


def complete(
    problem: LaplacianProblem,
    pairs: RitzPairs,
    certify: Callable[[RitzPairs], Certificate],
    find: Callable[[Projection, int], FloatArray],
    most: int,
) -> tuple[RitzPairs, Certificate]:
    """Certify; where eigenvectors were missed, look for them in the complement of those found."""
    # A Krylov space holds one vector of each eigenspace, and rounding has to bring the others in; without
    # those that are there already, they come first. Up to `most` are searched for, up to three times.
    certificate = certify(pairs)
    for _ in range(3):
        more = min(most, problem.n - problem.n_null - pairs.values.size - 1)
        if certificate.failure_probability < 1.0 or more < 1:
            break
        found = find(problem.without(pairs.vectors), more)
        pairs = problem.refine(np.hstack([pairs.vectors, found]))
        certificate = certify(pairs)
    return pairs, certificate


def solve_roughly(
    problem: LaplacianProblem, wanted: int, guards: int, rng: np.random.RandomState
) -> Eigenpairs:
    """Return eigenvectors for a descent to start from, not certified, in a third of the products."""
    # Single precision is enough for them, and most of the time goes into moving numbers.
    found = _krylov_eigenvectors(problem, wanted, rng, PRODUCT_BUDGET, tolerance=1e-3, precision=np.float32)
    return Eigenpairs(*problem.refine(found), "Lanczos (ARPACK), rough", NOT_CERTIFIED)


def certify_by_random_start(
    problem: LaplacianProblem,
    pairs: RitzPairs,
    wanted: int,
    rng: np.random.RandomState,
    budget: int = 600,
    coverage: float = MIN_COVERAGE,
) -> Certificate:
    """Bound the eigenvalues of L̄ that may hide outside the null space and the pairs that were found."""
    last = float(pairs.values[wanted - 1])

    def bounded(start: FloatArray, vectors: FloatArray) -> ComplementBound:
        return bound_complement(
            problem.affinity.apply,
            problem.without(vectors),
            start,
            threshold=1.0 - last,
            acceptable=1.0 - coverage * last,
            max_steps=min(budget, problem.n),
            known=1.0,
            residual=float(np.linalg.norm(pairs.residuals)),
        )

    bound = problem.run(bounded, rng.standard_normal(problem.n), pairs.vectors)
    return random_start_certificate(bound, 1.0 - bound.upper, 1.0 - bound.lower, last)


def _krylov_eigenvectors(
    problem: LaplacianProblem,
    count: int,
    rng: np.random.RandomState,
    budget: int,
    found: FloatArray | None = None,
    tolerance: float = TOLERANCE,
    precision: type[np.floating] = np.float64,
) -> FloatArray:
    """Run ARPACK on Ā with its null-space eigenvalue 1 moved to -2, out of the way."""
    null, null_rows = problem.null.astype(precision), problem.null_rows.astype(precision)
    operator = LinearOperator(
        (problem.n, problem.n),
        matvec=lambda v: problem.affinity.apply(v) - 3.0 * (null @ (null_rows @ v)),
        dtype=precision,
    )
    start = problem.project(rng.standard_normal(problem.n))
    if found is not None:
        start = start / np.linalg.norm(start) + found.sum(axis=1)
    start = start.astype(precision)
    return largest_eigenvectors(operator, count, start, rng, tolerance=tolerance, max_products=budget)


def largest_eigenvectors(
    operator: LinearOperator,
    count: int,
    start: FloatArray,
    rng: np.random.RandomState,
    *,
    tolerance: float,
    max_products: int | None = None,
    width: int | None = None,
    **pencil: LinearOperator,
) -> FloatArray:
    """Return eigenvectors of the `count` largest eigenvalues of a symmetric operator, in any order."""
    n = operator.shape[0]
    width = min(n, max(2 * count + 1, count + 20) if width is None else width)
    options: dict[str, Any] = dict(pencil)
    if max_products is not None:
        options["maxiter"] = max(1, max_products // max(width - count, 1))
    if TAKES_RNG:
        options["rng"] = np.random.default_rng(rng.randint(2**31))
    try:
        _, vectors = eigsh(operator, count, which="LA", v0=start, ncv=width, tol=tolerance, **options)
    except ArpackNoConvergence as error:
        within = "" if max_products is None else f" within {max_products} products"
        raise SpectralError(f"Lanczos iteration did not converge{within}.") from error
    except ArpackError as error:
        raise SpectralError(f"Lanczos iteration broke down ({str(error).rstrip('.')}).") from error
    return np.asarray(vectors)
