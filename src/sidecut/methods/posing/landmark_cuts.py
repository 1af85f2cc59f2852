"""The feasible cuts of SCACS: steps 4 to 10 of Algorithm 1 (Li, Xia, Shan & Liu, 2015)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintError, ConstraintWarning, SpectralError
from sidecut.graphs import LandmarkSums, constraint_gram
from sidecut.methods.posing.beta import Satisfiability, chosen_beta
from sidecut.methods.posing.cuts import FeasibleCuts
from sidecut.methods.posing.landmark_problem import LandmarkBasis, normalized_gram
from sidecut.spectral.davidson import symmetric
from sidecut.spectral.result import FloatArray, oriented

#: What to do about step 9, see `SCACS`.
STEP9 = ("nontrivial", "project", "literal")
#: |1ᵀŜu| up to which the literal step 9 takes u as orthogonal.
ORTHOGONAL = 1e-6
#: Relative to the largest, an eigenvalue of the pencil nearer to zero than this is zero.
ROUNDING = 1e-13

Rule = float | str


@dataclass(frozen=True)
class ConstrainedProblem:
    """Problem 2 in the orthonormal basis v = Ẑᵀ T y: minimise Σ costs y² subject to yᵀQy ≥ α, yᵀy = 1.

    Attributes
    ----------
    basis : LandmarkBasis
        T, in which A of eq. 7 is diagonal and Ŝ the identity.
    beliefs : array of shape (m, m)
        TᵀQ̂T.
    gamma : array of shape (m,)
        Its eigenvalues, those of Q̂x = γŜx, descending.
    total : float
        1ᵀQ1 / n, how far the constant vector satisfies the constraints.
    n_known : int
        c, the number of constrained points.
    n_samples : int
        n.
    """

    basis: LandmarkBasis
    beliefs: FloatArray
    gamma: FloatArray
    total: float
    n_known: int
    n_samples: int


def constrained_problem(
    basis: LandmarkBasis,
    sums: LandmarkSums,
    codes: sp.csr_array,
    constraints: Constraints,
    diagonal: str = "known",
) -> ConstrainedProblem:
    """Return Problem 2 (steps 3 and 4) from the codes of the constrained points.

    Parameters
    ----------
    basis : LandmarkBasis
        Of the range of Ŝ.
    sums : LandmarkSums
        Of all points.
    codes : csr_array of shape (c, p)
        Codes of the constrained points.
    constraints : Constraints
        Q, restricted to these points in that order.
    diagonal : {"known", "given", "all"}, default="known"
        Q_ii = 1 for these points, as it is given, or 1 for all points, as eq. 20 has it.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from sidecut import Constraints
    >>> from sidecut.graphs import landmark_sums
    >>> from sidecut.methods.posing.landmark_cuts import constrained_problem
    >>> from sidecut.methods.posing.landmark_problem import landmark_basis
    >>> codes = sp.csr_array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    >>> sums = landmark_sums(codes)
    >>> known = Constraints.from_labels([0, 1])
    >>> constrained_problem(landmark_basis(sums), sums, codes[[0, 2]], known).gamma[:1].round(3)
    array([2.])
    """
    if diagonal != "given":
        known = constraints.with_diagonal(0.0 if diagonal == "all" else 1.0)
    else:
        known = constraints
    beliefs, gamma = _beliefs(basis, sums, codes, known)
    if diagonal == "all":
        # Ẑ I Ẑᵀ = Ŝ, which is the identity in this basis.
        beliefs[np.diag_indices_from(beliefs)] += 1.0
        gamma += 1.0
    null = slice(basis.n_null)
    total = float(basis.trivial @ beliefs[null, null] @ basis.trivial)
    return ConstrainedProblem(basis, beliefs, gamma, total, codes.shape[0], sums.n_rows)


def _beliefs(
    basis: LandmarkBasis, sums: LandmarkSums, codes: sp.csr_array, known: Constraints
) -> tuple[FloatArray, FloatArray]:
    """Return TᵀQ̂T and its eigenvalues γ, descending; cheaply where few points are constrained."""
    n_known, size = codes.shape[0], basis.costs.size
    if n_known >= size:
        beliefs = symmetric(
            basis.vectors.T @ normalized_gram(sums, constraint_gram(codes, known)) @ basis.vectors
        )
        return beliefs, scipy.linalg.eigvalsh(beliefs)[::-1]
    # With V the rows of the cuts at the constrained points, TᵀQ̂T = VᵀQV; and Vᵀ = O R with orthonormal O.
    rows = codes @ (basis.vectors / np.sqrt(sums.degrees)[:, None])
    triangle = scipy.linalg.qr(rows.T, mode="r")[0][:n_known]
    small = scipy.linalg.eigvalsh(symmetric(triangle @ known.apply(triangle.T)))
    gamma = np.sort(np.concatenate([small, np.zeros(size - n_known)]))[::-1]
    return symmetric(rows.T @ known.apply(rows)), gamma


def landmark_cuts(
    problem: ConstrainedProblem,
    n_clusters: int,
    *,
    beta0: Rule = 0.1,
    beta: float | None = None,
    step9: str = "nontrivial",
) -> FeasibleCuts:
    """Return all feasible cuts of eq. 16, those of least cost first (steps 5 to 10).

    Parameters
    ----------
    problem : ConstrainedProblem
        Problem 2.
    n_clusters : int
        k.
    beta0 : number or "known_share", default=0.1
        β = β₀ γ_{k-1}, see `SCACS`.
    beta : float, optional
        β itself.
    step9 : {"nontrivial", "project", "literal"}, default="nontrivial"
        See `SCACS`.

    Returns
    -------
    FeasibleCuts
        Its `vectors` are u, uᵀŜu = 1; satisfactions are uᵀQ̂u, to be compared with β.

    Raises
    ------
    ConstraintError
        If no cut is feasible.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from sidecut import Constraints
    >>> from sidecut.graphs import landmark_sums
    >>> from sidecut.methods.posing.landmark_cuts import constrained_problem, landmark_cuts
    >>> from sidecut.methods.posing.landmark_problem import landmark_basis
    >>> codes = sp.csr_array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    >>> sums = landmark_sums(codes)
    >>> known = Constraints.from_labels([0, 1])
    >>> problem = constrained_problem(landmark_basis(sums), sums, codes[[0, 2]], known)
    >>> cuts = landmark_cuts(problem, n_clusters=2)
    >>> cuts.n_feasible, cuts.costs.round(3)
    (1, array([0.333]))
    """
    known = landmark_satisfiability(problem)
    threshold = landmark_beta(known, problem, n_clusters, beta0, beta)
    _warn_if_idle(problem.gamma, threshold)
    if step9 == "project":
        problem = _without_trivial(problem)
        count = int(np.count_nonzero(np.linalg.eigvalsh(problem.beliefs) > threshold))
    else:
        count = known.n_feasible(threshold)
    if count == 0:
        raise ConstraintError(_nothing_feasible(known, threshold, problem.n_samples))
    cuts = _solved(problem, threshold, count)
    return _orthogonal_only(cuts, problem) if step9 == "literal" else cuts


def landmark_satisfiability(problem: ConstrainedProblem) -> Satisfiability:
    """Return which eigenvalues γ of Q̂x = γŜx are positive, and how cuts are counted (step 5).

    In terms of `Satisfiability` the volume is one, since here vᵀv = 1 and β is compared with γ itself.
    """
    gamma = problem.gamma
    positive = gamma[gamma > ROUNDING * np.abs(gamma).max(initial=0.0)]
    return Satisfiability(positive, problem.total, 1.0, problem.n_known, problem.n_samples)


def landmark_beta(
    known: Satisfiability, problem: ConstrainedProblem, n_clusters: int, beta0: Rule, beta: float | None
) -> float:
    """Return β = β₀ γ_{k-1}, with γ_k where the constant vector takes one of the feasible directions.

    β₀ is a number, 0.1 in section 5.3 of the paper, or "known_share", 0.5 + 0.4 c / n of section 5.2.
    """
    if beta is not None:
        return float(beta)
    by_share = isinstance(beta0, str)
    share = 0.5 + 0.4 * problem.n_known / problem.n_samples if by_share else float(beta0)
    if known.values.size == 0:
        raise ConstraintError(
            "No cut can satisfy these constraints: Q̂ has no positive eigenvalue γ. Check the signs of the "
            "beliefs; diagonal='known' helps where constrained points are linked to nobody."
        )
    return chosen_beta(("fraction", share), known, n_clusters)


def _solved(problem: ConstrainedProblem, beta: float, count: int) -> FeasibleCuts:
    """Solve eq. 16 for its positive eigenvalues.

    The null space N of A is eliminated as in CSP: with B = Q - βI, feasible y are B-orthogonal to the
    constant vector; those inside N cost nothing, and the others solve B' w = μ diag(costs) w with the Schur
    complement B' of N, completed along N.
    """
    basis, n_null = problem.basis, problem.basis.n_null
    surplus = problem.beliefs - beta * np.eye(problem.beliefs.shape[0])
    inner, outer = surplus[:n_null, :n_null], surplus[n_null:, :n_null]
    _check_regular(inner, beta, problem.total)
    free = _zero_cost(inner, basis.trivial)
    y = np.zeros((surplus.shape[0], count))
    n_free = min(free.shape[1], count)
    y[:n_null, :n_free] = free[:, :n_free]
    mu = np.empty(0)
    if count > n_free:
        along = np.linalg.solve(inner, outer.T) if n_null else np.empty((0, outer.shape[0]))
        mu, w = _largest(surplus[n_null:, n_null:] - outer @ along, basis.costs[n_null:], count - n_free)
        y[n_null:, n_free:] = w
        y[:n_null, n_free:] = -along @ w
    y /= np.linalg.norm(y, axis=0)
    return _described(problem, y, np.concatenate([np.zeros(n_free), 1.0 / mu]), beta, count)


def _described(
    problem: ConstrainedProblem, y: FloatArray, lam: FloatArray, beta: float, count: int
) -> FeasibleCuts:
    costs = np.einsum("i,ij,ij->j", problem.basis.costs, y, y)
    image = problem.beliefs @ y
    satisfaction = np.einsum("ij,ij->j", y, image)
    residual = problem.basis.costs[:, None] * y - lam * (image - beta * y)
    residuals = np.linalg.norm(residual, axis=0) / (np.linalg.norm(lam * (image - beta * y), axis=0) + 1.0)
    # Cuts along components all cost nothing; the one that satisfies most goes first.
    order = np.lexsort((-satisfaction, costs))
    return FeasibleCuts(
        lam[order],
        costs[order],
        satisfaction[order],
        oriented(problem.basis.vectors @ y[:, order]),
        count,
        beta,
        residuals[order],
        "dense (LAPACK)",
    )


def _largest(form: FloatArray, costs: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the largest eigenpairs of form w = μ diag(costs) w; all of them must be positive."""
    scale = 1.0 / np.sqrt(costs)
    m = costs.size
    if count > m:
        raise SpectralError(f"{count} feasible cuts were counted, but only {m} directions have a cost.")
    mu, w = scipy.linalg.eigh(scale[:, None] * form * scale, subset_by_index=(m - count, m - 1))
    if not mu[0] > 0:
        raise SpectralError(
            f"{count} feasible cuts were counted, but eq. 16 has only {np.count_nonzero(mu > 0)} positive "
            "eigenvalues: beta is within rounding of an eigenvalue γ. Choose a slightly different beta."
        )
    return mu[::-1], scale[:, None] * w[:, ::-1]


