"""Graphs in blocks on a disk and on Dask, against the same graph in memory: labels, processor time, memory.

    python -m benchmarks.speed.blocks fits --edges 1000000 --places memory disk dask1 dask2 dask4
    python -m benchmarks.speed.blocks fits --edges 100000000 --degree 100 --limit 4 --methods PoissonLearning
    python -m benchmarks.speed.blocks fits --edges 1000000000 --degree 100 --clusters 2 --places disk ...
    python -m benchmarks.speed.blocks product --edges 1000000000 --degree 100 --clusters 2 --limit 4
    python -m benchmarks.speed.blocks parts --edges 10000000 --degree 100 --clusters 4
    python -m benchmarks.speed.blocks traffic [--edges 10000000]
    python -m benchmarks.speed.blocks points [--points 2000000] [--limit 4]

Every fit runs in a process of its own, whose processor time and peak memory are stored; with `--limit`, the
system refuses it and its workers more than so many gigabytes of data each. `--folder` keeps graphs for the
next run. The graph is made as blocks: a cluster is a ring of them, with random edges within each block and
to those 1, 2, 4, ... places away; the first blocks of neighbouring rings have edges, too. Other blocks
are copies, so a large graph is made in little time; they are read from the disk like any others.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
import zlib
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import stored
from sidecut import CSP, E2CP, Constraints, NormalizedCut, PoissonLearning, PoissonMBO
from sidecut.constraints import sample_labels
from sidecut.graphs import Graph, SparseGraph, graph_from_points
from sidecut.graphs.block_files import BLOCK_ENTRIES, written_whole
from sidecut.graphs.blocks import ARRAYS, FORMAT, VERSION, checksum, divide

RESULTS = stored.RESULTS / "speed"
METHODS = {method.__name__: method for method in (NormalizedCut, CSP, E2CP, PoissonLearning, PoissonMBO)}
#: How many labels or pairs are known.
KNOWN = {"none": 0, "labels": 100, "pairs": 1_000}
#: What a row of fits measures.
KEYS = ["edges", "degree", "clusters", "method", "known", "place", "limit GB"]


def edges_between(height: int, count: int, rng: np.random.Generator) -> sp.csr_array:
    """Return the weights between two blocks: `count` edges at every node, to others at random distances."""
    own, steps = np.arange(height), rng.choice(height - 1, count, replace=False) + 1
    columns = (own[:, None] + steps) % height
    weights = rng.uniform(0.5, 1.0, columns.shape).astype(np.float32)
    return sp.csr_array((weights.ravel(), columns.ravel(), np.arange(height + 1) * count), (height, height))


def make_graph(n_edges: int, degree: int, n_clusters: int, folder: Path) -> None:
    """Write the graph: rings of blocks."""
    ring = max(1, -(-2 * n_edges // BLOCK_ENTRIES // n_clusters))
    height = 2 * n_edges // degree // ring // n_clusters
    jumps = [2**power for power in range(10) if 2 ** (power + 1) < ring]
    rng = np.random.default_rng(0)
    count = degree // (2 * len(jumps) + 2)
    inner = edges_between(height, degree // 2 - count * len(jumps), rng)
    there = [edges_between(height, count, rng) for _ in jumps]
    onward = edges_between(height, 1, rng)
    usual = [inner + inner.T, *there, *[weights.T.tocsr() for weights in there]]
    steps = [0, *jumps, *[-jump for jump in jumps]]
    # The first block of a ring has edges to the first blocks of the next ring and of the one before.
    factors = rng.uniform(0.3, 1.0, n_clusters)
    copies: dict[bool, dict[str, np.ndarray]] = {}
    sums: dict[bool, dict[str, int]] = {}
    described, largest = [], 0.0
    with written_whole(folder) as partial:
        for number in range(ring * n_clusters):
            cluster, place = divmod(number, ring)
            near, weights = [cluster * ring + (place + step) % ring for step in steps], usual
            if is_first := place == 0:
                near = [*near, (cluster + 1) % n_clusters * ring, (cluster - 1) % n_clusters * ring]
                ends = [factors[cluster] * onward, factors[cluster - 1] * onward.T]
                weights = [*usual, *ends] if n_clusters > 2 else [*usual, sum(ends)]
                near = near[: len(weights)]
            if is_first or is_first not in copies:
                joined = sp.hstack(weights, format="csr", dtype=np.float32)
                entries = {"indptr": joined.indptr, "indices": joined.indices, "weights": joined.data}
                copies[is_first] = {kind: values.astype(ARRAYS[kind]) for kind, values in entries.items()}
                sums[is_first] = {kind: checksum(values) for kind, values in copies[is_first].items()}
                largest = max(largest, float(joined.data.max()))
            nodes = (np.array(near)[:, None] * height + np.arange(height)).ravel()
            name = f"block-{number:05d}"
            (partial / name).mkdir()
            for kind, values in {**copies[is_first], "nodes": nodes}.items():
                values.tofile(partial / name / kind)
            described.append(
                {
                    "folder": name,
                    "n_rows": height,
                    "n_ghosts": nodes.size - height,
                    "n_entries": copies[is_first]["weights"].size,
                    "crc32": {**sums[is_first], "nodes": checksum(nodes)},
                }
            )
        meta = {
            "format": FORMAT,
            "version": VERSION,
            "n_nodes": height * ring * n_clusters,
            "n_entries": sum(block["n_entries"] for block in described),
            "largest_weight": largest,
            "recall": None,
            "blocks": described,
        }
        (partial / "meta.json").write_text(json.dumps(meta), encoding="utf-8")


def truth(n_nodes: int, n_clusters: int) -> np.ndarray:
    """Return the cluster of every node."""
    return np.arange(n_nodes) // (n_nodes // n_clusters)


def knowledge(y: np.ndarray, kind: str) -> Constraints | None:
    """Return what is known of the nodes."""
    if kind == "labels":
        return sample_labels(y, KNOWN[kind], random_state=0)
    if kind == "none":
        return None
    pairs = np.random.default_rng(1).integers(0, y.size, (KNOWN[kind], 2))
    together = y[pairs[:, 0]] == y[pairs[:, 1]]
    return Constraints.from_pairs(y.size, must_link=pairs[together], cannot_link=pairs[~together])


def peak() -> float:
    """Return the most memory this process has had, in GB."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return round(int(status.split("VmHWM:")[1].split()[0]) / 2**20, 2)


