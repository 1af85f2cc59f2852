"""The tables of docs/lab/few-labels.md from the stored results: accuracy, processor seconds, number of draws.

python -m benchmarks.quality.few_labels.table
"""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from benchmarks import stored
from benchmarks.page_tables import DOCS, rewrite, short
from benchmarks.quality.few_labels import methods

PAGES = [DOCS / "lab" / "few-labels.md", DOCS / "poisson.md"]
RESULTS = stored.RESULTS / "quality" / "few_labels.csv"
#: The rows at the head of the page; all others are below.
FIRST = (
    "PoissonMBO, sizes given",
    "PoissonMBO",
    "PoissonLearning",
    "LabelSpreading .99",
    "CSP",
    "E2CP",
    "NormalizedCut",
    "scikit-learn lobpcg",
    "graphlearning PoissonMBO",
)


def read() -> pd.DataFrame:
    """Return the stored fits."""
    return pd.read_csv(RESULTS)


def draws_of(part: pd.DataFrame, amounts: list[int]) -> dict[str, str]:
    """Return how many draws the means of every method rest on: one number, or one for each amount."""
    counts = part.groupby(["method", "amount"])["draw"].nunique().unstack(fill_value=0)[amounts]
    return {
        method: ", ".join(map(str, row if row[row > 0].nunique() > 1 else row[row > 0].unique()))
        for method, row in counts.iterrows()
    }


def markdown(part: pd.DataFrame) -> str:
    """Return a table with a row per method, a column per amount, processor seconds and draws."""
    means = part.pivot_table(index="method", columns="amount", values="accuracy", sort=False)
    means = means[sorted(means.columns)]
    seconds = part.groupby("method", sort=False)["cpu_seconds"].mean()
    draws = draws_of(part, list(means.columns))
    lines = [
        "| | " + " | ".join(str(amount) for amount in means.columns) + " | seconds | draws | measured |",
        "|---" * (len(means.columns) + 4) + "|",
    ]
    order = [*methods.RANDOM, *methods.SIZES, *methods.PAIRS]
    for method, row in sorted(
        means.iterrows(), key=lambda item: order.index(item[0]) if item[0] in order else 99
    ):
        cells = [short(value) for value in row]
        cells += [f"{seconds[method]:.1f}", draws[method], stored.measured(part[part.method == method])]
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def first_rows(part: pd.DataFrame) -> str:
    """Return the rows at the head of the page, the best methods first."""
    head, rule, *rows = markdown(part).split("\n")
    by_name = {row.split(" | ")[0].removeprefix("| "): row for row in rows}
    return "\n".join([head, rule, *(by_name[name] for name in FIRST if name in by_name)])


def makers() -> dict[str, Callable[[], str]]:
    """Return what makes the tables of the page, by the names of their marks."""
    fits = read()
    parts = {f"{kind}-{data}": part for (kind, data), part in fits.groupby(["experiment", "data"])}
    made = {name: lambda part=part: markdown(part) for name, part in parts.items()}
    mnist = parts["labels-mnist"]
    return made | {
        "labels-mnist-first": lambda: first_rows(mnist),
    }


def main() -> None:
    """Write the tables of the pages."""
    for page in PAGES:
        rewrite(page, makers())


if __name__ == "__main__":
    main()
