"""The positive part tile by tile against min(max(F, 0), 1) entry by entry."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from sidecut.graphs import lazy as strips
from sidecut.methods.e2cp import propagation as lowrank
from sidecut.methods.e2cp.adjustment import TiledPart
from sidecut.methods.e2cp.propagation import LowRankMatrix


def signed_matrix(n=50, weight=1.0, seed=0, precision=np.float64):
    rng = np.random.default_rng(seed)
    core = sp.random_array((6, 6), density=0.5, rng=rng, data_sampler=rng.standard_normal).tocsr()
    factor = rng.exponential(size=(n, 6)).astype(precision)
    return LowRankMatrix(factor, sp.csr_array(weight * (core + core.T)))


def dense_part(matrix):
    return np.clip(matrix.toarray(), 0.0, 1.0)


def counted_tiles(matrix, monkeypatch):
    """Return the list in which every strip of tiles that is made leaves its rows."""
    made = []
    monkeypatch.setattr(matrix, "left", lambda rows: made.append(rows) or LowRankMatrix.left(matrix, rows))
    return made


@pytest.fixture(params=[8, 1024], ids="side {}".format)
def _tile_side(request, monkeypatch):
    monkeypatch.setattr(lowrank, "TILE_SIDE", request.param)


@pytest.mark.usefixtures("_tile_side")
@pytest.mark.parametrize("kept", [0, 3000, 2**30], ids="{} bytes kept".format)
@pytest.mark.parametrize("weight", [0.01, 1.0])
def test_tile_by_tile_is_exact(weight, kept, monkeypatch):
    monkeypatch.setattr(strips, "KEPT_BYTES", kept)
    matrix = signed_matrix(weight=weight)
    block = np.random.default_rng(1).normal(size=(50, 3))
    part = TiledPart(matrix)
    np.testing.assert_allclose(part(block), dense_part(matrix) @ block, atol=1e-12)
    np.testing.assert_allclose(part(np.eye(50)), dense_part(matrix), atol=1e-12)
    np.testing.assert_allclose(part(block[:, 0]), dense_part(matrix) @ block[:, 0], atol=1e-12)
    np.testing.assert_array_equal(part(block), pickle.loads(pickle.dumps(part))(block))


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_the_number_of_threads_does_not_matter(n_threads, monkeypatch):
    monkeypatch.setattr(lowrank, "TILE_SIDE", 8)
    block = np.random.default_rng(1).normal(size=(50, 3))
    expected = TiledPart(signed_matrix())(block)
    monkeypatch.setattr("sidecut.graphs.chunks.count_threads", lambda: n_threads)
    np.testing.assert_array_equal(TiledPart(signed_matrix())(block), expected)


def test_no_more_entries_are_kept_than_fit(monkeypatch):
    """Strips of 40, 30, 20 and 10 columns; the first two do not fit together."""
    monkeypatch.setattr(lowrank, "TILE_SIDE", 10)
    monkeypatch.setattr("sidecut.graphs.chunks.count_threads", lambda: 1)
    matrix = LowRankMatrix(np.linspace(0.1, 0.9, 40)[:, None], np.array([[1.0]]))
    # 12 bytes an entry and 4 for each of 11 row pointers.
    monkeypatch.setattr(strips, "KEPT_BYTES", 12 * 355 + 44 + 12 * 155 + 44)
    made = counted_tiles(matrix, monkeypatch)
    part = TiledPart(matrix)
    part(np.ones(40))
    assert [rows.start for rows in made] == [0, 10, 20, 30]
    part(np.ones(40))
    assert [rows.start for rows in made[4:]] == [10, 30]


def test_single_precision_is_kept_and_as_good_as_it_can_be():
    matrix = signed_matrix(precision=np.float32)
    double = LowRankMatrix(matrix.factor.astype(np.float64), matrix.core)
    part = TiledPart(matrix)
    np.testing.assert_allclose(part(np.eye(50)), dense_part(double), atol=1e-6)
    assert {strip.dtype for strip in part._strips.kept.values()} == {np.dtype(np.float32)}


@pytest.mark.parametrize("seed", range(3))
def test_the_share_of_positive_entries_is_estimated(seed):
    matrix = signed_matrix(n=200, seed=seed)
    # Five standard deviations of a share of 10,000 draws.
    assert TiledPart(matrix).share == pytest.approx((matrix.toarray() > 0).mean(), abs=0.025)


def test_the_cost_of_a_product_is_that_of_what_does_not_fit(monkeypatch):
    matrix = LowRankMatrix(np.random.default_rng(0).uniform(size=(100, 3)), np.eye(3))
    part = TiledPart(matrix)
    assert part.product_cost == 0.0
    everything = 100**2 / 2 * 12
    monkeypatch.setattr(strips, "KEPT_BYTES", everything / 4)
    assert part.product_cost == pytest.approx(0.75 * 100**2 / 2 * 3)
