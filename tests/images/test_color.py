import numpy as np
import pytest
from skimage.color import rgb2lab

from sidecut.images.region_graph import as_lab, in_unit_range


def test_lab_is_that_of_scikit_image():
    rgb = np.random.default_rng(0).random((40, 50, 3))
    rgb[0, :3] = 0.0, 0.02, 1.0  # both branches of both curves
    np.testing.assert_allclose(as_lab(rgb), rgb2lab(rgb), atol=2e-2)


def test_grey_is_scaled_as_lightness():
    np.testing.assert_allclose(as_lab(np.array([[0.0], [0.25], [1.0]])), [[0], [25], [100]])


@pytest.mark.parametrize("shift", [0.0, -7.0])
def test_values_of_any_range_come_to_lie_between_black_and_white(shift):
    values = np.array([1000.0, 2000.0, 5000.0]) + shift
    np.testing.assert_allclose(in_unit_range(values), [0, 0.25, 1])
    inside = np.array([0.2, 0.4])
    assert in_unit_range(inside) is inside
    assert (in_unit_range(np.full(3, 7.0)) == 0).all()
