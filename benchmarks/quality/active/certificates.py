"""Whether certified clusters are what the statement says: `python -m benchmarks.quality.active.certificates`.

`certify` asks on each set with right answers, on the large ones (`--way large`) with all kinds of question.
The statement is right if no two clusters have the same main class, and no cluster of ten or more points has a
tenth of foreign points.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from benchmarks import stored
from benchmarks.quality.active.sets import LARGE, SMALL, load_set
from sidecut.active import ActiveClustering, SimulatedOracle, certify

#: What is asked: the price list, the sets, and the file of the results.
WAYS = {
    "pairs": (None, SMALL, "active_certificates.json"),
    "all": ("seconds", SMALL, "active_certificates_all.json"),
    "large": ("seconds", LARGE, "active_certificates_large.json"),
}
FOREIGN, MIN_SIZE, BUDGET = 0.1, 10, 1_000


def is_right(labels, y) -> bool:
    """Return whether the statement about the clusters is right."""
    counts = np.zeros((labels.max() + 1, y.max() + 1), dtype=int)
    np.add.at(counts, (labels, y), 1)
    main, sizes = counts.argmax(axis=1), counts.sum(axis=1)
    foreign = 1.0 - counts.max(axis=1) / sizes
    return len(set(main)) == len(main) and not (foreign[sizes >= MIN_SIZE] >= FOREIGN).any()


def measure(name: str, folder: Path | None, draws: int, way: str) -> dict:
    X, y = load_set(name, folder)
    y = np.unique(y, return_inverse=True)[1]
    found = []
    for draw in range(draws):
        run = ActiveClustering(costs=WAYS[way][0], random_state=draw).start(X)
        found.append(certify(run, SimulatedOracle(y), foreign=FOREIGN, min_size=MIN_SIZE, budget=BUDGET))
    certified = [each for each in found if each.holds]
    return {
        "set": name,
        "points": len(y),
        "draws": draws,
        "certified": len(certified),
        "right": sum(is_right(each.labels, y) for each in certified),
        "median_questions": float(np.median([each.n_questions for each in found])),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.quality.active.certificates", description=__doc__
    )
    parser.add_argument("--data", type=Path, help="folder with <name>.npz; else openml.org")
    parser.add_argument("--sets", nargs="+", help="default: those of the way")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--way", choices=WAYS, default="pairs")
    wanted = parser.parse_args()
    path = stored.RESULTS / "quality" / WAYS[wanted.way][2]
    rows = []
    for name in wanted.sets or WAYS[wanted.way][1]:
        rows.append(measure(name, wanted.data, wanted.draws, wanted.way))
        print(json.dumps(rows[-1]), flush=True)
        path.write_text(json.dumps({**stored.stamp(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
