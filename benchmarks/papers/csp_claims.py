"""What the CSP paper says about its results (section 7; the illustrations have a file of their own)."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.papers import csp_illustrations
from benchmarks.papers.claims import (
    TIE,
    Claim,
    Verdict,
    best_share,
    curves,
    deviations,
    final,
    gain,
    graded,
    in_groups,
    worded,
)
from benchmarks.papers.csp import ON_NEIGHBORS, REUTERS, UCI
from benchmarks.papers.tables import Results

PAPER = "CSP (paper)"
GROUPS = {"RBF": [e.name for e in UCI], "k-NN": [e.name for e in ON_NEIGHBORS]}
SPARSE = ("ionosphere", "wdbc")


def _on_both(check: Callable[[Results, list[str]], Verdict | None]) -> Callable[[Results], Verdict | None]:
    """Judge on the graphs as the authors' code builds them and on k-NN graphs."""
    return in_groups(GROUPS, check)


def _improves(results: Results, names: list[str]) -> Verdict | None:
    leads = {name: gain(results, [name], PAPER, "Baseline") for name in names}
    if None in leads.values():
        return None
    good = sum(value > 0 for value in leads.values())
    text = f"mean ARI gained {worded(leads, '{:.2f}')}"
    return Verdict(True if good == len(leads) else None if good >= 4 else False, text)


def _quick(results: Results, names: list[str]) -> Verdict | None:
    table = curves(results, names, [PAPER, "Baseline"])
    if table is None:
        return None
    lead = (table[PAPER] - table["Baseline"]).groupby(level=0, sort=False)
    few, many = lead.first(), lead.last()
    good = int(((few > many / 2) & (few > TIE)).sum())
    told = worded(few.to_dict(), "{:+.2f}")
    text = f"ARI gained by 50 pairs {told}; half of the gain by 500 on {good} of {len(few)}"
    return Verdict(True if good == len(few) else None if good >= 3 else False, text)


def _steadily(results: Results, names: list[str]) -> Verdict | None:
    table = curves(results, names, [PAPER])
    if table is None:
        return None
    steps = table[PAPER].groupby(level=0).diff().dropna()
    return graded(
        float((steps > -TIE).mean()), "no fall in {:.0%} of the steps of 50 pairs", most=0.9, some=0.75
    )


def _converges(results: Results, names: list[str]) -> Verdict | None:
    ends = final(results, names, PAPER)
    if ends is None:
        return None
    good = int((ends > 0.9).sum())
    text = f"ARI with 500 pairs {worded(ends.to_dict(), '{:.2f}')}"
    return Verdict(True if good == len(ends) else None if good >= 3 else False, text)


def _beats(results: Results, names: list[str]) -> Verdict | None:
    table = curves(results, names, [PAPER, "SL", "SSKK"])
    if table is None:
        return None
    margins = {rival: float((table[PAPER] - table[rival]).mean()) for rival in ("SL", "SSKK")}
    text = f"best in {{:.0%}} of the cells, mean ARI above {worded(margins)}"
    return graded(best_share(results, names, PAPER, ["SL", "SSKK"]), text)


def _ap_no_better(results: Results, names: list[str]) -> Verdict | None:
    leads = {rival: gain(results, names, "AP", rival) for rival in ("SL", "SSKK")}
    if None in leads.values():
        return None
    text = f"mean ARI of AP above {worded(leads)}"
    return Verdict(max(leads.values()) <= 0, text)


def _satisfies(results: Results, names: list[str]) -> Verdict | None:
    kept = {method: results.mean(names, method, "kept") for method in (PAPER, "SL", "SSKK")}
    if None in kept.values():
        return None
    text = f"share of constraints kept {worded(kept, '{:.2f}')}"
    return Verdict(kept[PAPER] > 0.95, text)


def _steady(score: str, words: str) -> Callable[[Results, list[str]], Verdict | None]:
    def check(results: Results, names: list[str]) -> Verdict | None:
        spreads = {}
        for method in (PAPER, "SL", "SSKK"):
            by_size = deviations(results, names, method, score)
            if by_size is None:
                return None
            spreads[method] = float(by_size.mean())
        text = f"mean standard deviation of {words} {worded(spreads, '{:.3f}')}"
        return Verdict(spreads[PAPER] < min(spreads["SL"], spreads["SSKK"]), text)

    return check