def _zero_cost(inner: FloatArray, trivial: FloatArray) -> FloatArray:
    """Return the feasible cuts along components: B-orthogonal to the constant vector, with yᵀBy > 0."""
    if inner.shape[0] == 0:
        return np.empty((0, 0))
    space = np.eye(inner.shape[0])
    if trivial.size:
        space = scipy.linalg.null_space((inner @ trivial)[None, :])
    values, rotation = np.linalg.eigh(space.T @ inner @ space)
    feasible = np.flatnonzero(values > 0)[::-1]
    return space @ rotation[:, feasible]


def _without_trivial(problem: ConstrainedProblem) -> ConstrainedProblem:
    """Return the problem among v ⊥ 1 (step 9 as a condition of the problem, `project`)."""
    basis = problem.basis
    across = scipy.linalg.null_space(basis.trivial[None, :])
    change = scipy.linalg.block_diag(across, np.eye(basis.costs.size - basis.n_null))
    beliefs = change.T @ problem.beliefs @ change
    rest = LandmarkBasis(basis.vectors @ change, basis.costs[1:], np.empty(0), basis.n_null - 1)
    return replace(problem, basis=rest, beliefs=symmetric(beliefs))


def _orthogonal_only(cuts: FeasibleCuts, problem: ConstrainedProblem) -> FeasibleCuts:
    """Keep the cuts with 1ᵀŜu = 0, step 9 as printed."""
    # Ŝ = (T⁻¹)ᵀT⁻¹ on its range, so that Ŝu = Ŝ T y; the basis of the null space and Ŝ are both at hand in T.
    inverse = np.linalg.pinv(problem.basis.vectors)
    gram = inverse.T @ inverse
    kept = np.abs(gram.sum(axis=0) @ cuts.vectors) <= ORTHOGONAL
    if not kept.any():
        raise ConstraintError(
            f"step9='literal' removes all {cuts.n_feasible} feasible cuts: as printed, it keeps only those "
            "with 1ᵀŜu = 0, which eigenvectors of eq. 16 do not satisfy. Use step9='nontrivial' or 'project'."
        )
    return replace(
        cuts,
        eigenvalues=cuts.eigenvalues[kept],
        costs=cuts.costs[kept],
        satisfactions=cuts.satisfactions[kept],
        vectors=cuts.vectors[:, kept],
        residuals=cuts.residuals[kept],
        n_feasible=int(kept.sum()),
    )


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
        warnings.warn(
            f"beta={beta:.4g} leaves {n_above} of {gamma.size} directions feasible, so that the constraints "
            "have little say. With diagonal='all' (eq. 20) that is so for any beta < 1; use diagonal='known' "
            "or a larger beta.",
            ConstraintWarning,
            stacklevel=5,
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
