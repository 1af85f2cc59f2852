"""Lanczos iteration (ARPACK) on the normalised affinity: the fast way on graphs with a gap."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from scipy.sparse.linalg import ArpackError, ArpackNoConvergence, LinearOperator, eigsh

from sidecut.arrays import FloatArray
from sidecut.exceptions import SpectralError
from sidecut.spectral.certificate import NEARLY, bound_complement, random_start_certificate
from sidecut.spectral.problem import Certificate, Eigenpairs, LaplacianProblem, RitzPairs, orient

#: Residuals are driven below this; eigenvalues of L̄ lie in [0, 2].
TOLERANCE = 1e-7
#: The same for eigenvectors that are only a start: k-means does not see the difference.
ROUGH_TOLERANCE = 1e-3
#: Graphs of so many nodes do not fit into the cache of a processor, and a product with numbers of half the
#: length takes a third of the time. Single precision leaves residuals of 3e-6; the certificate counts them
#: in, and k-means does not see the difference.
SINGLE_NODES, SINGLE_TOLERANCE = 500_000, 1e-6
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

    The guards may lie in the bulk of the spectrum, where nothing converges; so they are left out at first,
    and asked for only where the gap behind the wanted values is too narrow for the certificate.

    Parameters
    ----------
    problem : LaplacianProblem
        The problem.
    wanted : int
        How many pairs the certificate must cover.
    guards : int
        How many further pairs may be computed to widen the gap that the certificate has to resolve.
    rng : RandomState
        Starting vectors.
    budget : int, default=1000
        The number of products after which to give up.

    Raises
    ------
    SpectralError
        If the iteration does not converge within the budget.
    """
    if problem.n >= SINGLE_NODES:
        found = _krylov_eigenvectors(
            problem, wanted, rng, budget, tolerance=SINGLE_TOLERANCE, precision=np.float32
        )
    else:
        found = _krylov_eigenvectors(problem, wanted, rng, budget)
    pairs = problem.refine(found)
    certificate = certify_by_random_start(problem, pairs, wanted, rng, nearly=1.0)
    if not certificate.complete:
        pairs = _guard(problem, pairs, wanted + guards, rng, budget)
        certificate = certify_by_random_start(problem, pairs, wanted, rng)
    return Eigenpairs(pairs.values, orient(pairs.vectors), pairs.residuals, "Lanczos (ARPACK)", certificate)


def solve_roughly(
    problem: LaplacianProblem, wanted: int, guards: int, rng: np.random.RandomState
) -> Eigenpairs:
    """Return eigenvectors for a descent to start from, not certified, in a third of the products.

    Single precision is enough for them, and most of the time goes into moving numbers.
    """
    found = _krylov_eigenvectors(
        problem, wanted, rng, PRODUCT_BUDGET, tolerance=ROUGH_TOLERANCE, precision=np.float32
    )
    pairs = problem.refine(found)
    detail = "Not certified: these eigenvectors are only where a descent starts."
    certificate = Certificate("none", 0.0, 1.0, False, detail)
    return Eigenpairs(
        pairs.values, orient(pairs.vectors), pairs.residuals, "Lanczos (ARPACK), rough", certificate
    )


def certify_by_random_start(
    problem: LaplacianProblem,
    pairs: RitzPairs,
    wanted: int,
    rng: np.random.RandomState,
    budget: int = CERTIFICATE_BUDGET,
    nearly: float = NEARLY,
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
    nearly : float, default=0.9
        Where the last wanted eigenvalue is out of reach, be content with this share of it.
    """
    last = float(pairs.values[wanted - 1])
    bound = bound_complement(
        problem.apply_affinity,
        problem.without(pairs.vectors),
        rng.standard_normal(problem.n),
        threshold=1.0 - last,
        acceptable=1.0 - nearly * last,
        max_steps=min(budget, problem.n),
        known=1.0,
        residual=float(np.linalg.norm(pairs.residuals)),
    )
    return random_start_certificate(bound, 1.0 - bound.upper, 1.0 - bound.lower, last)


def _guard(
    problem: LaplacianProblem, pairs: RitzPairs, count: int, rng: np.random.RandomState, budget: int
) -> RitzPairs:
    """Return `count` pairs, starting from those that were found; or these, if the others do not converge."""
    if count == pairs.values.size:
        return pairs
    try:
        return problem.refine(_krylov_eigenvectors(problem, count, rng, budget, pairs.vectors))
    except SpectralError:
        return pairs


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
        matvec=lambda v: problem.apply_affinity(v) - 3.0 * (null @ (null_rows @ v)),
        dtype=precision,
    )
    start = problem.project(rng.standard_normal(problem.n))
    if found is not None:
        start = start / np.linalg.norm(start) + found.sum(axis=1)
    start = start.astype(precision)
    return largest_eigenvectors(operator, count, start, rng, tolerance=tolerance, max_products=budget)


# One way to call ARPACK: reproducible, with its failures turned into SpectralError.

#: Since SciPy 1.17 one can give the generator from which ARPACK draws a vector when a Krylov space closes.
TAKES_RNG = "rng" in inspect.signature(eigsh).parameters


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
    """Return eigenvectors of the `count` largest eigenvalues of a symmetric operator, in no certain order.

    Parameters
    ----------
    operator : LinearOperator of order n
        The operator.
    count : int
        How many, less than n.
    start : array of shape (n,)
        The starting vector.
    rng : RandomState
        Seeds what ARPACK draws by itself.
    tolerance : float
        Relative accuracy of the eigenvalues.
    max_products : int, optional
        Give up after about this many products.
    width : int, optional
        How many vectors the iteration keeps, and products it takes before it looks for the first time; by
        default twice as many as are wanted, or twenty more.
    **pencil : LinearOperator
        `M` and `Minv` of a generalised problem.

    Raises
    ------
    SpectralError
        If the iteration does not converge.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse.linalg import aslinearoperator
    >>> from sidecut.spectral.lanczos import largest_eigenvectors
    >>> diagonal = aslinearoperator(np.diag(np.arange(30.0)))
    >>> vectors = largest_eigenvectors(diagonal, 1, np.ones(30), np.random.RandomState(0), tolerance=1e-10)
    >>> int(np.abs(vectors[:, 0]).argmax())
    29
    """
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
