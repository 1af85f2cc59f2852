"""Answers that may be wrong: each equation by another route, and wrong answers that are outvoted."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from sidecut.active import ActiveClustering, Answer, ClassAnswer, SimulatedOracle, ask
from sidecut.active.belief import NOISE, AnswerGroups, Pile, group_answers
from sidecut.active.noisy_answers import (
    MIN_NEW_SET_CHANCE,
    MIN_SURENESS,
    SET_DOUBT,
    Forecast,
    NoisyAnswerModel,
    Posterior,
    expected_of,
    find_move,
    fit_posterior,
    forecast_nodes,
    join_seeds,
    linked_sets,
    local_optimum,
    movable_sets,
    said_of,
    start,
)
from sidecut.active.precomputed import precompute
from sidecut.active.propagation import (
    NODE_DOUBT,
    SAME_NEW_CHANCE,
    Answers,
    propagate,
    read_answers,
    weigh_merges,
)
from sidecut.active.strategies import (
    class_chances,
    compare,
    doubt_of_placed,
    doubtful_sets,
    vote_variance,
    weak_sides,
)
from sidecut.constraints import Constraints
from sidecut.graphs import Neighbors


def answers(*answers, error=0.1, of_groups=True):
    ends, yes = zip(*(((a, b), said) for a, b, said in answers), strict=True)
    n = len(yes)
    errors, no_pile = np.full(n, error), np.zeros(n, dtype=bool)
    return Answers(np.array(ends), np.array(yes), errors, np.full(n, of_groups), no_pile, np.ones(n))


def piled(piles, n_nodes):
    """Return the answers that piles of one set stand for; a point is put in a wrong one with chance 0.2."""
    piles = tuple(Pile(0, np.array(pile), np.full(len(pile), np.log(4.0))) for pile in piles)
    none = np.zeros((n_nodes, n_nodes))
    return read_answers(
        AnswerGroups(np.arange(n_nodes), np.arange(n_nodes), none, none[0], frozenset(), (), piles)
    )


# Votes


def test_belief_propagation_on_a_star_is_the_exact_posterior():
    # Node 2 was compared with 0 and 1 (seeds of two classes), and with 3, of which a forecast is known.
    forecasts = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.4], [0.3, 0.7]])
    said = answers((2, 0, False), (2, 1, True), (3, 2, True), error=0.2)
    chances, _, evidence = propagate(forecasts, np.array([0, 1]), said, np.array([0, 1]), new_rate=0.0)
    before = (1 - NODE_DOUBT) * forecasts + NODE_DOUBT / 2
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


@pytest.mark.parametrize(("n_classes", "elsewhere"), [(1, 0.2), (2, 0.2), (3, 0.1), (5, 0.05)])
def test_belief_propagation_through_piles_is_the_exact_posterior(n_classes, elsewhere):
    # Seeds 0 and 1; 2 and 3 were put together, and 1 apart from them. A point is seen as another class than
    # its own with chance 0.2, and then as any of the others, of which there is one at least.
    forecasts = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.4], [0.3, 0.7]])
    said = piled([(2, 3), (1,)], 4).among(n_classes)
    chances, _, evidence = propagate(forecasts, np.array([0, 1]), said, np.array([0, 1]), new_rate=0.0)
    before = (1 - NODE_DOUBT) * forecasts + NODE_DOUBT / 2
    before[:2] = np.eye(2)
    posterior, piles = np.zeros((4, 2)), np.zeros((2, 3))
    for classes in product(range(2), repeat=4):
        for first, second in product(range(3), repeat=2):
            # Two piles may be of two new classes.
            chance = {True: SAME_NEW_CHANCE if first == 2 else 0.0, False: 1.0}[first == second]
            chance *= np.prod([before[node, c] for node, c in enumerate(classes)])
            for node, pile in ((2, first), (3, first), (1, second)):
                chance *= 0.8 if classes[node] == pile else elsewhere
            for node, c in enumerate(classes):
                posterior[node, c] += chance
            piles[0, first] += chance
            piles[1, second] += chance
    total = piles[0].sum()
    np.testing.assert_allclose(chances[:4, :2], posterior / total, atol=2e-3)
    np.testing.assert_allclose(chances[4:], piles / total, atol=2e-3)
    assert evidence == pytest.approx(np.log(total), abs=2e-3)


def test_what_a_pile_says_of_two_seeds_is_the_ratio_of_its_chances():
    # Point 3 is of seed 0 and point 4 of seed 1; they are in one pile, and seed 2 is in another.
    said = piled([(3, 4), (2,)], 5).among(3)
    sure = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.9, 0.1, 0], [0.1, 0.9, 0]], dtype=float)
    first, second = np.array([0.4, 0.4, 0.2]), np.array([0.05, 0.05, 0.9])
    states = np.column_stack([np.vstack([sure, first, second]), np.zeros(7)])
    cavities = np.stack([states[said.ends[:, side]] for side in (0, 1)])
    found = weigh_merges(said, cavities, np.full((5, 3), 1 / 3), np.arange(3), np.arange(5))

    def chance(points, others, joined):
        weights = []
        for seeds in joined:
            own = [0.8 * q[seeds].sum() + 0.1 * (1 - q[seeds].sum()) for q in points]
            weights.append(np.prod(own) * np.prod([1 - q[seeds].sum() for q in others]))
        return sum(weights)

    apart = [[0], [1], [2]]
    for (a, b), joined in {(0, 1): [[0, 1], [2]], (0, 2): [[0, 2], [1]], (1, 2): [[0], [1, 2]]}.items():
        expected = 0.0
        for points, others in (([sure[3], sure[4]], [second]), ([sure[2]], [first])):
            expected += np.log(chance(points, others, joined) / chance(points, others, apart))
        assert [found[a, b], found[b, a]] == pytest.approx([expected] * 2, abs=1e-4)
    assert found[0, 1] > 0.5 > 0 > found[0, 2]
    # Points in doubt say nothing of classes.
    found = weigh_merges(said, cavities, np.full((5, 3), 1 / 3), np.arange(3), np.arange(3))
    assert found[0, 1] < 0.1


def test_a_pile_of_one_point_says_nothing():
    forecasts = np.array([[1.0, 0.0], [0.0, 1.0], [0.6, 0.4]])
    said = piled([(2,)], 3)
    chances, _, _ = propagate(forecasts, np.array([0, 1]), said, np.array([0, 1]), new_rate=0.0)
    expected = (1 - NODE_DOUBT) * forecasts[2] + NODE_DOUBT / 2
    np.testing.assert_allclose(chances[2, :2], expected, atol=1e-6)


def test_a_no_to_every_class_speaks_for_a_new_one():
    forecasts = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    said = answers((2, 0, False), (2, 1, False))
    chances, _, _ = propagate(forecasts, np.array([0, 1]), said, np.array([0, 1]), new_rate=0.2)
    # Of class 0: wrong to 0, right to 1; of a new one: right to both.
    old, new = 0.8 * 0.5 * 0.1 * 0.9, 0.2 * 0.9 * 0.9
    np.testing.assert_allclose(chances[2], np.array([old, old, new]) / (2 * old + new), atol=1e-6)


def test_an_answer_about_two_seeds_is_worth_its_log_odds():
    cavities = np.zeros((2, 1, 4))
    cavities[0, 0, 0] = cavities[1, 0, 2] = 1.0
    raw = np.eye(3)
    yes = weigh_merges(answers((0, 2, True)), cavities, raw, np.arange(3), np.arange(3))
    assert yes[0, 2] == yes[2, 0] == pytest.approx(np.log(0.9 / 0.1), rel=1e-2)
    no = weigh_merges(answers((0, 2, False)), cavities, raw, np.arange(3), np.arange(3))
    np.testing.assert_allclose(no, -yes, atol=1e-12)
    np.testing.assert_allclose(yes[1], 0.0, atol=1e-2)


def test_an_answer_about_a_point_in_doubt_says_little_of_its_class():
    # x is of seed 0 with 0.6 and of seed 1 with 0.4; a yes with seed 1: p = 0.4 apart, 1 if both are one.
    cavities = np.zeros((2, 1, 3))
    cavities[0, 0], cavities[1, 0] = (0.6, 0.4, 0.0), (0.0, 1.0, 0.0)
    raw = np.array([[0.6, 0.4], [0.0, 1.0]])
    evidence = weigh_merges(answers((0, 1, True)), cavities, raw, np.array([0, 1]), np.array([1]))
    assert evidence[0, 1] == pytest.approx(np.log(0.9 / (0.4 * 0.9 + 0.6 * 0.1)), rel=1e-6)
    single = answers((0, 1, True), of_groups=False)
    assert weigh_merges(single, cavities, raw, np.array([0, 1]), np.array([1]))[0, 1] == 0.0


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
def model():
    X, y = make_blobs(80, 2, centers=3, cluster_std=1.2, random_state=0)
    precomputed = precompute(Neighbors(8).build(X), X, np.empty(0, int), None, np.random.RandomState(0))
    others = [int(x) for x in range(0, 80, 9) if x not in precomputed.centers]
    said = [Answer(x, int(precomputed.centers[0]), bool(y[x] == y[precomputed.centers[0]])) for x in others]
    known = group_answers(said, 0.9, precomputed)
    return NoisyAnswerModel(precomputed, known.nodes, read_answers(known), precomputed.kernels[2], 0.6, None)


def test_forecasts_are_those_of_a_refit_without_the_nodes(model):
    rng = np.random.RandomState(0)
    n, n_seeds = len(model.nodes), model.precomputed.n_initial_clusters
    rows = rng.dirichlet(np.ones(n_seeds), n)
    sure = rng.uniform(0.3, 1.0, n)
    forecast = forecast_nodes(model, rows, sure, np.empty(0, dtype=int))
    counts = np.zeros((n_seeds, n_seeds))
    for node in range(n):
        counts[model.initial_clusters[node]] += sure[node] * rows[node]
    others = counts[model.initial_clusters] - sure[:, None] * rows
    prior = 0.6 * others / np.maximum(others.sum(axis=1, keepdims=True), 1.0)
    gram = model.alike + np.diag(NOISE + 1.0 - sure)
    for out in ([2], [0, 3, 5]):
        rest = np.setdiff1d(np.arange(n), out)
        weights = np.linalg.solve(gram[np.ix_(rest, rest)], (rows - prior)[rest])
        refit = prior[out] + model.alike[np.ix_(out, rest)] @ weights
        np.testing.assert_allclose(forecast.without(np.array(out)), refit, atol=1e-9)
        if len(out) == 1:
            np.testing.assert_allclose(forecast.raw[out], refit, atol=1e-9)


# Sets that move together


def stuck():
    """Nodes 2, 3, 4 hold each other in class 0 by yes links; what was said about others is against it."""
    rows = np.array([[1.0, 0], [0, 1], [0.9, 0.1], [0.9, 0.1], [0.9, 0.1]])
    forecast = Forecast(rows, rows, np.eye(5), rows - 0.5)
    chances = np.column_stack([rows, np.zeros(5)])
    none = np.zeros((2, 2))
    return Posterior(np.array([0, 1]), np.array([0, 1]), chances, rows, none, none, forecast, 0.1, 0.0)


def move_of(said, *, may_grow=True, tried=()):
    return find_move(stuck(), said, list(linked_sets(stuck(), said)), may_grow, tried)


def test_points_that_hold_each_other_in_a_wrong_class_leave_it_together():
    said = answers((2, 3, True), (3, 4, True), (2, 0, False), (4, 0, False), (3, 1, True))
    block, to = move_of(said)
    assert block.tolist() == [2, 3, 4]
    assert to == 1


def test_points_that_are_of_no_class_become_one_unless_there_are_enough():
    said = answers((2, 3, True), (3, 4, True), (2, 0, False), (4, 0, False), (3, 1, False), (2, 1, False))
    block, to = move_of(said)
    assert (block.tolist(), to) == ([2, 3, 4], -1)
    block, to = move_of(said, may_grow=False)
    assert to != -1 or not len(block)


def test_sets_are_cut_at_each_link():
    said = answers((2, 3, True), (3, 4, True), (2, 0, True), (4, 1, False))
    assert [block.tolist() for block in linked_sets(stuck(), said)] == [[2, 3, 4], [3, 4], [2, 3]]


def test_a_move_that_was_tried_is_not_found_again():
    said = answers((2, 3, True), (3, 4, True), (2, 0, False), (4, 0, False), (3, 1, True))
    block, to = move_of(said, tried={(1, 2, 3, 4)})
    assert (block.tolist(), to) != ([2, 3, 4], 1)


def test_what_was_said_of_a_set_is_the_change_of_the_likelihood_of_each_answer():
    said = answers((2, 3, False), (3, 1, True), (4, 0, True), (1, 0, False), error=0.2)
    now = stuck()

    def likelihood(chances):
        p = (chances[said.ends[:, 0], :2] * chances[said.ends[:, 1], :2]).sum(axis=1)
        yes = 0.8 * p + 0.2 * (1 - p)
        return np.log(np.where(said.yes, yes, 1 - yes)).sum()

    found = said_of([np.array([2, 3])], now, said)[0]
    for column in range(3):
        moved = now.chances.copy()
        moved[[2, 3]] = np.eye(3)[column]
        expected = likelihood(moved) - likelihood(now.chances)
        if column == 2:
            # Two points of one new class belong together, which the chances of known classes do not show.
            expected += np.log(0.2) - np.log(0.8)
        assert found[column] == pytest.approx(expected)


def test_what_is_expected_of_a_set_is_the_mean_log_chance_from_outside():
    now, block = stuck(), np.array([2, 3])
    # With A the identity the forecast from outside is Y - (Y - 0.5), half of each class.
    outside = (1 - SET_DOUBT) * 0.5 + SET_DOUBT / 2
    new = max(now.new_rate, MIN_NEW_SET_CHANCE)
    expected = [0.0, 0.0, np.log(new) - np.log(outside) - np.log(1 - new)]
    np.testing.assert_allclose(expected_of(block, now), expected, atol=1e-6)


def test_families_are_the_steps_of_average_linkage(model):
    far = 1.0 - model.alike
    parts = [[node] for node in range(len(model.nodes))]
    for family in model.families:
        mean = {(a, b): far[np.ix_(parts[a], parts[b])].mean() for b in range(len(parts)) for a in range(b)}
        a, b = min(mean, key=mean.get)
        parts.append(parts.pop(b) + parts.pop(a))
        assert sorted(parts[-1]) == np.flatnonzero(family).tolist()


def test_points_of_a_class_that_are_alike_may_move_without_links(model):
    posterior = start(model, np.searchsorted(model.nodes, model.precomputed.centers))
    blocks = {tuple(block) for block in movable_sets(posterior, model)}
    free = np.setdiff1d(np.arange(len(model.nodes)), posterior.seeds)
    for family in model.families:
        inside = np.intersect1d(free, np.flatnonzero(family))
        for column in range(posterior.n_classes):
            part = inside[posterior.columns[inside] == column]
            assert len(part) < 2 or tuple(part) in blocks


def test_a_better_score_is_kept_than_either_end_gives(model):
    seeds = np.searchsorted(model.nodes, model.precomputed.centers)
    begun, posterior = start(model, seeds), fit_posterior(model, seeds)
    rows = np.eye(len(seeds))[model.initial_clusters]
    by_initial = local_optimum(model, seeds, rows, np.full(len(rows), MIN_SURENESS))
    assert by_initial.score <= begun.score <= posterior.score


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


@pytest.mark.parametrize("costs", [{"label": 1}, {"set": 2}])
def test_wrong_names_and_sets_are_survived(blobs, costs):
    """Each point is seen as of another class with a chance of 15 %."""
    X, y = blobs
    scores = []
    for seed in range(3):
        person = SimulatedOracle(y, error=0.15, random_state=seed)
        run = ask(X, person, 1_000, max_cost=60, costs=costs, reliability=0.85, random_state=seed)
        scores.append(adjusted_rand_score(y, run.labels_))
    assert np.mean(scores) > 0.9


def test_points_that_are_placed_are_asked_about_until_they_are_settled():
    X, y = [[0.0], [0.2], [0.4], [0.6], [5.0], [5.2], [5.4], [5.6]], [0, 0, 0, 0, 1, 1, 1, 1]
    run = ask(X, SimulatedOracle(y), costs={"set": 2}, reliability=0.9, random_state=0, n_neighbors=3)
    # One set places all points, with a chance of 99.7 % at least; the next one settles them.
    first = ActiveClustering(reliability=0.9, random_state=0, n_neighbors=3).start(X).tell(run.history_[:1])
    doubt = doubt_of_placed(first._belief)
    assert first._belief.is_placed.all()
    assert 0.001 < doubt.max() < 0.1
    assert (doubt[doubt > 0] == 1 - first._belief.chances.max(axis=1)[doubt > 0]).all()
    assert run.question() is None
    assert run.confidence_.min() > 0.999
    # Where answers are believed, what is placed is not asked about again.
    believed = ActiveClustering(random_state=0, n_neighbors=3).start(X).tell(run.history_[:1])
    assert not doubt_of_placed(believed._belief).any()


def test_pairs_are_asked_about_placed_points_until_all_are_settled():
    rng = np.random.RandomState(0)
    X, y = np.vstack([rng.normal(size=(20, 2)), 6 + rng.normal(size=(20, 2))]), np.repeat([0, 1], 20)
    run = ask(X, SimulatedOracle(y), 300, reliability=0.8, random_state=0)
    assert run.question() is None
    assert "least_sure" in {record.strategy for record in run.history_}
    assert run.confidence_.min() > 0.999


def test_hundreds_of_points_with_one_name_leave_no_number_undefined(blobs):
    X, y = blobs
    run = ActiveClustering(reliability=0.9, random_state=0).start(X)
    run.tell([ClassAnswer(i, str(y[i])) for i in range(150)])
    assert np.isfinite(run.confidence_).all()
    assert adjusted_rand_score(y, run.labels_) > 0.95


def test_a_wrong_yes_between_large_groups_is_found_and_undone(blobs):
    X, y = blobs
    run = ActiveClustering(reliability=0.9, random_state=0).start(X)
    centers = run.precomputed_.centers
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


def test_a_class_without_a_centre_is_found_though_wrong_answers_tie_it_to_another():
    rng = np.random.RandomState(0)
    X = np.vstack([rng.normal(middle, 0.4, (15, 2)) for middle in ((0, 0), (2.5, 0), (9, 9))])
    precomputed = precompute(Neighbors(8).build(X), X, np.empty(0, int), None, np.random.RandomState(0))
    # The second group is in the initial cluster of the first, and no centre of a initial cluster is in it.
    precomputed = replace(precomputed, initial_clusters=np.repeat([0, 0, 1], 15), centers=np.array([0, 30]))
    ring = [Answer(20 + k, 20 + (k + 1) % 6, True) for k in range(6)]
    first = [Answer(0, 1, True), Answer(0, 2, True), Answer(1, 2, True)]
    wrong = [Answer(20, 1, True), Answer(22, 2, True)]
    right = [Answer(x, 0, False) for x in (21, 23, 24)] + [Answer(x, 1, False) for x in (23, 25)]
    right += [Answer(x, 30, False) for x in (20, 22, 25)]
    known = group_answers([*ring, *first, *wrong, *right], 0.8, precomputed)
    model = NoisyAnswerModel(precomputed, known.nodes, read_answers(known), precomputed.kernels[2], 0.6, None)
    posterior = fit_posterior(model, np.searchsorted(known.nodes, precomputed.centers))
    column = {int(node): int(c) for node, c in zip(known.nodes, posterior.columns, strict=True)}
    assert posterior.n_classes == 3
    assert {column[x] for x in range(20, 26)} == {column[20]}
    assert column[1] == column[2] == column[0] != column[20]
    # The links alone do not show the set: two wrong ones tie it to the rest.
    begun = start(model, np.searchsorted(known.nodes, precomputed.centers))
    whole = np.flatnonzero(np.isin(known.nodes, range(20, 26))).tolist()
    assert whole not in [block.tolist() for block in linked_sets(begun, model.answers)]


def test_a_part_of_a_class_is_asked_about_by_a_pair_with_the_rest_of_it(blobs):
    X, y = blobs
    run = ActiveClustering(reliability=0.8, random_state=0).start(X)
    for _ in range(20):
        question = run.question()
        run.answer(bool(y[question.i] == y[question.j]))
    belief = run._belief
    sets = belief.structure.sets
    assert all(0.0 <= each.wrong <= 1.0 and len(each.micro_clusters) > 1 for each in sets)
    proposal = doubtful_sets(belief, run.history_, np.random.RandomState(0))
    assert belief.labels[proposal.a] == belief.labels[proposal.b]
    assert any(
        (proposal.a in each.micro_clusters) and (proposal.b not in each.micro_clusters) for each in sets
    )
    assert 0 < proposal.gain < len(X) ** 2 / 4
