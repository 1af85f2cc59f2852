"""Contradictions: a cannot-link between points that a chain of must-links joins."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations, islice

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from sidecut.checks import BoolArray, FloatArray, IntArray
from sidecut.constraints.closure import (
    Knowledge,
    close,
    conflicting_groups,
    count_conflicts,
    find_contradicted_links,
    find_contradicted_relations,
    must_link_components,
    must_link_graph,
    says_apart,
)
from sidecut.constraints.links import (
    Groups,
    Links,
    canonical,
    replace_diagonal,
    split_signs,
    symmetric_matrix,
    union,
)
from sidecut.exceptions import ConflictError, ConstraintError, ConstraintWarning, warn

ON_CONFLICT = ("raise", "drop", "weigh")
REMEDY = "correct them, or pass on_conflict='drop' (keep the strongest) or 'weigh' (keep all as beliefs)"

Parts = tuple[sparse.csr_array, Groups | None]


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


def check_on_conflict(on_conflict: str) -> str:
    """Return the choice, or say which there are."""
    if on_conflict not in ON_CONFLICT:
        raise ConstraintError(f"on_conflict = {on_conflict!r}: choose 'raise', 'drop' or 'weigh'")
    return on_conflict


def find_conflicts(knowledge: Knowledge, max_chains: int | None = 10) -> tuple[Conflict, ...]:
    """Prove contradictions, each with a shortest chain of must-links."""
    if not says_apart(knowledge):
        return ()
    graph = must_link_graph(knowledge)
    component = must_link_components(knowledge)
    statements = islice(_contradicted_statements(knowledge, component), max_chains)
    return tuple(_prove(graph, knowledge.n_samples, *statement) for statement in statements)


def refuse_conflicts(knowledge: Knowledge, remedy: str = REMEDY) -> None:
    """Raise ConflictError, with proofs, if the knowledge contradicts itself."""
    count = count_conflicts(knowledge)
    if count:
        conflicts = find_conflicts(knowledge)
        in_all = "1 conflict" if count == 1 else f"{count} conflicts"
        raise ConflictError(f"{conflicts[0]} ({in_all} in all); {remedy}", conflicts)


def drop_conflicts(knowledge: Knowledge) -> tuple[Links, Links]:
    """Keep the strongest links that do not contradict each other, and warn of those dropped.

    Links are accepted from the strongest to the weakest unless they contradict what is already accepted; of
    equal links must-links go first, then those with the smaller indices. Groups come before all links.
    """
    refuse_conflicts(
        Knowledge(knowledge.n_samples, _NONE, _NONE, knowledge.groups), "correct the labels themselves"
    )
    if not count_conflicts(knowledge):
        return knowledge.must, knowledge.cannot
    must_kept, cannot_kept = accept_strongest(knowledge)
    _warn_dropped(knowledge, must_kept, cannot_kept)
    return knowledge.must.kept(must_kept), knowledge.cannot.kept(cannot_kept)


_NONE = Links(np.empty((0, 2), dtype=np.int64), np.empty(0))


def _contradicted_statements(knowledge: Knowledge, component: IntArray) -> Iterator[tuple[int, int, float]]:
    """Yield the two nodes said to be apart, and how strongly."""
    bad = find_contradicted_links(knowledge, component)
    for (i, j), strength in zip(knowledge.cannot.pairs[bad], knowledge.cannot.strengths[bad], strict=True):
        yield int(i), int(j), float(strength)
    for groups, nodes in zip(knowledge.groups, knowledge.group_nodes(), strict=True):
        listed = find_contradicted_relations(groups, component[nodes]).tolist()
        crowded = (combinations(crowd.tolist(), 2) for crowd in conflicting_groups(groups, component[nodes]))
        for g, h in chain(listed, chain.from_iterable(crowded)):
            yield int(nodes[g]), int(nodes[h]), groups.weight


def _prove(graph: sparse.csr_array, n_samples: int, start: int, end: int, strength: float) -> Conflict:
    _, previous = dijkstra(graph, directed=False, indices=start, return_predecessors=True)
    path = [end]
    while path[-1] != start:
        path.append(int(previous[path[-1]]))
    # Nodes beyond the points stand for groups: between two points of a group, or before the first point.
    points = tuple(node for node in reversed(path) if node < n_samples)
    return Conflict((points[0], points[-1]), points, strength)


def _warn_dropped(knowledge: Knowledge, must_kept: np.ndarray, cannot_kept: np.ndarray) -> None:
    dropped = [("must_link", pair) for pair in knowledge.must.pairs[~must_kept].tolist()]
    dropped += [("cannot_link", pair) for pair in knowledge.cannot.pairs[~cannot_kept].tolist()]
    shown = ", ".join(f"{kind} ({i}, {j})" for kind, (i, j) in dropped[:5])
    more = f" and {len(dropped) - 5} more" if len(dropped) > 5 else ""
    n_links = len(knowledge.must) + len(knowledge.cannot)
    warn(
        f"dropped {len(dropped)} of {n_links} links that contradict stronger ones: {shown}{more}",
        ConstraintWarning,
    )


# Which links to keep when they cannot all hold: the strongest, greedily.


class Alliances:
    """Points joined into alliances, some of which are enemies: union-find without recursion."""

    def __init__(self) -> None:
        self._parent: dict[int, int] = {}
        self._enemies: defaultdict[int, set[int]] = defaultdict(set)
        self._exclusive: set[int] = set()

    def leader(self, node: int) -> int:
        """Return the node that stands for the alliance of `node`."""
        parent = self._parent
        parent.setdefault(node, node)
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    def join(self, first: int, second: int) -> bool:
        """Make two nodes allies, unless they are enemies."""
        a, b = self.leader(first), self.leader(second)
        if b in self._enemies[a] or (a != b and a in self._exclusive and b in self._exclusive):
            return False
        if a != b:
            if len(self._enemies[a]) < len(self._enemies[b]):
                a, b = b, a
            self._parent[b] = a
            self._inherit_enemies(a, b)
        return True

    def part(self, first: int, second: int) -> bool:
        """Make two nodes enemies, unless they are allies."""
        a, b = self.leader(first), self.leader(second)
        if a == b:
            return False
        self._enemies[a].add(b)
        self._enemies[b].add(a)
        return True

    def make_exclusive(self, node: int) -> None:
        """Make the alliance of `node` an enemy of all others made exclusive, without listing them."""
        self._exclusive.add(self.leader(node))

    def _inherit_enemies(self, heir: int, gone: int) -> None:
        if gone in self._exclusive:
            self._exclusive.add(heir)
        for enemy in self._enemies.pop(gone):
            self._enemies[enemy].discard(gone)
            self._enemies[enemy].add(heir)
            self._enemies[heir].add(enemy)


def accept_strongest(knowledge: Knowledge) -> tuple[BoolArray, BoolArray]:
    """Accept links from the strongest to the weakest unless they contradict those accepted before."""
    component = must_link_components(knowledge)
    torn = _torn_components(knowledge, component)
    # A link outside the components that hold a contradiction can contradict nothing.
    must_doubtful = np.flatnonzero(torn[component[knowledge.must.pairs[:, 0]]])
    cannot_doubtful = np.flatnonzero(find_contradicted_links(knowledge, component))
    alliances = _alliances_of_groups(knowledge, component, torn)

    must_kept, cannot_kept = np.ones(len(knowledge.must), bool), np.ones(len(knowledge.cannot), bool)
    strengths = np.concatenate(
        [knowledge.must.strengths[must_doubtful], knowledge.cannot.strengths[cannot_doubtful]]
    )
    for position in np.argsort(-strengths, kind="stable").tolist():
        if position < len(must_doubtful):
            link = must_doubtful[position]
            must_kept[link] = alliances.join(*knowledge.must.pairs[link].tolist())
        else:
            link = cannot_doubtful[position - len(must_doubtful)]
            cannot_kept[link] = alliances.part(*knowledge.cannot.pairs[link].tolist())
    return must_kept, cannot_kept


def _torn_components(knowledge: Knowledge, component: IntArray) -> BoolArray:
    torn = np.zeros(int(component.max()) + 1, dtype=bool)
    torn[component[knowledge.cannot.pairs[find_contradicted_links(knowledge, component), 0]]] = True
    for groups, nodes in zip(knowledge.groups, knowledge.group_nodes(), strict=True):
        torn[component[nodes[find_contradicted_relations(groups, component[nodes])[:, 0]]]] = True
        for crowd in conflicting_groups(groups, component[nodes]):
            torn[component[nodes[crowd[0]]]] = True
    return torn


def _alliances_of_groups(knowledge: Knowledge, component: IntArray, torn: BoolArray) -> Alliances:
    alliances = Alliances()
    for groups, nodes in zip(knowledge.groups, knowledge.group_nodes(), strict=True):
        inside = torn[component[groups.points]]
        for point, node in zip(groups.points[inside], nodes[groups.group[inside]], strict=True):
            alliances.join(int(point), int(node))
        for first, second in nodes[find_contradicted_relations(groups, component[nodes])].tolist():
            alliances.part(first, second)
        for node in nodes[groups.exclusive & torn[component[nodes]]].tolist():
            alliances.make_exclusive(node)
    return alliances


# One matrix from many statements, and one value from two.


def settle(knowledge: Knowledge, on_conflict: str) -> sparse.csr_array:
    """Turn links into a symmetric matrix, dealing with contradictions as asked."""
    must, cannot = knowledge.must, knowledge.cannot
    if check_on_conflict(on_conflict) == "raise":
        refuse_conflicts(knowledge)
    elif on_conflict == "drop":
        must, cannot = drop_conflicts(knowledge)
    return symmetric_matrix(
        knowledge.n_samples,
        np.concatenate([must.pairs, cannot.pairs]),
        np.concatenate([must.strengths, -cannot.strengths]),
    )


def merge(first: Parts, second: Parts, on_conflict: str) -> Parts:
    """Unite two constraint matrices, each given as links and groups that are added.

    An entry known to both keeps its greater strength; with "weigh" the links of both add.
    """
    n_samples = first[0].shape[0]
    groups = merge_groups(n_samples, first[1], second[1])
    if check_on_conflict(on_conflict) == "weigh":
        return canonical(first[0] + second[0]), groups
    (must, cannot), (more_must, more_cannot) = _full_links(*first), _full_links(*second)
    together = () if groups is None else (groups,)
    links = settle(
        Knowledge(n_samples, union(must, more_must), union(cannot, more_cannot), together), on_conflict
    )
    diagonal = _stronger(_diagonal(*first), _diagonal(*second))
    if groups is None:
        return replace_diagonal(links, diagonal), None
    diagonal[groups.points] -= groups.diagonal
    return replace_diagonal(_beyond_groups(links, groups), diagonal), groups


def merge_groups(n_samples: int, first: Groups | None, second: Groups | None) -> Groups | None:
    """Unite two sets of groups: groups that share a point become one group."""
    if first is None or second is None or first.key == second.key:
        return second if first is None else first
    if (first.weight, first.diagonal) != (second.weight, second.diagonal):
        raise ConstraintError(
            f"labels of weight {first.weight} (diagonal {first.diagonal}) cannot be merged with labels of "
            f"weight {second.weight} (diagonal {second.diagonal}): bring them to one strength with scaled() "
            "or with_diagonal(), or close both with closed()"
        )
    nothing, _ = split_signs(sparse.csr_array((n_samples, n_samples)))
    knowledge = Knowledge(n_samples, nothing, nothing, (first, second))
    refuse_conflicts(knowledge, "correct the labels: on_conflict decides about links, not about labels")
    return close(knowledge, first.weight, first.diagonal)


def _full_links(links: sparse.csr_array, groups: Groups | None) -> tuple[Links, Links]:
    """The links with the whole strength of their pair, where the groups hold a part of it."""
    if groups is None:
        return split_signs(links)
    coo = links.tocoo()
    known = _known(coo, groups)
    coo.data = np.where(known * coo.data > 0, coo.data + known, coo.data)
    return split_signs(sparse.csr_array(coo))


def _beyond_groups(links: sparse.csr_array, groups: Groups) -> sparse.csr_array:
    """What must be added to the groups so that each pair has the greater of its two strengths."""
    coo = links.tocoo()
    known = _known(coo, groups)
    coo.data = np.where(np.abs(coo.data) > np.abs(known), coo.data - known, 0.0)
    return canonical(coo)


def _known(coo: sparse.coo_array, groups: Groups) -> FloatArray:
    return groups.entry(coo.row.astype(np.int64), coo.col.astype(np.int64))


def _diagonal(links: sparse.csr_array, groups: Groups | None) -> FloatArray:
    diagonal = np.array(links.diagonal())
    if groups is not None:
        diagonal[groups.points] += groups.diagonal
    return diagonal


def _stronger(first: FloatArray, second: FloatArray) -> FloatArray:
    return np.where(np.abs(first) >= np.abs(second), first, second)
