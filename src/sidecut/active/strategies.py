"""Which pair to ask about next: one plain function per strategy.

Every strategy takes a `Belief`, the answers so far and a random state, and returns a `Proposal`, or None if
it has nothing left to ask. No strategy asks about a pair twice, or about a pair that follows from certain
answers. A question about a point compares it with the most similar member of a class, which is the easiest
pair to judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.special import expit

from sidecut.active.belief import EVEN_LINKAGE, NOISE, SETTLED_ODDS, SURE_CHANCE, Belief, Structure, connect
from sidecut.active.precomputed import find_centers
from sidecut.active.records import Answer, Question, Record
from sidecut.checks import FloatArray, IntArray
from sidecut.labelling import kmeans_labels, unit_rows

if TYPE_CHECKING:
    from sidecut.active.clustering import ActiveClustering

#: Points that are examined in the search for the best one.
MAX_CANDIDATES = 250
#: Questions in a row about one point, where answers may be wrong.
MAX_QUESTIONS_IN_A_ROW = 5
#: Prior count of successful questions for every strategy.
PRIOR_COUNT = 5.0
#: Closeness of a question that checks an earlier answer: it is about groups, but says nothing about r₀.
CHECK_CLOSENESS = 1e-9


@dataclass(frozen=True)
class Proposal:
    """A question about two micro-clusters, and what it is expected to bring.

    Attributes
    ----------
    a, b : int
        The two micro-clusters.
    gain : float
        The number of pairs of points that the answer is expected to regroup.
    expected : float
        The chance of a yes.
    reason : str
        Why this question.
    closeness : float
        The linkage, where the question is about two classes.
    strategy : str
        The name of the strategy.
    kind : str
        "pair", "label" or "set".
    others : tuple of int
        The micro-clusters of a set besides `a` and `b`.
    """

    a: int
    b: int
    gain: float
    expected: float
    reason: str
    closeness: float = 0.0
    strategy: str = ""
    kind: str = "pair"
    others: tuple[int, ...] = ()

    @property
    def nodes(self) -> tuple[int, ...]:
        """The micro-clusters it is about."""
        return (self.a,) if self.kind == "label" else (self.a, self.b, *self.others)


Strategy = Callable[[Belief, list[Answer], np.random.RandomState], "Proposal | None"]


def regrouping(belief: Belief) -> FloatArray:
    """Return (1 - p_a)|a| + Σ_{c≠a} p_c |c| for every micro-cluster; 0 if its class is known."""
    own = belief.chances[np.arange(len(belief.labels)), belief.labels]
    size = belief.class_sizes[belief.labels]
    gains = (1.0 - own) * size + belief.chances @ belief.class_sizes - own * size
    return np.where(belief.is_placed, 0.0, np.maximum(gains, 0.0))


def doubt_of_placed(belief: Belief) -> FloatArray:
    """Return the chance that a placed micro-cluster is of another class; 0 if that is settled."""
    doubt = 1.0 - belief.chances.max(axis=1)
    is_open = belief.is_placed & (doubt > expit(-SETTLED_ODDS)) & (belief.structure is not None)
    return np.where(is_open, doubt, 0.0)


def influence(belief: Belief, micro_clusters: IntArray) -> FloatArray:
    """Return m(x): the number of points that would follow each micro-cluster to another class."""
    noise = NOISE if belief.structure is None else NOISE + vote_variance(belief.structure.error)
    shares = np.clip(belief.covariances(micro_clusters), 0.0, None) / (
        belief.variances[micro_clusters, None] + noise
    )
    same = belief.labels[micro_clusters][:, None] == belief.labels[None, :]
    return (shares * same) @ belief.precomputed.micro_clusters.sizes


def vote_variance(error: float) -> float:
    """Return the variance of an answer as a measurement of an indicator: ε(1 - ε) / (1 - 2ε)²."""
    # An answer v, 0 or 1, that is wrong with chance ε has the mean ε + (1 - 2ε)f where the indicator is f, so
    # (v - ε) / (1 - 2ε) has the mean f.
    return error * (1.0 - error) / max(1.0 - 2.0 * error, 0.1) ** 2


def is_open(belief: Belief, a: int, b: int) -> bool:
    """Return whether a pair was not asked about and does not follow from certain answers."""
    known = belief.groups
    if a == b or (min(a, b), max(a, b)) in known.asked:
        return False
    one, other = known.group_of(a), known.group_of(b)
    if one is None or other is None:
        return True
    if one == other:
        return not known.is_certain
    return not known.apart[one, other]


def closest_pair(belief: Belief, some: IntArray, others: IntArray) -> tuple[int, int] | None:
    """Return the most similar open pair between two sets of micro-clusters."""
    alike = belief.kernel[np.ix_(some, others)]
    for at in np.argsort(-alike, axis=None):
        a, b = np.unravel_index(int(at), alike.shape)
        if is_open(belief, int(some[a]), int(others[b])):
            return int(some[a]), int(others[b])
    return None


def core_pair(structure: Structure, belief: Belief, one: IntArray, other: IntArray) -> tuple[int, int] | None:
    """Return an open pair that represents two sets of seeds: micro-clusters that are sure to be of them."""
    # The seeds themselves come first. A wrong answer stays wrong for its pair, so a check asks about another.
    sides = []
    for seeds in (one, other):
        alike = belief.kernel[:, structure.seeds[seeds]].max(axis=1)
        sides.append(largest(structure.chances[:, seeds].sum(axis=1) ** 4 * alike, 30))
    return first_open(belief, *sides)


def first_open(belief: Belief, some: IntArray, others: IntArray) -> tuple[int, int] | None:
    """Return the first open pair of two lists of micro-clusters, the most suitable ones first."""
    ranks = np.add.outer(np.arange(len(some)), np.arange(len(others)))
    for at in np.argsort(ranks, axis=None, kind="stable"):
        a, b = np.unravel_index(int(at), ranks.shape)
        pair = int(some[a]), int(others[b])
        if is_open(belief, *pair):
            return pair
    return None


def compare(belief: Belief, x: int, reason: str) -> Proposal | None:
    """Return a question about a micro-cluster and the likeliest class that is open."""
    # Where answers may be wrong, a class can be asked about again, by another pair; then the class with the
    # least certain answer is chosen.
    chances = belief.chances[x]
    certainty = -chances
    if belief.structure is not None:
        chances = class_chances(belief, x)
        certainty = np.abs(chances - 0.5)
    gain = float(regrouping(belief)[x] * influence(belief, np.array([x]))[0])
    for column in np.argsort(certainty, kind="stable"):
        pair = closest_pair(belief, np.array([x]), representatives(belief, int(column)))
        if pair is not None and chances[column] > 1e-9:
            return Proposal(*pair, gain, float(chances[column]), reason)
    return None


def class_chances(belief: Belief, x: int) -> FloatArray:
    """Return the chance of each class for a micro-cluster; the rest to one is the chance of a new class."""
    group = belief.groups.group_of(x)
    return belief.chances[x] if group not in belief.partial else belief.partial[group][:-1]


def representatives(belief: Belief, column: int) -> IntArray:
    """Return the micro-clusters known to be of a class; if answers may be wrong, also the most typical."""
    # A wrong answer stays wrong for its pair, so there must be other pairs to ask about.
    members = belief.members(column)
    structure = belief.structure
    if structure is None:
        return members
    alike = belief.kernel[:, structure.seeds[structure.class_of == column]].max(axis=1)
    return np.union1d(members, largest(belief.chances[:, column] ** 4 * alike, 10))


def largest(scores: FloatArray, count: int) -> IntArray:
    """Return the positions of the largest positive scores, the largest first."""
    order = np.argsort(-scores, kind="stable")[:count]
    return order[scores[order] > 0]


def first_comparable(belief: Belief, scores: FloatArray, why: str) -> Proposal | None:
    """Return a question about the micro-cluster with the largest score that has an open pair."""
    for x in largest(scores, MAX_CANDIDATES):
        proposal = compare(belief, int(x), why.format(f"point {{{x}}}"))
        if proposal is not None:
            return proposal
    return None


def super_instances(belief: Belief, answers: list[Answer], rng: np.random.RandomState) -> Proposal | None:
    """Join classes by asking; where none are close, look into the largest class for a part that is another.

    COBRAS (Van Craenendonck et al., 2018) in spectral coordinates. Two classes a and b belong together with
    chance r / (r + r₀), where r is their `linkage`, and r₀ is learnt from the answers so far. The pair with
    the greatest chance × |a| × |b| is asked about; below an even chance the largest class is split instead.

    Examples
    --------
    >>> from sidecut.active import ActiveClustering, super_instances
    >>> X = [[0.0], [0.2], [0.4], [0.6], [5.0], [5.2], [5.4], [5.6]]
    >>> ActiveClustering(strategy=super_instances, random_state=0).start(X).question().reason
    'groups of about 3 and 3 points are close; a yes makes them one'
    """
    merge = merge_classes(belief, answers, rng)
    if merge is not None and merge.expected >= 0.5:
        return merge
    return split_largest(belief, answers, rng) or merge


def merge_classes(belief: Belief, answers: list[Answer], rng: np.random.RandomState) -> Proposal | None:
    """Ask whether two classes are one: the pair with the greatest chance × |a| × |b|.

    Examples
    --------
    >>> from sidecut.active import ActiveClustering, merge_classes
    >>> X = [[0.0], [0.2], [0.4], [0.6], [5.0], [5.2], [5.4], [5.6]]
    >>> ActiveClustering(strategy=merge_classes, random_state=0).start(X).question().reason
    'groups of about 3 and 3 points are close; a yes makes them one'
    """
    if belief.n_classes < 2:
        return None
    gain, chance, linkage = merge_gains(belief, answers)
    structure = belief.structure
    for at in np.argsort(-gain, axis=None):
        a, b = (int(column) for column in np.unravel_index(int(at), gain.shape))
        if gain[a, b] <= 0:
            return None
        if structure is None:
            pair = closest_pair(belief, belief.members(a), belief.members(b))
        else:
            sides = (np.flatnonzero(structure.class_of == column) for column in (a, b))
            pair = core_pair(structure, belief, *sides)
        if pair is not None:
            reason = (
                f"groups of about {belief.class_sizes[a]:.0f} and {belief.class_sizes[b]:.0f} points are "
                "close; a yes makes them one"
            )
            return Proposal(*pair, float(gain[a, b]), float(chance[a, b]), reason, float(linkage[a, b]))
    return None


def merge_gains(belief: Belief, answers: list[Answer]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return chance × |a| × |b| of a merge for all classes a < b, the chance, and the linkage."""
    # A graph without weight between two classes does not exclude that they are one.
    linkage = np.maximum(belief.linkage, 1e-4)
    chance = linkage / (linkage + even_linkage(answers))
    odds = belief.groups.odds[np.ix_(belief.classes, belief.classes)]
    chance = np.where(np.isfinite(odds) & (odds != 0), expit(odds), chance)
    gain = chance * np.outer(belief.class_sizes, belief.class_sizes)
    gain[odds < -SETTLED_ODDS] = 0.0
    return np.triu(gain, 1), chance, linkage


