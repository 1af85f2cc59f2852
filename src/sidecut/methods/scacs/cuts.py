"""The feasible cuts of SCACS: steps 4 to 10 of Algorithm 1 (Li, Xia, Shan & Liu, 2015)."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintError, ConstraintWarning, SpectralError, warn
from sidecut.graphs.coded_rows import RowCodes
from sidecut.labelling import kmeans_labels
from sidecut.methods.csp.bound import LEAST_SHARE, Satisfiability, choose_beta
from sidecut.methods.csp.cuts import FeasibleCuts
from sidecut.methods.csp.embedding import complete_cuts
from sidecut.methods.csp.pencil import symmetric
from sidecut.methods.scacs.base import embed_codes
from sidecut.methods.scacs.problem import LandmarkBasis, landmark_basis, normalize_gram
from sidecut.spectral.problem import orient

if TYPE_CHECKING:
    from sidecut.methods.scacs.scacs import SCACS

from dataclasses import dataclass, replace

import scipy.sparse as sp

from sidecut.graphs import LandmarkSums, constraint_gram
from sidecut.methods.scacs.tridiagonal import TridiagonalBasis, tridiagonal_basis

#: Relative to the largest, an eigenvalue of the pencil nearer to zero than this is zero.
ROUNDING = 1e-13

Rule = float | str

#: Beliefs have a low rank if it is at most p over this.
LOW_RANK = 8

Basis = LandmarkBasis | TridiagonalBasis


def landmark_cuts(
    problem: ConstrainedProblem,
    n_clusters: int,
    *,
    beta0: Rule = "usual",
    beta: float | None = None,
    orthogonal: bool = False,
) -> FeasibleCuts:
    """Return all feasible cuts of eq. 16, those of least cost first (steps 5 to 10).

    Parameters
    ----------
    problem : ConstrainedProblem
        Problem 2.
    n_clusters : int
        k.
    beta0 : number, "usual" or "known_share", default="usual"
        β = β₀ γ_{k-1}, see `SCACS`.
    beta : float, optional
        β itself.
    orthogonal : bool, default=False
        See `SCACS`.

    Returns
    -------
    FeasibleCuts
        Its `vectors` are u, uᵀŜu = 1; satisfactions are uᵀQ̂u, to be compared with β.

    Raises
    ------
    ConstraintError
        If no cut is feasible.
    SpectralError
        If β makes eq. 16 singular. Where an iteration fails, the eigenvectors of Ŝ decide.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from sidecut import Constraints
    >>> from sidecut.graphs import landmark_sums
    >>> from sidecut.methods.scacs.cuts import pose_problem
    >>> from sidecut.methods.scacs.cuts import landmark_cuts
    >>> codes = sp.csr_array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    >>> sums = landmark_sums(codes)
    >>> known = Constraints.from_labels([0, 1])
    >>> cuts = landmark_cuts(pose_problem(sums, codes[[0, 2]], known), n_clusters=2)
    >>> cuts.n_feasible, cuts.costs.round(3)
    (1, array([0.333]))
    """
    try:
        return _feasible_cuts(problem, n_clusters, beta0, beta, orthogonal)
    except SpectralError:
        if isinstance(problem.basis, LandmarkBasis):
            raise
        return _feasible_cuts(problem.in_eigenvectors(), n_clusters, beta0, beta, orthogonal)


def _feasible_cuts(
    problem: ConstrainedProblem, n_clusters: int, beta0: Rule, beta: float | None, orthogonal: bool
) -> FeasibleCuts:
    known = landmark_satisfiability(problem)
    threshold = landmark_beta(known, problem, n_clusters, beta0, beta)
    _warn_if_idle(problem.gamma, threshold)
    if orthogonal:
        problem = problem.without_trivial()
        count = int(np.count_nonzero(problem.gamma > threshold))
    else:
        count = known.n_feasible(threshold)
    if count == 0:
        raise ConstraintError(_nothing_feasible(known, threshold, problem.n_samples))
    return _solve(problem, threshold, count)


def landmark_satisfiability(problem: ConstrainedProblem) -> Satisfiability:
    """Return which eigenvalues γ of Q̂x = γŜx are positive, and how cuts are counted (step 5).

    In terms of `Satisfiability` the volume is one, since here vᵀv = 1 and β is compared with γ itself.
    """
    gamma = problem.gamma
    positive = gamma[gamma > ROUNDING * np.abs(gamma).max(initial=0.0)]
    return Satisfiability(positive, problem.total, 1.0, problem.known.n_entries, problem.n_samples)


def landmark_beta(
    known: Satisfiability, problem: ConstrainedProblem, n_clusters: int, beta0: Rule, beta: float | None
) -> float:
    """Return β = β₀ γ_{k-1}, with γ_k where the constant vector takes one of the feasible directions.

    β₀ is a number, 0.1 in section 5.3 of the paper, "known_share", 0.5 + 0.4 c / n of section 5.2, or
    "usual", c / (c + p) with c = √nnz(Q), at least 0.1.
    """
    if beta is not None:
        return float(beta)
    if known.values.size == 0:
        raise ConstraintError(
            "No cut can satisfy these constraints: Q̂ has no positive eigenvalue γ. Check the signs of the "
            "beliefs, and that the constrained points differ in their landmarks."
        )
    return choose_beta(("fraction", _share(beta0, problem)), known, n_clusters)


def _share(beta0: Rule, problem: ConstrainedProblem) -> float:
    """Return β₀ as a number."""
    if beta0 == "known_share":
        return 0.5 + 0.4 * problem.known.n_known / problem.n_samples
    if beta0 == "usual":
        # A partition that satisfies everything reaches about c/p of γ, since cuts are linear in p codes: the
        # more labels there are for a landmark, the more can be asked for.
        n_labels = float(np.sqrt(problem.known.n_entries))
        return max(n_labels / (n_labels + problem.known.factor.shape[0]), LEAST_SHARE)
    return float(beta0)


def _solve(problem: ConstrainedProblem, beta: float, count: int) -> FeasibleCuts:
    """Solve eq. 16 for its positive eigenvalues.

    The null space N of A is eliminated as in CSP: with B = Q - βI, feasible y are B-orthogonal to the
    constant vector; those inside N cost nothing, and the others solve B' w = μ L w with the Schur complement
    B' of N, completed along N. With Q = W G Wᵀ that is a matter of G alone.
    """
    basis, form, level = problem.basis, problem.known.form, beta
    n_cheap = basis.n_cheap
    inside, outside = problem.factor[:n_cheap], problem.factor[n_cheap:]
    inner = symmetric(inside @ form @ inside.T) - level * np.eye(n_cheap)
    _check_regular(inner, beta, problem.total)
    free = _zero_cost(inner, basis.trivial)[:, :count]
    n_free = free.shape[1]
    y = np.zeros((problem.factor.shape[0], count))
    y[:n_cheap, :n_free] = free
    if count > n_free:
        coupling = np.linalg.solve(inner, inside @ form)
        schur = symmetric(form - (inside @ form).T @ coupling)
        _, w = basis.positive_pairs(outside, schur, level, count - n_free)
        y[n_cheap:, n_free:] = w
        y[:n_cheap, n_free:] = -coupling @ (outside.T @ w)
    return _describe(problem, y / np.linalg.norm(y, axis=0), beta)


def _describe(problem: ConstrainedProblem, y: FloatArray, beta: float) -> FeasibleCuts:
    price = problem.basis.laplacian(y)
    image = problem.factor @ (problem.known.form @ (problem.factor.T @ y))
    costs, satisfaction = np.einsum("ij,ij->j", y, price), np.einsum("ij,ij->j", y, image)
    # Rayleigh's quotient, exactly zero for cuts along components.
    lam = costs / (satisfaction - beta)
    surplus = lam * (image - beta * y)
    residuals = np.linalg.norm(price - surplus, axis=0) / (np.linalg.norm(surplus, axis=0) + 1.0)
    # Cuts along components all cost nothing; the one that satisfies most goes first.
    order = np.lexsort((-satisfaction, costs))
    return FeasibleCuts(
        lam[order],
        costs[order],
        satisfaction[order],
        orient(problem.basis.combine(y[:, order])),
        lam.size,
        beta,
        residuals[order],
        problem.basis.solver,
    )


def _zero_cost(inner: FloatArray, trivial: FloatArray) -> FloatArray:
    """Return the feasible cuts along components: B-orthogonal to the constant vector, with yᵀBy > 0."""
    if inner.shape[0] == 0:
        return np.empty((0, 0))
    space = np.eye(inner.shape[0])
    if trivial.size:
        space = scipy.linalg.null_space((inner[:, : trivial.size] @ trivial)[None, :])
    values, rotation = np.linalg.eigh(space.T @ inner @ space)
    feasible = np.flatnonzero(values > 0)[::-1]
    return space @ rotation[:, feasible]


def _check_regular(inner: FloatArray, beta: float, total: float) -> None:
    form = np.abs(np.linalg.eigvalsh(inner)) if inner.size else np.ones(1)
    if form.min() <= 1e-12 * max(form.max(), beta):
        raise SpectralError(
            f"beta={beta:.6g} makes eq. 16 singular: a cut that costs nothing satisfies the constraints to "
            f"exactly beta (the constant one to 1ᵀQ1/n={total:.6g}). Choose a slightly different beta."
        )


def _warn_if_idle(gamma: FloatArray, beta: float) -> None:
    n_above = int(np.count_nonzero(gamma > beta))
    if 2 * n_above > gamma.size:
        warn(
            f"beta={beta:.4g} leaves {n_above} of {gamma.size} directions feasible, so that the constraints "
            "have little say: a larger beta, more landmarks or fewer constraints on each give them more.",
            ConstraintWarning,
        )


def _nothing_feasible(known: Satisfiability, beta: float, n_samples: int) -> str:
    allowed = known.range_leaving(1)
    way_out = "No positive beta leaves any."
    if allowed is not None:
        way_out = f"Any beta between {allowed[0]:.6g} and {allowed[1]:.6g} leaves at least one."
    return (
        f"beta={beta:.6g} leaves no feasible cut: {known.n_above(beta)} eigenvalues γ of the constraints "
        f"exceed it, and the constant cut, with 1ᵀQ1/n={known.total:.4g} for n={n_samples}, takes "
        f"{int(known.total > beta)} of them. {way_out}"
    )


# The constrained cut of coded points, for any part of what is known, beside the cut of their graph alone.


#: Answers are compared on so many rows, and on all that something is known about.
SOME_ROWS = 5_000


class LandmarkTrial:
    """What SCACS compares: its own cut, told more or less, and that of the graph.

    Parameters
    ----------
    model : SCACS
        The settings.
    codes : RowCodes
        The coded points.
    constraints : Constraints
        All that is known.
    """

    def __init__(self, model: SCACS, codes: RowCodes, constraints: Constraints) -> None:
        self.model, self.codes = model, codes
        self.n_rows = constraints.n_samples
        some = np.random.RandomState(0).permutation(self.n_rows)[:SOME_ROWS]
        self.points: IntArray = np.union1d(some, constraints.constrained_points)
        self.some_codes = codes.take(self.points)
        self.roots = np.sqrt(codes.sums.degrees)[:, None]

    @cached_property
    def _basis(self) -> LandmarkBasis:
        return landmark_basis(self.codes.sums, self.model.n_clusters)

    @property
    def graph_vectors(self) -> FloatArray:
        """The unconstrained vectors u."""
        return self._basis.vectors[:, : self.model.n_clusters]

    @cached_property
    def graph_labels(self) -> IntArray:
        """Labels by the unconstrained vectors."""
        return self.label(self.graph_vectors, np.ones(self.graph_vectors.shape[1]))

    def cut_graph(self) -> IntArray:
        """Return labels by the unconstrained vectors, found once."""
        return self.graph_labels

    def complete(self, cuts: FeasibleCuts) -> tuple[FloatArray, FloatArray]:
        """Return the vectors u of the best cuts, completed by unconstrained ones, and their weights."""
        needed = self.model.n_clusters - 1
        best = cuts.first(needed)
        if best.costs.size >= needed:
            return best.vectors, self.model.weigh(best.costs)
        others = self._basis.without_trivial().vectors[:, :needed]
        both = np.hstack([others, best.vectors])
        # vᵀv = uᵀŜu and vᵀLv = uᵀ(Ŝ - Ŝ²)u for v = Ẑᵀu (eq. 7).
        image = normalize_gram(self.codes.sums) @ both
        gram = both.T @ image
        completion = complete_cuts(gram, gram - image.T @ image, best.costs.size, needed)
        vectors = np.hstack([best.vectors, completion.columns(others, best.vectors)])
        return vectors, self.model.weigh(np.concatenate([best.costs, completion.costs]))

    def label(self, vectors: FloatArray, weights: FloatArray) -> IntArray:
        """Return labels of some rows, found by k-means among them; -1 for the others."""
        model = self.model
        rows = embed_codes(self.some_codes, vectors * weights / self.roots, model.unit_rows)
        labels = np.full(self.n_rows, -1, dtype=np.intp)
        labels[self.points] = kmeans_labels(
            rows, model.n_clusters, n_init=model.n_init, random_state=np.random.RandomState(0)
        )
        return labels

    def refit(self, told: Constraints) -> dict[str, IntArray] | None:
        """Return the answer where only a part is told."""
        if told.is_empty:
            return None
        try:
            return {"kmeans": self.label(*self.complete(self.model.find_cuts(self.codes, told)))}
        except (ConstraintError, SpectralError):
            return None


# Problem 2 of SCACS: what constraints say about cuts that are linear in the codes (steps 3 and 4).


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
    >>> from sidecut.methods.scacs.cuts import build_constrained_problem
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
