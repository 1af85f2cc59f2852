"""How strongly CCSR should pull M towards the normalised cut, and how many eigenvectors it should adapt.

    python -m benchmarks.choices.ccsr_ridge

Adjusted Rand index on unconstrained points, mean over draws, on data bundled with scikit-learn; all
settings see the same graph (k-NN 20, self-tuning) and the same constraints. "paper" is m = 15, no ridge, and
eigenvectors as they are.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

from benchmarks import stored
from benchmarks.choices.csp_beta import RESULTS, data_sets, score
from sidecut import CCSR, Constraints, NormalizedCut
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.evaluation import adjusted_rand_index
from sidecut.graphs import Neighbors

N_DRAWS = 5
SETTINGS = {
    "paper": {"n_eigenvectors": 15, "ridge": 0.0, "unit_rows": False},
    "m=15, 0": {"n_eigenvectors": 15, "ridge": 0.0},
    "m=15, 0.5": {"n_eigenvectors": 15, "ridge": 0.5},
    "m=15, 2": {"n_eigenvectors": 15, "ridge": 2.0},
}
#: The same with five eigenvectors more than there are clusters.
FIVE_MORE = {f"k+5, {ridge:g}": ridge for ridge in (0.0, 0.1, 0.5, 1.0, 3.0)}


def draws(y: np.ndarray, kind: str) -> list[Constraints]:
    """Return the constraints of every draw."""
    n, what = kind.split()
    sample = sample_labels if what == "labels" else sample_pairs
    return [sample(y, int(n), random_state=draw) for draw in range(N_DRAWS)]


def main() -> None:
    warnings.simplefilter("ignore")
    rows = []
    for name, X, y in data_sets():
        k, graph = len(np.unique(y)), Neighbors(20).build(X)
        common = {"n_clusters": k, "affinity": "precomputed", "random_state": 0}
        alone = NormalizedCut(**common).fit(graph).labels_
        for kind in (f"{4 * k} labels", f"{15 * k} labels", "200 pairs"):
            row = {"data": name, "known": kind, "unconstrained": adjusted_rand_index(y, alone)}
            for setting, chosen in SETTINGS.items():
                model = CCSR(**common, **chosen)
                row[setting] = np.mean([score(model, graph, y, known) for known in draws(y, kind)])
            for setting, ridge in FIVE_MORE.items():
                model = CCSR(**common, n_eigenvectors=k + 5, ridge=ridge)
                row[setting] = np.mean([score(model, graph, y, known) for known in draws(y, kind)])
            rows.append(row)
            print(pd.DataFrame([row]).round(3).to_string(index=False, header=len(rows) == 1), flush=True)
    table = pd.DataFrame(rows)
    table.loc[len(table)] = ["mean", "", *table.iloc[:, 2:].mean()]
    stored.save(table, RESULTS / "ccsr_ridge.csv", 3)


if __name__ == "__main__":
    main()
