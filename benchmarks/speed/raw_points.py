"""From raw points: the search for neighbours beside other libraries, and MNIST from pixels to CSP's labels.

    python -m benchmarks.speed.raw_points --data FOLDER [--sets mnist mixture roll] [--searches ...]

(a) 20 nearest neighbours of all points, each search in a process of its own, so that what it compiles or
    trains counts; libraries that are not installed are left out;
(b) MNIST from pixels to CSP's labels with 500 labels, with the exact search and with the usual one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

from benchmarks import stored
from benchmarks.speed.graphs import mnist_points
from benchmarks.speed.search_once import MULTIPLIED, SEARCHES
from benchmarks.speed.timing import timed
from sidecut import CSP
from sidecut.constraints import sample_labels
from sidecut.evaluation import adjusted_rand_index
from sidecut.graphs import Neighbors

RESULTS = stored.RESULTS / "speed"
N_LABELS = 500
KEYS = ["part", "data", "search", "points"]
SETS = ["mnist", "mixture", "roll", "mixture, a million", "blobs, a million"]


def search_in_a_process(search: str, name: str, data: Path | None, limit: float) -> dict | None:
    """(a): return how long a search takes and what it finds, or None where it cannot run in time."""
    command = [sys.executable, "-m", "benchmarks.speed.search_once", search, name]
    command += ["--data", str(data)] if data else []
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=limit, env=os.environ | threads
        )
    except subprocess.TimeoutExpired:
        print(f"{search} on {name}: more than {limit:.0f} s", flush=True)
        return None
    if done.returncode:
        print(f"{search} on {name}: {done.stderr.strip().splitlines()[-1]}", flush=True)
        return None
    row = {"part": "a", "data": name, "search": search} | json.loads(done.stdout)
    if search.startswith("sidecut"):
        row["sidecut"] = row["processor"]
    print(row, flush=True)
    return row


def from_pixels(data: Path, n_points: int, searches: list[str]) -> list[dict]:
    """(b)."""
    X, y = mnist_points(data, n_points)
    known = sample_labels(y, N_LABELS, random_state=0)
    rows = []
    for search in searches:
        model = CSP(10, affinity=Neighbors(20, search=search), random_state=0)
        wall = time.perf_counter()
        _, processor = timed(lambda m=model: m.fit(X, constraints=known), time.process_time)
        row = {"part": "b", "data": "mnist", "search": search, "points": len(y), "features": X.shape[1]}
        row |= {"seconds": time.perf_counter() - wall, "processor": processor}
        row["sidecut"] = processor
        row |= {"recall": model.graph_recall_, "ARI": adjusted_rand_index(y, model.labels_)}
        rows.append(row)
        print(row, flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--parts", nargs="+", default=["a", "b"])
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--searches", nargs="+", default=[*SEARCHES, MULTIPLIED])
    parser.add_argument("--digits", type=int, nargs="+", default=[20_000, 70_000], help="sizes of part b")
    parser.add_argument("--ways", nargs="+", default=["auto", "exact"], help="searches of part b")
    parser.add_argument("--limit", type=float, default=3_600.0, help="seconds a search may take")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in args.sets if "a" in args.parts else ():
        for search in args.searches:
            row = search_in_a_process(search, name, args.data, args.limit)
            if row:
                stored.merge([row], RESULTS / "raw_points.csv", KEYS)
    if "b" in args.parts and args.data:
        for n_points in args.digits:
            stored.merge(from_pixels(args.data, n_points, args.ways), RESULTS / "raw_points.csv", KEYS)


if __name__ == "__main__":
    main()
