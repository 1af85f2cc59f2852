"""Matrices of low rank against the dense matrices they stand for."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecut.methods.e2cp import propagation as lowrank
from sidecut.methods.e2cp.propagation import AgreementMatrix, LowRankMatrix


def random_matrix(n, rank, seed, sparse_core=False):
    rng = np.random.default_rng(seed)
    factor = rng.exponential(size=(n, rank)) * rng.exponential(size=(n, 1)) ** 2
    core = rng.normal(size=(rank, rank))
    core = core + core.T
    return LowRankMatrix(factor, sp.csr_array(core) if sparse_core else core)


def dense_of(matrix):
    core = matrix.core.toarray() if sp.issparse(matrix.core) else matrix.core
    return matrix.factor @ core @ matrix.factor.T


@pytest.fixture(params=[7, 1024], ids="side {}".format)
def tile_side(request, monkeypatch):
    monkeypatch.setattr(lowrank, "TILE_SIDE", request.param)


@pytest.mark.parametrize("sparse_core", [False, True])
def test_rows_entries_and_products_are_those_of_the_dense_matrix(sparse_core):
    matrix = random_matrix(40, 5, seed=0, sparse_core=sparse_core)
    dense = dense_of(matrix)
    rng = np.random.default_rng(1)
    rows, columns = rng.integers(0, 40, size=(2, 100))
    np.testing.assert_allclose(matrix.toarray(), dense, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(matrix.toarray(), matrix.toarray().T)
    np.testing.assert_allclose(matrix.block(slice(3, 9), np.array([5, 1])), dense[3:9][:, [5, 1]], rtol=1e-10)
    np.testing.assert_allclose(matrix.entries(rows, columns), dense[rows, columns], rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(matrix.diagonal(), np.diag(dense), rtol=1e-8, atol=1e-12)
    block = rng.normal(size=(40, 3))
    np.testing.assert_allclose(matrix.apply(block), dense @ block, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(matrix.scaled(4.0).toarray(), dense / 4.0, rtol=1e-12, atol=1e-12)


def test_entries_in_many_small_pieces():
    matrix = random_matrix(30, 4, seed=2)
    rows, columns = np.random.default_rng(3).integers(0, 30, size=(2, 300_000))
    np.testing.assert_allclose(matrix.entries(rows, columns), matrix.toarray()[rows, columns], rtol=1e-9)


@given(n=st.integers(1, 30), rank=st.integers(1, 5), seed=st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_no_entry_exceeds_the_reach_of_its_ends(n, rank, seed):
    matrix = random_matrix(n, rank, seed)
    bound = np.outer(matrix.reach, matrix.reach)
    assert (np.abs(matrix.toarray()) <= bound * (1 + 1e-10)).all()


@given(n=st.integers(1, 30), n_classes=st.integers(1, 5), seed=st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_agreement_is_what_its_formula_says(n, n_classes, seed):
    U = np.random.default_rng(seed).exponential(size=(n, n_classes)) ** 3
    matrix = AgreementMatrix(U, 0.7)
    s = U.sum(axis=1)
    p = U / s[:, None]
    expected = 0.7 * np.outer(s, s) * (2 * p @ p.T - 1)
    np.testing.assert_allclose(matrix.toarray(), expected, rtol=1e-9, atol=1e-9 * s.max() ** 2)
    assert (np.abs(matrix.toarray()) <= np.outer(matrix.reach, matrix.reach) * (1 + 1e-10)).all()
    np.testing.assert_allclose(matrix.scaled(2.0).toarray(), matrix.toarray() / 2.0, rtol=1e-12)


@pytest.mark.usefixtures("tile_side")
@pytest.mark.parametrize("seed", range(5))
def test_the_largest_entry(seed):
    matrix = random_matrix(50, 4, seed)
    assert matrix.largest() == pytest.approx(np.abs(dense_of(matrix)).max(), rel=1e-12)


def test_the_search_leaves_out_what_cannot_matter(monkeypatch):
    """One row of blocks suffices where entries fall off steeply."""
    monkeypatch.setattr(lowrank, "TILE_SIDE", 10)
    size = np.geomspace(1.0, 1e-12, 100)
    matrix = LowRankMatrix(size[:, None], np.array([[1.0]]))
    blocks = list(matrix.blocks_above(lambda: 0.01))
    assert 0 < len(blocks) < 10
    kept = {(i, j) for rows, columns, _ in blocks for i in rows for j in columns}
    assert kept >= {(i, j) for i, j in np.argwhere(np.outer(size, size) > 0.01) if i <= j}


@pytest.mark.usefixtures("tile_side")
def test_blocks_cover_every_pair(tile_side):
    matrix = random_matrix(23, 3, seed=5)
    seen = np.zeros((23, 23))
    for rows, columns, values in matrix.blocks_above(lambda: 0.0):
        np.testing.assert_allclose(values, dense_of(matrix)[np.ix_(rows, columns)], rtol=1e-8, atol=1e-10)
        seen[np.ix_(rows, columns)] += 1
    off_diagonal_block = seen + seen.T
    assert (off_diagonal_block > 0).all()


def test_a_matrix_of_rank_zero():
    nothing = LowRankMatrix(np.zeros((4, 0)), np.zeros((0, 0)))
    assert nothing.largest() == 0.0
    np.testing.assert_array_equal(nothing.toarray(), np.zeros((4, 4)))
    np.testing.assert_array_equal(nothing.entries(np.array([0, 1]), np.array([2, 3])), [0.0, 0.0])


def test_too_large_to_be_dense():
    with pytest.raises(MemoryError, match=r"20,001 nodes would need 3\.2 GB"):
        LowRankMatrix(np.zeros((20_001, 1)), np.ones((1, 1))).toarray()


def test_a_factor_in_single_precision_stays_so():
    double = random_matrix(60, 5, seed=7, sparse_core=True)
    single = LowRankMatrix(double.factor.astype(np.float32), double.core)
    dense = dense_of(double)
    unit = np.abs(dense).max()
    rng = np.random.default_rng(8)
    rows, columns = rng.integers(0, 60, size=(2, 100))
    block = rng.normal(size=(60, 3))
    assert single.block(slice(0, 5), slice(0, 5)).dtype == np.float32
    assert single.scaled(2.0).factor is single.factor
    for made in (single.toarray(), single.apply(block), single.entries(rows, columns)):
        assert made.dtype == np.float64
    np.testing.assert_allclose(single.toarray(), dense, atol=1e-6 * unit)
    np.testing.assert_allclose(single.apply(block), dense @ block, atol=1e-5 * unit)
    np.testing.assert_allclose(single.apply(block[:, 0]), dense @ block[:, 0], atol=1e-5 * unit)
    np.testing.assert_allclose(single.entries(rows, columns), dense[rows, columns], atol=1e-6 * unit)
    assert single.largest() == pytest.approx(unit, rel=1e-6)
