"""How many clusters the constraints need at least, told before anything is computed."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from sidecut.arrays import IntArray
from sidecut.constraints.closure import Knowledge, contract, count_conflicts
from sidecut.constraints.links import Links
from sidecut.constraints.value import Constraints
from sidecut.exceptions import ConstraintWarning, warn

#: Constraints at least this strong are meant without reserve.
HARD = 1.0
#: A clique of cannot-links is sought from at most so many points, those with most cannot-links first.
MAX_STARTS = 200


def points_apart(constraints: Constraints) -> IntArray:
    """Return points every two of which must be in different clusters: so many clusters are needed at least.

    Labels tell the points at once, one of each class. Cliques of cannot-links are sought greedily, so a
    larger one may exist; what is found is a proof. Only constraints of strength 1 or more count.

    Parameters
    ----------
    constraints : Constraints
        What is known.

    Returns
    -------
    ndarray of int
        One point of each class, or of each end of the clique; empty where the constraints contradict each
        other.

    Examples
    --------
    >>> points_apart(Constraints.from_labels(["a", "a", None, "b", "c"])).tolist()
    [0, 3, 4]
    >>> triangle = Constraints.from_pairs(5, must_link=[(0, 1)], cannot_link=[(1, 2), (2, 4), (0, 4)])
    >>> points_apart(triangle).tolist()
    [0, 2, 4]
    """
    knowledge = _meant_without_reserve(constraints)
    if count_conflicts(knowledge):
        return np.empty(0, dtype=np.int64)
    seen = contract(knowledge)
    if not len(seen.points):
        return seen.points
    ends = np.concatenate([seen.apart, seen.apart[:, ::-1]])
    shape = (seen.n_components, seen.n_components)
    apart = sparse.csr_array((np.ones(len(ends), dtype=bool), (ends[:, 0], ends[:, 1])), shape=shape)
    clique = _largest_clique(apart)
    return np.sort(seen.points[[int(np.argmax(seen.component == component)) for component in clique]])


def warn_about_too_few_clusters(constraints: Constraints, n_clusters: int) -> None:
    """Warn if so few clusters cannot keep every class and every cannot-link apart.

    Parameters
    ----------
    constraints : Constraints
        What is known.
    n_clusters : int
        How many clusters are asked for.
    """
    words = too_few_clusters(constraints, n_clusters)
    if words:
        warn(f"{words} Ask for more clusters, or correct what is known.", ConstraintWarning)


def too_few_clusters(constraints: Constraints, n_clusters: int, names: object = None) -> str:
    """Say in a sentence why so many clusters are too few; nothing if they are enough.

    Parameters
    ----------
    constraints : Constraints
        What is known.
    n_clusters : int
        How many clusters are asked for.
    names : callable, optional
        Turns a point into what it is called; its number if not given.

    Examples
    --------
    >>> too_few_clusters(Constraints.from_labels(["a", "b", None, "c"]), 2)
    'The labels name 3 classes (a, b, c), but n_clusters=2: some classes must share a cluster.'
    >>> too_few_clusters(Constraints.from_labels(["a", "b", None, "c"]), 3)
    ''
    """
    if constraints.is_empty:
        return ""
    apart = points_apart(constraints)
    if len(apart) <= n_clusters:
        return ""
    known = constraints.known_classes
    if known is not None and all(known[point] is not None for point in apart):
        classes = _listed([str(known[point]) for point in apart])
        return (
            f"The labels name {len(apart)} classes ({classes}), but n_clusters={n_clusters}: some classes "
            "must share a cluster."
        )
    called = _listed([str(names(point)) if callable(names) else str(point) for point in apart.tolist()])
    return (
        f"The points {called} are all apart from one another by cannot-links, which takes {len(apart)} "
        f"clusters, but n_clusters={n_clusters}: some cannot-links must be violated."
    )


def _listed(names: list[str], limit: int = 8) -> str:
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def _meant_without_reserve(constraints: Constraints) -> Knowledge:
    stated = constraints._knowledge()
    groups = tuple(groups for groups in stated.groups if groups.weight >= HARD)
    return Knowledge(stated.n_samples, _hard(stated.must), _hard(stated.cannot), groups)


def _hard(links: Links) -> Links:
    strong = links.strengths >= HARD
    return links if strong.all() else Links(links.pairs[strong], links.strengths[strong])


def _largest_clique(apart: sparse.csr_array) -> IntArray:
    """Grow a clique from each of the nodes with most neighbours, taking the best connected node each time."""
    degrees = np.diff(apart.indptr)
    best: IntArray = np.argsort(-degrees, kind="stable")[:1]
    for start in np.argsort(-degrees, kind="stable")[:MAX_STARTS]:
        if degrees[start] < len(best):
            break
        clique = _grow(apart, degrees, int(start))
        best = clique if len(clique) > len(best) else best
    return np.asarray(best, dtype=np.int64)


def _grow(apart: sparse.csr_array, degrees: IntArray, start: int) -> IntArray:
    clique, candidates = [start], _neighbours(apart, start)
    while len(candidates):
        chosen = int(candidates[np.argmax(degrees[candidates])])
        clique.append(chosen)
        candidates = np.intersect1d(candidates, _neighbours(apart, chosen))
    return np.array(clique, dtype=np.int64)


def _neighbours(apart: sparse.csr_array, node: int) -> IntArray:
    return apart.indices[apart.indptr[node] : apart.indptr[node + 1]]
