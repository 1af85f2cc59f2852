"""Data sets that no page of speed reports on: the constants of shortcuts are set on them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.datasets import make_blobs, make_swiss_roll

Sample = tuple[np.ndarray, np.ndarray]

#: Stored sets, whole.
STORED = {"segment": "segment.npz", "scenes": "scene8_features.npz"}


def widths(n: int) -> Sample:
    """Eight clusters in twelve dimensions, the widest five times as wide as the narrowest."""
    return make_blobs(n, 12, centers=8, cluster_std=list(np.linspace(1.5, 7.5, 8)), random_state=1)


def stretched(n: int) -> Sample:
    """Seven clusters in fifteen dimensions, each stretched along directions of its own."""
    rng = np.random.default_rng(2)
    X, y = make_blobs(n, 15, centers=7, cluster_std=0.1, center_box=(-6.0, 6.0), random_state=2)
    for k in range(7):
        members = y == k
        X[members] += rng.standard_normal((members.sum(), 15)) @ (rng.standard_normal((15, 15)) * 0.9)
    return X, y


def uneven(n: int) -> Sample:
    """Nine clusters in twenty dimensions, the k-th a k-th as large as the first."""
    shares = 1.0 / np.arange(1, 10)
    sizes = (n * shares / shares.sum()).astype(int)
    sizes[0] += n - sizes.sum()
    return make_blobs(sizes.tolist(), 20, cluster_std=5.5, random_state=3)


def copies(n: int) -> Sample:
    """Every second point a copy of another, in six clusters."""
    X, y = make_blobs(n, 16, centers=6, cluster_std=5.0, random_state=4)
    X[1::2], y[1::2] = X[: n - 1 : 2], y[: n - 1 : 2]
    return X, y


def spirals(n: int) -> Sample:
    """Three spiral arms in the plane."""
    rng = np.random.default_rng(5)
    y, along = np.arange(n) % 3, np.sqrt(rng.random(n)) * 3.0 * np.pi
    turned = along + 2.0 * np.pi * y / 3.0
    X = np.column_stack([along * np.cos(turned), along * np.sin(turned)])
    return X + 0.45 * rng.standard_normal((n, 2)), y


def strips(n: int) -> Sample:
    """A Swiss roll with noise, in four strips along its length."""
    X, along = make_swiss_roll(n, noise=0.5, random_state=6)
    return X, np.digitize(along, np.quantile(along, [0.25, 0.5, 0.75]))


def shells(n: int) -> Sample:
    """Three spheres around each other in five dimensions."""
    rng = np.random.default_rng(7)
    y = np.arange(n) % 3
    X = rng.standard_normal((n, 5))
    X *= ((2.0 + 2.0 * y) / np.linalg.norm(X, axis=1))[:, None]
    return X + 0.25 * rng.standard_normal((n, 5)), y


def topics(n: int) -> Sample:
    """Texts of sixty words on twelve topics, as shares of two hundred words."""
    rng = np.random.default_rng(8)
    words = rng.dirichlet(np.full(200, 0.15), size=12)
    y = np.arange(n) % 12
    counts = np.array([rng.multinomial(60, 0.3 * words[k] + 0.7 * words.mean(axis=0)) for k in y])
    return np.sqrt(counts / 60.0), y


MADE: dict[str, Callable[[int], Sample]] = {
    made.__name__: made for made in (widths, stretched, uneven, copies, spirals, strips, shells, topics)
}


def sample(name: str, n_points: int, data: Path | None) -> Sample | None:
    """Return some points of a set and their classes; a stored set comes whole, or not at all without data."""
    if name in MADE:
        return MADE[name](n_points)
    if data is None:
        return None
    with np.load(data / STORED[name]) as file:
        X, y = file["X"].astype(np.float64), np.unique(file["y"], return_inverse=True)[1]
    X = X.reshape(len(y), -1)
    spread = X.std(axis=0)
    return X / np.where(spread > 0, spread, 1.0), y
