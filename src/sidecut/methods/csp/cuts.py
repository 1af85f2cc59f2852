"""The feasible cuts of eq. 13, with their costs (CSP, sections 4 and 6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from sidecut.checks import FloatArray, IntArray, is_number
from sidecut.constraints import Constraints, Spectrum
from sidecut.exceptions import ConstraintError, ConstraintWarning, InfeasibleError, SpectralError, warn
from sidecut.graphs import Graph
from sidecut.methods.csp.pencil import PencilOnBasis, SurplusPencil, feasible_pairs, scale_beliefs
from sidecut.spectral.certificate import Certificate, Eigenpairs
from sidecut.spectral.laplacian import LaplacianProblem, orient
from sidecut.threads import limit_threads

Bound = float | str | tuple[str, float]

#: How many leading eigenvalues of a large Q̄ are computed at first; twice as many as long as they are needed.
FIRST_EIGENVALUES = 64
#: Of no more than this many constrained points all eigenvalues are computed in any case.
MANY_POINTS = 1_000
#: Where only as many are looked at as some cuts need, to this accuracy: β is a rule of thumb.
ROUGHLY = 0.01
#: No further than this.
MOST_EIGENVALUES = 2_048
#: An eigenvalue of Q̄ that exceeds β/vol by less than this, relative to the largest, counts as equal to it.
ROUNDING = 1e-12
#: Eigenvalues closer than this, relatively, are not told apart by the rule "one".
APART = 1e-9
#: β as a share of the largest that can be asked for, where next to nothing is known. The papers ask for half
#: or more; with less the graph has more of a say, which served better (benchmarks/choices/csp_beta.py).
LEAST_SHARE = 0.1
#: How fast that share grows with √nnz(Q) / N, which is the share of labelled points.
SHARE_PER_KNOWN = 1.5
#: Where all pairs are known there is nothing left for the graph to say; eq. 19 goes as far.
MOST_SHARE = 0.9


@dataclass(frozen=True)
class Satisfiability:
    """What can be asked of the constraints: the spectrum of Q̄, and how a cut is counted as feasible."""

    values: FloatArray
    total: float
    volume: float
    n_entries: int
    n_samples: int
    is_exact: bool = True

    def n_above(self, beta: float) -> int:
        """Return how many eigenvalues of Q̄ exceed β/vol; one within rounding of it does not."""
        rounding = ROUNDING * float(self.values[0]) if self.values.size else 0.0
        return int(np.count_nonzero(self.values > beta / self.volume + rounding))

    def n_feasible(self, beta: float) -> int:
        """Return the exact number of feasible cuts, #{λ_i(Q̄) > β/vol} - [1ᵀQ1 > β].

        The trivial vector D^{1/2} 1 takes one of the positive directions when it satisfies the constraints by
        itself, as it does where must-links prevail; section 4.3 of the paper overlooks it.
        """
        return max(self.n_above(beta) - int(self.total > beta), 0)

    def bound(self, position: int) -> float | None:
        """Return λ vol with λ the eigenvalue of Q̄ at a position from 1, or None if it is not positive."""
        if not 1 <= position <= self.values.size:
            return None
        return float(self.values[position - 1]) * self.volume

    def range_leaving(self, n_cuts: int) -> tuple[float, float] | None:
        """Return the highest range of β that leaves at least `n_cuts` feasible cuts, or None if none does.

        Past 1ᵀQ1 the trivial vector stops taking one direction. So there may be two ranges with a gap in
        between: from 0 to λ_{m+1} vol, and from 1ᵀQ1 to λ_m vol.
        """
        upper, lower = self.bound(n_cuts), self.bound(n_cuts + 1)
        if upper is not None and self.total < upper:
            connected = self.total <= 0 or (lower is not None and self.total < lower)
            return (0.0 if connected else self.total), upper
        return None if lower is None else (0.0, lower)


def satisfiability(
    constraints: Constraints,
    scale: FloatArray,
    degrees: FloatArray,
    beta: Bound,
    n_clusters: int,
    max_cuts: int | None = None,
) -> tuple[Satisfiability, Spectrum]:
    """Return what can be asked of constraints, and the leading eigenvectors of Q̄ = S Q S."""
    # S D^{1/2} 1 is 1 for Q̄ = D^{-1/2} Q D^{-1/2}, but 0 at isolated nodes, which take no part.
    trivial = scale * np.sqrt(degrees)
    total, volume = float(trivial @ constraints.apply(trivial)), float(degrees.sum())

    def describe(values: FloatArray) -> Satisfiability:
        return Satisfiability(values, total, volume, constraints.n_entries(), constraints.n_samples)

    if max_cuts is not None and constraints.constrained_points.size > MANY_POINTS:
        # One more cut than is computed shows that there are more; the trivial vector may take another.
        count = max_cuts + 2
        spectrum = constraints.positive_spectrum(scale, n_largest=count, tolerance=ROUGHLY)
        return replace(describe(spectrum.values), is_exact=spectrum.values.size < count), spectrum
    try:
        spectrum = constraints.positive_spectrum(scale)
        return describe(spectrum.values), spectrum
    except ConstraintError:
        # Too many points hang together for their whole spectrum.
        count = max(FIRST_EIGENVALUES, 2 * n_clusters)
    while count <= MOST_EIGENVALUES:
        spectrum = constraints.positive_spectrum(scale, n_largest=count)
        known = replace(describe(spectrum.values), is_exact=False)
        reached = choose_beta(beta, known, n_clusters) / volume
        if spectrum.values.size < count or spectrum.values[-1] <= reached:
            return known, spectrum
        count *= 2
    raise ConstraintError(
        f"beta={beta!r} leaves more than {MOST_EIGENVALUES} feasible cuts of constraints that tie more than "
        f"4000 points together. Choose a larger beta: up to {known.bound(1):.4g} leaves at least one."
    )


def parse_rule(rule: Any) -> tuple[str, float]:
    """Return the name of a rule for β and its number; refuse what is neither a rule nor a positive number."""
    if isinstance(rule, str) and rule in ("auto", "eq19", "one"):
        return rule, np.nan
    if is_number(rule):
        if np.isfinite(rule) and rule > 0:
            return "number", float(rule)
        raise ValueError(
            f"beta={rule!r} must be finite and positive: otherwise nearly all cuts are feasible."
        )
    is_pair = isinstance(rule, tuple) and len(rule) == 2 and rule[0] == "fraction" and is_number(rule[1])
    if is_pair and 0 < rule[1] < 1:
        return "fraction", float(rule[1])
    raise ValueError(
        f"beta={rule!r}: give a number, 'auto', 'eq19', 'one', or ('fraction', f) with 0 < f < 1."
    )


def choose_beta(rule: Bound, known: Satisfiability, n_clusters: int) -> float:
    """Return β for a rule."""
    name, fraction = parse_rule(rule)
    if name == "number":
        return fraction
    if known.values.size == 0:
        raise ConstraintError(
            "No cut can satisfy these constraints: Q̄ has no positive eigenvalue. Check the signs of the "
            "beliefs, and that the constrained points have neighbours."
        )
    if name == "one":
        return _leaving_one(known)
    # Of c labelled points all c² pairs are known.
    share_known = np.sqrt(known.n_entries) / known.n_samples
    if name == "eq19":
        fraction = 0.5 + 0.4 * share_known**2
    elif name == "auto":
        fraction = min(LEAST_SHARE + SHARE_PER_KNOWN * share_known, MOST_SHARE)
    return _share(known, fraction, max(n_clusters - 1, 1))


def _share(known: Satisfiability, fraction: float, most_cuts: int) -> float:
    """Return f λ vol, with the largest λ for which it leaves `most_cuts` cuts, or as many as there can be."""
    for n_cuts in range(most_cuts, 0, -1):
        allowed = known.range_leaving(n_cuts)
        if allowed is None:
            continue
        low, high = allowed
        for bound in (known.bound(n_cuts), known.bound(n_cuts + 1)):
            # Below 1ᵀQ1 there may be a gap with fewer cuts.
            if bound is not None and bound <= high and known.n_feasible(fraction * bound) >= n_cuts:
                return fraction * bound
        return low + fraction * (high - low)
    return fraction * float(known.values[0]) * known.volume


def _leaving_one(known: Satisfiability) -> float:
    """Return the middle of the highest range of β that leaves one feasible cut, or as few as can be."""
    ends = np.append(known.values * known.volume, [max(known.total, 0.0), 0.0])
    ends = np.unique(ends)[::-1]
    middles = [0.5 * (high + low) for high, low in pairwise(ends) if low < high * (1 - APART)]
    counts = [known.n_feasible(beta) for beta in middles]
    # Where eigenvalues coincide no β may leave exactly one.
    fewest = min((count for count in counts if count > 0), default=0)
    return float(middles[counts.index(fewest)])


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
    """The feasible cuts of eq. 13, those of least cost first."""

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
    beta: Bound = "auto",
    *,
    n_clusters: int = 2,
    normalization: str = "target",
    tol: float = 1e-6,
    start: FloatArray | None = None,
    max_cuts: int | None = None,
    smooth: Callable[[], FloatArray] | None = None,
    score: Score | None = None,
) -> FeasibleCuts:
    """Return the cuts that are eigenvectors of eq. 13 and satisfy the constraints."""
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


def enough_cuts(beta: Bound, n_clusters: int) -> int:
    """Return how many feasible cuts an estimator computes: with the usual β few more than it uses."""
    is_usual = isinstance(beta, str) and beta == "auto"
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
    raise InfeasibleError(
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


def solution_of(cuts: FeasibleCuts, best: FeasibleCuts) -> Eigenpairs:
    """Return the cuts that are used as eigenpairs, with what is known about all of them."""
    return Eigenpairs(best.eigenvalues, best.vectors, best.residuals, cuts.solver, certify_count(cuts))


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
