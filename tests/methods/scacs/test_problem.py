"""The algebra of the p x p problem, against dense singular value decompositions."""

import numpy as np
import pytest
import scipy.sparse as sp

from sidecut.graphs import Landmarks, landmark_sums
from sidecut.methods.scacs.cuts import landmark_basis, normalize_gram


def scaled(graph):
    """Ẑ as a dense p x n array, and D."""
    Z = graph.codes.toarray().T
    degrees = Z.sum(axis=1)
    return Z / np.sqrt(degrees)[:, None], degrees


@pytest.fixture(scope="module", params=[(40, 3), (40, 8), (150, 2)], ids=str)
def graph(request):
    p, r = request.param
    X = np.random.default_rng(3).normal(size=(200, 2))
    X[:70] += 9.0
    return Landmarks(n_nearest=r, landmarks=np.arange(p)).build(X)


def test_identities_of_section_2(graph):
    Z, degrees = scaled(graph)
    S = normalize_gram(graph.sums)
    root = np.sqrt(degrees)
    np.testing.assert_allclose(S, Z @ Z.T, atol=1e-13)
    np.testing.assert_allclose(Z.T @ root, 1.0, atol=1e-13)
    np.testing.assert_allclose(S @ root, root, atol=1e-12)
    np.testing.assert_allclose((S - S @ S) @ root, 0.0, atol=1e-12)


def test_v_are_orthonormal_eigenvectors_of_the_laplacian(graph):
    Z, _ = scaled(graph)
    basis = landmark_basis(graph.sums)
    V = Z.T @ basis.vectors
    np.testing.assert_allclose(V.T @ V, np.eye(V.shape[1]), atol=1e-5)
    laplacian = np.eye(200) - Z.T @ Z
    np.testing.assert_allclose(laplacian @ V, V * basis.costs, atol=1e-5)
    assert (np.diff(basis.costs) >= 0).all()


def test_costs_are_those_of_the_singular_values(graph):
    Z, _ = scaled(graph)
    singular = np.linalg.svd(Z, compute_uv=False)
    basis = landmark_basis(graph.sums)
    inside = singular**2 > 1e-10
    assert basis.costs.size == np.count_nonzero(inside)
    np.testing.assert_allclose(basis.costs, 1.0 - singular[inside] ** 2, atol=1e-12)


def test_components_cost_exactly_nothing(graph):
    Z, _ = scaled(graph)
    basis = landmark_basis(graph.sums)
    assert basis.n_null == graph.n_components
    np.testing.assert_array_equal(basis.costs[: basis.n_null], 0.0)
    assert (basis.costs[basis.n_null :] > 0).all()
    np.testing.assert_allclose(
        Z.T @ basis.vectors[:, : basis.n_null] @ basis.trivial, 1.0 / np.sqrt(200), atol=1e-13
    )


@pytest.mark.parametrize("count", [1, 3, 7, 39])
def test_a_few_vectors_are_the_first_of_all(graph, count):
    few, everyone = landmark_basis(graph.sums, count), landmark_basis(graph.sums)
    n = max(count, few.n_null)
    assert few.costs.size == n
    np.testing.assert_allclose(few.costs, everyone.costs[:n], atol=1e-12)


def test_equal_landmark_columns_are_one_direction():
    # Two landmarks that code every point alike: Ŝ has a null direction which is no cut.
    codes = sp.csr_array(np.array([[0.5, 0.5, 0.0], [0.25, 0.25, 0.5], [0.0, 0.0, 1.0], [0.5, 0.5, 0.0]]))
    basis = landmark_basis(landmark_sums(codes))
    assert basis.vectors.shape == (3, 2)
    np.testing.assert_allclose(basis.vectors[0], basis.vectors[1], atol=1e-12)
