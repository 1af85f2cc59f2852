"""The sets that founding was set on: python -m benchmarks.quality.lasting.setting --data FOLDER [--store].

34 shapes and 21 tables, the true classes as clusters. An update is judged by the links of new points alone,
then by their distances, too, and by directions. Nothing here is reported as a result.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.quality.lasting.__main__ import is_found
from benchmarks.quality.lasting.scenarios import SCENARIOS, Scenario
from benchmarks.stored import RESULTS, save
from sidecut import Constraints
from sidecut.graphs import Neighbors
from sidecut.lasting import Before, place

N_DRAWS = {"a new class": 3}
AT_MOST = 2_000


def main() -> None:
    """Judge all sets, print and store the sums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--store", action="store_true")
    options = parser.parse_args()
    tables = np.load(Path(options.data) / "tables.npz", allow_pickle=False)
    rows = []
    for key in sorted(name[:-2] for name in tables.files if name.endswith("_X")):
        X, y = tables[f"{key}_X"].astype(float), np.unique(tables[f"{key}_y"], return_inverse=True)[1]
        if key.startswith("table"):
            X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
        for scenario, make in SCENARIOS.items():
            for draw in range(N_DRAWS.get(scenario, 2)):
                some = np.random.default_rng(draw).permutation(len(X))[:AT_MOST]
                if scenario != "a new class" or np.bincount(y[some]).max() >= 30:
                    made = make(X[some], y[some], np.random.default_rng(draw))
                    rows += [{"kind": key.split("_")[0], "scenario": scenario, **row} for row in judge(made)]
    sums = pd.DataFrame(rows).groupby(["scenario", "rules", "kind"], sort=False).sum().reset_index()
    print(sums.to_string())
    if options.store:
        save(sums, RESULTS / "quality" / "lasting_setting.csv")


def judge(made: Scenario) -> list[dict]:
    """Return whether a cluster was founded, and whether it is the new class, by each kind of evidence."""
    with warnings.catch_warnings(action="ignore"):
        graph = Neighbors().build(made.old)
        grown = graph.extension.grow(graph, made.old, made.new)
    old = np.unique(made.y_old, return_inverse=True)[1]
    before = Before(old, np.ones(len(old)), {}, int(old.max()) + 1)
    nothing, rows = Constraints.none(len(made.y)), []
    for rules, evidence in (
        ("links", ()),
        ("and distances", (grown.to_old,)),
        ("and directions", (grown.to_old, grown.points)),
    ):
        labels = place(before, grown.graph.matrix, nothing, nothing, grown.exact_matches, *evidence)[0]
        is_new = made.new_class is not None and is_found(made.y == made.new_class, labels)
        founded = bool(labels.max() >= before.n_clusters)
        rows.append({"rules": rules, "updates": 1, "founded": int(founded), "found": int(is_new)})
    return rows


if __name__ == "__main__":
    main()
