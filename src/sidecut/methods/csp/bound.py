"""The bound β that feasible cuts exceed: which values leave how many cuts, and the rules that choose one.

Section 4.3 of the paper of CSP.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from sidecut.arrays import FloatArray
from sidecut.constraints import Constraints, Spectrum
from sidecut.exceptions import ConstraintError
from sidecut.parameters import is_number

Rule = float | str | tuple[str, float]

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
    """What can be asked of the constraints: the spectrum of Q̄, and how a cut is counted as feasible.

    Attributes
    ----------
    values : array of shape (r,)
        The largest eigenvalues of Q̄, descending: all that are positive, or all above the β in question.
    total : float
        What the trivial vector D^{1/2} 1 satisfies, 1ᵀD^{1/2} Q̄ D^{1/2}1: 1ᵀQ1 where Q̄ = D^{-1/2} Q D^{-1/2}.
    volume : float
        vol(G).
    n_entries : int
        nnz(Q), the number of constraints of eq. 19.
    n_samples : int
        N.
    is_exact : bool
        Whether the values come from a full decomposition; those of a very large Q̄ come from Lanczos.
    """

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
    beta: Rule,
    n_clusters: int,
    max_cuts: int | None = None,
) -> tuple[Satisfiability, Spectrum]:
    """Return what can be asked of constraints, and the leading eigenvectors of Q̄ = S Q S.

    Parameters
    ----------
    constraints : Constraints
        Q.
    scale : array of shape (n,)
        The diagonal of S: D^{-1/2}, or that of a source graph.
    degrees : array of shape (n,)
        The diagonal of D.
    beta : number or rule
        Needed where Q̄ is so large that only the eigenvalues above β/vol are computed.
    n_clusters : int
        K.
    max_cuts : int, optional
        Where so many points hang together that LAPACK takes long, look at no more eigenvalues than so many
        cuts need.

    Raises
    ------
    ConstraintError
        If Q̄ is so large that its spectrum is not computed at once, and β leaves thousands of cuts.
    """
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
    """Return the name of a rule for β and its number; refuse what is neither a rule nor a positive number.

    Raises
    ------
    ValueError
        Naming the value and the choices.

    Examples
    --------
    >>> from sidecut.methods.csp.bound import parse_rule
    >>> parse_rule(("fraction", 0.9)), parse_rule(12)
    (('fraction', 0.9), ('number', 12.0))
    """
    if isinstance(rule, str) and rule in ("usual", "eq19", "one"):
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
        f"beta={rule!r}: give a number, 'usual', 'eq19', 'one', or ('fraction', f) with 0 < f < 1."
    )


def choose_beta(rule: Rule, known: Satisfiability, n_clusters: int) -> float:
    """Return β for a rule.

    Parameters
    ----------
    rule : number, "usual", "eq19", "one" or ("fraction", number)
        β itself; λ vol (0.1 + 1.5 √nnz(Q) / N), at most 0.9 λ vol; eq. 19, λ vol (0.5 + 0.4 nnz(Q) / N²); as
        large as leaves one feasible cut (section 7.3); a fraction of λ vol. λ is λ_{K-1}(Q̄), or λ_K(Q̄) where
        the trivial vector takes one direction, so that K - 1 feasible cuts are left if so many are possible.
    known : Satisfiability
        The spectrum of Q̄.
    n_clusters : int
        K.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.csp.bound import Satisfiability, choose_beta
    >>> known = Satisfiability(np.array([4.0, 3.0, 1.0]), total=0.0, volume=10.0, n_entries=6, n_samples=20)
    >>> choose_beta(("fraction", 0.2), known, n_clusters=3), choose_beta("one", known, n_clusters=3)
    (6.0, 35.0)
    """
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
    elif name == "usual":
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
