"""From answers to groups of micro-clusters: which belong together, and which are apart.

Certain answers are closed by transitivity. Answers that may be wrong are kept with their log odds; the
posterior of `sidecut.active.noisy_answers` combines them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.special import logit

from sidecut.active.precomputed import Precomputed
from sidecut.active.records import Answer, Piles, answer_odds, pile_odds
from sidecut.checks import BoolArray, FloatArray, IntArray
from sidecut.exceptions import ConflictError

#: Pairs whose log odds are beyond this (99.9 %) are not asked about again.
SETTLED_ODDS = float(logit(0.999))


@dataclass(frozen=True)
class PairOdds:
    """The log odds that two micro-clusters belong together, by one answer; about groups or single points."""

    a: int
    b: int
    odds: float
    of_groups: bool = True
    from_pile: bool = False


@dataclass(frozen=True)
class Pile:
    """Points under one name, or in one group of a set; two piles of one answer are of two classes."""

    answer: int
    micro_clusters: IntArray
    odds: FloatArray


@dataclass(frozen=True)
class AnswerGroups:
    """Groups of micro-clusters, and how they relate."""

    nodes: IntArray
    group: IntArray
    odds: FloatArray
    trust: FloatArray
    asked: frozenset[tuple[int, int]]
    links: tuple[PairOdds, ...]
    piles: tuple[Pile, ...] = ()

    @property
    def n_groups(self) -> int:
        """The number of groups, single micro-clusters included."""
        return len(self.odds)

    @cached_property
    def apart(self) -> BoolArray:
        """Which groups are certain to be apart."""
        return self.odds < -SETTLED_ODDS

    def members(self, group: int) -> IntArray:
        """Return the micro-clusters of a group."""
        return self.nodes[self.group == group]

    def group_of(self, micro: int) -> int | None:
        """Return the group of a micro-cluster, or None if no answer names it."""
        at = int(np.searchsorted(self.nodes, micro))
        if at == len(self.nodes) or self.nodes[at] != micro:
            return None
        return int(self.group[at])

    @cached_property
    def is_certain(self) -> bool:
        """Whether all answers are certain."""
        return all(np.isinf(link.odds) for link in self.links)


def join(
    links: Iterable[PairOdds],
    centers: IntArray,
    asked: Iterable[tuple[int, int]],
    points: IntArray | None = None,
) -> AnswerGroups:
    """Return the groups that certain answers form, and the log odds between them."""
    links = tuple(links)
    nodes = np.unique([*(link.a for link in links), *(link.b for link in links), *centers]).astype(np.intp)
    ends = np.searchsorted(nodes, [(link.a, link.b) for link in links]).reshape(-1, 2)
    odds = np.array([link.odds for link in links])
    group = connect(len(nodes), ends[odds == np.inf])
    a, b = group[ends.T]
    wrong = np.flatnonzero((odds == -np.inf) & (a == b))
    if len(wrong):
        rows = nodes[ends[wrong[0]]]
        i, j = rows if points is None else points[rows]
        raise ConflictError(
            f"Points {i} and {j} are said to be apart, but a chain of certain answers puts them together. "
            "Take an answer back with undo(), or give confidence below 1 where answers may be wrong."
        )
    between = np.zeros((int(group.max(initial=-1)) + 1,) * 2)
    outside = a != b
    np.add.at(between, (a[outside], b[outside]), odds[outside])
    np.add.at(between, (b[outside], a[outside]), odds[outside])
    pairs = frozenset((min(a, b), max(a, b)) for a, b in asked)
    return AnswerGroups(nodes, group, between, np.ones(len(nodes)), pairs, links)


def connect(n_nodes: int, edges: IntArray) -> IntArray:
    """Return the connected component of every node."""
    graph = sp.csr_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n_nodes, n_nodes))
    return connected_components(graph, directed=False)[1].astype(np.intp)


def group_answers(answers: Sequence[Answer], reliability: float, precomputed: Precomputed) -> AnswerGroups:
    """Return the groups of micro-clusters that answers about points form."""
    micro = precomputed.micro_clusters.index_of
    asked = [(int(micro[a.i]), int(micro[a.j])) for a in answers]
    links = [
        PairOdds(*pair, answer_odds(a, reliability), a.closeness > 0 or not a.gain, a.strategy == "named")
        for a, pair in zip(answers, asked, strict=True)
        if a.same is not None
    ]
    return join(links, precomputed.centers, asked, precomputed.micro_clusters.points)


def group_piles(answers: Sequence[Piles], reliability: float, precomputed: Precomputed) -> tuple[Pile, ...]:
    """Return the piles of points as piles of micro-clusters."""
    index_of = precomputed.micro_clusters.index_of
    return tuple(
        Pile(
            k, index_of[[point for point, _ in pile]], np.array([pile_odds(c, reliability) for _, c in pile])
        )
        for k, piles in enumerate(answers)
        for pile in piles
        if sum(map(len, piles)) > 1
    )
