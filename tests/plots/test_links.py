import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecut.constraints import Constraints
from sidecut.plots.canvas import CANNOT, axes_or_new
from sidecut.plots.links import draw_links, group_links


def groups_by_name(constraints, labels=None, max_links=200):
    return {(group.kind, group.violated): group for group in group_links(constraints, labels, max_links)}


def test_every_link_is_in_the_group_of_its_kind_and_fate():
    constraints = Constraints.from_pairs(6, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2), (4, 5)])
    groups = groups_by_name(constraints, np.array([0, 0, 0, 1, 2, 2]))
    assert {name: group.pairs.tolist() for name, group in groups.items()} == {
        ("must-link", False): [[0, 1]],
        ("must-link", True): [[2, 3]],
        ("cannot-link", True): [[0, 2], [4, 5]],
    }


def test_without_labels_nothing_is_violated():
    constraints = Constraints.from_pairs(4, must_link=[(0, 1)], cannot_link=[(2, 3)])
    assert all(not group.violated for group in group_links(constraints))


@given(st.integers(2, 60), st.integers(1, 300), st.integers(0, 2**16))
def test_a_sample_is_small_true_and_counted_in_full(n, max_links, seed):
    rng = np.random.default_rng(seed)
    constraints = Constraints.from_labels(rng.integers(0, 3, n))
    labels = rng.integers(0, 3, n)
    groups = group_links(constraints, labels, max_links)
    known = {tuple(pair) for pair in constraints.pairs.tolist()}
    drawn = [tuple(pair) for group in groups for pair in group.pairs.tolist()]
    assert len(set(drawn)) == len(drawn)
    assert set(drawn) <= known
    assert sum(group.total for group in groups) == constraints.n_pairs
    # No group disappears, so each of the four may hold one link beyond its share.
    assert len(drawn) <= max_links + 4
    if constraints.n_pairs <= max_links:
        assert set(drawn) == known


def test_violated_links_are_not_crowded_out_by_kept_ones():
    labels = np.zeros(60, dtype=int)
    labels[59] = 1
    constraints = Constraints.from_pairs(60, must_link=[(i, j) for i in range(60) for j in range(i)])
    groups = groups_by_name(constraints, labels, max_links=100)
    assert len(groups["must-link", True].pairs) == 50
    assert len(groups["must-link", False].pairs) == 50
    assert groups["must-link", True].caption == "must-link violated (50 of 59 drawn)"


def test_lines_run_between_their_points_in_the_style_of_their_kind():
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    constraints = Constraints.from_pairs(3, must_link=[(0, 1)], cannot_link=[(1, 2)])
    must, cannot = draw_links(axes_or_new(None), points, group_links(constraints, np.array([0, 0, 0])))
    np.testing.assert_array_equal(must.get_segments()[0], points[[0, 1]])
    np.testing.assert_array_equal(cannot.get_segments()[0], points[[1, 2]])
    assert must.get_linestyle()[0][1] is None
    assert cannot.get_linestyle()[0][1] is not None
    from matplotlib.colors import to_rgb

    assert tuple(cannot.get_edgecolor()[0][:3]) == pytest.approx(to_rgb(CANNOT))
    assert cannot.get_linewidth()[0] > 2 * must.get_linewidth()[0]
    assert cannot.get_zorder() > must.get_zorder()
