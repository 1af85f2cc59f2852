"""What follows from must-links and cannot-links by transitivity, and how many clusters it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from sidecut.checks import BoolArray, FloatArray, IntArray
from sidecut.constraints.links import Groups, Links, make_groups, number_by_appearance
from sidecut.exceptions import ConstraintError, ConstraintWarning, warn

if TYPE_CHECKING:
    from sidecut.constraints.value import Constraints

MAX_RELATIONS = 20_000_000

#: Constraints at least this strong are meant without reserve.
HARD = 1.0
#: A clique of cannot-links is sought from at most so many points, those with most cannot-links first.
MAX_STARTS = 200


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Everything stated about the points: links one by one, and groups."""

    n_samples: int
    must: Links
    cannot: Links
    groups: Sequence[Groups] = ()

    def group_nodes(self) -> list[IntArray]:
        """The node that stands for each group in `must_link_graph`, one array per set of groups."""
        ends = np.cumsum([self.n_samples, *(groups.n_groups for groups in self.groups)])
        return [np.arange(start, end) for start, end in pairwise(ends)]


def must_link_graph(knowledge: Knowledge) -> sparse.csr_array:
    """The graph whose connected points must be together, with one extra node per group.

    A link has length 2 and the step from a point to its group length 1, so that two points of one group are
    as far from each other as two linked points, without listing all pairs of the group.
    """
    pairs = knowledge.must.pairs
    rows, columns, lengths = [pairs[:, 0]], [pairs[:, 1]], [np.full(len(pairs), 2.0)]
    nodes = knowledge.group_nodes()
    for groups, node in zip(knowledge.groups, nodes, strict=True):
        rows.append(groups.points)
        columns.append(node[groups.group])
        lengths.append(np.ones(len(groups.points)))
    n_nodes = knowledge.n_samples + sum(len(node) for node in nodes)
    ends = (np.concatenate(rows), np.concatenate(columns))
    return sparse.coo_array((np.concatenate(lengths), ends), shape=(n_nodes, n_nodes)).tocsr()


def must_link_components(knowledge: Knowledge) -> IntArray:
    """The component of each node of `must_link_graph`: points first, in order of appearance, then groups."""
    _, component = connected_components(must_link_graph(knowledge), directed=False)
    return number_by_appearance(component)


def related_parts(knowledge: Knowledge) -> IntArray:
    """The number of the part of each point: what is stated to be together or apart is in one part."""
    together = must_link_graph(knowledge).tocoo()
    ends = [np.stack([together.row, together.col]), knowledge.cannot.pairs.T]
    for groups, node in zip(knowledge.groups, knowledge.group_nodes(), strict=True):
        exclusive, listed = node[groups.exclusive], groups.apart.tocoo()
        ends += [np.stack([exclusive[:-1], exclusive[1:]]), node[np.stack([listed.row, listed.col])]]
    rows, columns = np.concatenate(ends, axis=1)
    relations = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=together.shape)
    return connected_components(relations, directed=False)[1][: knowledge.n_samples]


def find_contradicted_links(knowledge: Knowledge, component: IntArray) -> BoolArray:
    """Tell which cannot-links lie within a must-link component."""
    ends = component[knowledge.cannot.pairs]
    return ends[:, 0] == ends[:, 1]


def find_contradicted_relations(groups: Groups, component: IntArray) -> IntArray:
    """The listed pairs of groups that are apart yet in one component; `component` is that of each group."""
    upper = sparse.triu(groups.apart, k=1, format="coo")
    pairs = np.column_stack([upper.row, upper.col]).astype(np.int64)
    return pairs[component[pairs[:, 0]] == component[pairs[:, 1]]]


def conflicting_groups(groups: Groups, component: IntArray) -> list[IntArray]:
    """The sets of two or more exclusive groups that share a component: all of each set should be apart."""
    exclusive = np.flatnonzero(groups.exclusive)
    _, place, counts = np.unique(component[exclusive], return_inverse=True, return_counts=True)
    crowded = exclusive[counts[place] > 1]
    order = np.argsort(component[crowded], kind="stable")
    ends = np.flatnonzero(np.diff(component[crowded[order]])) + 1
    return [crowd for crowd in np.split(crowded[order], ends) if len(crowd)]


