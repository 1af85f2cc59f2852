"""K-means of many clusters in single and in double precision: sums of squares, and seconds.

    python -m benchmarks.choices.single_precision

Fifty clusters of 20,000 points from the first fifty eigenvectors of their graph, rows of length one, on sets
that the page of speed does not report on; five seeds of k-means with ten starts each.
"""

from __future__ import annotations

import time
from unittest.mock import patch

import numpy as np

from benchmarks import stored
from benchmarks.choices import other_sets
from sidecut.graphs import Neighbors
from sidecut.labelling import kmeans_labels, unit_rows
from sidecut.labelling import labels as module
from sidecut.spectral import laplacian_eigenpairs

RESULTS = stored.RESULTS / "choices"
SETS = ("widths", "stretched", "uneven", "copies", "shells", "topics")
N_POINTS, N_CLUSTERS, N_SEEDS = 20_000, 50, 5


def sum_of_squares(rows: np.ndarray, labels: np.ndarray) -> float:
    """Return the sum of squared distances of rows to the means of their clusters."""
    members = np.eye(N_CLUSTERS)[labels]
    means = members.T @ rows / np.maximum(members.sum(axis=0), 1.0)[:, None]
    return float(np.square(rows - means[labels]).sum())


def measure(rows: np.ndarray, seed: int, from_clusters: float) -> tuple[float, float]:
    """Return the sum of squares and the seconds of one k-means, in single precision from so many clusters."""
    start = time.process_time()
    with (
        patch.object(module, "SINGLE_CLUSTERS", from_clusters),
        patch.object(module, "THREADED_DISTANCES", 0),
    ):
        labels = kmeans_labels(rows, N_CLUSTERS, random_state=seed)
    return sum_of_squares(rows, labels), time.process_time() - start


def main() -> None:
    for name in SETS:
        graph = Neighbors(20).build(other_sets.MADE[name](N_POINTS)[0])
        vectors = laplacian_eigenpairs(graph, N_CLUSTERS, accuracy="sketch", random_state=0).vectors
        rows = unit_rows(graph.scale[:, None] * vectors)
        double = np.array([measure(rows, seed, np.inf) for seed in range(N_SEEDS)])
        single = np.array([measure(rows, seed, 0) for seed in range(N_SEEDS)])
        squares, seconds = (single / double).T
        row = {"data": name, "points": N_POINTS, "clusters": N_CLUSTERS, "seeds": N_SEEDS}
        row |= {"squares, mean ratio": squares.mean(), "most": squares.max(), "least": squares.min()}
        row |= {"time ratio": float(np.median(seconds))}
        print(row, flush=True)
        stored.merge([row], RESULTS / "single_precision.csv", ["data", "points", "clusters"])


if __name__ == "__main__":
    main()
