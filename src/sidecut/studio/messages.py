"""Messages between the page and the session: plain dictionaries that go through JSON.

A request is ``{"do": verb, ...}``, where the verb is a method of `sidecut.studio.requests.SessionHandler` and
the rest its arguments. The reply is one of the types below, or ``{"error": Refusal}``. The functions at the
end turn the history of a session into facts, lines on the map, and the answers behind a contradiction.
"""

from __future__ import annotations

import base64
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

import numpy as np

from sidecut.active import ActiveClustering, Answer, ClassAnswer
from sidecut.active.records import Record, SetAnswer, answered_pairs, rows_of
from sidecut.active.terminal import in_words
from sidecut.constraints import Constraints
from sidecut.diagnostics import find_suspects
from sidecut.exceptions import ConflictError, SidecutWarning
from sidecut.graphs import SparseGraph

if TYPE_CHECKING:
    from sidecut.studio.items import Items


class Array(TypedDict):
    """Numbers in base64: ``kind`` is "f4" (32-bit floats), "u1" or "u2" (whole numbers), little-endian."""

    kind: str
    data: str


class Words(TypedDict):
    """A piece of text, and whether the other text lacks it."""

    words: str
    differs: bool


class Field(TypedDict):
    """A cell of a table; `differs` is from 0 (the same, or not used) to 1 (as different as can be)."""

    name: str
    value: str
    differs: float
    is_used: bool


class Card(TypedDict):
    """What is shown of a point; `n_more` of its columns are left out."""

    point: int
    name: str
    fields: list[Field]
    n_more: int
    text: NotRequired[list[Words]]
    picture: NotRequired[str]
    series: NotRequired[list[float]]
    neighbours: NotRequired[list[Words]]


class Face(TypedDict):
    """A point in a list: its name, and a picture where there is one."""

    name: str
    picture: str


class Pair(TypedDict):
    """Two points side by side."""

    left: Card
    right: Card


class Asked(TypedDict):
    """A question of a kind ("pair", "label" or "set") about points: a pair side by side, others as cards."""

    kind: str
    points: list[int]
    words: str
    names: list[str]
    reason: str
    expected: float
    gain: float
    pair: Pair | None
    cards: list[Card]


class Cluster(TypedDict):
    """A cluster: its number, name, size, how sure its points are, and some of its members."""

    cluster: int
    name: str
    is_named: bool
    size: int
    confidence: float
    typical: list[Card]
    doubtful: list[Card]


class Fact(TypedDict):
    """Something that was said: two points together or apart (None: unsure), or the name of a point."""

    # `words` says what was said of a set. `suspect` is the chance that it is wrong, by all else that is
    # known; `reason` says why.

    position: int
    i: int
    j: int
    left: Face
    right: Face
    same: bool | None
    name: str | None
    words: str
    confidence: float
    violated: bool
    suspect: float
    reason: str


class Line(TypedDict):
    """A link on the map."""

    i: int
    j: int
    same: bool
    violated: bool


class Opening(TypedDict):
    """What does not change during a session."""

    kind: str
    title: str
    n_points: int
    places: Array
    axes: list[str]
    columns: list[str]
    about: str
    kept_in: str
    state: State


class State(TypedDict):
    """What changes with an answer."""

    # `step` counts the changes; a request that changes something names the step it was made at, so that two
    # pages do not mix their answers. `labels` holds the number of the cluster of every point, which stays
    # with a cluster from answer to answer and decides its colour; `numbers`, `names` and `sizes` go through
    # the clusters in order; `changed` marks the points that changed.

    step: int
    n_clusters: int
    labels: Array
    confidence: Array
    numbers: list[int]
    names: list[str]
    sizes: list[int]
    changed: Array
    n_changed: int
    lines: list[Line]
    question: Asked | None
    outlook: str
    n_answers: int
    can_undo: bool


class Brief(TypedDict):
    """What a program asks for in place of a `State`: no arrays, no pictures."""

    step: int
    n_points: int
    n_answers: int
    n_changed: int
    clusters: list[ClusterInBrief]
    question: QuestionInBrief | None
    outlook: str


class ClusterInBrief(TypedDict):
    """A cluster in a `Brief`."""

    cluster: int
    name: str
    size: int
    confidence: float


class QuestionInBrief(TypedDict):
    """A question in a `Brief`: its kind ("pair", "label" or "set"), and its points by column."""

    kind: str
    words: str
    names: list[str]
    points: list[dict[str, str]]
    reason: str


class Boundary(TypedDict):
    """Two clusters that touch: how close they are, from 0 to 1, and two points to compare."""

    cluster: int
    other: int
    names: list[str]
    closeness: float
    pair: Pair


class Column(TypedDict):
    """Values to colour points by: numbers, or codes of `categories`."""

    # `numbers` holds the clusters whose colours the categories have, where they have any; `differs` marks the
    # points that are elsewhere on the map.

    name: str
    is_number: bool
    values: Array
    low: float
    high: float
    categories: list[str]
    numbers: NotRequired[list[int]]
    differs: NotRequired[Array]


class Link(TypedDict):
    """A link of a contradiction; `positions` are the facts it comes from, none where it is new."""

    i: int
    j: int
    left: Face
    right: Face
    same: bool
    positions: list[int]
    is_new: bool


class Contradiction(TypedDict):
    """Why an answer cannot be taken: a chain of must-links joins two points that are said to be apart."""

    words: str
    links: list[Link]


class Refusal(TypedDict):
    """Why a request was refused."""

    words: str
    contradiction: NotRequired[Contradiction]
    is_stale: NotRequired[bool]


