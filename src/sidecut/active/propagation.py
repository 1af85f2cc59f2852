"""What answers that may be wrong say together: loopy belief propagation, and evidence for merges.

The nodes are micro-clusters that were asked about. Some are **seeds** of known class. A **pile**, the points
under one name or in one group of a set, is a node of unknown class after them; two piles of one answer are of
two classes. See `sidecut.active.noisy_answers` for what becomes of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import expit, logsumexp, softmax

from sidecut.active.belief import AnswerGroups, as_chances
from sidecut.checks import BoolArray, FloatArray, IntArray

#: Share of the forecast of a node that is spread over all classes, as answers may be wrong.
NODE_DOUBT = 0.05
#: Chance that two nodes of new classes are of one new class.
SAME_NEW_CHANCE = 0.5
#: Chance that a certain answer is wrong.
CERTAIN = 1e-5


@dataclass(frozen=True)
class Answers:
    """The answers as arrays: two nodes, yes or no, the chance ε of an error, about groups or not."""

    # A pile, see `sidecut.active.belief.Pile`, is a node of unknown class after the others. `in_pile` marks
    # the answers that put a node (first) in a pile (second): it is put in this pile with the chance 1 - ε if
    # it is of its class, and else with the chance `elsewhere`: ε by the number of other classes, as it is
    # then seen as any of them. There are as many classes as the answer has piles, or more.

    ends: IntArray
    yes: BoolArray
    error: FloatArray
    of_groups: BoolArray
    in_pile: BoolArray
    n_in_answer: IntArray
    n_piles: int = 0
    n_classes: int = 1

    @cached_property
    def elsewhere(self) -> FloatArray:
        """The chance that a node is put in a pile of another class; of other answers ε."""
        others = np.maximum(self.n_in_answer, self.n_classes) - 1
        return np.where(self.in_pile, self.error / np.maximum(others, 1), self.error)

    def among(self, n_classes: int) -> Answers:
        """Return the same answers, given the number of classes."""
        return replace(self, n_classes=n_classes)

    def log_likelihood(self, together: FloatArray) -> FloatArray:
        """Return log L(p) of each answer, for the chances p that its nodes belong together."""
        shape = (-1,) + (1,) * (together.ndim - 1)
        error, other, yes = (each.reshape(shape) for each in (self.error, self.elsewhere, self.yes))
        return np.log(
            np.where(
                yes,
                together * (1.0 - error) + (1.0 - together) * other,
                together * error + (1.0 - together) * (1.0 - error),
            )
        )

    def only(self, which: IntArray) -> Answers:
        """Return some of the answers."""
        return replace(
            self,
            ends=self.ends[which],
            yes=self.yes[which],
            error=self.error[which],
            of_groups=self.of_groups[which],
            in_pile=self.in_pile[which],
            n_in_answer=self.n_in_answer[which],
        )


def read_answers(groups: AnswerGroups) -> Answers:
    """Return the answers as arrays."""
    n, piles = len(groups.nodes), groups.piles
    links = [link for link in groups.links if not (link.from_pile and piles)]
    pairs = np.searchsorted(groups.nodes, [(link.a, link.b) for link in links]).reshape(-1, 2)
    inside = [
        np.column_stack([np.searchsorted(groups.nodes, pile.micro_clusters), np.full(len(pile.odds), n + k)])
        for k, pile in enumerate(piles)
    ]
    answer = np.array([pile.answer for pile in piles], dtype=np.intp)
    apart = n + np.column_stack(np.nonzero(np.triu(answer[:, None] == answer, 1)))
    odds = np.concatenate(
        [[link.odds for link in links], *(pile.odds for pile in piles), np.full(len(apart), -np.inf)]
    )
    # Certain answers are wrong with a chance of 1e-5, so that logarithms stay finite.
    error = np.maximum(expit(-np.abs(odds)), CERTAIN)
    error[len(odds) - len(apart) :] = 1e-30
    ends = np.vstack([pairs, *inside, apart]).astype(np.intp)
    of_groups, in_pile = np.zeros(len(ends), dtype=bool), np.zeros(len(ends), dtype=bool)
    of_groups[: len(links)] = [link.of_groups for link in links]
    in_pile[len(links) : len(ends) - len(apart)] = True
    n_in_answer = np.ones(len(ends), dtype=np.intp)
    n_in_answer[in_pile] = np.bincount(answer)[answer][ends[in_pile, 1] - n]
    return Answers(ends, odds > 0, error, of_groups, in_pile, n_in_answer, len(piles))


def add_by_class(values: FloatArray, class_of: IntArray) -> FloatArray:
    """Add up the columns of seeds that are one class."""
    return values @ np.eye(int(class_of.max()) + 1)[class_of]


def share_among_seeds(chances: FloatArray, raw: FloatArray, class_of: IntArray) -> FloatArray:
    """Return the probabilities of seeds: those of their class, divided in proportion to the forecast."""
    inside = np.clip(raw, 1e-3, None)
    return chances[:, class_of] * inside / add_by_class(inside, class_of)[:, class_of]


def propagate(
    raw: FloatArray, class_of: IntArray, answers: Answers, seeds: IntArray, new_rate: float
) -> tuple[FloatArray, FloatArray, float]:
    """Return the probabilities of nodes by belief propagation, the cavities, and Bethe's log chance."""
    base = _before_answers(raw, class_of, seeds, new_rate)
    # A pile may be of any class; its points say of which.
    base = np.vstack([base, np.zeros((answers.n_piles, base.shape[1]))])
    messages = np.zeros((2, len(answers.ends), base.shape[1]))
    for sweep in range(6):
        cavities = _leave_out(_add_messages(base, answers, messages), answers, messages)
        fresh = _messages(cavities, answers)
        # Four sweeps go from point to pile to pile to point; the mean of two damps what goes round.
        messages = fresh if sweep < 4 else 0.5 * (messages + fresh)
    total = _add_messages(base, answers, messages)
    last = _leave_out(total, answers, messages)
    both = last[0] * last[1]
    both[:, -1] *= SAME_NEW_CHANCE
    by_node = logsumexp(_add_messages(base, answers, _messages(last, answers)), axis=1)
    log_chance = float(by_node.sum() - answers.log_likelihood(both.sum(axis=1)).sum())
    return softmax(total, axis=1), cavities, log_chance


