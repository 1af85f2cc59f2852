"""Old and new points together: who joins, what is new, and what has to change.

A cluster is kept unless there is evidence against it, and all evidence is local. New points are linked to the
old ones, and the chance that a walk from each ends in each cluster is a small problem (Zhu, Ghahramani &
Lafferty, 2003). Old points hear of it only where new ones have become their neighbours.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.stats import hypergeom

from sidecut.checks import BoolArray, FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.labelling import repair_labels
from sidecut.labelling.confidence import compare_with_other
from sidecut.lasting.novelty import has_drifted, points_of_a_new_class

#: A group of new points founds a cluster if it holds together more than any group of as many random points of
#: the same clusters, in this many draws: where nothing is new, that happens once in a hundred updates.
N_DRAWS = 99
#: A group of fewer founds none.
MIN_FOUNDERS = 8
#: A new point is a stranger if it has less weight to old points than all but this share of them.
STRANGE = 0.05
#: Strangers found a cluster if chance makes as many of them in one of a hundred updates.
CHANCE = 0.01
#: They join another cluster founded just now if they are linked to its points this much at least, as a share
#: of how much they are linked to each other.
UNITING = 0.5
#: Others join it as long as this share of them at most is wrong.
MAX_WRONG = 0.1
#: An old point moves if this share of its weight leads into another cluster, and did not before.
MOVING_SHARE = 0.75
#: At this confidence another cluster is two thirds as likely.
DOUBT = 0.6
#: What leaving its cluster costs an old point when links are repaired: the logarithm of a chance.
ATTACHMENT = 2.0
N_STEPS = 30
#: What may happen, in the order of the table.
KINDS = ("moved", "joined", "doubtful", "strange", "new", "split", "merged", "dissolved")


@dataclass(frozen=True, eq=False)
class Before:
    """What there was before new points came.

    Parameters
    ----------
    labels : array of shape (n_old,)
        The cluster of every old point.
    confidence : array of shape (n_old,)
        How sure each is.
    classes : dict of int to object
        What clusters are called.
    n_clusters : int
        How many there are; numbers that were given once are not given again.
    """

    labels: IntArray
    confidence: FloatArray
    classes: dict[int, Any]
    n_clusters: int


@dataclass(eq=False)
class _State:
    """Labels on their way, and what was changed."""

    labels: IntArray
    weights: sp.csr_array
    n_old: int
    n_clusters: int
    classes: dict[int, Any]
    rows: list[Change] = field(default_factory=list)
    #: Why new clusters were founded.
    reasons: dict[int, str] = field(default_factory=dict)
    #: Points whose class is known, which nothing moves any more.
    settled: BoolArray = field(default_factory=lambda: np.zeros(0, dtype=bool))

    def shares(self, points: IntArray, n_columns: int | None = None) -> FloatArray:
        """Return the share of the weight of some points that leads into each cluster."""
        count = self.n_clusters if n_columns is None else n_columns
        return _shares(self.weights[points], self.labels, count)

    def found(self) -> int:
        """Return the number of a new cluster."""
        self.n_clusters += 1
        return self.n_clusters - 1

    def move(self, points: IntArray, cluster: int, why: str, kind: str = "moved") -> None:
        """Put old points into a cluster, and note it, by the clusters they come from."""
        old = points[points < self.n_old]
        for source in np.unique(self.labels[old]).tolist():
            some = old[self.labels[old] == source]
            if source != cluster:
                self.rows.append(Change(kind, some, source, cluster, why))
        self.labels[points] = cluster


def place(
    before: Before,
    weights: sp.csr_array,
    known: Constraints,
    stated: Constraints,
    exact_matches: IntArray | None = None,
    to_old: FloatArray | None = None,
    points: tuple[Any, Any] | None = None,
) -> tuple[IntArray, FloatArray, Changes]:
    """Return labels of old and new points, how sure they are, and what changed.

    Parameters
    ----------
    before : Before
        The clusters of the first points.
    weights : csr_array of shape (n, n)
        The graph of old and new points, the old ones first.
    known : Constraints
        All that is known of all points: the classes of labels have their clusters.
    stated : Constraints
        What was said with the new points; it is followed.
    exact_matches : array of shape (n_new,), optional
        For each new point an old one it equals, whose cluster it has; -1 for none.
    to_old : array of shape (n_new,), optional
        The weight each new point would have to old ones if it came alone; strangers have little.
    points : tuple of two arrays, optional
        Old and new points: a class may lie among old points, and on one side of a plane through them.

    Returns
    -------
    labels, confidence : array of shape (n,)
        The cluster of every point, and how sure it is.
    changes : Changes
        What changed, and why.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from sidecut import Constraints
    >>> from sidecut.lasting import Before, place
    >>> path = sp.csr_array(np.diag([1.0, 0.1, 1.0, 1.0], 1) + np.diag([1.0, 0.1, 1.0, 1.0], -1))
    >>> before = Before(np.array([0, 0, 1, 1]), np.ones(4), {}, 2)
    >>> labels, confidence, changes = place(before, path, Constraints.none(5), Constraints.none(5))
    >>> labels
    array([0, 0, 1, 1, 1])
    """
    n_old, n = len(before.labels), weights.shape[0]
    labels = np.concatenate([before.labels, np.full(n - n_old, -1)]).astype(np.intp)
    state = _State(labels, weights, n_old, before.n_clusters, dict(before.classes))
    state.settled = np.zeros(n, dtype=bool)
    if exact_matches is not None:
        same = np.flatnonzero(exact_matches >= 0)
        state.labels[n_old + same], state.settled[n_old + same] = labels[exact_matches[same]], True
    _join(state)
    _found(state)
    if to_old is not None:
        _join(state)
        _found_strangers(state, to_old)
    if points is not None:
        _join(state)
        _found_beyond_a_plane(state, *points)
    _follow_classes(state, known, stated)
    chances = _join(state)
    _move_old(state)
    _follow_links(state, stated, chances)
    _merge(state, before)
    confidence = np.append(before.confidence, np.ones(n - n_old))
    touched = np.union1d(np.flatnonzero(np.diff(weights[:n_old, n_old:].indptr)), np.arange(n_old, n))
    moved = np.flatnonzero(state.labels[:n_old] != before.labels)
    touched = np.union1d(touched, moved)
    confidence[touched] = compare_with_other(state.shares(touched), state.labels[touched])
    confidence[n_old:] = compare_with_other(np.asarray(chances), state.labels[n_old:])
    _describe(state, before, confidence)
    order = {kind: place for place, kind in enumerate(("moved", "joined", "doubtful", "strange", "new"))}
    rows = sorted(state.rows, key=lambda row: order.get(row.kind, len(order)))
    return state.labels, confidence, Changes(tuple(rows), n_old, n - n_old)


def _shares(weights: sp.csr_array, labels: IntArray, n_clusters: int) -> FloatArray:
    """Return the share of each row's weight that leads into each cluster; zero rows where there is none."""
    known = labels >= 0
    ends = (np.flatnonzero(known), labels[known])
    members = sp.coo_array((np.ones(len(ends[0])), ends), shape=(len(labels), n_clusters)).tocsr()
    sums = (weights @ members).toarray()
    totals = np.asarray(weights.sum(axis=1)).ravel()
    return np.asarray(sums / np.where(totals > 0, totals, 1.0)[:, None])


