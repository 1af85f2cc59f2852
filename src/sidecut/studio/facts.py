"""What was said, as a list one can edit, with what looks wrong marked."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sidecut.active import ActiveClustering, Answer, Naming
from sidecut.active.records import Record, pairs_said
from sidecut.constraints import Constraints
from sidecut.diagnostics import find_suspects
from sidecut.exceptions import ConflictError, SidecutWarning
from sidecut.graphs import SparseGraph
from sidecut.studio.items import Items
from sidecut.studio.messages import Contradiction, Fact, Line, Link

#: Fewer links than this are not judged: there is nothing to judge them by.
FEWEST_JUDGED = 4

Suspicion = tuple[float, str]


def list_facts(run: ActiveClustering, items: Items) -> list[Fact]:
    """Return what was said, in order, each with how suspicious it is."""
    suspicions = find_suspicions(run)
    return [
        _as_fact(position, record, run, items, suspicions.get(position, (0.0, "")))
        for position, record in enumerate(run.history_)
    ]


def find_suspicions(run: ActiveClustering) -> dict[int, Suspicion]:
    """Return the score and the reason of every answer that can be judged, by its place in the history.

    Links between grains are judged by `sidecut.diagnostics.find_suspects` on the graph of the grains.
    """
    grain = run.landscape_.grains.grain_of
    pairs: dict[tuple[int, int], tuple[bool, list[int]]] = {}
    for said in statements(run.history_, only_certain=False):
        a, b = sorted((int(grain[said.i]), int(grain[said.j])))
        if a != b:
            pairs.setdefault((a, b), (said.same, []))[1].extend(said.positions)
    if len(pairs) < FEWEST_JUDGED:
        return {}
    known = Constraints.from_pairs(
        run.landscape_.n_grains,
        [pair for pair, (same, _) in pairs.items() if same] or None,
        [pair for pair, (same, _) in pairs.items() if not same] or None,
        on_conflict="weigh",
    )
    graph = SparseGraph(run.landscape_.weights)
    with warnings.catch_warnings():
        # That little is known, or that the graph has parts, is no news to whoever is being asked.
        warnings.simplefilter("ignore", SidecutWarning)
        suspects = find_suspects(graph, known, affinity="precomputed", n_clusters=_seen_clusters(run))
    return {
        position: (float(score), reason)
        for ends, score, reason in zip(suspects.points, suspects.scores, suspects.reasons, strict=True)
        for position in pairs[min(ends), max(ends)][1]
    }


def _seen_clusters(run: ActiveClustering) -> int:
    """Return how many clusters answers speak of: one that a single point was put into may be a mistake."""
    points = np.unique([point for s in statements(run.history_, only_certain=False) for point in (s.i, s.j)])
    return max(2, int(np.count_nonzero(np.bincount(run.labels_[points]) >= 2)))


def list_lines(run: ActiveClustering) -> list[Line]:
    """Return all links as lines on the map; a link is violated where the clusters do not agree with it."""
    return [
        Line(i=s.i, j=s.j, same=s.same, violated=bool((run.labels_[s.i] == run.labels_[s.j]) != s.same))
        for s in statements(run.history_, only_certain=False)
    ]


def _as_fact(
    position: int, record: Record, run: ActiveClustering, items: Items, suspicion: Suspicion
) -> Fact:
    j = record.i if isinstance(record, Naming) else record.j
    same = record.same if isinstance(record, Answer) else None
    together = run.labels_[record.i] == run.labels_[j]
    return Fact(
        position=position,
        i=record.i,
        j=j,
        left=items.face(record.i),
        right=items.face(j),
        same=same,
        name=record.name if isinstance(record, Naming) else None,
        confidence=record.confidence if isinstance(record, Answer) else 1.0,
        violated=bool(same is not None and np.not_equal(together, same)),
        suspect=suspicion[0],
        reason=suspicion[1],
    )


# Why an answer cannot be taken: the chain of earlier ones that speaks against it.


@dataclass(frozen=True)
class Statement:
    """Two points that are together or apart, and the places in the history that say so."""

    i: int
    j: int
    same: bool
    positions: tuple[int, ...]


def statements(history: Sequence[Record], only_certain: bool = True) -> list[Statement]:
    """Return what was said about pairs: answers, all or the certain ones, and what follows from names."""
    found = [
        Statement(record.i, record.j, record.same, (position,))
        for position, record in enumerate(history)
        if isinstance(record, Answer)
        and record.same is not None
        and (record.confidence == 1.0 or not only_certain)
    ]
    named: dict[int, int] = {
        record.i: position for position, record in enumerate(history) if isinstance(record, Naming)
    }
    for pair in pairs_said([record for record in history if isinstance(record, Naming)]):
        positions = tuple(sorted({named[pair.i], named[pair.j]}))
        found.append(Statement(pair.i, pair.j, bool(pair.same), positions))
    return found


def explain_contradiction(
    run: ActiveClustering, history: Sequence[Record], n_old: int, items: Items
) -> Contradiction:
    """Return the chain that contradicts itself in a history the run refused."""
    grain = run.landscape_.grains.grain_of
    said = statements(history)
    inside = next((s for s in said if not s.same and grain[s.i] == grain[s.j]), None)
    if inside is not None:
        words = (
            f"{items.names[inside.i]} and {items.names[inside.j]} are so near each other that they are asked "
            "about as one; they cannot be apart."
        )
        return Contradiction(words=words, links=[_as_link(inside, n_old, items)])
    chain = [_as_link(s, n_old, items) for s in _chain(said, grain, run.landscape_.n_grains)]
    apart, n_together = chain[0], len(chain) - 1
    words = (
        f"{apart['left']['name']} and {apart['right']['name']} are said to be apart, but "
        f"{'another answer' if n_together == 1 else f'a chain of {n_together} answers'} puts them together."
    )
    return Contradiction(words=words, links=chain)


def _chain(said: list[Statement], grain: np.ndarray, n_grains: int) -> list[Statement]:
    """Return the statement "apart" and then those "together" from one of its ends to the other."""
    by_pair: dict[tuple[int, int, bool], Statement] = {}
    for s in said:
        a, b = sorted((int(grain[s.i]), int(grain[s.j])))
        if a != b:
            by_pair.setdefault((a, b, s.same), s)
    together = [(a, b) for a, b, same in by_pair if same]
    apart = [(a, b) for a, b, same in by_pair if not same]
    try:
        Constraints.from_pairs(n_grains, together or None, apart or None)
    except ConflictError as error:
        conflict = error.conflicts[0]
        a, b = sorted(conflict.cannot_link)
        steps = [tuple(sorted(step)) for step in zip(conflict.chain[:-1], conflict.chain[1:], strict=True)]
        return [by_pair[a, b, False], *(by_pair[c, d, True] for c, d in steps)]
    raise ValueError("These answers do not contradict each other.")


def _as_link(statement: Statement, n_old: int, items: Items) -> Link:
    old = [position for position in statement.positions if position < n_old]
    return Link(
        i=statement.i,
        j=statement.j,
        left=items.face(statement.i),
        right=items.face(statement.j),
        same=statement.same,
        positions=old,
        is_new=len(old) < len(statement.positions),
    )
