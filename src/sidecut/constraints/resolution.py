"""Statements that contradict each other: which are kept, as a matrix, and what two values know together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from warnings import catch_warnings

import numpy as np
from scipy import sparse

from sidecut.checks import BoolArray, FloatArray, IntArray
from sidecut.constraints.closure import (
    Statements,
    close,
    conflicting_groups,
    contradicted_links,
    contradicted_relations,
    count_conflicts,
    refuse_conflicts,
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
from sidecut.exceptions import ConstraintError, ConstraintWarning, warn

NO_LINKS = Links(np.empty((0, 2), dtype=np.int64), np.empty(0))

Parts = tuple[sparse.csr_array, Groups | None]


class LinkedSets:
    """Sets of nodes, some of which must stay apart: union-find without recursion."""

    def __init__(self) -> None:
        self._parent: dict[int, int] = {}
        self._apart: defaultdict[int, set[int]] = defaultdict(set)
        self._cliques: defaultdict[int, set[tuple[int, int]]] = defaultdict(set)

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
        if b in self._apart[a] or (a != b and self._cliques[a] & self._cliques[b]):
            return False
        if a != b:
            if len(self._apart[a]) < len(self._apart[b]):
                a, b = b, a
            self._parent[b] = a
            self._cliques[a] |= self._cliques.pop(b)
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

    def put_into_clique(self, node: int, clique: tuple[int, int]) -> None:
        """Keep the set of `node` apart from all other sets of a clique, without listing them."""
        self._cliques[self.root(node)].add(clique)


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
    for layer, (groups, nodes) in enumerate(zip(stated.groups, stated.group_nodes, strict=True)):
        inside = doubtful[stated.component[groups.points]]
        for point, node in zip(groups.points[inside], nodes[groups.group[inside]], strict=True):
            sets.join(int(point), int(node))
        component = stated.component[nodes]
        for first, second in nodes[contradicted_relations(groups, component)].tolist():
            sets.separate(first, second)
        for group in groups.in_clique[doubtful[component[groups.in_clique]]].tolist():
            sets.put_into_clique(int(nodes[group]), (layer, int(groups.clique[group])))
    return sets


def drop_conflicts(stated: Statements) -> tuple[Links, Links]:
    """Keep the strongest links that do not contradict each other, and warn of those dropped."""
    # Links are accepted from the strongest to the weakest unless they contradict what is already accepted; of
    # equal links must-links go first, then those with the smaller indices. Groups come before all links.
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


def consistent_layers(stated: Statements, layers: Sequence[Groups]) -> list[Groups]:
    """Return layers without the points where stronger statements contradict them."""
    # Labels, the groups of `stated`, come before all else; each layer after the links that are stronger.
    kept = list[Groups]()
    for layer in sorted(layers, key=lambda groups: -groups.weight):
        must = stated.must.kept(stated.must.strengths > layer.weight)
        cannot = stated.cannot.kept(stated.cannot.strengths > layer.weight)
        with catch_warnings(action="ignore", category=ConstraintWarning):
            groups = (*stated.groups, *kept)
            must, cannot = drop_conflicts(Statements(stated.n_samples, must, cannot, groups))
        known = Statements(stated.n_samples, must, cannot, groups)
        trimmed = _without_contradictions(known, layer)
        kept += [] if trimmed is None else [trimmed]
    return kept


def _without_contradictions(stated: Statements, layer: Groups) -> Groups | None:
    """Return groups without the points whose components are in a contradiction with the statements."""
    left: Groups | None = layer
    while left is not None and count_conflicts(both := replace(stated, groups=(*stated.groups, left))):
        in_conflict = _nodes_in_conflict(both)
        bad: list[IntArray] = [np.flatnonzero(in_conflict[: stated.n_samples])]
        bad += [
            groups.points[in_conflict[node[groups.group]]]
            for groups, node in zip(both.groups[:-1], both.group_nodes, strict=False)
        ]
        component = stated.component[left.points]
        # Points that stronger statements join though these groups part them.
        _, first, place = np.unique(component, return_index=True, return_inverse=True)
        torn = (np.bincount(place, left.group != left.group[first[place]]) > 0)[place]
        torn &= in_conflict[both.group_nodes[-1][left.group]]
        gone = torn if torn.any() else np.isin(component, stated.component[np.concatenate(bad)])
        left = left.selected(np.arange(stated.n_samples), kept=~gone)
    return left


def _nodes_in_conflict(stated: Statements) -> BoolArray:
    """Return which nodes of `must_link_graph` should be apart from others of their component."""
    result = np.zeros(stated.must_link_graph.shape[0], dtype=bool)
    result[stated.cannot.pairs[contradicted_links(stated)]] = True
    for groups, nodes in zip(stated.groups, stated.group_nodes, strict=True):
        result[nodes[contradicted_relations(groups, stated.component[nodes])]] = True
        for some in conflicting_groups(groups, stated.component[nodes]):
            result[nodes[some]] = True
    return result


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
    """Unite two constraint matrices, each given as links and groups that are added."""
    # An entry known to both keeps its greater strength; with "weigh" the links of both add.
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
