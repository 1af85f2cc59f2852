"""Which pair to ask about next: one plain function per idea.

Every strategy takes a `Belief`, the answers so far and a source of randomness, and returns a `Proposal`, or
None where it has nothing left to ask. None of them asks about a pair twice, or about what follows from
certain answers. Questions about a point compare it with the member of a class that is most like it, which
is the easiest pair to judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.special import expit

from sidecut.active.belief import NOISE, SURE, Belief, Structure
from sidecut.active.knowledge import SETTLED, connect
from sidecut.active.landscape import middle_of_pieces
from sidecut.active.records import Answer, Question
from sidecut.checks import FloatArray, IntArray
from sidecut.labelling import kmeans_labels, unit_rows

if TYPE_CHECKING:
    from sidecut.active.clustering import ActiveClustering

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


#: A question about two classes is as likely a yes as a no where the weight between them is this share of the
#: weight inside; in log, with a spread that lets answers move it.
EVEN_LINKAGE, SPREAD = np.log(0.1), 1.0
#: No two classes are linked less than this: what the graph does not show may still be true.
LEAST_LINKAGE = 1e-4
#: Where answers may be wrong, a point is left after so many questions in a row.
MOST_IN_A_ROW = 5
#: Then it is also left where a yes is no more likely than this.
FORESEEN = 0.2


# Super-instances (Van Craenendonck et al., 2018), with the pieces and distances of the graph


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
    linkage = np.maximum(belief.linkage, LEAST_LINKAGE)
    chance = linkage / (linkage + even_linkage(answers))
    odds = belief.knowledge.odds[np.ix_(belief.classes, belief.classes)]
    said = np.isfinite(odds) & (odds != 0)
    chance = np.where(said, expit(odds), chance)
    gain = chance * np.outer(belief.class_sizes, belief.class_sizes)
    gain[odds < -SETTLED] = 0.0
    gain = np.triu(gain, 1)
    for at in np.argsort(-gain, axis=None):
        a, b = np.unravel_index(int(at), gain.shape)
        if gain[a, b] <= 0:
            return None
        pair = stand_for(belief, int(a), int(b))
        if pair is not None:
            reason = (
                f"groups of about {belief.class_sizes[a]:.0f} and {belief.class_sizes[b]:.0f} points are "
                "close; a yes makes them one"
            )
            return Proposal(*pair, float(gain[a, b]), float(chance[a, b]), reason, float(linkage[a, b]))
    return None


def stand_for(belief: Belief, a: int, b: int) -> tuple[int, int] | None:
    """Return the pair of grains to ask about in the name of two classes."""
    structure = belief.structure
    if structure is None:
        return closest_pair(belief, belief.members(a), belief.members(b))
    one, other = (np.flatnonzero(structure.class_of == column) for column in (a, b))
    return core_pair(structure, belief, one, other)


def even_linkage(answers: list[Answer]) -> float:
    """Return r₀, the linkage at which yes and no are as likely: the mode of its posterior."""
    grid = np.linspace(-6.0, 2.0, 81)
    score = -0.5 * ((grid - EVEN_LINKAGE) / SPREAD) ** 2
    for answer in answers:
        if answer.closeness > 1e-6 and answer.same is not None:
            above = np.log(answer.closeness) - grid
            score += np.log(expit(above if answer.same else -above))
    return float(np.exp(grid[np.argmax(score)]))


def split_largest(belief: Belief, answers: list[Answer], rng: np.random.RandomState) -> Proposal | None:
    """Ask about the point of the largest class that is least explained by what is known, and its mass."""
    for column in np.argsort(-belief.class_sizes):
        here = (belief.labels == column) & ~belief.is_placed
        scores = np.where(here, belief.variances, 0.0)
        candidates = largest(scores, N_CANDIDATES)
        if not len(candidates):
            continue
        mass = influence(belief, candidates)
        for x in candidates[np.argsort(-mass * scores[candidates])]:
            proposal = compare(belief, int(x), f"the largest group may hold another one near point {{{x}}}")
            if proposal is not None:
                return proposal
    return None


# Neighbourhoods (Xiong, Azimi & Fern, 2014)


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
    'point ...: which group it is in is least clear'
    """
    ordered = -np.sort(-belief.chances, axis=1)
    entropy = -np.sum(ordered * np.log(np.maximum(ordered, 1e-300)), axis=1)
    questions = ordered @ np.arange(1, belief.n_classes + 1)
    scores = np.where(belief.is_placed, 0.0, entropy / questions)
    proposal = first_comparable(belief, scores, "which group it is in is least clear")
    return proposal or merge_classes(belief, answers, rng)


# Uncertainty


def uncertainty(belief: Belief, answers: list[Answer], rng: np.random.RandomState) -> Proposal | None:
    """Ask about the point whose two likeliest classes are closest to each other (margin sampling).

    Examples
    --------
    >>> from sidecut.active import ActiveClustering, uncertainty
    >>> X = [[0.0], [0.2], [0.4], [0.6], [5.0], [5.2], [5.4], [5.6]]
    >>> ActiveClustering(strategy=uncertainty, random_state=0).start(X).question().reason
    'point ...: it is the point most torn between two groups'
    """
    if belief.n_classes < 2:
        return None
    top = -np.partition(-belief.chances, 1, axis=1)[:, :2]
    margin = top[:, 0] - top[:, 1]
    scores = np.where(belief.is_placed, 0.0, 1.0 - margin)
    proposal = first_comparable(belief, scores, "it is the point most torn between two groups")
    return proposal or merge_classes(belief, answers, rng)


