"""What answers say about all other points: Gaussian process regression on class indicators.

The prior mean of a grain is the class of its piece, times a trust t; the prior covariance is one of the
kernels of the landscape. With the known grains l, their classes Y (one column per class), the prior mean M,

    F = M + K[:, l] (K[l, l] + Σ)⁻¹ (Y - M[l]).

The kernel and the trust are those under which known grains are best foretold by the others: leaving one out
has the closed form y_i - [A(y - m)]_i / A_ii with A = (K[l, l] + Σ)⁻¹ (Rasmussen & Williams, 2006, eq. 5.12).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from sidecut.active.knowledge import Knowledge
from sidecut.active.landscape import Landscape
from sidecut.checks import BoolArray, FloatArray, IntArray

#: The variance of what is known, beside the variance 1 of what is not; more where answers are not sure.
NOISE = 0.1
#: How much the class of a piece says about its grains: the choices, and the one to start with.
TRUSTS = (0.0, 0.3, 0.6, 0.9)
FIRST_TRUST = 2
#: So many units of log likelihood others have to be better than the first choice.
HEAD_START = 2.0
#: The first choice is made when this many grains besides the centres are known.
FEWEST_KNOWN = 3
#: Leaving one out looks at this many known grains, the latest, so that its cost does not grow.
MOST_JUDGED = 300
#: A point known not to be of some classes counts as of the likeliest other from this chance on.
SURE = 0.8
#: A new class among points that were asked about, before any was: one in five.
NEW_SEEN, POINTS_SEEN = 1.0, 5.0


@dataclass(frozen=True)
class DoubtfulSet:
    """Points asked about that are alike, in one class."""

    grains: IntArray
    column: int
    wrong: float


@dataclass(frozen=True)
class Structure:
    """How seeds make classes, where answers may be wrong (`sidecut.active.weighing`)."""

    seeds: IntArray
    class_of: IntArray
    evidence: FloatArray
    prior: FloatArray
    chances: FloatArray
    error: float
    sets: tuple[DoubtfulSet, ...] = ()

    def odds(self, some: IntArray, others: IntArray) -> float:
        """Return the log odds that two sets of seeds belong together."""
        across = np.ix_(some, others)
        return float(self.evidence[across].sum() + self.prior[across].mean())


@dataclass(frozen=True)
class Belief:
    """What is believed about every grain after some answers.

    Attributes
    ----------
    landscape : Landscape
        What does not change.
    knowledge : Knowledge
        The groups that answers made.
    classes : array of shape (n_classes,)
        Which groups are classes: those that hold the centre of a piece, and those that are no other class.
    partial : dict
        For a group that is not (yet) in a class: its chances per class, then of a new one.
    kernel : array
        The chosen kernel.
    trust : float
        The chosen trust in the pieces.
    known : array of int
        Grains whose class counts as known.
    inverse : array
        A = (K[l, l] + Σ)⁻¹ of the known.
    chances : array of shape (n_grains, n_classes)
        The chance of each class; rows sum to one.
    labels : array of shape (n_grains,)
        The likeliest class.
    structure : Structure or None
        How seeds make classes, where answers may be wrong.
    """

    landscape: Landscape
    knowledge: Knowledge
    classes: IntArray
    partial: dict[int, FloatArray]
    kernel: FloatArray
    trust: float
    known: IntArray
    inverse: FloatArray
    chances: FloatArray
    labels: IntArray
    structure: Structure | None = None

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.classes)

    @cached_property
    def class_sizes(self) -> FloatArray:
        """How many points each class has."""
        sizes = np.bincount(self.labels, self.landscape.grains.sizes, minlength=self.n_classes)
        return sizes.astype(float)

    def members(self, column: int) -> IntArray:
        """Return the grains known to be of a class."""
        return self.knowledge.members(int(self.classes[column]))

    @cached_property
    def is_placed(self) -> BoolArray:
        """Which grains are known to be of a class, by answers or as centres."""
        placed = np.zeros(self.landscape.n_grains, dtype=bool)
        in_class = np.isin(self.knowledge.groups, self.classes)
        placed[self.knowledge.nodes[in_class]] = True
        return placed

    @cached_property
    def loads(self) -> FloatArray:
        """K[:, l] A: how much each known grain counts in each forecast."""
        return self.kernel[:, self.known] @ self.inverse

    @cached_property
    def variances(self) -> FloatArray:
        """The posterior variance of every grain: 1 where nothing near is known."""
        explained = np.einsum("ij,ij->i", self.loads, self.kernel[:, self.known])
        return np.maximum(1.0 - explained, 1e-6)

    def covariances(self, rows: IntArray) -> FloatArray:
        """Return the posterior covariance of some grains with all."""
        return self.kernel[rows] - self.loads[rows] @ self.kernel[self.known]

    @cached_property
    def linkage(self) -> FloatArray:
        """The weight between two classes as a share of the weight inside the smaller one."""
        member = np.zeros((self.landscape.n_grains, self.n_classes))
        member[np.arange(len(member)), self.labels] = 1.0
        cut = member.T @ (self.landscape.weights @ member)
        inside = np.diag(cut)
        return cut / np.maximum(np.minimum(inside[:, None], inside[None, :]), 1e-9)


def infer(landscape: Landscape, knowledge: Knowledge, n_clusters: int | None = None) -> Belief:
    """Return what follows from what is known."""
    is_class = first_classes(knowledge, landscape.centers)
    kernel, trust = choose(landscape, knowledge, is_class)
    # From the classes that answers prove only: classes that are merely likely would make more of them likely.
    new_rate = new_class_rate(knowledge, is_class, landscape.centers)
    while True:
        expect = new_rate
        if n_clusters is not None and np.count_nonzero(is_class) >= n_clusters:
            expect = 0.0
        belief = regress(landscape, knowledge, is_class, kernel, trust, expect)
        new = [group for group, chances in belief.partial.items() if chances[-1] > 0.5]
        if not new:
            return belief
        is_class[new[0]] = True


def first_classes(knowledge: Knowledge, centers: IntArray) -> BoolArray:
    """Tell which groups are classes: those with a centre, and those apart from all that are."""
    is_class = np.zeros(knowledge.n_groups, dtype=bool)
    is_class[knowledge.groups[np.isin(knowledge.nodes, centers)]] = True
    for group in np.flatnonzero(~is_class):
        is_class[group] = bool(knowledge.apart[group][is_class].all())
    return is_class


def new_class_rate(knowledge: Knowledge, is_class: BoolArray, centers: IntArray) -> float:
    """Return the chance that a point asked about is of no known class, by how often that was so."""
    is_center = np.isin(knowledge.nodes, centers)
    started = np.unique(knowledge.groups[is_center])
    new = np.count_nonzero(is_class) - np.count_nonzero(is_class[started])
    resolved = np.count_nonzero(is_class[knowledge.groups] & ~is_center)
    return float((new + NEW_SEEN) / (resolved + POINTS_SEEN))


@dataclass(frozen=True)
class Indicators:
    """Known grains, their classes as rows of zeros with a one, and the noise of each."""

    known: IntArray
    rows: FloatArray
    noise: FloatArray

    @property
    def columns(self) -> IntArray:
        """The class of each."""
        return self.rows.argmax(axis=1)


def indicate(knowledge: Knowledge, is_class: BoolArray) -> Indicators:
    """Return the grains in classes, as indicators."""
    column = np.cumsum(is_class) - 1
    placed = is_class[knowledge.groups]
    rows = np.zeros((np.count_nonzero(placed), np.count_nonzero(is_class)))
    rows[np.arange(len(rows)), column[knowledge.groups[placed]]] = 1.0
    return Indicators(knowledge.nodes[placed], rows, NOISE + (1.0 - knowledge.trust[placed]))


def piece_counts(pieces: IntArray, seen: Indicators) -> FloatArray:
    """Count the known grains of each class in each piece."""
    counts = np.zeros((pieces.max() + 1, seen.rows.shape[1]))
    np.add.at(counts, (pieces[seen.known], seen.columns), 1.0)
    return counts


def _shares(counts: FloatArray) -> FloatArray:
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)


def choose(landscape: Landscape, knowledge: Knowledge, is_class: BoolArray) -> tuple[FloatArray, float]:
    """Return the kernel and the trust in pieces that foretell each known grain best from the others."""
    first = len(landscape.kernels) - 1
    seen = indicate(knowledge, is_class)
    judged = np.flatnonzero(~np.isin(seen.known, landscape.centers))
    if len(judged) < FEWEST_KNOWN:
        return landscape.kernels[first], TRUSTS[FIRST_TRUST]
    if len(seen.known) > MOST_JUDGED:
        keep = np.sort(np.random.RandomState(len(seen.known)).permutation(len(seen.known))[:MOST_JUDGED])
        seen = Indicators(seen.known[keep], seen.rows[keep], seen.noise[keep])
        judged = np.flatnonzero(~np.isin(seen.known, landscape.centers))
    scores = np.array([_left_out(kernel, landscape.pieces, seen, judged) for kernel in landscape.kernels])
    scores[first] += HEAD_START
    scores[:, FIRST_TRUST] += HEAD_START
    kernel, trust = np.unravel_index(int(np.argmax(scores)), scores.shape)
    return landscape.kernels[kernel], TRUSTS[trust]


def _left_out(kernel: FloatArray, pieces: IntArray, seen: Indicators, judged: IntArray) -> FloatArray:
    """Return the log likelihood of each known grain given the others, summed, for every trust."""
    inverse = _inverse(kernel, seen.known, seen.noise)
    others = _shares(piece_counts(pieces, seen)[pieces[seen.known]] - seen.rows)
    scale = np.diag(inverse)[:, None]
    by_class, by_piece = inverse @ seen.rows / scale, inverse @ others / scale
    columns = seen.columns
    scores = []
    for trust in TRUSTS:
        chances = np.clip(seen.rows - by_class + trust * by_piece, 0.0, None)
        chances /= np.maximum(1.0, chances.sum(axis=1, keepdims=True))
        chances = 0.95 * chances + 0.05 / chances.shape[1]
        scores.append(np.log(chances[judged, columns[judged]]).sum())
    return np.array(scores)


def _inverse(kernel: FloatArray, known: IntArray, noise: FloatArray) -> FloatArray:
    return invert(kernel[np.ix_(known, known)], noise)


def invert(kernel: FloatArray, noise: FloatArray) -> FloatArray:
    """Return (K + Σ)⁻¹ for the variances Σ of the noise."""
    return scipy.linalg.inv(kernel + np.diag(noise))


def regress(
    landscape: Landscape,
    knowledge: Knowledge,
    is_class: BoolArray,
    kernel: FloatArray,
    trust: float,
    new_rate: float,
) -> Belief:
    """Return the belief with given classes, kernel and trust."""
    classes = np.flatnonzero(is_class)
    seen = indicate(knowledge, is_class)
    prior = trust * _shares(piece_counts(landscape.pieces, seen))[landscape.pieces]
    inverse = _inverse(kernel, seen.known, seen.noise)
    slopes = inverse @ (seen.rows - prior[seen.known])
    partial: dict[int, FloatArray] = {}
    for group in np.flatnonzero(~is_class):
        members = knowledge.members(int(group))
        forecast = prior[members] + kernel[np.ix_(members, seen.known)] @ slopes
        evidence = knowledge.odds[group][classes]
        for other, chances in partial.items():
            # Two points that are apart are not put into one class because it is the likeliest of both.
            if knowledge.apart[group, other]:
                evidence[chances[:-1].argmax()] = -np.inf
        partial[int(group)] = place(as_chances(forecast).mean(axis=0), evidence, new_rate)
    seen = _add_sure(seen, knowledge, partial)
    if len(seen.known) > len(inverse):
        inverse = _inverse(kernel, seen.known, seen.noise)
    chances = as_chances(prior + kernel[:, seen.known] @ (inverse @ (seen.rows - prior[seen.known])))
    chances[seen.known] = seen.rows
    for outside, row in partial.items():
        chances[knowledge.members(outside)] = row[:-1] / max(row[:-1].sum(), 1e-12)
    return Belief(
        landscape, knowledge, classes, partial, kernel, trust, seen.known, inverse, chances, chances.argmax(1)
    )


def as_chances(forecast: FloatArray) -> FloatArray:
    """Return forecasts of indicators as chances: negative ones are 0, and what is left is spread evenly."""
    chances = np.clip(forecast, 0.0, None)
    chances = chances / np.maximum(1.0, chances.sum(axis=1, keepdims=True))
    return chances + (1.0 - chances.sum(axis=1, keepdims=True)) / chances.shape[1]


def place(chances: FloatArray, odds: FloatArray, new_rate: float) -> FloatArray:
    """Return the chances of a point per class, and of a new class, after answers."""
    told = np.append(chances * (1.0 - new_rate) * np.exp(np.minimum(odds, 0.0)), new_rate)
    # With no class left and no new one expected it must be a new one all the same.
    return told / told.sum() if told.sum() > 0 else np.append(np.zeros(len(chances)), 1.0)


def _add_sure(seen: Indicators, knowledge: Knowledge, partial: dict[int, FloatArray]) -> Indicators:
    """Add points that are no known class's yet, where all but one class is ruled out."""
    known, rows = [seen.known], [seen.rows]
    for group, chances in partial.items():
        if chances[:-1].max() > SURE:
            members = knowledge.members(group)
            known.append(members)
            rows.append(np.tile(chances[:-1], (len(members), 1)))
    extra = sum(map(len, known)) - len(seen.known)
    return Indicators(np.concatenate(known), np.vstack(rows), np.append(seen.noise, np.full(extra, NOISE)))


