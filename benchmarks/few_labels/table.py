"""Print the stored results as tables: mean accuracy and processor seconds, with the number of draws.

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
        print(f"\n{data}, {TITLES[experiment]} ({draws_of(part)}):\n")
        print(markdown(part))


def draws_of(part: pd.DataFrame) -> str:
    """Return how many draws the means rest on."""
    counts = part.groupby(["amount", "method"])["draw"].nunique()
    least, most = counts.min(), counts.max()
    if least < most:
        return f"{least} to {most} draws"
    return "1 draw" if most == 1 else f"{most} draws"


def markdown(part: pd.DataFrame) -> str:
    """Return a table with a row per method and a column per amount, and processor seconds."""
    means = part.pivot_table(index="method", columns="amount", values="accuracy", sort=False)
    means = means[sorted(means.columns)]
    seconds = part.groupby("method", sort=False)["cpu_seconds"].mean()
    lines = [
        "| | " + " | ".join(str(amount) for amount in means.columns) + " | seconds |",
        "|---" * (len(means.columns) + 2) + "|",
    ]
    order = [*methods.RANDOM, *methods.SIZES, *methods.PAIRS]
    for method, row in sorted(
        means.iterrows(), key=lambda item: order.index(item[0]) if item[0] in order else 99
    ):
        cells = [f"{value:.3f}".lstrip("0") if value == value else "" for value in row]
        lines.append(f"| {method} | " + " | ".join(cells) + f" | {seconds[method]:.1f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
