import numpy as np

from sidecut.plots.canvas import axes_or_new
from sidecut.plots.matrices import frame_clusters, sorted_points


def test_points_keep_their_order_within_a_cluster():
    labels = np.array(["b", "a", "b", "a", "a"])
    points, clusters = sorted_points(5, labels, at_most=10, random_state=0)
    np.testing.assert_array_equal(points, [1, 3, 4, 0, 2])
    np.testing.assert_array_equal(clusters, ["a", "a", "a", "b", "b"])


def test_a_sample_is_the_same_for_the_same_seed():
    first = sorted_points(100, None, at_most=20, random_state=3)[0]
    np.testing.assert_array_equal(first, sorted_points(100, None, at_most=20, random_state=3)[0])
    assert len(np.unique(first)) == 20
    assert (np.diff(first) > 0).all()


def test_lines_lie_between_clusters_and_the_title_counts():
    ax = axes_or_new(None)
    frame_clusters(ax, np.array([2, 2, 5, 5, 5, 9]), 1200, "white")
    heights = {line.get_ydata()[0] for line in ax.lines if len(set(line.get_ydata())) == 1}
    assert heights == {1.5, 4.5}
    assert ax.get_title(loc="left") == "6 of 1,200 points"