def count_conflicts(knowledge: Knowledge) -> int:
    """Number of statements "these are apart" that a chain of must-links contradicts.

    A cannot-link is one statement, and so is a relation between two groups, however many points they have.
    """
    if not says_apart(knowledge):
        return 0
    component = must_link_components(knowledge)
    count = int(find_contradicted_links(knowledge, component).sum())
    for groups, nodes in zip(knowledge.groups, knowledge.group_nodes(), strict=True):
        count += len(find_contradicted_relations(groups, component[nodes]))
        count += sum(
            len(crowd) * (len(crowd) - 1) // 2 for crowd in conflicting_groups(groups, component[nodes])
        )
    return count


def says_apart(knowledge: Knowledge) -> bool:
    """Tell whether anything is said to be apart."""
    return len(knowledge.cannot) > 0 or any(
        groups.apart.nnz or groups.exclusive.sum() > 1 for groups in knowledge.groups
    )


def close(knowledge: Knowledge, weight: float = 1.0, diagonal: float = 1.0) -> Groups | None:
    """Return all that follows from consistent knowledge: components, and which of them are apart."""
    component = must_link_components(knowledge)
    points = _find_informed_points(knowledge)
    if len(points) == 0:
        return None
    compact = np.full(int(component.max()) + 1, -1, dtype=np.int64)
    compact[component[points]] = number_by_appearance(component[points])
    group_of_node = compact[component]
    exclusive, apart = _lift_relations(knowledge, group_of_node, int(compact.max()) + 1)
    return make_groups(
        points, group_of_node[points], exclusive=exclusive, apart=apart, weight=weight, diagonal=diagonal
    )


def _find_informed_points(knowledge: Knowledge) -> IntArray:
    """Points about which anything is said, sorted."""
    stated = [knowledge.must.pairs.reshape(-1), knowledge.cannot.pairs.reshape(-1)]
    return np.unique(np.concatenate(stated + [groups.points for groups in knowledge.groups]))


def _lift_relations(
    knowledge: Knowledge, group_of_node: IntArray, n_groups: int
) -> tuple[np.ndarray, IntArray]:
    """Carry cannot-links and relations over to the components; the largest clique stays unlisted."""
    cliques = [
        group_of_node[node[groups.exclusive]]
        for groups, node in zip(knowledge.groups, knowledge.group_nodes(), strict=True)
    ]
    cliques.sort(key=len, reverse=True)
    exclusive = np.zeros(n_groups, dtype=bool)
    if cliques:
        exclusive[cliques[0]] = True
    apart = [group_of_node[knowledge.cannot.pairs]]
    apart += [_all_pairs(clique) for clique in cliques[1:]]
    for groups, node in zip(knowledge.groups, knowledge.group_nodes(), strict=True):
        listed = sparse.triu(groups.apart, k=1, format="coo")
        apart.append(group_of_node[node[np.column_stack([listed.row, listed.col])]])
    return exclusive, np.concatenate(apart)


def _all_pairs(clique: IntArray) -> IntArray:
    n_relations = len(clique) * (len(clique) - 1) // 2
    if n_relations > MAX_RELATIONS:
        raise ConstraintError(
            f"merging two sets of labels would list {n_relations} relations between classes, more than "
            f"{MAX_RELATIONS}: join the two label arrays first, then call Constraints.from_labels once"
        )
    first, second = np.triu_indices(len(clique), k=1)
    return np.column_stack([clique[first], clique[second]])


# Constraints seen from afar: what must be together is one node, and what must be apart an edge.


