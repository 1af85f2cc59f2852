"""Classes found against questions, with 77 and 150 classes: `python -m benchmarks.quality.active.many`.

Four classes of five have twenty points, the others 30 to 99, around centres drawn in 20 dimensions. A class
is found when a point of it is in a question, and has a cluster when most of its points are in one cluster of
which they are most. Answers are the true classes.
"""

from __future__ import annotations

import argparse
import json
import time
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks import stored
from benchmarks.quality.active.cobras import ask_cobras
from sidecut.active import ActiveClustering, SimulatedOracle
from sidecut.active.precomputed import SECONDS
from sidecut.active.strategies import default_strategy, neighbourhoods

RESULTS = stored.RESULTS / "quality" / "active_many.jsonl"
QUESTIONS = (50, 100, 200, 300)
WAYS = {
    "pairs": ({"pair": SECONDS["pair"]}, default_strategy),
    "NPU": ({"pair": SECONDS["pair"]}, neighbourhoods),
    "labels": ({"label": SECONDS["label"]}, default_strategy),
    "sets": ({"set": SECONDS["set"]}, default_strategy),
    "all": (SECONDS, default_strategy),
}
COBRAS = "COBRAS"


def many_classes(k: int, random_state: int = 0, noise: float = 0.6):
    """Return points of k classes, most of which have twenty points."""
    rng = np.random.RandomState(random_state)
    sizes = np.where(rng.rand(k) < 0.8, 20, rng.randint(30, 100, k))
    y = np.repeat(np.arange(k), sizes)
    return rng.normal(size=(k, 20))[y] + noise * rng.normal(size=(len(y), 20)), y


def count_clusters(y, labels) -> int:
    """Return how many classes have a cluster of their own."""
    counts = np.zeros((y.max() + 1, labels.max() + 1))
    np.add.at(counts, (y, labels), 1)
    best = counts.argmax(axis=1)
    inside = counts[np.arange(len(counts)), best]
    return int(np.sum((inside > counts.sum(axis=1) / 2) & (inside > counts.sum(axis=0)[best] / 2)))


def measure(k: int, way: str, draw: int) -> dict:
    X, y = many_classes(k, draw)
    costs, strategy = WAYS[way]
    run = ActiveClustering(costs=costs, strategy=strategy, random_state=draw).start(X)
    person, seen, found, scores, waits, clusters = SimulatedOracle(y), set(), {}, {}, [], {}
    for count in range(1, max(QUESTIONS) + 1):
        question = run.question()
        if question is None:
            break
        seen |= set(y[list(question.points)].tolist())
        reply, began = person.answer(question), time.process_time()
        run.answer(*reply).question()
        waits.append(time.process_time() - began)
        if count in QUESTIONS:
            found[count] = len(seen)
            clusters[count] = count_clusters(y, run.labels_)
            scores[count] = round(float(adjusted_rand_score(y, run.labels_)), 3)
    return {
        "classes": k,
        "points": len(y),
        "way": way,
        "draw": draw,
        "found": found,
        "clusters": clusters,
        "ari": scores,
        "seconds_of_a_person": run.spent_,
        "median_processor_seconds": round(float(np.median(waits)), 3),
        "longest_processor_seconds": round(max(waits), 3),
    }


def measure_cobras(k: int, draw: int, cache: Path) -> dict:
    """Return the same for COBRAS, without times: it has them in an environment of its own."""
    X, y = many_classes(k, draw)
    labels, pairs = ask_cobras(X, y, draw, cache, QUESTIONS)
    return {
        "classes": k,
        "points": len(y),
        "way": COBRAS,
        "draw": draw,
        "found": {count: len(set(y[np.ravel(pairs[:count])])) for count in QUESTIONS},
        "clusters": {
            count: count_clusters(y, np.array(each)) for count, each in zip(QUESTIONS, labels, strict=True)
        },
        "ari": {
            count: round(float(adjusted_rand_score(y, each)), 3)
            for count, each in zip(QUESTIONS, labels, strict=True)
        },
        "seconds_of_a_person": SECONDS["pair"] * len(pairs),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.active.many", description=__doc__)
    parser.add_argument("--classes", type=int, nargs="+", default=[77, 150])
    parser.add_argument("--ways", nargs="+", default=list(WAYS), help=f"also {COBRAS}")
    parser.add_argument("--draws", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "sidecut-peers")
    wanted = parser.parse_args()
    for k, draw, way in product(wanted.classes, wanted.draws, wanted.ways):
        found = measure_cobras(k, draw, wanted.cache) if way == COBRAS else measure(k, way, draw)
        row = found | stored.stamp()
        with RESULTS.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
