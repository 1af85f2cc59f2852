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
    """What knowledge costs: a row for each method, size and kind of it, over the data sets."""
    rows = []
    table = of(script)
    table = table[~table["data"].isin(IN_PIECES)]
    for (method, points, known), group in table.groupby(["method", "points", "known"], sort=False):
        ratios = group["sidecut"] / group["NormalizedCut"]
        spans = [number(value) for value in (ratios.median(), ratios.min(), ratios.max())]
        gains = f"{group['ARI without'].mean():.3f}", f"{group['ARI'].mean():.3f}"
        rows.append(
            [f"`{method}`", f"{points:,.0f}", known, str(len(group)), *spans, *gains, measured(group)]
        )
    header = "method | points | known | data sets | time over NormalizedCut's, median | least | most | "
    return markdown(header + "ARI without | ARI | measured", rows)


def in_pieces(script: str) -> str:
    """The same on a graph whose components are as many as clusters or more, in milliseconds."""
    table = of(script)
    rows = [
        [
            f"`{row['method']}`",
            row["data"],
            f"{row['points']:,.0f}",
            row["known"],
            f"{1000 * row['sidecut']:.0f} ms",
            f"{1000 * row['NormalizedCut']:.0f} ms",
            f"{row['ARI without']:.3f}",
            f"{row['ARI']:.3f}",
            measured(row),
        ]
        for _, row in table[table["data"].isin(IN_PIECES)].iterrows()
    ]
    header = "method | data | points | known | time | NormalizedCut's | ARI without | ARI | measured"
    return markdown(header, rows)


def errors_of(script: str) -> str:
    """Methods in linear time beside the exact ones, set by set."""
    rows = [
        [
            f"`{row['method']}`",
            row["data"],
            f"{row['points']:,.0f}",
            row["known"],
            "–" if pd.isna(row["true error"]) else f"{row['stated error']:.3f}",
            "–" if pd.isna(row["true error"]) else f"{row['true error']:.3f}",
            f"{row['ARI']:.3f}",
            f"{row['exact ARI']:.3f}",
            f"{row['most lost']:.3f}",
            measured(row),
        ]
        for _, row in of(f"{script}_exact").sort_values(["method", "data"]).iterrows()
    ]
    header = "method | data | points | known | error stated | error at all points | ARI | exact ARI | "
    return markdown(header + "most that a draw lost | measured", rows)


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
    for method, group in table.groupby("method", sort=False):
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
    "pairs-errors": lambda: errors_of("pairs"),
    "pairs-components": lambda: in_pieces("pairs"),
    "few-labels-cost": lambda: cost_of("few_labels"),
    "searches": searches,
    "from-points": from_points,
    "large-graphs": large_graphs,
    "startup": startup,
}
