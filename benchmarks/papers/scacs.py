"""SCACS (Li, Xia, Shan & Liu, 2015): figures 1 and 2. Table 2 is measured by `scacs_table2`."""

from __future__ import annotations

import pandas as pd

from benchmarks.papers.claims import Claim, Verdict, best_share, curves, gain, graded
from benchmarks.papers.experiment import Contender, Experiment
from benchmarks.papers.tables import Results
from sidecut.graphs import Gaussian, Neighbors

TITLE = "Scalable constrained spectral clustering (Li, Xia, Shan & Liu, TKDE 2015)"
GRAPH = Neighbors(30, weights="gaussian")
HUNDREDS = tuple(range(100, 1001, 100))
LANDMARKS = {"n_landmarks": 500, "n_nearest": 3, "landmarks": "random"}
LSC = Contender("LSC-R", "LSC", LANDMARKS, uses_constraints=False)


def _scacs(beta0: float | str) -> tuple[Contender, ...]:
    """Return it with Q as eq. 20 prints it, with a diagonal on known points only, and our defaults."""
    literal = {**LANDMARKS, "beta0": beta0, "diagonal": "all"}
    return (
        Contender("SCACS (paper)", "SCACS", literal),
        Contender("SCACS", "SCACS", {**LANDMARKS, "beta0": beta0, "diagonal": "known"}),
        Contender("SCACS, default", "SCACS"),
    )


SMALL = [
    Experiment(
        f"scacs-fig1{panel}-{data.partition('/')[0]}",
        "scacs",
        f"fig. 1 {panel}",
        data,
        GRAPH,
        "labels",
        HUNDREDS,
        20,
        "acc",
        (
            LSC,
            Contender("SL", "SpectralLearning"),
            Contender("FCSC", "CSP", {"beta": "eq19"}, graph=Gaussian("mean")),
            *_scacs("known_share"),
            Contender("CSP, k-NN", "CSP"),
            Contender("E2CP", "E2CP"),
        ),
        note="As in the paper every method has its own graph: landmarks, 30 neighbours (SL) or the full RBF "
        "kernel (FCSC), whose width it does not tell; the last two share the graph of SL.",
    )
    for panel, data in {
        "a": "segment",
        "b": "usps/first-300",
        "c": "pendigits/first-300",
        "d": "letter/classes-5",
    }.items()
]
LARGE = [
    Experiment(
        f"scacs-fig1{panel}-{data}",
        "scacs",
        f"fig. 1 {panel}",
        data,
        GRAPH,
        "labels",
        HUNDREDS,
        20,
        "acc",
        (LSC, Contender("CKM", "COPKMeans"), Contender("ML", "MetricKMeans"), *_scacs(0.1)),
    )
    for panel, data in {
        "e": "segment",
        "f": "usps",
        "g": "pendigits",
        "h": "letter",
        "i": "mnist",
        "j": "covtype",
    }.items()
]


def _sweep(panel: str, data: str, parameter: str, values: tuple, known: int = 500) -> Experiment:
    name = f"scacs-fig2{panel}-{data}" + ("" if known == 500 else f"-{known}")
    settings = {**LANDMARKS, "beta0": 0.1, "diagonal": "known"}
    settings.pop(parameter, None)
    return Experiment(
        name,
        "scacs",
        f"fig. 2 {panel}",
        data,
        GRAPH,
        "labels",
        values,
        20,
        "acc",
        (Contender("SCACS", "SCACS", settings),),
        fixed=known,
        sweep=parameter,
    )


FIG2 = [
    *(_sweep("a", data, "n_nearest", tuple(range(3, 31, 3))) for data in ("pendigits", "mnist")),
    *(_sweep("b", data, "n_landmarks", HUNDREDS) for data in ("pendigits", "mnist")),
    *(
        _sweep(panel, data, "beta0", tuple(round(0.1 * i, 1) for i in range(1, 10)), known)
        for panel, data in (("c", "pendigits"), ("d", "mnist"))
        for known in (100, 500, 5000)
    ),
]
EXPERIMENTS = [*SMALL, *LARGE, *FIG2]
#: Tables made by other scripts, shown as they are.
TABLES = {"Table 2: seconds": "scacs_table2.csv"}
SMALL_NAMES, LARGE_NAMES = [e.name for e in SMALL], [e.name for e in LARGE]


def _run(results: Results, names: list[str]) -> list[str]:
    return [name for name in names if results.table(name) is not None]


def _beats_baseline(results: Results) -> Verdict | None:
    gains = {
        method: gain(results, _run(results, SMALL_NAMES), method, "LSC-R")
        for method in ("SCACS", "SCACS (paper)")
    }
    if None in gains.values():
        return None
    text = ", ".join(f"{method} {value:+.3f}" for method, value in gains.items())
    return Verdict(gains["SCACS"] > 0.05, f"accuracy above LSC-R: {text}")


def _fcsc_over_sl(results: Results) -> Verdict | None:
    difference = gain(results, _run(results, SMALL_NAMES), "FCSC", "SL")
    return None if difference is None else Verdict(difference > 0.02, f"accuracy {difference:+.3f} above SL")


def _close_to_fcsc(results: Results) -> Verdict | None:
    names = _run(results, SMALL_NAMES)
    gains = [gain(results, names, "SCACS", over) for over in ("SL", "FCSC")]
    if None in gains:
        return None
    text = f"accuracy {gains[0]:+.3f} against SL, {gains[1]:+.3f} against FCSC"
    return Verdict(gains[0] > 0 and gains[1] > -0.05, text)


def _beats_fast(results: Results) -> Verdict | None:
    names = [name for name in _run(results, LARGE_NAMES) if "covtype" not in name]
    share = best_share(results, names, "SCACS", ["LSC-R", "CKM", "ML"])
    return graded(share, f"best in {{:.0%}} of the cells of {len(names)} sets")


def _ends_of(curve: pd.Series) -> str:
    (first, low), (last, high) = curve.iloc[[0, -1]].items()
    return f"{low:.3f} at {first:g}, {high:.3f} at {last:g}"


def _parameter(panel: str, holds):
    names = [e.name for e in FIG2 if e.figure == f"fig. 2 {panel}"]

    def check(results: Results) -> Verdict | None:
        run = _run(results, names)
        table = curves(results, run, ["SCACS"])
        if table is None:
            return None
        ends = {name: table.loc[name, "SCACS"] for name in run}
        text = "; ".join(f"{name.partition('-')[2]}: {_ends_of(curve)}" for name, curve in ends.items())
        return Verdict(all(holds(c) for c in ends.values()), text)

    return check


CLAIMS = [
    Claim("SCACS is far better than LSC-R on all small sets", "5.2, fig. 1 a-d", _beats_baseline),
    Claim("FCSC (CSP) is significantly better than SL", "5.2, fig. 1 a-d", _fcsc_over_sl),
    Claim("SCACS is better than SL on average and close to FCSC", "5.2", _close_to_fcsc),
    Claim("SCACS is better than LSC-R, CKM and ML on five of six sets", "5.3, fig. 1 e-i", _beats_fast),
    Claim(
        "Accuracy falls as r grows",
        "5.4, fig. 2 a",
        _parameter("a", lambda c: c.iloc[-1] < c.iloc[0] - 0.005),
    ),
    Claim(
        "Accuracy hardly depends on p from 500 on",
        "5.4, fig. 2 b",
        _parameter("b", lambda c: c.loc[500:].max() - c.loc[500:].min() < 0.03),
    ),
]
