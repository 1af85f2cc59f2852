import numpy as np
import pytest

from sidecut.exceptions import ConstraintError
from sidecut.images import Seeds

RED, GREEN, WHITE, BLACK = (255, 0, 0), (0, 200, 0), (255, 255, 255), (0, 0, 0)


@pytest.fixture
def photo():
    return np.random.default_rng(0).integers(0, 256, (6, 8, 3)).astype(np.uint8)


def drawn(canvas):
    canvas = canvas.copy()
    canvas[1, 2:5, :3] = RED
    canvas[4, 3:8, :3] = GREEN
    if canvas.shape[2] == 4:
        canvas[1, 2:5, 3] = canvas[4, 3:8, 3] = 255
    return canvas


def expected():
    codes = np.full((6, 8), -1)
    codes[1, 2:5] = 1
    codes[4, 3:8] = 0
    return codes


@pytest.mark.parametrize("canvas", ["photo", "black", "white", "transparent", "opaque photo"])
def test_strokes_are_found_on_every_canvas(photo, canvas):
    canvases = {
        "photo": photo,
        "black": np.zeros_like(photo),
        "white": np.full_like(photo, 255),
        "transparent": np.zeros((6, 8, 4), np.uint8),
        "opaque photo": np.concatenate([photo, np.full((6, 8, 1), 255, np.uint8)], axis=2),
    }
    seeds = Seeds.from_strokes(drawn(canvases[canvas]), photo)
    np.testing.assert_array_equal(seeds.codes, expected())
    assert seeds.classes == ("#00c800", "#ff0000")


def test_strokes_on_a_grey_picture_and_in_floats(photo):
    grey = photo[..., 0]
    canvas = np.repeat(grey[..., None], 3, axis=2)
    np.testing.assert_array_equal(Seeds.from_strokes(drawn(canvas), grey).codes, expected())
    np.testing.assert_array_equal(Seeds.from_strokes(drawn(canvas) / 255, grey).codes, expected())


def test_colour_under_transparency_is_no_mark(photo):
    layer = drawn(np.zeros((6, 8, 4), np.uint8))
    layer[0, 0] = (0, 0, 255, 100)
    np.testing.assert_array_equal(Seeds.from_strokes(layer, photo).codes, expected())


def test_soft_edges_of_a_layer_keep_their_colour(photo):
    layer = drawn(np.zeros((6, 8, 4), np.uint8))
    layer[2, 2:5] = (*RED, 180)
    codes = expected()
    codes[2, 2:5] = 1
    np.testing.assert_array_equal(Seeds.from_strokes(layer, photo).codes, codes)


def test_a_pale_stroke_on_a_layer_is_refused(photo):
    layer = drawn(np.zeros((6, 8, 4), np.uint8))
    layer[5, 7] = (*WHITE, 255)
    with pytest.raises(ConstraintError, match="row 5, column 7 has the colour #ffffff"):
        Seeds.from_strokes(layer, photo)


def test_blends_are_refused_with_the_way_out(photo):
    with pytest.raises(ConstraintError, match=r"different colours, the most frequent .*no anti-aliasing"):
        Seeds.from_strokes(photo, np.zeros((6, 8)))


def test_strokes_need_colours(photo):
    with pytest.raises(ConstraintError, match=r"\(6, 8, 2\)"):
        Seeds.from_strokes(photo[..., :2], photo)


def test_nothing_drawn_is_nothing_known(photo):
    assert Seeds.from_strokes(photo, photo).n_known == 0


def test_strokes_over_a_jpeg_are_the_colours_that_are_meant():
    """In the trial 2,954 colours were refused, of which two were a hundred times as frequent as the third."""
    rng = np.random.default_rng(0)
    photo = rng.integers(60, 200, (80, 90, 3)).astype(np.uint8)
    strokes = np.clip(photo.astype(int) + rng.integers(-6, 7, photo.shape), 0, 255).astype(np.uint8)
    strokes[10:30, 10:60], strokes[50:60, 20:70] = RED, (0, 0, 255)
    seeds = Seeds.from_strokes(strokes, photo)
    assert seeds.classes == ("#0000ff", "#ff0000")
    expected = np.full((80, 90), -1)
    expected[10:30, 10:60], expected[50:60, 20:70] = 1, 0
    np.testing.assert_array_equal(seeds.codes, expected)
