"""NCSC, LCSC and CCSR: whole fits against unconstrained clustering, and an iteration of NCSC.

    python -m benchmarks.speed.ncsc --data FOLDER

On the k-NN graph of MNIST; without data on blobs.

(a) one iteration of each solver (all columns, links included) against the bare product of the graph with as
    many columns, SciPy's on one core and ours on all, with 1,000 labels;
(b) whole fits with 100, 500 and 1,000 labels against scikit-learn's SpectralClustering on the same graph in
    the same run, in turns and in processor time; "ratio" is to the fastest of scikit-learn's;
(c) the peak of what a fit allocates, beyond the graph (tracemalloc), against the graph itself;
(d) CCSR with many clusters: 20 and 50 where there are ten classes, 1,000 labels.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_blobs

from benchmarks import stored
from benchmarks.speed.graphs import mnist
from benchmarks.speed.timing import alternately, one_blas_thread, seconds
from sidecut import CCSR, LCSC, NCSC, Constraints, NormalizedCut
from sidecut.constraints import sample_labels
from sidecut.evaluation import clustering_accuracy
from sidecut.graphs import Neighbors, SparseGraph
from sidecut.methods.ncsc import PenalizedCut
from sidecut.methods.ncsc.descents import OverlapEnergy, SignedParts, multiplicative_step
from sidecut.methods.ncsc.ncsc import mean_degree

RESULTS = stored.RESULTS / "speed"
K = 10
#: scikit-learn's ARPACK factorises the graph; in many dimensions that takes minutes at 10,000 points.
SOLVERS = ("lobpcg", "amg")


def problem(data: Path | None, n_points: int) -> tuple[SparseGraph, np.ndarray]:
    """Return the graph and the classes."""
    if data:
        return mnist(data, n_points)
    X, y = make_blobs(n_points, 30, centers=K, cluster_std=6.0, random_state=0)
    return Neighbors(20).build(X), y


def per_iteration(graph: SparseGraph, known: Constraints, repeats: int) -> list[dict]:
    """(a)."""
    block = np.random.default_rng(0).random((graph.n_nodes, K))
    cut = PenalizedCut(graph, known, np.inf, mean_degree(graph))
    energy = OverlapEnergy(cut, 0.05)
    state = energy.at(cut.on_nodes(block))
    parts = SignedParts(cut, sigma=10.0 * cut.degrees.max())
    here = parts.apply(state.V)
    works = {
        "bare product, one core": lambda: graph.apply(block),
        "bare product, all cores": lambda: cut.affinity.apply(state.V),
        "projected": lambda: energy.at(energy.step(state)),
        "multiplicative": lambda: parts.apply(multiplicative_step(parts, here)),
    }
    times = {name: seconds(work, repeats) for name, work in works.items()}
    rows = []
    for name, taken in times.items():
        row = {"part": "a", "points": graph.n_nodes, "labels": int((known.labels >= 0).sum()), "solver": name}
        row |= {"sidecut": taken, "ratio": taken / times["bare product, one core"]}
        rows.append(row)
        print(row, flush=True)
    return rows


def theirs(n_clusters: int, solver: str, matrix: sp.csr_matrix) -> Callable[[], object]:
    """Return a fit of scikit-learn."""
    model = SpectralClustering(n_clusters, affinity="precomputed", eigen_solver=solver, random_state=0)
    return lambda: model.fit(matrix)


def whole_fits(
    graph: SparseGraph, y: np.ndarray, n_labels: int, solvers: list[str], repeats: int
) -> list[dict]:
    """(b)."""
    matrix = sp.csr_matrix(graph.matrix)
    known = sample_labels(y, n_labels, random_state=0)
    common = {"n_clusters": K, "affinity": "precomputed", "random_state": 0}
    ours = {
        "NormalizedCut": (NormalizedCut(**common), None),
        "LCSC": (LCSC(**common, cannot_links="ignore"), known),
        "NCSC": (NCSC(**common), known),
        "CCSR": (CCSR(**common), known),
    }
    works = [theirs(K, solver, matrix) for solver in solvers]
    works += [lambda m=model, c=told: m.fit(graph, constraints=c) for model, told in ours.values()]
    taken = alternately(works, repeats, time.process_time)
    peers = {f"scikit-learn {solver}": spent for solver, spent in zip(solvers, taken, strict=False)}
    rows = []
    for (name, (model, told)), spent in zip(ours.items(), taken[len(solvers) :], strict=True):
        row = {"part": "b", "points": graph.n_nodes, "solver": name, "sidecut": spent, **peers}
        row |= {"labels": n_labels if told else 0, "ratio": spent / min(peers.values())}
        row["accuracy"] = clustering_accuracy(y, model.labels_, constraints=told)
        rows.append(row)
        print(row, flush=True)
    return rows


def many_clusters(graph: SparseGraph, y: np.ndarray, n_labels: int, n_clusters: int) -> dict:
    """(d)."""
    known = sample_labels(y, n_labels, random_state=0)
    model = CCSR(n_clusters, affinity="precomputed", random_state=0)
    works = [theirs(n_clusters, "lobpcg", sp.csr_matrix(graph.matrix))]
    works.append(lambda: model.fit(graph, constraints=known))
    lobpcg, spent = alternately(works, 1, time.process_time)
    row = {"part": "d", "points": graph.n_nodes, "solver": f"CCSR, {n_clusters} clusters", "labels": n_labels}
    row |= {"sidecut": spent, "scikit-learn lobpcg": lobpcg, "ratio": spent / lobpcg}
    print(row, flush=True)
    return row


def peak_memory(graph: SparseGraph, known: Constraints) -> list[dict]:
    """(c)."""
    weights = graph.matrix
    held = (weights.data.nbytes + weights.indices.nbytes + weights.indptr.nbytes) / 1e6
    tracemalloc.start()
    NCSC(K, affinity="precomputed", random_state=0).fit(graph, constraints=known)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    row = {"part": "c", "points": graph.n_nodes, "labels": int((known.labels >= 0).sum()), "solver": "NCSC"}
    row |= {"megabytes": peak, "megabytes of the graph": held}
    print(row, flush=True)
    return [row]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder that holds mnist.npz; blobs without")
    parser.add_argument("--points", type=int, help="70,000 with data, 5,000 without")
    parser.add_argument("--labels", type=int, nargs="+", default=[100, 500, 1_000])
    parser.add_argument("--clusters", type=int, nargs="+", default=[20, 50], help="of part d")
    parser.add_argument("--parts", nargs="+", default=["a", "b", "c", "d"])
    parser.add_argument("--solvers", nargs="+", default=list(SOLVERS), help="of scikit-learn")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    graph, y = problem(args.data, args.points or (70_000 if args.data else 5_000))
    most = min(max(args.labels), len(y) // 5)
    known = sample_labels(y, most, random_state=0)

    def store(rows: list[dict]) -> None:
        rows = [{"data": "mnist" if args.data else "blobs"} | row for row in rows]
        stored.merge(rows, RESULTS / "ncsc.csv", ["data", "part", "points", "labels", "solver"])

    with one_blas_thread():
        if "a" in args.parts:
            store(per_iteration(graph, known, 5 * args.repeats))
        for n_labels in sorted({min(count, most) for count in args.labels} if "b" in args.parts else ()):
            store(whole_fits(graph, y, n_labels, args.solvers, args.repeats))
        if "c" in args.parts:
            store(peak_memory(graph, known))
        for n_clusters in args.clusters if "d" in args.parts else ():
            store([many_clusters(graph, y, most, n_clusters)])


if __name__ == "__main__":
    main()