def _join(state: _State) -> FloatArray:
    """Put every new point that is free where walks from it end; return the chances of all new points."""
    new = np.arange(state.n_old, len(state.labels))
    rows = state.weights[new]
    free = ~state.settled[new]
    sources = np.where(np.append(np.zeros(state.n_old, bool), free), -1, state.labels)
    arriving = _shares(rows, sources, state.n_clusters)
    totals = np.asarray(rows.sum(axis=1)).ravel()
    inner = sp.diags_array(1.0 / np.where(totals > 0, totals, 1.0)) @ rows[:, state.n_old :]
    inner = inner @ sp.diags_array(free.astype(np.float64))
    chances = arriving
    for _ in range(N_STEPS):
        chances = arriving + inner @ chances
    lost = chances.sum(axis=1) <= 0
    if lost.any():
        # No walk arrives: all that is left is what most points are in.
        sizes = np.bincount(state.labels[: state.n_old], minlength=state.n_clusters)
        chances[lost] = sizes / sizes.sum()
    chances = chances / chances.sum(axis=1, keepdims=True)
    state.labels[new[free]] = chances[free].argmax(axis=1)
    return np.asarray(chances)


def _found(state: _State) -> None:
    """Found clusters of new points that hold together more than random points of the same clusters do."""
    # Where nothing is new, the new points of a cluster are like any others of it: which of its points are new
    # can be permuted. This is the two-sample test of nearest neighbours (Schilling, 1986) with groups as its
    # statistic.
    is_new = ~state.settled & (np.arange(len(state.labels)) >= state.n_old)
    groups = [(some, apart) for some, apart in _groups(state, is_new) if len(some) >= MIN_FOUNDERS]
    most = max((apart for _, apart in groups), default=0.0)
    rng, by_chance = np.random.default_rng(0), 0.0
    for _ in range(N_DRAWS):
        if by_chance >= most:
            return
        drawn = _permuted(state.labels, is_new, rng)
        by_chance = max([by_chance, *(apart for _, apart in _groups(state, drawn))])
    n_before = state.n_clusters
    for some, apart in groups:
        if apart > by_chance:
            # They are sources from now on: the next round asks who else is near them.
            state.labels[some], state.settled[some] = state.found(), True
    _widen(state, n_before)


