"""The tables of docs/lab/selection.md from the stored lines; more of them are printed.

python -m benchmarks.quality.selection.table
"""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from benchmarks import stored
from benchmarks.page_tables import DOCS, rewrite, short
from benchmarks.quality.selection import customers, outside, reliability
from benchmarks.quality.selection.__main__ import RESULTS

PAGES = [DOCS / "lab" / "selection.md"]
#: What was aimed at: over the best fixed method, below the best in hindsight, the share of cells with harm,
#: the shares of numbers of clusters that are right and within one.
OVER_FIXED, BELOW_BEST, HARMED, RIGHT, WITHIN_ONE = 0.02, 0.02, 0.02, 0.8, 0.95
#: No cell was to lose more than this beside nothing known.
WORST = 0.05

LEARNERS = ("LabelSpreading", "logistic", "random forest")
BEST = "best in hindsight"
#: What the reported sets are of.
FAMILIES = {
    "texts": ("20news", "reuters"),
    "pictures": ("mnist", "usps", "scene8", "yaleb"),
    "tables": ("covtype", "glass", "letter", "pendigits", "segment"),
}
#: Samples of several sizes, and where their lines are.
SIZES = {
    "600 points": "selection_cells.csv",
    "3,000 points": "selection_cells_3000.csv",
    "70,000 points": "selection_cells_70000.csv",
}


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
    """Return the mean index with one, two, three labels in all, and how often much is lost by them.

    SCACS is compared with LSC, which is the same without constraints, where LSC was measured.
    """
    lines = lines[~lines.method.str.contains("scaled|Label|logistic|forest|auto")]
    table = lines.pivot_table(index=["data", "known", "draw"], columns="method", values="ari").dropna()
    means = table.groupby(level="known").mean().T.rename(columns={"1 labels": "1 label"})
    own = {name: "LSC" if name == "SCACS" and "LSC" in table else "NormalizedCut" for name in table}
    lost = pd.Series({name: (table[name] < table[own[name]] - 0.05).mean() for name in table})
    return means.assign(lost=lost).sort_values(means.columns[-1], ascending=False)


def as_markdown(table: pd.DataFrame, lines: pd.DataFrame | None = None) -> str:
    """Return a table for the page; with the lines it comes from, it says when each method was measured."""
    if lines is not None:
        when = [stored.measured(lines[lines.method == name]) for name in table.index]
        table = table.map(short).assign(measured=when)
    head = "| | " + " | ".join(map(str, table.columns)) + " |\n|---|" + "---|" * table.shape[1]
    rows = [
        f"| {name} | " + " | ".join(v if isinstance(v, str) else short(v) for v in row) + " |"
        for name, row in zip(table.index, table.to_numpy(), strict=True)
    ]
    return "\n".join([head, *rows])


def aims(lines: pd.DataFrame) -> str:
    """Return what was aimed at beside what is reached."""
    fits = by_draw(lines)
    table = by_cell(fits)
    means = table.mean()
    ours, fixed = means["AutoCut"], means[fixed_methods(table)]
    usual = fixed[[name for name in fixed.index if "scaled" not in name]]
    both, plain = means[f"{BEST}, both graphs"], means[f"{BEST}, usual graph"]
    cells, share = harm(table)["AutoCut"], harm(fits)["AutoCut"]
    worst = (table["NormalizedCut"] - table["AutoCut"]).max()
    right, near, n_fits = counts(lines)
    met = {True: "met", False: "missed"}
    rows = [
        (
            f"over the best fixed method as it comes (`{usual.idxmax()}`, {short(usual.max())})",
            f"+{short(OVER_FIXED, 2)}",
            f"{short(ours - usual.max())} above it: {met[ours - usual.max() >= OVER_FIXED]}",
        ),
        (
            f"over the best fixed method on the better graph (`{fixed.idxmax()}`, {short(fixed.max())})",
            "",
            f"{short(ours - fixed.max())} above it",
        ),
        (
            f"below the best in hindsight, on the usual graph ({short(plain)})",
            short(BELOW_BEST, 2),
            f"{short(ours - plain)} above it: {met[plain - ours <= BELOW_BEST]}",
        ),
        (
            f"below the best in hindsight, both graphs ({short(both)})",
            short(BELOW_BEST, 2),
            f"{short(both - ours)}: {met[both - ours <= BELOW_BEST]}",
        ),
        (
            "more than .01 below the unconstrained cut of the usual graph",
            f"{HARMED:.0%} of the cells".replace("%", " %"),
            f"{cells:.0%}, {round(cells * len(table))} of {len(table)} cells ({share:.0%} of the single "
            f"fits): {met[cells <= HARMED]}".replace("%", " %"),
        ),
        (
            "the most below it in one cell",
            short(WORST, 2),
            f"{short(max(worst, 0.0))}: {met[worst <= WORST]}",
        ),
        (
            "number of clusters from 5 % of labels",
            "right in 80 %, within one in 95 %",
            f"{right:.0%}, {near:.0%} of {n_fits} fits: ".replace("%", " %")
            + f"{met[right >= RIGHT]}, {met[near >= WITHIN_ONE]}",
        ),
    ]
    lines_ = ["| | the aim was | here |", "|---|---|---|"] + [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines_, "", f"Measured on {stored.measured(lines)}."])


