"""The feasible cuts of eq. 13, with their costs (CSP, sections 4 and 6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints, Spectrum
from sidecut.exceptions import ConstraintError, ConstraintWarning, SpectralError, warn
from sidecut.graphs import Graph
from sidecut.methods.csp.bound import Rule, Satisfiability, choose_beta, satisfiability
from sidecut.methods.csp.davidson import feasible_pairs
from sidecut.methods.csp.pencil import PencilOnBasis, SurplusPencil, scale_beliefs
from sidecut.spectral.problem import Certificate, Eigenpairs, LaplacianProblem, orient
from sidecut.thread_limits import limit_threads

#: More feasible cuts than this are not all computed; those of smallest λ are. On random pairs the twenty
#: cheapest cuts were always among the eighty of smallest λ.
MAX_CUTS = 300
#: With the usual β so many more than the K - 1 that are used: scattered pairs leave hundreds, and the K - 1
#: of least cost were among the first K + 3 (benchmarks/choices/csp_pairs.py).
SPARE_CUTS = 5
#: Where only these are computed, the K - 1 that are used are found to so many times the tolerance: their span
#: is then right to a cosine of .995 (tests/methods/csp/test_scattered.py), and k-means hardly sees a
#: difference (benchmarks/choices/shortcuts.py).
SCATTERED = 10_000
#: What the pairs make of the graph's cuts is asked for at a μ of so many times λ_{K-1}(Q̄).
RESPONSE = 2.0
#: A warning where the constraints count as if less than this share of their points had any.
LEAST_EFFECTIVE = 0.1
#: With fewer constrained points there is no warning.
FEWEST_TO_JUDGE = 20
#: Nor where no degree is smaller than the median by this factor; in pictures a thousandth is common and does
#: no harm.
NEXT_TO_NONE = 1e-4

#: Scattered pairs, two clusters: the true clusters satisfy every pair, and β may well be larger than usual.
#: More clusters: a usual β may be more than the true ones satisfy, since a cannot-link parts two of many, and
#: then the feasible cuts are those around a few points. These times the usual β are tried
#: (benchmarks/choices/csp_bounds.py).
OTHER_BOUNDS = {"two": (2.0, 4.0), "more": (0.125,)}
#: A larger β must be better by more than this; a smaller one, with smoother cuts, may be this much worse.
NOTEWORTHY, SMOOTHER = 0.02, 0.01
#: Cuts that all cost less than this are no cuts around a few points.
DEAREST = 0.25

NORMALIZATIONS = ("target", "source")


Score = Callable[[FloatArray, FloatArray], float]


@dataclass(frozen=True)
class FeasibleCuts:
    """The feasible cuts of eq. 13, those of least cost first.

    Attributes
    ----------
    eigenvalues : array of shape (m,)
        λ; zero for cuts along components of the graph.
    costs : array of shape (m,)
        vᵀL̄v of the unit vector: the normalised cut, between 0 and 2.
    satisfactions : array of shape (m,)
        vᵀQ̄v with vᵀv = vol, to be compared with β; all exceed it.
    vectors : array of shape (n, m)
        v, with vᵀv = vol.
    n_feasible : int
        How many there are; `m` is smaller where there are more than 300, or K + 4 with the usual β.
    beta : float
        The β they exceed.
    residuals : array of shape (m,)
        Relative residuals of eq. 13.
    solver : str
        How they were found, in words.
    count_is_exact : bool
        Whether `n_feasible` is proved; the spectrum of a very large Q̄ comes from Lanczos iteration.
    """

    eigenvalues: FloatArray
    costs: FloatArray
    satisfactions: FloatArray
    vectors: FloatArray
    n_feasible: int
    beta: float
    residuals: FloatArray
    solver: str
    count_is_exact: bool = True

    @property
    def complete(self) -> bool:
        """Whether all feasible cuts were computed."""
        return self.costs.size == self.n_feasible

    def __str__(self) -> str:
        lines = [f"{self.n_feasible} feasible cuts, beta = {self.beta:.6g}", "    λ          cost       vᵀQ̄v"]
        for row in zip(self.eigenvalues, self.costs, self.satisfactions, strict=True):
            lines.append("  ".join(f"{value:10.4g}" for value in row))
        return "\n".join(lines)

    def first(self, count: int) -> FeasibleCuts:
        """Return the `count` cuts of least cost."""
        return replace(
            self,
            eigenvalues=self.eigenvalues[:count],
            costs=self.costs[:count],
            satisfactions=self.satisfactions[:count],
            vectors=np.ascontiguousarray(self.vectors[:, :count]),
            residuals=self.residuals[:count],
        )


def feasible_cuts(
    graph: Graph,
    constraints: Constraints,
    beta: Rule = "usual",
    *,
    n_clusters: int = 2,
    normalization: str = "target",
    tol: float = 1e-6,
    start: FloatArray | None = None,
    max_cuts: int | None = None,
    smooth: Callable[[], FloatArray] | None = None,
    score: Score | None = None,
) -> FeasibleCuts:
    """Return the cuts that are eigenvectors of eq. 13 and satisfy the constraints.

    Parameters
    ----------
    graph : Graph
        The graph to cut.
    constraints : Constraints
        Q, any real beliefs.
    beta : number or rule, default="usual"
        See `CSP`.
    n_clusters : int, default=2
        K, for the rules.
    normalization : {"target", "source"}, default="target"
        Q̄ = D^{-1/2} Q D^{-1/2} with the degrees of the graph, or of Q itself (transfer, section 6.3).
    tol : float, default=1e-6
        Relative residual to reach.
    start : array of shape (n, s), optional
        Vectors to start from, such as those of a similar problem.
    max_cuts : int, optional
        Of more feasible cuts than this, 300 by default, those of smallest λ are computed. Where more than
        1,000 points are constrained, no more eigenvalues of Q̄ are then looked at than that takes.
    smooth : callable, optional
        Returns vectors of little cost to start from where there are more cuts than `max_cuts`: the
        unconstrained eigenvectors.
    score : callable, optional
        Tells how good unit cuts are that are not exact yet, given their costs. Where there are more cuts than
        `max_cuts` it decides between the β of the rule and a few others, see `OTHER_BOUNDS`.

    Raises
    ------
    ConstraintError
        If β leaves no feasible cut, telling which β would.
    SpectralError
        If β makes eq. 13 singular, or the iteration does not converge.

    Warns
    -----
    ConstraintWarning
        If so many cuts are feasible that only those of smallest λ are computed; if the constraints of a few
        points of very small degree drown those of all others.

    Examples
    --------
    The toy of section 4.4: a labelling that puts node 4 with 1, 2, 3 drags it away from 5 and 6.

    >>> import numpy as np
    >>> from sidecut import Constraints
    >>> from sidecut.graphs import as_graph
    >>> from sidecut.methods.csp.estimator import feasible_cuts
    >>> edges = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)]
    >>> A = np.zeros((6, 6))
    >>> A[tuple(zip(*edges))] = 1
    >>> graph = as_graph(A + A.T)
    >>> known = Constraints.from_labels([0, 0, 0, 0, 1, 1])
    >>> cuts = feasible_cuts(graph, known, beta=graph.volume)
    >>> (cuts.vectors[:, 0] / np.sqrt(graph.degrees)).round(3)
    array([ 1.491,  1.491,  1.206,  0.438, -0.205, -0.205])
    """
    problem = LaplacianProblem(graph)
    scale = _scale_of(normalization, problem, constraints)
    if normalization == "target":
        _warn_if_few_points_dominate(graph.degrees, constraints.constrained_points)
    with limit_threads(only_blas=True):
        known, spectrum = satisfiability(constraints, scale, graph.degrees, beta, n_clusters, max_cuts)
        threshold = choose_beta(beta, known, n_clusters)
        count = _check_count(known, threshold)
        points = constraints.constrained_points
        pencil = SurplusPencil(problem, scale_beliefs(constraints, scale), threshold / graph.volume, points)
        _check_regular(pencil, known, threshold)
        most = MAX_CUTS if max_cuts is None else max_cuts
        n_exact = None
        if count > most and smooth is not None:
            # Scattered pairs: the best cuts are close to the cuts of the graph and to what the pairs make
            # of those.
            n_exact, tol = max(n_clusters - 1, 1), SCATTERED * tol
            if start is None:
                start = smooth()
                mu = RESPONSE * float(spectrum.values[min(n_exact, spectrum.values.size) - 1])
                start = np.hstack([start, pencil.respond(start, mu)])
        seeds = _seeds(spectrum, min(count, most), start)
        if n_exact is not None and score is not None:
            pencil, seeds = _try_bounds(pencil, known, seeds, n_exact, most, score)
            threshold = pencil.b * graph.volume
            count = known.n_feasible(threshold)
        cuts = _solve(pencil, count, most, seeds, tol, threshold, n_exact)
        return replace(cuts, count_is_exact=known.is_exact)


def _try_bounds(
    pencil: SurplusPencil,
    known: Satisfiability,
    seeds: FloatArray,
    n_cuts: int,
    most: int,
    score: Score,
) -> tuple[SurplusPencil, FloatArray]:
    """Return the pencil with the β that serves best, and cuts to start from: those in the span of seeds."""
    room = PencilOnBasis(pencil, seeds)
    width = most + 1 + most // 2

    def measure(b: float) -> tuple[float, float, FloatArray]:
        vectors, costs = room.cuts(b, width)
        least = np.argsort(costs[:most])[:n_cuts]
        dearest = float(costs[least].max(initial=0.0))
        return (score(vectors[:, least], costs[least]) if least.size == n_cuts else -1.0), dearest, vectors

    usual, dearest, vectors = measure(pencil.b)
    if (dearest < DEAREST) == (n_cuts > 1):
        # Cheap cuts of many clusters are good as they are; a dear cut in two teaches nothing yet.
        return pencil, vectors
    # Neighbours hardly tell two good answers apart; then the smoother cuts are taken.
    needed, best_b = usual + NOTEWORTHY if n_cuts == 1 else usual - SMOOTHER, pencil.b
    for times in OTHER_BOUNDS["two" if n_cuts == 1 else "more"]:
        b = times * pencil.b
        if known.n_feasible(b * known.volume) < n_cuts or not _is_regular(pencil.with_bound(b)):
            continue
        found, _, cuts = measure(b)
        if found > needed:
            needed, best_b, vectors = found, b, cuts
    return pencil.with_bound(best_b), vectors


def enough_cuts(beta: Rule, n_clusters: int) -> int:
    """Return how many feasible cuts an estimator computes: with the usual β few more than it uses."""
    is_usual = isinstance(beta, str) and beta == "usual"
    return max(n_clusters - 1, 1) + SPARE_CUTS if is_usual else MAX_CUTS


def _solve(
    pencil: SurplusPencil,
    count: int,
    most: int,
    seeds: FloatArray,
    tol: float,
    beta: float,
    n_exact: int | None,
) -> FeasibleCuts:
    surplus, vectors = pencil.zero_cost_cuts()
    if most == MAX_CUTS:
        _warn_if_many(count, beta)
    wanted = min(count, most) - surplus.size
    lam, residuals, solver = np.zeros(surplus.size), np.zeros(surplus.size), "connected components"
    if wanted > 0:
        pairs = feasible_pairs(pencil, seeds, wanted, tol, n_exact)
        lam = np.concatenate([lam, 1.0 / pairs.mu])
        vectors = np.hstack([vectors, pairs.vectors])
        residuals = np.concatenate([residuals, pairs.residuals])
        solver = pairs.solver
    vectors = orient(vectors)
    costs = np.maximum(np.einsum("ij,ij->j", vectors, pencil.problem.apply_laplacian(vectors)), 0.0)
    costs[: surplus.size] = 0.0
    satisfaction = np.einsum("ij,ij->j", vectors, pencil.apply_Q(vectors))
    # Cuts along components all cost nothing; the one that satisfies most goes first.
    order = np.lexsort((-satisfaction, costs))
    volume = pencil.problem.graph.volume
    return FeasibleCuts(
        lam[order],
        costs[order],
        volume * satisfaction[order],
        np.sqrt(volume) * vectors[:, order],
        count,
        beta,
        residuals[order],
        solver,
    )


def _warn_if_few_points_dominate(degrees: FloatArray, points: IntArray) -> None:
    """Warn if a few constrained points outweigh the rest: Q̄ divides what is said of a point by its degree."""
    points = points[degrees[points] > 0]
    if points.size < FEWEST_TO_JUDGE:
        return
    # Relative to the smallest degree, since 1/d may overflow; 1 for the point that weighs most.
    weights = degrees[points].min() / degrees[points]
    effective = weights.sum() ** 2 / np.sum(weights**2)
    heaviest, median = points[np.argmax(weights)], np.median(degrees[points])
    if effective >= LEAST_EFFECTIVE * points.size or degrees[heaviest] > NEXT_TO_NONE * median:
        return
    warn(
        f"the constraints of {points.size} points count as if there were {effective:.3g} of them: Q̄ divides "
        f"beliefs by the degrees of the graph, and point {heaviest} has a degree of {degrees[heaviest]:.3g} "
        f"where the median is {median:.3g}. With a graph of more even degrees all "
        "of them count: affinity='knn', or a larger width of the kernel; or say nothing about such points.",
        ConstraintWarning,
    )


def _warn_if_many(count: int, beta: float) -> None:
    if count > MAX_CUTS:
        warn(
            f"beta={beta:.6g} leaves {count} feasible cuts, of which {MAX_CUTS} of smallest λ are computed; "
            "a cut of less cost may be among the others. A larger beta leaves fewer.",
            ConstraintWarning,
        )


def _seeds(spectrum: Spectrum, count: int, start: FloatArray | None) -> FloatArray:
    """Return the vectors to start from: the leading eigenvectors of Q̄, and the answer to a similar problem.

    On the eigenvectors of Q̄ above β/vol, `count` of them or one more, B is positive, so that there are as
    many positive Ritz values as feasible cuts from the first round on.
    """
    width = max(2 * count + 8, 16) if start is None else count + 1
    leading = spectrum.embedded()[:, :width].toarray()
    return leading if start is None else np.hstack([start, leading])


def _scale_of(normalization: str, problem: LaplacianProblem, constraints: Constraints) -> FloatArray:
    if normalization == "target":
        return problem.affinity.scale
    if normalization == "source":
        degrees = constraints.apply(np.ones(problem.n))
        if np.any(degrees < 0):
            raise ConstraintError(
                "normalization='source' divides by the degrees of the source graph, which must not be "
                "negative; it is for Constraints.from_graph."
            )
        scale = np.zeros(problem.n)
        # Isolated points of the graph to cut take no part: v = D^{1/2} u is zero there.
        np.divide(1.0, np.sqrt(degrees), out=scale, where=(degrees > 0) & (problem.graph.degrees > 0))
        return scale
    raise ValueError(f"normalization={normalization!r}: choose 'target' or 'source'.")


def _check_count(known: Satisfiability, beta: float) -> int:
    count = known.n_feasible(beta)
    if count > 0:
        return count
    allowed = known.range_leaving(1)
    way_out = "No positive beta leaves any."
    if allowed is not None:
        way_out = f"Any beta between {allowed[0]:.6g} and {allowed[1]:.6g} leaves at least one."
    raise ConstraintError(
        f"beta={beta:.6g} leaves no feasible cut: Q̄ has {known.n_above(beta)} eigenvalues above "
        f"beta/vol={beta / known.volume:.4g}, and the trivial cut, with 1ᵀQ1={known.total:.4g}, takes "
        f"{int(known.total > beta)} of them. {way_out}"
    )


def _check_regular(pencil: SurplusPencil, known: Satisfiability, beta: float) -> None:
    if not _is_regular(pencil):
        raise SpectralError(
            f"beta={beta:.6g} makes eq. 13 singular: a cut that costs nothing satisfies the constraints to "
            f"exactly beta (the trivial one to 1ᵀQ1={known.total:.6g}). Choose a slightly different beta."
        )


def _is_regular(pencil: SurplusPencil) -> bool:
    form = np.abs(np.linalg.eigvalsh(pencil.null_form))
    return bool(form.min() > 1e-12 * max(form.max(), pencil.b))


# What an estimator remembers.


def remember_cuts(model: Any, cuts: FeasibleCuts) -> FeasibleCuts:
    """Let an estimator remember all feasible cuts, and return the K - 1 best, which are its eigenvectors."""
    best = cuts.first(max(model.n_clusters - 1, 1))
    model.cuts_, model.beta_, model.n_feasible_ = cuts, cuts.beta, cuts.n_feasible
    model.costs_ = best.costs
    model.solution_ = Eigenpairs(
        best.eigenvalues, best.vectors, best.residuals, cuts.solver, certify_count(cuts)
    )
    model.eigenvalues_, model.eigenvectors_ = best.eigenvalues, best.vectors
    return best


def certify_count(cuts: FeasibleCuts) -> Certificate:
    """Say whether all feasible cuts were found, and how one knows."""
    furthest = float(cuts.eigenvalues.max())
    if not cuts.complete:
        total = f"{'' if cuts.count_is_exact else 'at least '}{cuts.n_feasible}"
        detail = f"{cuts.costs.size} of {total} feasible cuts were computed, those of smallest λ."
        return Certificate("count", furthest, 1.0, False, detail)
    if not cuts.count_is_exact:
        detail = (
            f"{cuts.n_feasible} feasible cuts were found, as many as Lanczos finds eigenvalues of Q̄ above "
            "beta/vol; for constraints that tie so many points together that count is not proved."
        )
        return Certificate("none", furthest, 1.0, False, detail)
    detail = (
        f"All {cuts.n_feasible} feasible cuts were found: Sylvester's law counts as many positive "
        "eigenvalues, and as many Ritz values are positive with small residuals."
    )
    return Certificate("count", furthest, 0.0, True, detail)
