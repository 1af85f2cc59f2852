"""CSAP: Algorithm B as one maximum over rank-one updates, against the paper's stack of matrices.

    python -m benchmarks.speed.csap [--points 1000 2000 4000] [--links 1000] [--tiled 8000 20000]

All cannot-links, random, on a Gaussian kernel of random points. The stack has one N x N matrix for every
cannot-link: by eq. 2 as printed, K - K(I + MK)⁻¹MK, and by the rank-one formula with the matrix formed. A few
of its matrices are timed and the time multiplied by their number; the few are compared with ours by entries.
Then whole fits with 200 random pairs on Gaussian kernels that are not kept as a matrix, each in a process of
its own, with its peak of memory.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

import numpy as np
from sklearn.datasets import make_blobs

from benchmarks import stored
from benchmarks.speed.e2cp_once import peak
from benchmarks.speed.timing import seconds
from sidecut import CSAP, Constraints
from sidecut.constraints import sample_pairs
from sidecut.graphs import DenseGraph, Gaussian
from sidecut.methods.csap.graph import ObservedLinks, condition_graph, make_prior

RESULTS = stored.RESULTS / "speed"
EPS = 1e-5


def printed(K: np.ndarray, i: int, j: int) -> np.ndarray:
    """Return K after one cannot-link by eq. 2, with M of eq. 3."""
    M = np.zeros_like(K)
    M[[i, j, i, j], [i, j, j, i]] = EPS**-2
    return K - K @ np.linalg.solve(np.eye(len(K)) + M @ K, M @ K)


def rank_one(K: np.ndarray, i: int, j: int) -> np.ndarray:
    """Return K after one cannot-link by its rank-one update, formed."""
    u = K[:, i] + K[:, j]
    return K - np.outer(u, u) / (u[i] + u[j] + EPS**2)


def ours(graph: DenseGraph, known: Constraints) -> np.ndarray:
    """Return the affinity of Algorithm B."""
    links = ObservedLinks.of(known, EPS, EPS)
    columns = make_prior(graph, links.points).columns
    return condition_graph(graph, columns, links, "B").toarray()


def measure(n_points: int, n_links: int) -> dict:
    """Return one row of the table."""
    rng = np.random.default_rng(0)
    graph = Gaussian(1.0, self_loops=True).build(3.0 * rng.normal(size=(n_points, 2)))
    K = graph.toarray()
    ends = rng.choice(n_points, size=(2 * n_links, 2))
    pairs = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]]), axis=0)
    pairs = rng.permutation(pairs)[:n_links]
    fast = seconds(lambda: ours(graph, Constraints.from_pairs(n_points, cannot_link=pairs)))
    inverse = n_links * seconds(lambda: printed(K, *pairs[0]))
    outer = n_links * np.median([seconds(lambda p=p: rank_one(K, *p)) for p in pairs[:5]])
    few = pairs[:5]
    stack = np.maximum(np.min([rank_one(K, *pair) for pair in few], axis=0), 0.0)
    gap = np.abs(ours(graph, Constraints.from_pairs(n_points, cannot_link=few)) - stack).max()
    return {
        "points": n_points,
        "cannot-links": n_links,
        "sidecut": fast,
        "stack, eq. 2": inverse,
        "ratio": inverse / fast,
        "stack, rank one": outer,
        "ratio to rank one": outer / fast,
        "largest difference": gap,
    }


def tiled_fit(n_points: int) -> dict:
    """Return one row of the second table."""
    command = [sys.executable, "-m", "benchmarks.speed.csap", "--fit-one", str(n_points)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    spent, megabytes = map(float, done.stdout.split())
    return {"points": n_points, "pairs": 200, "sidecut": spent, "megabytes": megabytes}


def fit_one(n_points: int) -> None:
    """Print the seconds of a fit, and the peak of memory in MB."""
    X, y = make_blobs(n_points, 5, centers=5, cluster_std=2.5, random_state=0)
    known = sample_pairs(y, 200, random_state=0)
    model = CSAP(5, affinity=Gaussian(2.0, self_loops=True), random_state=0)
    print(seconds(lambda: model.fit(X, constraints=known)), peak())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, nargs="*", default=[1_000, 2_000, 4_000])
    parser.add_argument("--links", type=int, default=1_000)
    parser.add_argument("--tiled", type=int, nargs="*", default=[8_000, 20_000])
    parser.add_argument("--fit-one", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.fit_one:
        fit_one(args.fit_one)
        return
    rows = []
    for n_points in args.points:
        rows.append(measure(n_points, args.links))
        print(rows[-1], flush=True)
    fits = []
    for n_points in args.tiled:
        fits.append(tiled_fit(n_points))
        print(fits[-1], flush=True)
    stored.merge(rows, RESULTS / "csap.csv", ["points", "cannot-links"])
    if fits:
        stored.merge(fits, RESULTS / "csap_tiled.csv", ["points", "pairs"])


if __name__ == "__main__":
    main()
