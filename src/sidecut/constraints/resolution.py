"""Which links to keep when they cannot all hold: the strongest, greedily."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from sidecut.constraints.closure import (
    Knowledge,
    contradicted_links,
    contradicted_relations,
    crowds,
    must_link_components,
)
from sidecut.constraints.links import IntArray

BoolArray = NDArray[np.bool_]


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
    """Accept links from the strongest to the weakest unless they contradict those accepted before.

    Parameters
    ----------
    knowledge : Knowledge
        Links that contradict each other, and groups that do not.

    Returns
    -------
    must_kept, cannot_kept : ndarray of bool
        Which links are accepted. Of equally strong ones must-links go first, then smaller indices.
    """
    component = must_link_components(knowledge)
    torn = _torn_components(knowledge, component)
    # A link outside the components that hold a contradiction can contradict nothing.
    must_doubtful = np.flatnonzero(torn[component[knowledge.must.pairs[:, 0]]])
    cannot_doubtful = np.flatnonzero(contradicted_links(knowledge, component))
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
    torn[component[knowledge.cannot.pairs[contradicted_links(knowledge, component), 0]]] = True
    for groups, nodes in zip(knowledge.groups, knowledge.group_nodes(), strict=True):
        torn[component[nodes[contradicted_relations(groups, component[nodes])[:, 0]]]] = True
        for crowd in crowds(groups, component[nodes]):
            torn[component[nodes[crowd[0]]]] = True
    return torn


def _alliances_of_groups(knowledge: Knowledge, component: IntArray, torn: BoolArray) -> Alliances:
    alliances = Alliances()
    for groups, nodes in zip(knowledge.groups, knowledge.group_nodes(), strict=True):
        inside = torn[component[groups.points]]
        for point, node in zip(groups.points[inside], nodes[groups.group[inside]], strict=True):
            alliances.join(int(point), int(node))
        for first, second in nodes[contradicted_relations(groups, component[nodes])].tolist():
            alliances.part(first, second)
        for node in nodes[groups.exclusive & torn[component[nodes]]].tolist():
            alliances.make_exclusive(node)
    return alliances