def merge_chances(belief: Belief, answers: list[Answer], clusters: IntArray) -> FloatArray:
    """Return the chance that two clusters are one: the largest of their classes."""
    chance = merge_gains(belief, answers)[1]
    odds = belief.groups.odds[np.ix_(belief.classes, belief.classes)]
    chance = np.where(odds < -SETTLED_ODDS, expit(odds), chance)
    # Classes without points are in no cluster.
    member = np.zeros((int(clusters.max()) + 1, belief.n_classes), dtype=bool)
    member[clusters, belief.labels[belief.precomputed.micro_clusters.index_of]] = True
    found = np.array([[chance[np.ix_(one, other)].max() for other in member] for one in member])
    np.fill_diagonal(found, 1.0)
    return found


def even_linkage(answers: list[Answer]) -> float:
    """Return r₀, the linkage at which yes and no are equally likely: the mode of its log-normal posterior."""
    grid = np.linspace(-6.0, 2.0, 81)
    score = -0.5 * (grid - np.log(EVEN_LINKAGE)) ** 2
    for answer in answers:
        if answer.closeness > 1e-6 and answer.same is not None:
            above = np.log(answer.closeness) - grid
            score += np.log(expit(above if answer.same else -above))
    return float(np.exp(grid[np.argmax(score)]))


