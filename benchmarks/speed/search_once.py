"""One search for nearest neighbours in a process of its own, first use included.

    python -m benchmarks.speed.search_once SEARCH SET [--data FOLDER]

Prints seconds of the wall and of the processor, and the recall at 300 points, as JSON.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import make_blobs

from benchmarks.speed.graphs import mnist_points

K = 20
#: An exact search that would take too long is timed for so many points, and the time multiplied.
TIMED_POINTS = 1_000
RECALL_SAMPLE = 300


def points(name: str, data: Path | None) -> np.ndarray:
    """Return the points of a set."""
    if name == "blobs":
        return make_blobs(20_000, 30, centers=10, cluster_std=6.0, random_state=0)[0].astype(np.float32)
    if name == "million":
        return make_blobs(1_000_000, 20, centers=20, cluster_std=3.0, random_state=0)[0].astype(np.float32)
    if data is None:
        raise ValueError(f"{name!r} needs --data.")
    if name in ("mnist", "mnist, 20,000"):
        return mnist_points(data, 20_000 if "," in name else 70_000)[0]
    with np.load(data / f"{name}.npz") as file:
        X = file["X"].astype(np.float32)
    spread = X.std(axis=0)
    return X / np.where(spread > 0, spread, 1.0).astype(np.float32)


def by_sidecut(X: np.ndarray, search: str) -> np.ndarray:
    """Return the neighbours that sidecut finds."""
    from sidecut.graphs import nearest_neighbors

    return nearest_neighbors(X, K, search=search).indices


def by_pynndescent(X: np.ndarray) -> np.ndarray:
    """Return those of NN-descent, with its defaults."""
    from pynndescent import NNDescent

    return NNDescent(X, n_neighbors=K + 1, random_state=0).neighbor_graph[0]


def by_hnswlib(X: np.ndarray) -> np.ndarray:
    """Return those of a small-world graph of hnswlib."""
    import hnswlib

    index = hnswlib.Index(space="l2", dim=X.shape[1])
    index.init_index(max_elements=len(X), ef_construction=100, M=16, random_seed=0)
    index.set_ef(60)
    index.add_items(X)
    return index.knn_query(X, k=K + 1)[0].astype(np.intp)


def by_usearch(X: np.ndarray) -> np.ndarray:
    """Return those of a small-world graph of usearch."""
    from usearch.index import Index

    index = Index(ndim=X.shape[1], metric="l2sq", dtype="f32", connectivity=16, expansion_add=100)
    index.expansion_search = 60
    index.add(np.arange(len(X)), X)
    return np.asarray(index.search(X, K + 1).keys).astype(np.intp)


def by_faiss(X: np.ndarray) -> np.ndarray:
    """Return those of inverted lists of faiss: √n lists, of which one in 25 is searched, at least 16."""
    import faiss

    n_lists = int(np.sqrt(len(X)))
    index = faiss.index_factory(X.shape[1], f"IVF{n_lists},Flat")
    index.train(X[np.random.default_rng(0).permutation(len(X))[: 64 * n_lists]])
    index.add(X)
    index.nprobe = max(16, n_lists // 25)
    return index.search(X, K + 1)[1]


def by_faiss_exact(X: np.ndarray) -> np.ndarray:
    """Return those of faiss, all pairs compared in single precision."""
    import faiss

    index = faiss.IndexFlatL2(X.shape[1])
    index.add(X)
    return index.search(X, K + 1)[1]


def compare_all_pairs(X: np.ndarray) -> None:
    """Search the neighbours of some points exactly, as sidecut does it in many dimensions."""
    from sklearn.neighbors import NearestNeighbors

    double = X.astype(np.float64)
    NearestNeighbors(n_neighbors=K + 1, algorithm="brute", n_jobs=-1).fit(double).kneighbors(
        double[:TIMED_POINTS]
    )


MULTIPLIED = f"sidecut, exact: {TIMED_POINTS:,} points timed"
SEARCHES = {
    "sidecut": lambda X: by_sidecut(X, "auto"),
    "sidecut, exact": lambda X: by_sidecut(X, "exact"),
    "pynndescent": by_pynndescent,
    "hnswlib": by_hnswlib,
    "usearch": by_usearch,
    "faiss": by_faiss,
    "faiss, exact": by_faiss_exact,
}


def recall(X: np.ndarray, found: np.ndarray) -> float:
    """Return the share of true neighbours at some points: whoever is as near as the k-th is one."""
    chosen = np.random.default_rng(1).permutation(len(X))[:RECALL_SAMPLE]
    shares = []
    for point in chosen:
        distances = ((X - X[point]) ** 2).sum(axis=1, dtype=np.float64)
        distances[point] = np.inf
        reach = np.partition(distances, K - 1)[K - 1] * (1 + 1e-6)
        others = np.unique(found[point][(found[point] != point) & (found[point] >= 0)])
        shares.append(min(np.count_nonzero(distances[others] <= reach), K) / K)
    return float(np.mean(shares))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("search", choices=[*SEARCHES, MULTIPLIED])
    parser.add_argument("set")
    parser.add_argument("--data", type=Path)
    args = parser.parse_args()
    X = np.ascontiguousarray(points(args.set, args.data))
    shape = {"points": len(X), "features": X.shape[1]}
    wall, processor = time.perf_counter(), time.process_time()
    if args.search == MULTIPLIED:
        compare_all_pairs(X)
        times = len(X) / TIMED_POINTS
    else:
        found, times = SEARCHES[args.search](X), 1.0
    spent = {
        "seconds": times * (time.perf_counter() - wall),
        "processor": times * (time.process_time() - processor),
    }
    share = 1.0 if args.search == MULTIPLIED else recall(X, found)
    print(json.dumps(shape | spent | {"recall": share}))


if __name__ == "__main__":
    main()
