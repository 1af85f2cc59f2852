"""Everybody AutoCut is compared with: each fixed method, label spreading, a linear classifier."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sidecut
from benchmarks.label_spreading import spread
from sidecut import Constraints
from sidecut.graphs import Neighbors, SparseGraph

#: Methods as they come, on the library's usual graph.
FIXED = ("NormalizedCut", "E2CP", "CSAP", "NCSC", "CCSR", "CSP", "PoissonMBO", "PoissonLearning")
#: And some of them again on scaled features, or angles of sparse data.
ON_SCALED = FIXED
SPREADING = (0.2, 0.8, 0.99)

Fit = Callable[[], np.ndarray]


def scale(X: Any) -> Any:
    """Return scaled features; sparse data are left as they are, their angles are used instead."""
    return X if sp.issparse(X) else StandardScaler().fit_transform(X)


class Graphs:
    """The two graphs all fixed methods share, built once."""

    def __init__(self, X: Any) -> None:
        count = min(20, X.shape[0] - 1)
        self.usual: SparseGraph = Neighbors(count).build(X)
        weights = "cosine" if sp.issparse(X) else "self_tuning"
        self.scaled: SparseGraph = Neighbors(count, weights=weights).build(scale(X))


def fixed_methods(graphs: Graphs, known: Constraints, n_clusters: int) -> Iterator[tuple[str, Fit]]:
    """Yield each fixed method by name, as a function that fits it and returns its labels."""
    for name in FIXED:
        yield name, _fit(name, graphs.usual, known, n_clusters)
    for name in ON_SCALED:
        yield f"{name}, scaled", _fit(name, graphs.scaled, known, n_clusters)


def _fit(name: str, graph: SparseGraph, known: Constraints, n_clusters: int) -> Fit:
    model = getattr(sidecut, name)(n_clusters, random_state=0)
    told = None if name == "NormalizedCut" else known
    model.set_params(affinity="precomputed")
    return lambda: model.fit(graph, constraints=told).labels_


def classifiers(X: Any, graphs: Graphs, y: np.ndarray, known: Constraints) -> Iterator[tuple[str, Fit]]:
    """Yield what learns from labels alone; nothing for pairs."""
    labelled = np.flatnonzero(known.labels >= 0) if known.labels is not None else np.empty(0, dtype=int)
    if len(np.unique(y[labelled])) < 2:
        return
    partly = np.full(len(y), -1)
    partly[labelled] = y[labelled]
    for alpha in SPREADING:
        yield f"LabelSpreading, alpha {alpha}", _spread(graphs.usual, partly, alpha)
    linear = make_pipeline(StandardScaler(with_mean=not sp.issparse(X)), LogisticRegression(max_iter=2000))
    yield "logistic regression", lambda: linear.fit(X[labelled], y[labelled]).predict(X)
    forest = RandomForestClassifier(100, random_state=0)
    yield "random forest", lambda: forest.fit(X[labelled], y[labelled]).predict(X)


def _spread(graph: SparseGraph, partly: np.ndarray, alpha: float) -> Fit:
    weights = sp.csr_matrix(graph.matrix)
    return lambda: spread(weights, partly, 1000, alpha)
