"""What choosing costs: seconds of AutoCut over those of the method it chose, and of the median candidate.

    python -m benchmarks.quality.selection.cost [--sizes 2000 20000 70000] [--per-cent 1]

Synthetic clusters in ten dimensions, some per cent of labels, processor time of one core. A fit of one method
includes its graph. Lines of other sizes and shares are kept.
"""

from __future__ import annotations

import argparse
import time
import warnings
from statistics import median
from typing import Any

import pandas as pd
from sklearn.datasets import make_blobs

import sidecut
from benchmarks import stored
from sidecut import AutoCut, Constraints
from sidecut.constraints import sample_labels

STORED = stored.RESULTS / "quality" / "selection_cost.csv"
METHODS = ("E2CP", "CCSR", "CSAP", "NCSC", "CSP", "PoissonLearning", "PoissonMBO")


def seconds_of(model: Any, X: Any, known: Constraints) -> float:
    """Return the processor time of a fit."""
    start = time.process_time()
    model.fit(X, constraints=known)
    return time.process_time() - start


def measure(n_points: int, per_cent: int) -> dict[str, Any]:
    """Return one row of the table."""
    X, y = make_blobs(n_points, 10, centers=8, cluster_std=3.0, random_state=0)
    known = sample_labels(y, n_points * per_cent // 100, random_state=0)
    auto = AutoCut(8, random_state=0)
    spent = seconds_of(auto, X, known)
    fits = {
        name: seconds_of(getattr(sidecut, name)(n_clusters=8, random_state=0), X, known) for name in METHODS
    }
    chosen = [name for name, _ in getattr(auto.best_estimator_, "estimators", [])]
    return {
        "points": n_points,
        "labels": f"{per_cent} %",
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
    parser.add_argument("--per-cent", type=int, default=1)
    options = parser.parse_args()
    for size in options.sizes:
        row = {**measure(size, options.per_cent), "machine": stored.facts(), **stored.stamp()}
        print(row, flush=True)
        lines = (
            pd.concat([pd.read_csv(STORED), pd.DataFrame([row])]) if STORED.exists() else pd.DataFrame([row])
        )
        lines = lines.drop_duplicates(["points", "labels"], keep="last").sort_values(["labels", "points"])
        lines.to_csv(STORED, index=False)


if __name__ == "__main__":
    main()
