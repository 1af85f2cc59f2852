"""Accuracy of every method on every shape, and what it keeps of what is given."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

import sidecut
from benchmarks.quality.parts.shapes import SHAPES, draw_labels
from sidecut import Constraints

METHODS = (
    "CSP", "E2CP", "CSAP", "NCSC", "LCSC", "CCSR", "SSKK", "SpectralLearning",
    "PoissonLearning", "PoissonMBO", "AutoCut",
)  # fmt: skip
ALPHAS = (0.2, 0.5, 0.8, 0.9, 0.99)


def spread_best(weights: sp.csr_array, known: np.ndarray, y: np.ndarray) -> float:
    """Return the accuracy of label spreading at its best α."""
    degrees = np.asarray(weights.sum(axis=1)).ravel()
    scale = sp.diags_array(np.divide(1.0, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0))
    affinity = sp.csr_array(scale @ weights @ scale)
    start = (known[:, None] == np.arange(y.max() + 1)).astype(float)
    hidden = known < 0
    best = 0.0
    for alpha in ALPHAS:
        scores = start.copy()
        for _ in range(300):
            scores = alpha * (affinity @ scores) + (1 - alpha) * start
        best = max(best, float(np.mean(scores.argmax(axis=1)[hidden] == y[hidden])))
    return best


def score(labels: np.ndarray, known: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Return the accuracy at hidden nodes and the share of given labels that are kept."""
    with warnings.catch_warnings(action="ignore"):
        names = Constraints.from_labels(known).name_clusters(labels)
    common = int(np.bincount(known[known >= 0]).argmax())
    found = np.array([names.get(int(label), common) for label in labels])
    hidden = known < 0
    return float(np.mean(found[hidden] == y[hidden])), float(np.mean(found[~hidden] == known[~hidden]))


def measure(
    n: int,
    k: int,
    per_class: int,
    n_draws: int,
    methods: tuple[str, ...] = METHODS,
    shapes: tuple[str, ...] = tuple(SHAPES),
    split_parts: bool = True,
) -> Iterator[dict[str, Any]]:
    """Yield a row per shape, draw and method."""
    for shape in shapes:
        for draw in range(n_draws):
            rng = np.random.RandomState(draw)
            weights, y = SHAPES[shape](n, k, rng)
            known = draw_labels(y, per_class, rng)
            base = {"shape": shape, "draw": draw}
            spread = spread_best(weights, known, y)
            yield {**base, "method": "LabelSpreading", "accuracy": spread, "kept": 1.0, "seconds": np.nan}
            for method in methods:
                start = time.process_time()
                model = make(method, int(y.max()) + 1, split_parts)
                with warnings.catch_warnings(action="ignore"):
                    labels = model.fit(weights, constraints=Constraints.from_labels(known)).labels_
                seconds = time.process_time() - start
                accuracy, kept = score(labels, known, y)
                yield {**base, "method": method, "accuracy": accuracy, "kept": kept, "seconds": seconds}


def make(method: str, n_clusters: int, split_parts: bool) -> Any:
    """Return a method for a graph that is given; AutoCut chooses among methods with the same setting."""
    settings: dict[str, Any] = {"affinity": "precomputed", "random_state": 0}
    if method != "AutoCut":
        settings["split_parts"] = split_parts
    elif not split_parts:
        settings["candidates"] = {
            name: getattr(sidecut, name)(split_parts=False) for name in ("E2CP", "CCSR")
        }
    return getattr(sidecut, method)(n_clusters, **settings)
