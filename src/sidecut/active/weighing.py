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
   hold together, those of one piece, and those that are alike, are tried in every class as a whole, and as a
   new class (`sidecut.active.weighing`).

The steps end where they began near. So they begin twice, from the pieces and from the answers alone, and of
all that is tried the one with the best score is kept: the log chance of all answers by Bethe's formula
(`sidecut.active.votes.propagate`), and what the graph says about the classes.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace

import numpy as np
from scipy.special import logit, softmax

from sidecut.active.belief import (
    FIRST_TRUST,
    NEW_SEEN,
    NOISE,
    POINTS_SEEN,
    SURE,
    TRUSTS,
    Belief,
    DoubtfulSet,
    Structure,
    as_chances,
    choose,
    invert,
)
from sidecut.active.knowledge import Knowledge
from sidecut.active.landscape import Landscape
from sidecut.active.strategies import largest
from sidecut.active.votes import (
    Ballot,
    Scene,
    Weighed,
    add_by_class,
    foretell,
    gather_ballot,
    join_seeds,
    propagate,
    spread,
    weigh_merges,
)
from sidecut.checks import FloatArray, IntArray

#: The part of the forecast of a set of points that is spread over all classes.
DOUBT_OF_SETS = 0.2
#: The least chance that a set of points is of a new class, before the answers, where there may be one.
NEW_SET = 0.1
#: A set of points is tried in another class where this much log odds may be gained.
LEAST_GAIN = 0.5
#: So many sets are looked at closely: those for which the answers speak most, or the largest.
N_LOOKED_AT = 15


def find_move(
    weighed: Weighed,
    ballot: Ballot,
    blocks: list[IntArray],
    may_grow: bool,
    tried: Container[tuple[int, ...]] = (),
) -> tuple[IntArray, int]:
    """Return the set of nodes that would gain most in another class, and the class; -1: a new one.

    The set is empty where none would gain. Moves that were tried, each as the class and the nodes, are left
    out.
    """
    best: tuple[IntArray, int] = (np.empty(0, dtype=np.intp), -1)
    most = LEAST_GAIN
    said = said_of(blocks, weighed, ballot)
    for at in largest(said.max(axis=1, initial=0.0), N_LOOKED_AT):
        block, gain = blocks[at], said[at] + expected_of(blocks[at], weighed)
        if not may_grow:
            gain[-1] = -np.inf
        for column in np.argsort(-gain):
            to = -1 if column == len(gain) - 1 else int(column)
            if gain[column] <= most:
                break
            if (to, *block) not in tried:
                best, most = (block, to), gain[column]
                break
    if not len(best[0]) and may_grow:
        block = likely_new(weighed)
        if len(block) and (-1, *block) not in tried:
            return block, -1
    return best


def said_of(blocks: list[IntArray], weighed: Weighed, ballot: Ballot) -> FloatArray:
    """Return how much likelier the answers are with all of a set in one class, for each class and a new one.

    It is the sum of log L(p') - log L(p) over the answers about nodes of the set: p is the chance that the
    two are of one class as things are, and p' as if all of the set were in one class.
    """
    member = np.zeros((len(blocks), len(weighed.chances)))
    for row, block in zip(member, blocks, strict=True):
        row[block] = 1.0
    known = weighed.chances.copy()
    known[:, -1] = 0.0
    a, b = ballot.ends.T
    now = ballot.log_likelihood((known[a] * known[b]).sum(axis=1))
    inside = ballot.log_likelihood(np.ones(len(a))) - now
    total = ((member[:, a] * member[:, b]) @ inside)[:, None]
    for here, there in ((a, b), (b, a)):
        gain = ballot.log_likelihood(known[there]) - now[:, None]
        total = total + (member[:, here] * (1.0 - member[:, there])) @ gain
    return total


