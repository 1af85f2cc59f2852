"""E2CP on one graph, once, in a process of its own: its seconds and its memory.

    python benchmarks/speed/e2cp_once.py sidecut|fit IN.npz OUT.npz
    PYTHON_WITH_PEER benchmarks/speed/e2cp_once.py spectralcluster IN.npz OUT.npz

IN holds a sparse graph (data, indices, indptr) and known pairs (pairs, strengths). Each program gets them in
the form it takes: sidecut sparse, spectralcluster as dense matrices. "sidecut" and "spectralcluster" adjust
the graph by eqs. 3 and 4; OUT receives some of its rows, the seconds, and the peak of memory in MB beyond
what the imports took, the input included. "fit" clusters into ten; OUT receives the labels, the seconds, and
the peak of the whole process. Run by `python -m benchmarks.speed.e2cp`.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

ALPHA = 0.8
#: Rows of the adjusted graph that are compared.
N_ROWS = 200


def with_sidecut(file: dict) -> dict:
    """Adjust the graph with sidecut."""
    from sidecut.methods.e2cp import propagate
    from sidecut.methods.e2cp.adjustment import adjust_graph

    before = peak()
    graph, known = as_sidecut(file)
    start = time.perf_counter()
    changed = adjust_graph(graph, propagate(graph, known, ALPHA).matrix)
    # The first product makes whatever is made only when it is needed.
    _ = changed.degrees
    seconds, memory = time.perf_counter() - start, peak() - before
    units = np.zeros((graph.n_nodes, N_ROWS))
    units[rows(graph.n_nodes), np.arange(N_ROWS)] = 1.0
    return {"rows": changed.apply(units).T, "seconds": seconds, "megabytes": memory}


def with_fit(file: dict) -> dict:
    """Cluster the graph with sidecut."""
    from sidecut import E2CP

    graph, known = as_sidecut(file)
    start = time.perf_counter()
    model = E2CP(10, affinity="precomputed", random_state=0).fit(graph, constraints=known)
    return {"labels": model.labels_, "seconds": time.perf_counter() - start, "megabytes": peak()}


def as_sidecut(file: dict) -> tuple:
    """Return the graph and what is known in the form of sidecut."""
    from sidecut import Constraints
    from sidecut.graphs import as_graph

    n = int(file["indptr"].size - 1)
    graph = as_graph(sp.csr_array((file["data"], file["indices"], file["indptr"]), shape=(n, n)))
    upper = sp.csr_array((file["strengths"], tuple(file["pairs"].T)), shape=(n, n))
    return graph, Constraints.from_matrix(sp.csr_array(upper + upper.T))


def with_peer(file: dict) -> dict:
    """Adjust the graph with spectralcluster."""
    from spectralcluster.constraint import ConstraintPropagation

    before = peak()
    n = int(file["indptr"].size - 1)
    affinity = sp.csr_array((file["data"], file["indices"], file["indptr"]), shape=(n, n)).toarray()
    known = np.zeros((n, n))
    known[tuple(file["pairs"].T)] = file["strengths"]
    known += known.T
    start = time.perf_counter()
    changed = ConstraintPropagation(ALPHA).adjust_affinity(affinity, known)
    seconds = time.perf_counter() - start
    return {"rows": changed[rows(n)], "seconds": seconds, "megabytes": peak() - before}


def rows(n: int) -> np.ndarray:
    """Return which rows are compared."""
    return np.linspace(0, n - 1, N_ROWS).astype(int)


def peak() -> float:
    """Return the peak of memory so far, in MB; ru_maxrss would count the parent process too."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if "VmHWM" in line) / 1024


def main() -> None:
    who, source, target = sys.argv[1:]
    with np.load(source) as arrays:
        file = dict(arrays)
    work = {"sidecut": with_sidecut, "spectralcluster": with_peer, "fit": with_fit}[who]
    np.savez(target, **work(file))


if __name__ == "__main__":
    main()