def _before_answers(raw: FloatArray, class_of: IntArray, seeds: IntArray, new_rate: float) -> FloatArray:
    """Return the log probabilities of classes, and of a new one, from the forecast."""
    known = as_chances(add_by_class(raw, class_of))
    known = (1.0 - NODE_DOUBT) * known + NODE_DOUBT / known.shape[1]
    chances = np.column_stack([known * (1.0 - new_rate), np.full(len(known), new_rate)])
    chances[seeds] = 0.0
    chances[seeds, class_of] = 1.0
    return np.log(np.maximum(chances, 1e-9))


def _add_messages(base: FloatArray, answers: Answers, messages: FloatArray) -> FloatArray:
    total = base.copy()
    for side in (0, 1):
        np.add.at(total, answers.ends[:, side], messages[side])
    return total


def _leave_out(total: FloatArray, answers: Answers, messages: FloatArray) -> FloatArray:
    """Return the cavities: the probabilities of both ends of each answer without this answer."""
    return np.stack([softmax(total[answers.ends[:, side]] - messages[side], axis=1) for side in (0, 1)])


def _messages(cavities: FloatArray, answers: Answers) -> FloatArray:
    """Return the log likelihood of each answer for every class of either end, given the other end."""
    together = cavities[::-1].copy()
    together[..., -1] *= SAME_NEW_CHANCE
    return np.stack([answers.log_likelihood(side) for side in together])


