"""Which covariance CSAP should read in a neighbour graph, and how much of K̄ it should keep.

    python -m benchmarks.choices.csap_prior

Adjusted Rand index on unconstrained points, mean over draws, on data bundled with scikit-learn. "one
variance" raises all points alike until K is positive semidefinite; 1.5 and 3 raise points without links to so
many times that, and linked points by the least that is then needed.
"""

from __future__ import annotations

import warnings
from unittest.mock import patch

import numpy as np
import pandas as pd
from sklearn.datasets import make_moons

from benchmarks import stored
from sidecut import CSAP, NormalizedCut
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.datasets import make_example
from sidecut.evaluation import adjusted_rand_index
from sidecut.graphs import Neighbors
from sidecut.methods.csap import graph as prior

RESULTS = stored.RESULTS / "choices"
N_DRAWS = 4
SETTINGS = {
    "one variance": (1.0, 64),
    "1.5": (1.5, 64),
    "3": (3.0, 64),
    "1.5, all affinities": (1.5, None),
}


def data(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return at most 600 points of a bundled data set, or the two moons of the comparison with peers."""
    if name == "moons of 2,000":
        return make_moons(2_000, noise=0.1, random_state=0)
    example = make_example(name, standardize=name in ("wine", "iris"))
    return example.X[:600], example.y[:600]


def scores(name: str, kind: str) -> dict[str, float]:
    """Return the mean score of every setting."""
    X, y = data(name)
    k, graph = len(np.unique(y)), Neighbors(20).build(X)
    given = {"affinity": "precomputed", "random_state": 0}
    found: dict[str, list[float]] = {"none": [], **{setting: [] for setting in SETTINGS}}
    for draw in range(N_DRAWS):
        count = int(kind.split()[0])
        known = (sample_labels if kind.endswith("labels") else sample_pairs)(y, count, random_state=draw)
        alone = NormalizedCut(k, **given).fit(graph).labels_
        found["none"].append(adjusted_rand_index(y, alone, constraints=known))
        for setting, (variance, kept) in SETTINGS.items():
            with patch.object(prior, "FREE_VARIANCE", variance):
                labels = CSAP(k, n_affinities=kept, **given).fit(graph, constraints=known).labels_
            found[setting].append(adjusted_rand_index(y, labels, constraints=known))
    return {setting: float(np.mean(values)) for setting, values in found.items()}


def main() -> None:
    warnings.simplefilter("ignore")
    cases = [
        (name, kind) for name in ("wine", "iris", "digits", "moons") for kind in ("60 labels", "200 pairs")
    ]
    cases.append(("moons of 2,000", "200 pairs"))
    rows = []
    for name, kind in cases:
        rows.append({"data": name, "known": kind} | scores(name, kind))
        print(pd.Series(rows[-1]).to_string(), flush=True)
    stored.save(pd.DataFrame(rows), RESULTS / "csap_prior.csv", 3)


if __name__ == "__main__":
    main()