def split_largest(belief: Belief, answers: list[Answer], rng: np.random.RandomState) -> Proposal | None:
    """Ask about a point of the largest class with a large variance that many points would follow."""
    for column in np.argsort(-belief.class_sizes):
        here = (belief.labels == column) & ~belief.is_placed
        scores = np.where(here, belief.variances, 0.0)
        candidates = largest(scores, MAX_CANDIDATES)
        if not len(candidates):
            continue
        mass = influence(belief, candidates)
        for x in candidates[np.argsort(-mass * scores[candidates])]:
            proposal = compare(belief, int(x), f"the largest group may hold another one near point {{{x}}}")
            if proposal is not None:
                return proposal
    return None


def neighbourhoods(belief: Belief, answers: list[Answer], rng: np.random.RandomState) -> Proposal | None:
    """Ask about the point with most uncertainty per expected question (NPU: Xiong, Azimi & Fern, 2014).

    With p_1 ≥ p_2 ≥ ... the chances of the classes (neighbourhoods), a point takes Σ i p_i questions on
    average when it is compared with them in this order; the point with the greatest entropy H(p) / Σ i p_i
    is asked about, against the likeliest class.

    Examples
    --------
    >>> from sidecut.active import ActiveClustering, neighbourhoods
    >>> X = [[0.0], [0.2], [0.4], [0.6], [5.0], [5.2], [5.4], [5.6]]
    >>> ActiveClustering(strategy=neighbourhoods, random_state=0).start(X).question().reason
    'it is least clear which group point ... is in'
    """
    ordered = -np.sort(-belief.chances, axis=1)
    entropy = -np.sum(ordered * np.log(np.maximum(ordered, 1e-300)), axis=1)
    questions = ordered @ np.arange(1, belief.n_classes + 1)
    scores = np.where(belief.is_placed, 0.0, entropy / questions)
    proposal = first_comparable(belief, scores, "it is least clear which group {} is in")
    return proposal or merge_classes(belief, answers, rng)


