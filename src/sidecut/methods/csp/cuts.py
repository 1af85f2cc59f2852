"""The feasible cuts of eq. 13: how many a bound β leaves, and which β is chosen (CSP, sections 4 and 6)."""

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
from sidecut.methods.csp.pencil import (
    DENSE_NODES,
    SPARE_TOLERANCE,
    ConstrainedPencil,
    FeasibleCuts,
    is_regular,
    pose_pencil,
    solve_pencil,
)
from sidecut.methods.guard import are_ample
from sidecut.running import limit_threads

Bound = float | str | tuple[str, float]
Score = Callable[[FeasibleCuts], float]

#: With no more constrained points than this, all eigenvalues of Q̄ are computed; with more, those that
#: `max_cuts` needs.
EXACT_POINTS = 1_000
#: How many leading eigenvalues of a large Q̄ are computed at first, and at most.
FIRST_EIGENVALUES, MAX_EIGENVALUES = 64, 2_048
#: β as a share of the largest possible β, where hardly anything is known. The papers use half or more; with
#: less, clusterings were better (benchmarks/choices/csp_beta.py).
MIN_SHARE = 0.1
#: More feasible cuts than this are not all computed; those of smallest λ are. On random pairs the twenty
#: cheapest cuts were always among the eighty of smallest λ.
MAX_CUTS = 300
#: Tolerance factor for the K - 1 cuts when many are feasible. On segment, n pairs, four draws, 10,000 gave
#: a mean ARI of .660, 100 gave .719 and 1 gave .707: one draw took another β of nearly the same score.
SCATTERED_TOLERANCE = 100
#: These times the automatic β are tried with scattered pairs, beside that of eq. 19. Two true clusters
#: satisfy every pair, so β may be larger; more than two satisfy less, since a cannot-link separates two of
#: many. Set on 38 tables, shapes and generated sets with n and .3 n pairs.
OTHER_BOUNDS = {"two": (2.0, 4.0), "more": (0.125, 0.5, 2.0)}
#: No larger β is tried than this many times what K true clusters of one size satisfy: with more, cuts follow
#: single pairs and their neighbours. Set on the same sets, where 2.2 and 3 gave the same mean.
MAX_REACH = 2.5
#: The gain in agreement with the constraints that a larger β, or another start of k-means, has to bring.
MIN_GAIN = 0.02

NORMALIZATIONS = ("target", "source")


@dataclass(frozen=True)
class ConstraintSpectrum:
    """The positive eigenvalues of Q̄, with 1ᵀQ1 and vol: they count the feasible cuts of any β."""

    values: FloatArray
    total: float
    volume: float
    n_entries: int
    n_samples: int
    is_exact: bool = True

    def n_above(self, beta: float) -> int:
        """Return how many eigenvalues of Q̄ exceed β/vol; one within rounding of it does not."""
        rounding = 1e-12 * float(self.values[0]) if self.values.size else 0.0
        return int(np.count_nonzero(self.values > beta / self.volume + rounding))

    def n_feasible(self, beta: float) -> int:
        """Return the exact number of feasible cuts, #{λ_i(Q̄) > β/vol} - [1ᵀQ1 > β]."""
        # The trivial vector D^{1/2} 1 takes one of the positive directions when it satisfies the constraints
        # by itself, as it does where must-links prevail; section 4.3 of the paper overlooks it.
        return max(self.n_above(beta) - int(self.total > beta), 0)

    def bound(self, position: int) -> float | None:
        """Return λ vol with λ the eigenvalue of Q̄ at a position from 1, or None if it is not positive."""
        if not 1 <= position <= self.values.size:
            return None
        return float(self.values[position - 1]) * self.volume

    def beta_range(self, n_cuts: int) -> tuple[float, float] | None:
        """Return the highest range of β that leaves at least `n_cuts` feasible cuts, or None if none does."""
        # Past 1ᵀQ1 the trivial vector stops taking one direction. So there may be two ranges with a gap in
        # between: from 0 to λ_{m+1} vol, and from 1ᵀQ1 to λ_m vol.
        upper, lower = self.bound(n_cuts), self.bound(n_cuts + 1)
        if upper is not None and self.total < upper:
            connected = self.total <= 0 or (lower is not None and self.total < lower)
            return (0.0 if connected else self.total), upper
        return None if lower is None else (0.0, lower)

    def infeasible(self, beta: float) -> InfeasibleError:
        """Return the error that says that β leaves no feasible cut, and which β does."""
        allowed = self.beta_range(1)
        way_out = "No positive beta leaves any."
        if allowed is not None:
            way_out = f"Any beta between {allowed[0]:.6g} and {allowed[1]:.6g} leaves at least one."
        return InfeasibleError(
            f"beta={beta:.6g} leaves no feasible cut: Q̄ has {self.n_above(beta)} eigenvalues above "
            f"beta/vol={beta / self.volume:.4g}, and the trivial cut, with 1ᵀQ1={self.total:.4g}, takes "
            f"{int(self.total > beta)} of them. {way_out}"
        )


