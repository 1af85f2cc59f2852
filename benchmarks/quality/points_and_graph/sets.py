"""Made sets of points with a graph of them: block models with noisy words, digits with noisy features."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_digits

from benchmarks.quality.parts.shapes import blocks, citations
from sidecut.graphs import Neighbors

Made = tuple[np.ndarray, sp.csr_array, np.ndarray]


def words(y: np.ndarray, n_words: int, share: float, rng: np.random.RandomState) -> np.ndarray:
    """Return which of some words every node has: `share` more of the words of its class than of others."""
    theme = rng.randint(y.max() + 1, size=n_words)
    chance = 0.03 + share * (theme == y[:, None])
    return (rng.rand(len(y), n_words) < chance).astype(float)


def papers(share: float, mixed: float) -> Callable[[np.random.RandomState], Made]:
    """Return a maker of block models of 7 classes with words; `mixed` of the edges lead to any class."""

    def make(rng: np.random.RandomState) -> Made:
        weights, y = blocks(1_400, 7, 1, 4.0, rng, mixed=mixed)
        return words(y, 300, share, rng), weights, y

    return make


def torn_papers(rng: np.random.RandomState) -> Made:
    """Return a block model with small parts, and words."""
    weights, y = citations(1_400, 7, rng)
    return words(y, 300, 0.03, rng), weights, y


def digits(noise: float, blind: bool) -> Callable[[np.random.RandomState], Made]:
    """Return a maker of digits: the points are the upper half of the pictures, the graph of the lower half.

    Points have noise; where `blind`, edges are drawn at random instead.
    """

    def make(rng: np.random.RandomState) -> Made:
        X, y = load_digits(return_X_y=True)
        rows = rng.permutation(len(y))[:1_200]
        lower = rng.permutation(X[rows, 32:]) if blind else X[rows, 32:]
        weights = sp.csr_array(Neighbors(5, weights="binary").build(lower).tosparse())
        return X[rows, :32] + noise * rng.standard_normal((len(rows), 32)), weights, y[rows]

    return make


SETS: dict[str, Callable[[np.random.RandomState], Made]] = {
    "words and graph": papers(0.04, 0.3),
    "good words, poor graph": papers(0.08, 0.7),
    "poor words, good graph": papers(0.015, 0.15),
    "graph in parts": torn_papers,
    "digits": digits(4.0, False),
    "noisy digits": digits(12.0, False),
    "digits, graph at random": digits(2.0, True),
}
