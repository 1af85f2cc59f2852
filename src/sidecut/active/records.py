"""What is asked and what was said: small values that can be written down as JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Question:
    """Whether the points `i` and `j` belong together.

    Attributes
    ----------
    i, j : int
        Rows of X.
    reason : str
        Why this question, in plain words.
    expected : float
        The chance of a yes, as far as is known.
    gain : float
        The expected share of all pairs of points whose grouping the answer changes.
    strategy : str
        The name of the function that proposed it.
    closeness : float
        How strongly the graph links the two groups, where the question is about groups; else 0.
    stands_for : int
        The point in whose place `i` is asked about, where an answer is checked; -1: none.

    Examples
    --------
    >>> from sidecut.active import Question
    >>> question = Question(3, 8, "the two largest groups are close")
    >>> question.i, question.j, question.reason
    (3, 8, 'the two largest groups are close')
    """

    i: int
    j: int
    reason: str
    expected: float = 0.5
    gain: float = 0.0
    strategy: str = ""
    closeness: float = 0.0
    stands_for: int = -1


@dataclass(frozen=True)
class ClassQuestion:
    """Which class the point `i` is of.

    Attributes
    ----------
    i : int
        A row of X.
    reason : str
        Why this point, in plain words.
    names : tuple of str
        The classes named so far, the most frequent first.
    """

    i: int
    reason: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """What was said about a pair of points.

    Attributes
    ----------
    i, j : int
        Rows of X.
    same : bool or None
        Together, apart, or unsure.
    confidence : float
        The chance that this is right, from 0.5 to 1.
    expected, strategy, closeness, gain, stands_for
        As they were in the question.
    changed : float
        The share of all pairs of points whose grouping did change.
    """

    i: int
    j: int
    same: bool | None
    confidence: float = 1.0
    expected: float = 0.5
    strategy: str = ""
    closeness: float = 0.0
    gain: float = 0.0
    changed: float = 0.0
    stands_for: int = -1


@dataclass(frozen=True)
class Naming:
    """The class a point was said to be of; None: unsure.

    Attributes
    ----------
    i : int
        A row of X.
    name : str or None
        The class.
    changed : float
        The share of all pairs of points whose grouping changed.
    """

    i: int
    name: str | None
    changed: float = 0.0


Record = Answer | Naming


def as_record(fields: dict[str, Any]) -> Record:
    """Return the record that `asdict` made these fields of.

    Examples
    --------
    >>> from sidecut.active.records import as_record
    >>> as_record({"i": 4, "name": "cat"}).name
    'cat'
    """
    return Naming(**fields) if "name" in fields else Answer(**fields)


def as_fields(record: Record) -> dict[str, Any]:
    """Return a record as a dictionary of plain values.

    Examples
    --------
    >>> from sidecut.active.records import Answer, as_fields
    >>> as_fields(Answer(0, 1, True))["same"]
    True
    """
    return asdict(record)
