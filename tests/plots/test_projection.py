import numpy as np
import pytest
from scipy import sparse

from sidecut.plots import project_for_picture


def test_coordinates_are_the_best_plane_through_the_points():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 5)) * [5, 3, 1, 0.5, 0.1] + 7
    shown = project_for_picture(X)
    singular = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(np.linalg.norm(shown, axis=0), singular[:2])
    assert abs(shown[:, 0] @ shown[:, 1]) < 1e-8


def test_sparse_data_is_shown_as_its_dense_twin():
    X = np.random.default_rng(0).binomial(1, 0.3, (40, 6)).astype(float)
    dense, thin = project_for_picture(X), project_for_picture(sparse.csr_array(X))
    np.testing.assert_allclose(np.abs(dense), np.abs(thin), atol=1e-8)


def test_a_constant_column_is_not_wasted_a_coordinate_on():
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(30, 2))
    shown = project_for_picture(np.column_stack([np.full(30, 9.0), plane]))
    distances = np.linalg.norm(plane[:, None] - plane, axis=2)
    np.testing.assert_allclose(np.linalg.norm(shown[:, None] - shown, axis=2), distances, atol=1e-10)


@pytest.mark.parametrize("shape", [(1, 5), (2, 3)])
def test_few_points_still_get_two_coordinates(shape):
    assert project_for_picture(np.ones(shape)).shape == (shape[0], 2)


@pytest.mark.parametrize("X", [np.zeros(3), np.zeros((3, 0))])
def test_what_is_no_table_is_refused(X):
    with pytest.raises(ValueError, match="array \\(points, columns\\)"):
        project_for_picture(X)
