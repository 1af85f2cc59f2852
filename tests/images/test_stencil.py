import numpy as np
import pytest

from sidecut.images.pixel_graph import offsets_within, stencil_weights


@pytest.mark.parametrize("radius", [1, 1.5, 2, 3.7, np.inf])
@pytest.mark.parametrize("shape", [(7, 6), (1, 5), (4, 1), (2, 9)])
def test_offsets_are_all_steps_within_the_radius_in_reading_order(radius, shape):
    height, width = shape
    literal = [
        (r, c)
        for r in range(-height + 1, height)
        for c in range(-width + 1, width)
        if 0 < np.hypot(r, c) <= radius
    ]
    assert offsets_within(radius, shape) == literal


def test_rows_are_compressed_in_order_without_repeats():
    # Wider steps than the picture: columns of neighbouring rows must not be mixed up.
    weights = stencil_weights(np.random.default_rng(0).random((5, 3, 1)), 4.0, 2.0, 0.5)
    sorted_copy = weights.copy()
    sorted_copy.sum_duplicates()
    np.testing.assert_array_equal(weights.indices, sorted_copy.indices)
    np.testing.assert_array_equal(weights.data, sorted_copy.data)


def test_weights_are_symmetric_to_the_last_bit():
    weights = stencil_weights(np.random.default_rng(1).random((9, 8, 3)), 3.0, 2.0, 0.3)
    assert (weights - weights.T).nnz == 0


def test_too_many_weights_are_refused_before_they_are_made():
    pixels = np.broadcast_to(0.0, (3000, 3000, 1))
    with pytest.raises(MemoryError, match="radius=20 on an image of 3000 x 3000"):
        stencil_weights(pixels, 20, 10.0, 1.0)
