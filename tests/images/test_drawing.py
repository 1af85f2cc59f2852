import numpy as np
import pytest

from sidecut.images.drawing import draw_heat, draw_overlay, segment_colors

LABELS = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 2, 2]])


def test_colours_differ_up_to_many_segments():
    colors = segment_colors(24)
    assert len({tuple(color) for color in colors.tolist()}) == 24


def test_full_opacity_shows_the_colours_and_white_borders():
    rgb = draw_overlay(np.zeros((3, 4)), LABELS, None, 1.0, 1)
    colors = segment_colors(3)
    # A border pixel has another segment to its right or below.
    border = np.array([[0, 1, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0]], dtype=bool)
    assert (rgb[border] == 255).all()
    np.testing.assert_array_equal(rgb[~border], colors[LABELS[~border]])


def test_no_opacity_shows_the_picture():
    grey = np.linspace(0, 1, 12).reshape(3, 4)
    rgb = draw_overlay(grey, np.zeros((3, 4), int), None, 0.0, 1)
    np.testing.assert_array_equal(rgb[..., 0], np.round(255 * grey))
    assert (rgb == rgb[..., :1]).all()


@pytest.mark.parametrize("enlarge", [1, 3])
def test_enlarging_repeats_pixels(enlarge):
    indicator = np.array([[-1.0, 0.0, 1.0]])
    small = draw_heat(indicator, None, 1)
    np.testing.assert_array_equal(
        draw_heat(indicator, None, enlarge), np.kron(small, np.ones((enlarge, enlarge, 1), np.uint8))
    )


def test_heat_is_blue_below_white_at_and_red_above_zero():
    low, middle, high = draw_heat(np.array([[-2.0, 0.0, 2.0]]), None, 1)[0].astype(int)
    assert low[2] > low[0]
    assert middle.tolist() == [255, 255, 255]
    assert high[0] > high[2]


def test_heat_is_symmetric_and_monotone():
    u = np.linspace(-1, 1, 41)[None, :]
    rgb = draw_heat(u, None, 1).astype(int).sum(axis=2)[0]
    assert (np.diff(rgb[:21]) >= 0).all()
    assert (np.diff(rgb[20:]) <= 0).all()


def test_a_zero_indicator_is_white():
    assert (draw_heat(np.zeros((2, 2)), None, 1) == 255).all()


def test_marks_have_the_colour_of_their_class():
    codes = np.full((3, 4), -1)
    codes[0, 0] = 1
    rgb = draw_overlay(np.zeros((3, 4)), LABELS, codes, 0.4, 9)
    np.testing.assert_array_equal(rgb[4, 3], segment_colors(2)[1])
    assert rgb[9, 4].tolist() == [255, 255, 255]
    assert rgb[8, 4].tolist() == [0, 0, 0]


def test_what_cannot_be_drawn_is_said():
    with pytest.raises(ValueError, match=r"opacity=1.5"):
        draw_overlay(np.zeros((3, 4)), LABELS, None, 1.5, 1)
    with pytest.raises(ValueError, match=r"enlarge=0"):
        draw_heat(np.zeros((2, 2)), None, 0)
    with pytest.raises(ValueError, match=r"\(4, 4\) pixels, the segmentation \(3, 4\)"):
        draw_overlay(np.zeros((4, 4)), LABELS, None, 0.5, 1)
