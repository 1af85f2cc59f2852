"""The posterior over classes where answers may be wrong: all answers together, anew after each one.

The centres of the initial clusters are **seeds**, and so is a point that is probably of no class yet. Every
node, a micro-cluster that was asked about, has a probability of each seed, and seeds are joined to classes:

1. The seed of a node is forecast from the other nodes, by the regression of `sidecut.active.belief`.
2. Forecasts and answers are combined by loopy belief propagation. Let q_y(c) be the probability that y is of
   class c without this answer, and ε the chance that the answer is wrong. A yes about x and y multiplies the
   probability that x is of class c by q_y(c)(1 - ε) + (1 - q_y(c))ε, a no by one minus that.
3. Two seeds s and t are joined if that makes the answers likelier. With p the chance that x and y are of one
   seed, and p' the same if s and t were one, the evidence is the sum of log L(p') - log L(p) over the
   answers, where L(p) = p(1 - ε) + (1 - p)ε for a yes and one minus that for a no.
4. Nodes that hold each other in a wrong class do not leave it one by one. So sets of nodes are moved to
   another class, or a new one, as a whole: sets joined by yes answers, by an initial cluster, or by kernel.

The iteration finds a local optimum, so it is started twice, from the initial clusters and from the answers
alone. The posterior with the best score is kept: the log chance of all answers by Bethe's formula plus the
prior log odds of the classes from the graph.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.cluster.hierarchy import average
from scipy.special import logit, softmax

from sidecut.active.belief import (
    DEFAULT_TRUST,
    EVEN_LINKAGE,
    NOISE,
    SURE_CHANCE,
    AnswerGroups,
    Belief,
    DoubtfulSet,
    Structure,
    as_chances,
    as_shares,
    choose,
    class_counts,
    invert,
    linkage,
    new_class_rate,
)
from sidecut.active.precomputed import Precomputed
from sidecut.active.propagation import (
    CERTAIN,
    Answers,
    add_by_class,
    propagate,
    read_answers,
    share_among_seeds,
    weigh_merges,
)
from sidecut.active.strategies import largest
from sidecut.checks import BoolArray, FloatArray, IntArray

#: Smallest prior log odds that two seeds are one class; the largest are 0.
MIN_PRIOR_ODDS = -1.5
#: Share of the forecast of a set that is spread over all classes, as answers may be wrong.
SET_DOUBT = 0.2
#: Smallest prior chance that a set of nodes is of a new class, where there may be one.
MIN_NEW_SET_CHANCE = 0.1
#: Sets that are tried as a whole; of those whose answers speak for a move, or the largest.
MAX_SETS = 15
#: From this chance on a node counts as of its class: others are compared with it.
PLACED_CHANCE = 0.9
#: Smallest weight of a node in the forecast of others, at the start.
MIN_SURENESS = 0.3


@dataclass(frozen=True)
class NoisyAnswerModel:
    """What does not change while the posterior is fitted."""

    precomputed: Precomputed
    nodes: IntArray
    answers: Answers
    kernel: FloatArray
    trust: float
    n_clusters: int | None

    @cached_property
    def initial_clusters(self) -> IntArray:
        """The initial cluster of every node."""
        return self.precomputed.initial_clusters[self.nodes]

    @cached_property
    def alike(self) -> FloatArray:
        """The kernel among the nodes."""
        return self.kernel[np.ix_(self.nodes, self.nodes)]

    @cached_property
    def families(self) -> BoolArray:
        """Sets of similar nodes: one row for each step in which average linkage joins two of them."""
        n = len(self.nodes)
        member = np.eye(2 * n - 1, n, dtype=bool)
        if n > 1:
            far = 1.0 - self.alike[np.triu_indices(n, 1)]
            for step, (one, other) in enumerate(average(far)[:, :2].astype(np.intp)):
                member[n + step] = member[one] | member[other]
        return member[n:]

    @cached_property
    def initial_prior(self) -> FloatArray:
        """The log odds that two initial clusters are one class, by their linkage."""
        given = self.precomputed
        links = linkage(given, given.initial_clusters, given.n_initial_clusters)
        return np.clip(np.log(np.maximum(links, 1e-9) / EVEN_LINKAGE), MIN_PRIOR_ODDS, 0.0)

    def may_grow(self, n_classes: int) -> bool:
        """Return whether there may be more classes."""
        return self.n_clusters is None or n_classes < self.n_clusters


@dataclass(frozen=True)
class Forecast:
    """The forecast of every node from the others."""

    rows: FloatArray
    raw: FloatArray
    inverse: FloatArray
    slopes: FloatArray

    def without(self, block: IntArray) -> FloatArray:
        """Return the forecast of some nodes from those outside: Y - A_BB⁻¹ [A(Y - M)]_B."""
        return self.rows[block] - np.linalg.solve(self.inverse[np.ix_(block, block)], self.slopes[block])


def forecast_nodes(model: NoisyAnswerModel, rows: FloatArray, sure: FloatArray, seeds: IntArray) -> Forecast:
    """Forecast each node from the others; seeds are certain."""
    inverse = invert(model.alike, np.arange(len(rows)), NOISE + (1.0 - sure))
    weighted, clusters = rows * sure[:, None], model.initial_clusters
    counts = class_counts(clusters, weighted, model.precomputed.n_initial_clusters)
    slopes = inverse @ (rows - model.trust * as_shares(counts[clusters] - weighted))
    raw = rows - slopes / np.diag(inverse)[:, None]
    raw[seeds] = np.eye(len(seeds), rows.shape[1])
    return Forecast(rows, raw, inverse, slopes)


@dataclass(frozen=True)
class Posterior:
    """The probabilities of the nodes, and the classes of the seeds, given all answers."""

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
        """The number of classes."""
        return int(self.class_of.max()) + 1

    @property
    def n_nodes(self) -> int:
        """The number of nodes; the rows of `chances` after them are of piles."""
        return len(self.rows)

    @cached_property
    def columns(self) -> IntArray:
        """The likeliest class of every node; a seed is of its own."""
        columns = self.chances[:, :-1].argmax(axis=1)
        columns[self.seeds] = self.class_of
        return columns

    @cached_property
    def sureness(self) -> FloatArray:
        """The probability of the likeliest class of every node."""
        sure = self.chances[:, :-1].max(axis=1)
        sure[self.seeds] = 1.0
        return sure

    @cached_property
    def is_free(self) -> BoolArray:
        """Which nodes are no seeds."""
        free = np.ones(len(self.chances), dtype=bool)
        free[self.seeds] = False
        return free


def join_seeds(evidence: FloatArray, prior: FloatArray) -> IntArray:
    """Return the class of each seed: the two sets with the best odds are joined while these are above 0."""
    # The evidence between two sets is the sum over their seeds, the prior the mean. Sets without positive
    # evidence are not joined (additive edge contraction: Keuper et al., 2015).
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


def find_move(
    posterior: Posterior,
    answers: Answers,
    blocks: list[IntArray],
    may_grow: bool,
    tried: Container[tuple[int, ...]] = (),
) -> tuple[IntArray, int]:
    """Return the set of nodes with the largest gain in another class, and the class; -1: a new one."""
    # The set is empty if none gains. Moves in `tried`, each as the class and the nodes, are left out.
    # A move must promise a gain of 0.5 in log odds.
    best: tuple[IntArray, int] = (np.empty(0, dtype=np.intp), -1)
    most = 0.5
    said = said_of(blocks, posterior, answers)
    for at in largest(said.max(axis=1, initial=0.0), MAX_SETS):
        block, gain = blocks[at], said[at] + expected_of(blocks[at], posterior)
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
        # The node that is most likely of no class, if that is likelier than not.
        new = (posterior.chances[:, -1] * posterior.is_free)[: posterior.n_nodes]
        if new.max() > 0.5 and (-1, int(new.argmax())) not in tried:
            return np.array([new.argmax()]), -1
    return best


def said_of(blocks: list[IntArray], posterior: Posterior, answers: Answers) -> FloatArray:
    """Return the gain in log likelihood with all of a set in one class, for each class and a new one."""
    # It is the sum of log L(p') - log L(p) over the answers about nodes of the set: p is the present chance
    # that the two are of one class, p' the one with all of the set in one class.
    answers = answers.among(posterior.n_classes)
    member = np.zeros((len(blocks), len(posterior.chances)))
    for row, block in zip(member, blocks, strict=True):
        row[block] = 1.0
    known = posterior.chances.copy()
    known[:, -1] = 0.0
    a, b = answers.ends.T
    now = answers.log_likelihood((known[a] * known[b]).sum(axis=1))
    inside = answers.log_likelihood(np.ones(len(a))) - now
    total = ((member[:, a] * member[:, b]) @ inside)[:, None]
    for here, there in ((a, b), (b, a)):
        gain = answers.log_likelihood(known[there]) - now[:, None]
        total = total + (member[:, here] * (1.0 - member[:, there])) @ gain
    return total


def expected_of(block: IntArray, posterior: Posterior) -> FloatArray:
    """Return the gain in log prior of a set in each class, and in a new one, forecast from outside."""
    # It is the mean log chance of the class over the nodes, less that of their present classes.
    block = block[block < posterior.n_nodes]
    chances = as_chances(add_by_class(posterior.forecast.without(block), posterior.class_of))
    chances = (1.0 - SET_DOUBT) * chances + SET_DOUBT / chances.shape[1]
    new = max(posterior.new_rate, MIN_NEW_SET_CHANCE) if posterior.new_rate > 0 else 1e-9
    now = np.log((chances * posterior.chances[block, :-1]).sum(axis=1) + 1e-9).mean() + np.log1p(-new)
    return np.append(np.log(chances).mean(axis=0) + np.log1p(-new), np.log(new)) - now


def movable_sets(posterior: Posterior, model: NoisyAnswerModel) -> list[IntArray]:
    """Return the sets of nodes that yes answers join, and the sets of similar nodes."""
    blocks = [*linked_sets(posterior, model.answers), *similar_sets(posterior, model)]
    return list({block.tobytes(): block for block in blocks}.values())


def similar_sets(posterior: Posterior, model: NoisyAnswerModel) -> Iterator[IntArray]:
    """Yield the nodes of each initial cluster and each family, all of them and those of each class."""
    initial_clusters = model.initial_clusters == np.arange(model.precomputed.n_initial_clusters)[:, None]
    for family in np.vstack([initial_clusters, model.families]) & posterior.is_free[: posterior.n_nodes]:
        inside = np.flatnonzero(family)
        columns = np.unique(posterior.columns[inside])
        parts = [inside[posterior.columns[inside] == column] for column in columns]
        yield from (part for part in parts if len(part) > 1)
        if len(columns) > 1:
            yield inside


def linked_sets(posterior: Posterior, answers: Answers) -> Iterator[IntArray]:
    """Yield the sets of nodes of a class that yes answers join, whole and cut at one answer."""
    is_free, columns, (a, b) = posterior.is_free, posterior.columns, answers.ends.T
    edges = answers.ends[answers.yes & is_free[a] & is_free[b] & (columns[a] == columns[b])]
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
    """Return the nodes that paths reach, without the edge from the start to the barred node."""
    found, front = {start}, [start]
    while front:
        node = front.pop()
        for other in neighbours[node]:
            if other not in found and not (node == start and other == barred):
                found.add(other)
                front.append(other)
    return found


def weigh_sets(posterior: Posterior, model: NoisyAnswerModel) -> tuple[DoubtfulSet, ...]:
    """Return the sets of similar nodes of a class, with the chance that they are of another one."""
    blocks = list({block.tobytes(): block for block in similar_sets(posterior, model)}.values())
    blocks = [block for block in blocks if np.ptp(posterior.columns[block]) == 0]
    blocks = sorted(blocks, key=len, reverse=True)[: 2 * MAX_SETS]
    found = []
    for block, said in zip(blocks, said_of(blocks, posterior, model.answers), strict=True):
        column = int(posterior.columns[block[0]])
        chances = softmax(said + expected_of(block, posterior))
        found.append(DoubtfulSet(model.nodes[block], column, float(1.0 - chances[column])))
    return tuple(found)


def infer_noisy(precomputed: Precomputed, groups: AnswerGroups, n_clusters: int | None) -> Belief:
    """Return the probabilities of classes after answers that may be wrong."""
    # The kernel and the trust are chosen by the placed nodes. So the posterior is fitted with the default,
    # and again with a better choice.
    kernel, trust = precomputed.kernels[-1], DEFAULT_TRUST
    answers = read_answers(groups)
    seeds = np.searchsorted(groups.nodes, precomputed.centers)
    model = NoisyAnswerModel(precomputed, groups.nodes, answers, kernel, trust, n_clusters)
    posterior = fit_posterior(model, seeds)
    placed = regroup(groups, posterior)
    better, trust = choose(precomputed, placed, np.arange(placed.n_groups) < posterior.n_classes)
    if better is not kernel or trust != model.trust:
        other = replace(model, kernel=better, trust=trust)
        again = fit_posterior(other, posterior.seeds)
        if again.score > posterior.score:
            model, posterior = other, again
            placed = regroup(groups, posterior)
    return as_belief(model, placed, posterior)


def fit_posterior(model: NoisyAnswerModel, first: IntArray) -> Posterior:
    """Iterate from two starts; then move sets of nodes, and add seeds, while the score rises."""
    best = start(model, first)
    blocks = movable_sets(best, model)
    tried: set[tuple[int, ...]] = set()
    in_vain = 0
    while in_vain < 2 and len(tried) < 15:
        block, to = find_move(best, model.answers, blocks, model.may_grow(best.n_classes), tried)
        if not len(block):
            break
        tried.add((to, *block))
        moved = move(model, best, block, to)
        in_vain += 1
        if moved.score > best.score:
            best, blocks, in_vain = moved, movable_sets(moved, model), 0
    return best


def start(model: NoisyAnswerModel, seeds: IntArray) -> Posterior:
    """Return the better of two local optima: from the initial clusters, and from the answers alone."""
    rows = np.eye(len(seeds))[model.initial_clusters]
    by_initial = local_optimum(model, seeds, rows, np.full(len(rows), MIN_SURENESS))
    blank = np.zeros_like(rows)
    chances, _, _ = propagate(
        blank, by_initial.class_of, model.answers.among(by_initial.n_classes), seeds, by_initial.new_rate
    )
    chances = chances[: len(rows)]
    sure = np.maximum(chances[:, :-1].max(axis=1), MIN_SURENESS)
    by_answers = local_optimum(model, seeds, share_among_seeds(chances, blank, by_initial.class_of), sure)
    return by_answers if by_answers.score > by_initial.score else by_initial


def move(model: NoisyAnswerModel, posterior: Posterior, block: IntArray, to: int) -> Posterior:
    """Iterate again with some nodes in another class; -1: a new one."""
    seeds, block = posterior.seeds, block[block < posterior.n_nodes]
    rows = posterior.rows / posterior.rows.sum(axis=1, keepdims=True)
    rows[block] = 0.0
    if to < 0:
        middle = block[int(np.argmax(model.alike[np.ix_(block, block)].sum(axis=0)))]
        seeds = np.append(seeds, middle)
        rows = np.column_stack([rows, np.zeros(len(rows))])
        rows[block, -1] = 1.0
    else:
        target = np.flatnonzero(posterior.class_of == to)
        rows[np.ix_(block, target)] = 1.0 / len(target)
    sure = np.maximum(posterior.sureness[: posterior.n_nodes], MIN_SURENESS)
    sure[block] = PLACED_CHANCE
    return local_optimum(model, seeds, rows, sure)


def local_optimum(model: NoisyAnswerModel, seeds: IntArray, rows: FloatArray, sure: FloatArray) -> Posterior:
    """Repeat steps 1 to 3 until the classes stay the same; return the round with the best score."""
    # The first round, in which every seed is a class, does not count.
    rows[seeds], sure[seeds] = np.eye(len(seeds)), 1.0
    n_initial = model.precomputed.n_initial_clusters
    prior = np.full((len(seeds), len(seeds)), MIN_PRIOR_ODDS)
    prior[:n_initial, :n_initial] = model.initial_prior
    n_new = len(seeds) - n_initial
    class_of: IntArray = np.arange(len(seeds))
    rounds: list[Posterior] = []
    for step in range(6):
        forecast = forecast_nodes(model, rows, sure, seeds)
        n_placed = max(0, int(np.count_nonzero(sure > SURE_CHANCE)) - n_initial)
        may_grow = model.may_grow(int(class_of.max()) + 1)
        new_rate = min(new_class_rate(n_new, n_placed), 0.5) if may_grow else 0.0
        answers = model.answers.among(int(class_of.max()) + 1)
        chances, cavities, said = propagate(forecast.raw, class_of, answers, seeds, new_rate)
        evidence = weigh_merges(answers, cavities, forecast.raw, class_of, seeds)
        of_nodes = chances[: len(rows)]
        rows, sure = share_among_seeds(of_nodes, forecast.raw, class_of), of_nodes[:, :-1].max(axis=1)
        score = said + score_structure(prior, class_of, n_new)
        rounds.append(Posterior(seeds, class_of, chances, rows, evidence, prior, forecast, new_rate, score))
        joined = join_seeds(evidence, prior)
        if step >= 2 and np.array_equal(joined, class_of):
            break
        class_of = joined
    return max(rounds[1:], key=lambda each: each.score)


def score_structure(prior: FloatArray, class_of: IntArray, n_new: int) -> float:
    """Return the prior log odds of the classes: -0.5 for each new seed, and those of merges."""
    # A class of m seeds takes m - 1 merges; each counts as the mean prior between its seeds.
    total = -0.5 * n_new
    for column in range(int(class_of.max()) + 1):
        inside = np.flatnonzero(class_of == column)
        if len(inside) > 1:
            block = prior[np.ix_(inside, inside)]
            total += (block.sum() - np.trace(block)) / len(inside)
    return float(total)


def regroup(groups: AnswerGroups, posterior: Posterior) -> AnswerGroups:
    """Return groups for the strategies: one for each class, and one for each node in no class yet."""
    n_classes = posterior.n_classes
    chances, sure = posterior.chances[: posterior.n_nodes], posterior.sureness[: posterior.n_nodes]
    is_placed = sure > PLACED_CHANCE
    group = np.where(is_placed, posterior.columns[: posterior.n_nodes], 0)
    group[~is_placed] = n_classes + np.arange(np.count_nonzero(~is_placed))
    odds = np.zeros((max(n_classes, int(group.max()) + 1),) * 2)
    odds[:n_classes, :n_classes] = _odds_of_classes(posterior)
    odds[n_classes:, :n_classes] = logit(np.clip(chances[~is_placed, :-1], 1e-9, 1 - 1e-9))
    odds[:n_classes, n_classes:] = odds[n_classes:, :n_classes].T
    return replace(groups, group=group.astype(np.intp), odds=odds, trust=sure)


def _odds_of_classes(posterior: Posterior) -> FloatArray:
    """Return the log odds that two classes are one; 0 without answers about them."""
    class_of = posterior.class_of
    said = add_by_class(add_by_class(posterior.evidence, class_of).T, class_of)
    sizes = np.bincount(class_of)
    prior = add_by_class(add_by_class(posterior.prior, class_of).T, class_of) / np.outer(sizes, sizes)
    odds = np.where(np.abs(said) > 1e-6, said + prior, 0.0)
    np.fill_diagonal(odds, 0.0)
    return odds


def as_belief(model: NoisyAnswerModel, placed: AnswerGroups, posterior: Posterior) -> Belief:
    """Return the belief about every micro-cluster; a node weighs more, the surer its class is."""
    given, nodes, class_of = model.precomputed, placed.nodes, posterior.class_of
    sure, rows = placed.trust, posterior.rows / posterior.rows.sum(axis=1, keepdims=True)
    counts = class_counts(model.initial_clusters, rows * sure[:, None], given.n_initial_clusters)
    prior = model.trust * as_shares(counts)[given.initial_clusters]
    inverse = invert(model.kernel, nodes, NOISE + (1.0 - sure))
    raw = prior + model.kernel[:, nodes] @ (inverse @ (rows - prior[nodes]))
    chances = as_chances(add_by_class(raw, class_of))
    of_classes = posterior.chances[: len(nodes), :-1]
    chances[nodes] = of_classes / of_classes.sum(axis=1, keepdims=True)
    structure = Structure(
        nodes[posterior.seeds],
        class_of,
        posterior.evidence,
        posterior.prior,
        share_among_seeds(chances, raw, class_of),
        float(np.median(model.answers.error)),
        count_wrong(model.answers, posterior),
        weigh_sets(posterior, model),
    )
    n_classes = posterior.n_classes
    return Belief(
        given,
        placed,
        np.arange(n_classes),
        {int(g): posterior.chances[node] for node, g in enumerate(placed.group) if g >= n_classes},
        model.kernel,
        model.trust,
        nodes,
        inverse,
        chances,
        chances.argmax(axis=1),
        structure,
    )


def count_wrong(answers: Answers, posterior: Posterior) -> tuple[float, int]:
    """Return Σ P(the two are not as the answer says) over the answers that may be wrong, and their number."""
    chances = posterior.chances[:, :-1] / posterior.chances[:, :-1].sum(axis=1, keepdims=True)
    together = (chances[answers.ends[:, 0]] * chances[answers.ends[:, 1]]).sum(axis=1)
    wrong = np.where(answers.yes, 1.0 - together, together)[answers.error > CERTAIN]
    return float(wrong.sum()), len(wrong)
