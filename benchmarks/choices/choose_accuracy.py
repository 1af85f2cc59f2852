"""How many points are right where so many held-out labels were found, and methods agree so far.

    python -m benchmarks.choices.choose_accuracy --data FOLDER [--minutes 9]

AutoCut runs on the cells of `choose_experiments`. A row holds the agreement of the methods that vote, alone
and times how sure they are, the share of points in a cluster with a name, what the methods find of held-out
points, and how many of the points without constraints they get right. `choose_learn` fits its numbers to
these rows. Rows of today's code are not measured again.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from benchmarks import stored
from benchmarks.choices.choose_experiments import load_cells
from sidecut import AutoCut, Constraints
from sidecut.methods.task import Answer, Task
from sidecut.selection.autocut import _agreement, _sureness, free_points, has_name
from sidecut.selection.comparison import name_by_labels

STORED = stored.RESULTS / "choices" / "choose_accuracy.csv"


class Watched(AutoCut):
    """Keeps what the expected accuracy was computed from."""

    def _check(self, task: Task, answer: Answer, checked: tuple[float, int]) -> Answer:
        self.checked = checked
        return super()._check(task, answer, checked)


def measure(X: Any, y: np.ndarray, known: Constraints) -> dict[str, Any]:
    """Return the agreement of those that vote, what they find, and how many points are right."""
    model, free = Watched(int(y.max()) + 1, random_state=0), free_points(known)
    model.fit(X, constraints=known)
    found = model.labels_
    if known.labels is None:
        table = pd.crosstab(found[free], y[free]).to_numpy()
        accuracy = table[linear_sum_assignment(table, maximize=True)].sum() / len(free)
    else:
        accuracy = (name_by_labels(found, y, known.constrained_points) == y)[free].mean()
    best, (right, held_out) = model.best_estimator_, model.checked
    seen = 1.0 if known.labels is None else has_name(best.labels_, known.labels)[free].mean()
    return {
        "are_labels": known.labels is not None,
        "agreement": round(float(_agreement(best)[free].mean()), 4),
        "sure": round(float(_sureness(best)[free].mean()), 4),
        "seen": round(float(seen), 4),
        "right": round(right, 2),
        "held_out": held_out,
        "accuracy": round(float(accuracy), 4),
    }


def main() -> None:
    """Write the rows."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=9.0)
    parser.add_argument("--kinds", nargs="+", help="these amounts of knowledge only")
    parser.add_argument("--part", type=int, nargs=2, default=(0, 1), help="the first of two parts is 0 2")
    options = parser.parse_args()
    end, now, rows = time.monotonic() + 60 * options.minutes, stored.commit(), []
    cells = list(load_cells(options.data))
    table = pd.read_csv(STORED)
    done = set(zip(table["set"], table["kind"], table["commit"], strict=True))
    first, step = options.part
    for place in np.random.default_rng(0).permutation(len(cells))[first::step]:
        name, kind, X, y, known = cells[place]
        is_asked = not options.kinds or kind in options.kinds
        if is_asked and time.monotonic() < end and (name, kind, now) not in done:
            rows.append({"set": name, "kind": kind, **measure(X, y, known)})
    stored.merge(rows, STORED, ["set", "kind"])
    print(f"{len(rows)} rows")


if __name__ == "__main__":
    main()
