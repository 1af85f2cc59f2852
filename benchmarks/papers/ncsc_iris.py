"""Iris with either kind of link by itself (figure 2 of NCSC), further than the figure goes.

    python -m benchmarks.papers.ncsc_iris

Accuracy, mean over draws, on the graph of section 5 (20 neighbours, self-tuning). "NCSC, eq. 11" is
the printed solver at γ_m = 10 and γ_c = 5, where it moves; the paper's γ_m = 10⁴ is in the experiments of the
figures.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

from benchmarks import stored
from sidecut import LCSC, NCSC, Constraints
from sidecut.datasets import make_example
from sidecut.evaluation import clustering_accuracy
from sidecut.graphs import Neighbors

RESULTS = stored.RESULTS / "papers"
N_DRAWS = 5
COUNTS = [(0, n) for n in (0, 50, 100, 200, 500, 1000, 2000, 4000)] + [
    (n, 0) for n in (25, 50, 100, 200, 500)
]
PRINTED = {"solver": "multiplicative", "init": "kmeans", "gamma_must": 10.0, "gamma_cannot": 5.0}


def draw(y: np.ndarray, n_together: int, n_apart: int, seed: int) -> Constraints:
    """Return pairs drawn from those of one class, and from those of two."""
    rng = np.random.default_rng(seed)
    pairs = np.column_stack(np.triu_indices(len(y), k=1))
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    together = rng.choice(np.flatnonzero(same), n_together, replace=False)
    apart = rng.choice(np.flatnonzero(~same), n_apart, replace=False)
    return Constraints.from_pairs(len(y), pairs[together], pairs[apart])


def main() -> None:
    warnings.simplefilter("ignore")
    iris = make_example("iris")
    graph = Neighbors(20).build(iris.X)
    common = {"n_clusters": 3, "affinity": "precomputed", "random_state": 0}
    models = {
        "NCSC": NCSC(**common, safe=False),
        "NCSC, eq. 11": NCSC(**common, safe=False, **PRINTED, max_iter=1_000),
        "LCSC": LCSC(**common, safe=False, cannot_links="ignore"),
    }
    rows = []
    for n_together, n_apart in COUNTS:
        drawn = [draw(iris.y, n_together, n_apart, seed) for seed in range(N_DRAWS)]
        row: dict[str, float] = {"must-links": n_together, "cannot-links": n_apart}
        for name, model in models.items():
            found = [model.fit(graph, constraints=known).labels_ for known in drawn]
            row[name] = np.mean([clustering_accuracy(iris.y, labels) for labels in found])
        rows.append(row)
        print(pd.DataFrame([row]).round(4).to_string(index=False), flush=True)
    stored.save(pd.DataFrame(rows), RESULTS / "ncsc_iris.csv", 4)


if __name__ == "__main__":
    main()
