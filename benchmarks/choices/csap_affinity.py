"""Which affinity CSAP should start from, and how hard its links should be.

    python -m benchmarks.choices.csap_affinity

Adjusted Rand index on unconstrained points, mean over draws, on data bundled with scikit-learn.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

from benchmarks import stored
from sidecut import CSAP, NormalizedCut
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.datasets import make_example
from sidecut.evaluation import adjusted_rand_index
from sidecut.graphs import Gaussian, Heat, Neighbors, Resolvent, SelfTuning, bandwidth

RESULTS = stored.RESULTS / "choices"
N_DRAWS = 5
N_POINTS = 600
SOFT = (0.1, 0.3, 1.0)


def affinities(X: np.ndarray) -> dict:
    """Return the recipes by name."""
    median = bandwidth(X, "median")
    return {
        "knn": Neighbors(20),
        "self-tuning": SelfTuning(),
        "gaussian": Gaussian(median),
        "gaussian/4": Gaussian(median / 4),
        "heat 20": Heat(20.0),
        "heat 5": Heat(5.0),
        "resolvent 0.3": Resolvent(0.3),
    }


def models(X: np.ndarray, k: int) -> dict:
    """Return what is compared: every affinity with hard links, and the first with soft ones."""
    graphs = {name: recipe.build(X) for name, recipe in affinities(X).items()}
    given = {"affinity": "precomputed", "random_state": 0}
    compared = {"none": (NormalizedCut(k, **given), graphs["knn"])}
    compared |= {name: (CSAP(k, **given), graph) for name, graph in graphs.items()}
    soft = {f"knn, eps {eps}": CSAP(k, eps_must=eps, eps_cannot=eps, **given) for eps in SOFT}
    return compared | {name: (model, graphs["knn"]) for name, model in soft.items()}


def main() -> None:
    warnings.simplefilter("ignore")
    rows = []
    for name in ("iris", "wine", "digits", "moons"):
        example = make_example(name, standardize=name in ("wine", "iris"))
        X, y = example.X[:N_POINTS], example.y[:N_POINTS]
        k = len(np.unique(y))
        compared = models(X, k)
        for kind in ("50 pairs", "200 pairs", "labels"):
            scores: dict[str, list[float]] = {setting: [] for setting in compared}
            for draw in range(N_DRAWS):
                known = (
                    sample_labels(y, max(5 * k, 20), random_state=draw)
                    if kind == "labels"
                    else sample_pairs(y, int(kind.split()[0]), random_state=draw)
                )
                for setting, (model, graph) in compared.items():
                    told = None if setting == "none" else known
                    labels = model.fit(graph, constraints=told).labels_
                    scores[setting].append(adjusted_rand_index(y, labels, constraints=known))
            rows.append({"data": name, "known": kind} | {s: np.mean(v) for s, v in scores.items()})
            print(pd.Series(rows[-1]).to_string(), flush=True)
    stored.save(pd.DataFrame(rows), RESULTS / "csap_affinity.csv", 3)


if __name__ == "__main__":
    main()
