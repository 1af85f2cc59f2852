import numpy as np
import pytest
from scipy import ndimage

from sidecut.images import border
from sidecut.images.border import Band, band_around, decide_pixels, remove_specks, touches_border
from sidecut.images.region_graph import as_lab


@pytest.mark.parametrize("shape", [(9, 11), (5, 6, 7)])
@pytest.mark.parametrize("reach", [0, 2])
def test_the_band_is_as_wide_as_it_should_be(shape, reach):
    codes = np.zeros(shape, dtype=int)
    codes[(2,) * len(shape)] = 1
    inside = codes == 1
    touching = inside | ndimage.binary_dilation(inside)
    literal = ndimage.distance_transform_cdt(~touching, metric="taxicab") <= reach
    np.testing.assert_array_equal(band_around(codes, reach), literal)


@pytest.mark.parametrize("shape", [(30, 41), (9, 10, 11)])
@pytest.mark.parametrize("reach", [0, 1, 3])
def test_the_band_is_the_same_from_pixels_that_may_be_at_a_border(shape, reach):
    rng = np.random.default_rng(reach)
    codes = (ndimage.gaussian_filter(rng.normal(size=shape), 2) > 0).astype(np.uint8)
    candidates = np.flatnonzero(touches_border(codes) | (rng.random(shape) < 0.3))
    np.testing.assert_array_equal(
        band_around(codes, reach, rng.permutation(candidates)), band_around(codes, reach)
    )


@pytest.mark.parametrize("shape", [(7, 9), (4, 5, 6)])
def test_a_band_knows_all_neighbors(shape):
    mask = np.random.default_rng(0).random(shape) < 0.6
    band, places = Band.of(mask), np.flatnonzero(mask)
    axes = np.stack(np.unravel_index(np.arange(mask.size), shape))
    found = {(places[i], places[j]) for one, other in band.pairs for i, j in zip(one, other, strict=True)}
    rim = {(places[i], pixel) for ranks, pixels in band.rim for i, pixel in zip(ranks, pixels, strict=True)}
    gaps = np.abs(axes[:, :, None] - axes[:, None]).sum(axis=0)
    flat = mask.ravel()
    adjacent = [(i, j) for i, j in np.argwhere(gaps == 1) if flat[i]]
    assert found == {(i, j) for i, j in adjacent if flat[j] and i < j}
    assert rim == {(i, j) for i, j in adjacent if not flat[j]}


def test_one_class_has_no_border():
    assert not band_around(np.zeros((4, 4), dtype=int)).any()


@pytest.mark.parametrize("shape", [(6, 7), (4, 3, 5)])
def test_pixels_are_decided_by_the_grounded_laplacian(shape, monkeypatch):
    monkeypatch.setattr(border, "TOLERANCE", 1e-12)
    rng = np.random.default_rng(0)
    pixels, codes = rng.random((*shape, 3)), rng.integers(0, 3, shape)
    band = rng.random(shape) < 0.6
    beliefs = rng.dirichlet([1, 1, 1], size=band.sum())
    places = list(np.ndindex(shape))
    colors = as_lab(pixels)
    pairs = [
        (a, b)
        for a in places
        for b in places
        if a < b and sum(abs(x - y) for x, y in zip(a, b, strict=True)) == 1
    ]
    touching = [(a, b) for a, b in pairs if band[a] or band[b]]
    squares = {(a, b): ((colors[a] - colors[b]) ** 2).sum() for a, b in touching}
    mean = np.mean(list(squares.values()))
    inner = [place for place in places if band[place]]
    matrix = np.diag(np.full(len(inner), border.PIXEL_PRIOR_WEIGHT))
    right = border.PIXEL_PRIOR_WEIGHT * beliefs.copy()
    for (a, b), square in squares.items():
        weight = np.exp(-0.5 * square / mean) + 1e-6
        for here, there in ((a, b), (b, a)):
            if band[here]:
                row = inner.index(here)
                matrix[row, row] += weight
                if band[there]:
                    matrix[row, inner.index(there)] -= weight
                else:
                    right[row, codes[there]] += weight
    found = decide_pixels(pixels, codes, Band.of(band), beliefs)
    np.testing.assert_allclose(found, np.linalg.solve(matrix, right), atol=1e-8)


def test_a_border_moves_to_the_edge_of_the_picture():
    truth = np.zeros((30, 40), dtype=int)
    truth[:, 20:] = 1
    pixels = (0.3 + 0.4 * truth + 0.02 * np.random.default_rng(0).normal(size=truth.shape))[..., None]
    guess = np.roll(truth, 2, axis=1)
    guess[:, :5] = 0
    band = band_around(guess)
    beliefs = np.full((band.sum(), 2), 0.5)
    guess[band] = decide_pixels(pixels, guess, Band.of(band), beliefs).argmax(axis=1)
    np.testing.assert_array_equal(guess, truth)


def test_specks_and_holes_go_and_marked_ones_stay():
    codes = np.zeros((40, 50), dtype=int)
    codes[10:30, 10:40] = 1
    codes[15, 15:18] = 0
    codes[3, 3], codes[35, 45] = 1, 2
    band = band_around(codes)
    band[35, 45] = False
    remove_specks(codes, Band.of(band))
    assert (codes[15, 15:18] == 1).all()
    assert codes[3, 3] == 0
    assert codes[35, 45] == 2


@pytest.mark.parametrize("shape", [(30, 40), (9, 10, 11)])
@pytest.mark.parametrize("seed", range(3))
def test_no_small_part_is_left_within_the_band(shape, seed):
    """Two classes at random: labelled afterwards, parts without a pixel outside the band are not small."""
    rng = np.random.default_rng(seed)
    codes, band = (rng.random(shape) < 0.3).astype(np.uint8), rng.random(shape) < 0.995
    before = codes.copy()
    remove_specks(codes, Band.of(band))
    np.testing.assert_array_equal(codes[~band], before[~band])
    for code in (0, 1):
        parts = ndimage.label(codes == code)[0]
        sizes, goes_on = np.bincount(parts.ravel()), np.unique(parts[~band])
        small = np.flatnonzero(sizes < 12)
        # The second class is looked at last; what it gives away can only make parts of the first larger.
        assert np.isin(small[small > 0], goes_on).all()
