import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecut.constraints import Constraints
from sidecut.evaluation import best_matching, clustering_accuracy, error_rate

two_labellings = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=2, max_size=25).map(
    lambda rows: tuple(np.array(rows).T)
)


def brute_force_accuracy(y, labels):
    """Try every way of giving the five clusters different names, of which the first four are classes."""
    return max(np.mean(np.array(names)[labels] == y) for names in itertools.permutations(range(5)))


@given(two_labellings)
def test_accuracy_is_the_best_over_all_renamings(both):
    assert clustering_accuracy(*both) == pytest.approx(brute_force_accuracy(*both))


@given(two_labellings)
def test_error_and_accuracy_add_up_to_one(both):
    assert error_rate(*both) + clustering_accuracy(*both) == pytest.approx(1)


@given(two_labellings)
def test_matching_is_one_to_one_and_attains_the_accuracy(both):
    y, labels = both
    matching = best_matching(y, labels)
    assert len(set(matching.values())) == len(matching) == min(len(set(y)), len(set(labels)))
    agree = [matching.get(cluster) == category for category, cluster in zip(y, labels, strict=True)]
    assert np.mean(agree) == pytest.approx(clustering_accuracy(y, labels))


@given(two_labellings, st.permutations(range(5)))
def test_names_do_not_matter(both, names):
    y, labels = both
    assert clustering_accuracy(y, np.array(names)[labels]) == clustering_accuracy(y, labels)


def test_hand_computed_values():
    y, labels = [0, 0, 0, 1, 1, 2], [5, 5, 3, 3, 3, 3]
    # Cluster 5 is class 0 (2 right), cluster 3 is class 1 (2 right), class 2 has no cluster.
    assert best_matching(y, labels) == {5: 0, 3: 1}
    assert clustering_accuracy(y, labels) == 4 / 6
    assert error_rate(y, labels) == 2 / 6


def test_greedy_pairing_would_be_worse():
    # Counts [[3, 2], [2, 0]]: the largest entry first gives 3 + 0, the best matching 2 + 2.
    y, labels = [0] * 5 + [1] * 2, [0, 0, 0, 1, 1, 0, 0]
    assert best_matching(y, labels) == {0: 1, 1: 0}
    assert clustering_accuracy(y, labels) == 4 / 7


def test_names_are_the_callers_own():
    y = np.array(["cat", "cat", "dog"], dtype=object)
    matching = best_matching(y, np.array([7, 7, -1]))
    assert matching == {7: "cat", -1: "dog"}
    assert all(type(cluster) is int for cluster in matching)


def test_constrained_points_do_not_count():
    constraints = Constraints.from_pairs(5, must_link=[(0, 1)])
    y, labels = [0, 0, 1, 1, 0], [1, 1, 1, 1, 0]
    assert clustering_accuracy(y, labels, constraints=constraints) == 1.0
    assert error_rate(y, labels, constraints=constraints) == 0.0
    assert best_matching(y, labels, constraints=constraints) == {1: 1, 0: 0}
    assert clustering_accuracy(y, labels) == pytest.approx(3 / 5)
