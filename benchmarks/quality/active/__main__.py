"""Measure curves, and keep them: `python -m benchmarks.quality.active --data FOLDER`.

Every run is a line of active_curves.jsonl; runs that are there are not made again. `--table` writes the
tables of docs/lab/asking.md.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from benchmarks.page_tables import rewrite
from benchmarks.quality.active.cobras import COBRAS, run_cobras
from benchmarks.quality.active.curves import E2CP_RANDOM, STRATEGIES, run_curve, run_e2cp
from benchmarks.quality.active.sets import SETS, load_set
from benchmarks.quality.active.table import PAGES, makers, stored
from benchmarks.stored import RESULTS as FOLDER
from benchmarks.stored import stamp

RESULTS = FOLDER / "quality" / "active_curves.jsonl"


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.active", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with <name>.npz; else openml.org")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "sidecut-peers")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--strategies", nargs="+", default=["default_strategy"])
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
        rewrite(PAGES[0], makers())
        return
    wanted.cache.mkdir(parents=True, exist_ok=True)
    for name, strategy, draw in cells(wanted):
        row = {"set": name, "strategy": strategy, "draw": draw, "error": wanted.error}
        row |= run_cell(wanted, name, strategy, draw) | stamp()
        with RESULTS.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
