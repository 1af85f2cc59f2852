"""Which β serves CSP with scattered pairs: the usual one, a smaller or larger one, or what neighbours say.

    python -m benchmarks.choices.csp_bounds [--data FOLDER]

Pairs, one for every five points and one for every point, on sets that the pages of speed do not report on.
For each the adjusted Rand index of the graph alone, of CSP with the usual β, and with the choice between it
and others (`OTHER_BOUNDS` in `sidecut.methods.csp.cuts`, eq. 19); and how many times the usual β was taken.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits, make_blobs, make_moons

from benchmarks import stored
from sidecut import CSP, NormalizedCut
from sidecut.constraints import sample_pairs
from sidecut.evaluation import adjusted_rand_index
from sidecut.graphs import Neighbors
from sidecut.methods.csp import cuts as cuts_module

RESULTS = stored.RESULTS / "choices"
STORED = {"pendigits": 3_000, "usps": 3_000, "segment": 2_310}
UNEVEN = {
    "uneven, six": ([1500, 600, 400, 200, 200, 100], 6, 3.5, 7),
    "uneven, four": ([2000, 600, 300, 100], 4, 2.5, 2),
}


def samples(data: Path | None) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the sets."""
    found = {
        "digits": load_digits(return_X_y=True),
        "blobs, eight": make_blobs(3_000, 8, centers=8, cluster_std=4.0, random_state=3),
        "blobs, five in the plane": make_blobs(3_000, 2, centers=5, cluster_std=2.0, random_state=4),
        "moons, noise .2": make_moons(3_000, noise=0.2, random_state=5),
        "moons, noise .1": make_moons(3_000, noise=0.1, random_state=6),
    }
    for name, (sizes, dimension, spread, seed) in UNEVEN.items():
        found[name] = make_blobs(sizes, dimension, cluster_std=spread, random_state=seed)
    for name, count in STORED.items() if data else ():
        with np.load(data / f"{name}.npz") as file:
            X, y = file["X"], np.unique(file["y"], return_inverse=True)[1]
        chosen = np.random.default_rng(5).permutation(len(y))[:count]
        found[name] = X[chosen].reshape(len(chosen), -1).astype(np.float64), y[chosen]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder of .npz files; sets made here without")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    table = []
    for name, (X, y) in samples(args.data).items():
        graph, k = Neighbors(20).build(X), int(y.max()) + 1
        common = {"n_clusters": k, "affinity": "precomputed", "random_state": 0}
        plain = NormalizedCut(**common).fit(graph)
        for told, n_pairs in (("n/5", len(y) // 5), ("n", len(y))):
            known = sample_pairs(y, n_pairs, random_state=1)
            with patch.object(cuts_module, "_other_bounds", lambda *problem: []):
                usual = CSP(**common).fit(graph, constraints=known)
            chosen = CSP(**common).fit(graph, constraints=known)
            row = {"data": name, "pairs": told, "graph": adjusted_rand_index(y, plain.labels_)}
            row |= {"usual": adjusted_rand_index(y, usual.labels_)}
            times = getattr(chosen, "beta_", np.nan) / getattr(usual, "beta_", np.nan)
            row |= {"chosen": adjusted_rand_index(y, chosen.labels_), "times": times}
            row["kept"] = chosen.decision_.kept
            table.append(row)
            print(pd.DataFrame([row]).round(3).to_string(index=False, header=False), flush=True)
    stored.save(pd.DataFrame(table), RESULTS / "csp_bounds.csv", 3)


if __name__ == "__main__":
    main()
