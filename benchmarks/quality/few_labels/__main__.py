"""Run some of the work and add a row per fit to a table.

    python -m benchmarks.quality.few_labels labels mnist --data FOLDER --graphs CACHE --draws 5

What is stored is not run again. `--methods` names some; `--peer PYTHON` runs graphlearning in its own
environment.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.quality.few_labels import methods
from benchmarks.quality.few_labels.work import (
    Work,
    labels_at_random,
    labels_per_class,
    neighbor_graph,
    random_pairs,
    thin_out,
)
from benchmarks.stored import RESULTS, stamp

HERE = Path(__file__).parent
FIELDS = [
    "experiment",
    "data",
    "amount",
    "draw",
    "method",
    "accuracy",
    "seconds",
    "cpu_seconds",
    "date",
    "commit",
]


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("experiment", choices=["labels", "uneven", "random", "missing", "sizes", "pairs"])
    parser.add_argument("data_set")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--graphs", type=Path, required=True)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="the first draw; on MNIST 0 and 1 set constants")
    parser.add_argument("--amounts", type=int, nargs="+", default=[1, 2, 3, 5, 10, 50])
    parser.add_argument("--methods", nargs="+")
    parser.add_argument("--peer", type=Path)
    parser.add_argument("--results", type=Path, default=RESULTS / "quality" / "few_labels.csv")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    weights, truth = neighbor_graph(options.data_set, options.data, options.graphs)
    if options.experiment == "uneven":
        weights, truth = thin_out(weights, truth)
    for draw in range(options.first, options.first + options.draws):
        for amount in options.amounts:
            work = make_work(options.experiment, weights, truth, amount, draw)
            head = [options.experiment, options.data_set, amount, draw]
            for row in run_all(work, options, head):
                store(head + row + [*stamp().values()], options.results)


def make_work(experiment: str, weights: sp.csr_array, truth: np.ndarray, amount: int, draw: int) -> Work:
    """Return a draw of what the experiment gives away."""
    if experiment == "pairs":
        return random_pairs(weights, truth, amount, draw)
    if experiment in ("random", "missing"):
        missing = draw % (truth.max() + 1) if experiment == "missing" else None
        return labels_at_random(weights, truth, amount, draw, missing)
    return labels_per_class(weights, truth, amount, draw)


def run_all(work: Work, options: argparse.Namespace, head: list) -> Iterator[list]:
    """Yield method, accuracy and seconds of all methods that are not stored yet."""
    tables = {
        "pairs": methods.PAIRS,
        "sizes": methods.SIZES,
        "random": methods.RANDOM,
        "missing": methods.MISSING,
    }
    table = tables.get(options.experiment, methods.LABELS)
    done = stored(head, options.results)
    for name, method in table.items():
        if name not in done and (options.methods is None or name in options.methods):
            wall, cpu = time.perf_counter(), time.process_time()
            classes = method(work)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            yield [name, work.accuracy(classes), wall, cpu]
    if options.peer is not None:
        missing = [name for name in ("graphlearning Poisson", "graphlearning PoissonMBO") if name not in done]
        yield from peer_rows(work, options.peer, missing)


def peer_rows(work: Work, python: Path, names: list[str]) -> Iterator[list]:
    """Yield the same of the package graphlearning, in an environment of its own."""
    if not names:
        return
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        sp.save_npz(place / "weights.npz", work.graph.matrix)
        np.savez(place / "known.npz", known=work.known, truth=work.truth)
        for name in names:
            command = [python, HERE / "peer.py", place, name]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            seconds = json.loads(done.stdout.splitlines()[-1])
            classes = np.load(place / "classes.npy")
            yield [name, work.accuracy(classes), seconds["wall"], seconds["cpu"]]


def stored(head: list, table: Path) -> set[str]:
    """Return the methods whose row is there already."""
    if not table.exists():
        return set()
    with table.open() as file:
        return {
            row["method"]
            for row in csv.DictReader(file)
            if [row[name] for name in FIELDS[:4]] == list(map(str, head))
        }


def store(row: list, table: Path) -> None:
    """Add a row to the table."""
    fresh = not table.exists()
    with table.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if fresh:
            writer.writerow(FIELDS)
        writer.writerow([f"{value:.4f}" if isinstance(value, float) else value for value in row])


if __name__ == "__main__":
    main()