def products(graph: Graph) -> dict[str, int]:
    """Count the products of a graph from now on, and their columns."""
    found = {"products": 0, "columns": 0}
    apply = type(graph).apply

    def counting(self: Graph, block: Any) -> Any:
        found["products"] += 1
        found["columns"] += block.size // self.n_nodes
        return apply(self, block)

    type(graph).apply = counting  # type: ignore[method-assign]
    return found


def fit_once(args: argparse.Namespace, folder: Path, output: Path) -> dict[str, Any]:
    """Fit once, write the labels, and return what it took."""
    graph: Graph = Graph.open(folder, check=False)
    (place,), (method,), (kind,), k = args.places, args.methods, args.known, args.clusters
    counted = products(graph) if place == "disk" else {}
    if place == "memory":
        graph = SparseGraph(graph.tosparse())
    y = truth(graph.n_nodes, k)
    # The guard would keep the plain cut on a graph as clear as this, and the method would not run.
    unguarded = {} if method == "NormalizedCut" else {"safe": False}
    model = METHODS[method](k, affinity="precomputed", random_state=0, **unguarded)
    known = knowledge(y, kind)
    client, on_workers = None, {}
    if n_workers := int(place.removeprefix("dask")) if place.startswith("dask") else 0:
        from distributed import Client, LocalCluster

        import sidecut.distributed as dask

        cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0")
        client = Client(cluster)
        client.run(lambda: __import__("sidecut.distributed.graphs").CSP)
        used = sum(client.run(time.process_time).values())
    before, start = time.process_time(), time.perf_counter()
    with warnings.catch_warnings(action="ignore"):
        if client is None:
            model.fit(graph, constraints=known)
        else:
            dask.fit(model, graph, constraints=known, client=client)
    took = {"processor seconds": time.process_time() - before, "seconds": time.perf_counter() - start}
    if client is not None:
        on_workers = {"peak GB of a worker": max(client.run(peak).values())}
        took["processor seconds"] += sum(client.run(time.process_time).values()) - used
        client.close()
        cluster.close()
    np.save(output, model.labels_.astype(np.int8))
    bits = zlib.crc32(np.ascontiguousarray(model.confidence_).view(np.uint8), zlib.crc32(model.labels_))
    return {
        **{name: round(value, 1) for name, value in took.items()},
        "peak GB": peak(),
        **on_workers,
        **counted,
        "bits": f"{bits:08x}",
        "share right": same_partition(y, model.labels_),
    }


