import numpy as np
import pytest
from scipy import ndimage

from sidecut.images.region_graph import Regions, _prices, find_regions


@pytest.fixture(scope="module", params=[(12, 15), (5, 6, 7)])
def picture(request):
    return np.random.default_rng(0).random((*request.param, 3))


@pytest.mark.parametrize("n_regions", [1, 2, 17, 60])
def test_there_are_as_many_regions_as_asked_for_and_each_is_connected(picture, n_regions):
    regions = find_regions(picture, n_regions)
    assert np.unique(regions.numbers).tolist() == list(range(n_regions))
    assert all(ndimage.label(regions.numbers == number)[1] == 1 for number in range(n_regions))


def test_regions_know_their_pixels(picture):
    regions = find_regions(picture, 20)
    for number in range(20):
        inside = regions.numbers == number
        assert regions.sizes[number] == inside.sum()
        np.testing.assert_allclose(regions.means[number], picture[inside].mean(axis=0))
    lightness = picture[..., 0]
    np.testing.assert_allclose(regions.average(lightness), regions.means[:, 0])


def test_borders_are_counted_pixel_by_pixel(picture):
    regions = find_regions(picture, 20)
    literal = {}
    for place in np.ndindex(regions.numbers.shape):
        for axis in range(len(place)):
            other = tuple(index + (step == axis) for step, index in enumerate(place))
            if other[axis] < regions.numbers.shape[axis]:
                pair = tuple(sorted((int(regions.numbers[place]), int(regions.numbers[other]))))
                if pair[0] != pair[1]:
                    literal.setdefault(pair, []).append(np.linalg.norm(picture[place] - picture[other]))
    found = zip(regions.first, regions.second, regions.lengths, regions.steps, strict=True)
    assert {(int(i), int(j)): (length, pytest.approx(step)) for i, j, length, step in found} == {
        pair: (len(steps), np.mean(steps)) for pair, steps in literal.items()
    }


def test_the_price_is_the_growth_of_the_squared_distances():
    """Ward: joining sets of 2 and 3 pixels with means 1 and 4 adds 2 · 3 / 5 · 9; the step adds."""
    pair = np.array([0]), np.array([1])
    regions = Regions(
        np.array([0]), np.array([2.0, 3.0]), np.array([[1.0], [4.0]]), *pair, np.ones(1), np.array([2.0])
    )
    both = np.array([1.0, 1.0, 4.0, 4.0, 4.0])
    growth = ((both - both.mean()) ** 2).sum()
    assert _prices(regions)[0] == pytest.approx(growth + 4.0 * 6 / 5, rel=1e-6)


def test_edges_of_the_picture_are_borders():
    truth = np.zeros((20, 30), dtype=int)
    truth[5:15, 8:20] = 1
    noise = 0.05 * np.random.default_rng(0).normal(size=truth.shape)
    regions = find_regions((truth + noise)[..., None], 12)
    inside = regions.average(truth)
    assert set(inside.tolist()) == {0.0, 1.0}


def test_a_flat_picture_is_divided_evenly():
    regions = find_regions(np.zeros((16, 16, 1)), 16)
    assert regions.n_regions == 16
    assert regions.sizes.max() < 64
