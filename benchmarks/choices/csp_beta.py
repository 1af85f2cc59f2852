"""How much of the constraints CSP should insist on: beta as a fraction of λ_{K-1}(Q̄) vol.

    python -m benchmarks.choices.csp_beta

Adjusted Rand index on unconstrained points, mean over draws, on data bundled with scikit-learn; all
settings see the same graph (k-NN 20, self-tuning) and the same constraints.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from benchmarks import stored
from sidecut import CSP, Constraints, NormalizedCut, SpectralLearning
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.datasets import make_example
from sidecut.evaluation import adjusted_rand_index
from sidecut.exceptions import ConstraintError
from sidecut.graphs import Neighbors, SparseGraph

RESULTS = stored.RESULTS / "choices"
FRACTIONS = (0.9, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02)
N_DRAWS = 10


def data_sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield name, points and classes."""
    for name in ("digits", "wine", "iris", "moons"):
        example = make_example(name, standardize=name in ("wine", "iris"))
        yield name, example.X, example.y
    X, y = load_breast_cancer(return_X_y=True)
    yield "breast cancer", StandardScaler().fit_transform(X), y


def kinds(y: np.ndarray, k: int) -> dict[str, Callable[[int], Constraints]]:
    """Return the ways of knowing a little, each as a function of the draw."""
    n_labels = max(5 * k, 20)
    return {
        "labels": lambda draw: sample_labels(y, n_labels, random_state=draw),
        "20% labels": lambda draw: sample_labels(y, len(y) // 5, random_state=draw),
        "40% labels": lambda draw: sample_labels(y, 2 * len(y) // 5, random_state=draw),
        "labels, 10% wrong": lambda draw: sample_labels(y, n_labels, noise=0.1, random_state=draw),
        "200 pairs": lambda draw: sample_pairs(y, 200, random_state=draw),
    }


def score(model: object, graph: SparseGraph, y: np.ndarray, known: Constraints) -> float:
    """Return the adjusted Rand index on unconstrained points, NaN where nothing is feasible."""
    try:
        labels = model.fit(graph, constraints=known).labels_
    except ConstraintError:
        return np.nan
    return adjusted_rand_index(y, labels, constraints=known)


def main() -> None:
    warnings.simplefilter("ignore")
    rows = []
    for name, X, y in data_sets():
        k, graph = len(np.unique(y)), Neighbors(20).build(X)
        common = {"n_clusters": k, "affinity": "precomputed", "random_state": 0}
        plain = NormalizedCut(**common).fit(graph).labels_
        for kind, draw_constraints in kinds(y, k).items():
            drawn = [draw_constraints(draw) for draw in range(N_DRAWS)]
            row = {"data": name, "known": kind}
            row["unconstrained"] = np.mean([adjusted_rand_index(y, plain, constraints=c) for c in drawn])
            for fraction in FRACTIONS:
                model = CSP(**common, beta=("fraction", fraction))
                row[f"CSP {fraction:g}"] = np.nanmean([score(model, graph, y, c) for c in drawn])
            usual = CSP(**common)
            row["CSP usual"] = np.mean([score(usual, graph, y, c) for c in drawn])
            learner = SpectralLearning(**common)
            row["SpectralLearning"] = np.mean([score(learner, graph, y, c) for c in drawn])
            rows.append(row)
            print(pd.DataFrame([row]).round(3).to_string(index=False), flush=True)
    table = pd.DataFrame(rows)
    table.loc[len(table)] = ["mean", "", *table.iloc[:, 2:].mean()]
    stored.save(table, RESULTS / "csp_beta.csv", 3)


if __name__ == "__main__":
    main()
