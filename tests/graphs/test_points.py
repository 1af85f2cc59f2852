import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sidecut.graphs.search import as_points, finite_matrix, unit_rows

FORMS = {"dense": np.asarray, "csr": sp.csr_array, "coo": sp.coo_array}


def distances(X):
    points = as_points(X)
    return points.unit * np.sqrt(points.squared_distances(slice(0, points.n_points)))


def textbook_distances(X):
    return np.array([[np.linalg.norm(x - y) for y in X] for x in X])


@pytest.mark.parametrize("form", FORMS)
@given(arrays(np.float64, (7, 3), elements=st.floats(-100, 100, width=32)))
def test_distances_are_those_of_the_textbook(form, X):
    np.testing.assert_allclose(distances(FORMS[form](X)), textbook_distances(X), rtol=1e-8, atol=1e-150)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scale", [2.0**-500, 2.0**-1000, 1.0, 2.0**500, 2.0**1000])
def test_scaling_the_data_scales_the_distances_exactly(form, scale):
    X = np.random.default_rng(0).normal(size=(9, 4))
    np.testing.assert_array_equal(distances(FORMS[form](scale * X)), scale * distances(FORMS[form](X)))


@pytest.mark.parametrize("form", FORMS)
def test_close_pairs_keep_their_digits_beside_far_ones(form):
    X = np.array([[1e6, 1.0], [1e6, 1.0 + 2**-30], [-1e6, 0.0], [1e6, 1.0]])
    found = distances(FORMS[form](X))
    assert found[0, 1] == 2**-30
    assert found[0, 3] == 0


def test_an_offset_costs_no_digits():
    X = np.random.default_rng(1).integers(0, 50, size=(20, 6)).astype(float)
    np.testing.assert_array_equal(distances(X + 2.0**40), distances(X))
    points = as_points(X + 2.0**40)
    assert points.unit**2 * points.squared_norms.max() <= 6 * 50**2  # moved to the origin


def test_squared_distances_are_never_negative():
    X = 1e3 + 1e-7 * np.random.default_rng(2).normal(size=(60, 40))
    points = as_points(sp.csr_array(X))  # sparse data cannot be moved to the origin
    assert points.squared_distances(slice(10, 60)).min() == 0
    np.testing.assert_allclose(distances(sp.csr_array(X)), textbook_distances(X), rtol=1e-12)


def test_all_points_equal_are_at_distance_zero():
    assert not distances(np.full((5, 3), 0.1)).any()


def test_overflowing_distances_are_refused():
    with pytest.raises(ValueError, match=r"values up to 1\.7e\+308: distances between its rows overflow"):
        as_points(np.array([[-1.7e308], [1.7e308]]))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_the_first_value_that_is_not_finite_is_named(form, value):
    X = np.ones((4, 3))
    X[2, 1] = value
    with pytest.raises(ValueError, match=rf"X\[2, 1\] = {value}"):
        finite_matrix(FORMS[form](X))


@pytest.mark.parametrize(
    ("X", "message"), [(np.ones(3), r"shape \(3,\)"), (np.ones((2, 2), dtype=complex), "complex")]
)
def test_what_is_no_real_matrix_is_refused(X, message):
    with pytest.raises(ValueError, match=message):
        finite_matrix(X)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1.0, 1e150, 1e300])
def test_unit_rows_have_length_one_at_any_scale(form, scale):
    X = scale * np.array([[3.0, -4.0], [0.0, 0.0], [1e-5, 0.0]])
    rows = unit_rows(FORMS[form](X))
    rows = rows.toarray() if sp.issparse(rows) else rows
    np.testing.assert_allclose(rows, [[0.6, -0.8], [0.0, 0.0], [1.0, 0.0]], rtol=1e-14)
