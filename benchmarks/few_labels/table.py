"""Print the stored results as tables: mean accuracy, processor seconds and the number of draws.

python -m benchmarks.few_labels.table
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from benchmarks.few_labels import methods

TITLES = {
    "labels": "labels of each class",
    "uneven": "labels of each class, classes thinned out to between a tenth and all of their points",
    "random": "labels drawn at random",
    "missing": "labels drawn at random, none of one class",
    "sizes": "labels of each class, sizes told rightly and wrongly",
    "pairs": "random pairs, no labels",
}


def main() -> None:
    """Print one table for each experiment and data set."""
    rows = pd.read_csv(Path(__file__).parent / "results.csv")
    for (experiment, data), part in rows.groupby(["experiment", "data"], sort=False):
        print(f"\n{data}, {TITLES[experiment]}:\n")
        print(markdown(part))


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
        "| | " + " | ".join(str(amount) for amount in means.columns) + " | seconds | draws |",
        "|---" * (len(means.columns) + 3) + "|",
    ]
    order = [*methods.RANDOM, *methods.SIZES, *methods.PAIRS]
    for method, row in sorted(
        means.iterrows(), key=lambda item: order.index(item[0]) if item[0] in order else 99
    ):
        cells = [f"{value:.3f}".lstrip("0") if value == value else "" for value in row]
        lines.append(f"| {method} | " + " | ".join(cells) + f" | {seconds[method]:.1f} | {draws[method]} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
