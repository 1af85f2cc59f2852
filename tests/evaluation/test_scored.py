import numpy as np
import pytest

from sidecut.constraints import Constraints
from sidecut.evaluation.agreement import contingency_table, encode_scored, find_scored_points


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="labels_true has 3 entries and labels has 2"):
        encode_scored([0, 1, 1], [0, 1])


@pytest.mark.parametrize("unknown", [-1, None, float("nan")])
def test_unknown_classes_cannot_be_scored(unknown):
    with pytest.raises(ValueError, match=rf"labels_true\[2\] is {unknown}.*1 of 4"):
        encode_scored([0, 1, unknown, 1], [0, 1, 1, 1])


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_missing_clusters_cannot_be_scored(missing):
    with pytest.raises(ValueError, match=rf"labels\[1\] is {missing}"):
        encode_scored([0, 1, 1], [-1, missing, 0])


def test_minus_one_is_a_cluster_of_its_own():
    classes, clusters = encode_scored([0, 0, 1, 1], np.array([-1, -1, 3, 0]))
    assert clusters.min() >= 0
    np.testing.assert_array_equal(np.equal.outer(clusters, clusters)[0], [True, True, False, False])
    assert len(set(clusters)) == 3
    np.testing.assert_array_equal(classes, [0, 0, 1, 1])


def test_constrained_points_are_left_out():
    constraints = Constraints.from_pairs(6, must_link=[(0, 4)], cannot_link=[(4, 5)])
    np.testing.assert_array_equal(find_scored_points(6, constraints), [1, 2, 3])
    classes, clusters = encode_scored(list("aabbcc"), [9, 9, 8, 8, 7, 7], constraints)
    assert len(classes) == len(clusters) == 3
    assert classes[1] == classes[2] != classes[0]


def test_labelled_points_are_left_out_too():
    constraints = Constraints.from_labels([0, -1, -1, 1, -1])
    np.testing.assert_array_equal(find_scored_points(5, constraints), [1, 2, 4])


def test_too_few_points_left_is_an_error():
    constraints = Constraints.from_pairs(3, must_link=[(0, 1)])
    with pytest.raises(ValueError, match="only 1 points are left to score, 2 of 3 being constrained"):
        find_scored_points(3, constraints)
    with pytest.raises(ValueError, match="only 1 points are left"):
        encode_scored([0], [0])


def test_constraints_must_be_about_these_points():
    with pytest.raises(ValueError, match="about 4 points, but there are 3 labels"):
        find_scored_points(3, Constraints.from_pairs(4, must_link=[(0, 1)]))


def test_table_counts_points():
    rng = np.random.default_rng(0)
    classes, clusters = rng.integers(0, 4, 60), rng.integers(0, 3, 60)
    brute = [[np.sum((classes == i) & (clusters == j)) for j in range(3)] for i in range(4)]
    np.testing.assert_array_equal(contingency_table(classes, clusters).toarray(), brute)