def uncertainty(belief: Belief, answers: list[Answer], rng: np.random.RandomState) -> Proposal | None:
    """Ask about the point whose two likeliest classes are closest to each other (margin sampling).

    Examples
    --------
    >>> from sidecut.active import ActiveClustering, uncertainty
    >>> X = [[0.0], [0.2], [0.4], [0.6], [5.0], [5.2], [5.4], [5.6]]
    >>> ActiveClustering(strategy=uncertainty, random_state=0).start(X).question().reason
    'no other point is as torn between two groups as point ...'
    """
    if belief.n_classes < 2:
        return None
    top = -np.partition(-belief.chances, 1, axis=1)[:, :2]
    margin = top[:, 0] - top[:, 1]
    scores = np.where(belief.is_placed, 0.0, 1.0 - margin)
    proposal = first_comparable(belief, scores, "no other point is as torn between two groups as {}")
    return proposal or merge_classes(belief, answers, rng)


def perturbation(belief: Belief, answers: list[Answer], rng: np.random.RandomState) -> Proposal | None:
    """Ask about the point whose link to its class moves the eigenvectors most, times the doubt about it.

    Examples
    --------
    >>> from sidecut.active import ActiveClustering, perturbation
    >>> X = [[0.0], [0.2], [0.4], [0.6], [5.0], [5.2], [5.4], [5.6]]
    >>> ActiveClustering(strategy=perturbation, random_state=0).start(X).question().reason
    'an answer about point ... would move the border of its group most'
    """
    precomputed = belief.precomputed
    doubt = np.where(
        belief.is_placed, 0.0, 1.0 - belief.chances[np.arange(precomputed.n_micro_clusters), belief.labels]
    )
    candidates = largest(doubt, MAX_CANDIDATES)
    if not len(candidates):
        return None
    # The most similar known member of the class of each candidate.
    partners = np.empty(len(candidates), dtype=np.intp)
    for column in np.unique(belief.labels[candidates]):
        here = np.flatnonzero(belief.labels[candidates] == column)
        members = belief.members(int(column))
        partners[here] = members[belief.kernel[np.ix_(candidates[here], members)].argmax(axis=1)]
    moves = eigenvector_change(precomputed.eigenvalues, precomputed.eigenvectors, candidates, partners)
    scores = np.zeros(precomputed.n_micro_clusters)
    scores[candidates] = doubt[candidates] * moves + 1e-12
    return first_comparable(belief, scores, "an answer about {} would move the border of its group most")


