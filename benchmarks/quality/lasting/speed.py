"""How much faster an update is than a fit: python -m benchmarks.quality.lasting.speed --data FOLDER.

All of MNIST, or as many rows of it as asked; one percent of its rows come later. Processor seconds of one
thread, in one run; of three updates of the same fit, the median.
"""

from __future__ import annotations

import argparse
import copy
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from benchmarks.quality.lasting.__main__ import kept, known_of, read
from benchmarks.stored import RESULTS, merge
from sidecut import CSP, AutoCut, Constraints, NormalizedCut, PoissonMBO

ESTIMATORS = {"PoissonMBO": PoissonMBO, "NormalizedCut": NormalizedCut, "CSP": CSP, "AutoCut": AutoCut}
SHARE = 0.01


def main() -> None:
    """Fit, update, and fit again on all rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data")
    parser.add_argument("--methods", default=",".join(ESTIMATORS))
    parser.add_argument("--rows", type=int, default=70_000)
    parser.add_argument("--store", action="store_true")
    options = parser.parse_args()
    X, y = read("mnist", options.data)
    order = np.random.default_rng(0).permutation(len(X))[: options.rows]
    X, y = X[order].astype(np.float32), y[order]
    n_old = len(X) - int(SHARE * len(X))
    labels = known_of(y[:n_old], np.random.default_rng(0))
    for name in options.methods.split(","):
        rows = [measure(name, X, y, labels)]
        print(pd.DataFrame(rows).to_string(), flush=True)
        if options.store:
            merge(rows, RESULTS / "quality" / "lasting_speed.csv", ["method", "rows"])


def measure(name: str, X: np.ndarray, y: np.ndarray, labels: np.ndarray) -> dict:
    """Return the seconds of an update and of a fit of all rows."""
    n_old = len(labels)
    knows = name != "NormalizedCut"
    some = {"constraints": Constraints.from_labels(labels)} if knows else {}
    everything = {"constraints": some["constraints"].extended(len(X))} if knows else {}
    with warnings.catch_warnings(action="ignore"):
        model = ESTIMATORS[name](10, random_state=0).fit(X[:n_old], **some)
        before = model.labels_.copy()
        seconds = []
        for _ in range(3):
            updated = copy.copy(model)
            start = time.process_time()
            updated.update(X[n_old:])
            seconds.append(time.process_time() - start)
        update = float(np.median(seconds))
        start = time.process_time()
        again = ESTIMATORS[name](10, random_state=0).fit(X, **everything)
        fit = time.process_time() - start
    return {
        "method": name,
        "rows": len(X),
        "update_seconds": round(update, 2),
        "fit_seconds": round(fit, 2),
        "ratio": round(fit / update, 1),
        "kept": round(kept(before, updated.labels_[:n_old]), 4),
        "kept_by_fit": round(kept(before, again.labels_[:n_old]), 4),
        "ari": round(adjusted_rand_score(y, updated.labels_), 3),
        "ari_of_fit": round(adjusted_rand_score(y, again.labels_), 3),
    }


if __name__ == "__main__":
    main()
