"""How many clusters: labels and clusters without one tell, or else the spectrum proposes and folds decide."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache

import numpy as np

from sidecut.checks import BoolArray, FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.constraints.folds import consistent
from sidecut.exceptions import SidecutWarning
from sidecut.graphs import Graph
from sidecut.methods import NormalizedCut
from sidecut.methods.guard import are_ample
from sidecut.spectral import laplacian_eigenpairs

#: The most clusters that the spectrum proposes.
MAX_CLUSTERS = 15
#: A cluster without a label counts as a class without labels if random labels would miss a cluster of its
#: size with a smaller chance than this.
MAX_CHANCE = 0.1
#: Two graphs show the same cluster if this share of the points of either are in both.
MIN_OVERLAP = 0.8
#: With fewer independent pairs the spectrum alone decides: eight labels are seven pairs.
MIN_PAIRS = 7
#: The most classes without labels that are looked for.
MAX_UNSEEN = 3


def expected_classes(constraints: Constraints) -> int | None:
    """Return how many classes there probably are, by the counts of labels: those seen, or one more.

    Classes of which just one label is known tell of others that were missed (Chao, 1984): with f₁ classes
    seen once and f₂ seen twice, about f₁ (f₁ - 1) / (2 (f₂ + 1)) are missing. One is added where that is one
    or more: so few counts do not tell how many.
    """
    labels = constraints.labels
    if labels is None:
        return None
    sizes = np.unique(labels[labels >= 0], return_counts=True)[1]
    if len(sizes) < 2 or sizes.sum() < 2 * len(sizes):
        return None
    once, twice = int((sizes == 1).sum()), int((sizes == 2).sum())
    return len(sizes) + int(once * (once - 1) >= 2 * (twice + 1))


def count_unseen(graphs: Sequence[Graph], labels: IntArray, seed: int) -> int:
    """Return how many clusters are too large to be without a label, and are, in all graphs.

    The graphs are cut into one, two and three clusters more than there are classes with a label. Of labels
    drawn at random, a cluster of m points has none with a chance of about exp(-m s), s the share of points
    with a label. A cluster counts if every graph shows it: two of its kind share most of their points.
    """
    n_classes, unseen = len(np.unique(labels[labels >= 0])), 0
    for more in range(1, min(MAX_UNSEEN, len(labels) - n_classes) + 1):
        first, *others = [_without_label(graph, labels, n_classes + more, seed) for graph in graphs]
        if sum(all(_is_among(cluster, other) for other in others) for cluster in first) >= more:
            unseen = more
    return unseen


def _without_label(graph: Graph, labels: IntArray, n_clusters: int, seed: int) -> list[BoolArray]:
    """Return the clusters that have no label, and would hardly be without one by chance."""
    clusters = _cut(graph, n_clusters, seed)
    members = [clusters == number for number in range(clusters.max() + 1)]
    share = float((labels >= 0).mean())
    return [
        points
        for points in members
        if (labels[points] < 0).all() and np.exp(-share * points.sum()) < MAX_CHANCE
    ]


def _is_among(cluster: BoolArray, others: list[BoolArray]) -> bool:
    """Return whether one of the others has nearly the same points: in common, of those of either."""
    return any((cluster & other).sum() >= MIN_OVERLAP * (cluster | other).sum() for other in others)


def propose_by_gaps(eigenvalues: FloatArray, fewest: int, n_proposals: int = 3) -> list[int]:
    """Return the numbers of clusters after which the spectrum has its widest gaps, the widest first.

    Gaps are measured relative to what lies above: (λ_{k+1} - λ_k) / λ_{k+1}.
    """
    values = np.maximum(np.asarray(eigenvalues, dtype=np.float64), 0.0)
    above = np.maximum(values[1:], np.finfo(float).tiny)
    gaps = (values[1:] - values[:-1]) / above
    counts = np.arange(1, len(values))
    # The null space of a graph in pieces has no gaps of its own.
    gaps[values[1:] < 1e-9] = 0.0
    allowed = counts >= max(fewest, 2)
    order = np.argsort(-gaps[allowed], kind="stable")
    proposals = counts[allowed][order][:n_proposals].tolist()
    return proposals or [max(fewest, 1)]


def choose_n_clusters(graphs: Sequence[Graph], constraints: Constraints, seed: int) -> int:
    """Return the number of clusters.

    Labels give it where each class has two in the mean: classes with a label, and clusters without one that
    every graph shows. Otherwise the spectrum of the first graph proposes, and the proposal whose cut agrees
    best with the constraints is taken. Ample constraints go on from there, while agreement grows.
    """
    by_labels = expected_classes(constraints)
    if by_labels is not None and constraints.labels is not None:
        labels = np.asarray(constraints.labels)
        unseen = count_unseen(graphs, labels, seed)
        seen = len(np.unique(labels[labels >= 0]))
        return min(max(by_labels, seen + unseen), graphs[0].n_nodes)
    fewest = max(len(consistent(constraints).components.clique), 1)
    n_values = min(max(MAX_CLUSTERS, 2 * fewest) + 1, graphs[0].n_nodes)
    proposals = propose_by_gaps(laplacian_eigenpairs(graphs[0], n_values, random_state=seed).values, fewest)
    if constraints.n_independent_pairs < MIN_PAIRS or len(proposals) == 1:
        return min(proposals[0], graphs[0].n_nodes)

    @cache
    def agreement(count: int) -> float:
        return constraints.agreement(_cut(graphs[0], count, seed))

    best = max(sorted({*proposals, fewest} - {1}), key=agreement)
    while are_ample(constraints, best + 2) and best + 2 <= graphs[0].n_nodes:
        # One cluster more may help only together with the next.
        more = max(best + 1, best + 2, key=agreement)
        if agreement(more) <= agreement(best):
            break
        best = more
    return best


def _cut(graph: Graph, n_clusters: int, seed: int) -> IntArray:
    model = NormalizedCut(n_clusters, affinity="precomputed", random_state=seed)
    with warnings.catch_warnings(action="ignore", category=SidecutWarning):
        return model.fit(graph).labels_
