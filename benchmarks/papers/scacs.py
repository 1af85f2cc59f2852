"""SCACS (Li, Xia, Shan & Liu, 2015): figures 1 and 2. Table 2 is measured by `scacs_table2`."""

from __future__ import annotations

from benchmarks.papers.experiment import Contender, Experiment
from benchmarks.papers.tables import Extra, reasons_of
from sidecut.graphs import Gaussian, Neighbors

TITLE = "Scalable constrained spectral clustering (Li, Xia, Shan & Liu, TKDE 2015)"
GRAPH = Neighbors(30, weights="gaussian")
HUNDREDS = tuple(range(100, 1001, 100))
AMENDED = (
    "“SCACS” is the paper's with ones on the diagonal of Q only where something is known of a point; “SCACS, "
    "default” is ours, with its own landmarks and β₀. "
)
LANDMARKS = {"n_landmarks": 500, "n_nearest": 3, "landmarks": "random"}
LSC = Contender("LSC-R", "LSC", LANDMARKS, uses_constraints=False)


def _scacs(beta0: float | str) -> tuple[Contender, ...]:
    """Return it with Q as eq. 20 prints it, with a diagonal on known points only, and our defaults.

    `diagonal="all"` is a word of these experiments: Q_ii = 1 for all points, see `with_printed_diagonal`.
    """
    literal = {**LANDMARKS, "beta0": beta0, "diagonal": "all"}
    return (
        Contender("SCACS (paper)", "SCACS", literal),
        Contender("SCACS", "SCACS", {**LANDMARKS, "beta0": beta0, "diagonal": "known"}),
        Contender("SCACS, default", "SCACS"),
    )


OWN_GRAPHS = (
    "As in the paper every method of panels a to d has its own graph: landmarks, 30 neighbours (SL) or the "
    "full RBF kernel (FCSC), whose width it does not tell; the last two share the graph of SL."
)
OUTLIERS = (
    " On Segment a few points lie far from all others, and on the graph of 30 neighbours with one Gaussian "
    "width their degrees are next to nothing. In Q̄ = D^{-1/2} Q D^{-1/2} the constraints of such points "
    "outweigh all others, and CSP on it collapses unless they are left out: see [what the reasons rest "
    "on](#what-the-reasons-rest-on)."
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
            *_scacs("labelled_share"),
            Contender("CSP, k-NN", "CSP"),
            Contender("E2CP", "E2CP"),
        ),
        note=AMENDED + OWN_GRAPHS + (OUTLIERS if data == "segment" else ""),
    )
    for panel, data in {
        "a": "segment",
        "b": "usps/first-300",
        "c": "pendigits/first-300",
        "d": "letter/classes-5",
    }.items()
]
#: Where k-means of all pixels takes long, the methods that know no landmarks have one start instead of ten.
ONE_START = {"mnist", "covtype"}


def _large(panel: str, data: str) -> Experiment:
    starts = {"n_init": 1} if data in ONE_START else {}
    return Experiment(
        f"scacs-fig1{panel}-{data}",
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
            Contender("CKM", "COPKMeans", starts),
            Contender("ML", "MetricKMeans", starts),
            *_scacs(0.1),
        ),
        note=AMENDED
        + ("CKM and ML have one start of k-means, and ten on the smaller sets." if starts else ""),
    )


LARGE = [
    _large(panel, data)
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
        note=AMENDED,
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
#: Tables made by scripts of their own.
EXTRAS = {
    "table 2": Extra(
        "accuracy and seconds with 100 labels",
        "scacs_table2.csv",
        "python -m benchmarks.papers.scacs_table2 --data FOLDER",
    ),
    "fig. 1": reasons_of("scacs"),
}
