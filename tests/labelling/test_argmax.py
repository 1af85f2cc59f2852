import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sidecut.labelling import argmax_labels


@given(arrays(np.float64, (6, 4), elements=st.floats(0.5, 9)))
def test_no_column_is_larger_and_no_earlier_one_as_large(memberships):
    for row, label in zip(memberships, argmax_labels(memberships), strict=True):
        assert all(row <= row[label])
        assert all(row[:label] < row[label])


def test_nan_never_wins():
    with pytest.raises(ValueError, match=r"embedding\[0, 1\] is nan"):
        argmax_labels([[0.0, np.nan], [1.0, 0.0]])


def test_labels_are_column_numbers():
    labels = argmax_labels([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    assert labels.dtype == np.intp
    np.testing.assert_array_equal(labels, [2, 1])
