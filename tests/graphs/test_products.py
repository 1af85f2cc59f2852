import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecut.graphs import SparseProduct
from sidecut.graphs import graph as products


def literal(matrix, block):
    """Row times column, entry by entry."""
    dense, columns = matrix.toarray(), np.atleast_2d(block.T).T
    result = np.zeros((dense.shape[0], columns.shape[1]))
    for i in range(dense.shape[0]):
        for j in range(columns.shape[1]):
            result[i, j] = sum(dense[i, k] * columns[k, j] for k in range(dense.shape[1]))
    return result.reshape(dense.shape[:1] + block.shape[1:])


@settings(max_examples=60, deadline=None)
@given(
    rows=st.integers(1, 12),
    columns=st.integers(1, 12),
    density=st.floats(0, 1),
    n_threads=st.integers(1, 5),
    width=st.integers(0, 3),
    seed=st.integers(0, 10**6),
)
def test_any_number_of_slices_is_the_product(rows, columns, density, n_threads, width, seed):
    rng = np.random.default_rng(seed)
    matrix = sp.csr_array(rng.standard_normal((rows, columns)) * (rng.random((rows, columns)) < density))
    block = rng.standard_normal((columns, width) if width else columns)
    product = SparseProduct(matrix, n_threads=n_threads)(block)
    assert product.shape == (rows, *block.shape[1:])
    np.testing.assert_allclose(product, literal(matrix, block), atol=1e-13)


@pytest.mark.parametrize("n_threads", [2, 3, 7])
@pytest.mark.parametrize("shape", [(2_000,), (2_000, 4)])
def test_the_number_of_threads_does_not_change_a_bit(n_threads, shape):
    rng = np.random.default_rng(0)
    matrix = sp.csr_array(sp.random_array((1_500, 2_000), density=0.01, rng=rng))
    block = rng.standard_normal(shape)
    np.testing.assert_array_equal(
        SparseProduct(matrix, n_threads=n_threads)(block), SparseProduct(matrix, n_threads=1)(block)
    )


def test_a_hub_takes_a_slice_of_its_own():
    # One row holds most nonzeros; slices that come out empty must not disturb the others.
    dense = np.zeros((50, 50))
    dense[7] = 1.0
    dense[:, 7] = 2.0
    block = np.arange(50.0)
    np.testing.assert_allclose(SparseProduct(sp.csr_array(dense), n_threads=4)(block), dense @ block)


def test_large_matrices_are_shared_out(monkeypatch):
    monkeypatch.setattr(products, "PARALLEL_NONZEROS", 10)
    monkeypatch.setattr(products, "count_threads", lambda: 3)
    matrix = sp.csr_array(np.ones((6, 6)))
    shared = SparseProduct(matrix)
    assert [rows.shape[0] for rows in shared._slices] == [2, 2, 2]
    np.testing.assert_array_equal(shared(np.ones(6)), np.full(6, 6.0))
    monkeypatch.setattr(products, "PARALLEL_NONZEROS", 1_000)
    assert len(SparseProduct(matrix)._slices) == 1


def test_the_matrix_is_left_alone():
    matrix = sp.csr_array(np.eye(4))
    before = matrix.copy()
    SparseProduct(matrix, n_threads=2)(np.ones(4))
    assert (matrix != before).nnz == 0


@pytest.mark.parametrize("n_threads", [1, 3])
def test_another_order_of_the_nodes_does_not_change_a_bit(monkeypatch, n_threads):
    monkeypatch.setattr(products, "PARALLEL_NONZEROS", 10)
    rng = np.random.default_rng(0)
    place = rng.permutation(300)
    near = np.abs(place[:, None] - place[None, :]) <= 3
    matrix = sp.csr_array(np.where(near, rng.standard_normal((300, 300)), 0.0))
    product = SparseProduct(matrix, n_threads=n_threads)
    block = rng.standard_normal((300, 6))
    for _ in range(3):
        np.testing.assert_array_equal(product(block), matrix @ block)
        block = product(block)
    assert product._reordered is not None


def test_a_nearer_order_is_found_where_there_is_one():
    place = np.random.default_rng(0).permutation(400)
    line = sp.csr_array(np.abs(place[:, None] - place[None, :]) <= 2, dtype=np.float64)
    order = products.order_neighbors(line)
    assert sorted(order) == list(range(400))
    moved = line[order][:, order].tocoo()
    assert np.abs(moved.row - moved.col).max() <= 4


def test_no_order_where_there_is_none():
    complete = sp.csr_array(np.ones((60, 60)))
    assert products.order_neighbors(complete) is None
    assert products.order_neighbors(sp.csr_array(np.ones((3, 5)))) is None


@pytest.mark.parametrize("width", [1, 8])
def test_blocks_in_single_precision_are_multiplied_in_it(width):
    rng = np.random.default_rng(0)
    matrix = sp.csr_array(sp.random_array((300, 300), density=0.05, rng=rng))
    block = rng.standard_normal((300, width))
    product = SparseProduct(matrix)
    single = product(block.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, product(block), atol=1e-5)
    assert product(block).dtype == np.float64
