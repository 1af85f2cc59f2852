"""The page of speed, its tables made anew from the stored results: ``python -m benchmarks.speed.page``.

Everything between the marks of docs/lab/speed.md is made here. The words around it are written by hand: read
them again when numbers change.
"""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from benchmarks.page_tables import DOCS, rewrite
from benchmarks.speed.growth import exponent, on_one_sort, series
from benchmarks.speed.suite import RESULTS, by_solver
from benchmarks.stored import measured

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


def by_data(part: str) -> list[tuple[str, pd.DataFrame]]:
    """Return one part of SCACS's results by data set, in the order of the paper."""
    table = of("scacs", f"{part} ")
    groups = dict(list(table.groupby(table["part"].str[2:])))
    return [(shown, groups[name]) for name, shown in DATA.items()]


@fragment
def machine() -> str:
    """What all of this ran on."""
    return f"Measured on {(RESULTS / 'machine.txt').read_text().strip()}."


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
    times = by_solver(table).set_index(["graph", "points"])
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
def csp_labels() -> str:
    """Whole fits of CSP on all of MNIST."""
    rows = []
    for _, row in of("csp", "b").iterrows():
        ours, amg, lobpcg = row["sidecut"], row["scikit-learn amg"], row["scikit-learn lobpcg"]
        seconds = [spent(value) for value in (ours, amg, lobpcg)]
        ratios = [number(ours / amg), number(ours / lobpcg)]
        rows.append([f"{row['labels']:,.0f}", *seconds, *ratios, f"{row['accuracy']:.3f}", measured(row)])
    header = (
        "labels | CSP | scikit-learn amg | lobpcg | CSP / amg | CSP / lobpcg | "
        "accuracy on unlabelled digits | measured"
    )
    return markdown(header, rows)


@fragment
def csp_memory() -> str:
    """The peak of a fit of CSP."""
    row = of("csp", "c").iloc[0]
    labels, memory = f"{row['labels']:,.0f}", f"{row['megabytes']:.0f}"
    return f"The fit with {labels} labels allocates at most {memory} MB beyond the graph ({measured(row)})."


@fragment
def csp_dense() -> str:
    """CSP against the dense eigensolver."""
    rows = []
    for _, row in of("csp", "a").iterrows():
        times = [spent(row["sidecut"]), spent(row["dense"]), number(row["ratio"])]
        rows.append([f"{row['points']:,.0f}", *times, f"{row['largest difference']:.0e}", measured(row)])
    return markdown("points | sidecut | dense | dense / sidecut | eigenvalues agree to | measured", rows)


@fragment
def csp_again() -> str:
    """CSP fitted again with more labels."""
    table = of("csp", "d").set_index("part")
    whole, cuts = table.loc["d, the whole fit"], table.loc["d, the cuts alone"]
    return (
        f"With `warm_start=True`, fitting {whole['points']:,.0f} points again with ten more labels takes "
        f"{spent(whole['sidecut'])} instead of {spent(whole['cold'])}, because the graph is kept. Starting "
        "from the cuts of an earlier fit is another matter: ten labels added to 500 on all of MNIST, the "
        f"cuts alone take {spent(cuts['sidecut'])} from those before and {spent(cuts['cold'])} from nothing "
        f"({measured(table)})."
    )


@fragment
def e2cp_labels() -> str:
    """Whole fits of E2CP on all of MNIST."""
    table = of("e2cp", "c").set_index("known")
    rows = []
    for known in sorted(
        (name for name in table.index if "," not in name), key=lambda name: int(name.split()[0])
    ):
        row, fast = table.loc[known], table.loc[f"{known}, approximate"]
        quick = f"{spent(fast['sidecut'])}, {fast['accuracy']:.3f}, stated error {fast['stated error']:.2g}"
        ours, amg, lobpcg = row["sidecut"], row["scikit-learn amg"], row["scikit-learn lobpcg"]
        seconds = [spent(value) for value in (ours, amg, lobpcg)]
        ratios = [number(ours / amg), number(ours / lobpcg)]
        scores = [f"{row['accuracy']:.3f}", f"{row['of LabelSpreading']:.3f}"]
        rows.append([f"{int(known.split()[0]):,}", *seconds, *ratios, *scores, quick, measured(row)])
    header = (
        "labels | E2CP | scikit-learn amg | lobpcg | E2CP / amg | E2CP / lobpcg | accuracy | "
        "LabelSpreading's accuracy | `approximate=True` | measured"
    )
    return markdown(header, rows)


