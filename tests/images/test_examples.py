import numpy as np
import pytest

from sidecut.images import touching_discs


@pytest.mark.parametrize("shape", [(48, 72), (90, 60), (100, 200)])
def test_the_discs_touch_are_of_one_grey_and_lie_inside(shape):
    image, truth = touching_discs(*shape, noise=0.0)
    assert image.shape == truth.shape == shape
    assert np.unique(image[truth > 0]).size == 1
    assert image[truth == 0].min() > image[truth > 0].max() + 0.2
    beside = ((truth[:, :-1] == 1) & (truth[:, 1:] == 2)).sum()
    assert beside > 3
    rim = np.concatenate([truth[0], truth[-1], truth[:, 0], truth[:, -1]])
    assert (rim == 0).all()
    assert abs(int((truth == 1).sum()) - int((truth == 2).sum())) <= 0.05 * (truth == 1).sum()


def test_noise_is_reproducible():
    first, again = (touching_discs(random_state=3)[0] for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, touching_discs(random_state=4)[0])