@dataclass(frozen=True, eq=False)
class Components:
    """The components that must-links join, and the cannot-links between them.

    Parameters
    ----------
    points : ndarray of shape (c,)
        Sorted points about which something is known.
    component : ndarray of shape (c,)
        The component of each, 0 .. `n_components` - 1.
    apart : ndarray of shape (r, 2)
        Pairs of components that are apart, each once, the smaller number first.
    strengths : ndarray of shape (r,)
        The total strength of the cannot-links between the two.
    example_pairs : ndarray of shape (r, 2)
        For each of them a pair of points that was said to be apart.

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
    apart: IntArray
    strengths: FloatArray
    example_pairs: IntArray

    @property
    def n_components(self) -> int:
        """How many components there are, single points included."""
        return int(self.component.max(initial=-1)) + 1

    def summed(self, values: FloatArray) -> FloatArray:
        """Sum the rows of one value per point to one per component."""
        indicator = sparse.csr_array(
            (np.ones(len(self.points)), (self.component, np.arange(len(self.points)))),
            shape=(self.n_components, len(self.points)),
        )
        return np.asarray(indicator @ values)


def contract(knowledge: Knowledge) -> Components:
    """Contract knowledge without contradictions; the pairs of groups are never listed."""
    node_component = must_link_components(knowledge)
    points = _find_informed_points(knowledge)
    component = number_by_appearance(node_component[points])
    compact = np.full(int(node_component.max(initial=-1)) + 1, -1, dtype=np.int64)
    compact[node_component[points]] = component
    of_node = compact[node_component]
    ends, strengths = [knowledge.cannot.pairs], [knowledge.cannot.strengths]
    for groups in knowledge.groups:
        pairs = groups.relation_pairs()
        ends.append(_first_points(groups)[pairs])
        strengths.append(groups.weight * np.prod(groups.sizes[pairs], axis=1, dtype=np.float64))
    return _gather(points, component, of_node, np.concatenate(ends), np.concatenate(strengths))


def _first_points(groups: Groups) -> IntArray:
    """One point of every group, which stands for it."""
    return groups.points[np.unique(groups.group, return_index=True)[1]]


def _gather(
    points: IntArray, component: IntArray, of_node: IntArray, ends: IntArray, strengths: FloatArray
) -> Components:
    """Add up the cannot-links between the same two components."""
    between = np.sort(of_node[ends], axis=1)
    apart, first, place = np.unique(between, axis=0, return_index=True, return_inverse=True)
    total = np.bincount(place.reshape(-1), weights=strengths, minlength=len(apart)).astype(np.float64)
    return Components(points, component, apart, total, ends[first])


# How many clusters the constraints need at least.


def points_apart(constraints: Constraints) -> IntArray:
    """Return points every two of which must be in different clusters: so many clusters are needed at least.

    Labels tell the points at once, one of each class. Cliques of cannot-links are sought greedily, so a
    larger one may exist; what is found is a proof. Only constraints of strength 1 or more count.
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
    """Warn if so few clusters cannot keep every class and every cannot-link apart."""
    words = too_few_clusters(constraints, n_clusters)
    if words:
        warn(f"{words} Ask for more clusters, or correct what is known.", ConstraintWarning)


def too_few_clusters(constraints: Constraints, n_clusters: int, names: object = None) -> str:
    """Say in a sentence why so many clusters are too few; nothing if they are enough."""
    if constraints.clique_bound <= n_clusters or not _may_need_more(constraints, n_clusters):
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


def _may_need_more(constraints: Constraints, n_clusters: int) -> bool:
    """Tell whether cannot-links may hold more must-linked sets than clusters apart, without a search.

    Each of these sets would have as many cannot-links with the others as there are clusters, or more. So sets
    with fewer are left out until none is; of random pairs nothing is left then.
    """
    knowledge = _meant_without_reserve(constraints)
    if knowledge.groups:
        return True
    ends = must_link_components(knowledge)[knowledge.cannot.pairs]
    while len(ends):
        linked_enough = np.bincount(ends.ravel()) >= n_clusters
        kept = linked_enough[ends].all(axis=1)
        if kept.all():
            return True
        ends = ends[kept]
    return False


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
