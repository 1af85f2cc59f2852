"""Which pair to ask about next: one plain function per idea.

Every strategy takes a `Belief`, the answers so far and a source of randomness, and returns a `Proposal`, or
None where it has nothing left to ask. None of them asks about a pair twice, or about what follows from
certain answers. Questions about a point compare it with the member of a class that is most like it, which
is the easiest pair to judge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from sidecut.active.belief import SURE, Belief
from sidecut.active.knowledge import SETTLED
from sidecut.active.landscape import middle_of_pieces
from sidecut.active.proposals import (
    N_CANDIDATES,
    Proposal,
    closest_pair,
    compare,
    core_pair,
    first_comparable,
    influence,
    is_open,
    largest,
    most_alike,
    regrouping,
)
from sidecut.active.records import Answer, Question
from sidecut.arrays import FloatArray, IntArray
from sidecut.labelling import kmeans_labels, unit_rows

if TYPE_CHECKING:
    from sidecut.active.clustering import ActiveClustering

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
    """Return r₀, the linkage at which yes and no are as likely: the mode of its posterior given the answers.

    Examples
    --------
    >>> from sidecut.active import Answer
    >>> from sidecut.active.strategies import even_linkage
    >>> round(even_linkage([]), 3), round(even_linkage([Answer(0, 1, False, closeness=0.3)] * 4), 3)
    (0.1, 0.497)
    """
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
