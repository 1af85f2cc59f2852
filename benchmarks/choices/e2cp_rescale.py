"""Whether E2CP should divide F by max|F| before eq. 4, and which eigenvectors to take.

    python -m benchmarks.choices.e2cp_rescale

Adjusted Rand index on all points, mean over draws, on data bundled with scikit-learn; all settings see the
same graph (k-NN 20, self-tuning) and the same constraints.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

from benchmarks import stored
from benchmarks.choices.csp_beta import data_sets
from sidecut import E2CP, Constraints, NormalizedCut
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.evaluation import adjusted_rand_index
from sidecut.graphs import Neighbors

RESULTS = stored.RESULTS / "choices"
N_DRAWS = 5
SETTINGS = {
    "plain": {"rescale": False},
    "rescaled": {"rescale": True},
    "plain, nontrivial": {"rescale": False, "eigenvectors": "nontrivial"},
    "rescaled, nontrivial": {"rescale": True, "eigenvectors": "nontrivial"},
}


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
        plain = NormalizedCut(**common).fit(graph).labels_
        for kind in ("50 pairs", "200 pairs", f"{5 * k} labels", f"{15 * k} labels"):
            row = {"data": name, "known": kind, "unconstrained": adjusted_rand_index(y, plain)}
            for setting, chosen in SETTINGS.items():
                model = E2CP(**common, **chosen)
                scores = [
                    adjusted_rand_index(y, model.fit(graph, constraints=known).labels_)
                    for known in draws(y, kind)
                ]
                row[setting] = np.mean(scores)
            rows.append(row)
            print(pd.DataFrame([row]).round(3).to_string(index=False, header=len(rows) == 1), flush=True)
    table = pd.DataFrame(rows)
    table.loc[len(table)] = ["mean", "", *table.iloc[:, 2:].mean()]
    stored.save(table, RESULTS / "e2cp_rescale.csv", 3)


if __name__ == "__main__":
    main()
