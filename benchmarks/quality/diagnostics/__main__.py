"""Wrong knowledge and doubtful points: `python -m benchmarks.quality.diagnostics --data FOLDER`.

On four bundled sets, and on eight others on which no constant was set, some points are labelled or n/5 pairs
are known, and 5, 10 or 20 % of these are made wrong. Measured are the area under the curve of the suspicion;
the same for a classifier that knows all true labels, which is about the best one can hope for; the adjusted
Rand index on points nothing is known about at 10 %, with the right knowledge, with the wrong knowledge, with
suspects dropped and with just the wrong ones dropped (CSP for labels, E2CP for pairs); and how errors lie
over the confidence. Models are fitted in the first draws only. Results are stored beside this file, those of
sets that are not run again are kept, and `--table` writes the tables of docs/lab/diagnostics.md.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

from benchmarks.page_tables import DOCS, rewrite
from benchmarks.quality.diagnostics.sets import BUNDLED, OTHERS, load_set
from benchmarks.quality.diagnostics.table import makers
from benchmarks.quality.diagnostics.wrong import KINDS, Case, know_all, measure
from benchmarks.stored import RESULTS, stamp
from sidecut.graphs import Neighbors

STORED = RESULTS / "quality" / "diagnostics.jsonl"
PAGES = [DOCS / "lab" / "diagnostics.md"]


def main() -> None:
    arguments = _read_arguments()
    if not arguments.table:
        warnings.simplefilter("ignore")
        kept = [row for row in stored() if row["set"] not in arguments.sets]
        STORED.write_text("".join(json.dumps(row) + "\n" for row in kept))
        for name in arguments.sets:
            run_set(name, Path(arguments.data), arguments.draws, arguments.fits)
    rewrite(PAGES[0], makers(stored()))


def run_set(name: str, folder: Path, n_draws: int, n_fitted: int) -> None:
    """Measure all draws of a set, the first of them with fits, and store each at once."""
    X, y = load_set(name, folder)
    graph, chances = Neighbors(20).build(X), know_all(X, y)
    for draw in range(n_draws):
        for kind in KINDS:
            rows = [
                {"set": name, "kind": kind, "draw": draw, **row, **stamp()}
                for row in measure(Case(X, graph, y, kind, draw, chances), draw < n_fitted)
            ]
            with STORED.open("a") as file:
                file.writelines(json.dumps(row) + "\n" for row in rows)
    print(name, flush=True)


def stored() -> list[dict[str, Any]]:
    return [json.loads(line) for line in STORED.read_text().splitlines()] if STORED.exists() else []


def _read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.diagnostics", description=__doc__)
    parser.add_argument("--data", default=".", help="a folder of .npz files with X and y")
    parser.add_argument("--sets", nargs="+", default=[*BUNDLED, *OTHERS])
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--fits", type=int, default=3, help="in so many draws models are fitted too")
    parser.add_argument("--table", action="store_true", help="write the tables of the page")
    return parser.parse_args()


if __name__ == "__main__":
    main()
