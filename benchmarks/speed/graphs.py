"""The graphs that speed is measured on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.datasets import make_blobs, make_moons

from sidecut.graphs import Neighbors, SparseGraph

#: Clusters per family of graphs.
N_CLUSTERS = {"mnist": 10, "blobs": 10, "moons": 3}


def graph(family: str, n_points: int, data: Path | None) -> SparseGraph:
    """Return a k-NN graph: MNIST, overlapping blobs in 30 dimensions, or moons with no gap to speak of.

    Parameters
    ----------
    family : {"mnist", "blobs", "moons"}
        Which.
    n_points : int
        How many points.
    data : Path or None
        The folder that holds mnist.npz.
    """
    if family == "blobs":
        return Neighbors(10).build(make_blobs(n_points, 30, centers=10, cluster_std=6.0, random_state=0)[0])
    if family == "moons":
        return Neighbors(10).build(make_moons(n_points, noise=0.1, random_state=0)[0])
    if data is None:
        raise ValueError("family='mnist' needs the folder of mnist.npz: pass --data.")
    return mnist(data, n_points)[0]


def mnist(data: Path, n_points: int) -> tuple[SparseGraph, np.ndarray]:
    """Return the 20-nearest-neighbour graph of the first points of MNIST, shuffled once, and the digits."""
    X, y = mnist_points(data, n_points)
    return Neighbors(20).build(X), y


def mnist_points(data: Path, n_points: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the first points of MNIST, shuffled once, and the digits."""
    with np.load(data / "mnist.npz") as file:
        X, y = file["X"], file["y"]
    chosen = np.random.default_rng(0).permutation(len(X))[:n_points]
    return X[chosen].astype(np.float32), y[chosen]