def _found_strangers(state: _State, to_old: FloatArray) -> None:
    """Found clusters of new points that are far from old ones, where too many are and they hold together."""
    # Where nothing is new, all orders of the weights of new and old points to old ones are equally likely, so
    # the number of new points below the r-th least of the old ones is hypergeometric. Strangers hold together
    # if more of their weight leads to each other than that of as many random old points of their cluster.
    n_old, k, rng = state.n_old, int(state.labels[: state.n_old].max()) + 1, np.random.default_rng(0)
    degrees = np.asarray(state.weights[:n_old, :n_old].sum(axis=1)).ravel()
    free = np.flatnonzero(~state.settled[n_old:])
    old = [np.flatnonzero(state.labels[:n_old] == cluster) for cluster in range(k)]
    new = [free[state.labels[n_old + free] == cluster] for cluster in range(k)]
    ranks = [max(1, int(STRANGE * (len(some) + 1))) for some in old]
    limits = [
        np.sort(degrees[some])[rank - 1] if len(some) else 0.0 for some, rank in zip(old, ranks, strict=True)
    ]
    strangers = [some[to_old[some] < limit] for some, limit in zip(new, limits, strict=True)]
    n_old_of, n_new_of, n_strange = (np.array([len(some) for some in sets]) for sets in (old, new, strangers))
    n_usual = n_new_of - n_strange
    for cluster in np.flatnonzero(n_strange >= MIN_FOUNDERS).tolist():
        count, size, came = n_strange[cluster], n_old_of[cluster], n_new_of[cluster]
        by_chance = hypergeom.sf(count - 1, size + came, came, count + ranks[cluster] - 1)
        is_drift = has_drifted(n_old_of, n_usual, cluster)
        some = n_old + strangers[cluster]
        if by_chance * k >= CHANCE:
            continue
        if is_drift or not _hold_together(state.weights, some, old[cluster], rng):
            what = "the cluster has drifted" if is_drift else "they do not hold together"
            why = f"more of them than by chance are farther from old points than these are, but {what}"
            state.rows.append(Change("strange", some, None, cluster, why))
            continue
        state.labels[some], state.settled[some] = state.found(), True
        state.reasons[state.n_clusters - 1] = (
            "they are farther from all old points than these are, and hold together"
        )


