"""Pairs, labels and sets by the seconds they cost: `python -m benchmarks.quality.active.kinds --data FOLDER`.

Answers are the true classes. A pair costs 4 seconds, a label 5, a set 10; these are assumed, not measured.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from sklearn.metrics import adjusted_rand_score

from benchmarks import stored
from benchmarks.quality.active.sets import SETS, load_set
from sidecut.active import ActiveClustering, SimulatedOracle
from sidecut.active.precomputed import SECONDS
from sidecut.active.records import kind_of

RESULTS = stored.RESULTS / "quality" / "active_kinds.jsonl"
#: Seconds of a person's time.
BUDGETS = (50, 100, 200, 400, 800)
PRICES = {
    "pairs": {"pair": SECONDS["pair"]},
    "labels": {"label": SECONDS["label"]},
    "sets": {"set": SECONDS["set"]},
    "all": SECONDS,
}


def run_by_seconds(
    X, y, costs: dict[str, float], draw: int, budgets=BUDGETS, reliability=1.0, error=0.0
) -> dict:
    """Return the adjusted Rand index after each number of seconds, and how often each kind was asked."""
    run = ActiveClustering(costs=costs, reliability=reliability, random_state=draw).start(X)
    person, scores, longest = SimulatedOracle(y, error, random_state=1_000 + draw), {}, 0.0
    for budget in budgets:
        while (question := run.question()) is not None and run.spent_ + question.cost <= budget:
            began = time.process_time()
            run.answer(*person.answer(question)).question()
            longest = max(longest, time.process_time() - began)
        scores[budget] = round(float(adjusted_rand_score(y, run.labels_)), 4)
    kinds = [kind_of(record) for record in run.history_]
    return {
        "ari": scores,
        "asked": {kind: kinds.count(kind) for kind in costs},
        "longest_processor_seconds": round(longest, 3),
    }


def stored_rows() -> list[dict]:
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.active.kinds", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with <name>.npz; else openml.org")
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--prices", nargs="+", default=list(PRICES))
    parser.add_argument("--error", type=float, default=0.0, help="the chance that a point is seen as another")
    wanted = parser.parse_args()
    done = {(row["set"], row["prices"], row["draw"], row["error"]) for row in stored_rows()}
    for draw in range(wanted.draws):
        for name in wanted.sets:
            X, y = load_set(name, wanted.data)
            for prices in wanted.prices:
                if (name, prices, draw, wanted.error) in done:
                    continue
                row = {"set": name, "prices": prices, "draw": draw, "error": wanted.error}
                row |= run_by_seconds(
                    X, y, PRICES[prices], draw, reliability=1.0 - wanted.error, error=wanted.error
                )
                with RESULTS.open("a") as file:
                    file.write(json.dumps(row | stored.stamp()) + "\n")
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
