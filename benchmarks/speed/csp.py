"""CSP: against the dense solver of the paper, against unconstrained spectral clustering, and its memory.

    python -m benchmarks.speed.csp --data FOLDER

(a) the feasible cuts by `feasible_cuts` and by scipy.linalg.eig on eq. 13, as printed;
(b) whole fits on the k-NN graph of all of MNIST with 100, 500 and 1,000 labels, against scikit-learn's
    SpectralClustering(eigen_solver="amg") and "lobpcg" on the same graph in the same run;
(c) the peak of what the largest fit allocates, beyond the data and the graph (tracemalloc, own process);
(d) fitting again with ten more labels: the cuts alone, from scratch and from the previous ones, and the whole
    fit from the points of MNIST (10,000 of them), which with a warm start keeps the graph.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_blobs

from benchmarks import stored
from benchmarks.speed.graphs import mnist, mnist_points
from benchmarks.speed.timing import one_blas_thread, seconds, timed
from sidecut import CSP, Constraints
from sidecut.constraints import sample_labels
from sidecut.evaluation import clustering_accuracy
from sidecut.graphs import Graph, NormalizedAffinity, SparseGraph
from sidecut.graphs.recipes import Neighbors
from sidecut.methods.csp import feasible_cuts

RESULTS = stored.RESULTS / "speed"
LABELS = (100, 500, 1_000)


def dense_cuts(graph: Graph, known: Constraints, beta: float) -> np.ndarray:
    """Return the positive eigenvalues of eq. 13 by the dense generalised eigensolver of the paper."""
    scale = NormalizedAffinity(graph).scale
    laplacian = np.eye(graph.n_nodes) - scale[:, None] * graph.toarray() * scale
    beliefs = scale[:, None] * known.as_matrix().toarray() * scale
    values = scipy.linalg.eig(laplacian, beliefs - beta / graph.volume * np.eye(graph.n_nodes), right=True)[0]
    return np.sort(values.real[values.real > 1e-9])


def against_dense(sizes: list[int]) -> list[dict]:
    """(a)."""
    rows = []
    for n in sizes:
        X, y = make_blobs(n, 20, centers=10, cluster_std=6.0, random_state=0)
        graph, known = Neighbors(20).build(X), sample_labels(y, 100, random_state=0)
        cuts = feasible_cuts(graph, known, n_clusters=10)
        ours = seconds(lambda g=graph, c=known: feasible_cuts(g, c, n_clusters=10), 3)
        dense, theirs = timed(lambda g=graph, c=known, b=cuts.beta: dense_cuts(g, c, b))
        gap = float(np.abs(np.sort(cuts.eigenvalues) / dense[: cuts.eigenvalues.size] - 1).max())
        rows.append(
            {
                "part": "a",
                "points": n,
                "labels": 100,
                "sidecut": ours,
                "dense": theirs,
                "ratio": theirs / ours,
            }
        )
        rows[-1]["largest difference"] = gap
        print(rows[-1], flush=True)
    return rows


def against_unconstrained(graph: SparseGraph, y: np.ndarray, draws: int) -> list[dict]:
    """(b)."""
    matrix = sp.csr_matrix(graph.matrix)
    reference = {}
    for solver in ("amg", "lobpcg"):
        model = SpectralClustering(10, affinity="precomputed", eigen_solver=solver, random_state=0)
        reference[solver] = seconds(lambda m=model: m.fit(matrix), 3)
    rows = []
    for c in LABELS:
        known = [sample_labels(y, c, random_state=draw) for draw in range(draws)]
        models = [CSP(10, affinity="precomputed", random_state=0) for _ in known]
        ours = [
            seconds(lambda m=m, k=k: m.fit(graph, constraints=k)) for m, k in zip(models, known, strict=True)
        ]
        hidden = np.mean(
            [clustering_accuracy(y, m.labels_, constraints=k) for m, k in zip(models, known, strict=True)]
        )
        row = {"part": "b", "points": len(y), "labels": c, "sidecut": float(np.median(ours))}
        row |= {"scikit-learn amg": reference["amg"], "scikit-learn lobpcg": reference["lobpcg"]}
        row["ratio"] = row["sidecut"] / reference["amg"]
        row |= {"accuracy": hidden, "draws": draws}
        rows.append(row)
        print(row, flush=True)
    return rows


def peak_memory(graph: SparseGraph, y: np.ndarray) -> list[dict]:
    """(c)."""
    with tempfile.TemporaryDirectory() as folder:
        sp.save_npz(Path(folder) / "graph.npz", sp.csr_matrix(graph.matrix), compressed=False)
        np.save(Path(folder) / "y.npy", y)
        command = [sys.executable, "-m", "benchmarks.speed.csp", "--memory-of", folder]
        megabytes = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    row = {"part": "c", "points": len(y), "labels": 1_000, "megabytes": megabytes}
    print(row, flush=True)
    return [row]


def measure_memory(folder: Path) -> None:
    """Print how far the peak of memory rises during one fit, in megabytes."""
    graph, y = SparseGraph(sp.load_npz(folder / "graph.npz")), np.load(folder / "y.npy")
    known = sample_labels(y, 1_000, random_state=0)
    tracemalloc.start()
    CSP(10, affinity="precomputed", random_state=0).fit(graph, constraints=known)
    print(tracemalloc.get_traced_memory()[1] / 1e6)


def warm_start(graph: SparseGraph, y: np.ndarray, data: Path) -> list[dict]:
    """(d)."""
    order = np.random.default_rng(0).permutation(len(y))
    known = [np.where(np.isin(np.arange(len(y)), order[:c]), y, -1) for c in (500, 510)]
    first, second = (Constraints.from_labels(labels) for labels in known)
    cold = seconds(lambda: feasible_cuts(graph, second, n_clusters=10), 3)
    start = feasible_cuts(graph, first, n_clusters=10).vectors
    warm = seconds(lambda: feasible_cuts(graph, second, n_clusters=10, start=start), 3)
    row = {"part": "d, the cuts alone", "points": len(y), "labels": 510, "sidecut": warm, "cold": cold}
    print(row, flush=True)
    return [row, refit(data)]


def refit(data: Path) -> dict:
    """Fit the points again with ten more labels, with and without a warm start."""
    X, y = mnist_points(data, 10_000)
    first, second = (Constraints.from_labels(np.where(np.arange(len(y)) < c, y, -1)) for c in (500, 510))
    cold = seconds(lambda: CSP(10, random_state=0).fit(X, constraints=second))
    model = CSP(10, random_state=0, warm_start=True).fit(X, constraints=first)
    warm = seconds(lambda: model.fit(X, constraints=second))
    row = {"part": "d, the whole fit", "points": len(y), "labels": 510, "sidecut": warm, "cold": cold}
    print(row, flush=True)
    return row


def on_mnist(data: Path, parts: str, draws: int) -> list[dict]:
    """(b) to (d)."""
    graph, y = mnist(data, 70_000)
    rows = against_unconstrained(graph, y, draws) if "b" in parts else []
    if "c" in parts:
        rows += peak_memory(graph, y)
    if "d" in parts:
        rows += warm_start(graph, y, data)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--data", type=Path, help="folder that holds mnist.npz; without it only part (a) runs"
    )
    parser.add_argument("--dense-sizes", type=int, nargs="*", default=[1_000, 2_000, 4_000])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--parts", default="abcd", help="which of the parts (a) to (d); all by default")
    parser.add_argument("--memory-of", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.memory_of:
        measure_memory(args.memory_of)
        return
    rows = against_dense(args.dense_sizes) if "a" in args.parts else []
    if args.data and set(args.parts) - {"a"}:
        with one_blas_thread():
            rows += on_mnist(args.data, args.parts, args.draws)
    stored.merge(rows, RESULTS / "csp.csv", ["part", "points", "labels"])


if __name__ == "__main__":
    main()
