"""NCSC (Hu et al., 2012): figures 1 and 2."""

from __future__ import annotations

from benchmarks.papers.experiment import Contender, Experiment
from benchmarks.papers.tables import Extra
from sidecut.graphs import Neighbors

TITLE = "Multi-way constrained spectral clustering by nonnegative restriction (Hu et al., ICPR 2012)"
GRAPH = Neighbors(20)
#: The paper tries 19 values from 0.1 to 10; these span the same range.
GAMMA_CANNOT = [0.1, 0.3, 1.0, 3.0, 10.0]
LITERAL = {"gamma_must": 1e4, "solver": "multiplicative", "init": "kmeans"}
CONTENDERS = (
    Contender("NC", "NormalizedCut", uses_constraints=False),
    Contender("LCSC", "LCSC", {"cannot_links": "ignore"}),
    Contender("SL", "SpectralLearning"),
    Contender("CCSR", "CCSR"),
    Contender("NCSC (paper)", "NCSC", LITERAL, {"gamma_cannot": GAMMA_CANNOT}),
    Contender("NCSC", "NCSC"),
    Contender("E2CP", "E2CP"),
)


def _fig1(
    data: str, sizes: tuple, note: str = "", contenders: tuple[Contender, ...] = CONTENDERS
) -> Experiment:
    name = f"ncsc-fig1-{data.partition('/')[0]}"
    return Experiment(
        name,
        "ncsc",
        "fig. 1",
        data,
        GRAPH,
        "pairs",
        sizes,
        10,
        "err",
        contenders,
        note="The paper prints neither the numbers of pairs nor the number of iterations. Five values of γ_c "
        "are tried, of the same range as its nineteen." + note,
    )


def _tens(last: int) -> tuple:
    return tuple(range(last // 10, last + 1, last // 10))


FIG1 = [
    _fig1("iris", _tens(300)),
    _fig1("sonar", _tens(500)),
    _fig1(
        "yaleb_32x32/last-10",
        _tens(2000),
        " 640 cropped faces of 32 x 32 pixels instead of the paper's 5,760.",
    ),
    _fig1(
        "usps",
        _tens(5000),
        " E2CP, which the paper does not compare with, is left out: exact, and never holding a matrix of "
        "9,298 x 9,298, it takes minutes a fit with thousands of pairs.",
        CONTENDERS[:-1],
    ),
]
FIG2 = [
    Experiment(
        f"ncsc-fig2-{which}",
        "ncsc",
        "fig. 2",
        "iris",
        GRAPH,
        f"{which}-links vary",
        (0, 20, 40, 60, 80, 100, 150, 200, 300),
        10,
        "err",
        CONTENDERS,
        fixed=50,
        note="How many links of the other kind stay fixed is not given: 50 here.",
    )
    for which in ("cannot", "must")
]
EXPERIMENTS = [*FIG1, *FIG2]
#: Tables made by scripts of their own.
EXTRAS = {
    "fig. 2": Extra(
        "either kind of link by itself, further than the figure goes",
        "ncsc_iris.csv",
        "python -m benchmarks.papers.ncsc_iris",
    )
}
