"""The feasible cuts of SCACS: steps 4 to 10 of Algorithm 1 (Li, Xia, Shan & Liu, 2015)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from sidecut.checks import FloatArray
from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintWarning, InfeasibleError, SpectralError, warn
from sidecut.graphs import LandmarkSums, constraint_gram, landmark_components
from sidecut.methods.csp.cuts import MIN_SHARE, ConstraintSpectrum, choose_beta
from sidecut.methods.csp.estimator import complete_cuts
from sidecut.methods.csp.pencil import MIN_COST, FeasibleCuts, is_regular, symmetric
from sidecut.spectral.laplacian import orient

#: Directions in which Ŝ is smaller than this are outside its range: v = Ẑᵀu would be nothing but rounding.
RANK_TOLERANCE = 1e-10

#: Values of a cut that differ by less than this share of the largest one differ by rounding.
ROUNDING = 1e-9

Share = float | str


@dataclass(frozen=True)
class LandmarkBasis:
    """Vectors u for which v = Ẑᵀu are orthonormal singular vectors of Ẑ, hence eigenvectors of L = I - Ĝ."""

    vectors: FloatArray
    costs: FloatArray
    trivial: FloatArray
    n_null: int

    @property
    def n_free(self) -> int:
        """How many of the vectors, the first ones, cost nothing or less than 1e-8."""
        # They count as free while the others are computed: 1/cost would drown those in rounding, and to leave
        # the first ones out changes them by no more than the cost itself.
        return int(np.count_nonzero(self.costs < MIN_COST))

    def without_trivial(self) -> LandmarkBasis:
        """Return the basis of the cuts v that are orthogonal to the constant one."""
        across = scipy.linalg.null_space(self.trivial[None, :])
        vectors = np.hstack([self.vectors[:, : self.n_null] @ across, self.vectors[:, self.n_null :]])
        return LandmarkBasis(vectors, self.costs[1:], np.empty(0), self.n_null - 1)


def normalize_gram(sums: LandmarkSums, gram: FloatArray | None = None) -> FloatArray:
    """Return D^{-1/2} M D^{-1/2}: Ŝ for M = Z Zᵀ, the default, and Q̂ for M = Z Q Zᵀ (step 4)."""
    scale = 1.0 / np.sqrt(sums.degrees)
    return scale[:, None] * (sums.gram if gram is None else gram) * scale


def landmark_basis(sums: LandmarkSums, n_vectors: int | None = None) -> LandmarkBasis:
    """Return the singular vectors of Ẑ through the eigenvectors of Ŝ, those of least cost first."""
    # The null space of L is known beforehand: for a component C, Ŝ D^{1/2} 1_C = D^{1/2} 1_C. It is taken
    # out, so that cuts without a cost are separated from cheap cuts, however near the eigenvalues are.
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
    """Return D^{1/2} 1_C / √|C| for every component C, largest first, and 1/√n in terms of them."""
    # The landmarks of a component have as much degree together as it has points, since every code sums to
    # one.
    component = landmark_components(sums)
    sizes = np.bincount(component, weights=sums.degrees)
    order = np.argsort(-sizes, kind="stable")
    place = np.empty(order.size, dtype=np.intp)
    place[order] = np.arange(order.size)
    null = np.zeros((component.size, order.size))
    null[np.arange(component.size), place[component]] = np.sqrt(sums.degrees / sizes[component])
    return null, np.sqrt(sizes[order] / sums.n_rows)


@dataclass(frozen=True)
class ConstrainedProblem:
    """Problem 2 in orthonormal v = Ẑᵀ T y: minimise yᵀTᵀATy subject to yᵀTᵀQ̂Ty ≥ α, yᵀy = 1."""

    # Q̂ = F G Fᵀ is known by its factor F and its form G (steps 3 and 4).

    basis: LandmarkBasis
    factor: FloatArray
    form: FloatArray
    n_known: int
    n_entries: int
    sums: LandmarkSums

    @cached_property
    def W(self) -> FloatArray:
        """TᵀF, so that TᵀQ̂T = W G Wᵀ."""
        return self.basis.vectors.T @ self.factor

    @cached_property
    def gamma(self) -> FloatArray:
        """The eigenvalues γ of Q̂x = γŜx, descending."""
        m, rank = self.W.shape
        if rank >= m:
            return scipy.linalg.eigvalsh(symmetric(self.W @ self.form @ self.W.T))[::-1]
        # W = O R with orthonormal O, so that the eigenvalues are those of R G Rᵀ and zeros.
        triangle = scipy.linalg.qr(self.W, mode="r", check_finite=False)[0][:rank]
        small = scipy.linalg.eigvalsh(symmetric(triangle @ self.form @ triangle.T))
        return np.sort(np.concatenate([small, np.zeros(m - rank)]))[::-1]

    @property
    def total(self) -> float:
        """1ᵀQ1 / n, how far the constant vector satisfies the constraints."""
        constant = np.sqrt(self.sums.degrees / self.sums.n_rows) @ self.factor
        return float(constant @ self.form @ constant)


def pose_problem(
    sums: LandmarkSums, codes: sp.csr_array, constraints: Constraints, diagonal: str = "known"
) -> ConstrainedProblem:
    """Return Problem 2, with as few columns in F as the structure of the constraints allows."""
    known = constraints.with_diagonal(1.0) if diagonal == "known" else constraints
    n_known, p = codes.shape
    factors = known.factored(max_rank=p - 1)
    if factors is None:
        factor, form = np.eye(p), normalize_gram(sums, constraint_gram(codes, known))
    else:
        factor, form = (codes.T @ factors[0]).toarray() / np.sqrt(sums.degrees)[:, None], factors[1]
    return ConstrainedProblem(landmark_basis(sums), factor, form, n_known, known.n_entries(), sums)


def landmark_cuts(
    problem: ConstrainedProblem,
    n_clusters: int,
    *,
    beta0: Share = "auto",
    beta: float | None = None,
    orthogonal: bool = False,
) -> FeasibleCuts:
    """Return all feasible cuts of eq. 16, those of least cost first (steps 5 to 10)."""
    gamma = problem.gamma
    # Step 5. The volume is one, since here vᵀv = 1 and β is compared with γ itself.
    positive = gamma[gamma > 1e-13 * np.abs(gamma).max(initial=0.0)]
    known = ConstraintSpectrum(positive, problem.total, 1.0, problem.n_entries, problem.sums.n_rows)
    if beta is None:
        beta = landmark_beta(known, problem, n_clusters, beta0)
    n_above = int(np.count_nonzero(gamma > beta))
    if 2 * n_above > gamma.size:
        warn(
            f"beta={beta:.4g} leaves {n_above} of {gamma.size} directions feasible, so that the constraints "
            "have little effect: a larger beta, more landmarks or fewer constraints on each give them more.",
            ConstraintWarning,
        )
    count = known.n_feasible(beta)
    if orthogonal:
        # Among v ⊥ 1: step 9 as a condition of the problem.
        problem = replace(problem, basis=problem.basis.without_trivial())
        count = int(np.count_nonzero(problem.gamma > beta))
    if count == 0:
        raise known.infeasible(beta)
    return _solve(problem, float(beta), count)


def landmark_beta(
    known: ConstraintSpectrum, problem: ConstrainedProblem, n_clusters: int, beta0: Share
) -> float:
    """Return β = β₀ γ_{k-1}, with γ_k where the constant vector takes one of the feasible directions."""
    # β₀ is a number, 0.1 in section 5.3 of the paper, "labelled_share", or "auto", see `shares_to_try`.
    if known.values.size == 0:
        raise InfeasibleError(
            "No cut can satisfy these constraints: Q̂ has no positive eigenvalue γ. Check the signs of the "
            "beliefs, and that the constrained points differ in their landmarks."
        )
    if beta0 == "labelled_share":
        share = labelled_share(problem)
    else:
        share = usual_share(problem) if beta0 == "auto" else float(beta0)
    return choose_beta(("fraction", share), known, n_clusters)


def labelled_share(problem: ConstrainedProblem) -> float:
    """Return β₀ = 0.5 + 0.4 c / n of section 5.2, for c constrained points."""
    return 0.5 + 0.4 * problem.n_known / problem.sums.n_rows


def usual_share(problem: ConstrainedProblem) -> float:
    """Return β₀ = c / (c + p) with c = √nnz(Q), the number of labels, at least 0.1."""
    # A partition that satisfies everything reaches about c/p of γ, since cuts are linear in p codes: the more
    # labels there are for a landmark, the larger β may be.
    n_labels = float(np.sqrt(problem.n_entries))
    return max(n_labels / (n_labels + len(problem.factor)), MIN_SHARE)


def shares_to_try(problem: ConstrainedProblem) -> tuple[float, ...]:
    """Return the β₀ among which the constraints decide, smallest first; one where most pairs are known."""
    # Labels tell all pairs of c points, and what they can ask of p codes is known. What scattered pairs can
    # ask depends on the clusters. Two clusters that the graph does not show need a β₀ as large as the
    # paper's; with many clusters it leaves cuts around a few points. Set on tables and shapes
    # (benchmarks/choices/scacs_pairs.py).
    usual, half, published = usual_share(problem), 0.5, labelled_share(problem)
    if 2 * problem.n_entries >= problem.n_known**2:
        return (usual,)
    return tuple(sorted({usual, (usual + half) / 2, half, (half + published) / 2, published}))


def _solve(problem: ConstrainedProblem, beta: float, count: int) -> FeasibleCuts:
    """Solve eq. 16 for its positive eigenvalues."""
    # The null space N of A is eliminated as in CSP: with B = Q - βI, feasible y are B-orthogonal to the
    # constant vector; those inside N cost nothing, and the others solve B' w = μ L w with the Schur
    # complement B' of N, completed along N. With Q = W G Wᵀ that is a matter of G alone.
    W, form, n_free = problem.W, problem.form, problem.basis.n_free
    inside, outside = W[:n_free], W[n_free:]
    inner = symmetric(inside @ form @ inside.T) - beta * np.eye(n_free)
    if n_free and not is_regular(inner, beta):
        raise SpectralError(
            f"beta={beta:.6g} makes eq. 16 singular: a cut that costs nothing satisfies the constraints to "
            f"exactly beta (the constant one to 1ᵀQ1/n={problem.total:.6g}). Choose another beta."
        )
    free = _component_cuts(inner, problem.basis.trivial)[:, :count]
    n_along = free.shape[1]
    y = np.zeros((W.shape[0], count))
    y[:n_free, :n_along] = free
    if count > n_along:
        coupling = np.linalg.solve(inner, inside @ form)
        schur = symmetric(form - (inside @ form).T @ coupling)
        w = _positive_vectors(problem.basis.costs[n_free:], outside, schur, beta, count - n_along)
        y[n_free:, n_along:] = w
        y[:n_free, n_along:] = -coupling @ (outside.T @ w)
    return _describe(problem, y / np.linalg.norm(y, axis=0), beta)


def _positive_vectors(
    costs: FloatArray, factor: FloatArray, form: FloatArray, beta: float, count: int
) -> FloatArray:
    """Return the vectors of the positive μ of (W G Wᵀ - β) w = μ TᵀAT w, the largest first."""
    m, scale = costs.size, 1.0 / np.sqrt(costs)
    if count > m:
        raise SpectralError(f"{count} feasible cuts were counted, but only {m} directions have a cost.")
    scaled = scale[:, None] * factor
    B = scaled @ form @ scaled.T
    B[np.diag_indices_from(B)] -= beta / costs
    mu, w = scipy.linalg.eigh(B, subset_by_index=(m - count, m - 1))
    if not mu[0] > 0:
        raise SpectralError(
            f"{count} feasible cuts were counted, but eq. 16 has only {np.count_nonzero(mu > 0)} "
            "positive eigenvalues: beta is within rounding of an eigenvalue γ. Choose a slightly "
            "different beta."
        )
    return scale[:, None] * w[:, ::-1]


def _describe(problem: ConstrainedProblem, y: FloatArray, beta: float) -> FeasibleCuts:
    """Return the cuts v = Ẑᵀ T y with λ, costs and satisfactions."""
    price = problem.basis.costs[:, None] * y
    image = problem.W @ (problem.form @ (problem.W.T @ y))
    costs, satisfaction = np.einsum("ij,ij->j", y, price), np.einsum("ij,ij->j", y, image)
    # Rayleigh's quotient, exactly zero for cuts along components.
    lam = costs / (satisfaction - beta)
    scaled = lam * (image - beta * y)
    residuals = np.linalg.norm(price - scaled, axis=0) / (np.linalg.norm(scaled, axis=0) + 1.0)
    # Cuts along components all cost nothing; the one that satisfies most goes first.
    order = np.lexsort((-satisfaction, costs))
    return FeasibleCuts(
        lam[order],
        costs[order],
        satisfaction[order],
        orient(problem.basis.vectors @ y[:, order]),
        lam.size,
        beta,
        residuals[order],
        "dense (LAPACK)",
    )


def _component_cuts(inner: FloatArray, trivial: FloatArray) -> FloatArray:
    """Return the feasible cuts along components: B-orthogonal to the constant vector, with yᵀBy > 0."""
    if inner.shape[0] == 0:
        return np.empty((0, 0))
    space = np.eye(inner.shape[0])
    if trivial.size:
        space = scipy.linalg.null_space((inner[:, : trivial.size] @ trivial)[None, :])
    values, rotation = np.linalg.eigh(space.T @ inner @ space)
    feasible = np.flatnonzero(values > 0)[::-1]
    return space @ rotation[:, feasible]


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


def find_division(sums: LandmarkSums, projection: FloatArray) -> float:
    """Return where a cut zᵀw is divided: at zero, or where that costs least if it has one sign only."""
    # With must-links alone Q̂ has no negative entry, and the cut can have one sign everywhere (Perron and
    # Frobenius). Then all values are compared by their normalised cut (Shi & Malik, 2000, section 3) on the
    # graph Z Zᵀ of the landmarks, whose degrees are D. A landmark has the mean of the cut near it, so that a
    # value between two landmarks is one between two points. Of divisions without a cost the most even is
    # taken.
    near = sums.gram @ projection / sums.degrees
    smallest = ROUNDING * np.abs(near).max()
    if near.min() < -smallest and near.max() > smallest:
        return 0.0
    order = np.argsort(near)
    volume, total = np.cumsum(sums.degrees[order])[:-1], sums.degrees.sum()
    inside = sums.gram[np.ix_(order, order)].cumsum(axis=0).cumsum(axis=1).diagonal()[:-1]
    # cut (1/vol A + 1/vol B), up to the factor vol G.
    costs = np.maximum(volume - inside, ROUNDING * total) / (volume * (total - volume))
    values = near[order]
    costs[np.diff(values) <= smallest] = np.inf
    if not np.isfinite(costs).any():
        return 0.0
    place = int(costs.argmin())
    return float(values[place] + values[place + 1]) / 2.0
