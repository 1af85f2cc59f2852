"""Graphs in blocks on a disk and on Dask, against the same graph in memory: labels, processor time, memory.

    python -m benchmarks.speed.blocks equal [--edges 1000000 10000000]
    python -m benchmarks.speed.blocks large [--edges 100000000] [--limit 4]
    python -m benchmarks.speed.blocks points [--points 10000000] [--limit 4]

Every fit runs in a process of its own, whose processor time and peak memory are stored; with `--limit`, the
system refuses it more than so many gigabytes of address space. The graph has ten clusters of nodes on a line,
each linked to twenty others up to a quarter of a cluster away; one in fifty links between clusters is kept.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import stored
from sidecut import CSP, E2CP, Constraints, NormalizedCut, PoissonLearning, PoissonMBO
from sidecut.constraints import sample_labels
from sidecut.graphs import Graph, SparseGraph, graph_from_points
from sidecut.graphs.block_files import BLOCK_ENTRIES, write_blocks, written_whole

RESULTS = stored.RESULTS / "speed"
CLUSTERS, DEGREE = 10, 20
METHODS = {method.__name__: method for method in (NormalizedCut, CSP, E2CP, PoissonLearning, PoissonMBO)}
#: How many labels or pairs are known.
KNOWN = {"none": 0, "labels": 100, "pairs": 1_000}


def offsets(n_nodes: int) -> np.ndarray:
    """Return how far apart linked nodes are: seven near, three far."""
    size = n_nodes // CLUSTERS
    near = np.random.default_rng(0).choice(np.arange(1, 2_000), DEGREE // 2 - 3, replace=False)
    return np.concatenate([near, [size // 4, size // 8, size // 16]])


def rows(n_nodes: int, first: int, last: int) -> sp.csr_array:
    """Return rows of the graph, which are the same however they are cut."""
    steps = offsets(n_nodes)
    own = np.arange(first, last)
    ends = np.concatenate([own[:, None] - steps[::-1], own[:, None] + steps], axis=1)
    low, high = np.minimum(own[:, None], ends), np.maximum(own[:, None], ends)
    # A number for every link, the same from both ends.
    number = (low * 2_654_435_761 + (high - low) * 40_503) % 2**32 / 2**32
    cluster = n_nodes // CLUSTERS
    kept = (ends >= 0) & (ends < n_nodes) & ((low // cluster == high // cluster) | (number < 0.02))
    weights = (0.5 + 0.5 * (number * 97 % 1)).astype(np.float32)
    indptr = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    return sp.csr_array((weights[kept], ends[kept], indptr), shape=(last - first, n_nodes))


def make_graph(n_edges: int, folder: Path) -> None:
    """Write the graph, block by block."""
    n_nodes = 2 * n_edges // DEGREE
    height = BLOCK_ENTRIES // DEGREE

    def blocks() -> Iterator[tuple[np.ndarray, sp.csr_array]]:
        for first in range(0, n_nodes, height):
            last = min(first + height, n_nodes)
            yield np.arange(first, last), rows(n_nodes, first, last)

    with written_whole(folder) as partial:
        write_blocks(partial, n_nodes, blocks())


def knowledge(n_nodes: int, kind: str) -> Constraints | None:
    """Return what is known of the nodes."""
    y = np.arange(n_nodes) // (n_nodes // CLUSTERS)
    if kind == "labels":
        return sample_labels(y, KNOWN[kind], random_state=0)
    if kind == "none":
        return None
    pairs = np.random.default_rng(1).integers(0, n_nodes, (KNOWN[kind], 2))
    together = y[pairs[:, 0]] == y[pairs[:, 1]]
    return Constraints.from_pairs(n_nodes, must_link=pairs[together], cannot_link=pairs[~together])


def fit_once(folder: Path, place: str, method: str, kind: str, output: Path) -> dict[str, Any]:
    """Fit once, write the labels, and return what it took."""
    graph: Graph = Graph.open(folder, check=False)
    if place == "memory":
        blocks = graph.tosparse()
        graph = SparseGraph(blocks)
        del blocks
    known = knowledge(graph.n_nodes, kind)
    model = METHODS[method](CLUSTERS, affinity="precomputed", random_state=0)
    client = cluster = None
    before, start = time.process_time(), time.perf_counter()
    others = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if place.startswith("dask"):
            from distributed import Client, LocalCluster

            from sidecut.distributed import fit

            n_workers = int(place[4:])
            cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0")
            client = Client(cluster)
            client.run(lambda: __import__("sidecut").CSP)
            used = sum(client.run(time.process_time).values())
            before, start = time.process_time(), time.perf_counter()
            fit(model, graph, constraints=known, client=client)
            others = sum(client.run(time.process_time).values()) - used
        else:
            model.fit(graph, constraints=known)
    took = {
        "processor seconds": round(time.process_time() - before + others, 1),
        "seconds": round(time.perf_counter() - start, 1),
        "peak GB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
    }
    np.save(output, model.labels_.astype(np.int8))
    y = np.arange(graph.n_nodes) // (graph.n_nodes // CLUSTERS)
    table = np.zeros((CLUSTERS, CLUSTERS), dtype=np.int64)
    np.add.at(table, (y, model.labels_), 1)
    took["share right"] = round(float(table.max(axis=1).sum() / y.size), 5)
    if client is not None:
        client.close()
        cluster.close()
    return took


def in_process(arguments: list[str], limit: float | None) -> dict[str, Any]:
    """Run this module in a process of its own, with a limit to its address space in gigabytes."""
    extra = [] if limit is None else ["--limit", str(limit)]
    command = [sys.executable, "-m", "benchmarks.speed.blocks", *arguments, *extra]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode:
        return {"failed": found.stderr.strip().splitlines()[-1][:200]}
    return json.loads(found.stdout.strip().splitlines()[-1])


def same_partition(one: np.ndarray, other: np.ndarray) -> float:
    """Return the share of nodes with equal labels, clusters numbered alike."""
    table = np.zeros((CLUSTERS, CLUSTERS), dtype=np.int64)
    np.add.at(table, (one, other), 1)
    return float(table.max(axis=1).sum() / one.size)


def compare(n_edges: int, tasks: list[tuple[str, str]], places: list[str], limit: float | None) -> None:
    """Store what each task takes at each place, and how far labels agree with those of the first."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "graph"
        make_graph(n_edges, folder)
        for method, kind in tasks:
            first = None
            for place in places:
                output = Path(name) / f"{place}.npy"
                arguments = ["one", str(folder), place, method, kind, str(output)]
                # The graph in memory does not fit within the limit.
                took = in_process(arguments, None if place == "memory" else limit)
                row = {"edges": n_edges, "method": method, "known": kind, "place": place, "limit GB": limit}
                if "failed" not in took:
                    labels = np.load(output)
                    first = labels if first is None else first
                    row["same labels"] = round(same_partition(first, labels), 7)
                row |= took
                print(row, flush=True)
                stored.merge([row], RESULTS / "blocks.csv", ["edges", "method", "known", "place"])


