import numpy as np
import pytest
import scipy.sparse as sp

from sidecut.datasets import Dataset


def test_counts_follow_the_arrays():
    data = Dataset("toy", np.zeros((4, 2)), np.array([0, 2, 2, 0]), "Nothing.")
    assert (data.n_samples, data.n_classes) == (4, 2)
    assert repr(data) == "Dataset('toy', 4 points, 2 features, 2 classes)"


def test_lengths_must_agree():
    with pytest.raises(ValueError, match=r"X has shape \(4, 2\) and y \(3,\)"):
        Dataset("toy", np.zeros((4, 2)), np.zeros(3, dtype=np.intp), "Nothing.")


def test_scaling():
    X = np.array([[1.0, 5.0], [3.0, 5.0], [2.0, 5.0]])
    data = Dataset("toy", X, np.array([0, 1, 1]), "Nothing.")
    np.testing.assert_array_equal(data.scaled("range").X, [[-1, 0], [1, 0], [0, 0]])
    np.testing.assert_allclose(data.scaled("standard").X[:, 0].std(), 1)
    assert data.scaled("none") is data
    with pytest.raises(ValueError, match="scaling='other'"):
        data.scaled("other")


def test_sparse_data_are_weighed_but_not_filled():
    data = Dataset("toy", sp.csr_array(np.eye(3)), np.array([0, 1, 1]), "Words.")
    assert sp.issparse(data.scaled("tfidf").X)
    with pytest.raises(ValueError, match="would fill it"):
        data.scaled("standard")


def test_the_checksum_sees_values_and_order_but_not_types():
    X, y = np.arange(6.0).reshape(3, 2), np.array([0, 1, 1])
    checksum = Dataset("a", X, y, "").checksum
    assert Dataset("b", np.asfortranarray(X.astype(np.int16)), y.astype(np.uint8), "").checksum == checksum
    assert Dataset("a", X[::-1], y, "").checksum != checksum
    assert Dataset("a", X, y[::-1], "").checksum != checksum
    assert Dataset("a", X + 1e-12, y, "").checksum != checksum
