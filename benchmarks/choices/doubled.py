"""What twice the value of a constant changes: the same fits with the value in the code and with twice it.

    python -m benchmarks.choices.doubled --data FOLDER [--only SIZE_NOISE] [--sets 12]

The sets are some of tables.npz, at most 300 points of each, on which no page reports. Each has a label of
every class, ten labels, and one pair for five or for two points; the guard is off. Stored are the mean change
of the adjusted Rand index, and the share of fits with other labels. constants.csv repeats both in words.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import sidecut
from benchmarks import stored
from benchmarks.choices.guard import data_sets
from sidecut import Constraints
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.evaluation import adjusted_rand_index

RESULTS = stored.RESULTS / "choices" / "doubled.csv"
#: Constants, where they are, and the method that uses them.
CONSTANTS = {
    "TIMES": ("methods.poisson.mbo", "PoissonMBO"),
    "SPREAD_ALPHAS": ("methods.poisson.mbo", "PoissonMBO"),
    "SIZE_NOISE": ("methods.poisson.mbo", "PoissonMBO"),
    "MIN_LABELS_FOR_ONE_START": ("methods.poisson.mbo", "PoissonMBO"),
    "LABEL_WEIGHT": ("methods.poisson.mbo", "PoissonMBO"),
    "MIN_RETAINED_SHARE": ("methods.poisson.descent", "PoissonMBO"),
    "LINK_SHARE": ("methods.poisson.starts", "PoissonMBO"),
    "EXCHANGE_TIME": ("methods.poisson.starts", "PoissonMBO"),
    "MIN_WALK_CHANCE": ("methods.poisson.starts", "PoissonMBO"),
    "MIN_NEW_SHARE": ("methods.csp.estimator", "CSP"),
    "KMEANS_STEPS": ("graphs.landmarks", "SCACS"),
}


def twice(name: str, value: Any) -> Any:
    """Return twice a value; of α, the share of a walk that goes on, half of the rest ends the walk."""
    if name.endswith("ALPHAS"):
        return tuple(0.5 + 0.5 * part for part in value)
    return tuple(2 * part for part in value) if isinstance(value, tuple) else 2 * value


def changed(module: str, name: str) -> ExitStack:
    """Return a context in which a constant has twice its value, wherever it was imported."""
    value, stack = getattr(import_module(f"sidecut.{module}"), name), ExitStack()
    for place, loaded in list(sys.modules.items()):
        if place.startswith("sidecut.") and vars(loaded).get(name) is value:
            stack.enter_context(patch.object(loaded, name, twice(name, value)))
    return stack


def knowledge(y: np.ndarray) -> Iterator[Constraints]:
    """Yield a label of every class, ten labels, and pairs."""
    one = np.full(len(y), -1)
    first = np.unique(y, return_index=True)[1]
    one[first] = y[first]
    yield Constraints.from_labels(one)
    yield sample_labels(y, 10, random_state=3)
    for share in (5, 2):
        yield sample_pairs(y, len(y) // share, random_state=3)


def fits(method: str, folder: Path, n_sets: int) -> Iterator[tuple[np.ndarray, float]]:
    """Yield the labels and the index of every fit."""
    for _, X, y in data_sets(folder, n_sets):
        for known in knowledge(y):
            model = getattr(sidecut, method)(len(np.unique(y)), safe=False, random_state=0)
            labels = model.fit(X, constraints=known).labels_
            yield labels, adjusted_rand_index(y, labels, constraints=known)


def main() -> None:
    """Run, and store a row for each constant."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--only", nargs="+", choices=CONSTANTS, default=list(CONSTANTS))
    parser.add_argument("--sets", type=int, default=12)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    as_it_is: dict[str, list[tuple[np.ndarray, float]]] = {}
    for name in args.only:
        module, method = CONSTANTS[name]
        if method not in as_it_is:
            as_it_is[method] = list(fits(method, args.data, args.sets))
        with changed(module, name):
            other = list(fits(method, args.data, args.sets))
        both = list(zip(as_it_is[method], other, strict=True))
        row = {
            "constant": name,
            "method": method,
            "fits": len(both),
            "change": np.mean([after[1] - before[1] for before, after in both]),
            "worst": min(after[1] - before[1] for before, after in both),
            "other labels": np.mean([not np.array_equal(before[0], after[0]) for before, after in both]),
        }
        stored.merge([row], RESULTS, ["constant"])


if __name__ == "__main__":
    main()
