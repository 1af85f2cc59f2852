"""One wrong answer of fifty: `python -m benchmarks.quality.active.slips --data FOLDER`.

On each set, fifty questions are answered by the classes, but for one: the 4th, 9th, 14th, 22nd, 31st or 43rd.
A run that believes every answer (the default) is compared with one that is told that 95 % are right. The same
is measured with no wrong answer, to see what the caution costs.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks import stored
from benchmarks.quality.active.sets import SMALL, load_set
from sidecut.active import ActiveClustering
from sidecut.exceptions import ConflictError

RESULTS = stored.RESULTS / "quality" / "active_slips.json"
N_QUESTIONS = 50
PLACES = (3, 8, 13, 21, 30, 42)
RELIABILITIES = (1.0, 0.95)


def score(X, y, reliability: float, slip: int | None) -> float:
    """Return the adjusted Rand index after fifty answers, one of them wrong."""
    run = ActiveClustering(reliability=reliability, random_state=0).start(X)
    for count in range(N_QUESTIONS):
        question = run.question()
        if question is None:
            break
        right = bool(y[question.i] == y[question.j])
        try:
            run.answer(right != (count == slip))
        except ConflictError:
            run.answer(None)
    return round(float(adjusted_rand_score(y, run.labels_)), 4)


def measure(name: str, folder: Path | None) -> dict:
    X, y = load_set(name, folder)
    row: dict = {"set": name}
    for reliability in RELIABILITIES:
        one_wrong = [score(X, y, reliability, slip) for slip in PLACES]
        row[str(reliability)] = {
            "all right": score(X, y, reliability, None),
            "one wrong, mean": round(float(np.mean(one_wrong)), 4),
            "one wrong, least": min(one_wrong),
        }
    return row


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.active.slips", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with <name>.npz; else openml.org")
    folder = parser.parse_args().data
    rows = []
    for name in SMALL:
        rows.append(measure(name, folder))
        print(json.dumps(rows[-1]), flush=True)
    RESULTS.write_text(json.dumps({**stored.stamp(), "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