def eigenvector_change(
    eigenvalues: FloatArray, eigenvectors: FloatArray, i: IntArray, j: IntArray
) -> FloatArray:
    """Return ‖∂v/∂w_ij‖ of the second eigenvector, to first order and within the eigenvectors given.

    ∂v₂/∂w_ij = Σ_{p≠2} [v₂ᵀ(e_i - e_j)(e_i - e_j)ᵀv_p / (λ₂ - λ_p)] v_p; the v_p are orthonormal, so that the
    norm is that of the coefficients. Eigenvalues equal to λ₂ do not count: their eigenvectors are not
    determined.

    Parameters
    ----------
    eigenvalues, eigenvectors : arrays of shape (k,) and (n, k)
        Of the Laplacian.
    i, j : arrays of int
        Pairs of nodes.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.active import eigenvector_change
    >>> path = np.array([[1.0, -1, 0], [-1, 2, -1], [0, -1, 1]])
    >>> eigenvector_change(*np.linalg.eigh(path), np.array([0, 0]), np.array([1, 2])).round(4)
    array([0.433, 0.   ])
    """
    differences = eigenvectors[i] - eigenvectors[j]
    gaps = eigenvalues[1] - eigenvalues
    usable = np.abs(gaps) > 1e-9 * max(1.0, float(np.abs(eigenvalues).max()))
    coefficients = differences[:, [1]] * differences[:, usable] / gaps[usable]
    return np.linalg.norm(coefficients, axis=1)


def expected_change(belief: Belief, answers: list[Answer], rng: np.random.RandomState) -> Proposal | None:
    """Ask about the point whose answer is expected to regroup most pairs of points.

    If x leaves its class, m(x) points go with it: those of the class, each counted by the share in which
    it follows x, cov(x, y) / (var(x) + σ²) under the posterior. With chances p_c of x and class sizes |c|,
    the expected number of pairs regrouped is m(x) [(1 - p_a) |a| + Σ_{c≠a} p_c |c|].

    Examples
    --------
    >>> from sidecut.active import ActiveClustering, expected_change
    >>> X = [[0.0], [0.2], [0.4], [0.6], [5.0], [5.2], [5.4], [5.6]]
    >>> ActiveClustering(strategy=expected_change, random_state=0).start(X).question().reason
    'point ... is in its group with a chance of ...%, and others follow it'
    """
    gains = regrouping(belief)
    candidates = largest(gains * belief.variances, MAX_CANDIDATES)
    if not len(candidates):
        return None
    gains = gains[candidates] * influence(belief, candidates)
    for at in np.argsort(-gains):
        x = int(candidates[at])
        share = belief.chances[x].max()
        reason = f"point {{{x}}} is in its group with a chance of {share:.0%}, and others follow it"
        proposal = compare(belief, x, reason)
        if proposal is not None:
            return proposal
    return None


