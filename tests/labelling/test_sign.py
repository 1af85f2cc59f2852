import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sidecut.labelling import sign_labels


def test_zero_belongs_to_class_zero():
    np.testing.assert_array_equal(sign_labels([2.0, 0.0, -0.0, -1.0, 1e-300]), [1, 0, 0, 0, 1])


@given(arrays(np.float64, 9, elements=st.floats(-5, 5).filter(bool)))
def test_turning_the_vector_swaps_the_sides(vector):
    np.testing.assert_array_equal(sign_labels(-vector), 1 - sign_labels(vector))
    np.testing.assert_array_equal(sign_labels(vector.reshape(-1, 1)), sign_labels(vector))


def test_two_columns_are_refused():
    with pytest.raises(ValueError, match="2 columns"):
        sign_labels(np.eye(3)[:, :2])


def test_nan_is_refused():
    with pytest.raises(ValueError, match=r"embedding\[1, 0\] is nan"):
        sign_labels([1.0, np.nan])