def _found_beyond_a_plane(state: _State, old: Any, new: Any) -> None:
    """Found a cluster of new points that a direction tells from old ones, if usual points came as well."""
    n_old, k = state.n_old, int(state.labels[: state.n_old].max()) + 1
    free = ~state.settled[n_old:]
    if np.count_nonzero(free) < MIN_FOUNDERS:
        return
    some = points_of_a_new_class(old, new, state.labels, free)
    if len(some) < MIN_FOUNDERS:
        return
    homes = np.bincount(state.labels[n_old + some], minlength=k)[:k]
    sizes = np.bincount(state.labels[:n_old], minlength=k)
    n_usual = np.bincount(state.labels[n_old:][free], minlength=k)[:k] - homes
    for cluster in np.flatnonzero(homes >= MIN_FOUNDERS).tolist():
        if has_drifted(sizes, n_usual, cluster):
            theirs = n_old + some[state.labels[n_old + some] == cluster]
            why = "they lie on one side of the old points, but the cluster has drifted"
            state.rows.append(Change("strange", theirs, None, cluster, why))
            return
    linked = _linked_cluster(state, n_old + some)
    if linked is None:
        linked = state.found()
        state.reasons[linked] = "they lie on one side of all old points of the clusters around them"
    state.labels[n_old + some], state.settled[n_old + some] = linked, True


def _linked_cluster(state: _State, some: IntArray) -> int | None:
    """Return the cluster founded just now that some points are linked to nearly as much as to each other."""
    labels, own = state.labels.copy(), state.n_clusters
    labels[some] = own
    sizes = np.bincount(labels, minlength=own + 1)
    sizes[np.unique(labels[: state.n_old])] = 0
    sums = _shares(state.weights[some], labels, own + 1).sum(axis=0)
    means = np.where(sizes > 0, sums / np.maximum(sizes, 1), 0.0)
    best = int(means[:own].argmax())
    return best if means[best] > 0 and means[best] >= UNITING * means[own] else None


def _hold_together(weights: sp.csr_array, some: IntArray, others: IntArray, rng: np.random.Generator) -> bool:
    """Whether more of the weight of some points stays among them than of as many others, in all draws."""

    def kept(points: IntArray) -> float:
        rows = weights[points]
        return float(rows[:, points].sum() / max(rows.sum(), np.finfo(float).tiny))

    if len(others) <= len(some):
        return False
    own = kept(some)
    return all(kept(rng.choice(others, len(some), replace=False)) < own for _ in range(N_DRAWS))


def _groups(state: _State, is_new: BoolArray) -> list[tuple[IntArray, float]]:
    """Return connected groups of points more of whose weight leads to new ones than to any cluster."""
    # With each group comes how much more that is, summed over its points.
    new, k = np.flatnonzero(is_new), state.n_clusters
    rows = state.weights[new]
    shares = _shares(rows, np.where(is_new, k, state.labels), k + 1)
    excess = shares[:, k] - shares[:, :k].max(axis=1)
    inside = excess > 0
    n_groups, part = connected_components(rows[inside][:, new[inside]], directed=False)
    sums = np.bincount(part, excess[inside], n_groups)
    return [(new[inside][part == number], float(sums[number])) for number in range(n_groups)]


def _permuted(labels: IntArray, is_new: BoolArray, rng: np.random.Generator) -> BoolArray:
    """Return as many random points of each cluster as are new in it."""
    drawn = np.zeros(len(labels), dtype=bool)
    for cluster, count in enumerate(np.bincount(labels[is_new])):
        if count:
            drawn[rng.choice(np.flatnonzero(labels == cluster), count, replace=False)] = True
    return drawn


