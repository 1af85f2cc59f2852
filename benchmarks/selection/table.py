"""The tables of docs/selection.md from the stored lines.

python -m benchmarks.selection.table
"""

from __future__ import annotations

import pandas as pd

from benchmarks.selection.__main__ import RESULTS

LEARNERS = ("LabelSpreading", "logistic")
BEST = "best in hindsight"


def by_draw(lines: pd.DataFrame) -> pd.DataFrame:
    """Return one row per fit of everybody; only draws that AutoCut and all fixed methods have."""
    table = lines.pivot_table(index=["data", "known", "draw"], columns="method", values="ari")
    return table[table[["AutoCut", *fixed_methods(table)]].notna().all(axis=1)]


def by_cell(table: pd.DataFrame) -> pd.DataFrame:
    """Return one row per data set and amount of knowledge, the mean over draws, and the best of each row."""
    return with_hindsight(table.groupby(level=["data", "known"]).mean())


def with_hindsight(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with the best fixed method of each row, on the usual graph and on both."""
    fixed = fixed_methods(table)
    best = {
        f"{BEST}, usual graph": table[[name for name in fixed if "scaled" not in name]].max(axis=1),
        f"{BEST}, both graphs": table[fixed].max(axis=1),
    }
    return table.assign(**best)


def fixed_methods(table: pd.DataFrame) -> list[str]:
    """Return the columns that are a fixed method."""
    return [name for name in table if not name.startswith(("AutoCut", BEST, *LEARNERS))]


def by_knowledge(table: pd.DataFrame) -> pd.DataFrame:
    """Return the mean index of each method for each amount of knowledge."""
    means = table.drop(columns="AutoCut, auto", errors="ignore").groupby(level="known").mean().T
    means["all"] = means.mean(axis=1)
    return means.sort_values("all", ascending=False)


def harm(table: pd.DataFrame) -> pd.Series:
    """Return the share of cells in which a method is more than .01 below the unconstrained cut."""
    names = ["AutoCut", *fixed_methods(table)]
    return table[names].lt(table["NormalizedCut"] - 0.01, axis=0).mean()


def counts(lines: pd.DataFrame) -> tuple[float, float, int]:
    """Return how often the number of clusters was right, and within one, and in how many cells."""
    found = lines[lines.method == "AutoCut, auto"]
    error = (found.note.str.split().str[0].astype(int) - found.classes).abs()
    return float((error == 0).mean()), float((error <= 1).mean()), len(found)


def with_few_labels(lines: pd.DataFrame) -> pd.DataFrame:
    """Return the mean index with one, two, three labels in all, and how often much is lost by them."""
    lines = lines[~lines.method.str.contains("scaled|Label|logistic|auto")]
    table = lines.pivot_table(index=["data", "known", "draw"], columns="method", values="ari").dropna()
    means = table.groupby(level="known").mean().T
    lost = table.lt(table["NormalizedCut"] - 0.05, axis=0).mean()
    return means.assign(**{"more than .05 lost": lost}).sort_values(means.columns[0], ascending=False)


def as_markdown(table: pd.DataFrame) -> str:
    """Return a table for the page."""
    head = "| | " + " | ".join(map(str, table.columns)) + " |\n|---|" + "---|" * table.shape[1]
    rows = [
        f"| {name} | "
        + " | ".join("" if pd.isna(v) else f"{v:.3f}".replace("0.", ".", 1) for v in row)
        + " |"
        for name, row in zip(table.index, table.to_numpy(), strict=True)
    ]
    return "\n".join([head, *rows])


def main() -> None:
    """Show the tables."""
    lines = pd.read_csv(RESULTS / "cells.csv")
    fits = by_draw(lines)
    table = by_cell(fits)
    draws = fits.groupby(level=["data", "known"]).size()
    print(
        f"{len(table)} cells, {table.index.get_level_values('data').nunique()} data sets, "
        f"{draws.min()} to {draws.max()} draws\n"
    )
    print(as_markdown(by_knowledge(table)), "\n")
    print("best of each single draw:\n", with_hindsight(fits).filter(like=BEST).mean().round(3), "\n")
    shares = pd.DataFrame({"of the cells": harm(table), "of the fits": harm(fits)})
    print(as_markdown(shares.sort_values("of the cells")), "\n")
    losses = (table["NormalizedCut"] - table["AutoCut"]).sort_values(ascending=False)
    print("where AutoCut loses most:\n", losses.head(8).round(3), "\n")
    print("number of clusters: right {:.2f}, within one {:.2f}, fits {}".format(*counts(lines)))
    per_set = table.groupby(level="data").mean()
    shown = ["NormalizedCut", "AutoCut", "CCSR, scaled", f"{BEST}, usual graph", f"{BEST}, both graphs"]
    print(as_markdown(per_set[shown]), "\n")
    # few_before.csv was made before methods had safe=True, and AutoCut its rule about luck.
    for name in ("few_before.csv", "few.csv"):
        few = pd.read_csv(RESULTS / name)
        print(f"{name}, {few.draw.nunique()} draws\n{as_markdown(with_few_labels(few))}\n")


if __name__ == "__main__":
    main()