def weigh_merges(
    answers: Answers, cavities: FloatArray, raw: FloatArray, class_of: IntArray, seeds: IntArray
) -> FloatArray:
    """Return Σ log L(p') - log L(p) for every two seeds, over the answers about groups."""
    # Answers about single points do not count: they are asked where points are in doubt, and a point in the
    # wrong class would be evidence for a merge of large groups.
    which = np.flatnonzero(answers.of_groups)
    asked = answers.only(which)
    one, other = (
        share_among_seeds(cavities[side][which], raw[asked.ends[:, side]], class_of) for side in (0, 1)
    )
    together = np.einsum("ls,ls->l", one, other)
    crossed = one[:, :, None] * other[:, None, :]
    crossed = crossed + crossed.transpose(0, 2, 1)
    merged = np.minimum(together[:, None, None] + crossed, 1.0)
    gain = asked.log_likelihood(merged) - asked.log_likelihood(together)[:, None, None]
    evidence = gain.sum(axis=0) + weigh_piles(answers, cavities, raw, class_of, seeds)
    np.fill_diagonal(evidence, 0.0)
    return evidence


def weigh_piles(
    answers: Answers, cavities: FloatArray, raw: FloatArray, class_of: IntArray, seeds: IntArray
) -> FloatArray:
    """Return Σ log Z' - log Z over the piles for every two seeds, where Z' is Z if the two were one."""
    # Z = Σ_s Π_x L(q_x(s)) Π_B (1 - q_B(s)) sums over the seed s that a pile is of; x are its points that are
    # seeds, and B are the other piles of its answer.
    n_seeds = raw.shape[1]
    if not answers.n_piles:
        return np.zeros((n_seeds, n_seeds))
    even = np.ones((1, n_seeds))
    pairs = np.flatnonzero(answers.ends[:, 0] >= len(raw))
    of_seeds = np.flatnonzero(answers.in_pile & np.isin(answers.ends[:, 0], seeds))
    put = answers.only(of_seeds)
    points = share_among_seeds(cavities[0][of_seeds], raw[put.ends[:, 0]], class_of)
    rivals = np.vstack([cavities[1][pairs], cavities[0][pairs]])
    # A last column for new classes: what no seed is left out of.
    others = np.column_stack([share_among_seeds(rivals, even, class_of), rivals[:, -1]])
    pile = np.concatenate([put.ends[:, 1], answers.ends[pairs].T.ravel()]) - len(raw)
    member = np.eye(answers.n_piles)[:, pile]

    def log_weights(points: FloatArray, elsewhere: FloatArray) -> FloatArray:
        logs = np.concatenate([put.log_likelihood(points), np.log(np.maximum(elsewhere, 1e-300))])
        return np.tensordot(member, logs, axes=1)

    without = others[:, None, :] * (1.0 - np.eye(n_seeds, n_seeds + 1))
    single = log_weights(points, without.sum(axis=2))
    # The sum over all but two, from both ends, since a difference would lose small chances.
    both = log_weights(
        np.minimum(points[:, :, None] + points[:, None, :], 1.0), sum_without(without)[:, :, :-1]
    )
    most = single.max(axis=1, keepdims=True)
    single, both = np.exp(single - most), np.exp(np.minimum(both - most[:, :, None], 700.0))
    now = single.sum(axis=1)[:, None, None]
    then = now - single[:, :, None] - single[:, None, :] + both
    return np.log(np.maximum(then, 1e-300) / now).sum(axis=0)


def sum_without(values: FloatArray) -> FloatArray:
    """Return the sum of all other values along the last axis; no difference, which would lose small ones."""
    total = np.zeros_like(values)
    total[..., 1:] = np.cumsum(values, axis=-1)[..., :-1]
    total[..., :-1] += np.cumsum(values[..., ::-1], axis=-1)[..., -2::-1]
    return total
