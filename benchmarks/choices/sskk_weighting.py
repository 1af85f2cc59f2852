"""Which weights, shift and start SSKK should have.

    python -m benchmarks.choices.sskk_weighting [--data FOLDER]

Adjusted Rand index on unconstrained points, mean over draws, on data bundled with scikit-learn; all settings
see the same graph (k-NN 20, self-tuning) and the same constraints. "paper" is equal weights, the full shift
and farthest-first. With --data instead both weightings on all of MNIST with 100 labels, one draw, and the
share of the points in the largest cluster.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks import stored
from benchmarks.choices.ccsr_ridge import draws
from benchmarks.choices.csp_beta import RESULTS, data_sets, score
from benchmarks.speed.graphs import mnist
from sidecut import SSKK, NormalizedCut
from sidecut.constraints import sample_labels
from sidecut.evaluation import adjusted_rand_index
from sidecut.graphs import Neighbors

SETTINGS = {
    "paper": {"weighting": "none", "shift": "full", "init": "farthest_first"},
    "equal, full": {"weighting": "none", "shift": "full"},
    "equal, adaptive": {"weighting": "none"},
    "degree, full": {"shift": "full"},
    "degree, adaptive": {},
    "degree, farthest_first": {"init": "farthest_first"},
}


def on_small_data() -> pd.DataFrame:
    """Return the scores of all settings, and their means."""
    rows = []
    for name, X, y in data_sets():
        graph, k = Neighbors(20).build(X), len(np.unique(y))
        common = {"n_clusters": k, "affinity": "precomputed", "random_state": 0, "n_init": 5}
        alone = NormalizedCut(**common).fit(graph).labels_
        for kind in (f"{4 * k} labels", f"{15 * k} labels", "200 pairs"):
            row = {"data": name, "known": kind, "unconstrained": adjusted_rand_index(y, alone)}
            for setting, chosen in SETTINGS.items():
                model = SSKK(**common, **chosen)
                row[setting] = np.mean([score(model, graph, y, known) for known in draws(y, kind)])
            rows.append(row)
            print(pd.DataFrame([row]).round(3).to_string(index=False, header=len(rows) == 1), flush=True)
    table = pd.DataFrame(rows)
    table.loc[len(table)] = ["mean", "", *table.iloc[:, 2:].mean()]
    return table


def on_mnist(data: Path) -> pd.DataFrame:
    """Return what both weightings make of a large graph."""
    graph, y = mnist(data, 70_000)
    known = sample_labels(y, 100, random_state=0)
    rows = []
    for weighting in ("none", "degree"):
        model = SSKK(10, weighting=weighting, affinity="precomputed", random_state=0)
        row = {"data": "mnist", "known": "100 labels", "weighting": weighting}
        row["adjusted Rand index"] = score(model, graph, y, known)
        row["largest cluster"] = np.bincount(model.labels_).max() / len(y)
        rows.append(row)
        print(row, flush=True)
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder that holds mnist.npz; without it the small data")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.data:
        stored.save(on_mnist(args.data), RESULTS / "sskk_weighting_mnist.csv", 3)
    else:
        stored.save(on_small_data(), RESULTS / "sskk_weighting.csv", 3)


if __name__ == "__main__":
    main()