@fragment
def e2cp_default() -> str:
    """Whole fits of E2CP by default settings, in processor time."""
    rows = [
        [
            f"{int(row['known'].split()[0]):,}",
            spent(row["sidecut"]),
            spent(row["scikit-learn lobpcg"]),
            number(row["sidecut"] / row["scikit-learn lobpcg"]),
            f"{row['accuracy']:.3f}",
            f"{row['stated error']:.2g}",
            measured(row),
        ]
        for _, row in of("e2cp", "e").iterrows()
    ]
    rows.sort(key=lambda row: int(row[0].replace(",", "")))
    header = "labels | E2CP | scikit-learn lobpcg | E2CP / lobpcg | accuracy | stated error | measured"
    return markdown(header, rows)


@fragment
def e2cp_pairs() -> str:
    """E2CP with thousands of pairs."""
    row, plain = of("e2cp", "d").iloc[0], of("e2cp", "c").iloc[0]
    return (
        f"With {int(row['known'].split()[0]):,} random pairs the whole fit takes {spent(row['sidecut'])} "
        f"and {row['megabytes']:,.0f} MB at the peak of the process; accuracy {row['accuracy']:.3f} "
        f"({plain['unconstrained']:.3f} without pairs; {measured(row)})."
    )


@fragment
def e2cp_peer() -> str:
    """E2CP against spectralcluster, and against dense matrices."""
    dense = of("e2cp", "a").set_index(["points", "known"])
    rows = []
    for _, row in of("e2cp", "b").iterrows():
        printed = dense.loc[(row["points"], row["known"])]
        seconds = [spent(row[who]) for who in ("sidecut", "spectralcluster")]
        memory = f"{row['megabytes']:,.0f} against {row['megabytes of the other']:,.0f} MB"
        ratios = [number(row["ratio"]), memory, number(printed["ratio"])]
        rows.append([f"{row['points']:,.0f}", row["known"], *seconds, *ratios, measured(row)])
    header = (
        "points | known | sidecut | spectralcluster | spectralcluster / sidecut | memory | "
        "dense matrices in the same process / sidecut | measured"
    )
    return markdown(header, rows)


@fragment
def e2cp_agreement() -> str:
    """How far two ways to the same graph agree."""
    package, matrices = (of("e2cp", part)["largest difference"].max() for part in ("b", "a"))
    return f"The graphs agree to {package:.0e} with those of the package, and to {matrices:.0e} with eq. 4."


@fragment
def ncsc_fits() -> str:
    """Whole fits of NCSC, LCSC and CCSR on all of MNIST."""
    table, rows = of("ncsc"), []
    table = table[(table["data"] == "mnist") & table["part"].isin(["b", "d"])]
    for _, row in table.iterrows():
        method, *clusters = row["solver"].split(", ")
        seconds = [spent(row["sidecut"]), spent(row["scikit-learn lobpcg"]), number(row["ratio"])]
        accuracy = "–" if pd.isna(row["accuracy"]) else f"{row['accuracy']:.3f}"
        known = f"{row['labels']:,.0f}" if row["labels"] else "–"
        rows.append([" in ".join([f"`{method}`", *clusters]), known, *seconds, accuracy, measured(row)])
    header = "method | labels | sidecut | scikit-learn lobpcg | sidecut / lobpcg | accuracy | measured"
    return markdown(header, rows)


@fragment
def ncsc_iteration() -> str:
    """An iteration of NCSC's solvers, and its memory."""
    table = of("ncsc")
    table = table[(table["data"] == "mnist") & table["part"].isin(["a", "c"])]
    table = table.set_index(["part", "solver"])
    projected, multiplicative = (
        number(table.loc[("a", solver), "ratio"]) for solver in ("projected", "multiplicative")
    )
    memory = table.loc[("c", "NCSC")]
    return (
        f"An iteration of the projected solver takes {projected} times the bare product of the graph with "
        f"the indicators on one core, the multiplicative updates {multiplicative} times, and they need fifty "
        f"times as many or more. NCSC allocates at most {memory['megabytes']:.0f} MB beyond a graph of "
        f"{memory['megabytes of the graph']:.0f} MB ({measured(table)})."
    )


@fragment
def scacs_fits() -> str:
    """Whole fits of SCACS on the data sets of its paper."""
    rows = []
    for name, group in by_data("a"):
        mean, random = (group.set_index("landmarks").loc[rule] for rule in ("kmeans", "random"))
        both = [
            f"{number(mean[column])}{unit} ({number(random[column])})"
            for column, unit in (("sidecut", " s"), ("SCACS / LSC", ""), ("ratio", ""))
        ]
        rows.append([name, f"{mean['points']:,.0f}", *both, measured(group)])
    return markdown("data | points | SCACS | SCACS / LSC | SCACS / KMeans | measured", rows)


