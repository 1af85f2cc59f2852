"""The probability of each class after some answers, for groups of micro-clusters: a Gaussian process.

The prior mean M of a micro-cluster is the class of its initial cluster, times a trust t; the prior covariance
is one of the precomputed kernels. With the labelled micro-clusters l and their classes Y (one column each),

    F = M + K[:, l] (K[l, l] + Σ)⁻¹ (Y - M[l]).

The kernel and the trust maximise the likelihood of each labelled micro-cluster given the others. Leaving one
out has the closed form y_i - [A(y - m)]_i / A_ii with A = (K[l, l] + Σ)⁻¹ (Rasmussen & Williams, 2006,
eq. 5.12).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.special import logit

from sidecut.active.precomputed import Precomputed
from sidecut.active.records import Answer, Piles, answer_odds, pile_odds
from sidecut.checks import BoolArray, FloatArray, IntArray
from sidecut.exceptions import ConflictError

#: Pairs whose log odds are beyond this (99.9 %) are not asked about again.
SETTLED_ODDS = float(logit(0.999))
#: Variance of a known class indicator, beside a prior variance of 1; more where answers are uncertain.
NOISE = 0.1
#: Trust t in the initial clusters: the values that are tried, and the default.
TRUSTS, DEFAULT_TRUST = (0.0, 0.3, 0.6, 0.9), 0.6
#: A point that is known not to be of some classes counts as of the likeliest other from this chance on.
SURE_CHANCE = 0.8
#: Groups in no class yet from which on the rate of new classes is learnt from them, too.
MIN_OPEN = 10
#: Linkage at which two classes are one or two with equal chances.
EVEN_LINKAGE = 0.1


@dataclass(frozen=True)
class PairOdds:
    """The log odds that two micro-clusters belong together, by one answer; about groups or single points."""

    a: int
    b: int
    odds: float
    of_groups: bool = True
    from_pile: bool = False


@dataclass(frozen=True)
class Pile:
    """Points under one name, or in one group of a set; two piles of one answer are of two classes."""

    answer: int
    micro_clusters: IntArray
    odds: FloatArray


@dataclass(frozen=True)
class AnswerGroups:
    """Groups of micro-clusters, and how they relate."""

    nodes: IntArray
    group: IntArray
    odds: FloatArray
    trust: FloatArray
    asked: frozenset[tuple[int, int]]
    links: tuple[PairOdds, ...]
    piles: tuple[Pile, ...] = ()

    @property
    def n_groups(self) -> int:
        """The number of groups, single micro-clusters included."""
        return len(self.odds)

    @cached_property
    def apart(self) -> BoolArray:
        """Which groups are certain to be apart."""
        return self.odds < -SETTLED_ODDS

    def members(self, group: int) -> IntArray:
        """Return the micro-clusters of a group."""
        return self.nodes[self.group == group]

    def group_of(self, micro: int) -> int | None:
        """Return the group of a micro-cluster, or None if no answer names it."""
        at = int(np.searchsorted(self.nodes, micro))
        if at == len(self.nodes) or self.nodes[at] != micro:
            return None
        return int(self.group[at])

    @cached_property
    def is_certain(self) -> bool:
        """Whether all answers are certain."""
        return all(np.isinf(link.odds) for link in self.links)


def join(
    links: Iterable[PairOdds],
    centers: IntArray,
    asked: Iterable[tuple[int, int]],
    points: IntArray | None = None,
) -> AnswerGroups:
    """Return the groups that certain answers form, and the log odds between them."""
    links = tuple(links)
    nodes = np.unique([*(link.a for link in links), *(link.b for link in links), *centers]).astype(np.intp)
    ends = np.searchsorted(nodes, [(link.a, link.b) for link in links]).reshape(-1, 2)
    odds = np.array([link.odds for link in links])
    group = connect(len(nodes), ends[odds == np.inf])
    a, b = group[ends.T]
    wrong = np.flatnonzero((odds == -np.inf) & (a == b))
    if len(wrong):
        rows = nodes[ends[wrong[0]]]
        i, j = rows if points is None else points[rows]
        raise ConflictError(
            f"Points {i} and {j} are said to be apart, but a chain of certain answers puts them together. "
            "Take an answer back with undo(), or give confidence below 1 where answers may be wrong."
        )
    between = np.zeros((int(group.max(initial=-1)) + 1,) * 2)
    outside = a != b
    np.add.at(between, (a[outside], b[outside]), odds[outside])
    np.add.at(between, (b[outside], a[outside]), odds[outside])
    pairs = frozenset((min(a, b), max(a, b)) for a, b in asked)
    return AnswerGroups(nodes, group, between, np.ones(len(nodes)), pairs, links)


def connect(n_nodes: int, edges: IntArray) -> IntArray:
    """Return the connected component of every node."""
    graph = sp.csr_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n_nodes, n_nodes))
    return connected_components(graph, directed=False)[1].astype(np.intp)


def group_answers(answers: Sequence[Answer], reliability: float, precomputed: Precomputed) -> AnswerGroups:
    """Return the groups of micro-clusters that answers about points form."""
    micro = precomputed.micro_clusters.index_of
    asked = [(int(micro[a.i]), int(micro[a.j])) for a in answers]
    links = [
        PairOdds(*pair, answer_odds(a, reliability), a.closeness > 0 or not a.gain, a.strategy == "named")
        for a, pair in zip(answers, asked, strict=True)
        if a.same is not None
    ]
    return join(links, precomputed.centers, asked, precomputed.micro_clusters.points)


def group_piles(answers: Sequence[Piles], reliability: float, precomputed: Precomputed) -> tuple[Pile, ...]:
    """Return the piles of points as piles of micro-clusters."""
    index_of = precomputed.micro_clusters.index_of
    return tuple(
        Pile(
            k, index_of[[point for point, _ in pile]], np.array([pile_odds(c, reliability) for _, c in pile])
        )
        for k, piles in enumerate(answers)
        for pile in piles
        if sum(map(len, piles)) > 1
    )


@dataclass(frozen=True)
class DoubtfulSet:
    """Similar points of one class that were asked about, and the chance that all are of another class."""

    micro_clusters: IntArray
    column: int
    wrong: float


@dataclass(frozen=True)
class Structure:
    """How seeds form classes, where answers may be wrong (`sidecut.active.noisy_answers`)."""

    seeds: IntArray
    class_of: IntArray
    evidence: FloatArray
    prior: FloatArray
    chances: FloatArray
    error: float
    wrong: tuple[float, int]
    sets: tuple[DoubtfulSet, ...] = ()

    def odds(self, some: IntArray, others: IntArray) -> float:
        """Return the log odds that two sets of seeds belong together."""
        across = np.ix_(some, others)
        return float(self.evidence[across].sum() + self.prior[across].mean())


@dataclass(frozen=True)
class Belief:
    """The probabilities of classes after some answers.

    Attributes
    ----------
    precomputed : Precomputed
        The micro-clusters, their graph and kernels.
    groups : AnswerGroups
        The groups of micro-clusters that the answers form.
    classes : array of shape (n_classes,)
        Which groups are classes: those that hold the centre of an initial cluster, and those that are apart
        from all classes.
    partial : dict
        For a group that is in no class yet: its probability of each class, then of a new one.
    kernel : array
        The chosen kernel.
    trust : float
        The chosen trust in the initial clusters.
    known : array of int
        Micro-clusters whose class counts as known.
    inverse : array
        A = (K[l, l] + Σ)⁻¹ of the known.
    chances : array of shape (n_micro_clusters, n_classes)
        The probability of each class; rows sum to one.
    labels : array of shape (n_micro_clusters,)
        The likeliest class.
    structure : Structure or None
        How seeds form classes, where answers may be wrong.
    """

    precomputed: Precomputed
    groups: AnswerGroups
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
        """The number of classes."""
        return len(self.classes)

    @cached_property
    def class_sizes(self) -> FloatArray:
        """The number of points of each class."""
        sizes = np.bincount(self.labels, self.precomputed.micro_clusters.sizes, minlength=self.n_classes)
        return sizes.astype(float)

    def members(self, column: int) -> IntArray:
        """Return the micro-clusters known to be of a class."""
        return self.groups.members(int(self.classes[column]))

    @cached_property
    def is_placed(self) -> BoolArray:
        """Which micro-clusters are known to be of a class, by answers or as centres."""
        placed = np.zeros(self.precomputed.n_micro_clusters, dtype=bool)
        in_class = np.isin(self.groups.group, self.classes)
        placed[self.groups.nodes[in_class]] = True
        return placed

    @cached_property
    def loads(self) -> FloatArray:
        """K[:, l] A: the weight of each known micro-cluster in each forecast."""
        return self.kernel[:, self.known] @ self.inverse

    @cached_property
    def variances(self) -> FloatArray:
        """The posterior variance of every micro-cluster: 1 far from all known ones."""
        explained = np.einsum("ij,ij->i", self.loads, self.kernel[:, self.known])
        return np.maximum(1.0 - explained, 1e-6)

    def covariances(self, rows: IntArray) -> FloatArray:
        """Return the posterior covariance of some micro-clusters with all."""
        return self.kernel[rows] - self.loads[rows] @ self.kernel[self.known]

    @cached_property
    def linkage(self) -> FloatArray:
        """The linkage of every two classes."""
        return linkage(self.precomputed, self.labels, self.n_classes)


def linkage(precomputed: Precomputed, labels: IntArray, n_classes: int) -> FloatArray:
    """Return the weight between two classes as a share of the weight inside the smaller one."""
    member = np.eye(n_classes)[labels]
    cut = member.T @ (precomputed.weights @ member)
    inside = np.diag(cut)
    return cut / np.maximum(np.minimum(inside[:, None], inside[None, :]), 1e-9)


def infer(precomputed: Precomputed, groups: AnswerGroups, n_clusters: int | None = None) -> Belief:
    """Return the probabilities of classes after certain answers."""
    is_center = np.isin(groups.nodes, precomputed.centers)
    started = np.unique(groups.group[is_center])
    is_class = np.zeros(groups.n_groups, dtype=bool)
    is_class[started] = True
    for group in np.flatnonzero(~is_class):
        is_class[group] = bool(groups.apart[group][is_class].all())
    kernel, trust = choose(precomputed, groups, is_class)
    # From proven classes only: classes that are merely likely would make more of them likely.
    n_new = np.count_nonzero(is_class) - len(started)
    n_placed = int(np.count_nonzero(is_class[groups.group] & ~is_center))
    rate = new_class_rate(int(n_new), n_placed)
    partial = place_groups(precomputed, groups, is_class, kernel, trust, rate)[0]
    if len(partial) >= MIN_OPEN:
        of_new = np.array([row[-1] for row in partial.values()])
        rate = learn_new_rate(rate, of_new, int(n_new), n_placed)
    while True:
        may_grow = n_clusters is None or np.count_nonzero(is_class) < n_clusters
        rate = rate if may_grow else 0.0
        partial = place_groups(precomputed, groups, is_class, kernel, trust, rate)[0]
        new = [group for group, chances in partial.items() if chances[-1] > 0.5]
        if not new:
            return regress(precomputed, groups, is_class, kernel, trust, rate)
        # Groups that are apart from each other become classes together.
        founded: list[int] = []
        for outside in new:
            if groups.apart[outside, founded].all():
                founded.append(outside)
        is_class[founded] = True


def new_class_rate(n_new: int, n_placed: int) -> float:
    """Return the chance that a point asked about is of no known class; 1 of 5 before any answer."""
    return (n_new + 1.0) / (n_placed + 5.0)


def learn_new_rate(rate: float, of_new: FloatArray, n_new: int, n_placed: int) -> float:
    """Return the likeliest rate of new classes, given the chances of a new one that another rate leads to."""
    # It is the fixed point of expectation maximisation: each group in no class yet counts as new by its
    # chance.
    old = (1.0 / np.maximum(of_new, 1e-12) - 1.0) * rate / (1.0 - rate)
    for _ in range(20):
        rate = (n_new + 1.0 + (rate / (rate + (1.0 - rate) * old)).sum()) / (n_placed + 5.0 + len(old))
    return rate


@dataclass(frozen=True)
class Indicators:
    """Known micro-clusters, their classes as one-hot rows, and the noise of each."""

    known: IntArray
    rows: FloatArray
    noise: FloatArray

    @property
    def columns(self) -> IntArray:
        """The class of each."""
        return self.rows.argmax(axis=1)


def indicate(groups: AnswerGroups, is_class: BoolArray) -> Indicators:
    """Return the micro-clusters of classes as indicators."""
    column = np.cumsum(is_class) - 1
    placed = is_class[groups.group]
    rows = np.zeros((np.count_nonzero(placed), np.count_nonzero(is_class)))
    rows[np.arange(len(rows)), column[groups.group[placed]]] = 1.0
    return Indicators(groups.nodes[placed], rows, NOISE + (1.0 - groups.trust[placed]))


def class_counts(clusters: IntArray, rows: FloatArray, n_clusters: int) -> FloatArray:
    """Add up the class indicators of the nodes of each initial cluster."""
    counts = np.zeros((n_clusters, rows.shape[1]))
    np.add.at(counts, clusters, rows)
    return counts


def as_shares(counts: FloatArray) -> FloatArray:
    """Return counts of classes as shares; less than one in sum for counts below one."""
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)


def choose(precomputed: Precomputed, groups: AnswerGroups, is_class: BoolArray) -> tuple[FloatArray, float]:
    """Return the kernel and the trust that predict each known micro-cluster best from the others."""
    seen = indicate(groups, is_class)
    judged = np.flatnonzero(~np.isin(seen.known, precomputed.centers))
    if len(judged) < 3:
        return precomputed.kernels[-1], DEFAULT_TRUST
    if len(seen.known) > 300:
        # A sample, so that the cost does not grow with the answers.
        keep = np.sort(np.random.RandomState(len(seen.known)).permutation(len(seen.known))[:300])
        seen = Indicators(seen.known[keep], seen.rows[keep], seen.noise[keep])
        judged = np.flatnonzero(~np.isin(seen.known, precomputed.centers))
    scores = np.array([left_out_scores(precomputed, kernel, seen, judged) for kernel in precomputed.kernels])
    # Another kernel or trust must be better than the default by a log likelihood of 2.
    scores[-1] += 2.0
    scores[:, TRUSTS.index(DEFAULT_TRUST)] += 2.0
    kernel, trust = np.unravel_index(int(np.argmax(scores)), scores.shape)
    return precomputed.kernels[kernel], TRUSTS[trust]


def left_out_scores(
    precomputed: Precomputed, kernel: FloatArray, seen: Indicators, judged: IntArray
) -> FloatArray:
    """Return the log likelihood of each known micro-cluster given the others, summed, for every trust."""
    inverse = invert(kernel, seen.known, seen.noise)
    clusters = precomputed.initial_clusters[seen.known]
    counts = class_counts(clusters, seen.rows, precomputed.n_initial_clusters)
    others = as_shares(counts[clusters] - seen.rows)
    scale = np.diag(inverse)[:, None]
    by_class, by_initial = inverse @ seen.rows / scale, inverse @ others / scale
    columns = seen.columns
    scores = []
    for trust in TRUSTS:
        chances = np.clip(seen.rows - by_class + trust * by_initial, 0.0, None)
        chances /= np.maximum(1.0, chances.sum(axis=1, keepdims=True))
        chances = 0.95 * chances + 0.05 / chances.shape[1]
        scores.append(np.log(chances[judged, columns[judged]]).sum())
    return np.array(scores)


def invert(kernel: FloatArray, known: IntArray, noise: FloatArray) -> FloatArray:
    """Return (K[l, l] + Σ)⁻¹ for the variances Σ of the noise."""
    return scipy.linalg.inv(kernel[np.ix_(known, known)] + np.diag(noise))


def place_groups(
    precomputed: Precomputed,
    groups: AnswerGroups,
    is_class: BoolArray,
    kernel: FloatArray,
    trust: float,
    new_rate: float,
) -> tuple[dict[int, FloatArray], Indicators, FloatArray, FloatArray]:
    """Return the chances of groups in no class yet, the known, their inverse, and the prior means."""
    classes, initial = np.flatnonzero(is_class), precomputed.initial_clusters
    seen = indicate(groups, is_class)
    counts = class_counts(initial[seen.known], seen.rows, precomputed.n_initial_clusters)
    prior = trust * as_shares(counts)
    inverse = invert(kernel, seen.known, seen.noise)
    slopes = inverse @ (seen.rows - prior[initial[seen.known]])
    partial: dict[int, FloatArray] = {}
    outside = np.flatnonzero(~is_class[groups.group])
    members = groups.nodes[outside]
    forecasts = as_chances(prior[initial[members]] + kernel[np.ix_(members, seen.known)] @ slopes)
    for group in np.flatnonzero(~is_class):
        forecast = forecasts[groups.group[outside] == group].mean(axis=0)
        evidence = groups.odds[group][classes]
        for other, row in partial.items():
            # Two points that are apart are not put into one class because it is the likeliest of both.
            if groups.apart[group, other]:
                evidence[row[:-1].argmax()] = -np.inf
        partial[int(group)] = place(forecast, evidence, new_rate)
    return partial, seen, inverse, prior


def regress(
    precomputed: Precomputed,
    groups: AnswerGroups,
    is_class: BoolArray,
    kernel: FloatArray,
    trust: float,
    new_rate: float,
) -> Belief:
    """Return the belief with given classes, kernel and trust."""
    partial, seen, inverse, prior = place_groups(precomputed, groups, is_class, kernel, trust, new_rate)
    seen = _add_sure(seen, groups, partial)
    if len(seen.known) > len(inverse):
        inverse = invert(kernel, seen.known, seen.noise)
    initial = precomputed.initial_clusters
    slopes = inverse @ (seen.rows - prior[initial[seen.known]])
    chances = as_chances(prior[initial] + kernel[:, seen.known] @ slopes)
    chances[seen.known] = seen.rows
    for at, row in partial.items():
        chances[groups.members(at)] = row[:-1] / max(row[:-1].sum(), 1e-12)
    return Belief(
        precomputed,
        groups,
        np.flatnonzero(is_class),
        partial,
        kernel,
        trust,
        seen.known,
        inverse,
        chances,
        chances.argmax(1),
    )


def as_chances(forecast: FloatArray) -> FloatArray:
    """Return forecasts as probabilities: negative ones are 0, and the rest to 1 is spread evenly."""
    chances = np.clip(forecast, 0.0, None)
    chances = chances / np.maximum(1.0, chances.sum(axis=1, keepdims=True))
    return chances + (1.0 - chances.sum(axis=1, keepdims=True)) / chances.shape[1]


def place(chances: FloatArray, odds: FloatArray, new_rate: float) -> FloatArray:
    """Return the probability of each class for a point, and of a new class, after answers."""
    weights = np.append(chances * (1.0 - new_rate) * np.exp(np.minimum(odds, 0.0)), new_rate)
    # With no class left and no new one expected it is a new one all the same.
    return weights / weights.sum() if weights.sum() > 0 else np.append(np.zeros(len(chances)), 1.0)


def _add_sure(seen: Indicators, groups: AnswerGroups, partial: dict[int, FloatArray]) -> Indicators:
    """Add the groups in no class yet of which one class is nearly certain."""
    known, rows = [seen.known], [seen.rows]
    for group, chances in partial.items():
        if chances[:-1].max() > SURE_CHANCE:
            members = groups.members(group)
            known.append(members)
            rows.append(np.tile(chances[:-1], (len(members), 1)))
    extra = sum(map(len, known)) - len(seen.known)
    return Indicators(np.concatenate(known), np.vstack(rows), np.append(seen.noise, np.full(extra, NOISE)))


def merge_to_n_clusters(belief: Belief, n_clusters: int | None) -> IntArray:
    """Return the cluster of each class: the class itself, or classes joined until there are `n_clusters`."""
    # The two classes with the greatest linkage are joined first, and none that are known to be apart.
    columns = np.arange(belief.n_classes)
    if n_clusters is None:
        return columns
    groups = belief.groups
    member = np.zeros((belief.n_classes, groups.n_groups))
    member[belief.labels[groups.nodes], groups.group] = 1.0
    apart = member @ groups.apart.astype(float) @ member.T > 0
    linkage = belief.linkage.copy()
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


def regrouped(before: IntArray, after: IntArray, sizes: FloatArray) -> float:
    """Return the share of all pairs of points that are together in one labelling and not in the other."""
    # With n_ab points in cluster a of one and b of the other: (Σ n_a² + Σ n_b² - 2 Σ n_ab²) / n².
    joint = np.zeros((before.max() + 1, after.max() + 1))
    np.add.at(joint, (before, after), sizes)
    squares = (joint.sum(axis=1) ** 2).sum() + (joint.sum(axis=0) ** 2).sum() - 2 * (joint**2).sum()
    return float(squares / sizes.sum() ** 2)
