"""How sure against how right."""

import numpy as np
import pytest

from sidecut.plots import plot_reliability


def test_each_tenth_is_a_point_least_sure_first():
    rng = np.random.default_rng(0)
    sure = rng.permutation(np.linspace(0.0, 1.0, 1000))
    right = sure > 0.25
    (points,) = plot_reliability(sure, right).collections
    offsets = np.asarray(points.get_offsets())
    np.testing.assert_allclose(offsets[:, 0], np.arange(0.05, 1.0, 0.1), atol=0.01)
    np.testing.assert_allclose(offsets[:, 1], [0, 0, 0.5, 1, 1, 1, 1, 1, 1, 1], atol=1e-9)


@pytest.mark.parametrize(
    ("sure", "right", "complaint"),
    [
        (np.ones(20), np.ones(19), "one number of each"),
        (np.ones(9), np.ones(9), "at least ten points"),
        (np.full(20, 1.5), np.ones(20), "from 0 to 1"),
        (np.full(20, np.nan), np.ones(20), "from 0 to 1"),
    ],
)
def test_refusals(sure, right, complaint):
    with pytest.raises(ValueError, match=complaint):
        plot_reliability(sure, right)
