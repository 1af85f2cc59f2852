"""The default strategy, which learns whose promises hold, and the strategy that asks about doubts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy.special import expit

from sidecut.active.belief import Belief
from sidecut.active.knowledge import SETTLED, connect
from sidecut.active.proposals import Proposal, closest_pair
from sidecut.active.records import Answer
from sidecut.active.strategies import (
    expected_change,
    go_on,
    merge_classes,
    neighbourhoods,
    perturbation,
)
from sidecut.arrays import IntArray

#: So many questions' worth of kept promises every adviser starts with.
CREDIT = 5.0


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
    return best


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

    Taking one uncertain link away parts a group in two. The odds between the parts are added up; the expected
    number of pairs put right by asking is the chance that they do not belong together × their sizes.

    Examples
    --------
    >>> from sidecut.active import ActiveClustering, doubts
    >>> X = [[0.0], [0.2], [0.4], [0.6], [5.0], [5.2], [5.4], [5.6]]
    >>> run = ActiveClustering(random_state=0).start(X).answer(True, confidence=0.6)
    >>> run.set_params(strategy=doubts).question().reason
    'an earlier answer that joins two groups has a chance of ...% to be wrong'
    """
    if belief.knowledge.is_certain:
        return None
    best: Proposal | None = None
    for one, other, odds in _weak_sides(belief):
        wrong = float(expit(-odds))
        gain = wrong * _mass(belief, one) * _mass(belief, other)
        if odds < SETTLED and (best is None or gain > best.gain):
            check = _check_again(belief, one, other)
            if check is not None:
                reason = f"an earlier answer that joins two groups has a chance of {wrong:.0%} to be wrong"
                best = replace(check, gain=gain, expected=1.0 - wrong, reason=reason)
    return best


def _check_again(belief: Belief, one: IntArray, other: IntArray) -> Proposal | None:
    """Return a pair across two parts that was not asked about, of known grains or one that stands for one."""
    pair = closest_pair(belief, one, other)
    if pair is not None:
        return Proposal(*pair, 0.0, 0.5, "")
    for part, rest in ((one, other), (other, one)):
        free = np.flatnonzero(~belief.is_placed & (belief.labels == belief.labels[part[0]]))
        if len(free):
            x, stands_for = np.unravel_index(
                int(np.argmax(belief.kernel[np.ix_(free, part)])), (len(free), len(part))
            )
            pair = closest_pair(belief, free[[x]], rest)
            if pair is not None:
                return Proposal(*pair, 0.0, 0.5, "", stands_for=int(part[stands_for]))
    return None


def _weak_sides(belief: Belief) -> Iterator[tuple[IntArray, IntArray, float]]:
    """Give the two parts of a group that each uncertain link holds together, and the odds between them."""
    known = belief.knowledge
    at = np.searchsorted(known.nodes, [(link.a, link.b) for link in known.links]).reshape(-1, 2)
    odds = np.array([link.odds for link in known.links])
    inside = known.groups[at[:, 0]] == known.groups[at[:, 1]]
    joining = np.flatnonzero(inside & (odds > 0))
    for cut in joining[np.isfinite(odds[joining])]:
        part = connect(len(known.nodes), at[joining[joining != cut]])
        one, other = part[at[cut]]
        if one == other:
            continue
        group = np.flatnonzero(known.groups == known.groups[at[cut, 0]])
        side = part[group] == one
        across = inside & (np.isin(at[:, 0], group[side]) != np.isin(at[:, 1], group[side]))
        yield known.nodes[group[side]], known.nodes[group[~side]], float(odds[across].sum())


def _mass(belief: Belief, nodes: IntArray) -> float:
    """Return how many points follow some known grains: those more like them than like others of the class."""
    sizes = belief.landscape.grains.sizes
    group = belief.knowledge.group_of(int(nodes[0]))
    members = belief.knowledge.members(int(group)) if group is not None else nodes
    column = np.flatnonzero(belief.classes == group)
    if not len(column):
        return float(sizes[nodes].sum())
    here = np.flatnonzero(belief.labels == column[0])
    nearest = members[belief.kernel[np.ix_(here, members)].argmax(axis=1)]
    return float(sizes[here][np.isin(nearest, nodes)].sum())


#: The strategies it listens to.
ADVISERS = (merge_classes, expected_change, neighbourhoods, perturbation, doubts)
