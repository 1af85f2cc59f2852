"""How many clusters: by labels and clusters without one; otherwise the spectrum proposes and links decide."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidecut.checks import BoolArray, FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.constraints.closure import warn_about_too_few_clusters
from sidecut.constraints.folds import consistent
from sidecut.exceptions import SidecutWarning
from sidecut.graphs import Graph
from sidecut.methods import Layers, NormalizedCut
from sidecut.methods.guard import are_ample
from sidecut.spectral import laplacian_eigenpairs

#: The most clusters that the spectrum proposes: at least the first number, at most the second, and one for
#: this many points.
FEW_CLUSTERS, MANY_CLUSTERS, POINTS_PER_CLUSTER = 15, 150, 10
#: Where clusters come apart only at larger eigenvalues they are none.
MAX_EIGENVALUE = 0.3
#: Where the widest gap is narrower, the layers of the density are asked before the spectrum.
CLEAR_GAP = 0.1
#: Where no layer is more persistent either, and nothing is known, groups are said not to be clear. Points
#: without groups have layers of up to 0.46; groups that are apart, 0.6 and more. No label depends on it.
CLEAR_PERSISTENCE = 0.5
#: A cluster without a label counts as a class without labels if random labels would miss a cluster of its
#: size with a smaller chance than this.
MAX_CHANCE = 0.1
#: Two graphs show the same cluster if this share of the points of either are in both.
MIN_OVERLAP = 0.8
#: With fewer independent pairs the spectrum alone decides: eight labels are seven pairs.
MIN_PAIRS = 7
#: Over √n, as far as chance moves the agreement of n pairs.
CHANCE_AGREEMENT = 0.5
#: The most classes without labels that are looked for.
MAX_UNSEEN = 3


@dataclass(frozen=True, eq=False)
class NumberCurve:
    """The evidence for each number of clusters.

    Parameters
    ----------
    n_clusters : array of shape (m,)
        The numbers, from 1.
    eigengap : array of shape (m,)
        λ_{k+1} - λ_k in the spectrum of the graph: a wide gap after the k-th eigenvalue is evidence for k.
    agreement : array of shape (m,)
        How well the cut into k clusters agrees with what is known, NaN where that was not tried.
    persistence : array of shape (m,)
        The persistence of the layer of k clusters (`Layers.persistence_`), NaN where there is none. Layers
        are asked where no gap is wide.
    best : int
        The number that was chosen.
    is_clear : bool
        Whether the spectrum, a layer or what is known shows groups. If not, there may be none.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from sidecut import AutoCut
    >>> X, _ = make_blobs(300, n_features=5, centers=5, cluster_std=0.8, random_state=0)
    >>> model = AutoCut(random_state=0).fit(X)
    >>> model.n_clusters_curve_.best
    5
    >>> model.n_clusters_curve_.to_frame().query("chosen")["n_clusters"].tolist()
    [5]
    """

    n_clusters: IntArray
    eigengap: FloatArray
    agreement: FloatArray
    persistence: FloatArray
    best: int
    is_clear: bool = True

    def __repr__(self) -> str:
        """Say what was chosen, of how many."""
        return f"NumberCurve({self.best} clusters chosen of {self.n_clusters[0]} to {self.n_clusters[-1]})"

    def to_frame(self) -> Any:
        """Return the curve as a pandas frame, with a row for each number and which was chosen."""
        import pandas as pd

        return pd.DataFrame(
            {
                "n_clusters": self.n_clusters,
                "eigengap": self.eigengap,
                "agreement": self.agreement,
                "persistence": self.persistence,
                "chosen": self.n_clusters == self.best,
            }
        )


def count_unseen(graphs: Sequence[Graph], labels: IntArray, seed: int) -> int:
    """Return how many clusters are too large to be without a label, and are, in all graphs."""
    # The graphs are cut into one, two and three clusters more than there are classes with a label. Of labels
    # drawn at random, a cluster of m points has none with a chance of about exp(-m s), s the share of points
    # with a label. A cluster counts if every graph shows it: two of its kind share most of their points.
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


def measure_gaps(eigenvalues: FloatArray) -> FloatArray:
    """Return λ_{k+1} - λ_k for k = 1, 2, ...; zero beyond the eigenvalues at which clusters come apart."""
    values = np.maximum(np.asarray(eigenvalues, dtype=np.float64), 0.0)
    return np.where(values[:-1] < MAX_EIGENVALUE, np.diff(values), 0.0)


def propose_by_gaps(eigenvalues: FloatArray, fewest: int, n_proposals: int = 3) -> list[int]:
    """Return the numbers of clusters, two or more, after which the spectrum has its widest gaps."""
    gaps = measure_gaps(eigenvalues)
    counts = np.arange(1, len(gaps) + 1)
    allowed = counts >= max(fewest, 2)
    order = np.argsort(-gaps[allowed], kind="stable")
    proposals = counts[allowed][order][:n_proposals].tolist()
    return proposals or [max(fewest, 1)]


def leading_eigenvalues(graph: Graph, fewest: int, most: int, seed: int) -> FloatArray:
    """Return the smallest eigenvalues, as many as there may be clusters, and one more."""
    # They are computed in batches that double, until clusters do not come apart any more.
    limit = min(MANY_CLUSTERS, max(graph.n_nodes // POINTS_PER_CLUSTER, FEW_CLUSTERS, 2 * fewest), most)
    limit = min(limit + 1, graph.n_nodes)
    count = min(FEW_CLUSTERS + 1, limit)
    while True:
        values = laplacian_eigenpairs(graph, count, random_state=seed).values
        if count == limit or values[-1] >= MAX_EIGENVALUE:
            return values
        count = min(2 * count, limit)


def choose_n_clusters(
    graphs: Sequence[Graph], constraints: Constraints, seed: int, bounds: tuple[int, int] | None = None
) -> int:
    """Return the number of clusters, see `weigh_n_clusters`."""
    return weigh_n_clusters(graphs, constraints, seed, bounds).best


def weigh_n_clusters(
    graphs: Sequence[Graph], constraints: Constraints, seed: int, bounds: tuple[int, int] | None = None
) -> NumberCurve:
    """Return the evidence for each number of clusters within bounds, and the number that is best."""
    # Labels of two classes or more give it: classes with a label, and clusters without one that every graph
    # shows; with fewer than two labels per class, as many at least as a clear gap of the spectrum shows.
    # Otherwise the spectrum of the first graph proposes, and the proposal whose cut agrees best with the
    # constraints is taken; of cannot-links alone, the fewest clusters that agree as well. Ample constraints
    # with must-links go on from there, while agreement grows.
    least, most = bounds or (1, graphs[0].n_nodes)
    most = min(most, graphs[0].n_nodes)
    if constraints.clique_bound > most:
        warn_about_too_few_clusters(constraints, most)
    fewest = min(max(len(consistent(constraints).components.clique), least, 1), most)
    values = leading_eigenvalues(graphs[0], fewest, most, seed)
    gaps = measure_gaps(values)
    agreement = np.full(len(gaps), np.nan)
    layers: dict[int, float] = {}

    def agree(count: int) -> float:
        if count > len(agreement):
            return constraints.agreement(_cut(graphs[0], count, seed))
        if np.isnan(agreement[count - 1]):
            agreement[count - 1] = constraints.agreement(_cut(graphs[0], count, seed))
        return float(agreement[count - 1])

    best = _count_named(graphs, constraints, gaps, seed)
    is_clear = True
    if best:
        best = min(max(best, least), most)
        agree(best)
    else:
        proposals = propose_by_gaps(values, fewest)
        if gaps[1:].max(initial=0.0) < CLEAR_GAP:
            layers = _find_layers(graphs[0], seed)
            proposals.insert(0, max(layers, key=lambda count: layers[count], default=1))
        allowed = [k for k in dict.fromkeys(proposals) if fewest <= k <= most] or [fewest]
        best = allowed[0]
        is_clear = not layers or max(layers.values()) >= CLEAR_PERSISTENCE
        if constraints.n_independent_pairs >= MIN_PAIRS and len(allowed) > 1:
            is_clear = True
            best = _choose_among(sorted({*allowed, fewest} - {1}), constraints, agree)
            while constraints.n_must_link and are_ample(constraints, best + 2) and best + 2 <= most:
                # One cluster more may help only together with the next.
                more = max(best + 1, best + 2, key=agree)
                if agree(more) <= agree(best):
                    break
                best = more
    counts = np.arange(1, max(len(gaps), best) + 1)
    beyond = len(counts) - len(gaps)
    return NumberCurve(
        counts,
        np.pad(gaps, (0, beyond)),
        np.pad(agreement, (0, beyond), constant_values=np.nan),
        np.array([layers.get(count, np.nan) for count in counts.tolist()]),
        best,
        is_clear,
    )


def _choose_among(counts: list[int], constraints: Constraints, agree: Callable[[int], float]) -> int:
    """Return the number whose cut agrees best; of cannot-links alone, the first that agrees as well."""
    # More clusters satisfy cannot-links, too.
    best = max(counts, key=agree)
    if constraints.n_must_link:
        return best
    enough = agree(best) - CHANCE_AGREEMENT / np.sqrt(constraints.n_independent_pairs)
    return next(count for count in counts if agree(count) >= enough)


def _count_named(graphs: Sequence[Graph], constraints: Constraints, gaps: FloatArray, seed: int) -> int:
    """Return the number of clusters that labels tell of; 0 where they name fewer than two classes."""
    labels = np.full(1, -1) if constraints.labels is None else np.asarray(constraints.labels)
    n_labels, n_classes = int(np.count_nonzero(labels >= 0)), len(np.unique(labels[labels >= 0]))
    if n_classes < 2:
        return 0
    widest = int(np.argmax(gaps[1:])) + 2 if gaps[1:].max(initial=0.0) >= CLEAR_GAP else 0
    named = n_classes + count_unseen(graphs, labels, seed)
    return max(named, widest) if n_labels < 2 * n_classes else named


def _find_layers(graph: Graph, seed: int) -> dict[int, float]:
    """Return the number of clusters and the persistence of each layer of the density on the graph."""
    with warnings.catch_warnings(action="ignore", category=SidecutWarning):
        model = Layers(affinity="precomputed", random_state=seed).fit(graph)
    return {
        int(labels.max()) + 1: float(value)
        for labels, value in zip(model.layers_, model.persistence_, strict=True)
    }


def _cut(graph: Graph, n_clusters: int, seed: int) -> IntArray:
    model = NormalizedCut(n_clusters, affinity="precomputed", random_state=seed)
    with warnings.catch_warnings(action="ignore", category=SidecutWarning):
        return model.fit(graph).labels_
