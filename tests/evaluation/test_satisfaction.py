import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecut.constraints import Constraints
from sidecut.evaluation import constraint_satisfaction

LINKS = Constraints.from_pairs(
    5, must_link=[(0, 1), (3, 4)], cannot_link=[(1, 2)], must_weight=[1.0, 4.0], cannot_weight=3.0
)


def test_hand_computed_shares():
    labels = [0, 0, 0, 1, 1]
    assert constraint_satisfaction(LINKS, labels) == pytest.approx(2 / 3)
    assert constraint_satisfaction(LINKS, labels, weighted=True) == pytest.approx(5 / 8)


@given(st.lists(st.integers(0, 2), min_size=5, max_size=5))
def test_share_is_the_mean_over_the_listed_pairs(labels):
    satisfied = LINKS.satisfied_by(labels)
    assert constraint_satisfaction(LINKS, labels) == pytest.approx(np.mean(satisfied))
    weights = np.abs(LINKS.strengths)
    share = np.average(satisfied, weights=weights)
    assert constraint_satisfaction(LINKS, labels, weighted=True) == pytest.approx(share)


def test_labels_as_constraints_are_satisfied_by_themselves_only():
    y = np.array([0, 0, 1, 1, 2])
    constraints = Constraints.from_labels(y)
    assert constraint_satisfaction(constraints, y) == 1.0
    # Of 10 pairs, moving point 4 to point 0 breaks those with points 0 and 1.
    assert constraint_satisfaction(constraints, [0, 0, 1, 1, 0]) == pytest.approx(0.8)


def test_one_label_per_point_is_needed():
    with pytest.raises(ValueError, match="4"):
        constraint_satisfaction(LINKS, [0, 0, 1, 1])
