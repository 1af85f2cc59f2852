"""NCSC: an iteration against its product with the graph, and whole fits against unconstrained clustering.

    python -m benchmarks.speed.ncsc --data FOLDER

On the k-NN graph of MNIST with 1,000 labels; without data on blobs.

(a) one iteration of each solver (all columns, links included) against the bare product of the graph with as
    many columns, SciPy's on one core and ours on all;
(b) whole fits of NormalizedCut, LCSC and NCSC with both its fast solvers, against scikit-learn's
    SpectralClustering on the same graph in the same run; "ratio" is to the fastest of scikit-learn's;
(c) the peak of what a fit allocates, beyond the graph (tracemalloc), against the graph itself.
"""

from __future__ import annotations

import argparse
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import SpectralClustering
from sklearn.datasets import make_blobs

from benchmarks.speed import stored
from benchmarks.speed.graphs import mnist
from benchmarks.speed.timing import one_blas_thread, seconds
from sidecut import LCSC, NCSC, Constraints, NormalizedCut
from sidecut.constraints import sample_labels
from sidecut.evaluation import clustering_accuracy
from sidecut.graphs import Neighbors, SparseGraph
from sidecut.methods.ncsc import PenalizedCut
from sidecut.methods.ncsc.multiplicative import SignedParts, multiplicative_step
from sidecut.methods.ncsc.penalties import mean_degree
from sidecut.methods.ncsc.projected import OverlapEnergy

RESULTS = Path(__file__).parent / "results"
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


def whole_fits(graph: SparseGraph, y: np.ndarray, known: Constraints, repeats: int) -> list[dict]:
    """(b)."""
    matrix = sp.csr_matrix(graph.matrix)
    theirs = {}
    for solver in SOLVERS:
        model = SpectralClustering(K, affinity="precomputed", eigen_solver=solver, random_state=0)
        theirs[f"scikit-learn {solver}"] = seconds(lambda m=model: m.fit(matrix), repeats)
    common = {"n_clusters": K, "affinity": "precomputed", "random_state": 0}
    ours = {
        "NormalizedCut": (NormalizedCut(**common), None),
        "LCSC": (LCSC(**common, cannot_links="ignore"), known),
        "NCSC": (NCSC(**common), known),
        "NCSC by exchange": (NCSC(**common, solver="exchange"), known),
    }
    rows = []
    for name, (model, told) in ours.items():
        taken = seconds(lambda m=model, c=told: m.fit(graph, constraints=c), repeats)
        row = {"part": "b", "points": graph.n_nodes, "solver": name, "sidecut": taken, **theirs}
        row |= {
            "labels": int((known.labels >= 0).sum()) if told else 0,
            "ratio": taken / min(theirs.values()),
        }
        row["accuracy"] = clustering_accuracy(y, model.labels_, constraints=told)
        if isinstance(model, NCSC):
            row["eq. 6"] = model.objective_
        rows.append(row)
        print(row, flush=True)
    return rows


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
    parser.add_argument("--labels", type=int, default=1_000)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    graph, y = problem(args.data, args.points or (70_000 if args.data else 5_000))
    known = sample_labels(y, min(args.labels, len(y) // 5), random_state=0)
    with one_blas_thread():
        rows = per_iteration(graph, known, 5 * args.repeats)
        rows += whole_fits(graph, y, known, args.repeats)
        rows += peak_memory(graph, known)
    rows = [{"data": "mnist" if args.data else "blobs"} | row for row in rows]
    stored.write(RESULTS / "ncsc", rows, ["data", "part", "points", "labels", "solver"])


if __name__ == "__main__":
    main()
