import numpy as np
import pytest

from sidecut import Constraints
from sidecut.graphs import Neighbors
from sidecut.methods.e2cp import propagate
from sidecut.plots import links as module
from sidecut.plots import plot_propagated


@pytest.fixture
def found():
    X = np.random.default_rng(0).normal(size=(40, 2))
    return propagate(Neighbors(5).build(X), Constraints.from_labels([0, 1, 2, 0] + [-1] * 36))


def test_pixels_are_signed_roots_sorted_by_cluster(found):
    labels = np.random.default_rng(1).integers(0, 3, 40)
    order = np.argsort(labels, kind="stable")
    pixels = plot_propagated(found, labels).images[0].get_array()
    F = found.toarray()[np.ix_(order, order)]
    np.testing.assert_allclose(np.sign(pixels) * pixels**2, F, atol=1e-14)


def test_zero_is_white_in_the_middle_of_the_colours(found):
    low, high = plot_propagated(found).images[0].get_clim()
    assert low == -high
    assert 0 < high < np.sqrt(found.max_abs)


def test_clusters_are_separated_by_lines(found):
    ax = plot_propagated(found, np.repeat([0, 1, 2], [5, 25, 10]))
    assert sorted({line.get_ydata()[0] for line in ax.lines if len(set(line.get_ydata())) == 1}) == [
        4.5,
        29.5,
    ]


def test_many_points_are_sampled_and_the_title_says_so(found, monkeypatch):
    monkeypatch.setattr(module, "MAX_POINTS", 15)
    ax = plot_propagated(found)
    assert ax.images[0].get_array().shape == (15, 15)
    assert ax.get_title(loc="left") == "15 of 40 points"


def test_nothing_propagated_is_a_white_picture():
    pixels = plot_propagated(Constraints.none(5)).images[0].get_array()
    np.testing.assert_array_equal(pixels, np.zeros((5, 5)))


def test_labels_must_be_one_for_each_point(found):
    with pytest.raises(ValueError, match=r"labels has shape \(3,\): one label for each of 40 points"):
        plot_propagated(found, [0, 1, 2])
