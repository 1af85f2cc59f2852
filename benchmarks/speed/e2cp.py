"""E2CP: against dense matrices and another package, and against unconstrained spectral clustering.

    python -m benchmarks.speed.e2cp --data FOLDER

(a) propagating (eq. 3) and adjusting the graph (eq. 4), against the same by inverse and products of N x N
    matrices;
(b) the same against the package spectralcluster, in processes of their own, with the peak of memory of each;
    its environment is the one `make peers` makes, made here where it is missing;
(c) whole fits on the k-NN graph of all of MNIST with 100, 500 and 1,000 labels, against scikit-learn's
    SpectralClustering and LabelSpreading on the same graph in the same run,
    exactly (approximate=False), and once more in linear time with the error that is measured;
(d) the same with 2,000 random pairs, in a process of its own, with its peak of memory;
(e) whole fits with labels by default settings, in turns with scikit-learn's lobpcg and in processor time.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_blobs

from benchmarks import stored
from benchmarks.label_spreading import spread
from benchmarks.quality.peers import registry
from benchmarks.quality.peers.environments import InstallError, python_of
from benchmarks.speed import e2cp_once
from benchmarks.speed.graphs import mnist
from benchmarks.speed.timing import alternately, one_blas_thread, seconds, timed
from sidecut import E2CP, Constraints
from sidecut.constraints import sample_labels, sample_pairs
from sidecut.evaluation import clustering_accuracy
from sidecut.graphs import Graph, Neighbors, NormalizedAffinity, SparseGraph
from sidecut.methods.e2cp import propagate
from sidecut.methods.e2cp.adjustment import adjust_graph

RESULTS = stored.RESULTS / "speed"
#: Where the environments of other packages are.
PEERS = Path(".peers")
LABELS = (100, 500, 1_000)
PAIRS = 2_000
ALPHA = 0.8


def dense_e2cp(graph: Graph, known: Constraints) -> tuple[np.ndarray, np.ndarray]:
    """Return F of eq. 3 and W̃ of eq. 4, as printed."""
    scale, W = NormalizedAffinity(graph).scale, graph.toarray()
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
            (ours, cut), taken = timed(lambda g=graph, c=known: rewritten(g, c))
            row = {"part": "a", "points": n, "known": kind, "sidecut": taken, "dense": theirs}
            gaps = np.abs(ours.toarray() - F).max(), np.abs(cut.toarray() - W).max()
            row |= {"ratio": theirs / taken, "largest difference": max(gaps)}
            rows.append(row)
            print(row, flush=True)
    return rows


def rewritten(graph: Graph, known: Constraints) -> tuple:
    """Return F and the adjusted graph."""
    F = propagate(graph, known, ALPHA)
    cut = adjust_graph(graph, F.matrix)
    # The first product makes whatever is made only when it is needed.
    _ = cut.degrees
    return F, cut


def against_peer(sizes: list[int]) -> list[dict]:
    """(b)."""
    try:
        python = str(python_of(*registry.chosen(["spectralcluster"]), PEERS))
    except InstallError as error:
        print(f"spectralcluster does not install, part (b) is left out: {error}", flush=True)
        return []
    rows = []
    for n in sizes:
        X, y = make_blobs(n, 20, centers=10, cluster_std=6.0, random_state=0)
        graph = Neighbors(20).build(X)
        # Eq. 1 has a zero diagonal, which the peer's matrix is given as well.
        kinds = {"100 labels": sample_labels(y, 100, random_state=0).with_diagonal(0)}
        kinds["200 pairs"] = sample_pairs(y, 200, random_state=0)
        for kind, known in kinds.items():
            ours, theirs = (
                once("sidecut", sys.executable, graph, known),
                once("spectralcluster", python, graph, known),
            )
            gap = np.abs(ours["rows"] - theirs["rows"]).max()
            row = {"part": "b", "points": n, "known": kind, "sidecut": float(ours["seconds"])}
            row |= {"spectralcluster": float(theirs["seconds"]), "ratio": theirs["seconds"] / ours["seconds"]}
            row |= {"largest difference": gap, "megabytes": float(ours["megabytes"])}
            row["megabytes of the other"] = float(theirs["megabytes"])
            rows.append(row)
            print(row, flush=True)
    return rows


def once(who: str, python: str, graph: SparseGraph, known: Constraints) -> dict:
    """Return what one program makes of a graph in a process of its own."""
    matrix = sp.csr_array(graph.matrix)
    arrays = {name: getattr(matrix, name) for name in ("data", "indices", "indptr")}
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.npz", Path(folder) / "out.npz"
        np.savez(source, pairs=known.pairs, strengths=known.strengths, **arrays)
        subprocess.run([python, e2cp_once.__file__, who, str(source), str(target)], check=True)
        with np.load(target) as found:
            return dict(found)


def against_unconstrained(graph: SparseGraph, y: np.ndarray, draws: int) -> list[dict]:
    """(c)."""
    matrix = sp.csr_matrix(graph.matrix)
    theirs = {}
    for solver in ("amg", "lobpcg"):
        plain = SpectralClustering(10, affinity="precomputed", eigen_solver=solver, random_state=0)
        theirs[f"scikit-learn {solver}"] = seconds(lambda m=plain: m.fit(matrix), 3)
    rows = []
    for c in LABELS:
        scores, times = [], []
        for draw in range(draws):
            known = sample_labels(y, c, random_state=draw)
            model = E2CP(10, affinity="precomputed", approximate=False, random_state=0)
            times.append(seconds(lambda m=model, k=known: m.fit(graph, constraints=k)))
            spreading = spread(matrix, np.where(known.labels >= 0, y.astype(int), -1), 100)
            scores.append(
                [clustering_accuracy(y, found, constraints=known) for found in (model.labels_, spreading)]
            )
        row = {"part": "c", "points": len(y), "known": f"{c} labels", "sidecut": float(np.median(times))}
        row |= theirs
        accuracy, spreading = np.mean(scores, axis=0)
        row |= {"accuracy": accuracy, "of LabelSpreading": spreading, "draws": draws}
        row["unconstrained"] = clustering_accuracy(y, plain.labels_)
        rows += [row, approximated(graph, sample_labels(y, c, random_state=0), y) | theirs]
        print(*rows[-2:], sep="\n", flush=True)
    return rows


def approximated(graph: SparseGraph, known: Constraints, y: np.ndarray) -> dict:
    """Return one row of (c) for the linear-time option."""
    model = E2CP(10, affinity="precomputed", approximate=True, random_state=0)
    taken = seconds(lambda: model.fit(graph, constraints=known))
    row = {"part": "c", "points": len(y), "known": f"{known.constrained_points.size} labels, approximate"}
    accuracy = clustering_accuracy(y, model.labels_, constraints=known)
    return row | {"sidecut": taken, "accuracy": accuracy, "stated error": model.approximation_error_}


def with_pairs(graph: SparseGraph, y: np.ndarray) -> list[dict]:
    """(d)."""
    known = sample_pairs(y, PAIRS, random_state=0)
    found = once("fit", sys.executable, graph, known)
    row = {"part": "d", "points": len(y), "known": f"{PAIRS} pairs", "sidecut": float(found["seconds"])}
    row["accuracy"] = clustering_accuracy(y, found["labels"], constraints=known)
    row["megabytes"] = float(found["megabytes"])
    print(row, flush=True)
    return [row]


def by_default(graph: SparseGraph, y: np.ndarray) -> list[dict]:
    """(e)."""
    matrix = sp.csr_matrix(graph.matrix)
    plain = SpectralClustering(10, affinity="precomputed", eigen_solver="lobpcg", random_state=0)
    rows = []
    for c in LABELS:
        known = sample_labels(y, c, random_state=0)
        model = E2CP(10, affinity="precomputed", random_state=0)
        works = [lambda m=model, k=known: m.fit(graph, constraints=k), lambda: plain.fit(matrix)]
        ours, theirs = alternately(works, 1, time.process_time)
        row = {"part": "e", "points": len(y), "known": f"{c} labels", "sidecut": ours}
        row |= {"scikit-learn lobpcg": theirs, "stated error": model.approximation_error_}
        row["accuracy"] = clustering_accuracy(y, model.labels_, constraints=known)
        rows.append(row)
        print(row, flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder that holds mnist.npz; without it no (c) to (e)")
    parser.add_argument("--parts", default="abcde", help="which of the parts (a) to (e); all by default")
    parser.add_argument("--dense-sizes", type=int, nargs="*", default=[1_000, 2_000, 4_000])
    parser.add_argument("--mnist-points", type=int, default=70_000)
    parser.add_argument("--draws", type=int, default=3)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = against_dense(args.dense_sizes) if "a" in args.parts else []
    if "b" in args.parts:
        rows += against_peer(args.dense_sizes)
    if args.data and set(args.parts) & {"c", "d", "e"}:
        graph, y = mnist(args.data, args.mnist_points)
        if "c" in args.parts:
            with one_blas_thread():
                rows += against_unconstrained(graph, y, args.draws)
        if "d" in args.parts:
            rows += with_pairs(graph, y)
        if "e" in args.parts:
            with one_blas_thread():
                rows += by_default(graph, y)
    stored.merge(rows, RESULTS / "e2cp.csv", ["part", "points", "known"])


if __name__ == "__main__":
    main()
