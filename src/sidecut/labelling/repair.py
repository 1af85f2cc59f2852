"""Labels changed to satisfy links, and labels changed so that points with a given class keep it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linear_sum_assignment

from sidecut.checks import BoolArray, FloatArray, IntArray
from sidecut.constraints import Components, Constraints
from sidecut.constraints.groups import upper_entries
from sidecut.exceptions import ConstraintWarning, warn
from sidecut.labelling.coloring import violate_least
from sidecut.labelling.conflict_graph import ConflictGraph


@dataclass(frozen=True, eq=False)
class Repair:
    """The changes that satisfied the links.

    Parameters
    ----------
    moved : ndarray of int
        The points whose label changed, sorted.
    cost : float
        By how much the cost of the linked points grew; negative where it fell.
    cost_before : float
        What all points cost before.
    violated_before, violated : int
        How many pairs the labels violated before, and violate now; only cannot-links can be left.
    is_least : bool
        Whether it is proved that the cannot-links cannot be violated less.
    core : ndarray of shape (m, 2)
        Where cannot-links are left: pairs, among few points, that `n_clusters` clusters cannot all satisfy;
        empty where that is not proved.
    measure : str
        What the cost is: the sum of squared distances to the centres, unless a method has its own.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut import Constraints
    >>> from sidecut.labelling import satisfy_links
    >>> rows = np.array([[0.0], [0.1], [0.2], [4.0], [4.1]])
    >>> links = Constraints.from_pairs(5, must_link=[(2, 3)], cannot_link=[(0, 3)])
    >>> labels, repair = satisfy_links(np.array([0, 0, 0, 1, 1]), rows, links, 2)
    >>> labels
    array([0, 0, 1, 1, 1])
    >>> print(repair)
    1 label changed; the sum of squares grew by 14.81 from 0.025; all links are satisfied
    """

    moved: IntArray
    cost: float
    cost_before: float
    violated_before: int
    violated: int
    is_least: bool
    core: IntArray
    measure: str = "sum of squares"

    def __str__(self) -> str:
        if len(self.moved) == 0:
            changed = "no label changed"
        else:
            labels = "1 label" if len(self.moved) == 1 else f"{len(self.moved)} labels"
            # Where clusters were not at their best before, satisfying links may even help.
            went = "grew" if self.cost >= 0 else "fell"
            changed = (
                f"{labels} changed; the {self.measure} {went} by {abs(self.cost):.4g} "
                f"from {self.cost_before:.4g}"
            )
        left = "all links are satisfied" if self.violated == 0 else f"{self.violated} cannot-links are not"
        return f"{changed}; {left}"


def satisfy_links(
    labels: IntArray, rows: FloatArray, constraints: Constraints, n_clusters: int
) -> tuple[IntArray, Repair]:
    """Change as little as possible so that labels satisfy the links.

    Points joined by must-links move as one. Each such set has a cost in each cluster, the squared distances
    of its rows to the centre; sets that cannot be together get different clusters at the least total cost.
    Points that no violated link reaches, not even over other links, keep their labels.

    Parameters
    ----------
    labels : ndarray of int, shape (n_samples,)
        Labels 0 .. n_clusters-1.
    rows : ndarray of shape (n_samples, n_components)
        What was clustered.
    constraints : Constraints
        The links; every positive belief counts as a must-link, every negative one as a cannot-link.
    n_clusters : int
        The number of clusters.

    Returns
    -------
    labels : ndarray of intp
        Labels that satisfy all must-links, and the cannot-links as far as `repair` says.
    repair : Repair
        What changed, what it cost, and what could not be satisfied.

    Raises
    ------
    ConflictError
        If a chain of must-links contradicts a cannot-link.

    Warns
    -----
    ConstraintWarning
        If cannot-links remain violated, with those that make it impossible where that can be proved.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut import Constraints
    >>> from sidecut.labelling import satisfy_links
    >>> rows = np.array([[0.0], [0.1], [4.0], [4.2]])
    >>> apart = Constraints.from_pairs(4, cannot_link=[(2, 3)])
    >>> satisfy_links(np.array([0, 0, 1, 1]), rows, apart, 2)[0]
    array([0, 0, 0, 1])
    """
    labels = np.asarray(labels)
    counts = np.bincount(labels, minlength=n_clusters)
    sums = np.stack([np.bincount(labels, weights=column, minlength=n_clusters) for column in rows.T], axis=1)
    # An empty cluster gets the mean of the data as its centre: it can be chosen, but is rarely the nearest.
    means = sums / np.maximum(counts, 1)[:, None]
    centres = np.where(counts[:, None] > 0, means, rows.mean(axis=0))
    links = constraints.components
    linked = rows[links.points]
    distances = np.stack([np.square(linked - centre).sum(axis=1) for centre in centres], axis=1)
    before = float(np.square(rows - centres[labels]).sum())
    return repair_labels(labels, constraints, distances, before)


def repair_labels(
    labels: IntArray,
    constraints: Constraints,
    costs: FloatArray,
    cost_before: float,
    measure: str = "sum of squares",
) -> tuple[IntArray, Repair]:
    """Do the work of `satisfy_links` for any cost of putting a point into a cluster.

    Parameters
    ----------
    labels : ndarray of int, shape (n_samples,)
        Labels 0 .. n_clusters-1.
    constraints : Constraints
        The links.
    costs : ndarray of shape (c, n_clusters)
        What each cluster costs each of the points of ``constraints.components``.
    cost_before : float
        What the labels cost.
    measure : str, default="sum of squares"
        What the cost is called.

    Returns
    -------
    labels, repair
        As of `satisfy_links`.

    Examples
    --------
    Point 1 has to go, since point 0 would have to pay more.

    >>> import numpy as np
    >>> from sidecut import Constraints
    >>> from sidecut.labelling import repair_labels
    >>> apart = Constraints.from_pairs(3, cannot_link=[(0, 1)])
    >>> costs = np.array([[0.0, 5.0], [0.0, 2.0]])
    >>> labels, repair = repair_labels(np.zeros(3, int), apart, costs, 7.0, measure="price")
    >>> labels
    array([0, 1, 0])
    >>> print(repair)
    1 label changed; the price grew by 2 from 7; all links are satisfied
    """
    links = constraints.components
    n_clusters = costs.shape[1]
    unsettled, is_alone = _find_unsettled(labels, links), _find_lone_cliques(links)
    found = _assign(links, links.summed(costs), unsettled & ~is_alone, constraints)
    alone, core = _assign_lone_cliques(links, links.summed(costs), unsettled & is_alone)
    clusters = np.where(alone >= 0, alone, found.clusters)
    repaired = labels.astype(np.intp, copy=True)
    points, own = links.points, np.arange(len(costs))
    torn = clusters[links.component] >= 0
    repaired[points[torn]] = clusters[links.component[torn]]
    repair = Repair(
        moved=np.flatnonzero(repaired != labels),
        cost=float((costs[own, repaired[points]] - costs[own, labels[points]]).sum()),
        cost_before=cost_before,
        violated_before=_count_violated(constraints, labels),
        violated=_count_violated(constraints, repaired),
        is_least=found.is_least,
        core=np.concatenate([found.core, core]),
        measure=measure,
    )
    _warn_about_rest(repair, n_clusters)
    return repaired, repair


@dataclass(frozen=True, eq=False)
class _Assigned:
    """The cluster of each component, -1 for those that keep theirs."""

    clusters: IntArray
    is_least: bool = True
    core: IntArray = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))


def _assign(links: Components, costs: FloatArray, nodes: BoolArray, constraints: Constraints) -> _Assigned:
    """Assign some components, parts of which are connected by all kinds of cannot-links."""
    clusters = np.full(links.n_components, -1, dtype=np.int64)
    if not nodes.any():
        return _Assigned(clusters)
    # Only what is to be assigned is listed: a part has no relations to other parts.
    listed = constraints.among(links.points[nodes[links.component]]).components
    graph = ConflictGraph(listed.n_components, listed.apart)
    found = violate_least(costs[nodes], graph, listed.strengths)
    clusters[nodes] = found.clusters
    core = listed.example_pairs[np.isin(listed.apart, found.infeasible_nodes).all(axis=1)]
    return _Assigned(clusters, found.is_least, core)


def _find_lone_cliques(links: Components) -> BoolArray:
    """Return which components are single points all apart from one another, and related to no others."""
    relations = links.relations
    if relations is None:
        return np.zeros(0, dtype=bool)
    is_plain = (relations.clique >= 0) & (relations.sizes == 1) & (np.diff(relations.apart.indptr) == 0)
    own = relations.in_clique
    is_clique = np.bincount(relations.clique[own], ~is_plain[own], minlength=relations.n_cliques) == 0
    return is_plain & np.append(is_clique, False)[relations.clique]


def _assign_lone_cliques(links: Components, costs: FloatArray, nodes: BoolArray) -> tuple[IntArray, IntArray]:
    """Assign each clique by itself, at the least cost; return pairs that cannot be satisfied, too."""
    # Where a clique has more members than there are clusters, members are spread evenly: that violates least.
    clusters = np.full(links.n_components, -1, dtype=np.int64)
    pairs: list[IntArray] = [np.empty((0, 2), dtype=np.int64)]
    members = np.flatnonzero(nodes)
    if len(members) == 0 or links.relations is None:
        return clusters, pairs[0]
    clique = links.relations.clique[members]
    members, clique = members[np.argsort(clique, kind="stable")], np.sort(clique)
    point_of, n_clusters = links.points[np.unique(links.component, return_index=True)[1]], costs.shape[1]
    for some in np.split(members, np.flatnonzero(np.diff(clique)) + 1):
        rows = costs[some] - costs[some].min()
        # A further member of a cluster violates more than any costs can outweigh.
        further = (1.0 + len(some) * rows.max()) * np.arange(-(-len(some) // n_clusters))
        clusters[some] = linear_sum_assignment(np.hstack([rows + price for price in further]))[1] % n_clusters
        if len(some) > n_clusters:
            first = point_of[some[: n_clusters + 1]]
            pairs.append(first[np.column_stack(np.triu_indices(len(first), k=1))])
    return clusters, np.concatenate(pairs)


def _find_unsettled(labels: IntArray, links: Components) -> BoolArray:
    """Return the components that a violated link reaches, be it over a chain of cannot-links."""
    # The others keep their labels, even where they would cost less in another cluster: labels that were not
    # made by distances to centres need no repair for that.
    own = labels[links.points]
    label = np.empty(links.n_components, dtype=own.dtype)
    label[links.component] = own
    broken = np.bincount(links.component, own != label[links.component], links.n_components) > 0
    if links.relations is None:
        return broken
    first, second = upper_entries(links.relations.apart)[0].T
    broken[first[label[first] == label[second]]] = True
    members = links.relations.in_clique
    shared = np.column_stack([links.relations.clique[members], label[members]])
    _, place, counts = np.unique(shared, axis=0, return_inverse=True, return_counts=True)
    broken[members[counts[place.reshape(-1)] > 1]] = True
    return (np.bincount(links.parts, broken) > 0)[links.parts]


def _count_violated(constraints: Constraints, labels: IntArray) -> int:
    return round(constraints.n_pairs * (1.0 - constraints.satisfaction(labels)))


def _warn_about_rest(repair: Repair, n_clusters: int) -> None:
    if repair.violated == 0:
        return
    if len(repair.core):
        shown = ", ".join(f"({i}, {j})" for i, j in repair.core[:12].tolist())
        more = f" and {len(repair.core) - 12} more" if len(repair.core) > 12 else ""
        reason = (
            f"n_clusters={n_clusters} cannot satisfy the cannot-links {shown}{more} all at once (points "
            "joined by must-links count as one); use more clusters or drop one of them"
        )
    else:
        proved = (
            "no assignment violates fewer" if repair.is_least else "the search found no better assignment"
        )
        reason = f"{proved}; use more than n_clusters={n_clusters} clusters or drop some"
    what = "cannot-link remains" if repair.violated == 1 else "cannot-links remain"
    warn(f"{repair.violated} {what} violated: {reason}.", ConstraintWarning)


def keep_given_classes(
    labels: IntArray, constraints: Constraints, n_clusters: int, named: IntArray | None = None
) -> tuple[IntArray, IntArray]:
    """Return labels in which every point with a given class is in a cluster of that class.

    Every class is matched with a cluster of its own, so that as many labelled points as possible are in the
    cluster of their class (the Hungarian method). The other clusters are of the class that most of their
    labelled points have. A labelled point in a cluster of another class moves to the one its class is
    matched with. Where there are fewer clusters than classes, and without labels, nothing changes.

    Parameters
    ----------
    labels : array of shape (n,)
        The cluster of every point.
    constraints : Constraints
        What was given.
    n_clusters : int
        How many clusters there may be.
    named : array of shape (n,), optional
        The same clusters as found with all methods, by which classes are matched with clusters. `labels` by
        default.

    Returns
    -------
    labels : array of shape (n,)
        The clusters with what was given.
    moved : array of int
        The points that changed their cluster.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut import Constraints
    >>> from sidecut.labelling import keep_given_classes
    >>> known = Constraints.from_labels(["cat", "cat", "dog", None, "cat"])
    >>> keep_given_classes(np.array([0, 0, 1, 1, 1]), known, 2)
    (array([0, 0, 1, 1, 0]), array([4]))
    """
    given = constraints.labels
    nothing = labels, np.empty(0, dtype=np.intp)
    if given is None:
        return nothing
    points = np.flatnonzero(given >= 0)
    n_classes = len(np.unique(given[points]))
    n_clusters = max(n_clusters, int(labels.max(initial=0)) + 1)
    if not n_classes or n_classes > n_clusters:
        return nothing
    codes = np.unique(given[points], return_inverse=True)[1]
    counts = np.zeros((n_clusters, n_classes))
    np.add.at(counts, ((labels if named is None else named)[points], codes), 1)
    # A class without a cluster rather gets one without labels than one of another class.
    is_unlabelled = counts.sum(axis=1, keepdims=True) == 0
    own, matched = linear_sum_assignment(counts + 0.5 * is_unlabelled, maximize=True)
    class_of = np.where(is_unlabelled[:, 0], -1, counts.argmax(axis=1))
    class_of[own] = matched
    cluster_of = np.empty(n_classes, dtype=np.intp)
    cluster_of[matched] = own
    wrong = class_of[labels[points]] != codes
    kept = labels.copy()
    kept[points[wrong]] = cluster_of[codes[wrong]]
    return kept, points[wrong]
