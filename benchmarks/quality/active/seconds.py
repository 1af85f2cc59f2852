"""Seconds from an answer to the next question: `python -m benchmarks.quality.active.seconds`.

The points are drawn around 12 centres in 3 dimensions; after the start the cost depends on micro-clusters.
Answers are believed (`reliability=1`), or weighed (0.9).
"""

from __future__ import annotations

import json
import time

import numpy as np
from sklearn.datasets import make_blobs

from benchmarks import stored
from sidecut.active import ActiveClustering

RESULTS = stored.RESULTS / "quality" / "active_seconds.json"
SIZES = (1_797, 10_992, 70_000)
N_QUESTIONS = 20
RELIABILITIES = (1.0, 0.9)


def measure(n: int, reliability: float) -> dict:
    X, y = make_blobs(n, 3, centers=12, cluster_std=1.5, random_state=0)
    began, processor = time.perf_counter(), time.process_time()
    run = ActiveClustering(reliability=reliability, random_state=0).start(X)
    started, busy_start = time.perf_counter() - began, time.process_time() - processor
    waits, busy = [], []
    for _ in range(N_QUESTIONS):
        question = run.question()
        began, processor = time.perf_counter(), time.process_time()
        run.answer(y[question.i] == y[question.j]).question()
        waits.append(time.perf_counter() - began)
        busy.append(time.process_time() - processor)
    return {
        "points": n,
        "reliability": reliability,
        "start_seconds": round(started, 1),
        "start_processor_seconds": round(busy_start, 1),
        "median_seconds": round(float(np.median(waits)), 3),
        "longest_seconds": round(max(waits), 3),
        "median_processor_seconds": round(float(np.median(busy)), 3),
        "longest_processor_seconds": round(max(busy), 3),
    }


def main() -> None:
    rows = [measure(n, reliability) for reliability in RELIABILITIES for n in SIZES]
    RESULTS.write_text(
        json.dumps({**stored.stamp(), "machine": stored.facts(), "rows": rows}, indent=1) + "\n"
    )
    print(RESULTS.read_text())


if __name__ == "__main__":
    main()
