"""Sets of points that may all be in the wrong class together: found, tried elsewhere, and doubted.

Points that hold each other in a wrong class do not leave it one by one, see `sidecut.active.weighing`.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

import numpy as np
from scipy.special import softmax

from sidecut.active.belief import DoubtfulSet, as_chances
from sidecut.active.proposals import largest
from sidecut.active.scene import Scene, Weighed
from sidecut.active.votes import Ballot, add_by_class
from sidecut.arrays import FloatArray, IntArray

#: The part of the forecast of a set of points that is spread over all classes.
DOUBT_OF_SETS = 0.2
#: The least chance that a set of points is of a new class, before the answers, where there may be one.
NEW_SET = 0.1
#: A set of points is tried in another class where this much log odds may be gained.
LEAST_GAIN = 0.5
#: So many sets are looked at closely: those for which the answers speak most, or the largest.
N_LOOKED_AT = 15


def find_move(
    weighed: Weighed,
    ballot: Ballot,
    blocks: list[IntArray],
    may_grow: bool,
    tried: Container[tuple[int, ...]] = (),
) -> tuple[IntArray, int]:
    """Return the set of nodes that would gain most in another class, and the class; -1: a new one.

    The set is empty where none would gain. Moves that were tried, each as the class and the nodes, are left
    out.
    """
    best: tuple[IntArray, int] = (np.empty(0, dtype=np.intp), -1)
    most = LEAST_GAIN
    said = said_of(blocks, weighed, ballot)
    for at in largest(said.max(axis=1, initial=0.0), N_LOOKED_AT):
        block, gain = blocks[at], said[at] + expected_of(blocks[at], weighed)
        if not may_grow:
            gain[-1] = -np.inf
        for column in np.argsort(-gain):
            to = -1 if column == len(gain) - 1 else int(column)
            if gain[column] <= most:
                break
            if (to, *block) not in tried:
                best, most = (block, to), gain[column]
                break
    if not len(best[0]) and may_grow:
        block = likely_new(weighed)
        if len(block) and (-1, *block) not in tried:
            return block, -1
    return best


def said_of(blocks: list[IntArray], weighed: Weighed, ballot: Ballot) -> FloatArray:
    """Return how much likelier the answers are with all of a set in one class, for each class and a new one.

    It is the sum of log L(p') - log L(p) over the answers about nodes of the set: p is the chance that the
    two are of one class as things are, and p' as if all of the set were in one class.
    """
    member = np.zeros((len(blocks), len(weighed.chances)))
    for row, block in zip(member, blocks, strict=True):
        row[block] = 1.0
    known = weighed.chances.copy()
    known[:, -1] = 0.0
    a, b = ballot.ends.T
    now = ballot.log_likelihood((known[a] * known[b]).sum(axis=1))
    inside = ballot.log_likelihood(np.ones(len(a))) - now
    total = ((member[:, a] * member[:, b]) @ inside)[:, None]
    for here, there in ((a, b), (b, a)):
        gain = ballot.log_likelihood(known[there]) - now[:, None]
        total = total + (member[:, here] * (1.0 - member[:, there])) @ gain
    return total


def expected_of(block: IntArray, weighed: Weighed) -> FloatArray:
    """Return how much likelier a set is of each class, and of a new one, by what the nodes outside foretell.

    It is the mean over the nodes of the set of the log chance of the class, less that of the classes they
    are in now.
    """
    chances = as_chances(add_by_class(weighed.forecast.without(block), weighed.class_of))
    chances = (1.0 - DOUBT_OF_SETS) * chances + DOUBT_OF_SETS / chances.shape[1]
    new = max(weighed.new_rate, NEW_SET) if weighed.new_rate > 0 else 1e-9
    now = np.log((chances * weighed.chances[block, :-1]).sum(axis=1) + 1e-9).mean() + np.log1p(-new)
    return np.append(np.log(chances).mean(axis=0) + np.log1p(-new), np.log(new)) - now


def likely_new(weighed: Weighed) -> IntArray:
    """Return the node that is most likely of no class, if that is likelier than not."""
    new = weighed.chances[:, -1].copy()
    new[weighed.seeds] = 0.0
    return np.flatnonzero(new == new.max())[:1] if new.max() > 0.5 else np.empty(0, dtype=np.intp)


def movable_sets(weighed: Weighed, scene: Scene) -> list[IntArray]:
    """Return the sets of nodes that yes links hold together, and the nodes of a class that are alike."""
    blocks = [*linked_sets(weighed, scene.ballot), *kindred_sets(weighed, scene)]
    return list({block.tobytes(): block for block in blocks}.values())


def kindred_sets(weighed: Weighed, scene: Scene) -> Iterator[IntArray]:
    """Give the nodes of each piece and each family, all of them and those of each class."""
    is_free = np.ones(len(weighed.chances), dtype=bool)
    is_free[weighed.seeds] = False
    pieces = scene.pieces == np.arange(scene.landscape.n_pieces)[:, None]
    for family in np.vstack([pieces, scene.families]) & is_free:
        inside = np.flatnonzero(family)
        columns = np.unique(weighed.columns[inside])
        parts = [inside[weighed.columns[inside] == column] for column in columns]
        yield from (part for part in parts if len(part) > 1)
        if len(columns) > 1:
            yield inside


def linked_sets(weighed: Weighed, ballot: Ballot) -> Iterator[IntArray]:
    """Give the sets of nodes of a class that yes links hold together, whole and cut at one link."""
    is_free = np.ones(len(weighed.chances), dtype=bool)
    is_free[weighed.seeds] = False
    columns, (a, b) = weighed.columns, ballot.ends.T
    edges = ballot.ends[ballot.yes & is_free[a] & is_free[b] & (columns[a] == columns[b])]
    neighbours: dict[int, list[int]] = {}
    for one, other in edges.tolist():
        neighbours.setdefault(one, []).append(other)
        neighbours.setdefault(other, []).append(one)
    seen: set[int] = set()
    for node in neighbours:
        if node not in seen:
            whole = _reach(neighbours, node, -1)
            seen |= whole
            yield np.array(sorted(whole))
    for one, other in edges.tolist():
        side = _reach(neighbours, one, other)
        if other in side:
            continue
        for block in (side, _reach(neighbours, other, one)):
            if len(block) > 1:
                yield np.array(sorted(block))


def _reach(neighbours: dict[int, list[int]], start: int, barred: int) -> set[int]:
    """Return the nodes that links lead to, without the link from the start to the barred one."""
    found, front = {start}, [start]
    while front:
        node = front.pop()
        for other in neighbours[node]:
            if other not in found and not (node == start and other == barred):
                found.add(other)
                front.append(other)
    return found


def weigh_sets(weighed: Weighed, scene: Scene) -> tuple[DoubtfulSet, ...]:
    """Return the sets of alike nodes of a class, with the chance that they are of another one."""
    blocks = list({block.tobytes(): block for block in kindred_sets(weighed, scene)}.values())
    blocks = [block for block in blocks if np.ptp(weighed.columns[block]) == 0]
    blocks = sorted(blocks, key=len, reverse=True)[: 2 * N_LOOKED_AT]
    found = []
    for block, said in zip(blocks, said_of(blocks, weighed, scene.ballot), strict=True):
        column = int(weighed.columns[block[0]])
        chances = softmax(said + expected_of(block, weighed))
        found.append(DoubtfulSet(scene.nodes[block], column, float(1.0 - chances[column])))
    return tuple(found)
