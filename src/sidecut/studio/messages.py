"""What the page and the session say to each other: plain dictionaries that go through JSON.

A request is ``{"do": verb, ...}``, where the verb is a method of `sidecut.studio.requests.SessionHandler` and
the rest its arguments. The reply is one of the types below, or ``{"error": Refusal}``.
"""

from __future__ import annotations

import base64
from typing import Any, NotRequired, TypedDict

import numpy as np


class Array(TypedDict):
    """Numbers in base64: ``kind`` is "f4" (32-bit floats), "u1" or "u2" (whole numbers), little-endian."""

    kind: str
    data: str


class Words(TypedDict):
    """A piece of text, and whether the other text lacks it."""

    words: str
    differs: bool


class Field(TypedDict):
    """A cell of a table; `differs` is from 0 (the same) to 1 (as different as two can be)."""

    name: str
    value: str
    differs: float


class Card(TypedDict):
    """What is shown of a point."""

    point: int
    name: str
    fields: list[Field]
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
    """A question: whether points `i` and `j` belong together."""

    i: int
    j: int
    reason: str
    expected: float
    gain: float
    pair: Pair


class Cluster(TypedDict):
    """A cluster: its number, name, colour, size, how sure its points are, and some of its members."""

    cluster: int
    name: str
    is_named: bool
    color: int
    size: int
    confidence: float
    typical: list[Card]
    doubtful: list[Card]


class Fact(TypedDict):
    """Something that was said: two points together or apart (None: unsure), or the name of a point.

    `suspect` is the chance that it is wrong, by all else that is known; `reason` says why.
    """

    position: int
    i: int
    j: int
    left: Face
    right: Face
    same: bool | None
    name: str | None
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
    """All that does not change."""

    kind: str
    title: str
    n_points: int
    places: Array
    axes: list[str]
    columns: list[str]
    kept_in: str
    state: State


class State(TypedDict):
    """All that changes with an answer.

    `step` counts the changes; a request that changes something names the step it was made at, so that two
    pages do not mix their answers. `labels` holds the cluster of every point, `colors` the colour of every
    cluster, which stays with a cluster from answer to answer; `changed` the points that changed colour.
    """

    step: int
    n_clusters: int
    labels: Array
    confidence: Array
    colors: list[int]
    names: list[str]
    sizes: list[int]
    changed: Array
    n_changed: int
    lines: list[Line]
    question: Asked | None
    outlook: str
    n_answers: int
    can_undo: bool


class Column(TypedDict):
    """Values to colour points by: numbers, or codes of `categories`."""

    name: str
    is_number: bool
    values: Array
    low: float
    high: float
    categories: list[str]


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
    """What AutoCut makes of all that is known: its clusters as a column, and its reasons in words."""

    column: Column
    words: str
    agreement: float


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
