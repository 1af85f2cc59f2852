"""What choosing costs: seconds of AutoCut over those of the method it chose, and of the median candidate.

    python -m benchmarks.selection.cost [--sizes 2000 20000 70000]

Synthetic clusters in ten dimensions, one per cent of labels, processor time of one core. A fit of one method
includes its graph.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd
from sklearn.datasets import make_blobs

import sidecut
from benchmarks.machine import facts
from sidecut import AutoCut, Constraints
from sidecut.constraints import sample_labels

RESULTS = Path(__file__).parent / "results"
METHODS = ("E2CP", "CCSR", "CSAP", "NCSC", "CSP", "PoissonLearning", "PoissonMBO")


def seconds_of(model: Any, X: Any, known: Constraints) -> float:
    """Return the processor time of a fit."""
    start = time.process_time()
    model.fit(X, constraints=known)
    return time.process_time() - start


def measure(n_points: int) -> dict[str, Any]:
    """Return one row of the table."""
    X, y = make_blobs(n_points, 10, centers=8, cluster_std=3.0, random_state=0)
    known = sample_labels(y, n_points // 100, random_state=0)
    auto = AutoCut(8, random_state=0)
    spent = seconds_of(auto, X, known)
    fits = {
        name: seconds_of(getattr(sidecut, name)(n_clusters=8, random_state=0), X, known) for name in METHODS
    }
    chosen = [name for name, _ in getattr(auto.best_estimator_, "estimators", [])]
    return {
        "points": n_points,
        "AutoCut": round(spent, 1),
        "median candidate": round(median(fits.values()), 1),
        "over the median": round(spent / median(fits.values()), 1),
        "voted": ", ".join(chosen) or type(auto.best_estimator_).__name__,
        **{name: round(value, 1) for name, value in fits.items()},
    }


def main() -> None:
    """Write and show the table."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[2_000, 20_000, 70_000])
    rows = []
    for size in parser.parse_args().sizes:
        rows.append({**measure(size), "machine": facts()})
        pd.DataFrame(rows).to_csv(RESULTS / "cost.csv", index=False)
        print(rows[-1], flush=True)


if __name__ == "__main__":
    main()