def constraint_spectrum(
    constraints: Constraints,
    scale: FloatArray,
    degrees: FloatArray,
    beta: Bound,
    n_clusters: int,
    max_cuts: int | None = None,
) -> tuple[ConstraintSpectrum, Spectrum]:
    """Return the positive spectrum of Q̄ = S Q S, as far as β needs it, and its eigenvectors."""
    # S D^{1/2} 1 is 1 for Q̄ = D^{-1/2} Q D^{-1/2}, but 0 at isolated nodes, which take no part.
    trivial = scale * np.sqrt(degrees)
    total, volume = float(trivial @ constraints.apply(trivial)), float(degrees.sum())
    known = ConstraintSpectrum(np.empty(0), total, volume, constraints.n_entries(), scale.size)
    if max_cuts is not None and constraints.constrained_points.size > EXACT_POINTS:
        # One more cut than is computed shows that there are more; the trivial vector may take another.
        count = max_cuts + 2
        spectrum = constraints.positive_spectrum(scale, n_largest=count, tolerance=0.01)
        return replace(known, values=spectrum.values, is_exact=spectrum.values.size < count), spectrum
    try:
        spectrum = constraints.positive_spectrum(scale)
        return replace(known, values=spectrum.values), spectrum
    except ConstraintError:
        # Too many points are connected for their whole spectrum.
        count = max(FIRST_EIGENVALUES, 2 * n_clusters)
    while count <= MAX_EIGENVALUES:
        spectrum = constraints.positive_spectrum(scale, n_largest=count)
        known = replace(known, values=spectrum.values, is_exact=False)
        reached = choose_beta(beta, known, n_clusters) / volume
        if spectrum.values.size < count or spectrum.values[-1] <= reached:
            return known, spectrum
        count *= 2
    raise ConstraintError(
        f"beta={beta!r} leaves more than {MAX_EIGENVALUES} feasible cuts of constraints that connect more "
        f"than 4000 points. Choose a larger beta: up to {known.bound(1):.4g} leaves at least one."
    )


def parse_rule(name: str, rule: Any) -> tuple[str, float]:
    """Return the name of a rule for β and its number; refuse what is neither a rule nor a positive number."""
    if isinstance(rule, str) and rule in ("auto", "eq19", "one"):
        return rule, np.nan
    if is_number(rule):
        if np.isfinite(rule) and rule > 0:
            return "number", float(rule)
        raise ValueError(
            f"{name}={rule!r} must be finite and positive: otherwise nearly all cuts are feasible."
        )
    is_pair = isinstance(rule, tuple) and len(rule) == 2 and rule[0] == "fraction" and is_number(rule[1])
    if is_pair and 0 < rule[1] < 1:
        return "fraction", float(rule[1])
    raise ValueError(
        f"{name}={rule!r}: give a number, 'auto', 'eq19', 'one', or ('fraction', f) with 0 < f < 1."
    )


def choose_beta(rule: Bound, known: ConstraintSpectrum, n_clusters: int) -> float:
    """Return β for a rule."""
    name, fraction = parse_rule("beta", rule)
    if name == "number":
        return fraction
    if known.values.size == 0:
        raise ConstraintError(
            "No cut can satisfy these constraints: Q̄ has no positive eigenvalue. Check the signs of the "
            "beliefs, and that the constrained points have neighbours."
        )
    if name == "one":
        return _beta_for_one_cut(known)
    # Of c labelled points all c² pairs are known.
    share_known = np.sqrt(known.n_entries) / known.n_samples
    if name == "eq19":
        fraction = 0.5 + 0.4 * share_known**2
    elif name == "auto":
        # Where all pairs are known the graph adds nothing; eq. 19 goes as far as 0.9, too.
        fraction = min(MIN_SHARE + 1.5 * share_known, 0.9)
    return _share(known, fraction, max(n_clusters - 1, 1))


