"""Clusters that are certified by random checks, and the rate of wrong answers."""

import numpy as np
import pytest
from scipy.stats import hypergeom
from sklearn.datasets import load_iris, make_blobs

from sidecut.active import ActiveClustering, Answer, ClassAnswer, SimulatedOracle, ask, certify
from sidecut.active.certificate import chance_missed, n_to_draw
from sidecut.active.records import rows_of

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("size", [10, 37, 400])
@pytest.mark.parametrize("level", [0.05, 0.002])
def test_the_number_of_draws_is_the_smallest_that_finds_foreign_points(size, level):
    n = n_to_draw(size, 0.1, level)
    n_foreign = int(np.ceil(0.1 * size))
    assert hypergeom.pmf(0, size, n_foreign, n) <= level + 1e-12
    assert hypergeom.pmf(0, size, n_foreign, n - 1) > level


@pytest.mark.parametrize("costs", [None, "seconds"])
def test_points_that_differ_from_their_micro_cluster_are_no_contradiction(costs):
    # Of 2,400 points in two groups every fifth is of the other class, so that most micro-clusters are mixed.
    rng = np.random.RandomState(0)
    X, y = np.vstack([rng.normal(size=(1200, 2)), 9 + rng.normal(size=(1200, 2))]), np.repeat([0, 1], 1200)
    y[::5] = 1 - y[::5]
    run = ActiveClustering(costs=costs, random_state=0).start(X)
    micro = run.precomputed_.micro_clusters
    assert micro.sizes.max() > 1
    found = certify(run, SimulatedOracle(y), budget=40)
    assert not found.holds
    told = {x for record in run.history_ for x in rows_of(record)}
    assert told <= set(micro.points.tolist())


@pytest.mark.parametrize("size", [10, 37, 400])
@pytest.mark.parametrize("level", [0.05, 0.002])
def test_more_points_are_drawn_where_foreign_ones_may_be_missed(size, level):
    missed = chance_missed(size, 0.1, level)
    n = n_to_draw(size, 0.1, level, missed)
    n_foreign = int(np.ceil(0.1 * size))
    rng = np.random.RandomState(0)
    drawn = rng.hypergeometric(n_foreign, size - n_foreign, n, size=200_000)
    unseen = np.mean(rng.binomial(drawn, 1.0 - missed) == 0)
    assert unseen <= 1.1 * level + 1e-4
    assert n > n_to_draw(size, 0.1, level) or n == size
    # With so few foreign points that all may be missed, each is missed less often.
    assert missed == 0.2 if size == 400 else missed < 0.2 or missed**n_foreign <= level


def test_certificates_with_wrong_answers_are_right_and_end():
    rng = np.random.RandomState(0)
    found = []
    for seed in range(3):
        X, y = np.vstack([rng.normal(size=(40, 2)), 8 + rng.normal(size=(40, 2))]), np.repeat([0, 1], 40)
        y[seed : seed + 5], y[70:75] = 1, 0
        run = ActiveClustering(reliability=0.9, random_state=seed).start(X)
        each = certify(run, SimulatedOracle(y, error=0.1, random_state=seed), budget=900)
        found.append(each.holds)
        if each.holds:
            k = each.labels.max() + 1
            counts = np.array([np.bincount(y[each.labels == c], minlength=2) for c in range(k)])
            big = counts[counts.sum(axis=1) >= 10]
            assert (big.min(axis=1) < 0.1 * big.sum(axis=1)).all()
    assert sum(found) >= 2


def test_what_is_certified_is_right():
    run = ActiveClustering(random_state=0).start(X)
    found = certify(run, SimulatedOracle(Y))
    assert found.holds
    assert found.n_rounds > 1
    for cluster in range(3):
        classes = np.bincount(Y[found.labels == cluster])
        assert classes.max() > 0.9 * classes.sum()
    assert "no two of the 3 clusters should be one" in found.words


def test_a_mixed_cluster_passes_as_seldom_as_promised():
    """Round points, a tenth and more of another class at random: nothing but the checks can tell."""
    points, _ = make_blobs(60, 2, centers=1, random_state=0)
    wrong = 0
    for seed in range(40):
        y = np.zeros(60, dtype=int)
        y[np.random.RandomState(seed).permutation(60)[:7]] = 1
        run = ActiveClustering(n_clusters=1, random_state=seed).start(points)
        found = certify(run, SimulatedOracle(y), budget=400, confidence=0.8)
        counts = np.zeros((found.labels.max() + 1, 2))
        np.add.at(counts, (found.labels, y), 1)
        sizes = counts.sum(axis=1)
        wrong += found.holds and bool((1 - counts.max(axis=1) / sizes >= 0.1)[sizes >= 10].any())
    # At most a fifth may be wrong: 8 of 40, and 14 with a chance of one percent.
    assert wrong <= 14


def test_the_budget_ends_the_checks():
    run = ActiveClustering(random_state=0).start(X)
    found = certify(run, SimulatedOracle(Y), budget=7)
    assert not found.holds
    assert found.n_questions == 7
    assert len(run.history_) == 7
    with pytest.raises(ValueError, match="confidence=95 must be between 0 and 1"):
        certify(run, SimulatedOracle(Y), confidence=95)


@pytest.mark.parametrize("error", [0.0, 0.1, 0.25])
def test_the_rate_of_wrong_answers_is_estimated(error):
    run = ask(X, SimulatedOracle(Y, error, random_state=1), 60, reliability=None, random_state=0)
    rate = run.error_rate_
    assert rate.low < rate.mean < rate.high
    assert abs(rate.mean - error) < 0.1
    assert abs(run.constraints_.strengths).max() == pytest.approx(2 * (1 - rate.mean) - 1)


def test_the_rate_is_that_of_the_prior_before_answers_and_as_told_with_a_reliability(tmp_path):
    run = ActiveClustering(reliability=None, random_state=0).start(X)
    assert run.error_rate_.mean == pytest.approx(0.1)
    assert ActiveClustering(reliability=0.8).start(X).error_rate_ == pytest.approx((0.2, 0.2, 0.2))
    run.save(tmp_path / "run").answer(True)
    again = ActiveClustering.load(tmp_path / "run")
    assert again.reliability is None
    assert again.error_rate_ == run.error_rate_
    assert again.question() == run.question()


def test_sets_ask_for_the_same_points_at_a_lower_price():
    """A set compares eight points with a middle at once; the statement is the same."""
    counts = {}
    for costs in (None, "seconds"):
        run = ActiveClustering(costs=costs, random_state=0).start(X)
        found = certify(run, SimulatedOracle(Y))
        assert found.holds
        classes = np.array([np.bincount(Y[found.labels == cluster], minlength=3) for cluster in range(3)])
        assert (classes.max(axis=1) > 0.9 * classes.sum(axis=1)).all()
        counts[costs] = found.n_questions
    assert counts["seconds"] < counts[None] / 3


def test_comparisons_are_repeated_where_answers_may_be_wrong():
    run = ActiveClustering(reliability=0.9, costs="seconds", random_state=0).start(X[::3])
    run = run.tell([ClassAnswer(i, str(Y[::3][i]), confidence=1.0) for i in range(50)])
    found = certify(run, SimulatedOracle(Y[::3], error=0.1, random_state=0), budget=60)
    asked = [record for record in run.history_ if record.strategy == "check"]
    assert not found.holds
    assert asked
    assert all(isinstance(record, Answer) for record in asked)
    # The same comparison is made by several pairs.
    assert len({record.i for record in asked}) < len(asked) / 2