def by_family() -> str:
    """Return AutoCut beside the best single method and the best in hindsight, by family and size."""
    rows = ["| | sets | AutoCut | best single method | best in hindsight | harm | worst | measured |"]
    rows += ["|---|---|---|---|---|---|---|---|"]
    for words, file in SIZES.items():
        if not (RESULTS / file).exists():
            continue
        lines = pd.read_csv(RESULTS / file)
        table = by_cell(by_draw(lines))
        sets, known = (table.index.get_level_values(level) for level in ("data", "known"))
        for family, starts in FAMILIES.items():
            for kind in ("labels", "pairs"):
                some = table[sets.str.startswith(starts) & known.str.startswith(kind)]
                if some.empty:
                    continue
                fixed = some[fixed_methods(some)].mean()
                loss = (some["NormalizedCut"] - some["AutoCut"]).max()
                shown = (
                    f"{family}, {kind}, {words}",
                    str(some.index.get_level_values("data").nunique()),
                    short(some["AutoCut"].mean()),
                    f"{short(fixed.max())} ({fixed.idxmax()})",
                    short(some[f"{BEST}, both graphs"].mean()),
                    f"{round(harm(some)['AutoCut'] * len(some))} of {len(some)} cells",
                    short(max(loss, 0.0)),
                    stored.measured(lines),
                )
                rows.append(f"| {' | '.join(shown)} |")
    return "\n".join(rows)


def few_labels() -> str:
    """Return the table of few labels."""
    lines = pd.read_csv(RESULTS / "selection_few.csv")
    return as_markdown(with_few_labels(lines), lines)


def cost() -> str:
    """Return what choosing costs, over a fit of the median method."""
    rows = [
        f"| {row['points']:,} | {row['labels']} | {row['AutoCut']:.1f} | {row['median candidate']:.1f} | "
        f"{row['over the median']} | {stored.measured(row)} |"
        for _, row in pd.read_csv(RESULTS / "selection_cost.csv").iterrows()
    ]
    head = ["| points | labels | AutoCut | median method | ratio | measured |", "|---|---|---|---|---|---|"]
    return "\n".join([*head, *rows])


def makers() -> dict[str, Callable[[], str]]:
    """Return what makes the tables of the page, by the names of their marks."""
    lines = pd.read_csv(RESULTS / "selection_cells.csv")
    return {
        "by-knowledge": lambda: as_markdown(by_knowledge(by_cell(by_draw(lines))), lines),
        "aims": lambda: aims(lines),
        "by-family": by_family,
        "outside": outside.summary,
        "reliability": reliability.summary,
        "customers": customers.summary,
        "few-labels": few_labels,
        "cost": cost,
    }


def main() -> None:
    """Write the tables of the page, and show more of them."""
    rewrite(PAGES[0], makers())
    lines = pd.read_csv(RESULTS / "selection_cells.csv")
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
    per_set = table.groupby(level="data").mean()
    shown = ["NormalizedCut", "AutoCut", "CCSR, scaled", f"{BEST}, usual graph", f"{BEST}, both graphs"]
    print(as_markdown(per_set[shown]), "\n")
    print(aims(lines))


if __name__ == "__main__":
    main()