def _share(known: ConstraintSpectrum, fraction: float, most_cuts: int) -> float:
    """Return f λ vol, with the largest λ for which it leaves `most_cuts` cuts, or as many as there can be."""
    for n_cuts in range(most_cuts, 0, -1):
        allowed = known.beta_range(n_cuts)
        if allowed is None:
            continue
        low, high = allowed
        for bound in (known.bound(n_cuts), known.bound(n_cuts + 1)):
            # Below 1ᵀQ1 there may be a gap with fewer cuts.
            if bound is not None and bound <= high and known.n_feasible(fraction * bound) >= n_cuts:
                return fraction * bound
        return low + fraction * (high - low)
    return fraction * float(known.values[0]) * known.volume


def _beta_for_one_cut(known: ConstraintSpectrum) -> float:
    """Return the middle of the highest range of β that leaves one feasible cut, or as few as can be."""
    ends = np.append(known.values * known.volume, [max(known.total, 0.0), 0.0])
    ends = np.unique(ends)[::-1]
    middles = [0.5 * (high + low) for high, low in pairwise(ends) if low < high * (1 - 1e-9)]
    counts = [known.n_feasible(beta) for beta in middles]
    # Where eigenvalues coincide no β may leave exactly one.
    fewest = min((count for count in counts if count > 0), default=0)
    return float(middles[counts.index(fewest)])


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
    degrees = graph.degrees
    scale = _scale_of(normalization, graph, constraints)
    if normalization == "target":
        _warn_if_few_points_dominate(degrees, constraints.constrained_points)
    with limit_threads(only_blas=True):
        known, spectrum = constraint_spectrum(constraints, scale, degrees, beta, n_clusters, max_cuts)
        threshold = choose_beta(beta, known, n_clusters)
        count = known.n_feasible(threshold)
        if count == 0:
            raise known.infeasible(threshold)
        pencil = pose_pencil(graph, constraints, scale, threshold, known.total)
        few = MAX_CUTS if max_cuts is None else max_cuts
        # Scattered pairs leave many feasible cuts; the best are close to the cuts of the graph.
        n_exact = max(n_clusters - 1, 1) if count > few and smooth is not None else None
        tol = tol if n_exact is None else SCATTERED_TOLERANCE * tol
        if n_exact is not None and smooth is not None and start is None:
            start = _respond(pencil, smooth(), spectrum.values[:n_exact].min())
        # Where the whole pencil is decomposed, further cuts cost next to nothing.
        most = MAX_CUTS if graph.n_nodes <= DENSE_NODES else few

        def solve(bound: float, near: FloatArray | None) -> FeasibleCuts:
            count = known.n_feasible(bound)
            seeds = _seeds(spectrum, min(count, most), near)
            at_bound = replace(pencil, b=bound / known.volume)
            return solve_pencil(at_bound, count, most, seeds, tol, n_exact, bound)

        cuts = solve(threshold, start)
        if n_exact is not None and score is not None and are_ample(constraints, n_clusters):
            bounds = _other_bounds(pencil, known, constraints, n_clusters)
            cuts = _climb(cuts, bounds, choose_beta("eq19", known, n_clusters), solve, score)
    if cuts.n_feasible > few == MAX_CUTS:
        warn(
            f"beta={threshold:.6g} leaves {count} feasible cuts, of which {MAX_CUTS} of smallest λ are "
            "computed; a cut of less cost may be among the others. A larger beta leaves fewer.",
            ConstraintWarning,
        )
    return replace(cuts, count_is_exact=known.is_exact)


def _other_bounds(
    pencil: ConstrainedPencil, known: ConstraintSpectrum, constraints: Constraints, n_clusters: int
) -> list[float]:
    """Return the β that are tried with scattered pairs beside the usual one; all leave K - 1 cuts."""
    usual, times = pencil.b * known.volume, OTHER_BOUNDS["two" if n_clusters == 2 else "more"]
    # Indicators of K clusters of one size, uᵀu = n: u_i u_j has the mean 1 within, -1 / (K - 1) between them.
    together = constraints.must_part().total()
    reach = MAX_REACH * (together + (together - constraints.total()) / (n_clusters - 1))
    bounds = [many * usual for many in times if many < 1.0 or many * usual < reach]
    eq19 = choose_beta("eq19", known, n_clusters)
    if n_clusters == 2 or eq19 < reach:
        bounds.append(eq19)

    def is_possible(bound: float) -> bool:
        b = bound / known.volume
        return known.n_feasible(bound) >= n_clusters - 1 and is_regular(replace(pencil, b=b).null_form, b)

    return sorted(bound for bound in bounds if is_possible(bound))


