"""Sections of the page of speed: pairs, few labels, raw points, large graphs, start-up."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from benchmarks.speed.growth import exponent
from benchmarks.speed.page import markdown, number, of, spent
from benchmarks.stored import measured

#: The data sets whose graphs fall into as many components as clusters or more.
IN_PIECES = ("components", "covtype")


def cost_of(script: str) -> str:
    """What knowledge costs: a row for each method and kind of it, the data sets of each size in a cell."""
    table = of(script)
    table = table[~table["data"].isin(IN_PIECES)].assign(ratio=lambda t: t["sidecut"] / t["NormalizedCut"])
    sizes, rows = sorted(table["points"].unique()), []
    for (known, method), group in table.groupby(["known", "method"], sort=False):
        cells = []
        for size in sizes:
            ratios = group.loc[group["points"] == size, "ratio"]
            cells.append(f"{number(ratios.median())} ({number(ratios.max())})")
        gains = f"{group['ARI without'].mean():.3f}", f"{group['ARI'].mean():.3f}"
        rows.append([known, f"`{method}`", *cells, *gains, measured(group)])
    rows.sort(key=lambda row: row[0])
    heads = [f"{size:,} points" for size in sizes]
    return markdown(" | ".join(["known", "method", *heads, "ARI without", "ARI", "measured"]), rows)


def in_pieces() -> str:
    """Pairs on graphs with as many components as clusters or more: time and index at the largest size."""
    table = of("pairs")
    table = table[table["data"].isin(IN_PIECES) & (table["points"] == table["points"].max())]
    rows = []
    for method, group in table.groupby("method", sort=False):
        at = group.set_index(["data", "known"])
        cells = [
            f"{spent(at.loc[(data, known), 'sidecut'])}, {at.loc[(data, known), 'ARI']:.3f}"
            for data in IN_PIECES
            for known in ("n/5 pairs", "n pairs")
        ]
        rows.append([f"`{method}`", *cells, measured(group)])
    header = "method | components, n/5 pairs | n pairs | CoverType, n/5 pairs | n pairs | measured"
    return markdown(header, rows)


def approximations() -> str:
    """Methods in linear time beside the exact ones: the error they state, and what they lose."""
    rows = []
    for method, group in of("pairs_exact").groupby("method"):
        loss = group["exact ARI"] - group["ARI"]
        errors = ["–", "–"]
        if group["true error"].notna().any():
            worst = group.loc[group["true error"].idxmax()]
            errors = [f"{worst[name]:.3f}" for name in ("stated error", "true error")]
        worst_set = f"{loss.max():+.3f} ({group.loc[loss.idxmax(), 'data']})"
        lost = [f"{loss.mean():+.3f}", worst_set, f"{group['most lost'].max():.3f}"]
        rows.append([f"`{method}`", str(len(group)), *errors, *lost, measured(group)])
    header = "method | data sets | largest error: stated | at all points | mean loss | worst set | worst draw"
    return markdown(f"{header} | measured", rows)


def searches() -> str:
    """The search for neighbours beside other libraries."""
    table = of("raw_points", "a").sort_values(["data", "processor"])
    rows = [
        [
            row["data"],
            f"{row['points']:,.0f} x {row['features']:,.0f}",
            row["search"],
            spent(row["processor"]),
            spent(row["seconds"]),
            "–" if pd.isna(row["recall"]) else f"{row['recall']:.3f}",
            measured(row),
        ]
        for _, row in table.iterrows()
    ]
    return markdown("data | size | search | processor time | on the clock | recall | measured", rows)


def from_points() -> str:
    """From pixels to CSP's labels."""
    rows = [
        [
            f"{row['points']:,.0f}",
            row["search"],
            spent(row["processor"]),
            f"{row['recall']:.3f}",
            f"{row['ARI']:.3f}",
            measured(row),
        ]
        for _, row in of("raw_points", "b").sort_values(["points", "search"]).iterrows()
    ]
    return markdown("digits | search | processor time, pixels to labels | recall | ARI | measured", rows)


#: Rows are named after the method whose answer they time: the guard of CSP kept the unconstrained one.
SHOWN_AS = {"CSP": "`NormalizedCut`, kept by `CSP`'s guard", "CSP, safe=False": "`CSP`"}


def large_graphs() -> str:
    """CSP and E2CP on graphs of millions of nodes."""
    table = of("large_graphs")
    sizes = sorted(table["points"].unique())
    rows = []
    # Fits of one run in one row: exponents are not fitted to times of two machines.
    for (method, _), group in table.groupby(["method", "commit"], sort=False):
        at = group.set_index("points")["sidecut"].reindex(sizes)
        grows = len(group) > 1
        power = f"n^{exponent(group['points'], group['sidecut']):.2f}" if grows else "–"
        last = group.sort_values("points").iloc[-1]
        told = "–" if pd.isna(last["ARI"]) else f"{last['ARI']:.3f}", f"{last['peak GB']:.1f} GB"
        rows.append(
            [
                SHOWN_AS.get(method, method if method[0].isdigit() else f"`{method}`"),
                *(spent(at[size]) for size in sizes),
                power,
                *told,
                measured(group),
            ]
        )
    edges = table.drop_duplicates("points").set_index("points")["edges"]
    heads = [f"{size:,} nodes, {edges[size] / 1e6:.0f} million edges" for size in sizes]
    return markdown(
        " | ".join(["method", *heads, "grows as", "ARI", "peak of the process", "measured"]), rows
    )


def startup() -> str:
    """What it takes to start."""
    table = of("startup")
    rows = [
        [f"`{row['start']}`", spent(row["sidecut"]), f"{row['more']:+.2f} s", measured(row)]
        for _, row in table.iterrows()
    ]
    return markdown("start | processor time | more than scikit-learn's cluster module | measured", rows)


SECTIONS: dict[str, Callable[[], str]] = {
    "pairs-cost": lambda: cost_of("pairs"),
    "pairs-components": in_pieces,
    "few-labels-cost": lambda: cost_of("few_labels"),
    "approximations": approximations,
    "searches": searches,
    "from-points": from_points,
    "large-graphs": large_graphs,
    "startup": startup,
}
