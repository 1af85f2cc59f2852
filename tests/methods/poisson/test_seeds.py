import numpy as np
import pytest

from sidecut import Constraints
from sidecut.constraints.closure import find_seeds
from sidecut.exceptions import ConstraintWarning


def test_labels_are_seeds_numbered_as_they_are_met():
    seeds = find_seeds(Constraints.from_labels([-1, 7, 3, -1, 7], weight=0.5), n_clusters=3)
    np.testing.assert_array_equal(seeds.points, [1, 2, 4])
    np.testing.assert_array_equal(seeds.cluster, [0, 1, 0])
    np.testing.assert_array_equal(seeds.weight, [0.5, 0.5, 0.5])
    np.testing.assert_array_equal(seeds.indicator(5, 3)[4], [0.5, 0, 0])


def test_labels_written_as_pairs_are_the_same_seeds():
    labels = Constraints.from_labels([0, 0, 1, 2, -1, 1])
    matrix = Constraints.from_matrix(labels.as_matrix())
    one, other = find_seeds(labels, 3), find_seeds(matrix, 3)
    np.testing.assert_array_equal(one.points, other.points)
    np.testing.assert_array_equal(one.cluster, other.cluster)
    np.testing.assert_array_equal(one.weight, other.weight)


def test_a_point_must_linked_to_a_label_has_it():
    known = Constraints.from_labels([0, 1, -1, -1]) | Constraints.from_pairs(4, must_link=[(1, 3)])
    seeds = find_seeds(known, 2)
    np.testing.assert_array_equal(seeds.points, [0, 1, 3])
    np.testing.assert_array_equal(seeds.cluster, [0, 1, 1])


def test_one_label_alone_is_a_seed():
    seeds = find_seeds(Constraints.from_labels([-1, 4, -1]), 3)
    np.testing.assert_array_equal(seeds.points, [1])
    assert seeds.n_seeded == 1
    assert seeds.weight[0] == 1.0


def test_scattered_pairs_name_no_cluster():
    pairs = np.arange(20).reshape(-1, 2)
    assert find_seeds(Constraints.from_pairs(20, cannot_link=pairs), 5).n_seeded == 0


def test_more_classes_than_clusters_become_pairs():
    with pytest.warns(ConstraintWarning, match=r"3 or more sets .* n_clusters=2.*n_clusters >= 3"):
        seeds = find_seeds(Constraints.from_labels([0, 1, 2, -1]), 2)
    assert seeds.n_seeded == 0


def test_beliefs_that_contradict_follow_the_stronger():
    known = Constraints.from_pairs(3, [(0, 1), (1, 2)], [(0, 2)], [1.0, 0.2], 0.5, on_conflict="weigh")
    seeds = find_seeds(known, 2)
    np.testing.assert_array_equal(seeds.points, [0, 1, 2])
    np.testing.assert_array_equal(seeds.cluster, [0, 0, 1])


def test_labels_come_before_pairs():
    labels = Constraints.from_labels([0, 1] + 8 * [-1])
    known = labels | Constraints.from_pairs(10, [(2, 3), (4, 5)], [(2, 4), (3, 6), (3, 7)])
    np.testing.assert_array_equal(find_seeds(known, 2).points, [0, 1])