def _widen(state: _State, n_before: int) -> None:
    """Add the new points more of whose weight leads into a new cluster than to new points of old ones."""
    # Old clusters have gathered points for longer: their shares count as far as new points come to them, too
    # (the correction of Saerens, Latinne & Decaestecker, 2002, for classes that have become more frequent).
    # Old points show how often that is wrong, since none of them is in a new cluster.
    n_old, n_of_old = state.n_old, np.bincount(state.labels[: state.n_old], minlength=n_before)
    while state.n_clusters > n_before:
        is_free = ~state.settled & (np.arange(len(state.labels)) >= n_old)
        near = is_free.copy()
        near[:n_old] = np.diff(state.weights[:n_old, n_old:].indptr) > 0
        points = np.flatnonzero(near)
        rate = np.bincount(state.labels[is_free], minlength=n_before) / np.maximum(n_of_old, 1)
        shares = _shares(state.weights[points], np.where(is_free, -1, state.labels), state.n_clusters)
        likely = shares[:, n_before:].max(axis=1) > shares[:, :n_before] @ rate
        joins = likely & (points >= n_old)
        n_wrong = rate[state.labels[points[likely & ~joins]]].sum()
        if not joins.any() or n_wrong >= MAX_WRONG * joins.sum():
            return
        state.labels[points[joins]] = n_before + shares[joins, n_before:].argmax(axis=1)
        state.settled[points[joins]] = True


def _follow_classes(state: _State, known: Constraints, stated: Constraints) -> None:
    """Put points that were labelled now into the clusters of their classes; a class without one founds it."""
    labelled, names = _classes(known)
    state.settled[labelled] = True
    cluster_of = {name: cluster for cluster, name in state.classes.items()}
    said, said_names = _classes(stated)
    for name in dict.fromkeys(said_names.tolist()):
        points = labelled[names == name]
        if name not in cluster_of:
            cluster_of[name] = _name_or_split(state, points, labelled, name)
            state.classes[cluster_of[name]] = name
        wrong = said[(said_names == name) & (state.labels[said] != cluster_of[name])]
        state.move(wrong, cluster_of[name], f"labelled {name}")


def _classes(constraints: Constraints) -> tuple[IntArray, Any]:
    """Return the points whose class is known, and the names of their classes."""
    classes = constraints.known_classes
    if classes is None:
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=object)
    labelled = np.flatnonzero([name is not None for name in classes])
    return labelled, classes[labelled]


def _name_or_split(state: _State, points: IntArray, labelled: IntArray, name: Any) -> int:
    """Return the cluster of a class that had none: one without a name that holds most of it, or a new one."""
    best = int(np.bincount(state.labels[points]).argmax())
    if best not in state.classes and 2 * np.count_nonzero(state.labels[points] == best) > len(points):
        return best
    inside = np.flatnonzero(np.isin(state.labels, np.unique(state.labels[points])))
    rivals = np.setdiff1d(labelled[np.isin(labelled, inside)], points)
    cluster, why = state.found(), f"{name} is labelled in it"
    if len(rivals):
        sides = np.full(len(inside), -1)
        sides[np.isin(inside, points)], sides[np.isin(inside, rivals)] = 1, 0
        is_near = walk_to_sources(state.weights[inside][:, inside], sides)[:, 1] > 0.5
        state.move(inside[is_near], cluster, why, kind="split")
    state.move(points, cluster, why, kind="split")
    return cluster


def walk_to_sources(weights: sp.csr_array, sides: IntArray, n_steps: int = 100) -> FloatArray:
    """Return the chance that a walk from every point ends in each source first; -1 is no source."""
    n_sides = int(sides.max()) + 1
    sources = np.eye(n_sides + 1)[sides][:, :n_sides]
    totals = np.asarray(weights.sum(axis=1)).ravel()
    step = sp.diags_array(1.0 / np.where(totals > 0, totals, 1.0)) @ weights
    is_free = (sides < 0)[:, None]
    chances = sources
    for _ in range(n_steps):
        chances = np.where(is_free, step @ chances, sources)
    total = chances.sum(axis=1, keepdims=True)
    return np.asarray(chances / np.where(total > 0, total, 1.0))


