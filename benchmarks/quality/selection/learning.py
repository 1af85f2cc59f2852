"""Whether more should be compared where more is known: AutoCut with less and with more, on development sets.

    python -m benchmarks.quality.selection.learning --data FOLDER [--draws 1]

"two methods" is E2CP and CCSR on two graphs; "a third method" adds NCSC where 50 points or more are known;
"and a graph that learns" is what AutoCut does. A run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

from benchmarks import stored
from benchmarks.quality.selection.__main__ import RESULTS
from benchmarks.quality.selection.data import DEVELOPMENT, load
from benchmarks.quality.selection.voters import FIRST_DRAW
from sidecut import AutoCut, Constraints, NormalizedCut
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.evaluation import adjusted_rand_index
from sidecut.selection import autocut

STORED = RESULTS / "selection_learning.csv"
#: What is left out of AutoCut.
VARIANTS: dict[str, dict[str, Any]] = {
    "two methods": {"THIRD": {}, "can_learn": lambda *known: False},
    "a third method": {"can_learn": lambda *known: False},
    "and a graph that learns": {},
}


def knowledge(y: np.ndarray, draw: int) -> Iterator[tuple[str, Constraints]]:
    """Yield labels of 5 and 20 %, and pairs of a fifth of the points."""
    for share in (5, 20):
        yield f"labels {share} %", sample_labels(y, max(2, round(len(y) * share / 100)), random_state=draw)
    yield "pairs n/5", sample_pairs(y, len(y) // 5, random_state=draw)


def measure(X: Any, y: np.ndarray, known: Constraints) -> dict[str, float]:
    """Return the adjusted Rand index of the cut and of every variant, on unconstrained points."""
    n_clusters = len(np.unique(y))
    answers = {"cut": NormalizedCut(n_clusters, random_state=0).fit(X).labels_}
    for name, changes in VARIANTS.items():
        with ExitStack() as stack:
            for what, value in changes.items():
                stack.enter_context(patch.object(autocut, what, value))
            answers[name] = AutoCut(n_clusters, random_state=0).fit(X, constraints=known).labels_
    return {
        name: round(adjusted_rand_index(y, labels, constraints=known), 4) for name, labels in answers.items()
    }


def main() -> None:
    """Measure what is missing, and show the means and the share of fits more than .01 below the cut."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of .npz files")
    parser.add_argument("--draws", type=int, default=1)
    options = parser.parse_args()
    rows = pd.read_csv(STORED).to_dict("records") if STORED.exists() else []
    done = {(row["data"], row["draw"]) for row in rows}
    for draw in range(FIRST_DRAW, FIRST_DRAW + options.draws):
        for name in DEVELOPMENT:
            if (name, draw) in done:
                continue
            X, y = load(name, draw, options.data)
            rows += [
                {"data": name, "draw": draw, "known": kind, **measure(X, y, known), **stored.stamp()}
                for kind, known in knowledge(y, draw)
            ]
            pd.DataFrame(rows).to_csv(STORED, index=False)
    table = pd.DataFrame(rows)
    harmed = table[[*VARIANTS]].lt(table["cut"] - 0.01, axis=0).mean()
    print(f"{len(table)} fits, harm {harmed.round(3).to_dict()}")
    print(table.groupby("known")[["cut", *VARIANTS]].mean().round(3))


if __name__ == "__main__":
    main()
