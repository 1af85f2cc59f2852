from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from sidecut.methods.poisson.descent import SizeRule, assign_all, assign_within_sizes, size_rule


def value(scores, labels, rule):
    counts = np.bincount(labels, minlength=rule.n_clusters)
    if (counts < rule.lower).any() or (counts > rule.upper).any():
        return -np.inf
    return scores[np.arange(len(labels)), labels].sum() - rule.cost(counts)


def best_of_all(scores, rule):
    every = product(range(rule.n_clusters), repeat=len(scores))
    return max(value(scores, np.array(labels), rule) for labels in every)


@pytest.mark.parametrize("seed", range(20))
def test_nothing_is_better_among_all_labels(seed):
    rng = np.random.default_rng(seed)
    n, k = 7, 3
    scores = rng.random((n, k)) + 0.5 * rng.random(k)
    if seed % 3 == 0:
        scores = scores.round(1)  # ties
    lower = rng.integers(0, 3, k)
    upper = np.maximum(lower, rng.integers(2, n + 1, k)) + 1
    shares = rng.dirichlet(np.ones(k))
    rule = SizeRule(n, lower, upper, shares, strength=rng.choice([0.0, 0.1, 1.0]))
    labels, _ = assign_within_sizes(scores, rule)
    assert value(scores, labels, rule) == pytest.approx(best_of_all(scores, rule), abs=1e-8)


@pytest.mark.parametrize("ties", [False, True])
def test_given_sizes_are_the_transport_problem(ties):
    rng = np.random.default_rng(3)
    n, sizes = 120, np.array([70, 30, 15, 5])
    scores = rng.random((n, 4)) * [1.0, 2.0, 3.0, 0.5]
    if ties:
        scores = scores.round(1)
    labels, _ = assign_within_sizes(scores, size_rule(sizes, n, 4, 0.2))
    np.testing.assert_array_equal(np.bincount(labels), sizes)
    seats = np.repeat(np.arange(4), sizes)
    rows, columns = linear_sum_assignment(-scores[:, seats])
    assert scores[np.arange(n), labels].sum() == pytest.approx(scores[rows, seats[columns]].sum(), abs=1e-6)


def test_nobody_prefers_anything():
    rule = size_rule([40, 10, 50], 100, 3, 0.2)
    labels, _ = assign_within_sizes(np.zeros((100, 3)), rule)
    np.testing.assert_array_equal(np.bincount(labels), [40, 10, 50])


def test_multipliers_explain_the_labels():
    rng = np.random.default_rng(5)
    scores = rng.random((500, 4)) + np.array([0.6, 0.3, 0.0, 0.0])
    rule = size_rule(None, 500, 4, 0.2)
    labels, multipliers = assign_within_sizes(scores, rule)
    net = scores - multipliers
    np.testing.assert_allclose(net[np.arange(500), labels], net.max(axis=1), atol=1e-2)
    counts = np.bincount(labels, minlength=4)
    for cluster in range(4):
        assert rule.marginal_cost(cluster, counts[cluster]) <= multipliers[cluster] + 1e-2
        assert multipliers[cluster] <= rule.marginal_cost(cluster, counts[cluster] + 1) + 1e-2


def test_a_stronger_penalty_makes_sizes_more_even():
    rng = np.random.default_rng(6)
    scores = rng.random((300, 3)) + np.array([0.5, 0.2, 0.0])
    ranges = [
        np.ptp(np.bincount(assign_within_sizes(scores, size_rule(None, 300, 3, tau))[0]))
        for tau in (0.0, 0.2, 2.0)
    ]
    assert ranges[0] > ranges[1] > ranges[2]


@pytest.mark.parametrize("sizes", [None, [900, 700, 300, 100], [[800, 2000], [0, 600], [0, 600], [0, 600]]])
@pytest.mark.parametrize("start", [None, np.array([0.3, -0.2, 0.0, 0.5])])
def test_points_away_from_boundaries_are_not_forgotten(sizes, start):
    """From old multipliers only some points are looked at; the answer is the one of all points."""
    rng = np.random.default_rng(7)
    scores = rng.random((2000, 4)) + np.array([0.5, 0.2, 0.0, 0.0])
    rule = size_rule(sizes, 2000, 4, 0.3)
    labels, _ = assign_within_sizes(scores, rule, start)
    everyone, _ = assign_all(scores, rule, np.zeros(4))
    assert value(scores, labels, rule) == pytest.approx(value(scores, everyone, rule), abs=1e-6)


def test_marginal_costs_of_further_members():
    rule = size_rule(None, 10, 2, 0.5)
    np.testing.assert_array_equal(
        replace(rule, offset=np.array([3, 2])).marginal_costs(0), rule.marginal_costs(0)[3:8]
    )
