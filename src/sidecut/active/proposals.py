"""Questions worth considering, what they are expected to bring, and which pairs may still be asked about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sidecut.active.belief import NOISE, Belief, Structure
from sidecut.active.records import Answer
from sidecut.arrays import FloatArray, IntArray

#: Points that are looked at closely in the search for the best one.
N_CANDIDATES = 250
#: Grains of each side that may stand for it where two groups are compared.
N_CORE = 30
#: Grains that may stand for a class where a point is compared with it.
N_TYPICAL = 10


@dataclass(frozen=True)
class Proposal:
    """A question about two grains, and what it is expected to bring.

    Attributes
    ----------
    a, b : int
        Grains.
    gain : float
        How many pairs of points the answer is expected to regroup.
    expected : float
        The chance of a yes.
    reason : str
        In plain words.
    closeness : float
        The linkage, where the question is about two classes.
    strategy : str
        Whose it is.
    """

    a: int
    b: int
    gain: float
    expected: float
    reason: str
    closeness: float = 0.0
    strategy: str = ""


Strategy = Callable[[Belief, list[Answer], np.random.RandomState], "Proposal | None"]


def regrouping(belief: Belief) -> FloatArray:
    """Return (1 - p_a)|a| + Σ_{c≠a} p_c |c| for every grain; 0 where its class is known."""
    own = belief.chances[np.arange(len(belief.labels)), belief.labels]
    size = belief.class_sizes[belief.labels]
    gains = (1.0 - own) * size + belief.chances @ belief.class_sizes - own * size
    return np.where(belief.is_placed, 0.0, np.maximum(gains, 0.0))


def influence(belief: Belief, grains: IntArray) -> FloatArray:
    """Return m(x): how many points of the same class would follow each grain to another class."""
    noise = NOISE if belief.structure is None else NOISE + vote_variance(belief.structure.error)
    shares = np.clip(belief.covariances(grains), 0.0, None) / (belief.variances[grains, None] + noise)
    same = belief.labels[grains][:, None] == belief.labels[None, :]
    return (shares * same) @ belief.landscape.grains.sizes


def vote_variance(error: float) -> float:
    """Return the variance of an answer as a measurement of an indicator: ε(1 - ε) / (1 - 2ε)².

    An answer v, 0 or 1, that is wrong with chance ε has the mean ε + (1 - 2ε)f where the indicator is f, so
    that (v - ε) / (1 - 2ε) is f in the mean.

    Examples
    --------
    >>> from sidecut.active.proposals import vote_variance
    >>> round(vote_variance(0.2), 3)
    0.444
    """
    return error * (1.0 - error) / max(1.0 - 2.0 * error, 0.1) ** 2


def is_open(belief: Belief, a: int, b: int) -> bool:
    """Tell whether a pair was not asked about and does not follow from certain answers."""
    known = belief.knowledge
    if a == b or known.was_asked(a, b):
        return False
    one, other = known.group_of(a), known.group_of(b)
    if one is None or other is None:
        return True
    if one == other:
        return not known.is_certain
    return not known.apart[one, other]


def closest_pair(belief: Belief, some: IntArray, others: IntArray) -> tuple[int, int] | None:
    """Return the most alike open pair between two sets of grains."""
    alike = belief.kernel[np.ix_(some, others)]
    for at in np.argsort(-alike, axis=None):
        a, b = np.unravel_index(int(at), alike.shape)
        if is_open(belief, int(some[a]), int(others[b])):
            return int(some[a]), int(others[b])
    return None


def core_pair(structure: Structure, belief: Belief, one: IntArray, other: IntArray) -> tuple[int, int] | None:
    """Return an open pair that stands for two sets of seeds: grains that are sure to be of them.

    The seeds themselves come first. A wrong answer stays wrong for its pair, so that to ask again is to ask
    about another one.
    """
    sides = []
    for seeds in (one, other):
        alike = belief.kernel[:, structure.seeds[seeds]].max(axis=1)
        sides.append(largest(structure.chances[:, seeds].sum(axis=1) ** 4 * alike, N_CORE))
    return first_open(belief, *sides)


def pair_across(belief: Belief, some: IntArray, others: IntArray) -> tuple[int, int] | None:
    """Return an open pair between two sets of grains, of those in the middle of each."""
    sides = [each[np.argsort(-belief.kernel[np.ix_(each, each)].sum(axis=1))] for each in (some, others)]
    return first_open(belief, *sides)


def first_open(belief: Belief, some: IntArray, others: IntArray) -> tuple[int, int] | None:
    """Return the first pair that may be asked about, of grains that are sorted by how well they would do."""
    ranks = np.add.outer(np.arange(len(some)), np.arange(len(others)))
    for at in np.argsort(ranks, axis=None, kind="stable"):
        a, b = np.unravel_index(int(at), ranks.shape)
        pair = int(some[a]), int(others[b])
        if is_open(belief, *pair):
            return pair
    return None


def compare(belief: Belief, x: int, reason: str) -> Proposal | None:
    """Return the question about a grain and a class that tells most: the likeliest class that is open.

    Where answers may be wrong, a class can be asked about again, by another pair; then the class is chosen
    whose answer is least foreseen.
    """
    chances = belief.chances[x]
    foreseen = -chances
    if belief.structure is not None:
        chances = class_chances(belief, x)
        foreseen = np.abs(chances - 0.5)
    gain = float(regrouping(belief)[x] * influence(belief, np.array([x]))[0])
    for column in np.argsort(foreseen, kind="stable"):
        pair = closest_pair(belief, np.array([x]), spokesmen(belief, int(column)))
        if pair is not None and chances[column] > 1e-9:
            return Proposal(*pair, gain, float(chances[column]), reason)
    return None


def class_chances(belief: Belief, x: int) -> FloatArray:
    """Return the chance of each class for a grain; less than one in sum where it may be of a new one."""
    group = belief.knowledge.group_of(x)
    return belief.chances[x] if group not in belief.partial else belief.partial[group][:-1]


def spokesmen(belief: Belief, column: int) -> IntArray:
    """Return the grains that may stand for a class: those known to be of it.

    Where answers may be wrong, also those that are most typical of it: a wrong answer stays wrong for its
    pair, and there have to be others to ask about.
    """
    members = belief.members(column)
    structure = belief.structure
    if structure is None:
        return members
    alike = belief.kernel[:, structure.seeds[structure.class_of == column]].max(axis=1)
    typical = largest(belief.chances[:, column] ** 4 * alike, N_TYPICAL)
    return np.union1d(members, typical)


def most_alike(belief: Belief, grains: IntArray) -> IntArray:
    """Return, for some grains, the known member of their class that is most like them."""
    partners = np.empty(len(grains), dtype=np.intp)
    for column in np.unique(belief.labels[grains]):
        here = np.flatnonzero(belief.labels[grains] == column)
        members = belief.members(int(column))
        partners[here] = members[belief.kernel[np.ix_(grains[here], members)].argmax(axis=1)]
    return partners


def largest(scores: FloatArray, count: int) -> IntArray:
    """Return where the largest positive scores are, the largest first."""
    order = np.argsort(-scores, kind="stable")[:count]
    return order[scores[order] > 0]


def first_comparable(belief: Belief, scores: FloatArray, why: str) -> Proposal | None:
    """Return a question about the grain with the largest score of which one can be asked."""
    for x in largest(scores, N_CANDIDATES):
        proposal = compare(belief, int(x), f"point {{{x}}}: {why}")
        if proposal is not None:
            return proposal
    return None
