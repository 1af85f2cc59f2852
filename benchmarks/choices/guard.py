"""How the guard was set: every method with constraints and without, and what held-out constraints say.

    python -m benchmarks.choices.guard --data FOLDER [--only CSP NCSC] [--sets 24]

The sets are those of tables.npz, which no page reports on. A cell is one method on one set with some labels
or pairs: the adjusted Rand index on unconstrained points of both answers, how far both agree with the
constraints, and the gain in agreement with constraints held out. The table shows, for the rule as it is, the
mean gain over the answer without constraints, the share of cells that lose more than .05, and both for
methods that always follow.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

import sidecut
from benchmarks import stored
from sidecut import Constraints
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.evaluation import adjusted_rand_index
from sidecut.graphs import Neighbors
from sidecut.methods.base import GraphClusterer
from sidecut.methods.guard import count_held_out_pairs, held_out_gain
from sidecut.methods.task import Task

RESULTS = stored.RESULTS / "choices" / "guard.csv"
METHODS = (
    "CSP",
    "SCACS",
    "NCSC",
    "CSAP",
    "E2CP",
    "CCSR",
    "SpectralLearning",
    "LCSC",
    "SSKK",
    "PoissonLearning",
    "PoissonMBO",
    "COPKMeans",
    "ConstrainedGMM",
    "MetricKMeans",
)
MOST_POINTS = 300
KEY = ["method", "data", "kind"]


def data_sets(folder: Path, n_sets: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield some of the development sets, at most 300 points of each."""
    tables = np.load(folder / "tables.npz", allow_pickle=True)
    names = sorted(key[:-2] for key in tables.files if key.endswith("_X"))
    for name in names[:: max(1, len(names) // n_sets)]:
        X, y = np.asarray(tables[f"{name}_X"], dtype=float), tables[f"{name}_y"]
        y = np.unique(y, return_inverse=True)[1]
        if len(y) > MOST_POINTS:
            rows = np.random.RandomState(0).permutation(len(y))[:MOST_POINTS]
            X, y = X[rows], np.unique(y[rows], return_inverse=True)[1]
        yield name, X, y


def knowledge(y: np.ndarray) -> Iterator[tuple[str, Constraints]]:
    """Yield few labels and few pairs, then more."""
    for count in (2, 3, 5, 10, 20, 40):
        yield f"{count} labels", sample_labels(y, count, random_state=1)
    for count in (1, 5, 10, 20, 40, 80):
        yield f"{count} pairs", sample_pairs(y, count, random_state=1)


def measure(method: str, name: str, X: np.ndarray, y: np.ndarray, done: set) -> Iterator[dict[str, Any]]:
    """Yield the cells of a method on a set that are not done."""
    k = len(np.unique(y))
    model = getattr(sidecut, method)(k, random_state=0)
    if method == "LCSC":
        model.set_params(cannot_links="ignore")
    if isinstance(model, GraphClusterer):
        data, graph = X, Neighbors(min(20, len(y) - 1)).build(X)
    else:
        data, graph = model._build(model._read(X), 0)
    task = Task(data, graph, Constraints.none(len(y)), k, 0)
    plain = model._solve(task)
    for kind, known in knowledge(y):
        if (method, name, kind) in done:
            continue
        given = task.given(known, plain=plain)
        try:
            answer = model._solve(given)
            given = given.given(known, start=answer)
            gain, won, lost = 0.0, 0, 0
            if known.labels is None:
                won, lost = count_held_out_pairs(given, model._solve)
            else:
                gain = held_out_gain(given, model._solve)
        except (ValueError, RuntimeError):
            continue
        yield {
            "method": method,
            "data": name,
            "kind": kind,
            "facts": known.n_independent_pairs,
            "clusters": k,
            "points": len(y),
            "before": known.agreement(plain.labels),
            "after": known.agreement(answer.labels),
            "alike": adjusted_rand_score(plain.labels, answer.labels),
            "held out": gain,
            "won": won,
            "lost": lost,
            "plain": adjusted_rand_index(y, plain.labels, constraints=known),
            "constrained": adjusted_rand_index(y, answer.labels, constraints=known),
        }


def main() -> None:
    """Run what is missing, and show the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--only", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--sets", type=int, default=24)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    cells = pd.read_csv(RESULTS) if RESULTS.exists() else pd.DataFrame(columns=KEY)
    done = set(map(tuple, cells[KEY].to_numpy()))
    for name, X, y in data_sets(args.data, args.sets):
        for method in args.only:
            rows = list(measure(method, name, X, y, done))
            if rows:
                cells = pd.concat([cells, pd.DataFrame(rows).assign(**stored.stamp())], ignore_index=True)
        cells.round(4).to_csv(RESULTS, index=False)


if __name__ == "__main__":
    main()
