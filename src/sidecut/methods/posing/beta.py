"""How large β is: the least satisfaction of the constraints that a cut must reach (CSP, section 4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sidecut.constraints import Constraints, Spectrum
from sidecut.exceptions import ConstraintError
from sidecut.spectral.result import FloatArray

Rule = float | str | tuple[str, float]

#: How many leading eigenvalues of a large Q̄ are computed at first; twice as many as long as they are needed.
FIRST_EIGENVALUES = 64
#: β as a share of the largest that can be asked for. The papers ask for half or more; with less the graph has more
#: of a say, which served better on most data (benchmarks/choices/csp_beta.py).
USUAL_FRACTION = 0.1


@dataclass(frozen=True)
class Satisfiability:
    """What can be asked of the constraints: the spectrum of Q̄, and how a cut is counted as feasible.

    Attributes
    ----------
    values : array of shape (r,)
        The largest eigenvalues of Q̄, descending: all that are positive, or all above the β in question.
    total : float
        1ᵀQ1 in the normalisation of Q̄.
    volume : float
        vol(G).
    n_entries : int
        nnz(Q), the number of constraints of eq. 19.
    n_samples : int
        N.
    """

    values: FloatArray
    total: float
    volume: float
    n_entries: int
    n_samples: int

    def n_feasible(self, beta: float) -> int:
        """Return the exact number of feasible cuts, #{λ_i(Q̄) > β/vol} - [1ᵀQ1 > β].

        The trivial vector D^{1/2} 1 takes one of the positive directions when it satisfies the constraints by
        itself, as it does where must-links prevail; section 4.3 of the paper overlooks it.
        """
        above = int(np.count_nonzero(self.values > beta / self.volume))
        return max(above - int(self.total > beta), 0)

    def largest_beta(self, n_cuts: int) -> float | None:
        """Return the β below which there are at least `n_cuts` feasible cuts, or None if there is none."""
        for position in (n_cuts, n_cuts + 1):
            if position <= self.values.size:
                beta = float(self.values[position - 1]) * self.volume
                # Just below it, `position` eigenvalues lie above; the trivial vector may take one of them.
                if position - int(self.total >= beta) >= n_cuts:
                    return beta
        return None


def satisfiability(
    constraints: Constraints, scale: FloatArray, volume: float, beta: Rule, n_clusters: int
) -> tuple[Satisfiability, Spectrum]:
    """Return what can be asked of constraints, and the leading eigenvectors of Q̄ = S Q S.

    Parameters
    ----------
    constraints : Constraints
        Q.
    scale : array of shape (n,)
        The diagonal of S, D^{-1/2}.
    volume : float
        vol(G).
    beta : number or rule
        Needed where Q̄ is so large that only the eigenvalues above β/vol are computed.
    n_clusters : int
        K.
    """
    # Isolated nodes have no degree and take no part.
    placed = (scale > 0).astype(np.float64)
    total = float(placed @ constraints.apply(placed))

    def described(values: FloatArray) -> Satisfiability:
        return Satisfiability(values, total, volume, constraints.n_entries(), constraints.n_samples)

    try:
        spectrum = constraints.positive_spectrum(scale)
        return described(spectrum.values), spectrum
    except ConstraintError:
        count = max(FIRST_EIGENVALUES, 2 * n_clusters)
    while True:
        spectrum = constraints.positive_spectrum(scale, n_largest=count)
        known = described(spectrum.values)
        reached = chosen_beta(beta, known, n_clusters) / volume
        if spectrum.values.size < count or spectrum.values[-1] <= reached:
            return known, spectrum
        count *= 2


def chosen_beta(rule: Rule, known: Satisfiability, n_clusters: int) -> float:
    """Return β for a rule.

    Parameters
    ----------
    rule : number, "eq19", "one", "fraction" or ("fraction", number)
        β itself; eq. 19, λ vol (0.5 + 0.4 nnz(Q) / N²); as large as leaves one feasible cut (section 7.3);
        a fraction of λ vol, a tenth of it if no number is given. λ is λ_{K-1}(Q̄), the largest value that leaves
        K - 1 feasible cuts, which is λ_max for two clusters.
    known : Satisfiability
        The spectrum of Q̄.
    n_clusters : int
        K.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.methods.posing.beta import Satisfiability, chosen_beta
    >>> known = Satisfiability(np.array([4.0, 3.0, 1.0]), total=0.0, volume=10.0, n_entries=6, n_samples=20)
    >>> chosen_beta("fraction", known, n_clusters=3), chosen_beta("one", known, n_clusters=3)
    (3.0, 35.0)
    """
    if isinstance(rule, int | float | np.integer | np.floating) and not isinstance(rule, bool):
        return _finite(float(rule))
    name, fraction = _parsed(rule)
    if known.values.size == 0:
        raise ConstraintError(
            "No cut can satisfy these constraints: Q̄ has no positive eigenvalue. Check the signs of the "
            "beliefs, and that the constrained points have neighbours."
        )
    if name == "one":
        return _leaving_one(known)
    bound = _bound(known, n_clusters)
    if name == "eq19":
        fraction = 0.5 + 0.4 * known.n_entries / known.n_samples**2
    return fraction * bound


def _bound(known: Satisfiability, n_clusters: int) -> float:
    """Return λ vol, with the largest λ that leaves K - 1 feasible cuts, or as many as there can be."""
    for n_cuts in range(max(n_clusters - 1, 1), 0, -1):
        beta = known.largest_beta(n_cuts)
        if beta is not None:
            return beta
    return float(known.values[0]) * known.volume


def _leaving_one(known: Satisfiability) -> float:
    """Return the β in the middle of the range that leaves exactly one feasible cut."""
    upper = _bound(known, 2)
    below = known.values[known.values * known.volume < upper * (1 - 1e-9)]
    lower = float(below[0]) * known.volume if below.size else 0.0
    if lower < known.total < upper:
        # Past 1ᵀQ1 the trivial vector stops taking one direction, so the range ends there.
        lower = known.total
    return 0.5 * (lower + upper)


def _parsed(rule: Any) -> tuple[str, float]:
    if isinstance(rule, str) and rule in ("eq19", "one", "fraction"):
        return rule, USUAL_FRACTION
    if isinstance(rule, tuple) and len(rule) == 2 and rule[0] == "fraction" and 0 < rule[1] < 1:
        return "fraction", float(rule[1])
    raise ValueError(
        f"beta={rule!r}: give a number, 'eq19', 'one', 'fraction', or ('fraction', f) with 0 < f < 1."
    )


def _finite(beta: float) -> float:
    if not np.isfinite(beta):
        raise ValueError(f"beta={beta!r} must be finite.")
    return beta
