"""The work that everybody is given: points, a graph, pairs and a few labels, written once to a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, make_moons
from sklearn.neighbors import kneighbors_graph

from sidecut.constraints import sample_labels, sample_pairs

N_PAIRS = 200
#: 20 labels say as much as 190 pairs do: as near to 200 as labels come.
N_LABELS = 20
N_NEIGHBORS = 10
#: How many points of MNIST, where its folder is given.
N_MNIST = 5_000


def points(data: str, folder: Path | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the points and classes of "digits", "moons" or, from a folder that holds mnist.npz, "mnist"."""
    if data == "digits":
        return load_digits(return_X_y=True)
    if data == "moons":
        return make_moons(2_000, noise=0.1, random_state=0)
    if data != "mnist" or folder is None:
        raise ValueError(f"data={data!r} is not known: choose digits, moons, or mnist with --data FOLDER.")
    with np.load(folder / "mnist.npz") as file:
        X, y = file["X"], file["y"]
    chosen = np.random.default_rng(0).permutation(len(X))[:N_MNIST]
    return X[chosen].astype(float), y[chosen].astype(int)


def arrays(X: np.ndarray, y: np.ndarray, draw: int) -> dict[str, np.ndarray]:
    """Return what a peer is told in one draw.

    The graph is the one scikit-learn's ``SpectralClustering(affinity="nearest_neighbors")`` makes by default.
    """
    directed = kneighbors_graph(X, N_NEIGHBORS, include_self=True)
    graph = (0.5 * (directed + directed.T)).tocsr()
    known = sample_pairs(y, N_PAIRS, random_state=draw)
    told = sample_labels(y, N_LABELS, random_state=draw).labels
    return {
        "X": X,
        "y": y,
        "n_clusters": np.array(len(np.unique(y))),
        "must_link": known.must_link,
        "cannot_link": known.cannot_link,
        "told": np.where(told >= 0, y, -1),
        "graph_data": graph.data,
        "graph_indices": graph.indices.astype(np.int32),
        "graph_indptr": graph.indptr.astype(np.int32),
    }


def written(cache: Path, data: str, draw: int, folder: Path | None = None) -> Path:
    """Write the work of one draw where it is not there yet, and return the file."""
    path = cache / "work" / f"{data}-{draw}.npz"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, **arrays(*points(data, folder), draw))
    return path
