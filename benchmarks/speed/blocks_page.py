"""The tables of graphs on a disk and a cluster, made anew: ``python -m benchmarks.speed.blocks_page``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from benchmarks.page_tables import DOCS, rewrite
from benchmarks.speed.blocks import RESULTS
from benchmarks.speed.page import markdown, number
from benchmarks.stored import measured

#: Graphs from here on are too large to be fitted in all ways.
LARGE = 100_000_000
PLACES = {"memory": "memory", "disk": "disk", "dask1": "1 worker", "dask2": "2 workers", "dask4": "4 workers"}
#: What the machines of the sum on paper are joined by, in bytes per second; how many they are; the edges.
NETWORK, MACHINES, BILLION = 1.25e9, 8, 1_000_000_000


def fits() -> pd.DataFrame:
    """Return the stored fits."""
    return pd.read_csv(RESULTS / "blocks.csv", dtype={"bits": str})


def power(count: float) -> str:
    """Return a number of edges as a power of ten.

    Examples
    --------
    >>> power(1_000_000), power(200_000_000)
    ('10⁶', '2 · 10⁸')
    """
    exponent = int(np.log10(count))
    factor = round(count / 10**exponent)
    raised = "10" + str(exponent).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return raised if factor == 1 else f"{factor} · {raised}"


def same_labels() -> str:
    """Labels, bits and processor time of each method, on the disk and on workers, against memory."""
    table = fits()
    rows = []
    for (edges, method, known), group in table[table["edges"] < LARGE].groupby(["edges", "method", "known"]):
        at = group.set_index("place")
        if "memory" not in at.index:
            continue
        workers = at[at.index.str.startswith("dask")]
        least = at["same labels"].drop("memory").min()
        bits = "–"
        if len(workers):
            bits = "yes" if at["bits"].drop("memory").nunique() == 1 else "no"
        times = at["processor seconds"]
        ratios = [
            f"{times[place] / times['memory']:.2f}" if place in at.index else "–"
            for place in list(PLACES)[1:]
        ]
        share = "all" if least == 1 else f"{least:.7f}"
        rows.append(
            [power(edges), method, known, share, bits, number(times["memory"]), *ratios, measured(group)]
        )
    header = (
        "edges | method | known | labels as in memory | same bits on disk and workers | "
        "memory, processor s | disk | 1 worker | 2 workers | 4 workers | measured"
    )
    return markdown(header, rows)


def large() -> str:
    """The large graphs: processor time, memory, and the limit that the system enforced."""
    table = fits()
    rows = []
    for keys, group in table[table["edges"] >= LARGE].groupby(
        ["edges", "degree", "clusters", "method", "known"]
    ):
        edges, degree, clusters, method, known = keys
        at = group.set_index("place")
        for place, name in PLACES.items():
            if place not in at.index:
                continue
            one = at.loc[place]
            ratio = "–"
            if "memory" in at.index and place != "memory":
                ratio = f"{one['processor seconds'] / at.loc['memory', 'processor seconds']:.2f}"
            limit = f"{one['limit GB']:g} GB" if one["limit GB"] else "–"
            peak = f"{one['peak GB']:.1f} GB"
            if "peak GB of a worker" in one and one["peak GB of a worker"] == one["peak GB of a worker"]:
                peak += f", a worker {one['peak GB of a worker']:.1f} GB"
            graph = f"{power(edges)} ({2 * edges / degree / 1e6:g} million nodes, {clusters} clusters)"
            what = method if known == "none" else f"{method}, {known}"
            times = [number(one["processor seconds"]), ratio, number(one["seconds"])]
            same = "–" if pd.isna(one["same labels"]) else f"{one['same labels']:.7g}"
            rows.append([graph, what, name, limit, peak, *times, same, measured(one)])
    header = (
        "edges | method | place | limit | peak of memory | processor s | against memory | s | "
        "labels as in memory | measured"
    )
    return markdown(header, rows)


def traffic() -> str:
    """What four workers receive from each other in a product, and what the forecast says."""
    table = pd.read_csv(RESULTS / "block_traffic.csv")
    rows = [
        [
            power(row["edges"]),
            f"{row['ghosts']:,}",
            str(row["columns"]),
            f"{row['forecast'] / 1e6:.1f} MB",
            f"{row['received'] / 1e6:.1f} MB",
            f"{row['received'] / row['forecast']:.3f}",
            measured(row),
        ]
        for _, row in table.iterrows()
    ]
    header = "edges | ghosts | columns | forecast, ghosts x columns x 4 | received | ratio | measured"
    return markdown(header, rows)


def parts() -> str:
    """What a product takes in parts, by how the system gets freed memory back."""
    table = pd.read_csv(RESULTS / "block_parts.csv")
    places = ["memory", "disk", "parts"]
    rows = []
    for _, row in table.iterrows():
        seconds = [row[f"{place}, processor s"] for place in places]
        ratios = [f"{value / seconds[0]:.2f}" for value in seconds[1:]]
        shown = [str(row["columns"]), row["freed memory goes back"], f"{seconds[0]:.3f}", *ratios]
        rows.append([power(row["edges"]), *shown, measured(row)])
    header = "edges | columns | freed memory goes back | memory, processor s | disk | four parts | measured"
    return markdown(header, rows)


def points() -> str:
    """Building the graph of points that lie in Parquet files."""
    table = pd.read_csv(RESULTS / "block_points.csv")
    rows = [
        [
            f"{row['points']:,}",
            str(row["features"]),
            str(row["neighbors"]),
            f"{row['limit GB']:g} GB" if row["limit GB"] else "–",
            f"{row['peak GB']:.1f} GB",
            f"{row['recall']:.3f}",
            number(row["processor seconds"]),
            number(row["seconds"]),
            measured(row),
        ]
        for _, row in table.iterrows()
    ]
    header = "points | features | neighbours | limit | peak of memory | recall | processor s | s | measured"
    return markdown(header, rows)


def eight_machines() -> str:
    """What a fit to a billion edges would take on eight machines, on paper."""
    table = fits()
    small = table[(table["method"] == "PoissonLearning") & (table["known"] == "labels")]
    small = small[small["edges"] == small["edges"].min()].set_index("place")
    # Four workers send rows 4 x 3 times, and multiply 4 times; eight do 8 x 7 and 8 times.
    more = small.loc["dask4", "processor seconds"] - small.loc["memory", "processor seconds"]
    each = more / small.loc["disk", "products"]
    one = table[table["place"] == "disk"].sort_values("edges", kind="stable").iloc[-1]
    times = BILLION / one["edges"]
    nodes, work = 2 * BILLION / one["degree"], times * one["processor seconds"] / MACHINES
    share = 8 * one["columns"] * nodes / MACHINES
    tasks = each * one["products"] * MACHINES**2 / 4**2
    held = (16 * BILLION + 12 * 8 * one["clusters"] * nodes) / MACHINES
    said = [
        f"{one['method']} with {one['known']} took {number(one['processor seconds'])} processor seconds for",
        f"{power(one['edges'])} edges, {one['products']:.0f} products. {power(BILLION)} edges",
        f"with as many would take {number(work)} s on each of {MACHINES} machines. If all rows travelled,",
        "in double precision,",
        f"each would receive {share / 1e9:.2g} GB: {number(share / NETWORK)} s at {NETWORK / 1e9:g} GB/s.",
        f"Dask itself took {number(each)} processor seconds for a product with its sums on four",
        "workers of this busy machine,",
        f"and four times that on {MACHINES}: {number(tasks)} s, if one process does all. Together",
        f"about {number(work + share / NETWORK + tasks)} s, with {held / 1e9:.2g} GB on each machine.",
    ]
    return " ".join(said)


def what_it_takes() -> str:
    """The large graphs in short: where, how long, and within how much memory."""
    table = fits()
    rows = []
    for _, one in table[table["edges"] >= LARGE].iterrows():
        held = one[["peak GB", "peak GB of a worker"]].max()
        rows.append(
            [
                f"{power(one['edges'])} edges, {2 * one['edges'] / one['degree'] / 1e6:g} million nodes",
                f"{one['method']}, {one['clusters']} clusters",
                PLACES[one["place"]],
                f"{held:.1f} GB",
                number(one["processor seconds"]),
                measured(one),
            ]
        )
    return markdown("graph | method | place | largest process | processor s | measured", rows)


PAGES = [DOCS / "lab" / "blocks.md", DOCS / "distributed.md"]


def makers() -> dict[str, Callable[[], str]]:
    """Return what makes the tables of the pages."""
    made = (same_labels, large, parts, traffic, points, eight_machines, what_it_takes)
    return {make.__name__.replace("_", "-"): make for make in made}


if __name__ == "__main__":
    for page in PAGES:
        rewrite(page, makers())
