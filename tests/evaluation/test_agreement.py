import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecut.constraints import Constraints
from sidecut.evaluation import adjusted_rand_index, rand_index

two_labellings = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=2, max_size=25).map(
    lambda rows: tuple(np.array(rows).T)
)


def agreeing_pairs(y, labels):
    pairs = itertools.combinations(range(len(y)), 2)
    return [(y[i] == y[j]) == (labels[i] == labels[j]) for i, j in pairs]


@given(two_labellings)
def test_rand_is_the_share_of_agreeing_pairs(both):
    agree = agreeing_pairs(*both)
    assert rand_index(*both) == pytest.approx(sum(agree) / len(agree), abs=1e-15)


@given(two_labellings, st.permutations(range(5)))
def test_names_and_order_of_arguments_do_not_matter(both, names):
    y, labels = both
    renamed = np.array(names)[labels]
    for score in (rand_index, adjusted_rand_index):
        assert score(y, renamed) == score(y, labels)
        assert score(labels, y) == pytest.approx(score(y, labels), abs=1e-15)


def test_adjusted_rand_is_zero_on_average_over_all_orders():
    y = (0, 0, 0, 1, 1, 2)
    clusters = (0, 0, 1, 1, 1, 1)
    scores = [adjusted_rand_index(y, order) for order in itertools.permutations(clusters)]
    assert np.mean(scores) == pytest.approx(0, abs=1e-12)


def test_hand_computed_values():
    # 6 points, 15 pairs: 6 in one class, 7 in one cluster, 4 in both, so 10 of 15 agree.
    y, labels = [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]
    assert rand_index(y, labels) == float(Fraction(10, 15))
    # (4 - 6*7/15) / ((6 + 7)/2 - 6*7/15) = 12/37
    assert adjusted_rand_index(y, labels) == pytest.approx(12 / 37)


@pytest.mark.parametrize("labels", [[0, 0, 0], [0, 1, 2]])
def test_trivial_partitions_agree_with_themselves(labels):
    assert adjusted_rand_index(labels, labels) == 1.0
    assert rand_index(labels, labels) == 1.0


def test_trivial_partitions_disagree_with_each_other():
    assert adjusted_rand_index([0, 0, 0], [0, 1, 2]) == 0.0
    assert rand_index([0, 0, 0], [0, 1, 2]) == 0.0


def test_scores_do_not_overflow():
    # Two halves of 2 million points: about 10^12 pairs in each.
    y = np.repeat([0, 1], 2_000_000)
    assert rand_index(y, y) == adjusted_rand_index(y, y) == 1.0


def test_constrained_points_do_not_count():
    constraints = Constraints.from_pairs(6, must_link=[(0, 1)])
    y, labels = [0, 0, 1, 1, 0, 0], [1, 1, 1, 0, 0, 0]
    assert rand_index(y, labels, constraints=constraints) == rand_index(y[2:], labels[2:])
    assert adjusted_rand_index(y, labels, constraints=constraints) == adjusted_rand_index(y[2:], labels[2:])
    assert rand_index(y, labels) != rand_index(y[2:], labels[2:])
