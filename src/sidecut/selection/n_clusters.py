"""How many clusters: what is known bounds the number, the spectrum proposes, folds decide."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from sidecut.arrays import FloatArray
from sidecut.constraints import Constraints, Contraction
from sidecut.exceptions import SidecutWarning
from sidecut.graphs import Graph
from sidecut.methods import NormalizedCut
from sidecut.selection.folds import Fold, consistent
from sidecut.spectral import laplacian_eigenpairs

#: The spectrum is asked about at most so many clusters.
MOST = 15


def fewest_clusters(knowledge: Contraction) -> int:
    """Return how many clusters there are at least: components that are all apart from one another.

    The largest such set is hard to find; a set that cannot be enlarged is found greedily, starting once from
    each component, those with most cannot-links first. Of labels it is exact: the classes seen.

    Parameters
    ----------
    knowledge : Contraction
        Components of points that belong together, and which are apart.

    Examples
    --------
    >>> from sidecut import Constraints
    >>> from sidecut.selection.n_clusters import fewest_clusters
    >>> triangle = Constraints.from_pairs(9, must_link=[(0, 5)], cannot_link=[(0, 1), (1, 2), (5, 2), (2, 3)])
    >>> fewest_clusters(triangle.contracted())
    3
    """
    n = knowledge.n_components
    if n == 0:
        return 1
    ends = np.concatenate([knowledge.apart, knowledge.apart[:, ::-1]])
    apart = sparse.coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n)).tocsr()
    neighbours = [set(apart.indices[apart.indptr[i] : apart.indptr[i + 1]].tolist()) for i in range(n)]
    starts = sorted(range(n), key=lambda i: -len(neighbours[i]))
    best = 1
    for start in starts[:200]:
        if len(neighbours[start]) >= best:
            best = max(best, _clique_size(start, neighbours))
    return best


def _clique_size(start: int, neighbours: list[set[int]]) -> int:
    size, left = 1, set(neighbours[start])
    while left:
        member = max(left, key=lambda i: (len(neighbours[i] & left), -i))
        left &= neighbours[member]
        size += 1
    return size


def expected_classes(constraints: Constraints) -> int | None:
    """Return how many classes there probably are, by the labels: those seen, and those never met yet.

    Classes of which just one label is known tell of others that were missed (Chao, 1984): with f₁ classes
    seen once and f₂ seen twice, about f₁ (f₁ - 1) / (2 (f₂ + 1)) are missing. Half of them are counted: a
    class too many costs as much as one too few, and that was right most often.

    Parameters
    ----------
    constraints : Constraints
        What is known.

    Returns
    -------
    int or None
        None where no labels are known, or too few to tell: less than two for each class seen.

    Examples
    --------
    >>> from sidecut import Constraints
    >>> from sidecut.selection.n_clusters import expected_classes
    >>> expected_classes(Constraints.from_labels([0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, -1]))
    8
    """
    labels = constraints.labels
    if labels is None:
        return None
    sizes = np.bincount(labels[labels >= 0])
    if sizes.sum() < 2 * len(sizes):
        return None
    once, twice = int((sizes == 1).sum()), int((sizes == 2).sum())
    return len(sizes) + once * (once - 1) // (4 * (twice + 1))


def propose_by_gaps(eigenvalues: FloatArray, fewest: int, n_proposals: int = 3) -> list[int]:
    """Return the numbers of clusters after which the spectrum has its widest gaps, the widest first.

    Gaps are measured relative to what lies above: (λ_{k+1} - λ_k) / λ_{k+1}.

    Parameters
    ----------
    eigenvalues : array of shape (m,)
        Of the normalised Laplacian, ascending.
    fewest : int
        The smallest number that may be proposed.
    n_proposals : int, default=3
        How many.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.selection.n_clusters import propose_by_gaps
    >>> propose_by_gaps(np.array([0, 0.01, 0.02, 0.3, 0.4, 0.42]), fewest=2, n_proposals=2)
    [3, 2]
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


# The number of clusters, decided.


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
