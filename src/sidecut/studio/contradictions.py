"""Why an answer cannot be taken: the chain of earlier ones that speaks against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sidecut.active import ActiveClustering, Answer, Naming
from sidecut.active.history import pairs_said
from sidecut.active.records import Record
from sidecut.constraints import Constraints
from sidecut.exceptions import ConflictError
from sidecut.studio.items import Items
from sidecut.studio.messages import Contradiction, Link


@dataclass(frozen=True)
class Statement:
    """Two points that are together or apart, and the places in the history that say so."""

    i: int
    j: int
    same: bool
    positions: tuple[int, ...]


def statements(history: Sequence[Record], only_certain: bool = True) -> list[Statement]:
    """Return what was said about pairs: answers, all or the certain ones, and what follows from names.

    Examples
    --------
    >>> from sidecut.active import Answer, Naming
    >>> from sidecut.studio.contradictions import statements
    >>> said = statements([Answer(0, 1, True), Naming(0, "a"), Naming(5, "b")])
    >>> [(s.i, s.j, s.same, s.positions) for s in said]
    [(0, 1, True, (0,)), (5, 0, False, (1, 2))]
    """
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
    """Return the chain that contradicts itself in a history the run refused.

    Parameters
    ----------
    run : ActiveClustering
        Which refused it.
    history : sequence of Answer and Naming
        What was refused.
    n_old : int
        So many of it were said before.
    items : Items
        What the points are called.
    """
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
