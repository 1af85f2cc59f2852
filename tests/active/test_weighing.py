"""Answers that may be wrong: each equation by another route, and wrong answers that are outvoted."""

from itertools import product

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from sidecut.active import ActiveClustering, Answer
from sidecut.active.belief import NOISE
from sidecut.active.controller import weak_sides
from sidecut.active.knowledge import know
from sidecut.active.landscape import survey
from sidecut.active.proposals import class_chances, compare, vote_variance
from sidecut.active.votes import DOUBT, Ballot, join_seeds, propagate, weigh_merges
from sidecut.active.weighing import (
    LEAST_SURE,
    Forecast,
    Scene,
    Weighed,
    find_move,
    foretell,
    gather_ballot,
    linked_sets,
    movable_sets,
    settle,
    start,
    weigh,
)
from sidecut.constraints import Constraints
from sidecut.graphs import Neighbors


def ballot(*answers, error=0.1, of_groups=True):
    ends, yes = zip(*(((a, b), said) for a, b, said in answers), strict=True)
    n = len(yes)
    return Ballot(np.array(ends), np.array(yes), np.full(n, error), np.full(n, of_groups))


# Votes


def test_belief_propagation_on_a_star_is_the_exact_posterior():
    # Node 2 was compared with 0 and 1 (seeds of two classes), and with 3, of which a forecast is known.
    forecasts = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.4], [0.3, 0.7]])
    said = ballot((2, 0, False), (2, 1, True), (3, 2, True), error=0.2)
    chances, _, evidence = propagate(forecasts, np.array([0, 1]), said, np.array([0, 1]), new_rate=0.0)
    before = (1 - DOUBT) * forecasts + DOUBT / 2
    before[:2] = np.eye(2)
    posterior = np.zeros(2)
    for classes in product(range(2), repeat=4):
        chance = np.prod([before[node, c] for node, c in enumerate(classes)])
        for (a, b), yes in zip(said.ends, said.yes, strict=True):
            chance *= 0.8 if (classes[a] == classes[b]) == yes else 0.2
        posterior[classes[2]] += chance
    np.testing.assert_allclose(chances[2, :2], posterior / posterior.sum(), atol=1e-7)
    # Bethe's formula gives the chance of all answers.
    assert evidence == pytest.approx(np.log(posterior.sum()), abs=1e-6)


def test_a_no_to_every_class_speaks_for_a_new_one():
    forecasts = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    said = ballot((2, 0, False), (2, 1, False))
    chances, _, _ = propagate(forecasts, np.array([0, 1]), said, np.array([0, 1]), new_rate=0.2)
    # Of class 0: wrong to 0, right to 1; of a new one: right to both.
    old, new = 0.8 * 0.5 * 0.1 * 0.9, 0.2 * 0.9 * 0.9
    np.testing.assert_allclose(chances[2], np.array([old, old, new]) / (2 * old + new), atol=1e-6)


def test_an_answer_about_two_seeds_is_worth_its_log_odds():
    cavities = np.zeros((2, 1, 4))
    cavities[0, 0, 0] = cavities[1, 0, 2] = 1.0
    raw = np.eye(3)
    yes = weigh_merges(ballot((0, 2, True)), cavities, raw, np.arange(3))
    assert yes[0, 2] == yes[2, 0] == pytest.approx(np.log(0.9 / 0.1), rel=1e-2)
    no = weigh_merges(ballot((0, 2, False)), cavities, raw, np.arange(3))
    np.testing.assert_allclose(no, -yes, atol=1e-12)
    np.testing.assert_allclose(yes[1], 0.0, atol=1e-2)


def test_an_answer_about_a_point_in_doubt_says_little_of_its_class():
    # x is of seed 0 with 0.6 and of seed 1 with 0.4; a yes with seed 1: p = 0.4 apart, 1 if both are one.
    cavities = np.zeros((2, 1, 3))
    cavities[0, 0], cavities[1, 0] = (0.6, 0.4, 0.0), (0.0, 1.0, 0.0)
    raw = np.array([[0.6, 0.4], [0.0, 1.0]])
    evidence = weigh_merges(ballot((0, 1, True)), cavities, raw, np.array([0, 1]))
    assert evidence[0, 1] == pytest.approx(np.log(0.9 / (0.4 * 0.9 + 0.6 * 0.1)), rel=1e-6)
    single = ballot((0, 1, True), of_groups=False)
    assert weigh_merges(single, cavities, raw, np.array([0, 1]))[0, 1] == 0.0


def inside(evidence, classes):
    same = np.equal.outer(classes, classes)
    return evidence[same].sum() / 2