def expected_of(block: IntArray, weighed: Weighed) -> FloatArray:
    """Return how much likelier a set is of each class, and of a new one, by what the nodes outside foretell.

    It is the mean over the nodes of the set of the log chance of the class, less that of the classes they
    are in now.
    """
    chances = as_chances(add_by_class(weighed.forecast.without(block), weighed.class_of))
    chances = (1.0 - DOUBT_OF_SETS) * chances + DOUBT_OF_SETS / chances.shape[1]
    new = max(weighed.new_rate, NEW_SET) if weighed.new_rate > 0 else 1e-9
    now = np.log((chances * weighed.chances[block, :-1]).sum(axis=1) + 1e-9).mean() + np.log1p(-new)
    return np.append(np.log(chances).mean(axis=0) + np.log1p(-new), np.log(new)) - now


def likely_new(weighed: Weighed) -> IntArray:
    """Return the node that is most likely of no class, if that is likelier than not."""
    new = weighed.chances[:, -1].copy()
    new[weighed.seeds] = 0.0
    return np.flatnonzero(new == new.max())[:1] if new.max() > 0.5 else np.empty(0, dtype=np.intp)


def movable_sets(weighed: Weighed, scene: Scene) -> list[IntArray]:
    """Return the sets of nodes that yes links hold together, and the nodes of a class that are alike."""
    blocks = [*linked_sets(weighed, scene.ballot), *kindred_sets(weighed, scene)]
    return list({block.tobytes(): block for block in blocks}.values())


def kindred_sets(weighed: Weighed, scene: Scene) -> Iterator[IntArray]:
    """Give the nodes of each piece and each family, all of them and those of each class."""
    is_free = np.ones(len(weighed.chances), dtype=bool)
    is_free[weighed.seeds] = False
    pieces = scene.pieces == np.arange(scene.landscape.n_pieces)[:, None]
    for family in np.vstack([pieces, scene.families]) & is_free:
        inside = np.flatnonzero(family)
        columns = np.unique(weighed.columns[inside])
        parts = [inside[weighed.columns[inside] == column] for column in columns]
        yield from (part for part in parts if len(part) > 1)
        if len(columns) > 1:
            yield inside


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


def weigh_sets(weighed: Weighed, scene: Scene) -> tuple[DoubtfulSet, ...]:
    """Return the sets of alike nodes of a class, with the chance that they are of another one."""
    blocks = list({block.tobytes(): block for block in kindred_sets(weighed, scene)}.values())
    blocks = [block for block in blocks if np.ptp(weighed.columns[block]) == 0]
    blocks = sorted(blocks, key=len, reverse=True)[: 2 * N_LOOKED_AT]
    found = []
    for block, said in zip(blocks, said_of(blocks, weighed, scene.ballot), strict=True):
        column = int(weighed.columns[block[0]])
        chances = softmax(said + expected_of(block, weighed))
        found.append(DoubtfulSet(scene.nodes[block], column, float(1.0 - chances[column])))
    return tuple(found)


#: Rounds of steps 1 to 3; moves at most, and moves in a row that bring nothing.
N_ROUNDS, N_MOVES, N_IN_VAIN = 6, 15, 2
#: From this chance on a point counts as of its class: others are compared with it.
PLACED = 0.9
#: The least chance with which a node counts in the forecast of others, at the start.
LEAST_SURE = 0.3
#: The log odds of a new seed before the answers.
NEW_SEED = -0.5


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
    blocks = movable_sets(best, scene)
    tried: set[tuple[int, ...]] = set()
    in_vain = 0
    while in_vain < N_IN_VAIN and len(tried) < N_MOVES:
        may_grow = scene.n_clusters is None or best.n_classes < scene.n_clusters
        block, to = find_move(best, scene.ballot, blocks, may_grow, tried)
        if not len(block):
            break
        tried.add((to, *block))
        moved = move(scene, best, block, to)
        in_vain += 1
        if moved.score > best.score:
            best, blocks, in_vain = moved, movable_sets(moved, scene), 0
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
        weigh_sets(weighed, scene),
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