# Labels for a given number of clusters, and how much two labellings differ


def condense(belief: Belief, n_clusters: int | None) -> IntArray:
    """Return the cluster of each class: the class itself, or classes joined until there are `n_clusters`.

    The two classes with the greatest linkage are joined first, and none that are known to be apart.
    """
    columns = np.arange(belief.n_classes)
    if n_clusters is None:
        return columns
    linkage, apart = belief.linkage.copy(), classes_apart(belief)
    np.fill_diagonal(linkage, -1.0)
    while len(np.unique(columns)) > n_clusters:
        possible = np.where(apart, -1.0, linkage)
        a, b = np.unravel_index(int(np.argmax(possible)), possible.shape)
        if possible[a, b] < 0:
            break
        columns[columns == b] = a
        linkage[a] = np.maximum(linkage[a], linkage[b])
        apart[a] |= apart[b]
        linkage[:, a], apart[:, a] = linkage[a], apart[a]
        linkage[b], linkage[:, b] = -1.0, -1.0
        linkage[a, a] = -1.0
    return np.unique(columns, return_inverse=True)[1].astype(np.intp)


def classes_apart(belief: Belief) -> BoolArray:
    """Tell which classes hold points that are known to be apart."""
    known = belief.knowledge
    column = belief.labels[known.nodes]
    member = np.zeros((belief.n_classes, known.n_groups), dtype=bool)
    member[column, known.groups] = True
    counts = member.astype(float)
    return counts @ known.apart.astype(float) @ counts.T > 0


def regrouped(before: IntArray, after: IntArray, sizes: FloatArray) -> float:
    """Return the share of all pairs of points that are together in one labelling and not in the other.

    With n_ab points in cluster a of one and b of the other: (Σ n_a² + Σ n_b² - 2 Σ n_ab²) / n².
    """
    joint = np.zeros((before.max() + 1, after.max() + 1))
    np.add.at(joint, (before, after), sizes)
    squares = (joint.sum(axis=1) ** 2).sum() + (joint.sum(axis=0) ** 2).sum() - 2 * (joint**2).sum()
    return float(squares / sizes.sum() ** 2)
