"""The page of speed, its tables made anew from the stored results: ``python -m benchmarks.speed.page``.

Everything between the marks of docs/lab/speed.md is made here. The words around it are written by hand: read
them again when numbers change.
"""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from benchmarks import stored
from benchmarks.page_tables import DOCS, rewrite
from benchmarks.speed.growth import draw, exponent, on_one_sort, series
from benchmarks.stored import measured

RESULTS = stored.RESULTS / "speed"
MACHINE = RESULTS / "machine.txt"
PAGE = DOCS / "lab" / "speed.md"
GRAPHS = {"blobs": "blobs, 30 dimensions", "mnist": "MNIST", "moons": "two moons, no gap"}
DATA = {
    "segment": "Image Segmentation",
    "usps": "USPS",
    "pendigits": "Pen Digits",
    "letter": "Letter",
    "mnist": "MNIST",
    "covtype": "CoverType",
}


FRAGMENTS: dict[str, Callable[[], str]] = {}


def fragment(made: Callable[[], str]) -> Callable[[], str]:
    """Let a function make what is between the marks of its name."""
    FRAGMENTS[made.__name__.replace("_", "-")] = made
    return made


def number(value: float) -> str:
    """Return a number in about three digits.

    Examples
    --------
    >>> number(0.0274), number(0.5), number(2.0526), number(17.02), number(18047.6), number(float("nan"))
    ('0.027', '0.50', '2.05', '17.0', '18,048', '–')
    """
    if pd.isna(value):
        return "–"
    places = 3 if value < 0.1 else 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:,.{places}f}"


def spent(value: float) -> str:
    """Return a time in seconds.

    Examples
    --------
    >>> spent(2.0526), spent(float("nan"))
    ('2.05 s', '–')
    """
    return "–" if pd.isna(value) else f"{number(value)} s"


