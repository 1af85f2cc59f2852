"""How many clusters there are where nothing is known: what the spectrum says, the layers, and AutoCut.

    python -m benchmarks.quality.selection.count --data FOLDER

Gaussian groups, 2 to 100 of uneven sizes, of 25 to 200 points each; and digits, pendigits, segment, letter,
USPS and MNIST, at most 2,500 points of each. `CLEAR_GAP` and `MAX_EIGENVALUE` were set on these pictures and
tables, and on groups drawn with other seeds.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits, make_blobs

from benchmarks import stored
from benchmarks.quality.selection.__main__ import RESULTS
from sidecut import Constraints, Layers
from sidecut.datasets import load as load_data
from sidecut.graphs import Neighbors
from sidecut.selection.n_clusters import choose_n_clusters, leading_eigenvalues, propose_by_gaps

COUNTS = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100)
LARGE = ("pendigits", "segment", "letter", "usps", "mnist")


def samples(folder: Path) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield names, points and classes."""
    for number, k in enumerate(COUNTS * 2):
        rng = np.random.RandomState(100 + number)
        sizes = np.maximum((rng.dirichlet(np.full(k, 10.0)) * k * max(25, 400 // k)).astype(int), 15)
        n_features, spread = int(rng.randint(4, 20)), rng.uniform(1.0, 2.2)
        X, y = make_blobs(sizes.tolist(), n_features, cluster_std=spread, random_state=100 + number)
        yield f"groups {number}", X, y
    X, y = load_digits(return_X_y=True)
    yield "digits", X, y
    for name in LARGE:
        data = load_data(name, folder=folder)
        rows = np.random.RandomState(1).permutation(len(data.y))[:2_500]
        yield name, np.asarray(data.X, dtype=float).reshape(len(data.y), -1)[rows], np.asarray(data.y)[rows]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.selection.count", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of the papers' data")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name, X, y in samples(arguments.data):
        graph = Neighbors(20).build(X)
        values = leading_eigenvalues(graph, 1, graph.n_nodes, 0)
        rows.append(
            {
                "set": name,
                "true": len(np.unique(y)),
                "gap": propose_by_gaps(values, 1)[0],
                "layers": Layers(affinity="precomputed", random_state=0).fit(graph).n_clusters_,
                "chosen": choose_n_clusters([graph], Constraints.none(len(y)), 0),
            }
        )
        print(rows[-1], flush=True)
        stored.save(pd.DataFrame(rows), RESULTS / "selection_count.csv")
    table = pd.DataFrame(rows)
    for rule in ("gap", "layers", "chosen"):
        ratio = np.maximum(table[rule] / table["true"], table["true"] / table[rule])
        within, right = (ratio <= 1.5).mean(), (ratio == 1).mean()
        print(f"{rule}: within a factor of 1.5 in {within:.0%}, right in {right:.0%}")


if __name__ == "__main__":
    main()
