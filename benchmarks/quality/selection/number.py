"""How many clusters labels tell of: the rules of `sidecut.selection.n_clusters`, one by one.

    python -m benchmarks.quality.selection.number --data FOLDER

5 % of labels, on four draws of the development sets and on 80 more sets, made or drawn from digits, so that
classes with few points and classes without a label are among them. The constants were set here.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits, make_blobs

from benchmarks import stored
from benchmarks.quality.selection.__main__ import RESULTS
from benchmarks.quality.selection.data import DEVELOPMENT, load
from benchmarks.quality.selection.rivals import Graphs
from sidecut.constraints import sample_labels
from sidecut.selection.n_clusters import count_unseen

DRAWS = range(30, 34)
N_MORE = 80


def samples(folder: Path) -> Iterator[tuple[Any, np.ndarray, int]]:
    """Yield points, classes and the seed of the labels."""
    for draw in DRAWS:
        for name in DEVELOPMENT:
            yield *load(name, draw, folder), draw
    for number in range(N_MORE):
        yield *(made if number % 2 else drawn)(number), number


def made(number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return 4 to 12 Gaussian clusters, of sizes that are nearly even or not at all."""
    rng = np.random.default_rng(number)
    n_classes = int(rng.integers(4, 13))
    sizes = rng.dirichlet(np.full(n_classes, rng.choice([3.0, 30.0]))) * 600
    n_features, spread = int(rng.integers(3, 12)), rng.uniform(1.5, 4)
    return make_blobs(
        np.maximum(sizes.astype(int), 6).tolist(), n_features, cluster_std=spread, random_state=number
    )


def drawn(number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return 600 points of 6 to 10 digits, some with noise."""
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(number)
    digits = rng.permutation(10)[: int(rng.integers(6, 11))]
    rows = rng.permutation(np.flatnonzero(np.isin(y, digits)))[:600]
    noise = rng.choice([0.0, 3.0]) * rng.normal(size=X[rows].shape)
    return X[rows] + noise, np.unique(y[rows], return_inverse=True)[1]


def measure(X: Any, y: np.ndarray, seed: int) -> dict[str, int]:
    """Return the true number of classes, and what each rule says."""
    known = sample_labels(y, max(2, round(0.05 * len(y))), random_state=seed)
    labels = np.asarray(known.labels)
    seen = len(np.unique(labels[labels >= 0]))
    both = Graphs(X)
    graphs = [both.usual, both.scaled]
    usual, shown = count_unseen(graphs[:1], labels, 0), count_unseen(graphs, labels, 0)
    return {
        "true": len(np.unique(y)),
        "classes with a label": seen,
        "and clusters without a label, usual graph": seen + usual,
        "and clusters without a label, both graphs": seen + shown,
    }


def main() -> None:
    """Measure, store and show how often each rule is right, and within one."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of .npz files")
    table = pd.DataFrame([measure(*sample) for sample in samples(parser.parse_args().data)])
    stored.save(table, RESULTS / "selection_number.csv")
    errors = table.drop(columns="true").sub(table["true"], axis=0)
    shares = pd.DataFrame({"right": (errors == 0).mean(), "within one": (errors.abs() <= 1).mean()})
    print(f"{len(table)} fits\n{shares.round(3)}")


if __name__ == "__main__":
    main()
