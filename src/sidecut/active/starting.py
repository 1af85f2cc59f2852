"""What a run may start from: points or a graph, and what is known about them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from sidecut.active.records import Answer
from sidecut.constraints import Constraints
from sidecut.graphs import Graph, recipe
from sidecut.methods.inputs import check_constraints, check_data, n_points
from sidecut.parameters import check_n_clusters


def check_start(
    run: BaseEstimator, X: Any, constraints: Constraints | None
) -> tuple[Any, Graph, Constraints]:
    """Return the points (or the graph), the graph, and what is known; refuse what makes no sense."""
    if not 0.5 < run.reliability <= 1.0:
        raise ValueError(f"reliability={run.reliability!r} must be above 0.5 (a guess), up to 1 (certain).")
    data = check_data(run, X)
    known = check_constraints(constraints, n_points(data))
    if run.n_clusters is not None:
        check_n_clusters(run.n_clusters, n_points(data))
    graph = data
    if not isinstance(data, Graph):
        graph = recipe(run.affinity, min(run.n_neighbors, n_points(data) - 1)).build(data)
    if graph.matrix is None:
        raise ValueError(
            f"affinity={run.affinity!r} makes a graph that is too large to write down; use 'knn', or a "
            "recipe such as Neighbors(10)."
        )
    return data, graph, known


def as_features(data: Any) -> Any:
    """Return the points, or None where only their graph is known."""
    return None if isinstance(data, Graph) else data


def as_answers(known: Constraints) -> list[Answer]:
    """Return constraints as answers: chains of must-links, and one cannot-link for any two groups.

    A belief of strength s below 1 is an answer with confidence (1 + |s|) / 2.

    Examples
    --------
    >>> from sidecut.constraints import Constraints
    >>> from sidecut.active.starting import as_answers
    >>> [(a.i, a.j, a.same) for a in as_answers(Constraints.from_labels([5, 5, 5, 7, 7, None]))]
    [(0, 1, True), (1, 2, True), (3, 4, True), (0, 3, False)]
    """
    pairs, strengths = known.pairs, known.strengths
    confidences = np.minimum(1.0, (1.0 + np.abs(strengths)) / 2.0)
    firm = confidences >= 1.0
    answers = [
        Answer(int(i), int(j), bool(s > 0), float(c), strategy="given")
        for (i, j), s, c in zip(pairs[~firm], strengths[~firm], confidences[~firm], strict=True)
    ]
    return _firm_answers(known.n_samples, pairs[firm], strengths[firm]) + answers


def _firm_answers(n_samples: int, pairs: np.ndarray, strengths: np.ndarray) -> list[Answer]:
    firm = Constraints.from_pairs(n_samples, pairs[strengths > 0], pairs[strengths < 0])
    component = firm.must_link_components()
    order = np.argsort(component, kind="stable")
    linked = component[order[1:]] == component[order[:-1]]
    chains = [(int(a), int(b)) for a, b in zip(order[:-1][linked], order[1:][linked], strict=True)]
    first = np.full(component.max(initial=-1) + 1, n_samples)
    np.minimum.at(first, component, np.arange(n_samples))
    apart = np.unique(np.sort(first[component[firm.cannot_link]].reshape(-1, 2), axis=1), axis=0)
    together = [Answer(a, b, True, strategy="given") for a, b in chains]
    return together + [Answer(int(a), int(b), False, strategy="given") for a, b in apart]