def _steadier(results: Results, names: list[str]) -> Verdict | None:
    by_size = deviations(results, names, PAPER, "ari")
    if by_size is None:
        return None
    at = by_size.iloc[[0, len(by_size) // 2, -1]]
    text = "standard deviation of ARI " + ", ".join(
        f"{value:.3f} with {size:g}" for size, value in at.items()
    )
    falls = by_size.iloc[-1] / by_size.iloc[0]
    return Verdict(True if falls < 0.5 else None if falls < 1 else False, text)


def _sparse_graphs(results: Results, names: list[str]) -> Verdict | None:
    sparse = [name for name in names if name.endswith(SPARSE)]
    share = best_share(results, sparse, PAPER, ["SL", "SSKK"])
    return graded(share, "best in {:.0%} of the cells of the two")


def _others_suffer(results: Results, names: list[str]) -> Verdict | None:
    groups = {
        "there": [name for name in names if name.endswith(SPARSE)],
        "elsewhere": [name for name in names if not name.endswith(SPARSE)],
    }
    means = {
        f"{method} {where}": results.mean(group, method, "ari")
        for method in ("SL", "SSKK")
        for where, group in groups.items()
    }
    if None in means.values():
        return None
    text = f"mean ARI: {worded(means, '{:.2f}')}"
    worse = sum(means[f"{m} there"] < means[f"{m} elsewhere"] for m in ("SL", "SSKK"))
    return Verdict(True if worse == 2 else None if worse else False, text)


def _english_is_best(results: Results) -> Verdict | None:
    difference = gain(results, [REUTERS.name], "English alone", "translation alone")
    return None if difference is None else Verdict(difference > 0, f"ARI {difference:+.3f}")


def _mixed_beats(over: str) -> Callable[[Results], Verdict | None]:
    mixed = "translation, English as constraints"

    def check(results: Results) -> Verdict | None:
        lead = gain(results, [REUTERS.name], mixed, over)
        return None if lead is None else Verdict(lead > 0, f"ARI {lead:+.3f}")

    return check


WHY_NOT = (
    "With each feature's standard deviation as width the degrees of the RBF graphs differ by many orders of "
    "magnitude, and Q̄ weighs a pair by 1/√(d_i d_j): pairs of outliers drown all others. On WDBC so built "
    "the pencil is numerically singular and our CSP gives up. On graphs of 20 neighbours degrees are even, "
    "yet few pairs still harm; β is not the cause, as no share of the largest helps on WDBC ([what the "
    "reasons rest on](#what-the-reasons-rest-on)). We do not know why."
)
OTHER_TEXTS = (
    "The texts are a sample of 1,200 documents in 2,000 words a language, not the paper's collection. "
    "Whether that is why we do not know."
)
CLAIMS = [
    *csp_illustrations.CLAIMS,
    Claim("CSP improves over the baseline on all six UCI sets", "7.3, fig. 9", _on_both(_improves), WHY_NOT),
    Claim("A few pairs improve results quickly", "7.3, fig. 9", _on_both(_quick), WHY_NOT),
    Claim("More pairs improve them consistently", "7.3, fig. 9", _on_both(_steadily), WHY_NOT),
    Claim("It tends to the true partition as pairs are added", "7.3, fig. 9", _on_both(_converges), WHY_NOT),
    Claim("It beats SL and SSKK by a large margin", "7.3, fig. 9", _on_both(_beats), WHY_NOT),
    Claim(
        "Affinity propagation does no better than SL and SSKK",
        "7.3, fig. 9",
        _on_both(_ap_no_better),
        "AP's links are as hard here as in the paper on AP, ε = 1e-5; this paper does not say how hard its "
        "are. With ε = 10 AP is below SL on hepatitis and iris, and level with it on wine ([what the "
        "reasons rest on](#what-the-reasons-rest-on)). So softer links would explain the figure.",
    ),
    Claim(
        "It varies less between draws than its competitors",
        "7.3, fig. 9",
        _on_both(_steady("ari", "ARI")),
        WHY_NOT,
    ),
    Claim("It varies the less, the more pairs there are", "7.3, fig. 9", _on_both(_steadier), WHY_NOT),
    Claim(
        "It shines on sparse graphs (Ionosphere, WDBC)", "7.3, fig. 9 e, f", _on_both(_sparse_graphs), WHY_NOT
    ),
    Claim(
        "SL and SSKK suffer on sparse graphs",
        "7.3, fig. 9 e, f",
        _on_both(_others_suffer),
        "On graphs of 20 neighbours no set is sparser than another.",
    ),
    Claim("It satisfies almost all constraints", "7.3, fig. 10", _on_both(_satisfies), WHY_NOT),
    Claim(
        "In satisfaction, too, it varies less than its competitors",
        "7.3, fig. 10",
        _on_both(_steady("kept", "the share kept")),
        WHY_NOT,
    ),
    Claim(
        "Clustering the original language is better than a translation",
        "7.4, fig. 11",
        _english_is_best,
        OTHER_TEXTS,
    ),
    Claim(
        "A translation constrained by the original is better than the translation",
        "7.4, fig. 11",
        _mixed_beats("translation alone"),
        OTHER_TEXTS,
    ),
    Claim("It is even better than the original", "7.4, fig. 11", _mixed_beats("English alone"), OTHER_TEXTS),
]
NOT_RUN = [
    "Figure 6, the man with a tall hat: the picture is not at hand.",
    "Figures 12 and 13, transfer between scans of brains: the scans are not public.",
    "That the methods of Yu and Shi and of De Bie et al. do no better than SL and SSKK, and that the "
    "variant of SL by Xu et al. gives much the same as SL (7.3): they are no contenders here.",
]
