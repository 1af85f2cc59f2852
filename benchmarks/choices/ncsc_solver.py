"""The solvers of NCSC from the same starts: projected steps, exchanges, and the updates of eq. 11.

    python -m benchmarks.choices.ncsc_solver [--updates NUMBER] [--data FOLDER]

Data bundled with scikit-learn, the graph of the paper (k-NN 20, self-tuning), mean over draws; γ_m = 10, at
which eq. 11 moves, and γ_m infinite (must-links contracted). "objective" is eq. 6 at the best feasible
indicators inside the clusters of each solver, found in the same way for all, as those of eq. 11 overlap.
Lower is better; "ratio" is to eq. 11, of the means over draws, and "worst" the highest of any draw.
"seconds" are of the processor, for the whole fit. Eq. 11 has 2,000 updates unless told otherwise.
With --data instead all of MNIST, 1,000 labels, γ_m infinite, one draw.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone

from benchmarks import stored
from benchmarks.speed.graphs import mnist
from sidecut import NCSC, Constraints
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.datasets import make_example
from sidecut.evaluation import clustering_accuracy
from sidecut.graphs import Graph, Neighbors
from sidecut.methods.ncsc import PenalizedCut
from sidecut.methods.ncsc.objective import best_indicators

RESULTS = stored.RESULTS / "choices"
N_DRAWS = 3
SOLVERS = ("projected", "exchange", "multiplicative")
UPDATES = 2_000


def large_case(data: Path) -> tuple[str, str, Graph, np.ndarray, list[Constraints]]:
    """Return MNIST as `cases` return their data."""
    graph, y = mnist(data, 70_000)
    return "mnist", "1,000 labels", graph, y, [sample_labels(y, 1_000, random_state=0)]


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
    labels = model.labels_[np.unique(cut.sets, return_index=True)[1]]
    return best_indicators(cut, labels, np.sqrt(cut.degrees), model.n_clusters, 1e-10).objective


def measure(model: NCSC, graph: Graph, y: np.ndarray, known: Constraints) -> dict[str, float]:
    """Return what one fit gives and takes."""
    start = time.process_time()
    model.fit(graph, constraints=known)
    return {
        "seconds": time.process_time() - start,
        "iterations": model.n_iter_,
        "objective": feasible_objective(model, graph, known),
        "accuracy": clustering_accuracy(y, model.labels_),
        "satisfied": known.satisfaction(model.labels_),
    }


def compare(
    base: NCSC, graph: Graph, y: np.ndarray, draws: list[Constraints], updates: int
) -> dict[str, float]:
    """Return the means of all solvers over draws, and the ratios of their objectives to that of eq. 11."""
    found = {}
    for solver in SOLVERS:
        model = clone(base).set_params(solver=solver, max_iter=updates)
        found[solver] = pd.DataFrame([measure(model, graph, y, known) for known in draws])
    row = {f"{solver} {what}": mean for solver, each in found.items() for what, mean in each.mean().items()}
    printed = found["multiplicative"]["objective"]
    for solver in ("projected", "exchange"):
        objective = found[solver]["objective"]
        row[f"{solver} ratio"] = objective.mean() / printed.mean()
        row[f"{solver} worst"] = (objective / printed).max()
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--updates", type=int, default=UPDATES, help="how many updates eq. 11 has at most")
    parser.add_argument("--data", type=Path, help="folder that holds mnist.npz; without it the small data")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name, kind, graph, y, draws in [large_case(args.data)] if args.data else cases():
        for gamma_must in (np.inf,) if args.data else (10.0, np.inf):
            base = NCSC(len(np.unique(y)), gamma_must=gamma_must, affinity="precomputed", random_state=0)
            row = {"data": name, "known": kind, "gamma_must": gamma_must}
            rows.append(row | compare(base, graph, y, draws, args.updates))
            print(pd.DataFrame(rows[-1:]).round(3).to_string(index=False), flush=True)
    name = "ncsc_solver_mnist" if args.data else "ncsc_solver"
    name += "" if args.updates == UPDATES else f"_{args.updates}"
    stored.save(pd.DataFrame(rows), RESULTS / f"{name}.csv", 5)


if __name__ == "__main__":
    main()
