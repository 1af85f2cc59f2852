"""From the history of a run to what is known: names become pairs, pairs become links of some odds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from scipy.special import logit

from sidecut.active.knowledge import Knowledge, Link, join, log_odds
from sidecut.active.landscape import Landscape
from sidecut.active.records import Answer, Naming, Record
from sidecut.constraints import Constraints

#: A point asked about in place of another belongs to it with these log odds (95 %).
IN_PLACE = float(logit(0.95))
#: Pairs that were given at the start, or follow from names: believed as they are, by whomever they were said.
BELIEVED = ("given", "named")


def pairs_said(records: Sequence[Record]) -> list[Answer]:
    """Return all answers; names as pairs: a chain through each class, and one pair between any two.

    Examples
    --------
    >>> from sidecut.active import Naming
    >>> from sidecut.active.history import pairs_said
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
    >>> from sidecut.active.history import chance_right
    >>> round(chance_right(Answer(0, 1, True, confidence=0.8, strategy="controller"), reliability=0.9), 2)
    0.74
    """
    if answer.strategy in BELIEVED:
        return answer.confidence
    return answer.confidence * reliability + (1.0 - answer.confidence) * (1.0 - reliability)


def weigh(same: bool, answer: Answer, reliability: float) -> float:
    """Return the log odds of "together" after an answer.

    What was expected of a question that checks an earlier answer came from that answer, which has a link of
    its own; it is not counted twice.

    Examples
    --------
    >>> from sidecut.active import Answer
    >>> from sidecut.active.history import weigh
    >>> first = Answer(0, 1, True, expected=0.6, strategy="merge_classes")
    >>> check = Answer(0, 2, True, expected=0.6, strategy="doubts")
    >>> round(weigh(True, first, 0.9), 2), round(weigh(True, check, 0.9), 2)
    (2.6, 2.2)
    """
    expected = 0.5 if answer.strategy == "doubts" else answer.expected
    return log_odds(same, chance_right(answer, reliability), expected)


def know(said: Sequence[Answer], reliability: float, landscape: Landscape) -> Knowledge:
    """Return what follows from all that was said, in grains."""
    grain = landscape.grains.grain_of
    links = [
        Link(int(grain[a.i]), int(grain[a.j]), weigh(a.same, a, reliability))
        for a in said
        if a.same is not None
    ]
    # A point asked about in place of another is believed to belong to it, but not to be certain.
    links += [Link(int(grain[a.i]), int(grain[a.stands_for]), IN_PLACE) for a in said if a.stands_for >= 0]
    asked = [(int(grain[a.i]), int(grain[a.j])) for a in said]
    return join(links, landscape.centers, asked, landscape.grains.points)


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
