"""Large graphs: CSP and E2CP with labels on random block graphs of up to two million nodes.

    python -m benchmarks.speed.large_graphs [--nodes 200000 500000 1000000 2000000]

Every graph has ten blocks, and every node draws ten edges, half of them within its block; 100 labels are
known. The unconstrained cut satisfies all labels, and the guard of CSP keeps it; the row is that of
NormalizedCut in all but name, and the page says so. With safe=False CSP follows the labels. Each fit has a
process of its own, so that its peak of memory is its own. A hundred products of the graph with a vector are
timed beside the fits: no method can grow more slowly than these.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from functools import partial
from multiprocessing import get_context

import numpy as np
import scipy.sparse as sp

from benchmarks import stored
from benchmarks.speed.timing import timed
from sidecut import CSP, E2CP, NormalizedCut
from sidecut.constraints import sample_labels
from sidecut.evaluation import adjusted_rand_index
from sidecut.graphs import SparseGraph

RESULTS = stored.RESULTS / "speed"
K = 10
EDGES_PER_NODE = 10
WITHIN = 0.5
METHODS = {
    "NormalizedCut": NormalizedCut,
    "CSP": CSP,
    "CSP, safe=False": partial(CSP, safe=False),
    "E2CP": E2CP,
}
#: The row of the bare products, and how many.
PRODUCTS, N_PRODUCTS = "100 products with a vector", 100


def block_graph(n_nodes: int) -> tuple[SparseGraph, np.ndarray]:
    """Return a graph of ten blocks with ten edges drawn by every node, and the block of every node."""
    rng = np.random.default_rng(0)
    y = np.arange(n_nodes) % K
    ends = rng.integers(n_nodes, size=(n_nodes, EDGES_PER_NODE))
    inside = rng.random(ends.shape) < WITHIN
    # The same place in the right block.
    ends = np.where(inside, np.minimum(ends - ends % K + y[:, None], n_nodes - 1), ends)
    starts = np.arange(0, ends.size + 1, EDGES_PER_NODE)
    drawn = sp.csr_array((np.ones(ends.size), ends.ravel(), starts), shape=(n_nodes, n_nodes))
    weights = sp.csr_array(drawn + drawn.T)
    weights.setdiag(0)
    weights.eliminate_zeros()
    return SparseGraph(weights), y


def measured(name: str, n_nodes: int) -> dict:
    """Return how long one method takes on one graph, and how much memory its process needs at most."""
    warnings.simplefilter("ignore")
    graph, y = block_graph(n_nodes)
    row = {"points": n_nodes, "edges": graph.n_edges, "method": name}
    row |= multiplied(graph) if name == PRODUCTS else fitted(name, graph, y)
    return row | {"peak GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20}


def multiplied(graph: SparseGraph) -> dict:
    """Return how long the graph takes to multiply a vector again and again."""
    vector = np.random.default_rng(0).normal(size=graph.n_nodes)

    def multiply() -> None:
        for _ in range(N_PRODUCTS):
            graph.matrix @ vector

    start = time.perf_counter()
    processor = timed(multiply, time.process_time)[1]
    return {"sidecut": processor, "seconds": time.perf_counter() - start}


def fitted(name: str, graph: SparseGraph, y: np.ndarray) -> dict:
    """Return how long a fit takes, and how good it is."""
    known = None if name == "NormalizedCut" else sample_labels(y, 100, random_state=0)
    model = METHODS[name](K, affinity="precomputed", random_state=0)
    start = time.perf_counter()
    _, processor = timed(lambda: model.fit(graph, constraints=known), time.process_time)
    ari = adjusted_rand_index(y, model.labels_)
    return {"sidecut": processor, "seconds": time.perf_counter() - start, "ARI": ari}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, nargs="+", default=[200_000, 500_000, 1_000_000, 2_000_000])
    parser.add_argument("--methods", nargs="+", default=[*METHODS, PRODUCTS])
    args = parser.parse_args()
    for n_nodes in args.nodes:
        for name in args.methods:
            with get_context("spawn").Pool(1) as pool:
                row = pool.apply(measured, (name, n_nodes))
            print(row, flush=True)
            stored.merge([row], RESULTS / "large_graphs.csv", ["points", "method"])


if __name__ == "__main__":
    main()
