"""AutoCut beside every fixed method, the best in hindsight, and classifiers.

    python -m benchmarks.quality.selection --data FOLDER [--draws 10] [--sets reported] [--only AutoCut]

Adjusted Rand index on unconstrained points. Every fit is a line of selection_cells.csv, written when it is
done; a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import stored
from benchmarks.quality.selection.data import DEVELOPMENT, MOST_POINTS, REPORTED, load
from benchmarks.quality.selection.rivals import Graphs, classifiers, fixed_methods
from sidecut import AutoCut, Constraints
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.evaluation import adjusted_rand_index

RESULTS = stored.RESULTS / "quality"
COLUMNS = ("data", "points", "classes", "known", "draw", "method", "ari", "seconds", "note", "date", "commit")


def knowledge(y: np.ndarray, draw: int) -> Iterator[tuple[str, Constraints]]:
    """Yield what is known: labels of some per cent, or random pairs."""
    for share in (1, 2, 5):
        count = max(2, round(len(y) * share / 100))
        yield f"labels {share} %", sample_labels(y, count, random_state=draw)
    for part in (20, 5):
        yield f"pairs n/{part}", sample_pairs(y, len(y) // part, random_state=draw)


class Store:
    """The lines measured so far, on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.path.parent.mkdir(exist_ok=True)
        self.done: set[tuple[str, ...]] = set()
        if path.exists():
            with path.open() as file:
                self.done = {self.key(line) for line in csv.DictReader(file)}
        else:
            with path.open("w", newline="") as file:
                csv.writer(file).writerow(COLUMNS)

    @staticmethod
    def key(line: dict[str, Any]) -> tuple[str, ...]:
        """Tell one fit from all others."""
        return tuple(str(line[name]) for name in ("data", "known", "draw", "method"))

    def add(self, line: dict[str, Any]) -> None:
        """Write a line."""
        with self.path.open("a", newline="") as file:
            csv.DictWriter(file, COLUMNS).writerow(line | stored.stamp())
        self.done.add(self.key(line))


def measure(X: Any, y: np.ndarray, line: dict[str, Any], known: Constraints, store: Store, only: str) -> None:
    """Fit everybody who is missing in the store."""
    graphs: Graphs | None = None
    if only != "AutoCut":
        graphs = Graphs(X)
        rivals = [*fixed_methods(graphs, known, line["classes"]), *classifiers(X, graphs, y, known)]
        for name, fit in rivals:
            if only and name.split(",")[0] not in only.split("+"):
                continue
            _run(fit, y, {**line, "method": name}, known, store)
    if not only or "AutoCut" in only:
        for name, count in (("AutoCut", line["classes"]), ("AutoCut, auto", "auto")):
            if name == "AutoCut" or line["known"] == "labels 5 %":
                _run_auto(X, count, y, {**line, "method": name}, known, store)


def _run(fit: Any, y: np.ndarray, line: dict[str, Any], known: Constraints, store: Store) -> None:
    if store.key(line) in store.done:
        return
    start = time.process_time()
    try:
        line["ari"] = round(adjusted_rand_index(y, fit(), constraints=known), 4)
    except Exception as error:
        line["note"] = f"{type(error).__name__}: {error}"[:80]
    line["seconds"] = round(time.process_time() - start, 3)
    store.add(line)


def _run_auto(
    X: Any, count: Any, y: np.ndarray, line: dict[str, Any], known: Constraints, store: Store
) -> None:
    if store.key(line) in store.done:
        return
    start = time.process_time()
    # The number of clusters is found before methods are tried.
    budget = "0s" if count == "auto" else None
    model = AutoCut(count, budget=budget, random_state=0).fit(X, constraints=known)
    line["seconds"] = round(time.process_time() - start, 3)
    line["ari"] = round(adjusted_rand_index(y, model.labels_, constraints=known), 4)
    line["note"] = f"{model.n_clusters_} clusters"
    store.add(line)


def main() -> None:
    """Run what is missing."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of .npz files")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="the first draw")
    parser.add_argument("--sets", choices=("reported", "development"), default="reported")
    parser.add_argument("--names", nargs="+", help="these data sets only")
    parser.add_argument("--known", nargs="+", help="these amounts only, such as 'pairs n/5'")
    parser.add_argument("--only", default="", help="one or more methods, joined by +")
    parser.add_argument("--points", type=int, default=MOST_POINTS, help="so many points of every set")
    parser.add_argument("--store", default="", help="the file of results, if not the usual one")
    args = parser.parse_args()
    names = args.names or (REPORTED if args.sets == "reported" else DEVELOPMENT)
    usual = "selection_cells.csv" if args.sets == "reported" else "selection_development.csv"
    store = Store(RESULTS / (args.store or usual))
    for draw in range(args.first, args.draws):
        for name in names:
            X, y = load(name, draw, args.data, args.points)
            if args.points > MOST_POINTS and len(y) < args.points / 2:
                continue  # it has been measured whole, or nearly
            line = {"data": name, "points": len(y), "classes": len(np.unique(y)), "draw": draw}
            for kind, known in knowledge(y, draw):
                if args.known and kind not in args.known:
                    continue
                measure(X, y, {**line, "known": kind}, known, store, args.only)


if __name__ == "__main__":
    main()
