"""Answers that may be wrong as votes: on the class of each point, and on which seeds are one class.

See `sidecut.active.weighing` for the terms and the equations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.cluster.hierarchy import average
from scipy.special import expit

from sidecut.active.belief import NOISE, as_chances, invert
from sidecut.active.knowledge import Knowledge
from sidecut.active.landscape import Landscape
from sidecut.checks import BoolArray, FloatArray, IntArray

#: What the graph says about two seeds counts as log odds from the first to the second.
LEAST_PRIOR, MOST_PRIOR = -1.5, 0.0
#: Two pieces are as likely one class as two where the weight between them is this share of the weight inside.
EVEN_LINKAGE = 0.1


@dataclass(frozen=True)
class Scene:
    """What does not change while answers are weighed."""

    landscape: Landscape
    nodes: IntArray
    ballot: Ballot
    kernel: FloatArray
    trust: float
    n_clusters: int | None

    @cached_property
    def pieces(self) -> IntArray:
        """The piece of every node."""
        return self.landscape.pieces[self.nodes]

    @cached_property
    def alike(self) -> FloatArray:
        """The kernel among the nodes."""
        return self.kernel[np.ix_(self.nodes, self.nodes)]

    @cached_property
    def linkage(self) -> FloatArray:
        """The weight between two pieces as a share of the weight inside the smaller one."""
        pieces = self.landscape.pieces
        member = np.zeros((len(pieces), self.landscape.n_pieces))
        member[np.arange(len(pieces)), pieces] = 1.0
        cut = member.T @ (self.landscape.weights @ member)
        inside = np.diag(cut)
        return cut / np.maximum(np.minimum(inside[:, None], inside[None, :]), 1e-9)

    @cached_property
    def families(self) -> BoolArray:
        """Sets of nodes that are alike: one row for each step in which average linkage joins two of them."""
        n = len(self.nodes)
        member = np.eye(2 * n - 1, n, dtype=bool)
        if n > 1:
            far = 1.0 - self.alike[np.triu_indices(n, 1)]
            for step, (one, other) in enumerate(average(far)[:, :2].astype(np.intp)):
                member[n + step] = member[one] | member[other]
        return member[n:]

    def prior(self, n_seeds: int) -> FloatArray:
        """Return the log odds that two seeds are one class, by how strongly the graph links their pieces."""
        known = np.log(np.maximum(self.linkage, 1e-9) / EVEN_LINKAGE)
        prior = np.full((n_seeds, n_seeds), LEAST_PRIOR)
        prior[: len(known), : len(known)] = np.clip(known, LEAST_PRIOR, MOST_PRIOR)
        return prior


@dataclass(frozen=True)
class Forecast:
    """What is forecast of every node from the others."""

    rows: FloatArray
    raw: FloatArray
    inverse: FloatArray
    slopes: FloatArray

    def without(self, block: IntArray) -> FloatArray:
        """Return the forecast of some nodes from those outside: Y - A_BB⁻¹ [A(Y - M)]_B."""
        return self.rows[block] - np.linalg.solve(self.inverse[np.ix_(block, block)], self.slopes[block])


def foretell(scene: Scene, rows: FloatArray, sure: FloatArray, seeds: IntArray) -> Forecast:
    """Forecast each node from the others; a seed is what it is."""
    inverse = invert(scene.alike, NOISE + (1.0 - sure))
    weighted = rows * sure[:, None]
    counts = np.zeros((scene.landscape.n_pieces, rows.shape[1]))
    np.add.at(counts, scene.pieces, weighted)
    others = counts[scene.pieces] - weighted
    others /= np.maximum(others.sum(axis=1, keepdims=True), 1.0)
    slopes = inverse @ (rows - scene.trust * others)
    raw = rows - slopes / np.diag(inverse)[:, None]
    raw[seeds] = np.eye(len(seeds), rows.shape[1])
    return Forecast(rows, raw, inverse, slopes)


@dataclass(frozen=True)
class Weighed:
    """What the answers make of the nodes."""

    seeds: IntArray
    class_of: IntArray
    chances: FloatArray
    rows: FloatArray
    evidence: FloatArray
    prior: FloatArray
    forecast: Forecast
    new_rate: float
    score: float

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return int(self.class_of.max()) + 1

    @cached_property
    def columns(self) -> IntArray:
        """The likeliest class of every node; a seed is of its own."""
        columns = self.chances[:, :-1].argmax(axis=1)
        columns[self.seeds] = self.class_of
        return columns

    @cached_property
    def sureness(self) -> FloatArray:
        """The chance of the likeliest class of every node."""
        sure = self.chances[:, :-1].max(axis=1)
        sure[self.seeds] = 1.0
        return sure


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
    """The answers as arrays."""

    ends: IntArray
    yes: BoolArray
    error: FloatArray
    of_groups: BoolArray

    def log_likelihood(self, together: FloatArray) -> FloatArray:
        """Return the log chance of each answer, where its points belong together with these chances."""
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
    """Combine forecasts with answers by belief propagation."""
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