def build_points(n_points: int, folder: Path) -> None:
    """Write points of twenty features in thirty overlapping clusters as Parquet files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    centres, spread = rng.normal(0, 2, (30, 20)), np.arange(1, 21) ** -0.5
    folder.mkdir()
    for part, start in enumerate(range(0, n_points, 250_000)):
        size = min(250_000, n_points - start)
        X = centres[rng.integers(0, 30, size)] + rng.normal(size=(size, 20)) * spread
        names = [f"x{column}" for column in range(20)]
        pq.write_table(pa.table(dict(zip(names, X.T, strict=True))), folder / f"{part:05d}.parquet")


def points_once(folder: Path, graph: Path) -> dict[str, Any]:
    """Build the graph of points and return what it took."""
    start = time.perf_counter()
    built = graph_from_points(folder, graph, n_neighbors=10)
    return {
        "recall": built.recall,
        "entries": built.n_entries,
        "processor seconds": round(time.process_time(), 1),
        "seconds": round(time.perf_counter() - start, 1),
        "peak GB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["equal", "large", "points", "one", "points-one"])
    parser.add_argument("rest", nargs="*")
    parser.add_argument("--edges", type=int, nargs="*")
    parser.add_argument("--points", type=int, default=10_000_000)
    parser.add_argument("--places", nargs="*", default=["memory", "disk", "dask2"])
    parser.add_argument("--methods", nargs="*")
    parser.add_argument("--known", nargs="*", default=["labels", "pairs"])
    parser.add_argument("--limit", type=float, help="gigabytes of address space")
    args = parser.parse_args()
    if args.what in ("one", "points-one"):
        if args.limit:
            size = int(args.limit * 2**30)
            resource.setrlimit(resource.RLIMIT_AS, (size, size))
        if args.what == "one":
            folder, place, method, kind, output = args.rest
            print(json.dumps(fit_once(Path(folder), place, method, kind, Path(output))))
        else:
            print(json.dumps(points_once(Path(args.rest[0]), Path(args.rest[1]))))
        return
    if args.what == "points":
        with tempfile.TemporaryDirectory() as name:
            points = Path(name) / "points"
            build_points(args.points, points)
            took = in_process(["points-one", str(points), str(Path(name) / "graph")], args.limit)
        row = {"points": args.points, "features": 20, "neighbors": 10, "limit GB": args.limit, **took}
        print(row)
        stored.merge([row], RESULTS / "block_points.csv", ["points"])
        return
    sizes = args.edges or ([100_000_000] if args.what == "large" else [1_000_000, 10_000_000])
    methods = args.methods or (["CSP"] if args.what == "large" else list(METHODS))
    tasks = [(m, k) for m in methods for k in (["none"] if m == "NormalizedCut" else args.known)]
    for n_edges in sizes:
        compare(n_edges, tasks, args.places, args.limit)


if __name__ == "__main__":
    main()
