"""Generated data: the four sets of CSAP's figure 5, and the moons of CSP's figures 7 and 8."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.datasets import make_circles

from sidecut.datasets import Dataset, two_moons

PER_CLASS = 200


def _dataset(name: str, parts: list[np.ndarray], words: str) -> Dataset:
    y = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    return Dataset(name, np.concatenate(parts), y, words)


def moons(seed: int) -> Dataset:
    return two_moons(2 * PER_CLASS, noise=0.2, random_state=seed)


def rings(seed: int) -> Dataset:
    X, y = make_circles(2 * PER_CLASS, noise=0.12, factor=0.5, random_state=seed)
    return Dataset("rings", X, y.astype(np.intp), "Two rings, one within the other, that touch.")


def spirals(seed: int) -> Dataset:
    rng = np.random.default_rng(seed)
    turn = np.sqrt(rng.uniform(0.05, 1, PER_CLASS)) * 3 * np.pi
    arm = np.column_stack([turn * np.cos(turn), turn * np.sin(turn)]) / (3 * np.pi)
    return _dataset("spirals", [s * arm + rng.normal(0, 0.05, arm.shape) for s in (1, -1)], "Two spirals.")


def crossed(seed: int) -> Dataset:
    """Two classes of two clouds each, on the diagonals of a square: no cut of the graph suggests them."""
    rng = np.random.default_rng(seed)
    half = PER_CLASS // 2
    corners = np.array([[1, 1], [-1, -1], [1, -1], [-1, 1]])
    clouds = [corner + rng.normal(0, 0.45, (half, 2)) for corner in corners]
    return _dataset("crossed", [np.concatenate(clouds[:2]), np.concatenate(clouds[2:])], "Crossed clouds.")


def sparse_moons(seed: int) -> Dataset:
    """CSP's figure 7: a sample of the double moon too small for spectral clustering."""
    return two_moons(100, noise=0.15, random_state=seed)


def noisy_moons(seed: int) -> Dataset:
    """CSP's figure 8: 500 points on moons amid 100 uniform ones, which belong to the nearer moon."""
    moons, rng = two_moons(500, noise=0.08, random_state=seed), np.random.default_rng(seed)
    low, high = moons.X.min(axis=0) - 0.2, moons.X.max(axis=0) + 0.2
    noise = rng.uniform(low, high, (100, 2))
    nearest = ((noise[:, None] - moons.X[None]) ** 2).sum(axis=2).argmin(axis=1)
    X, y = np.concatenate([moons.X, noise]), np.concatenate([moons.y, moons.y[nearest]])
    return Dataset("noisy_moons", X, y, "Two moons with uniform noise.")


#: By the name after "made:".
MADE: dict[str, Callable[[int], Dataset]] = {
    "moons": moons,
    "rings": rings,
    "spirals": spirals,
    "crossed": crossed,
    "sparse_moons": sparse_moons,
    "noisy_moons": noisy_moons,
}
