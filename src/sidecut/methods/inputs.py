"""The front door of every method: what may be handed to fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from sidecut.constraints import Constraints
from sidecut.exceptions import ConstraintError
from sidecut.graphs import Graph, as_graph, recipe


def build_graph(estimator: BaseEstimator, X: Any) -> Graph:
    """Return the graph an estimator is to cut: that of the points X, or X itself if it is the graph.

    Parameters
    ----------
    estimator : BaseEstimator
        Its `affinity` and `n_neighbors` say how; it learns `n_features_in_`.
    X : array, sparse matrix, data frame; with affinity="precomputed" also a Graph or a networkx graph
        The data.
    """
    if isinstance(estimator.affinity, str) and estimator.affinity == "precomputed":
        return _precomputed(estimator, X)
    X = validate_data(estimator, X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=2)
    return recipe(estimator.affinity, estimator.n_neighbors).build(X)


def check_constraints(constraints: Constraints | None, n_samples: int) -> Constraints:
    """Return the constraints, or empty ones for None; refuse those made for other data.

    Raises
    ------
    ConstraintError
        If they are not a Constraints value or not for `n_samples` samples.
    """
    if constraints is None:
        return Constraints.none(n_samples)
    if not isinstance(constraints, Constraints):
        raise ConstraintError(
            f"constraints is a {type(constraints).__name__}; pairs become constraints by "
            "Constraints.from_pairs(n_samples, must_link=..., cannot_link=...), labels by "
            "Constraints.from_labels(y)."
        )
    constraints.check_matches(n_samples)
    return constraints


def check_n_clusters(n_clusters: Any, n_samples: int) -> int:
    """Return the number of clusters, or say why it cannot be one."""
    is_whole = isinstance(n_clusters, int | np.integer) and not isinstance(n_clusters, bool)
    if not is_whole or n_clusters < 1:
        raise ValueError(f"n_clusters={n_clusters!r} must be a whole number, at least 1.")
    if n_clusters > n_samples:
        raise ValueError(f"n_clusters={n_clusters} is more than the n_samples={n_samples} points there are.")
    return int(n_clusters)


def _precomputed(estimator: BaseEstimator, X: Any) -> Graph:
    is_matrix = hasattr(X, "shape") or isinstance(X, list | tuple)
    if is_matrix:
        X = validate_data(estimator, X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
    graph = as_graph(X)
    if not is_matrix:
        estimator.n_features_in_ = graph.n_nodes
    return graph
