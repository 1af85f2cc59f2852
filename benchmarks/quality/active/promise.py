"""How often a certificate is wrong, in many short dialogues: `python -m benchmarks.quality.active.promise`.

Two round groups of 40 points, of which four each are of the other class, at random: a tenth, just too many.
Nothing but the checks can tell. The promise is that at most 5 % of certificates are wrong.
"""

from __future__ import annotations

import argparse
import json

import numpy as np

from benchmarks import stored
from benchmarks.quality.active.certificates import is_right
from sidecut.active import ActiveClustering, SimulatedOracle, certify

RESULTS = stored.RESULTS / "quality" / "active_promise.jsonl"
#: What is asked, how often answers are wrong, and dialogues.
WAYS = {"pairs": (None, 0.0, 400), "all kinds": ("seconds", 0.0, 400), "pairs, 10 % wrong": (None, 0.1, 40)}


def made(seed: int):
    """Return two groups of 40 points with four foreign points each."""
    rng = np.random.RandomState(seed)
    y = np.repeat([0, 1], 40)
    X = rng.normal(size=(80, 2)) + 8.0 * y[:, None]
    y[rng.permutation(40)[:4]] = 1
    y[40 + rng.permutation(40)[:4]] = 0
    return X, y


def measure(way: str) -> dict:
    costs, error, n_runs = WAYS[way]
    found, right = [], []
    for seed in range(n_runs):
        X, y = made(seed)
        run = ActiveClustering(costs=costs, reliability=1.0 - error, random_state=seed).start(X)
        each = certify(run, SimulatedOracle(y, error, random_state=seed))
        if each.holds:
            right.append(is_right(each.labels, y))
        found.append(each.n_questions)
    return {
        "way": way,
        "dialogues": n_runs,
        "certified": len(right),
        "wrong": len(right) - sum(right),
        "median_questions": float(np.median(found)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.active.promise", description=__doc__)
    parser.add_argument("--ways", nargs="+", default=list(WAYS))
    for way in parser.parse_args().ways:
        row = measure(way) | stored.stamp()
        with RESULTS.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