def markdown(header: str, rows: list[list[str]]) -> str:
    """Return a table whose columns are named by a line with bars."""
    lines = [f"| {header} |", "|---" * (header.count(" | ") + 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def of(name: str, part: str = "") -> pd.DataFrame:
    """Return the stored results of a script, or of one part of them."""
    table = pd.read_csv(RESULTS / f"{name}.csv")
    return table[table["part"].str.startswith(part)] if part else table


@fragment
def machine() -> str:
    """What all of this ran on."""
    return f"Measured on {MACHINE.read_text().strip()}."


@fragment
def scaling() -> str:
    """All methods at the sizes of the picture."""
    table = on_one_sort(of("scaling"))
    rows, sizes = series(table), sorted(table["points"].unique())
    cells = []
    for name, times in rows.items():
        at = times.set_index("points")["seconds"].reindex(sizes)
        power = f"n^{exponent(times['points'], times['seconds']):.2f}"
        shown = f"scikit-learn, {name.split()[1]}" if " " in name else f"`{name}`"
        mine = table[table["solver"] == name] if " " not in name else table.drop_duplicates("points")
        cells.append([shown, *(number(at[size]) for size in sizes), power, measured(mine)])
    return markdown(" | ".join(["method", *(f"{size:,}" for size in sizes), "grows as", "measured"]), cells)


@fragment
def normalized_cut() -> str:
    """Whole fits against scikit-learn's solvers."""
    table = of("normalized_cut")
    times = table.pivot(index=["graph", "points"], columns="solver", values="seconds")
    missed = table.pivot(index=["graph", "points"], columns="solver", values="missed")
    solvers = [f"scikit-learn {name}" for name in ("lobpcg", "amg", "arpack")]
    rows = []
    for graph, shown in GRAPHS.items():
        for place, (points, row) in enumerate(times.loc[graph].iterrows()):
            lost = missed.loc[graph, points][solvers]
            told = ", ".join("–" if pd.isna(n) else f"**{n:.0f}**" if n else "0" for n in lost)
            seconds = [spent(row[name]) for name in ["sidecut", *solvers]]
            ratio = number(row["sidecut"] / row[solvers].min())
            mine = table[(table["graph"] == graph) & (table["points"] == points)]
            rows.append(["" if place else shown, f"{points:,}", *seconds, ratio, told, measured(mine)])
    header = (
        "graph | points | sidecut | lobpcg | amg | arpack | sidecut / fastest | "
        "missed by lobpcg, amg, arpack | measured"
    )
    return markdown(header, rows)


@fragment
def papers_own_way() -> str:
    """Every method against the matrices of its paper, and against another package."""
    rows = [["`CSP`, eq. 13", row, "dense eigensolver", row["dense"]] for _, row in of("csp", "a").iterrows()]
    for part, other in (("a", "dense"), ("b", "spectralcluster")):
        table = of("e2cp", part)
        table = table[table["known"] == "200 pairs"]
        rows += [["`E2CP`, eqs. 3 and 4", row, other, row[other]] for _, row in table.iterrows()]
    for _, row in of("csap").iterrows():
        rows.append(["`CSAP`, algorithm B", row, "a matrix per link, eq. 2", row["stack, eq. 2"]])
    cells = [
        [
            *(what, f"{row['points']:,.0f}", spent(row["sidecut"]), other, spent(seconds)),
            *(number(seconds / row["sidecut"]), f"{row['largest difference']:.0e}", measured(row)),
        ]
        for what, row, other, seconds in rows
    ]
    header = "what | points | sidecut | against | it takes | times as long | agree to | measured"
    return markdown(header, cells)


@fragment
def mnist_fits() -> str:
    """Whole fits on all of MNIST with labels, beside scikit-learn's lobpcg without."""
    ncsc = of("ncsc", "b")
    ncsc = ncsc[ncsc["data"] == "mnist"]
    tables = {"CSP": of("csp", "b"), "E2CP": of("e2cp", "e")}
    tables |= {name: ncsc[ncsc["solver"] == name] for name in ("NCSC", "LCSC", "CCSR")}
    rows = []
    for name, table in tables.items():
        at = table.assign(labels=table["known"].str.split().str[0]) if "known" in table else table
        at = at.assign(labels=at["labels"].astype(float)).sort_values("labels")
        cells = [
            f"{number(row['sidecut'] / row['scikit-learn lobpcg'])}, {row['accuracy']:.3f}"
            for _, row in at.iterrows()
        ]
        rows.append([f"`{name}`", *cells, measured(at)])
    return markdown("method | 100 labels | 500 labels | 1,000 labels | measured", rows)


@fragment
def scacs_fits() -> str:
    """Whole fits of SCACS on the data sets of its paper."""
    table = of("scacs", "a ")
    rows = []
    for name, shown in DATA.items():
        group = table[table["part"] == f"a {name}"]
        if group.empty:
            continue
        mean, random = (group.set_index("landmarks").loc[rule] for rule in ("kmeans", "random"))
        both = [
            f"{number(mean[column])}{unit} ({number(random[column])})"
            for column, unit in (("sidecut", " s"), ("SCACS / LSC", ""), ("ratio", ""))
        ]
        rows.append([shown, f"{mean['points']:,.0f}", *both, measured(group)])
    return markdown("data | points | SCACS | SCACS / LSC | SCACS / KMeans | measured", rows)


@fragment
def scacs_growth() -> str:
    """SCACS on millions of points, and on a Dask cluster."""
    rows = [
        [
            *("in memory", f"{row['points']:,.0f} x 2", spent(row["sidecut"])),
            *(f"{row['megabytes']:,.0f} MB", measured(row)),
        ]
        for _, row in of("scacs", "c").sort_values("points").iterrows()
    ]
    for _, row in of("dask").iterrows():
        ratio = number(row["sidecut"] / row["in memory"])
        told = f"{spent(row['sidecut'])}, {ratio} times memory"
        rows.append(["Dask, two processes", f"{row['points']:,.0f} x 10", told, "–", measured(row)])
    return markdown("where | size | fit | peak of the process | measured", rows)


@fragment
def beside() -> str:
    """The code of another checkout beside this one."""
    rows, kinds = [], ("2 labels per class", "n/5 pairs", "n/5 pairs, guarded")
    for (name, data), cells in of("beside").groupby(["method", "data"], sort=False):
        shown = [f"`{name}`, {DATA[data]}"]
        for kind in kinds:
            told = [
                f"{row['ratio']:.2f} ({row['index before']:.3f}, {row['index now']:.3f})"
                for _, row in cells[cells["kind"] == kind].iterrows()
            ]
            shown.append(" ".join(told))
        rows.append([*shown, measured(cells)])
    return markdown(" | ".join(["fit", *kinds, "measured"]), rows)


def makers() -> dict[str, Callable[[], str]]:
    """Return what makes the text between marks, by their names."""
    # Sections are made with what is defined here.
    from benchmarks.speed.sections import SECTIONS

    return FRAGMENTS | SECTIONS


def main() -> None:
    """Draw the picture, and write the tables."""
    draw(on_one_sort(of("scaling")), MACHINE.read_text().strip())
    rewrite(PAGE, makers())


if __name__ == "__main__":
    main()