def _climb(
    usual: FeasibleCuts,
    others: list[float],
    eq19: float,
    solve: Callable[[float, FloatArray | None], FeasibleCuts],
    score: Score,
) -> FeasibleCuts:
    """Return the cuts of a β at which the score is higher than at its neighbours."""
    # From the better of the usual β and that of eq. 19, the next β in a direction is tried while the score
    # grows. A β larger than the usual has to gain `MIN_GAIN`. A smaller one, whose cuts are smoother, may
    # lose as much: where many clusters overlap, scores hardly differ.
    best, score_of_usual = usual, score(usual)
    if score_of_usual + MIN_GAIN >= 1.0:
        return usual
    highest, tried = -np.inf, {usual.beta}

    def improves(bound: float) -> bool:
        nonlocal best, highest
        tried.add(bound)
        try:
            cuts = solve(bound, np.hstack([usual.vectors, best.vectors]))
        except SpectralError:
            return False
        found, gain = score(cuts), MIN_GAIN if bound > usual.beta else -MIN_GAIN
        if found <= max(highest, score_of_usual + gain):
            return False
        best, highest = cuts, found
        return True

    if eq19 in others:
        improves(eq19)
    top = best.beta
    larger = [bound for bound in others if bound > top]
    smaller = [bound for bound in reversed(others) if bound < top]
    for bounds in (larger, smaller):
        all(bound not in tried and improves(bound) for bound in bounds)
        if best.beta > top:
            break
    return best


def _warn_if_few_points_dominate(degrees: FloatArray, points: IntArray) -> None:
    """Warn if a few constrained points outweigh the rest, since Q̄ divides constraints by degrees."""
    points = points[degrees[points] > 0]
    if points.size < 20:
        return
    # Relative to the smallest degree, since 1/d may overflow; 1 for the point that weighs most.
    weights = degrees[points].min() / degrees[points]
    effective = weights.sum() ** 2 / np.sum(weights**2)
    heaviest, median = points[np.argmax(weights)], np.median(degrees[points])
    # In pictures a degree of a thousandth of the median is common and does no harm.
    if effective >= 0.1 * points.size or degrees[heaviest] > 1e-4 * median:
        return
    warn(
        f"the constraints of {points.size} points count as if there were {effective:.3g} of them: Q̄ divides "
        f"beliefs by the degrees of the graph, and point {heaviest} has a degree of {degrees[heaviest]:.3g} "
        f"where the median is {median:.3g}. With a graph of more even degrees all "
        "of them count: affinity='knn', or a larger width of the kernel; or say nothing about such points.",
        ConstraintWarning,
    )


def _respond(pencil: ConstrainedPencil, cuts: FloatArray, value: float) -> FloatArray:
    """Return some cuts u of the graph, and the solutions v of (μ L̄ + b I) v = Q̄ u for μ of twice a value."""
    mu = np.full(cuts.shape[1], 2.0 * value)
    return np.hstack([cuts, pencil.precondition(pencil.apply_Q(cuts), mu, SPARE_TOLERANCE)])


def _seeds(spectrum: Spectrum, count: int, start: FloatArray | None) -> FloatArray:
    """Return the vectors to start from: leading eigenvectors of Q̄, and the answer to a similar problem."""
    # On the eigenvectors of Q̄ above β/vol, `count` of them or one more, B is positive, so that there are as
    # many positive Ritz values as feasible cuts from the first round on.
    width = max(2 * count + 8, 16) if start is None else count + 1
    leading = spectrum.embedded()[:, :width].toarray()
    return leading if start is None else np.hstack([start, leading])


def _scale_of(normalization: str, graph: Graph, constraints: Constraints) -> FloatArray:
    """Return the diagonal of S in Q̄ = S Q S."""
    if normalization == "target":
        return graph.scale
    if normalization != "source":
        raise ValueError(f"normalization={normalization!r}: choose 'target' or 'source'.")
    degrees = constraints.apply(np.ones(graph.n_nodes))
    if np.any(degrees < 0):
        raise ConstraintError(
            "normalization='source' divides by the degrees of the source graph, which must not be "
            "negative; it is for Constraints.from_graph."
        )
    scale = np.zeros(graph.n_nodes)
    # Isolated points of the graph to cut take no part: v = D^{1/2} u is zero there.
    np.divide(1.0, np.sqrt(degrees), out=scale, where=(degrees > 0) & (graph.degrees > 0))
    return scale
