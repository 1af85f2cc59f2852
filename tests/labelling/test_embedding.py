import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sidecut.checks import check_n_clusters
from sidecut.labelling import unit_rows
from sidecut.labelling.labels import check_embedding

finite = st.floats(-1e300, 1e300, allow_nan=False)


@given(arrays(np.float64, (7, 3), elements=finite).filter(np.any))
def test_rows_have_length_one_or_are_zero(rows):
    lengths = np.linalg.norm(unit_rows(rows), axis=1)
    np.testing.assert_allclose(lengths, np.any(rows != 0, axis=1).astype(float), atol=1e-14)


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1.0, 1e200])
def test_direction_survives_extreme_scales(scale):
    # At 1e-320 the numbers are denormal, so they keep only a few digits themselves.
    rows = np.array([[3.0, 4.0]]) * scale
    np.testing.assert_allclose(unit_rows(rows), [[0.6, 0.8]], rtol=1e-3 if scale < 1e-300 else 1e-15)


@given(st.integers(0, 4), st.integers(0, 2), st.sampled_from([np.nan, np.inf, -np.inf]))
def test_nonfinite_entry_is_named(row, column, value):
    rows = np.ones((5, 3))
    rows[row, column] = value
    with pytest.raises(ValueError, match=rf"embedding\[{row}, {column}\] is {value}"):
        check_embedding(rows)


@pytest.mark.parametrize("shape", [(3,), (3, 0), (0, 3), (2, 2, 2)])
def test_wrong_shapes_are_named(shape):
    with pytest.raises(ValueError, match="shape"):
        check_embedding(np.ones(shape))


def test_complex_and_all_zero_are_refused():
    with pytest.raises(ValueError, match="complex"):
        check_embedding(np.ones((3, 2)) * 1j)
    with pytest.raises(ValueError, match="all 3 rows"):
        check_embedding(np.zeros((3, 2)))


def test_unit_rows_does_not_change_its_input():
    rows = np.array([[3.0, 4.0], [1.0, 0.0]])
    unit_rows(rows)
    np.testing.assert_array_equal(rows, [[3.0, 4.0], [1.0, 0.0]])


def test_number_of_clusters_must_be_an_integer_in_range():
    assert check_n_clusters(np.int32(4), 4) == 4
    with pytest.raises(ValueError, match=r"n_clusters=2\.0"):
        check_n_clusters(2.0, 4)
    with pytest.raises(ValueError, match="n_clusters=0"):
        check_n_clusters(0, 4)
