"""E2CP: against the dense matrices of the paper, and against unconstrained spectral clustering.

    python -m benchmarks.speed.e2cp --data FOLDER

(a) propagating (eq. 3) and adjusting the graph (eq. 4), against the same by inverse and products of N x N
    matrices;
(b) whole fits on the k-NN graph of all of MNIST with 100, 500 and 1,000 labels, against scikit-learn's
    SpectralClustering and LabelSpreading on the same graph in the same run, and the peak of memory so far.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_blobs
from sklearn.semi_supervised import LabelSpreading

from benchmarks.machine import facts
from benchmarks.speed.graphs import mnist
from sidecut import E2CP, Constraints
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.evaluation import clustering_accuracy
from sidecut.graphs import Graph, Neighbors, NormalizedAffinity, SparseGraph, adjusted
from sidecut.methods.rewriting import propagated

RESULTS = Path(__file__).parent / "results"
LABELS = (100, 500, 1_000)
ALPHA = 0.8


def timed(work: Callable[[], object]) -> tuple[object, float]:
    """Return what some work gives, and its time in seconds."""
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def dense_e2cp(graph: Graph, known: Constraints) -> tuple[np.ndarray, np.ndarray]:
    """Return F of eq. 3 and W̃ of eq. 4, as printed."""
    scale, W = NormalizedAffinity(graph).scale, graph.to_dense()
    P = (1 - ALPHA) * np.linalg.inv(np.eye(graph.n_nodes) - ALPHA * scale[:, None] * W * scale)
    F = P @ known.as_matrix().toarray() @ P
    return F, np.where(F >= 0, 1 - (1 - F) * (1 - W), (1 + F) * W)


def against_dense(sizes: list[int]) -> list[dict]:
    """(a)."""
    rows = []
    for n in sizes:
        X, y = make_blobs(n, 20, centers=10, cluster_std=6.0, random_state=0)
        graph = Neighbors(20).build(X)
        for kind, sample in {"100 labels": sample_labels, "200 pairs": sample_pairs}.items():
            known = sample(y, int(kind.split()[0]), random_state=0)
            (F, W), theirs = timed(lambda g=graph, c=known: dense_e2cp(g, c))
            (ours, cut), seconds = timed(lambda g=graph, c=known: rewritten(g, c))
            row = {"part": "a", "points": n, "known": kind, "sidecut": seconds, "dense": theirs}
            row["ratio"] = theirs / seconds
            gaps = np.abs(ours.to_dense() - F).max(), np.abs(cut.to_dense() - W).max()
            row["note"] = f"F agrees to {gaps[0]:.0e}, the graph to {gaps[1]:.0e}"
            rows.append(row)
            print(row, flush=True)
    return rows


def rewritten(graph: Graph, known: Constraints) -> tuple:
    """Return F and the adjusted graph."""
    F = propagated(graph, known, ALPHA)
    return F, adjusted(graph, F.matrix)


def against_unconstrained(graph: SparseGraph, y: np.ndarray, draws: int) -> list[dict]:
    """(b)."""
    matrix = sp.csr_matrix(graph.matrix)
    plain = SpectralClustering(10, affinity="precomputed", eigen_solver="amg", random_state=0)
    reference = timed(lambda: plain.fit(matrix))[1]
    rows = []
    for c in LABELS:
        scores, times = [], []
        for draw in range(draws):
            known = sample_labels(y, c, random_state=draw)
            model = E2CP(10, affinity="precomputed", random_state=0)
            times.append(timed(lambda m=model, k=known: m.fit(graph, constraints=k))[1])
            spreading = spread_labels(matrix, known, y)
            scores.append(
                [clustering_accuracy(y, found, constraints=known) for found in (model.labels_, spreading)]
            )
        row = {"part": "b", "points": len(y), "known": f"{c} labels", "sidecut": float(np.median(times))}
        row |= {"scikit-learn": reference, "ratio": row["sidecut"] / reference}
        accuracy, spreading = np.mean(scores, axis=0)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        row["note"] = (
            f"ACC on unlabelled points {accuracy:.3f}, LabelSpreading {spreading:.3f}, "
            f"unconstrained {clustering_accuracy(y, plain.labels_):.3f}; mean of {draws} draws, {peak:.1f} GB"
        )
        rows.append(row)
        print(row, flush=True)
    return rows


def spread_labels(matrix: sp.csr_matrix, known: Constraints, y: np.ndarray) -> np.ndarray:
    """Return the labels of scikit-learn's LabelSpreading on a graph, with the same α."""
    told = np.where(known.labels >= 0, y.astype(int), -1)
    learner = LabelSpreading(kernel=lambda first, second=None: matrix, alpha=ALPHA, max_iter=100)
    return learner.fit(np.zeros((len(y), 1)), told).transduction_


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder that holds mnist.npz; without it only (a) runs")
    parser.add_argument("--dense-sizes", type=int, nargs="*", default=[1_000, 2_000, 4_000])
    parser.add_argument("--draws", type=int, default=3)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = against_dense(args.dense_sizes)
    if args.data:
        rows += against_unconstrained(*mnist(args.data, 70_000), args.draws)
    table = pd.DataFrame(rows).round(3)
    RESULTS.mkdir(exist_ok=True)
    table.to_csv(RESULTS / "e2cp.csv", index=False)
    (RESULTS / "e2cp.txt").write_text(f"{facts()}\n\n{table.to_string(index=False, na_rep='')}\n")


if __name__ == "__main__":
    main()
