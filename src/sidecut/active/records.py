"""What is asked and what was said, as small values; and what these records say about pairs of points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from dataclasses import fields as dataclass_fields
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import logit

from sidecut.arrays import FloatArray, IntArray
from sidecut.constraints import Constraints
from sidecut.parameters import is_number

#: Pairs that were given at the start, or follow from names: believed as they are, by whomever they were said.
BELIEVED = ("given", "named")


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


@dataclass(frozen=True)
class Outlook:
    """What further questions would bring.

    Attributes
    ----------
    expected : float
        The share of all pairs of points the next answer is expected to regroup; 0 where none is left.
    recent : float
        The mean share that the last ten answers did regroup.
    words : str
        The same in a sentence.
    """

    expected: float
    recent: float
    words: str


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
    expected, strategy, closeness, gain
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


def answer_to(question: Question, same: bool | None, confidence: float) -> Answer:
    """Return the answer to a question, with all that is to be remembered of it."""
    return Answer(
        question.i,
        question.j,
        same,
        confidence,
        question.expected,
        question.strategy,
        question.closeness,
        question.gain,
    )


def check_record(record: Any, n_samples: int) -> Record:
    """Return a record that speaks of rows of X; refuse any other.

    Examples
    --------
    >>> from sidecut.active import Answer
    >>> from sidecut.active.records import check_record
    >>> check_record(Answer(0, 9, True), n_samples=5)
    Traceback (most recent call last):
    ...
    ValueError: There is no row 9: rows are counted from 0, and X has 5 of them.
    """
    if not isinstance(record, Answer | Naming):
        raise ValueError(f"{record!r} is no answer; give Answer(i, j, same), or Naming(i, name).")
    for row in (record.i, record.j) if isinstance(record, Answer) else (record.i,):
        if isinstance(row, bool) or not isinstance(row, int | np.integer) or not 0 <= row < n_samples:
            raise ValueError(
                f"There is no row {row!r}: rows are counted from 0, and X has {n_samples} of them."
            )
    if isinstance(record, Naming):
        return record
    if record.i == record.j:
        raise ValueError(f"Row {record.i} is compared with itself; a pair is of two rows.")
    if record.same is not None and not isinstance(record.same, bool | np.bool_):
        raise ValueError(f"same={record.same!r} must be True (together), False (apart) or None (unsure).")
    confidence = record.confidence
    if not is_number(confidence) or not 0.5 <= confidence <= 1.0:
        raise ValueError(f"confidence={confidence!r} must be from 0.5 (a guess) to 1 (certain).")
    same = None if record.same is None else bool(record.same)
    return replace(record, same=same, confidence=float(confidence))


def as_record(fields: dict[str, Any]) -> Record:
    """Return the record that `asdict` made these fields of.

    Examples
    --------
    >>> from sidecut.active.records import as_record
    >>> as_record({"i": 4, "name": "cat"}).name
    'cat'
    """
    kind = Naming if "name" in fields else Answer
    # Runs saved by an earlier version may hold fields that are no more.
    known = {field.name for field in dataclass_fields(kind)}
    return kind(**{name: value for name, value in fields.items() if name in known})


def as_fields(record: Record) -> dict[str, Any]:
    """Return a record as a dictionary of plain values.

    Examples
    --------
    >>> from sidecut.active.records import Answer, as_fields
    >>> as_fields(Answer(0, 1, True))["same"]
    True
    """
    return asdict(record)


# What records say about pairs


def pairs_said(records: Sequence[Record]) -> list[Answer]:
    """Return all answers; names as pairs: a chain through each class, and one pair between any two.

    Examples
    --------
    >>> from sidecut.active import Naming
    >>> from sidecut.active.records import pairs_said
    >>> said = pairs_said([Naming(3, "cat"), Naming(5, "dog"), Naming(8, "cat")])
    >>> [(pair.i, pair.j, pair.same) for pair in said]
    [(3, 8, True), (5, 3, False)]
    """
    pairs = [record for record in records if isinstance(record, Answer)]
    by_name: dict[str, list[int]] = {}
    for record in records:
        if isinstance(record, Naming) and record.name is not None:
            by_name.setdefault(record.name, []).append(record.i)
    for points in by_name.values():
        pairs += [Answer(a, b, True, strategy="named") for a, b in pairwise(points) if a != b]
    first = [points[0] for points in by_name.values()]
    pairs += [Answer(a, b, False, strategy="named") for k, a in enumerate(first) for b in first[:k]]
    return pairs


def chance_right(answer: Answer, reliability: float) -> float:
    """Return the chance that an answer is right: true and meant, or wrong twice over.

    Examples
    --------
    >>> from sidecut.active import Answer
    >>> from sidecut.active.records import chance_right
    >>> round(chance_right(Answer(0, 1, True, confidence=0.8, strategy="controller"), reliability=0.9), 2)
    0.74
    """
    if answer.strategy in BELIEVED:
        return answer.confidence
    return answer.confidence * reliability + (1.0 - answer.confidence) * (1.0 - reliability)


def answer_odds(answer: Answer, reliability: float) -> float:
    """Return the log odds of "together" that an answer gives: log p / (1 - p) for a yes that is right with p.

    Examples
    --------
    >>> from sidecut.active import Answer
    >>> from sidecut.active.records import answer_odds
    >>> round(answer_odds(Answer(0, 1, True), 0.9), 2), round(answer_odds(Answer(0, 1, False), 0.9), 2)
    (2.2, -2.2)
    """
    odds = float(logit(chance_right(answer, reliability)))
    return odds if answer.same else -odds


def as_constraints(said: Sequence[Answer], reliability: float, n_samples: int, certain: bool) -> Constraints:
    """Return all that was said as constraints, each of weight 2p - 1 for a chance p that it is right."""
    sure = [(a, 2.0 * chance_right(a, reliability) - 1.0) for a in said if a.same is not None]
    must = [((a.i, a.j), weight) for a, weight in sure if a.same and weight > 0]
    cannot = [((a.i, a.j), weight) for a, weight in sure if not a.same and weight > 0]
    return Constraints.from_pairs(
        n_samples,
        must_link=[pair for pair, _ in must] or None,
        cannot_link=[pair for pair, _ in cannot] or None,
        must_weight=[weight for _, weight in must] or 1.0,
        cannot_weight=[weight for _, weight in cannot] or 1.0,
        on_conflict="raise" if certain else "weigh",
    )


def as_answers(known: Constraints) -> list[Answer]:
    """Return constraints as answers: chains of must-links, and one cannot-link for any two groups.

    A belief of strength s below 1 is an answer with confidence (1 + |s|) / 2.

    Examples
    --------
    >>> from sidecut.constraints import Constraints
    >>> from sidecut.active.records import as_answers
    >>> [(a.i, a.j, a.same) for a in as_answers(Constraints.from_labels([5, 5, 5, 7, 7, None]))]
    [(0, 1, True), (1, 2, True), (3, 4, True), (0, 3, False)]
    """
    pairs, strengths = known.pairs, known.strengths
    confidences = np.minimum(1.0, (1.0 + np.abs(strengths)) / 2.0)
    firm = confidences >= 1.0
    answers = [
        Answer(int(i), int(j), bool(s > 0), float(c), strategy="given")
        for (i, j), s, c in zip(pairs[~firm], strengths[~firm], confidences[~firm], strict=True)
    ]
    return _firm_answers(known.n_samples, pairs[firm], strengths[firm]) + answers


def _firm_answers(n_samples: int, pairs: IntArray, strengths: FloatArray) -> list[Answer]:
    firm = Constraints.from_pairs(n_samples, pairs[strengths > 0], pairs[strengths < 0])
    component = firm.must_link_components()
    order = np.argsort(component, kind="stable")
    linked = component[order[1:]] == component[order[:-1]]
    chains = [(int(a), int(b)) for a, b in zip(order[:-1][linked], order[1:][linked], strict=True)]
    first = np.full(component.max(initial=-1) + 1, n_samples)
    np.minimum.at(first, component, np.arange(n_samples))
    apart = np.unique(np.sort(first[component[firm.cannot_link]].reshape(-1, 2), axis=1), axis=0)
    together = [Answer(a, b, True, strategy="given") for a, b in chains]
    return together + [Answer(int(a), int(b), False, strategy="given") for a, b in apart]
