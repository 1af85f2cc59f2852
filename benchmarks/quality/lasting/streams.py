"""Ten batches: python -m benchmarks.quality.lasting.streams --data FOLDER [--sets a,b] [--draws 3] [--store].

A set is dealt into eleven parts. The first is clustered with ten labels per class, the others come as a
stream that keeps 2,000 rows. Then the same with one class that moves by a tenth of its spread every time.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from benchmarks.quality.lasting.__main__ import fitted, known_of, read
from benchmarks.stored import RESULTS, merge
from sidecut.checks import FloatArray, IntArray

SETS = ("pendigits", "usps", "mnist")
N_BATCHES = 10
N_KEPT = 2_000
STEP = 0.1


def main() -> None:
    """Measure all sets, with and without a class that drifts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--store", action="store_true")
    options = parser.parse_args()
    for name in options.sets.split(","):
        X, y = read(name, options.data)
        rows = [
            {"set": name, "drift": drift, "draw": draw, **measure(X, y, drift, draw)}
            for drift in (0.0, STEP)
            for draw in range(options.draws)
        ]
        print(pd.DataFrame(rows).to_string(), flush=True)
        if options.store:
            merge(rows, RESULTS / "quality" / "lasting_streams.csv", ["set", "drift", "draw"])


def measure(X: FloatArray, y: IntArray, drift: float, draw: int) -> dict[str, float]:
    """Return how the tenth batch is clustered, and what the ten cost."""
    rng = np.random.default_rng(draw)
    parts = np.array_split(rng.permutation(len(X)), N_BATCHES + 1)
    moving = int(rng.choice(np.unique(y)))
    away = rng.standard_normal(X.shape[1])
    step = drift * np.sqrt(X[y == moving].var(axis=0).sum()) * away / np.linalg.norm(away)
    first = parts[0]
    with warnings.catch_warnings(action="ignore"):
        model = fitted("PoissonMBO", X[first], known_of(y[first], rng), len(np.unique(y)), 0)
        classes = model.cluster_classes_
        stream, seconds, right, aris = model.stream(n_kept=N_KEPT), 0.0, [], []
        for number, part in enumerate(parts[1:], 1):
            rows = X[part] + number * (y[part] == moving)[:, None] * step
            start = time.process_time()
            stream.partial_fit(rows)
            seconds += time.process_time() - start
            right.append(
                np.mean([classes.get(label) == c for label, c in zip(stream.labels_, y[part], strict=True)])
            )
            aris.append(adjusted_rand_score(y[part], stream.labels_))
        same = np.mean(model.predict(rows) == stream.labels_)
    return {
        "rows": len(X) - len(first),
        "stored": stream.n_stored,
        "right_first": right[0],
        "right_tenth": right[-1],
        "ari_first": aris[0],
        "ari_tenth": aris[-1],
        "as_first_model": same,
        "new_clusters": len(stream.sizes_) - len(classes),
        "seconds": seconds,
    }


if __name__ == "__main__":
    main()