def _move_old(state: _State) -> None:
    """Move old points most of whose weight leads into another cluster, since new points came."""
    near = np.flatnonzero(np.diff(state.weights[: state.n_old, state.n_old :].indptr))
    near = near[~state.settled[near]]
    after = state.shares(near)
    others = after.copy()
    others[np.arange(len(near)), state.labels[near]] = 0.0
    target = others.argmax(axis=1)
    before = _shares(state.weights[near][:, : state.n_old], state.labels[: state.n_old], state.n_clusters)
    here = np.arange(len(near))
    moves = (others[here, target] > MOVING_SHARE) & (before[here, target] <= MOVING_SHARE)
    for cluster in np.unique(target[moves]).tolist():
        state.move(near[moves & (target == cluster)], cluster, "most of their neighbours are in it now")


def _follow_links(state: _State, stated: Constraints, chances: FloatArray) -> None:
    """Change labels as little as possible so that they satisfy what was said with the new points."""
    if stated.is_empty:
        return
    stated = stated.without_conflicts()
    points = stated.components.points
    shares = state.shares(points)
    new = points >= state.n_old
    shares[new] = chances[points[new] - state.n_old]
    costs = -np.log(np.maximum(shares, 1e-6))
    kept = np.flatnonzero(~new)
    costs[kept, state.labels[points[kept]]] -= ATTACHMENT
    repaired, _ = repair_labels(state.labels, stated, costs, 0.0, measure="price")
    for cluster in np.unique(repaired[repaired != state.labels]).tolist():
        moved = np.flatnonzero((repaired != state.labels) & (repaired == cluster))
        state.move(moved, cluster, "links say so")


def _merge(state: _State, before: Before) -> None:
    """Merge a cluster into another one that most of its weight leads to since new points came."""
    counts = _between(state.weights, state.labels, state.n_clusters)
    n_old = state.n_old
    earlier = _between(state.weights[:n_old][:, :n_old], before.labels, state.n_clusters)
    for cluster in range(before.n_clusters):
        row, own = counts[cluster].copy(), counts[cluster, cluster]
        row[cluster] = 0.0
        other = int(row.argmax())
        was_so = earlier[cluster, other] > earlier[cluster, cluster]
        if own > 0 and row[other] > own and not was_so and other not in state.classes:
            why = "more of its weight leads there than stays, since new points came"
            state.move(np.flatnonzero(state.labels == cluster), other, why, kind="merged")


def _between(weights: sp.csr_array, labels: IntArray, n_clusters: int) -> FloatArray:
    """Return the weight between every two clusters."""
    ends = (np.arange(len(labels)), labels)
    members = sp.coo_array((np.ones(len(labels)), ends), shape=(len(labels), n_clusters)).tocsr()
    return np.asarray((members.T @ weights @ members).toarray())


def _describe(state: _State, before: Before, confidence: FloatArray) -> None:
    """Note where new points are, and which clusters are gone."""
    new = np.arange(state.n_old, len(state.labels))
    for cluster in np.unique(state.labels[new]).tolist():
        some = new[state.labels[new] == cluster]
        if cluster >= before.n_clusters:
            why = state.reasons.get(
                cluster, "more of their weight leads to each other than to any old cluster"
            )
            everyone = np.flatnonzero(state.labels == cluster)
            named = f"{state.classes[cluster]} is new" if cluster in state.classes else why
            state.rows.append(Change("new", everyone, None, cluster, named))
            continue
        sure = confidence[some] >= DOUBT
        if sure.any():
            state.rows.append(Change("joined", some[sure], None, cluster, "their neighbours are in it"))
        if not sure.all():
            why = "another cluster is nearly as likely"
            state.rows.append(Change("doubtful", some[~sure], None, cluster, why))
    left = np.bincount(state.labels, minlength=before.n_clusters)[: before.n_clusters]
    there = np.bincount(before.labels, minlength=before.n_clusters)
    merged = {row.before for row in state.rows if row.kind == "merged"}
    for cluster in np.flatnonzero((left == 0) & (there > 0)).tolist():
        if cluster not in merged:
            members = np.flatnonzero(before.labels == cluster)
            state.rows.append(Change("dissolved", members, cluster, None, "all its points moved"))