def random_pair(belief: Belief, answers: list[Answer], rng: np.random.RandomState) -> Proposal | None:
    """Ask about a random pair that does not follow from earlier answers.

    Examples
    --------
    >>> from sidecut.active import ActiveClustering, random_pair
    >>> X = [[0.0], [0.2], [0.4], [0.6], [5.0], [5.2], [5.4], [5.6]]
    >>> ActiveClustering(strategy=random_pair, random_state=0).start(X).question().reason
    'drawn by chance'
    """
    n = belief.precomputed.n_micro_clusters
    for _ in range(1_000):
        a, b = (int(x) for x in rng.choice(n, 2, replace=False))
        if is_open(belief, a, b):
            together = float(belief.chances[a] @ belief.chances[b])
            return Proposal(a, b, 0.0, together, "drawn by chance")
    return None


def same_point(belief: Belief, answers: list[Answer], rng: np.random.RandomState) -> Proposal | None:
    """Ask again about the point of the last question, while its class is uncertain."""
    if not answers or answers[-1].same is None:
        return None
    is_noisy, last = belief.structure is not None, [answer.strategy for answer in answers]
    # Two points that were asked about for their groups matter little themselves.
    if is_noisy and answers[-1].closeness > 0:
        return None
    if is_noisy and last[-MAX_QUESTIONS_IN_A_ROW:] == ["same_point"] * MAX_QUESTIONS_IN_A_ROW:
        return None
    index_of = belief.precomputed.micro_clusters.index_of
    for micro in (int(index_of[answers[-1].i]), int(index_of[answers[-1].j])):
        group = belief.groups.group_of(micro)
        if group in belief.partial and belief.partial[group][:-1].max() <= SURE_CHANCE:
            proposal = compare(belief, micro, f"point {{{micro}}} is still without a group")
            # A noisy answer that is nearly sure to be no says little.
            if proposal is not None and (not is_noisy or proposal.expected > 0.2):
                return proposal
    return None


def part_question(run: ActiveClustering, points: npt.ArrayLike) -> Question:
    """Return the question whether the centres of the two halves of some points belong together.

    The halves are those of 2-means on the spectral coordinates.

    Parameters
    ----------
    run : ActiveClustering
        Started.
    points : array of int
        Rows of X that are not one cluster.

    Examples
    --------
    >>> from sidecut.active import ActiveClustering, part_question
    >>> X = [[0.0], [0.2], [0.4], [0.6], [5.0], [5.2], [5.4], [5.6]]
    >>> question = part_question(ActiveClustering(random_state=0).start(X), range(8))
    >>> sorted(X[i][0] > 3 for i in (question.i, question.j))
    [False, True]
    """
    precomputed = run.precomputed_
    inside = np.unique(precomputed.micro_clusters.index_of[np.asarray(points, dtype=np.intp)])
    if len(inside) < 2:
        raise ValueError(
            f"The {np.size(points)} points are so near each other that they are asked about as one. Choose "
            "points farther apart."
        )
    halves = kmeans_labels(unit_rows(precomputed.eigenvectors[inside]), 2, random_state=0)
    alike = precomputed.kernels[-1][np.ix_(inside, inside)]
    middles = find_centers(
        alike, precomputed.micro_clusters.sizes[inside], halves, np.empty(0, dtype=np.intp)
    )
    i, j = precomputed.micro_clusters.points[inside[middles]]
    reason = "you said that these are not one cluster; these two are the centres of its two halves"
    return Question((int(i), int(j)), reason, strategy="part_question")


