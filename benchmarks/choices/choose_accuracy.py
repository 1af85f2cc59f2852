"""How many points are right where so many held-out labels were found, and methods agree so far.

    python -m benchmarks.choices.choose_accuracy --data FOLDER --answers FOLDER ...

For every cell of `choose_experiments` whose answers are there, the candidates vote that AutoCut would choose,
had it learned from the other sets. A row holds their agreement, what they find of held-out points, and how
many of the points without constraints they get right. `choose_learn` fits its numbers to these rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from benchmarks import stored
from benchmarks.choices import choose_learn as learning
from benchmarks.choices.choose_experiments import knowledge
from sidecut import Constraints
from sidecut.constraints import ConstraintFolds
from sidecut.selection.autocut import N_FOLDS, N_TRIED
from sidecut.selection.comparison import MIN_WEIGHT, VOTE_SCALE, name_by_labels
from sidecut.selection.vote import name_alike, vote


def rows(data: Path, folders: list[Path]) -> Iterator[dict[str, Any]]:
    """Yield a row for each cell."""
    cells = pd.read_csv(learning.STORED)
    cells = cells[cells["candidate"].map(learning.is_candidate)].reset_index(drop=True)
    sets, answers = learning.load_all(data), learning.find_answers(folders)
    for are_labels in (True, False):
        some = cells[cells["are_labels"] == are_labels].reset_index(drop=True)
        parts = learning.columns(some)
        believed = learning.believed_without(some, parts, learning.design(some, parts))
        for (name, kind), cell in believed.groupby(["set", "kind"]):
            if (name, kind) not in answers:
                continue
            y, found = sets[name][1], np.load(answers[name, kind])
            tried = cell[cell["candidate"] != "classifier, raw"].nlargest(N_TRIED, "expected")
            weights = np.exp((tried["believed"] - tried["believed"].max()) / VOTE_SCALE)
            chosen = tried.assign(weight=weights)[weights > MIN_WEIGHT].nlargest(N_TRIED, "believed")
            labels = dict(zip(map(str, found["names"]), found["labels"].astype(int), strict=True))
            voters = [labels[candidate.replace("words", "raw")] for candidate in chosen["candidate"]]
            known = dict(knowledge(y, False))[kind]
            held_out = (float(chosen["score"].iloc[0]), int(chosen["held_out"].iloc[0]))
            row = measure(y, known, voters, list(chosen["weight"]), held_out if not are_labels else None)
            yield {"set": name, "kind": kind, "are_labels": are_labels, **row}


def measure(
    y: np.ndarray, known: Constraints, voters: list[np.ndarray], weights: list[float], pairs: Any
) -> dict[str, float]:
    """Return the agreement of those that vote, what they find, and how many points are right."""
    free = np.setdiff1d(np.arange(len(y)), known.constrained_points)
    together = vote([one[0] for one in voters], weights)
    k = 1 + max(int(one.max()) for one in voters)
    alike = [name_alike(one[0], together, k)[free] == together[free] for one in voters]
    agreement = np.average(alike, axis=0, weights=weights).mean()
    if pairs is not None:
        table = pd.crosstab(together[free], y[free]).to_numpy()
        right = table[linear_sum_assignment(table, maximize=True)].sum() / len(free)
        return {"agreement": agreement, "right": pairs[0] * pairs[1], "held_out": pairs[1], "accuracy": right}
    n_right = n_held_out = 0
    for number, fold in enumerate(list(ConstraintFolds(3, random_state=0).split(known))[:N_FOLDS], start=1):
        given = np.setdiff1d(known.constrained_points, fold.held_out)
        answers = [one[number] for one in voters if len(one) > number]
        if answers:
            named = name_by_labels(vote(answers, weights), y, given)
            n_right += int((named == y)[fold.held_out].sum())
            n_held_out += len(fold.held_out)
    accuracy = (name_by_labels(together, y, known.constrained_points) == y)[free].mean()
    return {"agreement": agreement, "right": n_right, "held_out": n_held_out, "accuracy": accuracy}


def main() -> None:
    """Write the rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--answers", type=Path, nargs="+", required=True)
    options = parser.parse_args()
    stored.save(pd.DataFrame(rows(options.data, options.answers)), learning.STORED_ACCURACY, digits=4)


if __name__ == "__main__":
    main()