def test_a_wrong_yes_between_seeds_is_outvoted():
    # 0, 1, 2 are one class and 3, 4 are; a wrong yes joins 2 and 3, two noes speak against it.
    evidence = np.zeros((5, 5))
    for a, b, odds in [(0, 1, 2), (1, 2, 2), (3, 4, 2), (2, 3, 1.5), (0, 4, -2), (1, 3, -2)]:
        evidence[a, b] = evidence[b, a] = odds
    classes = join_seeds(evidence, np.zeros((5, 5)))
    assert classes.tolist() == [0, 0, 0, 1, 1]
    best = max(inside(evidence, np.array(code)) for code in product(range(5), repeat=5))
    assert inside(evidence, classes) == pytest.approx(best)


def test_the_graph_alone_joins_nothing_and_can_outweigh_one_yes():
    yes = np.array([[0, 1.0], [1.0, 0]])
    assert join_seeds(np.zeros((2, 2)), np.full((2, 2), 1.0)).tolist() == [0, 1]
    assert join_seeds(yes, np.full((2, 2), -1.5)).tolist() == [0, 1]
    assert join_seeds(yes, np.full((2, 2), -0.5)).tolist() == [0, 0]


# Forecasts


@pytest.fixture(scope="module")
def scene():
    X, y = make_blobs(80, 2, centers=3, cluster_std=1.2, random_state=0)
    land = survey(Neighbors(8).build(X), X, np.empty(0, int), None, np.random.RandomState(0))
    others = [int(x) for x in range(0, 80, 9) if x not in land.centers]
    said = [Answer(x, int(land.centers[0]), bool(y[x] == y[land.centers[0]])) for x in others]
    known = know(said, 0.9, land)
    return Scene(land, known.nodes, gather_ballot(known), land.kernels[2], 0.6, None)


def test_forecasts_are_those_of_a_refit_without_the_nodes(scene):
    rng = np.random.RandomState(0)
    n, n_seeds = len(scene.nodes), scene.landscape.n_pieces
    rows = rng.dirichlet(np.ones(n_seeds), n)
    sure = rng.uniform(0.3, 1.0, n)
    forecast = foretell(scene, rows, sure, np.empty(0, dtype=int))
    counts = np.zeros((n_seeds, n_seeds))
    for node in range(n):
        counts[scene.pieces[node]] += sure[node] * rows[node]
    others = counts[scene.pieces] - sure[:, None] * rows
    prior = 0.6 * others / np.maximum(others.sum(axis=1, keepdims=True), 1.0)
    gram = scene.alike + np.diag(NOISE + 1.0 - sure)
    for out in ([2], [0, 3, 5]):
        rest = np.setdiff1d(np.arange(n), out)
        weights = np.linalg.solve(gram[np.ix_(rest, rest)], (rows - prior)[rest])
        refit = prior[out] + scene.alike[np.ix_(out, rest)] @ weights
        np.testing.assert_allclose(forecast.without(np.array(out)), refit, atol=1e-9)
        if len(out) == 1:
            np.testing.assert_allclose(forecast.raw[out], refit, atol=1e-9)


# Sets that move together


#: The pieces of the nodes of `stuck`: 2 and 3 are in one.
PIECES = np.array([0, 1, 2, 2, 3])


def stuck():
    """Nodes 2, 3, 4 hold each other in class 0 by yes links; what was said about others is against it."""
    rows = np.array([[1.0, 0], [0, 1], [0.9, 0.1], [0.9, 0.1], [0.9, 0.1]])
    forecast = Forecast(rows, rows, np.eye(5), rows - 0.5)
    chances = np.column_stack([rows, np.zeros(5)])
    none = np.zeros((2, 2))
    return Weighed(np.array([0, 1]), np.array([0, 1]), chances, rows, none, none, forecast, 0.1, 0.0)


def test_points_that_hold_each_other_in_a_wrong_class_leave_it_together():
    said = ballot((2, 3, True), (3, 4, True), (2, 0, False), (4, 0, False), (3, 1, True))
    block, to = find_move(stuck(), said, PIECES, may_grow=True)
    assert block.tolist() == [2, 3, 4]
    assert to == 1


def test_points_that_are_of_no_class_become_one_unless_there_are_enough():
    said = ballot((2, 3, True), (3, 4, True), (2, 0, False), (4, 0, False), (3, 1, False), (2, 1, False))
    block, to = find_move(stuck(), said, PIECES, may_grow=True)
    assert (block.tolist(), to) == ([2, 3, 4], -1)
    block, to = find_move(stuck(), said, PIECES, may_grow=False)
    assert to != -1 or not len(block)


def test_sets_are_cut_at_each_link():
    said = ballot((2, 3, True), (3, 4, True), (2, 0, True), (4, 1, False))
    assert [block.tolist() for block in linked_sets(stuck(), said)] == [[2, 3, 4], [3, 4], [2, 3]]


def test_a_move_that_was_tried_is_not_found_again():
    said = ballot((2, 3, True), (3, 4, True), (2, 0, False), (4, 0, False), (3, 1, True))
    block, to = find_move(stuck(), said, PIECES, True, tried={(1, 2, 3, 4)})
    assert (block.tolist(), to) != ([2, 3, 4], 1)


