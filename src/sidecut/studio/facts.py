"""What was said, as a list one can edit, with what looks wrong marked."""

from __future__ import annotations

import warnings

import numpy as np

from sidecut.active import ActiveClustering, Answer, Naming
from sidecut.active.records import Record
from sidecut.constraints import Constraints
from sidecut.diagnostics import find_suspects
from sidecut.exceptions import SidecutWarning
from sidecut.graphs import SparseGraph
from sidecut.studio.contradictions import statements
from sidecut.studio.items import Items
from sidecut.studio.messages import Fact, Line

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
