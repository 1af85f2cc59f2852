"""What the SCACS paper says about its results (sections 5.2 to 5.4 and 6)."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from benchmarks.papers.claims import Claim, Verdict, best_share, curves, data_of, gain, graded, worded
from benchmarks.papers.scacs import FIG2, LARGE, SMALL
from benchmarks.papers.tables import Results

SMALL_NAMES, LARGE_NAMES = [e.name for e in SMALL], [e.name for e in LARGE]
WIDE, NARROW = ("usps", "mnist"), ("letter", "covtype")
BETA_SWEEPS = {e.name.partition("-")[2].partition("-")[2]: e.name for e in FIG2 if e.sweep == "beta0"}


def _run(results: Results, names: list[str], method: str = "SCACS") -> list[str]:
    return [name for name in names if results.curve(name, method, "acc") is not None]


def _by_set(results: Results, names: list[str], method: str, over: str) -> dict[str, float]:
    """Return the mean difference of two methods on every set that was run."""
    found = {name: gain(results, [name], method, over) for name in _run(results, names)}
    return {data_of(name): value for name, value in found.items() if value is not None}


def _beats_baseline(results: Results) -> Verdict | None:
    leads = _by_set(results, SMALL_NAMES, "SCACS", "LSC-R")
    if not leads:
        return None
    printed = _by_set(results, SMALL_NAMES, "SCACS (paper)", "LSC-R")
    text = f"accuracy above LSC-R: {worded(leads)}; as printed {worded(printed)}"
    return Verdict(True if min(leads.values()) > 0.05 else None if min(leads.values()) > 0 else False, text)


def _few_labels_help(results: Results) -> Verdict | None:
    names = _run(results, SMALL_NAMES + LARGE_NAMES)
    table = curves(results, names, ["SCACS", "LSC-R"])
    if table is None:
        return None
    fewest = table.groupby(level=0, sort=False).first()
    leads = {
        name.removeprefix("scacs-"): float(row["SCACS"] - row["LSC-R"]) for name, row in fewest.iterrows()
    }
    share = sum(lead > 0.05 for lead in leads.values()) / len(leads)
    return graded(
        share, f"accuracy above LSC-R with 100 labels: {worded(leads)}; by more than 0.05 on {{:.0%}}"
    )


def _fcsc_over_sl(results: Results) -> Verdict | None:
    leads = _by_set(results, SMALL_NAMES, "FCSC", "SL")
    if not leads:
        return None
    mean = sum(leads.values()) / len(leads)
    return Verdict(mean > 0.02, f"accuracy above SL: {worded(leads)}")


def _better_than_sl(results: Results) -> Verdict | None:
    leads = _by_set(results, SMALL_NAMES, "SCACS", "SL")
    if not leads:
        return None
    mean = sum(leads.values()) / len(leads)
    return Verdict(mean > 0, f"accuracy {mean:+.3f} above SL in the mean: {worded(leads)}")


def _close_to_fcsc(results: Results) -> Verdict | None:
    leads = _by_set(results, SMALL_NAMES, "SCACS", "FCSC")
    if not leads:
        return None
    text = f"accuracy above FCSC: {worded(leads)}"
    nearby = _by_set(results, SMALL_NAMES, "SCACS", "CSP, k-NN")
    if nearby:
        text += f"; above CSP on 30 neighbours: {worded(nearby)}"
    return Verdict(max(map(abs, leads.values())) < 0.05, text)


def _beats_fast(results: Results) -> Verdict | None:
    names = [name for name in _run(results, LARGE_NAMES) if "covtype" not in name]
    share = best_share(results, names, "SCACS", ["LSC-R", "CKM", "ML"])
    sets = ", ".join(map(data_of, names))
    return graded(share, f"best in {{:.0%}} of the cells ({sets})")


def _on_covtype(results: Results) -> Verdict | None:
    names = [name for name in _run(results, LARGE_NAMES) if "covtype" in name]
    return graded(best_share(results, names, "SCACS", ["LSC-R", "CKM"]), "best in {:.0%} of the cells")


def _metric_learning(results: Results) -> Verdict | None:
    leads = _by_set(results, LARGE_NAMES, "ML", "LSC-R")
    narrow, wide = ([leads[name] for name in group if name in leads] for group in (NARROW, WIDE))
    if not narrow or not wide:
        return None
    return Verdict(min(narrow) > max(wide), f"accuracy of ML above LSC-R: {worded(leads)}")


def _many_dimensions(results: Results) -> Verdict | None:
    leads = {
        name: lead for name, lead in _by_set(results, LARGE_NAMES, "SCACS", "ML").items() if name in WIDE
    }
    if not leads:
        return None
    return Verdict(min(leads.values()) > 0.05, f"accuracy of SCACS above ML: {worded(leads)}")


def _table2(results: Results, column: str) -> pd.DataFrame | None:
    """Return a column of table 2, a row per set on which CSP was run."""
    table = results.other("scacs_table2.csv")
    if table is None:
        return None
    return table.pivot(index="data", columns="method", values=column).dropna(subset=["CSP", "SCACS (paper)"])


def _much_faster(results: Results) -> Verdict | None:
    seconds = _table2(results, "seconds")
    if seconds is None:
        return None
    ratios = (seconds["CSP"] / seconds["SCACS (paper)"]).to_dict()
    text = f"CSP takes longer by these factors: {worded(ratios, '{:.1f}')} (the paper: 65 to 32,000)"
    faster = sum(ratio > 1 for ratio in ratios.values())
    return Verdict(True if min(ratios.values()) > 10 else None if faster > len(ratios) / 2 else False, text)


def _accurate_for_its_time(method: str) -> Callable[[Results], Verdict | None]:
    def judge(results: Results) -> Verdict | None:
        accuracy, seconds = _table2(results, "ACC"), _table2(results, "seconds")
        if accuracy is None or seconds is None:
            return None
        lost = accuracy["CSP"] - accuracy[method]
        good = (lost < 0.05) & (seconds[method] < seconds["CSP"])
        text = f"accuracy below CSP: {worded(lost.to_dict(), '{:.3f}')}; below 0.05 and faster on {{:.0%}}"
        return graded(float(good.mean()), text)

    return judge


def _ends_of(curve: pd.Series) -> str:
    (first, low), (last, high) = curve.iloc[[0, -1]].items()
    return f"{low:.3f} at {first:g}, {high:.3f} at {last:g}"


def _sweeps(results: Results, panel: str) -> dict[str, pd.Series]:
    """Return the curves of a panel of figure 2, by data set."""
    names = [e.name for e in FIG2 if e.figure == f"fig. 2 {panel}"]
    found = {data_of(name): results.curve(name, "SCACS", "acc") for name in names}
    return {name: curve for name, curve in found.items() if curve is not None}


def _parameter(
    panel: str, holds: Callable[[pd.Series], bool], start: int = 0
) -> Callable[[Results], Verdict | None]:
    """Judge the curves of a panel of figure 2, from some value of the parameter on."""

    def check(results: Results) -> Verdict | None:
        found = {name: curve.loc[start:] for name, curve in _sweeps(results, panel).items()}
        if not found:
            return None
        text = "; ".join(f"{name}: {_ends_of(curve)}" for name, curve in found.items())
        return Verdict(all(holds(curve) for curve in found.values()), text)

    return check


def _faster_on_mnist(results: Results) -> Verdict | None:
    falls = {name: float(curve.iloc[0] - curve.iloc[-1]) for name, curve in _sweeps(results, "a").items()}
    if not {"mnist", "pendigits"} <= set(falls):
        return None
    text = f"accuracy lost from the smallest r to the largest: {worded(falls, '{:.3f}')}"
    return Verdict(falls["mnist"] > falls["pendigits"] + 0.005, text)


def _few_labels_large_beta(results: Results) -> Verdict | None:
    """Compare β₀ = 0.8 with the best of the smaller ones."""
    lost = {}
    for data in ("pendigits-100", "mnist-100"):
        curve = results.curve(BETA_SWEEPS[data], "SCACS", "acc")
        if curve is not None:
            lost[data.removesuffix("-100")] = float(
                curve[curve.index < 0.75].max() - curve[curve.index > 0.75].iloc[0]
            )
    if not lost:
        return None
    drops = sum(value > 0.05 for value in lost.values())
    text = f"accuracy at β₀ = 0.8 below that at the best smaller β₀, 100 labels: {worded(lost, '{:.3f}')}"
    return Verdict(True if drops == len(lost) else None if drops else False, text)


def _many_labels_large_beta(results: Results) -> Verdict | None:
    curve = results.curve(BETA_SWEEPS["pendigits-5000"], "SCACS", "acc")
    if curve is None:
        return None
    return Verdict(bool(curve.iloc[-1] > curve.iloc[0] + 0.02), f"5,000 labels: {_ends_of(curve)}")


FULL_KERNEL = (
    "It is the full RBF kernel that harms FCSC. Its width is not given; with the mean distance all points "
    "are nearly equally alike. With a quarter of that width it is more accurate on USPS, and with 30 "
    "neighbours far more: see [what the reasons rest on](#what-the-reasons-rest-on)."
)
IDLE = (
    "As printed, ones on the whole diagonal of Q leave the constraints idle where β < 1 ([the method's "
    "page](../../scacs.md)): they buy next to nothing with 100 labels."
)
SPARSE_CSP = (
    "The paper's FCSC decomposes dense matrices. Our CSP iterates on a graph of 20 neighbours: on 4,000 "
    "points it is 10,000 times faster than the dense way ([speed](../speed.md))."
)
MORE_LANDMARKS = (
    "More landmarks help here whatever else is changed: with landmarks by k-means, with ten of them for "
    "every point, and with a larger β₀ accuracy rises as in the figure ([what the reasons rest "
    "on](#what-the-reasons-rest-on)). The paper draws its landmarks at random, as we do; we found no setting "
    "in which their number does not matter."
)
CLAIMS = [
    Claim("SCACS is far better than LSC-R on all small sets", "5.2, fig. 1 a-d", _beats_baseline),
    Claim("FCSC (CSP) is significantly better than SL", "5.2, fig. 1 a-d", _fcsc_over_sl, FULL_KERNEL),
    Claim("SCACS is better than SL on average", "5.2, fig. 1 a-d", _better_than_sl),
    Claim("SCACS is close to FCSC", "5.2, fig. 1 a-d", _close_to_fcsc, FULL_KERNEL),
    Claim(
        "SCACS is significantly better than LSC-R, CKM and ML on all but CoverType",
        "5.3, fig. 1 e-i",
        _beats_fast,
    ),
    Claim("On CoverType SCACS is better than LSC-R and CKM", "5.3, fig. 1 j", _on_covtype),
    Claim(
        "ML does well with few dimensions (Letter, CoverType), worse with many (USPS, MNIST)",
        "5.3, fig. 1 e-j",
        _metric_learning,
    ),
    Claim("SCACS is much better than ML with many dimensions", "5.3, fig. 1 f, i", _many_dimensions),
    Claim("Few labels already improve much on no labels", "6, fig. 1", _few_labels_help),
    Claim(
        "Accuracy falls as r grows",
        "5.4, fig. 2 a",
        _parameter("a", lambda c: c.iloc[-1] < c.iloc[0] - 0.005),
    ),
    Claim(
        "Accuracy falls faster with r on MNIST than on Pen Digits",
        "5.4, fig. 2 a",
        _faster_on_mnist,
    ),
    Claim(
        "Accuracy varies mildly with p",
        "5.4, fig. 2 b",
        _parameter("b", lambda c: c.max() - c.min() < 0.1),
        MORE_LANDMARKS,
    ),
    Claim(
        "From p = 500 on it hardly varies at all",
        "5.4, fig. 2 b",
        _parameter("b", lambda c: c.max() - c.min() < 0.03, start=500),
        MORE_LANDMARKS,
    ),
    Claim(
        "With 100 labels a large β₀ such as 0.8 makes accuracy drop seriously",
        "5.4, fig. 2 c, d",
        _few_labels_large_beta,
    ),
    Claim(
        "With 5,000 labels on Pen Digits a larger β₀ improves it significantly",
        "5.4, fig. 2 c",
        _many_labels_large_beta,
    ),
    Claim("SCACS is much faster than FCSC", "5.3, table 2", _much_faster, SPARSE_CSP),
    Claim(
        "In less time SCACS is nearly as accurate as the best",
        "6, table 2",
        _accurate_for_its_time("SCACS (paper)"),
        IDLE,
    ),
    Claim(
        "The same, of SCACS as we set it",
        "6, table 2",
        _accurate_for_its_time("SCACS"),
        SPARSE_CSP,
    ),
]
NOT_RUN = [
    "That FCSC does not end within a week on MNIST and CoverType (5.3): the dense way is not run at that "
    "size. Our CSP takes seconds on all of MNIST, once the graph is made ([speed](../speed.md)).",
    "The seconds of table 2 are of another machine and of MATLAB: only how they relate is compared.",
]