def default_strategy(belief: Belief, answers: list[Answer], rng: np.random.RandomState) -> Proposal | None:
    """Ask again about the last point; then ask the question that is expected to regroup most pairs of points.

    Every strategy proposes one question with its expected gain. That is multiplied by the share of earlier
    expected gains that the strategy did reach (`kept_share`); the largest product wins.

    Examples
    --------
    >>> from sidecut.active import ActiveClustering, default_strategy
    >>> X = [[0.0], [0.2], [0.4], [0.6], [5.0], [5.2], [5.4], [5.6]]
    >>> ActiveClustering(strategy=default_strategy, random_state=0).start(X).question().reason
    'groups of about 3 and 3 points are close; a yes makes them one'
    """
    proposal = same_point(belief, answers, rng)
    if proposal is not None:
        return replace(proposal, strategy="same_point")
    best, most = None, -1.0
    for strategy in STRATEGIES:
        proposal = strategy(belief, answers, rng)
        if proposal is None:
            continue
        expected_gain = proposal.gain * kept_share(strategy.__name__, answers)
        if expected_gain > most:
            best, most = replace(proposal, strategy=strategy.__name__), expected_gain
    if best is not None:
        return best
    # If all points seem sure, some may still be wrong: ask about those of largest variance.
    last = split_largest(belief, answers, rng)
    if last is not None:
        return replace(last, strategy="split_largest")
    last = first_comparable(belief, doubt_of_placed(belief), "all points are placed, {} least surely")
    return None if last is None else replace(last, strategy="least_sure")


def kept_share(name: str, answers: Sequence[Record]) -> float:
    """Return the pairs regrouped after a strategy's questions, as a share of the expected ones."""
    mine = [answer for answer in answers if answer.strategy == name]
    expected = sum(answer.gain for answer in mine)
    if expected <= 0:
        return 1.0
    prior = PRIOR_COUNT * expected / len(mine)
    return (prior + sum(answer.changed for answer in mine)) / (prior + expected)


def doubts(belief: Belief, answers: list[Answer], rng: np.random.RandomState) -> Proposal | None:
    """Ask again where an answer that may be wrong joins large groups: another pair across the same link.

    The seeds of a class are joined by a tree of the strongest evidence. Each of its edges divides them in two
    parts; the odds between the parts are added up. The expected number of pairs corrected is the chance that
    the parts do not belong together × their sizes.

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
    masses = structure.chances.T @ belief.precomputed.micro_clusters.sizes
    best: Proposal | None = None
    for one, other in weak_sides(structure):
        odds = structure.odds(one, other)
        wrong = float(expit(-odds))
        gain = wrong * float(masses[one].sum() * masses[other].sum())
        if odds < SETTLED_ODDS and (best is None or gain > best.gain):
            pair = core_pair(structure, belief, one, other)
            if pair is not None:
                reason = f"an earlier answer that joins two groups has a chance of {wrong:.0%} to be wrong"
                best = Proposal(*pair, gain, 1.0 - wrong, reason, CHECK_CLOSENESS)
    return best


def doubtful_sets(belief: Belief, answers: list[Answer], rng: np.random.RandomState) -> Proposal | None:
    """Ask about a set of similar points and the rest of their class, where all of them may be of another one.

    Points that were asked about support each other in their class, and each of them looks sure. The expected
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
    sizes = belief.precomputed.micro_clusters.sizes
    nearest = belief.known[belief.kernel[:, belief.known].argmax(axis=1)]
    found = []
    for each in structure.sets:
        if each.wrong > expit(-SETTLED_ODDS):
            mass = sizes[(belief.labels == each.column) & np.isin(nearest, each.micro_clusters)].sum()
            found.append((each.wrong * mass * (belief.class_sizes[each.column] - mass), each))
    for gain, each in sorted(found, key=lambda one: -one[0]):
        rest = np.setdiff1d(belief.members(each.column), each.micro_clusters)
        # The most central ones of both sets first.
        sides = [
            one[np.argsort(-belief.kernel[np.ix_(one, one)].sum(axis=1))]
            for one in (each.micro_clusters, rest)
        ]
        pair = first_open(belief, *sides)
        if pair is not None:
            reason = f"a part of a group has a chance of {each.wrong:.0%} to be of another one"
            return Proposal(*pair, float(gain), 1.0 - each.wrong, reason, CHECK_CLOSENESS)
    return None


def weak_sides(structure: Structure) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield the two sides of every edge of the tree of strongest evidence that joins the seeds of a class."""
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


#: The strategies that `default_strategy` compares.
STRATEGIES = (merge_classes, expected_change, neighbourhoods, perturbation, doubts, doubtful_sets)
