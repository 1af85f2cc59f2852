"""What takes the place of feasible cuts that do not exist."""

import numpy as np
import pytest
from scipy.linalg import subspace_angles

from sidecut.methods.csp.estimator import complete_cuts


@pytest.fixture
def vectors():
    rng = np.random.default_rng(0)
    graph = np.linalg.qr(rng.standard_normal((30, 4)))[0]
    return graph, rng.standard_normal((30, 2))


def complete(graph, cuts, laplacian, n_columns):
    both = np.hstack([graph, cuts])
    return complete_cuts(both.T @ both, both.T @ laplacian @ both, cuts.shape[1], n_columns)


def test_added_columns_are_orthogonal_and_as_long_as_eigenvectors(vectors):
    graph, cuts = vectors
    laplacian = np.diag(np.linspace(0.1, 1.9, 30))
    added = complete(graph, cuts, laplacian, 4)
    columns = added.columns(graph, cuts)
    assert columns.shape == (30, 2)
    np.testing.assert_allclose(columns.T @ cuts, 0, atol=1e-12)
    np.testing.assert_allclose(columns.T @ columns, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(added.costs, np.diag(columns.T @ laplacian @ columns))
    # What is added and the cuts hold the first two eigenvectors.
    assert subspace_angles(np.hstack([cuts, columns]), graph[:, :2]).max() < 1e-12


def test_an_eigenvector_that_is_a_cut_already_is_passed_over(vectors):
    graph, _ = vectors
    added = complete(graph, 3.0 * graph[:, :2], np.eye(30), 3)
    np.testing.assert_allclose(
        np.abs(graph.T @ added.columns(graph, 3.0 * graph[:, :2])).ravel(), [0, 0, 1, 0], atol=1e-12
    )


def test_there_may_be_nothing_to_add(vectors):
    graph, _ = vectors
    assert complete(graph[:, :1], graph[:, :1], np.eye(30), 3).costs.size == 0
