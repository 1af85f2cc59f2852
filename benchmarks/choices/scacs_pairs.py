"""Which β₀ serves SCACS with pairs: the rule for labels, a half, the paper's, or what neighbours say.

    python -m benchmarks.choices.scacs_pairs [--data FOLDER]

One pair for every four points, and one for every point, on sets that the pages do not report on: blobs and
moons, and the tables and shapes of `tables.npz` in the folder. For each the adjusted Rand index with one β₀,
and with the choice of `sidecut.methods.scacs.cuts.shares_to_try`; the guard is off.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.datasets import make_blobs, make_moons

from benchmarks import stored
from sidecut import SCACS
from sidecut.constraints import Constraints, sample_pairs
from sidecut.evaluation import adjusted_rand_index
from sidecut.methods.scacs import scacs as method
from sidecut.methods.scacs.cuts import usual_share

RESULTS = stored.RESULTS / "choices"
#: Of larger sets this many rows are drawn.
N_ROWS = 1_000


def samples(data: Path | None) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield the sets: names, points and classes."""
    yield "blobs, eight", *make_blobs(N_ROWS, 8, centers=8, cluster_std=4.0, random_state=3)
    yield "blobs, five in the plane", *make_blobs(N_ROWS, 2, centers=5, cluster_std=2.0, random_state=4)
    yield "moons, noise .2", *make_moons(N_ROWS, noise=0.2, random_state=5)
    if data is None:
        return
    with np.load(data / "tables.npz") as file:
        for name in sorted(key.removesuffix("_X") for key in file if key.endswith("_X")):
            rows = np.random.default_rng(1).permutation(len(file[f"{name}_y"]))[:N_ROWS]
            y = np.unique(file[f"{name}_y"][rows], return_inverse=True)[1]
            # With more clusters there are few points in each.
            if y.max() < 20:
                yield name, file[f"{name}_X"][rows].astype(np.float64), y


def scores(X: np.ndarray, y: np.ndarray, known: Constraints) -> dict[str, float]:
    """Return the adjusted Rand index with each β₀."""
    common = {"n_clusters": int(y.max()) + 1, "safe": False, "n_init": 3, "random_state": 0}

    def score(**settings: float | str) -> float:
        return adjusted_rand_index(y, SCACS(**common, **settings).fit(X, constraints=known).labels_)

    with patch.object(method, "shares_to_try", lambda problem: (usual_share(problem),)):
        usual = score()
    half, published = score(beta0=0.5), score(beta0="labelled_share")
    return {"as labels": usual, "0.5": half, "paper": published, "chosen": score()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder that holds tables.npz; sets made here without")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    table = []
    for name, X, y in samples(args.data):
        for amount, n_pairs in (("n/4", len(y) // 4), ("n", len(y))):
            found = scores(X, y, sample_pairs(y, n_pairs, random_state=1))
            table.append({"data": name, "clusters": int(y.max()) + 1, "pairs": amount, **found})
            print(pd.DataFrame(table[-1:]).round(3).to_string(index=False, header=False), flush=True)
    found = pd.DataFrame(table)
    print(found.drop(columns=["data", "clusters"]).groupby("pairs").mean().round(3).to_string())
    stored.save(found, RESULTS / "scacs_pairs.csv", 3)


if __name__ == "__main__":
    main()