class File(TypedDict):
    """A file to keep: its name, its type and its bytes in base64."""

    name: str
    type: str
    data: str


class Opinion(TypedDict):
    """The clusters of AutoCut with the same constraints as a column, its reasons, and how much differs."""

    column: Column
    words: str
    n_differing: int


class Canvas(TypedDict):
    """A picture to paint on; `strokes` is a label image, 0 where nothing is painted."""

    kind: str
    title: str
    width: int
    height: int
    picture: str
    kept_in: str
    state: Painting


class Painting(TypedDict):
    """Strokes and the segments that follow from them; none while fewer than two classes are painted."""

    step: int
    strokes: Array
    segments: Array | None
    sizes: list[int]
    words: str
    can_undo: bool


def pack(values: Any, kind: str) -> Array:
    """Return numbers as a message."""
    array = np.ascontiguousarray(values, dtype=f"<{kind}")
    return Array(kind=kind, data=base64.b64encode(array.tobytes()).decode("ascii"))


def unpack(message: Array) -> np.ndarray:
    """Return the numbers of a message."""
    if message.get("kind") not in ("f4", "u1", "u2"):
        raise ValueError(f"kind={message.get('kind')!r} must be 'f4', 'u1' or 'u2'.")
    return np.frombuffer(base64.b64decode(message["data"], validate=True), dtype=f"<{message['kind']}")


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
    for position, record in enumerate(history):
        if isinstance(record, SetAnswer) and (record.confidence == 1.0 or not only_certain):
            pairs = answered_pairs([record])
            found += [Statement(pair.i, pair.j, bool(pair.same), (position,)) for pair in pairs]
    named: dict[int, int] = {
        record.i: position for position, record in enumerate(history) if isinstance(record, ClassAnswer)
    }
    for pair in answered_pairs([record for record in history if isinstance(record, ClassAnswer)]):
        positions = tuple(sorted({named[pair.i], named[pair.j]}))
        found.append(Statement(pair.i, pair.j, bool(pair.same), positions))
    return found


def list_facts(run: ActiveClustering, items: Items) -> list[Fact]:
    """Return what was said, in order, each with how suspicious it is."""
    suspicions = _find_suspicions(run)
    facts = []
    for position, record in enumerate(run.history_):
        j = rows_of(record)[-1]
        same = record.same if isinstance(record, Answer) else None
        together = run.labels_[record.i] == run.labels_[j]
        suspect, reason = suspicions.get(position, (0.0, ""))
        facts.append(
            Fact(
                position=position,
                i=record.i,
                j=j,
                left=items.face(record.i),
                right=items.face(j),
                same=same,
                name=record.name if isinstance(record, ClassAnswer) else None,
                words=in_words(record, items.names) if isinstance(record, SetAnswer) else "",
                confidence=record.confidence,
                violated=bool(same is not None and np.not_equal(together, same)),
                suspect=suspect,
                reason=reason,
            )
        )
    return facts


def _find_suspicions(run: ActiveClustering) -> dict[int, tuple[float, str]]:
    """Return the score and the reason of every answer that can be judged, by its place in the history."""
    grain = run.precomputed_.micro_clusters.index_of
    pairs: dict[tuple[int, int], tuple[bool, list[int]]] = {}
    said_pairs = statements(run.history_, only_certain=False)
    for said in said_pairs:
        a, b = sorted((int(grain[said.i]), int(grain[said.j])))
        if a != b:
            pairs.setdefault((a, b), (said.same, []))[1].extend(said.positions)
    # Fewer than four links cannot be judged by each other.
    if len(pairs) < 4:
        return {}
    known = Constraints.from_pairs(
        run.precomputed_.n_micro_clusters,
        [pair for pair, (same, _) in pairs.items() if same] or None,
        [pair for pair, (same, _) in pairs.items() if not same] or None,
        on_conflict="weigh",
    )
    graph = SparseGraph(run.precomputed_.weights)
    # A cluster with a single point that answers speak of may be a mistake, and does not count.
    points = np.unique([point for said in said_pairs for point in (said.i, said.j)])
    n_clusters = max(2, int(np.count_nonzero(np.bincount(run.labels_[points]) >= 2)))
    with warnings.catch_warnings():
        # Few constraints and a disconnected graph are usual here.
        warnings.simplefilter("ignore", SidecutWarning)
        suspects = find_suspects(graph, known, affinity="precomputed", n_clusters=n_clusters)
    return {
        position: (float(score), reason)
        for ends, score, reason in zip(suspects.points, suspects.scores, suspects.reasons, strict=True)
        for position in pairs[min(ends), max(ends)][1]
    }


def list_lines(run: ActiveClustering) -> list[Line]:
    """Return all links as lines on the map; a link is violated where the clusters do not agree with it."""
    return [
        Line(i=s.i, j=s.j, same=s.same, violated=bool((run.labels_[s.i] == run.labels_[s.j]) != s.same))
        for s in statements(run.history_, only_certain=False)
    ]


def explain_contradiction(
    run: ActiveClustering, history: Sequence[Record], n_old: int, items: Items
) -> Contradiction:
    """Return the chain that contradicts itself in a history the run refused."""
    grain = run.precomputed_.micro_clusters.index_of
    said = statements(history)
    inside = next((s for s in said if not s.same and grain[s.i] == grain[s.j]), None)
    if inside is not None:
        words = (
            f"{items.names[inside.i]} and {items.names[inside.j]} are so near each other that they are asked "
            "about as one; they cannot be apart."
        )
        return Contradiction(words=words, links=[_as_link(inside, n_old, items)])
    chain = [_as_link(s, n_old, items) for s in _chain(said, grain, run.precomputed_.n_micro_clusters)]
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
