"""Which of its algorithms CSAP should use for two clusters: A, which the paper has for them, or B.

    python -m benchmarks.choices.csap_algorithm

Adjusted Rand index on all points, mean over draws, on data bundled with scikit-learn; both
algorithms see the same graph (k-NN 20, self-tuning) and the same constraints.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_moons
from sklearn.preprocessing import StandardScaler

from benchmarks import stored
from sidecut import CSAP, NormalizedCut
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.evaluation import adjusted_rand_index
from sidecut.graphs import Neighbors

RESULTS = stored.RESULTS / "choices"
N_DRAWS = 10


def two_classes(X: np.ndarray, y: np.ndarray, classes: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the points of two classes."""
    kept = np.isin(y, classes)
    return X[kept], y[kept]


def data_sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield name, points and classes."""
    yield ("moons", *make_moons(600, noise=0.15, random_state=0))
    X, y = load_breast_cancer(return_X_y=True)
    yield "breast cancer", StandardScaler().fit_transform(X), y
    X, y = two_classes(*load_iris(return_X_y=True), (1, 2))
    yield "iris, two classes", X, y
    X, y = two_classes(*load_wine(return_X_y=True), (0, 1))
    yield "wine, two classes", StandardScaler().fit_transform(X), y
    yield ("digits 3 and 8", *two_classes(*load_digits(return_X_y=True), (3, 8)))


def main() -> None:
    """Score both algorithms and keep the table."""
    warnings.simplefilter("ignore")
    rows = []
    for name, X, y in data_sets():
        graph = Neighbors(20).build(X)
        alone = NormalizedCut(2, affinity="precomputed", random_state=0).fit(graph).labels_
        for n_pairs in (20, 50, 100, 200, 0):
            scores: dict[str, list[float]] = {"unconstrained": [], "A": [], "B": []}
            for draw in range(N_DRAWS):
                known = (
                    sample_pairs(y, n_pairs, random_state=draw)
                    if n_pairs
                    else sample_labels(y, 20, random_state=draw)
                )
                scores["unconstrained"].append(adjusted_rand_index(y, alone))
                for algorithm in "AB":
                    model = CSAP(2, algorithm=algorithm, affinity="precomputed", random_state=0)
                    labels = model.fit(graph, constraints=known).labels_
                    scores[algorithm].append(adjusted_rand_index(y, labels))
            row = {"data": name, "known": f"{n_pairs} pairs" if n_pairs else "20 labels"}
            row |= {method: float(np.mean(values)) for method, values in scores.items()}
            row |= {"worst A": float(np.min(scores["A"])), "worst B": float(np.min(scores["B"]))}
            rows.append(row)
            print(row, flush=True)
    table = pd.DataFrame(rows)
    table.loc[len(table)] = {"data": "mean", "known": ""} | table.drop(
        columns=["data", "known"]
    ).mean().to_dict()
    stored.save(table, RESULTS / "csap_algorithm.csv", 3)


if __name__ == "__main__":
    main()
