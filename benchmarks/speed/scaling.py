"""How the time of every method grows with the number of points, 500 labels being known.

    python -m benchmarks.speed.scaling --data FOLDER [--sizes 10000 20000 40000 70000]

Whole fits in processor time, with default settings, on the k-NN graph of MNIST, which is given; SCACS and
LSC, which need no graph, start from the points. scikit-learn's SpectralClustering (lobpcg) on the same graph
is there to compare with, unconstrained. Without data, blobs take the place of MNIST.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_blobs

from benchmarks import stored
from benchmarks.speed.graphs import mnist_points
from benchmarks.speed.timing import alternately, one_blas_thread
from sidecut import CCSR, CSAP, CSP, E2CP, LCSC, LSC, NCSC, SCACS, SSKK, NormalizedCut, SpectralLearning
from sidecut.constraints import sample_labels
from sidecut.graphs import Neighbors

RESULTS = stored.RESULTS / "speed"
K = 10
N_LABELS = 500
ON_GRAPHS = (NormalizedCut, SpectralLearning, CSP, E2CP, NCSC, LCSC, CCSR, SSKK, CSAP)
ON_POINTS = (SCACS, LSC)
UNCONSTRAINED = (NormalizedCut, LSC)


def problem(data: Path | None, n_points: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points and classes."""
    if data:
        return mnist_points(data, n_points)
    return make_blobs(n_points, 30, centers=K, cluster_std=6.0, random_state=0)


def fits(X: np.ndarray, y: np.ndarray) -> dict[str, Callable[[], object]]:
    """Return the fit of each method."""
    graph, known = Neighbors(20).build(X), sample_labels(y, N_LABELS, random_state=0)
    matrix = sp.csr_matrix(graph.matrix)
    plain = SpectralClustering(K, affinity="precomputed", eigen_solver="lobpcg", random_state=0)
    works: dict[str, Callable[[], object]] = {"scikit-learn lobpcg": lambda: plain.fit(matrix)}
    for method in ON_GRAPHS + ON_POINTS:
        model = method(K, random_state=0)
        if method in ON_GRAPHS:
            model.set_params(affinity="precomputed")
        told = None if method in UNCONSTRAINED else known
        source = graph if method in ON_GRAPHS else X
        works[method.__name__] = lambda m=model, s=source, c=told: m.fit(s, constraints=c)
    return works


def measure(data: Path | None, n_points: int, repeats: int) -> list[dict]:
    """Return a row per method."""
    works = fits(*problem(data, n_points))
    with one_blas_thread():
        times = alternately(list(works.values()), repeats, time.process_time)
    taken = dict(zip(works, times, strict=True))
    plain = taken.pop("scikit-learn lobpcg")
    shared = {"data": "mnist" if data else "blobs", "points": n_points, "scikit-learn lobpcg": plain}
    rows = [shared | {"solver": name, "sidecut": seconds} for name, seconds in taken.items()]
    print(*rows, sep="\n", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder that holds mnist.npz; blobs without")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 20_000, 40_000, 70_000])
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = [row for size in args.sizes for row in measure(args.data, size, args.repeats)]
    stored.merge(rows, RESULTS / "scaling.csv", ["data", "points", "solver"])


if __name__ == "__main__":
    main()
