"""Wrong answers to pairs, and what is known of them: `python -m benchmarks.quality.active.wrong`.

"uniform": each answer is wrong with the same chance. "confusion": a point is taken for one of
the nearest class, with chances that differ by class, in the mean `--error`, as people confuse cats with dogs.

What is known: "mean", the share of wrong answers; "nothing", so that it is estimated (`reliability=None`);
"each", the oracle says of each answer with which chance it is right, by the true classes. "gain" is joint
expected information gain (`.information_gain`), which is given the number of classes.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks import stored
from benchmarks.quality.active.information_gain import run_information_gain
from benchmarks.quality.active.sets import load_set
from sidecut.active import ActiveClustering, SimulatedOracle

RESULTS = stored.RESULTS / "quality" / "active_wrong.jsonl"
BUDGETS = (50, 100)
#: How answers are wrong, and what is known of it.
WAYS = (
    ("uniform", "mean"),
    ("uniform", "nothing"),
    ("uniform", "gain"),
    ("confusion", "mean"),
    ("confusion", "nothing"),
    ("confusion", "each"),
)


def confusion_matrix(X, classes, error: float) -> np.ndarray:
    """Return the chances that a point of each class is taken for each; only near classes are confused.

    Class a is taken for the class of the nearest centre with a chance in proportion to 1 / distance, and the
    mean over all points is `error`.
    """
    centres = np.array([X[classes == c].mean(axis=0) for c in range(classes.max() + 1)])
    far = np.linalg.norm(centres[:, None] - centres, axis=2)
    np.fill_diagonal(far, np.inf)
    rates = 1.0 / far.min(axis=1)
    rates = np.minimum(rates * error / (rates[classes].mean()), 0.45)
    confusion = np.diag(1.0 - rates)
    confusion[np.arange(len(far)), far.argmin(axis=1)] += rates
    return confusion


def chance_right(confusion: np.ndarray, a: int, b: int) -> float:
    """Return the chance that a pair of points of two classes is answered rightly."""
    together = float(confusion[a] @ confusion[b])
    return together if a == b else 1.0 - together


def run_wrong(X, y, kind: str, known: str, error: float, draw: int) -> dict:
    """Return the adjusted Rand index by questions, the share of wrong answers, and its estimate."""
    classes = np.unique(y, return_inverse=True)[1]
    confusion = confusion_matrix(X, classes, error) if kind == "confusion" else None
    # Two points of which one is taken wrongly make a wrong answer, so that the mean is measured, not `error`.
    pairs = np.random.RandomState(0).randint(len(y), size=(10_000, 2))
    rate = error
    if confusion is not None:
        rate = 1.0 - float(np.mean([chance_right(confusion, classes[i], classes[j]) for i, j in pairs]))
    person = SimulatedOracle(y, error, confusion=confusion, random_state=1_000 + draw)
    reliability = {"mean": 1.0 - rate, "nothing": None, "each": 1.0}[known]
    run = ActiveClustering(reliability=reliability, random_state=draw).start(X)
    scores, n_wrong = {}, 0
    for count in range(1, max(BUDGETS) + 1):
        question = run.question()
        if question is not None:
            said, confidence = person.answer(question)
            a, b = classes[question.i], classes[question.j]
            if known == "each" and confusion is not None:
                confidence = max(chance_right(confusion, a, b), 0.5)
            n_wrong += said != (a == b)
            run.answer(said, confidence)
        if count in BUDGETS:
            scores[count] = round(float(adjusted_rand_score(y, run.labels_)), 4)
    share = n_wrong / max(len(run.history_), 1)
    return {"ari": scores, "wrong": round(share, 3), "estimate": round(float(run.error_rate_.mean), 3)}


def stored_rows() -> list[dict]:
    return [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.active.wrong", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with <name>.npz; else openml.org")
    parser.add_argument("--sets", nargs="+", default=["iris", "wine"])
    parser.add_argument("--draws", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--error", type=float, default=0.2)
    parser.add_argument("--known", nargs="+", default=["mean", "nothing", "each", "gain"])
    wanted = parser.parse_args()
    for draw in wanted.draws:
        for name in wanted.sets:
            X, y = load_set(name, wanted.data)
            for kind, known in WAYS:
                row = {"set": name, "kind": kind, "known": known, "error": wanted.error, "draw": draw}
                if known not in wanted.known or any(row.items() <= each.items() for each in stored_rows()):
                    continue
                if known == "gain":
                    row |= run_information_gain(X, y, draw, wanted.error, BUDGETS)
                else:
                    row |= run_wrong(X, y, kind, known, wanted.error, draw)
                with RESULTS.open("a") as file:
                    file.write(json.dumps(row | stored.stamp()) + "\n")
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
