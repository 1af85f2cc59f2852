"""The graphs, the draws of labels and of pairs: what every method is given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from sidecut.constraints import Constraints
from sidecut.datasets import load
from sidecut.graphs import Neighbors, SparseGraph

#: The shares of the classes that are kept in an unbalanced set.
UNEVEN = (1.0, 0.1, 0.3, 1.0, 0.1, 0.3, 0.6, 1.0, 0.1, 0.6)


@dataclass(frozen=True, eq=False)
class Work:
    """A graph with the truth, and what is known of it."""

    graph: SparseGraph
    truth: np.ndarray
    known: np.ndarray
    """The labels that are given away, -1 elsewhere."""
    constraints: Constraints

    @property
    def n_clusters(self) -> int:
        """The number of classes."""
        return int(self.truth.max()) + 1

    def accuracy(self, classes: np.ndarray) -> float:
        """The share of points without a given label whose class is right."""
        hidden = self.known < 0
        return float(np.mean(classes[hidden] == self.truth[hidden]))

    def classes_in_order(self) -> np.ndarray:
        """The class of cluster 0, 1, ...: as the labelled points meet them."""
        met = self.known[self.known >= 0]
        return met[np.sort(np.unique(met, return_index=True)[1])]


def neighbor_graph(name: str, data: Path | None, cache: Path) -> tuple[sp.csr_array, np.ndarray]:
    """Return the weights and classes of a data set; the graph is built once and kept in the cache."""
    cache.mkdir(parents=True, exist_ok=True)
    weights, classes = cache / f"{name}.npz", cache / f"{name}_y.npy"
    if not weights.exists():
        loaded = load(name, folder=data)
        sp.save_npz(weights, Neighbors(20).build(loaded.X.astype(float)).matrix)
        np.save(classes, loaded.y)
    return sp.csr_array(sp.load_npz(weights)), np.load(classes).astype(int)


def thin_out(weights: sp.csr_array, truth: np.ndarray) -> tuple[sp.csr_array, np.ndarray]:
    """Return the graph on a part of every class, so that classes differ in size by up to ten."""
    rng = np.random.RandomState(0)
    kept = [
        rng.choice(np.flatnonzero(truth == c), int(np.sum(truth == c) * share), replace=False)
        for c, share in enumerate(UNEVEN)
    ]
    rows = np.sort(np.concatenate(kept))
    part = sp.csr_array(weights[rows][:, rows])
    linked = part.sum(axis=1) > 0
    return sp.csr_array(part[linked][:, linked]), truth[rows][linked]


def labels_per_class(weights: sp.csr_array, truth: np.ndarray, number: int, draw: int) -> Work:
    """Give away so many labels of every class."""
    rng = np.random.RandomState(draw)
    places = [rng.choice(np.flatnonzero(truth == c), number, replace=False) for c in range(truth.max() + 1)]
    return _give_away(weights, truth, np.concatenate(places))


def labels_at_random(
    weights: sp.csr_array, truth: np.ndarray, number: int, draw: int, missing: int | None = None
) -> Work:
    """Give away labels of points drawn at random, at least one per class; of a missing class none."""
    first = labels_per_class(weights, truth, 1, draw).known
    rng = np.random.RandomState(1000 + draw)
    places = np.union1d(np.flatnonzero(first >= 0), rng.choice(len(truth), number, replace=False))
    if missing is not None:
        places = places[truth[places] != missing]
    return _give_away(weights, truth, places)


def _give_away(weights: sp.csr_array, truth: np.ndarray, places: np.ndarray) -> Work:
    known = np.full(len(truth), -1)
    known[places] = truth[places]
    return Work(SparseGraph(weights), truth, known, Constraints.from_labels(known))


def random_pairs(weights: sp.csr_array, truth: np.ndarray, number: int, draw: int) -> Work:
    """Give away whether random pairs of points are of one class."""
    pairs = np.random.RandomState(draw).randint(0, len(truth), (2 * number, 2))
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    pairs = np.random.RandomState(draw).permutation(pairs)[:number]
    together = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    constraints = Constraints.from_pairs(len(truth), pairs[together], pairs[~together])
    return Work(SparseGraph(weights), truth, np.full(len(truth), -1), constraints)
