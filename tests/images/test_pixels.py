import numpy as np
import pytest

from sidecut.images import as_pixels
from sidecut.images.pixel_graph import as_rgb


@pytest.mark.parametrize(
    ("dtype", "white"), [(np.uint8, 255), (np.uint16, 65535), (float, 1.0), (bool, True)]
)
def test_white_is_one_in_every_type(dtype, white):
    pixels = as_pixels(np.array([[0, white]], dtype=dtype))
    assert pixels.dtype == np.float64
    np.testing.assert_array_equal(pixels[..., 0], [[0, 1]])


def test_8_and_16_bits_are_the_same_picture():
    eight = np.arange(256, dtype=np.uint8).reshape(16, 16)
    np.testing.assert_allclose(as_pixels(eight), as_pixels(257 * eight.astype(np.uint16)), rtol=1e-15)


@pytest.mark.parametrize(("channels", "kept"), [(1, 1), (2, 1), (3, 3), (4, 3)])
def test_alpha_is_left_out_and_colours_stay(channels, kept):
    image = np.random.default_rng(0).random((4, 5, channels))
    np.testing.assert_array_equal(as_pixels(image), image[..., :kept])


@pytest.mark.parametrize("shape", [(3,), (2, 3, 5), (0, 4), (1, 2, 3, 4)])
def test_what_is_no_picture_is_refused_by_its_shape(shape):
    with pytest.raises(ValueError, match=str(shape)[1:-1].replace(",", r",?")):
        as_pixels(np.zeros(shape))


def test_a_missing_pixel_is_named():
    image = np.zeros((4, 5, 3))
    image[2, 3, 1] = np.nan
    with pytest.raises(ValueError, match=r"image\[2, 3, 1\] = nan"):
        as_pixels(image)


def test_text_is_no_picture():
    with pytest.raises(ValueError, match="real numbers"):
        as_pixels(np.array([["a", "b"]]))


def test_values_beyond_white_are_stretched_to_be_looked_at():
    rgb = as_rgb(np.array([[-100.0, 0.0, 300.0]]))
    np.testing.assert_allclose(rgb[0, :, 0], [0, 0.25, 1])
    assert rgb.shape == (1, 3, 3)
    inside = np.array([[0.2, 0.4]])
    np.testing.assert_array_equal(as_rgb(inside)[..., 1], inside)
