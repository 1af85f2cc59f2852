import numpy as np
import pytest

from sidecut.datasets import Dataset


def test_counts_follow_the_arrays():
    data = Dataset("toy", np.zeros((4, 2)), np.array([0, 2, 2, 0]), "Nothing.")
    assert (data.n_samples, data.n_classes) == (4, 2)
    assert repr(data) == "Dataset('toy', 4 points, 2 features, 2 classes)"


def test_lengths_must_agree():
    with pytest.raises(ValueError, match=r"X has shape \(4, 2\) and y \(3,\)"):
        Dataset("toy", np.zeros((4, 2)), np.zeros(3, dtype=np.intp), "Nothing.")