# Eigenvector perturbation (Wauthier, Jojic & Jordan, 2012; Xiong, Johnson & Corso, 2017)


def perturbation(belief: Belief, answers: list[Answer], rng: np.random.RandomState) -> Proposal | None:
    """Ask about the point whose link to its class moves the eigenvectors most, times the doubt about it.

    Examples
    --------
    >>> from sidecut.active import ActiveClustering, perturbation
    >>> X = [[0.0], [0.2], [0.4], [0.6], [5.0], [5.2], [5.4], [5.6]]
    >>> ActiveClustering(strategy=perturbation, random_state=0).start(X).question().reason
    'point ...: an answer about it would move the border of its group most'
    """
    land = belief.landscape
    doubt = np.where(belief.is_placed, 0.0, 1.0 - belief.chances[np.arange(land.n_grains), belief.labels])
    candidates = largest(doubt, N_CANDIDATES)
    if not len(candidates):
        return None
    partners = most_alike(belief, candidates)
    moves = eigenvector_change(land.eigenvalues, land.eigenvectors, candidates, partners)
    scores = np.zeros(land.n_grains)
    scores[candidates] = doubt[candidates] * moves + 1e-12
    return first_comparable(belief, scores, "an answer about it would move the border of its group most")


def eigenvector_change(
    eigenvalues: FloatArray, eigenvectors: FloatArray, i: IntArray, j: IntArray
) -> FloatArray:
    """Return ‖∂v/∂w_ij‖ of the second eigenvector, to first order and within the eigenvectors given.

    ∂v₂/∂w_ij = Σ_{p≠2} [v₂ᵀ(e_i - e_j)(e_i - e_j)ᵀv_p / (λ₂ - λ_p)] v_p; the v_p are orthonormal, so that the
    norm is that of the coefficients. Eigenvalues equal to λ₂ do not count: their eigenvectors are no more
    determined before the change than after.

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


# The answer that changes most


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
    candidates = largest(gains * belief.variances, N_CANDIDATES)
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


# By chance


def random_pair(belief: Belief, answers: list[Answer], rng: np.random.RandomState) -> Proposal | None:
    """Ask about a pair drawn by chance, of those that do not follow from what is known.

    Examples
    --------
    >>> from sidecut.active import ActiveClustering, random_pair
    >>> X = [[0.0], [0.2], [0.4], [0.6], [5.0], [5.2], [5.4], [5.6]]
    >>> ActiveClustering(strategy=random_pair, random_state=0).start(X).question().reason
    'drawn by chance'
    """
    n = belief.landscape.n_grains
    for _ in range(1_000):
        a, b = (int(x) for x in rng.choice(n, 2, replace=False))
        if is_open(belief, a, b):
            together = float(belief.chances[a] @ belief.chances[b])
            return Proposal(a, b, 0.0, together, "drawn by chance")
    return None


# The same point again


def go_on(belief: Belief, answers: list[Answer], rng: np.random.RandomState) -> Proposal | None:
    """Go on with the point asked about last, while its class is not clear."""
    for grain in _last_points(belief, answers):
        group = belief.knowledge.group_of(grain)
        if group in belief.partial and belief.partial[group][:-1].max() <= SURE:
            proposal = compare(belief, grain, f"point {{{grain}}} is still without a group")
            # An answer that may be wrong, and is foreseen, tells little.
            if proposal is not None and (belief.structure is None or proposal.expected > FORESEEN):
                return proposal
    return None


def _last_points(belief: Belief, answers: list[Answer]) -> list[int]:
    if not answers or answers[-1].same is None:
        return []
    if belief.structure is not None:
        if answers[-1].closeness > 0:
            # The two were asked about in the name of their groups; what they are themselves matters little.
            return []
        if [answer.strategy for answer in answers[-MOST_IN_A_ROW:]] == ["go_on"] * MOST_IN_A_ROW:
            return []
    grains = belief.landscape.grains.grain_of
    return [int(grains[answers[-1].i]), int(grains[answers[-1].j])]


# Where a person says that some points are not one cluster


def part_question(run: ActiveClustering, points: npt.ArrayLike) -> Question:
    """Return the question whether the middles of the two halves of some points belong together.

    The halves are those of 2-means on the spectral coordinates.

    Parameters
    ----------
    run : ActiveClustering
        Started.
    points : array of int
        Rows of X that are said not to be one cluster.

    Examples
    --------
    >>> from sidecut.active import ActiveClustering, part_question
    >>> X = [[0.0], [0.2], [0.4], [0.6], [5.0], [5.2], [5.4], [5.6]]
    >>> question = part_question(ActiveClustering(random_state=0).start(X), range(8))
    >>> sorted(X[i][0] > 3 for i in (question.i, question.j))
    [False, True]
    """
    land = run.landscape_
    inside = np.unique(land.grains.grain_of[np.asarray(points, dtype=np.intp)])
    if len(inside) < 2:
        raise ValueError(
            f"The {np.size(points)} points are so near each other that they are asked about as one; choose "
            "points farther apart."
        )
    halves = kmeans_labels(unit_rows(land.eigenvectors[inside]), 2, random_state=0)
    alike = land.kernels[-1][np.ix_(inside, inside)]
    middles = middle_of_pieces(alike, land.grains.sizes[inside], halves, np.empty(0, dtype=np.intp))
    i, j = land.grains.points[inside[middles]]
    reason = "you said that these are not one cluster; these two are the middles of its two halves"
    return Question(int(i), int(j), reason, strategy="part_question")


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
    """Return how much was regrouped after an adviser's questions, as a share of what it promised."""
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
