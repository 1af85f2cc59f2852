from math import lgamma, log

import numpy as np
import pytest

from sidecut.methods.poisson.descent import SizeRule, check_sizes, size_rule


def test_the_cost_is_the_entropy_of_the_sizes():
    """τ Σ log(n! / (N q)^n): by Stirling τ N times the relative entropy to q, and lower terms."""
    rule = SizeRule(100, np.zeros(2, int), np.full(2, 100), np.array([0.3, 0.7]), 0.5)
    for counts in ([30, 70], [50, 50], [1, 99]):
        expected = 0.5 * sum(
            lgamma(n + 1) - n * log(100 * q) for n, q in zip(counts, (0.3, 0.7), strict=True)
        )
        assert rule.cost(np.array(counts)) == pytest.approx(expected)


def test_marginal_costs_never_fall():
    rule = SizeRule(50, np.array([3, 0]), np.array([20, 50]), np.array([0.9, 0.1]), 0.2)
    for cluster in range(2):
        assert (np.diff(rule.marginal_costs(cluster)) >= 0).all()


def test_shares_and_numbers_are_the_same_sizes():
    by_share = size_rule([0.2, 0.3, 0.5], 10, 3, 0.1)
    by_number = size_rule([2, 3, 5], 10, 3, 0.1)
    np.testing.assert_array_equal(by_share.lower, by_number.lower)
    np.testing.assert_array_equal(by_number.upper, [2, 3, 5])


@pytest.mark.parametrize("ones", [[1, 1, 1], [[1, 1], [1, 1], [1, 1]]])
def test_clusters_of_one_point_are_counts_not_shares(ones):
    rule = size_rule(ones, 3, 3, 0.1)
    np.testing.assert_array_equal(rule.lower, [1, 1, 1])
    np.testing.assert_array_equal(rule.upper, [1, 1, 1])


def test_shares_that_do_not_divide_are_rounded_to_the_number_of_points():
    rule = size_rule(np.full(7, 1 / 7), 100, 7, 0.1)
    assert rule.lower.sum() == 100
    assert set(rule.lower) == {14, 15}


def test_unknown_sizes_have_even_shares_and_no_bounds():
    for unknown in (None, "labels"):
        rule = size_rule(unknown, 100, 4, 0.1)
        np.testing.assert_allclose(rule.shares, 0.25)
        assert (rule.lower == 1).all()
        assert (rule.upper == 100).all()


def test_bounds():
    rule = size_rule([[0.1, 0.5], [0.2, 0.9]], 11, 2, 0.1)
    np.testing.assert_array_equal(rule.lower, [2, 3])
    np.testing.assert_array_equal(rule.upper, [5, 9])


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([1, 2], r"shape \(2,\) for n_clusters=3"),
        ([1, 2, -3], "finite and not negative"),
        ([1, 2, np.nan], "finite and not negative"),
        ([[1, 2], [3, 2], [1, 1]], "the first must not be the larger"),
        ("even", r"sizes='even': give None, \"labels\""),
        (["a", "b", "c"], "give None"),
    ],
)
def test_sizes_that_make_no_sense(sizes, message):
    with pytest.raises(ValueError, match=message):
        check_sizes(sizes, 3)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([5, 5, 5], r"sum to 15, but there are 10 points.*\(least, most\)"),
        ([0, 5, 5], "a cluster of size 0 would be empty"),
        ([[0, 2], [0, 3], [0, 4]], "the most to 9, and there are 10 points.*Widen"),
    ],
)
def test_sizes_that_do_not_fit_the_points(sizes, message):
    with pytest.raises(ValueError, match=message):
        size_rule(sizes, 10, 3, 0.1)
