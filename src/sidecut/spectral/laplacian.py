"""The front door for normalised Laplacians: choose a solver, certify its answer, fall back, never guess."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from sklearn.utils import check_random_state

from sidecut.exceptions import SpectralError, SpectralWarning, warn
from sidecut.graphs import Graph
from sidecut.spectral.certificate import NEARLY
from sidecut.spectral.factorization import FactorForecast, forecast
from sidecut.spectral.inverse import solve_factorized, solve_factorized_roughly, solve_iterated
from sidecut.spectral.lanczos import PRODUCT_BUDGET, solve_lanczos, solve_roughly, solve_sketch
from sidecut.spectral.problem import Eigenpairs, LaplacianProblem, solve_dense
from sidecut.threads import limit_threads

#: Up to this many nodes the whole spectrum is computed.
DENSE_NODES = 800
#: As a last resort the whole spectrum of a graph this large is computed, in a few minutes.
LAST_RESORT_NODES = 8_000
#: A factorisation may take this many bytes and this many multiplications.
FACTOR_MEMORY = 4e9
FACTOR_WORK = 1e11
#: Graphs of up to so many nodes are first given so many products: where clusters stand out that is enough,
#: and takes a fraction of the time of a factorisation.
SMALL_NODES, SHORT_BUDGET = 4_000, 100
#: A factorisation that costs no more than this many products with the graph is tried first.
CHEAP_IN_PRODUCTS = 2_500

SOLVERS = ("auto", "dense", "lanczos", "factorized", "iterated")
ACCURACIES = ("certified", "rough", "sketch")

Attempt = Callable[[LaplacianProblem, int, int, np.random.RandomState], Eigenpairs]
#: Solvers for those who are content with less.
UNCERTIFIED: tuple[Attempt, ...] = (solve_factorized_roughly, solve_roughly, solve_sketch)


def laplacian_eigenpairs(
    graph: Graph,
    n_vectors: int,
    *,
    solver: str = "auto",
    accuracy: str = "certified",
    random_state: int | np.random.RandomState | None = None,
) -> Eigenpairs:
    """Return the eigenvectors of the smallest eigenvalues of a normalised Laplacian, certified.

    Connected components are deflated exactly: each gives an eigenvalue 0 with a known eigenvector. For the
    others a solver is chosen by what the graph looks like, and its answer is checked for missed eigenvectors;
    if the check fails, the next solver is tried.

    Parameters
    ----------
    graph : Graph
        The graph, in memory or not.
    n_vectors : int
        How many eigenvectors, those of eigenvalue 0 included.
    solver : {"auto", "dense", "lanczos", "factorized", "iterated"}, default="auto"
        Use one solver only: LAPACK on the full matrix; Lanczos on the affinity; Lanczos on the inverse by
        sparse factorisation; Lanczos on the inverse by conjugate gradients (with multigrid if sparse).
    accuracy : {"certified", "rough", "sketch"}, default="certified"
        Where solver="auto" does not see the whole spectrum, be content with less and no certificate.
        "rough": residuals of a thousandth, for a descent to start from. "sketch": residuals of three tenths
        of the last eigenvalue, where many vectors are wanted and only the space that they span matters. A
        graph that is cheap to factorise is factorised for both.
    random_state : int, RandomState or None
        Starting vectors; an int makes the result reproducible.

    Returns
    -------
    Eigenpairs
        Values in ascending order, unit vectors, residuals, the solver and the certificate.

    Warns
    -----
    SpectralWarning
        If no solver's answer could be certified; the best one is returned.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.spectral import laplacian_eigenpairs
    >>> triangle = as_graph(np.ones((3, 3)) - np.eye(3))
    >>> pairs = laplacian_eigenpairs(triangle, 3)
    >>> pairs.values.round(6) + 0.0
    array([0. , 1.5, 1.5])
    >>> pairs.certificate.is_proof
    True
    """
    if solver not in SOLVERS:
        raise ValueError(f"solver={solver!r}: choose one of {', '.join(SOLVERS)}.")
    if accuracy not in ACCURACIES:
        raise ValueError(f"accuracy={accuracy!r}: choose one of {', '.join(ACCURACIES)}.")
    problem = LaplacianProblem(graph)
    if not 1 <= n_vectors <= graph.n_nodes:
        raise ValueError(
            f"n_vectors={n_vectors} eigenvectors of a graph with {graph.n_nodes} nodes do not exist."
        )
    null = problem.null_pairs(n_vectors)
    missing = n_vectors - null.values.size
    if missing == 0:
        return null
    rng = check_random_state(random_state)
    # Sparse products do not use BLAS threads, and for the thin blocks beside them the threads only get in
    # each other's way: on a busy machine two were seen to be ten times slower than one.
    with limit_threads(1 if problem.is_sparse else None, only_blas=True):
        return _join(null, _find_first_certified(problem, missing, solver, rng, accuracy))


def _find_first_certified(
    problem: LaplacianProblem, wanted: int, solver: str, rng: np.random.RandomState, accuracy: str
) -> Eigenpairs:
    """Try solvers in turn until one returns an answer that is certified, or need not be."""
    guards = min(2, problem.n - problem.n_null - wanted)
    best: Eigenpairs | None = None
    failures = []
    for attempt in _attempts(problem, wanted + guards, solver, accuracy):
        try:
            pairs = attempt(problem, wanted, guards, rng)
        except SpectralError as error:
            failures.append(str(error))
            continue
        if attempt in UNCERTIFIED or _is_covered(pairs, wanted):
            return pairs.first(wanted)
        best = _better(best, pairs)
    if best is None:
        raise SpectralError(
            " ".join(failures) + " Use solver='auto', or a better connected graph (more neighbours, a larger "
            "sigma)."
        )
    warn(
        f"The eigenvectors could not be certified. {best.certificate} Solver: {best.solver}. The graph may "
        "be cut differently by a missed eigenvector; more neighbours or a larger sigma widen the gap.",
        SpectralWarning,
    )
    return best.first(wanted)


def _attempts(problem: LaplacianProblem, count: int, solver: str, accuracy: str) -> Iterator[Attempt]:
    """Yield solvers in the order in which to try them."""
    named: dict[str, Attempt] = {
        "dense": _dense,
        "lanczos": solve_lanczos,
        "factorized": solve_factorized,
        "iterated": solve_iterated,
    }
    # An iteration that is to find every eigenvector has nothing to leave out.
    if count + problem.n_null >= problem.n:
        solver = "dense"
    if solver != "auto":
        yield named[solver]
        return
    if problem.n <= DENSE_NODES or 3 * count >= problem.n:
        yield _dense
        return
    part = problem.sparse_part
    cost = None if part is None else forecast(part)
    if _is_cheap(cost, problem):
        yield from _attempts_by_factors(problem, accuracy)
    if accuracy == "sketch":
        yield solve_sketch
    if accuracy != "certified":
        yield solve_roughly
    yield solve_lanczos
    if cost is not None and not _is_cheap(cost, problem) and _is_feasible(cost):
        yield solve_factorized
    if problem.n <= LAST_RESORT_NODES:
        yield _dense
    yield solve_iterated
    yield _patient_lanczos


def _attempts_by_factors(problem: LaplacianProblem, accuracy: str) -> Iterator[Attempt]:
    if accuracy != "certified":
        yield solve_factorized_roughly
    if problem.n <= SMALL_NODES:
        yield _short_lanczos
    yield solve_factorized


def _dense(problem: LaplacianProblem, wanted: int, guards: int, rng: np.random.RandomState) -> Eigenpairs:
    return solve_dense(problem, wanted + guards)


def _short_lanczos(
    problem: LaplacianProblem, wanted: int, guards: int, rng: np.random.RandomState
) -> Eigenpairs:
    return solve_lanczos(problem, wanted, guards, rng, budget=SHORT_BUDGET)


def _patient_lanczos(
    problem: LaplacianProblem, wanted: int, guards: int, rng: np.random.RandomState
) -> Eigenpairs:
    return solve_lanczos(problem, wanted, guards, rng, budget=20 * PRODUCT_BUDGET)


def _is_cheap(cost: FactorForecast | None, problem: LaplacianProblem) -> bool:
    if cost is None or not _is_feasible(cost):
        return False
    return cost.work <= CHEAP_IN_PRODUCTS * problem.product_cost


def _is_feasible(cost: FactorForecast) -> bool:
    return cost.memory <= FACTOR_MEMORY and cost.work <= FACTOR_WORK


def _is_covered(pairs: Eigenpairs, wanted: int) -> bool:
    """Accept a certificate that covers all wanted eigenvalues, or all but some that are nearly the last.

    Where the last eigenvalues all but coincide with those that follow, no certificate can tell them apart,
    and it would mean little: the graph itself does not single them out. The certificate says how far
    it reaches. An eigenvalue that is known to be missed is never accepted.
    """
    certificate = pairs.certificate
    if certificate.failure_probability >= 1.0:
        return False
    return certificate.complete or certificate.certified_below >= NEARLY * pairs.values[wanted - 1]


def _better(one: Eigenpairs | None, other: Eigenpairs) -> Eigenpairs:
    """Return the answer whose certificate reaches further."""
    return other if one is None or _reach(other) > _reach(one) else one


def _reach(pairs: Eigenpairs) -> tuple[bool, float]:
    """Return what answers without a full certificate are ranked by: none known to be missed comes first."""
    return pairs.certificate.failure_probability < 1.0, pairs.certificate.certified_below


def _join(null: Eigenpairs, rest: Eigenpairs) -> Eigenpairs:
    return Eigenpairs(
        values=np.concatenate([null.values, rest.values]),
        vectors=np.hstack([null.vectors, rest.vectors]),
        residuals=np.concatenate([null.residuals, rest.residuals]),
        solver=rest.solver,
        certificate=rest.certificate,
    )
