"""The picture of the evidence for each number of clusters."""

import numpy as np

from sidecut.plots import plot_n_clusters
from sidecut.selection.n_clusters import NumberCurve


def test_gaps_are_bars_and_agreement_a_line():
    gaps, agreement = np.array([0.0, 0.1, 0.3, 0.2]), np.array([np.nan, 0.5, 0.9, np.nan])
    ax = plot_n_clusters(NumberCurve(np.arange(1, 5), gaps, agreement, np.full(4, np.nan), 3))
    assert [bar.get_height() for bar in ax.patches] == gaps.tolist()
    assert [bar.get_alpha() for bar in ax.patches] == [0.45, 0.45, 1.0, 0.45]
    right = next(other for other in ax.figure.axes if other is not ax)
    (line,) = right.lines
    np.testing.assert_array_equal(line.get_xydata(), [[2, 0.5], [3, 0.9]])
    assert "chosen: 3" in ax.get_xlabel()


def test_without_knowledge_there_is_no_second_axis():
    ax = plot_n_clusters(NumberCurve(np.arange(1, 4), np.array([0.0, 0.1, 0.3]), *np.full((2, 3), np.nan), 3))
    assert ax.figure.axes == [ax]


def test_the_persistence_of_layers_is_drawn_as_points():
    persistence = np.array([np.nan, 0.4, 0.7])
    ax = plot_n_clusters(NumberCurve(np.arange(1, 4), np.zeros(3), np.full(3, np.nan), persistence, 3))
    right = next(other for other in ax.figure.axes if other is not ax)
    (points,) = right.lines
    np.testing.assert_array_equal(points.get_xydata(), [[2, 0.4], [3, 0.7]])
    assert points.get_linestyle() == "None"
    assert "persistence" in right.get_ylabel()
