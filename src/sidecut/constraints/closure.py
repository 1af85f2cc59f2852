"""What follows from must-links and cannot-links by transitivity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from sidecut.arrays import BoolArray, FloatArray, IntArray
from sidecut.constraints.groups import Groups, make_groups
from sidecut.constraints.labels import number_by_appearance
from sidecut.constraints.links import Links
from sidecut.exceptions import ConstraintError

MAX_RELATIONS = 20_000_000


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Everything stated about the points: links one by one, and groups.

    Parameters
    ----------
    n_samples : int
        Number of points.
    must, cannot : Links
        Links stated one by one.
    groups : sequence of Groups
        Groups of points; usually none or one, two while merging.
    """

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


def find_contradicted_links(knowledge: Knowledge, component: IntArray) -> BoolArray:
    """Tell which cannot-links lie within a must-link component."""
    ends = component[knowledge.cannot.pairs]
    return ends[:, 0] == ends[:, 1]


def find_contradicted_relations(groups: Groups, component: IntArray) -> IntArray:
    """The listed pairs of groups that are apart yet in one component; `component` is that of each group."""
    upper = sparse.triu(groups.apart, k=1, format="coo")
    pairs = np.column_stack([upper.row, upper.col]).astype(np.int64)
    return pairs[component[pairs[:, 0]] == component[pairs[:, 1]]]


def crowds(groups: Groups, component: IntArray) -> list[IntArray]:
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
        count += sum(len(crowd) * (len(crowd) - 1) // 2 for crowd in crowds(groups, component[nodes]))
    return count


def says_apart(knowledge: Knowledge) -> bool:
    """Tell whether anything is said to be apart."""
    return len(knowledge.cannot) > 0 or any(
        groups.apart.nnz or groups.exclusive.sum() > 1 for groups in knowledge.groups
    )


def close(knowledge: Knowledge, weight: float = 1.0, diagonal: float = 1.0) -> Groups | None:
    """Return all that follows from consistent knowledge: components, and which of them are apart.

    Parameters
    ----------
    knowledge : Knowledge
        Without contradictions.
    weight, diagonal : float
        Of the groups returned.

    Returns
    -------
    Groups or None
        None when nothing is known.
    """
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
class Contraction:
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
    witnesses : ndarray of shape (r, 2)
        For each of them a pair of points that was said to be apart.

    Examples
    --------
    >>> from sidecut import Constraints
    >>> links = Constraints.from_pairs(6, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 4), (2, 4)])
    >>> seen = links.contracted()
    >>> seen.points.tolist(), seen.component.tolist()
    ([0, 1, 2, 4], [0, 0, 0, 1])
    >>> seen.apart.tolist(), seen.strengths.tolist(), seen.witnesses.tolist()
    ([[0, 1]], [2.0], [[0, 4]])
    """

    points: IntArray
    component: IntArray
    apart: IntArray
    strengths: FloatArray
    witnesses: IntArray

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


def contract(knowledge: Knowledge) -> Contraction:
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
) -> Contraction:
    """Add up the cannot-links between the same two components."""
    between = np.sort(of_node[ends], axis=1)
    apart, first, place = np.unique(between, axis=0, return_index=True, return_inverse=True)
    total = np.bincount(place.reshape(-1), weights=strengths, minlength=len(apart)).astype(np.float64)
    return Contraction(points, component, apart, total, ends[first])
