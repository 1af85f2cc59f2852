"""One search for nearest neighbours in a process of its own, first use included.

    python -m benchmarks.speed.search_once SEARCH SET [--data FOLDER]

Prints seconds of the wall and of the processor, and the recall at 300 points, as JSON. Everybody has one
thread. A library whose usual width of search finds less than 98 % searches again, twice as wide each time;
only the build and the search that reached it count.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import make_blobs, make_swiss_roll

from benchmarks.speed.graphs import mnist_points

Found = Iterator[np.ndarray | None]

K = 20
#: An exact search that would take too long is timed for so many points and for twice as many; the difference
#: is multiplied.
TIMED_POINTS = 1_000
RECALL_SAMPLE = 300
#: How many nodes of a small-world graph a search keeps in mind, the usual number first.
WIDTHS = (60, 120, 240, 480)
#: The recall that a library has to reach.
WANTED_RECALL = 0.98


def points(name: str, data: Path | None) -> np.ndarray:
    """Return the points of a set."""
    if name == "blobs":
        return make_blobs(20_000, 30, centers=10, cluster_std=6.0, random_state=0)[0].astype(np.float32)
    if name == "blobs, a million":
        return make_blobs(1_000_000, 20, centers=20, cluster_std=3.0, random_state=0)[0].astype(np.float32)
    if name in ("mixture", "mixture, a million"):
        return mixture(1_000_000 if "million" in name else 200_000)
    if name == "roll":
        return make_swiss_roll(200_000, noise=0.5, random_state=0)[0].astype(np.float32)
    if data is None:
        raise ValueError(f"{name!r} needs --data.")
    if name in ("mnist", "mnist, 20,000"):
        return mnist_points(data, 20_000 if "," in name else 70_000)[0]
    with np.load(data / f"{name}.npz") as file:
        X = file["X"].astype(np.float32)
    spread = X.std(axis=0)
    return X / np.where(spread > 0, spread, 1.0).astype(np.float32)


def mixture(n_points: int) -> np.ndarray:
    """Return fifty Gaussians in 20 dimensions that overlap, each with a covariance of its own."""
    rng = np.random.default_rng(0)
    component = rng.integers(50, size=n_points)
    X = np.empty((n_points, 20), dtype=np.float32)
    for each in range(50):
        members = np.flatnonzero(component == each)
        spread = rng.normal(size=(20, 20)) * np.arange(1, 21) ** -0.7
        X[members] = rng.normal(size=(members.size, 20)) @ spread.T + 3 * rng.normal(size=20)
    return X


def by_sidecut(X: np.ndarray, search: str) -> Found:
    """Return the neighbours that sidecut finds."""
    from sidecut.graphs import nearest_neighbors

    yield nearest_neighbors(X, K, search=search).indices


def by_pynndescent(X: np.ndarray) -> Found:
    """Return those of NN-descent, with its defaults."""
    from pynndescent import NNDescent

    yield NNDescent(X, n_neighbors=K + 1, random_state=0, n_jobs=1).neighbor_graph[0]


def by_hnswlib(X: np.ndarray) -> Found:
    """Return those of a small-world graph of hnswlib."""
    import hnswlib

    index = hnswlib.Index(space="l2", dim=X.shape[1])
    index.init_index(max_elements=len(X), ef_construction=100, M=16, random_seed=0)
    index.add_items(X, num_threads=1)
    yield None
    for width in WIDTHS:
        index.set_ef(width)
        yield index.knn_query(X, k=K + 1, num_threads=1)[0].astype(np.intp)


def by_usearch(X: np.ndarray) -> Found:
    """Return those of a small-world graph of usearch."""
    from usearch.index import Index

    index = Index(ndim=X.shape[1], metric="l2sq", dtype="f32", connectivity=16, expansion_add=100)
    index.add(np.arange(len(X)), X, threads=1)
    yield None
    for width in WIDTHS:
        index.expansion_search = width
        yield np.asarray(index.search(X, K + 1, threads=1).keys).astype(np.intp)


def by_faiss(X: np.ndarray) -> Found:
    """Return those of inverted lists of faiss: √n lists, of which 8 and more are searched."""
    import faiss

    faiss.omp_set_num_threads(1)
    n_lists = int(np.sqrt(len(X)))
    index = faiss.index_factory(X.shape[1], f"IVF{n_lists},Flat")
    index.train(X[np.random.default_rng(0).permutation(len(X))[: 64 * n_lists]])
    index.add(X)
    yield None
    for n_searched in (8, 16, 32, 64, 128):
        index.nprobe = n_searched
        yield index.search(X, K + 1)[1]


def by_faiss_exact(X: np.ndarray) -> Found:
    """Return those of faiss, all pairs compared in single precision."""
    import faiss

    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatL2(X.shape[1])
    index.add(X)
    yield index.search(X, K + 1)[1]


def compare_all_pairs(X: np.ndarray, n_timed: int) -> None:
    """Search the neighbours of some points exactly, as sidecut does it in many dimensions."""
    from sidecut.graphs.search import _nearest, _space

    _nearest(_space(X, "euclidean"), K, np.arange(n_timed))


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


def search(X: np.ndarray, ways: Callable[[np.ndarray], Found]) -> dict[str, float]:
    """Return the time and the recall of the first search that finds enough, or of the last."""

    def read() -> np.ndarray:
        return np.array([time.perf_counter(), time.process_time()])

    begun, built, spent, share = read(), np.zeros(2), np.zeros(2), 0.0
    for found in ways(X):
        # None comes when all is built; each search after it counts alone.
        spent = built + read() - begun
        if found is None:
            built = spent
        else:
            share = recall(X, found)
            if share >= WANTED_RECALL:
                break
        begun = read()
    return {"seconds": float(spent[0]), "processor": float(spent[1]), "recall": share}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("search", choices=[*SEARCHES, MULTIPLIED])
    parser.add_argument("set")
    parser.add_argument("--data", type=Path)
    args = parser.parse_args()
    X = np.ascontiguousarray(points(args.set, args.data))
    shape = {"points": len(X), "features": X.shape[1]}
    if args.search != MULTIPLIED:
        print(json.dumps(shape | search(X, SEARCHES[args.search])))
        return
    # Twice: what is done once for all points must not be multiplied.
    clocks = [(time.perf_counter(), time.process_time())]
    for n_timed in (TIMED_POINTS, 2 * TIMED_POINTS):
        compare_all_pairs(X, n_timed)
        clocks.append((time.perf_counter(), time.process_time()))
    few, many = np.diff(clocks, axis=0)
    seconds = few + (len(X) / TIMED_POINTS - 1) * (many - few)
    print(json.dumps(shape | {"seconds": seconds[0], "processor": seconds[1], "recall": 1.0}))


if __name__ == "__main__":
    main()
