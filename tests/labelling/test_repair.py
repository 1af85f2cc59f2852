import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecut import Constraints
from sidecut.exceptions import ConflictError, ConstraintWarning
from sidecut.labelling import satisfy_links

ROWS = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.3]])
LABELS = np.array([0, 0, 0, 1, 1, 1])


def test_satisfied_links_change_nothing():
    links = Constraints.from_pairs(6, must_link=[(0, 1)], cannot_link=[(2, 3)])
    labels, repair = satisfy_links(LABELS, ROWS, links, 2)
    assert np.array_equal(labels, LABELS)
    assert repair.moved.size == 0
    assert repair.cost == 0.0
    assert str(repair) == "no label changed; all links are satisfied"


def test_the_cost_is_the_growth_of_the_sum_of_squares_to_the_centres():
    links = Constraints.from_pairs(6, must_link=[(2, 3)])
    labels, repair = satisfy_links(LABELS, ROWS, links, 2)
    centres = np.array([ROWS[:3].mean(), ROWS[3:].mean()])
    before = np.square(ROWS[:, 0] - centres[LABELS]).sum()
    after = np.square(ROWS[:, 0] - centres[labels]).sum()
    assert repair.cost_before == pytest.approx(before)
    assert repair.cost == pytest.approx(after - before)
    # Point 3 is nearer to the first centre than point 2 to the second.
    assert labels.tolist() == [0, 0, 0, 0, 1, 1]
    assert repair.violated_before == 1
    assert repair.violated == 0


def test_a_repair_that_helps_says_so():
    """Point 2 is in the farther cluster to begin with: its must-link brings it home."""
    start = np.array([0, 0, 1, 1, 1, 1])
    labels, repair = satisfy_links(start, ROWS, Constraints.from_pairs(6, must_link=[(1, 2)]), 2)
    assert labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert repair.cost < 0
    assert f"the sum of squares fell by {-repair.cost:.4g} from" in str(repair)


def test_a_set_moves_as_one():
    links = Constraints.from_pairs(6, must_link=[(0, 1), (1, 3)])
    assert satisfy_links(LABELS, ROWS, links, 2)[0].tolist() == [0, 0, 0, 0, 1, 1]


def test_labels_of_classes_get_one_cluster_each():
    known = Constraints.from_labels([0, -1, 1, 1, -1, 0])
    labels, repair = satisfy_links(LABELS, ROWS, known, 2)
    assert known.satisfaction(labels) == 1.0
    assert repair.violated == 0


def test_more_classes_than_clusters_name_those_that_cannot_be():
    known = Constraints.from_labels([0, -1, 1, 2, -1, -1])
    with pytest.warns(ConstraintWarning, match=r"\(0, 2\), \(0, 3\), \(2, 3\) all at once"):
        _, repair = satisfy_links(LABELS, ROWS, known, 2)
    assert repair.violated == 1
    assert repair.is_least
    assert repair.core.tolist() == [[0, 2], [0, 3], [2, 3]]


def test_contradictions_are_refused_with_their_chain():
    links = Constraints.from_pairs(6, [(0, 1), (1, 2)], [(0, 2)], on_conflict="weigh")
    with pytest.raises(ConflictError, match="0 - 1 - 2"):
        satisfy_links(LABELS, ROWS, links, 2)


def test_an_empty_cluster_may_be_used():
    apart = Constraints.from_pairs(6, cannot_link=[(0, 1), (0, 2), (1, 2)])
    labels, repair = satisfy_links(LABELS, ROWS, apart, 3)
    assert repair.violated == 0
    assert len(set(labels[:3].tolist())) == 3


@given(
    truth=st.lists(st.integers(0, 2), min_size=4, max_size=30),
    seed=st.integers(0, 1_000),
)
def test_links_that_a_clustering_satisfies_are_all_satisfied(truth, seed):
    truth, rng = np.array(truth), np.random.default_rng(seed)
    pairs = rng.integers(0, len(truth), size=(len(truth), 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    links = Constraints.from_pairs(len(truth), pairs[same], pairs[~same])
    rows = rng.normal(size=(len(truth), 2))
    start = rng.integers(0, 3, len(truth))
    labels, repair = satisfy_links(start, rows, links, 3)
    assert links.satisfaction(labels) == 1.0
    assert repair.violated == 0
    untouched = np.setdiff1d(np.arange(len(truth)), links.constrained_points)
    assert np.array_equal(labels[untouched], start[untouched])
    assert np.array_equal(repair.moved, np.flatnonzero(labels != start))


def test_labels_that_satisfy_all_links_stay_even_where_another_cluster_is_nearer():
    start = np.array([1, 1, 0, 1, 1, 1])
    links = Constraints.from_pairs(6, must_link=[(0, 1)])
    labels, repair = satisfy_links(start, ROWS, links, 2)
    assert np.array_equal(labels, start)
    assert repair.cost == 0.0


def test_only_what_a_violated_link_reaches_is_repaired():
    # Point 5 is far from its centre, but its own links hold; points 0 and 1 have to part.
    start = np.array([0, 0, 0, 1, 1, 0])
    links = Constraints.from_pairs(6, cannot_link=[(0, 1), (4, 5)])
    labels, repair = satisfy_links(start, ROWS, links, 2)
    assert labels[4:].tolist() == [1, 0]
    assert links.satisfaction(labels) == 1.0
    assert repair.moved.tolist() in ([0], [1])


def test_a_diagonal_alone_asks_for_no_repair():
    labels, repair = satisfy_links(LABELS, ROWS, Constraints.from_matrix(np.eye(6)), 2)
    assert np.array_equal(labels, LABELS)
    assert repair.violated == 0