def test_the_points_of_a_class_in_a_piece_may_move_without_links():
    said = ballot((2, 0, False), (3, 0, False), (2, 1, True), (3, 1, True))
    assert [block.tolist() for block in movable_sets(stuck(), said, PIECES)] == [[2, 3]]
    block, to = find_move(stuck(), said, PIECES, may_grow=True)
    assert (block.tolist(), to) == ([2, 3], 1)


def test_a_better_score_is_kept_than_either_end_gives(scene):
    seeds = np.searchsorted(scene.nodes, scene.landscape.centers)
    begun, weighed = start(scene, seeds), weigh(scene, seeds)
    rows = np.eye(len(seeds))[scene.pieces]
    by_pieces = settle(scene, seeds, rows, np.full(len(rows), LEAST_SURE))
    assert by_pieces.score <= begun.score <= weighed.score


# Which question, where answers may be wrong


def test_the_variance_of_a_vote_is_that_of_its_unbiased_form():
    for error in (0.05, 0.2):
        votes = np.array([-error, 1 - error]) / (1 - 2 * error)
        for indicator in (0.0, 1.0):
            chance = np.array([1 - error, error]) if indicator == 0 else np.array([error, 1 - error])
            assert chance @ votes == pytest.approx(indicator)
            assert chance @ (votes - indicator) ** 2 == pytest.approx(vote_variance(error))


def test_a_point_is_compared_with_the_class_whose_answer_is_least_foreseen(blobs):
    X, y = blobs
    run = ActiveClustering(reliability=0.8, random_state=0).start(X)
    for _ in range(12):
        question = run.question()
        run.answer(bool(y[question.i] == y[question.j]))
    belief = run._belief
    for x in range(0, 150, 10):
        proposal = compare(belief, x, "")
        chances = class_chances(belief, x)
        assert abs(proposal.expected - 0.5) == pytest.approx(np.abs(chances - 0.5).min())


# A whole run


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(150, 2, centers=4, cluster_std=1.0, random_state=6)


@pytest.mark.parametrize("error", [0.1, 0.2])
def test_wrong_answers_are_survived(blobs, error):
    X, y = blobs
    scores = []
    for seed in range(3):
        wrong = np.random.RandomState(seed).rand(100) < error
        run = ActiveClustering(reliability=1 - error, random_state=seed).start(X)
        for slip in wrong:
            question = run.question()
            if question is not None:
                run.answer(bool(y[question.i] == y[question.j]) != bool(slip))
        scores.append(adjusted_rand_score(y, run.labels_))
    assert np.mean(scores) > 0.9


def test_a_wrong_yes_between_large_groups_is_found_and_undone(blobs):
    X, y = blobs
    run = ActiveClustering(reliability=0.9, random_state=0).start(X)
    centers = run.landscape_.centers
    a = int(centers[0])
    b = next(int(c) for c in centers if y[c] != y[a])
    run.tell([Answer(a, b, True)])
    assert run.labels_[a] == run.labels_[b]
    pairs = {(a, b)}
    for _ in range(40):
        question = run.question()
        pair = (min(question.i, question.j), max(question.i, question.j))
        assert pair not in pairs
        pairs.add(pair)
        run.answer(bool(y[question.i] == y[question.j]))
    assert run.labels_[a] != run.labels_[b]
    assert adjusted_rand_score(y, run.labels_) > 0.95


def test_what_is_certain_holds_beside_what_is_not(blobs):
    X, y = blobs
    known = Constraints.from_labels(np.where(np.arange(150) % 10 == 0, y, -1))
    run = ActiveClustering(reliability=0.8, random_state=0).start(X, known)
    for slip in np.random.RandomState(1).rand(30) < 0.2:
        question = run.question()
        run.answer(bool(y[question.i] == y[question.j]) != bool(slip))
    given = np.arange(0, 150, 10)
    together = run.labels_[given][:, None] == run.labels_[given][None, :]
    np.testing.assert_array_equal(together, y[given][:, None] == y[given][None, :])


def test_a_given_number_of_clusters_is_not_exceeded_by_new_classes(blobs):
    X, y = blobs
    run = ActiveClustering(4, reliability=0.9, random_state=0).start(X)
    for slip in np.random.RandomState(2).rand(40) < 0.1:
        question = run.question()
        run.answer(bool(y[question.i] == y[question.j]) != bool(slip))
    assert run.n_clusters_ == 4


def test_weak_sides_part_the_seeds_of_a_class_at_each_link_of_the_tree(blobs):
    X, y = blobs
    run = ActiveClustering(reliability=0.9, random_state=0).start(X)
    for _ in range(20):
        question = run.question()
        run.answer(bool(y[question.i] == y[question.j]))
    structure = run._belief.structure
    sides = list(weak_sides(structure))
    sizes = np.bincount(structure.class_of)
    assert len(sides) == (sizes - 1).sum() > 0
    for one, other in sides:
        own = structure.class_of[one[0]]
        np.testing.assert_array_equal(
            np.sort(np.append(one, other)), np.flatnonzero(structure.class_of == own)
        )
