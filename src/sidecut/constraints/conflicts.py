"""Contradictions: a cannot-link between points that a chain of must-links joins."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations, islice

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from sidecut.checks import BoolArray, FloatArray
from sidecut.constraints.closure import (
    Statements,
    close,
    conflicting_groups,
    contradicted_links,
    contradicted_relations,
    count_conflicts,
)
from sidecut.constraints.groups import (
    Groups,
    Links,
    canonical,
    replace_diagonal,
    split_signs,
    strongest,
    symmetric_matrix,
)
from sidecut.exceptions import ConflictError, ConstraintError, ConstraintWarning, warn

REMEDY = "correct them, or pass on_conflict='drop' (keep the strongest) or 'weigh' (keep all as beliefs)"
NO_LINKS = Links(np.empty((0, 2), dtype=np.int64), np.empty(0))

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


def find_conflicts(stated: Statements, max_chains: int | None = 10) -> tuple[Conflict, ...]:
    """Prove contradictions, each with a shortest chain of must-links."""
    if not stated.has_apart:
        return ()
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


class LinkedSets:
    """Sets of nodes, some of which must stay apart: union-find without recursion."""

    def __init__(self) -> None:
        self._parent: dict[int, int] = {}
        self._apart: defaultdict[int, set[int]] = defaultdict(set)
        self._exclusive: set[int] = set()

    def root(self, node: int) -> int:
        """Return the node that stands for the set of `node`."""
        parent = self._parent
        parent.setdefault(node, node)
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    def join(self, first: int, second: int) -> bool:
        """Unite the sets of two nodes, unless they must stay apart."""
        a, b = self.root(first), self.root(second)
        if b in self._apart[a] or (a != b and a in self._exclusive and b in self._exclusive):
            return False
        if a != b:
            if len(self._apart[a]) < len(self._apart[b]):
                a, b = b, a
            self._parent[b] = a
            if b in self._exclusive:
                self._exclusive.add(a)
            for other in self._apart.pop(b):
                self._apart[other].discard(b)
                self._apart[other].add(a)
                self._apart[a].add(other)
        return True

    def separate(self, first: int, second: int) -> bool:
        """Keep the sets of two nodes apart from now on, unless they are one set."""
        a, b = self.root(first), self.root(second)
        if a == b:
            return False
        self._apart[a].add(b)
        self._apart[b].add(a)
        return True

    def make_exclusive(self, node: int) -> None:
        """Keep the set of `node` apart from all other exclusive sets, without listing them."""
        self._exclusive.add(self.root(node))


def accept_strongest(stated: Statements) -> tuple[BoolArray, BoolArray]:
    """Accept links from the strongest to the weakest unless they contradict those accepted before."""
    component = stated.component
    # A link outside the components that hold a contradiction can contradict nothing.
    doubtful = np.zeros(int(component.max()) + 1, dtype=bool)
    doubtful[component[stated.cannot.pairs[contradicted_links(stated), 0]]] = True
    for groups, nodes in zip(stated.groups, stated.group_nodes, strict=True):
        of_group = component[nodes]
        doubtful[of_group[contradicted_relations(groups, of_group)[:, 0]]] = True
        doubtful[of_group[[some[0] for some in conflicting_groups(groups, of_group)]]] = True
    must = np.flatnonzero(doubtful[component[stated.must.pairs[:, 0]]])
    cannot = np.flatnonzero(contradicted_links(stated))
    sets = _sets_of_groups(stated, doubtful)

    must_kept, cannot_kept = np.ones(len(stated.must), bool), np.ones(len(stated.cannot), bool)
    strengths = np.concatenate([stated.must.strengths[must], stated.cannot.strengths[cannot]])
    for position in np.argsort(-strengths, kind="stable").tolist():
        if position < len(must):
            link = must[position]
            must_kept[link] = sets.join(*stated.must.pairs[link].tolist())
        else:
            link = cannot[position - len(must)]
            cannot_kept[link] = sets.separate(*stated.cannot.pairs[link].tolist())
    return must_kept, cannot_kept


def _sets_of_groups(stated: Statements, doubtful: BoolArray) -> LinkedSets:
    """Return the groups within doubtful components as sets: groups are accepted before all links."""
    sets = LinkedSets()
    for groups, nodes in zip(stated.groups, stated.group_nodes, strict=True):
        inside = doubtful[stated.component[groups.points]]
        for point, node in zip(groups.points[inside], nodes[groups.group[inside]], strict=True):
            sets.join(int(point), int(node))
        component = stated.component[nodes]
        for first, second in nodes[contradicted_relations(groups, component)].tolist():
            sets.separate(first, second)
        for node in nodes[groups.exclusive & doubtful[component]].tolist():
            sets.make_exclusive(node)
    return sets


def drop_conflicts(stated: Statements) -> tuple[Links, Links]:
    """Keep the strongest links that do not contradict each other, and warn of those dropped.

    Links are accepted from the strongest to the weakest unless they contradict what is already accepted; of
    equal links must-links go first, then those with the smaller indices. Groups come before all links.
    """
    labels = Statements(stated.n_samples, NO_LINKS, NO_LINKS, stated.groups)
    refuse_conflicts(labels, "correct the labels themselves")
    if not count_conflicts(stated):
        return stated.must, stated.cannot
    must_kept, cannot_kept = accept_strongest(stated)
    dropped = [f"must_link ({i}, {j})" for i, j in stated.must.pairs[~must_kept].tolist()]
    dropped += [f"cannot_link ({i}, {j})" for i, j in stated.cannot.pairs[~cannot_kept].tolist()]
    more = f" and {len(dropped) - 5} more" if len(dropped) > 5 else ""
    warn(
        f"dropped {len(dropped)} of {len(stated.must) + len(stated.cannot)} links that contradict stronger "
        f"ones: {', '.join(dropped[:5])}{more}",
        ConstraintWarning,
    )
    return stated.must.kept(must_kept), stated.cannot.kept(cannot_kept)


def as_matrix(stated: Statements, on_conflict: str) -> sparse.csr_array:
    """Turn links into a symmetric matrix, and deal with contradictions as `on_conflict` says."""
    must, cannot = stated.must, stated.cannot
    if on_conflict not in ("raise", "drop", "weigh"):
        raise ConstraintError(f"on_conflict = {on_conflict!r}: choose 'raise', 'drop' or 'weigh'")
    if on_conflict == "raise":
        refuse_conflicts(stated)
    elif on_conflict == "drop":
        must, cannot = drop_conflicts(stated)
    pairs = np.concatenate([must.pairs, cannot.pairs])
    values = np.concatenate([must.strengths, -cannot.strengths])
    return symmetric_matrix(stated.n_samples, pairs, values)


def merge(first: Parts, second: Parts, on_conflict: str) -> Parts:
    """Unite two constraint matrices, each given as links and groups that are added.

    An entry known to both keeps its greater strength; with "weigh" the links of both add.
    """
    n_samples = first[0].shape[0]
    groups = _merge_groups(n_samples, first[1], second[1])
    if on_conflict == "weigh":
        return canonical(first[0] + second[0]), groups
    kinds = zip(_full_links(*first), _full_links(*second), strict=True)
    must, cannot = (
        strongest(np.concatenate([a.pairs, b.pairs]), np.concatenate([a.strengths, b.strengths]))
        for a, b in kinds
    )
    links = as_matrix(Statements(n_samples, must, cannot, () if groups is None else (groups,)), on_conflict)
    own, others = _diagonal(*first), _diagonal(*second)
    diagonal = np.where(np.abs(own) >= np.abs(others), own, others)
    if groups is None:
        return replace_diagonal(links, diagonal), None
    # Groups and links add: where a link is stronger than its groups, it holds the difference.
    coo = links.tocoo()
    known = groups.entry(coo.row, coo.col)
    coo.data = np.where(np.abs(coo.data) > np.abs(known), coo.data - known, 0.0)
    diagonal[groups.points] -= groups.diagonal
    return replace_diagonal(canonical(coo), diagonal), groups


def _merge_groups(n_samples: int, first: Groups | None, second: Groups | None) -> Groups | None:
    """Unite two sets of groups: groups that share a point become one group."""
    if first is None or second is None or first.key == second.key:
        return second if first is None else first
    if (first.weight, first.diagonal) != (second.weight, second.diagonal):
        raise ConstraintError(
            f"labels of weight {first.weight} (diagonal {first.diagonal}) cannot be merged with labels of "
            f"weight {second.weight} (diagonal {second.diagonal}): bring them to one strength with scaled() "
            "or with_diagonal(), or close both with closed()"
        )
    stated = Statements(n_samples, NO_LINKS, NO_LINKS, (first, second))
    refuse_conflicts(stated, "correct the labels: on_conflict decides about links, not about labels")
    return close(stated, first.weight, first.diagonal)


def _full_links(links: sparse.csr_array, groups: Groups | None) -> tuple[Links, Links]:
    """The links with the whole strength of their pair, where the groups hold a part of it."""
    if groups is None:
        return split_signs(links)
    coo = links.tocoo()
    known = groups.entry(coo.row, coo.col)
    coo.data = np.where(known * coo.data > 0, coo.data + known, coo.data)
    return split_signs(sparse.csr_array(coo))


def _diagonal(links: sparse.csr_array, groups: Groups | None) -> FloatArray:
    diagonal = np.array(links.diagonal())
    if groups is not None:
        diagonal[groups.points] += groups.diagonal
    return diagonal