def product_once(args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Return what the parts of a fit take: degrees, connected components, and products of some vectors."""
    graph = Graph.open(folder, check=False)
    block = np.random.default_rng(0).random((graph.n_nodes, args.columns), dtype=np.float32)
    found: dict[str, Any] = {"nodes": graph.n_nodes, "columns": args.columns}
    steps = {
        "degrees": lambda: graph.degrees,
        "components": lambda: graph.components,
        "product": lambda: graph.apply(block),
    }
    for name, step in steps.items():
        before, start = time.process_time(), time.perf_counter()
        step()
        found[f"{name}, processor s"] = round(time.process_time() - before, 1)
        found[f"{name}, s"] = round(time.perf_counter() - start, 1)
        print(found, file=sys.stderr, flush=True)
    return {**found, "connected": graph.n_components, "peak GB": peak()}


#: How freed memory goes back to the system: as usual, at once as Dask sets it for its workers, hardly ever.
ALLOCATORS = {
    "as usual": {},
    "at once, as on Dask": {"MALLOC_TRIM_THRESHOLD_": "65536"},
    "hardly ever": {"MALLOC_TRIM_THRESHOLD_": "1073741824", "MALLOC_MMAP_THRESHOLD_": "33554432"},
}


def parts_once(args: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Return what a product takes in memory, on the disk and in four parts, all in this process."""
    from sidecut.distributed.graphs import load_parts, multiply_parts

    graph, numbers = Graph.open(folder, check=False), (0, 1, 2, 3)
    before = time.process_time()
    parts = load_parts(divide(graph.blocks, len(numbers)), numbers)
    opened = time.process_time() - before
    block = np.random.default_rng(0).random((graph.n_nodes, args.columns))
    rows = [block[part.nodes[: part.n_rows]] for part in parts]
    scales = [np.ones(len(some)) for some in rows]
    memory = graph.tosparse()
    places = {
        "memory": lambda: memory @ block,
        "disk": lambda: graph.apply(block),
        "parts": lambda: multiply_parts(numbers, parts, rows, [], scales, 1),
    }
    found: dict[str, Any] = {"columns": args.columns, "parts opened, processor s": round(opened, 2)}
    for place, product in places.items():
        product()
        before = time.process_time()
        for _ in range(3):
            product()
        found[f"{place}, processor s"] = round((time.process_time() - before) / 3, 3)
    return found


def traffic(graph: Any, n_columns: int, n_products: int = 10) -> dict[str, Any]:
    """Return the bytes that workers receive from each other in a product, and those of the forecast."""
    from distributed import Client, LocalCluster

    from sidecut.distributed.graphs import on_cluster

    def received(dask_worker: Any) -> int:
        return sum(entry["total"] for entry in dask_worker.transfer_incoming_log)

    block = np.random.default_rng(0).normal(size=(graph.n_nodes, n_columns)).astype(np.float32)
    with (
        LocalCluster(n_workers=4, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
        on_cluster(graph, client) as there,
    ):
        before = {}

        def multiply(placed: Any) -> Any:
            for number in range(n_products + 1):
                if number == 1:
                    client.gather(there.cluster.each(len, placed.parts))
                    before.update(client.run(received))
                placed = there.normalized.apply(placed)
            client.gather(there.cluster.each(len, placed.parts))
            return placed

        there.run(multiply, block)
        moved = sum(client.run(received).values()) - sum(before.values())
        forecast = graph.forecast(4)
    return {
        "nodes": graph.n_nodes,
        "ghosts": forecast.n_ghosts,
        "columns": n_columns,
        "forecast": forecast.traffic(n_columns),
        "received": moved // n_products,
    }


def in_process(arguments: list[str], settings: dict[str, str] | None = None) -> dict[str, Any]:
    """Run this module in a process of its own, with settings in its environment."""
    command = [sys.executable, "-m", "benchmarks.speed.blocks", *arguments]
    environment = {**os.environ, **(settings or {})}
    found = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if found.returncode:
        return {"failed": found.stderr.strip().splitlines()[-1][:200]}
    return json.loads(found.stdout.strip().splitlines()[-1])


def same_partition(one: np.ndarray, other: np.ndarray) -> float:
    """Return the share of nodes with equal labels, clusters numbered alike from either side."""
    table = np.zeros((int(one.max()) + 1, int(other.max()) + 1), dtype=np.int64)
    np.add.at(table, (one, other), 1)
    return round(float(min(table.max(axis=side).sum() for side in (0, 1)) / one.size), 7)


def made(n_edges: int, args: argparse.Namespace, folder: Path) -> tuple[Path, float]:
    """Return where a graph is, made now if it is not there, and the processor seconds that took."""
    path, start = folder / f"{n_edges}-{args.degree}-{args.clusters}", time.process_time()
    if not path.exists():
        make_graph(n_edges, args.degree, args.clusters, path)
    return path, round(time.process_time() - start, 1)


def compare(n_edges: int, args: argparse.Namespace, name: Path) -> None:
    """Store what each task takes at each place, and how far labels agree with those in memory."""
    graph = {"edges": n_edges, "degree": args.degree, "clusters": args.clusters}
    folder, _ = made(n_edges, args, name)
    for method in args.methods or METHODS:
        for kind in ["none"] if method == "NormalizedCut" else args.known:
            for place in args.places:
                output, memory = (
                    name / f"{folder.name}-{method}-{kind}-{one}.npy" for one in (place, "memory")
                )
                # The graph in memory does not fit within the limit.
                limit = 0.0 if place == "memory" else args.limit
                row = {**graph, "method": method, "known": kind, "place": place, "limit GB": limit}
                options = {"methods": method, "known": kind, "places": place, "clusters": args.clusters}
                words = [f"--{name}={value}" for name, value in {**options, "limit": limit}.items()]
                took = in_process(["one", str(folder), str(output), *words])
                if "failed" not in took:
                    labels = np.load(output)
                    if memory.exists():
                        row["same labels"] = same_partition(np.load(memory), labels)
                row |= took
                print(row, flush=True)
                stored.merge([row], RESULTS / "blocks.csv", KEYS)


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


def points_once(_: argparse.Namespace, folder: Path, graph: Path) -> dict[str, Any]:
    """Build the graph of points and return what it took."""
    start = time.perf_counter()
    built = graph_from_points(folder, graph, n_neighbors=10)
    return {
        "recall": built.recall,
        "entries": built.n_entries,
        "processor seconds": round(time.process_time(), 1),
        "seconds": round(time.perf_counter() - start, 1),
        "peak GB": peak(),
    }


#: What runs in a process of its own.
ONCE = {"one": fit_once, "product-one": product_once, "parts-one": parts_once, "points-one": points_once}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["fits", "product", "parts", "traffic", "points", *ONCE])
    parser.add_argument("rest", nargs="*", type=Path)
    parser.add_argument("--edges", type=int, nargs="*", default=[1_000_000])
    parser.add_argument("--degree", type=int, default=20)
    parser.add_argument("--clusters", type=int, default=10)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--points", type=int, default=2_000_000)
    parser.add_argument("--places", nargs="*", default=["memory", "disk", "dask2"])
    parser.add_argument("--methods", nargs="*")
    parser.add_argument("--known", nargs="*", default=["labels", "pairs"])
    parser.add_argument(
        "--limit", type=float, default=0.0, help="gigabytes of data for each process; 0 is none"
    )
    parser.add_argument("--folder", type=Path, help="where graphs are kept")
    args = parser.parse_args()
    if args.what in ONCE:
        if args.limit:
            size = int(args.limit * 2**30)
            resource.setrlimit(resource.RLIMIT_DATA, (size, size))
        print(json.dumps(ONCE[args.what](args, *args.rest)))
        return
    with nullcontext(args.folder) if args.folder else tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if args.what == "points":
            points = folder / f"points-{args.points}"
            if not points.exists():
                build_points(args.points, points)
            limit = ["--limit", str(args.limit)]
            took = in_process(["points-one", str(points), str(folder / "graph"), *limit])
            row = {"points": args.points, "features": 20, "neighbors": 10, "limit GB": args.limit, **took}
            print(row)
            stored.merge([row], RESULTS / "block_points.csv", ["points"])
        for n_edges in args.edges if args.what != "points" else []:
            if args.what == "fits":
                compare(n_edges, args, folder)
                continue
            path, took = made(n_edges, args, folder)
            if args.what == "product":
                graph = {
                    "edges": n_edges,
                    "degree": args.degree,
                    "limit GB": args.limit,
                    "made, processor s": took,
                }
                words = [f"--limit={args.limit}", f"--columns={args.columns}"]
                row = graph | in_process(["product-one", str(path), *words])
                print(row)
                stored.merge([row], RESULTS / "block_products.csv", ["edges", "columns"])
                continue
            if args.what == "parts":
                for name, settings in ALLOCATORS.items():
                    graph = {"edges": n_edges, "degree": args.degree, "freed memory goes back": name}
                    row = graph | in_process(["parts-one", str(path), f"--columns={args.columns}"], settings)
                    print(row)
                    keys = ["edges", "columns", "freed memory goes back"]
                    stored.merge([row], RESULTS / "block_parts.csv", keys)
                continue
            row = {"edges": n_edges, **traffic(Graph.open(path, check=False), 20)}
            print(row)
            stored.merge([row], RESULTS / "block_traffic.csv", ["edges", "columns"])


if __name__ == "__main__":
    main()
