"""``sidecut demo``: the whole walk on bundled data, through the same door as everybody's data."""

from __future__ import annotations

import csv
import shlex
import sys
from argparse import Namespace
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sidecut.cli.cluster_command import Performance, perform
from sidecut.cli.clustering import ClusterRun
from sidecut.cli.errors import OK
from sidecut.cli.parser import build_parser
from sidecut.cli.scores import Score
from sidecut.datasets import Dataset, make_example, two_moons

__all__ = ["run"]


@dataclass(frozen=True)
class Example:
    """A data set and how little is known about it.

    Parameters
    ----------
    data : Dataset
        Points and true classes.
    n_known : int
        How many points are labelled beforehand, drawn at random.
    words : str
        What it is.
    """

    data: Dataset
    n_known: int
    words: str


def _examples() -> list[Example]:
    moons = two_moons(300, noise=0.15, random_state=0)
    return [
        Example(moons, 20, "300 points on two noisy half circles"),
        Example(make_example("digits"), 60, "1,797 handwritten digits of 8 x 8 pixels"),
    ]


def run(args: Namespace) -> int:
    """Write the data, cluster it with and without a few labels, and tell what changed.

    Parameters
    ----------
    args : Namespace
        The parsed command line.

    Returns
    -------
    int
        Exit code.
    """
    args.output.mkdir(parents=True, exist_ok=True)
    results = []
    for example in _examples():
        command = _command(example, args.output)
        print(f"{example.words}; {example.n_known} of them labelled\n$ {shlex.join(['sidecut', *command])}\n")
        sys.stdout.flush()
        done = _cluster(command, args)
        results.append((example, done))
    print(_table([done.result for _, done in results]))
    print(_farewell([done for _, done in results], args.output))
    return OK


def _command(example: Example, directory: Path) -> list[str]:
    """Write an example's files and return the command that clusters them."""
    name = example.data.name
    data, known = directory / f"{name}.csv", directory / f"{name}_known.csv"
    features = [f"x{column}" for column in range(example.data.X.shape[1])]
    _write_csv(data, [*features, "class"], np.column_stack([example.data.X, example.data.y]).tolist())
    rng = np.random.default_rng(0)
    rows = np.sort(rng.choice(len(example.data.y), example.n_known, replace=False))
    _write_csv(known, ["i", "label"], ((int(row), int(example.data.y[row])) for row in rows))
    files = ["--picture", str(directory / f"{name}.png"), "-o", str(directory / f"{name}_labels.csv")]
    n_classes = len(np.unique(example.data.y))
    options = ["--clusters", str(n_classes), "--constraints", str(known), "--truth-column", "class"]
    return ["cluster", str(data), *options, *files]


def _write_csv(path: Path, heads: list[str], rows: Iterable[Iterable[float]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(heads)
        # Whole numbers are written without ".0"; everything else with all its digits.
        writer.writerows([int(v) if float(v).is_integer() else v for v in row] for row in rows)


def _cluster(command: list[str], args: Namespace) -> Performance:
    chosen = build_parser().parse_args(command)
    chosen.argv, chosen.quiet, chosen.verbose = command, args.quiet, args.verbose
    return perform(chosen)


def _table(runs: list[ClusterRun]) -> str:
    lines = [f"{'':22}{'ARI':>9}{'ARI on unlabelled':>20}{'constraints kept':>20}"]
    for run in runs:
        lines.append(run.points.source.stem)
        lines.extend(_line(name, score) for name, score in _scores(run))
    return "\n".join(lines)


def _scores(run: ClusterRun) -> list[tuple[str, Score]]:
    scores = [(f"  {type(run.model).__name__}", run.score)]
    if run.baseline_score is not None:
        scores.insert(0, ("  without constraints", run.baseline_score))
    return scores


def _line(name: str, score: Score) -> str:
    kept = f"{score.kept:,} of {score.total:,}"
    return f"{name:22}{score.ari or 0.0:9.3f}{score.ari_unconstrained or 0.0:20.3f}{kept:>20}"


def _farewell(performances: list[Performance], directory: Path) -> str:
    pictures = [f"  {done.files['picture']}" for done in performances]
    reports = [f"  {done.files['report']}" for done in performances]
    your_turn = "  sidecut cluster YOUR.csv --clusters 3 --constraints KNOWN.csv -o labels.csv"
    return "\n".join(
        [
            "\n(ARI: 1 is perfect agreement with the true classes, 0 is chance. One random draw of labels "
            "each.)",
            "\nBefore and after:",
            *pictures,
            "Reports, to open in a browser:",
            *reports,
            f"\nNow with your own data (files like those in {directory}):",
            your_turn,
        ]
    )
