"""Answers that may be wrong as votes: on the class of each point, and on which seeds are one class.

See `sidecut.active.weighing` for the terms and the equations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from sidecut.active.belief import as_chances
from sidecut.active.knowledge import Knowledge
from sidecut.arrays import BoolArray, FloatArray, IntArray

#: Certain answers count as wrong with this chance, so that logarithms stay finite.
LEAST_ERROR = 1e-5
#: Sweeps of belief propagation.
N_SWEEPS = 6
#: The part of a forecast that is spread over all classes, since it may rest on wrong answers.
DOUBT = 0.05
#: Two points of new classes are of one new class with this chance.
SAME_NEW = 0.5


@dataclass(frozen=True)
class Ballot:
    """The answers as arrays.

    Attributes
    ----------
    ends : array of shape (n_answers, 2)
        The two nodes of each.
    yes : array of bool
        What was said.
    error : array of float
        The chance that it is wrong.
    of_groups : array of bool
        Whether the two points were asked about in the name of their groups.
    """

    ends: IntArray
    yes: BoolArray
    error: FloatArray
    of_groups: BoolArray

    def log_likelihood(self, together: FloatArray) -> FloatArray:
        """Return the log chance of each answer, where its points belong together with these chances.

        Examples
        --------
        >>> import numpy as np
        >>> from sidecut.active.votes import Ballot
        >>> no = Ballot(np.array([[0, 1]]), np.array([False]), np.array([0.1]), np.array([True]))
        >>> np.exp(no.log_likelihood(np.array([[0.0, 0.5, 1.0]]))).round(2)
        array([[0.9, 0.5, 0.1]])
        """
        shape = (-1,) + (1,) * (together.ndim - 1)
        error, yes = self.error.reshape(shape), self.yes.reshape(shape)
        chance = together * (1.0 - error) + (1.0 - together) * error
        return np.log(np.where(yes, chance, 1.0 - chance))

    def part(self, which: IntArray) -> Ballot:
        """Return some of the answers."""
        return Ballot(self.ends[which], self.yes[which], self.error[which], self.of_groups[which])


def gather_ballot(knowledge: Knowledge) -> Ballot:
    """Return what was said as arrays."""
    links = knowledge.links
    ends = np.searchsorted(knowledge.nodes, [(link.a, link.b) for link in links]).reshape(-1, 2)
    odds = np.array([link.odds for link in links])
    error = np.maximum(expit(-np.abs(odds)), LEAST_ERROR)
    return Ballot(ends, odds > 0, error, np.array([link.of_groups for link in links], dtype=bool))


def add_by_class(values: FloatArray, class_of: IntArray) -> FloatArray:
    """Add up the columns of seeds that are one class."""
    member = np.zeros((len(class_of), int(class_of.max()) + 1))
    member[np.arange(len(class_of)), class_of] = 1.0
    return values @ member


def spread(chances: FloatArray, raw: FloatArray, class_of: IntArray) -> FloatArray:
    """Return the chances of seeds: those of the class, shared among its seeds as the forecast has them."""
    inside = np.clip(raw, 1e-3, None)
    return chances[:, class_of] * inside / add_by_class(inside, class_of)[:, class_of]


def propagate(
    raw: FloatArray, class_of: IntArray, ballot: Ballot, seeds: IntArray, new_rate: float
) -> tuple[FloatArray, FloatArray, float]:
    """Combine forecasts with answers by belief propagation.

    Returns
    -------
    chances : array of shape (n_nodes, n_classes + 1)
        Of every class, and of a new one.
    cavities : array of shape (2, n_answers, n_classes + 1)
        The same for both ends of each answer, as if it had not been given.
    evidence : float
        The log chance of all answers, by Bethe's formula: Σ_x log Σ_c b_x(c) Π m(c) - Σ log L(p), the first
        over points x with forecasts b_x and messages m, the second over answers. It is exact where the
        answers form a tree.
    """
    base = _before_answers(raw, class_of, seeds, new_rate)
    messages = np.zeros((2, len(ballot.ends), base.shape[1]))
    for sweep in range(N_SWEEPS):
        cavities = _leave_out(_add_messages(base, ballot, messages), ballot, messages)
        fresh = _tell_other_side(cavities, ballot)
        messages = fresh if sweep == 0 else 0.5 * (messages + fresh)
    total = _add_messages(base, ballot, messages)
    return _normalise(total), cavities, _log_chance(base, ballot, _leave_out(total, ballot, messages))


def _leave_out(total: FloatArray, ballot: Ballot, messages: FloatArray) -> FloatArray:
    return np.stack([_normalise(total[ballot.ends[:, side]] - messages[side]) for side in (0, 1)])


def _tell_other_side(cavities: FloatArray, ballot: Ballot) -> FloatArray:
    together = cavities[::-1].copy()
    together[..., -1] *= SAME_NEW
    return np.stack([ballot.log_likelihood(side) for side in together])


def _log_chance(base: FloatArray, ballot: Ballot, cavities: FloatArray) -> float:
    total = _add_messages(base, ballot, _tell_other_side(cavities, ballot))
    both = cavities[0] * cavities[1]
    both[:, -1] *= SAME_NEW
    top = total.max(axis=1)
    points = np.log(np.exp(total - top[:, None]).sum(axis=1)) + top
    return float(points.sum() - ballot.log_likelihood(both.sum(axis=1)).sum())


def _before_answers(raw: FloatArray, class_of: IntArray, seeds: IntArray, new_rate: float) -> FloatArray:
    known = as_chances(add_by_class(raw, class_of))
    known = (1.0 - DOUBT) * known + DOUBT / known.shape[1]
    chances = np.column_stack([known * (1.0 - new_rate), np.full(len(known), new_rate)])
    chances[seeds] = 0.0
    chances[seeds, class_of] = 1.0
    return np.log(np.maximum(chances, 1e-9))


def _add_messages(base: FloatArray, ballot: Ballot, messages: FloatArray) -> FloatArray:
    total = base.copy()
    for side in (0, 1):
        np.add.at(total, ballot.ends[:, side], messages[side])
    return total


def _normalise(logs: FloatArray) -> FloatArray:
    chances = np.exp(logs - logs.max(axis=1, keepdims=True))
    return chances / chances.sum(axis=1, keepdims=True)


def weigh_merges(ballot: Ballot, cavities: FloatArray, raw: FloatArray, class_of: IntArray) -> FloatArray:
    """Return Σ log L(p') - log L(p) for every two seeds, over the answers about groups.

    Answers about single points do not count: they are asked where points are in doubt, and a point that is
    not where it was thought to be would speak for a merge of large groups.
    """
    which = np.flatnonzero(ballot.of_groups)
    asked = ballot.part(which)
    one, other = (spread(cavities[side][which], raw[asked.ends[:, side]], class_of) for side in (0, 1))
    together = np.einsum("ls,ls->l", one, other)
    crossed = one[:, :, None] * other[:, None, :]
    crossed = crossed + crossed.transpose(0, 2, 1)
    merged = np.minimum(together[:, None, None] + crossed, 1.0)
    gain = asked.log_likelihood(merged) - asked.log_likelihood(together)[:, None, None]
    evidence = gain.sum(axis=0)
    np.fill_diagonal(evidence, 0.0)
    return evidence


def join_seeds(evidence: FloatArray, prior: FloatArray) -> IntArray:
    """Return the class of each seed: the two sets with the best odds are joined while these are above 0.

    The evidence between two sets is the sum over their seeds, the prior the mean. Without evidence for it
    nothing is joined. (Additive edge contraction: Keuper et al., 2015.)

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.active.votes import join_seeds
    >>> join_seeds(np.array([[0, 2.0, -3], [2.0, 0, 1.0], [-3, 1.0, 0]]), np.zeros((3, 3)))
    array([0, 0, 1])
    """
    name = np.arange(len(evidence))
    odds, prior, sizes = evidence.copy(), prior.copy(), np.ones(len(evidence))
    while len(odds) > 1:
        total = np.where(odds > 0, odds + prior, -np.inf)
        np.fill_diagonal(total, -np.inf)
        a, b = np.unravel_index(int(np.argmax(total)), total.shape)
        if not total[a, b] > 0:
            break
        prior[a] = (sizes[a] * prior[a] + sizes[b] * prior[b]) / (sizes[a] + sizes[b])
        odds[a] += odds[b]
        prior[:, a], odds[:, a] = prior[a], odds[a]
        sizes[a] += sizes[b]
        odds, prior = (np.delete(np.delete(each, b, axis=0), b, axis=1) for each in (odds, prior))
        sizes = np.delete(sizes, b)
        name = np.where(name == b, a, name)
        name = np.where(name > b, name - 1, name)
    return name.astype(np.intp)
