import numpy as np
import pytest
from scipy.spatial.distance import cdist

from sidecut.plots import matrices as distances
from sidecut.plots import plot_distances


@pytest.fixture
def embedding():
    return np.random.default_rng(0).normal(size=(30, 3))


def test_pixels_are_distances_sorted_by_cluster(embedding):
    labels = np.random.default_rng(1).integers(0, 3, 30)
    order = np.argsort(labels, kind="stable")
    pixels = plot_distances(embedding, labels).images[0].get_array()
    np.testing.assert_allclose(pixels, cdist(embedding, embedding)[np.ix_(order, order)], atol=1e-7)


def test_the_darkest_colour_is_distance_zero(embedding):
    assert plot_distances(embedding).images[0].get_clim()[0] == 0.0


def test_many_points_are_sampled_and_the_title_says_so(embedding, monkeypatch):
    monkeypatch.setattr(distances, "MAX_POINTS", 12)
    ax = plot_distances(embedding)
    assert ax.images[0].get_array().shape == (12, 12)
    assert ax.get_title(loc="left") == "12 of 30 points"


@pytest.mark.parametrize(
    ("points", "labels", "message"),
    [
        (np.zeros(5), None, r"embedding has shape \(5,\)"),
        (np.zeros((5, 2)), [0, 1], r"labels has shape \(2,\): one label for each of 5 points"),
    ],
)
def test_what_does_not_fit_is_refused(points, labels, message):
    with pytest.raises(ValueError, match=message):
        plot_distances(points, labels)
