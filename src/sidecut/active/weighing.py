"""What follows from answers that may be wrong: all of them are weighed together, and anew after each one.

The centres of the pieces are **seeds**, and so is a point that is likely of no class yet. Every point asked
about has a chance of each seed, and seeds are joined into classes. These steps are repeated:

1. The seed of a point is forecast from the other points, by the regression of `sidecut.active.belief`.
2. Forecasts and answers are combined by loopy belief propagation. With q_y(c) the chance that y is of class c
   without this answer, and ε the chance that the answer is wrong, a yes about x and y multiplies the chance
   that x is of class c by q_y(c)(1 - ε) + (1 - q_y(c))ε, and a no by one minus that.
3. Two seeds are joined where the answers are likelier if they are one class. With p the chance that x and y
   are of one seed, and p' the same if s and t were one, the evidence is the sum of log L(p') - log L(p) over
   the answers, where L(p) = p(1 - ε) + (1 - p)ε for a yes and one minus that for a no.
4. Points that hold each other in a wrong class do not leave it one by one. So sets of points that yes links
   hold together, and the points of a class in one piece, are tried in every class as a whole, and as a new
   class.

The steps end where they began near. So they begin twice, from the pieces and from the answers alone, and of
all that is tried the one with the best score is kept: the log chance of all answers by Bethe's formula
(`sidecut.active.votes.propagate`), and what the graph says about the classes.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import logit

from sidecut.active.belief import (
    FIRST_TRUST,
    NEW_SEEN,
    NOISE,
    POINTS_SEEN,
    SURE,
    TRUSTS,
    Belief,
    Structure,
    as_chances,
    choose,
    invert,
)
from sidecut.active.knowledge import Knowledge
from sidecut.active.landscape import Landscape
from sidecut.active.votes import (
    Ballot,
    add_by_class,
    gather_ballot,
    join_seeds,
    propagate,
    spread,
    weigh_merges,
)
from sidecut.arrays import FloatArray, IntArray

#: Rounds of steps 1 to 3, and moves and new seeds at most.
N_ROUNDS, N_MOVES = 6, 15
#: The part of the forecast of a set of points that is spread over all classes.
DOUBT_OF_SETS = 0.2
#: What the graph says about two seeds counts as log odds from the first to the second.
LEAST_PRIOR, MOST_PRIOR = -1.5, 0.0
#: Two pieces are as likely one class as two where the weight between them is this share of the weight inside.
EVEN_LINKAGE = 0.1
#: From this chance on a point counts as of its class: others are compared with it.
PLACED = 0.9
#: The least chance with which a node counts in the forecast of others, at the start.
LEAST_SURE = 0.3
#: The log odds of a new seed before the answers.
NEW_SEED = -2.0
#: A set of points is tried in another class where this much log odds may be gained.
LEAST_GAIN = 0.5


@dataclass(frozen=True)
class Scene:
    """What does not change while answers are weighed.

    Attributes
    ----------
    landscape : Landscape
        The data.
    nodes : array of int
        The grains that were asked about, and the centres.
    ballot : Ballot
        The answers.
    kernel : array
        How alike grains are.
    trust : float
        How much the piece of a grain says about it.
    n_clusters : int or None
        No new class is expected once there are so many.
    """

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

    def prior(self, n_seeds: int) -> FloatArray:
        """Return the log odds that two seeds are one class, by how strongly the graph links their pieces."""
        known = np.log(np.maximum(self.linkage, 1e-9) / EVEN_LINKAGE)
        prior = np.full((n_seeds, n_seeds), LEAST_PRIOR)
        prior[: len(known), : len(known)] = np.clip(known, LEAST_PRIOR, MOST_PRIOR)
        return prior


@dataclass(frozen=True)
class Forecast:
    """What is forecast of every node from the others.

    Attributes
    ----------
    rows : array of shape (n_nodes, n_seeds)
        What the forecast rests on: the chance of each seed.
    raw : array of shape (n_nodes, n_seeds)
        The forecast of each node from the others.
    inverse, slopes : arrays
        A = (K + Σ)⁻¹ and A(Y - M), of which forecasts of sets are made.
    """

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
    """What the answers make of the nodes.

    Attributes
    ----------
    seeds : array of int
        Which nodes are seeds.
    class_of : array of int
        The class of each seed.
    chances : array of shape (n_nodes, n_classes + 1)
        The chance of each class, and in the last column of a new one.
    rows : array of shape (n_nodes, n_seeds)
        The chance of each seed.
    evidence, prior : arrays of shape (n_seeds, n_seeds)
        Log odds that two seeds are one class, from the answers and from the graph.
    forecast : Forecast
        What was forecast of each node.
    new_rate : float
        The chance of a new class before the answers.
    score : float
        The log chance of the answers, and of the classes before them.
    """

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


def infer_weighed(landscape: Landscape, knowledge: Knowledge, n_clusters: int | None) -> Belief:
    """Return what follows from answers that may be wrong.

    The kernel and the trust are chosen by the points that are placed, as where answers are certain; so the
    weighing is done with the first choice, and again with the better one.
    """
    kernel, trust = landscape.kernels[-1], TRUSTS[FIRST_TRUST]
    ballot = gather_ballot(knowledge)
    seeds = np.searchsorted(knowledge.nodes, landscape.centers)
    scene = Scene(landscape, knowledge.nodes, ballot, kernel, trust, n_clusters)
    weighed = weigh(scene, seeds)
    placed = regroup(knowledge, weighed)
    better, trust = choose(landscape, placed, np.arange(placed.n_groups) < weighed.n_classes)
    if better is not kernel or trust != scene.trust:
        other = replace(scene, kernel=better, trust=trust)
        again = weigh(other, weighed.seeds)
        if again.score > weighed.score:
            scene, weighed = other, again
            placed = regroup(knowledge, weighed)
    return as_belief(scene, placed, weighed)


def weigh(scene: Scene, first: IntArray) -> Weighed:
    """Settle what every node is; then move sets of nodes, and add seeds, while the answers get likelier."""
    best = start(scene, first)
    tried: set[tuple[int, ...]] = set()
    for _ in range(N_MOVES):
        may_grow = scene.n_clusters is None or best.n_classes < scene.n_clusters
        block, to = find_move(best, scene.ballot, scene.pieces, may_grow, tried)
        if not len(block):
            break
        tried.add((to, *block))
        moved = move(scene, best, block, to)
        if moved.score > best.score:
            best = moved
    return best


def start(scene: Scene, seeds: IntArray) -> Weighed:
    """Settle from two ends, and return what makes the answers likelier.

    First every node is what its piece is; then it is what the answers say, as if nothing were forecast.
    """
    rows = np.zeros((len(scene.nodes), len(seeds)))
    rows[np.arange(len(rows)), scene.pieces] = 1.0
    by_pieces = settle(scene, seeds, rows, np.full(len(rows), LEAST_SURE))
    blank = np.zeros_like(rows)
    chances, _, _ = propagate(blank, by_pieces.class_of, scene.ballot, seeds, by_pieces.new_rate)
    sure = np.maximum(chances[:, :-1].max(axis=1), LEAST_SURE)
    by_answers = settle(scene, seeds, spread(chances, blank, by_pieces.class_of), sure)
    return by_answers if by_answers.score > by_pieces.score else by_pieces


def move(scene: Scene, weighed: Weighed, block: IntArray, to: int) -> Weighed:
    """Settle again with some nodes in another class; -1: a new one."""
    seeds = weighed.seeds
    rows = weighed.rows / weighed.rows.sum(axis=1, keepdims=True)
    rows[block] = 0.0
    if to < 0:
        middle = block[int(np.argmax(scene.alike[np.ix_(block, block)].sum(axis=0)))]
        seeds = np.append(seeds, middle)
        rows = np.column_stack([rows, np.zeros(len(rows))])
        rows[block, -1] = 1.0
    else:
        target = np.flatnonzero(weighed.class_of == to)
        rows[np.ix_(block, target)] = 1.0 / len(target)
    sure = np.maximum(weighed.sureness, LEAST_SURE)
    sure[block] = PLACED
    return settle(scene, seeds, rows, sure)


def _likely_new(weighed: Weighed) -> IntArray:
    """Return the node that is most likely of no class, if that is likelier than not."""
    new = weighed.chances[:, -1].copy()
    new[weighed.seeds] = 0.0
    return np.flatnonzero(new == new.max())[:1] if new.max() > 0.5 else np.empty(0, dtype=np.intp)


def settle(scene: Scene, seeds: IntArray, rows: FloatArray, sure: FloatArray) -> Weighed:
    """Repeat steps 1 to 3 until the classes stay the same; return the round with the best score.

    The first round, in which every seed is a class, is only a start.
    """
    rows[seeds], sure[seeds] = np.eye(len(seeds)), 1.0
    prior = scene.prior(len(seeds))
    class_of: IntArray = np.arange(len(seeds))
    rounds: list[Weighed] = []
    for step in range(N_ROUNDS):
        forecast = foretell(scene, rows, sure, seeds)
        new_rate = _new_rate(scene, len(seeds), sure, class_of)
        chances, cavities, said = propagate(forecast.raw, class_of, scene.ballot, seeds, new_rate)
        evidence = weigh_merges(scene.ballot, cavities, forecast.raw, class_of)
        rows, sure = spread(chances, forecast.raw, class_of), chances[:, :-1].max(axis=1)
        score = said + score_structure(prior, class_of, len(seeds) - scene.landscape.n_pieces)
        rounds.append(Weighed(seeds, class_of, chances, rows, evidence, prior, forecast, new_rate, score))
        joined = join_seeds(evidence, prior)
        if step >= 2 and np.array_equal(joined, class_of):
            break
        class_of = joined
    return max(rounds[1:], key=lambda each: each.score)


def score_structure(prior: FloatArray, class_of: IntArray, n_new: int) -> float:
    """Return the log odds of the classes before the answers: what the graph says, and less for new seeds.

    A class of m seeds takes m - 1 merges; each counts as the mean prior between its seeds.

    Examples
    --------
    >>> import numpy as np
    >>> from sidecut.active.weighing import score_structure
    >>> score_structure(np.array([[0, -1.0, -1.5], [-1.0, 0, -0.5], [-1.5, -0.5, 0]]), np.array([0, 0, 0]), 0)
    -2.0
    """
    total = NEW_SEED * n_new
    for column in range(int(class_of.max()) + 1):
        inside = np.flatnonzero(class_of == column)
        if len(inside) > 1:
            block = prior[np.ix_(inside, inside)]
            total += (block.sum() - np.trace(block)) / len(inside)
    return float(total)


def _new_rate(scene: Scene, n_seeds: int, sure: FloatArray, class_of: IntArray) -> float:
    """Return the chance that a point asked about is of no known class, by how often that was so."""
    if scene.n_clusters is not None and class_of.max() + 1 >= scene.n_clusters:
        return 0.0
    n_new = n_seeds - scene.landscape.n_pieces
    n_seen = max(0, int(np.count_nonzero(sure > SURE)) - scene.landscape.n_pieces)
    return float(min((n_new + NEW_SEEN) / (n_seen + POINTS_SEEN), 0.5))


def find_move(
    weighed: Weighed,
    ballot: Ballot,
    pieces: IntArray,
    may_grow: bool,
    tried: Container[tuple[int, ...]] = (),
) -> tuple[IntArray, int]:
    """Return the set of nodes that would gain most in another class, and the class; -1: a new one.

    The set is empty where none would gain. A set is scored in a class by the answers about its nodes and
    nodes outside, and by the mean of what is forecast of its nodes from those outside. Moves that were
    tried, each as the class and the nodes, are left out.
    """
    best: tuple[IntArray, int] = (np.empty(0, dtype=np.intp), -1)
    most = LEAST_GAIN
    for block in movable_sets(weighed, ballot, pieces):
        now = weighed.columns[block[0]]
        said = _said_of(block, weighed, ballot)
        if (said - said[now]).max() <= 0:
            continue
        score = said + _expected_of(block, weighed)
        if not may_grow:
            score[-1] = -np.inf
        for at in np.argsort(-score):
            to = -1 if at == len(score) - 1 else int(at)
            if score[at] - score[now] <= most:
                break
            if (to, *block) not in tried:
                best, most = (block, to), score[at] - score[now]
                break
    if not len(best[0]) and may_grow:
        block = _likely_new(weighed)
        if len(block) and (-1, *block) not in tried:
            return block, -1
    return best


def _said_of(block: IntArray, weighed: Weighed, ballot: Ballot) -> FloatArray:
    """Return the log likelihood of the answers about a set and the rest, for each class and a new one."""
    inside = np.zeros(len(weighed.chances), dtype=bool)
    inside[block] = True
    hit = inside[ballot.ends]
    across = np.flatnonzero(hit[:, 0] != hit[:, 1])
    outside = np.where(hit[across, 0], ballot.ends[across, 1], ballot.ends[across, 0])
    together = weighed.chances[outside].copy()
    together[:, -1] = 0.0
    return ballot.part(across).log_likelihood(together).sum(axis=0)


def _expected_of(block: IntArray, weighed: Weighed) -> FloatArray:
    chances = as_chances(add_by_class(weighed.forecast.without(block), weighed.class_of))
    chances = (1.0 - DOUBT_OF_SETS) * chances + DOUBT_OF_SETS / chances.shape[1]
    known = np.log(chances).mean(axis=0) + np.log1p(-weighed.new_rate)
    return np.append(known, np.log(max(weighed.new_rate, 1e-9)))


def movable_sets(weighed: Weighed, ballot: Ballot, pieces: IntArray) -> Iterator[IntArray]:
    """Give the sets of nodes that yes links hold together, and the nodes of a class in each piece."""
    yield from linked_sets(weighed, ballot)
    is_free = np.ones(len(weighed.chances), dtype=bool)
    is_free[weighed.seeds] = False
    name = pieces * weighed.n_classes + weighed.columns
    for one in np.unique(name[is_free]):
        block = np.flatnonzero(is_free & (name == one))
        if len(block) > 1:
            yield block


def linked_sets(weighed: Weighed, ballot: Ballot) -> Iterator[IntArray]:
    """Give the sets of nodes of a class that yes links hold together, whole and cut at one link."""
    is_free = np.ones(len(weighed.chances), dtype=bool)
    is_free[weighed.seeds] = False
    columns, (a, b) = weighed.columns, ballot.ends.T
    edges = ballot.ends[ballot.yes & is_free[a] & is_free[b] & (columns[a] == columns[b])]
    neighbours: dict[int, list[int]] = {}
    for one, other in edges.tolist():
        neighbours.setdefault(one, []).append(other)
        neighbours.setdefault(other, []).append(one)
    seen: set[int] = set()
    for node in neighbours:
        if node not in seen:
            whole = _reach(neighbours, node, -1)
            seen |= whole
            yield np.array(sorted(whole))
    for one, other in edges.tolist():
        side = _reach(neighbours, one, other)
        if other in side:
            continue
        for block in (side, _reach(neighbours, other, one)):
            if len(block) > 1:
                yield np.array(sorted(block))


def _reach(neighbours: dict[int, list[int]], start: int, barred: int) -> set[int]:
    """Return the nodes that links lead to, without the link from the start to the barred one."""
    found, front = {start}, [start]
    while front:
        node = front.pop()
        for other in neighbours[node]:
            if other not in found and not (node == start and other == barred):
                found.add(other)
                front.append(other)
    return found


def regroup(knowledge: Knowledge, weighed: Weighed) -> Knowledge:
    """Return groups for the strategies: one for each class, and one for each node not yet in one."""
    n_classes = weighed.n_classes
    is_placed = weighed.sureness > PLACED
    groups = np.where(is_placed, weighed.columns, 0)
    groups[~is_placed] = n_classes + np.arange(np.count_nonzero(~is_placed))
    odds = np.zeros((max(n_classes, int(groups.max()) + 1),) * 2)
    odds[:n_classes, :n_classes] = _odds_of_classes(weighed)
    odds[n_classes:, :n_classes] = logit(np.clip(weighed.chances[~is_placed, :-1], 1e-9, 1 - 1e-9))
    odds[:n_classes, n_classes:] = odds[n_classes:, :n_classes].T
    return replace(knowledge, groups=groups.astype(np.intp), odds=odds, trust=weighed.sureness)


def _odds_of_classes(weighed: Weighed) -> FloatArray:
    """Return the log odds that two classes are one; 0 where nothing was said."""
    class_of = weighed.class_of
    said = add_by_class(add_by_class(weighed.evidence, class_of).T, class_of)
    sizes = np.bincount(class_of)
    prior = add_by_class(add_by_class(weighed.prior, class_of).T, class_of) / np.outer(sizes, sizes)
    odds = np.where(np.abs(said) > 1e-6, said + prior, 0.0)
    np.fill_diagonal(odds, 0.0)
    return odds


def as_belief(scene: Scene, placed: Knowledge, weighed: Weighed) -> Belief:
    """Return the belief about every grain; a node counts the more, the surer its class is."""
    land = scene.landscape
    known, trusts = placed.nodes, weighed.sureness
    rows = weighed.rows / weighed.rows.sum(axis=1, keepdims=True)
    counts = np.zeros((land.n_pieces, rows.shape[1]))
    np.add.at(counts, land.pieces[known], rows * trusts[:, None])
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    prior = scene.trust * shares[land.pieces]
    inverse = invert(scene.kernel[np.ix_(known, known)], NOISE + (1.0 - trusts))
    raw = prior + scene.kernel[:, known] @ (inverse @ (rows - prior[known]))
    chances = as_chances(add_by_class(raw, weighed.class_of))
    told = weighed.chances[:, :-1]
    chances[placed.nodes] = told / told.sum(axis=1, keepdims=True)
    of_seeds = spread(chances, raw, weighed.class_of)
    partial = {
        int(group): weighed.chances[node]
        for node, group in enumerate(placed.groups)
        if group >= weighed.n_classes
    }
    structure = Structure(
        placed.nodes[weighed.seeds],
        weighed.class_of,
        weighed.evidence,
        weighed.prior,
        of_seeds,
        float(np.median(scene.ballot.error)),
    )
    return Belief(
        land,
        placed,
        np.arange(weighed.n_classes),
        partial,
        scene.kernel,
        scene.trust,
        known,
        inverse,
        chances,
        chances.argmax(axis=1),
        structure,
    )
