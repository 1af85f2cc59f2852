"""From answers to groups: what is known to belong together, and what to be apart.

Certain answers are closed by transitivity. Answers that may be wrong are weighed: each is a link with the log
odds of being true, given what was expected before it was asked and how sure the person was; groups are joined
greedily while the odds between them favour it (correlation clustering by additive edge contraction).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.special import expit, logit

from sidecut.arrays import BoolArray, FloatArray, IntArray
from sidecut.exceptions import ConflictError

#: Links whose log odds are beyond this (98 %) are not asked about again.
SETTLED = float(logit(0.98))
#: What was expected before the answer counts as no surer than this. It rests on earlier answers, wrong ones
#: among them: were it believed, one wrong answer would outvote the right ones after it.
MOST_EXPECTED = 0.65


@dataclass(frozen=True)
class Link:
    """What was said about two grains: log odds of belonging together, infinite where certain."""

    a: int
    b: int
    odds: float


def log_odds(same: bool, confidence: float, expected: float) -> float:
    """Return the log odds of "together" after an answer: those of the answer plus those expected before.

    Examples
    --------
    >>> from sidecut.active.knowledge import log_odds
    >>> round(log_odds(True, 0.9, 0.5), 2), round(log_odds(True, 0.8, 0.05), 2), log_odds(False, 1.0, 0.9)
    (2.2, 0.77, -inf)
    """
    said = float(logit(confidence)) if same else -float(logit(confidence))
    return said + float(logit(np.clip(expected, 1 - MOST_EXPECTED, MOST_EXPECTED)))


@dataclass(frozen=True)
class Knowledge:
    """Groups of grains, and how they relate.

    Attributes
    ----------
    nodes : array of shape (n_nodes,)
        The grains something is known about, and the centres of the pieces; ascending.
    groups : array of shape (n_nodes,)
        The group of each.
    odds : array of shape (n_groups, n_groups)
        Log odds that two groups belong together, from answers; 0 where nothing was said.
    trust : array of shape (n_nodes,)
        The chance that a node is in its group, as far as answers tell; 1 where certain.
    asked : set of pairs
        Pairs of grains that were asked about, smaller first; never asked again.
    links : tuple of Link
        All that was said.
    """

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
    """Return the groups that links make.

    Parameters
    ----------
    links : iterable of Link
        What was said.
    centers : array of int
        Grains that are nodes even if nothing was said about them.
    asked : iterable of pairs
        Pairs not to ask about again; those that were answered "unsure" too.
    points : array of int, optional
        The point that stands for each grain, for messages.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.active.knowledge import Link, join
    >>> said = [Link(0, 1, np.inf), Link(1, 2, np.inf), Link(2, 5, -np.inf)]
    >>> known = join(said, np.array([9]), [])
    >>> known.groups, known.apart[known.group_of(0), known.group_of(5)]
    (array([0, 0, 0, 1, 2]), np.True_)
    """
    links = tuple(links)
    nodes = np.unique([*(link.a for link in links), *(link.b for link in links), *centers]).astype(np.intp)
    ends = np.searchsorted(nodes, [(link.a, link.b) for link in links]).reshape(-1, 2)
    odds = np.array([link.odds for link in links])
    groups = connect(len(nodes), ends[odds == np.inf])
    _refuse_contradiction(nodes if points is None else points[nodes], groups, ends[odds == -np.inf])
    between = _between(groups, ends, odds)
    if np.isfinite(odds).any():
        groups, between = _contract(groups, between)
    trust = _trust(groups, ends, odds)
    pairs = frozenset((min(a, b), max(a, b)) for a, b in asked)
    return Knowledge(nodes, groups, between, trust, pairs, links)


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


def _contract(groups: IntArray, odds: FloatArray) -> tuple[IntArray, FloatArray]:
    """Join the two groups with the best odds while these are above 0 (Keuper et al., 2015)."""
    odds = odds.copy()
    name = np.arange(len(odds))
    while len(odds) > 1:
        a, b = np.unravel_index(int(np.argmax(odds)), odds.shape)
        if not odds[a, b] > 0:
            break
        odds[a] += odds[b]
        odds[:, a] = odds[a]
        odds[a, a] = 0.0
        odds = np.delete(np.delete(odds, b, axis=0), b, axis=1)
        name = np.where(name == b, a, name)
        name = np.where(name > b, name - 1, name)
    return name[groups].astype(np.intp), odds


def _trust(groups: IntArray, ends: IntArray, odds: FloatArray) -> FloatArray:
    """Return how sure it is that each node is in its group: the odds of its own links to the group."""
    total = np.zeros(len(groups))
    inside = groups[ends[:, 0]] == groups[ends[:, 1]]
    for side in (0, 1):
        np.add.at(total, ends[inside, side], odds[inside])
    linked = np.zeros(len(groups), dtype=bool)
    linked[ends[inside].ravel()] = True
    return np.where(linked, expit(total), 1.0)
