"""The number of clusters, decided."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from sidecut.constraints import Constraints
from sidecut.exceptions import SidecutWarning
from sidecut.graphs import Graph
from sidecut.methods import NormalizedCut
from sidecut.selection.folds import Fold
from sidecut.selection.knowledge import consistent
from sidecut.selection.n_clusters import MOST, expected_classes, fewest_clusters, propose_by_gaps
from sidecut.spectral import laplacian_eigenpairs


def choose_n_clusters(
    data: Any, constraints: Constraints, folds: list[Fold], affinity: Any, seed: int
) -> int:
    """Return the number of clusters.

    Labels say it themselves where each class was met twice in the mean. Otherwise the spectrum of the graph
    proposes, and the proposal whose unconstrained cut agrees best with what is known is taken.

    Parameters
    ----------
    data : array, sparse matrix or Graph
        The points.
    constraints : Constraints
        What is known about them.
    folds : list of Fold
        Splits of the constraints.
    affinity : GraphRecipe or "precomputed"
        The graph whose spectrum is asked.
    seed : int
        The random state.
    """
    by_labels = expected_classes(constraints)
    graph = data if isinstance(data, Graph) else affinity.build(data)
    if by_labels is not None:
        return min(by_labels, graph.n_nodes)
    fewest = fewest_clusters(consistent(constraints).contracted())
    n_values = min(max(MOST, 2 * fewest) + 1, graph.n_nodes)
    values = laplacian_eigenpairs(graph, n_values, random_state=seed).values
    proposals = propose_by_gaps(values, fewest)
    if not folds or len(proposals) == 1:
        return min(proposals[0], graph.n_nodes)
    proposals = sorted({*proposals, fewest} - {1})
    scores = [_agreement(graph, count, folds, seed) for count in proposals]
    return proposals[int(np.argmax(scores))]


def _agreement(graph: Graph, n_clusters: int, folds: list[Fold], seed: int) -> float:
    model = NormalizedCut(n_clusters, affinity="precomputed", random_state=seed)
    with warnings.catch_warnings(action="ignore", category=SidecutWarning):
        labels = model.fit(graph).labels_
    counts = [fold.count(labels) for fold in folds]
    return sum(counts[1:], start=counts[0]).rand_beyond_chance
