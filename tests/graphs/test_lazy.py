import numpy as np
import pytest
import scipy.sparse as sp

from sidecut.graphs import FactorGraph, GaussianGraph, NormalizedAffinity, SelfTuningGraph

RNG = np.random.default_rng(0)
X = RNG.normal(size=(23, 3))


@pytest.fixture(params=[1, 3 * 23 * 8, 10**9], ids=["one row", "three rows", "all rows"])
def tile_bytes(request, monkeypatch):
    monkeypatch.setattr("sidecut.graphs.graph.TILE_BYTES", request.param)


@pytest.mark.usefixtures("tile_bytes")
@pytest.mark.parametrize("graph", [GaussianGraph(X, 0.8), SelfTuningGraph(X, 0.5 + RNG.random(23))], ids=repr)
@pytest.mark.parametrize("shape", [(23,), (23, 1), (23, 5)])
def test_tiles_multiply_like_the_matrix(graph, shape):
    block = np.random.default_rng(1).normal(size=shape)
    dense = graph.materialized()
    np.testing.assert_allclose(graph.apply(block), dense.apply(block), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(graph.degrees, dense.degrees, rtol=1e-12)
    np.testing.assert_array_equal(dense.matrix, dense.matrix.T)


@pytest.mark.usefixtures("tile_bytes")
def test_tiles_cover_every_row_once():
    rows = [row for tile in GaussianGraph(X, 1.0).tiles() for row in range(23)[tile]]
    assert rows == list(range(23))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_factor_multiplies_like_its_product_without_the_diagonal(form):
    factor = RNG.random((12, 4)) * (RNG.random((12, 4)) < 0.6)
    dense = factor @ factor.T
    np.fill_diagonal(dense, 0.0)
    graph = FactorGraph(form(factor))
    block = RNG.normal(size=(12, 3))
    np.testing.assert_allclose(graph.apply(block), dense @ block, atol=1e-13)
    np.testing.assert_allclose(graph.apply(block[:, 0]), dense @ block[:, 0], atol=1e-13)
    np.testing.assert_allclose(graph.toarray(), dense, atol=1e-14)
    np.testing.assert_allclose(graph.degrees, dense.sum(axis=1), atol=1e-13)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_factor_knows_its_components_and_rows_that_share_nothing(form):
    # Rows 0, 2 and 5 share columns, 1 and 4 share another; 3 stands alone, 6 is empty. The thirds do not
    # square to one exactly, so the degree of row 3 comes out of a subtraction that leaves rounding error.
    factor = np.zeros((7, 6))
    factor[[0, 2], 0] = factor[[2, 5], 1] = 0.3
    factor[[1, 4], 2] = 0.7
    factor[3, 3:] = 1 / 3
    graph = FactorGraph(form(factor))
    np.testing.assert_array_equal(graph.components, [0, 1, 0, -1, 1, 0, -1])
    np.testing.assert_array_equal(graph.isolated, [3, 6])
    null = NormalizedAffinity(graph).null_vectors.toarray()
    np.testing.assert_allclose(NormalizedAffinity(graph).apply(null), null, atol=1e-14)


def test_rounding_error_is_no_degree():
    # Each row has nine columns of its own; F Fᵀ 1 minus its diagonal leaves errors of either sign.
    rows = np.random.default_rng(5).random((60, 9))
    factor = np.zeros((62, 543))
    for i, row in enumerate(rows):
        factor[i, 9 * i : 9 * i + 9] = row
    factor[60:, 540:] = 0.4
    residue = FactorGraph(factor).apply(np.ones(62))[:60]
    assert residue.max() > 0  # else this test would prove nothing
    np.testing.assert_array_equal(FactorGraph(factor).isolated, np.arange(60))


def test_a_factor_with_negative_entries_is_taken_as_connected():
    graph = FactorGraph(np.array([[1.0, -1.0], [1.0, -1.0], [2.0, 0.0]]))
    assert graph.n_components == 1
