import numpy as np
import pytest
from sklearn.datasets import make_blobs

from sidecut import Constraints
from sidecut.constraints import sample_pairs
from sidecut.exceptions import SpectralError
from sidecut.graphs import Neighbors, NormalizedAffinity
from sidecut.methods.e2cp import propagation as smooth
from sidecut.methods.e2cp.propagation import leading_basis, propagate, propagate_smoothly, spread
from sidecut.spectral import laplacian_eigenpairs

X, Y = make_blobs(120, n_features=3, centers=3, cluster_std=2.0, random_state=0)
GRAPH = Neighbors(8).build(X)
PAIRS = sample_pairs(Y, 60, random_state=0)


def exact(alpha):
    return propagate(GRAPH, PAIRS, alpha).toarray()


@pytest.fixture(autouse=True)
def tight(monkeypatch):
    """Equations hold to the tolerance of the solves; by default that is well below what F misses."""
    monkeypatch.setattr("sidecut.methods.e2cp.propagation.SMOOTH_TOLERANCE", 1e-5)


def dense(beliefs):
    return beliefs.apply(np.eye(beliefs.smooth.n_nodes))


@pytest.mark.parametrize("alpha", [0.3, 0.8])
def test_with_all_eigenvectors_it_is_eq3(alpha):
    beliefs = propagate_smoothly(GRAPH, PAIRS, alpha, laplacian_eigenpairs(GRAPH, 120).vectors)
    np.testing.assert_allclose(dense(beliefs), exact(alpha), atol=1e-4 * np.abs(exact(alpha)).max())
    assert np.abs(beliefs.sparse_part.toarray()).max() < 1e-10


@pytest.mark.parametrize("n_vectors", [3, 10])
def test_the_smooth_part_is_f_on_either_side_of_the_eigenvectors(n_vectors):
    pairs = laplacian_eigenpairs(GRAPH, n_vectors)
    beliefs = propagate_smoothly(GRAPH, PAIRS, 0.8, pairs.vectors)
    F, onto = exact(0.8), pairs.vectors @ pairs.vectors.T
    expected = onto @ F + F @ onto - onto @ F @ onto
    np.testing.assert_allclose(beliefs.smooth.toarray(), expected, atol=1e-4 * np.abs(F).max())
    assert beliefs.smooth.rank == 2 * n_vectors


def test_the_sharp_part_is_the_rest_at_the_pairs():
    pairs = laplacian_eigenpairs(GRAPH, 6)
    beliefs = propagate_smoothly(GRAPH, PAIRS, 0.8, pairs.vectors)
    known = PAIRS.as_matrix().toarray()
    np.testing.assert_array_equal(beliefs.sparse_part.toarray() != 0, known != 0)
    F = exact(0.8)
    at = known != 0
    error = np.abs(dense(beliefs) - F)
    assert error[at].max() < 0.25 * np.abs(F).max()
    # Without it the pairs themselves would be what is missed most.
    missed = np.abs(beliefs.smooth.toarray() - F)
    assert missed[at].mean() > 4 * error[at].mean()


def test_beliefs_of_known_strengths_and_diagonals():
    rng = np.random.default_rng(0)
    Z = np.zeros((120, 120))
    for i, j in rng.integers(120, size=(40, 2)):
        Z[i, j] = Z[j, i] = rng.normal()
    known = Constraints.from_matrix(Z)
    beliefs = propagate_smoothly(GRAPH, known, 0.8, laplacian_eigenpairs(GRAPH, 120).vectors)
    F = propagate(GRAPH, known, 0.8).toarray()
    np.testing.assert_allclose(dense(beliefs), F, atol=1e-4 * np.abs(F).max())


def test_entries_products_and_scaling_agree():
    beliefs = propagate_smoothly(GRAPH, PAIRS, 0.8, laplacian_eigenpairs(GRAPH, 5).vectors)
    rows, columns = np.random.default_rng(0).integers(120, size=(2, 50))
    np.testing.assert_allclose(beliefs.entries(rows, columns), dense(beliefs)[rows, columns], atol=1e-15)
    np.testing.assert_allclose(dense(beliefs.scaled(4.0)), dense(beliefs) / 4, atol=1e-15)
    row, column = np.nonzero(beliefs.sparse_part.toarray())
    np.testing.assert_allclose(np.sort(beliefs.at_pairs()), np.sort(dense(beliefs)[row, column]), atol=1e-15)


@pytest.mark.parametrize("n_blobs", [1, 4])
def test_the_basis_is_orthonormal_and_smooth(n_blobs):
    points = make_blobs(200, centers=10 * np.eye(4)[:n_blobs], cluster_std=0.7, random_state=0)[0]
    graph = Neighbors(8).build(points)
    assert graph.n_components == n_blobs
    basis = leading_basis(graph, 6, 2, np.random.RandomState(0))
    np.testing.assert_allclose(basis.T @ basis, np.eye(6), atol=1e-8)
    affinity = NormalizedAffinity(graph)
    leading = np.sort(np.linalg.eigvalsh(affinity.apply(np.eye(200))))[-6:]
    found = np.sort(np.linalg.eigvalsh(basis.T @ affinity.apply(basis)))
    np.testing.assert_allclose(found, leading, atol=0.02)


def test_where_clusters_stand_out_their_vectors_are_the_basis():
    points = make_blobs(300, 10, centers=4, cluster_std=4.5, random_state=0)[0]
    graph = Neighbors(20).build(points)
    assert graph.n_components == 1
    values = np.linalg.eigvalsh(NormalizedAffinity(graph).apply(np.eye(300)))[::-1]
    assert values[3] - values[4] > 0.1
    exact = laplacian_eigenpairs(graph, 4).vectors
    basis = leading_basis(graph, 9, 4, np.random.RandomState(0))
    assert basis.shape == (300, 4)
    assert np.linalg.svd(exact.T @ basis, compute_uv=False).min() > 0.99
    assert leading_basis(graph, 9, 6, np.random.RandomState(0)).shape == (300, 9)


def test_where_lanczos_gives_up_another_solver_serves(monkeypatch):
    def give_up(*_, **__):
        raise SpectralError("too few products")

    monkeypatch.setattr(smooth, "largest_eigenvectors", give_up)
    basis = leading_basis(GRAPH, 4, 2, np.random.RandomState(0))
    expected = laplacian_eigenpairs(GRAPH, 4).vectors
    np.testing.assert_allclose(np.abs(np.linalg.det(basis.T @ expected)), 1.0, atol=1e-6)


@pytest.mark.parametrize("exactness", [1e-6, 0.3])
def test_rough_eigenvectors_are_spread_as_any_vectors_are(exactness):
    rng = np.random.default_rng(0)
    vectors = laplacian_eigenpairs(GRAPH, 5).vectors
    rough = np.linalg.qr(vectors + exactness * rng.normal(size=vectors.shape) / np.sqrt(len(vectors)))[0]
    exactly = spread(GRAPH, rough, 0.8)
    np.testing.assert_allclose(smooth._spread_smoothly(GRAPH, rough, 0.8), exactly, atol=1e-4)
