"""CSAP: Algorithm B as one maximum over rank-one updates, against the paper's stack of matrices.

    python -m benchmarks.speed.csap [--points 1000 2000 4000] [--links 1000] [--tiled 8000 20000]

All cannot-links, random, on a Gaussian kernel of random points. The stack has one N x N matrix for every
cannot-link: by eq. 2 as printed, K - K(I + MK)⁻¹MK, and by the rank-one formula with the matrix formed. A few
of its matrices are timed and the time multiplied by their number; the few are compared with ours by entries.
Then whole fits with 200 random pairs on Gaussian kernels that are not kept as a matrix.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import make_blobs

from benchmarks.machine import facts
from sidecut import CSAP, Constraints
from sidecut.constraints import sample_pairs
from sidecut.graphs import DenseGraph, Gaussian
from sidecut.methods.rewriting.linked_graph import Links, linked_graph, prior_columns

RESULTS = Path(__file__).parent / "results"
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
    links = Links.of(known, EPS, EPS)
    columns, _ = prior_columns(graph, links.points)
    return linked_graph(graph, columns, links, "B").to_dense()


def seconds(work: Callable[[], object]) -> float:
    """Return the time of some work."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(n_points: int, n_links: int) -> dict:
    """Return one row of the table."""
    rng = np.random.default_rng(0)
    graph = Gaussian(1.0, self_loops=True).build(3.0 * rng.normal(size=(n_points, 2)))
    K = graph.to_dense()
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
        "largest difference": f"{gap:.0e}",
    }


def tiled_fit(n_points: int) -> dict:
    """Return one row of the second table."""
    X, y = make_blobs(n_points, 5, centers=5, cluster_std=2.5, random_state=0)
    known = sample_pairs(y, 200, random_state=0)
    model = CSAP(5, affinity=Gaussian(2.0, self_loops=True), random_state=0)
    fit = seconds(lambda: model.fit(X, constraints=known))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return {"points": n_points, "pairs": 200, "fit": fit, "peak so far, GB": peak}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, nargs="*", default=[1_000, 2_000, 4_000])
    parser.add_argument("--links", type=int, default=1_000)
    parser.add_argument("--tiled", type=int, nargs="*", default=[8_000, 20_000])
    args = parser.parse_args()
    rows = []
    for n_points in args.points:
        rows.append(measure(n_points, args.links))
        print(rows[-1], flush=True)
    fits = []
    for n_points in args.tiled:
        fits.append(tiled_fit(n_points))
        print(fits[-1], flush=True)
    table, beyond = pd.DataFrame(rows).round(2), pd.DataFrame(fits).round(2)
    RESULTS.mkdir(exist_ok=True)
    table.to_csv(RESULTS / "csap.csv", index=False)
    beyond.to_csv(RESULTS / "csap_tiled.csv", index=False)
    tables = f"{table.to_string(index=False)}\n\n{beyond.to_string(index=False)}"
    (RESULTS / "csap.txt").write_text(f"{facts()}\n\n{tables}\n")


if __name__ == "__main__":
    main()
