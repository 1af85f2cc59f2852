"""The tables of docs/lab/layers.md: python -m benchmarks.quality.layers.table."""

from __future__ import annotations

import pandas as pd

from benchmarks import stored
from benchmarks.page_tables import DOCS, Makers, rewrite, short

PAGES = [DOCS / "lab" / "layers.md"]
FOLDER = stored.RESULTS / "quality"
SCORES = ("accuracy", "ari", "purity", "clustered")


def nothing() -> str:
    """Return the table without knowledge: means over seeds, and the numbers of clusters of each."""
    rows = pd.read_csv(FOLDER / "layers_nothing.csv")
    head = ["set", "method", "clusters", *SCORES, "processor seconds", "peak MB", "measured"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for (name, method), part in rows.groupby(["set", "method"], sort=False):
        counts = ", ".join(map(str, part["clusters"]))
        means = [short(part[score].mean()) for score in SCORES]
        seconds, peak = f"{part['cpu_seconds'].mean():.1f}", f"{part['peak_mb'].mean():.0f}"
        cells = [name, method, counts, *means, seconds, peak, stored.measured(part)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def each() -> str:
    """Return the layers of every set, from coarse to fine; the one that gives the labels is bold."""
    rows = pd.read_csv(FOLDER / "layers_each.csv")
    lines = ["| set | clusters | persistence | accuracy | ARI | purity | measured |", "|---" * 7 + "|"]
    for name, part in rows.groupby("set", sort=False):
        for row in part.sort_values("clusters").itertuples():
            is_best = row.persistence == part["persistence"].max()
            scores = [short(value) for value in (row.persistence, row.accuracy, row.ari, row.purity)]
            cells = [name, f"**{row.clusters}**" if is_best else row.clusters, *scores, stored.measured(part)]
            lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def counts() -> str:
    """Return in how many made sets the number of clusters is right."""
    rows = pd.read_csv(FOLDER / "layers_counts.csv")
    lines = [
        "| known | right | within one | within a factor of 1.5 | mean ARI | sets | measured |",
        "|---" * 7 + "|",
    ]
    for known, part in rows.groupby("known", sort=False):
        ratio, away = part["layers"] / part["classes"], (part["layers"] - part["classes"]).abs()
        near = (ratio <= 1.5) & (ratio >= 1 / 1.5)
        shares = [f"{some.mean():.0%}" for some in (away == 0, away <= 1, near)]
        cells = [known, *shares, short(part["ari"].mean()), len(part), stored.measured(part)]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def labels() -> str:
    """Return the mean accuracy by labels per class; of LabelSpreading that of the best α in each draw."""
    rows = pd.read_csv(FOLDER / "layers_labels.csv")
    is_spread = rows["method"].str.startswith("LabelSpreading")
    best = rows[is_spread].groupby(["set", "per_class", "draw"], sort=False)["accuracy"].max().reset_index()
    both = pd.concat([rows[~is_spread], best.assign(method="LabelSpreading, best α")])
    means = both.pivot_table(index=["set", "method"], columns="per_class", values="accuracy", sort=False)
    lines = ["| set | method | " + " | ".join(map(str, means.columns)) + " | draws | measured |"]
    lines.append("|---" * (len(means.columns) + 4) + "|")
    for (name, method), row in means.iterrows():
        part = rows[rows["set"] == name]
        cells = [name, method, *map(short, row), str(part["draw"].nunique()), stored.measured(part)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def many() -> str:
    """Return the adjusted Rand index with many classes, by what is known: the best first with five labels."""
    rows = pd.read_csv(FOLDER / "layers_many.csv")
    rows["method"] = rows["method"].str.replace(r"LabelSpreading .*", "LabelSpreading, best α", regex=True)
    keys = ["points", "classes", "known", "method"]
    best = rows.groupby([*keys, "draw"])["ari"].max().groupby(keys).mean()
    means = best.unstack("known")[["nothing", "1 per class", "5 per class", "2,000 pairs"]]
    lines = ["| points | classes | | " + " | ".join(means.columns) + " | draws | measured |"]
    lines.append("|---" * (len(means.columns) + 5) + "|")
    for (points, classes), part in means.groupby(level=["points", "classes"], sort=False):
        own = rows[(rows["points"] == points) & (rows["classes"] == classes)]
        for (*_, name), row in part.sort_values("5 per class", ascending=False).iterrows():
            cells = [points, classes, name, *map(short, row), own["draw"].nunique(), stored.measured(own)]
            lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def makers() -> Makers:
    """Return what makes each table."""
    return {"nothing": nothing, "each": each, "counts": counts, "labels": labels, "many": many}


if __name__ == "__main__":
    for page in PAGES:
        rewrite(page, makers())
