"""The feasible cuts of SCACS: steps 4 to 10 of Algorithm 1 (Li, Xia, Shan & Liu, 2015)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from sidecut.checks import FloatArray
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintWarning, InfeasibleError, SpectralError, warn
from sidecut.graphs import LandmarkSums, constraint_gram, landmark_components
from sidecut.methods.csp.cuts import LEAST_SHARE, FeasibleCuts, Satisfiability, choose_beta
from sidecut.methods.csp.estimator import complete_cuts
from sidecut.methods.csp.pencil import symmetric
from sidecut.spectral.laplacian import orient

#: Directions in which Ŝ is smaller than this are outside its range: v = Ẑᵀu would be nothing but rounding.
RANK_TOLERANCE = 1e-10
#: A cut that costs less than this counts as free while the others are computed: 1/cost would drown them in
#: rounding, and to leave it out changes them by no more than the cost itself.
CHEAP = 1e-8


@dataclass(frozen=True)
class LandmarkBasis:
    """Vectors u for which v = Ẑᵀu are orthonormal singular vectors of Ẑ, hence eigenvectors of L = I - Ĝ."""

    vectors: FloatArray
    costs: FloatArray
    trivial: FloatArray
    n_null: int
    solver: ClassVar[str] = "dense (LAPACK)"

    @property
    def rank(self) -> int:
        """How many dimensions the cuts have."""
        return int(self.costs.size)

    @property
    def n_cheap(self) -> int:
        """How many of the vectors cost nothing, or next to nothing; the first ones."""
        return int(np.count_nonzero(self.costs < CHEAP))

    def coordinates(self, block: FloatArray) -> FloatArray:
        """Return Tᵀ @ block."""
        return self.vectors.T @ block

    def combine(self, y: FloatArray) -> FloatArray:
        """Return u = T @ y."""
        return self.vectors @ y

    def laplacian(self, y: FloatArray) -> FloatArray:
        """Return TᵀAT @ y."""
        return self.costs[:, None] * y

    def without_trivial(self) -> LandmarkBasis:
        """Return the basis of the cuts v that are orthogonal to the constant one."""
        across = scipy.linalg.null_space(self.trivial[None, :])
        vectors = np.hstack([self.vectors[:, : self.n_null] @ across, self.vectors[:, self.n_null :]])
        return LandmarkBasis(vectors, self.costs[1:], np.empty(0), self.n_null - 1)

    def positive_pairs(
        self, factor: FloatArray, form: FloatArray, level: float, count: int
    ) -> tuple[FloatArray, FloatArray]:
        """Return the positive eigenpairs of (W G Wᵀ - level) w = μ TᵀAT w among vectors with a cost."""
        costs = self.costs[self.n_cheap :]
        m, scale = costs.size, 1.0 / np.sqrt(costs)
        if count > m:
            raise SpectralError(f"{count} feasible cuts were counted, but only {m} directions have a cost.")
        scaled = scale[:, None] * factor
        surplus = scaled @ form @ scaled.T
        surplus[np.diag_indices_from(surplus)] -= level / costs
        mu, w = scipy.linalg.eigh(surplus, subset_by_index=(m - count, m - 1))
        if not mu[0] > 0:
            raise SpectralError(
                f"{count} feasible cuts were counted, but eq. 16 has only {np.count_nonzero(mu > 0)} "
                "positive eigenvalues: beta is within rounding of an eigenvalue γ. Choose a slightly "
                "different beta."
            )
        return mu[::-1], scale[:, None] * w[:, ::-1]


def normalize_gram(sums: LandmarkSums, gram: FloatArray | None = None) -> FloatArray:
    """Return D^{-1/2} M D^{-1/2}: Ŝ for M = Z Zᵀ, the default, and Q̂ for M = Z Q Zᵀ (step 4)."""
    scale = 1.0 / np.sqrt(sums.degrees)
    return scale[:, None] * (sums.gram if gram is None else gram) * scale


def landmark_basis(sums: LandmarkSums, n_vectors: int | None = None) -> LandmarkBasis:
    """Return the singular vectors of Ẑ through the eigenvectors of Ŝ, those of least cost first.

    The null space of L is known beforehand: for a component C, Ŝ D^{1/2} 1_C = D^{1/2} 1_C. It is taken out,
    so that cuts which cost nothing are told from cuts which cost little however near the eigenvalues are.
    """
    null, trivial = null_vectors(sums)
    p, n_null = null.shape
    n_more = p - n_null if n_vectors is None else min(max(n_vectors - n_null, 0), p - n_null)
    # The null vectors move to eigenvalue -1, away from small ones, with which they would mix at 0.
    deflated = normalize_gram(sums) - 2.0 * null @ null.T
    whole = n_more > p // 4
    chosen = None if whole else (p - n_more, p - 1)
    if n_more == 0:
        values, vectors = np.empty(0), np.empty((p, 0))
    else:
        values, vectors = scipy.linalg.eigh(
            deflated, subset_by_index=chosen, driver="evd" if whole else "evr"
        )
    order = np.argsort(-values, kind="stable")[:n_more]
    order = order[values[order] > RANK_TOLERANCE]
    scaled = orient(vectors[:, order]) / np.sqrt(values[order])
    # No cut across a component costs nothing, however little is left of it in floating point.
    least = np.finfo(np.float64).eps
    costs = np.concatenate([np.zeros(n_null), np.maximum(1.0 - values[order], least)])
    return LandmarkBasis(np.hstack([null, scaled]), costs, trivial, n_null)


def null_vectors(sums: LandmarkSums) -> tuple[FloatArray, FloatArray]:
    """Return D^{1/2} 1_C / √|C| for every component C, largest first, and 1/√n in terms of them.

    The landmarks of a component have as much degree together as it has points, since every code sums to one.
    """
    component = landmark_components(sums)
    sizes = np.bincount(component, weights=sums.degrees)
    order = np.argsort(-sizes, kind="stable")
    place = np.empty(order.size, dtype=np.intp)
    place[order] = np.arange(order.size)
    null = np.zeros((component.size, order.size))
    null[np.arange(component.size), place[component]] = np.sqrt(sums.degrees / sizes[component])
    return null, np.sqrt(sizes[order] / sums.n_rows)


#: Relative to the largest, an eigenvalue of the pencil nearer to zero than this is zero.
ROUNDING = 1e-13

Share = float | str


def landmark_cuts(
    problem: ConstrainedProblem,
    n_clusters: int,
    *,
    beta0: Share = "auto",
    beta: float | None = None,
    orthogonal: bool = False,
) -> FeasibleCuts:
    """Return all feasible cuts of eq. 16, those of least cost first (steps 5 to 10)."""
    known = landmark_satisfiability(problem)
    threshold = landmark_beta(known, problem, n_clusters, beta0, beta)
    _warn_if_idle(problem.gamma, threshold)
    if orthogonal:
        problem = problem.without_trivial()
        count = int(np.count_nonzero(problem.gamma > threshold))
    else:
        count = known.n_feasible(threshold)
    if count == 0:
        raise InfeasibleError(_nothing_feasible(known, threshold, problem.n_samples))
    return _solve(problem, threshold, count)


def landmark_satisfiability(problem: ConstrainedProblem) -> Satisfiability:
    """Return which eigenvalues γ of Q̂x = γŜx are positive, and how cuts are counted (step 5).

    In terms of `Satisfiability` the volume is one, since here vᵀv = 1 and β is compared with γ itself.
    """
    gamma = problem.gamma
    positive = gamma[gamma > ROUNDING * np.abs(gamma).max(initial=0.0)]
    return Satisfiability(positive, problem.total, 1.0, problem.known.n_entries, problem.n_samples)


def landmark_beta(
    known: Satisfiability, problem: ConstrainedProblem, n_clusters: int, beta0: Share, beta: float | None
) -> float:
    """Return β = β₀ γ_{k-1}, with γ_k where the constant vector takes one of the feasible directions.

    β₀ is a number, 0.1 in section 5.3 of the paper, "known_share", 0.5 + 0.4 c / n of section 5.2, or
    "auto", c / (c + p) with c = √nnz(Q), at least 0.1.
    """
    if beta is not None:
        return float(beta)
    if known.values.size == 0:
        raise InfeasibleError(
            "No cut can satisfy these constraints: Q̂ has no positive eigenvalue γ. Check the signs of the "
            "beliefs, and that the constrained points differ in their landmarks."
        )
    return choose_beta(("fraction", _share(beta0, problem)), known, n_clusters)


def _share(beta0: Share, problem: ConstrainedProblem) -> float:
    """Return β₀ as a number."""
    if beta0 == "known_share":
        return 0.5 + 0.4 * problem.known.n_known / problem.n_samples
    if beta0 == "auto":
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


def complete_landmark_cuts(
    sums: LandmarkSums, best: FeasibleCuts, n_clusters: int
) -> tuple[FloatArray, FloatArray]:
    """Return the vectors u of feasible cuts, completed by unconstrained ones to K - 1, and their costs."""
    others = landmark_basis(sums, n_clusters).without_trivial().vectors[:, : n_clusters - 1]
    both = np.hstack([others, best.vectors])
    # vᵀv = uᵀŜu and vᵀLv = uᵀ(Ŝ - Ŝ²)u for v = Ẑᵀu (eq. 7).
    image = normalize_gram(sums) @ both
    gram = both.T @ image
    completion = complete_cuts(gram, gram - image.T @ image, best.costs.size, n_clusters - 1)
    vectors = np.hstack([best.vectors, completion.columns(others, best.vectors)])
    return vectors, np.concatenate([best.costs, completion.costs])


# Problem 2 of SCACS: what constraints say about cuts that are linear in the codes (steps 3 and 4).


@dataclass(frozen=True)
class LandmarkBeliefs:
    """The matrix Q̂ = F G Fᵀ."""

    factor: FloatArray
    form: FloatArray
    n_known: int
    n_entries: int


@dataclass(frozen=True)
class ConstrainedProblem:
    """Problem 2 in orthonormal v = Ẑᵀ T y: minimise yᵀTᵀATy subject to yᵀTᵀQ̂Ty ≥ α, yᵀy = 1."""

    basis: LandmarkBasis
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


def pose_problem(
    sums: LandmarkSums, codes: sp.csr_array, constraints: Constraints, diagonal: str = "known"
) -> ConstrainedProblem:
    """Return Problem 2."""
    return ConstrainedProblem(
        landmark_basis(sums), landmark_beliefs(sums, codes, constraints, diagonal), sums
    )


def landmark_beliefs(
    sums: LandmarkSums, codes: sp.csr_array, constraints: Constraints, diagonal: str = "known"
) -> LandmarkBeliefs:
    """Return Q̂ with as few columns in F as its structure allows; see `pose_problem`."""
    known = constraints.with_diagonal(1.0) if diagonal == "known" else constraints
    n_known, p = codes.shape
    size = (n_known, known.n_entries())
    factors = known.factored(max_rank=p - 1)
    if factors is None:
        return LandmarkBeliefs(np.eye(p), normalize_gram(sums, constraint_gram(codes, known)), *size)
    factor = (codes.T @ factors[0]).toarray() / np.sqrt(sums.degrees)[:, None]
    return LandmarkBeliefs(factor, factors[1], *size)
