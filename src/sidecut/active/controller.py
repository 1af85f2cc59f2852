"""The default strategy, which learns whose promises hold, and the strategy that asks about doubts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.special import expit

from sidecut.active.belief import Belief, Structure
from sidecut.active.knowledge import SETTLED, connect
from sidecut.active.proposals import Proposal, core_pair, pair_across
from sidecut.active.records import Answer
from sidecut.active.strategies import (
    expected_change,
    go_on,
    merge_classes,
    neighbourhoods,
    perturbation,
    split_largest,
)
from sidecut.arrays import IntArray

#: So many questions' worth of kept promises every adviser starts with.
CREDIT = 5.0
#: The closeness of a check of an earlier answer: it is about groups, and no sign of how close they are.
CHECK = 1e-9
#: Sets of points that are wrong with no more than this chance are not asked about.
WRONG = 1.0 - float(expit(SETTLED))


def controller(belief: Belief, answers: list[Answer], rng: np.random.RandomState) -> Proposal | None:
    """Finish with the point in hand; then ask what promises to regroup most pairs of points.

    Every adviser proposes one question and says how many pairs its answer is expected to regroup. The promise
    is multiplied by how far the adviser's promises were kept so far (`reliability`); the greatest wins.

    Examples
    --------
    >>> from sidecut.active import ActiveClustering, controller
    >>> X = [[0.0], [0.2], [0.4], [0.6], [5.0], [5.2], [5.4], [5.6]]
    >>> ActiveClustering(strategy=controller, random_state=0).start(X).question().reason
    'groups of about 3 and 3 points are close; a yes makes them one'
    """
    proposal = go_on(belief, answers, rng)
    if proposal is not None:
        return replace(proposal, strategy="go_on")
    best, promise = None, -1.0
    for adviser in ADVISERS:
        proposal = adviser(belief, answers, rng)
        if proposal is None:
            continue
        kept = proposal.gain * reliability(adviser.__name__, answers)
        if kept > promise:
            best, promise = replace(proposal, strategy=adviser.__name__), kept
    if best is not None:
        return best
    # Where all points seem sure, some may still be wrong: ask about those that are explained least.
    last = split_largest(belief, answers, rng)
    return None if last is None else replace(last, strategy="split_largest")


def reliability(name: str, answers: list[Answer]) -> float:
    """Return how much was regrouped after an adviser's questions, as a share of what it promised.

    Examples
    --------
    >>> from sidecut.active import Answer
    >>> from sidecut.active.controller import reliability
    >>> in_vain = Answer(0, 1, True, strategy="doubts", gain=0.2)
    >>> reliability("doubts", []), reliability("doubts", [in_vain] * 5)
    (1.0, 0.5)
    """
    mine = [answer for answer in answers if answer.strategy == name]
    promised = sum(answer.gain for answer in mine)
    if promised <= 0:
        return 1.0
    credit = CREDIT * promised / len(mine)
    return (credit + sum(answer.changed for answer in mine)) / (credit + promised)


# Ask again, where answers may be wrong.


def doubts(belief: Belief, answers: list[Answer], rng: np.random.RandomState) -> Proposal | None:
    """Ask again where an answer that may be wrong holds much together: another pair across the same link.

    The seeds of a class hang together by a tree of the strongest evidence. Each of its links parts them in
    two; the odds between the parts are added up. The expected number of pairs put right by asking is the
    chance that the parts do not belong together × their sizes.

    Examples
    --------
    >>> from sidecut.active import ActiveClustering, doubts
    >>> X = [[0.0], [0.2], [0.4], [0.6], [5.0], [5.2], [5.4], [5.6]]
    >>> run = ActiveClustering(random_state=0).start(X).answer(True, confidence=0.6)
    >>> run.set_params(strategy=doubts).question().reason
    'an earlier answer that joins two groups has a chance of ...% to be wrong'
    """
    structure = belief.structure
    if structure is None:
        return None
    masses = structure.chances.T @ belief.landscape.grains.sizes
    best: Proposal | None = None
    for one, other in weak_sides(structure):
        odds = structure.odds(one, other)
        wrong = float(expit(-odds))
        gain = wrong * float(masses[one].sum() * masses[other].sum())
        if odds < SETTLED and (best is None or gain > best.gain):
            pair = core_pair(structure, belief, one, other)
            if pair is not None:
                reason = f"an earlier answer that joins two groups has a chance of {wrong:.0%} to be wrong"
                best = Proposal(*pair, gain, 1.0 - wrong, reason, CHECK)
    return best


def doubtful_sets(belief: Belief, answers: list[Answer], rng: np.random.RandomState) -> Proposal | None:
    """Ask about a set of alike points and the rest of their class, where all of them may be of another one.

    Points that were asked about hold each other in their class, and each of them looks sure. The expected
    number of pairs regrouped is the chance that the set is of another class × its size × that of the rest.

    Examples
    --------
    >>> from sidecut.active import ActiveClustering, Answer, doubtful_sets
    >>> X = [[0.0], [0.2], [0.4], [0.6], [5.0], [5.2], [5.4], [5.6]]
    >>> run = ActiveClustering(reliability=0.8, random_state=0).start(X)
    >>> run = run.tell([Answer(i, j, True) for i, j in [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6), (6, 7)]])
    >>> run.set_params(strategy=doubtful_sets).question().reason
    'a part of a group has a chance of ...% to be of another one'
    """
    structure = belief.structure
    if structure is None or not structure.sets:
        return None
    sizes = belief.landscape.grains.sizes
    nearest = belief.known[belief.kernel[:, belief.known].argmax(axis=1)]
    found = []
    for each in structure.sets:
        if each.wrong > WRONG:
            mass = sizes[(belief.labels == each.column) & np.isin(nearest, each.grains)].sum()
            found.append((each.wrong * mass * (belief.class_sizes[each.column] - mass), each))
    for gain, each in sorted(found, key=lambda one: -one[0]):
        pair = pair_across(belief, each.grains, np.setdiff1d(belief.members(each.column), each.grains))
        if pair is not None:
            reason = f"a part of a group has a chance of {each.wrong:.0%} to be of another one"
            return Proposal(*pair, float(gain), 1.0 - each.wrong, reason, CHECK)
    return None


def weak_sides(structure: Structure) -> Iterator[tuple[IntArray, IntArray]]:
    """Give the two sides of every link of the tree of strongest evidence that holds the seeds of a class."""
    for column in range(int(structure.class_of.max()) + 1):
        seeds = np.flatnonzero(structure.class_of == column)
        if len(seeds) < 2:
            continue
        strength = structure.evidence[np.ix_(seeds, seeds)]
        cost = strength.max() - strength + 1.0
        tree = minimum_spanning_tree(cost).tocoo()
        edges = np.column_stack([tree.row, tree.col])
        for cut in range(len(edges)):
            part = connect(len(seeds), np.delete(edges, cut, axis=0))
            side = part == part[edges[cut, 0]]
            yield seeds[side], seeds[~side]


#: The strategies it listens to.
ADVISERS = (merge_classes, expected_change, neighbourhoods, perturbation, doubts, doubtful_sets)
