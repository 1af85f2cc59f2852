"""Measure it: python -m benchmarks.quality.lasting --data FOLDER [--sets a,b] [--draws 5] [--store]."""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix

from benchmarks.quality.lasting.scenarios import SCENARIOS, Scenario
from benchmarks.stored import RESULTS, merge
from sidecut import Constraints, PoissonMBO
from sidecut.checks import IntArray
from sidecut.datasets import load

SETS = (
    "digits",
    "pendigits",
    "usps",
    "segment",
    "letter/classes-5",
    "iris",
    "wine",
    "glass",
    "wdbc",
    "mnist",
)
PIXELS = ("digits", "usps", "mnist")
#: Points of a set that take part.
AT_MOST = 5_000
LABELS_PER_CLASS = 10
KEYS = ["set", "scenario", "way", "draw"]


def main() -> None:
    """Run all sets and scenarios, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--store", action="store_true")
    options = parser.parse_args()
    rows: list[dict] = []
    for name in options.sets.split(","):
        X, y = read(name, options.data)
        for draw in range(options.draws):
            rows += measure(name, X, y, draw)
        if options.store:
            merge(rows, RESULTS / "quality" / "lasting.csv", KEYS)
    print(summary(pd.DataFrame(rows)).to_string())


def read(name: str, folder: str | None) -> tuple[Any, IntArray]:
    """Return points and classes; features that are no pixels are scaled."""
    if name.startswith("table_"):
        # For setting constants only.
        tables = np.load(Path(str(folder)) / "tables.npz", allow_pickle=False)
        X, y = tables[f"{name}_X"], np.unique(tables[f"{name}_y"], return_inverse=True)[1]
        return (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0), y
    data = load(name, folder).scaled("none" if name in PIXELS else "standard")
    return np.asarray(data.X, dtype=np.float64), data.y


def measure(name: str, X: Any, y: IntArray, draw: int) -> list[dict]:
    """Return a row for each scenario and way."""
    rng = np.random.default_rng(draw)
    some = rng.permutation(len(X))[:AT_MOST]
    rows = []
    for scenario, make in SCENARIOS.items():
        made = make(X[some], y[some], np.random.default_rng(draw))
        for way, found in run(made, draw).items():
            rows.append({"set": name, "scenario": scenario, "way": way, "draw": draw, **found})
    rows += wrong_corrections(name, X[some], y[some], draw)
    return rows


def known_of(y: IntArray, rng: np.random.Generator) -> IntArray:
    """Return labels of ten points of each class, -1 for the others."""
    labels = np.full(len(y), -1)
    for c in np.unique(y):
        chosen = rng.permutation(np.flatnonzero(y == c))[:LABELS_PER_CLASS]
        labels[chosen] = c
    return labels


def run(made: Scenario, draw: int) -> dict[str, dict]:
    """Return what an update and a fit from scratch make of a scenario, with the same knowledge."""
    labels = known_of(made.y_old, np.random.default_rng(draw))
    k = len(np.unique(made.y_old))
    with warnings.catch_warnings(action="ignore"):
        model = PoissonMBO(k, random_state=0).fit(made.old, constraints=Constraints.from_labels(labels))
        before = model.labels_.copy()
        start = time.process_time()
        model.update(made.new)
        seconds = time.process_time() - start
        everything = np.concatenate([labels, np.full(len(made.y_new), -1)])
        start = time.process_time()
        again = PoissonMBO(k, random_state=1).fit(
            np.concatenate([made.old, made.new]), constraints=Constraints.from_labels(everything)
        )
        seconds_again = time.process_time() - start
    return {
        "update": judge(made, before, model.labels_, seconds),
        "fit from scratch": judge(made, before, again.labels_, seconds_again),
    }


def judge(made: Scenario, before: IntArray, after: IntArray, seconds: float) -> dict[str, float]:
    """Return the share of old points that kept their cluster, the agreement with the truth, and the rest."""
    n_old = len(made.y_old)
    unchanged = np.ones(n_old, dtype=bool)
    if made.replaced is not None:
        unchanged[made.replaced] = False
    found = {
        "kept": kept(before[unchanged], after[:n_old][unchanged]),
        "ari": adjusted_rand_score(made.y, after),
        "n_new_clusters": len(np.setdiff1d(after, before)),
        "seconds": seconds,
    }
    if made.new_class is not None:
        found["found"] = float(is_found(made.y == made.new_class, after))
    return found


def kept(before: IntArray, after: IntArray) -> float:
    """Return the share of points that keep their cluster, clusters matched as well as they can be."""
    table = contingency_matrix(before, after)
    return float(table[linear_sum_assignment(-table)].sum() / len(before))


def is_found(theirs: IntArray, labels: IntArray) -> bool:
    """Whether most points of the new class are in one cluster, most of which they are."""
    cluster = np.bincount(labels[theirs]).argmax()
    inside = labels == cluster
    return bool(2 * (inside & theirs).sum() > theirs.sum() and 2 * (inside & theirs).sum() > inside.sum())


def wrong_corrections(name: str, X: Any, y: IntArray, draw: int) -> list[dict]:
    """Return how much one wrong link changes beyond its two points."""
    rng = np.random.default_rng(draw)
    made = SCENARIOS["5 % new"](X, y, rng)
    n = len(made.y)
    labels = known_of(made.y_old, np.random.default_rng(draw))
    rows = []
    with warnings.catch_warnings(action="ignore"):
        model = PoissonMBO(len(np.unique(y)), random_state=0)
        before = model.fit(made.old, constraints=Constraints.from_labels(labels)).labels_.copy()
        free = np.flatnonzero(labels < 0)
        first = rng.choice(free)
        second = rng.choice(free[made.y_old[free] != made.y_old[first]])
        model.update(made.new, constraints=Constraints.from_pairs(n, must_link=[(first, second)]))
    found = judge(made, before, model.labels_, 0.0)
    rows.append({"set": name, "scenario": "a wrong link", "way": "update", "draw": draw, **found})
    return rows


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Return means over draws and sets."""
    columns = [c for c in ("kept", "ari", "n_new_clusters", "found", "seconds") if c in rows]
    return rows.groupby(["scenario", "way"], sort=False)[columns].mean().round(4)


if __name__ == "__main__":
    main()
