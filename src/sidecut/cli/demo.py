"""``sidecut demo``: bundled data clustered with the same command as any other data."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sidecut.cli.cluster import FinishedRun, finish
from sidecut.cli.console import Exit, show_table
from sidecut.cli.options import ClusterOptions, DemoOptions, command_line
from sidecut.datasets import Dataset, make_example, two_moons


@dataclass(frozen=True)
class Example:
    """A data set and the number of its labels to use."""

    data: Dataset
    n_known: int
    words: str


def run(options: DemoOptions) -> int:
    """Write the data, cluster it with and without a few labels, and print what changed."""
    options.output.mkdir(parents=True, exist_ok=True)
    moons = two_moons(300, noise=0.15, random_state=0)
    results = []
    for example in (
        Example(moons, 20, "300 points on two noisy half circles"),
        Example(make_example("digits"), 60, "1,797 handwritten digits of 8 x 8 pixels"),
    ):
        asked = _prepare(example, options.output)
        print(f"{example.words}; {example.n_known} of them labelled\n$ {command_line('cluster', asked)}\n")
        sys.stdout.flush()
        results.append(finish(replace(asked, quiet=options.quiet, verbose=options.verbose)))
    _show(results, options.output)
    return Exit.OK


def _prepare(example: Example, directory: Path) -> ClusterOptions:
    """Write an example's files and return the options of `cluster` for it."""
    name = example.data.name
    data, known = directory / f"{name}.csv", directory / f"{name}_known.csv"
    features = [f"x{column}" for column in range(example.data.X.shape[1])]
    _write_csv(data, [*features, "class"], np.column_stack([example.data.X, example.data.y]).tolist())
    rng = np.random.default_rng(0)
    rows = np.sort(rng.choice(len(example.data.y), example.n_known, replace=False))
    _write_csv(known, ["i", "label"], ((int(row), int(example.data.y[row])) for row in rows))
    return ClusterOptions(
        data=data,
        clusters=str(len(np.unique(example.data.y))),
        output=directory / f"{name}_labels.csv",
        constraints=known,
        truth_column="class",
        picture=directory / f"{name}.png",
    )


def _write_csv(path: Path, heads: list[str], rows: Iterable[Iterable[float]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(heads)
        # Whole numbers are written without ".0"; everything else with all its digits.
        writer.writerows([int(v) if float(v).is_integer() else v for v in row] for row in rows)


def _show(finished: list[FinishedRun], directory: Path) -> None:
    rows: list[tuple[str, ...]] = []
    for done in finished:
        run = done.result
        rows.append((run.points.source.stem, "", "", ""))
        for name, score in (
            ("without constraints", run.baseline_score),
            (type(run.model).__name__, run.score),
        ):
            if score is not None:
                kept = f"{score.kept:,} of {score.total:,}"
                rows.append(
                    (f"  {name}", f"{score.ari or 0:.3f}", f"{score.ari_unconstrained or 0:.3f}", kept)
                )
    show_table(["", "ARI", "ARI on unlabelled", "constraints kept"], rows, numeric=[1, 2, 3])
    print(
        "\n(ARI: 1 is perfect agreement with the true classes, 0 is chance. One random draw of labels each.)"
    )
    print("\nBefore and after:", *(done.files["picture"] for done in finished), sep="\n  ")
    print("Reports, to open in a browser:", *(done.files["report"] for done in finished), sep="\n  ")
    print(f"\nNow with your own data (files like those in {directory}):")
    print("  sidecut cluster YOUR.csv --clusters 3 --constraints KNOWN.csv -o labels.csv")
