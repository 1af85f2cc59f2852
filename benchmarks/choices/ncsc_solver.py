"""The two solvers of NCSC from the same starts: projected steps, and the multiplicative updates of eq. 11.

    python -m benchmarks.choices.ncsc_solver

Data bundled with scikit-learn, the graph of the paper (k-NN 20, self-tuning), mean over draws; γ_m = 10, at
which eq. 11 moves, and γ_m infinite (must-links contracted). "objective" is eq. 6 at feasible indicators: as
those of eq. 11 overlap, they are first made feasible in the same way. Lower is better, and "ratio" is
projected over multiplicative.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone

from sidecut import NCSC, Constraints
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.datasets import make_example
from sidecut.evaluation import clustering_accuracy
from sidecut.graphs import Graph, Neighbors
from sidecut.methods.posing import PenalizedCut
from sidecut.methods.posing.inside import without_overlap

RESULTS = Path(__file__).parent / "results"
N_DRAWS = 3
MAX_ITER = {"projected": 1_000, "multiplicative": 2_000}


def cases() -> Iterator[tuple[str, str, Graph, np.ndarray, list[Constraints]]]:
    """Yield data, kind of knowledge, graph, classes and draws."""
    for name in ("iris", "wine", "digits"):
        example = make_example(name, standardize=name != "digits")
        graph, y = Neighbors(20).build(example.X), example.y
        k = len(np.unique(y))
        yield name, "labels", graph, y, [sample_labels(y, 8 * k, random_state=d) for d in range(N_DRAWS)]
        yield name, "300 pairs", graph, y, [sample_pairs(y, 300, random_state=d) for d in range(N_DRAWS)]


def feasible_objective(model: NCSC, graph: Graph, known: Constraints) -> float:
    """Return eq. 6 at the best feasible indicators found inside the clusters of a model."""
    cut = PenalizedCut(graph, known, model.gamma_must_, model.gamma_cannot_)
    rows = cut.on_nodes(model.indicators_ + 1e-12)
    V = np.sqrt(cut.degrees)[:, None] * rows
    labels = model.labels_[np.unique(cut.sets, return_index=True)[1]]
    V = without_overlap(cut, V, labels, 1e-8)
    return float(np.sum(V * cut.apply_normalized(V)))


def measure(model: NCSC, graph: Graph, y: np.ndarray, known: Constraints) -> dict[str, float]:
    """Return what one fit gives and takes."""
    start = time.perf_counter()
    model.fit(graph, constraints=known)
    return {
        "seconds": time.perf_counter() - start,
        "iterations": model.n_iter_,
        "objective": feasible_objective(model, graph, known),
        "accuracy": clustering_accuracy(y, model.labels_),
        "satisfied": known.satisfaction(model.labels_),
    }


def main() -> None:
    warnings.simplefilter("ignore")
    rows = []
    for name, kind, graph, y, draws in cases():
        for gamma_must in (10.0, np.inf):
            base = NCSC(len(np.unique(y)), gamma_must=gamma_must, affinity="precomputed", random_state=0)
            row = {"data": name, "known": kind, "gamma_must": gamma_must}
            for solver, max_iter in MAX_ITER.items():
                model = clone(base).set_params(solver=solver, max_iter=max_iter)
                found = pd.DataFrame([measure(model, graph, y, known) for known in draws]).mean()
                row |= {f"{solver} {what}": value for what, value in found.items()}
            row["ratio"] = row["projected objective"] / row["multiplicative objective"]
            rows.append(row)
            print(pd.DataFrame([row]).round(3).to_string(index=False), flush=True)
    RESULTS.mkdir(exist_ok=True)
    pd.DataFrame(rows).round(4).to_csv(RESULTS / "ncsc_solver.csv", index=False)


if __name__ == "__main__":
    main()
