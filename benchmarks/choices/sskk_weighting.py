"""Which weights, shift and start SSKK should have.

    python -m benchmarks.choices.sskk_weighting [--data FOLDER]

Adjusted Rand index on unconstrained points, mean over draws, on data bundled with scikit-learn, and on all of
MNIST with --data; all settings see the same graph (k-NN 20, self-tuning) and the same constraints. "paper"
is equal weights, the full shift and farthest-first.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.choices.ccsr_ridge import draws
from benchmarks.choices.csp_beta import RESULTS, data_sets, score
from benchmarks.speed.graphs import mnist
from sidecut import SSKK, NormalizedCut
from sidecut.evaluation import adjusted_rand_index
from sidecut.graphs import Neighbors, SparseGraph

SETTINGS = {
    "paper": {"weighting": "none", "shift": "full", "init": "farthest_first"},
    "equal, full": {"weighting": "none", "shift": "full"},
    "equal, adaptive": {"weighting": "none"},
    "degree, full": {"shift": "full"},
    "degree, adaptive": {},
    "degree, farthest_first": {"init": "farthest_first"},
}


def graphs(data: Path | None) -> Iterator[tuple[str, SparseGraph, np.ndarray]]:
    """Yield name, graph and classes."""
    for name, X, y in data_sets():
        yield name, Neighbors(20).build(X), y
    if data is not None:
        yield "mnist", *mnist(data, 70_000)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder that holds mnist.npz; without it MNIST is left out")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name, graph, y in graphs(args.data):
        k = len(np.unique(y))
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
    RESULTS.mkdir(exist_ok=True)
    table.round(3).to_csv(RESULTS / "sskk_weighting.csv", index=False)


if __name__ == "__main__":
    main()
