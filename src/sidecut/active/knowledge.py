"""From answers to groups: what is known to belong together, and what to be apart.

Certain answers are closed by transitivity. Answers that may be wrong are kept as links with log odds, which
`sidecut.active.weighing` weighs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.special import logit

from sidecut.active.landscape import Landscape
from sidecut.active.records import Answer, answer_odds
from sidecut.checks import BoolArray, FloatArray, IntArray
from sidecut.exceptions import ConflictError

#: Links whose log odds are beyond this (99.9 %) are not asked about again.
SETTLED = float(logit(0.999))


@dataclass(frozen=True)
class Link:
    """What was said about two grains."""

    a: int
    b: int
    odds: float
    of_groups: bool = True


@dataclass(frozen=True)
class Knowledge:
    """Groups of grains, and how they relate."""

    nodes: IntArray
    groups: IntArray
    odds: FloatArray
    trust: FloatArray
    asked: frozenset[tuple[int, int]]
    links: tuple[Link, ...]

    @property
    def n_groups(self) -> int:
        """How many groups there are, single grains included."""
        return len(self.odds)

    @cached_property
    def apart(self) -> BoolArray:
        """Which groups are settled to be apart."""
        return self.odds < -SETTLED

    def members(self, group: int) -> IntArray:
        """Return the grains of a group."""
        return self.nodes[self.groups == group]

    def group_of(self, grain: int) -> int | None:
        """Return the group of a grain, or None where nothing is known about it."""
        at = int(np.searchsorted(self.nodes, grain))
        if at == len(self.nodes) or self.nodes[at] != grain:
            return None
        return int(self.groups[at])

    def was_asked(self, a: int, b: int) -> bool:
        """Tell whether a pair was asked about."""
        return (min(a, b), max(a, b)) in self.asked

    @cached_property
    def is_certain(self) -> bool:
        """Tell whether all that was said is certain."""
        return all(np.isinf(link.odds) for link in self.links)


def join(
    links: Iterable[Link],
    centers: IntArray,
    asked: Iterable[tuple[int, int]],
    points: IntArray | None = None,
) -> Knowledge:
    """Return the groups that certain links make, and the odds between them."""
    links = tuple(links)
    nodes = np.unique([*(link.a for link in links), *(link.b for link in links), *centers]).astype(np.intp)
    ends = np.searchsorted(nodes, [(link.a, link.b) for link in links]).reshape(-1, 2)
    odds = np.array([link.odds for link in links])
    groups = connect(len(nodes), ends[odds == np.inf])
    _refuse_contradiction(nodes if points is None else points[nodes], groups, ends[odds == -np.inf])
    between = _between(groups, ends, odds)
    pairs = frozenset((min(a, b), max(a, b)) for a, b in asked)
    return Knowledge(nodes, groups, between, np.ones(len(nodes)), pairs, links)


def connect(n_nodes: int, edges: IntArray) -> IntArray:
    """Return the connected part every node is in."""
    graph = sp.csr_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n_nodes, n_nodes))
    return connected_components(graph, directed=False)[1].astype(np.intp)


def _refuse_contradiction(nodes: IntArray, groups: IntArray, apart: IntArray) -> None:
    """Refuse what is certainly apart in one group."""
    wrong = apart[groups[apart[:, 0]] == groups[apart[:, 1]]]
    if len(wrong):
        a, b = nodes[wrong[0]]
        raise ConflictError(
            f"Points {a} and {b} are said to be apart, but a chain of certain answers puts them together. "
            "Take an answer back with undo(), or give confidence below 1 where answers may be wrong."
        )


def _between(groups: IntArray, ends: IntArray, odds: FloatArray) -> FloatArray:
    """Add up the odds between groups; what lies inside a group does not count."""
    n = int(groups.max(initial=-1)) + 1
    total = np.zeros((n, n))
    a, b = groups[ends[:, 0]], groups[ends[:, 1]]
    outside = a != b
    np.add.at(total, (a[outside], b[outside]), odds[outside])
    np.add.at(total, (b[outside], a[outside]), odds[outside])
    return total


def know(said: Sequence[Answer], reliability: float, landscape: Landscape) -> Knowledge:
    """Return what follows from all that was said, in grains."""
    grain = landscape.grains.grain_of
    links = [
        Link(int(grain[a.i]), int(grain[a.j]), answer_odds(a, reliability), a.closeness > 0 or not a.gain)
        for a in said
        if a.same is not None
    ]
    asked = [(int(grain[a.i]), int(grain[a.j])) for a in said]
    return join(links, landscape.centers, asked, landscape.grains.points)
