"""The eigenvectors of normalised Laplacians: the problem, the choice of a solver, and the acceptance rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.utils import check_random_state

from sidecut.checks import FloatArray
from sidecut.exceptions import SpectralError, SpectralWarning, warn
from sidecut.graphs import Graph
from sidecut.graphs.graph import SplitWeights
from sidecut.running import limit_threads
from sidecut.spectral.certificate import (
    MIN_COVERAGE,
    NOT_CERTIFIED,
    PENDING,
    ROUNDING,
    Certificate,
    Eigenpairs,
    RitzPairs,
)
from sidecut.spectral.inverse import forecast, solve_factorized, solve_factorized_roughly, solve_iterated
from sidecut.spectral.lanczos import (
    PRODUCT_BUDGET,
    solve_by_blocks,
    solve_lanczos,
    solve_roughly,
    solve_sketch,
)

#: Up to this many nodes the whole spectrum is computed.
DENSE_NODES = 800
#: As a last resort the whole spectrum of a graph this large is computed, in a few minutes.
LAST_RESORT_NODES = 8_000
#: The most multiplications that a factorisation may take.
MAX_FACTOR_WORK = 1e11
#: A factorisation that costs no more than this many products with the graph is tried before Lanczos.
MAX_FACTOR_PRODUCTS = 2_500
#: Up to this many nodes a short run of Lanczos comes even before that: with a clear gap it is faster.
SMALL_NODES = 4_000

#: With more components than this, vectors do not stay on other machines between products.
MAX_REMOTE_NULL = 64

SOLVERS = ("auto", "dense", "lanczos", "factorized", "iterated")
ACCURACIES = ("certified", "pending", "rough", "sketch")

Result = TypeVar("Result")

Attempt = Callable[["LaplacianProblem", int, int, np.random.RandomState], Eigenpairs]


class LaplacianProblem:
    """Find the smallest eigenvalues of L̄ = I - Ā outside its null space."""

    # The null space is spanned by D^{1/2} 1_C, one vector per connected component C, and is known exactly.
    # Solvers work on its complement only, so no zero eigenvalue can be lost or invented.

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.affinity = graph.normalized
        self.null = self.affinity.null_vectors
        #: Its transpose, made once: a solver projects hundreds of times.
        self.null_rows = sp.csr_array(self.null.T)
        self.n, self.n_null = self.null.shape
        #: The null space where the graph lies, while work is done there.
        self.remote_null: Any = None

    def apply_laplacian(self, block: FloatArray) -> FloatArray:
        """Return L̄ @ block."""
        return block - self.affinity.apply(block)

    def project(self, block: FloatArray) -> FloatArray:
        """Remove the null space from a vector or a block."""
        if self.remote_null is not None:
            return block - self.remote_null @ (self.remote_null.T @ block)
        return block - self.null @ (self.null_rows @ block)

    def run(self, work: Callable[..., Result], *blocks: FloatArray) -> Result:
        """Return work(*blocks), done where the graph lies; the null space goes there as a dense block."""
        # With many components it is too wide for that, and everything is done here.
        if not self.graph.is_remote or self.n_null > MAX_REMOTE_NULL:
            return work(*blocks)

        def with_null(null: FloatArray, *blocks: FloatArray) -> Result:
            self.remote_null = null
            try:
                return work(*blocks)
            finally:
                self.remote_null = None

        return self.graph.run(with_null, self.null.toarray(), *blocks)

    def null_pairs(self, n_vectors: int) -> Eigenpairs:
        """Return the eigenpairs of eigenvalue 0: the components of largest volume, at most `n_vectors`."""
        component = self.graph.components
        members = component >= 0
        volumes = np.bincount(component[members], weights=self.graph.degrees[members])
        largest = np.argsort(-volumes, kind="stable")[:n_vectors]
        vectors = self.null[:, largest].toarray()
        residuals = np.linalg.norm(self.apply_laplacian(vectors), axis=0)
        detail = f"The graph has {self.n_null} connected components; each has eigenvalue 0, exactly."
        certificate = Certificate("components", 0.0, 0.0, True, detail)
        certificate = admit_tie(certificate, np.zeros(self.n_null), np.zeros(self.n_null), n_vectors)
        return Eigenpairs(np.zeros(largest.size), vectors, residuals, "connected components", certificate)

    @property
    def is_sparse(self) -> bool:
        """Whether L̄ exists as a sparse matrix."""
        return sp.issparse(self.graph.matrix)

    @cached_property
    def laplacian(self) -> sp.csc_array:
        """L̄ as a sparse matrix."""
        return sp.csc_array(sp.eye_array(self.n) - sp.csc_array(self.affinity.matrix))

    @cached_property
    def split(self) -> SplitWeights | None:
        """Ā as a sparse matrix plus one of low rank, where the graph is not sparse but known as such."""
        weights = None if self.is_sparse else self.graph.split
        if weights is None:
            return None
        scale = self.affinity.scale
        scaling = sp.diags_array(scale)
        sparse = sp.csr_array(scaling @ weights.sparse @ scaling)
        return SplitWeights(sparse, scale[:, None] * weights.factor, weights.core)

    @property
    def sparse_part(self) -> sp.csr_array | None:
        """The part of Ā that can be factorised: all of it, all but a matrix of low rank, or nothing."""
        if self.is_sparse:
            return self.affinity.matrix
        return None if self.split is None else self.split.sparse

    def refine(self, basis: FloatArray) -> RitzPairs:
        """Return the Ritz values, vectors and residual norms of L̄ on a basis (Rayleigh-Ritz)."""
        basis, _ = np.linalg.qr(self.project(basis))
        image = self.apply_laplacian(basis)
        small = basis.T @ image
        values, rotation = np.linalg.eigh(0.5 * (small + small.T))
        vectors = basis @ rotation
        residuals = np.linalg.norm(image @ rotation - vectors * values, axis=0)
        # L̄ has no negative eigenvalue; rounding alone could show one.
        return RitzPairs(np.maximum(values, 0.0), vectors, residuals)

    def without(self, vectors: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """Return the map that removes the null space and some orthonormal vectors from a vector."""

        def project(vector: FloatArray) -> FloatArray:
            vector = self.project(vector)
            return vector - vectors @ (vectors.T @ vector)

        return project


def admit_tie(
    certificate: Certificate, values: FloatArray, residuals: FloatArray, wanted: int
) -> Certificate:
    """Say so where the last eigenvalue that was asked for cannot be told from the one after it."""
    # Residuals r bound how far each lies from an eigenvalue, so that a gap of less than r₁ + r₂ separates no
    # vectors. A certificate that does not reach the last eigenvalue has said so already.
    if values.size <= wanted or certificate.certified_below < values[wanted - 1]:
        return certificate
    last, following = values[wanted - 1 : wanted + 1]
    resolution = max(ROUNDING, float(residuals[wanted - 1 : wanted + 1].sum()))
    if following - last > resolution:
        return certificate
    tie = (
        f" But the last, {last:.3g}, and the one after it differ by less than {resolution:.0e}: the vector "
        "of either has as good a claim."
    )
    return replace(certificate, detail=certificate.detail + tie)


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
    accuracy : {"certified", "pending", "rough", "sketch"}, default="certified"
        Where solver="auto" does not see the whole spectrum, be content with less and no certificate.
        "rough": residuals of a thousandth, for a descent to start from. "sketch": residuals of three tenths
        of the last eigenvalue, where many vectors are wanted and only the space that they span matters. A
        graph that is cheap to factorise is factorised for both. "pending": the vectors of "certified", and
        `certified` makes their certificate later.
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
        rest = _find_first_certified(problem, missing, solver, rng, accuracy)

    def admitted(certificate: Certificate) -> Certificate:
        return admit_tie(certificate, rest.values, rest.residuals, missing)

    prove = rest.prove
    return Eigenpairs(
        values=np.concatenate([null.values, rest.values[:missing]]),
        vectors=orient(np.hstack([null.vectors, rest.vectors[:, :missing]])),
        residuals=np.concatenate([null.residuals, rest.residuals[:missing]]),
        solver=rest.solver,
        certificate=admitted(rest.certificate),
        prove=None if prove is None else lambda: admitted(prove()),
    )


def certified(pairs: Eigenpairs) -> Eigenpairs | None:
    """Return eigenpairs with the certificate that was pending, or None if it does not cover them all."""
    if pairs.prove is None:
        return pairs
    with limit_threads(1, only_blas=True):
        certificate = pairs.prove()
    return replace(pairs, certificate=certificate, prove=None) if certificate.complete else None


def _find_first_certified(
    problem: LaplacianProblem, wanted: int, solver: str, rng: np.random.RandomState, accuracy: str
) -> Eigenpairs:
    """Try solvers in turn until one returns an answer that is certified, or need not be."""
    guards = min(2, problem.n - problem.n_null - wanted)
    answers, failures = [], []
    for attempt in _attempts(problem, wanted + guards, solver, accuracy):
        try:
            pairs = attempt(problem, wanted, guards, rng)
        except SpectralError as error:
            failures.append(str(error))
            continue
        if pairs.certificate in (NOT_CERTIFIED, PENDING) or _is_covered(pairs, wanted):
            return pairs
        answers.append(pairs)
    if not answers:
        raise SpectralError(
            " ".join(failures) + " Use solver='auto', or a better connected graph (more neighbours, a larger "
            "sigma)."
        )
    # Answers that are not known to miss an eigenvector come first, then the one that reaches furthest.
    best = max(
        answers,
        key=lambda pairs: (pairs.certificate.failure_probability < 1.0, pairs.certificate.certified_below),
    )
    warn(
        f"The eigenvectors could not be certified. {best.certificate} Solver: {best.solver}. The graph may "
        "be cut differently by a missed eigenvector; more neighbours or a larger sigma widen the gap.",
        SpectralWarning,
    )
    return best


def _attempts(problem: LaplacianProblem, count: int, solver: str, accuracy: str) -> Iterator[Attempt]:
    """Yield solvers in the order in which to try them."""
    named: dict[str, Attempt] = {
        "dense": solve_dense,
        "lanczos": solve_lanczos,
        "factorized": solve_factorized,
        "iterated": solve_iterated,
    }
    # An iteration that is to find every eigenvector has nothing to leave out.
    if count + problem.n_null >= problem.n:
        yield solve_dense
    elif solver != "auto":
        yield named[solver]
    elif problem.n <= DENSE_NODES or 3 * count >= problem.n:
        yield solve_dense
    else:
        yield from _ladder(problem, accuracy)


def _ladder(problem: LaplacianProblem, accuracy: str) -> Iterator[Attempt]:
    """Yield the solvers for a large graph, those that are expected to be fast and certain first."""
    if problem.graph.is_remote and problem.n_null <= MAX_REMOTE_NULL:
        yield solve_by_blocks
    is_pending, is_rough = accuracy == "pending", accuracy in ("rough", "sketch")
    is_cheap = _can_factorize(problem, MAX_FACTOR_PRODUCTS)
    if is_cheap:
        if is_rough:
            yield solve_factorized_roughly
        if problem.n <= SMALL_NODES:
            yield partial(solve_lanczos, budget=100, is_pending=is_pending)
        yield partial(solve_factorized, is_pending=is_pending)
    if accuracy == "sketch":
        yield solve_sketch
    if is_rough:
        yield solve_roughly
    yield partial(solve_lanczos, is_pending=is_pending)
    if not is_cheap and _can_factorize(problem):
        yield solve_factorized
    if problem.n <= LAST_RESORT_NODES:
        yield solve_dense
    yield solve_iterated
    yield partial(solve_lanczos, budget=10 * PRODUCT_BUDGET)


def _can_factorize(problem: LaplacianProblem, products: float = np.inf) -> bool:
    """Tell whether the graph can be factorised, in the time of some products with it."""
    part = problem.sparse_part
    if part is None:
        return False
    product = part.nnz + (0 if problem.split is None else 2 * problem.split.factor.size)
    most = min(MAX_FACTOR_WORK, products * product)
    cost = forecast(part, most)
    # Four gigabytes for the factors.
    return cost.memory <= 4e9 and cost.work <= most


def _is_covered(pairs: Eigenpairs, wanted: int) -> bool:
    """Accept a certificate that covers all wanted eigenvalues, or all but some that are nearly the last."""
    # Where the last eigenvalues all but coincide with those that follow, no certificate can separate them:
    # the graph itself does not single them out. The certificate says how far it reaches. An eigenvalue that
    # is known to be missed is never accepted.
    certificate = pairs.certificate
    if certificate.failure_probability >= 1.0:
        return False
    return certificate.complete or certificate.certified_below >= MIN_COVERAGE * pairs.values[wanted - 1]


def solve_dense(
    problem: LaplacianProblem, wanted: int, guards: int, rng: np.random.RandomState
) -> Eigenpairs:
    """Return the smallest eigenpairs of L̄ outside its null space, by LAPACK."""
    # The null space is moved to the far end of the spectrum first (L̄ + 3 N Nᵀ), so that the eigenvectors
    # that come back are orthogonal to it by construction.
    laplacian = problem.apply_laplacian(np.eye(problem.n))
    null = problem.null.toarray()
    laplacian += 3.0 * (null @ null.T)
    with limit_threads():
        _, basis = scipy.linalg.eigh(laplacian, subset_by_index=(0, wanted + guards - 1))
    pairs = problem.refine(basis)
    certificate = full_decomposition(problem.n_null + wanted, float(pairs.values[wanted - 1]))
    return Eigenpairs(*pairs, "dense (LAPACK)", certificate)


def full_decomposition(count: int, last: float) -> Certificate:
    """Return the certificate of a full decomposition, of which `count` eigenvalues up to `last` are kept."""
    detail = f"All {count} eigenvalues are certain: the whole spectrum was computed."
    return Certificate("full decomposition", last, 0.0, True, detail)


def orient(vectors: FloatArray) -> FloatArray:
    """Flip every column so that its entry of largest magnitude is positive."""
    if vectors.size == 0:
        return vectors
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[largest, np.arange(vectors.shape[1])])
    return vectors * np.where(signs == 0, 1.0, signs)