@dataclass(frozen=True, eq=False)
class Change:
    """One thing that happened to some points.

    Parameters
    ----------
    kind : str
        "joined": new points joined a cluster; "doubtful": so they did, but another cluster is nearly as
        likely; "strange": so they did, but are unlike the old points; "new": they founded one; "moved": old
        points changed their cluster; "split", "merged" and "dissolved": so did a cluster.
    points : array of int
        The rows it is about.
    before, cluster : int or None
        The cluster before and after; None where there is none.
    why : str
        The reason, in words.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.lasting import Change
    >>> Change("moved", np.array([3]), 0, 1, "a link").n_points
    1
    """

    kind: str
    points: IntArray
    before: int | None
    cluster: int | None
    why: str

    @property
    def n_points(self) -> int:
        """How many points it is about."""
        return len(self.points)


@dataclass(frozen=True, eq=False)
class Changes:
    """All that an update or a correction changed.

    Parameters
    ----------
    rows : tuple of Change
        The table.
    n_old, n_new : int
        How many points there were, and how many came.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.lasting import Change, Changes
    >>> joined = Change("joined", np.array([4, 5]), None, 1, "their neighbours are in it")
    >>> print(Changes((joined,), n_old=4, n_new=2))
    All 4 old points stayed where they were.
    2 of 2 new points joined old clusters.
    No cluster was founded, split, merged or dissolved.
    """

    rows: tuple[Change, ...]
    n_old: int
    n_new: int = 0

    def of(self, kind: str) -> tuple[Change, ...]:
        """Return the rows of one kind.

        Parameters
        ----------
        kind : str
            See `Change`.
        """
        return tuple(row for row in self.rows if row.kind == kind)

    def points(self, *kinds: str) -> IntArray:
        """Return the points that the rows of some kinds are about."""
        found = [row.points for row in self.rows if row.kind in kinds]
        return np.unique(np.concatenate(found)) if found else np.empty(0, dtype=np.intp)

    def n_points(self, *kinds: str) -> int:
        """Return how many these are."""
        return len(self.points(*kinds))

    def to_frame(self) -> Any:
        """Return the table as a data frame of pandas, one row per change."""
        import pandas as pd

        columns = {
            "change": [row.kind for row in self.rows],
            "points": [row.n_points for row in self.rows],
            "before": pd.array([row.before for row in self.rows], dtype="Int64"),
            "cluster": pd.array([row.cluster for row in self.rows], dtype="Int64"),
            "why": [row.why for row in self.rows],
        }
        return pd.DataFrame(columns)

    def __str__(self) -> str:
        return "\n".join((self._about_old(), self._about_new(), self._about_clusters()))

    def _about_old(self) -> str:
        moved = self.n_points("moved", "split", "merged")
        if not moved:
            return f"All {self.n_old:,} old points stayed where they were."
        why = Counter(dict.fromkeys((row.why for row in self.of("moved")), 0))
        for row in self.of("moved"):
            why[row.why] += row.n_points
        reason = f" ({why.most_common(1)[0][0]})" if why else ""
        return f"{moved:,} of {self.n_old:,} old points changed their cluster{reason}."

    def _about_new(self) -> str:
        if not self.n_new:
            return "No points came."
        doubtful, founded = self.n_points("doubtful"), self.n_points("new")
        joined = self.n_new - sum(int((row.points >= self.n_old).sum()) for row in self.of("new"))
        said = f"{joined:,} of {self.n_new:,} new points joined old clusters"
        if doubtful:
            said += f", {doubtful:,} of them doubtfully"
        if founded:
            said += "; the others are in new ones"
        strange = self.n_points("strange")
        return f"{said}; {strange:,} are unlike the old points." if strange else f"{said}."

    def _about_clusters(self) -> str:
        words = {"new": "founded", "split": "split", "merged": "merged", "dissolved": "dissolved"}
        counts = {word: len(self.of(kind)) for kind, word in words.items()}
        said = [
            f"{count} {'was' if count == 1 else 'were'} {word}" for word, count in counts.items() if count
        ]
        if not said:
            return "No cluster was founded, split, merged or dissolved."
        return f"Of the clusters, {' and '.join(said)}."
