"""Measure curves, and keep them: `python -m benchmarks.active --data FOLDER`.

Every run is a line of results/curves.jsonl; runs that are there are not made again. `--table` writes the
tables of docs/asking.md.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from benchmarks.active.cobras import COBRAS, run_cobras
from benchmarks.active.curves import E2CP_RANDOM, STRATEGIES, run_curve, run_e2cp
from benchmarks.active.sets import SETS, load_set
from benchmarks.active.table import PAGE, makers, stored
from benchmarks.marks import rewrite

RESULTS = Path(__file__).parent / "results" / "curves.jsonl"


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.active", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with <name>.npz; else openml.org")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "sidecut-peers")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--strategies", nargs="+", default=["controller"])
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--error", type=float, default=0.0, help="the chance of a wrong answer")
    parser.add_argument("--table", action="store_true", help="write the tables of the page")
    return parser.parse_args()


def cells(wanted: argparse.Namespace) -> Iterator[tuple[str, str, int]]:
    """Give the runs that are not stored."""
    done = {(row["set"], row["strategy"], row["draw"], row["error"]) for row in stored()}
    for name in wanted.sets:
        for strategy in wanted.strategies:
            for draw in range(wanted.draws):
                if (name, strategy, draw, wanted.error) not in done:
                    yield name, strategy, draw


def run_cell(wanted: argparse.Namespace, name: str, strategy: str, draw: int) -> dict:
    X, y = load_set(name, wanted.data)
    if strategy == COBRAS:
        return run_cobras(X, y, draw, wanted.cache)
    if strategy == E2CP_RANDOM:
        return run_e2cp(X, y, draw)
    if strategy not in STRATEGIES:
        raise SystemExit(
            f"--strategies {strategy}: choose from {', '.join([*STRATEGIES, COBRAS, E2CP_RANDOM])}"
        )
    return run_curve(X, y, strategy, draw, wanted.error)


def main() -> None:
    wanted = read_arguments()
    if wanted.table:
        rewrite(PAGE, makers())
        return
    RESULTS.parent.mkdir(exist_ok=True)
    wanted.cache.mkdir(parents=True, exist_ok=True)
    for name, strategy, draw in cells(wanted):
        row = {"set": name, "strategy": strategy, "draw": draw, "error": wanted.error}
        row |= run_cell(wanted, name, strategy, draw)
        with RESULTS.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