@fragment
def scacs_problem() -> str:
    """The p x p problem alone."""
    rows = []
    for name, group in by_data("d"):
        times = (group.iloc[0][column] for column in ("LSC", "all eigenvectors"))
        rows.append([name, *(f"{1000 * value:.0f} ms" for value in times), measured(group)])
    return markdown("data | LSC: first k eigenvectors | SCACS: all eigenvectors | measured", rows)


@fragment
def scacs_stages() -> str:
    """Where the time of a fit goes."""
    stages = ("landmarks", "coding", "p x p problem", "feasible cuts", "embedding", "k-means")
    table = of("scacs", "b ").set_index("part")
    rows = []
    for name in ("letter", "mnist", "covtype"):
        row = table.loc[f"b {name}"]
        times = (f"{row[f'{stage}, seconds']:.2f} s" for stage in stages)
        rows.append([DATA[name], *times, number(row["coding, seconds"] / row["bare products"])])
        rows[-1].append(measured(row))
    return markdown(" | ".join(["data", *stages, "coding / bare product", "measured"]), rows)


@fragment
def scacs_growth() -> str:
    """SCACS on millions of points."""
    rows = [
        [f"{row['points']:,.0f}", spent(row["sidecut"]), f"{row['megabytes']:,.0f} MB", measured(row)]
        for _, row in of("scacs", "c").sort_values("points").iterrows()
    ]
    return markdown("points | fit | peak of the process, data included | measured", rows)


@fragment
def scacs_again() -> str:
    """SCACS fitted again with more labels."""
    rows = []
    for name, group in by_data("e"):
        row = group.iloc[0]
        rows.append([name, spent(row["cold"]), spent(row["sidecut"]), number(row["ratio"]), measured(row)])
    return markdown("data | from nothing | again | again / from nothing | measured", rows)


@fragment
def dask() -> str:
    """SCACS on a Dask cluster."""
    rows = []
    for _, row in of("dask").iterrows():
        times = [spent(row[way]) for way in ("in memory", "streamed", "sidecut")]
        ratio = number(row["sidecut"] / row["in memory"])
        same = "yes" if row["same labels"] else "no"
        rows.append([f"{row['points']:,.0f}", *times, ratio, same, measured(row)])
    return markdown("points | in memory | streamed | Dask | Dask / in memory | same labels | measured", rows)


@fragment
def csap() -> str:
    """CSAP against the paper's stack of matrices."""
    rows = []
    for _, row in of("csap").iterrows():
        inverse = [spent(row["stack, eq. 2"]), number(row["ratio"])]
        outer = [spent(row["stack, rank one"]), number(row["ratio to rank one"])]
        gap = f"{row['largest difference']:.0e}"
        rows.append([f"{row['points']:,.0f}", spent(row["sidecut"]), *inverse, *outer, gap, measured(row)])
    header = (
        "points | sidecut | stack, eq. 2 | stack / sidecut | stack, rank one | stack / sidecut | "
        "affinities agree to | measured"
    )
    return markdown(header, rows)


@fragment
def csap_tiled() -> str:
    """CSAP on kernels that are not kept."""
    fits = [
        f"{row['points']:,.0f} points in {spent(row['sidecut'])} with {row['megabytes'] / 1000:.1f} GB "
        f"({measured(row)})"
        for _, row in of("csap_tiled").iterrows()
    ]
    return (
        "Whole fits with 200 pairs on a Gaussian kernel that is made strip by strip, with the peak of the "
        f"process: {'; '.join(fits)}."
    )


@fragment
def beside() -> str:
    """The code of another checkout beside this one."""
    rows = []
    for (name, data), cells in of("beside").groupby(["method", "data"], sort=False):
        shown = [f"`{name}`, {DATA[data]}"]
        for kind in ("2 labels per class", "10 % labels", "n pairs"):
            told = [
                f"{row['ratio']:.2f} ({row['index before']:.3f}, {row['index now']:.3f})"
                for _, row in cells[cells["kind"] == kind].iterrows()
            ]
            shown.append(" ".join(told))
        rows.append([*shown, measured(cells)])
    return markdown("fit | 2 labels per class | 10 % labels | n pairs | measured", rows)


def makers() -> dict[str, Callable[[], str]]:
    """Return what makes the text between marks, by their names."""
    # Sections are made with what is defined here.
    from benchmarks.speed.sections import SECTIONS

    return FRAGMENTS | SECTIONS


def main() -> None:
    rewrite(PAGE, makers())


if __name__ == "__main__":
    main()
