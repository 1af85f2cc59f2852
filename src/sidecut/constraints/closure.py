"""What follows from constraints: closure, contradictions and their proofs, points whose cluster is known."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations, islice, pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.csgraph import connected_components, dijkstra

from sidecut.checks import BoolArray, FloatArray, IntArray
from sidecut.constraints.groups import (
    MAX_LISTED_PAIRS,
    Groups,
    Links,
    PairCounts,
    adjacency,
    count_groups,
    make_groups,
    number_by_appearance,
    upper_entries,
)
from sidecut.exceptions import ConflictError, ConstraintError, ConstraintWarning, warn

if TYPE_CHECKING:
    from sidecut.constraints.value import Constraints


#: Labels per cluster up to which they are too few to hold some out.
FEW_LABELS = 2
REMEDY = "correct them, or pass on_conflict='drop' (keep the strongest) or 'weigh' (keep all as beliefs)"


@dataclass(frozen=True, eq=False)
class Statements:
    """Everything stated about the points: links one by one, and groups."""

    n_samples: int
    must: Links
    cannot: Links
    groups: Sequence[Groups] = ()

    @cached_property
    def group_nodes(self) -> list[IntArray]:
        """The node that stands for each group in `must_link_graph`, one array per set of groups."""
        ends = np.cumsum([self.n_samples, *(groups.n_groups for groups in self.groups)])
        return [np.arange(start, end) for start, end in pairwise(ends)]

    @cached_property
    def must_link_graph(self) -> sparse.csr_array:
        """The graph whose connected points must be together, with one extra node per group."""
        # A link has length 2 and the step from a point to its group length 1, so that two points of one group
        # are as far from each other as two linked points, without listing all pairs of the group.
        pairs = self.must.pairs
        rows, columns, lengths = [pairs[:, 0]], [pairs[:, 1]], [np.full(len(pairs), 2.0)]
        for groups, node in zip(self.groups, self.group_nodes, strict=True):
            rows.append(groups.points)
            columns.append(node[groups.group])
            lengths.append(np.ones(len(groups.points)))
        n_nodes = self.n_samples + sum(len(node) for node in self.group_nodes)
        ends = (np.concatenate(rows), np.concatenate(columns))
        return sparse.coo_array((np.concatenate(lengths), ends), shape=(n_nodes, n_nodes)).tocsr()

    @cached_property
    def component(self) -> IntArray:
        """The component of each node of `must_link_graph`: points first, in order of appearance."""
        return number_by_appearance(connected_components(self.must_link_graph, directed=False)[1])

    @cached_property
    def points(self) -> IntArray:
        """Points about which anything is stated, sorted."""
        stated = [self.must.pairs.reshape(-1), self.cannot.pairs.reshape(-1)]
        return np.unique(np.concatenate(stated + [groups.points for groups in self.groups]))

    @cached_property
    def compact_component(self) -> IntArray:
        """The component of each node, numbered by those of the stated `points` alone."""
        compact = np.full(int(self.component.max(initial=-1)) + 1, -1, dtype=np.int64)
        compact[self.component[self.points]] = number_by_appearance(self.component[self.points])
        return compact[self.component]


def related_parts(stated: Statements) -> IntArray:
    """Return the number of the part of each point: points stated to be together or apart are in one part."""
    together = stated.must_link_graph.tocoo()
    ends = [np.stack([together.row, together.col]), stated.cannot.pairs.T]
    for groups, node in zip(stated.groups, stated.group_nodes, strict=True):
        part = groups.parts()
        ends.append(node[np.stack([np.arange(len(node)), np.unique(part, return_index=True)[1][part]])])
    rows, columns = np.concatenate(ends, axis=1)
    relations = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=together.shape)
    return connected_components(relations, directed=False)[1][: stated.n_samples]


def contradicted_links(stated: Statements) -> BoolArray:
    """Return which cannot-links lie within a must-link component."""
    ends = stated.component[stated.cannot.pairs]
    return ends[:, 0] == ends[:, 1]


def contradicted_relations(groups: Groups, component: IntArray) -> IntArray:
    """The listed pairs of groups that are apart yet in one component; `component` is that of each group."""
    pairs, _ = upper_entries(groups.apart)
    return pairs[component[pairs[:, 0]] == component[pairs[:, 1]]]


def conflicting_groups(groups: Groups, component: IntArray) -> list[IntArray]:
    """The sets of two or more groups of one clique that share a component: all of each should be apart."""
    own = groups.in_clique
    key = component[own].astype(np.int64) * max(groups.n_cliques, 1) + groups.clique[own]
    _, place, counts = np.unique(key, return_inverse=True, return_counts=True)
    shared, key = own[counts[place] > 1], key[counts[place] > 1]
    order = np.argsort(key, kind="stable")
    ends = np.flatnonzero(np.diff(key[order])) + 1
    return [together for together in np.split(shared[order], ends) if len(together)]


def count_conflicts(stated: Statements) -> int:
    """Return the number of statements "these are apart" that a chain of must-links contradicts."""
    # A cannot-link is one statement, and so is a relation between two groups of any number of points.
    if not stated.groups and not len(stated.cannot.pairs):
        return 0
    count = int(contradicted_links(stated).sum())
    for groups, nodes in zip(stated.groups, stated.group_nodes, strict=True):
        component = stated.component[nodes]
        count += len(contradicted_relations(groups, component))
        count += sum(len(some) * (len(some) - 1) // 2 for some in conflicting_groups(groups, component))
    return count


def close(stated: Statements, weight: float = 1.0, diagonal: float = 1.0) -> Groups | None:
    """Return all that follows from consistent statements: components, and which of them are apart."""
    points, of_node = stated.points, stated.compact_component
    if len(points) == 0:
        return None
    both = list(zip(stated.groups, stated.group_nodes, strict=True))
    clique, apart = _share_out_cliques(
        [np.asarray(of_node[some]) for groups, node in both for some in _nodes_of_cliques(groups, node)],
        int(of_node.max()) + 1,
    )
    apart += [of_node[stated.cannot.pairs]]
    apart += [of_node[node[upper_entries(groups.apart)[0]]] for groups, node in both]
    return make_groups(
        points, of_node[points], clique=clique, apart=np.concatenate(apart), weight=weight, diagonal=diagonal
    )


def _nodes_of_cliques(groups: Groups, node: IntArray) -> list[IntArray]:
    """Return the nodes of each clique of some groups."""
    own = groups.in_clique
    order = np.argsort(groups.clique[own], kind="stable")
    ends = np.cumsum(np.bincount(groups.clique[own], minlength=groups.n_cliques))[:-1]
    cliques = np.split(node[own[order]], ends) if groups.n_cliques else []
    return [np.asarray(clique, dtype=np.int64) for clique in cliques]


def _share_out_cliques(cliques: list[IntArray], n_groups: int) -> tuple[IntArray, list[IntArray]]:
    """Return the clique of each group, and the pairs of groups apart that this leaves to be listed."""
    # A group belongs to one clique, the largest it is in; its relations in the others are listed.
    clique, listed, n_listed = np.full(n_groups, -1, dtype=np.int64), list[IntArray](), 0
    for number, some in enumerate(sorted(cliques, key=len, reverse=True)):
        taken, free = some[clique[some] >= 0], some[clique[some] < 0]
        clique[free] = number
        if len(taken) == 0:
            continue
        pairs = taken[np.column_stack(np.triu_indices(len(taken), k=1))]
        pairs = pairs[clique[pairs[:, 0]] != clique[pairs[:, 1]]]
        listed += [pairs, np.column_stack([np.repeat(taken, len(free)), np.tile(free, len(taken))])]
        n_listed += len(pairs) + len(taken) * len(free)
        if n_listed > MAX_LISTED_PAIRS:
            raise ConstraintError(
                f"joining these labels and groups would list more than {MAX_LISTED_PAIRS} relations between "
                "classes: join the two label arrays first, then call Constraints.from_labels once"
            )
    return clique, listed


@dataclass(frozen=True, eq=False)
class Components:
    """The components that must-links join, and the cannot-links between them.

    Parameters
    ----------
    points : ndarray of shape (c,)
        Sorted points about which something is known.
    component : ndarray of shape (c,)
        The component of each, 0 .. `n_components` - 1.
    relations : Groups or None
        The components as groups, with what is apart.
    stated : Statements
        What was said.

    Examples
    --------
    >>> from sidecut import Constraints
    >>> links = Constraints.from_pairs(6, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 4), (2, 4)])
    >>> seen = links.components
    >>> seen.points.tolist(), seen.component.tolist()
    ([0, 1, 2, 4], [0, 0, 0, 1])
    >>> seen.apart.tolist(), seen.strengths.tolist(), seen.example_pairs.tolist()
    ([[0, 1]], [2.0], [[0, 4]])
    """

    points: IntArray
    component: IntArray
    relations: Groups | None
    stated: Statements

    @cached_property
    def _listed(self) -> tuple[IntArray, FloatArray, IntArray]:
        return list_relations(self.stated)

    @property
    def apart(self) -> IntArray:
        """Pairs of components that are apart, each once, the smaller number first, shape (r, 2)."""
        return self._listed[0]

    @property
    def strengths(self) -> FloatArray:
        """The total strength of the cannot-links between the two components of each pair in `apart`."""
        return self._listed[1]

    @property
    def example_pairs(self) -> IntArray:
        """For each pair in `apart` two points that were said to be apart."""
        return self._listed[2]

    @cached_property
    def parts(self) -> IntArray:
        """The number of the part of each component: components that cannot-links connect are in one part."""
        return np.empty(0, dtype=np.int64) if self.relations is None else self.relations.parts()

    @property
    def n_components(self) -> int:
        """How many components there are, single points included."""
        return int(self.component.max(initial=-1)) + 1

    @cached_property
    def apart_matrix(self) -> sparse.csr_array:
        """The symmetric matrix that is 1 where two components are apart."""
        return adjacency(self.apart, self.n_components)

    @cached_property
    def clique(self) -> list[int]:
        """Components every two of which are apart, which takes as many clusters.

        The largest such set is hard to find. Sets are grown from each of the 200 components with most
        cannot-links, always by the component that leaves most others; a larger set may exist. Of labels it
        is exact: the classes.
        """
        if self.relations is not None and self.relations.apart.nnz == 0 and self.relations.n_cliques:
            largest = np.bincount(self.relations.clique[self.relations.in_clique]).argmax()
            return np.flatnonzero(self.relations.clique == largest).tolist()
        apart, best = self.apart_matrix, list[int]()
        degrees = np.diff(apart.indptr)
        for start in np.argsort(-degrees, kind="stable")[:200].tolist():
            if degrees[start] < len(best):
                break
            grown, left = [start], apart[[start]].indices
            while len(left):
                is_left = np.zeros(self.n_components)
                is_left[left] = 1.0
                grown.append(int(left[np.argmax(apart[left] @ is_left)]))
                left = np.intersect1d(left, apart[grown[-1:]].indices)
            best = grown if len(grown) > len(best) else best
        return best

    def summed(self, values: FloatArray) -> FloatArray:
        """Sum the rows of one value per point to one per component."""
        indicator = sparse.csr_array(
            (np.ones(len(self.points)), (self.component, np.arange(len(self.points)))),
            shape=(self.n_components, len(self.points)),
        )
        return np.asarray(indicator @ values)

    def count_pairs(self, labels: ArrayLike, among: BoolArray | None = None) -> PairCounts:
        """Count known pairs, all that follow included, and how many of them a clustering gets right.

        Parameters
        ----------
        labels : array-like of shape (n_samples,)
            The cluster of each sample.
        among : array of bool of shape (c,), optional
            Which of the `points` count.
        """
        points = self.points if among is None else self.points[among]
        known = None if self.relations is None else self.relations.selected(points)
        if known is None:
            return PairCounts(0.0, 0.0, 0.0, 0.0)
        _, cluster = np.unique(np.asarray(labels)[points], return_inverse=True)
        return count_groups(known, cluster.astype(np.int64))


def find_components(stated: Statements) -> Components:
    """Return the components of consistent statements."""
    points = stated.points
    return Components(points, stated.compact_component[points], close(stated), stated)


def list_relations(stated: Statements) -> tuple[IntArray, FloatArray, IntArray]:
    """List the pairs of components that are apart, how strongly, and a pair of points for each."""
    of_node = stated.compact_component
    ends, strengths = [stated.cannot.pairs], [stated.cannot.strengths]
    for groups in stated.groups:
        pairs = groups.relation_pairs()
        first_points = groups.points[np.unique(groups.group, return_index=True)[1]]
        ends.append(first_points[pairs])
        strengths.append(groups.weight * np.prod(groups.sizes[pairs], axis=1, dtype=np.float64))
    pairs = np.concatenate(ends)
    # Cannot-links between the same two components add up.
    between = np.sort(of_node[pairs], axis=1)
    apart, first, place = np.unique(between, axis=0, return_index=True, return_inverse=True)
    total = np.bincount(place.reshape(-1), weights=np.concatenate(strengths), minlength=len(apart))
    return apart, total.astype(np.float64), pairs[first]


@dataclass(frozen=True)
class Conflict:
    """A contradiction and its proof.

    Parameters
    ----------
    cannot_link : tuple of int
        Two points said to be apart.
    chain : tuple of int
        The same two points and those between: each neighbours in the chain are said to be together.
        No chain of given must-links is shorter.
    strength : float
        How strongly the two points are believed to be apart.

    Examples
    --------
    >>> print(Conflict(cannot_link=(3, 9), chain=(3, 5, 8, 9), strength=1.0))
    cannot_link (3, 9) contradicts the must-links 3 - 5 - 8 - 9
    """

    cannot_link: tuple[int, int]
    chain: tuple[int, ...]
    strength: float

    def __str__(self) -> str:
        shown = [str(point) for point in self.chain]
        if len(shown) > 12:
            shown[5:-5] = [f"({len(shown) - 10} more)"]
        return f"cannot_link {self.cannot_link} contradicts the must-links {' - '.join(shown)}"


def find_conflicts(stated: Statements, max_chains: int | None = 10) -> tuple[Conflict, ...]:
    """Prove contradictions, each with a shortest chain of must-links."""
    return tuple(_prove(stated, *found) for found in islice(_contradictions(stated), max_chains))


def refuse_conflicts(stated: Statements, remedy: str = REMEDY) -> None:
    """Raise ConflictError, with proofs, if the statements contradict each other."""
    count = count_conflicts(stated)
    if count:
        conflicts = find_conflicts(stated)
        in_all = "1 conflict" if count == 1 else f"{count} conflicts"
        raise ConflictError(f"{conflicts[0]} ({in_all} in all); {remedy}", conflicts)


def _contradictions(stated: Statements) -> Iterator[tuple[int, int, float]]:
    """Yield two nodes of `must_link_graph` stated to be apart, yet connected, and how strongly."""
    bad = stated.cannot.kept(contradicted_links(stated))
    for (i, j), strength in zip(bad.pairs.tolist(), bad.strengths.tolist(), strict=True):
        yield i, j, strength
    for groups, nodes in zip(stated.groups, stated.group_nodes, strict=True):
        component = stated.component[nodes]
        shared = (combinations(some.tolist(), 2) for some in conflicting_groups(groups, component))
        listed = contradicted_relations(groups, component).tolist()
        for g, h in chain(listed, chain.from_iterable(shared)):
            yield int(nodes[g]), int(nodes[h]), groups.weight


def _prove(stated: Statements, start: int, end: int, strength: float) -> Conflict:
    graph = stated.must_link_graph
    _, previous = dijkstra(graph, directed=False, indices=start, return_predecessors=True)
    path = [end]
    while path[-1] != start:
        path.append(int(previous[path[-1]]))
    # Nodes beyond the points stand for groups: between two points of a group, or before the first point.
    points = tuple(node for node in reversed(path) if node < stated.n_samples)
    return Conflict((points[0], points[-1]), points, strength)


def points_apart(constraints: Constraints) -> IntArray:
    """Return points every two of which must be in different clusters: a lower bound on their number."""
    # Labels give one point of each class. Cliques of cannot-links are searched greedily, so a larger one may
    # exist. Only constraints of strength 1 or more count.
    stated = _strong_statements(constraints)
    if count_conflicts(stated):
        return np.empty(0, dtype=np.int64)
    seen = find_components(stated)
    if not len(seen.points):
        return seen.points
    return np.sort(seen.points[[int(np.argmax(seen.component == component)) for component in seen.clique]])


def warn_about_too_few_clusters(constraints: Constraints, n_clusters: int) -> None:
    """Warn if so few clusters cannot keep every class and every cannot-link apart."""
    words = too_few_clusters(constraints, n_clusters)
    if words:
        warn(f"{words} Ask for more clusters, or correct the constraints.", ConstraintWarning)


def too_few_clusters(constraints: Constraints, n_clusters: int, names: object = None) -> str:
    """Return a sentence on why `n_clusters` is too small for the constraints; empty if it is not."""
    if constraints.clique_bound <= n_clusters or not _may_need_more(constraints, n_clusters):
        return ""
    apart = points_apart(constraints)
    if len(apart) <= n_clusters:
        return ""
    known = constraints.known_classes
    is_named = known is not None and all(known[point] is not None for point in apart)
    called = [
        str(known[point] if known is not None and is_named else names(point) if callable(names) else point)
        for point in apart.tolist()
    ]
    listed = ", ".join(called[:8]) + (f" and {len(called) - 8} more" if len(called) > 8 else "")
    if is_named:
        return (
            f"The labels name {len(apart)} classes ({listed}), but n_clusters={n_clusters}: some classes "
            "must share a cluster."
        )
    return (
        f"The points {listed} are all apart from one another by cannot-links, which takes {len(apart)} "
        f"clusters, but n_clusters={n_clusters}: some cannot-links must be violated."
    )


def _may_need_more(constraints: Constraints, n_clusters: int) -> bool:
    """Return whether more than `n_clusters` must-linked sets may be all apart, without a search."""
    # Each of these sets would have at least `n_clusters` cannot-links with the others. So sets with fewer are
    # left out until none is; of random pairs nothing is left then.
    stated = _strong_statements(constraints)
    if stated.groups:
        return True
    ends = stated.component[stated.cannot.pairs]
    while len(ends):
        kept = (np.bincount(ends.ravel()) >= n_clusters)[ends].all(axis=1)
        if kept.all():
            return True
        ends = ends[kept]
    return False


def _strong_statements(constraints: Constraints) -> Statements:
    """The statements of strength 1 or more, which are not meant to be weighed against others."""
    stated = constraints._statements
    must, cannot = (links.kept(links.strengths >= 1) for links in (stated.must, stated.cannot))
    groups = tuple(groups for groups in stated.groups if groups.weight >= 1)
    return Statements(stated.n_samples, must, cannot, groups)


@dataclass(frozen=True, eq=False)
class Seeds:
    """Points whose cluster is known."""

    points: IntArray
    cluster: IntArray
    weight: FloatArray

    @property
    def n_seeded(self) -> int:
        """The number of clusters that have a seed."""
        return int(self.cluster.max(initial=-1)) + 1

    def name_all(self, n_clusters: int) -> bool:
        """Return whether every cluster has a seed; two points are but a pair."""
        return self.n_seeded == n_clusters and len(self.points) > 2

    def are_few(self, n_clusters: int) -> bool:
        """Return whether no seed can be held out, as far as their number goes."""
        return len(self.points) <= FEW_LABELS * n_clusters

    def indicator(self, n_points: int, n_clusters: int) -> FloatArray:
        """Return the sources Y: the weight of every seed in the column of its cluster."""
        sources = np.zeros((n_points, n_clusters))
        sources[self.points, self.cluster] = self.weight
        return sources


def find_seeds(constraints: Constraints, n_clusters: int) -> Seeds:
    """Return the seeds that the constraints name, or none where these are pairs rather than labels."""
    # Labels say that the points of a class are together and that classes are apart. In any form this shows as
    # must-linked sets that are pairwise apart (`_sets_apart`). The numbers of their clusters are arbitrary.
    # If they are less than half of the clusters, and hold less than half of the constrained points, the
    # constraints are pairs, and there are no seeds.
    if constraints.is_empty:
        nothing: IntArray = np.empty(0, dtype=np.int64)
        return Seeds(nothing, nothing, np.empty(0))
    labels = constraints.labels
    if labels is not None and constraints.are_labels and labels.max() < n_clusters:
        points = constraints.constrained_points
        return Seeds(points, labels[points], np.full(len(points), constraints.largest_strength()))
    sets = contract_links(constraints)
    chosen = _sets_apart(sets, constraints, n_clusters)
    if len(chosen) > n_clusters:
        warn(
            f"The constraints name {len(chosen)} or more sets of points that are all apart, but "
            f"n_clusters={n_clusters}: they cannot all have a cluster of their own and are used as pairs. "
            f"Choose n_clusters >= {len(chosen)}.",
            ConstraintWarning,
        )
    held = np.count_nonzero(np.isin(sets.component, chosen))
    are_pairs = 2 * len(chosen) < n_clusters and 2 * held < len(sets.points)
    if are_pairs or len(chosen) > n_clusters:
        chosen = []
    # A set is numbered by its first point, so clusters are numbered in the order of the points.
    number = np.full(sets.n_components, -1, dtype=np.int64)
    number[np.sort(np.array(chosen, dtype=np.intp))] = np.arange(len(chosen))
    cluster = number[sets.component]
    points, cluster = sets.points[cluster >= 0], cluster[cluster >= 0]
    return Seeds(points, cluster, _seed_weights(constraints, points, cluster))


def _sets_apart(sets: Components, constraints: Constraints, n_clusters: int) -> list[int]:
    """Return sets that are pairwise apart, labels first, at most one more than there are clusters."""
    sizes = np.bincount(sets.component, minlength=sets.n_components)
    ends = np.concatenate([sets.apart, sets.apart[:, ::-1]])
    order = np.argsort(ends[:, 0], kind="stable")
    starts = np.searchsorted(ends[order, 0], np.arange(sets.n_components + 1))
    labels = constraints.labels
    is_labelled = np.zeros(sets.n_components, dtype=bool)
    if labels is not None:
        is_labelled[sets.component[labels[sets.points] >= 0]] = True
    # Greedily: labels, then the sets that are apart from most others, then the largest.
    left = np.lexsort((-sizes, -np.diff(starts), ~is_labelled))
    chosen: list[int] = []
    while len(left) and len(chosen) <= n_clusters:
        one = int(left[0])
        chosen.append(one)
        is_apart = np.zeros(sets.n_components, dtype=bool)
        is_apart[ends[order[starts[one] : starts[one + 1]], 1]] = True
        left = left[is_apart[left]]
    return chosen


def _seed_weights(constraints: Constraints, points: IntArray, cluster: IntArray) -> FloatArray:
    """Return the strength of each seed: the strongest of its relations to the first seed of any cluster."""
    strength, largest = np.zeros(len(points)), constraints.largest_strength()
    for first in np.unique(cluster, return_index=True)[1]:
        there = np.full(len(points), points[first])
        strength = np.maximum(strength, np.abs(constraints.entries(points, there)) * (points != there))
    # A single label, or a point joined to a seed by links to others of its set, has no such relation.
    return np.where(strength > 0, strength, largest if largest > 0 else 1.0)


def contract_links(constraints: Constraints) -> Components:
    """Return must-linked sets and which are apart; of contradicting links the stronger count."""
    with warnings.catch_warnings():
        # Links may contradict each other; all of them stay in the energy.
        warnings.simplefilter("ignore", ConstraintWarning)
        return constraints.without_conflicts().components
